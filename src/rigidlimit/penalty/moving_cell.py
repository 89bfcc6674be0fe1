"""The periodic cell of the penalty method of balls: strained by its rate, moved by its stress.

Since the list of neighbours was built the cell has been strained by F = I + E, and the branch
vector from ball i to the image of ball j that it may touch is

    d = F (d_0 + u_j - u_i),

u the travel in the axes of that moment: images need no care in a step. With the velocities v of
``bodies/cell.py`` and the leapfrog of ``balls.py``

    u += h F^-1 v,    E += h L F,    I dL_ab/dt = sum f_a d_b - V sigma_ab,    V = V_0 det F,

I the cell's inertia. E and L are upper triangular, as six numbers in the order of ``COMPONENTS``.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from .._support.compiled import INNER
from ..bodies import Bodies, State
from ..bodies.cell import FIRST, SECOND, velocity_gradient, volume_of
from ..collision.contacts import Contacts


class CellMotion(NamedTuple):
    """strain, rate (6,): E and L [1/s]; mass (6,) [kg m^2]: I, 0 of a component whose strain is
    prescribed; stress (6,), and volume (1,), V_0; sums (parts, 6) [N m]: sum f_a d_b of each part
    of the pairs. span [m]: how far apart the centres of two listed balls may be, at half.
    All empty without a cell."""

    strain: np.ndarray
    rate: np.ndarray
    mass: np.ndarray
    stress: np.ndarray
    volume: np.ndarray
    sums: np.ndarray
    span: float


def no_cell() -> CellMotion:
    """That of a scene without a cell."""
    none = np.zeros(0)
    return CellMotion(none, none, none, none, none, np.zeros((1, 0)), 0.0)


def cell_motion(bodies: Bodies, state: State, parts: int) -> CellMotion:
    """Of the cell of a scene, with the velocities of its last body."""
    if bodies.cell is None:
        return no_cell()
    length = bodies.cell_length
    return CellMotion(
        strain=np.zeros(6),
        rate=state.velocity[-1] / length,
        mass=np.where(bodies.free[-1], bodies.mass[-1] * length**2, 0.0),
        stress=np.zeros(6),
        volume=np.array([volume_of(state.cell)]),
        sums=np.zeros((parts, 6)),
        span=0.0,
    )


def stress_of(bodies: Bodies, external_force: np.ndarray) -> np.ndarray:
    """Stress (6,) that pushes the cell as forces (6 n,) [N] do at the volume that it begins with;
    empty without a cell."""
    if bodies.cell is None:
        return np.zeros(0)
    pushed = np.where(bodies.free[-1], external_force[-6:], 0.0)
    return -pushed * bodies.cell_length / bodies.cell.volume


def deformation(cell: CellMotion) -> np.ndarray:
    """F (3, 3)."""
    return np.eye(3) + velocity_gradient(cell.strain, 1.0)


def imbalance(bodies: Bodies, cell: CellMotion) -> float:
    """Largest force [N] on the area of a body by which the contacts miss the prescribed stress."""
    if not len(cell.strain):
        return 0.0
    found = cell.sums.sum(axis=0) / (cell.volume[0] * np.linalg.det(deformation(cell)))
    off = np.where(cell.mass > 0, found - cell.stress, 0.0)
    return float(np.abs(off).max() * bodies.cell_length ** (bodies.dim - 1))


def columns(listed: Contacts) -> np.ndarray:
    """Columns n_a d_b (m, 6) [m] of the gap gradient that belong to the rates L; where a half-space
    is met they belong to components that are held."""
    return listed.normal[:, FIRST] * listed.branch[:, SECOND]


@njit(cache=True, inline="always")
def six(values: np.ndarray):
    """The six numbers, zeros of an empty array."""
    if len(values) == 0:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    return values[0], values[1], values[2], values[3], values[4], values[5]


@njit(**INNER)
def kick(cell: CellMotion, rate: np.ndarray, strain: np.ndarray, keep: float, gain: float):
    """rate (6,) := keep L + gain dL/dt; returns twice the kinetic energy of the cell [J]."""
    _, _, mass, stress, volume, sums, _ = cell
    energy = 0.0
    now = volume[0] * (1.0 + strain[0]) * (1.0 + strain[1]) * (1.0 + strain[2])
    for k in range(6):
        if mass[k] > 0.0:
            push = -now * stress[k]
            for t in range(len(sums)):
                push += sums[t, k]
            rate[k] = keep * rate[k] + gain * push / mass[k]
            energy += mass[k] * rate[k] * rate[k]
    return energy


@njit(cache=True)
def stop(cell: CellMotion, rate: np.ndarray):
    """No rate where none is prescribed."""
    for k in range(len(cell.mass)):  # none without a cell
        if cell.mass[k] > 0.0:
            rate[k] = 0.0


@njit(**INNER)
def strain_on(rate: np.ndarray, strain: np.ndarray, h: float):
    """E += h L F; returns a bound on |E|."""
    a, b, c, d, e, f = rate[0], rate[1], rate[2], rate[3], rate[4], rate[5]
    x, y, z = 1.0 + strain[0], 1.0 + strain[1], 1.0 + strain[2]
    yz, xz, xy = strain[3], strain[4], strain[5]
    strain[0] += h * a * x
    strain[1] += h * b * y
    strain[2] += h * c * z
    strain[3] += h * (b * yz + d * z)
    strain[4] += h * (a * xz + f * yz + e * z)
    strain[5] += h * (a * xy + f * y)
    square = 0.0
    for k in range(6):
        square += strain[k] * strain[k]
    return np.sqrt(square)


@njit(cache=True)
def stale(far: float, strained: float, reach: float, span: float):
    """Whether balls that are not listed may touch: |u|^2 up to ``far``, |E| up to ``strained``."""
    return np.sqrt(far) * (1.0 + strained) + strained * span > reach
