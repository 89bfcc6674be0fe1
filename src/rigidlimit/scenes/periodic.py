"""A scene's periodic cell: the cell as the last one of its bodies, its pose, and what pushes it."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from ..bodies import Bodies, HalfSpace, State, rotations
from ..bodies.cell import NAME, Cell, CellFrame
from ..errors import SceneError

ALIKE = 1e-9
"""Component of a half-space's normal along a periodic direction that is rounding."""


def cell_of(cell: Cell | ArrayLike | None, dim: int) -> Cell | None:
    """A ``Cell``, or one of side lengths or vectors [m]; None without one."""
    if cell is None:
        return None
    cell = cell if isinstance(cell, Cell) else Cell(cell)
    if cell.dim != dim:
        raise SceneError(f"the cell is one in {cell.dim}D; expected {dim}D vectors")
    return cell


def check_across(cell: Cell, shape: HalfSpace, quaternion: np.ndarray, name: str) -> None:
    """Raises SceneError for a half-space that is not its own image in all periodic directions."""
    normal = rotations.matrix(quaternion[:1])[0] @ shape.local_normal
    if np.abs(normal[cell.periodic]).max() > ALIKE:
        raise SceneError(
            f"body {name!r} is a half-space with the normal {normal[: cell.dim].tolist()}; the "
            f"cell is periodic in {cell.periodic[: cell.dim].tolist()}: expected a normal without "
            "components in periodic directions"
        )


def with_cell(bodies: Bodies, cell: Cell) -> Bodies:
    """The bodies with a periodic cell as the last of them, or with another cell than they have."""
    n = len(bodies) - (bodies.cell is not None)
    moving = bodies.free[:n].any(axis=1)
    inertia = cell.inertia
    if inertia is None:
        inertia = float(bodies.mass[:n][moving].sum()) * cell.volume ** (2 / cell.dim) / 12
    mass = inertia / bodies.cell_length**2
    frame = CellFrame(cell.dim)
    shapes = bodies.shapes if bodies.cell is not None else (*bodies.shapes, frame)

    def joined(values: np.ndarray, last: ArrayLike) -> np.ndarray:
        return np.concatenate([values[:n], np.asarray(last, values.dtype)[None]])

    return replace(
        bodies,
        names=(*bodies.names[:n], NAME),
        shapes=shapes,
        shape_of=joined(bodies.shape_of, shapes.index(frame)),
        material_of=joined(bodies.material_of, 0),
        mass=joined(bodies.mass, mass),
        inertia=joined(bodies.inertia, mass * np.eye(3)),
        free=joined(bodies.free, cell.free),
        placed=None,
        group=None if bodies.group is None else joined(bodies.group[:n], 0),
        cell=cell,
    )


def state_with_cell(state: State, cell: Cell, length: float) -> State:
    """The state with the rates of strain of the cell, over ``length`` [m], as a last row."""
    rows = np.zeros((1, 3)), rotations.identity(1), cell.row(length)[None]
    columns = state.position, state.quaternion, state.velocity
    joined = (np.concatenate(pair) for pair in zip(columns, rows, strict=True))
    return State(*joined, state.time, cell.vectors.copy())
