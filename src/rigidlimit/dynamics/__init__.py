"""Step 1, classic contact dynamics (eqs 13-22): unique velocities, forces that are not."""

from ..network.handover import Handover
from .driver import SOLVERS, contact_dynamics
from .problem import ContactDynamicsResult, ContactProblem
from .rough import RoughDynamicsResult

__all__ = [
    "SOLVERS",
    "ContactDynamicsResult",
    "ContactProblem",
    "Handover",
    "RoughDynamicsResult",
    "contact_dynamics",
]
