"""Step 2 as one record (eqs 36-37): data of smooth or rough contacts, checked once, and reduced to
the degrees of freedom that contacts move, with arms of order one.

    min over f >= 0 of  sum_i (p-1)/p k_i^(1/(1-p)) f_i^(p/(p-1))   subject to   B^T f = F~    (36)

with its dual, the no-tension network (eq. 32): displacements u and overlaps c = -B u with
f_i = k_i max(0, c_i)^(p-1). f is unique even where u is not. Rough contacts have d = 2 or 3 numbers
each, which balance B^T f_n + T^T f_t = F~ (``rough.py``).

Dividing column j by its largest arm a_j, measuring forces by the largest load and stiffness by the
largest stiffness changes no ratio of forces.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .._support import arrays
from .._support.arrays import MatrixLike
from .._support.matrices import Matrix
from .._support.products import transposed_product
from .._support.submatrix import submatrix
from ..errors import InputError
from ..linear import body_starts, column_arms, kept_starts

LEAST_EXPONENT = 1.01


@dataclass(frozen=True)
class ForceProblem:
    """m contacts of d numbers each, n degrees of freedom.

    Attributes
    ----------
    rows : (m d, n)
        Contact by contact, the normal row first; d is 1 without friction.
    load : (n,) [N, N m]
        F~, zero where held.
    free : (n,) bool
        What is not held.
    stiffness : (m,)
        k of the law f = k c^(p-1) with the exponent p.
    gap : (m,) [m] or None
        Initial gaps; None if all are zero.
    tolerance : float
    warm_start : (n,) or None
        Displacement of an earlier answer.
    dofs : (n',) int
        Free degrees of freedom that contacts move.
    arm : (n,)
        Longest arms of these, 1 elsewhere.
    reduced : (m d, n')
        The rows in these, over their arms.
    starts : int
        Where bodies begin among them.
    stiffest : float
        Unit of stiffness.
    size : float [N]
        Largest load over its arm; without a load, what overlaps press with from the start.
    """

    rows: Matrix
    d: int
    load: np.ndarray
    free: np.ndarray
    stiffness: np.ndarray
    exponent: float
    gap: np.ndarray | None
    tolerance: float
    warm_start: np.ndarray | None
    dofs: np.ndarray
    arm: np.ndarray
    reduced: Matrix
    starts: np.ndarray
    stiffest: float
    size: float

    def length(self, unit: float) -> float:
        """Displacement that goes with forces of size ``unit`` [N]."""
        return (unit / self.stiffest) ** (1.0 / (self.exponent - 1.0))

    def begun(self, length: float) -> np.ndarray | None:
        """``warm_start`` (n',) over arms and ``length``."""
        if self.warm_start is None:
            return None
        return self.warm_start[self.dofs] * self.arm[self.dofs] / length

    def displacement(self, x: np.ndarray, length: float) -> np.ndarray:
        """(n,) of x (n',)."""
        u = np.zeros(len(self.load))
        u[self.dofs] = x / self.arm[self.dofs] * length
        return u

    def carried(self, force: np.ndarray) -> np.ndarray:
        """Load (n,) that forces (m,) or (m, d) balance, zero where held."""
        return np.where(self.free, transposed_product(self.rows, force.ravel()), 0.0)

    def off(self, imbalance: np.ndarray) -> np.ndarray:
        """|imbalance| (n,) [N, N m] as forces on the longest arms."""
        return np.abs(imbalance) / self.arm

    def untouched(self) -> np.ndarray:
        """Load (n,) on degrees of freedom that no contact moves."""
        load = self.load.copy()
        load[self.dofs] = 0.0
        return load


def force_problem(
    B: MatrixLike,
    load: ArrayLike,
    *,
    stiffness: ArrayLike = 1.0,
    exponent: float = 2.0,
    fixed: ArrayLike | None = None,
    gap_error: ArrayLike | None = None,
    tolerance: float = 1e-10,
    warm_start: ArrayLike | None = None,
    blocks: ArrayLike | None = None,
) -> ForceProblem:
    """The record of these arguments of ``compatible_forces``. Raises InputError."""
    rows, d = arrays.sparse("B", B), 1
    m, n = rows.shape
    load = arrays.vector("load", load, n, what="degree of freedom (column of B)")
    stiffness, p = checked_law(stiffness, exponent, m)
    free = arrays.free_columns(fixed, n)
    load = np.where(free, load, 0.0)
    gap = None
    if gap_error is not None:
        gap = arrays.vector("gap_error", gap_error, m, what="contact (row of B)")
        gap = gap if gap.any() else None
    if warm_start is not None:
        warm_start = arrays.vector("warm_start", warm_start, n, what="degree of freedom")
    arm, moved = column_arms(rows, d)
    dofs, arm = np.flatnonzero(free & moved), np.where(free & moved, arm, 1.0)
    size = float((np.abs(load) / arm).max(initial=0.0))
    if gap is not None:
        pressing = float((stiffness * np.maximum(-gap, 0.0) ** (p - 1.0)).max(initial=0.0))
        size = size or pressing
    return ForceProblem(
        rows=rows,
        d=d,
        load=load,
        free=free,
        stiffness=stiffness,
        exponent=p,
        gap=gap,
        tolerance=arrays.positive("tolerance", tolerance),
        warm_start=warm_start,
        dofs=dofs,
        arm=arm,
        reduced=submatrix(rows, columns=dofs, scale=1.0 / arm[dofs]),
        starts=kept_starts(body_starts(n, blocks), dofs),
        stiffest=float(stiffness.max(initial=0.0)) or 1.0,
        size=size,
    )


def checked_law(stiffness: ArrayLike, exponent: float, m: int) -> tuple[np.ndarray, float]:
    """(stiffness (m,), exponent) of the law f = k c^(p-1), k > 0, p > 1; raises InputError."""
    stiffness = arrays.vector("stiffness", stiffness, m, what="contact (row of B)")
    soft = np.flatnonzero(stiffness <= 0)
    if len(soft):
        raise InputError(
            f"stiffness of contact {soft[0]} is {stiffness[soft[0]]}; expected a positive number"
        )
    p = arrays.number(exponent)
    if not (np.isfinite(p) and p > 1):
        raise InputError(f"exponent is {exponent!r}; expected p > 1 (2 is Hooke, 2.5 is Hertz)")
    if p < LEAST_EXPONENT:
        raise InputError(
            f"exponent is {exponent!r}; expected at least {LEAST_EXPONENT}: nearer to 1 overlaps, "
            "which grow like f^(1/(p-1)), leave the range of numbers"
        )
    return stiffness, p
