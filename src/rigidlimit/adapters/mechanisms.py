"""The columns of B body by body, or mechanism by mechanism: their dense blocks, and new motions."""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

ROUNDING = 1e-13
"""What counts as zero exactly, relative, when motions and their loads are looked at."""


def groups(label):
    """Indices of every value of ``label``."""
    order = np.argsort(label, kind="stable")
    ends = np.flatnonzero(np.diff(label[order])) + 1
    return {label[part[0]]: part for part in np.split(order, ends) if len(part)}


def components(A, use, label):
    """(labels,): number of the set of labels (n,) that rows of A (m, n) join through the columns
    ``use`` (n,) bool."""
    entries = sp.coo_array(A)
    picked = np.flatnonzero(use[entries.col] & (entries.data != 0.0))
    count = int(label.max(initial=-1)) + 1
    nodes = count + A.shape[0]
    place = label[entries.col[picked]], count + entries.row[picked]
    graph = sp.csr_array((np.ones(len(picked)), place), shape=(nodes, nodes))
    return connected_components(graph, directed=False)[1][:count]


def free_columns(mechanism, held):
    """Columns of every mechanism that are not held."""
    free = np.flatnonzero(~held)
    return {label: free[part] for label, part in groups(mechanism[free]).items()}


def blocks(A, mechanism, columns, reach):
    """Of every mechanism that ``A`` touches: its rows, and its part of A over ``reach``, dense,
    (rows, columns); columns: those of each, as ``free_columns`` has them."""
    entries = sp.csr_array(A)
    if not entries.has_canonical_format:
        entries = entries.copy()
        entries.sum_duplicates()
    entries = entries.tocoo()
    place = np.full(len(mechanism), -1)
    for members in columns.values():
        place[members] = np.arange(len(members))
    use = np.flatnonzero((place[entries.col] >= 0) & (entries.data != 0.0))
    row, column, label = entries.row[use], entries.col[use], mechanism[entries.col[use]]
    value = entries.data[use] / reach[column]
    order = np.lexsort((row, label))
    row, column, value, label = row[order], place[column[order]], value[order], label[order]
    begins = np.ones(len(label), bool)
    begins[1:] = label[1:] != label[:-1]
    # of each pair of label and row the first, and how many of them came before in all
    first = begins.copy()
    first[1:] |= row[1:] != row[:-1]
    number = np.cumsum(first) - 1
    starts = np.flatnonzero(begins)
    found = {}
    for start, end in zip(starts, np.append(starts, len(label))[1:], strict=True):
        part = slice(start, end)
        rows = row[part][first[part]]
        dense = np.zeros((len(rows), len(columns[label[start]])))
        dense[number[part] - number[start], column[part]] = value[part]
        found[label[start]] = rows, dense
    return found


def tall(A):
    """With rows of zeros, if it has fewer rows than columns: for all its singular motions."""
    return np.vstack([A, np.zeros((max(A.shape[1] - A.shape[0], 0), A.shape[1]))])


def decomposed(matrices):
    """U (rows, c), S (c,) and V (c, c) of each matrix (rows, c), with all its singular motions.
    Rows of zeros make matrices of about one size, which are done at once: of a pile's many bodies
    each took longer to begin with than to do."""
    found = [None] * len(matrices)
    shape = [A.shape for A in matrices]
    like = {}
    for i, (rows, c) in enumerate(shape):
        like.setdefault((c, 1 << (max(rows, c, 1) - 1).bit_length()), []).append(i)
    for (c, most), members in like.items():
        stack = np.zeros((len(members), most, c))
        for place, i in enumerate(members):
            stack[place, : shape[i][0]] = matrices[i]
        U, S, V = np.linalg.svd(stack, full_matrices=False)
        for place, i in enumerate(members):
            found[i] = U[place, : shape[i][0]], S[place], V[place]
    return found


def leave_nothing(dense, motions):
    """Whether ``motions`` (c, k) move only columns of ``dense`` (rows, c) that are zero. Of all
    others something is left, if only 1e-17, and that is an equation of balance like any other."""
    pushed = np.abs(dense).max(axis=0, initial=0.0) > 0.0
    return np.abs(motions[pushed]).max(initial=0.0) <= ROUNDING


def in_motions(B, load, turned, gone, unloaded):
    """B and load in other motions; motions (n, n), the identity but for the blocks ``turned``,
    (columns, basis) each. gone: lists of columns whose B is left out, unloaded: whose load is."""
    n = B.shape[1]
    same, heard, carried = np.ones(n, bool), np.ones(n), np.ones(n)
    row, column, value = [], [], []
    for columns, basis in turned:
        same[columns] = False
        row.append(np.repeat(columns, len(columns)))
        column.append(np.tile(columns, len(columns)))
        value.append(basis.ravel())
    rest = np.flatnonzero(same)
    entries = (
        np.concatenate([np.ones(len(rest)), *value]),
        (np.concatenate([rest, *row]), np.concatenate([rest, *column])),
    )
    motions = sp.csr_array(entries, shape=(n, n))
    heard[np.concatenate(gone)] = 0.0
    # a load that is not small stays, and is then said not to be carried
    carried[np.concatenate(unloaded)] = 0.0
    B = sp.csr_array(B @ motions)
    B.data *= heard[B.indices]
    B.eliminate_zeros()
    return B, carried * (motions.T @ load), motions, ~same
