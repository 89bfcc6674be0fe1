"""Steps of the penalty method for rough balls, half-spaces and boxes that do not turn.

The lists, leapfrog and cell are those of ``balls.py``, the forces those of ``ball_forces.py``;
beside them there are spins. One thread does all the work.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from .ball_forces import contact_forces
from .ball_records import DONE, STALE, Lists, Pace
from .moving_cell import CellMotion, kick, six, stale, stop, strain_on


class RoughBalls(NamedTuple):
    """motion (n, 8), force (1, n, 4): as in ``balls.py``; turn (n, 4): quaternions; the others as
    of ``rubs`` in ``ball_forces.py``."""

    motion: np.ndarray
    force: np.ndarray
    turn: np.ndarray
    spin: np.ndarray
    radius: np.ndarray
    moment: np.ndarray
    rough: np.ndarray
    spring: np.ndarray
    factor: float
    keeps_force: bool


class Inertia(NamedTuple):
    """Each (n, 6), zero where held: inverse: 1/m and 1/I; push: accelerations by loads, rate
    [m/s^3]: by which they move on; mass: m and I."""

    inverse: np.ndarray
    push: np.ndarray
    rate: np.ndarray
    mass: np.ndarray


@njit(cache=True, error_model="numpy")
def _kick(motion, spin, force, moment, inverse, push, mass, keep, gain):
    """v := keep v + gain a of all free degrees of freedom; returns the sum of m v^2 and I w^2."""
    energy = 0.0
    for i in range(len(mass)):
        for k in range(6):
            if mass[i, k] > 0.0:
                f = force[0, i, k] if k < 3 else moment[i, k - 3]
                a = f * inverse[i, k] + push[i, k]
                v = (motion[i, 3 + k] if k < 3 else spin[i, k - 3]) * keep + gain * a
                energy += mass[i, k] * v * v
                if k < 3:
                    motion[i, 3 + k] = v
                else:
                    spin[i, k - 3] = v
    return energy


@njit(cache=True, error_model="numpy")
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
    law: tuple[float, bool],
    cell: CellMotion,
):
    """Makes the steps of ``pace``; stops where a body has moved by more than ``reach``.

    law: exponent, and whether damping may pull. Returns (steps made, DONE or STALE).
    """
    motion, force, turn, spin, radius, moment, rough, spring, factor, keeps_force = balls
    inverse, push, rate, mass = inertia
    steps, h, alpha, quench = pace
    rubs = spin, radius, moment, rough, spring, factor, keeps_force, h
    strain, flow, strained, in_cell = cell.strain, cell.rate, 0.0, len(cell.strain) > 0
    _kick(motion, spin, force, moment, inverse, push, mass, 1.0, -0.5 * h)
    if in_cell:
        kick(cell, flow, strain, 1.0, -0.5 * h)
    keep, gain = (1 - 0.5 * alpha * h) / (1 + 0.5 * alpha * h), h / (1 + 0.5 * alpha * h)
    before, rising = -1.0, False
    made, code = 0, DONE
    while made < steps:
        push += h * rate
        energy = _kick(motion, spin, force, moment, inverse, push, mass, keep, gain)
        if in_cell:
            energy += kick(cell, flow, strain, keep, gain)
        if quench:
            if rising and energy < before:
                _kick(motion, spin, force, moment, inverse, push, mass, 0.0, 0.0)
                if in_cell:
                    stop(cell, flow)
                energy, rising = 0.0, False
            else:
                rising = energy > before
            before = energy
        far = _drift(motion, spin, turn, h, strain)
        if in_cell:
            strained = strain_on(flow, strain, h)
        contact_forces(motion, force, lists, law, cell, rubs, None)
        made += 1
        if stale(far, strained, reach, cell.span):
            code = STALE
            break
    _kick(motion, spin, force, moment, inverse, push, mass, 1.0, 0.5 * h)
    if in_cell:
        kick(cell, flow, strain, 1.0, 0.5 * h)
    return made, code
