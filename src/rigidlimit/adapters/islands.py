"""Contacts that masses couple to no others, with their rows of B as a dense matrix.

With M^-1 = L L^T, the rows A = B L make W = A A^T: contacts of one island share columns of A, those
of two islands none.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from .._support.singular import svd
from ..dynamics.inertia import inverse_root
from .tolerances import TOLERANCES


class Spectrum(NamedTuple):
    """U diag(s) V^T, without singular values that are rounding."""

    U: np.ndarray
    s: np.ndarray
    VT: np.ndarray


@dataclass(frozen=True)
class Island:
    """Contacts ``members`` (k,) and the ``columns`` (c,) of their rows. A (k, c): these rows, None
    if they have too many entries."""

    members: np.ndarray
    columns: np.ndarray
    A: np.ndarray | None
    found: dict = field(default_factory=dict, repr=False)

    def spectrum(self, which: np.ndarray) -> Spectrum:
        """Singular values of the rows ``which``: (k,) bool. Kept."""
        key = which.tobytes()
        if key not in self.found:
            self.found[key] = spectrum(self.A[which])
        return self.found[key]


class Islands(NamedTuple):
    """``parts``: each ``Island`` of a problem with nonzero rows. root, M (n, n): see above."""

    parts: list[Island]
    root: sp.csr_array
    M: sp.csr_array

    @classmethod
    def of(cls, B: sp.csr_array, M: sp.csr_array) -> "Islands":
        """B (m, n), M (n, n)."""
        m = B.shape[0]
        M = sp.csr_array(M)
        root = inverse_root(M)
        A = sp.csr_array(B @ root)
        joined = sp.block_array([[None, A], [A.T, None]]) if A.nnz else sp.csr_array((m, m))
        count, label = connected_components(joined, directed=False)
        rows, begins = _sorted(label[:m], count)
        columns, first = _sorted(label[m:], count)
        place = np.empty(len(columns), int)
        place[columns] = np.arange(len(columns))
        A = A[rows]
        line = np.repeat(np.arange(m), np.diff(A.indptr))
        parts = []
        for k in range(count):
            r, c = slice(begins[k], begins[k + 1]), slice(first[k], first[k + 1])
            shape = r.stop - r.start, c.stop - c.start
            if 0 in shape:
                continue
            dense = None
            if shape[0] * shape[1] <= TOLERANCES.most:
                dense = np.zeros(shape)
                at = slice(A.indptr[r.start], A.indptr[r.stop])
                dense[line[at] - r.start, place[A.indices[at]] - c.start] = A.data[at]
            parts.append(Island(rows[r], columns[c], dense))
        return cls(parts, root, M)

    def coordinates(self, u: np.ndarray) -> np.ndarray:
        """L^-1 u of motions u (n,)."""
        return self.root.T @ (self.M @ u)


def spectrum(A: np.ndarray) -> Spectrum:
    """Of a matrix (k, c)."""
    U, s, VT = svd(A)
    kept = s > TOLERANCES.zero * s.max(initial=0.0)
    return Spectrum(U[:, kept], s[kept], VT[kept])


def _sorted(label, count):
    """(indices by label, where each of the labels begins (count + 1,))."""
    order = np.argsort(label, kind="stable")
    return order, np.searchsorted(label[order], np.arange(count + 1))
