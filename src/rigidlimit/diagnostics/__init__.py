"""What can be said of contact forces: determinacy, certificate, sensitivity."""

from .certificate import Certificate, certify
from .determinacy import Determinacy, determinacy

__all__ = ["Certificate", "Determinacy", "certify", "determinacy"]
