"""Other programs and their files, each imported only when used."""

from .._support.lazy import by_name

_HOME = {
    "ArrayMender": "engines.array_mender",
    "Block": "blocks.assembly",
    "BlockAssembly": "blocks.assembly",
    "CapturedProblem": "formats.problem",
    "ClosedContacts": "uniqueness",
    "ContactSprings": "engines.memory",
    "EngineContacts": "engines.contacts",
    "ForceGradients": "engines.gradients",
    "ForceMap": "engines.gradients",
    "FreeRows": "engines.free_rows",
    "MendOptions": "engines.options",
    "MendedBatch": "engines.mended_batch",
    "MendedForces": "engines.result",
    "MendedSensors": "engines.mujoco_sensors",
    "Mender": "engines.mender",
    "NetForce": "engines.net_forces",
    "Packing": "packings.packing",
    "Places": "engines.geometry",
    "RerunLog": "engines.rerun_log",
    "StackedBatch": "engines.mended_batch",
    "capture": "formats.capture",
    "capture_step": "formats.capture",
    "closed_contacts": "uniqueness",
    "free_body_rows": "engines.free_rows",
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

__all__ = sorted(_HOME)

__getattr__ = by_name(__name__, _HOME)


def __dir__():
    return __all__
