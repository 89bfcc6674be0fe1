"""A time step of rough bodies: motion and contact forces in one implicit increment."""

from .result import IncrementResult
from .settings import IncrementSettings

__all__ = ["IncrementResult", "IncrementSettings"]
