"""Scenes with friction and known answers: each function returns a fresh Scene and states what is
known. Forces are in the order of the contacts, tangential ones along their tangents (``t1``)."""

import numpy as np

from ..bodies import Disk, HalfSpace, Material, Sphere, rectangle
from .arguments import SLOPE, at_least, between, checked, law, not_negative, positive
from .packings import periodic_packing, rough_packing, rough_pyramid
from .scene import Scene

GRAVITY = 9.81


@checked(
    angle=SLOPE, friction=not_negative, tangential_stiffness=positive, weight=positive, law=law
)
def groove(
    angle: float = 45.0,
    *,
    friction: float = 0.5,
    tangential_stiffness: float = 2 / 7,
    weight: float = 10.0,
    law: str | float = "hooke",
) -> Scene:
    """A disk in a 2D groove whose sides' normals lean from the vertical.

    Known, loaded slowly from nothing, Hooke: the sides push with f_n = W / (2 (cos a + m sin a))
    and rub with m f_n, m = min(r tan a, mu), r = k_t/k_n.

    Parameters
    ----------
    angle : float [degrees]
        a, of the normals with the vertical.
    friction : float
        mu.
    tangential_stiffness : float
        r = k_t/k_n.
    weight : float [N]
        W.
    law : str or float
        "hooke", "hertz" or an exponent p > 1.

    Returns
    -------
    Scene
        ``reference`` holds "forces" and "tangential forces" of left and right, with Hooke's law.

    Examples
    --------
    >>> import numpy as np, rigidlimit as rl
    >>> scene = rl.scenes.groove(friction=0.2)
    >>> found = rl.statics(scene).forces()
    >>> np.allclose(found.force, scene.reference["forces"])
    True
    """
    a = np.radians(angle)
    mobilised = float(min(tangential_stiffness * np.tan(a), friction))
    force = float(weight / (2 * (np.cos(a) + mobilised * np.sin(a))))
    scene = Scene(
        name="groove",
        dim=2,
        gravity=(0.0, -10.0),
        law=law,
        duration=0.01,
        description="a disk in a groove: friction shares its weight with the normal forces",
        # up either side: against t1 = (n_y, -n_x) on the left, along it on the right
        reference={
            "forces": [force, force],
            "tangential forces": [-mobilised * force, mobilised * force],
        }
        if law == "hooke"
        else {},
    )
    rough = Material(friction=friction, tangential_stiffness=tangential_stiffness, name="rough")
    for name, side in (("left", 1), ("right", -1)):
        normal = (side * np.sin(a), np.cos(a))
        scene.add(HalfSpace(2), position=(0, 0), normal=normal, material=rough, name=f"{name} side")
    scene.add(
        Disk(0.5), position=(0, 0.5 / np.cos(a)), mass=weight / 10, material=rough, name="disk"
    )
    return scene


def _plane_and(scene, shape, slope, height, speed, friction):
    """A plane through the origin that falls along +x at ``slope`` [rad], and a body on it."""
    up, down = (np.sin(slope), np.cos(slope)), (np.cos(slope), -np.sin(slope))
    if scene.dim == 3:
        up, down = np.insert(up, 1, 0.0), np.insert(down, 1, 0.0)
    rough = Material(friction=friction, name="rough")
    zero = (0,) * scene.dim
    scene.add(HalfSpace(scene.dim), position=zero, normal=up, material=rough, name="plane")
    scene.add(
        shape,
        position=height * np.asarray(up),
        orientation=-slope if scene.dim == 2 else None,
        velocity=speed * np.asarray(down),
        material=rough,
        mass=1.0,
        name="body",
    )


@checked(slope=SLOPE, friction=not_negative)
def incline(slope: float = 20.0, *, friction: float = 0.5) -> Scene:
    """A 2D block of 1 kg on an incline.

    Known: it stays where tan(slope) <= mu; else it slides with g (sin - mu cos).

    Parameters
    ----------
    slope : float [degrees]
    friction : float
        mu.

    Returns
    -------
    Scene
        ``reference["acceleration"]`` [m/s^2].

    Examples
    --------
    >>> import rigidlimit as rl
    >>> simulation = rl.Simulation(rl.scenes.incline(20.0, friction=0.5))
    >>> float(abs(simulation.step().state.velocity).max()) < 1e-6  # it stays
    True
    """
    a = np.radians(slope)
    slides = GRAVITY * max(0.0, float(np.sin(a) - friction * np.cos(a)))
    scene = Scene(
        name="incline",
        dim=2,
        description="a block on an incline: it stays, or slides",
        reference={"acceleration": slides},
    )
    _plane_and(scene, rectangle(0.4, 0.2), a, 0.1, 0.0, friction)
    return scene


@checked(
    slope=between(-1e-300, 90, "an angle from 0 to below 90 degrees"),
    friction=not_negative,
    speed=not_negative,
)
def rolling_ball(slope: float = 20.0, *, friction: float = 0.5, speed: float = 0.0) -> Scene:
    """A ball of 1 kg on an incline.

    Known: from rest it rolls with 5/7 g sin(slope) while mu >= 2/7 tan(slope), and else slides
    with g (sin - mu cos). On a level plane a sliding ball rolls from 5/7 of its speed on.

    Parameters
    ----------
    slope : float [degrees]
    friction : float
        mu.
    speed : float [m/s]
        With which it slides down at the start, without turning.

    Returns
    -------
    Scene
        ``reference`` holds "acceleration" [m/s^2] from rest, "final speed" [m/s] on a level plane.

    Examples
    --------
    >>> import numpy as np, rigidlimit as rl
    >>> scene = rl.scenes.rolling_ball(20.0, friction=0.5)
    >>> velocity = rl.Simulation(scene).step().state.velocity[1, :3]  # after dt
    >>> pull = float(abs(velocity[0]) / scene.dt / np.cos(np.radians(20.0)))  # along the slope
    >>> round(pull, 4), round(scene.reference["acceleration"], 4)
    (2.3966, 2.3966)
    """
    a = np.radians(slope)
    rolls = friction >= 2 / 7 * np.tan(a)
    pull = 5 / 7 * np.sin(a) if rolls else np.sin(a) - friction * np.cos(a)
    known = {} if speed else {"acceleration": GRAVITY * float(pull)}
    if slope == 0 and speed and friction:
        known = {"final speed": 5 / 7 * speed}
    scene = Scene(
        name="rolling-ball",
        duration=0.5,
        description="a ball on an incline: it rolls, or slides",
        reference=known,
    )
    _plane_and(scene, Sphere(0.1), a, 0.1, speed, friction)
    return scene


@checked(angle=SLOPE, friction=not_negative, length=positive, weight=positive)
def ladder(
    angle: float = 60.0, *, friction: float = 0.5, length: float = 4.0, weight: float = 200.0
) -> Scene:
    """A 2D ladder on a rough floor against a smooth wall.

    It is a twentieth as thick as long and touches with two corners. Known: the floor carries the
    weight, the wall pushes with W (L/2 cos a - d/2 sin a) / (L sin a), d the thickness, and
    friction holds the foot, as long as that is at most mu W.

    Parameters
    ----------
    angle : float [degrees]
        a, to the floor.
    friction : float
        mu of floor and ladder.
    length : float [m]
        L.
    weight : float [N]
        W.

    Returns
    -------
    Scene
        ``reference`` holds "stands", and "forces" and "tangential forces" where it does.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> rl.scenes.ladder(60.0).reference["stands"], rl.scenes.ladder(30.0).reference["stands"]
    (True, False)
    """
    a, thick = np.radians(angle), length / 20
    push = float(weight * (length * np.cos(a) - thick * np.sin(a)) / (2 * length * np.sin(a)))
    stands = 0 <= push <= friction * weight
    scene = Scene(
        name="ladder",
        dim=2,
        gravity=(0.0, -10.0),
        duration=0.01,
        description="a ladder against a smooth wall, held by friction at its foot",
        reference={"stands": stands}
        | ({"forces": [weight, push], "tangential forces": [-push, 0.0]} if stands else {}),
    )
    rough = Material(friction=friction, name="rough")
    scene.add(HalfSpace(2), position=(0, 0), material=rough, name="floor")
    scene.add(HalfSpace(2), position=(0, 0), normal=(1, 0), name="wall")
    x = (length * np.cos(a) + thick * np.sin(a)) / 2
    y = (length * np.sin(a) + thick * np.cos(a)) / 2
    scene.add(
        rectangle(length, thick),
        position=(x, y),
        orientation=np.pi - a,
        mass=weight / 10,
        material=rough,
        name="ladder",
    )
    return scene


@checked(count=at_least(1), friction=not_negative, seed=at_least(0))
def heap(count: int = 100, *, friction: float = 0.5, seed: int = 1) -> Scene:
    """Balls of unequal size, poured as a column on a bed of fixed balls, that hinder rolling.

    Radii from 1.4 to 2 mm. Known: the bed carries the total weight once at rest. `rigidlimit run`
    takes some 15 s for 100 balls, a minute for 200; more of them pour by `settle` in seconds.

    Parameters
    ----------
    count : int
        Of poured balls.
    friction : float
        mu.
    seed : int
        Of radii and places.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> scene = rl.scenes.heap(10)
    >>> int(scene.bodies.free.any(axis=1).sum())  # balls that move
    10
    """
    rng = np.random.default_rng(seed)
    scene = Scene(
        name="heap", dt=2e-3, duration=0.8, description=f"{count} rough balls poured into a heap"
    )
    rough, large = Material(friction=friction, name="rough"), 2e-3
    # a cone of 10 degrees has room, and walls keep what rolls beyond
    wide = (3 * count * 4.19 / 0.6 / (np.pi * np.tan(np.radians(10)))) ** (1 / 3)
    across, rows = int(np.ceil(wide)), int(np.ceil(wide / np.sqrt(3)))
    i, j = (
        g.ravel() for g in np.meshgrid(np.arange(-across, across + 1), np.arange(-rows, rows + 1))
    )
    bed = large * np.column_stack([2 * i + j % 2, np.sqrt(3) * j, 0.0 * i])
    scene.add_many(Sphere(large), bed, material=rough, fixed=True)
    for name, sign, axis in (("x-", -1, 0), ("x+", 1, 0), ("y-", -1, 1), ("y+", 1, 1)):
        at, normal = np.zeros(3), np.zeros(3)
        at[axis], normal[axis] = sign * (np.abs(bed[:, axis]).max() + large), -sign
        scene.add(HalfSpace(), position=at, normal=normal, material=rough, name=f"{name} wall")
    side = max(2, round((count / 3) ** (1 / 3)))
    k, pitch = np.arange(count), 2.05 * large
    cells = np.column_stack([k % side, k // side % side, k // side**2]) - [side / 2, side / 2, 0]
    radius = rng.uniform(0.7, 1.0, count) * large
    centres = (cells + 0.5) * pitch + [0, 0, 1.5 * large]
    centres[:, :2] += rng.uniform(-1, 1, (count, 2)) * (pitch / 2 - radius)[:, None]
    scene.add_many([Sphere(float(r)) for r in radius], centres, material=rough)
    return scene


ROUGH = {
    "groove": groove,
    "incline": incline,
    "rolling-ball": rolling_ball,
    "ladder": ladder,
    "heap": heap,
    "rough-pyramid": rough_pyramid,
    "rough-packing": rough_packing,
    "periodic-packing": periodic_packing,
}
"""The scenes with friction by name."""
