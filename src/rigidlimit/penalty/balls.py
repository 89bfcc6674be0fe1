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

Kernels take records of arrays (``ball_records.py``), which they take apart once a call: numba
passes a record field by field.
"""

import numpy as np
from numba import njit

from .._support.barrier import wait
from .ball_on_box import box_forces
from .ball_records import (
    BEFORE,
    BODIES,
    BOXES,
    CROWDED,
    DONE,
    ENERGY,
    FAR,
    RISING,
    ROWS,
    SLEPT,
    STALE,
    STOPPED,
    TOUCHED,
    WALLS,
    Balls,
    Lists,
    Pace,
    Work,
)
from .law import contact_force
from .moving_cell import CellMotion, kick, six, stale, stop, strain_on

LOOKS = 10
"""Looks per pair and body of a part before a thread sleeps: longer than its own work took."""

NAPS = 20
"""Naps at barriers in one call after which the cores count as crowded."""


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def _pair_forces(lo, hi, near, motion, force, law, cell):
    """Adds the forces of the pairs of bodies lo <= i < hi to ``force`` (n, 4). near: first, other,
    pair. cell: E and L (6,), and where the sum of f_a d_b comes to (6,); empty without one."""
    (first, other, pair), (p, tensile), (strain, flow, sums) = near, law, cell
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
def _wall_forces(lo, hi, near, motion, force, law):
    (wall, wall_pair), (p, tensile) = near, law
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
def _kick_and_drift(lo, hi, ranges, balls, pace, strain):
    """Sums the forces of the parts, clears them, moves. Returns (largest |u|^2, sum of m v^2).

    pace: h, keep, gain: v := keep v + gain a, u += h v.
    """
    (motion, force, free, push, mass), (h, keep, gain) = balls, pace
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
def _half(lo, hi, balls, h):
    """v += h a without a move and without clearing the forces."""
    motion, force, free, push, mass = balls
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
    # plain tuples, which are taken apart without a cost
    arrays, law = (motion, force, free, push, mass), (p, tensile)
    pairs, walls, boxes = (first, other, pair), (wall, wall_pair), (box, box_pair, frame)
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
        _half(lo, hi, arrays, -0.5 * h)
        if in_cell:
            kick(cell, rate, strain, 1.0, -0.5 * h)
    keep, gain = (1 - 0.5 * alpha * h) / (1 + 0.5 * alpha * h), h / (1 + 0.5 * alpha * h)
    move = h, keep, gain
    patience = LOOKS * (len(other) // parts + len(mass))
    made, naps = 0, share[part, SLEPT]
    code = DONE
    while made < steps:
        for t in range(part, end):
            a, b = ranges[t, BODIES], ranges[t + 1, BODIES]
            share[t, FAR], share[t, ENERGY] = _kick_and_drift(a, b, ranges, arrays, move, strain)
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
            _pair_forces(a, b, pairs, motion, force[t], law, (strain, rate, cell.sums[t]))
            a, b = ranges[t, WALLS], ranges[t + 1, WALLS]
            _wall_forces(a, b, walls, motion, force[t], law)
            a, b = ranges[t, BOXES], ranges[t + 1, BOXES]
            box_forces(a, b, boxes, motion, force[t], law)
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
        _half(lo, hi, arrays, 0.5 * h)
        if in_cell:
            kick(cell, rate, strain, 1.0, 0.5 * h)
    if part == 0:
        cell.strain[:], cell.rate[:] = strain, rate
    return made, code


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
    law, in_cell = (p, tensile), (cell.strain, cell.rate, cell.sums[0])
    _pair_forces(start, len(first) - 1, (first, other, pair), motion, force[0], law, in_cell)
    _wall_forces(start, len(wall), (wall, wall_pair), motion, force[0], law)
    box_forces(start, len(box), (box, box_pair, frame), motion, force[0], law)
