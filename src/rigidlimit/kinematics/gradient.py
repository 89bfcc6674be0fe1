"""The gap gradient B = dPhi/dq of eq. 15, restricted to generalized velocities, and T beside it.

Row i of B maps the velocities of the two bodies to the rate of gap i (positive opens):
(B v)_i = n . (v_b + w_b x r_b) - n . (v_a + w_a x r_a), with r the arm from each centre to the
contact point and n the normal from body a to body b. Columns of degrees of freedom in Gamma_D that
stand still are left out of the pattern. So are arms without a moment (smooth spheres) and rounding
of normals: a lid that slides between two walls is no wedge of 1e-16. Columns of driven bodies are
there. Rows of T are the same with a tangent t in place of n: T v is the velocity of body b relative
to body a at the contact point along t, and a tangential force f_t on body b acts as T^T f_t.
In a periodic cell the image of body b is one branch vector d away from body a, and the last body is
the cell, whose velocities are l L (``bodies/cell.py``): its columns are n_i d_j / l. A half-space
is strained with the cell, so that bodies on it do not slide.
"""

import numpy as np
import scipy.sparse as sp
from numba import njit

from ..bodies import Bodies, HalfSpace, State
from ..bodies.cell import FIRST, SECOND
from ..collision.contacts import Contacts
from .frames import tangents_of

ALONG = 1e-13
"""Moment over the length of its arm that counts as rounding of an arm along the direction, and part
of a unit vector that counts as rounding of one across an axis."""


def gap_gradient(bodies: Bodies, state: State, contacts: Contacts) -> sp.csr_array:
    """B, sparse (contacts, 6 n) [-; m for rotations], sorted columns, no stored zeros."""
    return _gradient(bodies, state, contacts, contacts.normal)


def tangential_gradient(bodies: Bodies, state: State, contacts: Contacts) -> sp.csr_array:
    """T, sparse ((d - 1) contacts, 6 n) [-; m for rotations], contact by contact: t1, then t2.

    Along ``contacts.tangents``, or those of the normals alone where the contacts have none. Sorted
    columns, no stored zeros, degrees of freedom as in ``gap_gradient``.
    """
    tangents = contacts.tangents
    if tangents is None:
        tangents = tangents_of(contacts.normal, bodies.dim)
    return _gradient(bodies, state, contacts, np.ascontiguousarray(tangents.reshape(-1, 3)))


def _gradient(bodies, state, contacts, directions):
    """Rows along ``directions`` (m r, 3), r of them a contact."""
    m, n = len(directions), len(bodies)
    index = np.int32 if max(18 * m, 6 * n) < np.iinfo(np.int32).max else np.int64
    moves = bodies.free | (state.velocity != 0)
    entries = 12 * m if contacts.branch is None else 18 * m
    starts, columns, data = np.zeros(m + 1, index), np.empty(entries, index), np.empty(entries)
    branch, length = np.zeros((0, 3)), 1.0
    if contacts.branch is not None:
        branch, length = contacts.branch, bodies.cell_length
    count = _rows(
        (contacts.body, directions, contacts.point),
        (state.position, moves),
        (branch, length, bodies.are(HalfSpace)),
        (starts, columns, data),
    )
    return sp.csr_array((data[:count].copy(), columns[:count].copy(), starts), shape=(m, 6 * n))


@njit(cache=True)
def _rows(contacts, bodies, cell, out):
    """Fills the rows, as many of each contact; returns the number of entries.

    contacts: body (m, 2), directions (m r, 3), point (m, 3). bodies: centre (n, 3), moves (n, 6).
    cell: branch (m, 3), none without a cell; length, which its columns are over; plane (n,): which
    bodies are half-spaces. out: starts, columns, data of the rows.
    """
    (body, direction, point), (centre, moves), (branch, length, plane) = contacts, bodies, cell
    starts, columns, data = out
    count = 0
    each = len(direction) // max(len(body), 1)
    r = np.empty(3)
    for i in range(len(direction)):
        n, c = direction[i], i // each
        for side in range(2):
            who = body[c, side]
            # a half-space's "centre" is a point of its plane, about which it turns if it is driven
            for k in range(3):
                r[k] = point[c, k] - centre[who, k]
                if side == 1 and len(branch) > 0:
                    r[k] = point[c, k] - centre[body[c, 0], k] - branch[c, k]
            count = _columns_of_body(n, r, 2.0 * side - 1.0, who, moves, columns, data, count)
        if len(branch) > 0 and not (plane[body[c, 0]] or plane[body[c, 1]]):
            count = _columns_of_cell(n, branch[c], length, moves, columns, data, count)
        starts[i + 1] = count
    return count


@njit(cache=True, inline="always")
def _columns_of_body(n, r, sign, who, moves, columns, data, count):
    """Those of body ``who``, of which r is the arm: sign (n, r x n)."""
    rounding = ALONG * np.sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2])
    for k in range(6):
        if not moves[who, k]:
            continue
        if k < 3:
            value, nothing = n[k], ALONG
        else:
            a, b = (k + 1) % 3, (k + 2) % 3
            value, nothing = r[a] * n[b] - r[b] * n[a], rounding
        if not abs(value) <= nothing:  # also what is no number
            columns[count] = 6 * who + k
            data[count] = sign * value
            count += 1
    return count


@njit(cache=True, inline="always")
def _columns_of_cell(n, d, length, moves, columns, data, count):
    """Those of the cell, the last body, for a branch vector d."""
    rounding = ALONG * np.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
    cell = len(moves) - 1
    for k in range(6):
        value = n[FIRST[k]] * d[SECOND[k]]
        if moves[cell, k] and abs(value) > rounding:
            columns[count] = 6 * cell + k
            data[count] = value / length
            count += 1
    return count
