"""A factorized stiffness matrix whose active contacts change: K x = r without a new factorization.

K = M + B_W^T D B_W + e I is factorized for one working set W. Contacts that enter or leave W change
it by a matrix of low rank, taken in by the Woodbury formula: one solve for each of them, and a
small dense system for every right side.
"""

import numpy as np

from .stiffness import LinearStats, StiffnessSystem


class ChangingSystem:
    """K for the working set ``held`` (m,) bool, which ``toggle`` changes.

    D (m,) > 0: tangent stiffness of every contact, in the working set or not. shift: e.
    """

    def __init__(self, network, D: np.ndarray, held: np.ndarray, shift: float, stats: LinearStats):
        self.network, self.D, self.stats = network, D, stats
        self.held = held.copy()
        self.system = StiffnessSystem(network, np.where(held, D, 0.0), shift)
        # contacts that entered (sign 1) or left (-1) since, and the motion K^-1 B_i^T of each
        self.changed = np.zeros(0, int)
        self.sign = np.zeros(0)
        self.motions = np.zeros((network.B.shape[1], 0))

    def first(self, rhs: np.ndarray) -> np.ndarray:
        """x for the working set that was factorized."""
        return self.system.solve_directly(rhs, self.stats)

    def now(self, x: np.ndarray) -> np.ndarray:
        """K^-1 r for the present working set, from x = ``first(r)``; NaN if K is singular."""
        if not len(self.changed):
            return x
        rows = self.network.B[self.changed]
        small = rows @ self.motions + np.diag(1.0 / (self.sign * self.D[self.changed]))
        try:
            return x - self.motions @ np.linalg.solve(small, rows @ x)
        except np.linalg.LinAlgError:  # what is left of W holds nothing in some direction
            return np.full_like(x, np.nan)

    def solve(self, rhs: np.ndarray) -> np.ndarray:
        """K^-1 r for the present working set."""
        return self.now(self.first(rhs))

    def toggle(self, contact: int):
        """Let a contact enter or leave the working set."""
        self.held[contact] = not self.held[contact]
        at = np.flatnonzero(self.changed == contact)
        if len(at):
            self.changed = np.delete(self.changed, at)
            self.sign = np.delete(self.sign, at)
            self.motions = np.delete(self.motions, at, axis=1)
            return
        row = self.network.B[[contact]].toarray().ravel()
        self.changed = np.append(self.changed, contact)
        self.sign = np.append(self.sign, 1.0 if self.held[contact] else -1.0)
        self.motions = np.column_stack([self.motions, self.first(row)])
