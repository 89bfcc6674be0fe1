"""Rows and forces of MuJoCo's contacts, as ``data.efc_J`` and ``data.efc_force`` have them.

With the rows J_e and forces f_e of contact i,

    frictionless, elliptic   B_i = J_0             f_n = f_0          f_t = f_1, f_2, ...
    pyramidal (edge pairs)   B_i = (J_0 + J_1)/2   f_n = sum of f_e   f_tk = mu_k (f_2k - f_2k+1)
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..._support.matrices import combined, compact, from_rows, taken
from ...errors import InputError


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


def solved_contacts(mujoco, model, data) -> Solved:
    ncon, contact = int(data.ncon), data.contact
    address = np.array(contact.efc_address, int).reshape(ncon)
    row = np.flatnonzero(address >= 0)
    address = address[row]
    dim = np.array(contact.dim, int).reshape(ncon)[row]
    friction = np.array(contact.friction, float).reshape(ncon, 5)[row]
    friction = np.where(np.arange(5) < dim[:, None] - 1, friction, 0.0)
    if len(row) and (address + dim).max() > data.nefc:
        raise InputError(
            f"contacts point to constraint row {address.max()} of {data.nefc}; call mj_forward or "
            "mj_step on this mjData first"
        )
    pyramidal = (dim > 1) & (model.opt.cone == mujoco.mjtCone.mjCONE_PYRAMIDAL)
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


def constraint_rows(mujoco, model, data):
    """efc_J (nefc, nv), however MuJoCo stores it."""
    shape = (int(data.nefc), int(model.nv))
    values = np.array(data.efc_J, float).ravel()
    if not mujoco.mj_isSparse(model):
        return compact(values[: shape[0] * shape[1]].reshape(shape))
    count = np.array(data.efc_J_rownnz, int)[: shape[0]]
    start = np.array(data.efc_J_rowadr, int)[: shape[0]]
    ends = np.r_[0, np.cumsum(count)]
    entry = np.arange(ends[-1]) + np.repeat(start - ends[:-1], count)
    column = np.array(data.efc_J_colind, int).ravel()[entry]
    return from_rows(values[entry], column, ends, shape)


def normal_rows(jacobian, solved):
    """(m, nv): a pyramid's two edges lean to both sides of its normal."""
    second = solved.address + solved.pyramidal
    half = np.full(len(second), 0.5)
    edges = taken((jacobian,), solved.address), taken((jacobian,), second)
    return compact(combined(edges[0], half, edges[1], half))


def sliding_rows(jacobian, solved):
    """(s m, nv): velocities along the directions of ``friction_forces``, both tangents at least;
    zero rows where there is no friction."""
    m = len(solved.dim)
    s = max(2, int(solved.dim.max(initial=0)) - 1)
    k = np.tile(np.arange(s), m)
    of = np.repeat(np.arange(m), s)
    has, pyramidal = solved.dim[of] > k + 1, solved.pyramidal[of]
    mu = solved.friction[of, k]
    with np.errstate(divide="ignore"):
        weight = np.where(pyramidal, 0.5 / mu, 1.0)
    first = solved.address[of] + np.where(pyramidal, 2 * k, 1 + k)
    first = np.where(has, first, 0)
    second = np.where(has & pyramidal, first + 1, 0)
    if not m or not jacobian.shape[0]:
        return compact(sp.csr_array((s * m, jacobian.shape[1])))
    along, back = np.where(has, weight, 0.0), np.where(has & pyramidal, -weight, 0.0)
    edges = taken((jacobian,), first), taken((jacobian,), second)
    return compact(combined(edges[0], along, edges[1], back))


def friction_forces(forces, solved):
    """(m, 5): two sliding forces [N], spin and two rolling moments [N m]; unused ones zero."""
    k = np.arange(5)
    has, pyramidal = solved.dim[:, None] > k + 1, solved.pyramidal[:, None]
    first = np.where(has, solved.address[:, None] + np.where(pyramidal, 2 * k, 1 + k), 0)
    if not len(first):
        return np.zeros((0, 5))
    along = forces[first]
    edges = solved.friction * (along - forces[np.where(has & pyramidal, first + 1, first)])
    return np.where(has, np.where(pyramidal, edges, along), 0.0)
