"""Step 1, classic contact dynamics (eqs 13-22): unique velocities, forces that are not."""

from .driver import SOLVERS, contact_dynamics
from .problem import ContactDynamicsResult, ContactProblem
from .rough import RoughDynamicsResult

__all__ = [
    "SOLVERS",
    "ContactDynamicsResult",
    "ContactProblem",
    "RoughDynamicsResult",
    "contact_dynamics",
]
