"""What can be said of contact forces: determinacy, certificate, sensitivity."""

from .determinacy import Determinacy, determinacy

__all__ = ["Determinacy", "determinacy"]
