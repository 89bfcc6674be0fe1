"""Dry masonry: blocks with plane joints that friction and their own weight hold together.

Blocks are convex; bed and head joints are the contact patches of their faces, in the plane the two
ends of a joint. Pushes and loads that grow until collapse: ``rigidlimit.statics(scene)``.
"""

from collections.abc import Sequence

import numpy as np

from ..bodies import ConvexPolyhedron, HalfSpace, Material, Polygon
from .arguments import at_least, between, checked, not_negative, positive
from .scene import Scene

ARCH_THICKNESS, ARCH_FRICTION = 0.1075, 0.395
"""Least thickness of a semicircular arch over the radius of its middle line, of many voussoirs, and
the friction that it needs (Milankovitch 1907, Heyman 1969)."""

PART = between(0, 1, "a part of the radius, between 0 and 1")


def _masonry(name: str, description: str, friction: float, reference: dict, dim: int = 2):
    """(scene on a rough floor, its stone)."""
    scene = Scene(name=name, dim=dim, duration=0.02, description=description, reference=reference)
    stone = Material(friction=friction, name="stone")
    scene.add(HalfSpace(dim), position=(0,) * dim, material=stone, name="floor")
    return scene, stone


def _weight(scene: Scene) -> float:
    """Of all but the floor [N]."""
    return float(scene.bodies.mass[1:].sum() * np.linalg.norm(scene.gravity))


def add_voussoirs(
    scene: Scene, count: int, thickness: float, springing: Sequence[float], stone: Material
) -> None:
    """A semicircle of equal blocks with straight joints about ``springing`` (2,) [m], radius of its
    middle line 1 m; its feet lie flat."""
    joints = np.pi * np.arange(count + 1) / count
    along = np.column_stack([np.cos(joints), np.sin(joints)])
    along[[0, -1], 1] = 0.0  # to the last digit
    inner, outer = (1 - thickness / 2) * along, (1 + thickness / 2) * along
    for k in range(count):
        ring = np.array([inner[k], outer[k], outer[k + 1], inner[k + 1]]) + springing
        block = Polygon(ring)
        scene.add(block, position=block.centre, material=stone, name=f"voussoir {k}")


def add_bricks(
    scene: Scene,
    left: Sequence[float],
    right: Sequence[float],
    bottom: float,
    top: float,
    stone: Material,
    name: str,
) -> None:
    """Rectangles side by side, from left (k,) to right (k,) [m]."""
    for k, (x0, x1) in enumerate(zip(left, right, strict=True)):
        brick = Polygon(np.array([(x0, bottom), (x1, bottom), (x1, top), (x0, top)]))
        scene.add(brick, position=brick.centre, material=stone, name=f"{name} {k}")


@checked(voussoirs=at_least(3), thickness=PART, friction=not_negative)
def arch(voussoirs: int = 21, *, thickness: float = 0.15, friction: float = 0.6) -> Scene:
    """A semicircular 2D arch of equal voussoirs with straight joints, its feet on a floor.

    Known: it stands from ARCH_THICKNESS on where mu >= ARCH_FRICTION (fewer voussoirs stand a
    little thinner, thicker ones with less friction); the floor carries half the weight at either
    foot.

    Parameters
    ----------
    voussoirs : int
        Three or more.
    thickness : float
        Over the radius of the middle line, 1 m.
    friction : float
        mu of all joints.

    Returns
    -------
    Scene
        ``reference["stands"]`` where it is known to.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> rl.statics(rl.scenes.arch(9)).least_friction().factor < 0.6  # it stands
    True
    """
    stands = thickness >= ARCH_THICKNESS and friction >= ARCH_FRICTION
    scene, stone = _masonry(
        "arch",
        "a semicircular arch of voussoirs: friction and thickness hold it",
        friction,
        {"stands": True} if stands else {},
    )
    add_voussoirs(scene, voussoirs, thickness, (0.0, 0.0), stone)
    return scene


@checked(
    voussoirs=at_least(3),
    thickness=PART,
    friction=not_negative,
    pier_width=positive,
    pier_height=positive,
    courses=at_least(1),
)
def buttressed_arch(
    voussoirs: int = 15,
    *,
    thickness: float = 0.2,
    friction: float = 0.6,
    pier_width: float = 0.8,
    pier_height: float = 2.0,
    courses: int = 4,
) -> Scene:
    """A semicircular 2D arch, radius of its middle line 1 m, on two piers.

    The piers' inner faces are flush with the arch. Known: by symmetry the floor carries half of
    the weight under either pier.

    Parameters
    ----------
    voussoirs : int
        Three or more.
    thickness : float
        Of the arch over the radius of its middle line.
    friction : float
        mu of all joints.
    pier_width : float [m]
        No less than the arch's thickness is taken.
    pier_height : float [m]
    courses : int
        Of either pier.

    Returns
    -------
    Scene
        ``reference["force under a pier"]`` [N].

    Examples
    --------
    >>> import rigidlimit as rl
    >>> scene = rl.scenes.buttressed_arch(voussoirs=7, courses=2)
    >>> len(scene)  # floor, piers, voussoirs
    12
    """
    scene, stone = _masonry(
        "buttressed-arch", "an arch on two piers: do they take its thrust?", friction, {}
    )
    width, inner = max(pier_width, thickness), 1 - thickness / 2
    levels = np.linspace(0.0, pier_height, courses + 1)
    for side, x0 in (("left", -inner - width), ("right", inner)):
        for k in range(courses):
            add_bricks(scene, [x0], [x0 + width], levels[k], levels[k + 1], stone, f"{side} {k} -")
    add_voussoirs(scene, voussoirs, thickness, (0.0, pier_height), stone)
    scene.reference["force under a pier"] = _weight(scene) / 2
    return scene


@checked(
    courses=at_least(2),
    bricks=at_least(4),
    door_width=at_least(1),
    door_height=at_least(1),
    friction=not_negative,
)
def wall_with_door(
    courses: int = 8,
    *,
    bricks: int = 6,
    door_width: int = 2,
    door_height: int = 5,
    friction: float = 0.6,
) -> Scene:
    """A 2D wall in running bond with a door under a lintel, on a floor.

    Bricks are 0.4 m by 0.2 m, half as wide at the ends of every other course. The door is in the
    middle; the lintel reaches half a brick to either side. Known: the floor carries the total
    weight.

    Parameters
    ----------
    courses : int
        Two or more.
    bricks : int
        Of a course, four or more.
    door_width : int
        In bricks; two fewer than a course has at most.
    door_height : int
        In courses; one fewer than the wall has at most.
    friction : float
        mu of all joints.

    Returns
    -------
    Scene
        ``reference["weight"]`` [N].

    Examples
    --------
    >>> import rigidlimit as rl
    >>> scene = rl.scenes.wall_with_door(4, bricks=4, door_width=1, door_height=2)
    >>> rl.statics(scene).load_factor().factor > 0.1  # part of g, sideways
    True
    """
    scene, stone = _masonry(
        "wall-with-door", "a wall of bricks with a door: who carries the lintel?", friction, {}
    )
    wide, high = 0.4, 0.2
    door_width, door_height = min(door_width, bricks - 2), min(door_height, courses - 1)
    from_, to = (bricks - door_width) // 2, (bricks - door_width) // 2 + door_width
    for course in range(courses):
        joints = np.arange(bricks + 1.0)
        if course % 2:
            joints = np.concatenate([[0.0], np.arange(bricks) + 0.5, [float(bricks)]])
        left, right = joints[:-1], joints[1:]
        y = high * course
        if course <= door_height:  # cut for the door, and for the lintel over it
            more = 0.5 * (course == door_height)
            a, b = from_ - more, to + more
            pieces = [(x0, min(x1, a)) for x0, x1 in zip(left, right, strict=True) if x0 < a]
            pieces += [(max(x0, b), x1) for x0, x1 in zip(left, right, strict=True) if x1 > b]
            left, right = np.array(pieces).T
            if more:
                add_bricks(scene, [wide * a], [wide * b], y, y + high, stone, "lintel")
        add_bricks(scene, wide * left, wide * right, y, y + high, stone, f"course {course} brick")
    scene.reference["weight"] = _weight(scene)
    return scene


@checked(blocks=at_least(1), width=positive, height=positive, friction=not_negative)
def tower(
    blocks: int = 5, *, width: float = 0.5, height: float = 0.3, friction: float = 0.6
) -> Scene:
    """A 2D stack of equal blocks on a floor.

    Known: pushed sideways by a factor of its weight it slides at mu, or tips at width over total
    height, whichever is less.

    Parameters
    ----------
    blocks : int
    width : float [m]
    height : float [m]
        Of a block.
    friction : float
        mu of all joints.

    Returns
    -------
    Scene
        ``reference["load factor"]`` is that of the push.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> tower = rl.scenes.tower(4, width=0.3, height=0.25)
    >>> round(rl.statics(tower).load_factor().factor, 6)
    0.3
    """
    scene, stone = _masonry(
        "tower",
        "a stack of blocks: pushed, it slides or tips",
        friction,
        {"load factor": float(min(friction, width / (blocks * height)))},
    )
    for k in range(blocks):
        add_bricks(
            scene, [-width / 2], [width / 2], k * height, (k + 1) * height, stone, f"block {k} -"
        )
    return scene


@checked(
    segments=at_least(6),
    courses=at_least(2),
    thickness=PART,
    opening=between(0, 90, "an angle between 0 and 90 degrees"),
    friction=not_negative,
)
def dome(
    segments: int = 12,
    *,
    courses: int = 4,
    thickness: float = 0.15,
    opening: float = 15.0,
    friction: float = 0.6,
) -> Scene:
    """A hemispherical dome of wedges with plane faces, open at its top, on a floor.

    Known: the floor carries the total weight.

    Parameters
    ----------
    segments : int
        Of a ring, six or more.
    courses : int
        Rings, two or more.
    thickness : float
        Over the radius of the middle surface, 1 m.
    opening : float [degrees]
        Half-angle of the oculus.
    friction : float
        mu of all joints.

    Returns
    -------
    Scene
        ``reference["weight"]`` [N].

    Examples
    --------
    >>> import rigidlimit as rl
    >>> len(rl.scenes.dome(6, courses=2))  # floor and wedges
    13
    """
    scene, stone = _masonry(
        "dome", "a dome of wedges with an oculus: rings and meridians", friction, {}, dim=3
    )
    rise = np.radians(np.linspace(0.0, 90.0 - opening, courses + 1))
    turn = 2 * np.pi * np.arange(segments) / segments
    profile = np.column_stack([np.cos(rise), np.sin(rise)])
    profile[0, 1] = 0.0
    around = np.column_stack([np.cos(turn), np.sin(turn)])
    for course in range(courses):
        for s in range(segments):
            corners = [
                (size * r * x, size * r * y, size * z)
                for size in (1 - thickness / 2, 1 + thickness / 2)
                for r, z in profile[[course, course + 1]]
                for x, y in around[[s, (s + 1) % segments]]
            ]
            wedge = ConvexPolyhedron(np.array(corners))
            scene.add(wedge, position=wedge.centre, material=stone, name=f"ring {course} wedge {s}")
    scene.reference["weight"] = _weight(scene)
    return scene


MASONRY = {
    "arch": arch,
    "buttressed-arch": buttressed_arch,
    "wall-with-door": wall_with_door,
    "tower": tower,
    "dome": dome,
}
"""Masonry by name."""
