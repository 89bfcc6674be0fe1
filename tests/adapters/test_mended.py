"""Mended forces from arrays: what is kept, what is refused."""

import sys
from importlib import import_module

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.adapters import Places, from_mujoco, mend_forces
from rigidlimit.errors import InputError, MissingExtra

BEAM = np.array([[1.0, -0.5], [1.0, 0.0], [1.0, 0.5]])  # columns: rise, turn
PLACES = Places(
    point=np.array([[-0.5, 0, 0], [0, 0, 0], [0.5, 0, 0]]),
    normal=np.tile([0.0, 0, 1], (3, 1)),
    names=(("floor", "a"), ("floor", "b"), ("floor", "c")),
    system=np.array([[-1, 0]] * 3),
)
# residual 1e-10 of the solver, times the few contacts
CLOSE = dict(rtol=0, atol=1e-8)


def test_resultant_is_the_engines():
    """Property: random packings of rods; B^T f and total wrench stay, the order does not matter."""
    rng = np.random.default_rng(3)
    for _ in range(5):
        m, n = 12, 6
        point = rng.normal(size=(m, 3))
        normal = rng.normal(size=(m, 3))
        normal /= np.linalg.norm(normal, axis=1)[:, None]
        B = np.hstack([normal, np.cross(point, normal)])
        force = rng.random(m)
        places = Places(point, normal, (("w", "b"),) * m, np.array([[-1, 0]] * m))
        mended = mend_forces(B, force, places=places)
        assert mended.converged and mended.B.shape == (m, n)
        np.testing.assert_allclose(B.T @ mended.force, B.T @ force, **CLOSE)
        assert mended.total_error < 1e-9  # the figure
        assert np.abs(mended.change).max() > 1e-3  # it did something
        order = rng.permutation(m)
        again = mend_forces(B[order], force[order])
        np.testing.assert_allclose(again.force, mended.force[order], **CLOSE)


def test_total_notices_a_lost_force():
    """Property: the check of totals is made from points and normals alone, so it can fail."""
    good = mend_forces(BEAM, [5, 0, 5], places=PLACES)
    assert good.total_error < 1e-9
    other = mend_forces(BEAM, [5, 0, 5], load=[9.0, 0], places=PLACES)
    assert other.total_error == pytest.approx(0.1)
    np.testing.assert_allclose(other.total[0], [0, 0, 9, 0, 0, 0], **CLOSE)
    assert "not the engine's resultant" in other.message
    turned = mend_forces(BEAM, [5, 0, 5], load=[10.0, 1.0], places=PLACES)
    np.testing.assert_allclose(turned.total[0], [0, 0, 10, 0, -1, 0], **CLOSE)
    assert turned.total_error == pytest.approx(0.2)  # a moment of 1 over an arm of 1/2 and 10


def test_load_alone():
    """Closed form: without engine forces the load decides; what is unknown is nan."""
    mended = mend_forces(BEAM, load=[10.0, 0.0], stiffness=[1, 3, 1], places=PLACES)
    np.testing.assert_allclose(mended.force, [2, 6, 2], **CLOSE)
    assert np.isnan(mended.engine_force).all() and np.isnan(mended.total_error)
    assert "were not given" in mended.message


def test_adapters_are_at_hand():
    """Property: ``rigidlimit.adapters`` is there without an import of its own."""
    assert rl.adapters.mend_forces is mend_forces and "adapters" in rl.__all__


def test_two_systems_push_each_other():
    """Closed form: a contact between two bodies pushes them apart with the same force."""
    places = Places(
        np.zeros((2, 3)), np.array([[0, 0, 1.0]] * 2), (("f", "a"), ("a", "b")), [[-1, 0], [0, 1]]
    )
    places = Places(places.point, places.normal, places.names, np.array(places.system))
    np.testing.assert_allclose(places.totals(np.array([5.0, 2.0]))[:, 2], [3, 2])


def test_rows_of_an_engines_longer_list():
    """Property: contacts that the engine does not solve get zero and keep their place."""
    mended = mend_forces(BEAM, [5, 0, 5], row=[4, 0, 2], contacts=6)
    np.testing.assert_allclose(mended.force, [10 / 3, 0, 10 / 3, 0, 10 / 3, 0], **CLOSE)
    np.testing.assert_allclose(mended.engine_force, [0, 0, 5, 0, 5, 0])


def test_held_degrees_of_freedom():
    """Closed form: a clamped beam shares any moment alike; the clamp delivers what is missing."""
    mended = mend_forces(BEAM, [8, 1, 1], held=[False, True])
    np.testing.assert_allclose(mended.force, [10 / 3] * 3, **CLOSE)
    np.testing.assert_allclose(mended.held_change, [0, -3.5], **CLOSE)
    degree = rl.determinacy(mended.B, mended.load, fixed=mended.held).degree
    assert degree == 2


def test_status_is_that_of_the_solver():
    """Contract: as every result, also where the load pulls the beam off its supports."""
    carried, pulled = (mend_forces(BEAM, load=[sign * 10.0, 0.0]) for sign in (1, -1))
    assert carried.status is rl.Status.CONVERGED and carried.converged
    assert carried.residual <= carried.answer.tolerance and carried.iterations > 0
    assert pulled.status is rl.Status.LOAD_NOT_CARRIED and not pulled.converged
    assert pulled.residual == pulled.answer.residual > pulled.answer.tolerance


def test_open_contacts_carry_nothing():
    """Closed form: a support that is out of reach leaves 5 and 5, one that is closed without
    force gets its third, and a force of the engine's counts more than a gap."""
    for gap, known, opened in (
        (1e-3, [5, 0, 5], [0, 1, 0]),
        (1e-7, [10 / 3] * 3, [0, 0, 0]),
        (-1e-3, [10 / 3] * 3, [0, 0, 0]),
    ):
        mended = mend_forces(BEAM, [5, 0, 5], gap=[0, gap, 0], places=PLACES)
        np.testing.assert_allclose(mended.force, known, **CLOSE)
        assert mended.open.tolist() == [bool(i) for i in opened]
        assert ("open" in mended.message) == any(opened) and mended.total_error < 1e-9
    bearing = mend_forces(BEAM, [4, 2, 4], gap=[0, 1e-3, 0])
    np.testing.assert_allclose(bearing.force, [10 / 3] * 3, **CLOSE)


@pytest.mark.parametrize("slope", [0.0, 0.6])
@pytest.mark.parametrize("noise", [1e-9, 1e-8, 1e-7])
def test_noise_of_normals_does_not_pin_forces(slope, noise):
    """Closed form: normals off by an engine's rounding leave 2, 6, 2, on a slope too."""
    rng = np.random.default_rng(1)
    normal = np.array([0, slope, np.sqrt(1 - slope**2)]) + noise * rng.normal(size=(3, 3))
    B = np.hstack([normal, np.cross(PLACES.point, normal)])
    places = Places(PLACES.point, normal, PLACES.names, PLACES.system)
    options = dict(stiffness=[1, 3, 1], mechanism=np.zeros(6, int), places=places)
    force = [1.3, 7.4, 1.3]
    mended = mend_forces(B, force, reach=[1, 1, 1, 0.5, 0.5, 0.5], **options)
    # noise acts on moments as on forces
    np.testing.assert_allclose(mended.force, [2, 6, 2], atol=100 * noise)
    assert "left out" in mended.message and mended.total_error < 10 * noise
    named = mend_forces(
        B, force, reach=[1, 1, 1, 0.5, 0.5, 0.5], **options | {"mechanism": [-7] * 6}
    )
    np.testing.assert_array_equal(named.force, mended.force)  # whatever the label
    assert rl.determinacy(mended.B, mended.load).degree == 1


@pytest.mark.parametrize("slope", [1e-9, 1e-7, 1e-5, 0.6])
@pytest.mark.parametrize("noise", [1e-17, 1e-15, 1e-14, 1e-13])
def test_rounding_does_not_pin_forces(slope, noise):
    """Closed form: normals that lean alike but for rounding leave 2, 6, 2. Motions felt by less
    than 1e-13 were equations of balance, which columns of 1e-7 lift above the solver's rounding."""
    rng = np.random.default_rng(1)
    for _ in range(5):
        normal = np.array([0, slope, np.sqrt(1 - slope**2)]) + noise * rng.normal(size=(3, 3))
        mended = mend_forces(
            np.hstack([normal, np.cross(PLACES.point, normal)]),
            [1.3, 7.4, 1.3],
            stiffness=[1, 3, 1],
            mechanism=np.zeros(6, int),
            reach=[1, 1, 1, 0.5, 0.5, 0.5],
            places=Places(PLACES.point, normal, PLACES.names, PLACES.system),
        )
        np.testing.assert_allclose(mended.force, [2, 6, 2], **CLOSE)
        assert mended.total_error < 1e-12


def test_a_load_that_is_noise_beside_its_contacts_is_left_out():
    """Closed form: a light plate pressed between two jaws at 1e4 N, with normals off by 1e-7:
    sideways some 1e-3 N are left over, a tenth of its weight, and are noise all the same (they were
    called a load that no forces carry)."""
    x = np.array([[a, b, 0.0] for a in (-1, 1) for b in (-1, 1)])
    point = np.vstack([x, x])
    up = np.repeat([1.0, -1.0], 4)
    rng = np.random.default_rng(2)
    normal = np.column_stack([*(1e-7 * rng.normal(size=(2, 8))), up])
    B = np.hstack([normal, np.cross(point, normal)])
    force = np.repeat([1e4 + 0.01 / 4, 1e4], 4)
    mended = mend_forces(B, force, mechanism=np.zeros(6, int))
    assert mended.converged and "left out" in mended.message
    # the sum of forces 1e4 N, to the solver's tolerance
    np.testing.assert_allclose(mended.force[:4].sum() - mended.force[4:].sum(), 0.01, atol=1e-5)


def test_what_held_joints_squeeze_is_said_to_be_lost():
    """Closed form: two held jaws press a free block with 20 N; nothing of that is the block's."""
    B = np.array([[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]])  # jaw, block, jaw
    mended = mend_forces(B, [20.0, 20.0], held=[True, False, True])
    np.testing.assert_allclose(mended.force, 0.0, **CLOSE)
    assert "deliver up to 20" in mended.message and "not kept" in mended.message


def test_totals_are_of_each_system():
    """Closed form: moments are about each system's own contacts, over its own size, however far
    another stands: a moment of 1 N m lost on a table of 1 m is noticed."""
    table = np.array([[-0.5, 0, 0], [0.5, 0, 0]])
    places = Places(
        point=np.vstack([table, table + [1e6, 0, 0]]),
        normal=np.tile([0.0, 0, 1], (4, 1)),
        names=(("floor", "a"),) * 2 + (("floor", "b"),) * 2,
        system=np.array([[-1, 0], [-1, 0], [-1, 1], [-1, 1]]),
    )
    np.testing.assert_allclose(places.sizes, 0.5)
    np.testing.assert_allclose(places.totals(np.array([4.0, 6, 1, 3]))[:, 4], [-1, -1])
    B = np.zeros((4, 4))
    B[:2, :2] = B[2:, 2:] = [[1, -0.5], [1, 0.5]]
    turned = mend_forces(B, [5.0] * 4, load=[10.0, 1, 10, 0], places=places)
    assert turned.total_error == pytest.approx(0.1)  # 1 N m over 1/2 m and 20 N


def test_gaps_are_measured_by_the_bodies_they_part():
    """Closed form: a support a micrometre out of reach of a beam of 1 m is closed, and of a beam
    of 1 cm open, whatever stands a kilometre away."""
    for size, known in ((1.0, [10 / 3] * 3), (0.01, [5, 0, 5])):
        small = np.array([[-size / 2, 0, 0], [0, 0, 0], [size / 2, 0, 0]])
        places = Places(
            point=np.vstack([small, [[1e3, 0, 0], [1e3 + 1, 0, 0]]]),
            normal=np.tile([0.0, 0, 1], (5, 1)),
            names=(("floor", "a"),) * 5,
            system=np.array([[-1, 0]] * 3 + [[-1, 1]] * 2),
        )
        B = np.zeros((5, 4))
        B[:3, :2] = BEAM * [1, size]
        B[3:, 2:] = [[1, -0.5], [1, 0.5]]
        mended = mend_forces(
            B,
            [5, 0, 5, 5, 5],
            gap=[0, 1e-6, 0, 0, 0],
            places=places,
            mechanism=[0, 0, 1, 1],
            reach=[1, size, 1, 1],
        )
        np.testing.assert_allclose(mended.force[:3], known, **CLOSE)


def test_friction_kept_within_its_cone():
    """Closed form: 5, 0, 5 becomes 10/3 each; small friction at the ends survives that."""
    pull = np.array([[0.5, 0], [0, 0], [-0.5, 0]])
    mended = mend_forces(BEAM, [5, 0, 5], tangential=pull, friction=[0.5] * 3, on_friction="keep")
    np.testing.assert_allclose(mended.force, [10 / 3] * 3, **CLOSE)
    np.testing.assert_array_equal(mended.tangential, pull)
    np.testing.assert_array_equal(mended.contact_force[:, 1:], pull)
    assert "friction forces kept" in mended.message and not mended.outside_cone.any()


@pytest.mark.parametrize("pull", [2.0, 2.5])  # 2 <= 0.5 x 5, but > 0.5 x 10/3
def test_friction_that_would_leave_its_cone_is_flagged(pull):
    """Closed form: Coulomb's bound falls from 2.5 to 1.67 at the ends."""
    tangential = np.array([[pull, 0], [0, 0], [0, 0]])
    options = dict(tangential=tangential, friction=[0.5] * 3, on_friction="keep")
    kept = mend_forces(BEAM, [5, 0, 5], **options)
    assert kept.outside_cone.tolist() == [True, False, False]
    assert "Coulomb's law is broken at 1 contact," in kept.message


def test_rounding_of_forces_without_friction_is_no_friction():
    """Property: an engine's forces less their normal parts leave some 1e-16, which are no friction
    forces outside their cone where there is no friction (Drake, coefficient 0); a friction force
    worth the name is."""
    left = np.array([[4e-16, 0.0], [0.0, -4e-16], [0.0, 0.0]])
    for size, outside in ((1.0, 0), (1e12, 1)):
        mended = mend_forces(BEAM, [1.0, 8.0, 1.0], tangential=size * left, friction=np.zeros(3))
        np.testing.assert_allclose(mended.force, 10 / 3, **CLOSE)
        assert mended.outside_cone.any() == outside and not mended.joint


def test_sliding_contact_with_a_changed_force_is_flagged():
    """Closed form: at the middle f_t = mu f_n; f_n grows from 1 to 10/3, so f_t would too."""
    tangential = np.array([[0, 0], [0.5, 0], [0, 0]])
    options = dict(friction=[0.5] * 3, on_friction="keep")
    changed = mend_forces(BEAM, [4.5, 1, 4.5], tangential=tangential, **options)
    assert changed.slid.tolist() == [False, True, False]
    # the same contact sliding under a force that mending leaves alone is fine
    same = mend_forces(BEAM, [10 / 3] * 3, tangential=tangential * 10 / 3, **options)
    assert not same.slid.any()


def test_cones_of_engines():
    """Closed form: (1, 1) under mu f_n = 1.5 is inside the circle and the box, not the pyramid."""
    tangential = np.array([[1.0, 1.0], [0, 0], [1.0, 1.0]])
    options = dict(friction=np.full(3, 0.45), on_friction="keep")  # 0.45 x 10/3 = 1.5
    for cone, outside in (("elliptic", False), ("box", False), ("pyramid", True)):
        mended = mend_forces(BEAM, [5, 0, 5], tangential=tangential, cone=cone, **options)
        assert mended.outside_cone.any() == outside


def test_contact_on_which_nothing_depends():
    """Closed form: a row of 1e-34, a hinged drum that rests on the line through its axle, gets
    2.6e15 N from MuJoCo. Beside that all other forces were rounding: pulls, Coulomb's law and what
    counts as open. It keeps its force and is named; the others are as without it."""
    B = np.vstack([BEAM, [1e-34, -1e-34]])
    force = np.array([5, 0, 5, 2.6e15])
    places = Places(
        point=np.vstack([PLACES.point, [9, 0, 0]]),
        normal=np.tile([0.0, 0, 1], (4, 1)),
        names=(*PLACES.names, ("floor", "drum")),
        system=np.vstack([PLACES.system, [-1, -1]]),
    )
    mended = mend_forces(B, force, places=places)
    np.testing.assert_allclose(mended.force, [*[10 / 3] * 3, 2.6e15], **CLOSE)
    assert mended.within.tolist() == [False] * 3 + [True] and mended.total_error < 1e-9
    assert "contact 3 (floor and drum) pushes on nothing that can move" in mended.message
    assert "changed by up to 67 %" in mended.message
    # a tenth of the load more is a tenth of the forces that took part
    more = mend_forces(B, force, load=[11.0, 0.0], places=places)
    assert more.total_error == pytest.approx(0.1)
    pull = np.array([[2.0, 0], [0, 0], [0, 0], [0, 0]])
    options = dict(friction=[0.5] * 4, tangential=pull, on_friction="keep")
    assert mend_forces(B, force, places=places, **options).outside_cone.tolist() == [True] + 3 * [
        False
    ]
    with pytest.raises(InputError, match="contact 1 is -1, a pull"):
        mend_forces(B, [5, -1, 5, 2.6e15])
    opened = mend_forces(B, force, gap=[0, 1.0, 0, 0], places=places).open
    assert opened.tolist() == [False, True, False, False]
    # small rows are no rounding where all are, as in units of a micrometre
    small = mend_forces(1e-30 * BEAM, [5, 0, 5])
    np.testing.assert_allclose(small.force, [10 / 3] * 3, **CLOSE)


def test_options_by_contact_go_with_open_ones():
    """Property: gap errors are those of the contacts that take part, open ones or not."""
    among = np.vstack([BEAM[:1], [1.0, 0.2], BEAM[1:]])
    given = dict(gap=[0, 1.0, 0, 0], gap_error=[0, 7.0, 1, 0])
    mended = mend_forces(among, [5, 0, 0, 5], **given)
    known = mend_forces(BEAM, [5, 0, 5], gap_error=[0, 1, 0])
    np.testing.assert_allclose(mended.force[[0, 2, 3]], known.force, **CLOSE)
    assert mended.force[1] == 0.0 and known.force[1] < 3.0  # the middle one has to close first


@pytest.mark.parametrize(
    ("force", "options", "match"),
    [
        ([5, -1, 5], {}, "contact 1 is -1, a pull"),
        (None, {}, "expected one of them"),
        ([5, 0, 5], {"on_friction": "drop"}, "expected one of joint, keep"),
        ([5, 0, 5], {"cone": "square"}, "expected one of elliptic"),
        ([5, 0, 5], {"accuracy": 1.0}, "expected 0 <= accuracy < 1"),
        ([5, 0, 5], {"mechanism": [0]}, "one per column of B"),
        ([5, 0, 5], {"mechanism": ["a", "b"]}, "one per column of B"),
        ([5, 0, 5], {"mechanism": [0, 0.5]}, "expected an integer"),
        ([5, 0, 5], {"row": [0.5, 1.0, 2.0]}, "expected an integer"),
        ([5, 0, 5], {"row": ["x", 1, 2]}, "one per row of B"),
        ([5, 0, 5], {"contacts": "x"}, "contacts is 'x'"),
        ([5, 0, 5], {"held": ["a", "b"]}, "one per column of B"),
        ([5, 0, 5], {"reach": 0.0}, "expected positive lengths"),
        ([5, 0, 5], {"places": 3}, "expected Places"),
        ([5, 0, 5], {"gap": 0.0, "gap_tolerance": "x"}, "gap_tolerance is 'x'"),
        ([5, 0, 5], {"friction_tolerance": "x"}, "expected a positive number"),
        ([5, 0, 5], {"tangential": "x"}, "tangential is no array of numbers"),
        ([5, 0, 5], {"friction": "x"}, "friction is no array of numbers"),
        ([5, 0, 5], {"friction": [-1.0, 1, 1]}, "expected coefficients >= 0"),
        ([5, 0, 5], {"row": [0, 0, 1]}, "its own contact"),
        ([5, 0, 5], {"admissible": [1.0]}, "admissible has shape"),
        ([5, 0, 5], {"gap_error": "x"}, "gap_error is 'x'"),
        ([5, 0, 5], {"held": [True]}, "one per column"),
        ([5, 0, 5], {"tangential": [[1.0]]}, "one row a contact"),
        ([5, 0, 5], {"tangential": [[1.0]] * 3}, "needs sliding="),
    ],
)
def test_bad_input(force, options, match):
    """One clear error each."""
    with pytest.raises(InputError, match=match):
        mend_forces(BEAM, force, **options)


@pytest.mark.parametrize(
    ("engine", "module"),
    [
        ("drake", "pydrake.multibody"),
        ("mujoco", "mujoco"),
        ("newton", "newton"),
        ("pinocchio", "pinocchio"),
        ("pybullet", "pybullet"),
    ],
)
def test_engine_that_is_not_installed(monkeypatch, engine, module):
    """One clear error that names the extra; the adapter's module itself needs no engine."""
    monkeypatch.setitem(sys.modules, module, None)
    adapter = import_module(f"rigidlimit.adapters.engines.{engine}")
    with pytest.raises(MissingExtra, match=rf"rigidlimit\[{engine}\]"):
        adapter.library()


def test_options_of_an_engine_are_its_own():
    """Contract: a wrong option of from_mujoco is told with those of from_mujoco, and what it sets
    itself is refused (equalities was not suggested, and gap= ended in Python's own TypeError)."""
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string("<mujoco/>")
    data = mujoco.MjData(model)
    with pytest.raises(InputError, match="from_mujoco has no option 'equality'; did you mean"):
        from_mujoco(model, data, equality="given")
    with pytest.raises(InputError, match="from_mujoco has no option 'gap'; did you mean 'gap_"):
        from_mujoco(model, data, gap=0.0)
    with pytest.raises(InputError, match="mend_forces has no option 'tolerence'"):
        mend_forces(np.eye(1), [1.0], tolerence=1e-9)
