"""Studies: one computation over many seeds and parameters, its samples kept one by one.

    plan x (seed, parameters) -> samples -> workers -> parts -> one file, statistics

A sample is a pure function of its inputs: the same numbers come from any number of workers.
"""

from .ensemble import Ensemble, read_study
from .plan import Plan
from .study import study

__all__ = ["Ensemble", "Plan", "read_study", "study"]
