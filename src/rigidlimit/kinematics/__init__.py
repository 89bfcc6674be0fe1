"""From contacts to the gap and its gradient, normal and tangential."""

from .frames import carry_tangential, framed, in_frame, in_world, mean_turn, tangents_of
from .gradient import gap_gradient, tangential_gradient

__all__ = [
    "carry_tangential",
    "framed",
    "gap_gradient",
    "in_frame",
    "in_world",
    "mean_turn",
    "tangential_gradient",
    "tangents_of",
]
