"""The last factorization of step 1, handed to step 2 of the same time step.

Where about as many contacts bear as there are degrees of freedom, both steps factorize a matrix of
the same contacts: M + B_W^T D B_W with springs D stiff beside the inertia in step 1, B_W^T D B_W
with the tangents D of the contact law in step 2. Forces that have next to no freedom do not depend
on D, so that step 2 may take the D of step 1; and the inertia matters to a few soft motions only,
so that conjugate gradients preconditioned by the first factor solve with the second matrix in four
or five steps. Where bodies fall together, or are of very unlike size, more motions are so soft, and
a factorization of step 2's own is the quicker way: the borrowed one says so.
"""

import numpy as np
import scipy.sparse as sp

from .._support.submatrix import submatrix
from .._support.words import counted
from ..errors import InputError
from ..linear import LinearStats
from ..linear.low_rank_update import ChangingSystem
from ..linear.preconditioned import solve
from ..linear.stiffness import DIRECT_SIZE

STEPS, IN_ALL = 15, 30
"""Conjugate gradient steps of one solve, and of all, that a factor still serves with; five and
fifteen are the rule, and a factorization takes as long as ten to thirty."""

SMALL = DIRECT_SIZE
"""Degrees of freedom up to which a factorization of one's own is made in less time."""

LIGHT = 1e-5
"""Part of the inertia that is kept, for motions that no contact of W resists."""

REACHED = 1e-14
"""Residual over the right side, or over the load, at which a solve ends."""


class Handover:
    """The last factorization of ``contact_dynamics``, for ``compatible_forces`` of the same step.

    Made empty; ``contact_dynamics(..., handover=h)`` fills it where it came to the answer by a
    factorization, ``compatible_forces(..., handover=h.among(rows=closed))`` uses it up.
    """

    # system: factorized, or None. row (m,), column (n,): the system's for each of B, -1 where it
    # has none. ratio (n,): what the system's columns are divided by over what those of B are.

    def __init__(self):
        self.system: ChangingSystem | None = None
        self.row = self.column = self.ratio = None

    def leave(self, system, arm):
        """Put a system in here, whose columns are divided by arm."""
        self.system, self.ratio = system, arm

    def place(self, rows, columns, shape):
        """Say which rows and columns of a B of this shape the system's are."""
        if self.system is None:
            return
        self.row, self.column = np.full(shape[0], -1), np.full(shape[1], -1)
        self.row[rows], self.column[columns] = np.arange(len(rows)), np.arange(len(columns))
        arm, self.ratio = self.ratio, np.ones(shape[1])
        self.ratio[columns] = arm

    def taken(self) -> "Handover":
        """What is in here, which is large; nothing is left here."""
        found = Handover()
        found.__dict__.update(self.__dict__)
        self.__init__()
        return found

    def among(self, *, rows=None, columns=None, arm=1.0) -> "Handover":
        """The same for B[rows][:, columns], columns divided by arm. Nothing is left here.

        rows, columns: ascending indices, all by default. arm: a number or one a column.
        """
        found = self.taken()
        if found.system is not None:
            found.row = found.row if rows is None else found.row[rows]
            if columns is not None:
                found.column, found.ratio = found.column[columns], found.ratio[columns] / arm
        return found


def check_handover(handover, shape=None):
    """Raise InputError for what is no ``Handover``, or of a B of other than this shape."""
    if not isinstance(handover, Handover):
        raise InputError(f"handover is a {type(handover).__name__}; expected a rigidlimit.Handover")
    if shape is None or handover.system is None:
        return
    m, n = len(handover.row), len(handover.column)
    if m != shape[0]:
        raise InputError(
            f"handover is of {counted(m, 'contact')}, B of {shape[0]}; expected "
            "handover.among(rows=...) with the rows of B that were kept"
        )
    if n != shape[1]:
        raise InputError(
            f"handover is of {counted(n, 'degree of freedom')}, B of {shape[1]}; "
            "expected the columns of the B that contact_dynamics had: fixed=... holds some of them"
        )


class BorrowedSystem:
    """B_W^T D B_W and a little inertia, for a working set W that ``toggle`` changes, by a factor
    that was handed over.

    As ``ChangingSystem`` to its users. held (m,) bool: W. D (m,): in proportion to that factor's.
    """

    def __init__(self, network, held, given: Handover, size: float, stats: LinearStats):
        self.network, self.held, self.stats = network, held.copy(), stats
        self._begun = stats.products
        self._system, self._row = given.system, given.row
        self._column, self._ratio = given.column, given.ratio
        D, all_mass = given.system.D[given.row], given.system.network.mass
        scale = size / float(np.median(D[held]))
        self.D = np.where(given.row >= 0, scale * D, size)
        mass = submatrix(all_mass, rows=self._column, columns=self._column, scale=self._ratio)
        sizes = LIGHT * scale * np.repeat(self._ratio, np.diff(mass.indptr))
        self._mass = sp.csr_array((sizes * mass.data, mass.indices, mass.indptr), mass.shape)

    @classmethod
    def of(cls, network, held, given: Handover, size, stats) -> "BorrowedSystem | None":
        """That of ``network`` with W = ``held`` (m,) bool, by what was ``given`` for its rows and
        columns, where that serves; D has the median ``size``. Nothing is left there."""
        given = given.taken()
        if given.system is None or len(given.column) <= SMALL:
            return None
        if (given.column < 0).any() or (given.row[held] < 0).any():
            return None
        wanted = np.zeros(len(given.system.held), bool)
        wanted[given.row[held]] = True
        changes = np.flatnonzero(wanted ^ given.system.held)
        if not given.system.would_serve(changes):
            return None
        given.system.toggle(changes)
        return cls(network, held, given, size, stats)

    def would_serve(self, contacts) -> bool:
        """Whether these changes can be taken in as well."""
        rows = self._row[contacts]
        return (rows >= 0).all() and self._system.would_serve(rows)

    def toggle(self, contacts):
        """Let contacts, a list of different ones, enter or leave the working set."""
        self.held[contacts] = ~self.held[contacts]
        self._system.toggle(self._row[contacts])

    def load_with(self, push, load):
        """What ``displacement`` answers to."""
        self._push, self._load, self._u = push, load, np.zeros(len(load))

    def displacement(self) -> np.ndarray:
        """u with B_W^T D B_W u = B_W^T push - load."""
        rhs = self.network.carried(np.where(self.held, self._push, 0.0)) - self._load
        self._u = self._u + self.solve(rhs - self._product(self._u))  # of W before: near
        return self._u

    def solve(self, rhs) -> np.ndarray:
        """x with B_W^T D B_W x = rhs; NaN where the factor does not serve."""
        enough = REACHED * max(np.abs(rhs).max(initial=0.0), np.abs(self._load).max(initial=0.0))
        found = solve(self._product, self._preconditioned, rhs, enough=enough, most=STEPS)
        self.stats.products += found.steps
        serves = found.steps < STEPS and self.stats.products - self._begun <= IN_ALL
        return found.x if serves else np.full_like(rhs, np.nan)

    def _product(self, x):
        active = np.where(self.held, self.D, 0.0)
        return self.network.carried(active * (self.network.B @ x)) + self._mass @ x

    def _preconditioned(self, r):
        theirs = np.zeros(self._system.network.B.shape[1])
        theirs[self._column] = r / self._ratio
        return self._system.nearly(theirs)[self._column] / self._ratio
