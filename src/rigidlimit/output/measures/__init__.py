"""What is read off a force network, of one step or of many: tables, tensors, statistics.

Each function takes a run or its file, a step of one, a ``StepResult``, a ``Simulation``, forces of
a pose, or a ``ForceNetwork``; those of many samples take a list of these.
"""

from ..._support.lazy import attach

_HOME = {
    "Coordination": "tables",
    "ForceChains": "chains",
    "ForceDistribution": "statistics",
    "Rose": "directions",
    "anisotropy": "tensors",
    "body_forces": "tables",
    "body_stress": "tensors",
    "body_table": "tables",
    "contact_table": "tables",
    "coordination": "tables",
    "density_field": "fields",
    "fabric": "tensors",
    "force_chains": "chains",
    "force_correlation": "statistics",
    "force_distribution": "statistics",
    "force_graph": "chains",
    "local_packing_fraction": "structure",
    "mobilised": "tables",
    "mueth_distribution": "statistics",
    "neighbours": "tables",
    "packing_fraction": "structure",
    "pair_correlation": "structure",
    "pair_forces": "tables",
    "participation": "statistics",
    "principal": "tensors",
    "rose": "directions",
    "sliding_fraction": "tables",
    "stress": "tensors",
    "stress_field": "fields",
}

__getattr__, __dir__, __all__ = attach(__name__, _HOME)
