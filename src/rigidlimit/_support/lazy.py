"""Names of a package that are imported when they are first used: the package loads quickly."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module

from .compiling import announce


def by_name(package: str, home: Mapping[str, str]) -> Callable[[str], object]:
    """The ``__getattr__`` of a package; home: module below it that each name stands in."""

    def get(name: str) -> object:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f".{home[name]}", package), name)
        setattr(sys.modules[package], name, value)
        announce()
        return value

    return get
