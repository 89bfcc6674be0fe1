"""Algorithm 1 of the paper: one time step.

``algorithm.py``: the step, one line an arrow; ``search.py``: how far contacts are searched for;
``velocities.py``: step 1, contact dynamics (eqs 16-22); ``forces.py``: step 2, compatible forces
(eqs 36-37); ``friction.py``: tangential forces in both. ``settings.py``: options of a step,
``result.py``: its result. ``messages.py``, ``motion.py``, ``warnings.py``: messages about its
forces, about bodies that move, and about steps that probably are not what was intended.
"""

from .algorithm import step
from .forces import with_compatible
from .result import StepResult
from .settings import StepSettings, WarmStart

__all__ = ["StepResult", "StepSettings", "WarmStart", "step", "with_compatible"]
