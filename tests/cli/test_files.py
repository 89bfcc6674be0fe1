"""What commands do with files that are there already, and what they say while they work."""

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.cli import main
from rigidlimit.cli.forces import balance
from rigidlimit.output.hdf5 import RunWriter
from rigidlimit.scenes.toml import write_scene
from tests.cli.program import forked


def test_replaced_run_is_told(tmp_path):
    """A finished run can be made again: it is replaced, and that is said."""
    out = tmp_path / "b.h5"
    command = ("run", "beam", "--until", "0.002", "--out", out)
    assert "run was replaced" not in forked(*command).stdout
    assert "(an earlier run was replaced)" in forked(*command).stdout


def test_changed_scene_is_not_overwritten(tmp_path):
    """Property: a file that may have been changed by hand stays as it is."""
    scene = tmp_path / "beam.toml"
    scene.write_text("mine")
    refused = forked("scenes", "beam", "--write", scene)
    assert refused.returncode == 2 and "--overwrite" in refused.stderr
    assert scene.read_text() == "mine"
    assert forked("scenes", "beam", "--write", scene, "--overwrite").returncode == 0
    assert "[[bodies]]" in scene.read_text()


def test_wrong_file_is_told_before_computing(tmp_path, monkeypatch, capsys):
    """A user's mistake: one line, exit code 2, and the file as it was."""
    scene = tmp_path / "beam.toml"
    write_scene(rl.scenes.beam(), scene)
    text = scene.read_text()
    page = tmp_path / "page.h5"
    page.write_text("<html>")
    (tmp_path / "d.hdf5").mkdir()
    monkeypatch.chdir(tmp_path)
    for arguments, fragment in (
        (("demo", "--out", scene), "a file; expected a folder"),
        (("demo", "--out", scene / "below"), "below the file"),
        (("compare", scene, "--out", scene), "ends in .h5 or .hdf5; try"),
        (("compare", scene, "--out", page), "is no HDF5 file, so it is not replaced"),
        (("run", scene, "--capture-hard", scene), "a file; expected a folder"),
        (("run", scene, "--picture", scene / "b.png"), f"below the file {scene}"),
        (("run", scene, "--out", scene / "b.h5"), "below the file"),
        (("run", scene, "--capture", tmp_path / "d.hdf5"), "a folder; expected the name of a file"),
        (("compare", scene, "--picture", scene / "b.png"), "below the file"),
        (("determinacy", scene, "--out", scene / "b.json"), "below the file"),
        (("view", page, "--out", scene / "b.html"), "below the file"),
        (("run", "beam", "--overwrite"), "add --out FILE"),
        (("plot", scene), "a scene, not a run; compute it first: rigidlimit run"),
        (("view", scene), "a scene, not a run"),
        (("plot", "beam"), "beam is a scene: compute it first"),
        (("plot", tmp_path), "a folder; expected a run"),
        (("determinacy", scene, "--frame", "2"), "--until chooses the time of a scene"),
    ):
        with pytest.raises(SystemExit) as end:
            main([str(word) for word in arguments])
        said = capsys.readouterr().err
        assert end.value.code == 2 and said.count("\n") == 1, said
        assert fragment in said
    assert scene.read_text() == text and page.read_text() == "<html>"


def test_time_of_a_run_is_chosen_by_frame(tmp_path):
    """A user's mistake: --until would be ignored for a stored run."""
    out = tmp_path / "b.h5"
    forked("run", "beam", "--until", "0.002", "--out", out)
    assert "--frame chooses" in forked("determinacy", out, "--until", "0.001").stderr
    assert "t = 0.001 s" in forked("determinacy", out, "--frame", "0").stdout


def test_run_ends_with_the_balance():
    """Closed form: the supports of a beam of weight 10 bear 10, at rest."""
    shown = forked("run", "beam").stdout.splitlines()
    assert shown[-1] == "force on the supports 10 N, weight 10 N, at rest"


def test_balance_of_other_scenes():
    """Closed form: a loaded ball on a tilted gravity's floor, a ball in flight, no gravity."""
    scene = rl.Scene(gravity=(0, -10, 0))
    scene.add(rl.HalfSpace(), position=(0, 0, 0), normal=(0, 1, 0))
    scene.add(rl.Sphere(0.1), position=(0, 0.1, 0), mass=2.0, load=(0, -5, 0))
    simulation = rl.Simulation(scene)
    assert balance(simulation, simulation.step()) == (
        "force on the floor 25 N, weight and loads 25 N, at rest"
    )
    scene.add(rl.Sphere(0.1), position=(1, 5, 0), mass=1.0)
    simulation = rl.Simulation(scene)
    said = balance(simulation, simulation.step())
    name = simulation.bodies.names[-1]
    moving = f"moving, at up to 0.01 m/s ({name!r}); {name!r} has gone farthest, 1e-05 m"
    assert said == f"force on the floor 25 N, weight and loads 35 N, {moving}"
    cradle = rl.Simulation("newton-cradle")
    assert balance(cradle, cradle.step()).startswith("moving, at up to ")
    # bodies are numbered so that the floor is the second of a pair too
    scene = rl.Scene(gravity=(0, 0, -10))
    scene.add(rl.Sphere(0.1), position=(0, 0, 0.1), mass=1.0)
    scene.add(rl.HalfSpace(), position=(0, 0, 0))
    simulation = rl.Simulation(scene)
    assert "floor 10 N, weight 10 N" in balance(simulation, simulation.step())


def test_balance_names_what_moves_by_itself():
    """Closed form: a cylinder of radius 0.1 that spins on its end at 50 rad/s beside a belt that is
    driven at 9 m/s; farthest from its centre are its rims, at sqrt(0.1^2 + 0.1^2)."""
    scene = rl.Scene(gravity=(0, 0, -10))
    scene.add(rl.Box((1, 1, 1)), position=(5, 0, 0), velocity=(9, 0, 0), fixed=True, name="belt")
    scene.add(rl.HalfSpace(), position=(0, 0, 0))
    scene.add(rl.Cylinder(0.1, 0.2), position=(0, 0, 0.1), angular_velocity=(0, 0, 50), name="top")
    simulation = rl.Simulation(scene)
    assert balance(simulation, simulation.step()).endswith("moving, at up to 7.1 m/s ('top')")


def test_balance_does_not_call_a_jam_at_rest():
    """Property: a disk 0.1 mm wider than its shaft stands still, and is not at rest."""
    scene = rl.Scene(dim=2, gravity=(0, -10))
    scene.add(rl.Disk(0.1), position=(0, 0.1), mass=1.0)
    scene.add(rl.HalfSpace(2), position=(0, 0))
    for x, angle in ((-0.09995, -np.pi / 2), (0.09995, np.pi / 2)):
        scene.add(rl.HalfSpace(2), position=(x, 0), orientation=angle)
    simulation = rl.Simulation(scene)
    assert balance(simulation, simulation.step()).endswith("weight 10 N, jammed")


def test_new_run_leaves_a_checkpoint_that_is_no_run(tmp_path):
    """Property: a run killed before its first step is nothing to be kept."""
    simulation = rl.Simulation("beam")
    RunWriter.start(tmp_path / "b.h5", simulation, {"until": 0.02}).close()
    with np.load(tmp_path / "b.h5.parts" / "checkpoint.npz") as saved:
        assert float(saved["time"]) == 0.0
    assert forked("run", "beam", "-q", "--out", tmp_path / "b.h5").returncode == 0


def test_brackets_in_names_are_shown(tmp_path):
    """Property: names with square brackets come out as they are, none is read as markup."""
    text = (tmp_path / "beam.toml", tmp_path / "odd.toml")
    write_scene(rl.scenes.beam(), text[0])
    odd = text[0].read_text().replace('name = "beam"', 'name = "b [/old]"')
    text[1].write_text(
        odd.replace('["left", "beam"]', '["left", "b [/old]"]').replace(
            ', "beam"]', ', "b [/old]"]'
        )
    )
    for command in ("run", "determinacy", "compare"):
        shown = forked(command, text[1])
        assert shown.returncode == 0, shown.stderr
        assert "[/old]" in shown.stdout + shown.stderr
        assert command != "compare" or "time [s]" in shown.stdout


def test_a_finished_run_for_paraview(tmp_path):
    """Contract: `view --vtk` writes what `run --vtk` writes, and says what does not go with it."""
    out = tmp_path / "b.h5"
    both = tmp_path / "at once", tmp_path / "later"
    forked("run", "beam", "--until", "0.002", "--out", out, "--vtk", both[0])
    told = forked("view", out, "--vtk", both[1])
    assert told.returncode == 0 and "contacts.pvd" in told.stdout
    files = [{p.name: p.read_bytes() for p in folder.iterdir()} for folder in both]
    assert files[0] == files[1] and len(files[0]) == 6
    refused = forked("view", out, "--vtk", both[1], "--steps", "2")
    assert refused.returncode == 2 and "--vtk writes no page" in refused.stderr
