"""What can be said of contact forces: determinacy, certificate, sensitivity."""

from .certificate import Certificate, certify
from .cones import (
    Collapse,
    LeastFriction,
    RoughCertificate,
    RoughDeterminacy,
    RoughSensitivity,
    SelfStress,
    SlidingCollapse,
    least_friction,
    load_factor,
    self_stress,
    sliding_load_factor,
)
from .degree import Degree
from .determinacy import Determinacy, determinacy
from .gap_noise import GapNoise, gap_noise_spread
from .sensitivity import Sensitivity, sensitivity

__all__ = [
    "Certificate",
    "Collapse",
    "Degree",
    "Determinacy",
    "GapNoise",
    "LeastFriction",
    "RoughCertificate",
    "RoughDeterminacy",
    "RoughSensitivity",
    "SelfStress",
    "Sensitivity",
    "SlidingCollapse",
    "certify",
    "determinacy",
    "gap_noise_spread",
    "least_friction",
    "load_factor",
    "self_stress",
    "sensitivity",
    "sliding_load_factor",
]
