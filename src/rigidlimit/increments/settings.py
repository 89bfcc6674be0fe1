"""How increments are solved, and at what cost."""

import inspect
from dataclasses import dataclass
from typing import Any, NamedTuple

from .._support import arrays
from ..equilibrium.rough_newton import Settings as NewtonSettings
from ..errors import InputError, nearest
from .sweeps import Sweeps


@dataclass(frozen=True)
class IncrementSettings:
    """How a step of rough bodies is solved, and at what cost.

    These are the ``solver_options`` of a ``Simulation`` with friction. What of the budget is spent
    first ends the step, with the status "approximate" where the residual is above ``accuracy``.

    Parameters
    ----------
    overlap : float
        By which bodies may overlap while they move, in radii of the smaller one. The springs'
        stiffness follows from it; the work of sweeps grows as its inverse root.
    softest, stiffest : float
        Bounds of s, how many times as stiff as inertia contacts are. Where s is the largest, at
        rest and in small networks, forces are those of the stiff limit to about 1/s.
    accuracy : float
        Residual at which sweeps end, over the fastest contact without contact forces.
    sweeps : int
        Budget of a step: Gauss-Seidel sweeps.
    updates : float
        Budget of a step: sweeps times contacts; one takes some 60 to 90 ns.
    systems : int
        Budget of a step: linear systems of Newton's method, ten times as many in networks of few
        bodies.
    seconds : float [s]
        Budget of a step: elapsed time, on which results then depend.

    Raises
    ------
    InputError
        By ``Simulation``, for unknown names and values out of range in ``solver_options``.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> options = {"overlap": 1e-2, "sweeps": 200}
    >>> simulation = rl.Simulation("incline", solver_options=options)
    >>> simulation.settings.increment == rl.IncrementSettings(**options)
    True
    """

    overlap: float = 1e-3
    softest: float = 1e3
    stiffest: float = 1e12
    accuracy: float = 1e-6
    sweeps: int = 3000
    updates: float = 5e6
    systems: int = 40
    seconds: float = float("inf")

    @classmethod
    def of(cls, options: dict[str, Any] | None) -> "IncrementSettings":
        """Settings of ``solver_options``.

        Parameters
        ----------
        options : dict or None
            By the names of the attributes.

        Raises
        ------
        InputError
            For an unknown name or a value out of range.
        """
        known = list(inspect.signature(cls).parameters)
        for name, value in (options or {}).items():
            if name not in known:
                raise InputError(
                    f"solver 'newton' has no option {name!r} for contacts with friction; "
                    f"{nearest(name, known)} (options: {', '.join(known)})"
                )
            if not arrays.is_positive(value) and not (name == "systems" and value == 0):
                raise InputError(f"option {name} is {value!r}; expected a positive number")
        made = cls(**(options or {}))
        if made.softest > made.stiffest:
            raise InputError(
                f"option softest is {made.softest:g}, above stiffest, {made.stiffest:g}; expected "
                "the lower bound of the stiffness there"
            )
        return made


SMALL = 10
"""How many times more linear systems are granted where they are dense, which take microseconds."""


class Search(NamedTuple):
    """Of the search within a step.

    rise: of s at a time, where one to the stiff limit fails. near: residual of sweeps from which
    Newton's method is tried: pours of 1,000 balls take 0.9 times as long as with 1e-4, since few
    attempts from above succeed. attempt: systems of one attempt. easy: systems up to which an
    attempt shows that bodies are near rest, so that stiffer springs pay. calm: part of the contacts
    that shows it where they rest and systems are granted amply: rattlers may roll for ever, and in
    2,000 balls and more one of them meets another in most steps, so that the limit is lost again at
    two seconds a step. loaded: forces,
    in parts of their mean, under which contacts give way by ``overlap``. stands: s at which secant
    iterations look for an equilibrium of bodies at rest. chunk: sweeps between two looks at the
    residual. least: sweeps that are granted to any number of contacts.
    """

    rise: float = 10.0
    near: float = 3e-5
    attempt: int = 8
    easy: int = 3
    calm: float = 0.8
    loaded: float = 4.0
    stands: float = 1e6
    chunk: int = 50
    least: int = 400
    momentum: Sweeps = Sweeps()
    newton: NewtonSettings = NewtonSettings(halvings=3)

    def attempts(self, small: bool) -> int:
        """Systems of one attempt, of networks of few bodies or others."""
        return SMALL * self.attempt if small else self.attempt


SEARCH = Search()
