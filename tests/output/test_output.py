"""HDF5 runs, ParaView files and pictures."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import h5py
import meshio
import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.errors import OutputError, UnfinishedRun
from rigidlimit.output.hdf5 import RunWriter, read_run
from rigidlimit.output.limits import LIMITS
from rigidlimit.output.vtk import write_paraview
from tests.cli.program import forked

SETTINGS = {"dt": 1e-3}


def short_run(path, scene, steps=4, **options):
    simulation = rl.Simulation(scene)
    writer = RunWriter.start(path, simulation, SETTINGS, **options)
    results = []
    for _ in range(steps):
        results.append(simulation.step())
        writer.add(results[-1])
    writer.finish()
    return results


def test_round_trip(tmp_path):
    """Property: what was computed is what is read."""
    path = tmp_path / "run.h5"
    results = short_run(path, rl.scenes.beam(stiffness=(1, 3, 1)))
    run = read_run(path)
    assert len(run) == 4 and [p.name for p in tmp_path.iterdir()] == ["run.h5"]
    for stored, result in zip(run, results, strict=True):
        np.testing.assert_array_equal(stored.force, result.force)
        np.testing.assert_array_equal(stored.position, result.state.position)
        np.testing.assert_array_equal(stored.contacts.key, result.contacts.key)
        assert stored.time == result.time and stored.info["classic_status"] == "converged"
    assert run.scene.bodies.names == ("left", "middle", "right", "beam")


def test_every(tmp_path):
    """Property: every=3 keeps steps 3, 6, 9."""
    short_run(tmp_path / "run.h5", rl.scenes.beam(), steps=10, every=3)
    assert [s.number for s in read_run(tmp_path / "run.h5")] == [3, 6, 9]


def test_faulty_files(tmp_path):
    """Missing, damaged, foreign, newer, empty, unfinished: one clear message each."""

    def message(path):
        with pytest.raises(OutputError) as caught:
            read_run(path)
        return str(caught.value)

    assert "no such file" in message(tmp_path / "none.h5")
    (tmp_path / "junk.h5").write_text("not hdf5")
    assert "damaged" in message(tmp_path / "junk.h5")
    with h5py.File(tmp_path / "foreign.h5", "w"):
        pass
    assert "not a run" in message(tmp_path / "foreign.h5")
    good = tmp_path / "good.h5"
    short_run(good, rl.scenes.beam())
    whole = good.read_bytes()
    (tmp_path / "cut.h5").write_bytes(whole[: len(whole) // 2])
    assert "damaged" in message(tmp_path / "cut.h5")
    with h5py.File(good, "a") as file:
        file.attrs["schema_version"] = 99
    assert "upgrade" in message(good)
    with h5py.File(good, "a") as file:
        file.attrs["schema_version"] = 1
        file.attrs["settings"] = "{"
    assert "damaged" in message(good)
    simulation = rl.Simulation(rl.scenes.beam())
    writer = RunWriter.start(tmp_path / "empty.h5", simulation, SETTINGS)
    assert "unfinished" in message(tmp_path / "empty.h5")
    writer.finish()
    assert "empty run" in message(tmp_path / "empty.h5")
    with pytest.raises(OutputError, match="nothing to resume"):
        RunWriter.resume(tmp_path / "none.h5", simulation, SETTINGS)


COMMAND = [sys.executable, "-m", "rigidlimit", "run", "pile-2d", "--until", "0.25", "--quiet"]
# kill -9 strikes between two checkpoints: the interval is wall time, made short for the test
SHORT = "import sys, rigidlimit.output.hdf5 as h; h.RunWriter.__init__.__kwdefaults__.update(interval=0.05); from rigidlimit.cli import main; main(sys.argv[1:])"  # noqa: E501


def test_killed_and_resumed(tmp_path):
    """Property: a run killed by SIGKILL and resumed equals an uninterrupted one bit for bit."""
    whole, broken = tmp_path / "whole.h5", tmp_path / "broken.h5"
    assert forked(*COMMAND[3:], "--out", whole).returncode == 0
    arguments = [*COMMAND[3:], "--out", str(broken)]
    process = subprocess.Popen([sys.executable, "-c", SHORT, *arguments])
    parts = Path(f"{broken}.parts")
    end = time.monotonic() + 60
    while len(list(parts.glob("*.h5"))) < 4 and time.monotonic() < end:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    if broken.exists():
        pytest.skip("the run was over before it could be killed")
    with np.load(parts / "checkpoint.npz") as saved:
        assert 0 < int(saved["steps"]) < 125
    assert forked(*COMMAND[3:], "--out", broken, "--resume").returncode == 0
    a, b = read_run(whole), read_run(broken)
    assert len(a) == len(b) == 125
    for one, two in zip(a, b, strict=True):
        np.testing.assert_array_equal(one.force, two.force)
        np.testing.assert_array_equal(one.velocity, two.velocity)
    assert not parts.exists()


def test_run_that_changes_while_it_is_read(tmp_path):
    """An unfinished run that ends meanwhile, and a writer used after its end: one clear message;
    taken up again from Python, the file grows."""
    path = tmp_path / "run.h5"
    simulation = rl.Simulation("beam")
    writer = RunWriter.start(path, simulation, SETTINGS)
    writer.add(simulation.step())
    writer.checkpoint()
    with pytest.warns(UnfinishedRun, match="1 step saved, up to t = 0.001 s; rigidlimit"):
        run = read_run(path)
    assert "1 stored step, unfinished" in run._repr_html_() and "finished=False" in repr(run)
    writer.finish()
    with pytest.raises(OutputError, match="finished meanwhile"):
        run[0]
    with pytest.raises(OutputError, match="this run is finished"):
        writer.add(simulation.step())
    again = rl.Simulation("beam")
    writer = RunWriter.resume(path, again, SETTINGS)
    writer.add(again.step())
    writer.finish()
    assert [s.number for s in read_run(path)] == [1, 2] and os.listdir(tmp_path) == ["run.h5"]


def test_two_runs_to_one_file(tmp_path):
    """A second process is refused while the first writes, and the first finishes unharmed."""
    path = tmp_path / "two.h5"
    simulation = rl.Simulation(rl.scenes.beam())
    writer = RunWriter.start(path, simulation, SETTINGS)
    writer.add(simulation.step())
    for also in ([], ["--resume"]):
        second = forked("run", "beam", "--out", path, *also)
        assert second.returncode == 2 and "another run is writing it" in second.stderr
    writer.finish()
    assert len(read_run(path)) == 1 and not path.with_name("two.h5.parts").exists()


def test_resume_checks_the_scene(tmp_path):
    """A resume with another scene or other options is refused."""
    path = tmp_path / "run.h5"
    simulation = rl.Simulation(rl.scenes.beam())
    RunWriter.start(path, simulation, SETTINGS)
    other = rl.Simulation(rl.scenes.beam(weight=11))
    with pytest.raises(OutputError, match="another scene"):
        RunWriter.resume(path, other, SETTINGS)
    with pytest.raises(OutputError, match=r"has dt = 0\.001, not 0\.002"):
        RunWriter.resume(path, simulation, {"dt": 2e-3})


def test_paraview_files(tmp_path):
    """Property: the VTU files read back with forces and bodies; the PVD lists the times."""
    results = short_run(tmp_path / "run.h5", rl.scenes.box_stack(3), steps=2)
    write_paraview(read_run(tmp_path / "run.h5"), tmp_path / "vtk")
    contacts = meshio.read(tmp_path / "vtk" / "contacts-00000002.vtu")
    np.testing.assert_array_equal(contacts.cell_data["force [N]"][0], results[-1].force)
    bodies = meshio.read(tmp_path / "vtk" / "bodies-00000002.vtu")
    assert set(bodies.cell_data["body"][0]) == {1, 2, 3}
    assert (tmp_path / "vtk" / "contacts.pvd").read_text().count("<DataSet") == 2


def test_runs_keep_which_contacts_were_closed(tmp_path):
    """Property: what a simulation was told to count as closed is what its stored steps are judged
    by: with overlaps alone, a ball a hair over the floor has no closed contact; by default one."""
    scene = rl.Scene(gravity=(0, 0, 0))
    scene.add(rl.HalfSpace(), position=(0, 0, 0))
    scene.add(rl.Sphere(0.1), position=(0, 0, 0.1 + 1e-9), mass=1.0)
    for closed, expected in ((1e-12, [False]), (None, [True])):
        simulation = rl.Simulation(scene, closed=closed)
        path = tmp_path / f"{closed}.h5"
        writer = RunWriter.start(path, simulation, SETTINGS)
        writer.add(simulation.step())
        writer.finish()
        assert rl.read_run(path).network.closed.tolist() == expected


def test_many_balls_are_points_for_paraview(tmp_path, monkeypatch):
    """Property: beyond a number of balls each is a point with its radius and velocity in a series
    of its own, other bodies keep their surfaces, and a series of nothing is not written."""
    monkeypatch.setattr("rigidlimit.output.vtk.LIMITS", replace(LIMITS, surfaces=2))
    scene = rl.Scene(gravity=(0, 0, -9.81))
    scene.add(rl.HalfSpace(), position=(0, 0, 0), name="floor")
    for k in range(3):
        scene.add(rl.Sphere(0.1 * (k + 1)), position=(k, 0, 0.5), mass=k + 1.0, name=f"ball{k}")
    only_balls = short_run(tmp_path / "balls.h5", scene, steps=1)[-1]
    write_paraview(read_run(tmp_path / "balls.h5"), tmp_path / "balls")
    assert {p.name for p in (tmp_path / "balls").glob("*.pvd")} == {"balls.pvd", "contacts.pvd"}
    balls = meshio.read(tmp_path / "balls" / "balls-00000001.vtu")
    np.testing.assert_array_equal(balls.points, only_balls.state.position[1:])
    np.testing.assert_array_equal(balls.point_data["radius [m]"], [0.1, 0.2, 0.1 * 3])
    np.testing.assert_array_equal(balls.point_data["mass [kg]"], [1, 2, 3])
    np.testing.assert_array_equal(
        balls.point_data["velocity [m/s]"], only_balls.state.velocity[1:, :3]
    )
    scene.add(rl.Box((1, 1, 1)), position=(0, 0, 3), mass=1.0, name="box")
    short_run(tmp_path / "both.h5", scene, steps=1)
    write_paraview(read_run(tmp_path / "both.h5"), tmp_path / "both")
    assert set(meshio.read(tmp_path / "both" / "bodies-00000001.vtu").cell_data["body"][0]) == {4}
    assert len(meshio.read(tmp_path / "both" / "balls-00000001.vtu").points) == 3
    # no series of another run stays beside those that are written
    (tmp_path / "both" / "mine.pvd").write_text("")
    write_paraview(read_run(tmp_path / "balls.h5"), tmp_path / "both")
    names = {p.name for p in (tmp_path / "both").glob("*.pvd")}
    assert names == {"balls.pvd", "contacts.pvd", "mine.pvd"}


def test_settings_are_kept(tmp_path):
    """Property: the file says how it was made."""
    short_run(tmp_path / "run.h5", rl.scenes.beam())
    with h5py.File(tmp_path / "run.h5") as file:
        assert json.loads(file.attrs["settings"]) == SETTINGS
        assert file.attrs["rigidlimit_version"] == rl.__version__
    assert os.listdir(tmp_path) == ["run.h5"]


def test_damaged_steps_are_told(tmp_path):
    """Property: values that are no numbers, arrays of another size and missing groups of a run are
    called damage with the file's name, not drawn, and not left to numpy or h5py to complain of."""
    good = tmp_path / "good.h5"
    simulation = rl.Simulation("beam")
    writer = RunWriter.start(good, simulation, {})
    writer.add(simulation.step())
    writer.finish()

    def spoil(change):
        path = tmp_path / "spoilt.h5"
        shutil.copy(good, path)
        with h5py.File(path, "a") as file:
            change(file, file.get("steps/00000001"))
        with pytest.raises(OutputError, match=r"spoilt\.h5: damaged") as told:
            rl.read_run(path)[0]
        return str(told.value)

    def replaced(group, name, values):
        del group[name]
        group[name] = values

    assert "position is not finite" in spoil(lambda f, s: s["position"].__setitem__(0, np.nan))
    said = spoil(lambda f, s: replaced(s, "velocity", np.zeros((1, 6))))
    assert "velocity has shape (1, 6), not (4, 6)" in said
    said = spoil(lambda f, s: replaced(s, "contacts/normal", np.zeros((3, 2))))
    assert "contacts/normal has shape" in said
    said = spoil(lambda f, s: replaced(s, "contacts/body", np.full((3, 2), 9)))
    assert "bodies that the scene does not have" in said
    assert "force" in spoil(lambda f, s: replaced(s, "contacts/force", np.zeros(1)))
    assert "steps" in spoil(lambda f, s: f.__delitem__("steps"))
    assert "settings" in spoil(lambda f, s: f.attrs.__delitem__("settings"))
    spoil(lambda f, s: f.attrs.__setitem__("schema_version", "one"))
