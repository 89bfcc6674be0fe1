"""Studies: one computation over many seeds and parameters, its samples kept one by one.

    plan x (seed, parameters) -> samples -> workers -> parts -> one file, statistics

A sample is a pure function of its inputs: the same numbers come from any number of workers.
"""

from .ensemble import Ensemble
from .plan import Plan
from .report import measure_figure, write_report
from .storage import read_study
from .study import study

__all__ = ["Ensemble", "Plan", "measure_figure", "read_study", "study", "write_report"]
