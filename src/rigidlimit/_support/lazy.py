"""Names of a package that are imported when they are first used: the package loads quickly."""

import sys
from collections.abc import Callable
from importlib import import_module


def attach(package: str) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a package, of the names that its stub
    ``__init__.pyi`` imports for type checkers: of modules below it, or modules themselves."""
    module = sys.modules[package]
    # by its loader, which need not read from a folder; pkgutil and re would take most of the time
    stub = module.__spec__.loader.get_data(module.__file__.rpartition(".")[0] + ".pyi").decode()
    lines = (line.split() for line in stub.splitlines() if line.startswith("from ."))
    homes = {name: home.removeprefix(".") for _, home, _, name, _, _ in lines}
    names = sorted(homes)

    def get(name: str) -> object:
        from .compiling import announce

        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        within = f"{package}.{homes[name]}".rstrip(".")
        value = None if within == package else getattr(import_module(within), name, None)
        if value is None:  # a module, which its package does not have before it is imported
            value = import_module(f"{within}.{name}")
        setattr(sys.modules[package], name, value)
        announce()
        return value

    return get, lambda: sorted(names), names
