"""Models of MuJoCo as scenes: the same bodies, contacts, friction and loads, and the same outcome.

Each model is stepped in MuJoCo and here for 0.2 s; what a body does (rests, slides, falls) has to
agree. Gravity is tilted so that bodies slide at mu = 0.5 and stick at mu = 1.
"""

from pathlib import Path

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.errors import InputError

mujoco = pytest.importorskip("mujoco")

TILTED = '<option gravity="6 0 -8" timestep="0.002"/>'
"""Bodies slide below mu = 0.75."""

BOX = '<geom name="{0}" type="box" size=".1 .1 .1" {1}/>'


def model(*bodies: str, floor: str = "", more: str = "", option: str = TILTED) -> str:
    return (
        f'<mujoco>{option}<worldbody><geom name="floor" type="plane" size="9 9 1" {floor}/>'
        f"{''.join(bodies)}</worldbody>{more}</mujoco>"
    )


def free(name: str, geom: str = "", *, at: str = "0 0 .1", body: str = "", inner: str = "") -> str:
    return (
        f'<body name="{name}" pos="{at}" {body}><freejoint/>{BOX.format(name, geom)}{inner}</body>'
    )


def rough(mu: float, more: str = "") -> str:
    return f'friction="{mu} 0.005 0.0001" {more}'


LIMB = '<body name="limb" pos="0 0 .3"><joint name="knee"/><geom name="limb" size=".05"/></body>'

UPRIGHT = '<option gravity="0 0 -9.81" timestep="0.002"/>'

PLANAR = """<body name="cart" pos="0 0 .1"><joint name="x" type="slide" axis="1 0 0"/>
 <joint name="z" type="slide" axis="0 0 1"/><joint name="turn" type="hinge" axis="0 1 0"/>
 <geom name="cart" type="box" size=".1 .1 .1"/></body>"""

MODELS = {
    # name: (model, {body: what it does, by MuJoCo's documentation})
    "larger friction": (
        model(free("box", rough(0.3)), floor=rough(1.0)), {"box": "rests"},
    ),
    "priority": (
        model(free("box", rough(0.3, 'priority="1"')), floor=rough(1.0)), {"box": "slides"},
    ),
    "friction of a pair": (
        model(
            free("box"), free("other", at="2 0 .1"), floor=rough(1.0),
            more='<contact><pair geom1="floor" geom2="box" friction=".2 .2 .01 0 0"/></contact>',
        ),
        {"box": "slides", "other": "rests"},
    ),
    "condim of both is 1": (
        model(
            free("box", rough(1.0, 'condim="1"')), free("other", rough(1.0), at="2 0 .1"),
            floor=rough(1.0, 'condim="1"'),
        ),
        {"box": "slides", "other": "rests"},
    ),
    "contype and conaffinity": (
        model(
            free("ghost", 'contype="2" conaffinity="2"'), free("box", at="2 0 .1"),
            free("upper", 'contype="2" conaffinity="3"', at="2 0 .3"),
            option=UPRIGHT,
        ),
        {"ghost": "falls", "box": "rests", "upper": "rests"},
    ),
    "exclude": (
        model(
            '<body name="shelf" pos="0 0 1"><geom type="box" size=".5 .5 .1"/></body>',
            free("box", at="0 0 1.2"), free("other", at=".3 .3 1.2"),
            more='<contact><exclude body1="shelf" body2="box"/></contact>',
        ),
        {"box": "falls", "other": "rests"},
    ),
    "a weld": (
        model(
            '<body name="hook" pos="2 0 3"/>',
            free("box"), free("side", at="0 0 .6"), free("hung", at="2 0 2.9"),
            more='<equality><weld body1="box" body2="side"/><weld body1="hung" body2="hook"/>'
            "</equality>",
            option=UPRIGHT,
        ),
        {"box": "rests", "hung": "rests"},
    ),
    "gravcomp": (
        model(
            free("balloon", at="0 0 2", body='gravcomp="1"'),
            free("stone", at="2 0 2", body='gravcomp="0.2"'),
        ),
        {"balloon": "rests", "stone": "falls"},
    ),
    "a robot in free fall": (
        model(free("trunk", at="0 0 1", inner=LIMB), option=UPRIGHT),
        {"trunk": "falls"},
    ),
    "a body in a plane": (
        model(PLANAR, floor=rough(0.3), option='<option gravity="6 3 -8"/>'), {"cart": "rests"},
    ),
}  # fmt: skip
"""A body welded to another at rest, or whose own friction is 1, rests."""


def verdict(way: np.ndarray, far: float = 0.02) -> str:
    """What a body does that went this way (3,) [m]. far: six times as far as contacts of MuJoCo
    give way here, and a fifth of what any body goes that slides or falls (0.1 m in 0.2 s)."""
    if way[2] < -far:
        return "falls"
    return "slides" if np.linalg.norm(way[:2]) > far else "rests"


def written(tmp_path: Path, text: str, name: str = "model.xml") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


@pytest.mark.parametrize("name", MODELS)
def test_the_same_outcome(name, tmp_path):
    """Peer: MuJoCo's own 0.2 s, and what its documentation says."""
    text, expected = MODELS[name]
    path = written(tmp_path, text)
    theirs = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(theirs)
    mujoco.mj_forward(theirs, data)
    begun = data.xipos.copy()
    while data.time < 0.2:
        mujoco.mj_step(theirs, data)
    packing = rl.read_packing(path)
    simulation = rl.Simulation(packing.scene, dt=2e-3, compatible="never")
    start = simulation.state.position
    simulation.run(0.2)
    for body, does in expected.items():
        k = packing.scene.index(body)
        assert verdict((data.xipos - begun)[theirs.body(body).id]) == does
        assert verdict(simulation.state.position[k] - start[k]) == does


def test_a_robot_stays_whole(tmp_path):
    """Evidence: masses of the model; a free-floating tree is one body and the floor carries all of
    its weight, to the step's residual. Limbs were held to the world while the root fell."""
    text = model(free("trunk", 'mass="8"', inner=LIMB), option=UPRIGHT)
    packing = rl.read_packing(written(tmp_path, text))
    assert packing.scene.bodies.names == ("floor", "trunk")
    mass = mujoco.MjModel.from_xml_string(text).body_mass.sum()
    np.testing.assert_allclose(packing.scene.bodies.mass[1], mass, rtol=1e-14)
    forces = rl.body_forces(rl.Simulation(packing.scene).step())
    np.testing.assert_allclose(forces[1, 2], 9.81 * mass, rtol=1e-8)
    assert packing.left_out == {"joint held": ("knee",)}
    assert "joint held (knee)" in packing.message


NAMED = model(
    free("a", 'adhesion="20" condim="6" margin=".01"'),
    free("b", at="2 0 .1"),
    '<body name="arm" pos="0 0 3"><joint name="shoulder"/><geom size=".1"/></body>',
    more="""<tendon><spatial name="rope" limited="true" range="0 1"><site site="p"/><site site="q"/>
 </spatial></tendon><equality><connect name="pin" body1="a" body2="b" anchor="1 0 0"/></equality>
 <actuator><motor name="drive" joint="shoulder"/></actuator>""",
    option='<option density="1.2"/>',
).replace("</worldbody>", '<site name="p"/><body pos="0 0 9"><site name="q"/></body></worldbody>')


def test_all_that_is_left_out_is_named(tmp_path):
    """Contract: kind and name of each element of the model that the scene does not have."""
    assert rl.read_packing(written(tmp_path, NAMED)).left_out == {
        "equality": ("pin",),
        "body on joints held as they stand": ("arm",),
        "torsional and rolling friction": ("a",),
        "contact at a distance (margin)": ("a",),
        "adhesion": ("a",),
        "tendon": ("rope",),
        "actuator": ("drive",),
        "fluid": ("density",),
    }


def test_a_weld_that_the_pose_misses_is_named(tmp_path):
    """Contract: MuJoCo would pull the bodies together, a scene cannot."""
    more = '<equality><weld name="w" body1="a" body2="b" relpose="1 0 0 1 0 0 0"/></equality>'
    text = model(free("a"), free("b", at="2 0 .1"), more=more)
    packing = rl.read_packing(written(tmp_path, text))
    assert packing.scene.bodies.names == ("floor", "a", "b")
    assert packing.left_out == {"weld that the first pose misses": ("w",)}


def test_alike_bodies_that_pass_through_each_other_are_a_group(tmp_path):
    """Property: bodies that only touch the floor have no contacts among themselves, without a list
    of all pairs."""
    bodies = [free(f"b{k}", 'contype="1" conaffinity="2"') for k in range(5)]
    text = model(*bodies, floor='contype="2" conaffinity="1"')
    scene = rl.read_packing(written(tmp_path, text)).scene
    assert not scene.excluded and [len(group) for group in scene.groups.values()] == [5]
    pairs = rl.Simulation(scene).step().contacts.body
    assert (pairs[:, 0] == 0).all() and len(pairs) == 20


LINK = """<link name="{0}"><inertial><mass value="{1}"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><sphere radius="0.1"/></geometry></collision></link>"""


@pytest.mark.parametrize(("root", "mass", "moves"), [("base", 2, True), ("base", 0, False)])
def test_roots_of_robots(tmp_path, root, mass, moves):
    """Evidence: a URDF root with a mass floats, as in other programs that read it."""
    arm = LINK.format("arm", 1)
    joint = (
        '<joint name="j" type="revolute"><parent link="base"/><child link="arm"/>'
        '<origin xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
    )
    base = LINK.format(root, mass) if mass else f'<link name="{root}"/>'
    path = written(tmp_path, f'<robot name="r">{base}{arm}{joint}</robot>', "r.urdf")
    packing = rl.read_packing(path)
    bodies = packing.scene.bodies
    assert bodies.free.any() == moves
    assert ("the URDF root 'base' floats" in packing.message) == moves
    if moves:
        np.testing.assert_allclose(bodies.mass, [3.0], rtol=1e-14)
    path.write_text("<robot")
    with pytest.raises(InputError, match="cannot load it"):
        rl.read_packing(path)


def test_a_material_of_ones_own(tmp_path):
    """Contract: material= takes the place of the model's friction, pairs included."""
    text, _ = MODELS["friction of a pair"]
    scene = rl.read_packing(written(tmp_path, text), material=rl.Material(friction=0.4)).scene
    assert not scene.pair_friction and {m.friction for m in scene.bodies.materials} == {0.4}


CLOTH = (
    '<body name="cloth" pos="0 0 2"><freejoint/><geom name="hook" size=".1" mass="1"/>'
    '<flexcomp name="{0}" type="grid" count="3 3 1" spacing=".1 .1 .1" rigid="true" '
    'mass="1"/></body>'
)


def test_flexes_are_named(tmp_path):
    """Contract: a model with a flex is read, and the flex named as left out."""
    path = written(tmp_path, model(CLOTH.format("sheet")))
    packing = rl.read_packing(path)
    assert packing.scene.bodies.names == ("floor", "cloth")
    assert packing.left_out == {"flex": ("sheet",)}
