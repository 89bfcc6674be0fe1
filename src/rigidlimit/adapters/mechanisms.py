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
    entries = sp.coo_array(A)
    place = np.full(len(mechanism), -1)
    for members in columns.values():
        place[members] = np.arange(len(members))
    use = np.flatnonzero((place[entries.col] >= 0) & (entries.data != 0.0))
    row, column, value = entries.row[use], entries.col[use], entries.data[use]
    value = value / reach[column]
    found = {}
    for label, part in groups(mechanism[column]).items():
        rows, r = np.unique(row[part], return_inverse=True)
        dense = np.zeros((len(rows), len(columns[label])))
        np.add.at(dense, (r, place[column[part]]), value[part])
        found[label] = rows, dense
    return found


def tall(A):
    """With rows of zeros, if it has fewer rows than columns: for all its singular motions."""
    return np.vstack([A, np.zeros((max(A.shape[1] - A.shape[0], 0), A.shape[1]))])


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
