"""Scenes of rough contacts in which no balance tells every force: what mending is for.

Bodies of boxes that stand on balls, so that every engine finds the same contacts, one a ball. Each
scene is made in any order of its bodies and shapes, which changes nothing but the order of
contacts, and knows the reflections that leave it what it is. ``engine_worlds`` makes it in the
engines.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

NEAR = 1e-3
"""Places of like contacts agree to this [m]; others are farther apart."""

ACROSS_X, ACROSS_Y = np.diag([-1.0, 1, 1]), np.diag([1.0, -1, 1])

OVERLAP = 1e-5
"""By how much parts that touch overlap [m], unless another is asked for: MuJoCo lists no contacts
without."""

NIB = 0.01
"""Radius of balls under boxes [m]."""


@dataclass(frozen=True)
class Shape:
    """kind: "ball" (size: radius), "box" (half edges) or "floor" (plane z = at_z). at (3,) [m]: in
    the body; tilt [degrees]: about y; mass [kg]; touches: whether it makes contacts."""

    name: str
    kind: str
    size: tuple[float, ...]
    at: tuple[float, float, float] = (0.0, 0.0, 0.0)
    mass: float = 0.0
    tilt: float = 0.0
    touches: bool = True

    @property
    def turn(self) -> np.ndarray:
        """Rotation (3, 3)."""
        c, s = np.cos(np.deg2rad(self.tilt)), np.sin(np.deg2rad(self.tilt))
        return np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])

    @property
    def inertia(self) -> np.ndarray:
        """(3, 3) about its middle [kg m^2]."""
        if self.kind == "ball":
            return 0.4 * self.mass * self.size[0] ** 2 * np.eye(3)
        square = np.square(self.size)
        return self.turn @ np.diag(self.mass / 3 * (square.sum() - square)) @ self.turn.T


@dataclass(frozen=True)
class Body:
    """at (3,) [m]; slides (3,): direction of a slider to the world, pushed along it by ``force``
    [N]; None: it floats; fixed: neither."""

    name: str
    at: tuple[float, float, float]
    shapes: tuple[Shape, ...]
    slides: tuple[float, float, float] | None = None
    force: float = 0.0
    fixed: bool = False

    @property
    def inertia(self) -> tuple[float, np.ndarray, np.ndarray]:
        """Mass [kg], centre of mass in the body (3,) [m], inertia about it (3, 3) [kg m^2]."""
        mass = sum(s.mass for s in self.shapes)
        centre = sum(s.mass * np.array(s.at) for s in self.shapes) / mass
        total = np.zeros((3, 3))
        for s in self.shapes:
            arm = np.array(s.at) - centre
            total += s.inertia + s.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
        return mass, centre, total


@dataclass(frozen=True)
class EngineScene:
    """friction: mu of all contacts; gravity (3,) [m/s^2]; symmetries: reflections (3, 3) about the
    origin."""

    bodies: tuple[Body, ...]
    friction: float = 0.6
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    symmetries: tuple[np.ndarray, ...] = (ACROSS_Y,)

    def shuffled(self, seed: int | None) -> "EngineScene":
        """In another order of bodies and their shapes; None: as it stands."""
        if seed is None:
            return self
        rng = np.random.default_rng(seed)

        def other(things):
            return tuple(things[i] for i in rng.permutation(len(things)))

        return replace(
            self, bodies=other([replace(b, shapes=other(b.shapes)) for b in self.bodies])
        )

    def made(self, seed: int | None = None, **settings):
        """(MjModel, MjData after mj_forward), see ``engine_worlds.mujoco_model``."""
        from benchmarks.engine_worlds import mujoco_model

        return mujoco_model(self.shuffled(seed), **settings)


FLOOR = Body("ground", (0, 0, 0), (Shape("floor", "floor", (5.0,)),), fixed=True)


def _nibs(name, places, radius=NIB, mass=0.01):
    return tuple(
        Shape(f"{name}{i}", "ball", (radius,), tuple(map(float, at)), mass)
        for i, at in enumerate(places)
    )


def _corners(x, y, z):
    return [(a, b, z) for a in (-x, x) for b in (-y, y)]


def grasp(overlap: float = OVERLAP, fingers: int = 2) -> EngineScene:
    """A cube of 0.8 kg between fingers on sliders, each pressed by 12 N: 3 N a pad by symmetry."""
    half, radius = 0.05, 0.005
    bodies = []
    for i in range(fingers):
        angle = 2 * np.pi * i / fingers
        out = np.array([np.cos(angle), np.sin(angle), 0]).round(12)
        side = np.array([-out[1], out[0], 0])
        pads = [y * side + [0, 0, z] for y in (-0.02, 0.02) for z in (-0.02, 0.02)]
        at = (half + radius - overlap) * out
        bodies.append(
            Body(
                f"finger{i}",
                tuple(at),
                _nibs(f"pad{i}", pads, radius, 0.05),
                slides=tuple(-out),
                force=12.0,
            )
        )
    cube = Body("cube", (0, 0, 0), (Shape("cube", "box", (half,) * 3, mass=0.8),))
    return EngineScene((*bodies, cube), symmetries=(ACROSS_X, ACROSS_Y))


def table(overlap: float = OVERLAP) -> EngineScene:
    """A table on four round feet under gravity a little aslant."""
    feet = _nibs("foot", _corners(0.5, 0.3, 0.0), 0.1, 0.25)
    body = Body("table", (0, 0, 0.1 - overlap), feet)
    return EngineScene((FLOOR, body), friction=0.5, gravity=(1.0, 0.0, -10.0))


def ladder(overlap: float = OVERLAP) -> EngineScene:
    """A ladder of two rails with round ends between floor and wall, a man on it."""
    length, angle, radius = 2.0, np.deg2rad(65), 0.03
    along = np.array([np.cos(angle), 0, np.sin(angle)])
    ends = [(*(e * length / 2 * along + [0, y, 0]),) for e in (-1, 1) for y in (-0.2, 0.2)]
    man = Shape("man", "ball", (0.1,), tuple(0.3 * along), 70.0, touches=False)
    centre = length / 2 * along + [0, 0, radius - overlap]
    wall = centre[0] + length / 2 * along[0] + radius - overlap + 0.5
    bodies = (
        FLOOR,
        Body("wall", (wall, 0, 2), (Shape("wall", "box", (0.5, 1, 2.0)),), fixed=True),
        Body("ladder", tuple(centre), (*_nibs("rail", ends, radius, 2.5), man)),
    )
    return EngineScene(bodies, friction=0.5)


def bricks(overlap: float = OVERLAP, count: int = 4, overhang: float = 0.05) -> EngineScene:
    """A stack of bricks on nibs, each ``overhang`` [m] farther out than the one below."""
    bodies, step = [FLOOR], 0.1 + NIB - overlap
    for i in range(count):
        nibs = [(x, y, -0.05) for x in (-0.18, 0.13) for y in (-0.08, 0.08)]
        box = Shape(f"brick{i}", "box", (0.2, 0.1, 0.05), mass=4.0)
        at = (overhang * i, 0, i * step + NIB - overlap + 0.05)
        bodies.append(Body(f"brick{i}", at, (box, *_nibs(f"nib{i}", nibs))))
    return EngineScene(tuple(bodies))


def peg(overlap: float = OVERLAP) -> EngineScene:
    """A square peg on nibs in a hole that just fits, its heavy head pulled sideways."""
    half, depth = 0.02, 0.1
    walls = [
        Body(
            f"wall{i}", (side * (half + NIB + 0.02 - overlap), 0, depth / 2),
            (Shape(f"wall{i}", "box", (0.02, 0.05, depth / 2)),), fixed=True,
        )
        for i, side in enumerate((-1, 1))
    ]  # fmt: skip
    sides = [(x, y, z) for x in (-half, half) for y in (-0.015, 0.015) for z in (-0.08, -0.02)]
    nibs = _nibs("nib", [*sides, *_corners(0.015, 0.015, -0.1)], mass=0.005)
    shapes = (
        Shape("peg", "box", (half - 0.001, half, 0.1), mass=0.3),
        Shape("head", "ball", (0.02,), (0, 0, 0.1), 0.5, touches=False),
        *nibs,
    )
    body = Body("peg", (0, 0, 0.1 + NIB - overlap), shapes)
    return EngineScene((FLOOR, *walls, body), friction=0.3, gravity=(4.0, 0, -9.81))


def wheel(overlap: float = OVERLAP) -> EngineScene:
    """Two round wheels on an axle between two chocks that lean at 45 degrees."""
    radius = 0.3
    out = radius + 0.05 - overlap
    chocks = [
        Body(
            f"chock{i}", (side * out * 0.5**0.5, 0, radius - overlap - out * 0.5**0.5),
            (Shape(f"chock{i}", "box", (0.05, 0.5, 0.1), tilt=side * 45.0),), fixed=True,
        )
        for i, side in enumerate((-1, 1))
    ]  # fmt: skip
    wheels = _nibs("wheel", [(0, -0.31, 0), (0, 0.31, 0)], radius, 5.0)
    bodies = FLOOR, *chocks, Body("axle", (0, 0, radius - overlap), wheels)
    return EngineScene(bodies, friction=0.4, symmetries=(ACROSS_X, ACROSS_Y))


def tray(overlap: float = OVERLAP) -> EngineScene:
    """A tray on four fingertips, three boxes on nibs on it."""
    tips = Body("hand", (0, 0, -0.01), _nibs("tip", _corners(0.2, 0.1, 0.0)), fixed=True)
    plate = Shape("tray", "box", (0.25, 0.15, 0.01), mass=1.0)
    bodies = [tips, Body("tray", (0, 0, 0.01 - overlap), (plate,))]
    for i, x in enumerate((-0.15, 0.0, 0.15)):
        cup = Shape(f"cup{i}", "box", (0.03, 0.03, 0.05), mass=0.3 + 0.2 * i)
        at = (x, 0, 0.02 + NIB + 0.05 - 2 * overlap)
        bodies.append(Body(f"cup{i}", at, (cup, *_nibs(f"nib{i}", _corners(0.02, 0.02, -0.05)))))
    return EngineScene(tuple(bodies))


def quadruped(overlap: float = OVERLAP) -> EngineScene:
    """A torso on four legs of three pads each, all joints locked; its load is off the middle."""
    pads = [(0.02, 0), (-0.01, 0.017), (-0.01, -0.017)]
    feet = []
    for i, x in enumerate((-0.25, 0.25)):
        for j, y in enumerate((-0.15, 0.15)):
            places = [(x + dx, y + dy, -0.29) for dx, dy in pads]
            feet += _nibs(f"foot{i}{j}_", places, mass=0.05)
    torso = Shape("torso", "box", (0.3, 0.12, 0.05), mass=8.0)
    load = Shape("load", "box", (0.05, 0.05, 0.05), (0.1, 0, 0.1), 4.0)
    return EngineScene((FLOOR, Body("robot", (0, 0, 0.3 - overlap), (torso, load, *feet))))


SCENES: dict[str, Callable[..., EngineScene]] = {
    "grasp of two fingers": grasp,
    "grasp of four fingers": lambda overlap=OVERLAP: grasp(overlap, 4),
    "ladder": ladder,
    "bricks with overhang": bricks,
    "peg": peg,
    "wheels between chocks": wheel,
    "tray": tray,
    "quadruped": quadruped,
    "table": table,
}
"""By name; ``overlap`` [m] of parts that touch."""


@dataclass(frozen=True)
class Judged:
    """How mended forces obey what is asked of them, each over the largest normal force. wrench: of
    all bodies against the engine's (nan with a load of its own); cone: by how much the worst
    contact is outside; order: change with the order of parts; symmetry: change by reflections."""

    wrench: float
    cone: float
    order: float
    symmetry: float


def judged(mended, others=(), symmetries=()) -> Judged:
    """others: mended forces of the same scene in other orders; symmetries: reflections (3, 3)."""
    contacts, largest = mended.contacts, float(mended.force.max())
    rubs = np.zeros((len(contacts.row), contacts.directions))
    rubs[:, :2] = mended.tangential[contacts.row, :2]
    pushed = contacts.B.T @ mended.force[contacts.row] + contacts.sliding.T @ rubs.ravel()
    off = pushed - contacts.wrench()
    wrench = float((np.abs(off) / contacts.reach).max()) if mended.load_from == "engine" else np.nan
    size = np.linalg.norm(rubs, axis=1)
    bound = contacts.friction[:, 0] * mended.force[contacts.row]
    return Judged(
        wrench=wrench / largest,
        cone=max(float((size - bound).max()), 0.0) / largest,
        order=max((apart(mended, other) for other in others), default=0.0) / largest,
        symmetry=max((apart(mended, mended, R) for R in symmetries), default=0.0) / largest,
    )


def apart(first, second, turn=None):
    """The largest difference of normal forces, and of sizes of friction forces, at like places of
    contacts that can bear."""
    place, own = _by_place(first, np.eye(3))
    turned, other = _by_place(second, np.eye(3) if turn is None else turn)
    away = np.abs(place[:, None] - turned).max(axis=2)
    like = away.argmin(axis=1)
    if len(set(like.tolist())) < len(like) or away.min(axis=1).max() > NEAR:
        raise ValueError("the contacts of both are not at the same places")
    return float(np.abs(own - other[like]).max())


def _by_place(mended, turn):
    """Places with normals, sign apart, (m, 6); normal forces and sizes of friction (m, 2)."""
    row, places = mended.row, mended.places
    size = np.linalg.norm(mended.tangential[row, :2], axis=1)
    point = places.sides.mean(axis=1) @ turn.T
    return np.hstack([point, np.abs(places.normal @ turn.T)]), np.stack(
        [mended.force[row], size], 1
    )
