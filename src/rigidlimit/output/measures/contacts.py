"""How many bodies press on each body, what rattles, and how far contacts are from sliding."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..._support.display import Brief
from ..._support.words import counted
from ...compatibility.bearing import bearing
from ...compatibility.rough_result import AT_BOUND
from ...errors import InputError
from ...step.force_network import ForceNetwork
from ..sources import network_of
from .selection import Chosen, chosen

if TYPE_CHECKING:
    from ..sources import Source


def neighbours(source: "Source", *, method: str | None = None) -> np.ndarray:
    """How many bodies press on each body.

    The mean over those with any, ``z[z > 0].mean()``, is the coordination number without rattlers;
    walls among the bodies have their own count. A pair that touches in several points counts once.
    A contact is active if its force is above 1e-9 of the largest.

    Parameters
    ----------
    source, method
        As of ``body_forces``.

    Returns
    -------
    (n,) int ndarray

    Raises
    ------
    InputError
        For a source without such forces, and names of no body.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> step = rl.Simulation("beam").step()
    >>> rl.neighbours(step)
    array([1, 1, 1, 3])
    """
    shown = network_of(source)
    force = shown.of(method)[1]
    pairs = np.unique(shown.contacts.body[bearing(force)], axis=0)
    return np.bincount(pairs.ravel(), minlength=len(shown.bodies))


@dataclass(frozen=True, repr=False)
class Coordination(Brief):
    """Coordination number of chosen bodies, with rattlers and without.

    Attributes
    ----------
    mean : float
        Contacts of a body, over the chosen bodies.
    without_rattlers : float
        After removal of rattlers and their contacts.
    rattler : (n,) bool ndarray
    count : (n,) int ndarray
        Remaining contacts of each body.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> found = rl.coordination(rl.Simulation("beam").step(), least=2)
    >>> found.mean, found.count
    (3.0, array([1, 1, 1, 3]))
    """

    mean: float
    without_rattlers: float
    rattler: np.ndarray
    count: np.ndarray

    @property
    def message(self) -> str:
        return (
            f"{self.mean:.4g} contacts a body, {self.without_rattlers:.4g} without "
            f"{counted(int(self.rattler.sum()), 'rattler')}"
        )


def coordination(
    source: "Source",
    *,
    bodies: Chosen = None,
    least: int | None = None,
    method: str | None = None,
) -> Coordination:
    """Coordination number of bodies, with rattlers and without.

    Rattlers have fewer than ``least`` active contacts. They are removed with their contacts
    until none is left (C. S. O'Hern, L. E. Silbert, A. J. Liu and S. R. Nagel, Phys. Rev. E 68,
    2003, 011306). Pairs that touch in several points count once; walls count as neighbours.

    Parameters
    ----------
    bodies : names or numbers, optional
        Those that are counted; by default all that are free to move.
    least : int, optional
        By default dim + 1, of rough bodies 2: what a ball without load needs to be held. For
        packings that rest by their weight dim is what holds a smooth ball.
    source, method, scene, index
        As of ``body_forces``.

    Returns
    -------
    Coordination

    Raises
    ------
    InputError
        For a source without such forces, and names of no body.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> step = rl.Simulation("rough-pyramid").step()
    >>> round(rl.coordination(step).mean, 3)
    6.133
    """
    shown = network_of(source)
    method, force = shown.of(method)
    if least is None:
        least = 2 if method in shown.tangential else shown.bodies.dim + 1
    pairs = np.unique(shown.contacts.body[bearing(force)], axis=0)
    counts = chosen(shown, bodies)
    mean = _mean(np.bincount(pairs.ravel(), minlength=len(counts)), counts)
    rattler = np.zeros(len(counts), bool)
    while True:
        left = pairs[~rattler[pairs].any(axis=1)]
        count = np.bincount(left.ravel(), minlength=len(counts))
        loose = counts & ~rattler & (count < least)
        if not loose.any():
            break
        rattler |= loose
    return Coordination(mean, _mean(count, counts & ~rattler), rattler, count)


def _mean(count: np.ndarray, which: np.ndarray) -> float:
    return float(count[which].mean()) if which.any() else 0.0


def mobilised(source: "Source", *, method: str | None = None) -> np.ndarray:
    """Mobilised friction |f_t|/(mu f_n) of each contact.

    Its mean over the active contacts, ``x[x > 0].mean()``, says how far a packing is from
    sliding.

    Parameters
    ----------
    source, method
        As of ``body_forces``.

    Returns
    -------
    (m,) ndarray
        0 where a contact is not active.

    Raises
    ------
    InputError
        Where bodies are smooth.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> step = rl.Simulation("rough-pyramid").step()
    >>> bool((rl.mobilised(step) <= 1.0 + 1e-12).all())
    True
    """
    shown = network_of(source)
    return shown.mobilised(_rough_method(shown, method))


def sliding_fraction(source: "Source", *, method: str | None = None) -> float:
    """Share of the active contacts that slide, or are at their bound mu f_n.

    Parameters
    ----------
    source, method
        As of ``body_forces``.

    Returns
    -------
    float

    Raises
    ------
    InputError
        Where bodies are smooth.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> step = rl.Simulation("rough-pyramid").step()
    >>> 0.0 <= rl.sliding_fraction(step) <= 1.0
    True
    """
    shown = network_of(source)
    method = _rough_method(shown, method)
    bears = bearing(shown.forces[method])
    slides = shown.sliding.get(method)
    if slides is None:
        slides = shown.mobilised(method) >= 1.0 - AT_BOUND
    return float((slides & bears).sum() / max(bears.sum(), 1))


def _rough_method(shown: ForceNetwork, method: str | None) -> str:
    method, _ = shown.of(method)
    if method not in shown.tangential:
        raise InputError(
            f"the {method} forces have no tangential parts; expected bodies with friction"
        )
    return method
