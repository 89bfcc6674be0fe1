"""What readers of engines hand over: rows of both kinds, frames, forces; both forms of matrices."""

import numpy as np
import pytest
import scipy.sparse as sp

from rigidlimit._support import matrices
from rigidlimit.adapters import from_mujoco

SCENE = """<mujoco><option cone="{cone}" jacobian="{jacobian}"/>
<default><geom condim="{dim}" friction=".7 .01 .01"/></default><worldbody>
<geom type="plane" size="5 5 .1" euler="0 {slope} 0"/>
<body pos="0 0 .11"><freejoint/><geom type="box" size=".2 .2 .1" mass="1"/></body>
<body pos=".05 .02 .32"><freejoint/><geom type="box" size=".1 .2 .1" mass="3"/></body>
<body pos="1 0 .25"><joint type="hinge" axis="0 1 0" damping=".3"/>
<geom type="capsule" fromto="0 0 0 .3 0 0" size=".05" mass="1"/></body></worldbody></mujoco>"""


def scene(cone="pyramidal", jacobian="dense", dim=3, slope=5, steps=150):
    mujoco = pytest.importorskip("mujoco", reason="needs the extra rigidlimit[mujoco]")
    text = SCENE.format(cone=cone, jacobian=jacobian, dim=dim, slope=slope)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    for _ in range(steps):
        mujoco.mj_step(model, data)
    return mujoco, model, data


@pytest.mark.parametrize("dim", [1, 3, 4, 6])
@pytest.mark.parametrize("jacobian", ["dense", "sparse"])
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_wrench_and_vectors_are_the_engines(cone, jacobian, dim):
    """Peer: normal and tangential rows with their forces deliver what MuJoCo's contacts do, and
    force vectors in the contact frames are its own."""
    mujoco, model, data = scene(cone, jacobian, dim)
    contacts = from_mujoco(model, data).contacts
    # rounding of forces of 40 N
    np.testing.assert_allclose(contacts.wrench(), data.qfrc_constraint, atol=1e-11)
    assert np.abs(contacts.tangential).max() > 0.1 or dim == 1
    vectors = contacts.force_vectors
    np.testing.assert_allclose(
        contacts.places.frames @ contacts.places.frames.transpose(0, 2, 1),
        np.broadcast_to(np.eye(3), (len(vectors), 3, 3)),
        atol=1e-12,
    )
    for i, number in enumerate(contacts.row):
        force = np.zeros(6)
        mujoco.mj_contactForce(model, data, int(number), force)
        known = force[:3] @ data.contact.frame[number].reshape(3, 3)
        np.testing.assert_allclose(vectors[i], known, atol=1e-11)


@pytest.mark.parametrize("on_friction", ["keep", "joint"])
@pytest.mark.parametrize("slope", [0, 5, 20])
def test_large_matrices_give_the_same(monkeypatch, slope, on_friction):
    """Reference twin: compressed rows, as for large scenes, and plain arrays, as for small ones."""
    _, model, data = scene(slope=slope)
    dense = from_mujoco(model, data, on_friction=on_friction)
    assert not sp.issparse(dense.balance.B)
    monkeypatch.setattr(matrices, "DENSE", 0)
    sparse = from_mujoco(model, data, on_friction=on_friction)
    assert sp.issparse(sparse.balance.B)
    # rounding of singular motions, over what gaps of one contact weigh in them
    np.testing.assert_allclose(sparse.force, dense.force, rtol=0, atol=1e-8)
    np.testing.assert_allclose(sparse.tangential, dense.tangential, rtol=0, atol=1e-8)
    assert sparse.notes == dense.notes
