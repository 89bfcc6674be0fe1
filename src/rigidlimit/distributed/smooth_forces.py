"""Step 2 of smooth contacts on all ranks: units of order one, Newton's loop, and back."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..status import Status
from . import newton
from .part import Part
from .ranks import Ranks
from .solvers import Solver
from .stiffness import load_of


@dataclass(frozen=True)
class SmoothFound:
    """In the units of the file. force (m, 1) [N]; u (o, w): displacements times arms; status,
    residual; history of residuals, one a system."""

    force: np.ndarray
    u: np.ndarray
    status: Status
    residual: float
    history: np.ndarray


class SmoothProblem:
    """Smooth contacts of a part with exponent p. size [N]: largest load over its arm, or without a
    load what overlaps press with from the start. solver() makes the linear solver, once there is
    something to solve."""

    def __init__(
        self, part: Part, ranks: Ranks, p: float, solver: Callable[[], Solver], tolerance: float
    ):
        self.part, self.ranks, self.p, self.tolerance = part, ranks, p, tolerance
        self.stiffness = ranks.max(part.stiffness.max(initial=0.0)) or 1.0
        self.size = max(ranks.max(np.abs(part.load).max(initial=0.0)), part.loose)
        if self.size == 0.0 and part.gap is not None:
            self.size = self.stiffness * ranks.max(-part.gap.min(initial=0.0)) ** (p - 1)
        self.make_solver, self.solver = solver, None

    def solve(self, begun: np.ndarray | None, max_iterations: int) -> SmoothFound:
        """begun (o, w): displacements times arms to begin with, or None."""
        part = self.part
        length = (self.size / self.stiffness) ** (1 / (self.p - 1))
        offset = np.zeros(len(part.body))
        if part.gap is not None and self.size > 0.0:
            offset = -part.gap / length
        problem = newton.Scaled(
            part, self.ranks, part.stiffness / self.stiffness, part.load / (self.size or 1.0),
            offset, self.p,
        )  # fmt: skip
        if self.size == 0.0:
            at = problem.at(np.zeros((part.own, part.width)))
            found = newton.Found(at, Status.CONVERGED, np.zeros(1))
        else:
            self.solver = self.ranks.together(self.make_solver)
            # scaling back rounds
            options = dict(tolerance=0.5 * self.tolerance, max_iterations=max_iterations)
            start = None if begun is None else begun / length
            found = newton.solve(problem, self.solver, start=start, **options)
        force, status, residual = found.at.force * self.size, found.status, float(found.history[-1])
        if part.gap is not None:
            scale = self.size or 1.0
            residual *= min(1.0, scale / (self._pressing(force) or scale))
        if status is Status.STALLED and residual <= self.tolerance:
            status = Status.CONVERGED  # last digits are those of what overlaps press with
        return SmoothFound(force[:, None], found.at.u * length, status, residual, found.history)

    def _pressing(self, force: np.ndarray) -> float:
        """max_j (|B|^T f)_j / a_j [N]: what overlaps press with, whose last digits balance has."""
        pressed = load_of(
            self.part.body, np.abs(self.part.rows), np.abs(force)[:, None], self.part.own
        )
        return self.ranks.max(pressed.max(initial=0.0))
