"""The compatibility problem of one step, eqs 36-37, and its answer.

    min over f >= 0 of  sum_i (p-1)/p k_i^(1/(1-p)) f_i^(p/(p-1))   subject to   B^T f = F~    (36)

with its dual, the no-tension network (eq. 32): displacements u and overlaps c = -B u with
f_i = k_i max(0, c_i)^(p-1). f is unique even where u is not.
"""

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import ArrayLike

from .._support import arrays
from .._support.display import Displayed
from .._support.words import counted
from ..errors import InputError
from ..linear import column_arms
from ..status import Status, work


@dataclass(frozen=True, repr=False)
class CompatibleForces(Displayed):
    """The forces that stiff elastic contacts would have. m contacts, n degrees of freedom.

    force (m,) [N]: normal forces f >= 0. displacement (n,): u of the network for stiffness as
    given, an elastic displacement times the unknown common stiffness scale; zero where held.
    residual: max_j |B^T f - F~|_j / a_j over max_j |F~|_j / a_j, where a_j = max_i |B_ij| is 1 for
    translations and the longest arm for rotations, so that forces compare with forces. With
    gap_error over max_j (|B|^T f)_j / a_j where that is more: overlaps may press with forces far
    above the load, and the balance is known to the last digits of these.
    smallest_force [N]: min f. duality_gap: |primal + dual| / primal energy, of the load that the
    forces stand for, less what rounding of loads, forces and displacements makes of it.
    force_error: how far forces can be from the least energy by this gap and what it forgives,
    the worst of them over the largest force (``force_bound``); for p < 2 a gap of 1e-9 leaves 1e-3
    open. forgiven: whether it is more than ``WARNED`` by what was forgiven alone. imbalance
    (n,) [N, N m]: B^T f - F~. worst_dof: where the residual is attained. carries_load (m,) bool.
    routes: ways that were tried, in turn.
    nearest_status: where the load is not carried, whether the forces for the nearest load that is
    were solved to the tolerance; where it stayed open whether it is carried, how the search for the
    nearest load ended; else None.
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

    @property
    def converged(self) -> bool:
        return self.status is Status.CONVERGED

    @property
    def smallest_force(self) -> float:
        return float(self.force.min()) if len(self.force) else 0.0

    @property
    def carries_load(self) -> np.ndarray:
        """Contacts with a force that tells: above ten times the tolerance, of the largest force."""
        return self.force > max(1e-12, 10.0 * self.tolerance) * self.force.max(initial=0.0)

    @property
    def message(self) -> str:
        where, nearest = "", self.nearest_status
        if self.status is Status.LOAD_NOT_CARRIED:
            where = (
                f"; worst at degree of freedom {self.worst_dof} "
                f"(body {self.worst_dof // 6} if every body has six), out of balance by "
                f"{self.imbalance[self.worst_dof]:.3g}; the forces are those of the nearest load "
                "that can be carried"
            )
            if nearest not in (None, Status.CONVERGED):
                where += f", but not solved to the tolerance ({nearest}: {nearest.advice})"
        elif nearest is not None:
            where = "; whether any forces f >= 0 balance the load was not settled"
        steps, advice = counted(self.iterations, "iteration"), self.status.advice
        if self.status is Status.STALLED and self.residual <= self.tolerance:
            advice = (
                f"the forces balance the load, but may be off the contact law: their energy is "
                f"known to be the least to {self.duality_gap:.1e} only; look for motions that are "
                "all but free with rigidlimit.determinacy, as of bodies pressed from two sides"
            )
        if self.forgiven and self.converged:
            advice += (
                f", but forces are known to {self.force_error:.0e} of the largest only: contacts "
                "hardly feel some motion, and displacements along it are so long that their last "
                "digits decide; look for such motions with rigidlimit.determinacy"
            )
        return (
            f"{self.method}: {self.status}, residual {self.residual:.1e} "
            f"(tolerance {self.tolerance:.1e}) after {steps}{work(self)}{where}; {advice}"
        )


WARNED = 1e-3
"""Part of the largest force from which on it is told that rounding leaves forces open."""


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
    """max_j (|B|^T |f|)_j / a_j [N] over the columns that are free and moved: what overlaps press
    with from the start, whose last digits the balance is known to. Held columns have no balance.

    B (m, n); force (m,); free (n,) bool.
    """
    arm, moved = column_arms(B)
    pressed = (abs(B).T @ np.abs(force)) / arm
    return float(pressed[free & moved].max(initial=0.0))


LEAST_EXPONENT = 1.01

EPS = float(np.finfo(float).eps)
"""Last digit of a number of order one."""


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


@np.errstate(over="ignore")  # forces of an attempt that lost its way
def complementary_energy(force: np.ndarray, stiffness: np.ndarray, exponent: float) -> float:
    """Objective of eq. 36 (eq. 34 summed)."""
    p = exponent
    return float((p - 1) / p * (stiffness ** (1 / (1 - p)) * force ** (p / (p - 1))).sum())


@np.errstate(over="ignore")
def strain_energy(overlap: np.ndarray, stiffness: np.ndarray, exponent: float) -> float:
    """sum k/p max(0, c)^p, eq. 32."""
    return float((stiffness / exponent * np.maximum(overlap, 0.0) ** exponent).sum())


def both_gaps(
    B: sp.csr_array,
    u: np.ndarray,
    force: np.ndarray,
    stiffness: np.ndarray,
    exponent: float,
    load: np.ndarray,
    offset: np.ndarray | None = None,
) -> tuple[float, float]:
    """(``duality_gap``, the same with nothing forgiven, B, u and forces taken as they stand): one
    and the same where what is forgiven is next to nothing.

    The second is summed up in long double, as displacements may be 1e16 overlaps. It bounds the
    energy above the least for any u, rounded or not.
    """
    gap, energy, rounding = _gap(B, u, force, stiffness, exponent, load, offset)
    if not 0.0 < FORGIVEN * energy < rounding:
        return gap, gap
    with np.errstate(over="ignore", invalid="ignore"):
        wide = np.longdouble
        force, load, u, stiffness = (np.asarray(x, wide) for x in (force, load, u, stiffness))
        overlap, carried = _products(B, u, force)
        overlap = -overlap if offset is None else offset - overlap
        p = wide(exponent)
        lawful = (force / stiffness) ** (1 / (p - 1))
        held = (p - 1) / p * lawful * force
        stored = stiffness / p * np.maximum(overlap, 0) ** p
        apart = float((held + stored - force * overlap).sum() + abs((load - carried) @ u))
    return gap, max(gap, apart / energy)


def _products(B, u, force):
    """(B u, B^T f) in long double."""
    row = np.repeat(np.arange(B.shape[0]), np.diff(B.indptr))
    moved, carried = np.zeros(B.shape[0], u.dtype), np.zeros(B.shape[1], u.dtype)
    np.add.at(moved, row, B.data * u[B.indices])
    np.add.at(carried, B.indices, B.data * force[row])
    return moved, carried


FORGIVEN = 1e-13
"""Part of the energy below which nothing that rounding makes of a gap is looked at: 1e-6 of forces
at most."""


def duality_gap(
    B: sp.csr_array,
    u: np.ndarray,
    force: np.ndarray,
    stiffness: np.ndarray,
    exponent: float,
    load: np.ndarray,
    offset: np.ndarray | None = None,
) -> float:
    """Energy of balanced forces above the least, at most, over that energy (eqs 32 and 36).

    In units in which loads and stiffness are of order one: for p near 1 energies leave the range of
    numbers in others. inf where there is a load and no energy. offset (m,): see ``equilibrium``.

    Summed up contact by contact, each of which has a gap of its own towards the law, and with the
    work that imbalance does: along motions that contacts hardly feel, u is so large that energies
    would differ by their rounding only. What the last digit of load, forces and u makes of overlaps
    and of that work is no gap.
    """
    return _gap(B, u, force, stiffness, exponent, load, offset)[0]


def _gap(B, u, force, stiffness, exponent, load, offset):
    """(``duality_gap``, energy of the forces, rounding of the work that is forgiven)."""
    missing, pushed = load.astype(float), np.abs(load)
    offset = np.zeros(len(force)) if offset is None else offset
    gap, energy = _gap_and_energy(
        B.indptr, B.indices, B.data, u, force, stiffness, float(exponent), offset, missing, pushed
    )
    work, rounding = float(missing @ u), EPS * float(pushed @ np.abs(u))
    gap = abs(gap + np.sign(work) * max(abs(work) - rounding, 0.0))
    if energy > 0:
        gap /= energy
    else:
        gap = np.inf if force.any() or load.any() else 0.0
    return gap, energy, rounding


@njit(cache=True, nogil=True, error_model="numpy")
def _gap_and_energy(indptr, indices, data, u, force, k, p, offset, missing, pushed):
    """(sum of the contacts' gaps, energy of the forces). B^T f is taken from ``missing`` (n,), and
    |B|^T f added to ``pushed`` (n,)."""
    q = 1.0 / (p - 1.0)
    gap = energy = 0.0
    for i in range(len(force)):
        f, overlap, size = force[i], offset[i], abs(offset[i])
        for e in range(indptr[i], indptr[i + 1]):
            j = np.uint64(indices[e])
            moved, push = data[e] * u[j], data[e] * f
            overlap -= moved
            size += abs(moved)
            missing[j] -= push
            pushed[j] += abs(push)
        lawful = f / k[i] if q == 1.0 else (f / k[i]) ** q
        blur = EPS * size
        overlap += min(max(lawful - overlap, -blur), blur)
        closed = max(overlap, 0.0)
        held = lawful * f / (q + 1.0)
        stored = k[i] / p * (closed * closed if p == 2.0 else closed**p)
        gap += held + stored - f * overlap
        energy += held
    return gap, energy
