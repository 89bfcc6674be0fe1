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

AGAIN = 0.5
"""Part of a vector left over below which it is made orthogonal once more (Rutishauser). With a
tenth packings of 10,000 balls take up to a fifth more iterations in single precision."""

SINGLE = 1e-5
"""Part of its residual that a cycle in single precision leaves at least: its vectors have seven
digits, and products with K cancel some of them."""


class BlockMatrix:
    """K of the blocks of a pattern; ``K @ x`` in the precision of its values and of x."""

    def __init__(self, blocks: Blocks, values: np.ndarray):
        self.blocks, self.values = blocks, values

    def __matmul__(self, x: np.ndarray) -> np.ndarray:
        y = np.empty_like(x)
        _product(*self.blocks.compiled, self.values, x, y)
        return y

    def single(self) -> "BlockMatrix":
        """The same matrix in single precision, which takes half the time to read."""
        return BlockMatrix(self.blocks, self.values.astype(np.float32))


class IncompleteFactor:
    """L U of the blocks of K on its own pattern, in single precision; ``solve`` applies its
    inverse."""

    def __init__(self, blocks: Blocks, values: np.ndarray):
        self.blocks, values = blocks, values.copy()
        inverse = np.empty((len(blocks.ptr) - 1, *values.shape[1:]))
        _incomplete(blocks.ptr, blocks.col, values, inverse)
        self.values, self.inverse = values.astype(np.float32), inverse.astype(np.float32)

    def solve(self, b: np.ndarray) -> np.ndarray:
        x = b.copy()
        _substitute(*self.blocks.compiled, self.values, self.inverse, x)
        return x


def gmres(
    product: Product,
    precondition: Product,
    b: np.ndarray,
    accuracy: float,
    iterations: int,
    *,
    single: Product | None = None,
) -> tuple[np.ndarray, int, float]:
    """(x, iterations, relative residual) of K x = b, preconditioned from the right.

    product, precondition: functions of a vector. accuracy: on |b - K x| over |b|. single: the
    product in single precision, of which directions are then kept; residuals, from which cycles
    begin, are of ``product`` (iterative refinement).
    """
    multiply, kind = (product, np.float64) if single is None else (single, np.float32)
    x, spent, size = np.zeros(len(b)), 0, np.linalg.norm(b)
    r, norm = b, size
    while norm > accuracy * size and spent < iterations:
        room = min(RESTART, iterations - spent)
        V, Z = np.empty((room + 1, len(b)), kind), np.empty((room, len(b)), kind)
        H, rotation = np.zeros((room + 1, room)), np.zeros((room, 2))
        g = np.zeros(room + 1)
        g[0], V[0] = norm, r / norm
        enough = accuracy * size if single is None else max(accuracy * size, SINGLE * norm)
        for j in range(room):
            Z[j] = precondition(V[j])
            w = multiply(Z[j])
            with np.errstate(over="ignore", invalid="ignore"):
                before, last = np.inf, np.linalg.norm(w)
            if not np.isfinite(last):  # a factor that broke down
                return x, spent + 1, norm / size
            while last < AGAIN * before:
                h = V[: j + 1] @ w
                w -= h @ V[: j + 1]
                H[: j + 1, j] += h
                before, last = last, np.linalg.norm(w)
            H[j + 1, j] = last
            V[j + 1] = w / last if last > 0.0 else 0.0
            _rotate(H, rotation, g, j)
            spent += 1
            if abs(g[j + 1]) <= enough:
                break
        y = np.linalg.solve(np.triu(H[: j + 1, : j + 1]), g[: j + 1])
        x = x + norm * ((y / norm).astype(kind) @ Z[: j + 1])
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


_ONE = np.uint64(1)  # compiled code asks of signed indices whether they count from the end

FAST = dict(cache=True, nogil=True, fastmath={"reassoc", "contract"})
"""Of kernels in which sums may be reordered."""

# ptr, col, each: of ``Blocks.compiled``


@njit(**FAST, inline="always")
def _less(blocks, e, x, low, own, each):
    """own -= block e times x[low :]."""
    for r in range(len(each)):
        total = blocks[e, r, 0] * x[low]
        for c in range(1, len(each)):
            total += blocks[e, r, c] * x[low + np.uint64(c)]
        own[r] -= total


@njit(**FAST)
def _product(ptr, col, each, values, x, y):
    bodies, width = np.uint64(len(ptr) - 1), np.uint64(len(each))
    own = np.empty(len(each), x.dtype)
    for i in range(bodies):
        for r in range(len(each)):
            own[r] = 0.0
        for e in range(ptr[i], ptr[i + _ONE]):
            _less(values, e, x, width * col[e], own, each)
        for r in range(len(each)):
            y[width * i + np.uint64(r)] = -own[r]


@njit(**FAST)
def _substitute(ptr, col, each, values, inverse, x):
    bodies, width = np.uint64(len(ptr) - 1), np.uint64(len(each))
    own, out = np.empty(len(each), x.dtype), np.empty(len(each), x.dtype)
    for i in range(bodies):
        for r in range(len(each)):
            own[r] = x[width * i + np.uint64(r)]
        for e in range(ptr[i], ptr[i + _ONE]):
            if col[e] >= i:
                break
            _less(values, e, x, width * col[e], own, each)
        for r in range(len(each)):
            x[width * i + np.uint64(r)] = own[r]
    for before in range(bodies):
        i = bodies - _ONE - before
        for r in range(len(each)):
            own[r], out[r] = x[width * i + np.uint64(r)], 0.0
        for k in range(ptr[i + _ONE] - ptr[i]):
            e = ptr[i + _ONE] - _ONE - k
            if col[e] <= i:
                break
            _less(values, e, x, width * col[e], own, each)
        _less(inverse, i, own, np.uint64(0), out, each)
        for r in range(len(each)):
            x[width * i + np.uint64(r)] = -out[r]
