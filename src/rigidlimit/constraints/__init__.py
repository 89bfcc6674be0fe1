"""From contacts to the gap and its gradient."""

from .gradient import gap_gradient

__all__ = ["gap_gradient"]
