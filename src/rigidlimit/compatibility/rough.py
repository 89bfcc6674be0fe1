"""Step 2 with friction: the forces of stiff elastic bodies with rough contacts.

B^T f_n + T^T f_t = F~ with Coulomb's law and springs at every contact (``equilibrium.law``). Which
state the forces come from decides them, and is named in the result:

    unloaded       one solve from the state without forces: the result of slow proportional loading,
                   as the law is homogeneous
    history        one increment (backward Euler, first order) from the forces of an earlier answer
    least energy   min sum f_n^2/(2 k_n) + |f_t|^2/(2 k_t) in the cones: unique, there whenever any
                   admissible forces are; not what a sliding contact does

The first two are equilibria of the law, solved by Newton or the interior path of
``equilibrium.solve``; ``least energy`` is returned where none of them was found, with a status that
says so; contacts that slide along a given direction keep it. Where no admissible force balances the
load either, a motion shows that: it opens or slides at every contact without being resisted, and
the load drives it. The forces are then those of least energy for the nearest load that is carried
(``rough_nearest.py``).

Contacts of a part, on many processes, go the same ways (``distributed/rough_forces.py``), without a
look at the nearest load and at bodies whose weight is rounding beside the largest load.
"""

from dataclasses import dataclass, replace

import numpy as np

from .._support.deadline import cut, late
from ..equilibrium.law import ContactLaw
from ..equilibrium.relaxation import Relaxation
from ..equilibrium.result import Equilibrium
from ..equilibrium.solve import Settings, solve
from ..equilibrium.stability import growth, stable_beside
from ..equilibrium.sums import WHOLE
from ..status import Status
from .increment_law import kept_normal, law_of_increment
from .problem import ForceProblem
from .rough_light import light_bodies_balanced
from .rough_nearest import NEAREST, nearest_forces
from .rough_result import AT_BOUND, HISTORY, LEAST_ENERGY, UNLOADED, ContactHistory, RoughForces

PATH = 120
"""Iterations of the interior path at most; random packings take 40 to 90."""

FREE = 1e-4
"""Stiffness of motions that no contact resists in the search for least energy, over that elsewhere,
which is the tolerance. Near the edge of what friction carries displacements grow to 1e5, and this
stiffness times their last step is what of the load stays unbalanced."""


@dataclass(frozen=True)
class _Found:
    """Result of one increment, in scaled units; mechanism (n,) as it is reported."""

    equilibrium: Equilibrium
    law: ContactLaw
    status: Status
    solves: int
    routes: tuple[str, ...]
    nearest_status: Status | None = None
    mechanism: np.ndarray | None = None
    several: bool = False


def rough_forces(problem: ForceProblem, increments: int = 1) -> RoughForces:
    """The answer of ``compatible_forces``: from the history in so many increments."""
    if problem.history is None or not problem.presses:
        return _increment(problem)
    return _in_increments(problem, increments)


def _in_increments(whole: ForceProblem, increments: int) -> RoughForces:
    """The answer after the way from the history's load and gaps in equal parts, each from the
    answer before it; its displacement is that of the whole way. From one that does not converge on
    the rest of the way is one increment."""
    kept, now, solves, several = whole.history, whole, 0, False
    force = np.column_stack([np.maximum(kept.normal, 0.0), kept.tangential])
    before, gap_before = whole.carried(force), 0.0 if kept.gap is None else kept.gap
    moved = np.zeros(len(whole.load))
    if whole.warm_start is not None:
        now = replace(now, warm_start=whole.warm_start / increments)
    for k in range(1, increments + 1):
        part = k / increments
        now = replace(now, load=part * whole.load + (1.0 - part) * before)
        if whole.gap is not None:
            now = replace(now, gap=part * whole.gap + (1.0 - part) * gap_before)
        found = _increment(now)
        solves, several = solves + found.iterations, several or found.several
        if found.status is not Status.CONVERGED:
            break
        now, moved = replace(now, history=found.history), moved + found.displacement
    merged = increments - k
    if merged:
        found = _increment(replace(whole, history=now.history))
        solves, several = solves + found.iterations, several or found.several
    if merged or not found.converged:
        moved = moved + found.displacement
    return replace(found, iterations=solves, several=several, merged=merged, displacement=moved)


def _increment(problem: ForceProblem) -> RoughForces:
    """One increment.

    Motions that no contact resists have the stiffness ``tolerance``, over the largest of the
    contacts: loads along them too small to count do not move bodies into other contacts.
    """
    tolerance, largest = problem.tolerance, problem.sums.largest
    law, offset = law_of_increment(
        tuple(k / problem.stiffest for k in (problem.stiffness, problem.tangential)),
        problem.friction,
        problem.exponent,
        problem.d,
        history=problem.history,
        gap=problem.gap,
        tangential_law=problem.tangential_law,
        unit=problem.unit,
        length=problem.length,
        slide=problem.slide,
    )
    x = problem.begun
    x = np.zeros(len(problem.moved.dofs)) if x is None else x
    if not problem.presses:
        w = np.zeros((len(law.normal), problem.d)) if offset is None else offset
        nothing = Equilibrium(np.zeros_like(x), np.zeros_like(w), w, Status.CONVERGED, 0.0, 0)
        return _answer(problem, _Found(nothing, law, Status.CONVERGED, 0, ()))
    goal, mechanics = problem.goal, problem.mechanics(offset, tolerance)
    sizes = dict(tolerance=0.5 * tolerance, force_size=max(largest(goal), 1e-3))
    first, routes = solve(
        mechanics, law, x, **sizes, settings=Settings(path=PATH, relaxation=Relaxation())
    )
    grows = None
    if first.converged:
        if problem.sums is WHOLE:
            rows, bodies = problem.moved.B, dict(starts=problem.moved.starts, tolerance=tolerance)
            first = light_bodies_balanced(mechanics, rows, law, first, goal, **bodies)
        if problem.slide is None:  # what is known to slide moves on: no state of rest
            grows = growth(mechanics, law, first.x)
    if grows is not None:
        first = stable_beside(mechanics, law, first, grows, **sizes)
        routes = (*routes, "disturbance")
    found = _Found(first, law, first.status, first.iterations, routes, several=grows is not None)
    if not (first.converged or first.status is Status.UNSTABLE):
        if first.status is Status.NO_EQUILIBRIUM:
            found = replace(found, mechanism=_unit_motion(problem, first.x - x))
        found = _least_energy(problem, found, goal)
    return _answer(problem, found)


def _least_energy(problem: ForceProblem, before: _Found, goal) -> _Found:
    """Forces of least energy, where no equilibrium of the law was found."""
    law = replace(
        before.law,
        tangential=problem.tangential / problem.stiffest,
        kept=np.zeros_like(before.law.kept),
        exponent=2.0,
        associated=True,
    )
    found, routes = solve(
        problem.mechanics(None, FREE * problem.tolerance),
        law,
        np.zeros(len(goal)),
        tolerance=0.5 * problem.tolerance,
        force_size=1.0,
        settings=Settings(newton=0, path=PATH),
    )
    solves, routes = before.solves + found.iterations, (*before.routes, "least energy", *routes)
    if not found.converged and late():
        nearer = before.equilibrium.residual < found.residual
        end = before if nearer else _Found(found, law, before.status, solves, routes)
        return replace(end, status=Status.APPROXIMATE, solves=solves, routes=routes)
    if not found.converged:
        return _nearest(problem, _Found(found, law, Status.STALLED, solves, routes), goal)
    status = Status.APPROXIMATE if cut() else Status.NO_EQUILIBRIUM
    return _Found(found, law, status, solves, routes, mechanism=before.mechanism)


def _nearest(problem: ForceProblem, found: _Found, goal) -> _Found:
    """Forces for the nearest load that is carried, if a motion shows that this one is not."""
    near = nearest = None
    if problem.sums is WHOLE and found.equilibrium.residual > NEAREST.missing:
        near, nearest, more = nearest_forces(problem.moved.B, goal, found.law)
        found = replace(found, solves=found.solves + more, routes=(*found.routes, "nearest load"))
    for way in (found.equilibrium, near):  # what is missing of the nearest load is a motion too
        mechanism = None if way is None else _mechanism(problem, way, found.law, goal)
        if mechanism is not None:
            return replace(
                found,
                equilibrium=near or found.equilibrium,
                status=Status.LOAD_NOT_CARRIED,
                nearest_status=nearest,
                mechanism=mechanism,
            )
    return found


def _mechanism(problem: ForceProblem, found: Equilibrium, law, goal) -> np.ndarray | None:
    """The motion (n,) that the load drives and no contact resists, or None.

    Admissible forces do no work f . w < 0 in it, as w_n >= mu |w_t| at every contact (w_n >=
    -mu e . w_t where it slides along a given e), and so cannot balance a load with F~ . u < 0
    (Farkas' lemma for cones).
    """
    sums = problem.sums
    u = found.x / (sums.largest(found.x) or 1.0)
    w = problem.change(u)
    along = np.linalg.norm(w[:, 1:], axis=1)
    if law.slide is not None:
        along = np.where(law.sliding, -(law.slide * w[:, 1:]).sum(axis=1), along)
    resists = law.friction * along - w[:, 0]
    driven = -sums.total(float(goal @ u))
    if driven <= 0.0 or sums.most(resists) > 1e-3 * driven:
        return None
    return _unit_motion(problem, u)


def _unit_motion(problem: ForceProblem, x: np.ndarray) -> np.ndarray:
    """The motion (n,) of x (n',), of largest entry 1."""
    motion = problem.moved.motion(x)
    return motion / problem.sums.largest(motion)


def _answer(problem: ForceProblem, found: _Found) -> RoughForces:
    """What was found in the units of the problem, judged by its balance; not carried where a load
    that no contact takes is more than rounding."""
    tolerance, unit, law = problem.tolerance, problem.unit, found.law
    untouched, uncarried = problem.untouched()
    if uncarried:
        if found.status is not Status.LOAD_NOT_CARRIED:
            motion = -untouched / np.abs(untouched).max()
            found = replace(found, nearest_status=found.status, mechanism=motion)
        found = replace(found, status=Status.LOAD_NOT_CARRIED)
    scaled, status = found.equilibrium, found.status
    force = scaled.force * unit
    common = problem.balance(force, problem.load, problem.size or unit)
    solved = (Status.CONVERGED, Status.UNSTABLE, Status.NO_EQUILIBRIUM)
    if status in solved and not common["residual"] <= tolerance:
        status = Status.STALLED
    bound = problem.friction * force[:, 0]
    slides = np.linalg.norm(force[:, 1:], axis=1) >= (1.0 - AT_BOUND) * bound
    bears = force[:, 0] > 10.0 * tolerance * problem.sums.most(force[:, 0])
    kept = kept_normal(law, scaled.displacement, scaled.force) * unit
    state = UNLOADED if problem.history is None else HISTORY
    gap, off = _nearness(scaled, law) if problem.sums is WHOLE else (np.nan, np.nan)
    return RoughForces(
        **common,
        force=force[:, 0],
        displacement=problem.moved.motion(scaled.x) * problem.length,
        status=status,
        iterations=found.solves,
        duality_gap=gap,
        force_error=off,
        tolerance=tolerance,
        method="newton",
        nearest_status=found.nearest_status,
        tangential_force=force[:, 1:],
        sliding=bears & slides & (bound > 0.0),
        state=LEAST_ENERGY if law.associated else state,
        history=ContactHistory(kept, force[:, 1:].copy(), problem.gap),
        mechanism=found.mechanism,
        several=found.several,
        routes=found.routes,
    )


def _nearness(found: Equilibrium, law: ContactLaw) -> tuple[float, float]:
    """(energy gap over the energy, how far a force can be from the one of least energy by it over
    the largest): energies differ by half of the squared difference of forces in their metric."""
    energy, most = 0.5 * law.work(found.force), float(np.abs(found.force).max(initial=0.0))
    if not (law.associated and energy > 0.0):
        return float("nan"), float("nan")
    gap = law.energy_gap(found.displacement, found.force)
    stiffest = max(float(law.normal.max()), float(law.tangential.max()))
    return gap / energy, float(np.sqrt(2.0 * gap * stiffest)) / most
