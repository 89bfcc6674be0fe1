"""The matrices in Siconos' text files (NumericsMatrix): dense, in blocks, sparse.

Every matrix begins with its storage form, rows and columns. Then follow

    0  dense: ``rows columns`` once more, the values by columns;
    1  blocks (SparseBlockStructuredMatrix): their number (nothing follows a 0), block rows and
       block columns, the ends of both, lengths of the two lists that follow: first block of each
       block row, block column of each block; then for each block its number and its values by
       columns;
    2  sparse: its origin (1 triplets, 2 compressed columns, 3 compressed rows, 4 triplets of one
       half of a symmetric matrix) and CSparse's print of it, in six digits.
"""

import re
from collections.abc import Iterable

import numpy as np
import scipy.sparse as sp

DENSE, BLOCKS, SPARSE = 0, 1, 2
FORMS = {"dense": DENSE, "blocks": BLOCKS, "sparse": SPARSE}

ROWS, HALF = 3, 4
"""Origins of a sparse matrix: compressed rows, triplets of one half."""

PRINTED = 6
"""Digits of CSparse's print; the last one is off by half a unit at most."""


class Words:
    """The words of a text file, taken one after the other; ValueError names what is amiss."""

    def __init__(self, text: str):
        self._words = text.split()
        self._next = 0

    @property
    def left(self) -> int:
        return len(self._words) - self._next

    def ahead(self, count: int) -> list[str]:
        """The next words, not taken."""
        return self._words[self._next : self._next + count]

    def take(self, count: int, what: str) -> list[str]:
        if count > self.left:
            raise ValueError(f"it ends too early: {what} takes {count}, {self.left} are left")
        words = self.ahead(count)
        self._next += count
        return words

    def numbers(self, count: int, what: str) -> np.ndarray:
        return _numbers(self.take(count, what), what)

    def integers(self, count: int, what: str) -> np.ndarray:
        """Whole numbers >= 0."""
        return np.array([_index(word, what) for word in self.take(count, what)], np.int64)

    def integer(self, what: str) -> int:
        return int(self.integers(1, what)[0])

    def until(self, pattern: str, what: str) -> re.Match:
        """Skip words up to one that matches, and take it."""
        for word in self._words[self._next :]:
            self._next += 1
            if match := re.fullmatch(pattern, word):
                return match
        raise ValueError(f"it ends too early: {what} was expected")


def _index(word, what):
    if not word.isdecimal() or len(word) > 15:
        raise ValueError(f"{what}: {word!r} found where a whole number was expected")
    return int(word)


def _numbers(words, what):
    try:
        return np.array(words, dtype=float)
    except ValueError as error:
        raise ValueError(f"{what}: {error}") from None


def read_matrix(words: Words, name: str) -> tuple[sp.csr_array, float]:
    """(matrix, relative rounding of its entries); ValueError if it is damaged."""
    form, rows, columns = (int(k) for k in words.integers(3, f"the header of {name}"))
    if form == DENSE:
        again = [int(k) for k in words.integers(2, f"the sizes of {name}")]
        if again != [rows, columns]:
            raise ValueError(
                f"{name} is dense of {rows} rows and {columns} columns, then {again[0]} "
                f"{again[1]} follows; expected `{rows} {columns}` once more before the values"
            )
        values = words.numbers(rows * columns, f"the values of {name}")
        return sp.csr_array(values.reshape(columns, rows).T), 0.0
    if form == BLOCKS:
        return _read_blocks(words, name, rows, columns), 0.0
    if form == SPARSE:
        return _read_sparse(words, name, rows, columns)
    raise ValueError(f"{name} is in form {form}; expected 0 (dense), 1 (blocks) or 2 (sparse)")


def _read_blocks(words, name, rows, columns):
    count = words.integer(f"the number of blocks of {name}")
    if count == 0:
        return sp.csr_array((rows, columns))
    shape = words.integers(2, f"the block rows and columns of {name}")
    ends = [words.integers(k, f"the ends of blocks of {name}") for k in shape]
    for each, size in zip(ends, (rows, columns), strict=True):
        if len(each) == 0 or (np.diff(each, prepend=0) <= 0).any() or each[-1] != size:
            raise ValueError(f"the blocks of {name} do not divide {size} rows or columns")
    places = _places(words, name, count, *map(len, ends))
    entries = [], [], []
    for b, place in enumerate(zip(*places, strict=True)):
        number = words.integer(f"the number of a block of {name}")
        if number != b:
            raise ValueError(f"block {number} of {name} found where block {b} was expected")
        i, j = (
            np.arange(each[k - 1] if k else 0, each[k]) for k, each in zip(place, ends, strict=True)
        )
        entries[0].append(words.numbers(len(i) * len(j), f"block {b} of {name}"))
        entries[1].append(np.tile(i, len(j)))
        entries[2].append(np.repeat(j, len(i)))
    values, i, j = (np.concatenate(part) for part in entries)
    return sp.csr_array(sp.coo_array((values, (i, j)), shape=(rows, columns)))


def _places(words, name, count, rows, columns):
    """Block row and block column of each block, (count,) each."""
    lengths = words.integers(2, f"the lists of blocks of {name}")
    first, column = (words.integers(k, f"the list of blocks of {name}") for k in lengths)
    if len(first) == 0 or first[0] != 0 or first[-1] != count or (np.diff(first) < 0).any():
        raise ValueError(f"the block rows of {name} do not begin at growing numbers up to {count}")
    if len(first) > rows + 1 or len(column) != count or column.max() >= columns:
        raise ValueError(f"the list of {count} blocks of {name} does not fit its rows and columns")
    return np.repeat(np.arange(len(first) - 1), np.diff(first)), column


def _read_sparse(words, name, rows, columns):
    origin = words.integer(f"the origin of {name}")
    what = f"CSparse's header of {name}"
    sizes = words.until(r"(\d+)-by-(\d+),", what)
    if (int(sizes[1]), int(sizes[2])) != (rows, columns):
        raise ValueError(f"{name} has {rows} rows and {columns} columns, then {sizes[0]} follows")
    words.until("nnz:", what)
    count = int(words.until(r"(\d+),?", what)[1])
    if words.ahead(1) == ["1-norm:"]:
        i, j, printed = _read_compressed(words, name, columns, count)
        if origin == ROWS:
            i, j = j, i
    else:
        i, j = np.zeros((2, count), np.int64)
        printed = []
        for k in range(count):
            i[k], j[k] = words.integers(2, f"entry {k} of {name}")
            printed += words.take(2, f"entry {k} of {name}")[1:]
    if count and (i.max() >= rows or j.max() >= columns):
        raise ValueError(f"{name} has an entry beyond its {rows} rows and {columns} columns")
    values = _numbers(printed, f"the values of {name}")
    if origin == HALF:
        other = i != j
        i, j = np.concatenate([i, j[other]]), np.concatenate([j, i[other]])
        values = np.concatenate([values, values[other]])
    return sp.csr_array(sp.coo_array((values, (i, j)), shape=(rows, columns))), _rounding(printed)


def _read_compressed(words, name, columns, count):
    """Rows, columns and printed values of a matrix in compressed columns."""
    words.take(2, f"the norm of {name}")
    i, j, printed = np.zeros(count, np.int64), np.zeros(count, np.int64), []
    for column in range(columns):
        what = f"column {column} of {name}"
        head = words.take(7, what)  # col 0 : locations 0 to 1
        place = len(printed)
        if head[1] != str(column) or head[4] != str(place) or not head[6].lstrip("-").isdecimal():
            raise ValueError(f"{' '.join(head)!r} found where {what} from {place} on was expected")
        end = int(head[6]) + 1
        if not place <= end <= count:
            raise ValueError(f"{what} ends at {end - 1}; expected at most {count - 1}")
        entries = words.take(3 * (end - place), what)
        i[place:end] = [_index(word, what) for word in entries[::3]]
        j[place:end] = column
        printed += entries[2::3]
    if len(printed) != count:
        raise ValueError(f"{name} has {len(printed)} entries; expected {count}")
    return i, j, printed


def _rounding(values):
    """Half a unit in the last place where all of CSparse's digits were needed, else 0."""
    digits = (re.sub(r"[eE].*|\D", "", word).lstrip("0") for word in values)
    return 0.5 * 10.0 ** (1 - PRINTED) if max(map(len, digits), default=0) == PRINTED else 0.0


def write_matrix(
    matrix: sp.sparray, storage: str, row_ends: np.ndarray, column_ends: np.ndarray
) -> list[str]:
    """Lines of a matrix in one of FORMS; row_ends, column_ends: of its blocks."""
    matrix = sp.csr_array(matrix)
    rows, columns = matrix.shape
    head = [f"{FORMS[storage]}", f"{rows}", f"{columns}"]
    if storage == "dense":
        return [*head, f"{rows}\t{columns}", *numbers(matrix.toarray().ravel(order="F"))]
    if storage == "blocks":
        return head + _block_lines(matrix, row_ends, column_ends)
    matrix = matrix.tocoo()
    size = f"triplet: {rows}-by-{columns}, nzmax: {matrix.nnz} nnz: {matrix.nnz}"
    entries = zip(matrix.row, matrix.col, numbers(matrix.data), strict=True)
    return [*head, "1", "CSparse", size, *(f"    {i} {j} : {v}" for i, j, v in entries)]


def numbers(values: Iterable[float]) -> list[str]:
    """Values in the 17 digits that give them back."""
    return [f"{v:.17g}" for v in values]


def _block_lines(matrix, row_ends, column_ends):
    entries = matrix.tocoo()
    row_block = np.searchsorted(row_ends, entries.row, side="right")
    column_block = np.searchsorted(column_ends, entries.col, side="right")
    row, column = np.divmod(
        np.unique(row_block * len(column_ends) + column_block), len(column_ends)
    )
    if not len(row):
        return ["0"]
    first = np.searchsorted(row, np.arange(len(row_ends) + 1))
    lines = [f"{len(row)}", f"{len(row_ends)}", f"{len(column_ends)}"]
    lines += [_line(row_ends), _line(column_ends), f"{len(first)}", f"{len(column)}"]
    lines += [_line(first), _line(column)]
    row_starts, column_starts = (np.concatenate([[0], e]) for e in (row_ends, column_ends))
    for b, (i, j) in enumerate(zip(row, column, strict=True)):
        block = matrix[row_starts[i] : row_ends[i]][:, column_starts[j] : column_ends[j]]
        lines += [f"{b}", *numbers(block.toarray().ravel(order="F"))]
    return lines


def _line(whole):
    return "\t".join(map(str, whole))
