"""Captured problems under the names of the first version; ``rigidlimit.adapters`` has them all."""

from .formats import read_captured as read_fclib
from .formats.capture import capture, capture_step
from .formats.fclib import write_fclib
from .formats.problem import CapturedProblem
from .frictionless import (
    CapturedAnswer,
    NormalProblem,
    normal_problem,
    solve_captured,
)

__all__ = [
    "CapturedAnswer",
    "CapturedProblem",
    "NormalProblem",
    "capture",
    "capture_step",
    "normal_problem",
    "read_fclib",
    "solve_captured",
    "write_fclib",
]
