"""Step 2, compatible forces (eqs 36-37): the unique forces that stiff bodies would have."""

from .driver import compatible_forces
from .result import CompatibleForces
from .rough_result import ContactHistory, RoughForces

__all__ = ["CompatibleForces", "ContactHistory", "RoughForces", "compatible_forces"]
