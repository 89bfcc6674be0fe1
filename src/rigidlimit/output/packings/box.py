"""The simulation box for LAMMPS: the periodic cell, else the walls, else the bounding box."""

from dataclasses import dataclass

import numpy as np

from ...bodies import rotations
from ...errors import InputError
from ...step.force_network import ForceNetwork
from ..measures.selection import in_cell

ALONG = 1e-12
"""Largest component of a wall's normal across an axis at which it is a side of the box."""

MARGIN = 1e-9
"""Of a side of the cell: least distance of centres from a face that they do not cross."""


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


def within_one_cell(shown: ForceNetwork) -> ForceNetwork:
    """The same moment with all bodies within one cell: as they stand where there is one around
    them, from whatever corner, else put back into that from the origin."""
    if shown.cell is None:
        return shown
    return in_cell(shown) if _corner(shown) is None else shown


def _corner(shown: ForceNetwork) -> np.ndarray | None:
    """Lower corner (3,) [m] of a cell that holds all centres as they stand; None if none does.

    The origin if that does. Else few digits of each side from there, so that centres are not moved
    and upper less lower corner is the side to its last digit.
    """
    cell, periodic = shown.cell, shown.bodies.cell.periodic
    whole = ~shown.half_space
    whole[-1] = False  # the cell
    part = shown.position[whole] @ np.linalg.inv(cell)
    low, high = part.min(axis=0), part.max(axis=0)
    first = np.zeros(3)
    for k in np.flatnonzero(periodic & ((low < 0.0) | (high >= 1.0))):
        least, most = high[k] - 1.0 + MARGIN, low[k] - MARGIN
        if least >= most:
            return None
        step = 1.0
        while np.floor(most / step) * step < least:
            step /= 2.0
        first[k] = np.floor(most / step) * step
    sides = np.diag(cell)
    return (first @ cell + sides) - sides if first.any() else first


def box_of(shown: ForceNetwork, which: np.ndarray) -> LammpsBox:
    """The box of the balls ``which`` (k,), within one cell: this in periodic directions, elsewhere
    from half-space to half-space along the axes, or to the ends of the balls."""
    low, high = _walls(shown, which)
    tilts, periodic = np.zeros(3), np.zeros(3, bool)
    if shown.cell is not None:
        cell, periodic = shown.cell, shown.bodies.cell.periodic
        if np.triu(cell, 1).any():
            raise InputError(
                f"the cell's vectors are {cell.tolist()}; expected lower triangular ones for "
                "LAMMPS: the first along x, the second in the plane of x and y"
            )
        corner = _corner(shown)
        low[periodic], high[periodic] = corner[periodic], (corner + np.diag(cell))[periodic]
        tilts = cell[[1, 2, 2], [0, 0, 1]]
    return LammpsBox(low, high, tilts, periodic)


def _walls(shown: ForceNetwork, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
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
