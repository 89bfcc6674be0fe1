"""Algorithm 1 of the paper: one time step.

``algorithm.py``: the step, one line an arrow; ``search.py``: how far contacts are searched for;
``velocities.py``: step 1, contact dynamics (eqs 16-22); ``forces.py``: step 2, compatible forces
(eqs 36-37); ``friction.py``: what tangential forces add to both. ``settings.py``: what a step is
asked for, ``result.py``: what it answers. ``messages.py``, ``motion.py``, ``warnings.py``: what is
said of its forces, of bodies that move, and of steps that hardly are what was meant.
"""

from .algorithm import step
from .forces import with_compatible
from .result import StepResult
from .settings import StepSettings, WarmStart

__all__ = ["StepResult", "StepSettings", "WarmStart", "step", "with_compatible"]
