"""Bodies of several convex parts: clumps of balls, L- and T-blocks, forks, cams.

Problem: mass properties about the common centre of mass, from parts given in one frame whose
origin is the user's choice. With volumes V_k, densities d_k over the material's, centres x_k and
inertias I_k per mass of part k in the common axes:

    V = sum d_k V_k,   c = sum d_k V_k x_k / V,
    I = sum d_k V_k (I_k + |r_k|^2 1 - r_k r_k^T) / V,   r_k = x_k - c

Like those of a polyhedron, the axes of the body are those of the given frame, with the origin
moved to the centre of mass; the inertia need not be diagonal in them.
"""

from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np

from .._support import arrays
from .._support.arrays import is_positive
from .._support.words import counted
from ..errors import SceneError
from . import rotations
from .convex import Box, ConvexPolyhedron, Polygon
from .shapes import Capsule, Cylinder, HalfSpace, Shape

FLAT = 1e-6
"""Part by which the largest principal moment may be more than the sum of the others: moments that
are given to six digits, as of a plate."""


@dataclass(frozen=True, eq=False)
class Compound(Shape):
    """One rigid body of several convex parts: clumps of balls, L- and T-blocks, forks, cams.

    Parameters
    ----------
    parts : list of (shape, position) or (shape, position, turn)
        position (dim,) [m]: of the part's centre of mass, in a frame of the user's choice, which
        is then moved so that the centre of mass of all is its origin. turn: quaternion (w, x, y,
        z), in 2D an angle [rad]. A shape alone stands for (shape, shape.centre), or the origin for
        shapes other than polyhedra and polygons. Parts are fixed to each other and do not touch
        each other; half-spaces and compounds cannot be parts.
    densities : (parts,), optional
        Of the parts over that of the body's material; 1 by default. Where parts overlap, as in
        clumps of balls, their mass counts twice; ``Scene.add`` warns of that unless a mass is
        given there and ``inertia_per_mass`` here, with ``centre`` if that is not the parts'.
    centre : (dim,) [m], optional
        Centre of mass, where it is not that of the parts.
    inertia_per_mass : (3, 3), (3,) or float in 2D [m^2], optional
        About the centre of mass; (3,) is the diagonal in the axes of the frame. In 3D no principal
        moment is more than the sum of the others.

    Attributes
    ----------
    centre : (dim,) ndarray [m]
        Where the centre of mass was in the given frame: the position to give the body if the parts
        are where it shall be.
    dim : int
    measure : float [m^3; m^2 in 2D]
        Sum of the parts' volumes times their densities.
    inertia_per_mass : (3, 3) ndarray [m^2]
    bounding_radius : float [m]
    offsets : (parts, 3) ndarray [m]
        Centres of the parts from the centre of mass.
    quaternions : (parts, 4) ndarray
        Turns of the parts.
    shapes : tuple of Shape
        Of the parts.
    given : tuple of str
        Which of ``densities``, ``centre`` and ``inertia_per_mass`` were stated.

    Raises
    ------
    SceneError
        For no parts, parts of several dimensions, half-spaces or compounds among them, wrong
        numbers of densities, and an inertia that no body has.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> foot, wall = rl.rectangle(2, 1), rl.rectangle(1, 3)
    >>> rl.Compound([(foot, (1, 0.5)), (wall, (0.5, 2.5))]).centre
    array([0.7, 1.7])
    """

    # what users give, and arrays from then on
    parts: Any
    _: KW_ONLY
    densities: Any = None
    centre: Any = None
    inertia_per_mass: Any = None
    dim: int = field(init=False)
    measure: float = field(init=False)
    bounding_radius: float = field(init=False)
    offsets: np.ndarray = field(init=False)
    quaternions: np.ndarray = field(init=False)
    given: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        parts, places, turns, dim = _placed(self.parts)
        volume = np.array([shape.measure for shape, *_ in parts]) * _densities(self, len(parts))
        total = volume.sum()
        given = tuple(
            key for key in ("densities", "centre", "inertia_per_mass")
            if getattr(self, key) is not None
        )  # fmt: skip
        if self.centre is None:
            centre = volume @ places / total
        else:
            centre = _vector("centre", self.centre, dim)
        arm = places - centre
        if self.inertia_per_mass is None:
            axes = rotations.matrix(turns)
            own = axes @ [shape.inertia_per_mass for shape, *_ in parts] @ np.swapaxes(axes, 1, 2)
            far = np.einsum("ki,ki->k", arm, arm)[:, None, None] * np.eye(3)
            far -= arm[:, :, None] * arm[:, None, :]
            inertia = np.einsum("k,kij->ij", volume / total, own + far)
        else:
            inertia = _inertia(self.inertia_per_mass, dim)
        for name, value in dict(
            parts=parts,
            dim=dim,
            centre=centre[:dim],
            measure=float(total),
            inertia_per_mass=inertia,
            offsets=arm,
            quaternions=turns,
            given=given,
            bounding_radius=max(
                _farthest(shape, r, q) for (shape, *_), r, q in zip(parts, arm, turns, strict=True)
            ),
        ).items():
            object.__setattr__(self, name, value)

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """Shapes of the parts."""
        return tuple(shape for shape, *_ in self.parts)


def _part(label, given):
    """(shape, [position, orientation] as far as given) of one part."""
    shape, *where = given if isinstance(given, list | tuple) and len(given) else (given,)
    if not isinstance(shape, Shape) or len(where) > 2:
        raise SceneError(
            f"{label} is {given!r}; expected (shape, position) or (shape, position, orientation)"
        )
    if isinstance(shape, HalfSpace | Compound):
        kind = "half-space" if isinstance(shape, HalfSpace) else "compound"
        hint = "its parts, placed in this frame" if kind == "compound" else "a box"
        raise SceneError(f"{label} is a {kind}; expected a convex body; try {hint}")
    return shape, where


def _placed(given):
    """(parts as (shape, position, turn), places (k, 3), quaternions (k, 4), dim), checked."""
    if isinstance(given, Shape) or not hasattr(given, "__iter__"):
        given = repr(given)
        raise SceneError(f"compound: parts is {given}; expected a list of (shape, position)")
    given = list(given)
    if not given:
        raise SceneError("compound: no parts; expected one (shape, position) at least")
    parts, places, turns = [], [], []
    for number_, part in enumerate(given):
        label = f"compound: part {number_}"
        shape, where = _part(label, part)
        dim = parts[0][0].dim if parts else shape.dim
        if shape.dim != dim:
            raise SceneError(
                f"{label} is in {shape.dim}D, those before in {dim}D; expected parts of one kind"
            )
        at = where[0] if where else getattr(shape, "centre", np.zeros(dim))
        turn = where[1] if len(where) > 1 else None
        places.append(_vector(f"part {number_}: position", at, dim))
        turns.append(rotations.from_orientation(label, turn, dim))
        parts.append((shape, tuple(places[-1][:dim].tolist()), turn))
    return tuple(parts), np.array(places), np.array(turns), dim


def _vector(what, value, dim) -> np.ndarray:
    """``dim`` finite numbers as (3,)."""
    try:
        array = arrays.floats(value)
    except (TypeError, ValueError):
        array = np.zeros(0)
    if array.shape != (dim,) or not np.isfinite(array).all():
        raise SceneError(f"compound: {what} is {value!r}; expected {counted(dim, 'finite number')}")
    return np.pad(array, (0, 3 - dim))


def _densities(compound, count) -> np.ndarray:
    given = compound.densities
    if given is None:
        return np.ones(count)
    try:
        values = list(given)
    except TypeError:
        values = []
    if len(values) != count or not all(map(is_positive, values)):
        raise SceneError(
            f"compound: densities is {given!r}; expected {counted(count, 'positive number')}, one "
            "per part"
        )
    return np.array(values, float)


def _inertia(given, dim) -> np.ndarray:
    """(3, 3), symmetric and positive."""
    try:
        inertia = arrays.floats(given)
    except (TypeError, ValueError):
        inertia = np.zeros(1)
    if dim == 2 and inertia.ndim == 0:
        inertia = np.diag([0.5, 0.5, 1.0]) * inertia
    elif inertia.shape == (3,):
        inertia = np.diag(inertia)
    good = inertia.shape == (3, 3) and np.isfinite(inertia).all()
    # a tensor that was turned is symmetric but for rounding
    good = good and np.abs(inertia - inertia.T).max() <= 1e-9 * np.abs(inertia).max()
    inertia = 0.5 * (inertia + inertia.T) if good else inertia
    if not good or not np.linalg.eigvalsh(inertia).min() > 0:
        expected = "a positive number" if dim == 2 else "3 positive numbers, or a (3, 3) tensor"
        raise SceneError(f"compound: inertia_per_mass is {given!r}; expected {expected} [m^2]")
    moments = np.linalg.eigvalsh(inertia)
    # of a flat body the largest is the sum of the others
    if dim == 3 and moments[2] > (1 + FLAT) * (moments[0] + moments[1]):
        raise SceneError(
            f"compound: inertia_per_mass is {given!r}, with the principal moments "
            f"{', '.join(f'{moment:.6g}' for moment in moments)} m^2, which no body has; expected "
            "the largest to be no more than the sum of the others; check the units and the axes"
        )
    return inertia


def _farthest(shape: Shape, offset: np.ndarray, quaternion: np.ndarray) -> float:
    """Distance of the farthest point of a part from the centre of mass [m]; a bound for
    ellipsoids."""
    turn = rotations.matrix(quaternion)
    if isinstance(shape, Box | ConvexPolyhedron | Polygon):
        corners = (shape.polytope if isinstance(shape, Box) else shape).vertices
        corners = np.pad(corners, ((0, 0), (0, 3 - corners.shape[1])))
        return float(np.linalg.norm(corners @ turn.T + offset, axis=1).max())
    if isinstance(shape, Capsule | Cylinder):
        ends = offset + np.outer([-0.5, 0.5], turn[:, 2] * shape.length)
        if isinstance(shape, Capsule):
            return float(np.linalg.norm(ends, axis=1).max()) + shape.radius
        along = ends @ turn[:, 2]
        across = np.linalg.norm(ends - np.outer(along, turn[:, 2]), axis=1) + shape.radius
        return float(np.hypot(along, across).max())
    return float(np.linalg.norm(offset)) + shape.bounding_radius
