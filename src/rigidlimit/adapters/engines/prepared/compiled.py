"""How kernels are compiled that a single place calls."""

from ...._support.compiled import INNER

FLAT = INNER | dict(inline="always")
"""Options of ``njit`` for one near the top: compiled there, and not by itself as well. Every level
has all below it compiled anew."""
