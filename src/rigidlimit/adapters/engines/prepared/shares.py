"""From an engine's rows and forces to new forces, in compiled code.

The stages are those of ``mend.mended_as_filled`` and ``compatibility.rough`` for contacts
that are loaded from nothing, in the same units and to the same tolerances.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from ...._support.compiled import INNER
from ....compatibility.rough_light import DIGITS, LIGHT
from ....equilibrium.law import CompiledLaw
from ....linear.column_scaling import ROUNDING
from ..contacts import larger_and_parts
from ..joint import carried
from ..matrices import delivered_by, row_sizes
from ..tolerances import TOLERANCES
from . import codes
from .columns import compressed
from .compiled import FLAT
from .network import ALONE, Network, equilibrium, missing
from .weak import hangs_on_several, suspects, without_weak

_ROUNDING, _PULL = TOLERANCES.rounding, TOLERANCES.pull

ITERATIONS = 30
"""Newton's steps at most, as in ``equilibrium.solve``."""

ENGINE, AS_GIVEN, TOTAL = 0, 1, 2
"""Kinds of load: the engine's resultant; one without friction forces; one with them."""


class Given(NamedTuple):
    """Of m contacts and n degrees of freedom. values (m, 1 + s, c), column (m, c), count (m,): rows
    as ``columns`` has them, the normal one first; normal_force (m,); tangential, friction (m, k);
    stiffness, gap, gap_tolerance (m,); load (n,), of ``kind``; held (n,) bool; mechanism (n,) int,
    or of no size where it is not known; reach, accuracy (n,). unit: the largest entry of a row that
    others count beside at least. memory (m, 3): normal and friction forces that contacts remember,
    or of no rows: they begin without forces."""

    values: np.ndarray
    column: np.ndarray
    count: np.ndarray
    normal_force: np.ndarray
    tangential: np.ndarray
    friction: np.ndarray
    stiffness: np.ndarray
    gap: np.ndarray
    gap_tolerance: np.ndarray
    load: np.ndarray
    kind: int
    held: np.ndarray
    mechanism: np.ndarray
    reach: np.ndarray
    accuracy: np.ndarray
    unit: float
    memory: np.ndarray


class Law(NamedTuple):
    """exponent; tangential_stiffness k_t / k_n; joint: whether friction is found with normal
    forces; friction_tolerance; tolerance: of the balance."""

    exponent: float
    tangential_stiffness: float
    joint: bool
    friction_tolerance: float
    tolerance: float


class Shared(NamedTuple):
    """code: of ``codes``; force (m,), tangential (m, k): new ones; took_part (m,) bool; rough:
    whether friction was found too; solves: linear systems; residual; kept (m,): normal forces to
    remember, below zero where a contact is open by an elastic displacement."""

    code: int
    force: np.ndarray
    tangential: np.ndarray
    took_part: np.ndarray
    rough: bool
    solves: int
    residual: float
    kept: np.ndarray


@njit(**FLAT)
def shared(given: Given, law: Law) -> Shared:
    """New forces, or the reason why the general path has to find them."""
    m = len(given.count)
    rough = law.joint and _rubs(given.friction)
    rubs, reach = given.tangential, given.reach
    held, mechanism, accuracy = given.held, given.mechanism, given.accuracy
    own = given.values, given.column, given.count
    force, tangential, kept = given.normal_force.copy(), rubs.copy(), np.zeros(m)
    bears = np.zeros(m, np.bool_)
    normals = compressed(own[0], own[1], own[2], np.int64(1))
    most, norm = row_sizes(*normals, reach)
    powerless = most <= _ROUNDING * max(given.unit, most.max())
    largest, pressing = 0.0, np.zeros(m)
    for i in range(m):
        if not powerless[i]:
            largest, pressing[i] = max(largest, abs(force[i])), max(force[i], 0.0)
    if not _bearing(force, largest, given.gap, given.gap_tolerance, bears):
        return Shared(codes.PULLS, force, tangential, bears, rough, 0, 0.0, kept)
    d = 3 if rough else 1
    load = given.load.copy()
    mu, weight, engine = np.zeros(m), np.zeros((m, 2)), pressing.reshape(m, 1)
    if given.kind == ENGINE:
        load += delivered_by(*normals, pressing, len(load))
    if rough:
        mu, weight = larger_and_parts(given.friction)
        flat, borne = carried(pressing, rubs, weight, powerless, law.friction_tolerance)
        engine = flat.reshape(m, 3)
        if given.kind != TOTAL:
            _add_friction(own[0], own[1], own[2], borne, load)
    # of a wheel pressed through its axle nothing but rounding is left
    noise = _ROUNDING * norm if len(mechanism) > 0 else np.zeros(m)
    values, column, count = _rows(own[0], own[1], own[2], reach, noise, weight, d)
    took = bears & ~powerless
    b = took.sum()
    if b == 0:
        return Shared(codes.NOTHING_BEARS, force, tangential, took, rough, 0, 0.0, kept)
    chosen = np.flatnonzero(took)
    if b < m:
        values, column, count = values[chosen], column[chosen], count[chosen]
        engine, mu = engine[chosen], mu[chosen]
    stiffness = given.stiffness if b == m else given.stiffness[chosen]
    free = ~held
    weak = np.zeros(0, np.bool_)
    if len(mechanism) > 0:
        weak = suspects(values, column, count, mechanism, free, reach, accuracy)
    if weak.any():
        reach = reach.copy()
        values, column, count = without_weak(
            values, column, count, weak, mechanism, free, reach, accuracy, load, engine
        )
    memory = _remembered(given.memory, chosen, weight, rough)
    code, answer, displacement, solves, residual, trial = _solved(
        values, column, count, load, free, stiffness, mu, memory, law
    )
    if code != codes.SOLVED:
        return Shared(code, force, tangential, took, rough, solves, residual, kept)
    overlap = np.empty(b)
    for i in range(b):
        part = answer[i, 0] / stiffness[i]
        overlap[i] = part if law.exponent == 2.0 else part ** (1.0 / (law.exponent - 1.0))
    if hangs_on_several(column, count, held, reach, displacement, overlap):
        return Shared(codes.SEVERAL, force, tangential, took, rough, solves, residual, kept)
    for i in range(b):
        c = chosen[i]
        force[c], kept[c] = answer[i, 0], trial[i]
        if rough:
            for k in range(2):
                tangential[c, k] = answer[i, 1 + k] * weight[c, k]
    return Shared(codes.SOLVED, force, tangential, took, rough, solves, residual, kept)


@njit(**INNER)
def _remembered(memory, chosen, weight, rough):
    """What some contacts remember (b, 3), in rows that balance; of no rows where they begin without
    forces, and of no use without friction."""
    if len(memory) == 0 or not rough:
        return np.zeros((0, 3))
    out = np.zeros((len(chosen), 3))
    for i in range(len(chosen)):
        c = chosen[i]
        out[i, 0] = memory[c, 0]
        for k in range(2):
            if weight[c, k] > 0.0:
                out[i, 1 + k] = memory[c, 1 + k] / weight[c, k]
    return out


@njit(**INNER)
def _bearing(force, largest, gap, tolerance, bears):
    """bears (m,) bool, and no force where a contact is open or pulls by rounding, in place; False
    where one really pulls."""
    for i in range(len(force)):
        if force[i] < -_PULL * largest:
            return False
        force[i] = max(force[i], 0.0)
        apart = force[i] <= _PULL * largest and gap[i] > tolerance[i]
        bears[i] = not apart
        if apart:
            force[i] = 0.0
    return True


@njit(**INNER)
def _rubs(friction):
    for i in range(friction.shape[0]):
        for k in range(min(2, friction.shape[1])):
            if friction[i, k] > 0.0:
                return True
    return False


@njit(**INNER)
def _add_friction(values, column, count, force, load):
    """load (n,) += what friction forces (2 m,) deliver."""
    for i in range(len(count)):
        for k in range(2):
            if force[2 * i + k] != 0.0:
                for e in range(count[i]):
                    load[column[i, e]] += force[2 * i + k] * values[i, 1 + k, e]


@njit(**INNER)
def _rows(values, column, count, reach, least, weight, d):
    """(values (m, d, c), column, count) of rows that balance: normal ones without entries, over
    reach (n,), of up to ``least`` (m,), tangential ones weighted."""
    m, widest = column.shape
    out, place = np.zeros((m, d, widest)), np.empty((m, widest), np.int64)
    counts = np.zeros(m, np.int64)
    for i in range(m):
        size = 0
        for e in range(count[i]):
            j, value = column[i, e], values[i, 0, e]
            if not abs(value) / reach[j] > least[i]:
                value = 0.0
            used = value != 0.0
            out[i, 0, size] = value
            for a in range(1, d):
                value = values[i, a, e] * weight[i, a - 1]
                out[i, a, size] = value
                used |= value != 0.0
            if used:
                place[i, size] = j
                size += 1
        counts[i] = size
    return out, place, counts


@njit(**FLAT)
def _solved(values, column, count, load, free, stiffness, mu, memory, law):
    """(code, force (b, d), displacement (n,), linear systems, residual, normal force to remember
    (b,)), in units in which load, stiffness and arms are of order one."""
    b, d = values.shape[0], values.shape[1]
    n, p = len(load), law.exponent
    nothing, forces, trial = np.zeros(n), np.zeros((b, d)), np.zeros(b)
    arm, moves = _arms(values, column, count, n)
    size = 0.0
    for j in range(n):
        if free[j]:
            size = max(size, abs(load[j]) / arm[j])
    if size == 0.0:
        return codes.NOTHING_BEARS, forces, nothing, 0, 0.0, trial
    place, dofs = np.full(n, -1), np.int64(0)
    for j in range(n):
        if not free[j]:
            continue
        if moves[j]:
            place[j] = dofs
            dofs += 1
        elif abs(load[j]) > law.tolerance * size:
            return codes.NOT_TOUCHED, forces, nothing, 0, 0.0, trial
    if dofs == 0:
        return codes.NOTHING_BEARS, forces, nothing, 0, 0.0, trial
    top, unit = stiffness.max(), size
    for i in range(len(memory)):
        unit = max(unit, abs(memory[i, 0]))
    normal = stiffness / top
    none, kept, apart = np.zeros((b, d - 1)), np.zeros((b, d - 1)), np.zeros(b)
    for i in range(len(memory)):  # of Hooke's law: p = 2
        apart[i] = -memory[i, 0] / unit / normal[i]
        for a in range(d - 1):
            kept[i, a] = memory[i, 1 + a] / unit
    network = _network(values, column, count, place, arm, dofs, load, unit, law.tolerance, apart)
    length = (unit / top) ** (1.0 / (p - 1.0))
    friction = mu if d == 3 else np.zeros(b)
    contact_law = CompiledLaw(
        normal, law.tangential_stiffness * (p - 1.0) * normal, friction, kept, p,
        np.zeros(b, np.bool_), none,
    )  # fmt: skip
    force_size = 0.0
    for j in range(dofs):
        force_size = max(force_size, abs(network.goal[j]))
    found = equilibrium(
        network, contact_law, 0.5 * law.tolerance, ITERATIONS, max(force_size, 1e-3)
    )
    residual = found.residual * unit / size
    least = 0.5 * law.tolerance if d > 1 else ALONE
    if not (found.residual <= least and residual <= law.tolerance):
        return codes.NO_EQUILIBRIUM, forces, nothing, found.solves, residual, trial
    if not found.stable:
        return codes.UNSTABLE, forces, nothing, found.solves, residual, trial
    if _light(network, found.force, n, place):
        return codes.LIGHT, forces, nothing, found.solves, residual, trial
    for i in range(b):
        overlap = -found.w[i, 0]
        if p != 2.0:
            overlap = np.sign(overlap) * abs(overlap) ** (p - 1.0)
        trial[i] = normal[i] * overlap * unit
    for j in range(n):
        if place[j] >= 0:
            nothing[j] = found.x[place[j]] / arm[j] * length
    return codes.SOLVED, found.force * unit, nothing, found.solves, residual, trial


@njit(**INNER)
def _arms(values, column, count, n):
    """As ``linear.column_arms`` of d rows a contact."""
    arm, moves = np.zeros(n), np.zeros(n, np.bool_)
    for i in range(len(count)):
        for e in range(count[i]):
            j, total = column[i, e], 0.0
            for a in range(values.shape[1]):
                total += values[i, a, e] ** 2
            arm[j] = max(arm[j], total)
    most = 0.0
    for j in range(n):
        arm[j] = np.sqrt(arm[j])
        most = max(most, arm[j])
    for j in range(n):
        moves[j] = arm[j] > ROUNDING * min(1.0, most)
        if not moves[j]:
            arm[j] = 1.0
    return arm, moves


@njit(**INNER)
def _network(given, column, count, place, arm, dofs, load, unit, shift, apart):
    b, d = given.shape[0], given.shape[1]
    widest = 1
    for i in range(b):
        widest = max(widest, count[i])
    values = np.empty((b, d, widest))
    # unsigned: compiled code need not ask whether indices count from the end
    columns, counts = np.empty((b, widest), np.uint32), np.zeros(b, np.int64)
    band, over = 0, np.empty(len(arm))
    for j in range(len(arm)):
        over[j] = 1.0 / arm[j]
    for i in range(b):
        k, first, last = 0, dofs, -1
        for e in range(count[i]):
            j = column[i, e]
            p = place[j]
            if p < 0:
                continue
            columns[i, k] = p
            first, last = min(first, p), max(last, p)
            for a in range(d):
                values[i, a, k] = given[i, a, e] * over[j]
            k += 1
        counts[i] = k
        band = max(band, last - first)
    goal = np.empty(dofs)
    for j in range(len(place)):
        if place[j] >= 0:
            goal[place[j]] = load[j] / arm[j] / unit
    return Network(values, columns, counts, goal, band, shift, apart)


@njit(**INNER)
def _light(network, force, n, place):
    """Whether a body is off its balance by a part of its own load: see
    ``compatibility.rough_light``. Bodies are so many columns as divide n."""
    each = 6
    while n % each != 0:
        each = 3 if each == 6 else each - 1
    goal = network.goal
    dofs = len(goal)
    r, pressed = np.empty(dofs), np.zeros(dofs)
    _pressed(network.values, network.column, network.count, force, pressed)
    missing(network, force, r)
    j = 0
    while j < n:
        off, loads, press = 0.0, 0.0, 0.0
        for k in range(j, j + each):
            p = place[k]
            if p >= 0:
                off, loads = max(off, abs(r[p])), max(loads, abs(goal[p]))
                press = max(press, pressed[p])
        if loads > 0.0 and off > LIGHT * loads and off > DIGITS * press:
            return True
        j += each
    return False


@njit(**INNER)
def _pressed(values, column, count, force, pressed):
    """pressed (n,) += |B|^T |f|."""
    for i in range(len(count)):
        for a in range(force.shape[1]):
            t = abs(force[i, a])
            for e in range(count[i]):
                pressed[column[i, e]] += t * abs(values[i, a, e])
