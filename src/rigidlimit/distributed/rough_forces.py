"""Step 2 with friction on all ranks, in increments: as ``compatibility/rough.py``.

Ways and states are those of one process: ``unloaded``, ``history``, and ``least energy`` where no
equilibrium of the law was found. Not looked at here: the nearest load that is carried, and bodies
whose weight is rounding beside the largest load.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..compatibility import ContactHistory
from ..compatibility.increment_law import kept_normal, law_of_increment
from ..compatibility.rough import FREE, PATH
from ..compatibility.rough_result import HISTORY, LEAST_ENERGY, UNLOADED
from ..equilibrium.law import ContactLaw
from ..equilibrium.relaxation import Relaxation
from ..equilibrium.result import Equilibrium
from ..equilibrium.solve import Settings, solve
from ..equilibrium.stability import growth, stable_beside
from ..status import Status
from .part import Part
from .rank_sums import RankSums
from .ranks import Ranks
from .rough import PartBodies
from .solvers import Solver
from .stiffness import load_of

DRIVEN = 1e-3
"""Of the work of the load: what contacts resist at most in a motion that shows that the load is not
carried."""


@dataclass(frozen=True)
class RoughFound:
    """In the units of the file. force (m, d) [N]; u (o, w): displacements times arms; kept:
    what the contacts remember; status; residual; history: residuals at each system, and the last
    one; state, routes, several: as of ``RoughForces``; merged: increments taken as one with
    another."""

    force: np.ndarray
    u: np.ndarray
    kept: ContactHistory
    status: Status
    residual: float
    history: np.ndarray
    state: str
    routes: tuple[str, ...]
    merged: int = 0
    several: bool = False


@dataclass(frozen=True)
class _Increment:
    """load (o, w) over the arms [N], gap (m,) or None, history, begun (o, w): displacements times
    arms to begin with."""

    load: np.ndarray
    gap: np.ndarray | None
    history: ContactHistory | None
    begun: np.ndarray


class RoughProblem:
    """Rough contacts of a part with exponent p, solved to the tolerance; solver() makes the linear
    solver, once there is something to solve."""

    def __init__(
        self, part: Part, ranks: Ranks, p: float, solver: Callable[[], Solver], tolerance: float
    ):
        self.part, self.ranks, self.p, self.tolerance = part, ranks, p, tolerance
        self.sums = RankSums(ranks, part)
        self.stiffest = self.sums.largest(part.stiffness) or 1.0
        self.stiffness = (part.stiffness / self.stiffest, part.rubbing.stiffness / self.stiffest)
        self.size = max(self.sums.largest(part.load), part.loose)
        if part.gap is not None:
            # where overlaps press harder than the load, rounding is that of their forces
            pressing = part.stiffness * np.maximum(-part.gap, 0.0) ** (p - 1.0)
            self.size = max(self.size, self.sums.largest(pressing))
        self.make_solver, self.solver = solver, None

    def solve(
        self, history: ContactHistory | None, begun: np.ndarray | None, increments: int
    ) -> RoughFound:
        """From what the contacts remember, in so many equal parts of the way from the load that
        they carry; from one that does not converge on the rest of the way is one."""
        part = self.part
        begun = np.zeros((part.own, part.width)) if begun is None else begun
        before = np.zeros(len(part.body))
        gap = part.gap
        if history is not None:
            gap = history.gap if gap is None else gap
            before = before if history.gap is None else history.gap
        whole = _Increment(part.load, gap, history, begun)
        remembers = history is not None and self.sums.any(history.normal)
        if self.size == 0.0 and not remembers:
            return self._nothing(history)
        self.solver = self.ranks.together(self.make_solver)
        if history is None:
            return self._solved(whole)
        carried, now = self._carried(history), replace(whole, begun=begun / increments)
        moved, residuals = np.zeros_like(begun), []
        for k in range(1, increments + 1):
            t = k / increments
            now = replace(now, load=t * whole.load + (1.0 - t) * carried)
            if gap is not None:
                now = replace(now, gap=t * gap + (1.0 - t) * before)
            found = self._solved(now)
            residuals.append(found.history)
            if found.status is not Status.CONVERGED:
                break
            now, moved = replace(now, history=found.kept), moved + found.u
        merged = increments - k
        if merged:
            found = self._solved(replace(whole, history=now.history))
            residuals.append(found.history)
        if merged or found.status is not Status.CONVERGED:
            moved = moved + found.u
        return replace(found, u=moved, history=np.concatenate(residuals), merged=merged)

    def _carried(self, history: ContactHistory) -> np.ndarray:
        """Load (o, w) over the arms that the kept forces carry."""
        force = np.column_stack([np.maximum(history.normal, 0.0), history.tangential])
        carried = load_of(self.part.body, self.part.rows, force, self.part.own)
        return np.where(self.part.moved, carried, 0.0)

    def _nothing(self, history) -> RoughFound:
        part = self.part
        m, d = len(part.body), part.components
        kept = ContactHistory(np.zeros(m), np.zeros((m, d - 1)), part.gap)
        state = UNLOADED if history is None else HISTORY
        u = np.zeros((part.own, part.width))
        return RoughFound(np.zeros((m, d)), u, kept, Status.CONVERGED, 0.0, np.zeros(1), state, ())

    def _solved(self, increment: _Increment) -> RoughFound:
        part, history, p = self.part, increment.history, self.p
        unit = self.size
        if history is not None:
            unit = max(unit, self.sums.largest(history.normal))
        length = (unit / self.stiffest) ** (1.0 / (p - 1.0))
        law, offset = law_of_increment(
            self.stiffness,
            part.rubbing.friction,
            p,
            part.components,
            history=history,
            gap=increment.gap,
            tangential_law=part.rubbing.law,
            unit=unit,
            length=length,
        )
        goal = increment.load / unit
        known = dict(unit=max((self.size or unit) / unit, 1e-30))
        bodies = PartBodies(
            part, self.ranks, self.solver, goal, offset=offset, shift=self.tolerance, **known
        )
        sizes = dict(tolerance=0.5 * self.tolerance, force_size=max(self.sums.largest(goal), 1e-3))
        settings = Settings(path=PATH, relaxation=Relaxation())
        begun = (increment.begun / length).ravel()
        found, routes = solve(bodies, law, begun, **sizes, settings=settings)
        grows = growth(bodies, law, found.x) if found.converged else None
        if grows is not None:
            found = stable_beside(bodies, law, found, grows, **sizes)
            routes = (*routes, "disturbance")
        state, status, residuals = UNLOADED if history is None else HISTORY, found.status, None
        if not (found.converged or status is Status.UNSTABLE):
            residuals = bodies.history
            bodies = PartBodies(
                part, self.ranks, self.solver, goal,
                offset=None, shift=FREE * self.tolerance, **known,
            )  # fmt: skip
            found, law, more, status = self._least_energy(bodies, goal)
            state, routes = LEAST_ENERGY, (*routes, "least energy", *more)
        answer = self._in_units(
            found, law, increment, unit, length, (status, state, routes), bodies, residuals
        )
        return replace(answer, several=grows is not None)

    def _least_energy(self, bodies: PartBodies, goal: np.ndarray):
        """Forces of least energy, where no equilibrium of the law was found."""
        m, d = bodies.shape
        law = ContactLaw(
            *self.stiffness, self.part.rubbing.friction, np.zeros((m, d - 1)), associated=True
        )
        found, routes = solve(
            bodies,
            law,
            np.zeros(goal.size),
            tolerance=0.5 * self.tolerance,
            force_size=1.0,
            settings=Settings(newton=0, path=PATH),
        )
        status = Status.NO_EQUILIBRIUM if found.converged else Status.STALLED
        if not found.converged and self._driven(bodies, found, goal):
            status = Status.LOAD_NOT_CARRIED
        return found, law, routes, status

    def _driven(self, bodies: PartBodies, found: Equilibrium, goal: np.ndarray) -> bool:
        """Whether the load drives a motion that no contact resists (``compatibility/rough.py``)."""
        u = found.x / (self.sums.largest(found.x) or 1.0)
        w = bodies.change(u)
        along = np.linalg.norm(w[:, 1:], axis=1)
        resists = np.maximum(self.part.rubbing.friction * along - w[:, 0], 0.0)
        driven = -self.ranks.sum(float(goal.ravel() @ u))
        return driven > 0.0 and self.sums.largest(resists) <= DRIVEN * driven

    def _in_units(self, found, law, increment, unit, length, what, bodies, earlier) -> RoughFound:
        status, state, routes = what
        force = found.force * unit
        kept = kept_normal(law, found.displacement, found.force) * unit
        carried = load_of(self.part.body, self.part.rows, force, self.part.own)
        off = np.where(self.part.moved, carried - increment.load, 0.0)
        residual = self.sums.largest(off) / (self.size or unit)
        solved = (Status.CONVERGED, Status.UNSTABLE, Status.NO_EQUILIBRIUM)
        if status in solved and not residual <= self.tolerance:
            status = Status.STALLED
        return RoughFound(
            force=force,
            u=found.x.reshape(self.part.own, self.part.width) * length,
            kept=ContactHistory(kept, force[:, 1:].copy(), increment.gap),
            status=status,
            residual=residual,
            history=np.array([*(earlier or ()), *bodies.history, residual]),
            state=state,
            routes=routes,
        )
