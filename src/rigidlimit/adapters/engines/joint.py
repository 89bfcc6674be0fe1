"""Normal and tangential forces together, from the total wrench of an engine's contacts.

With the rows T of two tangential directions a contact, stiff elastic contacts with Coulomb's law
answer for both (``forces.rough``):

    B^T f_n + T^T f_t = B^T f_n' + T^T f_t'      |f_t / mu| <= f_n

where ' marks the engine's forces. The cone is Coulomb's own, elliptic where both coefficients
differ, also where the engine bounds friction by a pyramid or a box. With mu the larger coefficient
and weights s_k = mu_k / mu, rows s_k T_k and forces f_tk / s_k make it circular; the tangential
stiffness is then k_t s_k^2. Spin and rolling moments stay the engine's: they are part of the load.
"""

import numpy as np
import scipy.sparse as sp

from ...errors import InputError
from ...forces import CompatibleForces, compatible_forces
from .balance import Balance
from .contacts import EngineContacts
from .matrices import compact, scaled
from .options import MendOptions

ROWS = 3
"""Rows of each contact: the normal one, and two tangential ones."""


def check_joint(contacts: EngineContacts) -> None:
    """Raises InputError where ``contacts`` lack the directions of friction or its coefficients."""
    m = len(contacts.row)
    if m and contacts.directions < 2:
        raise InputError(
            "on_friction='joint' needs sliding=, the velocities along two tangential directions a "
            f"contact, {2 * m} rows; found none"
        )
    if contacts.tangential.shape[1] < 2:
        raise InputError(
            "on_friction='joint' needs tangential=, the engine's forces along two directions a "
            f"contact (zeros where it has none); found shape {contacts.tangential.shape}"
        )
    wrong = ~np.isfinite(contacts.friction[:, :2]).all(axis=1)
    if wrong.any():
        raise InputError(
            "on_friction='joint' needs friction=, finite; that of "
            f"{contacts.where(int(wrong.argmax()))} is not given or infinite"
        )


def coefficients(contacts: EngineContacts) -> tuple[np.ndarray, np.ndarray]:
    """mu (m,), the larger coefficient of both directions; weights s (m, 2)."""
    friction = contacts.friction[:, :2]
    mu = friction.max(axis=1, initial=0.0)
    weight = np.divide(friction, mu[:, None], out=np.zeros_like(friction), where=mu[:, None] > 0.0)
    return mu, weight


def joint_balance(contacts: EngineContacts) -> Balance:
    """The balance of the total wrench, with rows [B_i; T_2i; T_2i+1] of each contact in turn."""
    m = len(contacts.row)
    weight = coefficients(contacts)[1]
    T = contacts.tangential_rows(np.arange(m), 2) if m else contacts.B[:0]
    T = scaled(T, rows=weight.ravel())
    order = np.column_stack([np.arange(m), m + np.arange(2 * m).reshape(m, 2)]).ravel()
    rows = compact(sp.csr_array(sp.vstack([sp.csr_array(contacts.B), sp.csr_array(T)]))[order])
    friction = contacts.tangential[:, :2]
    friction = np.divide(friction, weight, out=np.zeros_like(friction), where=weight > 0.0)
    force = np.column_stack([contacts.normal_force, friction])
    force[contacts.powerless] = 0.0
    carried = T.T @ force[:, 1:].ravel()
    # loads of the readers take friction as given; one of the caller's own is the total
    load = contacts.load if contacts.load_from == "given" else contacts.load + carried
    return Balance(
        rows,
        load,
        contacts.held,
        contacts.mechanism,
        contacts.reach,
        contacts.accuracy,
        force.ravel(),
        notes=contacts.notes,
        directions=ROWS,
    )


def rough_answer(
    contacts: EngineContacts, rows: np.ndarray, balance: Balance, options: MendOptions
) -> CompatibleForces:
    """Normal and tangential forces of some contacts (indices) under ``balance``."""
    mu = coefficients(contacts)[0][rows]
    stiffness = contacts.stiffness[rows]
    return compatible_forces(
        balance.normal_rows,
        balance.load,
        fixed=balance.held,
        stiffness=stiffness,
        exponent=options.exponent,
        tangential=balance.tangential_rows,
        tangential_stiffness=options.tangential_stiffness * (options.exponent - 1) * stiffness,
        friction=mu,
        **options.solver_for(rows, len(contacts.row)),
    )
