"""Forces on bodies far lighter than others, which step 2 balances to part of the largest load only.

Forces B^T f = F~ are solved to a tolerance over the largest load of all, and to rounding of the
largest force. Beside 1e12 kg that is more than a kilogramme weighs. Bodies L that are off by a
fraction of their own load are balanced again by themselves, with the displacements u of all others
held: for the rows of their contacts and their own columns, from where they are,

    B_L^T f = F~_L,     f_i = k_i max(0, -(B_L du)_i - g_i)^(p-1),     g = B u,

the smallest of them in turn: the error then is a fraction of the largest load among L.
"""

from dataclasses import replace

import numpy as np

from .._support.products import transposed_product
from .._support.submatrix import submatrix
from ..compatibility import compatible_forces
from ..compatibility.result import CompatibleForces
from ..compatibility.rough_light import DIGITS
from .step_data import Balance
from .tolerances import TOLERANCES


def light_bodies_balanced(
    balance: Balance,
    answer: CompatibleForces,
    free: np.ndarray,
    law: tuple[np.ndarray, float, float],
) -> CompatibleForces:
    """``answer`` with the forces on light bodies balanced; the very one given if none is off.

    balance: (B (m, 6 N), load (6 N,)). answer: ``CompatibleForces`` of it. free (6 N,) bool. law:
    (stiffness (m,), exponent, tolerance).
    """
    B, load = balance
    stiffness, exponent, tolerance = law
    for _ in range(TOLERANCES.rounds):
        off = _off(B, load, answer, free)
        if not (answer.converged and off.any()):
            break
        columns = np.flatnonzero(np.repeat(off, 6) & free)
        touching = np.zeros(B.shape[0], bool)
        touching[np.repeat(np.arange(B.shape[0]), np.diff(B.indptr))[off[B.indices // 6]]] = True
        rows = np.flatnonzero(touching)
        apart = compatible_forces(
            submatrix(B, rows=rows, columns=columns),
            load[columns],
            stiffness=stiffness[rows],
            exponent=exponent,
            gap_error=(B @ answer.displacement)[rows],
            tolerance=tolerance,
        )
        if not apart.converged:
            break
        force, displacement = answer.force.copy(), answer.displacement.copy()
        force[rows] = apart.force
        displacement[columns] += apart.displacement
        missing = np.where(free, transposed_product(B, force) - load, 0.0)
        better = replace(answer, force=force, displacement=displacement, imbalance=missing)
        if not _off(B, load, better, free).sum() < off.sum():
            break
        answer = better
    return answer


def _off(B, load, answer, free):
    """Bodies (N,) bool that are off by more than a part light of their own load."""
    missing, loads = (
        np.abs(np.where(free, x, 0.0)).reshape(-1, 6)[:, :3].max(axis=1, initial=0.0)
        for x in (answer.imbalance, load)
    )
    off = missing > TOLERANCES.light * loads
    if not off.any():
        return off
    pressed = np.zeros(len(off))
    size = np.repeat(answer.force, np.diff(B.indptr))
    np.maximum.at(pressed, B.indices // 6, size)
    return off & (missing > DIGITS * pressed) & (loads > 0.0)
