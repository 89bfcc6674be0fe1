"""Scenes of rough contacts in MuJoCo in which no balance tells every force: what mending is for.

Each scene is made in any order of its parts, which changes nothing but the order of contacts, and
knows the reflections that leave it what it is.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

OVERLAP = 1e-5
"""By how much parts that touch overlap [m]: MuJoCo lists no contacts without."""

NEAR = 1e-3
"""Places of like contacts agree to this [m]; others are farther apart."""

ACROSS_X, ACROSS_Y = np.diag([-1.0, 1, 1]), np.diag([1.0, -1, 1])

HEAD = """<mujoco><option gravity="0 0 -9.81" timestep="0.001" cone="{cone}" solver="{solver}"
tolerance="1e-14" iterations="{iterations}"/>
<default><geom condim="3" friction="{friction}" solref="0.005 1"/></default>"""


@dataclass(frozen=True)
class EngineScene:
    """parts, actuators: XML of a model's bodies and motors, in any order; friction: mu of all.

    control [N, N m]: of every motor. symmetries: reflections (3, 3) about the origin. loads: forces
    and moments (6,) in world axes on bodies by name. steps: made before anything is looked at.
    """

    parts: tuple[str, ...]
    actuators: tuple[str, ...] = ()
    friction: float = 0.6
    control: float = 0.0
    symmetries: tuple[np.ndarray, ...] = ()
    loads: dict = field(default_factory=dict)

    def made(self, seed: int | None = None, *, cone="elliptic", solver="Newton", iterations=200):
        """(MjModel, MjData after mj_forward); seed: of the order of parts, None: as they stand."""
        import mujoco

        parts, actuators = (
            [part.replace("|", "") for part in group] for group in (self.parts, self.actuators)
        )
        if seed is not None:
            rng = np.random.default_rng(seed)
            parts, actuators = _shuffled(rng, self.parts), _shuffled(rng, self.actuators)
        head = HEAD.format(cone=cone, solver=solver, iterations=iterations, friction=self.friction)
        model = mujoco.MjModel.from_xml_string(
            f"{head}<worldbody>{''.join(parts)}</worldbody>"
            f"<actuator>{''.join(actuators)}</actuator></mujoco>"
        )
        data = mujoco.MjData(model)
        data.ctrl[:] = self.control
        for name, load in self.loads.items():
            data.xfrc_applied[model.body(name).id] = load
        mujoco.mj_forward(model, data)
        return model, data


def _shuffled(rng, parts):
    """In another order, the geoms of each part too."""
    out = []
    for part in parts:
        head, *geoms = part.split("|")
        tail = geoms.pop() if geoms else ""
        out.append(head + "".join(geoms[i] for i in rng.permutation(len(geoms))) + tail)
    return [out[i] for i in rng.permutation(len(out))]


def _geom(kind, size, at=(0, 0, 0), **more):
    attributes = {"type": kind, "size": size, "pos": at, **more}
    text = " ".join(f'{key}="{_text(value)}"' for key, value in attributes.items())
    return f"<geom {text}/>"


def _text(value):
    return value if isinstance(value, str) else " ".join(f"{x:.17g}" for x in np.ravel(value))


def _body(name, at, *geoms, joint="<freejoint/>"):
    """The bars mark what may change places."""
    return f'<body name="{name}" pos="{_text(at)}">{joint}|{"|".join(geoms)}|</body>'


FLOOR = '<geom name="floor" type="plane" size="5 5 .1"/>'


def grasp(fingers: int = 2, pads: int = 4) -> EngineScene:
    """A cube of 0.8 kg between fingers on sliders, each pressed by 12 N: 3 N a pad by symmetry."""
    half, radius = 0.05, 0.005
    places = [(y, z) for y in (-0.02, 0.02) for z in (-0.02, 0.02)][:pads]
    parts, motors = [], []
    for i in range(fingers):
        angle = 2 * np.pi * i / fingers
        out = np.array([np.cos(angle), np.sin(angle), 0]).round(12)
        side = np.array([-out[1], out[0], 0])
        tips = [
            _geom(
                "sphere", [radius], y * side + [0, 0, z], name=f"pad{i}{j}",
                mass=[0.05], contype="1", conaffinity="2",
            )
            for j, (y, z) in enumerate(places)
        ]  # fmt: skip
        slide = f'<joint name="slide{i}" type="slide" axis="{_text(-out)}"/>'
        parts.append(_body(f"finger{i}", (half + radius - OVERLAP) * out, *tips, joint=slide))
        motors.append(f'<motor joint="slide{i}"/>')
    cube = _geom("box", [half] * 3, name="cube", mass=[0.8], contype="2", conaffinity="1")
    parts.append(_body("cube", (0, 0, 0), cube))
    return EngineScene(tuple(parts), tuple(motors), control=12.0, symmetries=(ACROSS_X, ACROSS_Y))


def table() -> EngineScene:
    """A table on four legs, a weight above two of them."""
    legs = [
        _geom("cylinder", [0.03, 0.2], (x, y, -0.2), name=f"leg{i}{j}", mass=[0.5])
        for i, x in enumerate((-0.5, 0.5))
        for j, y in enumerate((-0.3, 0.3))
    ]
    top = _geom("box", [0.6, 0.4, 0.02], (0, 0, 0.02), name="top", mass=[8.0])
    weight = _geom("box", [0.1, 0.1, 0.1], (0.2, 0, 0.14), name="weight", mass=[3.0])
    parts = FLOOR, _body("table", (0, 0, 0.4 - OVERLAP), *legs, top, weight)
    return EngineScene(parts, symmetries=(ACROSS_Y,))


def ladder() -> EngineScene:
    """A ladder of two rails between floor and wall, a man on it."""
    length, angle = 2.0, np.deg2rad(65)
    along = np.array([np.cos(angle), 0, np.sin(angle)])
    radius = 0.03
    rails = [
        _geom(
            "capsule", [radius], name=f"rail{i}", mass=[5.0],
            fromto=[*(np.array([0, y, 0]) - length / 2 * along), *([0, y, 0] + length / 2 * along)],
        ).replace('pos="0 0 0" ', "")
        for i, y in enumerate((-0.2, 0.2))
    ]  # fmt: skip
    man = _geom("sphere", [0.1], 0.3 * along, name="man", mass=[70.0], contype="0", conaffinity="0")
    centre = length / 2 * along + [0, 0, radius - OVERLAP]
    wall = centre[0] + length / 2 * along[0] + radius - OVERLAP
    parts = (
        FLOOR,
        f'<geom name="wall" type="plane" size="5 5 .1" pos="{wall:.17g} 0 0" zaxis="-1 0 0"/>',
        _body("ladder", centre, *rails, man),
    )
    return EngineScene(parts, friction=0.5, symmetries=(ACROSS_Y,))


def bricks(count: int = 4, overhang: float = 0.05) -> EngineScene:
    """A stack of bricks, each ``overhang`` [m] farther out than the one below."""
    parts = [
        _body(
            f"brick{i}",
            (overhang * i, 0, 0.05 + i * (0.1 - OVERLAP) - OVERLAP),
            _geom("box", [0.2, 0.1, 0.05], name=f"brick{i}", mass=[4.0]),
        )
        for i in range(count)
    ]
    return EngineScene((FLOOR, *parts), symmetries=(ACROSS_Y,))


def peg() -> EngineScene:
    """A square peg in a hole that just fits, pushed sideways at its head."""
    depth, half = 0.1, 0.02
    walls = [
        f'<geom name="wall{i}" type="box" size=".02 .05 {depth / 2}" '
        f'pos="{side * (half + 0.02 - OVERLAP):.17g} 0 {depth / 2}"/>'
        for i, side in enumerate((-1, 1))
    ]
    box = _geom("box", [half, half, 0.1], name="peg", mass=[0.5])
    parts = FLOOR, *walls, _body("peg", (0, 0, 0.1 - OVERLAP), box)
    push = (2.0, 0, 0, 0, 0.2, 0)
    return EngineScene(parts, friction=0.3, symmetries=(ACROSS_Y,), loads={"peg": push})


def wheel() -> EngineScene:
    """A wheel between two chocks that lean at 45 degrees."""
    radius, width = 0.3, 0.08
    out = radius + 0.05 - OVERLAP
    chocks = [
        f'<geom name="chock{i}" type="box" size=".05 .2 .1" pos="{side * out * 0.5**0.5:.17g} 0 '
        f'{radius - out * 0.5**0.5:.17g}" euler="0 {side * 45} 0"/>'
        for i, side in enumerate((-1, 1))
    ]
    rim = _geom("cylinder", [radius, width], name="wheel", mass=[10.0], euler="90 0 0")
    parts = FLOOR, *chocks, _body("wheel", (0, 0, radius - OVERLAP), rim)
    return EngineScene(parts, friction=0.4, symmetries=(ACROSS_X, ACROSS_Y))


def tray() -> EngineScene:
    """A tray on four fingertips, three boxes on it."""
    tips = [
        f'<geom name="tip{i}{j}" type="sphere" size=".01" pos="{x} {y} {-0.01}"/>'
        for i, x in enumerate((-0.2, 0.2))
        for j, y in enumerate((-0.1, 0.1))
    ]
    tray_ = _body("tray", (0, 0, 0.01 - OVERLAP), _geom("box", [0.25, 0.15, 0.01], mass=[1.0]))
    cups = [
        _body(
            f"cup{i}",
            (x, 0, 0.05 + 0.02 - 2 * OVERLAP),
            _geom("box", [0.03, 0.03, 0.05], name=f"cup{i}", mass=[0.3 + 0.2 * i]),
        )
        for i, x in enumerate((-0.15, 0.0, 0.15))
    ]
    return EngineScene((*tips, tray_, *cups), symmetries=(ACROSS_Y,))


def quadruped() -> EngineScene:
    """A torso on four legs of three pads each, all joints locked; its load is off the middle."""
    pads = [(0.02, 0), (-0.01, 0.017), (-0.01, -0.017)]
    geoms = [_geom("box", [0.3, 0.12, 0.05], (0, 0, 0), name="torso", mass=[8.0])]
    geoms.append(_geom("box", [0.05, 0.05, 0.05], (0.1, 0, 0.1), name="load", mass=[4.0]))
    for i, x in enumerate((-0.25, 0.25)):
        for j, y in enumerate((-0.15, 0.15)):
            foot = f"foot{i}{j}"
            geoms += [
                _geom("sphere", [0.01], (x + dx, y + dy, -0.29), name=f"{foot}_{k}", mass=[0.05])
                for k, (dx, dy) in enumerate(pads)
            ]
    parts = FLOOR, _body("robot", (0, 0, 0.3 - OVERLAP), *geoms)
    return EngineScene(parts, symmetries=(ACROSS_Y,))


SCENES: dict[str, Callable[[], EngineScene]] = {
    "grasp of two fingers": grasp,
    "grasp of four fingers": lambda: grasp(4),
    "ladder": ladder,
    "bricks with overhang": bricks,
    "peg": peg,
    "wheel between chocks": wheel,
    "tray": tray,
    "quadruped": quadruped,
    "table": table,
}


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
        order=max((_apart(mended, other) for other in others), default=0.0) / largest,
        symmetry=max((_apart(mended, mended, R) for R in symmetries), default=0.0) / largest,
    )


def _apart(first, second, turn=None):
    """The largest difference of normal forces, and of sizes of friction forces, at like places."""
    place, own = _by_place(first, np.eye(3))
    turned, other = _by_place(second, np.eye(3) if turn is None else turn)
    away = np.abs(place[:, None] - turned).max(axis=2)
    like = away.argmin(axis=1)
    if len(set(like.tolist())) < len(like) or away.min(axis=1).max() > NEAR:
        raise ValueError("the contacts of both are not at the same places")
    return float(np.abs(own - other[like]).max())


def _by_place(mended, turn):
    """Places with normals, sign apart, (m, 6); normal forces and sizes of friction (m, 2)."""
    row, places = mended.contacts.row, mended.contacts.places
    size = np.linalg.norm(mended.tangential[row, :2], axis=1)
    point = places.sides.mean(axis=1) @ turn.T
    return np.hstack([point, np.abs(places.normal @ turn.T)]), np.stack(
        [mended.force[row], size], 1
    )
