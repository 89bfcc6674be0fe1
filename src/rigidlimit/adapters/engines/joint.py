"""Normal and tangential forces together, from the total wrench of an engine's contacts.

With the rows T of two tangential directions a contact, stiff elastic contacts with Coulomb's law
answer for both (``compatibility.rough``):

    B^T f_n + T^T f_t = B^T f_n' + T^T f_t'      |f_t / mu| <= f_n

where ' marks the engine's forces. The cone is Coulomb's own, elliptic where both coefficients
differ, also where the engine bounds friction by a pyramid or a box. With mu the larger coefficient
and weights s_k = mu_k / mu, rows s_k T_k and forces f_tk / s_k make it circular; the tangential
stiffness is then k_t s_k^2. Spin and rolling moments stay the engine's: they are part of the load.

Islands (bodies that contacts join) do not depend on one another. They are solved at once; where
that does not end in the state "unloaded", each on its own, so that one that has no such state does
not decide about the others.
"""

from dataclasses import replace

import numpy as np
from numba import njit

from ..._support.deadline import cut, late
from ..._support.matrices import scaled
from ...compatibility import RoughForces
from ...compatibility.checked import force_problem
from ...compatibility.rough import rough_forces
from ...compatibility.rough_result import ContactHistory
from ...errors import InputError
from ...status import Status
from .balance import Balance
from .contacts import EngineContacts
from .matrices import by_contact, delivered
from .options import MendOptions

NEAR = 1e-3
"""Residual up to which forces are taken where the budget of time was spent; beyond it the engine's
own are kept, which balance."""

ROWS = 3
"""Rows of each contact: the normal one, and two tangential ones."""


def check_joint(contacts: EngineContacts) -> None:
    """Raises InputError where ``contacts`` lack the directions of friction or its coefficients."""
    m = len(contacts.row)
    otherwise = "; on_friction='keep' mends normal forces alone, under the engine's friction"
    if contacts.directions < 2:
        raise InputError(
            "contacts have friction, and on_friction='joint' needs sliding=, the velocities along "
            f"two tangential directions a contact, {2 * m} rows; found none{otherwise}"
        )
    if contacts.tangential.shape[1] < 2:
        raise InputError(
            "on_friction='joint' needs tangential=, the engine's forces along two directions a "
            f"contact (zeros where it has none); found shape {contacts.tangential.shape}{otherwise}"
        )
    wrong = ~np.isfinite(contacts.friction[:, :2]).all(axis=1)
    if wrong.any():
        raise InputError(
            "on_friction='joint' needs friction=, finite; that of "
            f"{contacts.where(int(wrong.argmax()))} is not given or infinite{otherwise}"
        )


def in_rows(
    contacts: EngineContacts, rows: np.ndarray, normal_force: np.ndarray, tangential: np.ndarray
) -> np.ndarray:
    """Forces (3 b,) in the rows of ``joint_balance`` of some contacts (indices)."""
    weight = contacts.coefficients[1][rows]
    rubs = tangential[:, :2]
    rubs = np.divide(rubs, weight, out=np.zeros_like(rubs), where=weight > 0.0)
    return np.column_stack([normal_force, rubs]).ravel()


def joint_balance(contacts: EngineContacts, tolerance: float) -> Balance:
    """The balance of the total wrench, with rows [B_i; T_2i; T_2i+1] of each contact in turn.

    tolerance: fraction of the largest normal force below which friction forces of contacts without
    friction are rounding.
    """
    m = len(contacts.row)
    weight = contacts.coefficients[1]
    T = contacts.tangential_rows(np.arange(m), 2) if m else contacts.B[:0]
    # of friction alike in both directions the rows are as they are
    weighted = T if (weight == 1.0).all() else scaled(T, rows=weight.ravel())
    rows = by_contact(contacts.B, weighted)
    rubs = np.ascontiguousarray(contacts.tangential[:, :2])
    force, rubs = carried(contacts.pressing, rubs, weight, contacts.powerless, tolerance)
    delivers = delivered(T, rubs)
    # loads of the readers take friction as given; one of the caller's own is the total
    load = contacts.load if contacts.load_from == "given" else contacts.load + delivers
    return Balance(
        rows,
        load,
        contacts.held,
        contacts.mechanism,
        contacts.reach,
        contacts.accuracy,
        force,
        contacts.lean,
        contacts.stated_accuracy,
        notes=contacts.notes,
        directions=ROWS,
    )


@njit(cache=True, nogil=True)
def carried(
    normal_force: np.ndarray,
    rubs: np.ndarray,
    weight: np.ndarray,
    powerless: np.ndarray,
    tolerance: float,
) -> tuple[np.ndarray, np.ndarray]:
    """The engine's forces (3 m,) in the rows of ``joint_balance``, and its friction forces (2 m,)
    without what is rounding where there is no friction."""
    m, largest = len(normal_force), 0.0
    force, borne = np.zeros(3 * m), np.zeros(2 * m)
    for i in range(m):
        if not powerless[i]:
            largest = max(largest, normal_force[i])
    for i in range(m):
        if powerless[i]:
            continue
        force[3 * i] = normal_force[i]
        for k in range(2):
            if weight[i, k] > 0.0:
                force[3 * i + 1 + k] = rubs[i, k] / weight[i, k]
            if weight[i, k] > 0.0 or abs(rubs[i, k]) > tolerance * largest:
                borne[2 * i + k] = rubs[i, k]
    return force, borne


def rough_answer(
    contacts: EngineContacts, rows: np.ndarray, balance: Balance, options: MendOptions
) -> RoughForces:
    """Normal and tangential forces of some contacts (indices) under ``balance``."""
    stiffness, friction = contacts.stiffness[rows], contacts.coefficients[0][rows]
    history = contacts.history
    if history is not None:
        history = ContactHistory(history.normal[rows], history.tangential[rows])
    problem = force_problem(
        balance.B,
        balance.load,
        fixed=balance.held,
        stiffness=stiffness,
        exponent=options.exponent,
        tangential=ROWS,
        tangential_stiffness=options.tangential_stiffness * (options.exponent - 1) * stiffness,
        friction=friction,
        gap_error=contacts.slack(rows, options.exponent),
        history=history,
        **options.solver_for_friction(len(balance.load)),
    )
    answer = rough_forces(problem)
    if answer.status is Status.LOAD_NOT_CARRIED and _carries(balance, friction, answer.tolerance):
        return replace(answer, status=Status.STALLED, mechanism=None)
    return answer


def _carries(balance: Balance, friction, tolerance) -> bool:
    """Whether the engine's own forces are within their cones and balance the load."""
    force = balance.force.reshape(-1, ROWS)
    off = np.where(balance.held, 0.0, delivered(balance.B, balance.force) - balance.load)
    size = float((np.where(balance.held, 0.0, np.abs(balance.load)) / balance.reach).max())
    outside = np.linalg.norm(force[:, 1:], axis=1) - friction * force[:, 0]
    balanced = float((np.abs(off) / balance.reach).max()) <= tolerance * size
    return balanced and float(outside.max()) <= tolerance * float(force[:, 0].max())


def by_islands(
    contacts: EngineContacts,
    rows: np.ndarray,
    balance: Balance,
    options: MendOptions,
    answer: RoughForces,
) -> tuple[RoughForces, np.ndarray]:
    """(answer, state (b,) of each contact: that of its island's forces, or "engine").

    answer: of all contacts ``rows`` at once. Where that is not of the requested state and there are
    several islands, the answer is combined from theirs.
    """
    if answer.converged or cut() or late():
        return answer, np.full(len(rows), _state(answer), object)
    island = balance.islands
    count = int(island.max(initial=-1)) + 1
    if count < 2 and not balance.unresisted.any():
        return answer, np.full(len(rows), _state(answer), object)
    parts = [np.flatnonzero(island == i) for i in range(count)]
    found = [rough_answer(contacts, rows[part], balance.alone(part), options) for part in parts]
    if cut() and max(a.residual for a in found) > answer.residual:
        return answer, np.full(len(rows), _state(answer), object)
    return _together(balance, parts, found), np.array([_state(a) for a in found], object)[island]


def _state(answer: RoughForces) -> str:
    """ "engine" where no admissible forces were found that balance the load, or nearly so where the
    budget of time was spent."""
    if answer.converged:
        return answer.state
    spent = answer.status is Status.APPROXIMATE
    solved = spent or answer.status is Status.NO_EQUILIBRIUM
    pull = -float(answer.force.min(initial=0.0))
    solved &= pull <= answer.tolerance * float(answer.force.max(initial=0.0))
    near = NEAR if spent else answer.tolerance
    return answer.state if solved and answer.residual <= near else "engine"


def _together(balance, parts, found) -> RoughForces:
    """One answer of those of all islands, with the status, residual and state of the worst."""
    order = [(not a.converged, _state(a) == "engine", a.residual) for a in found]
    worst = found[max(range(len(found)), key=order.__getitem__)]
    every = np.argsort(np.concatenate(parts))

    def in_order(name: str) -> np.ndarray:
        return np.concatenate([getattr(a, name) for a in found])[every]

    force, tangential = in_order("force"), in_order("tangential_force")
    kept = [a.history.normal if a.history is not None else a.force for a in found]
    imbalance = balance.B.T @ np.column_stack([force, tangential]).ravel() - balance.load
    if balance.unresisted.any():
        worst = replace(worst, status=Status.LOAD_NOT_CARRIED, residual=1.0)
    return replace(
        worst,
        force=force,
        tangential_force=tangential,
        sliding=in_order("sliding"),
        displacement=sum(a.displacement for a in found),
        imbalance=np.where(balance.held, 0.0, imbalance),
        iterations=sum(a.iterations for a in found),
        history=ContactHistory(np.concatenate(kept)[every], tangential),
        mechanism=None,
    )
