"""MuJoCo's contacts from its arrays to new forces in compiled code.

What is read, and how, is that of ``mujoco_rows``, ``mujoco_state``, ``mujoco`` and
``reading.extents``, for contacts between geoms and constraints that are no rigid links. Arguments
are addresses, since numba takes as long for each array or number of Python as for a contact.
"""

import numpy as np
from numba import njit

from ...._support.compiled import INNER
from ..matching import remembered
from ..mujoco_rows import contact_forces
from ..mujoco_state import in_place
from ..tolerances import TOLERANCES
from . import codes
from .addresses import floats, rows, short, short_rows, truths, whole, whole_rows
from .answer import (
    CODE,
    DIRECT,
    ENGINE_RESIDUAL,
    HEAD,
    LISTED,
    OTHER_ROWS,
    RESIDUAL,
    ROUGH,
    SOLVES,
    shapes,
)  # fmt: skip
from .mujoco_rows import columns_moved, engine_residual, fill_rows, spans_of
from .shares import AS_GIVEN, Given, Law, shared
from .sizes import centres, tree_sizes

_TOUCHING = TOLERANCES.touching

MOST = 40_000
"""Entries of the rows, zeros included, up to which compiled code takes a state: 60 contacts and
more of a dozen free bodies. Beyond, sparse matrices are faster."""


@njit(cache=True, nogil=True)
def mend_mujoco(model, state, ncon, nefc, far):
    """The array of ``Answer`` of one state.

    model (50,) int: numbers of columns, bodies, geoms, of rows of both tables and of values of each
    contact; addresses of tree, turns, geom_body, body_tree, body_column, body_mass, held, accuracy,
    stiffness and friction by pair of geoms (or of no size), stiffness and friction of each contact
    (likewise), poses and M qacc of ``StateArrays``, load (0: none), options, springs (0: none); how
    many springs there are; then ``StateArrays.layout``. options: of ``StateArrays.options``, then
    kind of load, whether MuJoCo's own springs count, whether equalities are as MuJoCo has them, and
    of ``shares.Law``. springs: addresses of part, point, normal, normal_force and tangential of
    ``ContactSprings``. state (13,) int: ``View.places``. ncon, nefc: contacts and rows. far:
    whether the pose one step before is known.
    """
    n, bodies, geoms = model[0], model[1], model[2]
    option = floats(model[25], 16)
    dt, extent, sparse = option[0], option[1], option[2] != 0.0
    pyramid, elliptic = option[3], option[4]
    pyramids, stages, noslip = option[5] != 0.0, option[6] != 0.0, option[7] != 0.0
    kind, springs, equalities_given = int(option[8]), option[9] != 0.0, option[10] != 0.0
    if 3 * ncon * n > MOST or _linked_or_asleep(state, equalities_given):
        return _no_answer(codes.OTHER)
    for k in range(2):
        if model[5 + k] > 1 and model[5 + k] != ncon:
            return _no_answer(codes.OTHER)
    layout = model[28:]
    tree, turns = whole(model[7], n), truths(model[8], n)
    geom_body, body_tree = whole(model[9], geoms), whole(model[10], bodies)
    body_column, mass = whole(model[11], bodies), floats(model[12], bodies)
    held, accuracy = truths(model[13], n), floats(model[14], n)
    tables = (
        rows(model[15], model[3], model[3]), rows(model[16], model[4], model[4]),
        floats(model[17], model[5]), floats(model[18], model[6]),
    )  # fmt: skip
    contact = _contacts(layout, state[0], ncon)
    efc = _constraints(layout, state[0], nefc, n, sparse)
    state_arrays = (
        floats(state[1], n), floats(state[2], n), floats(state[3], n), floats(state[4], n),
        floats(model[23], n), rows(state[5], bodies, 3),
    )  # fmt: skip
    places = (
        rows(state[6], bodies, 3), rows(state[7], bodies, 4), rows(model[19], bodies, 3),
        rows(model[20], bodies, 4), rows(model[21], bodies, 3), rows(model[22], bodies, 4),
        rows(state[8], bodies, 6),
    )  # fmt: skip
    load = floats(model[24], n) if model[24] != 0 else np.zeros(n)
    code = in_place(places, body_tree, dt, extent, far)[0]
    of_state = _finite(state_arrays[0]) and _finite(state_arrays[1]) and _finite(efc[4])
    # what qpos makes of bodies
    of_pose = _finite(floats(model[19], 3 * bodies)) and _finite(floats(model[20], 4 * bodies))
    if code == codes.SOLVED and not (of_state and of_pose):
        code = codes.NO_NUMBER
    row = np.flatnonzero(contact[5] >= 0)
    if code == codes.SOLVED:
        code = _readable(row, contact, efc[10], pyramids, pyramid, elliptic, len(efc[4]))
    if code == codes.SOLVED and len(row) == 0:
        code = codes.NOTHING_BEARS
    if code != codes.SOLVED:
        return _no_answer(code)
    m = len(row)
    speeds, position, margin = state_arrays[0], efc[5], efc[6]
    first, dim, pyramidal = np.empty(m, np.int64), np.empty(m, np.int64), np.empty(m, np.bool_)
    s, other = np.int64(2), len(efc[4])
    for i in range(m):
        first[i], dim[i] = contact[5][row[i]], contact[3][row[i]]
        pyramidal[i] = pyramids and dim[i] > 1
        s = max(s, dim[i] - 1)
        other -= 2 * (dim[i] - 1) if pyramidal[i] else dim[i]
    spans = spans_of(contact[2], row, geom_body, body_tree, body_column, tree)
    column, count, widest = columns_moved(efc, first, dim, pyramidal, sparse, n, spans)
    table = shapes(m, s, widest, n)
    ends = np.zeros(len(table) + 1, np.int64)
    for k in range(len(table)):
        ends[k + 1] = ends[k] + table[k, 0] * table[k, 1] * table[k, 2]
    out = np.zeros(HEAD + 6 * ncon + ends[-1])
    kept = out[HEAD + 6 * ncon :]
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
    fill_rows(efc, first, dim, friction, pyramidal, sparse, column, count, n, values)
    contact_forces(efc[4], first, dim, pyramidal, friction, normal, tangential)
    same, residual = engine_residual(
        efc, state_arrays, first, dim, friction, pyramidal, sparse, contact[6], row, noslip
    )
    if not same:
        return _no_answer(codes.WRONG_STATE)
    direct = _stiffness(contact, efc, row, first, dim, pyramidal, springs, stiffness)
    if not _by_pair(geom, row, tables, stiffness, friction):
        return _no_answer(codes.UNKNOWN_PAIR)
    centres(geom, geom_body, body_tree, body_column, tree, mass, state_arrays[5], centre)
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
    if model[26] != 0:
        at, count_before = whole(model[26], 5), model[27]
        earlier = (
            whole_rows(at[0], count_before, 2), rows(at[1], count_before, 3),
            rows(at[2], count_before, 3), floats(at[3], count_before),
            rows(at[4], count_before, 3),
        )  # fmt: skip
        memory = remembered(earlier, geom.astype(np.int64), point, frame)
    given = Given(
        values, column, count, normal, tangential, friction, stiffness, gap, tolerance, own_load,
        kind, held, tree, reach, accuracy, 1.0, memory,
    )  # fmt: skip
    law = Law(option[11], option[12], option[13] != 0.0, option[14], option[15])
    found = shared(given, law)
    if found.code != codes.SOLVED:
        return _no_answer(found.code)
    force, rubs = out[HEAD : HEAD + ncon], out[HEAD + ncon : HEAD + 6 * ncon].reshape(ncon, 5)
    for i in range(m):
        force[row[i]] = found.force[i]
        for k in range(5):
            rubs[row[i], k] = found.tangential[i, k]
        kept[ends[18] + i] = 1.0 if found.took_part[i] else 0.0
        kept[ends[19] + i] = found.kept[i]
    out[ROUGH], out[SOLVES], out[RESIDUAL] = found.rough, found.solves, found.residual
    out[ENGINE_RESIDUAL] = np.nan if stages else residual
    out[OTHER_ROWS], out[DIRECT], out[LISTED] = other, direct, ncon
    out[LISTED + 1], out[LISTED + 2], out[LISTED + 3], out[LISTED + 4] = m, s, widest, n
    return out


@njit(**INNER)
def _no_answer(code):
    out = np.zeros(HEAD)
    out[CODE] = code
    return out


@njit(**INNER)
def _finite(values):
    total = 0.0
    for i in range(len(values)):
        total += values[i]
    return np.isfinite(total)


@njit(**INNER)
def _linked_or_asleep(state, equalities_given):
    """Whether rigid links join bodies, or some are asleep."""
    linked, asleep = truths(state[9], state[11]), short(state[10], state[12])
    return (not equalities_given and linked.any()) or (asleep >= 0).any()


@njit(**INNER)
def _contacts(layout, start, ncon):
    """Fields ``CONTACT`` of MuJoCo's contacts, which are records of some bytes each."""
    at = whole(start + layout[0], 1)[0] if ncon > 0 else 0
    size = layout[13]
    real, integer = rows(at, ncon, size // 8), short_rows(at, ncon, size // 4)
    f, i = layout[14:] // 8, layout[14:] // 4
    return (
        real[:, f[0] : f[0] + 3], real[:, f[1] : f[1] + 9], integer[:, i[2] : i[2] + 2],
        integer[:, i[3]], real[:, f[4] : f[4] + 5], integer[:, i[5]], real[:, f[6]],
        real[:, f[7] : f[7] + 2], real[:, f[8] : f[8] + 5],
    )  # fmt: skip


@njit(**INNER)
def _constraints(layout, start, nefc, n, sparse):
    """Arrays ``ROWS`` of MuJoCo's constraints."""
    at = np.zeros(12, np.int64)
    if nefc > 0:
        for k in range(12):
            at[k] = whole(start + layout[1 + k], 1)[0]
    length, begin = short(at[1], nefc), short(at[2], nefc)
    entries = nefc * n
    if sparse:
        entries = begin[nefc - 1] + length[nefc - 1] if nefc > 0 else 0
    return (
        floats(at[0], entries), length, begin, short(at[3], entries), floats(at[4], nefc),
        floats(at[5], nefc), floats(at[6], nefc), floats(at[7], nefc), floats(at[8], nefc),
        floats(at[9], nefc), short(at[10], nefc), rows(at[11], nefc, 4),
    )  # fmt: skip


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
def _stiffness(contact, efc, row, first, dim, pyramidal, springs, out):
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
        edges = 2 * (dim[i] - 1) if pyramidal[i] else 1
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
