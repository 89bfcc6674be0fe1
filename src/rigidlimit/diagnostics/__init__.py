"""What can be said of contact forces: determinacy, certificate, sensitivity."""

from .certificate import Certificate, certify
from .degree import Degree
from .determinacy import Determinacy, determinacy
from .sensitivity import GapNoise, Sensitivity, gap_noise_spread, sensitivity

__all__ = [
    "Certificate",
    "Degree",
    "Determinacy",
    "GapNoise",
    "Sensitivity",
    "certify",
    "determinacy",
    "gap_noise_spread",
    "sensitivity",
]
