"""Step 2 with friction: the forces of stiff elastic bodies with rough contacts.

B^T f_n + T^T f_t = F~ with Coulomb's law and springs at every contact (``equilibrium.law``). Which
state the forces come from decides them, and is named in the result:

    unloaded       one solve from the state without forces: the result of slow proportional loading,
                   as the law is homogeneous
    history        one increment (backward Euler, first order) from the forces of an earlier answer
    least energy   min sum f_n^2/(2 k_n) + |f_t|^2/(2 k_t) in the cones: unique, there whenever any
                   admissible forces are; not what a sliding contact does

The first two are equilibria of the law; ``least energy`` is returned where none of them was
found, with a status that says so; contacts that slide along a given direction keep it. Where no
admissible force balances the load either, a motion shows that: it opens or slides at every contact
without being resisted, and the load drives it. The forces are then those of least energy for the
nearest load that is carried.
"""

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from .._support import arrays
from .._support.matrices import matrix
from .._support.words import counted
from ..bodies.materials import MINDLIN, TANGENTIAL_LAWS
from ..equilibrium.rows import checked_friction, contact_rows, sliding_directions
from ..errors import InputError
from ..status import Status
from .problem import checked_law
from .rough_increment import Increment, RoughContacts, Solved
from .rough_result import AT_BOUND, HISTORY, LEAST_ENERGY, UNLOADED, ContactHistory, RoughForces
from .rough_scaled import ScaledRough


def rough_forces(
    B: np.ndarray | sp.sparray,
    load: ArrayLike,
    *,
    tangential: np.ndarray | sp.sparray | int,
    tangential_stiffness: ArrayLike = 1.0,
    friction: ArrayLike = 0.0,
    stiffness: ArrayLike = 1.0,
    exponent: float = 2.0,
    history: ContactHistory | None = None,
    sliding_direction: ArrayLike | None = None,
    increments: int = 1,
    tangential_law: str = MINDLIN,
    fixed: ArrayLike | None = None,
    gap_error: ArrayLike | None = None,
    tolerance: float = 1e-10,
    warm_start: ArrayLike | None = None,
    blocks: ArrayLike | None = None,
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
    problem = ScaledRough(contacts, load, free, gap, blocks)
    if not len(problem.dofs):
        return _nothing(contacts, problem.untouched, tolerance, history)
    if problem.size == 0.0 and (history is None or not history.normal.any()):
        return _nothing(contacts, load, tolerance, history)
    whole = Increment(load, gap, history, slide, tangential_law, tolerance, warm_start)
    if history is None:
        return _answer(problem, whole)
    return _in_increments(problem, whole, gap_before, increments)


def _in_increments(problem, whole, gap_before, increments) -> RoughForces:
    """The answer after the way from the history's load and gaps in equal parts, each from the
    answer before it; its displacement is that of the whole way. From one that does not converge on
    the rest of the way is one increment."""
    before, now, solves, several = problem.carried(whole.history), whole, 0, False
    moved = np.zeros(len(whole.load))
    if whole.warm_start is not None:
        now = replace(now, warm_start=whole.warm_start / increments)
    for k in range(1, increments + 1):
        part = k / increments
        now = replace(now, load=part * whole.load + (1.0 - part) * before)
        if whole.gap is not None:
            now = replace(now, gap=part * whole.gap + (1.0 - part) * gap_before)
        found = _answer(problem, now)
        solves, several = solves + found.iterations, several or found.several
        if found.status is not Status.CONVERGED:
            break
        now, moved = replace(now, history=found.history), moved + found.displacement
    merged = increments - k
    if merged:
        found = _answer(problem, replace(whole, history=now.history))
        solves, several = solves + found.iterations, several or found.several
    if merged or not found.converged:
        moved = moved + found.displacement
    return replace(found, iterations=solves, several=several, merged=merged, displacement=moved)


def _answer(problem: ScaledRough, increment: Increment) -> RoughForces:
    """One increment solved, and judged by its balance."""
    solved, tolerance = problem.solve(increment), increment.tolerance
    force = solved.force
    size = np.linalg.norm(force[:, 1:], axis=1)
    bound = problem.contacts.friction * force[:, 0]
    bears = force[:, 0] > 10.0 * tolerance * force[:, 0].max(initial=0.0)
    imbalance = problem.imbalance(force, increment.load)
    off = np.abs(imbalance) / problem.arm_full
    residual = float(off.max(initial=0.0)) / (problem.size or solved.unit)
    status = solved.status
    if (
        status in (Status.CONVERGED, Status.UNSTABLE, Status.NO_EQUILIBRIUM)
        and residual > tolerance
    ):
        status = Status.STALLED
    common = _common(
        force[:, 0], solved.displacement, status, residual, solved.solves, imbalance, tolerance, off
    )
    return RoughForces(
        **common | dict(duality_gap=solved.duality_gap, force_error=solved.force_error),
        nearest_status=solved.nearest_status,
        tangential_force=force[:, 1:],
        sliding=bears & (size >= (1.0 - AT_BOUND) * bound) & (bound > 0.0),
        state=_state(solved, increment),
        history=ContactHistory(solved.kept, force[:, 1:].copy(), increment.gap),
        mechanism=solved.mechanism,
        several=solved.several,
        routes=solved.routes,
    )


def _state(solved: Solved, increment: Increment) -> str:
    if solved.least_energy:
        return LEAST_ENERGY
    return UNLOADED if increment.history is None else HISTORY


def _checked(B, tangential, tangential_stiffness, friction, stiffness, exponent) -> RoughContacts:
    if np.ndim(tangential) == 0 and not sp.issparse(tangential):
        rows, d = B, _rows_a_contact(B, tangential)
    else:
        rows, d = contact_rows(B, tangential)
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
    return RoughContacts(rows, (m, d), stiffness, k_t, mu, exponent)


def _rows_a_contact(B, d) -> int:
    """d, of B (m d, n) with all rows contact by contact."""
    if d not in (2, 3):
        raise InputError(
            f"tangential is {arrays.short(d)}; expected the tangential rows, or 2 (plane) or 3 "
            "(space) where B has them too"
        )
    if B.shape[0] % int(d):
        raise InputError(
            f"B has {counted(B.shape[0], 'row')}; expected {int(d)} a contact with tangential={d}, "
            "the normal first"
        )
    return int(d)


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
