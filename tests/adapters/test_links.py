"""Rigid links restrain motions: parts that equalities join against one body, and closed forms."""

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.adapters import Places, mend_forces
from rigidlimit.adapters.engines.links import joined, joined_systems
from rigidlimit.errors import InputError

# residual 1e-10 of the solver, times the few contacts
CLOSE = dict(rtol=0, atol=1e-8)
FEET = np.array([[x, y, 0.0] for x in (-0.45, -0.05, 0.05, 0.45) for y in (-0.1, 0.1)])
WEIGHT = 29.43  # 3 kg, their middle at x = 4/30
SHARES = WEIGHT / 8 * (1 + FEET[:, 0] * (4 / 30) / np.mean(FEET[:, 0] ** 2))


def plank(scale=1.0, shift=(0.0, 0.0, 0.0), turn=None):
    """A plank of two halves on four feet each: B (8, 12), G (6, 12) of a weld, engine's forces that
    each half balances on its own and the weld's force for the rest. Halves have their own axes."""
    rng = np.random.default_rng(5)
    frames = [np.linalg.qr(rng.normal(size=(3, 3)))[0] for _ in range(2)]
    centres = np.array([[-0.25, 0, 0.05], [0.25, 0, 0.05]]) * scale + shift
    feet = FEET * scale + shift

    def at(point, direction, body):
        row = np.zeros(12)
        row[6 * body : 6 * body + 3] = direction
        row[6 * body + 3 : 6 * body + 6] = np.cross(point - centres[body], direction) @ frames[body]
        return row

    up = np.array([0, 0, 1.0])
    B = np.array([at(x, up, int(i >= 4)) for i, x in enumerate(feet)])
    anchor = np.array([0.05, 0.03, 0.2]) * scale + shift
    move = [at(anchor, axis, 0) - at(anchor, axis, 1) for axis in np.eye(3)]
    spin = np.zeros((3, 12))
    for sign, body in ((1, 0), (-1, 1)):
        spin[:, 6 * body + 3 : 6 * body + 6] = sign * frames[body]
    reach = np.tile(np.repeat([1.0, 0.45 * scale], 3), 2)
    # any forces with the plank's own total and moment
    balance = np.vstack([np.ones(8), FEET[:, :2].T])
    force = rng.random(8)
    force += SHARES - np.linalg.pinv(balance) @ balance @ force
    options = dict(mechanism=np.repeat([0, 1], 6), reach=reach)
    return B, np.vstack([move, 0.45 * scale * spin]), force, options


def one_body():
    B = np.column_stack([np.ones(8), FEET[:, 1], -FEET[:, 0]])
    return rl.compatible_forces(B, B.T @ SHARES).force


def test_welded_halves_share_as_one_body():
    """Reference twin: the plank as one body. Without links each half keeps the engine's share, and
    degrees of indeterminacy are 2 instead of 5."""
    B, G, force, options = plank()
    mended = mend_forces(B, force, links=G, **options)
    assert mended.converged and "6 rows of rigid links" in mended.message
    np.testing.assert_allclose(mended.force, one_body(), **CLOSE)
    np.testing.assert_allclose(one_body(), SHARES, **CLOSE)  # a stiff plank: f = a + b x
    assert rl.determinacy(mended.B, mended.load, fixed=mended.held).degree == 5
    alone = mend_forces(B, force, **options)
    assert rl.determinacy(alone.B, alone.load).degree == 2
    assert np.abs(alone.force - SHARES).max() > 0.1


def test_nothing_else_matters():
    """Property: order of contacts, of rows and of bodies, redundant rows, units of length and
    rows, place in the world."""
    B, G, force, options = plank()
    known = mend_forces(B, force, links=G, **options).force
    rng = np.random.default_rng(1)
    order, rows = rng.permutation(8), rng.permutation(6)
    found = mend_forces(B[order], force[order], links=G[rows], **options).force
    np.testing.assert_allclose(found, known[order], **CLOSE)
    swap = np.r_[6:12, 0:6]
    found = mend_forces(B[:, swap], force, links=-3.0 * G[:, swap], **options).force
    np.testing.assert_allclose(found, known, **CLOSE)
    more = np.vstack([G, rng.normal(size=(4, 6)) @ G, np.zeros((1, 12))])
    mended = mend_forces(B, force, links=more, **options)
    np.testing.assert_allclose(mended.force, known, **CLOSE)
    assert "11 rows of rigid links (5 of them redundant)" in mended.message
    for changed in (dict(scale=1e3), dict(scale=1e-3), dict(shift=(1e3, 2e3, 50.0))):
        B, G, _, options = plank(**changed)
        found = mend_forces(B, force, links=G, **options).force
        # places a kilometre away are rounded to 1e-13 m
        np.testing.assert_allclose(found, known, **CLOSE)
    # without mechanisms, rows join columns one by one
    found = mend_forces(B, force, links=G).force
    np.testing.assert_allclose(found, known, **CLOSE)


def test_motions_obey_the_links():
    """Property: G Z = 0 on all motions that B feels; load and B are those of the engine in them;
    displacements are in the engine's velocities."""
    B, G, force, options = plank()
    mended = mend_forces(B, force, links=G, **options)
    Z = mended.motions.toarray()
    felt = np.abs(mended.B.toarray()).max(axis=0) > 0
    assert 3 <= felt.sum() <= 6
    np.testing.assert_allclose(G @ Z[:, felt], 0.0, atol=1e-13)
    np.testing.assert_allclose(mended.B.toarray()[:, felt], (B @ Z)[:, felt], atol=1e-12)
    np.testing.assert_allclose(mended.load[felt], (Z.T @ B.T @ force)[felt], atol=1e-12)
    np.testing.assert_allclose(G @ mended.displacement, 0.0, atol=1e-12)
    np.testing.assert_allclose(mended.force, np.maximum(0, -B @ mended.displacement), atol=1e-8)


def test_a_held_joint_carries_what_links_bring():
    """Closed form: a beam whose turn is geared to a held joint, twice as fast: supports share
    alike, 10/3 each, and the joint bears half of the moment of -3.5 N m."""
    B = np.array([[1.0, -0.5, 0], [1.0, 0.0, 0], [1.0, 0.5, 0]])  # rise, turn, joint
    held = [False, False, True]
    for G in ([[0, 2.0, -1.0]], [[0, 2.0, -1.0], [0, 6.0, -3.0]]):
        mended = mend_forces(B, [8, 1, 1], links=G, held=held)
        np.testing.assert_allclose(mended.force, 10 / 3, **CLOSE)
        np.testing.assert_allclose(mended.held_change, [0, 0, -1.75], **CLOSE)
        assert rl.determinacy(mended.B, mended.load, fixed=mended.held).degree == 2
    # a link between held joints alone restrains nothing
    joints = np.hstack([B, np.zeros((3, 1))])
    held = [False, False, True, True]
    mended = mend_forces(joints, [8, 1, 1], links=[[0, 0, 1.0, 1.0]], held=held)
    np.testing.assert_allclose(mended.force, [7, 3, 0], **CLOSE)


def test_geared_supports():
    """Closed form: supports at the ends hang on a balance, one sinks as the other rises: equal
    forces there whatever the engine says, 10/3 each with equal stiffness and 2, 6, 2 with a middle
    three times as stiff."""
    B = np.array([[1.0, -0.5, -1, 0], [1.0, 0.0, 0, 0], [1.0, 0.5, 0, -1]])
    G = [[0, 0, 1.0, 1.0]]
    for stiffness, known in (([1, 1, 1], [10 / 3] * 3), ([1, 3, 1], [2, 6, 2])):
        mended = mend_forces(B, [1.0, 8, 1], links=G, stiffness=stiffness)
        np.testing.assert_allclose(mended.force, known, **CLOSE)
    given = mend_forces(B, [1.0, 8, 1])
    np.testing.assert_allclose(given.force, [1, 8, 1], **CLOSE)


def test_contacts_within_linked_parts_keep_their_force():
    """Property: no balance tells of a contact between parts that links hold together, or to the
    world: it keeps the engine's force and friction, and the others are as without it."""
    B, G, force, options = plank()
    squeeze = 0.3 * G[0] + 0.7 * G[1]  # a contact between the halves
    more = np.vstack([B, squeeze])
    pulls = np.zeros((9, 2))
    pulls[8, 0] = 3.0
    mended = mend_forces(
        more,
        np.r_[force, 7.0],
        links=G,
        tangential=pulls,
        friction=np.full(9, 0.5),
        gap=np.zeros(9),
        on_friction="keep",
        **options,
    )
    np.testing.assert_allclose(mended.force, np.r_[SHARES, 7.0], **CLOSE)
    assert mended.within.tolist() == [False] * 8 + [True] and not mended.open.any()
    assert "1 contact between parts that links hold" in mended.message
    # held to the world altogether
    mended = mend_forces(B, force, links=np.eye(12), **options)
    np.testing.assert_array_equal(mended.force, force)
    assert mended.within.all() and mended.converged and mended.total_error == 0
    held = mend_forces(B, force, links=G, held=np.repeat([True, False], 6), **options)
    np.testing.assert_array_equal(held.force[4:], force[4:])
    # the held half's own contacts are lost, as ever; the other half's are not asked of it
    np.testing.assert_allclose(
        held.held_change, np.r_[B[:4, :6].T @ force[:4], np.zeros(6)], **CLOSE
    )


def rods(count, reach=1.0):
    """Rods of length 1 in a row, each with rise and turn and supports at 0.1 and 0.9 of its length:
    B (2 count, 2 count), G of welds between neighbours."""
    B, G = np.zeros((2 * count, 2 * count)), []
    for i in range(count):
        B[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = [[1, -0.4], [1, 0.4]]
    for i in range(count - 1):
        rows = np.zeros((2, 2 * count))
        rows[:, 2 * i : 2 * i + 4] = [[1, 0.5, -1, 0.5], [0, reach, 0, -reach]]
        G.append(rows)
    x = (np.arange(count)[:, None] + [0.1, 0.9]).ravel()
    return B, np.vstack(G), x - x.mean()


def test_long_rows_of_welds():
    """Closed form: 150 rods welded in a row carry f = a + b x as one does. Together their rows feel
    slow waves by less than their accuracy of 1 percent; each weld by itself is none of them."""
    B, G, x = rods(150)
    engine = 1 + 0.5 * x / x.max() + 0.3 * np.sin(7.0 * np.arange(len(x)))
    known = engine.mean() + x * (engine @ x) / (x @ x)
    options = dict(mechanism=np.repeat(np.arange(150), 2), link_accuracy=1e-2)
    mended = mend_forces(B, engine, links=G, **options)
    assert "redundant" not in mended.message
    np.testing.assert_allclose(mended.force, known, atol=1e-7)  # rounding of 150 arms


def test_what_moves_as_one_body_does_so_exactly():
    """Closed form: turns that gaps feel by 1e-4 of the reach are no noise in parts welded to one
    body, however far off the welds are."""
    B, G, x = rods(2, reach=1e4)
    engine = np.array([1.0, 2.0, 0.5, 3.0])
    known = engine.mean() + x * (engine @ x) / (x @ x)
    options = dict(mechanism=[0, 0, 1, 1], reach=[1, 1e4, 1, 1e4], link_accuracy=1e-2)
    mended = mend_forces(B, engine, links=G, **options)
    np.testing.assert_allclose(mended.force, known, **CLOSE)


def test_a_load_that_is_given():
    """Closed form: the weights of both halves as load, 1 kg in the middle of the first, 2 kg off
    the middle of the second; the weld delivers what the halves lack on their own."""
    B, G, _, options = plank()
    load = np.zeros(12)
    load[:6] = 9.81 * B[:4].mean(axis=0)[:6]
    off = (B[6] - B[4])[6:] / 0.4  # per metre along the plank
    load[6:] = 19.62 * (B[4:].mean(axis=0)[6:] + 0.075 * off)
    mended = mend_forces(B, load=load, links=G, **options)
    np.testing.assert_allclose(mended.force, SHARES, **CLOSE)


def test_mechanisms_and_systems():
    """Property: rows join mechanisms through free columns; systems that links join are one, those
    tied to the world none, and a coupling of their joints leaves them apart."""
    mechanism = np.array([4, 4, 7, 7, 9])
    G = np.array([[0, 1.0, 1.0, 0, 0], [0, 0, 0, 1.0, 1.0]])
    label = joined(mechanism, G, np.zeros(5, bool))
    assert len(np.unique(label)) == 1
    label = joined(mechanism, G, np.array([False, False, False, True, False]))
    assert label[0] == label[2] and label[4] != label[0]
    eye = np.broadcast_to(np.eye(3), (3, 3, 3))
    point = np.array([[0.0, 0, 0], [1.0, 2, 0], [5.0, 0, 3]])
    columns = np.arange(18).reshape(3, 6)

    def weld(a, b):
        """At the world's origin; b None: to the world."""
        rows = np.zeros((6, 20))
        for sign, s in ((1, a), (-1, b)):
            if s is not None:
                rows[:3, columns[s, :3]] = sign * np.eye(3)
                rows[:3, columns[s, 3:]] = sign * np.cross(-point[s], np.eye(3))
                rows[3:, columns[s, 3:]] = sign * np.eye(3)
        return rows

    assert joined_systems(weld(0, 1), columns, point, eye, eye).tolist() == [0, 0, 1]
    assert joined_systems(weld(1, None), columns, point, eye, eye).tolist() == [0, -1, 1]
    both = np.vstack([weld(0, 2), weld(2, None)])
    assert joined_systems(both, columns, point, eye, eye).tolist() == [-1, 0, -1]
    gear = np.zeros((1, 20))
    gear[0, 18:] = 1, -1
    assert joined_systems(gear, columns, point, eye, eye).tolist() == [0, 1, 2]


def test_totals_of_joined_systems():
    """Property: total force and moment of the whole are kept, checked from points and normals."""
    B, G, force, options = plank()
    places = Places(
        FEET, np.tile([0.0, 0, 1], (8, 1)), (("floor", "plank"),) * 8, np.array([[-1, 0]] * 8)
    )
    mended = mend_forces(B, force, links=G, places=places, **options)
    assert len(mended.total) == 1 and mended.total_error < 1e-9
    np.testing.assert_allclose(mended.total[0, 2], WEIGHT, rtol=1e-9)
    assert np.abs(mended.change).max() > 0.1


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"links": np.eye(3)}, "links has shape .*; expected 12 columns"),
        ({"links": "weld"}, "links is not a matrix"),
        ({"links": np.full((1, 12), np.nan)}, "expected finite"),
        ({"links": np.eye(12), "link_accuracy": 1.0}, "expected 0 <= link_accuracy < 1"),
        ({"links": np.eye(12), "link_accuracy": [0.1]}, "one per row of links"),
    ],
)
def test_bad_input(options, match):
    """One clear error each."""
    B, _, force, _ = plank()
    with pytest.raises(InputError, match=match):
        mend_forces(B, force, **options)
