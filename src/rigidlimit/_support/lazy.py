"""Names of a package that are imported when they are first used: the package loads quickly."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType


def attach(
    package: str, home: Mapping[str, str], modules: Mapping[str, str] = MappingProxyType({})
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a package; home: module below it that each
    name stands in; modules: names that are modules below it themselves."""
    names = [*sorted(home), *modules]

    def get(name: str) -> object:
        from .compiling import announce

        if name in home:
            value = getattr(import_module(f".{home[name]}", package), name)
        elif name in modules:
            value = import_module(f".{modules[name]}", package)
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        setattr(sys.modules[package], name, value)
        announce()
        return value

    return get, lambda: sorted(names), names
