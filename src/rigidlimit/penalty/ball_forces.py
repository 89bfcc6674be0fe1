"""The kernel of contact forces between balls, half-spaces and boxes that do not turn, smooth or
rough.

Positions are kept as a reference x_0 and the travel u since the list was built, and a gap as its
value at x_0 and its change: with d = x_j - x_i, L = |d|,

    gap = gap_0 + s/(L + L_0),    s = L^2 - L_0^2 = 2 d_0 . (u_j - u_i) + |u_j - u_i|^2,

so that overlaps of 1e-9 radii keep all their digits, which x_j - x_i - R_i - R_j would lose, and
so that open pairs are recognised by s alone, without a root.

Rough contacts have tangential springs (``friction.py``). Their arms reach from a ball's centre to
the middle of the overlap, where the contact search has the contact. What there is only with
springs, or only where contacts are measured, is compiled for these alone.

rubs: None between smooth balls, else a plain tuple, which is taken apart without a cost: spin (n,
3) [rad/s]; radius (n,): 0 for all but balls; moment (n, 3) [N m]: gets those of the forces; rough
(c, 2): mu and k_t of each listed contact: pairs, walls, then boxes; spring (c, 3): of the ball
relative to a wall or box, else of body j relative to i; factor: on gamma, along tangents;
keeps_force: whether springs are kept as forces; h [s]: by which springs move on.
"""

import numpy as np
from numba import njit

from .ball_on_box import box_contact
from .ball_records import Lists
from .friction import rub
from .law import contact_force
from .moving_cell import CellMotion, six


@njit(cache=True, inline="always", error_model="numpy", fastmath={"contract"})
def _rub(e, bodies, n, v, contact, p, rubs):
    """Tangential force (3 numbers) of the listed contact of number e, from body a to body b along
    n, on b. Its spring moves on, and it turns both bodies.

    v: velocity of b past a [m/s], as if neither had a spin. contact: overlap c, gamma_0 and normal
    force.
    """
    (a, b), (nx, ny, nz), (vx, vy, vz), (c, g, f) = bodies, n, v, contact
    spin, radius, moment, rough, spring, factor, keeps_force, h = rubs
    ra = radius[a] - 0.5 * c if radius[a] > 0.0 else 0.0
    rb = radius[b] - 0.5 * c if radius[b] > 0.0 else 0.0
    wx = ra * spin[a, 0] + rb * spin[b, 0]
    wy = ra * spin[a, 1] + rb * spin[b, 1]
    wz = ra * spin[a, 2] + rb * spin[b, 2]
    vx, vy, vz = vx - (wy * nz - wz * ny), vy - (wz * nx - wx * nz), vz - (wx * ny - wy * nx)
    along = vx * nx + vy * ny + vz * nz
    vx, vy, vz = vx - along * nx, vy - along * ny, vz - along * nz
    twist = (spin[a, 0] + spin[b, 0]) * nx + (spin[a, 1] + spin[b, 1]) * ny
    twist = 0.5 * (twist + (spin[a, 2] + spin[b, 2]) * nz)
    stiffness, damping = rough[e, 1], factor * g
    if p != 2.0:
        stiffness, damping = stiffness * c ** (p - 2.0), damping * c ** (0.5 * p - 1.0)
    bound = rough[e, 0] * max(f, 0.0)
    law = stiffness, damping, keeps_force
    tx, ty, tz = rub(spring, e, n, (vx, vy, vz), twist, bound, law, h)
    mx, my, mz = ny * tz - nz * ty, nz * tx - nx * tz, nx * ty - ny * tx
    moment[b, 0] -= rb * mx
    moment[b, 1] -= rb * my
    moment[b, 2] -= rb * mz
    moment[a, 0] -= ra * mx
    moment[a, 1] -= ra * my
    moment[a, 2] -= ra * mz
    return tx, ty, tz


@njit(cache=True, inline="always")
def _release(rubs, e):
    spring = rubs[4]
    spring[e, 0] = spring[e, 1] = spring[e, 2] = 0.0


@njit(cache=True, inline="always")
def _keep(rows, e, f, c, rate, tx, ty, tz):
    rows[e, 0], rows[e, 1], rows[e, 2] = f, c, rate
    rows[e, 3], rows[e, 4], rows[e, 5] = tx, ty, tz


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def pair_forces(
    lo: int,
    hi: int,
    near: tuple,
    motion: np.ndarray,
    force: np.ndarray,
    law: tuple,
    cell: tuple,
    rubs: tuple | None,
    rows: np.ndarray | None,
):
    """Adds the forces of the pairs of bodies lo <= i < hi to ``force`` (n, 4).

    near: first, other, pair. law: p, and whether damping may pull. cell: E and L (6,), and where
    the sum of f_a d_b comes to (6,); empty without one. rows (c, 6): gets normal force, overlap,
    closing speed and f_t of each listed contact, open ones too; None within steps.
    """
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
            if rows is None and s >= pair[e, 3]:
                if rubs is not None:
                    _release(rubs, e)
                continue
            L0 = pair[e, 4]
            L = np.sqrt(L0 * L0 + s)
            both = L + L0
            inverse = 1.0 / (L * both)
            c = -(pair[e, 5] + s * inverse * L)
            if rows is None and c <= 0.0:
                if rubs is not None:
                    _release(rubs, e)
                continue
            inverse *= both
            nx, ny, nz = (dx + ax) * inverse, (dy + ay) * inverse, (dz + az) * inverse
            wx, wy, wz = vx - motion[j, 3], vy - motion[j, 4], vz - motion[j, 5]
            rate = wx * nx + wy * ny
            rate += wz * nz
            if strained:
                bx, by, bz = dx + ax, dy + ay, dz + az
                lx, ly, lz = Lxx * bx + Lxy * by + Lxz * bz, Lyy * by + Lyz * bz, Lzz * bz
                rate -= lx * nx
                rate -= ly * ny + lz * nz
                wx, wy, wz = wx - lx, wy - ly, wz - lz
            f = tx = ty = tz = 0.0
            if c > 0.0:
                f = contact_force(c, rate, pair[e, 6], pair[e, 7], p, tensile)
                if rubs is not None:
                    v, contact = (-wx, -wy, -wz), (c, pair[e, 7], f)
                    tx, ty, tz = _rub(e, (i, j), (nx, ny, nz), v, contact, p, rubs)
            if rows is not None:
                _keep(rows, e, f, c, rate, tx, ty, tz)
            nx *= f
            ny *= f
            nz *= f
            if rubs is not None:
                nx, ny, nz = nx + tx, ny + ty, nz + tz
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
def wall_forces(
    lo: int,
    hi: int,
    start: int,
    near: tuple,
    motion: np.ndarray,
    force: np.ndarray,
    law: tuple,
    rubs: tuple | None,
    rows: np.ndarray | None,
):
    """Adds those of the walls lo <= e < hi, whose numbers as contacts begin with ``start``. near:
    wall, wall_pair."""
    (wall, wall_pair), (p, tensile) = near, law
    for e in range(lo, hi):
        i, w = wall[e, 0], wall[e, 1]
        nx, ny, nz = wall_pair[e, 0], wall_pair[e, 1], wall_pair[e, 2]
        c = (motion[w, 0] - motion[i, 0]) * nx + (motion[w, 1] - motion[i, 1]) * ny
        c += (motion[w, 2] - motion[i, 2]) * nz - wall_pair[e, 3]
        wx, wy = motion[w, 3] - motion[i, 3], motion[w, 4] - motion[i, 4]
        wz = motion[w, 5] - motion[i, 5]
        rate = wx * nx + wy * ny
        rate += wz * nz
        f = tx = ty = tz = 0.0
        if c > 0.0:
            f = contact_force(c, rate, wall_pair[e, 4], wall_pair[e, 5], p, tensile)
            if rubs is not None:
                v, contact = (-wx, -wy, -wz), (c, wall_pair[e, 5], f)
                tx, ty, tz = _rub(start + e, (w, i), (nx, ny, nz), v, contact, p, rubs)
                force[i, 0] += tx
                force[i, 1] += ty
                force[i, 2] += tz
            force[i, 0] += f * nx
            force[i, 1] += f * ny
            force[i, 2] += f * nz
        elif rubs is not None and rows is None:
            _release(rubs, start + e)
        if rows is not None:
            _keep(rows, start + e, f, c, rate, tx, ty, tz)


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def box_forces(
    lo: int,
    hi: int,
    start: int,
    near: tuple,
    motion: np.ndarray,
    force: np.ndarray,
    law: tuple,
    rubs: tuple | None,
    rows: np.ndarray | None,
):
    """Adds those of rows lo <= e < hi, on the balls and on the boxes, as ``wall_forces``. near:
    box, box_pair, frame."""
    (box, box_pair, frame), (p, tensile) = near, law
    for e in range(lo, hi):
        i, b = box[e, 0], box[e, 1]
        c, rate, nx, ny, nz = box_contact(e, box, box_pair, frame, motion)
        f = tx = ty = tz = 0.0
        if c > 0.0:
            f = contact_force(c, rate, box_pair[e, 6], box_pair[e, 7], p, tensile)
            if rubs is not None:
                v = (
                    motion[i, 3] - motion[b, 3],
                    motion[i, 4] - motion[b, 4],
                    motion[i, 5] - motion[b, 5],
                )
                contact = c, box_pair[e, 7], f
                tx, ty, tz = _rub(start + e, (b, i), (nx, ny, nz), v, contact, p, rubs)
            fx, fy, fz = f * nx + tx, f * ny + ty, f * nz + tz
            force[i, 0] += fx
            force[i, 1] += fy
            force[i, 2] += fz
            force[b, 0] -= fx
            force[b, 1] -= fy
            force[b, 2] -= fz
        elif rubs is not None and rows is None:
            _release(rubs, start + e)
        if rows is not None:
            _keep(rows, start + e, f, c, rate, tx, ty, tz)


@njit(cache=True)
def contact_forces(
    motion: np.ndarray,
    force: np.ndarray,
    lists: Lists,
    law: tuple[float, bool],
    cell: CellMotion,
    rubs: tuple | None,
    rows: np.ndarray | None,
):
    """Sets the contact forces of all at the present positions and velocities, into ``force[0]``,
    and the moments of rough balls; arguments as of ``pair_forces``."""
    first, other, pair, wall, wall_pair, box, box_pair, frame = lists
    force[:] = 0.0
    cell.sums[:] = 0.0
    if rubs is not None:
        rubs[2][:] = 0.0
    start = np.int64(0)  # a literal 0 would be compiled for once more
    into, in_cell = force[0], (cell.strain, cell.rate, cell.sums[0])
    pairs, walls, boxes = (first, other, pair), (wall, wall_pair), (box, box_pair, frame)
    pair_forces(start, len(first) - 1, pairs, motion, into, law, in_cell, rubs, rows)
    before = len(other)
    wall_forces(start, len(wall), before, walls, motion, into, law, rubs, rows)
    before += len(wall)
    box_forces(start, len(box), before, boxes, motion, into, law, rubs, rows)


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
