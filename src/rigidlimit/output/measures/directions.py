"""How contacts and their forces are directed: roses in a plane, and the harmonics that fit them.

L. Rothenburg and R. J. Bathurst, Geotechnique 39, 1989, 601: with theta the direction of normals,

    density   E(theta) = (1 + a cos 2(theta - theta_c)) / (2 pi)
    forces    f(theta) = f_0 (1 + a cos 2(theta - theta_f))
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..._support import arrays
from ..._support.display import Brief
from ...compatibility.bearing import bearing
from ...errors import InputError
from ..limits import LIMITS
from ..sources import network_of
from .selection import Chosen, chosen

if TYPE_CHECKING:
    from ..sources import Source

KINDS = ("contacts", "normal", "tangential")


@dataclass(frozen=True, repr=False)
class Rose(Brief):
    """Directions of contacts or of their forces in a plane, in b bins.

    Attributes
    ----------
    edges : (b + 1,) ndarray [rad]
        From 0 to 2 pi.
    values : (b,) ndarray
        Density of directions [1/rad], or mean force over the mean of all; nan where no contact
        points.
    amplitude : float
        a of the harmonic that fits.
    direction : float [rad]
        Of the harmonic.
    mean : float
        What the harmonic is about.
    of : str
        What it is a rose of.

    Examples
    --------
    >>> import numpy as np, rigidlimit as rl
    >>> found = rl.rose(rl.Simulation("beam").step())  # normals are upright
    >>> round(np.degrees(found.direction)), round(float(found.amplitude), 6)
    (90, 2.0)
    """

    edges: np.ndarray
    values: np.ndarray
    amplitude: float
    direction: float
    mean: float
    of: str

    @property
    def message(self) -> str:
        return (
            f"rose of {self.of}: anisotropy {self.amplitude:.3g} along "
            f"{np.degrees(self.direction):.3g} degrees"
        )

    def fitted(self, angle: np.ndarray) -> np.ndarray:
        """The harmonic at some angles.

        Parameters
        ----------
        angle : ndarray [rad]
        """
        return self.mean * (1 + self.amplitude * np.cos(2 * (angle - self.direction)))


def rose(
    source: "Source",
    *,
    of: str = "contacts",
    bins: int = 24,
    plane: tuple[int, int] = (0, 1),
    within: float = 45.0,
    bodies: Chosen = None,
    method: str | None = None,
) -> Rose:
    """Rose diagram of the active contacts, or of their forces, in a plane.

    Parameters
    ----------
    of : {"contacts", "normal", "tangential"}
        "contacts": density of the directions of normals; "normal", "tangential": mean size of that
        part of the force by the direction of the normal. A normal counts with its opposite.
    bins : int
        Over the whole circle, an even number.
    plane : (int, int)
        Axes to the right and up, in space.
    within : float [degrees]
        In space: normals that lean out of the plane by more are left out.
    bodies : names or numbers, optional
        Contacts of these; by default of those that are free to move.
    source, method
        As of ``body_forces``.

    Raises
    ------
    InputError
        Where no contact is active in the plane, for an odd number of bins, and for tangential
        parts of smooth bodies.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> step = rl.Simulation("rough-pyramid").step()
    >>> found = rl.rose(step, of="normal", bins=12, plane=(0, 2))
    >>> found.values.shape, found.of
    ((12,), 'normal')
    """
    if of not in KINDS:
        raise InputError(f"of is {of!r}; expected one of {', '.join(KINDS)}")
    bins = int(arrays.positive("bins", bins))
    if bins % 2:
        raise InputError(f"bins is {bins}; expected an even number: normals have two directions")
    shown = network_of(source)
    method, force = shown.of(method)
    across, up = plane
    normal = shown.contacts.normal
    lies = np.hypot(normal[:, across], normal[:, up]) >= np.cos(np.radians(within))
    keep = bearing(force) & lies & chosen(shown, bodies)[shown.contacts.body].any(axis=1)
    if not keep.any():
        raise InputError("no contact is active in this plane; expected a step with forces")
    size = force[keep]
    if of == "tangential":
        if method not in shown.tangential:
            raise InputError(f"the {method} forces have no tangential parts; expected friction")
        size = np.linalg.norm(shown.tangential[method][keep], axis=1)
    angle = np.arctan2(normal[keep, up], normal[keep, across])
    angle = np.mod(np.concatenate([angle, angle + np.pi]), 2 * np.pi)
    edges = np.linspace(0.0, 2 * np.pi, bins + 1)
    # a direction on an edge counts half on either side, whatever its rounding
    near = [np.mod(angle + a, 2 * np.pi) for a in (LIMITS.rounding, -LIMITS.rounding)]
    count = sum(np.histogram(a, edges)[0] for a in near) / 2
    if of == "contacts":
        wave = 2 * np.exp(2j * angle).mean()
        values, mean = count / (len(angle) * np.diff(edges)), 1 / (2 * np.pi)
    else:
        twice = np.concatenate([size, size])
        total = sum(np.histogram(a, edges, weights=twice)[0] for a in near)
        with np.errstate(invalid="ignore"):
            values = total / 2 / count / (size.mean() or 1.0)
        middle, have = 0.5 * (edges[1:] + edges[:-1]), count > 0
        basis = np.stack([0 * middle + 1, np.cos(2 * middle), np.sin(2 * middle)], axis=1)[have]
        fit = np.linalg.lstsq(basis, values[have], rcond=None)[0]
        mean, wave = float(fit[0]), complex(fit[1], fit[2]) / (fit[0] or 1.0)
    return Rose(edges, values, abs(wave), float(np.angle(wave)) / 2 % np.pi, mean, of)
