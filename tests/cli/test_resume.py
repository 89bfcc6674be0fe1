"""Runs stopped or made longer: ``--resume``, and what can be seen of them meanwhile."""

import signal
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest
from typer.testing import CliRunner

import rigidlimit as rl
from rigidlimit.cli import main
from rigidlimit.cli.app import app
from rigidlimit.errors import InputError, OutputError, UnfinishedRun
from rigidlimit.output.hdf5 import RunWriter, read_run, write_comparison
from rigidlimit.output.stored import steps_of
from tests.cli.program import forked


def call(*arguments):
    done = CliRunner().invoke(app, [str(word) for word in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def refused(capsys, *arguments):
    """What the program says of a command it refuses, in one line."""
    with pytest.raises(SystemExit) as end:
        main([str(word) for word in arguments])
    said = capsys.readouterr().err.splitlines()
    said = [line for line in said if "compiling its kernels" not in line]
    assert end.value.code == 2 and len(said) == 1, said
    return said[0]


def assert_same_run(one, two):
    """Two runs with the same steps, bit for bit."""
    assert [s.number for s in one] == [s.number for s in two]
    for a, b in zip(one, two, strict=True):
        for name in ("position", "quaternion", "velocity", "force", "force_classic", "stiffness"):
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
        assert a.time == b.time and a.info == b.info


@pytest.fixture
def stopped(tmp_path):
    """A run of the beam, stopped at its third of 20 steps."""
    simulation = rl.Simulation("beam")
    settings = {
        "until": 0.02,
        "dt": simulation.dt,
        "solver": "newton",
        "exponent": 2.0,
        "forces": "every",
        "tolerance": 1e-10,
        "every": 1,
    }
    writer = RunWriter.start(tmp_path / "b.h5", simulation, settings)
    for _ in range(3):
        writer.add(simulation.step())
    writer.checkpoint()
    writer.close()
    return tmp_path / "b.h5"


def test_unfinished_run_is_not_dropped(stopped):
    """Property: a stopped run survives the same command without --resume; --overwrite drops it."""
    refused = forked("run", "beam", "--out", stopped)
    assert refused.returncode == 2 and refused.stderr.count("\n") == 1
    assert "stopped at t = 0.003 s" in refused.stderr and "--overwrite" in refused.stderr
    assert forked("run", "beam", "--out", stopped, "--resume", "--overwrite").returncode == 2
    anew = forked("run", "beam", "--out", stopped, "--overwrite", "--until", "0.002")
    assert anew.returncode == 0 and len(read_run(stopped)) == 2


def test_resume_goes_on_from_where_it_was(stopped):
    """Property: a refused command has not touched the run."""
    forked("run", "beam", "--out", stopped)
    done = forked("run", "beam", "--out", stopped, "--resume")
    assert done.returncode == 0, done.stderr
    assert len(read_run(stopped)) == 20


@pytest.mark.parametrize(("until", "steps"), [("0.01", 10), ("0.003", 3), ("0.0025", 3)])
def test_resume_to_an_earlier_end_is_told(stopped, until, steps):
    """One line says that the run was to last longer; what was computed is kept."""
    done = forked("run", "beam", "--out", stopped, "--resume", "--until", until)
    assert done.returncode == 0, done.stderr
    assert "was to end at 0.02 s" in done.stderr and f"ends at 0.0{steps // 10}" in done.stderr
    assert f"written: {stopped}" in done.stdout
    assert len(read_run(stopped)) == steps


def test_resume_to_an_end_that_is_past_is_refused(stopped, capsys):
    """A run that has come further than asked is told of, and stays as it was: it was cut short, and
    kept an end before its last step."""
    command = ("run", "beam", "-q", "--out", stopped, "--resume", "--until")
    said = refused(capsys, *command, "0.001")
    assert "is at t = 0.003 s, later than until = 0.001 s; expected a later end, like the" in said
    call(*command, "0.02")
    assert len(read_run(stopped)) == 20


SCENE = 'gallery = "pile-2d"\nparameters = {count = 9}\n'


@pytest.fixture
def pile(tmp_path):
    """A scene whose bodies still fall and hit each other at 0.06 s, by steps of 2 ms."""
    (tmp_path / "pile.toml").write_text(SCENE)
    return tmp_path / "pile.toml"


def test_finished_run_is_extended_bit_for_bit(pile, tmp_path):
    """Property: 20 steps, then 11 more, are the 31 of a run that went through, warm starts and
    all; a second extension works as well, and nothing but the file is left."""
    whole, longer = tmp_path / "whole.h5", tmp_path / "longer.h5"
    call("run", pile, "--until", "0.062", "-q", "--out", whole)
    call("run", pile, "--until", "0.04", "-q", "--out", longer)
    said = call("run", pile, "--until", "0.05", "--out", longer, "--resume")
    assert "(extended from 0.04 s to 0.05 s)" in " ".join(said.split())
    call("run", pile, "--until", "0.062", "-q", "--out", longer, "--resume")
    assert len(read_run(longer)) == 31
    assert_same_run(read_run(longer), read_run(whole))
    assert read_run(longer).settings["until"] == 0.062
    assert sorted(p.name for p in tmp_path.iterdir()) == ["longer.h5", "pile.toml", "whole.h5"]


ROUGH = """
dt = 1e-3
duration = 0.012
gravity = [0, 0, -10]
[materials.rough]
friction = 0.3
[[bodies]]
shape = "half-space"
position = [0, 0, 0]
material = "rough"
[[bodies]]
shape = "box"
size = [0.2, 0.2, 0.1]
position = [0, 0, 0.05]
velocity = [0.02, 0.005, 0]
angular_velocity = [0, 0, 0.3]
mass = 2
material = "rough"
"""


@pytest.mark.parametrize("every", [1, 3])
def test_runs_with_friction_are_resumed_bit_for_bit(every, tmp_path):
    """Property: a block that slides, then sticks with the forces that it remembers, goes on from a
    stopped run and from a finished one as if it had not ended."""
    scene, whole, longer = (tmp_path / name for name in ("r.toml", "whole.h5", "longer.h5"))
    scene.write_text(ROUGH)
    command = ("run", scene, "-q", "--every", every, "--out")
    call(*command, whole)
    assert read_run(whole)[0].sliding.all() and not read_run(whole)[-1].sliding.any()
    call(*command, longer, "--until", "0.009")  # finished: extended from its checkpoint
    simulation = rl.Simulation(read_run(longer).scene)
    settings = read_run(longer).settings | {"until": 0.012}
    writer = RunWriter.resume(longer, simulation, settings, every=every)
    writer.add(simulation.step())
    writer.checkpoint()
    writer.close()  # stopped: gone on with from its parts
    call(*command, longer, "--resume")
    assert_same_run(read_run(longer), read_run(whole))
    for a, b in zip(read_run(longer), read_run(whole), strict=True):
        for name in ("tangential", "tangential_classic", "sliding"):
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


def test_longer_duration_in_the_scene_extends(pile, tmp_path):
    """Property: with the scene's own duration made longer the run is of the same scene; steps that
    were not stored count (--every), and the choice of forces may change."""
    pile.write_text("duration = 0.014\n" + SCENE)
    out = tmp_path / "p.h5"
    call("run", pile, "-q", "--out", out, "--every", 2)
    pile.write_text("duration = 0.02\n" + SCENE)
    call("run", pile, "-q", "--out", out, "--every", 2, "--resume", "--forces", "never")
    run = read_run(out)
    assert [s.number for s in run] == [2, 4, 6, 8, 10]
    assert ["compatible_status" in s.info for s in run] == 3 * [True] + 2 * [False]


def test_forces_of_an_extension(tmp_path, capsys):
    """Property: times that lie in the finished run are refused, and nothing is touched; the file
    tells what was asked for in both stretches, and that is what its steps have."""
    out = tmp_path / "b.h5"
    call("run", "beam", "--until", "0.005", "-q", "--out", out, "--forces", "never")
    whole = out.read_bytes()
    longer = ("run", "beam", "-q", "--out", out, "--resume", "--until", "0.01", "--forces")
    for times in ("0.003", "0.005", "0.003,0.008"):
        said = refused(capsys, *longer, times)
        assert f"requests t = {times[:5]} s, but the run is finished up to 0.005 s" in said
    assert out.read_bytes() == whole and list(tmp_path.iterdir()) == [out]
    call(*longer, "0.006,0.008")
    run = read_run(out)
    assert run.settings["forces"] == "never until 0.005 s, then 0.006,0.008"
    assert [s.number for s in run if "compatible_status" in s.info] == [6, 8]


def test_stopped_extension_tells_its_forces(tmp_path, monkeypatch):
    """Property: an extension that was stopped after a time of its list goes on with the same list,
    is seen with the settings of both stretches, and ends with them."""
    out = tmp_path / "b.h5"
    call("run", "beam", "--until", "0.002", "-q", "--out", out)
    longer = ("run", "beam", "-q", "--out", out, "--resume", "--until", "0.006", "--forces")
    add = RunWriter.add

    def stop(writer, result):
        add(writer, result)
        if writer.simulation.steps == 4:
            signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(RunWriter, "add", stop)
    assert CliRunner().invoke(app, [str(w) for w in (*longer, "0.003,0.005")]).exit_code == 130
    monkeypatch.undo()
    both = "every until 0.002 s, then 0.003,0.005"
    with pytest.warns(UnfinishedRun):
        assert read_run(out).settings["forces"] == both
    call(*longer, "0.003,0.005")
    run = read_run(out)
    assert run.settings["forces"] == both and run.settings["until"] == 0.006
    assert [s.number for s in run if "compatible_status" in s.info] == [1, 2, 3, 5]


def test_resume_with_no_step_left(stopped, tmp_path):
    """Property: a picture is made all the same, of the last stored step; what needs a step that is
    computed is told as not written, by the exit code too."""
    picture, file = tmp_path / "b.png", tmp_path / "c.hdf5"
    options = ("--out", stopped, "--resume", "--until", "0.003", "--picture", picture)
    done = forked("run", "beam", *options, "--capture", file)
    assert done.returncode == 1 and f"not written: {file}; --capture takes" in done.stderr
    assert f"written: {picture}" in done.stdout and f"written: {file}" not in done.stdout
    assert picture.read_bytes().startswith(b"\x89PNG") and not file.exists()
    assert len(read_run(stopped)) == 3


def test_steps_that_did_not_converge_are_counted_alike(stopped, monkeypatch):
    """Closed form: three steps were made before, two after the resume, and none of these says that
    it converged."""
    step = rl.Simulation.step

    def hard(self, **options):
        result = step(self, **options)
        return replace(result, classic=replace(result.classic, status=rl.Status.MAX_ITERATIONS))

    monkeypatch.setattr(rl.Simulation, "step", hard)
    options = ("--out", stopped, "--resume", "--until", "0.005", "-q")
    done = CliRunner().invoke(app, ["run", "beam", *map(str, options)])
    assert done.exit_code == 1 and "2 of 2 steps since t = 0.003 s did not converge" in done.output
    done = CliRunner().invoke(app, ["run", "beam", "-q", "--until", "0.002"])
    assert "2 of 2 steps did not converge" in done.output


def test_stopped_extension_goes_on(pile, tmp_path, monkeypatch):
    """Property: killed between two checkpoints of the longer run, the finished file is whole; what
    is there can be seen, and another --resume gives the run that went through."""
    whole, broken = tmp_path / "whole.h5", tmp_path / "broken.h5"
    call("run", pile, "--until", "0.062", "-q", "--out", whole)
    call("run", pile, "--until", "0.04", "-q", "--out", broken)
    before = broken.read_bytes()
    add = RunWriter.add

    def stop(writer, result):
        add(writer, result)
        if writer.simulation.steps == 25:
            writer.checkpoint()
        if writer.simulation.steps == 28:
            writer.close()
            raise ZeroDivisionError

    monkeypatch.setattr(RunWriter, "add", stop)
    with pytest.raises(ZeroDivisionError):
        call("run", pile, "--until", "0.062", "-q", "--out", broken, "--resume")
    monkeypatch.undo()
    assert broken.read_bytes() == before
    with pytest.warns(UnfinishedRun, match=r"25 steps saved, up to t = 0\.05 s of 0\.062 s"):
        assert len(read_run(broken)) == 25
    broken.unlink()  # the parts are enough
    call("run", pile, "--until", "0.062", "-q", "--out", broken, "--resume")
    assert_same_run(read_run(broken), read_run(whole))


def test_extension_is_refused_in_one_line(pile, tmp_path, capsys):
    """A user's mistake: what is finished, of another scene or options, or without a checkpoint is
    told, and no trace is left."""
    out = tmp_path / "p.h5"
    call("run", pile, "--until", "0.02", "-q", "--out", out)
    whole = out.read_bytes()
    command = ("run", pile, "-q", "--resume", "--out", out, "--until")
    assert "finished, at t = 0.02 s; to extend it" in refused(capsys, *command, "0.02")
    assert "to extend it give a later time" in refused(capsys, *command, "0.01")
    assert "has dt = 0.002, not 0.001" in refused(capsys, *command, "1", "--dt", "0.001")
    assert "of another scene" in refused(capsys, *command[:1], "beam", *command[2:], "1")
    out.write_bytes(whole[: len(whole) // 2])
    assert "damaged" in refused(capsys, *command, "1")
    out.write_bytes(whole)
    from rigidlimit.penalty import compare

    scene = rl.scenes.beam()
    write_comparison(tmp_path / "c.h5", scene, compare(scene))
    other = ("run", "beam", "-q", "--resume", "--until", "1", "--out")
    assert "no checkpoint to go on from" in refused(capsys, *other, tmp_path / "c.h5")
    assert "there is no run of this name" in refused(capsys, *other, tmp_path / "none.h5")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["c.h5", "p.h5", "pile.toml"]


def test_stopped_run_can_be_looked_at(stopped, tmp_path):
    """Property: view, plot and determinacy take the three steps that are saved, and say in one
    line that the run is unfinished; going on is not disturbed."""
    for arguments in (
        ("view", stopped, "--no-open", "--out", tmp_path / "b.html"),
        ("plot", stopped, "--out", tmp_path / "b.png", "--view", "front"),
        ("determinacy", stopped),
    ):
        done = forked(*arguments)
        assert done.returncode == 0, done.stderr
        said = [line for line in done.stderr.splitlines() if "unfinished" in line]
        assert len(said) == 1 and "Traceback" not in done.stderr
        assert "3 steps saved, up to t = 0.003 s of 0.02 s" in said[0]
    assert "3 stored steps, unfinished" in (tmp_path / "b.html").read_text()
    assert "at t = 0.003 s" in done.stdout
    call("run", "beam", "--out", stopped, "--resume", "-q")
    assert len(read_run(stopped)) == 20


def test_run_that_is_being_replaced_is_the_earlier_one(stopped, tmp_path):
    """Property: beside a whole file, an unfinished run that is to replace it is only told of."""
    other = tmp_path / "other.h5"
    call("run", "beam", "--until", "0.005", "--out", other, "-q")
    other.rename(stopped)
    with pytest.warns(UnfinishedRun, match="will replace"):
        run = read_run(stopped)
    assert run.finished and len(run) == 5


def test_stopped_before_its_first_stored_step(tmp_path):
    """Nothing to be seen yet: one clear message."""
    simulation = rl.Simulation("beam")
    RunWriter.start(tmp_path / "b.h5", simulation, {}, every=100).checkpoint()
    with pytest.raises(OutputError, match="unfinished, and no step of it is saved yet"):
        read_run(tmp_path / "b.h5")


def three_parts(path):
    """A run of the beam that is stopped in its third part, of two steps each."""
    simulation = rl.Simulation("beam")
    writer = RunWriter.start(path, simulation, {"until": 0.02})
    for _ in range(3):
        for _ in range(2):
            writer.add(simulation.step())
        writer.checkpoint()
    writer.close()
    return writer.parts


def garbled(path):
    """One bit of a number changes, which HDF5 does not see."""
    with h5py.File(path, "a") as file:
        force = next(iter(steps_of(file).values()))["contacts/force"]
        force[0] = np.nextafter(force[0], 0.0)


@pytest.mark.parametrize(
    ("name", "spoil", "reached"),
    [
        ("00000005.h5", lambda path: path.write_bytes(path.read_bytes()[:1000]), 4),
        ("00000005.h5", garbled, 4),
        ("checkpoint.npz", lambda path: path.write_bytes(b"PK"), 6),
    ],
)
def test_damaged_last_part_costs_no_more_than_itself(tmp_path, name, spoil, reached):
    """Property: the run goes on from the end of what is whole, says so, and ends as if nothing had
    happened, also if it is stopped once more; till then what is whole can be looked at."""
    whole, path = tmp_path / "whole.h5", tmp_path / "b.h5"
    simulation = rl.Simulation("beam")
    writer = RunWriter.start(whole, simulation, {"until": 0.02})
    for _ in range(20):
        writer.add(simulation.step())
    writer.finish()
    parts = three_parts(path)
    spoil(parts / name)
    with pytest.warns(UnfinishedRun, match=rf"{reached} steps saved, .*{name}, damaged, left out"):
        assert len(read_run(path)) == reached
    for steps in (1, 20):
        simulation = rl.Simulation("beam")
        if steps == 1:
            with pytest.warns(
                UnfinishedRun, match=rf"from t = 0\.00{reached} s; .*{name}, damaged"
            ):
                writer = RunWriter.resume(path, simulation, {"until": 0.02})
        else:
            writer = RunWriter.resume(path, simulation, {"until": 0.02})
        while simulation.steps < min(20, reached + steps):
            writer.add(simulation.step())
        writer.checkpoint()
        writer.close() if steps == 1 else writer.finish()
    assert_same_run(read_run(path), read_run(whole))


def test_values_that_changed_on_the_disk_are_told(tmp_path):
    """Property: of a finished run as well, in the step that is read."""
    path = tmp_path / "b.h5"
    call("run", "beam", "-q", "--until", "0.003", "--out", path)
    garbled(path)
    run = read_run(path)
    with pytest.raises(OutputError, match=r"damaged at stored step 0: .*\(checksum\)"):
        run[0]
    assert run[1].number == 2
    with h5py.File(path, "a") as file:
        file.attrs["settings"] = file.attrs["settings"].replace("0.003", "0.004")
    with pytest.raises(OutputError, match="checksum"):
        read_run(path)


def test_damaged_parts_are_told(stopped, capsys):
    """Faulty files: a head or the only part that is cut or gone is one line, before anything is
    computed; --overwrite starts anew."""
    parts = Path(f"{stopped}.parts")
    (part,) = parts.glob("*.h5")
    whole = {path: path.read_bytes() for path in (*parts.glob("*.h5"), *parts.glob("[rc]*"))}
    resume = ("run", "beam", "-q", "--out", stopped, "--resume")
    look = ("plot", stopped)
    for path, text, commands in (
        (parts / "run.json", b"", (resume, look)),
        (parts / "run.json", b"{}", (resume, look)),
        (part, whole[part][:1000], (resume, look)),
        (part, None, (resume,)),
    ):
        path.unlink()
        if text is not None:
            path.write_bytes(text)
        for command in commands:
            assert "damaged" in refused(capsys, *command)
        path.write_bytes(whole[path])
    part.unlink()
    assert "3 stored steps missing, the first step 1;" in refused(capsys, *resume)
    assert "no step of it is saved yet" in refused(capsys, *look)
    assert f"unfinished: try {stopped}" in refused(capsys, "plot", parts)
    call("run", "beam", "-q", "--out", stopped, "--overwrite", "--until", "0.002")
    assert len(read_run(stopped)) == 2


def test_resume_stores_as_often_as_before(tmp_path):
    """Property: another ``every`` is refused before anything is written; the run goes on with its
    own. It was taken, and the run called damaged from then on."""
    path = tmp_path / "w.h5"
    simulation = rl.Simulation("beam")
    writer = RunWriter.start(path, simulation, {}, every=2)
    for _ in range(4):
        writer.add(simulation.step())
    writer.checkpoint()
    writer.close()
    with pytest.raises(InputError, match="stores every 2 steps, not 5"):
        RunWriter.resume(path, rl.Simulation("beam"), {}, every=5)
    again = rl.Simulation("beam")
    writer = RunWriter.resume(path, again, {}, every=2)
    for _ in range(2):
        writer.add(again.step())
    writer.finish()
    assert [step.number for step in read_run(path)] == [2, 4, 6]
