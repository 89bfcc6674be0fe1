"""Rows and forces of MuJoCo's contacts, as ``data.efc_J`` and ``data.efc_force`` have them.

With the rows J_e and forces f_e of contact i,

    frictionless, elliptic   B_i = J_0             f_n = f_0          f_t = f_1, f_2, ...
    pyramidal (edge pairs)   B_i = (J_0 + J_1)/2   f_n = sum of f_e   f_tk = mu_k (f_2k - f_2k+1)
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numba import njit

from ..._support.matrices import from_rows
from ...errors import InputError
from .matrices import compressed

DIRECTIONS = np.arange(5)
"""Of friction: two of sliding, spin, two of rolling."""


@dataclass(frozen=True)
class Solved:
    """Contacts that MuJoCo solved: row (m,) in data.contact, address (m,) of their first constraint
    row, dim (m,), friction (m, 5), pyramidal (m,) bool: with pairs of edges."""

    row: np.ndarray
    address: np.ndarray
    dim: np.ndarray
    friction: np.ndarray
    pyramidal: np.ndarray

    @property
    def count(self) -> np.ndarray:
        """Number of constraint rows of each (m,)."""
        return np.where(self.pyramidal, 2 * (self.dim - 1), self.dim)

    def summed(self, values):
        """Sums (m,) of what constraint rows have, over those that push along the normal: all edges
        of a pyramid, else the first."""
        last = self.address + np.where(self.pyramidal, 2 * (self.dim - 1), 1)
        if not len(last):
            return np.zeros(0)
        ends = np.stack([self.address, last], axis=1).ravel()
        return np.add.reduceat(np.append(values, 0.0), ends)[::2]


def is_pyramidal(mujoco, model) -> bool:
    return int(model.opt.cone) == int(mujoco.mjtCone.mjCONE_PYRAMIDAL)


def solved_contacts(mujoco, model, data) -> Solved:
    ncon, contact = int(data.ncon), data.contact
    address = np.array(contact.efc_address, int).reshape(ncon)
    row = np.flatnonzero(address >= 0)
    address = address[row]
    dim = np.array(contact.dim, int).reshape(ncon)[row]
    friction = np.array(contact.friction, float).reshape(ncon, 5)[row]
    friction = np.where(dim[:, None] - 1 > DIRECTIONS, friction, 0.0)
    if len(row) and (address + dim).max() > data.nefc:
        raise InputError(
            f"contacts point to constraint row {address.max()} of {data.nefc}; call mj_forward or "
            "mj_step on this mjData first"
        )
    pyramidal = (dim > 1) & is_pyramidal(mujoco, model)
    _check_cone(mujoco, data, row, address, dim, pyramidal)
    return Solved(row, address, dim, friction, pyramidal)


def _check_cone(mujoco, data, row, address, dim, pyramidal):
    """Rows of another cone than the model's would be read as forces that they are not."""
    kind = np.array(data.efc_type, int).ravel()[address]
    pyramid, cone = (
        int(getattr(mujoco.mjtConstraint, f"mjCNSTR_CONTACT_{name}"))
        for name in ("PYRAMIDAL", "ELLIPTIC")
    )
    wrong = np.flatnonzero((dim > 1) & (kind != np.where(pyramidal, pyramid, cone)))
    if len(wrong):
        i = wrong[0]
        made = {pyramid: "a pyramidal cone", cone: "an elliptic cone"}
        raise InputError(
            f"contact {row[i]} of data has rows of {made.get(kind[i], 'another constraint')}, "
            f"model.opt.cone is {'pyramidal' if pyramidal[i] else 'elliptic'}; expected the MjData "
            "of this model; where the cone was changed, call mj_forward or mj_step afterwards"
        )


@dataclass(frozen=True)
class Jacobian:
    """efc_J (nefc, nv) as compressed rows: values, column, ends of ``rows``."""

    rows: tuple[np.ndarray, np.ndarray, np.ndarray]
    shape: tuple[int, int]

    def taken(self, rows) -> sp.csr_array:
        """Some of its rows: indices."""
        return sp.csr_array(self.rows, shape=self.shape)[rows]


def constraint_rows(mujoco, model, data) -> Jacobian:
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

    B: np.ndarray | sp.csr_array
    T: np.ndarray | sp.csr_array
    normal: np.ndarray
    tangential: np.ndarray


def contact_rows(jacobian: Jacobian, solved: Solved, forces) -> ContactRows:
    """Rows and forces of the contacts; forces (nefc,)."""
    m, n = len(solved.row), jacobian.shape[1]
    s = max(2, int(solved.dim.max(initial=0)) - 1)
    given = solved.address, solved.dim, solved.pyramidal, solved.friction
    B, T = _rows(*jacobian.rows, *given, s, n)
    return ContactRows(from_rows(*B, (m, n)), from_rows(*T, (s * m, n)), *_forces(forces, *given))


@njit(cache=True)
def _forces(forces, address, dim, pyramidal, friction):
    """Normal forces (m,) and those along the tangents (m, 5)."""
    m = len(address)
    normal, tangential = np.zeros(m), np.zeros((m, 5))
    for i in range(m):
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
    return normal, tangential


@njit(cache=True)
def _rows(values, column, ends, address, dim, pyramidal, friction, s, n):
    """Compressed rows B (m, n) and T (s m, n)."""
    m, most = len(address), 0
    for i in range(m):
        count = 2 * (dim[i] - 1) if pyramidal[i] else dim[i]
        most += 2 * (ends[address[i] + count] - ends[address[i]])
    room, sums, seen = np.empty(n, np.int64), np.zeros(n), np.zeros(n, np.bool_)
    B = np.empty(most), np.empty(most, np.int32), np.zeros(m + 1, np.int32)
    T = np.empty(most), np.empty(most, np.int32), np.zeros(s * m + 1, np.int32)
    sizes = np.zeros(2, np.int64)
    for i in range(m):
        first, edges = address[i], pyramidal[i]
        a, b = (0.5, 0.5) if edges else (1.0, 0.0)
        sizes[0] = _row(
            values, column, ends, first, a, first + edges, b, B[0], B[1], sizes[0], room, sums, seen
        )
        B[2][i + 1] = sizes[0]
        for k in range(s):
            if dim[i] > k + 1:
                a, b = (0.5 / friction[i, k], -0.5 / friction[i, k]) if edges else (1.0, 0.0)
                first = address[i] + (2 * k if edges else 1 + k)
                sizes[1] = _row(
                    values, column, ends, first, a, first + edges, b, T[0], T[1], sizes[1], room,
                    sums, seen,
                )  # fmt: skip
            T[2][s * i + k + 1] = sizes[1]
    B = B[0][: sizes[0]].copy(), B[1][: sizes[0]].copy(), B[2]
    return B, (T[0][: sizes[1]].copy(), T[1][: sizes[1]].copy(), T[2])


@njit(cache=True)
def _row(values, column, ends, first, a, second, b, out, place, size, room, sums, seen):
    """Append a J_first + b J_second to compressed rows of ``size`` entries; the new size. room,
    sums, seen (n,): to work in; the last is false everywhere before and after."""
    count = 0
    for row, weight in ((first, a), (second, b)):
        if weight == 0.0:
            continue
        for e in range(ends[row], ends[row + 1]):
            j = column[e]
            if not seen[j]:
                seen[j], sums[j], room[count] = True, 0.0, j
                count += 1
            sums[j] += weight * values[e]
    for k in range(count):
        j = room[k]
        seen[j] = False
        if sums[j] != 0.0:
            out[size], place[size] = sums[j], j
            size += 1
    return size
