"""Other programs and their files, each imported only when asked for."""

from importlib import import_module

_HOME = {
    "Block": "blocks.assembly",
    "BlockAssembly": "blocks.assembly",
    "CapturedProblem": "formats.problem",
    "EngineContacts": "engines.contacts",
    "MendOptions": "engines.options",
    "MendedForces": "engines.result",
    "NetForce": "engines.net_forces",
    "Packing": "packings.packing",
    "Places": "engines.geometry",
    "capture": "formats.capture",
    "capture_step": "formats.capture",
    "from_drake": "engines.drake",
    "from_mujoco": "engines.mujoco",
    "from_newton": "engines.newton",
    "from_pinocchio": "engines.pinocchio",
    "from_pybullet": "engines.pybullet",
    "mend": "engines.mend",
    "mend_forces": "engines.from_arrays",
    "normal_problem": "frictionless",
    "read_captured": "formats",
    "read_compas": "blocks.compas",
    "read_packing": "packings.packing",
    "solve_captured": "frictionless",
    "solve_coulomb": "coulomb",
    "write_compas": "blocks.compas",
    "write_fclib": "formats.fclib",
    "write_siconos": "formats.siconos_text",
}

_CLASS = {"Places": "ContactGeometry"}

__all__ = sorted(_HOME)


def __getattr__(name):
    if name not in _HOME:
        raise AttributeError(f"module 'rigidlimit.adapters' has no attribute {name!r}")
    return getattr(import_module(f".{_HOME[name]}", __name__), _CLASS.get(name, name))


def __dir__():
    return __all__
