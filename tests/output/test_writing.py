"""Runs while they are written: kills, power cuts, several writers, what is left behind."""

import os
import shutil
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit._support.atomic import whole_file
from rigidlimit.errors import InputError, OutputError
from rigidlimit.output import unfinished
from rigidlimit.output import writer as writing
from rigidlimit.output.hdf5 import RunWriter, looks_like_run, read_run
from rigidlimit.output.limits import LIMITS
from rigidlimit.output.unfinished import parts_of

SETTINGS = {"dt": 1e-3}


def stored(path, steps, *, resume=False):
    """A writer with so many more steps, saved and not finished."""
    simulation = rl.Simulation("beam")
    begin = RunWriter.resume if resume else RunWriter.start
    writer = begin(path, simulation, SETTINGS)
    for _ in range(steps):
        writer.add(simulation.step())
    writer.checkpoint()
    return writer


@pytest.fixture(params=["new", "extended"])
def ending(request, tmp_path):
    """(file, its parts as they were when the file got its name, number of steps)."""
    path, kept = tmp_path / "b.h5", tmp_path / "kept"
    writer = stored(path, 5)
    if request.param == "extended":
        writer.finish()
        writer = stored(path, 5, resume=True)
    shutil.copytree(parts_of(path), kept)
    writer.finish()
    return path, kept, 10 if request.param == "extended" else 5


def test_leftover_parts_are_no_run(ending):
    """Property: killed anywhere between the rename and the last of its parts, a run is finished:
    it is read whole and without a warning, refused by resume as finished, replaced, extended."""
    path, kept, steps = ending
    parts = parts_of(path)
    names = sorted(p.name for p in kept.iterdir())
    assert {"checkpoint.npz", "run.json", "lock"} < set(names)
    for gone in [
        set(),
        set(names),
        *({name} for name in names),
        *(set(names) - {n} for n in names),
    ]:
        shutil.copytree(kept, parts, ignore=lambda *_, gone=gone: gone)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            run = read_run(path)
        assert run.finished and len(run) == steps and looks_like_run(path), gone
        with pytest.raises(OutputError, match="nothing to resume: it is finished"):
            RunWriter.resume(path, rl.Simulation("beam"), SETTINGS | {"until": steps * 1e-3})
        assert parts.is_dir()
        shutil.rmtree(parts)
    whole = path.read_bytes()
    for begin in (RunWriter.start, RunWriter.resume):
        shutil.copytree(kept, parts)
        simulation = rl.Simulation("beam")
        writer = begin(path, simulation, SETTINGS)
        writer.add(simulation.step())
        writer.finish()
        assert len(read_run(path)) == (1 if begin == RunWriter.start else steps + 1)
        assert not parts.exists()
        path.write_bytes(whole)


@pytest.mark.parametrize("strike", range(5))
def test_what_makes_a_run_goes_first(tmp_path, monkeypatch, strike):
    """Property: whichever removal a kill comes before, the checkpoint is the first that is gone
    and the lock the last, and no other writer was let in."""
    path = tmp_path / "b.h5"
    writer = stored(path, 2)
    unlink, removed = Path.unlink, []

    def killed(self, **options):
        if self.parent == parts_of(path) and not self.name.endswith(".part"):
            with pytest.raises(OutputError, match="is writing it"):
                RunWriter.resume(path, rl.Simulation("beam"), SETTINGS)
            if len(removed) == strike:
                raise KeyboardInterrupt
            removed.append(self.name)
        unlink(self, **options)

    monkeypatch.setattr(Path, "unlink", killed)
    if strike == 4:
        writer.finish()
        assert removed == ["checkpoint.npz", "run.json", "00000001.h5", "lock"]
        assert not parts_of(path).exists()
    else:
        with pytest.raises(KeyboardInterrupt):
            writer.finish()
    monkeypatch.undo()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(read_run(path)) == 2


def test_parts_of_another_run_are_kept(tmp_path):
    """Property: parts are leftovers of the file that they made, and of no other of that name."""
    path = tmp_path / "b.h5"
    stored(path, 3).close()
    kept = tmp_path / "kept"
    parts_of(path).rename(kept)
    stored(path, 1).finish()
    kept.rename(parts_of(path))
    with pytest.raises(OutputError, match=r"unfinished run of this name, stopped at t = 0\.003 s"):
        stored(path, 1)


def test_two_writers_in_one_process(tmp_path, monkeypatch):
    """Property: a second writer of the same file is refused, by whatever path; the first keeps its
    lock against other processes, and gives the file back by close, or when it is dropped."""
    path = tmp_path / "b.h5"
    writer = stored(path, 1)
    monkeypatch.chdir(tmp_path)
    for name in (path, "b.h5", tmp_path / ".." / tmp_path.name / "b.h5"):
        for begin in (RunWriter.start, RunWriter.resume):
            with pytest.raises(OutputError, match="another run is writing it"):
                begin(name, rl.Simulation("beam"), SETTINGS)
    command = [sys.executable, "-m", "rigidlimit", "run", "beam", "--out", str(path), "--resume"]
    other = subprocess.run(command, capture_output=True, text=True)
    assert other.returncode == 2 and "another run is writing it" in other.stderr
    writer.close()
    writer = stored(path, 1, resume=True)
    del writer  # as a notebook does that runs a cell again
    stored(path, 1, resume=True).finish()
    assert len(read_run(path)) == 3
    assert os.listdir(tmp_path) == ["b.h5"]


def test_refused_writer_lets_go(tmp_path):
    """Property: an error while a run is taken up, kept by its catcher, does not hold the file."""
    path = tmp_path / "b.h5"
    stored(path, 1).close()
    with pytest.raises(OutputError) as kept:
        RunWriter.start(path, rl.Simulation("beam"), SETTINGS)
    with pytest.raises(OutputError, match="has dt") as also:
        RunWriter.resume(path, rl.Simulation("beam"), {"dt": 2e-3})
    stored(path, 1, resume=True).finish()
    assert len(read_run(path)) == 2 and kept and also


def test_lock_of_a_folder_that_goes(tmp_path, monkeypatch):
    """Property: a lock got on a file that a run, ending meanwhile, has removed is none; it is taken
    again on the file that has the name."""
    fcntl = pytest.importorskip("fcntl")
    path, asked, flock = tmp_path / "b.h5", [], fcntl.flock

    def removed(file, how):
        if how & fcntl.LOCK_EX:
            asked.append(file)
            if len(asked) == 1:
                shutil.rmtree(parts_of(path))
        flock(file, how)

    monkeypatch.setattr(fcntl, "flock", removed)
    writer = stored(path, 1)
    assert len(asked) > 1 and (parts_of(path) / "lock").exists()
    with pytest.raises(OutputError, match="another run is writing it"):
        stored(path, 1)
    writer.finish()


def test_files_of_killed_programs_go(tmp_path):
    """Property: what a kill left beside the file is removed by the next run of that name, but not
    what a living program writes, nor files that are called otherwise."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    path = tmp_path / "b.h5"
    stale = [tmp_path / f".b.h5.{ended.pid}.part"]
    others = [
        tmp_path / f".b.h5.{os.getppid()}.part",
        tmp_path / f".ab.h5.{ended.pid}.part",
        tmp_path / f".b-h5.{ended.pid}.part",
        tmp_path / ".b.h5.x.part",
    ]
    for resume in (False, True):
        for name in stale + others:
            name.write_bytes(b"")
        writer = stored(path, 1, resume=resume)
        assert not any(name.exists() for name in stale)
        assert all(name.exists() for name in others)
        writer.close()


def test_checkpoint_is_on_the_disk_before_it_counts(tmp_path, monkeypatch):
    """Property: each file of a run is synced before it gets its name, so that a power cut leaves no
    empty checkpoint; other files are not, since many small ones would take long."""
    events, fsync, replace = [], os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda number: (events.append("sync"), fsync(number)))
    monkeypatch.setattr(os, "replace", lambda a, b: (events.append(Path(b).name), replace(a, b)))
    stored(tmp_path / "b.h5", 1).finish()
    assert events[0::2] == ["sync"] * (len(events) // 2)
    assert {"run.json", "checkpoint.npz", "00000001.h5", "b.h5"} == set(events[1::2])
    events.clear()
    with whole_file(tmp_path / "other") as temporary:
        temporary.write_text("")
    assert events == ["other"]


@pytest.mark.parametrize("seed", range(3))
def test_garbled_files_are_told(tmp_path, seed):
    """Property: whatever is in a checkpoint or a head, cut at any place or garbled, it is told as
    damaged or read, and no other error comes. Beside a part that is whole a checkpoint is no loss.
    """
    path, parts = tmp_path / "b.h5", tmp_path / "b.h5.parts"
    stored(path, 1).close()
    rng = np.random.default_rng(seed)
    told = 0
    for name in ("checkpoint.npz", "run.json"):
        whole = (parts / name).read_bytes()
        texts = [b"", b"[]", b"3", b"null", b'{"scene": 1, "settings": []}', whole[:-1]]
        texts += [whole[: rng.integers(len(whole))] for _ in range(20)]
        for _ in range(60):
            data = bytearray(whole)
            for at in rng.integers(len(data), size=3):
                data[at] = rng.integers(256)
            texts.append(bytes(data))
        for number, text in enumerate(texts):
            (parts / name).write_bytes(text)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    read_run(path)
                    assert number >= 6 or name == "checkpoint.npz"
                except OutputError as error:
                    assert name == "run.json"
                    told += "damaged" in str(error)
                except rl.errors.RigidlimitError:  # a scene that is garbled is told as a scene
                    assert name == "run.json"
        (parts / name).write_bytes(whole)
    assert told > 20  # nearly all that are cut, at least


def test_slices(tmp_path):
    """Property: run[a:b] is a list of steps; what is no number is told, and what to write."""
    path = tmp_path / "b.h5"
    stored(path, 4).finish()
    run = read_run(path)
    for part in (slice(0, 2), slice(None, None, -2), slice(-1, None), slice(9, None)):
        assert [s.number for s in run[part]] == [1, 2, 3, 4][part]
    assert run[np.int64(2)].number == 3
    for wrong in ("1", 1.0, (0, 1), slice("a", None)):
        with pytest.raises(InputError, match="expected a whole number, or a slice"):
            run[wrong]


def test_settings_tell_both_stretches():
    """Closed form: which steps of an extended run have compatible forces."""
    joined = unfinished.joined
    assert joined("every", 0.005, "every") == "every"
    assert joined("never", 0.005, "0.008") == "never until 0.005 s, then 0.008"
    twice = joined("end", 0.005, "end")
    assert joined(twice, 0.01, "never") == "end until 0.005 s, then end until 0.01 s, then never"


FULL = """
import faulthandler, logging, resource, signal, sys
logging.getLogger("rigidlimit").setLevel("ERROR")  # kernels may have to be compiled
import rigidlimit as rl
from rigidlimit.errors import OutputError
from rigidlimit.output.hdf5 import RunWriter

def room(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

def refused(action):
    try:
        action()
    except OSError as error:
        print(type(error).__name__, error)
    else:
        print("written")

simulation = rl.Simulation(rl.scenes.pile_2d(20), compatible="never")
writer = RunWriter.start(sys.argv[1], simulation, {}, interval=1e9)
for _ in range(40):
    writer.add(simulation.step())
result = simulation.last
figure = rl.plots.force_network(result)
room(30_000)
refused(writer.checkpoint)
room(10_000_000)
writer.checkpoint()
room(30_000)
refused(writer.finish)
room(3_000)
refused(lambda: rl.plots.save_figure(figure, sys.argv[1] + ".pdf"))
room(10_000_000)
writer.finish()
print(len(rl.read_run(sys.argv[1])), "steps")
"""


@pytest.mark.skipif(os.name != "posix", reason="limits of file sizes are POSIX")
def test_full_disk(tmp_path):
    """Property: where a file cannot be written to its end, one error says so and nothing else is
    printed; nothing is left half-written, and the run goes on when there is room. HDF5 printed
    thousands of lines and ended the process with a segmentation fault."""
    out = tmp_path / "run.h5"
    run = subprocess.run(
        [sys.executable, "-c", FULL, str(out)], capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stderr[-2000:]
    assert run.stderr == ""
    lines = run.stdout.splitlines()
    assert len(lines) == 4
    assert lines[0].startswith("OutputError") and "00000001.h5: cannot be written" in lines[0]
    assert lines[1].startswith("OutputError") and "run.h5: cannot be written" in lines[1]
    assert lines[2].startswith("OutputError") and "run.h5.pdf: cannot be written" in lines[2]
    assert lines[3] == "40 steps"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.h5"]


def test_steps_that_wait_are_bounded(tmp_path, monkeypatch):
    """Property: steps wait in memory up to a limit however quick they are (here: a third of the
    run, and no checkpoint by time), and the file is the one that is written at once."""

    def written(name):
        simulation, most = rl.Simulation(rl.scenes.pyramid(3)), 0
        writer = RunWriter.start(tmp_path / name, simulation, SETTINGS, interval=np.inf)
        for _ in range(7):
            writer.add(simulation.step())
            most = max(most, writer._waiting)
        parts = len(list(parts_of(tmp_path / name).glob("*.h5")))
        writer.finish()
        return read_run(tmp_path / name), most, parts

    whole, most, parts = written("whole.h5")
    assert parts == 0
    monkeypatch.setattr(writing, "LIMITS", replace(LIMITS, waiting=most // 3))
    pieces, fewer, parts = written("pieces.h5")
    assert fewer <= most // 3 and parts >= 2
    assert len(pieces) == len(whole) == 7
    for a, b in zip(pieces, whole, strict=True):
        np.testing.assert_array_equal(a.force, b.force)
        np.testing.assert_array_equal(a.position, b.position)


@pytest.mark.parametrize("finished", [True, False])
def test_damaged_early_steps_are_told_by_a_resume(tmp_path, finished):
    """Property: bits that a disk changed in a step before the last do not keep a run from going on,
    which says so, once; whole files say nothing."""
    path = tmp_path / "b.h5"
    stored(path, 3).close()
    writer = stored(path, 3, resume=True)
    if finished:
        writer.finish()
    writer.close()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RunWriter.resume(path, rl.Simulation("beam"), SETTINGS).close()
    spoilt = path if finished else sorted((tmp_path / "b.h5.parts").glob("*.h5"))[0]
    with h5py.File(spoilt, "a") as file:
        file["steps/00000001"]["position"][0, 0] += 1e-9
    with pytest.warns(rl.errors.UnfinishedRun, match=r"1 stored step damaged, the first step 1"):
        RunWriter.resume(path, rl.Simulation("beam"), SETTINGS).close()
