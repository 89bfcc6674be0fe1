"""Scenes of many spheres, disks and boxes, smooth and rough: pyramids, and packings that settle.
Each function returns a fresh Scene and states what is known."""

from collections.abc import Sequence

import numpy as np

from .._support.words import counted
from ..bodies import Box, Disk, Ellipsoid, HalfSpace, Material, Sphere
from ..bodies.cell import Cell
from ..errors import SceneError
from .arguments import at_least, checked, law, not_negative, one_of, positive
from .scene import Scene

PYRAMID_LARGEST = {
    "hooke": {5: 1.044920, 10: 2.163714, 20: 4.397011, 30: 6.636315},
    "hertz": {5: 1.058209, 10: 2.214344, 20: 4.521309, 30: 6.830889},
}
"""Largest force over one sphere's weight, static pyramid, equal stiffness at every contact."""


@checked(
    base=at_least(1),
    diameter=positive,
    density=positive,
    young=positive,
    young_ratio=positive,
    law=law,
    drop=not_negative,
)
def pyramid(
    base: int = 20,
    *,
    diameter: float = 2.5e-3,
    density: float = 2000.0,
    young: float = 50e9,
    young_ratio: float = 1.0,
    law: str | float = "hooke",
    drop: float = 0.05,
) -> Scene:
    """Cannonball pyramid: a square base of base x base fixed spheres, layers in its hollows.

    The packing of section 8.2. Known: PYRAMID_LARGEST, the largest force over one sphere's weight
    at rest (young_ratio 1).

    Parameters
    ----------
    base : int
        Spheres along a side of the lowest layer.
    diameter : float [m]
    density : float [kg/m^3]
    young : float [Pa]
        E0, of spheres with even index.
    young_ratio : float
        E1/E0 of spheres with odd index over those with even index.
    law : str or float
        "hooke", "hertz" or an exponent p > 1.
    drop : float
        Gap between layers over the radius at the start; 0 is the static pyramid.

    Returns
    -------
    Scene
        ``reference["largest over weight"]`` where it is known.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> scene = rl.scenes.pyramid(5, drop=0.0)
    >>> step = rl.Simulation(scene).step()
    >>> weight = 9.81 * scene.bodies.mass[-1]
    >>> round(float(step.force.max() / weight), 6), scene.reference["largest over weight"]
    (1.04492, 1.04492)
    """
    largest = PYRAMID_LARGEST.get(law, {}).get(base) if young_ratio == 1 else None
    scene = Scene(
        name="pyramid",
        law=law,
        dt=1e-3,
        duration=0.06 if drop else 1e-3,
        description=f"cannonball pyramid of base {base}, base layer fixed",
        reference={} if largest is None else {"largest over weight": largest},
    )
    even = Material(young=young, density=density, name="even")
    odd = Material(young=young * young_ratio, density=density, name="odd")
    _add_pyramid(scene, base, diameter, (even, odd), gap=0.5 * drop * diameter)
    return scene


ROUGH_PYRAMID = {
    (5, 0.5): (0.752234, 0.201409, 54.620262),
    (5, 0.3): (0.767993, 0.196336, 57.487808),
    (5, 0.1): (0.893457, 0.087924, 65.588633),
    (10, 0.5): (1.606425, 0.446946, 900.199287),
    (10, 0.3): (1.589281, 0.417696, 951.519007),
    (10, 0.1): (1.857980, 0.182123, 1083.781320),
    (10, 0.02): (2.092906, 0.040464, 1150.023136),
}
"""(base, mu): largest normal, largest tangential force and sum of the normal ones over a sphere's
weight, k_t/k_n = 2/7, equal spheres with Hooke's law, loaded slowly from nothing."""


@checked(
    base=at_least(1),
    friction=not_negative,
    tangential_stiffness=positive,
    young_ratio=positive,
    law=law,
)
def rough_pyramid(
    base: int = 5,
    *,
    friction: float = 0.5,
    tangential_stiffness: float = 2 / 7,
    young_ratio: float = 1.0,
    law: str | float = "hooke",
) -> Scene:
    """The pyramid of the gallery with friction, its layers touching.

    Known: ROUGH_PYRAMID, of equal spheres with Hooke's law and k_t/k_n = 2/7.

    Parameters
    ----------
    base : int
        Spheres along a side of the lowest layer.
    friction : float
        mu.
    tangential_stiffness : float
        k_t/k_n.
    young_ratio : float
        E1/E0 of spheres with odd index over those with even index.
    law : str or float
        "hooke", "hertz" or an exponent p > 1.

    Returns
    -------
    Scene
        ``reference`` holds "largest", "largest tangential" and "sum of normal forces", each over a
        sphere's weight, where they are known.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> scene = rl.scenes.rough_pyramid(5, friction=0.3)
    >>> found = rl.statics(scene).forces()
    >>> round(float(found.force.max() / (9.81 * scene.bodies.mass[-1])), 6)
    0.767993
    """
    usual = young_ratio == 1 and law == "hooke" and tangential_stiffness == 2 / 7
    known = ROUGH_PYRAMID.get((base, friction), ()) if usual else ()
    names = ("largest", "largest tangential", "sum of normal forces")
    scene = Scene(
        name="rough-pyramid",
        law=law,
        duration=1e-3,
        description=f"cannonball pyramid of base {base} with friction, base layer fixed",
        reference={f"{name} over weight": v for name, v in zip(names, known, strict=False)},
    )
    even, odd = (
        Material(
            young=50e9 * ratio,
            friction=friction,
            tangential_stiffness=tangential_stiffness,
            name=name,
        )
        for name, ratio in (("even", 1.0), ("odd", young_ratio))
    )
    _add_pyramid(scene, base, 2.5e-3, (even, odd))
    return scene


def _add_pyramid(
    scene: Scene, base: int, diameter: float, materials: Sequence[Material], *, gap: float = 0.0
) -> None:
    """Layers of spheres of this diameter [m], the lowest fixed, ``gap`` [m] apart; materials: of
    spheres with even and odd index."""
    layers = []
    for layer in range(base):
        grid = (np.arange(base - layer) + 0.5 * layer) * diameter
        x, y = np.meshgrid(grid, grid, indexing="ij")
        z = layer * (diameter / np.sqrt(2) + gap)
        layers.append(np.column_stack([x.ravel(), y.ravel(), np.full(x.size, z)]))
    centres = np.concatenate(layers)
    sphere, (even, odd) = Sphere(diameter / 2), materials
    fixed = np.arange(len(centres)) < base * base
    # runs of bodies that share layer and material keep the numbering of the layers
    if even.young == odd.young:
        scene.add_many(sphere, centres[fixed], material=even, fixed=True)
        if base > 1:
            scene.add_many(sphere, centres[~fixed], material=even)
    else:
        for k, centre in enumerate(centres):
            scene.add(
                sphere, position=centre, material=odd if k % 2 else even, fixed=bool(fixed[k])
            )


@checked(count=at_least(1), seed=at_least(0))
def pile_2d(count: int = 60, *, seed: int = 1) -> Scene:
    """Disks of unequal size falling into a 2D box.

    Known: the floor carries the total weight once at rest.

    Parameters
    ----------
    count : int
        Of disks.
    seed : int
        Of radii and places.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> len(rl.scenes.pile_2d(10))  # with a floor and two walls
    13
    """
    rng = np.random.default_rng(seed)
    scene = Scene(
        name="pile-2d",
        dim=2,
        dt=2e-3,
        duration=1.5,
        description=f"{counted(count, 'disk of unequal size')} settling in a box",
    )
    columns = max(3, int(np.sqrt(count)))
    width = 2.4 * columns
    scene.add(HalfSpace(2), position=(0, 0), name="floor")
    scene.add(HalfSpace(2), position=(0, 0), normal=(1, 0), name="left wall")
    scene.add(HalfSpace(2), position=(width * 0.01, 0), normal=(-1, 0), name="right wall")
    for k in range(count):
        radius = rng.uniform(0.6, 1.0) * 0.01
        x = (1.2 + 2.4 * (k % columns) + rng.uniform(-0.15, 0.15)) * 0.01
        y = (1.2 + 2.4 * (k // columns)) * 0.01
        scene.add(Disk(radius), position=(x, y))
    return scene


@checked(count=at_least(1), seed=at_least(0))
def container(count: int = 27, *, seed: int = 1) -> Scene:
    """Boxes and ellipsoids falling into an open box of five planes.

    Known: the floor carries the total weight once at rest.

    Parameters
    ----------
    count : int
        Of bodies that fall.
    seed : int
        Of sizes and orientations.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> len(rl.scenes.container(8))  # with five planes
    13
    """
    rng = np.random.default_rng(seed)
    scene = Scene(
        name="container",
        dt=2e-3,
        duration=1.0,
        description=f"{count} boxes and ellipsoids settling in a container",
    )
    side = int(np.ceil(count ** (1 / 3)))
    pitch = 0.024
    _add_open_box(scene, pitch * side)
    for k in range(count):
        size = rng.uniform(0.010, 0.013, 3)
        shape = Box(tuple(size)) if k % 2 else Ellipsoid(tuple(size / 2))
        cell = np.array([k % side, k // side % side, k // side**2])
        scene.add(shape, position=(cell + 0.5) * pitch, orientation=rng.normal(size=4))
    return scene


@checked(count=at_least(1), seed=at_least(0))
def packing(count: int = 200, *, seed: int = 1) -> Scene:
    """Spheres of unequal size settling in an open box.

    Radii from 1.4 to 2 mm. Known: the floor carries the total weight once at rest.

    Parameters
    ----------
    count : int
        Of spheres.
    seed : int
        Of radii and places.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> radius = rl.scenes.packing(20).bodies.bounding_radius[5:]
    >>> bool(1.4e-3 <= radius.min() < radius.max() <= 2e-3)
    True
    """
    scene = Scene(
        name="packing",
        dt=2e-3,
        duration=0.4,
        description=f"{counted(count, 'sphere of unequal size')} settling in a box",
    )
    _add_packing(scene, count, seed, Material())
    return scene


@checked(count=at_least(1), friction=not_negative, seed=at_least(0))
def rough_packing(count: int = 50, *, friction: float = 0.5, seed: int = 1) -> Scene:
    """The packing of the gallery with friction: spheres of unequal size settling in an open box.

    Known: floor and walls together carry the total weight once at rest. By contact dynamics 300
    spheres come to rest within some 150 steps, in 20 s.

    Parameters
    ----------
    count : int
        Of spheres.
    friction : float
        mu.
    seed : int
        Of radii and places.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> rl.scenes.rough_packing(20, friction=0.3).bodies.materials[0].friction
    0.3
    """
    scene = Scene(
        name="rough-packing",
        dt=2e-3,
        duration=0.4,
        description=f"{count} rough spheres of unequal size settling in a box",
    )
    _add_packing(scene, count, seed, Material(friction=friction, name="rough"))
    return scene


LOOSE = {2: 0.5, 3: 0.28}
"""Largest packing fraction of a periodic packing at the start, by the number of dimensions."""

LEAST_IN_SPACE = 40
"""Balls whose cell, once they touch, is two of them across."""


@checked(
    count=at_least(16), dim=one_of(2, 3), friction=not_negative, pressure=positive, seed=at_least(0)
)
def periodic_packing(
    count: int = 200, *, dim: int = 3, friction: float = 0.5, pressure: float = 1e4, seed: int = 1
) -> Scene:
    """Loose spheres, or disks, of unequal size in a periodic cell under a pressure.

    Radii from 1.33 to 2 mm, at random on a grid and with random velocities, at a packing fraction
    of 0.28 in space and 0.5 in the plane at most. Known: the stress at rest is the pressure.

    Parameters
    ----------
    count : int
        Of balls, 40 or more in space, 16 in the plane: fewer do not fill a cell that is two of them
        across.
    dim : {3, 2}
    friction : float
        mu.
    pressure : float [Pa; N/m in 2D]
        For which the velocities are: under a far smaller one the balls fly apart first.
    seed : int
        Of radii, places and velocities.

    Returns
    -------
    Scene
        ``reference["pressure"]``.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> scene = rl.scenes.periodic_packing(16, dim=2, pressure=100.0)
    >>> scene.cell.stress[:2, :2]
    array([[100.,   0.],
           [  0., 100.]])
    """
    if dim == 3 and count < LEAST_IN_SPACE:
        raise SceneError(
            f"periodic_packing(): count is {count}; expected {LEAST_IN_SPACE} or more in space"
        )
    rng = np.random.default_rng(seed)
    radius = rng.uniform(2 / 3, 1.0, count) * 2e-3
    shapes = [Disk(float(r)) if dim == 2 else Sphere(float(r)) for r in radius]
    across = int(np.ceil(count ** (1 / dim) - 1e-9))
    side = (sum(shape.measure for shape in shapes) / LOOSE[dim]) ** (1 / dim)
    side = max(side, 2.02 * across * float(radius.max()))  # apart on the grid
    grid = np.stack(np.meshgrid(*[np.arange(across)] * dim, indexing="ij"), -1).reshape(-1, dim)
    place = (grid[rng.permutation(len(grid))[:count]] + 0.5) * side / across
    material = Material(friction=friction, name="rough" if friction else "smooth")
    # what a body gains under the pressure along its own size
    mass = material.density * float(np.mean([shape.measure for shape in shapes]))
    pull = pressure * (2.0 * float(radius.mean())) ** (dim - 1) / mass
    speed = np.sqrt(pull * float(radius.mean()))
    scene = Scene(
        name="periodic-packing",
        dim=dim,
        cell=Cell((side,) * dim, stress=pressure),
        dt=0.05 * float(np.sqrt(2.0 * radius.mean() / pull)),
        description=f"{counted(count, 'ball')} in a periodic cell under a pressure",
        reference={"pressure": pressure},
    )
    velocity = rng.normal(0.0, 0.2 * speed, (count, dim))
    scene.add_many(shapes, place, velocities=velocity, material=material)
    return scene


def _add_packing(scene: Scene, count: int, seed: int, material: Material) -> None:
    """An open box and spheres above its floor, each at random in a cell of its own."""
    rng = np.random.default_rng(seed)
    side = max(3, round((count / 2) ** (1 / 3)))
    pitch = 4.1e-3
    _add_open_box(scene, pitch * side, material)
    k = np.arange(count)
    cells = np.column_stack([k % side, k // side % side, k // side**2])
    radius = rng.uniform(0.7, 1.0, count) * 2e-3
    centres = (cells + 0.5) * pitch
    centres[:, :2] += rng.uniform(-1, 1, (count, 2)) * (pitch / 2 - radius)[:, None]
    scene.add_many([Sphere(float(r)) for r in radius], centres, material=material)


def _add_open_box(scene: Scene, width: float, material: Material | None = None) -> None:
    """A floor at z = 0 and four walls about a square of this width [m], a corner at the origin."""
    scene.add(HalfSpace(), position=(0, 0, 0), material=material, name="floor")
    for name, at, normal in (
        ("x- wall", (0, 0, 0), (1, 0, 0)),
        ("x+ wall", (width, 0, 0), (-1, 0, 0)),
        ("y- wall", (0, 0, 0), (0, 1, 0)),
        ("y+ wall", (0, width, 0), (0, -1, 0)),
    ):
        scene.add(HalfSpace(), position=at, normal=normal, material=material, name=name)
