"""A factorized stiffness matrix whose active contacts change: K x = r without a new factorization.

K = M + B_W^T D B_W + e I is factorized for one working set W. Contacts that enter or leave W change
it by a matrix of low rank, taken in by the Woodbury formula: one solve for each of them, and a
small dense system for every right side.
"""

from dataclasses import dataclass

import numpy as np

from .protocol import LinearStats
from .stiffness import by_imprecise_factor


@dataclass(frozen=True)
class Settings:
    """When contacts that change are taken into a factorization.

    at_once: right-hand sides that are solved together: more hardly gain.
    most: largest number of changes for which a factorization is kept.
    worth: the same as a fraction of the entries of its factor for each degree of freedom: above
        it a new one is cheaper, sooner in walls than in packings.
    least: number of changes for which it is always kept.
    """

    at_once: int = 16
    most: int = 300
    worth: float = 0.4
    least: int = 30


SETTINGS = Settings()


class ChangingSystem:
    """K for the working set ``working`` (m,) bool, which ``toggle`` changes.

    D (m,) > 0: tangent stiffness of every contact, in the working set or not. shift: e. Raises
    OutOfMemory.
    """

    def __init__(self, network, D, working, shift: float, stats: LinearStats):
        self.network, self.D, self.shift, self.stats = network, D, shift, stats
        self.working = working.copy()
        self._begin()

    def _begin(self):
        """Factorize K for the present working set."""
        self.system, self._factorized = None, self.working.copy()  # its factor is large
        D, stats, network = np.where(self.working, self.D, 0.0), self.stats, self.network
        self.system = network.system(D, self.shift)
        # contacts that entered (sign 1) or left (-1) since
        self.changed = np.zeros(0, int)
        self.sign = np.zeros(0)
        n = network.B.shape[1]
        worth = SETTINGS.worth * self.system.factorize(stats).entries / max(1, n)
        self.most = int(np.clip(worth, SETTINGS.least, SETTINGS.most))
        # the motion K^-1 B_i^T of each, in the first columns, and B_i of it at the others
        self._motions = np.empty((n, self.most), order="F")
        self._coupling = np.empty((self.most, self.most))

    def solve(self, rhs: np.ndarray, *, refined: bool = True) -> np.ndarray:
        """K^-1 r for the present working set; NaN if K is singular."""
        if self.system.factorize(self.stats).single_precision:
            return self._by_imprecise(rhs, refined=refined)
        return self._now(self.system.solve_directly(rhs, self.stats, refined=refined))

    def nearly(self, rhs: np.ndarray) -> np.ndarray:
        """K^-1 r for the present working set, to the digits in which the factor is kept."""
        return self._now(self.system.factorize(self.stats).solve(rhs))

    def _by_imprecise(self, rhs, *, refined):
        found = by_imprecise_factor(
            self._product, self.nearly, rhs, stats=self.stats, refined=refined
        )
        if found is not None:
            return found
        self.system.refactorize(self.stats)
        self._begin()
        return self.solve(rhs, refined=refined)

    def _product(self, x):
        network = self.network
        forces = np.where(self.working, self.D, 0.0) * (network.B @ x)
        return network.load_of(forces) + network.mass @ x + self.shift * x

    def load_with(self, push: np.ndarray, load: np.ndarray):
        """What ``displacement`` answers to: push (m,) and load (n,), or several as columns."""
        self._push, self._load, self._loaded = push, load, None

    def _rhs(self, working):
        pushes = np.where(working, self._push.T, 0.0)
        if pushes.ndim == 1:
            return self.network.load_of(pushes) - self._load
        return np.column_stack([self.network.load_of(push) for push in pushes]) - self._load

    def displacement(self) -> np.ndarray:
        """K^-1 (B_W^T push - load) for the present working set, from one solve in all where the
        factor is in double precision."""
        if self.system.factorize(self.stats).single_precision:
            rhs = self._rhs(self.working)
            if rhs.ndim == 1:
                return self._by_imprecise(rhs, refined=True)
            return np.column_stack([self._by_imprecise(r, refined=True) for r in rhs.T])
        if self._loaded is None:
            self._loaded = self.system.solve_directly(self._rhs(self._factorized), self.stats)
        entered = (self.sign * self._push[self.changed].T).T
        return self._now(self._loaded + self._motions[:, : len(self.changed)] @ entered)

    def _now(self, x: np.ndarray) -> np.ndarray:
        """K^-1 r for the present working set, from that for the one that was factorized."""
        count = len(self.changed)
        if not count:
            return x
        small = self._coupling[:count, :count] + np.diag(1.0 / (self.sign * self.D[self.changed]))
        try:
            yields = np.linalg.solve(small, (self.network.B @ x)[self.changed])
        except np.linalg.LinAlgError:  # what is left of W holds nothing in some direction
            return np.full_like(x, np.nan)
        return x - self._motions[:, :count] @ yields

    def would_serve(self, contacts: np.ndarray) -> bool:
        """Whether these changes can be taken in as well."""
        back = np.count_nonzero(self._is_changed(contacts))
        return len(self.changed) + len(contacts) - 2 * back <= self.most

    def renew(self):
        """Factorize for the present working set."""
        if len(self.changed):
            self._loaded = None
            self._begin()

    def toggle(self, contacts: np.ndarray):
        """Let contacts, a list of different ones, enter or leave the working set. Factorized anew
        where that many changes are not worth taking in."""
        if not self.would_serve(contacts):
            self.working[contacts] = ~self.working[contacts]
            self._loaded = None
            return self._begin()
        contacts = np.asarray(contacts, int)
        back = self._is_changed(contacts)
        self.working[contacts] = ~self.working[contacts]
        if back.any():
            self._keep(np.flatnonzero(self._is_changed(self.changed)))
        enters = contacts[~back]
        for begin in range(0, len(enters), SETTINGS.at_once):
            self._take_in(enters[begin : begin + SETTINGS.at_once])

    def _is_changed(self, contacts):
        """Which of these are in the working set now or were when it was factorized, not both."""
        return self.working[contacts] != self._factorized[contacts]

    def _keep(self, stay):
        """The changes at the places ``stay``, ascending, alone."""
        for place, before in enumerate(stay):
            if place != before:
                self._motions[:, place] = self._motions[:, before]
        self._coupling[: len(stay), : len(stay)] = self._coupling[np.ix_(stay, stay)]
        self.changed, self.sign = self.changed[stay], self.sign[stay]

    def _take_in(self, enters):
        known, count = len(self.changed), len(self.changed) + len(enters)
        B = self.network.B
        rows = np.zeros((B.shape[1], len(enters)), order="F")
        for k, i in enumerate(enters):
            here = slice(B.indptr[i], B.indptr[i + 1])
            rows[B.indices[here], k] = B.data[here]
        columns = rows[:, 0] if len(enters) == 1 else rows
        more = self.system.factorize(self.stats).solve(columns)
        more = more.reshape(len(more), -1)
        self._motions[:, known:count] = more
        self.changed = np.append(self.changed, enters)
        self.sign = np.append(self.sign, np.where(self.working[enters], 1.0, -1.0))
        coupling = (B @ more)[self.changed]  # scipy takes longer to choose the rows first
        self._coupling[:count, known:count] = coupling
        self._coupling[known:count, :known] = coupling[:known].T
