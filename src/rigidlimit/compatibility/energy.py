"""Energies of eqs 32 and 36, and the gap between them: how far from least energy forces are.

For forces f that balance the load and displacements u, with overlaps c = offset - B u, the gap is a
sum over contacts: complementary and strain energy less f c, zero where force and overlap obey the
law f = k c^(p-1).
"""

import numpy as np
from numba import njit

from ..equilibrium.smooth_law import SmoothNetwork
from .weak_motions import WeakMotions

EPS = float(np.finfo(float).eps)
"""Rounding of a number of order one."""

FORGIVEN = 1e-13
"""Part of the energy below which nothing that rounding makes of a gap is looked at: 1e-6 of forces
at most."""


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
    problem: SmoothNetwork, u: np.ndarray, force: np.ndarray, weak: WeakMotions | None = None
) -> tuple[float, float]:
    """(``duality_gap``, the same without allowance for rounding of B, u and forces): equal where
    that allowance is negligible.

    The second is summed up in long double, as displacements may be 1e16 overlaps. It bounds the
    energy above the least for any u, rounded or not.
    """
    gap, energy, rounding = _gap(problem, u, force, weak)
    if not 0.0 < FORGIVEN * energy < rounding:
        return gap, gap
    (B, load), stiffness, offset = _balance(problem, weak), problem.stiffness, problem.offset
    with np.errstate(over="ignore", invalid="ignore"):
        wide = np.longdouble
        force, load, u, stiffness = (np.asarray(x, wide) for x in (force, load, u, stiffness))
        overlap, carried = _products(B, u, force)
        overlap = -overlap if offset is None else offset - overlap
        p = wide(problem.exponent)
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


def duality_gap(
    problem: SmoothNetwork, u: np.ndarray, force: np.ndarray, weak: WeakMotions | None = None
) -> float:
    """Energy of balanced forces above the least, at most, over that energy (eqs 32 and 36).

    In units in which loads and stiffness are of order one: for p near 1 energies leave the range of
    numbers in others. inf where there is a load and no energy. u (n,), or (n + k,) with weak
    motions at its end.

    Summed up contact by contact, each of which has a gap of its own towards the law, and with the
    work that imbalance does: along weakly constrained motions u is so large that energies
    would differ by their rounding only. The effect of rounding of load, forces and u on overlaps
    and on that work does not count.
    """
    return _gap(problem, u, force, weak)[0]


def _balance(problem, weak):
    """(B, load) of the problem, with weak motions if there are any."""
    B, load = problem.network.B, problem.load
    return (B, load) if weak is None else weak.extended(B, load)


def _gap(problem, u, force, weak):
    """(``duality_gap``, energy of the forces, rounding of the work that is forgiven)."""
    B, load = _balance(problem, weak)
    missing, pushed = load.astype(float), np.abs(load)
    offset = np.zeros(len(force)) if problem.offset is None else problem.offset
    rows, law = (B.indptr, B.indices, B.data), (problem.stiffness, float(problem.exponent))
    gap, energy = _gap_and_energy(rows, u, force, law, offset, missing, pushed)
    work, rounding = float(missing @ u), EPS * float(pushed @ np.abs(u))
    gap = abs(gap + np.sign(work) * max(abs(work) - rounding, 0.0))
    if energy > 0:
        gap /= energy
    else:
        gap = np.inf if force.any() or load.any() else 0.0
    return gap, energy, rounding


@njit(cache=True, nogil=True, error_model="numpy")
def _gap_and_energy(rows, u, force, law, offset, missing, pushed):
    """(sum of the contacts' gaps, energy of the forces). B^T f is taken from ``missing`` (n,), and
    |B|^T f added to ``pushed`` (n,). law: k and p."""
    (indptr, indices, data), (k, p) = rows, law
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
