"""Compatible forces of a network file on all ranks: ``mpiexec -n 4 rigidlimit forces huge.h5``."""

import resource
import time
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

import numpy as np

from .._support.words import counted
from ..errors import InputError
from ..status import Status
from . import newton
from .forces_file import read_displacement, write_forces
from .network_file import NetworkFile
from .part import Part, read_part
from .ranks import Ranks
from .solvers import SOLVERS, Solver, chosen
from .stiffness import load_of

LEAST_EXPONENT = 2.0
"""Below it a contact is infinitely stiff as it closes, and Newton's method needs the path."""


@dataclass(frozen=True, eq=False)
class DistributedForces:
    """What all ranks have found; arrays are this rank's slices, in the order of the file.

    force: [N] of contacts ``contacts[0]`` to before ``contacts[1]``. displacement (., w): of bodies
    ``bodies[0]`` to before ``bodies[1]``. status, residual, history: as of ``CompatibleForces``, of
    the whole. solver, reason: which linear solver, and why. steps: of conjugate gradients. setups:
    matrices made. counts: ranks, bodies, contacts, degrees of freedom. mean_force [N], bearing,
    coordination: mean of the forces that bear, how many do, and twice as many over the bodies that
    they touch. seconds; memory: largest of a rank [bytes], at its peak.
    """

    force: np.ndarray
    displacement: np.ndarray
    contacts: tuple[int, int]
    bodies: tuple[int, int]
    status: Status
    residual: float
    tolerance: float
    history: np.ndarray
    solver: str
    reason: str
    steps: int
    setups: int
    largest_force: float
    mean_force: float
    bearing: int
    coordination: float
    distribution: np.ndarray
    seconds: float
    memory: float
    counts: dict = field(default_factory=dict)

    @property
    def first(self) -> bool:
        """Whether this is the rank that has the first contacts, and is to speak."""
        return self.contacts[0] == 0 and self.bodies[0] == 0

    @property
    def converged(self) -> bool:
        return self.status is Status.CONVERGED

    @property
    def message(self) -> str:
        return (
            f"{self.solver} on {counted(self.counts['ranks'], 'rank')}: {self.status}, residual "
            f"{self.residual:.1e} (tolerance {self.tolerance:.1e}) after "
            f"{counted(len(self.history) - 1, 'iteration')}"
            + (f" ({counted(self.steps, 'conjugate gradient step')})" if self.steps else "")
            + f"; {self.bearing} of {counted(self.counts['contacts'], 'contact')} bear, mean force "
            f"{self.mean_force:.6g} N, largest {self.largest_force:.6g} N, coordination "
            f"{self.coordination:.4g}; {self.seconds:.3g} s, at most {self.memory / 1e9:.2g} GB a "
            f"rank; {self.status.advice}"
        )


def forces_of_file(
    path: str | PathLike, *, out: str | PathLike | None = None, solver: str = "auto",
    tolerance: float = 1e-10, max_iterations: int = 300,
    start: str | PathLike | None = None, tell=None,
) -> DistributedForces:  # fmt: skip
    """Compatible forces of the smooth contacts in a file of ``ContactNetwork``.

    Called on all ranks (one without mpiexec). out: file of forces and displacements, which appears
    whole; start: such a file, whose displacements are begun with. solver: mumps, gamg, or auto by
    memory. tell: a function of a line that says what is begun, called on the first rank.
    tolerance: on the residual, as of ``compatible_forces``. Exponents from 2 on.

    An error is raised on the rank that found it, ``OtherRankError`` on the others.
    """
    ranks = Ranks()
    with ranks.ending_together():
        return _forces(ranks, path, out, solver, tolerance, max_iterations, start, tell)


def _forces(ranks, path, out, solver, tolerance, max_iterations, start, tell):
    began = time.perf_counter()
    file = ranks.together(lambda: _opened(path, solver, tolerance))
    part = read_part(file, ranks)
    begun = None if start is None else read_displacement(start, file, part, ranks)
    dofs = int(ranks.sum(np.count_nonzero(part.moved)))
    name, reason = chosen(solver, dofs, ranks)
    if tell is not None and ranks.first:
        tell(
            f"{file.bodies} bodies, {counted(file.contacts, 'contact')}, {dofs} degrees of freedom "
            f"on {counted(ranks.size, 'rank')}: {name} ({reason})"
        )
    sizes = _Sizes.of(part, file.exponent, ranks)
    problem = sizes.scaled(part, ranks)
    begun = None if begun is None else begun * part.arm / sizes.displacement
    if sizes.force == 0.0:
        at = problem.at(np.zeros((part.own, part.width)))
        found, linear = newton.Found(at, Status.CONVERGED, np.zeros(1)), None
    else:
        linear = ranks.together(lambda: Solver(name, part, ranks))
        # scaling back rounds
        options = dict(tolerance=0.5 * tolerance, max_iterations=max_iterations, start=begun)
        found = newton.solve(problem, linear, **options)
    answer = _answer(found, linear, part, sizes, file, ranks, tolerance, name, reason, began, dofs)
    if out is not None:
        write_forces(Path(out), answer, ranks)
    return answer


@dataclass(frozen=True)
class _Sizes:
    """force [N]: largest load over its arm, or without a load what overlaps press with from the
    start; largest stiffness; the displacement that goes with both, by the exponent p.
    """

    force: float
    stiffness: float
    p: float

    @classmethod
    def of(cls, part: Part, p: float, ranks: Ranks) -> "_Sizes":
        stiffness = ranks.max(part.stiffness.max(initial=0.0)) or 1.0
        force = max(ranks.max(np.abs(part.load).max(initial=0.0)), part.loose)
        if force == 0.0 and part.gap is not None:
            force = stiffness * ranks.max(-part.gap.min(initial=0.0)) ** (p - 1)
        return cls(force, stiffness, p)

    @property
    def displacement(self) -> float:
        return (self.force / self.stiffness) ** (1 / (self.p - 1))

    def scaled(self, part: Part, ranks: Ranks) -> newton.Scaled:
        load = part.load / (self.force or 1.0)
        offset = np.zeros(len(part.body))
        if part.gap is not None and self.force > 0.0:
            offset = -part.gap / self.displacement
        return newton.Scaled(part, ranks, part.stiffness / self.stiffness, load, offset, self.p)


def _opened(path, solver, tolerance) -> NetworkFile:
    if not (isinstance(tolerance, float) and 0.0 < tolerance < 1.0):
        raise InputError(f"tolerance is {tolerance!r}; expected a number between 0 and 1")
    if solver not in SOLVERS:
        raise InputError(f"solver is {solver!r}; expected one of {', '.join(SOLVERS)}")
    file = NetworkFile(path)
    if not file.exponent >= LEAST_EXPONENT:
        raise InputError(
            f"{path}: its exponent is {file.exponent:g}; expected 2 (Hooke) or more: softer laws "
            "are solved by compatible_forces, in one process"
        )
    return file


def _answer(found, linear, part, sizes, file, ranks, tolerance, name, reason, began, dofs):
    """In the units of the file, by slices of it."""
    force = found.at.force * sizes.force
    bodies, contacts = ranks.slice_of(file.bodies), ranks.slice_of(file.contacts)
    mine = part.mine
    by_slice = ranks.send(force[mine, None], part.place[mine], contacts[1] - contacts[0])[:, 0]
    u = np.where(part.moved, found.at.u / part.arm * sizes.displacement, 0.0)
    displacement = ranks.send(u, part.origin, bodies[1] - bodies[0])
    status, scale = found.status, sizes.force or 1.0
    residual = float(found.history[-1])
    if part.gap is not None:
        residual *= min(1.0, scale / (_pressing(part, force, ranks) or scale))
    if part.loose > tolerance * scale:
        residual = max(residual, part.loose / scale)
        status = Status.LOAD_NOT_CARRIED
    elif status is Status.STALLED and residual <= tolerance:
        status = Status.CONVERGED  # last digits are those of what overlaps press with
    largest = ranks.max(force.max(initial=0.0))
    bears = force > max(1e-12, 10.0 * tolerance) * largest
    count = int(ranks.sum(np.count_nonzero(bears & mine)))
    mean = ranks.sum(force[bears & mine].sum()) / max(count, 1)
    return DistributedForces(
        force=by_slice,
        displacement=displacement,
        contacts=contacts,
        bodies=bodies,
        status=status,
        residual=residual,
        tolerance=tolerance,
        history=found.history,
        solver=name,
        reason=reason,
        steps=0 if linear is None else linear.steps,
        setups=0 if linear is None else linear.setups,
        largest_force=largest,
        mean_force=mean,
        bearing=count,
        coordination=_coordination(part, bears, ranks),
        distribution=_distribution(force[bears & mine], mean, ranks),
        seconds=ranks.max(time.perf_counter() - began),
        memory=ranks.max(1024.0 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss),
        counts={
            "ranks": ranks.size,
            "bodies": file.bodies,
            "contacts": file.contacts,
            "dofs": dofs,
        },
    )


def _pressing(part: Part, force: np.ndarray, ranks: Ranks) -> float:
    """max_j (|B|^T f)_j / a_j [N]: what overlaps press with, whose last digits balance has."""
    pressed = load_of(part.body, np.abs(part.rows), force, part.own)
    return ranks.max(pressed.max(initial=0.0))


def _coordination(part: Part, bears: np.ndarray, ranks: Ranks) -> float:
    """Contacts that bear, of bodies that move and touch one that does."""
    touching = np.zeros(part.own + 1)
    for side in range(2):
        body = part.body[bears, side]
        body = np.where((body >= 0) & (body < part.own), body, part.own)
        touching += np.bincount(body, minlength=part.own + 1)
    count = ranks.sum(np.count_nonzero(touching[:-1]))
    return ranks.sum(touching[:-1].sum()) / max(count, 1.0)


BINS = np.linspace(0.0, 6.0, 61)
"""Edges of P(f), forces over their mean."""


def _distribution(force: np.ndarray, mean: float, ranks: Ranks) -> np.ndarray:
    """P(f) of forces over their mean, (60,), by the ``BINS``."""
    numbers, _ = np.histogram(force / (mean or 1.0), BINS)
    whole = ranks.total(numbers)
    return whole / max(whole.sum(), 1.0) / (BINS[1] - BINS[0])
