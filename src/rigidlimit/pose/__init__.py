"""Questions about a pose that need no step.

``overlaps.py``: forces of the overlaps that a pose has, as of a DEM. ``static_analysis.py``: the
closed contacts with their friction cones, for questions of statics and masonry.
"""

from .given import given_forces
from .overlaps import PoseForces, forces_at_pose
from .springs import Springs
from .static_analysis import Joints, Statics, of_contacts, statics

__all__ = [
    "Joints",
    "PoseForces",
    "Springs",
    "Statics",
    "forces_at_pose",
    "given_forces",
    "of_contacts",
    "statics",
]
