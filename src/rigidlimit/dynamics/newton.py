"""Newton solver for eq. 22: gradient steps, semismooth Newton on the active set, central path.

With x = v+ - v_free and impulses l = dt f, eq. 22 is the projection of v_free onto the velocities
that do not close a gap further than it is open,

    min over x of 1/2 x^T M x   subject to   p + B x >= 0,

whose multipliers are the impulses. Accelerated projected gradient steps (``apgd.py``) go first: a
few hundred products find most of the active contacts, and often the solution. Newton steps on the
active set, by one factorization (``active_set.py``), bring full accuracy. Where these fail, as with
very unequal masses or where forces hold one another, the central path finds the active contacts
(``interior.py``), and Newton steps from there finish.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from .._support.submatrix import submatrix
from ..errors import OutOfMemory
from ..linear import LinearStats, Network, column_arms
from ..status import Status
from . import active_set, apgd, interior
from .problem import ContactDynamicsResult, ContactProblem


@dataclass(frozen=True)
class Settings:
    """When one method ends and the next begins.

    decade: gradient steps that must gain a digit in problems of up to ``decade_size`` unknowns; in
    larger ones more are allowed, as the square root of the size. found: residual at which gradient
    steps have found nearly all active contacts, so that a factorization may find the rest for
    less. too_fast: speed needed to undo all overlaps, over that of contacts without forces, above
    which a stall is a jam. undone: largest residual at which overlaps still count as undone, but
    for rounding.
    """

    decade: int = 1000
    decade_size: int = 6000
    found: float = 3e-5
    too_fast: float = 100.0
    undone: float = 1e-6


def solve(
    problem: ContactProblem,
    *,
    tolerance: float = 1e-10,
    max_iterations: int = 5000,
    warm_start: np.ndarray | None = None,
    blocks: np.ndarray | None = None,
    opening: bool = True,
    settings: Settings = Settings(),
) -> ContactDynamicsResult:
    """Solve eq. 21 to ``tolerance``. max_iterations bounds the Newton steps and those of the path.

    warm_start (m,) [N]: forces to begin with. blocks: see ``Network``. opening: whether gradient
    steps go first.
    ``iterations`` of the answer counts gradient steps and Newton systems. Status JAMMED: it
    stalled, and overlaps are known that no speed of the problem's own order undoes.
    """
    m = problem.B.shape[0]
    force = np.zeros(m) if warm_start is None else problem.project(warm_start)
    search = _Search(problem, tolerance, max_iterations, blocks, settings)
    search.keep(force, problem.residual(force))
    if opening:
        search.descend()
    search.newton()
    search.along_path()
    return search.result()


class _Search:
    """The best forces so far with their residual, and the work that they took.

    Each method begins with these, and does nothing once they have arrived.
    """

    def __init__(self, problem, tolerance, max_iterations, blocks, settings):
        self.problem, self.tolerance, self.blocks = problem, tolerance, blocks
        self.max_iterations, self.settings = max_iterations, settings
        self.force, self.residual, self.history = None, np.inf, []
        self.gradient_steps = self.newton_steps = 0
        self.jammed = False  # whether overlaps cannot be undone but at speeds of another order
        self.stats = LinearStats()

    @property
    def arrived(self) -> bool:
        return self.residual <= self.tolerance

    @cached_property
    def arm(self):
        return column_arms(self.problem.B)[0]

    @cached_property
    def network(self) -> Network:
        """Rotations measured by the way of their longest arm, so that momenta compare."""
        scale, M = 1 / self.arm, self.problem.mass
        data = np.repeat(scale, np.diff(M.indptr)) * M.data * scale[M.indices]
        return Network(
            submatrix(self.problem.B, scale=scale),
            mass=sp.csr_array((data, M.indices, M.indptr), shape=M.shape),
            blocks=self.blocks,
        )

    def keep(self, force: np.ndarray, residual: float):
        """Take note of forces."""
        self.history.append(residual)
        if self.force is None or residual < self.residual:
            self.force, self.residual = force, residual

    def descend(self):
        """Gradient steps, and a factorization where that is cheaper in the end."""
        left = False

        def leave(force: np.ndarray, steps: int, reached: float):
            nonlocal left
            if self.tolerance < reached <= self.settings.found:
                left = active_set.pays(self.network, force, steps, reached, self.tolerance)
            return left

        if not self.arrived:
            self._gradient_steps(leave)
        if left:
            self.newton()
            if not self.arrived:
                self._gradient_steps()

    def _gradient_steps(self, leave=None):
        settings, n = self.settings, self.problem.B.shape[1]
        self.stats.took("gradient steps")
        answer = apgd.solve(
            self.problem,
            tolerance=self.tolerance,
            warm_start=self.force,
            scaled=True,
            decade=int(settings.decade * max(1.0, n / settings.decade_size) ** 0.5),
            blocks=self.blocks,
            leave=leave,
        )
        self.gradient_steps += answer.iterations
        self.keep(answer.force, answer.residual)

    def newton(self, force: np.ndarray | None = None):
        """Newton steps on the active set, from ``force`` or the best forces."""
        if self.arrived:
            return
        try:
            force, residual, rounds = active_set.finish(
                self.problem,
                self.network,
                self.force if force is None else force,
                tolerance=self.tolerance,
                max_rounds=self.max_iterations - self.newton_steps,
                stats=self.stats,
            )
        except OutOfMemory:
            return
        self.newton_steps += rounds
        self.keep(force, residual)

    def along_path(self):
        """The central path, and Newton steps from its best point and from its end."""
        if self.arrived:
            return
        self.stats.took("central path")
        try:
            *found, steps = interior.follow(
                self.problem,
                self.network,
                tolerance=self.tolerance,
                max_iterations=self.max_iterations - self.newton_steps,
                stats=self.stats,
            )
        except OutOfMemory:
            return
        self.newton_steps += steps
        for force in found:
            needed = interior.speed_needed(self.problem, self.network, force)
            self.jammed |= needed > self.settings.too_fast * self.problem.speed
            self.newton(force)

    def result(self) -> ContactDynamicsResult:
        """The best forces, and what is to be said of them."""
        status = Status.CONVERGED if self.arrived else Status.STALLED
        if not self.arrived and self.newton_steps >= self.max_iterations:
            status = Status.MAX_ITERATIONS
        if self.jammed and self.residual > self.settings.undone and not self.arrived:
            status = Status.JAMMED
        return ContactDynamicsResult(
            force=self.force,
            velocity=self.problem.velocity(self.force),
            slack=self.problem.slack(self.force),
            status=status,
            residual=self.residual,
            iterations=self.gradient_steps + self.newton_steps,
            solver="newton",
            tolerance=self.tolerance,
            history=np.array(self.history),
            linear_iterations=self.stats.products,
            factorizations=self.stats.factorizations,
            routes=tuple(self.stats.routes),
        )
