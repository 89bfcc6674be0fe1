"""Other programs, each imported only when asked for."""

from importlib import import_module

_HOME = {
    "MendedForces": "mended",
    "Places": "places",
    "mend_forces": "mended",
    "from_drake": "drake",
    "from_mujoco": "mujoco",
    "from_newton": "newton",
    "from_pinocchio": "pinocchio",
    "from_pybullet": "pybullet",
}

__all__ = sorted(_HOME)


def __getattr__(name):
    if name not in _HOME:
        raise AttributeError(f"module 'rigidlimit.adapters' has no attribute {name!r}")
    return getattr(import_module(f".{_HOME[name]}", __name__), name)


def __dir__():
    return __all__
