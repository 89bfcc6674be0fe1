"""Mended forces in recordings of Rerun, read back from the file."""

import re

import numpy as np
import pytest

from benchmarks.engine_scenes import SCENES
from rigidlimit.adapters import Mender, RerunLog, mend_forces
from rigidlimit.errors import InputError

mujoco = pytest.importorskip("mujoco", reason="needs the extra rigidlimit[mujoco]")
rerun = pytest.importorskip("rerun", reason="needs the extra rigidlimit[rerun]")
chunk = pytest.importorskip("rerun.chunk", reason="needs a rerun-sdk that reads recordings")


def logged(path):
    """{entity: {column: values of all rows}} of a recording, single precision as it is kept."""
    found = {}
    for part in chunk.RrdReader(str(path)).stream():
        batch = part.to_record_batch()
        columns = found.setdefault(part.entity_path, {})
        for name in batch.schema.names:
            if not name.startswith(("rerun.", "log_")):
                known = batch.column(name)
                if name == "time":
                    known = known.cast("int64")
                columns.setdefault(name, []).extend(known.to_pylist())
    return found


@pytest.fixture
def recording(tmp_path):
    stream = rerun.RecordingStream("rigidlimit_test")
    stream.save(str(tmp_path / "run.rrd"))
    stream.file = tmp_path / "run.rrd"
    yield stream
    stream.disconnect()


def closed(stream):
    stream.flush()
    stream.disconnect()
    return logged(stream.file)


def test_arrows_of_both_side_by_side(recording):
    """Property: arrows of all contacts at their points, of lengths in one scale, in both states."""
    model, data = SCENES["grasp of two fingers"]().made(iterations=2)
    mended = Mender(model, load="rest").mend(data)
    log = RerunLog(recording, path="run/forces", parts=["finger0"])
    log.forces(mended, time=0.5)
    data.qfrc_applied[:] = 0.0
    mujoco.mj_step(model, data)
    log.forces(Mender(model, load="rest").mend(data), time=1.5)
    found = closed(recording)
    ours, theirs = (found[f"/run/forces/{name}"] for name in ("mended", "engine"))
    assert ours["time"] == [500_000_000, 1_500_000_000]
    vectors = {name: np.array(of["Arrows3D:vectors"][0]) for name, of in
               (("mended", ours), ("engine", theirs))}  # fmt: skip
    # kept in single precision
    np.testing.assert_allclose(vectors["mended"], log.scale * mended.vectors, atol=1e-6)
    np.testing.assert_allclose(vectors["engine"], log.scale * mended.engine_vectors, atol=1e-6)
    assert np.abs(mended.vectors - mended.engine_vectors).max() > 0.05
    starts = np.array(ours["Arrows3D:origins"][0]), np.array(theirs["Arrows3D:origins"][0])
    np.testing.assert_allclose(starts[0], data.contact.pos, atol=1e-3)
    aside = np.linalg.norm(starts[1] - starts[0], axis=1)
    thick = np.array(ours["Arrows3D:radii"][0])
    assert (aside > 2.0 * thick).all() and (aside < 10.0 * thick).all()
    net = mended.on("finger0")
    curve = found["/run/forces/finger0/normal_force"]["Scalars:scalars"]
    both = next(values for values in curve if values is not None)
    assert both == pytest.approx([net.normal_force, mended.engine_force[net.contacts].sum()])
    margin = found["/run/forces/finger0/friction_margin"]["Scalars:scalars"]
    assert margin[0][0] == pytest.approx(net.friction_margin)


SHAPES = """<mujoco><worldbody><geom type="plane" size="0 0 1"/>
  <body name="all/shapes" pos="0 0 2" euler="90 0 0"><freejoint/>
    <geom type="sphere" size=".1"/> <geom type="box" size=".1 .2 .3" pos="1 0 0" euler="0 0 90"/>
    <geom type="capsule" size=".1 .2" pos="2 0 0"/> <geom type="cylinder" size=".1 .2" pos="3 0 0"/>
    <geom type="ellipsoid" size=".1 .2 .3" pos="4 0 0"/> <geom type="sphere" size=".5" group="3"/>
    <geom type="mesh" mesh="m" pos="5 0 0"/></body></worldbody>
  <asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset></mujoco>"""


def test_bodies_are_where_mujoco_has_them(recording):
    """Example: each shape is logged once, poses in every state; names are one part of a path."""
    model = mujoco.MjModel.from_xml_string(SHAPES)
    data, log = mujoco.MjData(model), RerunLog(recording, path="/world/")
    for time in (0.0, 0.1):
        data.qpos[0] = time
        mujoco.mj_kinematics(model, data)
        log.bodies(model, data, time=time)
    found = closed(recording)
    body = [name for name in found if "shapes" in name and "geom" not in name]
    assert body == ["/world/bodies/all\\/shapes"]
    poses = found[body[0]]["Transform3D:translation"]
    np.testing.assert_allclose(np.reshape(poses, (-1, 3)), [[0, 0, 2], [0.1, 0, 2]], atol=1e-7)
    turns = np.reshape(found[body[0]]["Transform3D:quaternion"], (-1, 4))
    np.testing.assert_allclose(turns, [[0.5**0.5, 0, 0, 0.5**0.5]] * 2, atol=1e-7)
    kinds = {
        re.search(r"\d+$", name)[0]: {key.split(":")[0] for key in of}
        for name, of in found.items()
        if "geom" in name
    }
    known = ["Boxes3D", "Ellipsoids3D", "Boxes3D", "Capsules3D", "Cylinders3D", "Ellipsoids3D"]
    assert kinds == {
        **{str(i): {kind} for i, kind in enumerate(known)}, "7": {"Mesh3D"},
    }  # fmt: skip


def test_what_cannot_be_drawn_is_one_clear_error(recording):
    with pytest.raises(InputError, match="arrows need places="):
        RerunLog(recording).forces(mend_forces([[1.0]], [1.0]))
    with pytest.raises(InputError, match="metres per newton"):
        RerunLog(recording, scale=0.0)
    with pytest.raises(InputError, match="recording"):
        RerunLog("run.rrd")
    model, data = SCENES["table"]().made()
    with pytest.raises(InputError, match="no geom or body is called 'foto'"):
        RerunLog(recording, parts="foto").forces(Mender(model).mend(data))
    RerunLog(recording).forces(Mender(model).mend(mujoco.MjData(model)))  # no contacts: no arrows
