"""What is read off a force network, of one step or of many: tables, tensors, statistics.

Each function takes a run or its file, a step of one, a ``StepResult``, a ``Simulation``, forces of
a pose, or a ``Frame``; those of many samples take a list of these.
"""

from importlib import import_module

_HOME = {
    "body_forces": "tables",
    "contact_table": "tables",
    "fabric": "tensors",
    "mobilised": "contacts",
    "neighbours": "contacts",
    "pair_forces": "tables",
    "sliding_fraction": "contacts",
    "stress": "tensors",
}

__all__ = sorted(_HOME)


def __getattr__(name):
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__():
    return __all__
