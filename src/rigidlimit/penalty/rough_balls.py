"""Kernels of the penalty method for rough balls, half-spaces and boxes that do not turn.

The lists, gaps, leapfrog and cell are those of ``balls.py``; beside them there are spins, and
tangential springs (``friction.py``). One thread does all the work. Arms reach from a ball's centre
to the middle of the overlap, where the contact search has the contact.

Numba takes records of arrays apart slowly: what is called for each contact has them one by one.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from .._support.compiled import INNER
from .ball_on_box import box_contact
from .ball_records import DONE, STALE, Lists, Pace
from .friction import rub
from .law import contact_force
from .moving_cell import CellMotion, kick, six, stale, stop, strain_on


class RoughBalls(NamedTuple):
    """motion (n, 8): as in ``balls.py``; spin (n, 3) [rad/s]; turn (n, 4): quaternions; radius
    (n,): 0 for all but balls.

    rough (c, 2): mu and k_t of each listed contact: pairs, walls, then boxes; spring (c, 3): of the
    ball relative to a wall or box, else of body j relative to i. force (n, 6): and moments. seen
    (n, 6): velocities between two steps, spins included, that the last forces are of.
    """

    motion: np.ndarray
    spin: np.ndarray
    turn: np.ndarray
    radius: np.ndarray
    rough: np.ndarray
    spring: np.ndarray
    force: np.ndarray
    seen: np.ndarray


class RoughLaw(NamedTuple):
    """p: exponent; tensile: whether damping may pull; factor: on gamma, along tangents;
    keeps_force: whether springs are kept as forces."""

    p: float
    tensile: bool
    factor: float
    keeps_force: bool


class Inertia(NamedTuple):
    """Each (n, 6), zero where held: inverse: 1/m and 1/I; push: accelerations by loads, rate
    [m/s^3]: by which they move on; mass: m and I."""

    inverse: np.ndarray
    push: np.ndarray
    rate: np.ndarray
    mass: np.ndarray


@njit(cache=True, inline="always", error_model="numpy", fastmath={"contract"})
def _press(e, bodies, n, contact, balls, law, move, flow):
    """The contact of listed number e, from body a to body b along n: forces on both, and springs
    that move on. Returns the force on b.

    contact: overlap c, k and gamma_0. move: (h, rows) of ``contact_forces``. flow [m/s]: by which
    the cell moves b past a.
    """
    (a, b), (nx, ny, nz), (c, k, g), (lx, ly, lz) = bodies, n, contact, flow
    motion, spin, radius, rough, spring, force = balls
    (p, tensile, factor, keeps_force), (h, rows) = law, move
    ra = radius[a] - 0.5 * c if radius[a] > 0.0 else 0.0
    rb = radius[b] - 0.5 * c if radius[b] > 0.0 else 0.0
    wx = ra * spin[a, 0] + rb * spin[b, 0]
    wy = ra * spin[a, 1] + rb * spin[b, 1]
    wz = ra * spin[a, 2] + rb * spin[b, 2]
    vx = motion[b, 3] - motion[a, 3] + lx - (wy * nz - wz * ny)
    vy = motion[b, 4] - motion[a, 4] + ly - (wz * nx - wx * nz)
    vz = motion[b, 5] - motion[a, 5] + lz - (wx * ny - wy * nx)
    rate = -(vx * nx + vy * ny + vz * nz)
    f = tx = ty = tz = px = py = pz = 0.0
    if c > 0.0:
        f = contact_force(c, rate, k, g, p, tensile)
        vx, vy, vz = vx + rate * nx, vy + rate * ny, vz + rate * nz
        twist = (spin[a, 0] + spin[b, 0]) * nx + (spin[a, 1] + spin[b, 1]) * ny
        twist = 0.5 * (twist + (spin[a, 2] + spin[b, 2]) * nz)
        stiffness, damping = rough[e, 1], factor * g
        if p != 2.0:
            stiffness, damping = stiffness * c ** (p - 2.0), damping * c ** (0.5 * p - 1.0)
        bound = rough[e, 0] * max(f, 0.0)
        tangential = stiffness, damping, keeps_force
        tx, ty, tz = rub(spring, e, n, (vx, vy, vz), twist, bound, tangential, h)
        mx, my, mz = ny * tz - nz * ty, nz * tx - nx * tz, nx * ty - ny * tx
        px, py, pz = f * nx + tx, f * ny + ty, f * nz + tz
        force[b, 0] += px
        force[b, 1] += py
        force[b, 2] += pz
        force[b, 3] -= rb * mx
        force[b, 4] -= rb * my
        force[b, 5] -= rb * mz
        force[a, 0] -= px
        force[a, 1] -= py
        force[a, 2] -= pz
        force[a, 3] -= ra * mx
        force[a, 4] -= ra * my
        force[a, 5] -= ra * mz
    elif h > 0.0:
        spring[e, 0] = spring[e, 1] = spring[e, 2] = 0.0
    if h == 0.0:
        rows[e, 0], rows[e, 1], rows[e, 2] = f, c, rate
        rows[e, 3], rows[e, 4], rows[e, 5] = tx, ty, tz
    return px, py, pz


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def contact_forces(
    lists: Lists,
    balls: RoughBalls,
    law: RoughLaw,
    h: float,
    rows: np.ndarray,
    strain: np.ndarray,
    flow: np.ndarray,
    sums: np.ndarray,
):
    """Sets the forces; springs move on by h [s], and if h is 0, rows (c, 6) are set: normal force,
    overlap, closing speed and f_t of each listed contact. strain, flow, sums (6,): of the cell, see
    ``moving_cell``; empty without one."""
    first, other, pair, wall, wall_pair, box, box_pair, frame = lists
    motion, spin, _, radius, rough, spring, force, _ = balls
    p, tensile, factor, keeps_force = law
    # plain tuples, which are taken apart without a cost
    arrays = motion, spin, radius, rough, spring, force
    data, move, still = (p, tensile, factor, keeps_force), (h, rows), (0.0, 0.0, 0.0)
    force[:] = 0.0
    pairs, walls, strained = len(other), len(wall), len(strain) > 0
    E, flows = six(strain), six(flow)
    sxx = syy = szz = syz = sxz = sxy = lx = ly = lz = 0.0
    for i in range(len(first) - 1):
        for e in range(first[i], first[i + 1]):
            j = other[e]
            ax, ay = motion[j, 0] - motion[i, 0], motion[j, 1] - motion[i, 1]
            az = motion[j, 2] - motion[i, 2]
            dx, dy, dz = pair[e, 0], pair[e, 1], pair[e, 2]
            if strained:
                bx, by, bz = dx + ax, dy + ay, dz + az
                ax += E[0] * bx + E[5] * by + E[4] * bz
                ay += E[1] * by + E[3] * bz
                az += E[2] * bz
            s = (2.0 * dx + ax) * ax + (2.0 * dy + ay) * ay + (2.0 * dz + az) * az
            if s >= pair[e, 3] and h > 0.0:
                spring[e, 0] = spring[e, 1] = spring[e, 2] = 0.0
                continue
            L0 = pair[e, 4]
            L = np.sqrt(L0 * L0 + s)
            c = -(pair[e, 5] + s / (L + L0))
            bx, by, bz = dx + ax, dy + ay, dz + az
            if strained:
                lx = flows[0] * bx + flows[5] * by + flows[4] * bz
                ly, lz = flows[1] * by + flows[3] * bz, flows[2] * bz
            n, contact = (bx / L, by / L, bz / L), (c, pair[e, 6], pair[e, 7])
            px, py, pz = _press(e, (i, j), n, contact, arrays, data, move, (lx, ly, lz))
            if strained:
                sxx += px * bx
                syy += py * by
                szz += pz * bz
                syz += py * bz
                sxz += px * bz
                sxy += px * by
    if strained:
        sums[0], sums[1], sums[2], sums[3], sums[4], sums[5] = sxx, syy, szz, syz, sxz, sxy
    for e in range(walls):
        i, w = wall[e, 0], wall[e, 1]
        nx, ny, nz = wall_pair[e, 0], wall_pair[e, 1], wall_pair[e, 2]
        c = (motion[w, 0] - motion[i, 0]) * nx + (motion[w, 1] - motion[i, 1]) * ny
        c += (motion[w, 2] - motion[i, 2]) * nz - wall_pair[e, 3]
        n, contact = (nx, ny, nz), (c, wall_pair[e, 4], wall_pair[e, 5])
        _press(pairs + e, (w, i), n, contact, arrays, data, move, still)
    for e in range(len(box)):
        c, _, nx, ny, nz = box_contact(e, box, box_pair, frame, motion)
        contact, number = (c, box_pair[e, 6], box_pair[e, 7]), pairs + walls + e
        _press(number, (box[e, 1], box[e, 0]), (nx, ny, nz), contact, arrays, data, move, still)


@njit(**INNER, error_model="numpy")
def _kick(motion, spin, force, inverse, push, mass, keep, gain):
    """v := keep v + gain a of all free degrees of freedom; returns the sum of m v^2 and I w^2."""
    energy = 0.0
    for i in range(len(mass)):
        for k in range(6):
            if mass[i, k] > 0.0:
                a = force[i, k] * inverse[i, k] + push[i, k]
                v = (motion[i, 3 + k] if k < 3 else spin[i, k - 3]) * keep + gain * a
                energy += mass[i, k] * v * v
                if k < 3:
                    motion[i, 3 + k] = v
                else:
                    spin[i, k - 3] = v
    return energy


@njit(**INNER, error_model="numpy")
def _drift(motion, spin, turn, h, strain):
    """Moves and turns by h; returns the largest |u|^2."""
    E, far = six(strain), 0.0
    for i in range(len(spin)):
        u2 = 0.0
        z = motion[i, 5] / (1.0 + E[2])
        y = (motion[i, 4] - E[3] * z) / (1.0 + E[1])
        motion[i, 0] += h * (motion[i, 3] - E[5] * y - E[4] * z) / (1.0 + E[0])
        motion[i, 1] += h * y
        motion[i, 2] += h * z
        for k in range(3):
            u2 += motion[i, k] * motion[i, k]
        far = max(far, u2)
        x, y, z = spin[i, 0], spin[i, 1], spin[i, 2]
        size = np.sqrt(x * x + y * y + z * z)
        if size > 0.0:
            # the exact turn about a steady axis
            c, s = np.cos(0.5 * h * size), np.sin(0.5 * h * size) / size
            x, y, z = s * x, s * y, s * z
            a, b, d, e = turn[i, 0], turn[i, 1], turn[i, 2], turn[i, 3]
            turn[i, 0] = c * a - x * b - y * d - z * e
            turn[i, 1] = c * b + x * a + y * e - z * d
            turn[i, 2] = c * d - x * e + y * a + z * b
            turn[i, 3] = c * e + x * d - y * b + z * a
    return far


@njit(cache=True, nogil=True, error_model="numpy")
def advance(
    lists: Lists,
    balls: RoughBalls,
    inertia: Inertia,
    pace: Pace,
    reach: float,
    law: RoughLaw,
    rows: np.ndarray,
    cell: CellMotion,
):
    """Makes the steps of ``pace``; stops where a body has moved by more than ``reach``.

    rows (c, 6): see ``contact_forces``. Returns (steps made, DONE or STALE).
    """
    motion, spin, turn, force = balls.motion, balls.spin, balls.turn, balls.force
    inverse, push, rate, mass = inertia
    steps, h, alpha, quench = pace
    strain, flow, strained, in_cell = cell.strain, cell.rate, 0.0, len(cell.strain) > 0
    _kick(motion, spin, force, inverse, push, mass, 1.0, -0.5 * h)
    if in_cell:
        kick(cell, flow, strain, 1.0, -0.5 * h)
    keep, gain = (1 - 0.5 * alpha * h) / (1 + 0.5 * alpha * h), h / (1 + 0.5 * alpha * h)
    before, rising = -1.0, False
    made, code = 0, DONE
    while made < steps:
        push += h * rate
        energy = _kick(motion, spin, force, inverse, push, mass, keep, gain)
        if in_cell:
            energy += kick(cell, flow, strain, keep, gain)
        if quench:
            if rising and energy < before:
                _kick(motion, spin, force, inverse, push, mass, 0.0, 0.0)
                if in_cell:
                    stop(cell, flow)
                energy, rising = 0.0, False
            else:
                rising = energy > before
            before = energy
        far = _drift(motion, spin, turn, h, strain)
        if in_cell:
            strained = strain_on(flow, strain, h)
        contact_forces(lists, balls, law, h, rows, strain, flow, cell.sums[0])
        made += 1
        if stale(far, strained, reach, cell.span):
            code = STALE
            break
    balls.seen[:, :3], balls.seen[:, 3:] = motion[:, 3:6], spin
    _kick(motion, spin, force, inverse, push, mass, 1.0, 0.5 * h)
    if in_cell:
        kick(cell, flow, strain, 1.0, 0.5 * h)
    return made, code
