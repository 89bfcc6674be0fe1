"""Balls of legacy VTK files as text, as LIGGGHTS' ``dump custom/vtk`` and its post-processing write
them: points, and by point radius (or diameter), mass, density, type, id, velocity v, spin omega.
"""

from collections.abc import Iterator

import numpy as np

from ...errors import InputError
from .balls import Balls
from .lines import Text, is_number, number

HEAD = "# vtk DataFile"
DATA = ("POINT_DATA", "CELL_DATA")
VECTORS = {"velocity": ("v", "velocity"), "spin": ("omega", "angular_velocity")}


def begins_vtk(text: Text) -> bool:
    return bool(text.lines) and text.lines[0].startswith(HEAD)


def read_vtk(text: Text) -> Balls:
    """The balls of the file. Raises InputError, with the line."""
    if "ASCII" not in (line.strip().upper() for line in text.lines[:4]):
        raise InputError(f"{text.path}: a binary VTK file; expected one as text (ASCII)")
    words = _Words(text)
    points, column = None, {}
    for word in words:
        if word == "POINTS":
            points = words.numbers(3 * words.count(), skip=1).reshape(-1, 3)
        elif word in DATA:
            count = words.count()
            if word == "POINT_DATA":
                column = _columns(words, count)
            break
    if points is None:
        raise InputError(f"{text.path}: no POINTS; expected a legacy VTK file of particles")
    return _balls(text, points, column)


class _Words:
    """The words of the file one after the other, with the line that each stands in."""

    def __init__(self, text: Text):
        self.text = text
        self.all = [
            (word, k) for k, line in enumerate(text.lines[3:], start=3) for word in line.split()
        ]
        self.at = 0

    def __iter__(self) -> Iterator[str]:
        while self.at < len(self.all):
            self.at += 1
            yield self.all[self.at - 1][0]

    def wrong(self, expected: str) -> InputError:
        line = self.all[min(self.at, len(self.all) - 1)][1]
        return self.text.wrong(line, expected)

    def word(self) -> str:
        if self.at >= len(self.all):
            raise self.wrong("more data")
        self.at += 1
        return self.all[self.at - 1][0]

    def peek(self) -> str:
        return self.all[self.at][0] if self.at < len(self.all) else ""

    def count(self) -> int:
        word = self.word()
        if not word.isdigit():
            raise self.wrong("a count")
        return int(word)

    def numbers(self, count: int, *, skip: int = 0) -> np.ndarray:
        """``count`` numbers after so many words (the type)."""
        self.at += skip
        values = np.array([number(word) for word, _ in self.all[self.at : self.at + count]])
        if len(values) < count or not np.isfinite(values).all():
            raise self.wrong(f"{count} numbers")
        self.at += count
        return values


def _columns(words: _Words, count: int) -> dict[str, np.ndarray]:
    """Data by point, name -> (count,) or (count, k)."""
    column = {}
    for word in words:
        if word == "SCALARS":
            name, parts = words.word(), 1
            words.word()
            if words.peek().isdigit():
                parts = words.count()
            if words.peek() == "LOOKUP_TABLE":
                words.at += 2
            column[name] = words.numbers(count * parts).reshape(count, parts)
        elif word == "VECTORS":
            name = words.word()
            column[name] = words.numbers(3 * count, skip=1).reshape(count, 3)
        elif word == "FIELD":
            words.word()
            for _ in range(words.count()):
                name, parts, rows = words.word(), words.count(), words.count()
                column[name] = words.numbers(parts * rows, skip=1).reshape(rows, parts)
        elif word in DATA:
            break
        elif is_number(word):
            raise words.wrong("SCALARS, VECTORS or FIELD")
    return {name: values for name, values in column.items() if len(values) == count}


def _balls(text: Text, points: np.ndarray, column: dict[str, np.ndarray]) -> Balls:
    one = {name: values[:, 0] for name, values in column.items() if values.shape[1] == 1}
    found = {
        what: next((column[n] for n in names if n in column and column[n].shape[1] == 3), None)
        for what, names in VECTORS.items()
    }
    return Balls.of_columns(text, [0] * len(points), one, position=points, **found).sorted()
