"""Compatible forces of a network file on all ranks: ``mpiexec -n 4 rigidlimit forces huge.h5``."""

import resource
import time
from collections.abc import Callable
from os import PathLike
from pathlib import Path

import numpy as np

from .._support.words import counted
from ..compatibility import ContactHistory
from ..compatibility.checked import LEAST_EXPONENT
from ..compatibility.rough_result import AT_BOUND
from ..errors import InputError
from ..status import Status
from .forces_file import read_displacement, read_history, write_forces
from .measures import coordination, distribution, virial
from .network import HISTORY
from .network_file import NetworkFile, holds_network
from .part import Part, read_part
from .ranks import Ranks
from .result import DistributedForces, RubbingForces
from .rough_forces import RoughFound, rough_part
from .smooth_forces import smooth_part
from .solvers import SOLVERS, Solver, chosen


def forces_of_file(
    path: str | PathLike, *, out: str | PathLike | None = None, solver: str = "auto",
    tolerance: float = 1e-10, max_iterations: int = 300,
    start: str | PathLike | None = None, history: str | PathLike | None = None,
    increments: int = 1, tell: Callable[[str], None] | None = None,
) -> DistributedForces:  # fmt: skip
    """Compatible forces of the contacts in a file of ``ContactNetwork``.

    Called on all ranks (one without mpiexec). out: file of forces and displacements, which appears
    whole; start: such a file, whose displacements are begun with. solver: mumps, gamg, gamg+mumps
    (with friction: MUMPS for the systems on which GAMG is slow), or auto by size and memory.
    max_iterations: systems at most, of smooth contacts. tell: a function of a line that says what
    is begun, called on the first rank. tolerance: on the residual, as of ``compatible_forces``.

    Of rough contacts history is a file of forces, what whose contacts remember is begun from in the
    place of what the network file has; increments: into how many the way from there is divided.

    An error is raised on the rank that found it, ``OtherRankError`` on the others.
    """
    ranks = Ranks()
    with ranks.ending_together():
        began = time.perf_counter(), time.process_time()
        checked = (path, out, solver, tolerance, max_iterations, history, increments)
        file = ranks.together(lambda: _opened(*checked))
        part = read_part(file, ranks)
        begun = None if start is None else read_displacement(start, file, part, ranks) * part.arm
        kept = part.rubbing.history if file.rough else None
        if history is not None:
            kept = read_history(history, file, part, ranks)
        dofs = int(ranks.sum(np.count_nonzero(part.moved)))
        name, reason = chosen(solver, dofs, ranks, symmetric=not file.rough)
        if tell is not None and ranks.first:
            tell(
                f"{file.bodies} bodies, {counted(file.contacts, 'contact')}, {dofs} degrees of "
                f"freedom on {counted(ranks.size, 'rank')}: {name} ({reason})"
            )

        def linear() -> Solver:
            return Solver(name, part, ranks, symmetric=not file.rough)

        problem = part, ranks, file.exponent, linear, tolerance
        if file.rough:
            found = rough_part(*problem, kept, begun, increments)
        else:
            found = smooth_part(*problem, begun, max_iterations)
        answer = _answer(found, part, ranks, tolerance, file, dofs, (name, reason), began)
        if out is not None:
            write_forces(Path(out), answer, ranks)
        return answer


def _opened(path, out, solver, tolerance, max_iterations, history, increments) -> NetworkFile:
    if not (isinstance(tolerance, float) and 0.0 < tolerance < 1.0):
        raise InputError(f"tolerance is {tolerance!r}; expected a number between 0 and 1")
    if solver not in SOLVERS:
        raise InputError(f"solver is {solver!r}; expected one of {', '.join(SOLVERS)}")
    for name, number in (("max_iterations", max_iterations), ("increments", increments)):
        if not (isinstance(number, int) and number >= 1):
            raise InputError(f"{name} is {number!r}; expected a positive integer")
    file = NetworkFile(path)
    if not file.exponent >= LEAST_EXPONENT:
        raise InputError(
            f"{path}: its exponent is {file.exponent:g}; expected at least {LEAST_EXPONENT}"
        )
    if out is not None and holds_network(out):
        what = "the network itself" if Path(out).samefile(path) else "which is a network file"
        raise InputError(f"out is {out}, {what}; expected another file")
    if not file.rough and (history is not None or increments != 1):
        name = "increments" if history is None else "history"
        raise InputError(f"{name} is given, but {path} has smooth contacts; expected rough ones")
    if solver == "gamg+mumps" and not file.rough:
        raise InputError(f"solver is {solver!r}, but {path} has smooth contacts; expected 'gamg'")
    return file


def _answer(
    found, part: Part, ranks: Ranks, tolerance, file: NetworkFile, dofs, solver, began
) -> DistributedForces:
    """In the order of the file, by slices of it."""
    name, reason = solver
    bodies, contacts = ranks.slice_of(file.bodies), ranks.slice_of(file.contacts)
    mine, count = part.mine, contacts[1] - contacts[0]

    def by_slice(values: np.ndarray) -> np.ndarray:
        """(count, ...) of values (m, ...)."""
        return ranks.send(values[mine], part.place[mine], count)

    u = np.where(part.moved, found.u / part.arm, 0.0)
    displacement = ranks.send(u, part.origin, bodies[1] - bodies[0])
    status, residual, scale = found.status, found.residual, found.size or 1.0
    if part.loose > tolerance * scale:
        residual, status = max(residual, part.loose / scale), Status.LOAD_NOT_CARRIED
    force = found.force[:, 0]
    largest = ranks.max(force.max(initial=0.0))
    # what overlaps that have relaxed still press with is rounding
    bears = force > max(1e-12, 10.0 * tolerance) * max(largest, found.size)
    bearing = int(ranks.sum(np.count_nonzero(bears & mine)))
    mean = ranks.sum(force[bears & mine].sum()) / max(bearing, 1)
    linear = found.solver
    return DistributedForces(
        force=by_slice(force),
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
        bearing=bearing,
        coordination=coordination(part, bears, ranks),
        distribution=distribution(force[bears & mine], mean, bearing, ranks),
        seconds=ranks.max(time.perf_counter() - began[0]),
        processor=ranks.max(time.process_time() - began[1]),
        memory=ranks.max(1024.0 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss),
        counts={
            "ranks": ranks.size,
            "bodies": file.bodies,
            "contacts": file.contacts,
            "dofs": dofs,
        },
        virial=virial(part, found.force, ranks),
        rubbing=_rubbing(found, part, bears, by_slice, ranks) if file.rough else None,
    )


def _rubbing(found: RoughFound, part: Part, bears, by_slice, ranks: Ranks) -> RubbingForces:
    bound = part.rubbing.friction * found.force[:, 0]
    size = np.linalg.norm(found.force[:, 1:], axis=1)
    sliding = bears & (size >= (1.0 - AT_BOUND) * bound) & (bound > 0.0)
    kept = (getattr(found.kept, name) for name in HISTORY)
    return RubbingForces(
        tangential_force=by_slice(found.force[:, 1:]),
        sliding=by_slice(sliding) > 0.0,
        history=ContactHistory(*(None if values is None else by_slice(values) for values in kept)),
        state=found.state,
        routes=found.routes,
        merged=found.merged,
        several=found.several,
        sliding_contacts=int(ranks.sum(np.count_nonzero(sliding & part.mine))),
    )
