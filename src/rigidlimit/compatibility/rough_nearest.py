"""The load nearest to F~ that forces in the friction cones balance, and those of least energy.

    min |A^T f - F~|^2 / (2 e) + sum f_n^2/(2 k_n) + |f_t|^2/(2 k_t)      over f in the cones

is least energy of bodies with the inertia e: their velocities x take what is not carried, e x =
A^T f - F~. Each step keeps the x of the one before, e (x - x_0) (proximal iteration), and has a
smaller e. Loads are measured over the columns' arms.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..equilibrium.dense import between_bodies
from ..equilibrium.law import ContactLaw
from ..equilibrium.mechanics import Inertia
from ..equilibrium.result import Equilibrium
from ..equilibrium.solve import Settings, solve
from ..status import Status


@dataclass(frozen=True)
class NearestSettings:
    """How the nearest load is found.

    Attributes
    ----------
    missing : fraction of the load left unbalanced above which the nearest load is looked for: a
        smaller one may be rounding.
    inertia : e of the steps, over the largest stiffness; smaller ones cost digits.
    tolerance : of a step's balance.
    settled : change of the load in the last step, over its size, below which it counts as found.
    path : iterations of the interior path.
    """

    missing: float = 1e-5
    inertia: tuple[float, ...] = (1e-3, 1e-4, 1e-5, 1e-6)
    tolerance: float = 1e-11
    settled: float = 1e-5
    path: int = 120


NEAREST = NearestSettings()


def nearest_forces(
    rows: np.ndarray | sp.csr_array, goal: np.ndarray, law: ContactLaw
) -> tuple[Equilibrium | None, Status, int]:
    """(forces, whether their load is the nearest to ``NEAREST.settled``, linear systems solved).

    rows (m d, n), goal (n,): scaled, of order one; law: associated. No forces where not even the
    first step is solved.
    """
    d = rows.shape[0] // len(law.friction)
    one = sp.csr_array(sp.eye_array(len(goal)))
    best, load, x, solves, moved = None, np.zeros(len(goal)), np.zeros(len(goal)), 0, np.inf
    for e in NEAREST.inertia:
        inertia = Inertia(e * one, one / e, rows / e)
        mechanics = between_bodies(rows, e * x - goal, d, inertia=inertia)
        found, _ = solve(
            mechanics,
            law,
            np.zeros(len(goal)),
            tolerance=NEAREST.tolerance,
            force_size=1.0,
            settings=Settings(newton=0, path=NEAREST.path),
        )
        solves += found.iterations
        if not found.converged:
            break
        best, x = found, found.x
        carried = rows.T @ found.force.ravel()
        moved, load = float(np.abs(carried - load).max(initial=0.0)), carried
    return best, Status.CONVERGED if moved <= NEAREST.settled else Status.STALLED, solves
