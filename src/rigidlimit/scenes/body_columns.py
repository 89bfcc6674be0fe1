"""The data of a scene's bodies, one row a body, which grow as bodies are added."""

from collections.abc import Sequence

import numpy as np

from ..bodies import HalfSpace, Material, Shape, rotations

COLUMNS = {
    "position": (float, 3), "quaternion": (float, 4), "velocity": (float, 6), "load": (float, 6),
    "shape_of": (int,), "material_of": (int,), "mass": (float,), "free": (bool, 6),
}  # fmt: skip
"""What a scene keeps of each body: type, and shape of a row."""

PIECES = 1000
"""Arrays of which a column may consist before they are joined, and as many as it has rows."""


class BodyColumns:
    """Columns by name: those of ``COLUMNS``, and inertia (n, 3, 3)."""

    def __init__(self, columns: dict[str, np.ndarray] | None = None):
        self.pieces: dict[str, list[np.ndarray]] = {
            name: [values] for name, values in (columns or {}).items()
        }

    def __getitem__(self, name: str) -> np.ndarray:
        """One row a body; what is kept itself, so a copy for who may change it."""
        if len(self.pieces[name]) > 1:
            self._join(name)
        return self.pieces[name][0]

    def append(self, rows: dict[str, np.ndarray]) -> None:
        """Adds rows of several bodies to every column."""
        for name, values in rows.items():
            pieces = self.pieces.setdefault(name, [])
            pieces.append(values)
            # bodies added one by one: a small array each takes ten times the room of its numbers
            if len(pieces) > max(PIECES, len(pieces[0])):
                self._join(name)

    def _join(self, name: str) -> None:
        self.pieces[name] = [np.concatenate(self.pieces[name])]


class DistinctEntries:
    """Distinct shapes or materials, each with its row: equal ones share theirs."""

    def __init__(self, entries: Sequence = ()):
        self.entries, self._rows = list(entries), {}
        for row, entry in enumerate(self.entries):
            self._rows.setdefault(entry, row)

    def __contains__(self, entry: Shape | Material) -> bool:
        return entry in self._rows

    def row(self, entry: Shape | Material) -> int:
        """Row of ``entry``, added if new."""
        row = self._rows.setdefault(entry, len(self.entries))
        if row == len(self.entries):
            self.entries.append(entry)
        return row


def of_each(shapes: Sequence[Shape], name: str) -> np.ndarray:
    """An attribute of each shape, (k, ...)."""
    return np.array([getattr(shape, name) for shape in shapes])


def whole_columns(
    names: Sequence[str],
    shapes: Sequence[Shape],
    materials: Sequence[Material],
    columns: dict[str, np.ndarray],
    dim: int,
) -> dict[str, np.ndarray]:
    """``columns`` of all bodies of a scene at once, checked, with their inertia.

    Raises ValueError or KeyError for columns that are not a scene's.
    """
    n = len(names)
    found = {name: _typed(name, columns[name], n) for name in COLUMNS}
    for name, table in (("shape_of", shapes), ("material_of", materials)):
        if n == 0 or not 0 <= found[name].min() <= found[name].max() < len(table):
            raise ValueError(f"scene/{name} names rows that are not there")
    if len(set(names)) != n or not (found["mass"] >= 0.0).all():
        raise ValueError("scene/names or mass cannot be")
    wrong = rotations.no_rotations(found["quaternion"])
    if len(wrong):
        q = found["quaternion"][wrong[0]].tolist()
        raise ValueError(f"scene/quaternion of body {names[wrong[0]]!r} is {q}, not of unit length")
    if any(shape.dim != dim for shape in shapes):
        raise ValueError(f"scene/shapes are not all of a {dim}D scene")
    endless = np.array([isinstance(shape, HalfSpace) for shape in shapes])[found["shape_of"]]
    if (found["free"].any(axis=1) & (found["mass"] == 0.0)).any():
        raise ValueError("scene/free lets move what has no mass")
    if (found["free"][endless].sum(axis=1) > 1).any():
        raise ValueError("scene/free lets half-spaces move otherwise than along their normals")
    per_mass = of_each(shapes, "inertia_per_mass")[found["shape_of"]]
    found["inertia"] = found["mass"][:, None, None] * per_mass
    return found


def _typed(name: str, values: np.ndarray, n: int) -> np.ndarray:
    """A finite column of the type and shape that ``COLUMNS`` states."""
    kind, *row = COLUMNS[name]
    array = np.asarray(values)
    if array.shape != (n, *row) or array.dtype.kind != np.dtype(kind).kind:
        raise ValueError(f"scene/{name} is {array.dtype} {array.shape}, not {(n, *row)}")
    if not np.isfinite(array).all():
        raise ValueError(f"scene/{name} is not finite")
    return array
