"""MuJoCo's contacts from its arrays to new forces in compiled code.

What is read, and how, is that of ``mujoco_rows``, ``mujoco_state``, ``mujoco_places`` and
``reading.extents``, for contacts between geoms and constraints that are no rigid links. Arguments
come as plain tuples of arrays, which numba recognises in a tenth of the time of named ones.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from ..tolerances import TOLERANCES
from . import codes
from .compiled import INNER
from .memory import remembered
from .mujoco_rows import columns_moved, engine_residual, fill_forces, fill_rows
from .shares import AS_GIVEN, Given, Law, shared
from .sizes import centres, tree_sizes

_STILL, _STEPS = TOLERANCES.still, TOLERANCES.steps
_TOUCHING = TOLERANCES.touching


PARTS = (
    "values", "column", "count", "normal", "tangential", "friction", "stiffness", "gap",
    "gap_tolerance", "reach", "load", "velocity", "row", "dim", "geom", "point", "frame", "centre",
    "took_part", "remembered",
)  # fmt: skip
"""What is kept of a state, one after another in one array: numpy makes each array of an answer in
as long as compiled code takes for a contact."""


@njit(cache=True, nogil=True)
def shapes(m: int, s: int, c: int, n: int) -> np.ndarray:
    """Shapes (parts, 3) of ``PARTS``, of m contacts with rows of 1 + s directions and c columns."""
    return np.array([
        (m, 1 + s, c), (m, c, 1), (m, 1, 1), (m, 1, 1), (m, 5, 1), (m, 5, 1), (m, 1, 1), (m, 1, 1),
        (m, 1, 1), (n, 1, 1), (n, 1, 1), (n, 1, 1), (m, 1, 1), (m, 1, 1), (m, 2, 1), (m, 3, 1),
        (m, 9, 1), (m, 2, 3), (m, 1, 1), (m, 1, 1),
    ])  # fmt: skip


class Answer(NamedTuple):
    """What compiled code says of a state. code; force (ncon,) and tangential (ncon, 5): new, in
    MuJoCo's list; kept: of ``PARTS``; sizes: (m, s, c, n) of their ``shapes``; rough: whether
    friction was found too; solves: linear systems; residual; engine_residual: of MuJoCo's solver;
    other: constraint rows of no contact; direct: contacts with a spring of their own."""

    code: int
    force: np.ndarray
    tangential: np.ndarray
    kept: np.ndarray
    sizes: tuple[int, int, int, int]
    rough: bool
    solves: int
    residual: float
    engine_residual: float
    other: int
    direct: int


@njit(cache=True, nogil=True)
def mend_mujoco(model, contact, efc, state, places, load, numbers, law, before):
    """Fields of ``Answer`` of one state.

    model: tree, turns, geom_body, body_tree, body_column, body_mass, held, accuracy, stiffness and
    friction by pair of geoms (or of no size), stiffness and friction of each contact (likewise).
    contact: MuJoCo's pos, frame, geom, dim, friction, efc_address, mu, solref, solimp. efc: J,
    J_rownnz, J_rowadr, J_colind, force, pos, margin, aref, b, D, type, KBIP. state: qvel, qacc,
    qacc_smooth, qfrc_smooth, qfrc_inertial, xipos. places: xpos and xquat as found, at qpos and one
    step before, cvel. load (n,) of the kind in numbers: that, timestep, extent, sparse, code of
    pyramids and of elliptic cones, whether cones are pyramids, Runge-Kutta, noslip, own springs.
    law: of ``shares.Law``. before: whether there are springs, then part, point, normal,
    normal_force and tangential of ``ContactSprings``.
    """
    kind, dt, extent, sparse, pyramid, elliptic, pyramids, stages, noslip, springs = numbers
    tree, turns, geom_body, body_tree, body_column, mass, held, accuracy = model[:8]
    code = codes.SOLVED if _in_place(places, body_tree, dt, extent) else codes.WRONG_STATE
    if code == codes.SOLVED and not _finite(state[0], efc[4]):
        code = codes.NO_NUMBER
    row = np.flatnonzero(contact[5] >= 0)
    if code == codes.SOLVED:
        code = _readable(row, contact, efc[10], pyramids, pyramid, elliptic, len(efc[4]))
    if code == codes.SOLVED and len(row) == 0:
        code = codes.NOTHING_BEARS
    if code != codes.SOLVED:
        return _no_answer(code)
    m, n = len(row), len(tree)
    speeds, position, margin = state[0], efc[5], efc[6]
    first, dim = np.empty(m, np.int64), np.empty(m, np.int64)
    s, other = 2, len(efc[4])
    for i in range(m):
        first[i], dim[i] = contact[5][row[i]], contact[3][row[i]]
        s = max(s, dim[i] - 1)
        other -= 2 * (dim[i] - 1) if pyramids and dim[i] > 1 else dim[i]
    column, count, widest = columns_moved(efc, first, dim, pyramids, sparse, n)
    table = shapes(m, s, widest, n)
    ends = np.zeros(len(table) + 1, np.int64)
    for k in range(len(table)):
        ends[k + 1] = ends[k] + table[k, 0] * table[k, 1] * table[k, 2]
    kept = np.zeros(ends[-1])
    values = kept[: ends[1]].reshape(m, 1 + s, widest)
    normal = kept[ends[3] : ends[4]]
    tangential = kept[ends[4] : ends[5]].reshape(m, 5)
    friction = kept[ends[5] : ends[6]].reshape(m, 5)
    stiffness, gap = kept[ends[6] : ends[7]], kept[ends[7] : ends[8]]
    tolerance, reach = kept[ends[8] : ends[9]], kept[ends[9] : ends[10]]
    own_load = kept[ends[10] : ends[11]]
    geom = kept[ends[14] : ends[15]].reshape(m, 2)
    point = kept[ends[15] : ends[16]].reshape(m, 3)
    frame = kept[ends[16] : ends[17]].reshape(m, 9)
    centre = kept[ends[17] : ends[18]].reshape(m, 2, 3)
    of_geom, of_point, of_frame, of_friction = contact[2], contact[0], contact[1], contact[4]
    for i in range(m):
        c = row[i]
        for k in range(count[i]):
            kept[ends[1] + i * widest + k] = column[i, k]
        kept[ends[2] + i], kept[ends[12] + i], kept[ends[13] + i] = count[i], c, dim[i]
        for k in range(2):
            geom[i, k] = of_geom[c, k]
        for k in range(3):
            point[i, k] = of_point[c, k]
        for k in range(9):
            frame[i, k] = of_frame[c, k]
        for k in range(dim[i] - 1):
            friction[i, k] = of_friction[c, k]
    for j in range(n):
        own_load[j], kept[ends[11] + j] = load[j], speeds[j]
    fill_rows(efc, first, dim, friction, pyramids, sparse, column, count, n, values)
    fill_forces(efc[4], first, dim, friction, pyramids, normal, tangential)
    same, residual = engine_residual(
        efc, state, first, dim, friction, pyramids, sparse, contact[6], row, noslip
    )
    if not same:
        return _no_answer(codes.WRONG_STATE)
    direct = _stiffness(contact, efc, row, first, dim, pyramids, springs, stiffness)
    if not _by_pair(geom, row, model[8:], stiffness, friction):
        return _no_answer(codes.UNKNOWN_PAIR)
    centres(geom, geom_body, body_tree, body_column, tree, mass, state[5], centre)
    size = tree_sizes(values, column, count, tree, point, centre, tolerance)
    for j in range(n):
        reach[j] = size[tree[j]] if turns[j] else 1.0
    for i in range(m):
        speed = 0.0
        for e in range(count[i]):
            speed += values[i, 0, e] * speeds[column[i, e]]
            if kind == AS_GIVEN:  # the load is without what normal forces deliver
                own_load[column[i, e]] += normal[i] * values[i, 0, e]
        gap[i] = position[first[i]] - margin[first[i]] + dt * speed
        tolerance[i] *= _TOUCHING
    memory = np.zeros((0, 3))
    if before[0]:
        memory = remembered(before[1:], geom, point, frame)
    given = Given(
        values, column, count, normal, tangential, friction, stiffness, gap, tolerance, own_load,
        kind, held, tree, reach, accuracy, 1.0, memory,
    )  # fmt: skip
    found = shared(given, Law(law[0], law[1], law[2], law[3], law[4]))
    if found.code != codes.SOLVED:
        return _no_answer(found.code)
    force, rubs = np.zeros(len(contact[5])), np.zeros((len(contact[5]), 5))
    for i in range(m):
        force[row[i]] = found.force[i]
        for k in range(5):
            rubs[row[i], k] = found.tangential[i, k]
        kept[ends[18] + i] = 1.0 if found.took_part[i] else 0.0
        kept[ends[19] + i] = found.kept[i]
    return (
        codes.SOLVED, force, rubs, kept, (m, s, widest, n), found.rough, found.solves,
        found.residual, np.nan if stages else residual, other, direct,
    )  # fmt: skip


@njit(**INNER)
def _no_answer(code):
    none = np.zeros(0)
    return code, none, np.zeros((0, 5)), none, (0, 0, 0, 0), False, 0, 0.0, 0.0, 0, 0


@njit(**INNER)
def _finite(velocity, force):
    total = 0.0
    for j in range(len(velocity)):
        total += velocity[j]
    for i in range(len(force)):
        total += force[i]
    return np.isfinite(total)


@njit(**INNER)
def _in_place(places, body_tree, dt, extent):
    """Whether qpos is where MuJoCo found the contacts, or one step on."""
    xpos, xquat, xpos_now, xquat_now, xpos_before, xquat_before, cvel = places
    size, away, anything = max(1.0, extent), 0.0, False
    for b in range(len(xpos)):
        for k in range(3):
            away = max(away, abs(xpos_now[b, k] - xpos[b, k]))
        for k in range(4):
            away = max(away, abs(xquat_now[b, k] - xquat[b, k]))
    if away <= _STILL * size:
        return True
    fits = True
    for b in range(len(xpos)):
        if body_tree[b] < 0:
            continue
        off, step, speed = 0.0, 0.0, 0.0
        for k in range(3):
            anything |= xpos[b, k] != 0.0
            off = max(off, abs(xpos_now[b, k] - xpos[b, k]))
            step = max(step, abs(xpos_now[b, k] - xpos_before[b, k]))
        for k in range(4):
            anything |= xquat[b, k] != 0.0
            off = max(off, abs(xquat_now[b, k] - xquat[b, k]))
            step = max(step, abs(xquat_now[b, k] - xquat_before[b, k]))
        for k in range(6):
            speed = max(speed, abs(cvel[b, k]))
        step += dt * speed * size
        fits &= not off > _STEPS * step + _STILL * size
    return fits or not anything


@njit(**INNER)
def _readable(row, contact, kind, pyramids, pyramid, elliptic, rows):
    """SOLVED where all contacts are between geoms, with rows of the model's cone."""
    for c in row:
        dim, first = contact[3][c], contact[5][c]
        if contact[2][c, 0] < 0 or contact[2][c, 1] < 0:
            return codes.OTHER
        if first + dim > rows:
            return codes.WRONG_STATE
        if dim > 1 and kind[first] != (pyramid if pyramids else elliptic):
            return codes.WRONG_STATE
    return codes.SOLVED


@njit(**INNER)
def _stiffness(contact, efc, row, first, dim, pyramids, springs, out):
    """Stiffness (m,) of MuJoCo's own springs where every contact has one, else ones; returns how
    many have."""
    m, direct = len(row), 0
    out[:] = 1.0
    if not springs:
        return 0
    for i in range(m):
        direct += contact[7][row[i], 0] < 0.0 and contact[7][row[i], 1] < 0.0
    if direct < m:
        return direct
    for i in range(m):
        mass, a = 0.0, first[i]
        edges = 2 * (dim[i] - 1) if pyramids and dim[i] > 1 else 1
        for k in range(a, a + edges):
            impedance = efc[11][k, 2]
            mass += efc[9][k] * (1.0 - impedance) / impedance
        full = min(max(contact[8][row[i], 1], 1e-4), 1.0 - 1e-4)
        out[i] = -contact[7][row[i], 0] / (1.0 - full) * mass
    return direct


@njit(**INNER)
def _by_pair(geom, row, tables, stiffness, friction):
    """Stiffness and friction as given by pair of geoms, or by contact, in place; False where those
    of a pair are not known yet (nan). Friction below zero: the engine's."""
    by_stiffness, by_friction, own_stiffness, own_friction = tables
    for i in range(len(row)):
        a, b, value = int(geom[i, 0]), int(geom[i, 1]), -1.0
        if by_stiffness.size > 0:
            stiffness[i] = by_stiffness[a, b]
        elif len(own_stiffness) > 0:
            stiffness[i] = own_stiffness[row[i] if len(own_stiffness) > 1 else 0]
        if by_friction.size > 0:
            value = by_friction[a, b]
        elif len(own_friction) > 0:
            value = own_friction[row[i] if len(own_friction) > 1 else 0]
        if np.isnan(value) or np.isnan(stiffness[i]):
            return False
        if value >= 0.0:
            friction[i, 0], friction[i, 1] = value, value
    return True
