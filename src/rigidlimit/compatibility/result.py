"""What step 2 without friction answers, and how far forces can be from those of least energy."""

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from .._support.display import Displayed
from .._support.words import counted
from ..linear import column_arms
from ..status import HasStatus, Status, work


@dataclass(frozen=True, repr=False)
class CompatibleForces(HasStatus, Displayed):
    """The forces that stiff elastic contacts would have. m contacts, n degrees of freedom.

    Attributes
    ----------
    force : (m,) ndarray [N]
        Normal forces f >= 0.
    displacement : (n,) ndarray
        u of the network for stiffness as given, an elastic displacement times the unknown common
        stiffness scale; zero where held.
    status : Status
    residual : float
        max_j |B^T f - F~|_j / a_j over max_j |F~|_j / a_j, where a_j = max_i |B_ij| is 1 for
        translations and the longest arm for rotations, so that forces compare with forces. With
        gap_error over max_j (|B|^T f)_j / a_j where that is more: overlaps may press with forces
        far above the load, and the balance is known to the rounding of these.
    iterations : int
        Of the method.
    imbalance : (n,) ndarray [N, N m]
        B^T f - F~.
    worst_dof : int
        Column where the residual is attained.
    duality_gap : float
        |primal + dual| / primal energy, of the load that the forces stand for, less what rounding
        of loads, forces and displacements makes of it.
    force_error : float
        How far forces can be from the least energy by this gap and what it forgives, the worst of
        them over the largest force (``force_bound``), and the error due to rounding of B along
        weakly constrained motions, where these were found; for p < 2 a gap of 1e-9 means an error
        of 1e-3.
    tolerance : float
        On the residual.
    method : str
        "newton" or "augmented_lagrangian".
    forgiven : bool
        Whether ``force_error`` exceeds ``WARNED`` due to that allowance alone.
    nearest_status : Status or None
        Where the load is not carried, whether the forces for the nearest load that is were solved
        to the tolerance; where it stayed open whether it is carried, how the search for the
        nearest load ended.
    history : ndarray
        Residual after each iteration.
    linear_iterations, factorizations : int
        Conjugate gradient steps, and factorizations.
    routes : tuple of str
        Ways that were tried, in turn.
    load : (n,) ndarray or None
        The one that is balanced, where motions were left out of it.
    smallest_force : float [N]
        min f.
    carries_load : (m,) bool ndarray

    Examples
    --------
    >>> import numpy as np, rigidlimit as rl
    >>> beam = np.array([[1.0, -0.5], [1.0, 0.0], [1.0, 0.5]])  # columns: rise, turn
    >>> found = rl.compatible_forces(beam, [10.0, 0.0], stiffness=[1, 3, 1])
    >>> found.force.round(6), found.converged
    (array([2., 6., 2.]), True)
    """

    force: np.ndarray
    displacement: np.ndarray
    status: Status
    residual: float
    iterations: int
    imbalance: np.ndarray
    worst_dof: int
    duality_gap: float
    force_error: float
    tolerance: float
    method: str
    forgiven: bool = False
    nearest_status: Status | None = None
    history: np.ndarray = field(default_factory=lambda: np.zeros(0))
    linear_iterations: int = 0
    factorizations: int = 0
    routes: tuple[str, ...] = ()
    load: np.ndarray | None = None

    @property
    def smallest_force(self) -> float:
        return float(self.force.min()) if len(self.force) else 0.0

    @property
    def carries_load(self) -> np.ndarray:
        """Contacts with a significant force: above ten times the tolerance, of the largest
        force."""
        return self.force > max(1e-12, 10.0 * self.tolerance) * self.force.max(initial=0.0)

    @property
    def message(self) -> str:
        before, after, nearest = "", "", self.nearest_status
        if self.status is Status.LOAD_NOT_CARRIED:
            dof = self.worst_dof
            after = (
                "\nthe forces are those of the nearest load that can be carried; worst at degree "
                f"of freedom {dof} (body {dof // 6} if every body has six), out of balance by "
                f"{self.imbalance[dof]:.3g}"
            )
            if nearest not in (None, Status.CONVERGED):
                after += f"\nthey are not solved to the tolerance ({nearest}: {nearest.advice})"
        elif nearest is not None:
            after = "\nwhether any forces f >= 0 balance the load was not settled"
        steps, advice = counted(self.iterations, "iteration"), self.status.advice
        if self.status is Status.STALLED and self.residual <= self.tolerance:
            advice = (
                f"the forces balance the load, but may be off the contact law: their energy is "
                f"known to be the least to {self.duality_gap:.1e} only; look for motions that are "
                "all but free with rigidlimit.determinacy, as of bodies pressed from two sides"
            )
        if self.forgiven and self.converged:
            before = (
                f"forces are only known to {self.force_error:.0e} of the largest: some motion is "
                "weakly constrained, and displacements along it are so large that rounding "
                "dominates; look for such motions with rigidlimit.determinacy\n"
            )
        return (
            f"{before}{self.method}: {self.status}, residual {self.residual:.1e} "
            f"(tolerance {self.tolerance:.1e}) after {steps}{work(self)}; {advice}{after}"
        )


WARNED = 1e-3
"""Fraction of the largest force above which a force error due to rounding is reported."""


def force_bound(
    force: np.ndarray, stiffness: np.ndarray, exponent: float, gap: float
) -> np.ndarray:
    """How far each of the forces (m,) f >= 0 can be from those of least energy f*, if their energy
    is above the least by no more than the duality gap, a part ``gap`` of it.

    With phi = (p-1)/p k^(1/(1-p)) f^s, s = p/(p-1), the energy above the least is at least the sum
    of phi(f_i) - phi(f*_i) - phi'(f*_i) (f_i - f*_i), so that each of these terms is below it. With
    d = |f_i - f*_i| a term exceeds phi'' d^2 / 2, phi'' at f/2 if s >= 2 and d <= f/2, at 2 f if
    s < 2 and d <= f; and phi(d) whatever f is if s >= 2, phi''(2 d) d^2 / 2 if s < 2 and d > f.
    """
    if not (force.any() and np.isfinite(gap)):
        return np.full(len(force), 0.0 if gap == 0.0 else np.inf)
    p, s = exponent, exponent / (exponent - 1.0)
    k, f = stiffness / stiffness.max(), force / force.max()
    with np.errstate(all="ignore"):  # 0 to a negative power
        a = (p - 1) / p * k ** (1 / (1 - p))
        above = gap * float((a * f**s).sum())
        bend = a * s * (s - 1)
        if s >= 2.0:
            anywhere, near = (above / a) ** (1 / s), f / 2
            there = f / 2
        else:
            anywhere, near = (above * 2 ** (3 - s) / bend) ** (1 / s), f
            there = 2 * f
        close = np.sqrt(2 * above / (bend * there ** (s - 2)))
        if s >= 2.0:
            close = np.minimum(close, anywhere)
        bound = np.where(close <= near, close, anywhere)
    return bound * force.max()


def pressing(B: sp.csr_array, force: np.ndarray, free: np.ndarray) -> float:
    """max_j (|B|^T |f|)_j / a_j [N] over the columns that are free and moved: forces of initial
    overlaps, to whose rounding the balance is known. Held columns have no balance.

    B (m, n); force (m,); free (n,) bool.
    """
    arm, moved = column_arms(B)
    pressed = (abs(B).T @ np.abs(force)) / arm
    return float(pressed[free & moved].max(initial=0.0))
