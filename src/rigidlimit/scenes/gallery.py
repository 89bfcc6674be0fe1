"""Scenes with known answers: each function returns a fresh Scene and states what is known."""

from collections.abc import Sequence

import numpy as np

from .._support.words import counted
from ..bodies import Box, Compound, Disk, Ellipsoid, HalfSpace, Material, Sphere, rectangle
from .arguments import (
    at_least,
    between,
    checked,
    finite,
    fraction,
    law,
    not_negative,
    numbers,
    order_of_three,
    positive,
)
from .scene import Scene

SLOPE = between(0, 90, "an angle between 0 and 90 degrees")

STIFF_SUPPORT = 1e9
"""[N/m] that goes with a relative stiffness of 1."""


@checked(
    weight=positive,
    length=positive,
    stiffness=numbers(3, positives=True),
    drop=not_negative,
    order=order_of_three,
)
def beam(
    weight: float = 10.0,
    *,
    length: float = 2.0,
    stiffness: Sequence[float] = (1.0, 1.0, 1.0),
    drop: float = 0.0,
    order: Sequence[int] = (0, 1, 2),
) -> Scene:
    """A 2D beam on three fixed disks at x = 0, L/2 and L (section 8.1 of the paper).

    weight [N]; stiffness of the three contacts; drop: initial gap over the disk radius; order in
    which the supports are numbered, which classic solvers' answers depend on.
    Known: forces share the weight as the stiffness does, 10/3 each or 2, 6, 2 for 1 : 3 : 1.
    """
    total = sum(stiffness)
    scene = Scene(
        name="beam",
        dim=2,
        gravity=(0.0, -10.0),
        dt=1e-3,
        duration=0.02 if drop == 0 else 0.2,
        description="a beam on three supports: the simplest indeterminate contact problem",
        reference={"forces": [weight * k / total for k in stiffness]},
    )
    radius, height = 0.05 * length, 0.05 * length
    x = [-length / 2, 0.0, length / 2]
    for k in order:
        name = ("left", "middle", "right")[k]
        scene.add(Disk(radius), position=(x[k], 0.0), fixed=True, name=name)
    # the beam reaches past the outer supports, so that its corners do not rest on them
    top = radius * (1 + drop) + height / 2
    scene.add(rectangle(1.1 * length, height), position=(0.0, top), mass=weight / 10.0, name="beam")
    for k in order:
        # only ratios matter, except to the DEM, for which these are stiff
        scene.set_pair_stiffness(
            ("left", "middle", "right")[k], "beam", STIFF_SUPPORT * stiffness[k]
        )
    return scene


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

    The packing of section 8.2. drop: gap between layers over the radius at the start (0 is the
    static pyramid). young_ratio: E1/E0 of spheres with odd index over those with even index.
    Known: PYRAMID_LARGEST, the largest force over one sphere's weight at rest (young_ratio 1).
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
    add_pyramid(scene, base, diameter, (even, odd), gap=0.5 * drop * diameter)
    return scene


def add_pyramid(
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


@checked(load_at=numbers(2), weight=positive, spread=numbers(2, positives=True))
def four_leg_table(
    load_at: Sequence[float] = (0.2, 0.1),
    *,
    weight: float = 100.0,
    spread: Sequence[float] = (1.0, 1.0),
) -> Scene:
    """A stiff table on four equal legs with its weight at ``load_at`` (Euler 1773).

    spread: half distances of the legs from the centre [m]. Known: the leg at (X, Y) carries
    weight/4 (1 + x X/a^2 + y Y/b^2) for a load at (x, y), as long as that is positive.
    """
    a, b = spread
    x, y = load_at
    legs = [(-a, -b), (a, -b), (-a, b), (a, b)]
    forces = [weight / 4 * (1 + x * X / a**2 + y * Y / b**2) for X, Y in legs]
    scene = Scene(
        name="four-leg-table",
        gravity=(0, 0, 0),
        duration=0.01,
        description="a table on four legs, loads linear in leg position (Euler 1773)",
        reference={"forces": forces} if min(forces) >= 0 else {},
    )
    for k, (X, Y) in enumerate(legs):
        scene.add(Sphere(0.05), position=(X, Y, 0.0), fixed=True, name=f"leg {k}")
    scene.add(
        Box((2.4 * a, 2.4 * b, 0.1)),
        position=(0, 0, 0.1),
        mass=weight / 9.81,
        name="table",
        # the weight acts at load_at: a force at the centre and its moment about it
        load=(0, 0, -weight, -weight * y, weight * x, 0),
    )
    return scene


@checked(legs=at_least(2), weight=positive)
def block_on_legs(legs: int = 7, *, weight: float = 10.0) -> Scene:
    """A stiff 2D block on n equal legs, its weight in the middle. Known: weight/n each."""
    scene = Scene(
        name="block-on-legs",
        dim=2,
        gravity=(0.0, -10.0),
        duration=0.01,
        description=f"a stiff block on {counted(legs, 'equal leg')}",
        reference={"forces": [weight / legs] * legs},
    )
    x = np.linspace(-1, 1, legs)
    scene.add_many(
        Disk(0.05),
        np.column_stack([x, np.zeros(legs)]),
        fixed=True,
        names=[f"leg {k}" for k in range(legs)],
    )
    scene.add(rectangle(2.2, 0.2), position=(0, 0.15), mass=weight / 10, name="block")
    return scene


@checked(count=at_least(1), weight=positive)
def box_stack(count: int = 5, *, weight: float = 10.0) -> Scene:
    """Equal boxes on top of one another on a plane. Known: between boxes j and j + 1 from the
    top each of the four corners carries j weight / 4."""
    scene = Scene(
        name="box-stack",
        gravity=(0, 0, -10),
        duration=0.01,
        description=f"a stack of {counted(count, 'box')}, four contacts a face",
        reference={"corner forces from below": [weight * (count - j) / 4 for j in range(count)]},
    )
    scene.add(HalfSpace(), position=(0, 0, 0), name="floor")
    for k in range(count):
        scene.add(Box((1, 1, 0.5)), position=(0, 0, 0.25 + 0.5 * k), mass=weight / 10)
    return scene


@checked(left=SLOPE, right=SLOPE, weight=positive)
def disk_in_corner(left: float = 30.0, right: float = 45.0, *, weight: float = 10.0) -> Scene:
    """A disk wedged between two planes rising at the angles left and right [degrees].

    Known: weight sin(right)/sin(left + right) on the left plane, and the other way round.
    """
    L, R = np.radians([left, right])
    total = np.sin(L + R)
    scene = Scene(
        name="disk-in-corner",
        dim=2,
        gravity=(0.0, -10.0),
        duration=0.01,
        description="a disk wedged in a corner: determinate, by statics alone",
        reference={"forces": [weight * np.sin(R) / total, weight * np.sin(L) / total]},
    )
    nL, nR = np.array([np.sin(L), np.cos(L)]), np.array([-np.sin(R), np.cos(R)])
    scene.add(HalfSpace(2), position=(0, 0), normal=nL, name="left plane")
    scene.add(HalfSpace(2), position=(0, 0), normal=nR, name="right plane")
    centre = np.linalg.solve([nL, nR], [0.5, 0.5])
    scene.add(Disk(0.5), position=centre, mass=weight / 10, name="disk")
    return scene


@checked(count=at_least(1), seed=at_least(0))
def pile_2d(count: int = 60, *, seed: int = 1) -> Scene:
    """Disks of unequal size falling into a 2D box. Known: the floor carries the total weight
    once at rest."""
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


@checked(count=at_least(1), seed=at_least(0))
def container(count: int = 27, *, seed: int = 1) -> Scene:
    """Boxes and ellipsoids falling into an open box of five planes. Known: the floor carries
    the total weight once at rest."""
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
        scene.add(
            shape,
            position=(cell + 0.5) * pitch,
            orientation=rng.normal(size=4),
        )
    return scene


@checked(count=at_least(1), seed=at_least(0))
def packing(count: int = 200, *, seed: int = 1) -> Scene:
    """Spheres of unequal size settling in an open box.

    Radii from 1.4 to 2 mm. Known: the floor carries the total weight once at rest.
    """
    scene = Scene(
        name="packing",
        dt=2e-3,
        duration=0.4,
        description=f"{counted(count, 'sphere of unequal size')} settling in a box",
    )
    add_packing(scene, count, seed, Material())
    return scene


def add_packing(scene: Scene, count: int, seed: int, material: Material) -> None:
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


@checked(count=at_least(2), speed=finite, restitution=fraction)
def newton_cradle(count: int = 5, *, speed: float = 1.0, restitution: float = 1.0) -> Scene:
    """A row of touching balls hit by one from the left. Known: momentum is kept, and energy is
    never created."""
    scene = Scene(
        name="newton-cradle",
        gravity=(0, 0, 0),
        restitution=restitution,
        dt=1e-3,
        duration=0.05,
        description="a ball hits a row of touching balls",
    )
    radius = 0.01
    scene.add(
        Sphere(radius),
        position=(-2 * radius - 0.5e-3, 0, 0),
        velocity=(speed, 0, 0),
        name="hitting",
    )
    scene.add_many(Sphere(radius), [(2 * radius * k, 0, 0) for k in range(count - 1)])
    return scene


@checked(length=positive, height=positive, thickness=positive, weight=positive)
def l_block(
    length: float = 4.0, *, height: float = 2.0, thickness: float = 0.5, weight: float = 60.0
) -> Scene:
    """A 2D L-shaped block, a body of two parts, on three fixed disks at x = 0, L/2 and L.

    length L of the foot between the outer disks, and its thickness; height of the wall that stands
    on its left end, as thick as the foot [m]; weight [N].
    Known: the supports share the weight as W/3 (1 + 6 (x - L/2) (c - L/2) / L^2), with the centre
    of mass at c = (1.1 L L/2 + h t/2) / (1.1 L + h), as long as all of them press.
    """
    radius = 0.05 * length
    foot = length + 2 * radius  # past the outer disks, so that its corners do not rest on them
    c = (foot * length / 2 + height * thickness / 2) / (foot + height)
    x = np.array([0.0, 0.5, 1.0]) * length
    known = weight / 3 * (1 + 6 * (x - length / 2) * (c - length / 2) / length**2)
    scene = Scene(
        name="l-block",
        dim=2,
        gravity=(0.0, -10.0),
        dt=1e-3,
        duration=0.02,
        description="an L-shaped block on three supports: a body of two parts",
        reference={"forces": known.tolist()} if known.min() >= 0 else {},
    )
    for name, place in zip(("left", "middle", "right"), x, strict=True):
        scene.add(Disk(radius), position=(place, -radius), fixed=True, name=name)
    block = Compound(
        [
            (rectangle(foot, thickness), (length / 2, thickness / 2)),
            (rectangle(thickness, height), (thickness / 2, thickness + height / 2)),
        ]
    )
    scene.add(block, position=block.centre, mass=weight / 10.0, name="block")
    return scene


SMOOTH = {
    "beam": beam,
    "pyramid": pyramid,
    "four-leg-table": four_leg_table,
    "block-on-legs": block_on_legs,
    "box-stack": box_stack,
    "l-block": l_block,
    "disk-in-corner": disk_in_corner,
    "pile-2d": pile_2d,
    "container": container,
    "packing": packing,
    "newton-cradle": newton_cradle,
}
"""The scenes without friction by name."""
