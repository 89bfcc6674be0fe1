"""Rigid links from MuJoCo's active equality constraints.

Connections, welds, couplings of joints and of tendons; which are active, MuJoCo says by the rows it
lists. Those of flexes stand for elasticity, and a weld or connection to a mocap body is a soft
drive: both stay given load, as does what the caller does not name.

MuJoCo's rows of a connection or weld take the two anchors where they are, a little apart, and two
welds of the same bodies would then forbid them to turn. Here both bodies move through the middle
p of the anchors:

    G v = v_1(p) - v_2(p) [m/s],   and w_1 - w_2 [rad/s] for a weld

Couplings of joints and tendons are MuJoCo's own rows.

MuJoCo's equalities are soft. They are treated as rigid, with a note where their
position error is more than ``tolerances.soft`` of the size of their mechanism, or their spring k
per unit of mass (efc_KBIP) slower than ``tolerances.slow``: 1/sqrt(k), 0.02 s by default.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from ..._support.matrices import Matrix
from ..._support.words import counted
from ...errors import InputError
from .arguments import EQUALITIES, joint_names
from .links import from_error
from .mujoco_model import codes
from .mujoco_rows import Jacobian
from .reading import Extents
from .tolerances import TOLERANCES

if TYPE_CHECKING:
    from mujoco import MjData, MjModel


@dataclass(frozen=True)
class Equalities:
    """rows (k, nv) [m/s, rad/s]; turns (k,) bool: rad/s; coupling (k,) bool: of joints or tendons;
    equality (k,): whose; engine_row (r,): rows of efc that they stand for, and own (r,): whose
    these are; notes: what was left as given."""

    rows: Matrix
    turns: np.ndarray
    coupling: np.ndarray
    equality: np.ndarray
    engine_row: np.ndarray
    own: np.ndarray
    notes: tuple[str, ...]


def equalities(
    mujoco: ModuleType,
    model: "MjModel",
    data: "MjData",
    jacobian: Jacobian,
    wanted: Sequence[str] | str,
) -> Equalities:
    """Those active and ``wanted``: "rigid", "given", or names of equalities."""
    named = named_equalities(mujoco, model, wanted)
    active = np.array(data.efc_type, int).ravel() == codes(mujoco).equality
    efc = np.flatnonzero(active[: int(data.nefc)])
    if not len(efc):
        none = np.zeros(0, int)
        return Equalities(np.zeros((0, int(model.nv))), none != 0, none != 0, none, none, none, ())
    number = np.array(data.efc_id, int).ravel()[efc]
    # numpy's numbers and MuJoCo's names compare in one direction only
    connect, weld, joint, tendon = (
        int(getattr(mujoco.mjtEq, f"mjEQ_{kind}"))
        for kind in ("CONNECT", "WELD", "JOINT", "TENDON")
    )
    rows, turns, coupling, equality, taken, drives = [], [], [], [], [], 0
    for e in np.unique(number):
        kind = int(model.eq_type[e])
        if named is not None and e not in named:
            continue
        if kind in (joint, tendon):
            found = [(jacobian.taken(efc[number == e]), False)]
        elif kind in (connect, weld):
            bodies, anchors = _sides(mujoco, model, data, e)
            if named is None and (np.array(model.body_mocapid, int)[bodies] >= 0).any():
                drives += 1
                continue
            move, turn = _relative(mujoco, model, data, bodies, anchors.mean(axis=0))
            found = [(move, False)]
            # torquescale zero: MuJoCo's weld lets the bodies turn
            if kind == weld and model.eq_data[e, 10] != 0.0:
                found.append((turn, True))
        else:
            continue
        taken.append(e)
        for part, turning in found:
            count = part.shape[0]
            rows.append(part)
            turns += [turning] * count
            coupling += [kind in (joint, tendon)] * count
            equality += [e] * count
    notes = []
    if drives:
        notes.append(
            f"{counted(drives, 'equality')} with a mocap body taken as a drive, which keeps its "
            "force; name it in equalities= if it is rigid"
        )
    picked = np.isin(number, taken)
    return Equalities(
        sp.csr_array(sp.vstack(rows)) if rows else sp.csr_array((0, int(model.nv))),
        np.array(turns, bool),
        np.array(coupling, bool),
        np.array(equality, int),
        efc[picked],
        number[picked],
        tuple(notes),
    )


def in_displacements(
    found: Equalities, model: "MjModel", data: "MjData", extent: Extents
) -> tuple[Matrix, np.ndarray, list[int]]:
    """Rows (k, nv) in displacements [m/s]; accuracy (k,) for redundant ones; numbers of the
    equalities that are soft."""
    rows, size = found.rows, extent.sizes
    k = rows.shape[0]
    if not k:
        return rows, np.zeros(0), []
    entries = sp.coo_array(rows)
    span = np.zeros(k)
    np.maximum.at(span, entries.row, size[entries.col])
    span = np.where(span > 0, span, float(size.max(initial=0.0)) or 1.0)
    scaled = sp.csr_array(rows @ sp.diags_array(1.0 / extent.reach))
    norm = np.sqrt(np.asarray(scaled.multiply(scaled).sum(axis=1)).ravel())
    # a tendon that moves nothing has no size of its own
    weight = np.where(found.turns, span, 1.0)
    weight = np.where(found.coupling & (norm > 1e-9), 1.0 / np.maximum(norm, 1e-9), weight)

    # what MuJoCo's own rows say, of each equality the worst
    stretch, soft = {}, []
    numbers, first = np.unique(found.equality, return_index=True)
    error = np.abs(np.array(data.efc_pos, float))
    spring = np.array(data.efc_KBIP, float).reshape(-1, 4)[:, 0]
    for e, at in zip(numbers, first, strict=True):
        efc = found.engine_row[found.own == e]
        factor = np.full(len(efc), weight[at])
        if len(efc) == 6 and not found.coupling[at]:
            # half the angle, times torquescale
            factor[3:] = 2 * span[at] / max(abs(float(model.eq_data[e, 10])), 1e-12)
        off = error[efc] * factor / span[at]
        stretch[e] = float(off.max())
        if stretch[e] > TOLERANCES.soft or spring[efc].min() * TOLERANCES.slow**2 < 1.0:
            soft.append(int(e))
    accuracy = from_error([stretch[e] for e in found.equality])
    return sp.csr_array(sp.diags_array(weight) @ rows), accuracy, soft


def _sides(mujoco, model, data, e):
    """Body (2,) and anchor (2, 3) [m] on both sides."""
    ids = int(model.eq_obj1id[e]), int(model.eq_obj2id[e])
    # before MuJoCo 3.2 bodies only
    kinds = getattr(model, "eq_objtype", None)
    if kinds is not None and kinds[e] == mujoco.mjtObj.mjOBJ_SITE:
        bodies = [int(model.site_bodyid[s]) for s in ids]
        return bodies, np.array([data.site_xpos[s] for s in ids])
    offsets = np.array(model.eq_data[e, :6], float).reshape(2, 3)
    if model.eq_type[e] == mujoco.mjtEq.mjEQ_WELD:
        offsets = offsets[::-1]
    anchors = [
        data.xpos[b] + np.array(data.xmat[b], float).reshape(3, 3) @ offset
        for b, offset in zip(ids, offsets, strict=True)
    ]
    return list(ids), np.array(anchors)


def _relative(mujoco, model, data, bodies, point):
    """Velocity of body 1 less that of body 2 at ``point``, and the same of their turns, (3, nv)."""
    both = np.zeros((2, 3, int(model.nv)))
    for sign, body in zip((1.0, -1.0), bodies, strict=True):
        move, turn = np.zeros((2, 3, int(model.nv)))
        mujoco.mj_jac(model, data, move, turn, np.array(point, float), body)
        both += sign * np.array([move, turn])
    return sp.csr_array(both[0]), sp.csr_array(both[1])


def named_equalities(
    mujoco: ModuleType, model: "MjModel", wanted: Sequence[str] | str
) -> set[int] | None:
    """Numbers of the equalities named; None for all of them. Raises InputError for others."""
    if isinstance(wanted, str) and wanted in EQUALITIES:
        return None if wanted == "rigid" else set()
    numbers = set()
    for name in joint_names(wanted, "equalities", "equality"):
        e = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_EQUALITY, name)
        if e < 0:
            known = ", ".join(filter(None, (model.equality(e).name for e in range(model.neq))))
            raise InputError(
                f"equalities names {name!r}; expected 'rigid', 'given' or names of equalities; "
                f"the model has {known or 'none with a name'}"
            )
        numbers.add(e)
    return numbers
