"""GMRES with an incomplete factorization by blocks, for systems too large to factorize.

ILU(0): L U = K on the pattern of K, body by body in their numbering (Saad, Iterative methods for
sparse linear systems, sections 6.5.5 and 10.3). It takes the unsymmetric part of slipping contacts
along.
"""

from collections.abc import Callable

import numpy as np
from numba import njit

from .._support.compiled import INNER
from .blocks import Blocks

Product = Callable[[np.ndarray], np.ndarray]

RESTART = 60
"""Directions kept before GMRES starts anew."""

STAGNANT = 0.9
"""Part of its residual that a cycle leaves at least where GMRES is given up."""

AGAIN = 0.1
"""Part of a vector left over below which it is made orthogonal once more (Rutishauser): it has lost
a digit. With a half packings of 10,000 balls take as many iterations, each 1.1 times as long."""


class IncompleteFactor:
    """L U of the blocks of K on its own pattern; ``solve`` applies its inverse."""

    def __init__(self, blocks: Blocks, values: np.ndarray):
        self.blocks, self.values = blocks, values.copy()
        self.inverse = np.empty((len(blocks.ptr) - 1, *values.shape[1:]))
        _incomplete(blocks.ptr, blocks.col, self.values, self.inverse)
        # single precision: a preconditioner is read far more often than it needs digits
        self.values, self.inverse = self.values.astype(np.float32), self.inverse.astype(np.float32)

    def solve(self, b: np.ndarray) -> np.ndarray:
        x = b.copy()
        _substitute(self.blocks.ptr, self.blocks.col, self.values, self.inverse, x)
        return x


def gmres(
    product: Product, precondition: Product, b: np.ndarray, accuracy: float, iterations: int
) -> tuple[np.ndarray, int, float]:
    """(x, iterations, relative residual) of K x = b, preconditioned from the right.

    product, precondition: functions of a vector. accuracy: on |b - K x| over |b|.
    """
    x, spent, size = np.zeros(len(b)), 0, np.linalg.norm(b)
    r, norm = b, size
    while norm > accuracy * size and spent < iterations:
        room = min(RESTART, iterations - spent)
        V, Z = np.empty((room + 1, len(b))), np.empty((room, len(b)))
        H, rotation = np.zeros((room + 1, room)), np.zeros((room, 2))
        g = np.zeros(room + 1)
        g[0], V[0] = norm, r / norm
        for j in range(room):
            Z[j] = precondition(V[j])
            w = product(Z[j])
            before, last = np.inf, np.linalg.norm(w)
            while last < AGAIN * before:
                h = V[: j + 1] @ w
                w -= h @ V[: j + 1]
                H[: j + 1, j] += h
                before, last = last, np.linalg.norm(w)
            H[j + 1, j] = last
            V[j + 1] = w / last if last > 0.0 else 0.0
            _rotate(H, rotation, g, j)
            spent += 1
            if abs(g[j + 1]) <= accuracy * size:
                break
        y = np.linalg.solve(np.triu(H[: j + 1, : j + 1]), g[: j + 1])
        x = x + y @ Z[: j + 1]
        r = b - product(x)
        before, norm = norm, np.linalg.norm(r)
        if not norm < STAGNANT * before:
            break
    return x, spent, norm / size if size > 0.0 else 0.0


def _rotate(H, rotation, g, j):
    """Givens' rotations on column j of H, in place; |g[j + 1]| becomes the residual."""
    for i in range(j):
        c, s = rotation[i]
        H[i, j], H[i + 1, j] = c * H[i, j] + s * H[i + 1, j], c * H[i + 1, j] - s * H[i, j]
    size = np.hypot(H[j, j], H[j + 1, j])
    c, s = (H[j, j] / size, H[j + 1, j] / size) if size > 0.0 else (1.0, 0.0)
    rotation[j] = c, s
    H[j, j], H[j + 1, j] = size, 0.0
    g[j], g[j + 1] = c * g[j], -s * g[j]


@njit(**INNER)
def _multiply(A, B, sign, out):
    """out += sign A B of small blocks."""
    width = len(A)
    for r in range(width):
        for k in range(width):
            t = sign * A[r, k]
            if t != 0.0:
                for c in range(width):
                    out[r, c] += t * B[k, c]


@njit(cache=True, nogil=True)
def _incomplete(ptr, col, values, inverse):
    bodies, width = len(ptr) - 1, values.shape[1]
    at = np.full(bodies, -1, np.int64)
    part = np.empty((width, width))
    for i in range(bodies):
        for e in range(ptr[i], ptr[i + 1]):
            at[col[e]] = e
        for e in range(ptr[i], ptr[i + 1]):
            k = col[e]
            if k >= i:
                break
            part[:] = 0.0
            _multiply(values[e], inverse[k], 1.0, part)
            values[e] = part
            for g in range(ptr[k], ptr[k + 1]):
                if col[g] > k and at[col[g]] >= 0:
                    _multiply(part, values[g], -1.0, values[at[col[g]]])
        inverse[i] = np.linalg.inv(values[at[i]])
        for e in range(ptr[i], ptr[i + 1]):
            at[col[e]] = -1


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"}, inline="always")
def _less(block, x, low, own):
    """own -= block x[low :]; blocks of 6 are unrolled."""
    if len(own) == 6:
        for r in range(6):
            total = 0.0
            for c in range(6):
                total += block[r, c] * x[low + c]
            own[r] -= total
        return
    for r in range(len(own)):
        for c in range(len(own)):
            own[r] -= block[r, c] * x[low + c]


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _substitute(ptr, col, values, inverse, x):
    bodies, width = len(ptr) - 1, values.shape[1]
    own, zero = np.empty(width), np.empty(width)
    for i in range(bodies):
        for r in range(width):
            own[r] = x[width * i + r]
        for e in range(ptr[i], ptr[i + 1]):
            if col[e] >= i:
                break
            _less(values[e], x, width * col[e], own)
        for r in range(width):
            x[width * i + r] = own[r]
    for i in range(bodies - 1, -1, -1):
        for r in range(width):
            own[r] = x[width * i + r]
            zero[r] = 0.0
        for e in range(ptr[i + 1] - 1, ptr[i] - 1, -1):
            if col[e] <= i:
                break
            _less(values[e], x, width * col[e], own)
        _less(inverse[i], own, 0, zero)
        for r in range(width):
            x[width * i + r] = -zero[r]
