"""Projected Gauss-Seidel for rigid contacts with friction, with Nesterov's momentum.

The velocities of the contacts are linear in those of the bodies and these in the forces, so that
both are extrapolated alike.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from .._support.compiled import INNER
from .contact_blocks import ContactBlocks, sweep


class Settings(NamedTuple):
    """Of the momentum. (Compiled code reads tuples.)

    most: momentum at most: with more, contacts that change between stick and slip excite one
        another. every: every so many sweeps one goes over all contacts, the others over active
        ones.
    """

    most: float = 0.95
    every: int = 10


SETTINGS = Settings()


class RoughContacts(NamedTuple):
    """blocks; friction (m,); offset (m, d) of u = J v + offset; rho (m,): d/tr(W_ii)."""

    blocks: ContactBlocks
    friction: np.ndarray
    offset: np.ndarray
    rho: np.ndarray


def accelerated(
    contacts: RoughContacts,
    force: np.ndarray,
    v: np.ndarray,
    sweeps: int,
    *,
    enough: float,
    settings: Settings = SETTINGS,
) -> np.ndarray:
    """The forces (m, d) after so many sweeps in the order of the contacts, or earlier, once no
    contact changes by more than ``enough`` [m/s] over rho. v (n,): velocities that go with
    ``force``.

    The momentum starts anew where a sweep changes the forces by more than the sweep before it
    (O'Donoghue & Candes 2015, with the norm in place of a function that falls, as there is none).
    """
    f = np.array(force, float)
    _accelerate(contacts, f, np.array(v, float), sweeps, float(enough), settings)
    return f


@njit(cache=True, nogil=True)
def _accelerate(contacts, f, v, sweeps, enough, settings):
    """f (m, d) and v (n,) in place."""
    blocks, friction, offset, rho = contacts
    every = np.arange(len(f))
    bears, theta, last = every, 1.0, np.inf
    ahead, v_ahead, start = f.copy(), v.copy(), f.copy()
    for k in range(sweeps):
        whole = k % settings.every == 0
        sweep(every if whole else bears, blocks, friction, offset, ahead, v_ahead)
        if whole:
            bears = np.flatnonzero(ahead[:, 0] > 0.0)
        norm, worst = _change(start, ahead, rho)
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * theta * theta))
        beta = min((theta - 1.0) / following, settings.most)
        if norm > last:
            beta, following = 0.0, 1.0
        last, theta = norm, following
        _extrapolate(f, ahead, beta)
        _extrapolate(v.reshape(-1, 1), v_ahead.reshape(-1, 1), beta)
        if whole and worst <= enough:
            break
        start[:] = ahead


@njit(**INNER)
def _change(before, after, rho):
    """The norm of the change over sqrt(rho), and its largest part over rho."""
    total, worst = 0.0, 0.0
    for i in range(len(before)):
        size = 0.0
        for a in range(before.shape[1]):
            size += (after[i, a] - before[i, a]) ** 2
        total += size / rho[i]
        worst = max(worst, size / (rho[i] * rho[i]))
    return np.sqrt(total), np.sqrt(worst)


@njit(**INNER)
def _extrapolate(at, ahead, beta):
    """at <- ahead, ahead <- ahead + beta (ahead - at)."""
    for i in range(at.shape[0]):
        for a in range(at.shape[1]):
            now, before = ahead[i, a], at[i, a]
            at[i, a], ahead[i, a] = now, now + beta * (now - before)
