"""Rows of contacts between free bodies, from points and normals."""

import numpy as np
import pytest

from benchmarks.engine_scenes import SCENES
from rigidlimit.adapters import ArrayMender, free_body_rows, from_mujoco
from rigidlimit.errors import InputError


def places(env=4, contact=7, bodies=3, seed=0):
    rng = np.random.default_rng(seed)
    normal = rng.normal(size=(env, contact, 3))
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    body = np.array([rng.permutation(bodies + 1)[:2] - 1 for _ in range(env * contact)])
    return (
        rng.normal(size=(env, contact, 3)), normal, body.reshape(env, contact, 2),
        rng.normal(size=(env, bodies, 3)),
    )  # fmt: skip


def test_rows_are_velocities_at_the_points():
    """Closed form: of rigid bodies, v + w x r of the second less those of the first, along the
    normal and two unit vectors across it."""
    point, normal, body, centre = places()
    rows = free_body_rows(point, normal, body, centre)
    velocity = np.random.default_rng(1).normal(size=(4, 3, 6))
    assert rows.mechanism.tolist() == [0] * 6 + [1] * 6 + [2] * 6
    for e in range(4):
        for c in range(7):
            relative = np.zeros(3)
            for sign, b in zip((-1.0, 1.0), body[e, c], strict=True):
                if b >= 0:
                    v, w = velocity[e, b, :3], velocity[e, b, 3:]
                    relative += sign * (v + np.cross(w, point[e, c] - centre[e, b]))
            found = rows.B[e, c] @ velocity[e].ravel()
            assert found == pytest.approx(normal[e, c] @ relative, abs=1e-13)  # rounding
            along = rows.sliding[e, c] @ velocity[e].ravel()
            np.testing.assert_allclose(along, rows.tangents[e, c] @ relative, atol=1e-13)
    across = np.concatenate([normal[:, :, None], rows.tangents], axis=2)
    np.testing.assert_allclose(
        across @ across.swapaxes(-1, -2), np.broadcast_to(np.eye(3), (4, 7, 3, 3)), atol=1e-13
    )


def test_forces_are_those_of_the_engine_s_own_rows():
    """Reference twin: MuJoCo's rows, in other velocities of the same bodies."""
    pytest.importorskip("mujoco", reason="needs the extra rigidlimit[mujoco]")
    model, data = SCENES["quadruped"]().made()
    known = from_mujoco(model, data)
    c = known.contacts
    centre = data.subtree_com[1:2]  # of the only body that moves
    rows = free_body_rows(
        c.places.point, c.places.normal, c.places.system, centre, c.places.tangents
    )  # fmt: skip
    batch = ArrayMender(mechanism=rows.mechanism, reach=c.reach).mend_many(
        rows.B[None], c.engine_force, sliding=rows.sliding, tangential=c.tangential[:, :2],
        friction=c.friction[None, :, :2],
    )  # fmt: skip
    # both balance to 1e-10
    np.testing.assert_allclose(batch.force[0], known.force, atol=1e-8 * known.force.max())
    np.testing.assert_allclose(
        batch.tangential[0], known.tangential[:, :2], atol=1e-8 * known.force.max()
    )


def test_what_is_the_same_in_all_environments_needs_no_axis():
    point, normal, body, centre = places()
    whole = free_body_rows(point, normal[0], body[0], centre)
    for e in range(4):
        one = free_body_rows(point[e], normal[0], body[0], centre[e])
        np.testing.assert_array_equal(whole.B[e], one.B)
        np.testing.assert_array_equal(whole.sliding[e], one.sliding)
    point[1, 3] = np.nan  # of a contact that there is not
    holes = free_body_rows(point, normal[0], body[0], centre)
    assert np.isnan(holes.B).any(axis=-1).sum() == 1
    none = free_body_rows(point[:, :0], normal[:, :0], body[:, :0], centre)
    assert none.B.shape == (4, 0, 18) and none.sliding.shape == (4, 0, 2, 18)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (dict(point=np.zeros(3)), r"point has shape \(3,\); expected \(\.\.\., contact, 3\)"),
        (dict(normal=np.zeros((4, 6, 3))), "normal has shape"),
        (dict(body=np.zeros((4, 7), int)), "body has shape"),
        (dict(body=np.full((4, 7, 2), 3)), "body counts body 3, and centre has 3"),
        (dict(centre=np.zeros((2, 2))), "centre has shape"),
        (dict(tangents=np.zeros((4, 7, 3))), "tangents has shape"),
    ],
    ids=lambda given: str(given)[:20],
)
def test_bad_input_is_one_clear_error(change, found):
    given = dict(zip(("point", "normal", "body", "centre"), places(), strict=True))
    with pytest.raises(InputError, match=found):
        free_body_rows(**given | change)
