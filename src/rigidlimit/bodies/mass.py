"""Mass matrix M(q), eq. 9, and the inverse that every step needs.

Degrees of freedom in Gamma_D carry no mass here: their rows and columns are zero in both M and
M^-1, so that M^-1 F is the acceleration of a body held there and B M^-1 B^T needs no reduction.
"""

import numpy as np
import scipy.sparse as sp
from numba import njit

from . import rotations
from .bodies import Bodies, State


def world_inertia(bodies: Bodies, state: State) -> np.ndarray:
    """Inertia about the centres of mass in the world frame, (n, 3, 3) [kg m^2], eq. 9."""
    turn = rotations.matrix(state.quaternion)
    return turn @ bodies.inertia @ np.swapaxes(turn, 1, 2)


def mass_blocks(bodies: Bodies, state: State) -> np.ndarray:
    """The blocks M_A of eq. 9, (n, 6, 6), restricted to the free degrees of freedom."""
    blocks = np.zeros((len(bodies), 6, 6))
    blocks[:, :3, :3] = bodies.mass[:, None, None] * np.eye(3)
    blocks[:, 3:, 3:] = world_inertia(bodies, state)
    held = ~bodies.free
    blocks[held] = 0.0
    np.swapaxes(blocks, 1, 2)[held] = 0.0
    return blocks


def mass_matrix(bodies: Bodies, state: State) -> sp.csr_array:
    """M of eq. 9, sparse (6 n, 6 n), without stored zeros; made once where no turn changes it."""
    if bodies.derived(_round):
        return bodies.derived(_standing_mass)
    return block_matrix(mass_blocks(bodies, state))


def _round(bodies: Bodies) -> bool:
    """Whether the inertia of every body is a multiple of the identity, to the last digit."""
    return bool((bodies.inertia == bodies.inertia[:, :1, :1] * np.eye(3)).all())


def _standing_mass(bodies: Bodies) -> sp.csr_array:
    still = np.zeros((len(bodies), 6))
    upright = np.broadcast_to([1.0, 0.0, 0.0, 0.0], (len(bodies), 4))
    return block_matrix(mass_blocks(bodies, State(still[:, :3], upright, still)))


def inverse_blocks(bodies: Bodies, blocks: np.ndarray) -> np.ndarray:
    """Inverses of mass blocks on their free degrees of freedom, zero elsewhere, (n, 6, 6)."""
    n, axis = np.nonzero(~bodies.free)
    filled = blocks.copy()
    filled[n, axis, axis] = 1.0
    inverse = np.linalg.inv(filled)
    inverse[n, axis, axis] = 0.0
    return inverse


def block_matrix(blocks: np.ndarray) -> sp.csr_array:
    """The block-diagonal sparse matrix (6 n, 6 n) of blocks (n, 6, 6), without stored zeros."""
    n = 6 * len(blocks)
    index = np.int32 if blocks.size < np.iinfo(np.int32).max else np.int64
    data, columns, starts = (
        np.empty(blocks.size),
        np.empty(blocks.size, index),
        np.zeros(n + 1, index),
    )
    count = _entries(blocks, data, columns, starts)
    return sp.csr_array((data[:count].copy(), columns[:count].copy(), starts), shape=(n, n))


@njit(cache=True)
def _entries(blocks, data, columns, starts):
    """Fills the last three arrays with what is not zero; returns the number of entries."""
    count = 0
    for b in range(len(blocks)):
        for row in range(6):
            for column in range(6):
                if blocks[b, row, column] != 0.0:
                    data[count] = blocks[b, row, column]
                    columns[count] = 6 * b + column
                    count += 1
            starts[6 * b + row + 1] = count
    return count
