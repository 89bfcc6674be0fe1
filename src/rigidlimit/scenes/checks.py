"""What a scene takes of its bodies: each value checked, with one clear error, and as it is kept.

dim: of the scene, 2 or 3. Vectors are kept in three dimensions, velocities and loads as (6,).

Warnings are about shapes that hardly are what was meant, and about imported springs not used.
"""

import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from .._support import arrays
from .._support.arrays import is_positive
from .._support.warned import warn
from .._support.words import counted
from ..bodies import Compound, HalfSpace, Material, Shape, rotations
from ..bodies.bodies import PLANAR
from ..collision.search import find_contacts
from ..errors import ContactError, SceneError, SceneWarning

if TYPE_CHECKING:
    from .scene import Scene


DEGREES = ("x", "y", "z", "rx", "ry", "rz")

ALONG = 1e-12
"""Components of a normal along an axis, beside that axis, that are rounding."""


def shapes(shape: Shape | Iterable[Shape], dim: int) -> list[Shape]:
    """[shape], or the shapes of several bodies, one each."""
    many = isinstance(shape, Iterable) and not isinstance(shape, Shape | str | bytes)
    found = list(shape) if many else [shape]
    for one in found:
        if not isinstance(one, Shape):
            raise SceneError(f"shape is {one!r}; expected one of rigidlimit's shapes")
        if one.dim != dim:
            raise SceneError(
                f"{type(one).__name__} is a shape in {one.dim}D; expected one for this {dim}D scene"
            )
        if many and isinstance(one, HalfSpace):
            raise SceneError(
                "a half-space is among the shapes; expected shapes of bodies; add half-spaces "
                "by a call of their own"
            )
    return found


def shape_of_each(found: list[Shape], one_for_all: bool, count: int) -> None:
    """Raises SceneError for shapes that are neither one for all ``count`` bodies nor one each."""
    if not one_for_all and len(found) != count:
        raise SceneError(
            f"{counted(len(found), 'shape')} given; expected one for all bodies, or one for "
            f"each of {count}"
        )


def load_of_half_space(mass: object, load: object) -> None:
    """Raises SceneError for the load of a half-space without a mass, which is fixed."""
    if load is not None and mass is None:
        raise SceneError(
            f"load: found {load!r}; a half-space without a mass is fixed, and its load has no "
            "meaning; give its mass, with which it moves along its normal, or remove load"
        )


def free_along_normal(shape: HalfSpace, quaternions: np.ndarray) -> np.ndarray:
    """Degrees of freedom (k, 6) of half-spaces that move: the one along each normal."""
    normals = rotations.matrix(quaternions) @ shape.local_normal
    along = np.abs(normals)
    axis = along.argmax(axis=1)
    skew = np.flatnonzero(along.sum(axis=1) - 1.0 > ALONG)
    if len(skew):
        raise SceneError(
            f"mass: the half-space with the normal {normals[skew[0], : shape.dim].tolist()} would "
            "move along it; expected a normal along an axis, or no mass, with which it is fixed; a "
            "box can be held by its degrees of freedom"
        )
    free = np.zeros((len(normals), 6), bool)
    free[np.arange(len(normals)), axis] = True
    return free


def material(value: Material | None) -> Material:
    """A material; None is the default one."""
    value = Material() if value is None else value
    if not isinstance(value, Material):
        raise SceneError(f"material is {value!r}; expected a Material, or None")
    return value


def group_name(value: str | None) -> None:
    """Raises SceneError for a name of a collision group that is none."""
    if value is not None and not (isinstance(value, str) and value):
        raise SceneError(f"group is {value!r}; expected a name, like 'platens'")


def masses(mass: float | ArrayLike, names: list[str]) -> float | np.ndarray:
    """A positive number, or one for each of the bodies named, (k,)."""
    if np.ndim(mass) == 0 or isinstance(mass, str):
        if not is_positive(mass):
            raise SceneError(f"mass of body {names[0]!r} is {mass!r}; expected a positive mass")
        return mass
    try:
        found = arrays.floats(mass)
    except (TypeError, ValueError):
        found = np.full(len(names), np.nan)
    if found.shape != (len(names),):
        raise SceneError(
            f"mass: found an array of shape {found.shape}; expected a number, or one for each "
            f"of {counted(len(names), 'body')}"
        )
    wrong = np.flatnonzero(~((found > 0) & (found < np.inf)))
    if len(wrong):
        raise SceneError(
            f"mass of body {names[wrong[0]]!r} is {mass[wrong[0]]!r}; expected a positive mass"
        )
    return found


def held_degrees(dim: int, fixed: bool | Iterable[str], half_space: bool) -> np.ndarray:
    """Degrees of freedom (6,) that are held, with those that a 2D scene does not have."""
    held = np.zeros(6, bool) if dim == 3 else ~PLANAR
    if half_space:
        if fixed is not True and fixed is not False:
            raise SceneError(
                f"fixed: found {fixed!r}; a half-space is fixed in all its degrees of freedom, or "
                "with a mass free along its normal; remove fixed, or take a box"
            )
        return np.ones(6, bool)
    if fixed is True:
        return np.ones(6, bool)
    if fixed is False:
        return held
    names = [fixed] if isinstance(fixed, str) or not isinstance(fixed, Iterable) else fixed
    for degree in names:
        if degree not in DEGREES:
            raise SceneError(
                f"fixed names {degree!r}; expected true, or some of {', '.join(DEGREES)}"
            )
        held[DEGREES.index(degree)] = True
    return held


def quaternion(
    label: str, dim: int, shape: Shape, orientation: object, normal: ArrayLike | None
) -> np.ndarray:
    """Unit quaternion (4,) of a body given by its orientation, or of a half-space by its normal."""
    if normal is not None:
        if not isinstance(shape, HalfSpace):
            raise SceneError(f"{label}: normal is for half-spaces; give an orientation")
        n = vector("normal", normal, dim)
        size = np.linalg.norm(n)
        if not size > 0:
            raise SceneError(f"{label}: normal is zero; expected a direction")
        n = n / size
        if dim == 2:
            return rotations.about_z(np.arctan2(n[1], n[0]) - np.pi / 2)
        return rotations.aligning_z(n)
    q = rotations.from_orientation(label, orientation, dim)
    angle = arrays.number(orientation) if dim == 2 and orientation is not None else 0.0
    if abs(angle) > 2 * np.pi:
        warn(
            f"{label}: orientation is {angle:g}, more than a turn; expected an angle "
            f"in radians: {angle:g} degrees are {np.radians(angle):.6g}",
            SceneWarning,
        )
    return q


def vector(what: str, value: ArrayLike, dim: int) -> np.ndarray:
    """(dim,) finite numbers as (3,)."""
    return vectors(what, [value], dim)[0]


def vectors(what: str, values: ArrayLike, dim: int, count: int | None = None) -> np.ndarray:
    """(k, dim) finite numbers as (k, 3); count: k, if it is known."""
    try:
        array = arrays.floats(values)
    except (TypeError, ValueError):
        array = np.full((1, 1), np.nan)
    if array.ndim != 2 or array.shape[1] != dim or not np.isfinite(array).all():
        shown = values[0] if len(values) == 1 else f"an array of shape {array.shape}"
        raise SceneError(f"{what}: found {shown!r}; expected {dim} finite numbers each")
    if count is not None and len(array) != count:
        raise SceneError(f"{what}: found {counted(len(array), 'row')}; expected {count}")
    out = np.zeros((len(array), 3))
    out[:, :dim] = array
    return out


def spins(what: str, values: ArrayLike, dim: int, count: int) -> np.ndarray:
    """Angular velocities (k, 3) in 3D, (k,) in 2D, as (k, 3) [rad/s]."""
    if dim == 3:
        return vectors(what, values, dim, count)
    try:
        array = arrays.floats(values)
    except (TypeError, ValueError):
        array = np.zeros((0, 0))
    if array.shape != (count,) or not np.isfinite(array).all():
        raise SceneError(f"{what}: found {values!r}; expected one number [rad/s] each in 2D")
    return np.column_stack([np.zeros((count, 2)), array])


def velocities(
    linear: ArrayLike | None, angular: ArrayLike | None, dim: int, count: int
) -> np.ndarray:
    """(k, 6) [m/s, rad/s]; None: at rest."""
    velocity = np.zeros((count, 6))
    if linear is not None:
        velocity[:, :3] = vectors("velocity", linear, dim, count)
    if angular is not None:
        velocity[:, 3:] = spins("angular_velocity", angular, dim, count)
    return velocity


def quaternions(values: ArrayLike, count: int) -> np.ndarray:
    """(k, 4) unit quaternions (w, x, y, z)."""
    try:
        q = arrays.floats(values)
    except (TypeError, ValueError):
        q = np.zeros(0)
    if q.shape != (count, 4) or not np.isfinite(q).all() or not q.any(axis=1).all():
        raise SceneError(
            f"quaternions: found an array of shape {q.shape}; expected {counted(count, 'row')} "
            "(w, x, y, z), finite and not zero"
        )
    return rotations.unit(q)


def loads(values: ArrayLike, dim: int, count: int) -> np.ndarray:
    """Forces, or forces and moments, as (k, 6) [N, N m]."""
    try:
        array = arrays.floats(values)
    except (TypeError, ValueError):
        array = np.zeros(0)
    columns = {2: {2: (0, 1), 3: (0, 1, 5)}, 3: {3: (0, 1, 2), 6: tuple(range(6))}}[dim]
    good = array.ndim == 2 and len(array) == count and array.shape[1] in columns
    if not good or not np.isfinite(array).all():
        sizes = " or ".join(str(s) for s in columns)
        raise SceneError(f"load: found {values!r}; expected {sizes} finite numbers each")
    out = np.zeros((count, 6))
    out[:, columns[array.shape[1]]] = array
    return out


LAWS = {"hooke": 2.0, "hertz": 2.5}


def law_exponent(law: str | float) -> float:
    """Exponent p of a contact law given as "hooke", "hertz" or a number p > 1."""
    if isinstance(law, str) and law.lower() in LAWS:
        return LAWS[law.lower()]
    try:
        p = float(law)
    except (TypeError, ValueError):
        p = np.nan
    if not (np.isfinite(p) and p > 1):
        raise SceneError(f"law is {law!r}; expected 'hooke', 'hertz' or an exponent p > 1")
    return p


def warn_of_unused_springs(scene: "Scene", what: str) -> None:
    """Warn that ``what`` begins without the springs of the scene, if it has any.

    A scene that has a ``memory`` begins with that.
    """
    if scene.springs is not None and scene.memory is None:
        warn(
            f"scene {scene.name!r}: the tangential springs that were read with it (springs=) are "
            f"not used by {what}, whose contacts with friction begin unloaded; forces_at_pose and "
            "Packing.forces use them",
            SceneWarning,
        )


OVERLAP = 1e-6
"""Overlap of two parts, over the smaller one's radius, above which a warning is given."""


def warn_of_facets(name: str, shape: Shape) -> None:
    """Faces that look as if they had fallen into pieces by rounding."""
    parts = [p for p, _, _ in shape.parts] if isinstance(shape, Compound) else [shape]
    for place, part in enumerate(parts):
        doubt = getattr(part, "doubt", "")
        if doubt:
            where = f", part {place}" if part is not shape else ""
            warn(f"body {name!r}{where}: {doubt}", SceneWarning)
            break


def warn_of_overlap(name: str, shape: Compound, mass_given: bool) -> None:
    """Mass properties of a compound are sums over its parts, wrong where they overlap."""
    twice = [] if mass_given else ["mass"]
    twice += [] if "inertia_per_mass" in shape.given else ["inertia"]
    if not twice:
        return
    from .scene import Scene

    parts = Scene(dim=shape.dim)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SceneWarning)  # given with the body's name
        for part, at, turn in shape.parts:
            parts.add(part, position=at, orientation=turn)
    try:
        contacts = find_contacts(parts.bodies, parts.state, 0.0)
    except ContactError:  # of parts with one centre
        found = "two parts have the same centre"
    else:
        size = parts.bodies.bounding_radius[contacts.body].min(axis=1)
        deep = -contacts.gap / size
        if not deep.max(initial=0.0) > OVERLAP:
            return
        i, j = contacts.body[deep.argmax()]
        found = f"parts {i} and {j} overlap by {-contacts.gap[deep.argmax()]:.3g} m"
    remedy = {"mass": "the body's mass", "inertia": "the compound's inertia_per_mass"}
    warn(
        f"body {name!r}: {found}, which counts twice in {' and '.join(twice)}; give "
        f"{' and '.join(remedy[what] for what in twice)} if that matters",
        SceneWarning,
    )
