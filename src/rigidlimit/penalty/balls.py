"""Compiled DEM of smooth balls and half-spaces: velocity Verlet over neighbour lists with a skin.

Positions are reference positions X plus displacements u since the lists were made. With the pair's
arm A = X_b - X_a, U = u_b - u_a and its gap G then, the gap is

    G + (2 A + U) . U / (|A + U| + |A|),

which does not cancel: overlaps of 1e-9 radii keep their digits.
"""

import numpy as np
from numba import njit

from .law import contact_force


@njit(cache=True)
def _forces(reference, u, v, pairs, arms, gaps, k, mass, planes, p, damping, f, found):
    """Sum contact forces into f (n, 3); per pair force into found. Returns the largest contact."""
    f[:] = 0.0
    largest = 0.0
    for c in range(len(pairs)):
        a, b = pairs[c, 0], pairs[c, 1]
        U0, U1, U2 = u[b, 0] - u[a, 0], u[b, 1] - u[a, 1], u[b, 2] - u[a, 2]
        A0, A1, A2 = arms[c, 0], arms[c, 1], arms[c, 2]
        shift = (2.0 * A0 + U0) * U0 + (2.0 * A1 + U1) * U1 + (2.0 * A2 + U2) * U2
        if shift >= -2.0 * gaps[c] * arms[c, 3] and gaps[c] >= 0.0:
            found[c] = 0.0
            continue
        x, y, z = A0 + U0, A1 + U1, A2 + U2
        d = np.sqrt(x * x + y * y + z * z)
        overlap = -gaps[c] - shift / (d + arms[c, 3])
        if overlap <= 0.0:
            found[c] = 0.0
            continue
        x, y, z = x / d, y / d, z / d
        rate = -((v[b, 0] - v[a, 0]) * x + (v[b, 1] - v[a, 1]) * y + (v[b, 2] - v[a, 2]) * z)
        size = contact_force(overlap, rate, k[c], p, damping, mass[c])
        found[c] = size
        if size > largest:
            largest = size
        f[a, 0] -= size * x
        f[a, 1] -= size * y
        f[a, 2] -= size * z
        f[b, 0] += size * x
        f[b, 1] += size * y
        f[b, 2] += size * z
    for c in range(len(planes)):
        # planes: body, normal (3), gap at the reference, k, mass
        b = int(planes[c, 0])
        nx, ny, nz = planes[c, 1], planes[c, 2], planes[c, 3]
        overlap = -(planes[c, 4] + u[b, 0] * nx + u[b, 1] * ny + u[b, 2] * nz)
        size = 0.0
        if overlap > 0.0:
            rate = -(v[b, 0] * nx + v[b, 1] * ny + v[b, 2] * nz)
            size = contact_force(overlap, rate, planes[c, 5], p, damping, planes[c, 6])
            f[b, 0] += size * nx
            f[b, 1] += size * ny
            f[b, 2] += size * nz
        found[len(pairs) + c] = size
        if size > largest:
            largest = size
    return largest


@njit(cache=True)
def march(
    reference, u, v, free, inverse_mass, external, pairs, arms, gaps, k, mass, planes, p, damping,
    dt, steps, half_skin, relax, f, found,
):  # fmt: skip
    """Up to ``steps`` of velocity Verlet; stops early when a body has used up the skin.

    f must hold the contact forces at the start. relax: kinetic damping, which stops all bodies
    whenever the kinetic energy has passed a maximum. Returns (steps made, largest |net force| on a
    free degree of freedom, largest contact force, kinetic energy).
    """
    n = len(u)
    made = 0
    largest = 0.0
    last = 0.0
    while made < steps:
        moved = 0.0
        for i in range(n):
            way = 0.0
            for d in range(3):
                if free[i, d]:
                    v[i, d] += 0.5 * dt * inverse_mass[i] * (f[i, d] + external[i, d])
                u[i, d] += dt * v[i, d]
                way += u[i, d] * u[i, d]
            if way > moved:
                moved = way
        largest = _forces(reference, u, v, pairs, arms, gaps, k, mass, planes, p, damping, f, found)
        for i in range(n):
            for d in range(3):
                if free[i, d]:
                    v[i, d] += 0.5 * dt * inverse_mass[i] * (f[i, d] + external[i, d])
        made += 1
        if relax:
            energy = 0.0
            for i in range(n):
                if inverse_mass[i] > 0.0:
                    speed = v[i, 0] * v[i, 0] + v[i, 1] * v[i, 1] + v[i, 2] * v[i, 2]
                    energy += 0.5 * speed / inverse_mass[i]
            if energy < last:
                for i in range(n):
                    if inverse_mass[i] > 0.0:
                        v[i] = 0.0
                energy = 0.0
            last = energy
        if moved > half_skin * half_skin:
            break
    net = 0.0
    energy = 0.0
    for i in range(n):
        for d in range(3):
            if free[i, d]:
                net = max(net, abs(f[i, d] + external[i, d]))
                energy += 0.5 * v[i, d] * v[i, d] / inverse_mass[i]
    return made, net, largest, energy
