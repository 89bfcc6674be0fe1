"""Kernels of the penalty method for balls and half-spaces: leapfrog steps over a neighbour list, by
the forces of ``ball_forces.py``.

Step n:  v(n+1/2) = (v(n-1/2) (1 - alpha h/2) + h a_n)/(1 + alpha h/2),  u += h v(n+1/2),
a from f(u, v(n+1/2)). ``advance`` starts and ends with v at whole steps.

Threads. The work is in parts: a range of bodies and the pairs of its rows (``ranges``), which add
to a force array of their own. Each thread goes through all steps of a call with one part; two
barriers a step hold them together. Where other programs take the cores, a call stops between two
half steps, and one thread continues with all parts. Forces are summed in the order of the parts:
the answer depends on their number, not on timing.

Kernels take records of arrays (``ball_records.py``), which they take apart once a call: numba
passes a record field by field.
"""

from numba import njit

from .._support.barrier import wait
from .._support.compiled import INNER
from .ball_forces import pair_forces, wall_forces
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
from .moving_cell import CellMotion, kick, six, stale, stop, strain_on

LOOKS = 10
"""Looks per pair and body of a part before a thread sleeps: longer than its own work took."""

NAPS = 20
"""Naps at barriers in one call after which the cores count as crowded."""


@njit(cache=True, inline="always", error_model="numpy", fastmath={"contract"})
def _kicked(v, f, free, push, mass, keep, gain):
    return v * keep + gain * (f * free + push) if mass > 0.0 else v


@njit(**INNER, error_model="numpy", fastmath={"contract"})
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


@njit(**INNER)
def _stop(lo, hi, motion, mass):
    for i in range(lo, hi):
        for k in range(3):
            if mass[i, k] > 0.0:
                motion[i, 3 + k] = 0.0


@njit(**INNER)
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
    behind, and the next call, with the same ``share``, continues as if it had not stopped.
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
            pair_forces(a, b, pairs, motion, force[t], law, (strain, rate, cell.sums[t]))
            a, b = ranges[t, WALLS], ranges[t + 1, WALLS]
            wall_forces(a, b, walls, motion, force[t], law)
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
