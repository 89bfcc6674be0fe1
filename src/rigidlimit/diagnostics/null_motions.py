"""Smallest singular values of a large gap gradient B (m, n), m >= n: unconstrained motions.

Random motions w are projected, z = w - K^-1 B^T B w with K = B^T B + e I by conjugate gradients;
the projections span the motions with B z = 0, and those with singular values too small to be
distinguished this way, as long as they are fewer than the samples. The singular values of B on that
space then distinguish them to rounding of B itself, not of B^T B (Rayleigh-Ritz). Inverse iteration
on the rest gives the smallest others, from above.
"""

from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from ..linear import LinearStats, Network


@dataclass(frozen=True)
class Settings:
    """Of the search for unconstrained motions.

    samples: random motions: up to one less than this many independent null motions are found.
    others: motions of the inverse iteration for the near-null singular values that are not zero.
    steps: conjugate gradient steps for one motion before the method is given up.
    left: part of a random motion that must be left of it to count as perhaps null.
    """

    samples: int = 12
    others: int = 4
    steps: int = 6000
    left: float = 1e-5


SETTINGS = Settings()


def smallest_singular_values(B: sp.csr_array, starts: np.ndarray, largest: float, *, seed: int = 0):
    """Smallest singular values, ascending: all that could be zero, and a few more from above.

    largest: the largest one. None: there are too many, or conjugate gradients did not converge.
    """
    n = B.shape[1]
    rng = np.random.default_rng(seed)
    network = Network(B, blocks=starts)
    system = network.system(np.ones(B.shape[0]), 1e-14 * largest**2)
    shape = n, SETTINGS.samples
    motions = rng.choice([-1.0, 1.0], shape) * rng.uniform(0.5, 1.0, shape)
    still = np.zeros((n, 0))
    for batch in (slice(0, 2), slice(2, SETTINGS.samples)):
        # two samples first: where nothing is left of them there is nothing to be found
        left = [_unfelt(network, system, motions[:, k]) for k in range(SETTINGS.samples)[batch]]
        if any(z is None for z in left):
            return None
        still = np.column_stack([still, *left])
        if np.linalg.norm(still, axis=0).max() < SETTINGS.left * np.sqrt(n):
            break
    U, s, _ = scipy.linalg.svd(still, full_matrices=False)
    candidates = U[:, s > SETTINGS.left * np.sqrt(n)]
    if candidates.shape[1] >= still.shape[1]:
        return None
    if candidates.shape[1]:
        candidates = _orthonormal([_unfelt(network, system, z) for z in candidates.T])
        if candidates is None:
            return None
    others = rng.normal(size=(n, SETTINGS.others))
    for _ in range(2):
        others -= candidates @ (candidates.T @ others)
        others = _orthonormal([_solve(system, x, 1e-3)[0] for x in others.T])
    others -= candidates @ (candidates.T @ others)
    values = [scipy.linalg.svd(B @ Q, compute_uv=False) for Q in (candidates, others) if Q.size]
    return np.sort(np.concatenate(values))


def _unfelt(network, system, motion):
    """What B^T B does not see of a motion; None if conjugate gradients fail."""
    for _ in range(2):
        right = network.load_of(network.B @ motion)
        if not right.any():
            break
        x, converged = _solve(system, right, 1e-8)
        if not converged:
            return None
        motion = motion - x
    return motion


def _solve(system, right, part):
    size = float(np.abs(right).max())
    x, worst, _ = system.iterate(
        right, target=part * size, max_steps=SETTINGS.steps, stats=LinearStats()
    )
    return x, worst <= part * size


def _orthonormal(columns):
    """Orthonormal basis of the columns; None if one is missing."""
    if any(c is None for c in columns):
        return None
    return np.linalg.qr(np.column_stack(columns))[0]
