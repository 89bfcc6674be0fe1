"""How kernels are compiled that other kernels alone call."""

INNER = dict(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
"""Options of ``njit`` without an entry for Python: compiling one takes a tenth of the time."""

FLAT = INNER | dict(inline="always")
"""The same for one that a single place calls, near the top: compiled there, and not by itself as
well. Every level has all below it compiled anew."""
