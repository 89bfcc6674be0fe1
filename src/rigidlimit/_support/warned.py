"""Warnings that point at the user's line: the first one outside of this package."""

import sys
import warnings

PACKAGE = __name__.partition(".")[0]


def warn(message: str, category: type[Warning]) -> None:
    """``message`` as a warning of the line that called into this package."""
    level, frame = 2, sys._getframe(1)
    # by the module's name: methods that dataclasses write have no file
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] == PACKAGE
