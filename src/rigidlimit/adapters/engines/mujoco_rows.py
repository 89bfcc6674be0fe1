"""Rows and forces of MuJoCo's contacts, as ``data.efc_J`` and ``data.efc_force`` have them.

With the rows J_e and forces f_e of contact i,

    frictionless, elliptic   B_i = J_0             f_n = f_0          f_t = f_1, f_2, ...
    pyramidal (edge pairs)   B_i = (J_0 + J_1)/2   f_n = sum of f_e   f_tk = mu_k (f_2k - f_2k+1)
"""

from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numba import njit

from ..._support.matrices import Matrix, from_rows
from ...errors import InputError
from .matrices import Rows, by_direction, compressed
from .mujoco_model import codes

if TYPE_CHECKING:
    from mujoco import MjData, MjModel

DIRECTIONS = np.arange(5)
"""Of friction: two of sliding, spin, two of rolling."""


@dataclass(frozen=True)
class Solved:
    """Contacts that MuJoCo solved: row (m,) in data.contact, address (m,) of their first constraint
    row, dim (m,), friction (m, 5), pyramidal (m,) bool: with pairs of edges, adhesion (m,)
    [N]."""

    row: np.ndarray
    address: np.ndarray
    dim: np.ndarray
    friction: np.ndarray
    pyramidal: np.ndarray
    adhesion: np.ndarray

    @property
    def count(self) -> np.ndarray:
        """Number of constraint rows of each (m,)."""
        return np.where(self.pyramidal, 2 * (self.dim - 1), self.dim)

    def summed(self, values: np.ndarray) -> np.ndarray:
        """Sums (m,) of what constraint rows have, over those that push along the normal: all edges
        of a pyramid, else the first."""
        last = self.address + np.where(self.pyramidal, 2 * (self.dim - 1), 1)
        if not len(last):
            return np.zeros(0)
        ends = np.stack([self.address, last], axis=1).ravel()
        return np.add.reduceat(np.append(values, 0.0), ends)[::2]


def solved_contacts(mujoco: ModuleType, model: "MjModel", data: "MjData") -> Solved:
    """Those with rows in ``data.efc_J``. Raises InputError for rows that are not of this state."""
    ncon, contact, code = int(data.ncon), data.contact, codes(mujoco)
    address = np.array(contact.efc_address, int).reshape(ncon)
    row = np.flatnonzero(address >= 0)
    address = address[row]
    dim = np.array(contact.dim, int).reshape(ncon)[row]
    friction = np.array(contact.friction, float).reshape(ncon, 5)[row]
    friction = np.where(dim[:, None] - 1 > DIRECTIONS, friction, 0.0)
    # of geoms and pairs, from MuJoCo 3.11 on
    adhesion = np.array(getattr(contact, "adhesion", np.zeros(ncon)), float).reshape(ncon)[row]
    if len(row) and (address + dim).max() > data.nefc:
        raise InputError(
            f"contacts point to constraint row {address.max()} of {data.nefc}; call mj_forward or "
            "mj_step on this mjData first"
        )
    pyramidal = (dim > 1) & (int(model.opt.cone) == code.cone)
    _check_cone(code, np.array(data.efc_type, int).ravel()[address], row, dim, pyramidal)
    return Solved(row, address, dim, friction, pyramidal, adhesion)


def _check_cone(code, kind, row, dim, pyramidal):
    """Rows of another cone than the model's would be read as forces that they are not. kind (m,):
    of the first constraint row of each contact."""
    wrong = np.flatnonzero((dim > 1) & (kind != np.where(pyramidal, code.pyramid, code.elliptic)))
    if len(wrong):
        i = wrong[0]
        made = {code.pyramid: "a pyramidal cone", code.elliptic: "an elliptic cone"}
        raise InputError(
            f"contact {row[i]} of data has rows of {made.get(kind[i], 'another constraint')}, "
            f"model.opt.cone is {'pyramidal' if pyramidal[i] else 'elliptic'}; expected the MjData "
            "of this model; where the cone was changed, call mj_forward or mj_step afterwards"
        )


@dataclass(frozen=True)
class Jacobian:
    """efc_J (nefc, nv) as compressed rows: values, column, ends of ``rows``."""

    rows: Rows
    shape: tuple[int, int]

    def taken(self, rows: np.ndarray) -> sp.csr_array:
        """Some of its rows: indices."""
        return sp.csr_array(self.rows, shape=self.shape)[rows]


def constraint_rows(mujoco: ModuleType, model: "MjModel", data: "MjData") -> Jacobian:
    """efc_J (nefc, nv), however MuJoCo stores it."""
    shape = (int(data.nefc), int(model.nv))
    if not mujoco.mj_isSparse(model):
        values = np.array(data.efc_J, float).ravel()[: shape[0] * shape[1]]
        return Jacobian(compressed(values.reshape(shape)), shape)
    stored = (
        np.array(getattr(data, f"efc_J{name}"), kind).ravel()
        for name, kind in (("", float), ("_colind", np.int32))
    )
    count, start = (
        np.array(getattr(data, f"efc_J_{name}"), np.int64)[: shape[0]]
        for name in ("rownnz", "rowadr")
    )
    return Jacobian(_packed(*stored, count, start), shape)


@njit(cache=True)
def _packed(values, column, count, start):
    """Compressed rows of those that begin at ``start`` and have ``count`` entries each."""
    ends = np.zeros(len(count) + 1, np.int32)
    for i in range(len(count)):
        ends[i + 1] = ends[i] + count[i]
    packed, place = np.empty(ends[-1]), np.empty(ends[-1], np.int32)
    for i in range(len(count)):
        for k in range(count[i]):
            packed[ends[i] + k] = values[start[i] + k]
            place[ends[i] + k] = column[start[i] + k]
    return packed, place, ends


@dataclass(frozen=True)
class ContactRows:
    """Of m contacts B (m, nv); T (s m, nv), velocities along the directions of ``tangential``, both
    tangents at least, zero where there is no friction; normal (m,) and tangential (m, 5) forces:
    two sliding forces [N], spin and two rolling moments [N m], unused ones zero."""

    B: Matrix
    T: Matrix
    normal: np.ndarray
    tangential: np.ndarray


def contact_rows(jacobian: Jacobian, solved: Solved, forces: np.ndarray) -> ContactRows:
    """Rows and forces of the contacts; forces (nefc,)."""
    m, n = len(solved.row), jacobian.shape[1]
    s = max(2, int(solved.dim.max(initial=0)) - 1)
    given = solved.address, solved.dim, solved.pyramidal, solved.friction
    B, T = by_direction(*_rows(jacobian.rows, given, s), 1 + s, n)
    normal, tangential = np.zeros(m), np.zeros((m, len(DIRECTIONS)))
    contact_forces(forces, *given, normal, tangential)
    B, T = from_rows(*B, (m, n)), from_rows(*T, (s * m, n))
    return ContactRows(B, T, normal, tangential)


@njit(cache=True, nogil=True)
def contact_forces(
    forces: np.ndarray,
    address: np.ndarray,
    dim: np.ndarray,
    pyramidal: np.ndarray,
    friction: np.ndarray,
    normal: np.ndarray,
    tangential: np.ndarray,
) -> None:
    """Normal forces (m,) and those along the tangents (m, 5), in place of zeros."""
    for i in range(len(address)):
        first = address[i]
        if not pyramidal[i]:
            normal[i] = forces[first]
        for k in range(dim[i] - 1):
            if pyramidal[i]:
                along, back = forces[first + 2 * k], forces[first + 2 * k + 1]
                normal[i] += along + back
                tangential[i, k] = friction[i, k] * (along - back)
            else:
                tangential[i, k] = forces[first + 1 + k]


@njit(cache=True)
def _rows(J, contacts, s):
    """Compressed rows (m (1 + s), n): the normal one of each contact, then its s tangential ones,
    those of two edges one after the other. J: compressed rows; contacts: address, dim, pyramidal,
    friction."""
    values, column, ends = J
    address, dim, pyramidal, friction = contacts
    m = len(address)
    # of each row the first constraint row, the second or the same, and their weights
    pair, weight = np.zeros((m * (1 + s), 2), np.int64), np.zeros((m * (1 + s), 2))
    for i in range(m):
        first, row = address[i], i * (1 + s)
        if not pyramidal[i]:
            for k in range(dim[i]):
                pair[row + k], weight[row + k, 0] = first + k, 1.0
            continue
        pair[row, 0], pair[row, 1], weight[row] = first, first + 1, 0.5
        for k in range(dim[i] - 1):
            pair[row + 1 + k, 0], pair[row + 1 + k, 1] = first + 2 * k, first + 2 * k + 1
            weight[row + 1 + k, 0] = 0.5 / friction[i, k]
            weight[row + 1 + k, 1] = -0.5 / friction[i, k]
    out_ends = np.zeros(len(pair) + 1, np.int32)
    for row in range(len(pair)):
        out_ends[row + 1] = out_ends[row]
        for side in range(2):
            if weight[row, side] != 0.0:
                k = pair[row, side]
                out_ends[row + 1] += ends[k + 1] - ends[k]
    out, place, size = np.empty(out_ends[-1]), np.empty(out_ends[-1], np.int32), 0
    for row in range(len(pair)):
        for side in range(2):
            if weight[row, side] != 0.0:
                k = pair[row, side]
                for e in range(ends[k], ends[k + 1]):
                    out[size], place[size] = weight[row, side] * values[e], column[e]
                    size += 1
    return out, place, out_ends
