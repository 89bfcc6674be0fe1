"""What step 2 with friction answers: forces, the state that they come from, what contacts remember.

``rough.py`` says what the states are.
"""

from dataclasses import dataclass

import numpy as np

from .._support.words import counted
from ..status import Status
from .result import CompatibleForces
from .rough_nearest import NEAREST

UNLOADED, HISTORY, LEAST_ENERGY = "unloaded", "history", "least energy"

AT_BOUND = 1e-9
"""Part of the bound by which a tangential force may stay below it and still count as sliding."""


@dataclass(frozen=True)
class ContactHistory:
    """What contacts remember, to start the next increment from. Finite in the stiff limit.

    Parameters
    ----------
    normal : (m,) [N]
        k c^(p-1) of the overlap c, negative where the contact is open by an elastic displacement.
    tangential : (m, d-1) [N]
        Tangential force, zero where the contact is not active.
    gap : (m,) [m], optional
        Initial gaps, part of c.

    Raises
    ------
    InputError
        By ``compatible_forces`` and other functions that take it, for wrong shapes.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> disk = dict(tangential=[[0.0, 1.0]], friction=0.5)  # on a floor; columns: up, along
    >>> first = rl.compatible_forces([[1.0, 0.0]], [1.0, 0.2], **disk)
    >>> second = rl.compatible_forces([[1.0, 0.0]], [2.0, 0.2], history=first.history, **disk)
    >>> second.history.normal.round(6), second.history.tangential.round(6)
    (array([2.]), array([[0.2]]))
    """

    normal: np.ndarray
    tangential: np.ndarray
    gap: np.ndarray | None = None


@dataclass(frozen=True, repr=False)
class RoughForces(CompatibleForces):
    """``CompatibleForces`` of rough contacts. ``force`` (m,) [N] stays the normal force.

    Attributes
    ----------
    tangential_force : (m, d-1) ndarray [N]
        On the second body, along the contact's tangents.
    sliding : (m,) bool ndarray
        Contacts at their bound mu f_n.
    state : str
        "unloaded", "history" or "least energy".
    history : ContactHistory
        What the next increment starts from.
    merged : int
        Increments taken together with the one before them, which had no equilibrium of its own.
    mechanism : (n,) ndarray or None
        Where no admissible forces balance the load, the motion that it drives, of largest entry 1.
    several : bool
        Whether the equilibrium is known to be one of several. That of ``compatible_forces`` is a
        stable one to which a disturbance leads from an unstable one that was found first, or, with
        the status UNSTABLE, that one.
    routes : tuple of str
        Ways of the solver.
    duality_gap, force_error : float
        Of forces of least energy, for the load that they balance: part of the energy by which they
        can be above the least, and how far a force can be off by it, over the largest; nan for the
        others, which have no energy to be compared with.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> found = rl.statics(rl.scenes.groove(friction=0.2)).forces()
    >>> found.force.round(4), found.tangential_force.ravel().round(4), found.sliding
    (array([5.8926, 5.8926]), array([-1.1785,  1.1785]), array([ True,  True]))
    """

    tangential_force: np.ndarray = None  # type: ignore[assignment]  # given always
    sliding: np.ndarray = None  # type: ignore[assignment]
    state: str = UNLOADED
    history: ContactHistory | None = None
    merged: int = 0
    mechanism: np.ndarray | None = None
    several: bool = False
    routes: tuple[str, ...] = ()

    @property
    def _short(self) -> str:
        """What a stalled solve says: by how much the load is missed."""
        if self.residual <= self.tolerance:
            return (
                "the forces balance the load in the friction cones, but may be off those of least "
                f"energy by {self.force_error:.0e} of the largest"
            )
        if self.residual > NEAREST.missing:
            return (
                "neither an equilibrium nor forces in the friction cones that balance the load "
                "were found: rigidlimit.least_friction computes whether there are any"
            )
        return (
            f"no equilibrium was found, and forces in the friction cones come within "
            f"{self.residual:.0e} of the load and no closer: it is on the edge of what friction "
            "carries, or beyond by about as much; loosen the tolerance above that, or give more "
            "friction"
        )

    @property
    def _spent(self) -> str:
        """What an answer says that a budget of time ended."""
        first = "the budget of time was spent before an equilibrium was found"
        if self.state == LEAST_ENERGY and self.residual <= self.tolerance:
            return f"{first}: the forces are the admissible ones of least energy"
        return (
            f"{first}: the forces are within the friction cones, and off the balance by the "
            "residual; give a larger budget if that is not enough"
        )

    @property
    def message(self) -> str:
        advice = self.status.advice
        if self.status is Status.APPROXIMATE:
            advice = self._spent
        if self.status is Status.STALLED:
            advice = self._short
        parts = [
            f"{self.state}: {self.status}, residual {self.residual:.1e} (tolerance "
            f"{self.tolerance:.1e}) after {counted(self.iterations, 'linear system')}; {advice}; "
            f"{counted(int(self.sliding.sum()), 'sliding contact')}"
        ]
        if self.merged:
            parts.append(
                f"an increment had no equilibrium, and was taken as one with the "
                f"{counted(self.merged, 'increment')} after it"
            )
        if self.several and self.converged:
            parts.append(
                "the equilibrium is one of several, to another of which a disturbance may lead"
            )
        if self.nearest_status is not None:
            solved = self.nearest_status is Status.CONVERGED
            parts.append(
                "the forces are those of the nearest load that can be carried"
                + ("" if solved else f", not solved to the tolerance ({self.nearest_status})")
            )
        if self.mechanism is not None:
            carried = self.status is Status.NO_EQUILIBRIUM
            what = "along which springs give way without end" if carried else "that the load drives"
            parts.append(f"the motion {what} is in .mechanism")
        return "\n".join(parts)
