"""Numerical rank of a gap gradient B (m, n), dense or large and sparse.

B is split into independent parts (contacts that share no degree of freedom). Small parts: singular
values. Large parts: unconstrained motions, by inverse iteration on random ones
(``null_motions.py``); where those are many, or conjugate gradients do not converge, a multifrontal
QR factorization over a nested dissection of the bodies, with columns whose pivot falls below the
tolerance left out of the basis (M. T. Heath, SIAM J. Sci. Stat. Comput. 3 (1982) 223; T. A. Davis,
ACM TOMS 38 (2011) 8). All three work on B itself: the tolerance is one on B, where B^T B would
square it.

Departures: a front is factorized without pivoting and again with pivoting only where its triangle
is nearly singular; only the triangle is kept, for nothing but the rank is wanted.
"""

from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.linalg.lapack import dtrcon
from scipy.sparse.csgraph import connected_components

from ..linear import body_starts, kept_starts
from .graph_dissection import dissect, members_of
from .null_motions import smallest_singular_values


@dataclass(frozen=True)
class Settings:
    """How ranks are found.

    dense: parts of which the smaller side is at most this get singular values.
    well: reciprocal condition of a front's triangle above which no pivot can be near the tolerance.
    """

    dense: int = 1200
    well: float = 1e-4


SETTINGS = Settings()


@dataclass(frozen=True)
class Rank:
    """rank of B; largest: its largest singular value (an estimate from below if method is "qr").

    near_null: singular values over the largest, ascending, of the parts treated densely, up to
    ``shown`` (structural zeros of a part with m > n or n > m not counted); for large parts the
    smallest ones found by inverse iteration, each from above; for parts treated by QR the small
    pivots found, which are of the size of such singular values. tolerance: relative; values below
    it count as zero. margin: factor between the tolerance and the value nearest to it, inf if
    there is none: a large margin means that the rank does not depend on the tolerance.
    """

    rank: int
    method: str
    tolerance: float
    largest: float
    near_null: np.ndarray
    margin: float


def rank(
    B: sp.csr_array,
    *,
    tolerance: float = 1e-9,
    shown: float = 1e-3,
    blocks: ArrayLike | None = None,
) -> Rank:
    """Rank of B. blocks: first degree of freedom of each body, ending with n (a hint)."""
    B = sp.csr_array(B)
    m, n = B.shape
    if B.nnz == 0:
        return Rank(0, "none needed", tolerance, 0.0, np.zeros(0), np.inf)
    label, count = _parts(B)
    row_part, col_part = label[:m], label[m:]
    rows = members_of(row_part, count)
    cols = members_of(col_part, count)
    largest = _largest_singular_value(B)
    threshold = tolerance * largest
    found, small, methods = 0, [], set()
    for part in range(count):
        r, c = rows[part], cols[part]
        if not len(r) or not len(c):
            continue
        block = B[r] if count > 1 else B
        if min(len(r), len(c)) <= SETTINGS.dense:
            s = scipy.linalg.svd(block[:, c].toarray(), compute_uv=False)
            methods.add("singular values")
            part_rank, values = int((s > threshold).sum()), s
        else:
            part_of = sp.csr_array(block[:, c])
            starts = kept_starts(body_starts(n, blocks), c)
            values = smallest_singular_values(part_of, starts, largest)
            if values is not None and len(r) >= len(c):
                part_rank = len(c) - int((values <= threshold).sum())
                methods.add("inverse iteration")
            else:
                part_rank, values = _multifrontal(part_of, starts, threshold)
                methods.add("multifrontal QR")
        found += part_rank
        values = values / largest
        small.append(values[values < shown])
    small = np.sort(np.concatenate(small)) if small else np.zeros(0)
    apart = np.abs(np.log(np.maximum(small, 1e-300) / tolerance))
    margin = float(np.exp(apart.min())) if len(apart) else np.inf
    return Rank(found, " and ".join(sorted(methods)), tolerance, largest, small, margin)


def _parts(B):
    """Component label of every row and column, and their number."""
    m, n = B.shape
    graph = sp.block_array([[None, abs(B)], [sp.csr_array((n, m)), None]], format="csr")
    count, label = connected_components(graph, directed=False)
    return label, count


def _largest_singular_value(B):
    """By power iteration; from below, within a few percent, which a tolerance does not notice."""
    x = np.random.default_rng(0).normal(size=B.shape[1])
    size = 0.0
    for _ in range(30):
        x /= np.linalg.norm(x)
        y = B @ x
        size = float(np.linalg.norm(y))
        x = B.T @ y
        if not x.any():
            break
    return size


def _multifrontal(B, starts, threshold):
    """(rank, small pivots) of B, a connected part, in which bodies begin at columns ``starts``."""
    bodies = len(starts) - 1
    group = np.repeat(np.arange(bodies), np.diff(starts))
    pattern = sp.csr_array((np.ones(B.nnz), group[B.indices], B.indptr), shape=(len(B.indptr) - 1,
                           bodies))  # fmt: skip
    graph = sp.csr_array(pattern.T @ pattern)
    nodes, parents = dissect(graph)
    place = np.empty(bodies, int)
    for k, members in enumerate(nodes):
        place[members] = k
    # a contact belongs to the front that eliminates its first column
    owner = np.full(B.shape[0], len(nodes))
    np.minimum.at(owner, np.repeat(np.arange(B.shape[0]), np.diff(B.indptr)),
                  place[group[B.indices]])  # fmt: skip
    rows_of = members_of(owner, len(nodes))
    column_order = np.argsort(place[group], kind="stable")
    cols_of = np.split(
        column_order, np.searchsorted(place[group][column_order], np.arange(1, len(nodes)))
    )
    waiting = [[] for _ in nodes]
    found, small = 0, []
    position = np.full(B.shape[1], -1)
    for k in range(len(nodes)):
        own, rows = cols_of[k], B[rows_of[k]]
        touched = [np.unique(rows.indices), *(cols for cols, _ in waiting[k])]
        border = np.setdiff1d(np.concatenate(touched), own)
        columns = np.concatenate([own, border])
        position[columns] = np.arange(len(columns))
        height = rows.shape[0] + sum(len(R) for _, R in waiting[k])
        front = np.zeros((height, len(columns)), order="F")
        at = rows.shape[0]
        entry = np.repeat(np.arange(at), np.diff(rows.indptr))
        front[entry, position[rows.indices]] = rows.data
        for cols, R in waiting[k]:
            front[at : at + len(R), position[cols]] = R
            at += len(R)
        waiting[k] = None
        live, pivots, rest = _eliminate(front, len(own), threshold)
        found += live
        small.append(pivots)
        if len(rest) and len(border) and parents[k] >= 0:
            waiting[parents[k]].append((border, rest))
    return found, np.concatenate(small)


def _eliminate(front, own, threshold):
    """Rank of the first ``own`` columns, their small pivots, and the rows left for the others."""
    height = len(front)
    if height == 0:
        return 0, np.zeros(0), front[:, own:]
    (R,) = scipy.linalg.qr(front, mode="r", overwrite_a=True, check_finite=False)
    R = R[: min(height, front.shape[1])]
    top = min(own, len(R))
    corner = R[:top, :own]
    if top == own and own > 0:
        diagonal = np.abs(np.diag(corner))
        if diagonal.min() > 1e3 * threshold:
            rcond, _ = dtrcon(np.asfortranarray(corner))
            size = np.abs(corner).max()
            if rcond > SETTINGS.well or rcond * size > 1e6 * threshold:
                return own, diagonal[diagonal < 1e-2 * size], R[own:, own:]
    Q, triangle, _ = scipy.linalg.qr(corner, pivoting=True, check_finite=False)
    pivots = np.abs(np.diag(triangle))
    live = int((pivots > threshold).sum())
    return live, pivots, np.vstack([(Q.T @ R[:top, own:])[live:], R[top:, own:]])
