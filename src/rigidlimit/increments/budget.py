"""What a step may cost, and what it has cost."""

from .._support.deadline import late
from .settings import SEARCH, SMALL, IncrementSettings

LARGE = 2000
"""Contacts above which fewer linear systems are granted, in inverse proportion: one for 2,000 takes
some 20 ms, about as many contact updates as 200 sweeps."""


class Budget:
    """Of a step with m contacts. small: whether its linear systems are dense. full: whether linear
    systems are granted as in ``settings``, or fewer; ample: whether they are enough for one attempt
    of Newton's method at the stiffness of moving bodies and two on the way to the stiff limit."""

    def __init__(self, settings: IncrementSettings, m: int, *, small: bool):
        self.sweeps = self.systems = 0
        granted = SMALL if small else min(1.0, LARGE / max(m, 1))
        least = min(settings.systems, 2 * SEARCH.attempt)
        self.full = granted >= 1
        self._systems = max(int(min(settings.systems, 1e9) * granted), least)
        self.ample = self._systems >= 3 * SEARCH.attempt
        self._sweeps = min(settings.sweeps, max(settings.updates / max(m, 1), SEARCH.least))

    def systems_left(self, wanted: int) -> int:
        """How many of so many systems may be solved."""
        return 0 if late() else max(min(wanted, self._systems - self.systems), 0)

    @property
    def sweeps_spent(self) -> bool:
        return late() or self.sweeps >= self._sweeps
