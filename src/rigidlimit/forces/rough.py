"""Step 2 with friction: the forces of stiff elastic bodies with rough contacts.

B^T f_n + T^T f_t = F~ with Coulomb's law and springs at every contact (``equilibrium.law``). Which
state the forces come from decides them, and is named in the result:

    unloaded       one solve from the state without forces: the result of slow proportional loading,
                   as the law is homogeneous
    history        one increment (backward Euler, first order) from the forces of an earlier answer
    least energy   min sum f_n^2/(2 k_n) + |f_t|^2/(2 k_t) in the cones: unique, there whenever any
                   admissible forces are; not what a sliding contact does

The first two are what was asked for; ``least energy`` is given where no equilibrium of the law was
found, with a status that says so; contacts that slide along a given direction keep it. Where no
admissible force balances the load either, a motion shows that: it opens or slides at every contact
without being resisted, and the load drives it. The forces are then those of least energy for the
nearest load that is carried.
"""

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from .._support import arrays
from .._support.matrices import matrix, scaled
from .._support.words import counted
from ..bodies.materials import MINDLIN, MINDLIN_FORCE, TANGENTIAL_LAWS
from ..equilibrium.dense import between_bodies
from ..equilibrium.law import ContactLaw
from ..equilibrium.relaxation import Relaxation
from ..equilibrium.rows import checked_friction, contact_rows, sliding_directions
from ..equilibrium.solve import Settings, solve
from ..errors import InputError
from ..linear import column_arms
from ..status import Status
from .problem import CompatibleForces, checked_law
from .rough_nearest import NEAREST, nearest_forces

UNLOADED, HISTORY, LEAST_ENERGY = "unloaded", "history", "least energy"

PATH = 120
"""Iterations of the interior path at most; random packings take 40 to 90."""

AT_BOUND = 1e-9
"""Part of the bound by which a tangential force may stay below it and still count as sliding."""


@dataclass(frozen=True)
class ContactHistory:
    """What contacts remember, to start the next increment from. Finite in the stiff limit.

    normal (m,) [N]: k c^(p-1) of the overlap c, negative where the contact is open by an elastic
    displacement. tangential (m, d-1) [N]: tangential force, zero where the contact does not bear.
    gap (m,) [m]: initial gaps, part of c; None: none.
    """

    normal: np.ndarray
    tangential: np.ndarray
    gap: np.ndarray | None = None


@dataclass(frozen=True, repr=False)
class RoughForces(CompatibleForces):
    """``CompatibleForces`` of rough contacts. ``force`` (m,) [N] stays the normal force.

    tangential_force (m, d-1) [N]: on the second body, along the contact's tangents. sliding (m,)
    bool: contacts at their bound mu f_n. state: "unloaded", "history" or "least energy". history:
    what the next increment starts from. mechanism (n,): where no admissible forces balance the
    load, the motion that it drives, of largest entry 1; else None. routes: ways of the solver.
    The energy gap of frictionless contacts has no meaning here; ``duality_gap`` and ``force_error``
    are nan.
    """

    tangential_force: np.ndarray | None = None
    sliding: np.ndarray | None = None
    state: str = UNLOADED
    history: ContactHistory | None = None
    mechanism: np.ndarray | None = None
    routes: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        advice = self.status.advice
        if self.status is Status.STALLED and self.residual > NEAREST.missing:
            advice = (
                "neither an equilibrium nor forces in the friction cones that balance the load "
                "were found: rigidlimit.least_friction tells whether there are any"
            )
        parts = [
            f"{self.state}: {self.status}, residual {self.residual:.1e} (tolerance "
            f"{self.tolerance:.1e}) after {counted(self.iterations, 'linear system')}",
            advice,
            counted(int(self.sliding.sum()), "sliding contact"),
        ]
        if self.nearest_status is not None:
            solved = self.nearest_status is Status.CONVERGED
            parts.append(
                "the forces are those of the nearest load that can be carried"
                + ("" if solved else f", not solved to the tolerance ({self.nearest_status})")
            )
        if self.mechanism is not None:
            carried = self.status is Status.NO_EQUILIBRIUM
            what = "along which springs give way without end" if carried else "that the load drives"
            parts.append(f"the motion {what} is in .mechanism")
        return "; ".join(parts)


def rough_forces(
    B,
    load,
    *,
    tangential,
    tangential_stiffness=1.0,
    friction=0.0,
    stiffness=1.0,
    exponent: float = 2.0,
    history: ContactHistory | None = None,
    sliding_direction=None,
    increments: int = 1,
    tangential_law: str = MINDLIN,
    fixed=None,
    gap_error=None,
    tolerance: float = 1e-10,
    warm_start=None,
) -> RoughForces:
    """See ``compatible_forces``, of which this is the part with tangential rows.

    B (m d, n) may have these too, contact by contact, normal first; then tangential is d.
    """
    B = matrix("B", B)
    n = B.shape[1]
    load = arrays.vector("load", load, n, what="degree of freedom (column of B)")
    contacts = _checked(B, tangential, tangential_stiffness, friction, stiffness, exponent)
    m, d = contacts.shape
    free = arrays.free_columns(fixed, n)
    load = np.where(free, load, 0.0)
    if tangential_law not in TANGENTIAL_LAWS:
        raise InputError(
            f"tangential_law is {tangential_law!r}; expected {' or '.join(TANGENTIAL_LAWS)}"
        )
    tolerance = arrays.positive("tolerance", tolerance)
    increments = _checked_increments(increments)
    if warm_start is not None:
        warm_start = arrays.vector("warm_start", warm_start, n, what="degree of freedom")
    slide = None
    if sliding_direction is not None and m:
        slide = sliding_directions(sliding_direction, m, d)
    history = _checked_history(history, m, d) if m else None
    gap, gap_before = _gaps(gap_error, history, m)
    problem = _Scaled(contacts, load, free, gap)
    if not len(problem.dofs):
        return _nothing(contacts, problem.untouched, tolerance, history)
    if problem.size == 0.0 and (history is None or not history.normal.any()):
        return _nothing(contacts, load, tolerance, history)
    found = None
    before = problem.carried(history) if history is not None else np.zeros(n)
    for k in range(1, increments + 1 if history is not None else 2):
        part = k / increments if history is not None else 1.0
        target = before + part * (load - before)
        now = None if gap is None else gap_before + part * (gap - gap_before)
        found = problem.solve(target, now, history, slide, tangential_law, tolerance, warm_start)
        if found.status is not Status.CONVERGED:
            break
        history = found.history if history is not None else None
    if history is None:
        return found
    force = np.column_stack([found.force, found.tangential_force])
    return replace(found, imbalance=problem.imbalance(force, load))


@dataclass(frozen=True)
class _Contacts:
    """Rows (m d, n) contact by contact, normal first, and the law's numbers (m,)."""

    rows: np.ndarray | sp.csr_array
    shape: tuple[int, int]
    normal: np.ndarray
    tangential: np.ndarray
    friction: np.ndarray
    exponent: float


def _checked(B, tangential, tangential_stiffness, friction, stiffness, exponent) -> _Contacts:
    rows, d = (B, tangential) if isinstance(tangential, int) else contact_rows(B, tangential)
    m = rows.shape[0] // d
    stiffness, exponent = checked_law(stiffness, exponent, m)
    k_t = arrays.vector("tangential_stiffness", tangential_stiffness, m, what="contact (row of B)")
    mu = checked_friction(friction, m)
    if (k_t <= 0.0).any():
        i = int(np.argmin(k_t))
        raise InputError(
            f"tangential_stiffness of contact {i} is {k_t[i]}; expected a positive number "
            "(a smooth contact has friction 0)"
        )
    return _Contacts(rows, (m, d), stiffness, k_t, mu, exponent)


def _checked_increments(increments) -> int:
    count = arrays.number(increments)
    if not (count >= 1.0 and count == np.floor(count) and np.isfinite(count)):
        raise InputError(f"increments is {increments!r}; expected a positive integer")
    return int(count)


def _checked_history(history, m: int, d: int) -> ContactHistory | None:
    if history is None:
        return None
    if not isinstance(history, ContactHistory):
        raise InputError(
            f"history is {arrays.short(history)}; expected the .history of an earlier answer"
        )
    normal, tangential = np.asarray(history.normal), np.asarray(history.tangential)
    if normal.shape != (m,) or tangential.shape != (m, d - 1):
        raise InputError(
            f"history is of {counted(len(normal), 'contact')} with tangential forces of shape "
            f"{tangential.shape}; expected ({m},) and ({m}, {d - 1}): carry it over contact by "
            "contact, zero for new ones"
        )
    gap = history.gap
    if gap is not None:
        gap = arrays.vector("history.gap", gap, m, what="contact (row of B)")
    return ContactHistory(normal.astype(float), tangential.astype(float), gap)


def _gaps(gap_error, history, m: int):
    """Initial gaps (m,) [m] at the end and at the start of the increment; None where there are
    none. Those of the history stay where no others are given."""
    before = None if history is None else history.gap
    gap = before if gap_error is None else gap_error
    if gap is None:
        return None, None
    gap = arrays.vector("gap_error", gap, m, what="contact (row of B)")
    return gap, np.zeros(m) if before is None else before


def _nothing(contacts, load, tolerance, history) -> RoughForces:
    """No forces; load (n,) [N]: what no contact moves."""
    m, d = contacts.shape
    rest, size = ContactHistory(np.zeros(m), np.zeros((m, d - 1))), np.abs(load)
    carried = not load.any()
    status = Status.CONVERGED if carried else Status.LOAD_NOT_CARRIED
    residual = 0.0 if carried else 1.0
    return RoughForces(
        **_common(np.zeros(m), np.zeros(len(load)), status, residual, 0, -load, tolerance, size),
        nearest_status=None if carried else Status.CONVERGED,
        mechanism=None if carried else -load / size.max(),
        tangential_force=np.zeros((m, d - 1)),
        sliding=np.zeros(m, bool),
        state=UNLOADED if history is None else HISTORY,
        history=rest,
    )


def _common(force, u, status, residual, iterations, imbalance, tolerance, off):
    """off (n,): size of the imbalance over arms."""
    return dict(
        force=force,
        displacement=u,
        status=status,
        residual=residual,
        iterations=iterations,
        imbalance=imbalance,
        worst_dof=int(np.argmax(off)) if len(off) else 0,
        duality_gap=float("nan"),
        force_error=float("nan"),
        tolerance=tolerance,
        method="newton",
    )


class _Scaled:
    """The problem in units in which loads, stiffness and arms are of order one."""

    def __init__(self, contacts: _Contacts, load: np.ndarray, free: np.ndarray, gap=None):
        self.contacts, self.free = contacts, free
        arm, touched = column_arms(contacts.rows)
        self.dofs = np.flatnonzero(free & touched)
        self.arm_full = np.where(free & touched, arm, 1.0)
        self.arm = arm[self.dofs]
        self.n = len(free)
        used = contacts.rows if len(self.dofs) == self.n else contacts.rows[:, self.dofs]
        self.rows = scaled(used, columns=1.0 / self.arm)
        self.stiffness_size = float(contacts.normal.max(initial=0.0)) or 1.0
        self.size = float((np.abs(load) / self.arm_full).max(initial=0.0))
        if gap is not None:
            # where overlaps press harder than the load, last digits are those of their forces
            overlap = np.maximum(-gap, 0.0) ** (contacts.exponent - 1.0)
            self.size = max(self.size, float((contacts.normal * overlap).max(initial=0.0)))
        self.untouched = np.where(free & ~touched, load, 0.0)

    def carried(self, history) -> np.ndarray:
        """Load (n,) that the kept forces carry."""
        force = np.column_stack([np.maximum(history.normal, 0.0), history.tangential])
        return np.where(self.free, self.contacts.rows.T @ force.ravel(), 0.0)

    def imbalance(self, force, load) -> np.ndarray:
        """What forces (m, d) leave of the load (n,)."""
        return np.where(self.free, self.contacts.rows.T @ force.ravel() - load, 0.0)

    def solve(
        self, load, gap, history, slide, tangential_law, tolerance, warm_start
    ) -> RoughForces:
        """One increment to ``load`` (n,) [N] and initial gaps (m,) [m] or None.

        Motions that no contact resists have the stiffness ``tolerance``, over the largest of the
        contacts: loads along them too small to count do not move bodies into other contacts.
        """
        contacts, p = self.contacts, self.contacts.exponent
        m, d = contacts.shape
        unit = self.size
        if history is not None:
            unit = max(unit, float(np.abs(history.normal).max(initial=0.0)))
        length = (unit / self.stiffness_size) ** (1.0 / (p - 1.0))
        k_n = contacts.normal / self.stiffness_size
        k_t = contacts.tangential / self.stiffness_size
        kept, offset = np.zeros((m, d - 1)), None
        if history is not None:
            offset = np.zeros((m, d))
            normal = history.normal / unit
            overlap = np.sign(normal) * (np.abs(normal) / k_n) ** (1.0 / (p - 1.0))
            offset[:, 0] = -overlap
            kept = history.tangential / unit
            if gap is not None and history.gap is not None:
                offset[:, 0] -= history.gap / length
            if p != 2.0 and tangential_law == MINDLIN:
                # the spring's length is kept: its force grows with the radius
                bears = overlap > 0.0
                spring = np.where(bears, k_t * np.where(bears, overlap, 1.0) ** (p - 2.0), 1.0)
                offset[:, 1:] = np.where(bears[:, None], -kept / spring[:, None], 0.0)
                kept = np.zeros_like(kept)
        elif tangential_law == MINDLIN_FORCE:
            k_t = k_t / (p - 1.0)  # its stiffness, summed up along the way from zero
        if gap is not None:
            offset = np.zeros((m, d)) if offset is None else offset
            offset[:, 0] += gap / length
        law = ContactLaw(k_n, k_t, contacts.friction, kept, p, slide)
        goal = load[self.dofs] / self.arm / unit
        mechanics = between_bodies(
            self.rows, -goal, d, offset=offset, shift=tolerance, unit=max(self.size / unit, 1e-30)
        )
        x = np.zeros(len(self.dofs))
        if warm_start is not None:
            x = warm_start[self.dofs] * self.arm / length
        usual = max(float(np.abs(goal).max(initial=0.0)), 1e-3)
        found, routes = solve(
            mechanics,
            law,
            x,
            tolerance=0.5 * tolerance,
            force_size=usual,
            settings=Settings(path=PATH, relaxation=Relaxation()),
        )
        state = UNLOADED if history is None else HISTORY
        status, mechanism, solves = Status.CONVERGED, None, found.iterations
        nearest_status = None
        if not found.converged:
            status, state = Status.NO_EQUILIBRIUM, LEAST_ENERGY
            if found.status is Status.NO_EQUILIBRIUM:
                mechanism = self._motion(found.x - x)
            k = contacts.normal / self.stiffness_size, contacts.tangential / self.stiffness_size
            law = ContactLaw(
                *k, contacts.friction, np.zeros((m, d - 1)), slide=slide, associated=True
            )
            mechanics = between_bodies(self.rows, -goal, d, shift=tolerance, unit=mechanics.unit)
            found, more = solve(
                mechanics,
                law,
                np.zeros(len(self.dofs)),
                tolerance=0.5 * tolerance,
                force_size=1.0,
                settings=Settings(newton=0, path=PATH),
            )
            solves, routes = solves + found.iterations, (*routes, "least energy", *more)
            if not found.converged:
                status, mechanism, near, nearest = Status.STALLED, None, None, None
                if found.residual > NEAREST.missing:
                    near, nearest, more = nearest_forces(self.rows, goal, law)
                    solves, routes = solves + more, (*routes, "nearest load")
                for way in (found, near):  # what is missing of the nearest load is a motion as well
                    if mechanism is None and way is not None:
                        mechanism = self._mechanism(way, law, goal)
                if mechanism is not None:
                    status, nearest_status = Status.LOAD_NOT_CARRIED, nearest
                    found = near or found
        if np.abs(self.untouched).max(initial=0.0) > tolerance * self.size:
            if status is not Status.LOAD_NOT_CARRIED:
                nearest_status, mechanism = status, -self.untouched / np.abs(self.untouched).max()
            status = Status.LOAD_NOT_CARRIED
        answer = self._answer(found, law, load, gap, unit, length, status, state, solves, tolerance,
                              mechanism, routes)  # fmt: skip
        return replace(answer, nearest_status=nearest_status)

    def _mechanism(self, found, law, goal):
        """The motion (n,) that the load drives and no contact resists, or None.

        Admissible forces do no work f . w < 0 in it, as w_n >= mu |w_t| at every contact (w_n >=
        -mu e . w_t where it slides along a given e), and so cannot balance a load with F~ . u < 0
        (Farkas' lemma for cones).
        """
        u = found.x / (np.abs(found.x).max(initial=0.0) or 1.0)
        w = (self.rows @ u).reshape(self.contacts.shape)
        along = np.linalg.norm(w[:, 1:], axis=1)
        if law.slide is not None:
            along = np.where(law.sliding, -(law.slide * w[:, 1:]).sum(axis=1), along)
        resists = law.friction * along - w[:, 0]
        driven = -float(goal @ u)
        if driven <= 0.0 or resists.max(initial=0.0) > 1e-3 * driven:
            return None
        return self._motion(u)

    def _motion(self, u):
        """Scaled displacements as a motion (n,) of largest entry 1."""
        motion = np.zeros(self.n)
        motion[self.dofs] = u / self.arm
        return motion / np.abs(motion).max()

    def _answer(self, found, law, load, gap, unit, length, status, state, solves, tolerance,
                mechanism, routes):  # fmt: skip
        force = found.force * unit
        u = np.zeros(self.n)
        u[self.dofs] = found.x / self.arm * length
        overlap = -found.displacement[:, 0]
        normal = np.sign(overlap) * law.normal * np.abs(overlap) ** (law.exponent - 1.0) * unit
        if law.associated:
            normal = force[:, 0]
        size = np.linalg.norm(force[:, 1:], axis=1)
        bound = self.contacts.friction * force[:, 0]
        bears = force[:, 0] > 10.0 * tolerance * force[:, 0].max(initial=0.0)
        imbalance = self.imbalance(force, load)
        off = np.abs(imbalance) / self.arm_full
        residual = float(off.max(initial=0.0)) / (self.size or unit)
        if status is Status.CONVERGED and residual > tolerance:
            status = Status.STALLED
        return RoughForces(
            **_common(force[:, 0], u, status, residual, solves, imbalance, tolerance, off),
            tangential_force=force[:, 1:],
            sliding=bears & (size >= (1.0 - AT_BOUND) * bound) & (bound > 0.0),
            state=state,
            history=ContactHistory(normal, force[:, 1:].copy(), gap),
            mechanism=mechanism,
            routes=routes,
        )
