"""The gap gradient B = dPhi/dq of eq. 15, restricted to generalized velocities.

Row i maps the velocities of the two bodies to the rate of gap i (positive opens):
(B v)_i = n . (v_b + w_b x r_b) - n . (v_a + w_a x r_a), with r the arm from each centre to the
contact point and n the normal from body a to body b. Columns of degrees of freedom in Gamma_D are
left out of the pattern (they hold zeros), and so are arms without a moment (smooth spheres).
"""

import numpy as np
import scipy.sparse as sp

from ..bodies import Bodies, State
from ..collision.contacts import Contacts


def gap_gradient(bodies: Bodies, state: State, contacts: Contacts) -> sp.csr_array:
    """B, sparse (contacts, 6 n) [-; m for rotations], sorted columns, no stored zeros."""
    m, n = len(contacts), len(bodies)
    a, b = contacts.body[:, 0], contacts.body[:, 1]
    data = np.empty((m, 12))
    data[:, 0:3] = -contacts.normal
    data[:, 3:6] = -_moment(contacts, state.position[a])
    data[:, 6:9] = contacts.normal
    data[:, 9:12] = _moment(contacts, state.position[b])
    columns = np.concatenate([6 * a[:, None] + np.arange(6), 6 * b[:, None] + np.arange(6)], axis=1)
    keep = np.concatenate([bodies.free[a], bodies.free[b]], axis=1) & (data != 0)
    starts = np.zeros(m + 1, np.int64)
    np.cumsum(keep.sum(axis=1), out=starts[1:])
    return sp.csr_array((data[keep], columns[keep], starts), shape=(m, 6 * n))


def _moment(contacts: Contacts, centre: np.ndarray) -> np.ndarray:
    """r x n about the bodies' centres; rounding of an arm along the normal counts as zero."""
    arm = contacts.point - centre
    # A half-space's "centre" is any point of its plane: it is fixed, so its arm never matters.
    moment = np.cross(arm, contacts.normal)
    small = 1e-13 * np.linalg.norm(arm, axis=1, keepdims=True)
    return np.where(np.abs(moment) <= small, 0.0, moment)
