"""Friction forces that move with mended normal forces."""

import clarabel
import numpy as np
import pytest
import scipy.sparse as sp

from rigidlimit.adapters import Places, from_mujoco, mend_forces
from rigidlimit.adapters.engines.cone_projection import nearest_admissible
from rigidlimit.errors import InputError

# columns: rise, turn about y, and sideways x
BEAM = np.array([[1.0, -0.5, 0], [1.0, 0.0, 0], [1.0, 0.5, 0]])
ALONG = np.kron(np.ones((3, 1)), [[0, 0, 1.0], [0, 0, 0]])
PLACES = Places(
    point=np.array([[-0.5, 0, 0], [0, 0, 0], [0.5, 0, 0]]),
    normal=np.tile([0.0, 0, 1], (3, 1)),
    names=(("floor", "a"), ("floor", "b"), ("floor", "c")),
    system=np.array([[-1, 0]] * 3),
)
OPTIONS = dict(friction=[0.5] * 3, sliding=ALONG, on_friction="move", places=PLACES)
# friction_tolerance 1e-6, a tenth of which is what the balance of friction is solved to
CLOSE = dict(rtol=0, atol=1e-6)


def pulls(*x):
    return np.array([[value, 0.0] for value in x])


def test_friction_moves_to_the_nearest_within_the_cone():
    """Closed form: 5, 0, 5 becomes 10/3 each; a pull of 2 at the left end is cut to mu f = 5/3, and
    1/3 goes to the others in equal parts, so that the sum stays 2."""
    mended = mend_forces(BEAM, [5, 0, 5], tangential=pulls(2, 0, 0), **OPTIONS)
    np.testing.assert_allclose(mended.force, [10 / 3] * 3, **CLOSE)
    np.testing.assert_allclose(mended.tangential, pulls(5 / 3, 1 / 6, 1 / 6), **CLOSE)
    np.testing.assert_array_equal(mended.engine_tangential, pulls(2, 0, 0))
    assert mended.friction_moved.all() and not mended.kept.any() and not mended.outside_cone.any()
    assert "friction forces of 3 contacts moved by up to 17 %" in mended.message


def test_friction_stays_where_it_can():
    """Closed form: of two beams one has friction within its new cones, and keeps it exactly."""
    two = sp.block_diag([BEAM, BEAM]), np.r_[5, 0, 5, 5, 0, 5]
    both = np.vstack([pulls(2, 0, 0), pulls(0.5, 0, -0.5)])
    mended = mend_forces(
        *two,
        tangential=both,
        friction=[0.5] * 6,
        sliding=sp.block_diag([ALONG, ALONG]),
        on_friction="move",
    )
    assert mended.friction_moved.tolist() == [True] * 3 + [False] * 3
    np.testing.assert_array_equal(mended.tangential[3:], both[3:])
    np.testing.assert_allclose(mended.tangential[:3], pulls(5 / 3, 1 / 6, 1 / 6), **CLOSE)


def test_sliding_friction_goes_with_the_normal_force():
    """Closed form: where all contacts slide one way, f_t = mu f_n before and after, and the sum of
    the friction forces is mu W with any normal forces."""
    mended = mend_forces(BEAM, [4.5, 1, 4.5], tangential=pulls(2.25, 0.5, 2.25), **OPTIONS)
    np.testing.assert_allclose(mended.force, [10 / 3] * 3, **CLOSE)
    np.testing.assert_allclose(mended.tangential, pulls(5 / 3, 5 / 3, 5 / 3), **CLOSE)
    assert not mended.slid.any() and not mended.kept.any() and mended.friction_missing < 1e-6


def test_contact_that_slides_alone_keeps_its_force():
    """Closed form: only the middle one has friction, and slides: another normal force would brake
    more. It keeps 1 and 0.5, and the ends share 9."""
    options = {**OPTIONS, "friction": [0, 0.5, 0]}
    mended = mend_forces(BEAM, [5.5, 1, 3.5], load=None, tangential=pulls(0, 0.5, 0), **options)
    np.testing.assert_allclose(mended.force, [5.5, 1, 3.5], **CLOSE)
    assert mended.kept.tolist() == [False, True, False] and mended.row.tolist() == [0, 2]
    np.testing.assert_array_equal(mended.tangential, pulls(0, 0.5, 0))
    assert "1 contact, first contact 1, slide" in mended.message and mended.converged
    four = np.vstack([BEAM, [1.0, 0.25, 0]])
    options |= dict(friction=[0, 0.5, 0, 0], sliding=np.vstack([ALONG, ALONG[:2]]), places=None)
    mended = mend_forces(four, [5, 1, 3, 1], tangential=pulls(0, 0.5, 0, 0), **options)
    others = mend_forces(four[[0, 2, 3]], [5, 3, 1])
    assert mended.force[1] == 1.0
    np.testing.assert_allclose(mended.force[[0, 2, 3]], others.force, **CLOSE)
    # with a load of its own there is no engine's force to keep
    with pytest.raises(InputError, match="no friction that Coulomb's law admits"):
        mend_forces(
            four, [5, 1, 3, 1], load=[12.0, 0, 0], tangential=pulls(0, 0.5, 0, 0), **options
        )


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"engine_force": None, "load": [10.0, 0, 0]}, "needs engine_force"),
        ({"friction": None}, "that of contact 0 is not given or infinite"),
        ({"sliding": None}, "needs sliding=.*2 rows a contact; found 0|1 rows a contact; found 0"),
        ({"sliding": ALONG[:3]}, "sliding has shape"),
    ],
)
def test_what_moving_needs(options, match):
    """One clear error each."""
    given = {**OPTIONS, "engine_force": [5.0, 0, 5], **options}
    with pytest.raises(InputError, match=match):
        mend_forces(BEAM, tangential=pulls(2, 0, 0), **given)


def by_clarabel(A, b, wanted, bound, norm):
    """min |y - w|^2 subject to A y = b and |y_i| <= f_i, by a conic solver."""
    m, k = wanted.shape
    rows, right, cones = [A], [b], [clarabel.ZeroConeT(len(b))]
    for i in range(m):
        pick = np.zeros((k, m * k))
        pick[:, k * i : k * i + k] = np.eye(k)
        if norm == 2:
            rows.append(np.vstack([np.zeros(m * k), -pick]))
            right.append(np.r_[bound[i], np.zeros(k)])
            cones.append(clarabel.SecondOrderConeT(k + 1))
            continue
        signs = np.array(np.meshgrid(*[[-1, 1]] * k)).reshape(k, -1).T
        sides = signs @ pick if norm == 1 else np.vstack([pick, -pick])
        rows.append(sides)
        right.append(np.full(len(sides), bound[i]))
        cones.append(clarabel.NonnegativeConeT(len(sides)))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    P, q = sp.eye_array(m * k, format="csc"), -wanted.ravel()
    stack = sp.csc_matrix(np.vstack(rows))
    found = clarabel.DefaultSolver(
        sp.csc_matrix(P), q, stack, np.concatenate(right), cones, settings
    ).solve()
    return np.array(found.x).reshape(m, k), str(found.status)


@pytest.mark.parametrize("norm", [2, 1, np.inf])
def test_nearest_admissible_friction(norm):
    """Cross-solver: Clarabel, on random contacts of one, two and five directions, some without
    any normal force, with bounds met and not."""
    rng = np.random.default_rng(5)
    met = 0
    for k in (1, 2, 5):
        for _ in range(8):
            m, n = 9, 5
            A = rng.normal(size=(n, m * k)) * (rng.random((n, m * k)) < 0.7)
            bound = rng.random(m) * (rng.random(m) < 0.8)
            inner = rng.normal(size=(m, k))
            inner *= (0.7 * bound / np.linalg.norm(inner, ord=norm, axis=1))[:, None]
            wanted = inner + 0.5 * rng.normal(size=(m, k))
            b = A @ inner.ravel()
            y, missing = nearest_admissible(sp.csr_array(A), b, wanted, bound, norm, 1e-10, 0.0)
            assert np.abs(missing).max() < 1e-10
            size = np.linalg.norm(y, ord=norm, axis=1)
            assert (size <= bound + 1e-12).all()
            met += int((size > bound - 1e-9).sum())
            other, status = by_clarabel(A, b, wanted, bound, norm)
            assert status in ("Solved", "AlmostSolved")
            # a strictly convex problem to a gap of 1e-11 is open by the root of that
            np.testing.assert_allclose(y, other, rtol=0, atol=1e-5)
            # and no worse than Clarabel's, whose balance is off by 1e-10 or so
            assert np.linalg.norm(y - wanted) <= np.linalg.norm(other - wanted) + 1e-7
    assert met > 50


def test_friction_that_cannot_balance():
    """Closed form: two contacts can take 1 each, and 3 is asked for: 1 is missing."""
    A = sp.csr_array([[1.0, 1.0]])
    y, missing = nearest_admissible(A, [3.0], np.zeros((2, 1)), np.ones(2), 2, 1e-9, 0.0)
    np.testing.assert_allclose(y, 1.0, **CLOSE)
    np.testing.assert_allclose(missing, 1.0, **CLOSE)


WALKER = """
<mujoco><option timestep="0.002" cone="{cone}"/>
<default><geom friction=".8 .02 .001" condim="{condim}"/></default>
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
<body pos="0 0 -.4"><joint name="{n}p" axis="0 1 0" damping="2"/>
<joint name="{n}r" axis="1 0 0" damping="2"/>
<geom type="box" size=".1 .045 .015" pos=".03 0 -.015" mass="1"/>
<geom type="box" size=".03 .045 .015" pos=".16 0 -.015" mass=".2"/></body></body></body>
"""


@pytest.mark.parametrize(("cone", "condim"), [("pyramidal", 3), ("elliptic", 3), ("elliptic", 4)])
def test_swaying_robot(cone, condim):
    """Property: a robot that sways on two feet of eight contacts each. Keeping friction is refused
    in some steps; moved, forces obey Coulomb's law in all of them, and all contact forces together
    push on every joint as MuJoCo's own do, but for what is told as missing."""
    mujoco = pytest.importorskip("mujoco")
    legs = "".join(LEG.format(n=n, y=y) for n, y in (("l", 0.1), ("r", -0.1)))
    gains = dict(x=1500, y=1500, k=1500, p=1000, r=800)
    drives = "".join(
        f'<position name="{n}{j}" joint="{n}{j}" kp="{kp}" dampratio="1"/>'
        for n in "lr"
        for j, kp in gains.items()
    )
    text = WALKER.format(legs=legs, drives=drives, cone=cone, condim=condim)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    angle = dict(y=-0.1, k=0.2, p=-0.1)
    refused = moved = 0
    for step in range(1000):
        sway = 0.09 * np.sin(np.pi * (data.time - 0.5)) if data.time > 0.5 else 0.0
        for n in "lr":
            for j in gains:
                data.actuator(n + j).ctrl = angle.get(j, {"x": sway, "r": -sway}.get(j))
        mujoco.mj_step(model, data)
        if step % 20 or not data.ncon:
            continue
        try:
            from_mujoco(model, data, on_friction="refuse")
        except InputError:
            refused += 1
        mended = from_mujoco(model, data, on_friction="move")
        moved += bool(mended.friction_moved.any())
        largest = mended.engine_force.max()
        mu = np.array(data.contact.friction)
        part = np.abs(mended.tangential) / mu
        need = part.sum(axis=1) if cone == "pyramidal" else np.linalg.norm(part, axis=1)
        assert mended.converged and not mended.outside_cone.any()
        # friction_tolerance is 1e-6; in steps that slide, friction_share, 1 percent, may be missing
        assert (need <= mended.force + 1e-6 * largest).all()
        pushed = [
            push(mujoco, model, data, normal, tangential)
            for normal, tangential in (
                (mended.force, mended.tangential),
                (mended.engine_force, mended.engine_tangential),
            )
        ]
        # levers and reaches of joints are below 1.5
        most = 1.5 * max(mended.friction_missing, 1e-6) * largest
        assert np.abs(pushed[0] - pushed[1]).max() <= most
        assert mended.friction_missing < 1e-2
    assert refused >= 3 and moved >= 3


def push(mujoco, model, data, normal, tangential):
    """What contact forces push on MuJoCo's degrees of freedom, by its own rows."""
    force = np.zeros(data.nefc)
    for i in range(data.ncon):
        c = data.contact[i]
        if model.opt.cone == mujoco.mjtCone.mjCONE_ELLIPTIC:
            force[c.efc_address : c.efc_address + c.dim] = np.r_[
                normal[i], tangential[i, : c.dim - 1]
            ]
            continue
        for k in range(c.dim - 1):
            half, share = 0.5 * tangential[i, k] / c.friction[k], normal[i] / (2 * (c.dim - 1))
            force[c.efc_address + 2 * k] = share + half
            force[c.efc_address + 2 * k + 1] = share - half
    out = np.zeros(model.nv)
    mujoco.mj_mulJacTVec(model, data, out, force)
    return out


def test_load_that_is_not_carried_is_told_as_such():
    """Property: no friction is looked for to go with forces that do not balance; the law is still
    checked."""
    mended = mend_forces(BEAM, [5, 0, 5], load=[10.0, 9.0, 0], tangential=pulls(2, 0, 0), **OPTIONS)
    assert mended.answer.status.value == "load_not_carried" and not mended.friction_moved.any()
    assert mended.outside_cone.tolist() == [True, False, False]
    assert "Coulomb's law is broken at 1 contact" in mended.message
