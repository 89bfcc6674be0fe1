"""Forces on rough bodies far lighter than others, which are balanced to a part of the largest load.

An equilibrium is found to a tolerance over the largest load of all, and to rounding of the
largest force: beside 1e12 kg that is more than a kilogramme weighs. Bodies L that are off by a part
of their own load are balanced again by themselves, with the places of all others held: for the rows
of their contacts and their own columns, from where they are, with s the largest load among them,

    B_L^T f' = F~_L / s,     f' = law(w / l + B_L x'),     l = s^(1/(p-1)),     f = s f', dx = l x',

as the law is homogeneous; then the smallest of them in turn. Before that Newton's method continues
to rounding, as the others yield under the light ones, too.
"""

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from .._support.submatrix import submatrix
from ..equilibrium.dense import between_bodies
from ..equilibrium.law import ContactLaw
from ..equilibrium.mechanics import Mechanics
from ..equilibrium.result import Equilibrium
from ..equilibrium.rough_newton import newton
from ..equilibrium.rows import rows_of
from ..equilibrium.solve import solve

LIGHT = 1e-7
"""Error over a body's own load above which it is balanced by itself, as without friction."""

DIGITS = 10 * float(np.finfo(float).eps)
"""Accepted imbalance of a body over the largest force on it: rounding of forces."""

FURTHER = 2
"""Newton steps from an equilibrium to rounding; the law is piecewise linear, or nearly so."""

ROUNDS = 5
"""Times that light bodies are looked for: one for each step of weights far apart."""


def light_bodies_balanced(
    mechanics: Mechanics,
    rows: np.ndarray | sp.csr_array,
    law: ContactLaw,
    found: Equilibrium,
    load: np.ndarray,
    *,
    starts: np.ndarray,
    tolerance: float,
) -> Equilibrium:
    """``found``, an equilibrium, with light bodies balanced; the very one given if none is off.

    rows (m d, n), load (n,): scaled, of ``mechanics``. starts (bodies + 1,): first degree of
    freedom of each body.
    """
    if not _off(rows, found, load, starts).any():
        return found
    closer = newton(mechanics, law, found.x, tolerance=DIGITS, iterations=FURTHER)
    if closer.residual < found.residual:
        spent = found.iterations + closer.iterations
        found = replace(closer, status=found.status, iterations=spent)
    for _ in range(ROUNDS):
        light = _off(rows, found, load, starts)
        if not light.any():
            break
        better = _balanced(rows, law, found, load, np.repeat(light, np.diff(starts)), tolerance)
        if better is None or not _off(rows, better, load, starts).sum() < light.sum():
            break
        found = better
    return found


def _off(rows, found, load, starts) -> np.ndarray:
    """Bodies (k,) bool that are off by more than ``LIGHT`` of their own load."""
    missing, loads = (
        np.maximum.reduceat(np.abs(x), starts[:-1])
        for x in (rows.T @ found.force.ravel() - load, load)
    )
    off = (missing > LIGHT * loads) & (loads > 0.0)
    if off.any():
        pressed = abs(rows).T @ np.abs(found.force).ravel()
        off &= missing > DIGITS * np.maximum.reduceat(pressed, starts[:-1])
    return off


def _balanced(rows, law, found, load, chosen, tolerance) -> Equilibrium | None:
    """With the columns ``chosen`` (n,) bool balanced by themselves, the others held; None where no
    equilibrium of these was found."""
    columns, d = np.flatnonzero(chosen), found.force.shape[1]
    touching = np.flatnonzero((abs(rows) @ chosen).reshape(-1, d).any(axis=1))
    used = rows_of(touching, d)
    size = float(np.abs(load[columns]).max())
    length = size ** (1.0 / (law.exponent - 1.0))
    part = replace(
        law,
        normal=law.normal[touching],
        tangential=law.tangential[touching],
        friction=law.friction[touching],
        kept=law.kept[touching] / size,
        slide=None if law.slide is None else law.slide[touching],
    )
    mechanics = between_bodies(
        submatrix(sp.csr_array(rows), rows=used, columns=columns),
        -load[columns] / size,
        d,
        offset=found.displacement[touching] / length,
        shift=tolerance,
    )
    apart, _ = solve(
        mechanics, part, np.zeros(len(columns)), tolerance=0.5 * tolerance, force_size=1.0
    )
    if not apart.converged:
        return None
    x, force, w = found.x.copy(), found.force.copy(), found.displacement.copy()
    x[columns] += length * apart.x
    force[touching], w[touching] = size * apart.force, length * apart.displacement
    spent = found.iterations + apart.iterations
    return replace(found, x=x, force=force, displacement=w, iterations=spent)
