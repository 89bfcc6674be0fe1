"""Tests of granular matter with friction: silo, direct shear box, rotating drum, hopper and
vibrated box in two dimensions, chute in three. Each function returns a fresh Scene and states what
is known of it."""

import numpy as np

from ..bodies import Cell, Compound, Disk, HalfSpace, Material, Sphere, rectangle
from ..errors import SceneError
from .arguments import SLOPE, at_least, checked, not_negative, positive
from .scene import Scene

GRAIN = 0.01
"""Radius of the largest grain [m]; the smallest has 0.7 of it."""

YOUNG = 1e9
"""Of grains and walls [Pa]: a DEM at this stiffness has overlaps of some 1e-3 radii."""


def _pour(scene: Scene, count: int, wide: float, above: float, rough: Material, seed: int) -> None:
    """Disks of unequal size between x = 0 and ``wide`` [m], each at random in a cell of its own."""
    rng = np.random.default_rng(seed)
    pitch = 2.05 * GRAIN
    across = max(1, int(wide / pitch))
    k, radius = np.arange(count), rng.uniform(0.7, 1.0, count) * GRAIN
    centres = np.column_stack([(k % across + 0.5) * (wide / across), (k // across + 0.5) * pitch])
    room = np.column_stack([0.5 * wide / across - radius, 0.5 * pitch - radius])
    centres += rng.uniform(-1, 1, (count, 2)) * room + [0.0, above]
    scene.add_many([Disk(float(r)) for r in radius], centres, material=rough)


@checked(
    count=at_least(1), wide=at_least(2), friction=not_negative, wall_friction=not_negative,
    lift=not_negative, seed=at_least(0),
)  # fmt: skip
def silo(
    count: int = 60,
    *,
    wide: int = 4,
    friction: float = 0.5,
    wall_friction: float = 0.2,
    lift: float = 5e-3,
    seed: int = 1,
) -> Scene:
    """Disks poured between two upright walls that rise slowly, so that all grains slide along them.

    Known: floor and walls together carry the weight; the pressure on a cut at the depth z follows
    Janssen's curve, p(z) = w l (1 - exp(-z/l)) with the weight w of a unit of area, l = D/(2 mu_w
    K), D the distance of the walls and K the ratio of the wall's pressure to p.

    Parameters
    ----------
    count : int
        Of disks.
    wide : int
        Distance of the walls in diameters of the largest grain.
    friction, wall_friction : float
        mu among grains, and mu_w of grains and walls.
    lift : float [m/s]
        Speed of the walls.
    seed : int
        Of radii and places.

    Returns
    -------
    Scene
        ``reference["Janssen's length times K"]`` [m].

    Examples
    --------
    >>> import rigidlimit as rl
    >>> round(rl.scenes.silo(10, wide=4).reference["Janssen's length times K"], 6)
    0.2
    """
    distance = wide * 2 * GRAIN
    scene = Scene(
        name="silo",
        dim=2,
        dt=2e-3,
        duration=0.5,
        description=f"{count} rough disks between walls that rise slowly",
        reference={"Janssen's length times K": distance / (2 * wall_friction)}
        if wall_friction > 0
        else {},
    )
    rough = Material(young=YOUNG, friction=friction, name="grains")
    wall = Material(young=YOUNG, friction=wall_friction, name="wall")
    scene.add(HalfSpace(2), position=(0, 0), material=rough, name="floor")
    for name, x, side in (("left wall", 0.0, 1), ("right wall", distance, -1)):
        scene.add(
            HalfSpace(2),
            position=(x, 0),
            normal=(side, 0),
            velocity=(0.0, lift),
            material=wall,
            name=name,
        )
    _pour(scene, count, distance, 0.0, rough, seed)
    return scene


@checked(
    count=at_least(1), wide=at_least(4), friction=not_negative, pressure=positive,
    speed=not_negative, seed=at_least(0),
)  # fmt: skip
def shear_box(
    count: int = 40,
    *,
    wide: int = 8,
    friction: float = 0.5,
    pressure: float = 2e3,
    speed: float = 0.03,
    seed: int = 1,
) -> Scene:
    """Disks in a box whose upper half, with a lid that presses on them, is moved sideways.

    Known: the shear stress, what grains push the upper half back by over the width, tends to a
    part of the pressure that does not depend on it.

    Parameters
    ----------
    count : int
        Of disks.
    wide : int
        Width of the box in diameters of the largest grain.
    friction : float
        mu.
    pressure : float [N/m]
        Load of the lid over the width.
    speed : float [m/s]
        Of the upper half; 0 to bring the disks to rest under the lid first.
    seed : int
        Of radii and places.

    Returns
    -------
    Scene
        ``reference`` holds "width" [m], "pressure" [N/m], "speed" [m/s] and the diameter "grain"
        [m].

    Examples
    --------
    >>> import rigidlimit as rl
    >>> rl.scenes.shear_box(12, wide=6).reference["width"]
    0.12
    """
    grain = 2 * GRAIN
    width, thick = wide * grain, 2 * grain
    scene = Scene(
        name="shear-box",
        dim=2,
        gravity=(0, 0),
        dt=5e-3,
        duration=1.0,
        description=f"{count} rough disks under a lid, the upper half of their box moves sideways",
        reference={"width": width, "pressure": pressure, "speed": speed, "grain": grain},
    )
    rough = Material(young=YOUNG, friction=friction, name="grains")
    # halves meet in the middle of the grains once these lie densely, at some 0.6 of the box's area
    split = 0.3 * count * grain**2 / width
    top = int(np.ceil(count / int(wide / 1.025))) * 1.025 * grain
    held = dict(material=rough, fixed=True)
    floor = rectangle(width + 4 * thick, thick)
    scene.add(floor, position=(width / 2, -thick / 2), **held, name="floor")
    for name, x in (("left", -thick / 2), ("right", width + thick / 2)):
        lower, upper = rectangle(thick, split), rectangle(thick, top)
        scene.add(lower, position=(x, split / 2), **held, name=f"lower {name} wall")
        scene.add(
            upper,
            position=(x, split + top / 2),
            velocity=(speed, 0),
            **held,
            name=f"upper {name} wall",
        )
    scene.add(
        rectangle(0.999 * width, thick),
        position=(width / 2, top + thick / 2),
        fixed=["x", "rz"],
        velocity=(speed, 0),
        mass=5.0,
        load=(0, -pressure * width),
        material=rough,
        name="lid",
    )
    _pour(scene, count, width, 0.0, rough, seed)
    return scene


@checked(
    count=at_least(1), radius=at_least(6), sides=at_least(8), friction=not_negative,
    speed=not_negative, seed=at_least(0),
)  # fmt: skip
def drum(
    count: int = 100,
    *,
    radius: int = 16,
    sides: int = 24,
    friction: float = 0.5,
    speed: float = 1.0,
    seed: int = 1,
) -> Scene:
    """Disks in a rough drum of flat sides that turns at a constant speed.

    Known: turned slowly, the surface of the grains swings about their angle of repose, some 25
    degrees at a friction of 0.5; without friction grains are hardly taken along.

    Parameters
    ----------
    count : int
        Of disks.
    radius : int
        Of the drum, in radii of the largest grain.
    sides : int
        Of the drum.
    friction : float
        mu.
    speed : float [rad/s]
    seed : int
        Of radii and places.

    Returns
    -------
    Scene
        ``reference`` holds "speed" [rad/s] and "radius" [m].

    Raises
    ------
    InputError
        For an argument out of range.
    SceneError
        For more disks than there is room for.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> rl.scenes.drum(20, radius=8).reference
    {'speed': 1.0, 'radius': 0.08}
    """
    inner, thick = radius * GRAIN, 2 * GRAIN
    scene = Scene(
        name="drum",
        dim=2,
        dt=2e-3,
        duration=1.0,
        description=f"{count} rough disks in a drum that turns",
        reference={"speed": speed, "radius": inner},
    )
    rough = Material(young=YOUNG, friction=friction, name="grains")
    side = rectangle(2.04 * (inner + thick) * np.tan(np.pi / sides), thick)  # corners overlap
    angles = 2 * np.pi * np.arange(sides) / sides
    outward = (inner + thick / 2) * np.column_stack([np.cos(angles), np.sin(angles)])
    parts = [(side, place, angle + np.pi / 2) for place, angle in zip(outward, angles, strict=True)]
    scene.add(
        Compound(parts), position=(0, 0), angular_velocity=speed, mass=1.0, material=rough,
        fixed=True, name="drum",
    )  # fmt: skip
    _pile(scene, count, rough, seed, lambda y: np.sqrt(max(inner**2 - y**2, 0.0)), GRAIN - inner)
    return scene


@checked(
    count=at_least(1), opening=positive, slope=SLOPE, wide=at_least(4),
    friction=not_negative, seed=at_least(0),
)  # fmt: skip
def hopper(
    count: int = 120,
    *,
    opening: float = 5,
    slope: float = 45,
    wide: int = 12,
    friction: float = 0.5,
    seed: int = 1,
) -> Scene:
    """Disks that run out of a hopper.

    Known: the rate of outflow does not depend on the height of the filling, and grows with the
    opening D as (D - k d)^(3/2), k of 1 to 2 (Beverloo, in two dimensions).

    Parameters
    ----------
    count : int
        Of disks.
    opening : float
        Of the outlet in diameters d of the largest grain.
    slope : float [degrees]
        At which the sides rise.
    wide : int
        Of the bin above, in diameters d.
    friction : float
        mu.
    seed : int
        Of radii and places.

    Returns
    -------
    Scene
        ``reference`` holds "opening" and "grain" (d) [m].

    Raises
    ------
    InputError
        For an argument out of range.
    SceneError
        For more disks than there is room for.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> rl.scenes.hopper(20, opening=3).reference
    {'opening': 0.06, 'grain': 0.02}
    """
    grain, angle = 2 * GRAIN, np.radians(slope)
    half, out, thick = wide * GRAIN, opening * GRAIN, 2 * GRAIN
    rise = (half - out) * np.tan(angle)
    scene = Scene(
        name="hopper",
        dim=2,
        dt=2e-3,
        duration=0.5,
        description=f"{count} rough disks that run out of a hopper",
        reference={"opening": 2 * out, "grain": grain},
    )
    rough = Material(young=YOUNG, friction=friction, name="grains")
    chute = rectangle((half - out) / np.cos(angle), thick)
    top = count * grain**2 / half
    wall = rectangle(thick, top)
    held = dict(material=rough, fixed=True)
    for name, sign in (("left", -1), ("right", 1)):
        middle = np.array([sign * (out + half) / 2, rise / 2])
        below = 0.5 * thick * np.array([sign * np.sin(angle), -np.cos(angle)])
        scene.add(
            chute, position=middle + below, orientation=sign * angle, **held, name=f"{name} chute"
        )
        place = sign * (half + thick / 2), rise + top / 2
        scene.add(wall, position=place, **held, name=f"{name} wall")

    def room(y: float) -> float:
        """Half the width at the height y, along which grains touch the chutes at their slope."""
        return min(out + y / np.tan(angle) - GRAIN / np.sin(angle) + GRAIN, half)

    _pile(scene, count, rough, seed, room, 2 * grain)
    return scene


@checked(
    count=at_least(16), slope=SLOPE, friction=not_negative, seed=at_least(0),
)  # fmt: skip
def chute(count: int = 200, *, slope: float = 30, friction: float = 0.5, seed: int = 1) -> Scene:
    """Spheres on an incline that is rough by a layer of fixed spheres.

    The cell repeats along the slope, x, and across it, y; gravity is tilted. Known: the bed comes
    to rest on gentle slopes and flows on steep ones; at a friction of 0.5 one of 200 spheres rests
    at 15 degrees and flows at 30. At rest the base carries the bed's weight, along its normal and
    along the slope.

    Parameters
    ----------
    count : int
        Of spheres that move, 16 or more.
    slope : float [degrees]
    friction : float
        mu.
    seed : int
        Of radii and places.

    Returns
    -------
    Scene
        ``reference["slope"]`` [degrees].

    Examples
    --------
    >>> import rigidlimit as rl
    >>> scene = rl.scenes.chute(16, slope=30)
    >>> scene.gravity[:3:2].round(3), scene.cell.periodic  # m/s^2
    (array([ 4.905, -8.496]), array([ True,  True, False]))
    """
    grain, rng, angle = 2 * GRAIN, np.random.default_rng(seed), np.radians(slope)
    across = max(4, round((count / 6) ** 0.5))
    pitch = 1.05 * grain
    side = across * pitch
    scene = Scene(
        name="chute",
        dt=2e-3,
        duration=0.5,
        gravity=(9.81 * np.sin(angle), 0.0, -9.81 * np.cos(angle)),
        cell=Cell((side, side, side), periodic=(True, True, False)),
        description=f"{count} rough spheres on a rough incline",
        reference={"slope": slope},
    )
    rough = Material(young=YOUNG, friction=friction, name="grains")
    k = np.arange(across**2)
    plane = (np.column_stack([k % across, k // across]) + 0.5) * pitch
    base = np.column_stack([plane, rng.uniform(-0.25, 0.0, len(k)) * grain])
    names = [f"base {i}" for i in k]
    scene.add_many([Sphere(GRAIN)] * len(k), base, material=rough, fixed=True, names=names)
    k, radius = np.arange(count), rng.uniform(0.7, 1.0, count) * GRAIN
    places = np.column_stack([k % across, k // across % across, k // across**2 + 1.0])
    places = (places + [0.5, 0.5, 0.0]) * pitch
    places[:, :2] += rng.uniform(-1, 1, (count, 2)) * (pitch / 2 - radius)[:, None]
    scene.add_many([Sphere(float(r)) for r in radius], places, material=rough)
    return scene


@checked(
    count=at_least(1), wide=at_least(4), strength=positive, frequency=positive,
    friction=not_negative, seed=at_least(0),
)  # fmt: skip
def vibrated_box(
    count: int = 100,
    *,
    wide: int = 12,
    strength: float = 0.9,
    frequency: float = 8.0,
    friction: float = 0.5,
    seed: int = 1,
) -> Scene:
    """Disks in a box that a smooth eccentric below it moves up and down: y = a sin(w t).

    The eccentric turns at a constant speed in a slot below the box. Known: below a strength of 1
    grains that lie still stay on the floor, and the eccentric carries the mass of box and grains
    times g - a w^2 sin(w t); above they leave the floor where sin(w t) = 1 / strength. In steps dt
    the box is late by up to a w dt.

    Parameters
    ----------
    count : int
        Of disks.
    wide : int
        Of the box, in diameters of the largest grain.
    strength : float
        a w^2 / g.
    frequency : float [Hz]
        w / 2 pi.
    friction : float
        mu.
    seed : int
        Of radii and places.

    Returns
    -------
    Scene
        ``reference`` holds "amplitude" a [m] and "omega" w [rad/s].

    Examples
    --------
    >>> import rigidlimit as rl
    >>> known = rl.scenes.vibrated_box(10, strength=0.5, frequency=10.0).reference
    >>> round(known["amplitude"] * known["omega"] ** 2 / 9.81, 6)
    0.5
    """
    omega, gravity, grain = 2 * np.pi * frequency, 9.81, 2 * GRAIN
    amplitude = strength * gravity / omega**2
    half, thick, cam = wide * GRAIN, grain, 4 * GRAIN + amplitude
    scene = Scene(
        name="vibrated-box",
        dim=2,
        gravity=(0.0, -gravity),
        dt=1e-3,
        duration=0.5,
        description=f"{count} rough disks in a box that an eccentric moves up and down",
        reference={"amplitude": amplitude, "omega": omega},
    )
    rough = Material(young=YOUNG, friction=friction, name="grains")
    smooth = Material(young=YOUNG, friction=0.0, name="eccentric")
    # the slot: the box's floor above the eccentric and a plate below it
    top = 1.5 * count * grain**2 / half + 2 * grain
    floor, wall = rectangle(2 * half + 2 * thick, thick), rectangle(thick, top)
    parts = [(floor, (0.0, cam + thick / 2), 0.0), (floor, (0.0, -cam - thick / 2), 0.0)]
    for sign in (-1, 1):
        place = (sign * (half + thick / 2), cam + thick + top / 2)
        parts.append((wall, place, 0.0))
    scene.add(
        Compound([(Disk(cam), (amplitude, 0.0))], centre=(0, 0)), position=(0, 0),
        angular_velocity=omega, mass=1.0, material=smooth, fixed=True, name="eccentric",
    )  # fmt: skip
    scene.add(
        Compound(parts, centre=(0, 0)), position=(0, 0), fixed=["x", "rz"],
        velocity=(0.0, amplitude * omega), mass=5.0, material=rough, name="box",
    )  # fmt: skip
    _pile(scene, count, rough, seed, lambda y: half, cam + thick)
    return scene


def _pile(scene: Scene, count: int, rough: Material, seed: int, room, bottom: float) -> None:
    """Disks of unequal size in rows from the height ``bottom`` [m] up, the half width of each row
    by ``room(y)`` at either side of it."""
    rng, pitch, places, y = np.random.default_rng(seed), 2.05 * GRAIN, [], bottom + 1.1 * GRAIN
    while len(places) < count:
        half = min(room(y - GRAIN), room(y + GRAIN))
        row = np.arange(int(2 * half / pitch))
        if len(row) == 0 and places:
            raise SceneError(
                f"count is {count}, and there is room for {len(places)} grains; expected fewer, or "
                "a wider scene"
            )
        places += [((k - (len(row) - 1) / 2) * pitch, y) for k in row]
        y += pitch
    radius = rng.uniform(0.7, 1.0, count) * GRAIN
    places = np.array(places[:count]) + rng.uniform(-1, 1, (count, 2)) * (GRAIN - radius)[:, None]
    scene.add_many([Disk(float(r)) for r in radius], places, material=rough)


GRANULAR = {
    "silo": silo,
    "shear-box": shear_box,
    "drum": drum,
    "hopper": hopper,
    "chute": chute,
    "vibrated-box": vibrated_box,
}
"""The tests of granular matter by name."""
