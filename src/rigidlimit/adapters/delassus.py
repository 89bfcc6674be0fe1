"""A factor B of a Delassus matrix W = B B^T that was stored with errors.

Noise. W is symmetric and positive semidefinite, so its antisymmetric part E and its least
eigenvalue, if negative, are errors. Eigenvalues below some max(|E|_2, -least) cannot be
distinguished from zero (Weyl's inequality) and are left out: kept, they would make constraints out
of errors.

W is taken apart into islands, contacts that are coupled to no others, and each is factorized by
itself: by its eigenvectors, or by Cholesky's method in the order of least bandwidth where all its
eigenvalues are kept, which keeps B sparse where W is.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, reverse_cuthill_mckee

from .._support import arrays
from .._support.arrays import MatrixLike
from ..errors import InputError
from .tolerances import TOLERANCES

EPSILON = np.finfo(float).eps


@dataclass(frozen=True)
class Factor:
    """B (m, n) with W = B B^T + left_out. Over the largest entry or eigenvalue of W: asymmetry
    max |W - W^T|; noise: error estimate by asymmetry, digits and negative eigenvalues; threshold:
    eigenvalues below it count as zero; cut: largest |eigenvalue| left out; kept: least one kept.
    error (m, m): standard deviation of the entries of W."""

    B: sp.csr_array
    error: sp.csr_array
    left_out: sp.csr_array
    asymmetry: float
    noise: float
    threshold: float
    cut: float
    kept: float


def factorized(W: sp.csr_array, *, rounding: float = 0.0, cut: float | None = None) -> Factor:
    """B of W (m, m). rounding: relative error of the entries as stored. cut: threshold, in place
    of the noise of W itself. Raises InputError if W is not positive semidefinite."""
    parts = islands(W)
    blocks = [W[part][:, part].toarray() for part in parts]
    spectra = [np.linalg.eigh(0.5 * (A + A.T)) for A in blocks]
    values = np.concatenate([np.zeros(0), *(v for v, _ in spectra)])
    largest = float(values.max(initial=0.0)) or 1.0
    least = float(values.min(initial=0.0))
    skew = _norm(0.5 * (A - A.T) for A in blocks)
    if least < -max(TOLERANCES.certain * skew, TOLERANCES.negative * largest):
        raise InputError(
            f"W has the eigenvalue {least:.3g} beside the largest {largest:.3g}; expected a matrix "
            "B M^-1 B^T without negative eigenvalues"
        )
    size = _norm(np.abs(A) for A in blocks) or 1.0
    digits = max(rounding, EPSILON, -least / size)
    noise = max(skew, digits * size) / largest
    threshold = max(TOLERANCES.certain * noise, TOLERANCES.cut)
    threshold = threshold if cut is None else arrays.positive("cut", cut)
    factors = [
        _factor(A, *spectrum, threshold * largest)
        for A, spectrum in zip(blocks, spectra, strict=True)
    ]
    kept = values > threshold * largest
    apart = abs(W - W.T)
    # eigenvectors are known to digits of the largest entries, small ones included
    own = [
        np.full(A.shape, np.std(B @ B.T + lost - 0.5 * (A + A.T)))
        for A, (B, lost) in zip(blocks, factors, strict=True)
    ]
    error = (0.5 * apart).maximum(digits * abs(W))
    return Factor(
        B=assembled([B for B, _ in factors], parts, W.shape[0]),
        error=sp.csr_array(error.maximum(assembled(own, parts, W.shape[0], square=True))),
        left_out=assembled([lost for _, lost in factors], parts, W.shape[0], square=True),
        asymmetry=_largest(apart) / (_largest(abs(W)) or 1.0),
        noise=noise,
        threshold=threshold,
        cut=float(np.abs(values[~kept]).max(initial=0.0)) / largest,
        kept=float(values[kept].min(initial=largest)) / largest,
    )


def islands(W: sp.csr_array) -> list[np.ndarray]:
    """Indices of the rows that W (m, m) couples, island by island."""
    if not W.shape[0]:
        return []
    count, label = connected_components(W, directed=False)
    order = np.argsort(label, kind="stable")
    return np.split(order, np.searchsorted(label[order], np.arange(1, count)))


def _factor(A, values, vectors, limit):
    """(B, W - B B^T) of one island."""
    kept = values > limit
    lost = (vectors[:, ~kept] * values[~kept]) @ vectors[:, ~kept].T
    if not kept.all():
        return vectors[:, kept] * np.sqrt(values[kept]), lost
    S = 0.5 * (A + A.T)
    order = reverse_cuthill_mckee(sp.csr_array(S), symmetric_mode=True)
    B = np.empty_like(S)
    B[order] = np.linalg.cholesky(S[np.ix_(order, order)])
    return B, lost


def assembled(
    blocks: Sequence[MatrixLike], parts: Sequence[np.ndarray], m: int, *, square: bool = False
) -> sp.csr_array:
    """Blocks of the islands, in the order of the contacts (and columns, if square)."""
    if not blocks:
        return sp.csr_array((m, m if square else 0))
    place = np.argsort(np.concatenate(parts))
    whole = sp.csr_array(sp.block_diag([sp.csr_array(block) for block in blocks]))[place]
    whole = sp.csr_array(whole[:, place] if square else whole)
    whole.eliminate_zeros()
    return whole


def _norm(blocks):
    """Largest spectral norm."""
    return max((float(np.linalg.norm(A, 2)) for A in blocks), default=0.0)


def _largest(A):
    return float(A.data.max(initial=0.0))
