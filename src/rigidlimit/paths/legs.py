"""Loading paths of a periodic cell as legs: what is prescribed of its stress and strain, how long.

A leg without steps is a stage: the stress is prescribed and the packing brought to rest. A leg with
steps is driven at a rate. Rigid bodies know no time of their own but that of their inertia: the
rate is chosen by the inertial number (GDR MiDi, Eur. Phys. J. E 14 (2004) 341)

    I = rate d sqrt(rho / p) in space,   I = rate sqrt(m / p) in the plane,

d, rho, m the mean diameter, density and mass of the bodies, p the pressure. Quasi-static is I up to
1e-3, about.
"""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .._support import arrays
from ..bodies import Bodies
from ..errors import InputError, nearest

AXES = "xyz"

SHORT = 0.1
"""Step over d sqrt(rho / p), which is the strain of a step over I, up to which steps with friction
are solved: at I of 1e-3 and 1e-2 alike all of 50 steps of 200 balls are up to there, none from 1 on
(``docs/howto/paths.md``). Longer steps pass over more than what contacts give way by, and how they
slide meanwhile."""


@dataclass(frozen=True)
class Leg:
    """A part of a path.

    Parameters
    ----------
    name : str
        In tables and messages.
    stress : (dim, dim) [Pa; N/m in 2D]
        Rows of numbers, as of ``Cell``; None (nan) where the rate is prescribed.
    rate : (dim, dim) [1/s], optional
        Rows of numbers; None: all zero.
    steps : int
        How many; 0 for a stage that is brought to rest.
    dt : float [s], optional
        Of a step; None is that of the simulation.

    Raises
    ------
    SceneError
        By ``follow``, for stress and rate that ``Cell`` does not take.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> pressed = rl.paths.Leg("pressed", ((100.0, 0.0), (0.0, 100.0)))
    >>> held = ((None, None), (None, 100.0))
    >>> sheared = rl.paths.Leg("sheared", held, rate=((0, 0.1), (0, 0)), steps=5)
    >>> pressed.units, sheared.units, sheared.drives("xy")
    (1, 5, True)
    """

    name: str
    stress: tuple
    rate: tuple | None = None
    steps: int = 0
    dt: float | None = None

    @property
    def units(self) -> int:
        """Rows of the table that it fills."""
        return self.steps or 1

    @property
    def pressure(self) -> float:
        """Largest stress that it holds [Pa; N/m in 2D]; 0 where it holds none."""
        return float(np.nanmax(np.array(self.stress, float), initial=0.0))

    def drives(self, component: str) -> bool:
        """Whether the rate of a component is prescribed and not zero.

        Parameters
        ----------
        component : str
            Like "xy".
        """
        i, j = (AXES.index(axis) for axis in component)
        return self.rate is not None and self.rate[i][j] != 0.0


def isotropic(bodies: Bodies, *, pressures: Sequence[float] | float) -> list[Leg]:
    """Stages at rest under pressures [Pa; N/m in 2D], alike from all sides, one after the other."""
    eye = np.eye(bodies.dim)
    return [Leg("isotropic", _rows(p * eye)) for p in _positive("pressures", pressures)]


def oedometer(bodies: Bodies, *, stresses: Sequence[float] | float, axis: str = "") -> list[Leg]:
    """Stages at rest under axial stresses [Pa; N/m in 2D], the sides held: no strain but along
    ``axis``, the last one by default."""
    k = _axis(axis, bodies.dim)
    legs = []
    for s in _positive("stresses", stresses):
        stress = np.full((bodies.dim, bodies.dim), np.nan)
        stress[k, k] = s
        legs.append(Leg("oedometer", _rows(stress)))
    return legs


def uniaxial(bodies: Bodies, *, strain: float, steps: int, dt: float, axis: str = "") -> list[Leg]:
    """Compression along ``axis`` by ``strain`` in so many steps of dt [s], the sides held.

    Rigid bodies go on until they have no room left, and are then jammed.
    """
    k, steps = _axis(axis, bodies.dim), arrays.whole("steps", steps)
    rate = np.zeros((bodies.dim, bodies.dim))
    rate[k, k] = -_number("strain", strain) / (steps * arrays.positive("dt", dt))
    held = np.full((bodies.dim, bodies.dim), np.nan)
    return [Leg("uniaxial", _rows(held), _rows(rate), steps, float(dt))]


def triaxial(
    bodies: Bodies,
    *,
    strain: float,
    steps: int,
    pressure: float,
    inertial_number: float = 1e-3,
    axis: str = "",
) -> list[Leg]:
    """Compression along ``axis`` by ``strain`` in so many steps, at a constant pressure from the
    sides [Pa; N/m in 2D]; biaxial in the plane."""
    dim, k = bodies.dim, _axis(axis, bodies.dim)
    stress = np.where(np.eye(dim) > 0, arrays.positive("pressure", pressure), 0.0)
    stress[k, k] = np.nan
    strain = _number("strain", strain)
    return [_driven("triaxial", bodies, stress, (k, k), -strain, steps, pressure, inertial_number)]


def simple_shear(
    bodies: Bodies, *, strain: float, steps: int, pressure: float, inertial_number: float = 1e-3
) -> list[Leg]:
    """Shear of x along y by ``strain`` in so many steps, at a constant normal stress on the planes
    that slide, sigma_yy [Pa; N/m in 2D]; no strain along x and z."""
    stress = np.full((bodies.dim, bodies.dim), np.nan)
    stress[1, 1] = arrays.positive("pressure", pressure)
    return [
        _driven("simple-shear", bodies, stress, (0, 1), strain, steps, pressure, inertial_number)
    ]


def pure_shear(
    bodies: Bodies, *, strain: float, steps: int, pressure: float, inertial_number: float = 1e-3
) -> list[Leg]:
    """Extension along x by ``strain`` in so many steps, while y gives way at a constant pressure
    [Pa; N/m in 2D]; no strain along z. Bodies that dilate make it no more than nearly pure."""
    dim = bodies.dim
    stress = np.full((dim, dim), np.nan)
    stress[1, 1] = arrays.positive("pressure", pressure)
    return [_driven("pure-shear", bodies, stress, (0, 0), strain, steps, pressure, inertial_number)]


def free(
    bodies: Bodies,
    *,
    stress: Sequence[Sequence[float | None]],
    rate: Sequence[Sequence[float]] | None = None,
    steps: int = 0,
    dt: float | None = None,
) -> list[Leg]:
    """Any stress tensor (dim, dim) [Pa; N/m in 2D] and rates of strain [1/s] of the components that
    it does not set (None): in so many steps of dt [s], or without steps a stage at rest."""
    d = bodies.dim
    cell = bodies.cell.changed(stress=stress, rate=rate)  # validates both
    count = 0 if steps == 0 else arrays.whole("steps", steps)
    if count == 0 and cell.rate.any():
        raise InputError("path: rate is given without steps; expected the number of steps, or none")
    if dt is not None:
        dt = arrays.positive("dt", dt)
    return [Leg("free", _rows(cell.stress[:d, :d]), _rows(cell.rate[:d, :d]), count, dt)]


KINDS = {
    "isotropic": isotropic,
    "oedometer": oedometer,
    "uniaxial": uniaxial,
    "triaxial": triaxial,
    "simple-shear": simple_shear,
    "pure-shear": pure_shear,
    "free": free,
}
"""Paths by the name that scene files give them."""


def legs_of(bodies: Bodies, tables: Sequence[dict]) -> list[Leg]:
    """The legs of the tables ``[path]`` of a scene file, each a ``kind`` and its keys."""
    legs = []
    for table in tables:
        given = dict(table)
        kind = given.pop("kind", None)
        if kind not in KINDS:
            raise InputError(f"path: kind is {kind!r}; {nearest(str(kind), KINDS)}")
        takes = dict(inspect.signature(KINDS[kind]).parameters)
        del takes["bodies"]
        for name in given:
            if name not in takes:
                raise InputError(f"path: {name} is no key of {kind!r}; {nearest(name, takes)}")
        needed = {name for name, each in takes.items() if each.default is each.empty}
        for name in sorted(needed - given.keys()):
            raise InputError(f"path: {kind!r} needs {name}; its keys: {', '.join(takes)}")
        legs += KINDS[kind](bodies, **given)
    return legs


def grains(bodies: Bodies) -> np.ndarray:
    """(n,) bool: bodies of bounded size that move; the cell is a body without bounds."""
    return np.isfinite(bodies.bounding_radius) & bodies.free.any(axis=1)


def rate_of(bodies: Bodies, pressure: float, inertial_number: float) -> float:
    """Rate of strain [1/s] with this inertial number at a pressure [Pa; N/m in 2D]."""
    number = arrays.positive("inertial_number", inertial_number)
    counts = grains(bodies)
    mass = float(bodies.mass[counts].mean())
    if bodies.dim == 2:
        return number * np.sqrt(pressure / mass)
    measure = np.array([shape.measure for shape in bodies.shapes])[bodies.shape_of][counts]
    density = float(bodies.mass[counts].sum() / measure.sum())
    diameter = 2.0 * float(bodies.bounding_radius[counts].mean())
    return number / diameter * np.sqrt(pressure / density)


def steps_with_friction(bodies: Bodies, leg: Leg, dt: float) -> int:
    """Into how many steps of at most ``SHORT`` inertial times a leg of steps dt [s] is divided."""
    if leg.pressure == 0.0:
        return leg.steps
    # a hair of rounding makes no other step
    return int(np.ceil(leg.steps * dt * rate_of(bodies, leg.pressure, 1.0) / SHORT - 1e-6))


def _driven(name, bodies, stress, component, strain, steps, pressure, inertial_number) -> Leg:
    steps, strain = arrays.whole("steps", steps), _number("strain", strain)
    speed = rate_of(bodies, pressure, inertial_number)
    rate = np.zeros((bodies.dim, bodies.dim))
    rate[component] = np.copysign(speed, strain)
    return Leg(name, _rows(stress), _rows(rate), steps, float(abs(strain) / steps / speed))


def _rows(tensor) -> tuple:
    return tuple(tuple(row) for row in np.asarray(tensor, float).tolist())


def _axis(axis: str, dim: int) -> int:
    known = AXES[:dim]
    axis = axis or known[-1]
    if axis not in tuple(known):
        raise InputError(f"axis is {axis!r}; expected one of {', '.join(known)}")
    return known.index(axis)


def _number(name, value) -> float:
    found = arrays.number(value)
    if not np.isfinite(found) or found == 0.0:
        raise InputError(f"{name} is {value!r}; expected a strain, not zero")
    return found


def _positive(name, values) -> list[float]:
    found = [arrays.number(value) for value in np.atleast_1d(values)]
    if not found or not all(0.0 < value < np.inf for value in found):
        raise InputError(f"{name} are {values!r}; expected positive numbers, one a stage")
    return found
