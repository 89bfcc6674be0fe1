"""Kernels of the penalty method for balls and half-spaces: forces of listed pairs and walls.

Positions are kept as a reference x_0 and the travel u since the list was built, and a gap as its
value at x_0 and its change: with d = x_j - x_i, L = |d|,

    gap = gap_0 + s/(L + L_0),    s = L^2 - L_0^2 = 2 d_0 . (u_j - u_i) + |u_j - u_i|^2,

so that overlaps of 1e-9 radii keep all their digits, which x_j - x_i - R_i - R_j would lose, and
so that open pairs are recognised by s alone, without a root.
"""

import numpy as np
from numba import njit

from .._support.compiled import INNER
from .ball_on_box import box_forces
from .ball_records import Lists
from .law import contact_force
from .moving_cell import CellMotion, six


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def pair_forces(
    lo: int, hi: int, near: tuple, motion: np.ndarray, force: np.ndarray, law: tuple, cell: tuple
):
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


@njit(**INNER, error_model="numpy", fastmath={"contract"})
def wall_forces(lo: int, hi: int, near: tuple, motion: np.ndarray, force: np.ndarray, law: tuple):
    """Adds those of the walls lo <= e < hi. near: wall, wall_pair."""
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


@njit(cache=True)
def fill_forces(
    motion: np.ndarray, force: np.ndarray, lists: Lists, p: float, tensile: bool, cell: CellMotion
):
    """Contact forces on the bodies at the present positions and velocities, into ``force[0]``."""
    first, other, pair, wall, wall_pair, box, box_pair, frame = lists
    force[:] = 0.0
    cell.sums[:] = 0.0
    start = np.int64(0)  # a literal 0 would be compiled for once more
    law, in_cell = (p, tensile), (cell.strain, cell.rate, cell.sums[0])
    pair_forces(start, len(first) - 1, (first, other, pair), motion, force[0], law, in_cell)
    wall_forces(start, len(wall), (wall, wall_pair), motion, force[0], law)
    box_forces(start, len(box), (box, box_pair, frame), motion, force[0], law)
