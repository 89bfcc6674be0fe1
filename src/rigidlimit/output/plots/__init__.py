"""Figures of contact forces. Each function returns a matplotlib Figure; ``save_figure`` writes it.

They take a run or its file, one of its steps (``run[k]``), a ``StepResult``, a ``Simulation``, a
comparison with the DEM, or a ``ForceNetwork``. ``dark=True`` is for dark pages.
"""

from ..._support.lazy import attach

_HOME = {
    "Fallback": "spatial",
    "collapse_mechanism": "masonry",
    "comparison": "network",
    "determinacy_map": "determinacy",
    "floor_forces": "floor",
    "force_chains": "packings",
    "force_density": "charts",
    "force_distribution": "packings",
    "force_histogram": "charts",
    "force_network": "network",
    "rose": "packings",
    "save_figure": "style",
    "scene_figure": "network",
    "stress_field": "packings",
    "stress_strain": "loading_paths",
    "thrust_line": "masonry",
}

__getattr__, __dir__, __all__ = attach(__name__, _HOME)
