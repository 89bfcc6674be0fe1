"""rigidlimit: the unique contact forces of rigid bodies, as the limit of stiff elastic ones.

>>> import numpy as np, rigidlimit
>>> beam = np.array([[1.0, -0.5], [1.0, 0.0], [1.0, 0.5]])  # three supports: rise, turn
>>> rigidlimit.compatible_forces(beam, [10.0, 0.0]).force.round(6)
array([3.333333, 3.333333, 3.333333])
"""

from ._support.lazy import by_name

__version__ = "0.1.0"

_HOME = {
    "Box": "bodies",
    "Capsule": "bodies",
    "Cell": "bodies",
    "Certificate": "diagnostics",
    "Collapse": "diagnostics",
    "CompatibleForces": "compatibility",
    "Compound": "bodies",
    "ContactDynamicsResult": "dynamics",
    "ContactError": "errors",
    "ContactHistory": "compatibility",
    "ConvexPolyhedron": "bodies",
    "Coordination": "output.measures",
    "Cylinder": "bodies",
    "Degree": "diagnostics",
    "Determinacy": "diagnostics",
    "Disk": "bodies",
    "Ellipsoid": "bodies",
    "Ensemble": "studies",
    "ForceChains": "output.measures",
    "ForceDistribution": "output.measures",
    "GapNoise": "diagnostics",
    "HalfSpace": "bodies",
    "IncrementResult": "increments",
    "IncrementSettings": "increments",
    "InputError": "errors",
    "LeastFriction": "diagnostics",
    "Material": "bodies",
    "MissingExtra": "errors",
    "NoRest": "errors",
    "OutOfMemory": "errors",
    "OutputError": "errors",
    "Packing": "adapters.packings.packing",
    "PenaltyResult": "penalty",
    "PenaltySimulation": "penalty",
    "Plan": "studies",
    "Polygon": "bodies",
    "PoseForces": "pose",
    "RigidlimitError": "errors",
    "Rose": "output.measures",
    "RoughCertificate": "diagnostics",
    "RoughDeterminacy": "diagnostics",
    "RoughForces": "compatibility",
    "RoughSensitivity": "diagnostics",
    "Scene": "scenes.scene",
    "SceneError": "errors",
    "SceneWarning": "errors",
    "SelfStress": "diagnostics",
    "Sensitivity": "diagnostics",
    "Simulation": "simulation",
    "SlidingCollapse": "diagnostics",
    "Sphere": "bodies",
    "Statics": "pose",
    "Status": "status",
    "StepResult": "step",
    "UnfinishedRun": "errors",
    "anisotropy": "output.measures",
    "body_forces": "output.measures",
    "body_stress": "output.measures",
    "body_table": "output.measures",
    "certify": "diagnostics",
    "compatible_forces": "compatibility",
    "contact_dynamics": "dynamics",
    "contact_table": "output.measures",
    "coordination": "output.measures",
    "density_field": "output.measures",
    "determinacy": "diagnostics",
    "fabric": "output.measures",
    "force_chains": "output.measures",
    "force_correlation": "output.measures",
    "force_distribution": "output.measures",
    "force_graph": "output.measures",
    "forces_at_pose": "pose",
    "gap_noise_spread": "diagnostics",
    "least_friction": "diagnostics",
    "load_factor": "diagnostics",
    "local_packing_fraction": "output.measures",
    "mobilised": "output.measures",
    "neighbours": "output.measures",
    "packing_fraction": "output.measures",
    "pair_correlation": "output.measures",
    "pair_forces": "output.measures",
    "participation": "output.measures",
    "principal": "output.measures",
    "read_packing": "adapters.packings.packing",
    "read_run": "output.hdf5",
    "read_study": "studies",
    "rectangle": "bodies",
    "rose": "output.measures",
    "self_stress": "diagnostics",
    "sensitivity": "diagnostics",
    "settle": "penalty",
    "sliding_fraction": "output.measures",
    "sliding_load_factor": "diagnostics",
    "statics": "pose",
    "stress": "output.measures",
    "stress_field": "output.measures",
    "study": "studies",
    "write_packing": "output.packings",
}
_PACKAGES = (
    "adapters",
    "bodies",
    "collision",
    "compatibility",
    "diagnostics",
    "dynamics",
    "errors",
    "paths",
    "penalty",
    "scenes",
    "studies",
)
_ALIASES = {"plots": "output.plots"}

__all__ = ["__version__", *sorted(_HOME), *_PACKAGES, *_ALIASES]


# names are imported when first used: `import rigidlimit` stays quick
__getattr__ = by_name(__name__, _HOME, {name: name for name in _PACKAGES} | _ALIASES)


def __dir__():
    return sorted(__all__)
