"""How kernels are compiled that other kernels alone call."""

INNER = dict(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
"""Options of ``njit`` without an entry for Python, which takes a quarter of the time in which a
small kernel compiles."""
