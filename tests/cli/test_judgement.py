"""``rigidlimit determinacy``, ``rigidlimit solve`` and ``run --capture-hard`` in process."""

import csv
import json
import re
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

import rigidlimit as rl
from rigidlimit.adapters import (
    CapturedProblem,
    capture,
    normal_problem,
    read_captured,
    solve_captured,
    write_fclib,
)
from rigidlimit.cli import main
from rigidlimit.cli.app import app
from rigidlimit.cli.determinacy import _tell_unsolved
from rigidlimit.cli.options import LIMITS
from rigidlimit.errors import InputError, RigidlimitError
from rigidlimit.output.hdf5 import read_run
from tests.captured import captured_file


@pytest.fixture
def call(monkeypatch):
    monkeypatch.setenv("COLUMNS", "140")

    def invoke(*arguments, code=0):
        done = CliRunner().invoke(app, [str(a) for a in arguments])
        assert done.exit_code == code, done.output
        return done.output

    return invoke


@pytest.fixture
def beam_file(tmp_path):
    """A beam of mass 1 and weight impulse 10 on three supports and one that is open."""
    B = np.array([[1.0, -0.5], [1.0, 0.0], [1.0, 0.5], [1.0, 0.25]])
    path = tmp_path / "beam.hdf5"
    problem = capture(B, np.diag([1.0, 1 / 12]), [0.0, 0.0, 0.0, 0.5], [-10.0, 0.0], title="beam")
    write_fclib(problem, path)
    return path


def row(text, start):
    """Cells of the first table row whose first cell is ``start``."""
    for line in text.splitlines():
        cells = re.split(r"\s{2,}", line.strip())
        if cells and cells[0] == start:
            return cells
    raise AssertionError(f"no row {start} in\n{text}")


def test_determinacy_of_a_scene(call):
    """Closed form: the beam's degree and intervals in the table."""
    text = call("determinacy", "beam")
    cells = row(text, "1")
    assert cells[1] == "middle - beam" and cells[3:] == ["3.33333", "0", "10", "no"]
    assert "degree of indeterminacy 1" in text and "tolerance 1e-09" in text


def test_determinacy_waits_until_a_scene_rests(call, tmp_path):
    """Closed form: the dropped pyramid is judged at rest, when all contacts have closed: five free
    spheres with four below each and four pairs side by side, 24 - 15."""
    scene = tmp_path / "p.toml"
    scene.write_text('gallery = "pyramid"\nparameters = {base = 3}\n')
    text = call("determinacy", scene, "--intervals", "none")
    assert "degree of indeterminacy 9" in text and "?" in row(text, "0")


def test_intervals_of_large_systems_are_asked_for(call, monkeypatch):
    """Property: beyond a number of contacts intervals are left out, which is said with what asks
    for them; asked for, they are the known ones of the table."""
    monkeypatch.setattr("rigidlimit.cli.contacts.LIMITS", replace(LIMITS, intervals=3))
    text = call("determinacy", "four-leg-table")
    assert row(text, "1")[-3:] == ["?", "?", "no"] and "--contacts largest" in text
    assert "degree of indeterminacy 1" in text and "intervals: not requested" in text
    asked = call("determinacy", "four-leg-table", "--contacts", "largest")
    assert row(asked, "1")[-3:] == ["5", "45", "no"]


@pytest.mark.parametrize("forces", ["every", "end"])
def test_determinacy_of_a_run(call, tmp_path, forces):
    """Closed form: a stored step of the beam is judged as the scene is, whether or not it was
    stored with compatible forces."""
    run = tmp_path / "beam.h5"
    call("run", "beam", "--until", "0.004", "--forces", forces, "--out", run)
    text = call("determinacy", run, "--frame", "0")
    assert row(text, "1")[3:] == ["3.33333", "0", "10", "no"]
    assert "degree of indeterminacy 1" in text


def test_chosen_contacts_and_csv(call, tmp_path):
    """--contacts limits the intervals; CSV has one line a contact, unknown ones empty."""
    out = tmp_path / "table.csv"
    text = call("determinacy", "four-leg-table", "--contacts", "1-2", "--out", out)
    with pytest.raises(AssertionError):
        row(text, "3")
    lines = list(csv.DictReader(out.read_text().splitlines()))
    assert len(lines) == 4 and lines[3]["greatest"] == ""
    assert float(lines[1]["least"]) == pytest.approx(5, abs=1e-6)
    assert float(lines[1]["greatest"]) == pytest.approx(45, abs=1e-6)
    assert lines[1]["bodies"] == "leg 1 - table"


@pytest.mark.parametrize("columns", ["80", "60"])
def test_table_is_not_cut(call, tmp_path, monkeypatch, columns):
    """Property: at 80 columns, which a pipe has as well, headings and numbers stand whole in lines
    of 80 letters; long names fold. A narrower terminal breaks lines rather than numbers."""
    monkeypatch.setenv("COLUMNS", columns)
    scene = tmp_path / "scene.toml"
    long = "the block that rests on the floor below"
    scene.write_text(
        '[[bodies]]\nshape = "half-space"\nposition = [0, 0, 0]\nname = "floor"\n'
        f'[[bodies]]\nname = "{long}"\nshape = "box"\nsize = [1, 1, 0.5]\nmass = 1.234567e-7\n'
        "position = [0.0, 0, 0.25]\n"
    )
    text = call("determinacy", scene)
    table = text[: text.index("degree of")]
    if "compiling its kernels" in table:  # of a fresh cache, before the table
        table = table.partition("\n")[2]
    assert "…" not in table and max(map(len, table.splitlines())) <= 80
    for word in ("contact", "classic", "compatible", "least", "greatest", "deter-", "mined"):
        assert word in table.split()
    # a quarter of the weight at each corner, and between none and half of it
    assert table.split().count("3.02778e-07") >= 4 and table.split().count("6.05555e-07") == 4
    assert table.split().count("below") == 4


def test_solve_prints_everything(call, beam_file, tmp_path):
    """Closed form: 10/3 each, the open contact not among the closed ones."""
    out = tmp_path / "answer.json"
    text = call("solve", beam_file, "--out", out)
    assert row(text, "0")[2:] == ["3.33333", "0", "5", "no"]
    for word in (
        "4 contacts, 3 of them closed",
        "contact dynamics: newton: converged",
        "compatible: newton: converged",
        "certificate: compatible",
        "degree of indeterminacy 1",
    ):
        assert word in text
    answer = json.loads(out.read_text())
    assert answer["summary"]["degree_of_indeterminacy"] == 1
    assert answer["summary"]["compatible_status"] == "converged"
    np.testing.assert_allclose(answer["contacts"]["compatible"], [10 / 3] * 3 + [0], atol=1e-8)
    assert answer["contacts"]["can_carry"] == [True] * 3 + [False]
    assert answer["contacts"]["determined"] == [False] * 3 + [True]


def test_last_step_is_captured(call, tmp_path, capsys, monkeypatch):
    """Closed form, and what README shows: the last step of the beam as a file, 10/3 N times 1 ms on
    each support. A run is not overwritten by it."""
    text = call("run", "beam", "--capture", tmp_path / "beam.hdf5")
    assert f"written: {tmp_path}/beam.hdf5" in text
    text = call("solve", tmp_path / "beam.hdf5")
    assert row(text, "0")[2:] == ["0.00333333", "0", "0.005", "no"]
    run = tmp_path / "run.h5"
    call("run", "beam", "-q", "--until", "0.001", "--out", run)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to(tmp_path)
    same = ("new.h5", tmp_path / "new.h5", "./link/new.h5", f"../{tmp_path.name}/new.h5")
    for options in (["--capture", run], *(["--capture", new, "--out", "new.h5"] for new in same)):
        with pytest.raises(SystemExit):
            main(["run", "beam", "-q", *map(str, options)])
        assert "the file of a run" in capsys.readouterr().err
    assert len(read_run(run)) == 1 and not (tmp_path / "new.h5").exists()
    beam = tmp_path / "beam.toml"
    beam.write_text('gallery = "beam"')
    with pytest.raises(SystemExit):
        main(["run", "beam.toml", "-q", "--out", str(beam)])
    assert "the scene itself" in capsys.readouterr().err


def test_determinacy_of_a_file(call, beam_file):
    """The same file through the other command."""
    assert "degree of indeterminacy 1" in call("determinacy", beam_file, "--contacts", "0,2")


def test_solve_text_file_with_other_options(call):
    """A real local problem: what was left out of W is said; PGS and Hertz give an answer."""
    path = captured_file("BoxesStack1-i100000-32.hdf5.dat")
    text = call("solve", path, "--solver", "pgs", "--law", "hertz", "--intervals", "none")
    assert "asymmetry" in text and "eigenvalues kept" in text and "depends on" in text
    assert "contact dynamics: pgs" in text and "certificate: compatible" in text


def test_solve_with_friction(call, tmp_path):
    """Closed form, W = 1: contact 0 sticks with r_T = 0.2, 1 slides at mu r_N = 0.5, 2 is open."""
    q = np.array([-1.0, -0.2, -1.0, -3.0, 1.0, 0.0])
    path, out = tmp_path / "three.hdf5", tmp_path / "answer.json"
    write_fclib(CapturedProblem("local", 2, np.full(3, 0.5), W=np.eye(6), q=q), path)
    for option in (("--solver", "pgs"), ("--law", "hertz"), ("--cut", "1e-6"), ("--contacts", "0")):
        assert f"{option[0]} has no" in str(_refused("solve", path, "--friction", *option))
    text = call("solve", path, "--friction", "--out", out)
    assert "3 contacts: 1 open, 1 sticks, 1 slides" in text and "converged" in text
    answer = json.loads(out.read_text())
    contacts = answer["contacts"]
    assert contacts["state"] == ["sticks", "slides", "open"]
    np.testing.assert_allclose(contacts["normal"], [1, 1, 0], atol=1e-7)  # tolerance 1e-8
    np.testing.assert_allclose(contacts["tangential"], [0.2, 0.5, 0], atol=1e-7)
    assert answer["summary"]["status"] == "converged"


def test_determinacy_with_friction(call, tmp_path):
    """Closed form: of a disk in a groove of 45 degrees, W = 10, mu = 0.5, f_n lies between
    W/sqrt(2) over 1 + mu and over 1 - mu; a captured problem with W = 1 is determined."""
    out = tmp_path / "groove.json"
    text = call("determinacy", "groove", "--out", out)
    assert row(text, "0")[2:6] == ["5.49972", "4.71405", "14.1421", "1.57135"]
    assert "degree of indeterminacy 1 with friction" in text and "from friction 0 on" in text
    told = json.loads(out.read_text())
    assert told["summary"]["degree_of_indeterminacy"] == 1
    # tolerance of the linear programs
    np.testing.assert_allclose(told["contacts"]["greatest_tangential"][0], 10 / 2**0.5, atol=1e-6)
    q = np.array([-1.0, -0.2, -1.0, -3.0, 1.0, 0.0])
    path = tmp_path / "three.hdf5"
    write_fclib(CapturedProblem("local", 2, np.full(3, 0.5), W=np.eye(6), q=q), path)
    text = call("determinacy", path, "--friction")
    assert "degree of indeterminacy 0" in text and "1 slide in all" in text
    assert "--friction is for captured" in str(_refused("determinacy", "groove", "--friction"))
    missing = str(_refused("determinacy", tmp_path / "no.h5"))
    assert "expected a run or a captured problem" in missing


def test_collapse(call, tmp_path):
    """Closed form: a stack tips at width over height; a load on one block is told by its name."""
    out, picture = tmp_path / "tower.json", tmp_path / "tower.svg"
    text = call("collapse", "tower", "--out", out, "--picture", picture, "--push", "-x")
    assert "load factor at collapse 0.333333" in text and row_of(text, "opens")
    assert json.loads(out.read_text())["summary"]["status"] == "converged"
    assert 'id="hinges"' in picture.read_text()
    slides = call("collapse", "tower", "--friction", "0.2")
    assert "0.2 at most" in slides and "an upper bound" in slides
    assert "lower estimate of the load factor 0.2 " in slides
    assert "lower estimate of" not in call("collapse", "tower", "--friction", "0.2", "--no-lower")
    low = call("collapse", "tower", "--on", "block 0 - 0", "--force", "1,0", "--at", "0,0")
    assert "slides" in low
    for wrong, said in (
        (("--push", "1"), "2 numbers like 1,0"),
        (("--on", "block 9", "--force", "1,0"), "block 4 - 0"),
        (("--force", "1,0"), "--on NAME"),
    ):
        assert said in str(_refused("collapse", "tower", *wrong))


def row_of(text, word):
    return any(word in line for line in text.splitlines() if "block" in line)


def _refused(*arguments):
    done = CliRunner().invoke(app, [str(a) for a in arguments])
    assert isinstance(done.exception, InputError), done.output
    return done.exception


def test_noise_of_a_file_forbids_a_certificate(call, tmp_path):
    """A W that is asymmetric by 1e-6: what is cut is said, no certificate at 1e-8, one at 1e-3."""
    W = np.array([[2.0, 1.0], [1.0 + 2e-6, 2.0]])
    path = tmp_path / "noisy.hdf5"
    W3 = np.kron(W, np.diag([1.0, 0.0, 0.0]))
    write_fclib(CapturedProblem("local", 3, np.zeros(2), W=W3, q=-np.ones(6)), path)
    text = call("solve", path)
    assert "asymmetry 1.0e-06, noise 3" in text and "certificate: not certified" in text
    assert "certificate: compatible" in call("solve", path, "--tolerance", "1e-3")
    assert "1 eigenvalue kept" in call("solve", path, "--cut", "0.5")


def test_forces_are_kept_without_intervals(call, beam_file, tmp_path, monkeypatch):
    """Where no admissible forces are found, the forces are still shown and stored."""
    import rigidlimit.diagnostics

    def refuse(*arguments, **options):
        raise InputError("no forces f >= 0 were found")

    monkeypatch.setattr(rigidlimit.diagnostics, "determinacy", refuse)
    out = tmp_path / "answer.json"
    text = call("solve", beam_file, "--out", out)
    assert "is not known: no forces f >= 0 were found" in text and "without intervals" in text
    assert row(text, "0")[2:] == ["3.33333", "?", "?", "?"]
    answer = json.loads(out.read_text())
    np.testing.assert_allclose(answer["contacts"]["compatible"], [10 / 3] * 3 + [0], atol=1e-9)
    assert "least" not in answer["contacts"] and "compatible" in answer["summary"]["certificate"]


def test_hard_steps_are_captured(call, tmp_path, monkeypatch):
    """A tolerance that no solver reaches: steps become files, which hold the same problem."""
    scene = tmp_path / "p.toml"
    scene.write_text('gallery = "pyramid"\nparameters = {base = 3, drop = 0.0}\n')
    folder = tmp_path / "hard"
    text = call(
        "run", scene, "--until", "3e-4", "--dt", "1e-4", "--tolerance", "1e-18", "-q",
        "--capture-hard", folder, code=1,
    )  # fmt: skip
    files = sorted(folder.iterdir())
    assert files and str(folder) in text and files[0].name == "step-000001.hdf5"
    problem = read_captured(files[0])
    assert (
        problem.kind == "global" and "step 1" in problem.title and "newton" in problem.description
    )
    assert problem.M.shape == (30, 30)  # the base is held
    answer = solve_captured(normal_problem(problem), tolerance=1e-11)
    from rigidlimit import Simulation
    from rigidlimit.scenes import load

    step = Simulation(load(str(scene)), dt=1e-4).step()
    np.testing.assert_allclose(answer.force, step.force * 1e-4, atol=1e-8 * step.force.max() * 1e-4)


def test_captured_step_with_rebound_and_motion(tmp_path):
    """Property: velocities of a captured step are those of the step, with restitution and speed."""
    from rigidlimit import Simulation
    from rigidlimit.adapters import capture_step
    from rigidlimit.scenes import load

    simulation = Simulation(load("newton-cradle"))
    for _ in range(400):
        before = simulation.state
        result = simulation.step()
        if result.classic.force.any():
            break
    assert result.classic.force.max() > 0
    problem = capture_step(simulation.bodies, before, simulation.external_force, result)
    free = simulation.bodies.free.ravel()
    again = normal_problem(problem).solve(tolerance=1e-12)
    np.testing.assert_allclose(again.velocity, result.classic.velocity[free], atol=1e-9)


def test_no_captured_steps_without_trouble(call, tmp_path):
    """Nothing is written where everything converges."""
    call("run", "beam", "-q", "--capture-hard", tmp_path / "hard")
    assert not (tmp_path / "hard").exists()


def test_open_problem_is_an_error(tmp_path):
    """No contact closes: one clear message."""
    path = tmp_path / "open.hdf5"
    write_fclib(capture(np.eye(2), np.eye(2), [1.0, 1.0], [0.0, 0.0]), path)
    done = CliRunner().invoke(app, ["solve", str(path)])
    assert isinstance(done.exception, RigidlimitError) and "no contact closes" in str(
        done.exception
    )


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        (["determinacy", "beem"], "did you mean 'beam'"),
        (["determinacy", "none.hdf5"], "no file none.hdf5"),
        (["determinacy", "beam", "--contacts", "1,x"], "--contacts is '1,x'"),
        (["determinacy", "beam", "--contacts", "7"], "contacts 0 to 2"),
        (["determinacy", "beam", "--out", "x.txt"], "ends in .json or .csv"),
        (["determinacy", "beam", "--until", "0"], "--until is 0"),
        (["determinacy", "beam", "--out", "/proc/none/x.json"], "does not exist"),
        (["solve", "none.dat"], "no file none.dat"),
        (["solve", "DAMAGED"], "not readable as HDF5"),
        (["solve", "ASYMMETRIC"], "eigenvalue"),
        (["solve", "BEAM", "--law", "hook"], "law is 'hook'"),
        (["solve", "RUN"], "is a run, not a captured problem"),
        (["determinacy", "RUN", "--frame", "99"], "step 99 is not among them"),
    ],
)
def test_mistakes_are_one_line(arguments, fragment, tmp_path, beam_file, monkeypatch, capsys):
    """A user's mistake: exit code 2, one line on stderr, no traceback."""
    damaged = tmp_path / "damaged.hdf5"
    damaged.write_bytes(beam_file.read_bytes()[:600])
    negative = tmp_path / "negative.hdf5"
    W = -np.eye(3)
    write_fclib(CapturedProblem("local", 3, np.zeros(1), W=W, q=-np.ones(3)), negative)
    run = tmp_path / "run.h5"
    if "RUN" in arguments:
        CliRunner().invoke(app, ["run", "beam", "--until", "0.002", "--out", str(run)])
    files = {"DAMAGED": damaged, "ASYMMETRIC": negative, "BEAM": beam_file, "RUN": run}
    monkeypatch.setattr(sys, "argv", ["rigidlimit"])
    with pytest.raises(SystemExit) as stop:
        main([str(files.get(a, a)) for a in arguments])
    said = capsys.readouterr().err
    assert stop.value.code == 2 and fragment in said
    assert "Traceback" not in said and said.strip().count("\n") == 0


def test_forces_of_least_energy_are_judged_too(capsys):
    """A step without an equilibrium of springs still has admissible forces; one that stalled may
    have none."""
    answer = rl.compatible_forces([[1.0]], [1.0], tangential=[[0.0]], friction=0.5)

    def step(status):
        return SimpleNamespace(
            converged=False,
            time=0.1,
            message="so it went",
            classic=SimpleNamespace(converged=True),
            compatible=replace(answer, status=status),
        )

    _tell_unsolved("heap", step(rl.Status.NO_EQUILIBRIUM))
    assert "admissible ones of least energy" in capsys.readouterr().out
    with pytest.raises(InputError, match="so it went"):
        _tell_unsolved("heap", step(rl.Status.STALLED))
