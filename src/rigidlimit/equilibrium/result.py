"""What every solver of this folder answers."""

from dataclasses import dataclass, field

import numpy as np

from ..status import HasStatus, Status


@dataclass(frozen=True)
class Equilibrium(HasStatus):
    """Where a solver ended: at the equilibrium, or where it went no further.

    x: unknowns, displacements [m] or velocities [m/s] of the bodies. force [N], displacement [m]: f
    and w at the contacts, (m,) of smooth ones and (m, d) of rough ones; w_n > 0 opens. residual:
    the imbalance in the unit of the solver. iterations: linear systems solved. history: residuals
    where they are kept.
    """

    x: np.ndarray
    force: np.ndarray
    displacement: np.ndarray
    status: Status
    residual: float
    iterations: int
    history: np.ndarray = field(default_factory=lambda: np.zeros(0))
