"""The reference road: a soft-particle DEM of the same scene, and its comparison with the method."""

from .compare import Comparison, compare
from .rest import Rest, settle
from .result import PenaltyProgress, PenaltyResult
from .simulation import PenaltySimulation
from .sweep import stiffness_sweep

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
