"""The reference road: a soft-particle DEM of the same scene, and its comparison with the method."""

from .compare import Comparison, compare, stiffness_sweep
from .rest import Rest, settle
from .result import PenaltyProgress, PenaltyResult
from .simulation import PenaltySimulation

__all__ = [
    "Comparison",
    "PenaltyProgress",
    "PenaltyResult",
    "PenaltySimulation",
    "Rest",
    "compare",
    "settle",
    "stiffness_sweep",
]
