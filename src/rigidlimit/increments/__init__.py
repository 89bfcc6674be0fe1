"""A time step of rough bodies: motion and contact forces in one implicit increment."""

from .problem import ContactSprings, Increment, prepare
from .result import IncrementResult
from .settings import IncrementSettings
from .solve import Solution, solve

__all__ = [
    "ContactSprings",
    "Increment",
    "IncrementResult",
    "IncrementSettings",
    "Solution",
    "prepare",
    "solve",
]
