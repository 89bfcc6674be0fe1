"""The table of what mending changes on public models: what is compared, and what is left out."""

import numpy as np
import pytest

from benchmarks import engine_changes, public_runs
from benchmarks.engine_changes import Line, Seen, page
from benchmarks.public_models import MODELS

TWO_ARMS = """<mujoco><option cone="elliptic"/><worldbody>
  <geom type="plane" size="5 5 .1"/>
  <body pos=".1 .2 .098" euler="0 0 30"><freejoint/>
    <geom type="box" size=".1 .1 .1" mass="1"/>
    <body pos=".3 0 0" euler="0 20 0">
      <joint type="ball" armature=".01"/>
      <geom type="sphere" size=".05" pos=".1 .01 0" mass=".3"/>
      <body pos=".2 0 0">
        <joint type="hinge" axis="0 1 1" pos=".01 0 .02" armature=".02"/>
        <joint type="slide" axis="1 0 0"/>
        <geom type="capsule" fromto="0 0 0 .2 .1 0" size=".02" mass=".2"/>
        <body pos="0 .1 0"><geom type="box" size=".02 .03 .04" mass=".1"/></body>
      </body>
    </body>
  </body>
</worldbody></mujoco>"""


def test_twin_in_pinocchio():
    """Cross-library: the mass matrix and the normal rows of Pinocchio's model of MuJoCo's bodies
    are MuJoCo's, for every kind of joint, turned and in motion."""
    mujoco = pytest.importorskip("mujoco")
    pin = pytest.importorskip("pinocchio")
    model = mujoco.MjModel.from_xml_string(TWO_ARMS)
    data = mujoco.MjData(model)
    data.qvel[:] = np.linspace(-0.2, 0.2, model.nv)
    for _ in range(20):
        mujoco.mj_step(model, data)
    mujoco.mj_forward(model, data)
    assert data.ncon
    twin = public_runs.PinocchioTwin(model)
    models, datas, _ = twin.problem(data)
    T = twin.pose(data)[1]
    dense = np.zeros((model.nv, model.nv))
    for j in range(model.nv):
        mujoco.mj_mulM(model, data, dense[j], np.eye(model.nv)[j])
    # rounding of some dozen sums of numbers of order one
    assert np.abs(T.T @ dense @ T - twin.M).max() < 1e-12
    J = pin.getConstraintsJacobian(twin.model, twin.data, models, datas)
    contacts = public_runs.from_mujoco(model, data).contacts
    assert np.abs(J[2::3] - contacts.B @ T).max() < 1e-12


def test_lines_of_an_engine(monkeypatch):
    """Example: R2D2 of pybullet_data stands in PyBullet; forces change, totals do not."""
    pytest.importorskip("pybullet")
    monkeypatch.setattr(engine_changes, "MOMENTS", (0.5, 1.0))
    lines = list(engine_changes.lines_of("PyBullet", "R2D2", {}))
    assert [line.solver for line in lines] == list(public_runs.RUNS["PyBullet"])
    for line in lines:
        assert len(line.states) == 2 and not line.why
        for state in line.states:
            assert state.degree > 0 and state.changes.max() > 0.01
            # PyBullet's rows are known to 1e-4 of its gaps
            assert state.totals < 1e-4


def test_a_process_of_its_own():
    """Example: each solver's line comes from another process; one that takes too long is ended."""
    pytest.importorskip("pybullet")
    lines = list(engine_changes.apart("PyBullet", "R2D2", {}, 300.0))
    assert [line.solver for line in lines] == list(public_runs.RUNS["PyBullet"])
    ended = list(engine_changes.apart("PyBullet", "R2D2", {}, 1e-3))
    assert [line.why for line in ended] == ["not done in 0 s"] * len(lines)


def test_unread_models_are_told():
    """Example: an engine that cannot read a model says why, in each of its solvers."""
    pytest.importorskip("pybullet")
    model = next(model for model in MODELS if model.whole)
    with pytest.raises(public_runs.Unread, match="MJCF"):
        public_runs.RUNS["PyBullet"]["impulses, 50 sweeps"](model, [])


def test_models_that_are_not_there(tmp_path):
    """Example: a model whose files are missing is left out with a reason."""
    (line,) = engine_changes.all_lines(["MuJoCo"], ["humanoid"], {"mujoco": str(tmp_path)})
    assert not line.states and "humanoid.xml is not in the folder" in line.why


def test_page():
    """Example: what changed by rounding is "none"; what is missing is listed once a reason."""
    state = Seen(np.array([1e-9, 0.24]), 3, 1e-12, np.nan, False, True)
    same = Seen(np.array([1e-9, 1e-8]), None, 1e-12, 1e-7, True, False)
    text = page(
        [
            Line("A1", "Drake", "SAP", (state, same)),
            Line("A1", "Newton", "XPBD", (), "nothing touches"),
            Line("A1", "Newton", "MuJoCo", (), "nothing touches"),
        ],
        ["Drake", "Newton"],
    )
    row = "| A1 | Drake | SAP | 2 | 3 | none | 24 % | none | 1e-12 | the engine's kept in 1 of 2 "
    assert row in text
    assert "| Drake | SAP | 1 | 2 | 1 | 12 % | 24 % |" in text
    assert "- A1, Newton; XPBD; MuJoCo: nothing touches" in text
