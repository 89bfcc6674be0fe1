"""What is read off a force network, of one step or of many: tables, tensors, statistics.

Each function takes a run or its file, a step of one, a ``StepResult``, a ``Simulation``, forces of
a pose, or a ``ForceNetwork``; those of many samples take a list of these.
"""

from ..._support.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
