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

    def first(self, rhs: np.ndarray, *, refined=True) -> np.ndarray:
        """x for the working set that was factorized."""
        return self.system.solve_directly(rhs, self.stats, refined=refined)

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

    def solve(self, rhs: np.ndarray, *, refined=True) -> np.ndarray:
        """K^-1 r for the present working set."""
        return self.now(self.first(rhs, refined=refined))

    def toggle(self, contacts):
        """Let contacts, a list of different ones, enter or leave the working set."""
        contacts = np.asarray(contacts, int)
        self.held[contacts] = ~self.held[contacts]
        stays = ~np.isin(self.changed, contacts)
        enters = contacts[~np.isin(contacts, self.changed)]
        self.changed = np.append(self.changed[stays], enters)
        self.sign = np.append(self.sign[stays], np.where(self.held[enters], 1.0, -1.0))
        self.motions = self.motions[:, stays]
        if len(enters):
            rows = self.network.B[enters].toarray().T
            columns = rows[:, 0] if len(enters) == 1 else rows
            more = self.system.solve_directly(columns, self.stats, refined=False)
            self.motions = np.column_stack([self.motions, more])
