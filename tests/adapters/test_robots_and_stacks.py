"""MuJoCo scenes with friction, mended by default: a plank on leaning blocks, a swaying robot."""

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.adapters import from_mujoco

mujoco = pytest.importorskip("mujoco", reason="needs the extra rigidlimit[mujoco]")

BLOCKS = (-0.5, 0.0, 0.4)


@pytest.fixture(scope="module")
def shares():
    """What three blocks carry of a plank with its load off the middle, by this library's own step
    of the same scene without friction."""
    scene = rl.Scene()
    scene.add(rl.HalfSpace(), position=(0, 0, 0), name="floor")
    for i, x in enumerate(BLOCKS):
        scene.add(rl.Box((0.1, 0.1, 0.2)), position=(x, 0, 0.1), mass=0.5, name=f"b{i}")
    pull = 3 * 9.81
    load = (0, 0, -pull, 0, 0.3 * pull, 0)
    scene.add(rl.Box((1.2, 0.1, 0.05)), position=(0, 0, 0.225), mass=5.0, load=load, name="plank")
    step, names = rl.Simulation(scene).step(), scene.bodies.names
    pairs = [{names[a], names[b]} for a, b in step.contacts.body]
    return [
        sum(f for pair, f in zip(pairs, step.force, strict=True) if pair == {f"b{i}", "plank"})
        for i in range(3)
    ]


@pytest.mark.parametrize("condim", [3, 6])
def test_plank_on_blocks(shares, condim):
    """Cross-check: a plank on three free blocks, with friction. In MuJoCo the blocks lean under
    their loads by a thousandth, and its forces are up to 1.5 N off; friction is free to take what
    leaning normals push sideways."""
    blocks = "".join(
        f'<body pos="{x} 0 .0999"><freejoint/><geom name="b{i}" type="box" size=".05 .05 .1" '
        f'mass=".5" condim="{condim}"/></body>'
        for i, x in enumerate(BLOCKS)
    )
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><worldbody>
        <geom name="floor" type="plane" size="3 3 .1" condim="{condim}"/>{blocks}
        <body name="plank" pos="0 0 .2247"><freejoint/><geom type="box" size=".6 .05 .025"
          mass="5" condim="{condim}"/><geom type="box" size=".05 .05 .05" pos=".3 0 .075" mass="3"
          contype="0" conaffinity="0"/></body></worldbody></mujoco>"""
    )
    data = mujoco.MjData(model)
    for _ in range(1500):
        mujoco.mj_step(model, data)
    mended = from_mujoco(model, data)
    assert mended.converged and mended.total_error < 1e-9
    known = [*shares, 8 * 9.81]
    floor = [mended.by_geom["floor"].force[2], 0.0]
    found = [mended.on(f"b{i}").force[2] for i in range(3)]
    np.testing.assert_allclose(found, 0.5 * 9.81, atol=1e-3)  # as settled
    np.testing.assert_allclose(mended.on("plank").force[2], known[3], atol=1e-3)
    assert floor[0] == pytest.approx(-9.5 * 9.81, abs=1e-3)
    names, force = mended.places.names, mended.force[mended.row]
    engine = mended.engine_force[mended.row]
    for i, share in enumerate(shares):
        under = [f"b{i}" in pair and "floor" not in pair for pair in names]
        # contacts of leaning blocks are a tenth of a millimetre elsewhere, on lengths of 0.5 m
        assert force[under].sum() == pytest.approx(share, abs=0.03)
        assert i == 0 or abs(engine[under].sum() - share) > 0.3


WALKER = """
<mujoco><option timestep="0.002" cone="{cone}"/>
<default><geom friction=".8 .02 .001" condim="3"/></default>
<worldbody><geom name="floor" type="plane" size="5 5 .1"/>
<body name="torso" pos="0 0 .88"><freejoint/>
<geom type="capsule" fromto="0 0 0 0 0 .5" size=".12" mass="25"/>{legs}</body></worldbody>
<actuator>{drives}</actuator></mujoco>
"""
LEG = """
<body pos="0 {y} -.05"><joint name="{n}x" axis="1 0 0" damping="2"/>
<joint name="{n}y" axis="0 1 0" damping="2"/>
<geom type="capsule" fromto="0 0 0 0 0 -.4" size=".05" mass="5" contype="0" conaffinity="0"/>
<body pos="0 0 -.4"><joint name="{n}k" axis="0 1 0" damping="2"/>
<geom type="capsule" fromto="0 0 0 0 0 -.36" size=".04" mass="3" contype="0" conaffinity="0"/>
<body name="foot_{n}" pos="0 0 -.4"><joint name="{n}p" axis="0 1 0" damping="2"/>
<joint name="{n}r" axis="1 0 0" damping="2"/>
<geom name="sole_{n}" type="box" size=".1 .045 .015" pos=".03 0 -.015" mass="1"/>
<geom name="toe_{n}" type="box" size=".03 .045 .015" pos=".16 0 -.015" mass=".2"/></body></body>
</body>"""
GAINS = dict(x=1500, y=1500, k=1500, p=1000, r=800)


def swaying(cone):
    """Every twentieth step of a robot that sways on two feet of eight contacts each."""
    legs = "".join(LEG.format(n=n, y=y) for n, y in (("l", 0.1), ("r", -0.1)))
    drives = "".join(
        f'<position name="{n}{j}" joint="{n}{j}" kp="{kp}" dampratio="1"/>'
        for n in "lr"
        for j, kp in GAINS.items()
    )
    model = mujoco.MjModel.from_xml_string(WALKER.format(legs=legs, drives=drives, cone=cone))
    data = mujoco.MjData(model)
    angle = dict(y=-0.1, k=0.2, p=-0.1)
    for step in range(1000):
        sway = 0.09 * np.sin(np.pi * (data.time - 0.5)) if data.time > 0.5 else 0.0
        for n in "lr":
            for j in GAINS:
                data.actuator(n + j).ctrl = angle.get(j, {"x": sway, "r": -sway}.get(j))
        mujoco.mj_step(model, data)
        if step % 20 == 0 and data.ncon:
            yield model, data


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_swaying_robot(cone):
    """Property: in every step looked at forces obey Coulomb's law and push on every joint as
    MuJoCo's own do; what acts on a foot is what acts on its sole and toe."""
    changed = 0
    for model, data in swaying(cone):
        mended = from_mujoco(model, data)
        contacts = mended.contacts
        assert mended.converged and not mended.kept.any()
        size = np.linalg.norm(mended.tangential[:, :2], axis=1)
        assert (size <= 0.8 * mended.force + 1e-10 * mended.force.max()).all()
        forces = np.column_stack([mended.force, mended.tangential[:, :2]])[contacts.row]
        pushed = contacts.B.T @ forces[:, 0] + contacts.sliding.T @ forces[:, 1:].ravel()
        assert np.abs(pushed - contacts.wrench()).max() < 1e-9 * mended.force.max()
        changed += mended.largest_change > 1e-3
        foot = mended.on("foot_l", about=data.xpos[model.body("foot_l").id])
        parts = [mended.on(f"{geom}_l", about=foot.point) for geom in ("sole", "toe")]
        np.testing.assert_allclose(foot.force, sum(p.force for p in parts), atol=1e-9)
        np.testing.assert_allclose(foot.torque, sum(p.torque for p in parts), atol=1e-9)
    assert changed > 5
