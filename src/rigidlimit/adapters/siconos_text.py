"""Siconos' text form of a captured local problem: dimension, contacts, W, q, mu.

W follows as storage form, rows, columns and values: form 0 dense by columns, form 1 in square
blocks by rows (SparseBlockStructuredMatrix), the blocks dense by columns.
"""

from pathlib import Path

import numpy as np
import scipy.sparse as sp

from .. import atomic
from ..errors import InputError, OutputError
from .fclib import CapturedProblem, check_file, checked


def read_text(path) -> CapturedProblem:
    """Read Siconos' text form of a local problem."""
    path = Path(path)
    check_file(path)
    words = iter(path.read_text().split())
    try:
        dim, contacts, storage = [int(next(words)) for _ in range(3)]
        rows, columns = int(next(words)), int(next(words))
        if storage == 0:
            values = np.array([float(next(words)) for _ in range(rows * columns)])
            W = sp.csr_array(values.reshape(columns, rows).T)
        elif storage == 1:
            W = _blocks(words, rows, columns)
        else:
            raise OutputError(
                f"{path} stores W in form {storage}; expected 0 (dense) or 1 (blocks)"
            )
        q = np.array([float(next(words)) for _ in range(dim * contacts)])
        mu = np.array([float(next(words)) for _ in range(contacts)])
    except StopIteration:
        raise OutputError(f"{path} ends too early for a problem in Siconos' text form") from None
    except (ValueError, IndexError) as error:
        raise OutputError(f"{path} is not in Siconos' text form: {error}") from error
    return checked(CapturedProblem("local", dim, mu, W=W, q=q, title=path.name), path)


def _blocks(words, rows, columns):
    """SparseBlockStructuredMatrix: sizes, block rows (CSR), then dense blocks by columns."""
    count, block_rows, block_columns = [int(next(words)) for _ in range(3)]
    ends = [np.array([int(next(words)) for _ in range(k)]) for k in (block_rows, block_columns)]
    starts = [np.concatenate([[0], e]) for e in ends]
    filled, indices = int(next(words)), int(next(words))
    first = [int(next(words)) for _ in range(filled)]
    column_of = [int(next(words)) for _ in range(indices)]
    out_rows, out_columns, data = [], [], []
    row_of = np.searchsorted(first, np.arange(count), side="right") - 1
    for b in range(count):
        if int(next(words)) != b:
            raise ValueError(f"block {b} expected")
        r, c = row_of[b], column_of[b]
        i = np.arange(starts[0][r], starts[0][r + 1])
        j = np.arange(starts[1][c], starts[1][c + 1])
        values = np.array([float(next(words)) for _ in range(len(i) * len(j))])
        out_rows.append(np.tile(i, len(j)))
        out_columns.append(np.repeat(j, len(i)))
        data.append(values)
    entries = (np.concatenate(data), (np.concatenate(out_rows), np.concatenate(out_columns)))
    return sp.csr_array(sp.coo_array(entries, shape=(rows, columns)))


def write_text(captured: CapturedProblem, path, *, storage: str = "blocks") -> None:
    """Write Siconos' text form. storage: "dense" or "blocks" (one for every pair of contacts)."""
    if captured.kind != "local":
        raise InputError(
            "the text form holds local problems {W, q, mu} only; write a global one with "
            "write_fclib"
        )
    if storage not in ("dense", "blocks"):
        raise InputError(f"storage is {storage!r}; expected 'dense' or 'blocks'")
    dim, contacts = captured.dim, captured.contacts
    rows = dim * contacts
    form = 0 if storage == "dense" else 1
    lines = [f"{dim}", f"{contacts}", f"{form}", f"{rows}", f"{rows}"]
    if storage == "dense":
        lines += _numbers(captured.W.toarray().ravel(order="F"))
    else:
        lines += _block_lines(captured.W, dim, contacts)
    lines += _numbers(captured.q) + _numbers(captured.mu)
    atomic.write_text(path, "\n".join(lines) + "\n")


def _numbers(values):
    return [f"{v:.17g}" for v in values]


def _block_lines(W, dim, contacts):
    blocks = sp.bsr_array(sp.csr_array(W), blocksize=(dim, dim))
    blocks.sort_indices()
    ends = " ".join(str(dim * (k + 1)) for k in range(contacts))
    count = len(blocks.indices)
    lines = [f"{count}", f"{contacts}", f"{contacts}", ends, ends, f"{contacts + 1}", f"{count}"]
    lines += [" ".join(map(str, blocks.indptr)), " ".join(map(str, blocks.indices))]
    for number, block in enumerate(blocks.data):
        lines += [f"{number}", *_numbers(block.ravel(order="F"))]
    return lines
