"""What statics says of rough contacts, whose forces lie in friction cones."""

from .certificate import RoughCertificate, rough_certificate
from .determinacy import RoughDeterminacy, rough_determinacy
from .least_friction import LeastFriction, least_friction
from .limit import Collapse, load_factor
from .sensitivity import RoughSensitivity, rough_sensitivity
from .sliding import SlidingCollapse, sliding_load_factor
from .wedging import SelfStress, self_stress

__all__ = [
    "Collapse",
    "LeastFriction",
    "RoughCertificate",
    "RoughDeterminacy",
    "RoughSensitivity",
    "SelfStress",
    "SlidingCollapse",
    "least_friction",
    "load_factor",
    "rough_certificate",
    "rough_determinacy",
    "rough_sensitivity",
    "self_stress",
    "sliding_load_factor",
]
