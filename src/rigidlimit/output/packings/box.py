"""The box that LAMMPS is told of: the periodic cell, else the walls, else what holds all balls."""

from dataclasses import dataclass

import numpy as np

from ...bodies import rotations
from ...errors import InputError
from ..frames import Frame

ALONG = 1e-12
"""Component of a wall's normal across an axis up to which it is one of the box."""


@dataclass(frozen=True)
class LammpsBox:
    """low, high (3,) [m]; tilt factors (3,) xy, xz, yz [m]; periodic (3,) bool."""

    low: np.ndarray
    high: np.ndarray
    tilts: np.ndarray
    periodic: np.ndarray

    @property
    def of_dump(self) -> str:
        """Lines of a dump; of tilted boxes the bounds are those of the box around it."""
        flags = " ".join("pp" if p else "ff" for p in self.periodic)
        low, high = self.low.copy(), self.high.copy()
        xy, xz, yz = self.tilts.tolist()
        rows = [[], [], []]
        if self.tilts.any():
            along = (0.0, xy, xz, xy + xz)
            low[:2] += min(along), min(0.0, yz)
            high[:2] += max(along), max(0.0, yz)
            rows, flags = [[xy], [xz], [yz]], f"xy xz yz {flags}"
        lines = [
            " ".join(map(repr, (a, b, *row)))
            for a, b, row in zip(low.tolist(), high.tolist(), rows, strict=True)
        ]
        return f"ITEM: BOX BOUNDS {flags}\n" + "\n".join(lines) + "\n"

    @property
    def of_data(self) -> str:
        """Lines of the head of a data file, which does not say what is periodic."""
        lines = [
            f"{a!r} {b!r} {axis}lo {axis}hi\n"
            for a, b, axis in zip(self.low.tolist(), self.high.tolist(), "xyz", strict=True)
        ]
        if self.tilts.any():
            lines.append(" ".join(map(repr, self.tilts.tolist())) + " xy xz yz\n")
        return "".join(lines)


def box_of(shown: Frame, which: np.ndarray) -> LammpsBox:
    """The box of the balls ``which`` (k,): the cell from the origin in periodic directions;
    elsewhere from half-space to half-space along the axes, or to the ends of the balls."""
    low, high = _walls(shown, which)
    tilts, periodic = np.zeros(3), np.zeros(3, bool)
    if shown.cell is not None:
        cell, periodic = shown.cell, shown.bodies.cell.periodic
        if np.triu(cell, 1).any():
            raise InputError(
                f"the cell's vectors are {cell.tolist()}; expected lower triangular ones for "
                "LAMMPS: the first along x, the second in the plane of x and y"
            )
        low[periodic], high[periodic] = 0.0, np.diag(cell)[periodic]
        tilts = cell[[1, 2, 2], [0, 0, 1]]
    return LammpsBox(low, high, tilts, periodic)


def _walls(shown: Frame, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(lower, upper) corner (3,) [m]: half-spaces along the axes, where they hold all centres, else
    the smallest box of the balls."""
    radius = shown.bodies.bounding_radius[which][:, None]
    place = shown.position[which]
    low, high = (place - radius).min(axis=0), (place + radius).max(axis=0)
    inside = place.min(axis=0), place.max(axis=0)
    normals = np.zeros((len(shown.bodies), 3))
    walls = np.flatnonzero(shown.half_space)
    for body in walls:
        turn = rotations.matrix(shown.quaternion[body])
        local = np.zeros(3)
        given = shown.bodies.shape(body).local_normal
        local[: len(given)] = given
        normals[body] = turn @ local
    for axis in range(3):
        for body in walls:
            towards, at = normals[body, axis], shown.position[body, axis]
            if towards > 1 - ALONG and at <= inside[0][axis]:
                low[axis] = at
            elif towards < ALONG - 1 and at >= inside[1][axis]:
                high[axis] = at
    return low, high
