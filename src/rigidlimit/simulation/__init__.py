"""A scene in motion: the step of ``step/`` repeated.

``simulation.py``: the simulation itself, with what may be set while it runs. ``options.py``: checks
of its options. ``at_rest.py``: whether it has come to rest. ``checkpoint.py``: its state
as arrays.
"""

from .at_rest import STILL
from .checkpoint import SAVED
from .options import steps_between
from .simulation import Simulation

__all__ = ["SAVED", "STILL", "Simulation", "steps_between"]
