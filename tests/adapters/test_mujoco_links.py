"""Peer: MuJoCo's equalities as rigid links, against the same scene as one body or with joints."""

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.adapters import from_mujoco
from rigidlimit.errors import InputError

mujoco = pytest.importorskip("mujoco", reason="needs the extra rigidlimit[mujoco]")

WELD = '<weld name="joint" body1="L" body2="R"/>'
LOAD = 4 / 30  # middle of mass of the plank
# engines let parts sag by 1e-4 m on lengths of 0.1 to 1 m
SAG = 1e-3


def settled(xml, steps=1500, push=None):
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    if push is not None:
        data.xfrc_applied[-1, :3] = push
    for _ in range(steps):
        mujoco.mj_step(model, data)
    mujoco.mj_forward(model, data)
    return model, data


def feet(xs, condim=1, size=1.0):
    return "".join(
        f'<geom size="{0.02 * size}" pos="{x * size} {y * size} {-0.03 * size}" mass="0" '
        f'condim="{condim}"/>'
        for x in xs
        for y in (-0.1, 0.1)
    )


def world(bodies, equality="", option="", more=""):
    return (
        f'<mujoco><option {option}/><worldbody><geom type="plane" size="0 0 1" condim="1"/>'
        f"{bodies}</worldbody>{more}<equality>{equality}</equality></mujoco>"
    )


def plank(equality=WELD, *, order="LR", shift=0.0, size=1.0, condim=1, option="", solid=False):
    """Two halves of a plank, 1 kg and 2 kg, on four feet each; solid: they touch each other."""
    touch = 'condim="1"' if solid else 'contype="0" conaffinity="0"'
    overlap = 0.002 * solid
    halves = {}
    for name, x, load in (("L", -0.25, ""), ("R", 0.25 - overlap, "box")):
        if load:
            load = (
                f'<geom type="box" size="{0.02 * size} {0.02 * size} {0.02 * size}" mass="1" '
                f'pos="{0.15 * size} 0 {0.03 * size}" contype="0" conaffinity="0"/>'
            )
        halves[name] = (
            f'<body name="{name}" pos="{x * size + shift} {shift} {0.0499 * size}"><freejoint/>'
            f'<geom type="box" size="{0.25 * size} {0.1 * size} {0.01 * size}" mass="1" {touch}/>'
            f"{load}{feet((-0.2, 0.2), condim, size)}</body>"
        )
    return world("".join(halves[name] for name in order), equality, option)


def solid_plank(condim=1):
    return world(
        '<body pos="0 0 .0499"><freejoint/><geom type="box" size=".5 .1 .01" mass="2" contype="0" '
        'conaffinity="0"/><geom type="box" size=".02 .02 .02" pos=".4 0 .03" mass="1" contype="0" '
        f'conaffinity="0"/>{feet((-0.45, -0.05, 0.05, 0.45), condim)}</body>'
    )


def by_place(data, force):
    """Forces sorted by where their contacts are."""
    x, y = np.round(data.contact.pos[:, :2], 2).T
    return force[np.lexsort((y, x))]


@pytest.fixture(scope="module")
def one():
    """A plank of one body: 1.53, 3.44, 3.92, 5.83 N a foot."""
    _, data = model = settled(solid_plank())
    mended = from_mujoco(*model)
    force = by_place(data, mended.force)
    x = np.repeat([-0.45, -0.05, 0.05, 0.45], 2)
    # closed form f = a + b x, on a plank that sags a little
    np.testing.assert_allclose(force, 29.43 / 8 * (1 + x * LOAD / np.mean(x**2)), rtol=SAG)
    return force


THREE = "".join(
    f'<connect body1="L" body2="R" anchor="{a}"/>' for a in (".25 .1 0", ".25 -.1 0", ".2 0 .05")
)


@pytest.mark.parametrize(
    ("equality", "redundant"),
    [
        (WELD, 0),
        ('<weld body1="R" body2="L" anchor="1 .3 .2"/>', 0),
        (WELD + '<weld body1="R" body2="L" anchor=".3 .2 .1"/>', 6),
        (THREE, 3),
        ('<weld body1="L" body2="R" torquescale="0"/>' + THREE, 6),
    ],
)
def test_welded_plank(one, equality, redundant):
    """Reference twin: the plank as one body; welded either way, twice, or by three connections."""
    model, data = settled(plank(equality))
    mended = from_mujoco(model, data)
    assert mended.converged and mended.total_error < 1e-9 and len(mended.total) == 1
    np.testing.assert_allclose(by_place(data, mended.force), one, rtol=SAG)
    assert np.abs(mended.change).max() > 0.5
    assert (f"({redundant} of them redundant)" in mended.message) == bool(redundant)
    assert rl.determinacy(mended.B, mended.load, fixed=mended.held).degree == 5
    rest = from_mujoco(model, data, load="rest")
    np.testing.assert_allclose(by_place(data, rest.force), one, rtol=SAG)


@pytest.mark.parametrize(
    "change",
    [
        {"order": "RL"},
        {"shift": 1e3},
        {"condim": 3},
        {"option": 'jacobian="sparse"'},
        {"option": 'solver="PGS" iterations="5"'},
        {"size": 0.2},
    ],
    ids=str,
)
def test_nothing_else_matters(one, change):
    """Property: order of bodies, place, friction, storage, solver and size change nothing."""
    _, data = model = settled(plank(**change))
    mended = from_mujoco(*model)
    scale = change.get("size", 1.0)
    x, y = (data.contact.pos[:, :2] - change.get("shift", 0.0)).T
    order = np.lexsort((np.round(y / scale, 2), np.round(x / scale, 2)))
    # five sweeps leave it moving, and a smaller one sags more
    tolerance = SAG if "PGS" not in str(change) and scale == 1 else 30 * SAG
    np.testing.assert_allclose(mended.force[order], one, rtol=tolerance)


def test_given_inactive_and_named():
    """Property: equalities given, not named or not active leave each half its own share, which two
    pairs of feet carry in one way only; named they are rigid."""
    model, data = settled(plank())
    own = from_mujoco(model, data, equalities="given")
    np.testing.assert_allclose(own.force, own.engine_force, rtol=SAG)
    assert "6 constraint rows" in own.message and len(own.total) == 2
    named = from_mujoco(model, data, equalities="joint")
    np.testing.assert_allclose(named.force, from_mujoco(model, data).force)
    nothing = from_mujoco(model, data, equalities=[])
    np.testing.assert_array_equal(nothing.force, own.force)
    off = settled(plank(WELD.replace("<weld", '<weld active="false"')))
    loose = from_mujoco(*off)
    assert "links" not in loose.message and len(loose.total) == 2
    np.testing.assert_allclose(loose.force[:4], 9.81 / 4, rtol=SAG)
    with pytest.raises(InputError, match=r"'weld'; expected 'rigid', 'given' or names.*has joint"):
        from_mujoco(model, data, equalities="weld")
    with pytest.raises(InputError, match="expected names of equalities, as text"):
        from_mujoco(model, data, equalities=[3])


def test_soft_equalities_are_told_about():
    """Property: a weld of half a second is rigid all the same, and said to be soft; MuJoCo's own
    is not said to be."""
    soft = from_mujoco(*settled(plank(WELD.replace("/>", ' solref="-4 -4"/>'))))
    assert "1 soft equality" in soft.message and "first joint" in soft.message
    assert "soft" not in from_mujoco(*settled(plank())).message


def test_contacts_between_welded_parts(one):
    """Property: what the halves press on each other is MuJoCo's own, and the feet carry as one."""
    model, data = settled(plank(solid=True))
    mended = from_mujoco(model, data)
    feet = (data.contact.geom == 0).any(axis=1)
    np.testing.assert_array_equal(mended.within, ~feet)
    assert (~feet).any() and mended.converged and mended.total_error < 1e-8
    np.testing.assert_array_equal(mended.force[~feet], mended.engine_force[~feet])
    np.testing.assert_allclose(np.sort(mended.force[feet]), np.sort(one), rtol=2 * SAG)


def test_ring_of_welds():
    """Reference twin: six bodies welded in a ring, one weld redundant, against one body."""
    angle = 2 * np.pi * np.arange(6) / 6
    parts, mass = [], (1, 1, 3, 1, 2, 1)
    for a, m in zip(angle, mass, strict=True):
        c, s = np.cos(a), np.sin(a)
        at = [(0.1 * c, 0.1 * s), (-0.1 * c, -0.1 * s), (-0.1 * s, 0.1 * c)]
        parts.append((c, s, m, at))

    def part(x, y, m, at):
        return (
            f'<geom size=".1" pos="{x} {y} .1" mass="{m}" contype="0" conaffinity="0"/>'
            + "".join(
                f'<geom size=".02" pos="{x + a} {y + b} -.03" mass="0" condim="1"/>' for a, b in at
            )
        )

    solid = "".join(part(*p) for p in parts)
    one = from_mujoco(*settled(world(f'<body pos="0 0 .0499"><freejoint/>{solid}</body>'))).force
    bodies = "".join(
        f'<body name="b{i}" pos="{x} {y} .0499"><freejoint/>{part(0, 0, m, at)}</body>'
        for i, (x, y, m, at) in enumerate(parts)
    )
    welds = "".join(f'<weld body1="b{i}" body2="b{(i + 1) % 6}"/>' for i in range(6))
    mended = from_mujoco(*settled(world(bodies, welds)))
    np.testing.assert_allclose(mended.force, one, rtol=SAG)
    assert "36 rows of rigid links (6 of them redundant)" in mended.message
    assert np.abs(mended.change).max() > 1


CORNERS = np.array([[-0.5, 0], [0.5, 0], [0.3, 0.5], [-0.2, 0.6]])  # x, z over the hinges below
STANDS = (
    [(-0.3, -0.2), (-0.3, 0.2), (0.3, -0.2), (0.3, 0.2)],
    [(0.6, -0.15), (0.6, 0.15), (0.7, 0.0)],
    [(0.0, 0.4), (0.05, -0.4)],
    [(-0.6, -0.15), (-0.6, 0.15), (-0.75, 0.0)],
)


def bar(i, place, inner, joint):
    """Bar i of a four-bar linkage in an upright plane, with the feet that are fixed to it."""
    a, b = CORNERS[i], CORNERS[(i + 1) % 4]
    stands = "".join(
        f'<geom size=".02" pos="{x - a[0]} {y} {-0.2801 - a[1]}" mass=".1" condim="1"/>'
        for x, y in STANDS[i]
    )
    return (
        f'<body name="b{i}" pos="{place[0]} 0 {place[1]}">{joint}<geom type="capsule" size=".01" '
        f'fromto="0 0 0 {b[0] - a[0]} 0 {b[1] - a[1]}" mass="{(2, 1, 3, 1.5)[i]}" contype="0" '
        f'conaffinity="0"/>{stands}{inner}</body>'
    )


STIFF = 'timestep=".0005"'
FIRM = 'solref=".002 1"'


def linkage(cut):
    """Closed at corner ``cut`` by a connection; None: four free bodies, two connections a hinge."""
    if cut is None:
        bodies = "".join(bar(i, CORNERS[i] + [0, 0.3], "", "<freejoint/>") for i in range(4))
        equality = "".join(
            f'<connect body1="b{i}" body2="b{(i + 3) % 4}" anchor="0 {y} 0" {FIRM}/>'
            for i in range(4)
            for y in (-0.1, 0.1)
        )
        return world(bodies, equality, STIFF).replace('condim="1"', f'condim="1" {FIRM}')
    bodies = ""
    for k in (3, 2, 1):
        i = (cut + k) % 4
        bodies = bar(i, CORNERS[i] - CORNERS[i - 1], bodies, '<joint axis="0 1 0"/>')
    bodies = bar(cut, CORNERS[cut] + [0, 0.3], bodies, "<freejoint/>")
    equality = f'<connect body1="b{cut}" body2="b{(cut + 3) % 4}" anchor="0 0 0" {FIRM}/>'
    return world(bodies, equality, STIFF).replace('condim="1"', f'condim="1" {FIRM}')


def test_closed_linkage():
    """Reference twin: a four-bar linkage with twelve feet, each of its corners in turn closed by a
    connection and the others joints, and all four closed by connections of free bodies: the same
    forces, though MuJoCo's own differ by newtons. Seven motions are left: degree 12 - 4, since
    three of them move no foot."""
    found = []
    for cut in (0, 1, 2, 3, None):
        model, data = settled(linkage(cut), 4000)
        mended = from_mujoco(model, data)
        assert mended.converged and mended.total_error < 1e-9 and len(mended.total) == 1
        assert rl.determinacy(mended.B, mended.load).degree == 8
        assert "redundant" in mended.message
        found.append((by_place(data, mended.force), by_place(data, mended.engine_force)))
    mended, engine = np.array(found).transpose(1, 0, 2)
    # stiffer contacts than MuJoCo's default still sag by 1e-5 m
    np.testing.assert_allclose(mended, np.tile(mended[0], (5, 1)), rtol=1e-3)
    assert np.ptp(engine, axis=0).max() > 0.5
    given = from_mujoco(model, data, equalities="given")
    assert np.abs(by_place(data, given.force) - mended[-1]).max() > 0.5


def test_hinges_of_free_bodies():
    """Reference twin: four bars that lie on the floor in a row about a rectangle, hinged about
    upright axes, as a tree and as free bodies with two connections a hinge. These lean a little, so
    that turns about the hinges would lift feet by 1e-4 of what they move, and hold MuJoCo's own
    forces."""
    corners = np.array([[-0.5, -0.3], [0.5, -0.3], [0.5, 0.3], [-0.5, 0.3]])

    def flat(i, place, joint, inner=""):
        dx, dy = corners[(i + 1) % 4] - corners[i]
        stands = "".join(
            f'<geom size=".02" pos="{t * dx} {t * dy} -.03" mass="0" condim="1"/>'
            for t in (0.2, 0.45, 0.8)
        )
        return (
            f'<body name="b{i}" pos="{place[0]} {place[1]} {0.0499 * (joint == FREE)}">{joint}'
            f'<geom type="capsule" size=".01" fromto="{0.1 * dx} {0.1 * dy} 0 {0.9 * dx} '
            f'{0.9 * dy} 0" mass="{(1, 3, 2, 1.5)[i]}" contype="0" conaffinity="0"/>'
            f'<geom size=".02" pos="{0.3 * dx} {0.3 * dy} .03" mass="{0.5 * i + 0.3}" contype="0" '
            f'conaffinity="0"/>{stands}{inner}</body>'
        )

    tree = ""
    for i in (3, 2, 1):
        tree = flat(i, corners[i] - corners[i - 1], '<joint axis="0 0 1"/>', tree)
    tree = flat(0, corners[0], FREE, tree)
    free = "".join(flat(i, corners[i], FREE) for i in range(4))
    hinges = "".join(
        f'<connect body1="b{i}" body2="b{i - 1}" anchor="0 0 {z}"/>'
        for i in (1, 2, 3)
        for z in (0, 0.2)
    )
    found = []
    for xml in (world(tree), world(free, hinges)):
        model, data = settled(xml, 3000)
        mended = from_mujoco(model, data)
        assert rl.determinacy(mended.B, mended.load).degree == 9
        found.append(by_place(data, mended.force))
    np.testing.assert_allclose(*found, rtol=SAG)


FREE = "<freejoint/>"
GEAR = '<joint name="gear" joint1="j0" joint2="j1" polycoef="0 -1 0 0 0"/>'


def balance(equality, more="", option=""):
    """A beam of weight 10 on three balls: the outer ones slide upright, coupled to each other."""
    balls = "".join(
        f'<body pos="{x} 0 .5"><joint name="j{i}" type="slide" axis="0 0 1"/>'
        '<geom size=".1" mass="1" condim="1"/></body>'
        for i, x in enumerate((-0.5, 0.5))
    )
    beam = (
        '<geom size=".1" pos="0 0 .5" condim="1"/><body pos="0 0 .6495"><freejoint/>'
        '<geom type="box" size="1 .2 .05" mass="1" condim="1"/></body>'
    )
    option = f'gravity="0 0 -10" {option}'
    return world(balls + beam, equality, option, more)


@pytest.mark.parametrize("option", ["", 'jacobian="sparse"', 'cone="elliptic"'])
@pytest.mark.parametrize("kind", ["joint", "tendon"])
def test_couplings(kind, option):
    """Closed form: supports on the two arms of a balance bear alike, and with one of equal
    stiffness between them 10/3 each; MuJoCo's coupling gives way and leaves 8 or 9 on that one. A
    support that is held holds the other one too."""
    joints = "".join(f'<joint joint="j{i}" coef="2"/>' for i in range(2))
    tendon = f'<tendon><fixed name="t">{joints}</fixed></tendon>'
    equality = GEAR if kind == "joint" else '<tendon tendon1="t"/>'
    xml = balance(equality, tendon, option)
    model, data = settled(xml, 2000)
    mended = from_mujoco(model, data)
    assert mended.engine_force.max() > 7 and "1 row of rigid links" in mended.message
    np.testing.assert_allclose(mended.force, 10 / 3, rtol=SAG)
    stiff = from_mujoco(model, data, stiffness=np.where(mended.engine_force > 7, 3.0, 1.0))
    np.testing.assert_allclose(np.sort(stiff.force), [2, 2, 6], rtol=SAG)
    held = from_mujoco(model, data, held="j0")
    np.testing.assert_allclose(held.force, 10 / 3, rtol=SAG)
    # the held slide bears its own weight and the other's by the coupling before and after
    np.testing.assert_allclose(held.held_change[:1], [0.0], atol=0.05)
    given = from_mujoco(model, data, equalities="given")
    np.testing.assert_allclose(given.force, given.engine_force, rtol=SAG)


def test_gripper_with_coupled_fingers():
    """Closed form: two fingers that mirror each other squeeze a block with both motors' force, 8
    and 2 N: 5 N on each side, shared alike by the pads of each; total force is no free body's."""
    fingers = "".join(
        f'<body name="f{i}" pos="{0.1 * s} 0 .5"><joint name="j{i}" type="slide" axis="{-s} 0 0"/>'
        '<geom type="box" size=".02 .1 .1" mass=".1" contype="0" conaffinity="0"/>'
        + "".join(
            f'<geom size=".01" pos="{-0.0501 * s} {y} {z}" mass="0" condim="1"/>'
            for y in (-0.04, 0.04)
            for z in (-0.04, 0.04)
        )
        + "</body>"
        for i, s in ((0, 1), (1, -1))
    )
    block = (
        '<body pos="0 0 .5" gravcomp="1"><freejoint/>'
        '<geom type="box" size=".04 .1 .1" mass=".5" condim="1"/></body>'
    )
    motors = '<actuator><motor joint="j0"/><motor joint="j1"/></actuator>'
    mirror = '<joint joint1="j0" joint2="j1" polycoef="0 1 0 0 0"/>'
    model = mujoco.MjModel.from_xml_string(world(fingers + block, mirror, "", motors))
    data = mujoco.MjData(model)
    data.ctrl[:] = 8, 2
    for _ in range(1000):
        mujoco.mj_step(model, data)
    mujoco.mj_forward(model, data)
    mended = from_mujoco(model, data)
    assert mended.converged and data.ncon == 8
    np.testing.assert_allclose(mended.force, 5 / 4, rtol=5 * SAG)
    rest = from_mujoco(model, data, load="rest")
    np.testing.assert_allclose(rest.force, 5 / 4, rtol=5 * SAG)


def pinned(equality):
    """A plank of 3 kg on three pairs of feet, tied to the world at x = 0."""
    return world(
        '<body name="p" pos="0 0 .0499"><freejoint/><geom type="box" size=".5 .1 .01" pos=".5 0 0" '
        'mass="2" contype="0" conaffinity="0"/><geom type="box" size=".02 .02 .02" pos=".7 0 .03" '
        f'mass="1" contype="0" conaffinity="0"/>{feet((0.2, 0.5, 0.9))}</body>',
        equality,
        'gravity="0 0 -10"',
    )


def test_pinned_to_the_world():
    """Closed form: a plank hinged to the world turns about the hinge only, f = x M / sum x^2 with
    M = 17 N m; one of the six rows is redundant, and the total is no free body's any more."""
    hinge = "".join(f'<connect body1="p" anchor="0 {y} 0"/>' for y in (-0.1, 0.1))
    mended = from_mujoco(*settled(pinned(hinge), 3000))
    x = np.repeat([0.2, 0.5, 0.9], 2)
    np.testing.assert_allclose(mended.force, 17 * x / (x @ x), rtol=5 * SAG)
    assert "(1 of them redundant)" in mended.message and len(mended.total) == 0
    assert rl.determinacy(mended.B, mended.load).degree == 5
    # welded, it has no motion that could tell: MuJoCo's own
    fixed = from_mujoco(*settled(pinned('<weld body1="p"/>')))
    assert fixed.converged and fixed.within.all()
    np.testing.assert_array_equal(fixed.force, fixed.engine_force)


def test_mocap_welds_are_drives():
    """Property: what a mocap body drives through a weld keeps the force that this brings, and is
    rigid when it is named."""
    model, data = settled(
        world(
            '<body name="m" mocap="true" pos="0 0 .1"/><body name="L" pos="0 0 .0999"><freejoint/>'
            '<geom type="box" size=".1 .1 .1" mass="1" condim="1"/></body>',
            '<weld name="drive" body1="m" body2="L"/>',
        )
    )
    mended = from_mujoco(model, data)
    assert "taken as a drive" in mended.message and not mended.within.any()
    assert mended.total_error < 1e-9 and len(mended.total) == 1
    assert from_mujoco(model, data, equalities=["drive"]).within.all()


@pytest.mark.skipif(not hasattr(mujoco.MjModel, "eq_objtype"), reason="welds of bodies only")
def test_sites():
    """Reference twin: a weld between sites is the weld between bodies."""
    xml = plank('<weld site1="a" site2="b"/>').replace(
        '<geom type="box" size="0.25', '<site name="@" pos="SIDE 0 0"/><geom type="box" size="0.25'
    )
    for name, side in (("a", 0.25), ("b", -0.25)):
        xml = xml.replace("@", name, 1).replace("SIDE", str(side), 1)
    mended = from_mujoco(*settled(xml))
    twin = from_mujoco(*settled(plank()))
    assert "6 rows of rigid links" in mended.message
    np.testing.assert_allclose(mended.force, twin.force, rtol=SAG)


def test_long_chain_of_welds():
    """Reference twin: forty bodies welded in a row, 8 m long and 0.2 m wide, against one body: each
    weld is judged by itself, and turns about the long axis stay, though the welds are off by more
    of the length than feet are beside it."""

    def part(x, i):
        side = 0.1 * (-1) ** i
        return (
            f'<geom size=".02" pos="{x} 0 -.03" mass="{1 + i % 3}" condim="1"/>'
            f'<geom size=".02" pos="{x + 0.03} {side} -.03" mass=".2" condim="1"/>'
        )

    count = 40
    xs = 0.2 * np.arange(count)
    solid = "".join(part(x, i) for i, x in enumerate(xs))
    one = from_mujoco(*settled(world(f'<body pos="0 0 .0499"><freejoint/>{solid}</body>'), 500))
    bodies = "".join(
        f'<body name="b{i}" pos="{x} 0 .0499"><freejoint/>{part(0, i)}</body>'
        for i, x in enumerate(xs)
    )
    welds = "".join(f'<weld body1="b{i}" body2="b{i + 1}"/>' for i in range(count - 1))
    mended = from_mujoco(*settled(world(bodies, welds), 500))
    assert mended.converged and "redundant" not in mended.message
    np.testing.assert_allclose(mended.force, one.force, atol=0.05)
