"""The reference road: a soft-particle DEM of the same scene, and its comparison with the method."""

from .compare import Comparison, compare, stiffness_sweep
from .simulation import PenaltyProgress, PenaltyResult, PenaltySimulation

__all__ = [
    "Comparison",
    "PenaltyProgress",
    "PenaltyResult",
    "PenaltySimulation",
    "compare",
    "stiffness_sweep",
]
