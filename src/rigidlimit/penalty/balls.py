"""Kernels of the penalty method for balls and half-spaces: leapfrog steps over a neighbour list.

Positions are kept as a reference x_0 and the travel u since the list was built, and a gap as its
value at x_0 and its change: with d = x_j - x_i, L = |d|,

    gap = gap_0 + s/(L + L_0),    s = L^2 - L_0^2 = 2 d_0 . (u_j - u_i) + |u_j - u_i|^2,

so that overlaps of 1e-9 radii keep all their digits, which x_j - x_i - R_i - R_j would lose, and
so that open pairs are told by s alone, without a root.

Step n:  v(n+1/2) = (v(n-1/2) (1 - alpha h/2) + h a_n)/(1 + alpha h/2),  u += h v(n+1/2),
a from f(u, v(n+1/2)). ``advance`` starts and ends with v at whole steps.

Threads. The work is in parts: a range of bodies and the pairs of its rows (``ranges``), which add
to a force array of their own. Each thread goes through all steps of a call with one part; two
barriers a step hold them together. Where other programs take the cores, a call stops between two
half steps, and one thread goes on with all parts. Forces are summed in the order of the parts: the
answer depends on their number, not on timing.

Kernels take records of arrays, which they take apart once a call: numba passes a record field by
field.
"""

from typing import NamedTuple

import numba
import numpy as np
from numba import njit

from .._support.barrier import wait
from .ball_on_box import box_contact, box_forces
from .law import contact_force
from .moving_cell import CellMotion, kick, six, stale, stop, strain_on

DONE, STALE, CROWDED = 0, 1, 2

LOOKS = 10
"""Looks per pair and body of a part before a thread sleeps: longer than its own work took."""

NAPS = 20
"""Naps at barriers in one call after which the cores count as crowded."""

BODIES, ROWS, WALLS, BOXES, TOUCHED = range(5)
"""Columns of ``ranges`` (parts + 1, 6): where the bodies, rows, walls and boxes of each part begin,
and the range of bodies that its forces touch."""

FAR, ENERGY, SLEPT, STOPPED, BEFORE, RISING = range(6)
"""Columns of ``share``: largest |u|^2 and sum of m v^2 of a part, naps of its thread; whether a
call was stopped after a half step, with the energy of its last step and whether that had risen."""


class Lists(NamedTuple):
    """What may touch. first (n + 1,), other (m,), pair (m, 8): neighbours j > i of i with d_0,
    gap_0 (gap_0 - 2 L_0), L_0, gap_0, k, gamma_0; wall (w, 2): body and half-space; wall_pair
    (w, 6): normal, gap_0, k, gamma_0; box, box_pair, frame: see ``ball_on_box.py``."""

    first: np.ndarray
    other: np.ndarray
    pair: np.ndarray
    wall: np.ndarray
    wall_pair: np.ndarray
    box: np.ndarray
    box_pair: np.ndarray
    frame: np.ndarray


class Balls(NamedTuple):
    """motion (n, 8): u [m], v [m/s], two spare. force (parts, n, 4) [N]. free (n, 3): 1/m or 0
    where held; push (n, 3): F_ext/m [m/s^2], 0 where held; mass (n, 3): m, 0 where held."""

    motion: np.ndarray
    force: np.ndarray
    free: np.ndarray
    push: np.ndarray
    mass: np.ndarray


class Work(NamedTuple):
    """Parts part ... end - 1 of what ``ranges`` divides: either all, or one, in as many threads at
    once; gate, see ``barrier``; share (parts, 8): what each part tells the others (``FAR`` ...),
    and what a call that is stopped tells the one that goes on with it."""

    ranges: np.ndarray
    part: int
    end: int
    gate: np.ndarray
    share: np.ndarray


class Pace(NamedTuple):
    """Up to ``steps`` steps of h [s]; alpha [1/s]: background damping; quench: velocities are set
    to zero wherever the kinetic energy passes a maximum."""

    steps: int
    h: float
    alpha: float
    quench: bool


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def _pair_forces(lo, hi, first, other, pair, motion, force, p, tensile, strain, flow, sums):
    """Adds the forces of the pairs of bodies lo <= i < hi to ``force`` (n, 4). strain, flow (6,): E
    and L of the cell, whose sum of f_a d_b comes to sums (6,); empty without one."""
    strained = len(strain) > 0
    Exx, Eyy, Ezz, Eyz, Exz, Exy = six(strain)
    Lxx, Lyy, Lzz, Lyz, Lxz, Lxy = six(flow)
    sxx = syy = szz = syz = sxz = sxy = 0.0
    for i in range(lo, hi):
        ux, uy, uz = motion[i, 0], motion[i, 1], motion[i, 2]
        vx, vy, vz = motion[i, 3], motion[i, 4], motion[i, 5]
        fx = fy = fz = 0.0
        for e in range(first[i], first[i + 1]):
            j = other[e]
            ax, ay, az = motion[j, 0] - ux, motion[j, 1] - uy, motion[j, 2] - uz
            dx, dy, dz = pair[e, 0], pair[e, 1], pair[e, 2]
            if strained:
                bx, by, bz = dx + ax, dy + ay, dz + az
                ax += Exx * bx + Exy * by + Exz * bz
                ay += Eyy * by + Eyz * bz
                az += Ezz * bz
            s = (2.0 * dx + ax) * ax + (2.0 * dy + ay) * ay + (2.0 * dz + az) * az
            if s < pair[e, 3]:
                L0 = pair[e, 4]
                L = np.sqrt(L0 * L0 + s)
                both = L + L0
                inverse = 1.0 / (L * both)
                c = -(pair[e, 5] + s * inverse * L)
                if c <= 0.0:
                    continue
                inverse *= both
                nx, ny, nz = (dx + ax) * inverse, (dy + ay) * inverse, (dz + az) * inverse
                rate = (vx - motion[j, 3]) * nx + (vy - motion[j, 4]) * ny
                rate += (vz - motion[j, 5]) * nz
                if strained:
                    bx, by, bz = dx + ax, dy + ay, dz + az
                    rate -= (Lxx * bx + Lxy * by + Lxz * bz) * nx
                    rate -= (Lyy * by + Lyz * bz) * ny + Lzz * bz * nz
                f = contact_force(c, rate, pair[e, 6], pair[e, 7], p, tensile)
                nx *= f
                ny *= f
                nz *= f
                if strained:
                    sxx += nx * bx
                    syy += ny * by
                    szz += nz * bz
                    syz += ny * bz
                    sxz += nx * bz
                    sxy += nx * by
                fx -= nx
                fy -= ny
                fz -= nz
                force[j, 0] += nx
                force[j, 1] += ny
                force[j, 2] += nz
        force[i, 0] += fx
        force[i, 1] += fy
        force[i, 2] += fz
    if strained:
        sums[0], sums[1], sums[2], sums[3], sums[4], sums[5] = sxx, syy, szz, syz, sxz, sxy


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def _wall_forces(lo, hi, wall, wall_pair, motion, force, p, tensile):
    for e in range(lo, hi):
        i, w = wall[e, 0], wall[e, 1]
        nx, ny, nz = wall_pair[e, 0], wall_pair[e, 1], wall_pair[e, 2]
        c = (motion[w, 0] - motion[i, 0]) * nx + (motion[w, 1] - motion[i, 1]) * ny
        c += (motion[w, 2] - motion[i, 2]) * nz - wall_pair[e, 3]
        if c > 0.0:
            rate = (motion[w, 3] - motion[i, 3]) * nx + (motion[w, 4] - motion[i, 4]) * ny
            rate += (motion[w, 5] - motion[i, 5]) * nz
            f = contact_force(c, rate, wall_pair[e, 4], wall_pair[e, 5], p, tensile)
            force[i, 0] += f * nx
            force[i, 1] += f * ny
            force[i, 2] += f * nz


@njit(cache=True, inline="always", error_model="numpy", fastmath={"contract"})
def _kicked(v, f, free, push, mass, keep, gain):
    return v * keep + gain * (f * free + push) if mass > 0.0 else v


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def _kick_and_drift(lo, hi, ranges, motion, force, free, push, mass, h, keep, gain, strain):
    """Sums the forces of the parts, clears them, moves. Returns (largest |u|^2, sum of m v^2)."""
    Exx, Eyy, Ezz, Eyz, Exz, Exy = six(strain)
    far = 0.0
    energy = 0.0
    for i in range(lo, hi):
        fx, fy, fz = 0.0, 0.0, 0.0
        for t in range(force.shape[0]):
            if ranges[t, TOUCHED] <= i < ranges[t, TOUCHED + 1]:
                fx += force[t, i, 0]
                fy += force[t, i, 1]
                fz += force[t, i, 2]
                force[t, i, 0] = force[t, i, 1] = force[t, i, 2] = 0.0
        vx = _kicked(motion[i, 3], fx, free[i, 0], push[i, 0], mass[i, 0], keep, gain)
        vy = _kicked(motion[i, 4], fy, free[i, 1], push[i, 1], mass[i, 1], keep, gain)
        vz = _kicked(motion[i, 5], fz, free[i, 2], push[i, 2], mass[i, 2], keep, gain)
        energy += mass[i, 0] * vx * vx + mass[i, 1] * vy * vy + mass[i, 2] * vz * vz
        wz = vz / (1.0 + Ezz)
        wy = (vy - Eyz * wz) / (1.0 + Eyy)
        wx = (vx - Exy * wy - Exz * wz) / (1.0 + Exx)
        ux, uy, uz = motion[i, 0] + h * wx, motion[i, 1] + h * wy, motion[i, 2] + h * wz
        far = max(far, ux * ux + uy * uy + uz * uz)
        motion[i, 0], motion[i, 1], motion[i, 2] = ux, uy, uz
        motion[i, 3], motion[i, 4], motion[i, 5] = vx, vy, vz
    return far, energy


@njit(cache=True)
def _stop(lo, hi, motion, mass):
    for i in range(lo, hi):
        for k in range(3):
            if mass[i, k] > 0.0:
                motion[i, 3 + k] = 0.0


@njit(cache=True)
def _half(lo, hi, motion, force, free, push, mass, h):
    """v += h a without a move and without clearing the forces."""
    for i in range(lo, hi):
        for k in range(3):
            f = 0.0
            for t in range(force.shape[0]):
                f += force[t, i, k]
            if mass[i, k] > 0.0:
                motion[i, 3 + k] += h * (f * free[i, k] + push[i, k])


@njit(cache=True, nogil=True)
def advance(
    balls: Balls,
    lists: Lists,
    work: Work,
    pace: Pace,
    reach: float,
    p: float,
    tensile: bool,
    cell: CellMotion,
):
    """Makes the steps of ``pace``; stops where a body has moved by more than ``reach``.

    ``force`` holds the contact forces at the start and at the end. p: exponent of the law; tensile:
    whether damping may pull. Returns (steps made, DONE, STALE, or CROWDED), the same in every
    thread. CROWDED: threads had to sleep often before the last step; velocities are half a step
    behind, and the next call, with the same ``share``, goes on as if it had not stopped.
    """
    motion, force, free, push, mass = balls
    first, other, pair, wall, wall_pair, box, box_pair, frame = lists
    ranges, part, end, gate, share = work
    steps, h, alpha, quench = pace
    parts = len(ranges) - 1
    threads = 1 if end - part == parts else parts
    lo, hi = ranges[part, BODIES], ranges[end, BODIES]
    before, rising = -1.0, False
    # each thread moves a cell of its own, all alike
    strain, rate, strained = cell.strain.copy(), cell.rate.copy(), 0.0
    in_cell = len(strain) > 0
    if share[part, STOPPED] > 0.0:
        before, rising = share[part, BEFORE], share[part, RISING] > 0.0
    else:  # back to v(-1/2); forces are summed again, from u and v of the whole step
        _half(lo, hi, motion, force, free, push, mass, -0.5 * h)
        if in_cell:
            kick(cell, rate, strain, 1.0, -0.5 * h)
    keep, gain = (1 - 0.5 * alpha * h) / (1 + 0.5 * alpha * h), h / (1 + 0.5 * alpha * h)
    patience = LOOKS * (len(other) // parts + len(mass))
    made, naps = 0, share[part, SLEPT]
    code = DONE
    while made < steps:
        for t in range(part, end):
            share[t, FAR], share[t, ENERGY] = _kick_and_drift(
                ranges[t, BODIES], ranges[t + 1, BODIES], ranges,
                motion, force, free, push, mass, h, keep, gain, strain,
            )  # fmt: skip
            share[t, SLEPT] = naps
        moving = 0.0
        if in_cell:
            moving = kick(cell, rate, strain, keep, gain)
            strained = strain_on(rate, strain, h)
        naps += wait(gate, threads, patience)
        far, energy, crowd = 0.0, moving, 0.0
        for t in range(parts):
            far = max(far, share[t, FAR])
            energy += share[t, ENERGY]
            crowd = max(crowd, share[t, SLEPT])
        if quench:
            if rising and energy < before:
                _stop(lo, hi, motion, mass)
                if in_cell:
                    stop(cell, rate)
                naps += wait(gate, threads, patience)
                energy, rising = 0.0, False
            else:
                rising = energy > before
            before = energy
        for t in range(part, end):
            a, b = ranges[t, ROWS], ranges[t + 1, ROWS]
            _pair_forces(
                a, b, first, other, pair, motion, force[t], p, tensile, strain, rate, cell.sums[t]
            )
            a, b = ranges[t, WALLS], ranges[t + 1, WALLS]
            _wall_forces(a, b, wall, wall_pair, motion, force[t], p, tensile)
            a, b = ranges[t, BOXES], ranges[t + 1, BOXES]
            box_forces(a, b, box, box_pair, frame, motion, force[t], p, tensile)
        naps += wait(gate, threads, patience)
        made += 1
        if stale(far, strained, reach, cell.span):
            code = STALE
            break
        if crowd > NAPS and made < steps:
            for t in range(part, end):
                share[t, STOPPED], share[t, BEFORE], share[t, RISING] = 1.0, before, rising
            code = CROWDED
            break
    if code != CROWDED:
        _half(lo, hi, motion, force, free, push, mass, 0.5 * h)
        if in_cell:
            kick(cell, rate, strain, 1.0, 0.5 * h)
    if part == 0:
        cell.strain[:], cell.rate[:] = strain, rate
    return made, code


@njit(cache=True, inline="always")
def _change(motion, i, j, pair, e, E):
    """Change of the branch vector of pair e, from i to j, since it was listed."""
    x, y, z = motion[j, 0] - motion[i, 0], motion[j, 1] - motion[i, 1], motion[j, 2] - motion[i, 2]
    dx, dy, dz = pair[e, 0] + x, pair[e, 1] + y, pair[e, 2] + z
    return (
        x + E[0] * dx + E[5] * dy + E[4] * dz,
        y + E[1] * dy + E[3] * dz,
        z + E[2] * dz,
    )


@njit(cache=True, error_model="numpy")
def measure(motion: np.ndarray, lists: Lists, p: float, tensile: bool, cell: CellMotion):
    """Force (m,), overlap (m,), closing speed (m,) of every pair, then of every wall pair, then of
    every ball near a box."""
    first, other, pair, wall, wall_pair, box, box_pair, frame = lists
    E, flow = six(cell.strain), six(cell.rate)
    m, w = len(other), len(wall)
    out = np.zeros((3, m + w + len(box)))
    for i in range(len(first) - 1):
        for e in range(first[i], first[i + 1]):
            j = other[e]
            x, y, z = _change(motion, i, j, pair, e, E)
            s = (2.0 * pair[e, 0] + x) * x + (2.0 * pair[e, 1] + y) * y
            s += (2.0 * pair[e, 2] + z) * z
            L0 = pair[e, 4]
            L = np.sqrt(L0 * L0 + s)
            c = -(pair[e, 5] + s / (L + L0))
            x, y, z = pair[e, 0] + x, pair[e, 1] + y, pair[e, 2] + z
            rate = x * (motion[i, 3] - motion[j, 3] - flow[0] * x - flow[5] * y - flow[4] * z)
            rate += y * (motion[i, 4] - motion[j, 4] - flow[1] * y - flow[3] * z)
            rate += z * (motion[i, 5] - motion[j, 5] - flow[2] * z)
            rate /= L
            out[1, e], out[2, e] = c, rate
            if c > 0.0:
                out[0, e] = contact_force(c, rate, pair[e, 6], pair[e, 7], p, tensile)
    for e in range(w):
        i, plane = wall[e, 0], wall[e, 1]
        c = -wall_pair[e, 3]
        rate = 0.0
        for k in range(3):
            c += (motion[plane, k] - motion[i, k]) * wall_pair[e, k]
            rate += (motion[plane, 3 + k] - motion[i, 3 + k]) * wall_pair[e, k]
        out[1, m + e], out[2, m + e] = c, rate
        if c > 0.0:
            out[0, m + e] = contact_force(c, rate, wall_pair[e, 4], wall_pair[e, 5], p, tensile)
    for e in range(len(box)):
        c, rate, _, _, _ = box_contact(e, box, box_pair, frame, motion)
        out[1, m + w + e], out[2, m + w + e] = c, rate
        if c > 0.0:
            k, g = box_pair[e, 6], box_pair[e, 7]
            out[0, m + w + e] = contact_force(c, rate, k, g, p, tensile)
    return out


@njit(cache=True)
def response(
    body: np.ndarray, normal: np.ndarray, free: np.ndarray, x: np.ndarray, push: np.ndarray
):
    """B M^-1 B^T x (m,) of pairs ``body`` (m, 2) with normals (m, 3). push (n, 3) is overwritten.

    The gap gradient of balls is the normal, on both bodies; nothing needs to be assembled.
    """
    push[:] = 0.0
    for e in range(len(x)):
        for k in range(3):
            f = x[e] * normal[e, k]
            push[body[e, 0], k] -= f
            push[body[e, 1], k] += f
    out = np.empty(len(x))
    for e in range(len(x)):
        i, j = body[e, 0], body[e, 1]
        s = 0.0
        for k in range(3):
            s += normal[e, k] * (free[j, k] * push[j, k] - free[i, k] * push[i, k])
        out[e] = s
    return out


@njit(cache=True)
def fill_forces(
    motion: np.ndarray,
    force: np.ndarray,
    lists: Lists,
    p: float,
    tensile: bool,
    cell: CellMotion,
):
    """Contact forces on the bodies at the present positions and velocities, into ``force[0]``."""
    first, other, pair, wall, wall_pair, box, box_pair, frame = lists
    force[:] = 0.0
    cell.sums[:] = 0.0
    start = np.int64(0)  # a literal 0 would be compiled for once more
    _pair_forces(
        start, len(first) - 1, first, other, pair, motion, force[0], p, tensile,
        cell.strain, cell.rate, cell.sums[0],
    )  # fmt: skip
    _wall_forces(start, len(wall), wall, wall_pair, motion, force[0], p, tensile)
    box_forces(start, len(box), box, box_pair, frame, motion, force[0], p, tensile)


def shared_work(
    parts: int, first: np.ndarray, other: np.ndarray, wall: np.ndarray, box: np.ndarray
) -> np.ndarray:
    """``ranges`` (parts + 1, 6) of as many pairs each.

    wall, box: sorted by their first column.
    """
    n = len(first) - 1
    part = np.arange(parts + 1) / parts
    ranges = np.zeros((parts + 1, 6), np.int64)
    rows = np.searchsorted(first, part * len(other))
    rows[0], rows[-1] = 0, n
    ranges[:, BODIES] = ranges[:, ROWS] = rows
    ranges[:, WALLS] = np.searchsorted(wall[:, 0], rows)
    ranges[-1, WALLS] = len(wall)
    ranges[:, BOXES] = np.searchsorted(box[:, 0], rows)
    ranges[-1, BOXES] = len(box)
    for t in range(parts):
        there = other[first[rows[t]] : first[rows[t + 1]]]
        pushed = box[ranges[t, BOXES] : ranges[t + 1, BOXES], 1]
        own = [rows[t], rows[t + 1] - 1]
        touched = np.concatenate([there, pushed, own])
        ranges[t, TOUCHED], ranges[t, TOUCHED + 1] = touched.min(), touched.max() + 1
    return ranges


def usable_threads(wanted: int) -> int:
    """``wanted`` or the number of threads that numba may use, whichever is less."""
    return max(1, min(int(wanted), numba.config.NUMBA_NUM_THREADS))
