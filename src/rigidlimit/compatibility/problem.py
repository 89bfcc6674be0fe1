"""Step 2 as one record (eqs 36-37): data of smooth or rough contacts, checked (``checked.py``), and
reduced to the degrees of freedom that contacts move, with arms of order one.

    min over f >= 0 of  sum_i (p-1)/p k_i^(1/(1-p)) f_i^(p/(p-1))   subject to   B^T f = F~    (36)

with its dual, the no-tension network (eq. 32): displacements u and overlaps c = -B u with
f_i = k_i max(0, c_i)^(p-1). f is unique even where u is not. Rough contacts have d = 2 or 3 numbers
each, which balance B^T f_n + T^T f_t = F~ (``rough.py``).

Dividing column j by its largest arm a_j, measuring forces by the largest load and stiffness by the
largest stiffness changes no ratio of forces.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .._support.matrices import Matrix
from .._support.products import transposed_product
from ..equilibrium.dense import Bodies, Dense, between_bodies
from ..equilibrium.sums import WHOLE, Sums
from ..linear import MovedColumns
from .rough_result import ContactHistory


@dataclass(frozen=True)
class ForceProblem:
    """m contacts of d numbers each, n degrees of freedom, n' of them free and moved by contacts.

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
        Initial gaps, at the end of the increment.
    tolerance : float
    warm_start : (n,) or None
        Displacement of an earlier answer.
    moved : MovedColumns
        The columns of these, and their arms.
    size : float [N]
        Largest load over its arm. What overlaps press with from the start counts too: of rough
        contacts where it is more, of smooth ones where there is no load.
    tangential, friction : (m,)
        k_t and mu of rough contacts; None of smooth ones.
    slide : (m, d-1) or None
        Direction of the tangential force of those known to slide.
    history : ContactHistory or None
        Forces that the increment begins with; None: none.
    tangential_law : str
    sums : Sums
        Over what other processes have too.
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
    moved: MovedColumns
    size: float
    tangential: np.ndarray | None = None
    friction: np.ndarray | None = None
    slide: np.ndarray | None = None
    history: ContactHistory | None = None
    tangential_law: str = ""
    sums: Sums = WHOLE

    @cached_property
    def stiffest(self) -> float:
        """Unit of stiffness."""
        return self.sums.most(self.stiffness) or 1.0

    @cached_property
    def unit(self) -> float:
        """Unit of forces [N]: ``size``, or what contacts remember where that is more."""
        kept = 0.0 if self.history is None else self.sums.largest(self.history.normal)
        return max(self.size, kept) or 1.0

    @cached_property
    def length(self) -> float:
        """Unit of displacements."""
        return (self.unit / self.stiffest) ** (1.0 / (self.exponent - 1.0))

    @cached_property
    def goal(self) -> np.ndarray:
        """The load (n',) over arms and unit."""
        return self.moved.over_arms(self.load) / self.unit

    @property
    def begun(self) -> np.ndarray | None:
        """``warm_start`` (n',) times arms, over the unit."""
        if self.warm_start is None or not self.length:  # which underflows for exponents near 1
            return None
        dofs = self.moved.dofs
        return self.warm_start[dofs] * self.moved.arm[dofs] / self.length

    @cached_property
    def presses(self) -> bool:
        """Whether anything presses contacts together, or did, that bodies can give way to."""
        kept = self.history is not None and self.sums.any(self.history.normal)
        return self.sums.total(len(self.moved.dofs)) > 0 and (self.size > 0.0 or kept)

    @property
    def residual_unit(self) -> float:
        """Unit of residuals, over that of forces; without a load, in parts of what contacts
        remember."""
        return max((self.size or self.unit) / self.unit, 1e-30)

    def mechanics(self, offset: np.ndarray | None, shift: float) -> "Bodies | Dense":
        """The bodies between rough contacts. offset (m, d): how far these are apart; shift:
        stiffness of motions that no contact resists."""
        options = dict(offset=offset, shift=shift, unit=self.residual_unit)
        return between_bodies(self.moved.B, -self.goal, self.d, **options)

    def change(self, x: np.ndarray) -> np.ndarray:
        """(m, d) at the contacts of x (n',)."""
        return (self.moved.B @ x).reshape(-1, self.d)

    def untouched(self) -> tuple[np.ndarray, bool]:
        """(load (n,) on degrees of freedom that no contact moves, whether it is more than
        rounding)."""
        load = self.load.copy()
        load[self.moved.dofs] = 0.0
        return load, bool(np.abs(load).max(initial=0.0) > self.tolerance * self.size)

    def carried(self, force: np.ndarray) -> np.ndarray:
        """Load (n,) that forces (m,) or (m, d) balance, zero where held."""
        return np.where(self.free, transposed_product(self.rows, force.ravel()), 0.0)

    def balance(self, force: np.ndarray, load: np.ndarray, size: float) -> dict:
        """Fields of an answer with these forces for that load (n,): imbalance; residual over
        ``size`` [N], and where it is attained."""
        imbalance = self.carried(force) - load
        off = np.abs(imbalance) / self.moved.arm / size
        worst = int(np.argmax(off)) if len(off) else 0
        residual = self.sums.largest(off)
        return dict(imbalance=imbalance, residual=residual, worst_dof=worst)
