"""What a factorization of a network costs, in steps of conjugate gradients, and whether it fits.

Guessed from the number of degrees of freedom alone, as for a body in space; once so many steps have
been taken that it pays to look, told from the structure of the factor, which is far smaller in
walls and layers.
"""

import weakref
from functools import cached_property

from .._support.memory import fits
from .dissection import has_metis
from .fronts import Fronts, dense_fronts

DIRECT_LIMIT = 150_000
"""Degrees of freedom up to which a factorization is taken where conjugate gradients would do in the
end: about one gigabyte."""

DEARER, FEWER = 8, 4
"""How many times dearer a factorization is by SuperLU in its own order, where METIS is missing, and
how many times fewer the degrees of freedom up to which it is taken."""

MEMORY_MATTERS, BYTES_EACH = 15_000, 5_500
"""Degrees of freedom from which memory is looked at: solves ask often, and it takes as long as one
of fewer (the factorization itself asks again, ``memory.LITTLE``). Bytes for each in packings of
``DIRECT_LIMIT``, at the peak."""

LOOK = 500
"""Steps on a network from which its factor is looked at beforehand, which takes as long as 100 to
200; more where that is larger than ``DIRECT_LIMIT``."""

MANY = 4
"""How many times later where springs are of two sorts: each of some twenty points of the central
path would need a factorization of its own."""

STEP = 220
"""Multiplications of ``Fronts.operations`` that take as long as one step, a contact."""


def guessed_cost(n: int) -> int:
    """Steps of conjugate gradients that take as long as one factorization of n degrees of freedom.

    Measured with the order on pyramids of 855 to 61,620 degrees of freedom: 210 to 2,800; on random
    packings a third of it. Both a factorization's work over n and this grow like n in space.
    """
    return (100 + n // 20) * (1 if has_metis() else DEARER)


def affordable(n: int) -> bool:
    """Whether a factorization of n degrees of freedom is to be thought of at all where there are
    other ways: of no more than DIRECT_LIMIT, and if it does not take too much memory."""
    if n <= MEMORY_MATTERS:
        return True
    return n <= DIRECT_LIMIT / (1 if has_metis() else FEWER) and fits(n * BYTES_EACH)


class FactorizationCost:
    """Of one network, as solves on it learn of it.

    steps: of conjugate gradients, or of others as dear, taken so far. direct: whether conjugate
    gradients have proved too dear. rounded: whether large factors may be kept in single precision.

    The network holds its cost, and must not be held by it: in a circle it would outlive its step
    until Python looks for circles, with all that was made of it.
    """

    def __init__(self, network, *, rounded: bool = True):
        self._of, self.steps = weakref.ref(network), 0
        self.direct, self.rounded = False, rounded

    @property
    def _network(self):
        return self._of()

    @property
    def of_factorization(self) -> float:
        """Steps that take as long as a factorization."""
        if self._structure is None:
            return guessed_cost(self.dofs)
        return self._structure.operations / (STEP * max(1, self._network.B.shape[0]))

    @property
    def patience(self) -> int:
        """Steps of one solve after which it is factorized: what is known to be near may be waited
        for, up to twice the cost; a guess is mostly too high."""
        return int((1 if self._structure is None else 2) * self.of_factorization)

    @property
    def affordable(self) -> bool:
        """Whether a factorization is to be thought of at all."""
        if self._structure is None:
            return affordable(self.dofs)
        if self.of_factorization > guessed_cost(DIRECT_LIMIT):
            return False
        return fits(self._structure.bytes(self.rounded))

    @property
    def dofs(self) -> int:
        return self._network.B.shape[1]

    @property
    def _structure(self) -> Fronts | None:
        """Of the factor with all contacts active; None as long as it is not worth a look."""
        enough = LOOK * max(1.0, self.dofs / DIRECT_LIMIT)
        if self._network.two_sorts:
            enough *= MANY
        return self._looked_at if self.steps >= enough and has_metis() else None

    @cached_property
    def _looked_at(self) -> Fronts:
        B, mass = self._network.B, self._network.mass
        rows, inertia = (B.indptr, B.indices), (mass.indptr, mass.indices)
        return dense_fronts(rows, inertia, self._network.starts, self._network.elimination_order)
