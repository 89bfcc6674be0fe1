"""Lines of text files of packings, plain or gzip, and tables of numbers in them.

What does not fit is one InputError that names file and line, what stands there and what was
expected.
"""

import gzip
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..._support.words import counted
from ...errors import InputError, SceneError

GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class Text:
    """The lines of a file, ``lines[0]`` being line 1."""

    path: Path
    lines: list[str]

    def number(self, line: int) -> int:
        """The number in the file, from 1, of line ``line`` (from 0)."""
        return line + 1

    def wrong(self, line: int, expected: str) -> InputError:
        """What to raise for line ``line`` (from 0)."""
        found = repr(self.lines[line].strip()[:60]) if line < len(self.lines) else "the end"
        return InputError(
            f"{self.path}, line {self.number(line)}: found {found}; expected {expected}"
        )

    def numbers(self, line: int, count: int, expected: str, kind: type = float) -> list:
        """The first ``count`` words of a line as finite numbers."""
        words = self.lines[line].split() if line < len(self.lines) else []
        try:
            values = [kind(word) for word in words[:count]]
        except ValueError:
            values = []
        if len(values) < count or not np.isfinite(values).all():
            raise self.wrong(line, expected)
        return values

    def whole(self, lines: Sequence[int], name: str, values: np.ndarray) -> np.ndarray:
        """The values of a column, which stand in these lines, as whole numbers."""
        wrong = values != np.rint(values)
        if wrong.any():
            raise self.wrong(lines[int(np.argmax(wrong))], f"a whole number for {name}")
        return values.astype(int)

    def snapshot(self, found: list, frame: int):
        """The snapshot of this number (-1: the last) of those that were found."""
        try:
            return found[frame]
        except IndexError:
            raise InputError(
                f"{self.path}: has {counted(len(found), 'snapshot')}; snapshot {frame} is not there"
            ) from None

    def table(
        self,
        first: int,
        count: int,
        names: Sequence[str],
        *,
        keep: Sequence[int] | None = None,
        more: Sequence[int] = (),
    ) -> np.ndarray:
        """Numbers of ``count`` lines from ``first`` on, (count, k), of words with these names.

        keep (k,): which of them, by default all. more: numbers of words beyond these that a line
        may have as well, which are left out.
        """
        keep = list(range(len(names)) if keep is None else keep)
        expected = f"{counted(len(names), 'word')}: {' '.join(names)}"
        block = self.lines[first : first + count]
        if len(block) < count:
            raise self.wrong(first + len(block), f"{counted(count, 'line')} of {expected}")
        widths = {len(names) + k for k in (0, *more)}
        for k, line in enumerate(block):
            if len(line.split()) not in widths:
                raise self.wrong(first + k, expected)
        if not count:
            return np.zeros((0, len(keep)))
        try:
            values = np.loadtxt(block, usecols=keep, ndmin=2, comments=None)
        except ValueError:
            values = np.array([[number(line.split()[k]) for k in keep] for line in block])
        finite = np.isfinite(values)
        if not finite.all():
            row, place = np.argwhere(~finite)[0]
            raise self.wrong(first + row, f"a number for {names[keep[place]]}")
        return values


def is_number(word: str) -> bool:
    """Whether ``word`` is a number; "nan" is one."""
    try:
        float(word)
    except ValueError:
        return False
    return True


def number(word: str) -> float:
    """``word`` as a number; nan where it is none."""
    return float(word) if is_number(word) else np.nan


def read_text(path: str | Path) -> Text:
    """The lines of a file; gzip is known by its first bytes."""
    path = Path(path)
    try:
        data = path.read_bytes()
        if data.startswith(GZIP):
            data = gzip.decompress(data)
        return Text(path, data.decode("utf-8-sig").splitlines())
    except (OSError, EOFError, UnicodeDecodeError) as error:
        if isinstance(error, UnicodeDecodeError):
            reason = "it is not text (binary dumps are not read: write them as text)"
        else:
            reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{path}: cannot be read: {reason}") from error


@contextmanager
def named(path: str | Path) -> Iterator[None]:
    """Errors of input with the file in front; those of the scene name its bodies."""
    try:
        yield
    except SceneError:
        raise
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
