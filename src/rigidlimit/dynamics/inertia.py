"""The mass matrix of eq. 13: its symmetry, which degrees of freedom it couples, its inverse."""

import numpy as np
import scipy.sparse as sp
from numba import njit

from .._support.sets import join, settle
from ..errors import InputError


def check_symmetry(M: sp.csr_array) -> None:
    """Raises InputError if M (n, n), with sorted columns, is not symmetric."""
    apart = _asymmetry(M.indptr, M.indices, M.data)
    if apart > 1e-8 * np.abs(M.data).max(initial=0.0):
        raise InputError(f"M differs from its transpose by {apart:.3g}; expected symmetry")


@njit(cache=True)
def _asymmetry(indptr, indices, data):
    """max |M_ij - M_ji| over the entries of a matrix with sorted columns."""
    worst = 0.0
    for i in range(len(indptr) - 1):
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if j == i:
                continue
            low, high = indptr[j], indptr[j + 1]
            while low < high:
                middle = (low + high) // 2
                if indices[middle] < i:
                    low = middle + 1
                else:
                    high = middle
            there = low < indptr[j + 1] and indices[low] == i
            worst = max(worst, abs(data[e] - (data[low] if there else 0.0)))
    return worst


def coupled(M: sp.csr_array) -> np.ndarray:
    """A number for each degree of freedom, the same for those that M couples, (n,)."""
    if is_diagonal(M):
        return np.arange(M.shape[0])
    return _components(M.indptr, M.indices)


@njit(cache=True)
def _components(indptr, indices):
    """Numbers of the connected components, from 0 on in the order of their first members."""
    root = np.arange(len(indptr) - 1)
    for i in range(len(root)):
        for e in range(indptr[i], indptr[i + 1]):
            join(root, i, np.int64(indices[e]))
    settle(root)
    number, count = np.empty_like(root), 0
    for i in range(len(root)):
        if root[i] == i:
            number[i] = count
            count += 1
        else:
            number[i] = number[root[i]]
    return number


def is_diagonal(M: sp.csr_array) -> bool:
    """Whether M (n, n) stores its diagonal and nothing else, as the masses of balls."""
    n = M.shape[0]
    return M.nnz == n and bool((M.indices == np.arange(n)).all())


def inverse_mass(M: sp.csr_array, dofs: np.ndarray, group: np.ndarray | None = None):
    """M^-1, block by block of coupled degrees of freedom.

    Bodies give blocks of at most six; an articulated mechanism gives one block per tree.
    dofs (n,): names of the rows in errors. group (n,): ``coupled(M)``, if known.
    """
    return _by_blocks(M, dofs, group, _inverse_blocks)


def inverse_root(M: sp.csr_array) -> sp.csr_array:
    """L with L L^T = M^-1, lower triangular within the blocks of coupled degrees of freedom."""
    return _by_blocks(M, np.arange(M.shape[0]), None, _inverse_roots)


def _by_blocks(M, dofs, group, of):
    """``of`` (blocks (b, s, s), their dofs (b, s)) -> (b, s, s) of all blocks of M, as a matrix."""
    n = M.shape[0]
    if is_diagonal(M):
        data = of(M.data.reshape(-1, 1, 1), dofs[:, None])
        return sp.csr_array((data.ravel(), M.indices, M.indptr), shape=(n, n))
    group = coupled(M) if group is None else group
    order = np.argsort(group, kind="stable")
    first = np.flatnonzero(np.diff(group[order], prepend=-1))
    sizes = np.diff(first, append=n)
    width = np.empty(n, np.int64)
    width[order] = np.repeat(sizes, sizes)
    starts = np.concatenate([[0], np.cumsum(width)])
    columns, data = np.empty(starts[-1], np.int64), np.empty(starts[-1])
    for size in np.unique(sizes):
        members = order[first[sizes == size][:, None] + np.arange(size)]
        entries = starts[members][:, :, None] + np.arange(size)
        columns[entries] = members[:, None, :]
        data[entries] = of(_dense_blocks(M, members), dofs[members])
    index = M.indices.dtype if len(columns) < np.iinfo(M.indices.dtype).max else np.int64
    matrix = sp.csr_array((data, columns.astype(index), starts.astype(index)), shape=(n, n))
    if (data == 0.0).any():
        matrix.eliminate_zeros()
    return matrix


def _inverse_blocks(blocks, dofs):
    """Inverses of symmetric blocks (b, s, s); InputError if one is not positive definite."""
    if blocks.shape[1] == 1 and (blocks > 0).all():
        return 1 / blocks
    try:
        np.linalg.cholesky(blocks)
    except np.linalg.LinAlgError:
        value = np.linalg.eigvalsh(blocks)[:, 0]
        worst = int(np.argmin(value))
        raise InputError(
            f"M is not positive definite at degrees of freedom "
            f"{dofs[worst].tolist()} (smallest eigenvalue {value[worst]:.3g}); "
            "expected a positive mass, or mark them as fixed"
        ) from None
    return np.linalg.inv(blocks)


def _inverse_roots(blocks, dofs):
    """Triangular roots of the inverses of such blocks."""
    return np.linalg.cholesky(_inverse_blocks(blocks, dofs))


def _dense_blocks(M, members):
    """M restricted to each row of ``members`` (b, size), as (b, size, size)."""
    b, size = members.shape
    if size == 1:
        return M.diagonal()[members[:, 0]].reshape(-1, 1, 1)
    blocks = np.zeros((b, size, size))
    _gather(M.indptr, M.indices, M.data, members, np.zeros(M.shape[0], np.int64), blocks)
    return blocks


@njit(cache=True)
def _gather(indptr, indices, data, members, place, blocks):
    """Adds to the blocks; place (n,): work space. Members of a block are coupled to no others."""
    for b in range(len(members)):
        for k in range(members.shape[1]):
            place[members[b, k]] = k
        for k in range(members.shape[1]):
            for e in range(indptr[members[b, k]], indptr[members[b, k] + 1]):
                blocks[b, k, place[indices[e]]] += data[e]
