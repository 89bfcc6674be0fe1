"""Forces of a step that depend on the rounding of written coordinates.

Where positions have k digits (``bodies/written.py``), gaps are known to a few units h of the last
digit, and directions between centres to h over a body's radius a. Gaps and tilts of that size may
be zero. Besides the forces that treat both as real, step 2 is solved for the same load once more

    with contacts that are open by at most 4 h,
    without motions that a body's contacts resist by at most 2 h / a (``one_body.py``),

and the difference is reported; neither solution is called the right one. Where u, the displacement
of the compatible forces, closes none of these contacts and there are no such motions, the forces
satisfy all conditions of that problem as well, and it is not solved.

In open rows of bodies side by side tilts act through inequalities, which no singular value shows;
their displacements do, in either solution (``idle_contacts.py``, 2 h / a in place of ``weak``).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from .._support.submatrix import submatrix
from ..bodies import Bodies, State
from ..collision.contacts import Contacts
from ..compatibility.result import CompatibleForces
from .idle_contacts import tilt_dependent
from .one_body import without_weak_motions
from .screening import Columns, weak_motions
from .step_data import Balance
from .tolerances import TOLERANCES


class InputRounding(NamedTuple):
    """change (n,) [N]: of the forces on each body, without what rounded coordinates do not
    determine. dependent (n,) bool: bodies whose forces depend on such tilts by an unknown amount.
    digit [m]: unit of the last digit of the coordinates."""

    change: np.ndarray
    dependent: np.ndarray
    digit: float


class Closing(NamedTuple):
    """Contacts (m,) at the end of a step. gap (m,) [m]. B (m, 6 n). closed (m,) bool. force (m,)
    [N]: that made F~."""

    contacts: Contacts
    gap: np.ndarray
    B: sp.csr_array
    closed: np.ndarray
    force: np.ndarray


def input_rounding_change(
    bodies: Bodies,
    state: State,
    closing: Closing,
    answer: tuple[np.ndarray, np.ndarray],
    balance: Balance,
    solve: Callable[[np.ndarray, Balance], CompatibleForces],
) -> InputRounding | None:
    """``InputRounding`` of a step's compatible forces, None where all bodies have moved away from
    their written positions.

    state: at the end of the step. answer (m,) [N], displacement (6 n,): compatible forces and
    displacement of ``balance``, (B, load). solve(rows (k,), balance): compatible
    forces of other contacts.
    """
    contacts, gap, B, closed, force = closing
    columns = Columns.of(bodies)
    digit, here = bodies.written.digit, bodies.written.here(state.position)
    if not here.any():
        return None
    forces, displacement = answer
    limit = np.where(
        here,
        np.maximum(TOLERANCES.weak, TOLERANCES.tilt * digit / bodies.bounding_radius),
        TOLERANCES.weak,
    )
    dependent = tilt_dependent(*balance, displacement, columns, limit)
    near = ~closed & (gap <= TOLERANCES.gap * digit) & here[contacts.body].all(axis=1)
    overlap = -(B @ displacement)
    idle = overlap[near | (closed & (forces == 0.0))]  # also those excluded from the balance
    pressed = near.any() and bool(
        (idle > TOLERANCES.relevant * overlap[forces > 0.0].max(initial=0.0)).any()
    )
    rows = np.flatnonzero(closed | near if pressed else closed)
    B = submatrix(B, rows=rows)
    slight = weak_motions(B, columns, limit.max())
    change = np.zeros(len(bodies))
    leans = (slight[1] > TOLERANCES.weak) & (slight[1] <= limit[slight[0]][:, None])
    if pressed or leans.any():
        load = np.where(columns.free, B.T @ force[rows], 0.0)
        known = dict(slight=slight, hardly=limit)
        less = without_weak_motions(B, load, force[rows], columns, **known)
        other = np.zeros(len(forces))
        answered = solve(rows, less)
        other[rows] = answered.force
        dependent |= tilt_dependent(*less, answered.displacement, columns, limit)
        np.maximum.at(change, contacts.body, np.abs(other - forces)[:, None])
    return InputRounding(change, dependent, digit)
