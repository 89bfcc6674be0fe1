"""Degree of indeterminacy of forces that are known, by counting: two ranks and no optimization.

The admissible forces of a load are P = {f >= 0 : B^T f = F~}, of dimension |A| - rank B_A, where A
holds the contacts that can carry (``determinacy.py``). Two members of P are known, the classic and
the compatible forces. With S the contacts that either loads, and C all closed ones, S is part of A
and A of C, so that

    |S| - rank B_S  <=  dim P  <=  |C| - rank B_C.

As a rule the two are equal. Where they are not, ``determinacy`` finds A.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from .._support.submatrix import submatrix
from ..linear import MovedColumns
from .rank import rank


@dataclass(frozen=True)
class Degree:
    """The degree of indeterminacy lies from ``least`` to ``most``, as a rule one number.

    Attributes
    ----------
    least, most : int

    Examples
    --------
    >>> import rigidlimit as rl
    >>> rl.Simulation("beam").step().degree
    Degree(least=1, most=1)
    """

    least: int
    most: int

    def __str__(self) -> str:
        if self.most == 0:
            return "degree of indeterminacy 0: balance alone determines every force"
        known = str(self.least)
        if self.least < self.most:
            known = f"between {self.least} and {self.most}"
        return (
            f"degree of indeterminacy {known}: balance does not determine forces, stiffness decides"
        )


def degree(
    B: sp.csr_array, loaded: np.ndarray, *, free: np.ndarray, blocks: ArrayLike | None = None
) -> Degree:
    """Bounds of the degree of indeterminacy, from what carries in known admissible forces.

    Parameters
    ----------
    B : sparse (m, n)
        Gap gradient of the closed contacts.
    loaded : (m,) bool
        Contacts that carry in any admissible forces that are known.
    free : (n,) bool
        Degrees of freedom that may move.
    blocks : (k,), optional
        First degree of freedom of each body, ending with n.
    """
    moved = MovedColumns.of(B, free, blocks)
    B, starts = moved.B, moved.starts
    most = B.shape[0] - rank(B, blocks=starts).rank
    if loaded.all() or most == 0:
        return Degree(most, most)
    chosen = np.flatnonzero(loaded)
    return Degree(len(chosen) - rank(submatrix(B, rows=chosen), blocks=starts).rank, most)
