"""Motions of several bodies together that gaps feel as rounding only: against closed forms."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import rigidlimit as rl
from rigidlimit.adapters import from_mujoco, mend_forces
from rigidlimit.adapters.engines.balance import Balance
from rigidlimit.adapters.engines.tolerances import TOLERANCES
from rigidlimit.adapters.engines.weak_motions_of_several import weak_motions_of_several

X = np.array([-0.5, 0.0, 0.5])
ENGINE = np.array([2.6, 14.8, 2.6, 1.3, 7.4, 1.3])
# residual 1e-10 of the solver, times the few contacts
CLOSE = dict(rtol=0, atol=1e-8)


def two_beams(lean, noise, seed=0, mechanism=(0, 0, 0, 1, 1, 1), **options):
    """A beam of weight 10 on another on the floor, three supports each, whose normals lean by
    ``lean`` (2,) and ``noise`` of their own; columns: along, up, turn of each. Both have motions
    along the lean of one support each; together they have one along both."""
    rng = np.random.default_rng(seed)
    tilt = np.repeat(lean, 3) + noise * rng.normal(size=6)
    normal = np.column_stack([np.sin(tilt), np.cos(tilt)])

    def rows(n, height):
        return np.column_stack([n, X * n[:, 1] - height * n[:, 0]])

    B = np.zeros((6, 6))
    B[:3, :3] = rows(normal[:3], -0.1)
    B[3:, :3] = -rows(normal[3:], 0.1)
    B[3:, 3:] = rows(normal[3:], -0.1)
    reach = np.tile([1, 1, 0.5], 2)
    return mend_forces(B, ENGINE, mechanism=mechanism, reach=reach, **options)


@pytest.mark.parametrize("noise", [1e-16, 1e-14, 1e-13, 1e-11, 1e-9, 1e-8])
@pytest.mark.parametrize("lean", [(1e-3, -2e-3), (1e-4, 3e-4), (3e-6, -1e-5)], ids=str)
def test_rounding_of_several_bodies_does_not_pin_forces(lean, noise):
    """Closed form: a third each, whatever the engine had: with normals that lean alike, forces and
    moments along tell what those upwards do. Both beams together slide along for nothing but
    rounding, and balance there kept the engine's forces."""
    for seed in range(5):
        mended = two_beams(lean, noise, seed)
        assert mended.converged
        # balance moved by the noise, over 1/3 of the reach
        np.testing.assert_allclose(
            mended.force, np.repeat([20 / 3, 10 / 3], 3), atol=1e-8 + 100 * noise
        )


def test_motions_that_are_felt_stay():
    """Property: supports that lean by a thousandth each its own way hold the engine's forces, of
    one body and of two; nothing is left out."""
    rng = np.random.default_rng(3)
    for seed in range(5):
        mended = two_beams(1e-3 * rng.normal(size=2), 1e-3, seed)
        assert "together" not in mended.message
        A = mended.B.toarray()
        np.testing.assert_allclose(A.T @ mended.force, A.T @ ENGINE, **CLOSE)


def test_a_tall_stack_does_not_tip():
    """Closed form: 125 bricks of weight one, each on the two ends of the one below, the upper half
    moved by 0.08: what each end bears follows from what stands on it, to the solver's tolerance.
    All of it together tips with S = 4e-3, less than what this coarse engine resolves of one."""
    count = 125
    B = np.zeros((2 * count, 3 * count))  # columns: along, up, turn of each
    middle = np.where(np.arange(count) < count // 2, 0.0, 0.08)
    for i in range(count):
        for side, row in ((-0.1, 2 * i), (0.1, 2 * i + 1)):
            place = middle[i - 1] + side if i else side
            B[row, 3 * i + 1 : 3 * i + 3] = 1.0, place - middle[i]
            if i:
                B[row, 3 * i - 2 : 3 * i] = -1.0, -side
    weight = np.tile([0.0, 1.0, 0.0], count)
    mended = mend_forces(
        B,
        load=weight,
        mechanism=np.arange(3 * count) // 3,
        reach=np.tile([1, 1, 0.5], count),
        accuracy=1e-2,
    )
    f = mended.force.reshape(count, 2)
    above = np.arange(count, 0, -1.0)
    stands = np.cumsum(middle[::-1])[::-1] / above  # where the weight above each joint acts
    place = np.r_[0.0, middle[:-1]]
    share = above * (stands - place)
    np.testing.assert_allclose(f.sum(axis=1), above, atol=1e-7)
    np.testing.assert_allclose(f @ [-0.1, 0.1], share, atol=1e-7)


def test_a_load_of_its_own_stays():
    """Property: what is asked along such a motion is never dropped: a sideways load that no forces
    carry is told."""
    load = np.array([0.0, 10, 0, 1e-2, 10, 0])
    mended = two_beams((1e-4, 3e-4), 1e-12, load=load)
    assert mended.answer.status is rl.Status.LOAD_NOT_CARRIED


def test_sets_too_large_are_told(monkeypatch):
    """Property: where the motions cannot be looked for, the doubt is in the message."""
    few = replace(TOLERANCES, most=10)
    monkeypatch.setattr("rigidlimit.adapters.engines.weak_motions_of_several.TOLERANCES", few)
    mended = two_beams((1e-4, 3e-4), 1e-12)
    assert "too large to look into" in mended.message


def test_bodies_that_bear_nothing_are_not_looked_at():
    """Property: displacements that are rounding beside the overlaps of others are not long, though
    the contacts there have no overlap at all."""
    pair = np.ones((2, 2))
    n = np.ones(4)
    balance = Balance(
        sp.block_array([[pair, None], [None, pair]], format="csr"),
        load=np.array([2.0, 2.0, 0.0, 0.0]),
        held=np.zeros(4, bool),
        mechanism=None,
        reach=n,
        accuracy=1e-6 * n,
        force=np.array([1.0, 1.0, 0.0, 0.0]),
    )
    moved, overlap = np.array([1.0, 1.0, 1e-16, 0.0]), np.array([1.0, 1.0, 0.0, 0.0])
    out, large, _ = weak_motions_of_several(balance, moved, overlap)
    assert large == 0 and not len(out)


def test_arrays_without_mechanisms_are_told_of():
    """Property: B without mechanisms is taken at its word; where that makes rounding decide, the
    engine's own forces come back, and the message says why."""
    pinned = two_beams((1e-4, 3e-4), 1e-12, mechanism=None)
    assert np.abs(pinned.change).max() < 1e-3 and "rounding in B" in pinned.message
    assert "rounding in B" not in two_beams((0.1, 0.3), 0.1, mechanism=None).message


def test_only_what_hangs_together_is_looked_at():
    """Closed form: of two pairs of columns that differ by 1e-13, the one with long displacements
    loses one of its columns."""
    pair = np.array([[1.0, 1.0], [1.0, 1.0 + 1e-13], [1.0, 1.0 - 1e-13]])
    B = np.zeros((6, 4))
    B[:3, :2], B[3:, 2:] = pair, pair
    n = np.ones(4)
    balance = Balance(
        sp.csr_array(B),
        load=B.T @ np.ones(6),
        held=np.zeros(4, bool),
        mechanism=None,
        reach=n,
        accuracy=1e-6 * n,
        force=np.ones(6),
    )
    moved = np.array([1e5, -1e5, 1.0, 1.0])
    out, large, _ = weak_motions_of_several(balance, moved, np.ones(6))
    assert large == 0 and len(out) == 1 and out[0] in (0, 1)


def puzzle(order) -> str:
    """MJCF of a cube of 26 bevelled ones without friction, which turn about its middle; order:
    of the bodies in the file."""
    flat, bevel = 8.0, 9.5
    corners = [
        (sign * bevel if a == axis else s * flat if a == (axis + 1) % 3 else t * flat)
        for axis in range(3)
        for sign, s, t in itertools.product((-1, 1), repeat=3)
        for a in range(3)
    ]
    places = [p for p in itertools.product((-0.019, 0.0, 0.019), repeat=3) if any(p)]
    bodies = [
        f"<body name='{k}'><joint type='ball' armature='1e-4' damping='5e-4'/>"
        f"<geom type='mesh' mesh='part' mass='0.0025' condim='1' pos='{x} {y} {z}'/></body>"
        for k, (x, y, z) in enumerate(places)
    ]
    return (
        "<mujoco><option timestep='0.01'/><asset><mesh name='part' scale='1e-3 1e-3 1e-3' "
        f"vertex='{' '.join(map(str, corners))}'/></asset>"
        f"<worldbody>{''.join(bodies[k] for k in order)}</worldbody></mujoco>"
    )


def test_normals_of_either_face_do_not_decide_forces():
    """Twin: one cube of 26 parts, its bodies in other orders. MuJoCo takes the normal of one of two
    faces that lean on each other by 1e-4, by the order of geoms; its own forces differ by 1e-3.
    Motions of several bodies that gaps feel by that angle pinned forces that
    differed by an eighth."""
    mujoco = pytest.importorskip("mujoco")
    found = []
    for order in (range(26), range(25, -1, -1), np.random.default_rng(0).permutation(26)):
        model = mujoco.MjModel.from_xml_string(puzzle(order))
        data = mujoco.MjData(model)
        for _ in range(10):
            mujoco.mj_step(model, data)
        mended = from_mujoco(model, data)
        assert mended.converged and "faces of bodies lean" in mended.message
        found.append(mended.force[np.lexsort(np.round(data.contact.pos, 6).T)])
    for other in found[1:]:  # ten times what the engine's own forces differ by
        np.testing.assert_allclose(other, found[0], rtol=0, atol=1e-2 * found[0].max())


def test_accuracy_that_is_stated_counts_for_several_bodies():
    """Property: what the caller states decides the forces, not the message alone. Two beams that
    slide together along leans that differ by 1e-4: each takes a third with an accuracy of 1e-3, and
    the engine's forces are held with its own."""
    even = np.repeat([20 / 3, 10 / 3], 3)
    exact, coarse = (two_beams((1e-3, -2e-3), 1e-5, **given) for given in ({}, {"accuracy": 1e-3}))
    np.testing.assert_allclose(exact.force, ENGINE, **CLOSE)
    # leans of 1e-5 over 1/3 of the reach
    np.testing.assert_allclose(coarse.force, even, atol=1e-4)
    assert "of several bodies together that gaps resist by less than 1e-03" in coarse.message
