"""Figures of contact forces. Each function returns a matplotlib Figure; ``save_figure`` writes it.

They take a run or its file, one of its steps (``run[k]``), a ``StepResult``, a ``Simulation``, a
comparison with the DEM, or a ``ForceNetwork``. ``dark=True`` is for dark pages.
"""

from ..._support.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
