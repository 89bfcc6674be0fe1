"""The program as a user calls it."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rigidlimit.cli import main
from rigidlimit.output.hdf5 import read_run

from .program import forked, rigidlimit

COMPILING = "compiling its kernels"
"""Of the line that comes where they are not in the cache."""


def test_help_and_version():
    """--help names the commands and how to begin."""
    text = forked("--help").stdout
    for word in ("run", "scenes", "demo", "rigidlimit scenes"):
        assert word in text
    assert rigidlimit("--version").stdout.startswith("rigidlimit 0.")


def test_run_prints_the_known_answer(tmp_path):
    """Closed form: 2, 6, 2 in the table; files appear where asked."""
    scene = tmp_path / "beam.toml"
    scene.write_text('gallery = "beam"\nparameters = {stiffness = [1, 3, 1]}\n')
    done = rigidlimit(
        "run", scene, "--out", tmp_path / "b.h5", "--vtk", tmp_path / "v", "--picture",
        tmp_path / "b.pdf",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    row = next(line for line in done.stdout.splitlines() if "middle - beam" in line)
    assert row.split("│")[-2].strip() == "6"
    assert "residual" in done.stdout
    assert len(read_run(tmp_path / "b.h5")) == 20
    assert (tmp_path / "v" / "bodies.pvd").exists() and (tmp_path / "b.pdf").exists()


def test_table_of_a_scene_with_friction():
    """Contract: tangential force, mobilised friction, what slides; of a groove of 45 degrees, where
    k_t/k_n = 2/7 of the friction 0.5 is mobilised; no such columns without friction."""
    done = forked("run", "groove", "--until", "0.001")
    assert done.returncode == 0, done.stderr
    row = next(line for line in done.stdout.splitlines() if "left side - disk" in line)
    _, *_, along, mobilised, slides, _ = (cell.strip() for cell in row.split("│"))
    assert (along, mobilised, slides) == ("1.57135", "0.571", "")
    assert "mobilised" in done.stdout and "slides" in done.stdout
    smooth = forked("run", "beam", "--until", "0.001").stdout
    assert "mobilised" not in smooth and "slides" not in smooth


def test_forces_at_chosen_times(tmp_path):
    """--forces TIMES computes compatible forces in those steps only."""
    out = tmp_path / "b.h5"
    assert forked("run", "beam", "--forces", "0.005,0.01", "--out", out).returncode == 0
    have = [k for k, s in enumerate(read_run(out), start=1) if "compatible_status" in s.info]
    assert have == [5, 10]


def test_scenes_lists_shows_and_writes(tmp_path):
    """The gallery's file runs and gives the same answer."""
    listed = forked("scenes").stdout
    assert "four-leg-table" in listed
    words = " ".join(listed.replace("│", " ").split())
    assert "A disk in a 2D groove whose sides' normals lean from the vertical." in words
    assert "``" not in listed
    shown = forked("scenes", "beam", "--write", tmp_path / "beam.toml").stdout
    assert "known: forces = [3.33333, 3.33333, 3.33333]" in shown
    done = forked("run", tmp_path / "beam.toml", "--solver", "pgs", "--law", "hertz")
    assert done.returncode == 0 and "3.33333" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        (["run", "beem"], "did you mean 'beam'"),
        (["run", "none.toml"], "cannot be read"),
        (["run", "beam", "--law", "hook"], "law is 'hook'"),
        (["run", "beam", "--dt", "0"], "dt is 0"),
        (["run", "beam", "--until", "-1"], "--until is -1"),
        (["run", "beam", "--forces", "often"], "--forces is 'often'"),
        (["run", "beam", "--until", "inf"], "--until is inf"),
        (["run", "beam", "--until", "nan"], "--until is nan"),
        (["determinacy", "beam", "--until", "inf"], "--until is inf"),
        (["run", "beam", "--forces", "0.01,0.5"], "the run ends at 0.02 s"),
        (["run", "beam", "--forces", "inf"], "--forces is 'inf'"),
        (["run", "beam", "--out", "src"], "a folder; expected the name of a file"),
        (["run", "beam", "--picture", "b.xyz"], "the ending 'xyz'"),
        (["run", "beam", "--out", "b.h5", "--vtk", "README.md"], "a file; expected a folder"),
        (["run", "beam", "--out", "b.xyz"], "the ending .xyz; expected a name that ends in .h5"),
        (["run", "beam", "--out", "run-0.5"], "try run-0.5.h5"),
        (["compare", "beam", "--out", "b"], "b, without an ending; expected"),
        (["view", "b.h5", "--out", "b.pdf"], "ends in .html or .htm; try b.html"),
        (["scenes", "beam", "--write", "beam.json"], "ends in .toml; try beam.toml"),
        (["determinacy", "beam", "--out", "b.xlsx"], "ends in .json or .csv; try b.json"),
        (["run", "README.md", "--out", "README.md"], "the scene itself"),
        (["scenes", "beam", "--write", "README.md/b.toml"], "below the file README.md"),
        (["scenes", "beam", "--write", "no/b.toml"], "in a folder that does not exist"),
        (["run", "beam", "--resume"], "add --out"),
        (["run", "beam", "--out", "/proc/b.h5"], "cannot be written"),
        (["run", "beam", "--out", "nowhere/b.h5"], "in a folder that does not exist"),
        (["run", "beam", "--dt", "1e-300"], "square is zero"),
        (["run", "beam", "--dt", "1e-30"], "would not advance"),
        (["compare", "beam", "--quiet", "--picture", "b.xyz"], "the ending 'xyz'"),
        (["compare", "beam", "--quiet", "--stiffness-scale", "nan"], "stiffness_scale is nan"),
        (
            ["compare", "beam", "--quiet", "--stiffness-scale", "1e-9"],
            "try a stiffness scale of 1e-04",
        ),
        (["scenes", "--write", "x.toml"], "needs the name of a scene"),
    ],
)
def test_mistakes_are_one_line(arguments, fragment, monkeypatch, capsys):
    """A user's mistake: exit code 2, one line on stderr, no traceback."""
    monkeypatch.chdir(Path(__file__).parents[2])
    with pytest.raises(SystemExit) as end:
        main(arguments)
    said = [line for line in capsys.readouterr().err.splitlines() if COMPILING not in line]
    assert end.value.code == 2 and len(said) == 1, said
    assert fragment in said[0]


def test_overlap_is_told(tmp_path):
    """A body half in the floor is shot away at gap/dt = 50 m/s: one line says so, and of whom."""
    scene = tmp_path / "scene.toml"
    scene.write_text(
        '[[bodies]]\nname = "floor"\nshape = "half-space"\nposition = [0, 0, 0]\n'
        '[[bodies]]\nname = "ball"\nshape = "sphere"\nradius = 0.1\nposition = [0, 0, 0.05]\n'
    )
    done = forked("run", scene, "--until", "0.002", "--quiet")
    assert done.returncode == 0 and done.stderr.count("\n") == 1
    assert "'floor' and 'ball' overlap by 0.05 m" in done.stderr and "50 m/s" in done.stderr


def test_units_and_names_survive_the_table(tmp_path):
    """Square brackets are text, not markup: the gap's unit and a body named [m] are shown."""
    scene = tmp_path / "scene.toml"
    scene.write_text(
        '[[bodies]]\nshape = "half-space"\nposition = [0, 0, 0]\n'
        '[[bodies]]\nname = "[m]"\nshape = "sphere"\nradius = 0.1\nposition = [0, 0, 0.1]\n'
    )
    shown = forked("run", scene, "--until", "0.002").stdout
    assert "gap [m]" in shown and "0 - [m]" in shown


def test_unknown_option_fails():
    """A misspelt option is an error."""
    done = forked("run", "beam", "--solvr", "pgs")
    assert done.returncode == 2 and "--solvr" in done.stderr


def test_interrupt_leaves_a_resumable_run(tmp_path):
    """Ctrl-C says how to go on, and --resume does."""
    out = tmp_path / "p.h5"
    command = [sys.executable, "-m", "rigidlimit", "run", "pile-2d", "--until", "0.4", "-q"]
    process = subprocess.Popen([*command, "--out", str(out)], stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 60
    while not Path(f"{out}.parts/checkpoint.npz").exists() and time.monotonic() < end:
        time.sleep(0.02)
    time.sleep(0.3)  # the whole run takes about two seconds
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    if process.returncode == 0:
        pytest.skip("the run was over before it could be interrupted")
    assert process.returncode == 130 and "--resume continues" in said
    assert "unfinished" in forked("run", "beam", "--out", out, "--resume").stderr
    assert forked(*command[3:], "--out", out, "--resume").returncode == 0
    assert len(read_run(out)) == 200


def test_demo(tmp_path):
    """The demo of a small pyramid prints both answers and writes its picture."""
    done = forked("demo", "--base", 5, "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "2.0000,  6.0000,  2.0000" in done.stdout
    assert "compatible 1.044920" in done.stdout and "static reference: 1.044920" in done.stdout
    assert (tmp_path / "pyramid.png").stat().st_size > 10_000


def test_compare(tmp_path):
    """compare prints the errors against the DEM and draws the histograms."""
    scene = tmp_path / "p.toml"
    scene.write_text('gallery = "pyramid"\nparameters = {base = 3}\n')
    done = forked("compare", scene, "--stiffness-sweep", "--picture", tmp_path / "h.png")
    assert done.returncode == 0, done.stderr
    slope = float(done.stdout.split("error ~ stiffness^")[1].split()[0])
    assert abs(slope + 1) < 0.05  # overlaps shrink as 1/k
    row = next(line for line in done.stdout.splitlines() if "│ compatible" in line)
    assert float(row.split("│")[2]) < 1e-5
    assert (tmp_path / "h.png").exists()
    done = forked("compare", "beam", "--stiffness-sweep")
    assert done.returncode == 0, done.stderr
    assert "nothing to fit" in done.stdout and "stiffness^" not in done.stdout
    done = forked("compare", scene, "--sweeps", 5)
    assert done.returncode == 0 and "after 5 iterations" in " ".join(done.stdout.split())
