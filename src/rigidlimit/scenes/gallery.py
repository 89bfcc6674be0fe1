"""Scenes with known answers: each function returns a fresh Scene and states what is known."""

from collections.abc import Sequence

import numpy as np

from .._support.words import counted
from ..bodies import Box, Compound, Disk, HalfSpace, Sphere, rectangle
from .arguments import (
    SLOPE,
    at_least,
    checked,
    finite,
    fraction,
    not_negative,
    numbers,
    order_of_three,
    positive,
)
from .packings import container, packing, pile_2d, pyramid
from .scene import Scene

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

    Known: forces share the weight as the stiffness does, 10/3 each or 2, 6, 2 for 1 : 3 : 1.

    Parameters
    ----------
    weight : float [N]
    length : float [m]
        L; the beam is a tenth longer.
    stiffness : (3,)
        Of the three contacts, relative, from left to right.
    drop : float
        Initial gap over the disks' radius.
    order : (3,) int
        In which the supports are numbered; answers of classic solvers depend on it.

    Returns
    -------
    Scene
        ``reference["forces"]`` are those of left, middle and right.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> scene = rl.scenes.beam(stiffness=(1, 3, 1))
    >>> rl.Simulation(scene).step().force.round(6)
    array([2., 6., 2.])
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


@checked(load_at=numbers(2), weight=positive, spread=numbers(2, positives=True))
def four_leg_table(
    load_at: Sequence[float] = (0.2, 0.1),
    *,
    weight: float = 100.0,
    spread: Sequence[float] = (1.0, 1.0),
) -> Scene:
    """A stiff table on four equal legs with its weight at one place (Euler 1773).

    Known: the leg at (X, Y) carries weight/4 (1 + x X/a^2 + y Y/b^2) for a load at (x, y), as long
    as that is positive.

    Parameters
    ----------
    load_at : (2,) [m]
        (x, y) of the weight, from the centre.
    weight : float [N]
    spread : (2,) [m]
        Half distances (a, b) of the legs from the centre.

    Returns
    -------
    Scene
        ``reference["forces"]`` are those of legs 0 to 3, unless a leg lifts off.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> rl.Simulation(rl.scenes.four_leg_table((0.2, 0.1))).step().force.round(6)
    array([17.5, 27.5, 22.5, 32.5])
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
    """A stiff 2D block on n equal legs, its weight in the middle. Known: weight/n each.

    Parameters
    ----------
    legs : int
        n, two or more.
    weight : float [N]

    Returns
    -------
    Scene
        With the known ``reference["forces"]``.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> rl.Simulation(rl.scenes.block_on_legs(5)).step().force.round(6)
    array([2., 2., 2., 2., 2.])
    """
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
    """Equal boxes on top of one another on a plane.

    Known: between boxes j and j + 1 from the top each of the four corners carries j weight / 4.

    Parameters
    ----------
    count : int
        Of boxes.
    weight : float [N]
        Of a box.

    Returns
    -------
    Scene
        ``reference["corner forces from below"]`` has one force a face.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> scene = rl.scenes.box_stack(3, weight=10.0)
    >>> rl.Simulation(scene).step().force.round(6).reshape(3, 4)[:, 0]
    array([7.5, 5. , 2.5])
    """
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
    """A disk wedged between two planes.

    Known: weight sin(right)/sin(left + right) on the left plane, and the other way round.

    Parameters
    ----------
    left, right : float [degrees]
        At which the planes rise.
    weight : float [N]

    Returns
    -------
    Scene
        ``reference["forces"]`` are those of the left and the right plane.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> rl.Simulation(rl.scenes.disk_in_corner(30.0, 30.0)).step().force.round(4)
    array([5.7735, 5.7735])
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


@checked(count=at_least(2), speed=finite, restitution=fraction)
def newton_cradle(count: int = 5, *, speed: float = 1.0, restitution: float = 1.0) -> Scene:
    """A row of touching balls hit by one from the left, without gravity.

    Known: momentum is kept, and energy is never created.

    Parameters
    ----------
    count : int
        Of balls, the hitting one included.
    speed : float [m/s]
        Of the hitting ball.
    restitution : float
        e_n, 0 to 1.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> simulation = rl.Simulation(rl.scenes.newton_cradle(count=3, restitution=0.0))
    >>> last = simulation.run(2e-3)
    >>> simulation.state.velocity[:, 0].round(4)  # m/s: the balls go on together
    array([0.3333, 0.3333, 0.3333])
    """
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

    Known: the supports share the weight as W/3 (1 + 6 (x - L/2) (c - L/2) / L^2), with the centre
    of mass at c = (1.1 L L/2 + h t/2) / (1.1 L + h), as long as all of them press.

    Parameters
    ----------
    length : float [m]
        L, of the foot between the outer disks.
    height : float [m]
        h, of the wall that stands on the foot's left end.
    thickness : float [m]
        t, of foot and wall.
    weight : float [N]
        W.

    Returns
    -------
    Scene
        ``reference["forces"]`` are those of left, middle and right, unless one lifts off.

    Examples
    --------
    >>> import numpy as np, rigidlimit as rl
    >>> scene = rl.scenes.l_block()
    >>> np.allclose(rl.Simulation(scene).step().force, scene.reference["forces"])
    True
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
