"""Studies: the numbers of samples, what is kept of them, and what happens to their workers."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.cli.study import _in_lines
from rigidlimit.errors import InputError, OutputError, SceneError
from rigidlimit.studies import workers
from rigidlimit.studies.report import _within
from rigidlimit.studies.sample import Sample, run_sample

from ..cli.program import FORKS, forked
from . import samples

REPOSITORY = Path(__file__).parents[2]
BEAM = rl.Plan(samples.beam, measures=("largest_force", "force", samples.third), steps=1)
SQUEEZED = rl.Plan(
    samples.row,
    measures=("largest_force", "force", "path.stress_xx", "path.strain_xx"),
    path=[{"kind": "oedometer", "stresses": [1.0, 2.0], "axis": "x"}],
)


@pytest.fixture(scope="module", autouse=True)
def _loaded_once():
    """Workers are forked from a process that has the library loaded, as commands are: else each
    loads it, which takes ten times as long as its samples. That the file of a study needs no such
    process is seen where a study is killed: it runs in an interpreter of its own."""
    assert forked("--version").returncode == 0


@pytest.fixture
def here():
    """An executor in this process, where nothing is asked of processes."""
    with ThreadPoolExecutor(1) as executor:
        yield executor


def test_samples_have_their_closed_form(here):
    """Closed form: of springs 1 : k : 1 the middle one takes k/(2 + k) of the weight. 1e-9: the
    tolerance of the solver is 1e-10 of the weight."""
    found = rl.study(BEAM, seeds=3, parameters={"weight": [10.0, 20.0]}, executor=here)
    table = found.table()
    k = 1.0 + table["seed"]
    np.testing.assert_allclose(table["third"], table["weight"] * k / (2 + k), rtol=1e-9)
    assert list(table["weight"]) == [10.0] * 3 + [20.0] * 3
    assert [len(force) for force in found.samples("force")] == [0] * 6  # supports are fixed


def test_statistics_of_each_combination(here):
    """Closed form: mean and standard error of the shares k/(2 + k), k = 1, 2, 3."""
    found = rl.study(BEAM, seeds=3, parameters={"weight": [10.0, 20.0]}, executor=here)
    rows = found.statistics()
    shares = np.array([1 / 3, 2 / 4, 3 / 5])
    for row, weight in zip(rows, (10.0, 20.0), strict=True):
        assert (row["weight"], row["samples"], row["failed"]) == (weight, 3, 0)
        assert row["third"] == pytest.approx(weight * shares.mean(), rel=1e-9)
        error = weight * shares.std(ddof=1) / np.sqrt(3)
        assert row["third_error"] == pytest.approx(error, rel=1e-8)


def test_one_file_from_any_number_of_workers(tmp_path):
    """Property: the same bytes, written by one process, by two and by a thread."""
    with ThreadPoolExecutor(2) as executor:
        kinds = {"one": {"workers": 1}, "two": {"workers": 2}, "thread": {"executor": executor}}
        for name, how in kinds.items():
            rl.study(SQUEEZED, seeds=4, out=tmp_path / f"{name}.h5", **how)
    first = (tmp_path / "one.h5").read_bytes()
    assert (tmp_path / "two.h5").read_bytes() == first
    assert (tmp_path / "thread.h5").read_bytes() == first
    assert sorted(p.name for p in tmp_path.iterdir()) == ["one.h5", "thread.h5", "two.h5"]


def test_samples_are_loaded_along_paths(tmp_path, here):
    """Closed form: balls in a row on 1 m^2 bear as force what is prescribed as stress, one stage
    after the other; a row with gaps is shortened by them first. 1e-12: rounding of the volume."""
    stages = [[1.0, 2.0], [3.0, 5.0]]
    given = {
        "parameters": {"gap": [0.0, 0.05], "path.0.stresses": stages},
        "out": tmp_path / "s.h5",
        "executor": here,
    }
    found = rl.study(SQUEEZED, **given)
    assert not len(found.failed), found.message
    stress, strain = found.samples("path.stress_xx"), found.samples("path.strain_xx")
    np.testing.assert_allclose(stress, stages + stages, rtol=1e-12)
    table = found.table()
    np.testing.assert_allclose(table["largest_force"], [2.0, 5.0] * 2, rtol=1e-12)
    assert list(table["path.0.stresses"]) == ["[1.0, 2.0]", "[3.0, 5.0]"] * 2
    np.testing.assert_allclose(strain[1], 0.0, atol=1e-15)
    # 1e-9: at rest contacts are closed up to it, over the scene's length
    np.testing.assert_allclose(strain[3], np.log(0.2 / 0.25), atol=1e-8)
    mean, error = found.of(gap=0.0).profile("path.stress_xx")
    np.testing.assert_allclose((mean, error), ([2.0, 3.5], [1.0, 1.5]), rtol=1e-12)
    again = rl.read_study(tmp_path / "s.h5")
    np.testing.assert_array_equal(again.samples("path.strain_xx"), strain)
    unlike = replace(found, values={"force": [np.zeros(2), np.zeros(3)]})
    with pytest.raises(InputError, match="expected arrays of one shape"):
        unlike.profile("force")


def test_a_study_of_paths_goes_on(tmp_path, here, monkeypatch):
    """Property: samples that are done are not loaded again, another path is another sample."""
    done = []
    from rigidlimit.studies import plan as module

    def follow(simulation, legs, **options):
        done.append(legs[-1].stress[0][0])
        return rl.paths.follow(simulation, legs, **options)

    monkeypatch.setattr(module, "follow", follow)
    given = {"out": tmp_path / "s.h5", "executor": here}
    for stages in ([[1.0, 2.0]], [[1.0, 2.0], [3.0, 4.0]]):
        found = rl.study(
            SQUEEZED, parameters={"path.0.stresses": stages}, resume=len(stages) > 1, **given
        )
    assert done == [2.0, 4.0] and len(found) == 2


def test_what_is_read_is_what_was_found(tmp_path, here):
    found = rl.study(
        BEAM, seeds=2, parameters={"weight": 5.0}, out=tmp_path / "s.h5", executor=here
    )
    again = rl.read_study(tmp_path / "s.h5")
    assert again.parameters == found.parameters and again.errors == found.errors
    assert (again.table() == found.table()).all()
    assert again.samples("doubtful")[0] == found.samples("doubtful")[0]
    assert again.plan == found.plan


def test_samples_that_are_done_are_not_computed_again(tmp_path, here):
    """Property: more seeds, or a study that was stopped, compute what is missing."""
    log, out = tmp_path / "log", tmp_path / "s.h5"
    given = {"parameters": {"log": str(log)}, "out": out, "executor": here}
    rl.study(BEAM, seeds=2, **given)
    first = len(log.read_text().splitlines())
    rl.study(BEAM, seeds=3, resume=True, **given)
    # one sample, and one scene that is looked at before any
    assert len(log.read_text().splitlines()) == first + 2
    whole = rl.study(BEAM, seeds=3, **(given | {"out": tmp_path / "whole.h5"}))
    assert (whole.table() == rl.read_study(out).table()).all()
    assert out.read_bytes() == (tmp_path / "whole.h5").read_bytes()


def test_a_sample_that_fails_is_told_and_kept(tmp_path, here):
    plan = rl.Plan(samples.picky, measures=("largest_force",), steps=1)
    found = rl.study(plan, seeds=3, out=tmp_path / "s.h5", executor=here)
    assert "1 failed, the first (seed 1): InputError: no sample 1 today" in found.message
    assert np.isnan(found.table()["largest_force"]).tolist() == [False, True, False]
    assert found.statistics()[0]["failed"] == 1
    assert rl.read_study(tmp_path / "s.h5").errors == found.errors


def test_a_worker_that_is_killed_loses_no_sample(tmp_path):
    """Property: the same numbers as where no worker was killed."""
    plan = rl.Plan(samples.deadly, measures=("largest_force",), steps=1)
    found = rl.study(plan, seeds=5, parameters={"folder": str(tmp_path)}, workers=2)
    assert (tmp_path / "killed").exists() and not len(found.failed)
    undisturbed = rl.study(plan, seeds=5, parameters={"folder": str(tmp_path)}, workers=2)
    assert (found.table() == undisturbed.table()).all()


@pytest.mark.parametrize("times", [1, 9])
def test_a_server_that_is_killed_loses_no_sample(monkeypatch, times):
    """Property: where the process that forks workers is killed while it makes one, those are made
    anew, and nothing is lost; where that never goes the error is told."""
    refused = []

    class Dying(ThreadPoolExecutor):
        def submit(self, *given):
            if len(refused) < times:
                refused.append(given)
                raise EOFError("unexpected EOF")
            return super().submit(*given)

    monkeypatch.setattr(workers, "_pool", Dying)
    monkeypatch.setattr(workers, "PAUSE", 0.001)
    if times > workers.TRIES:
        with pytest.raises(OutputError, match=r"no worker process can be started .*resume"):
            rl.study(BEAM, seeds=3, workers=2)
        return
    assert not len(rl.study(BEAM, seeds=3, workers=2).failed)


def test_a_sample_that_kills_its_worker_each_time_is_told(tmp_path):
    """Property: its neighbours are not blamed, and it is computed again on resume."""
    plan = rl.Plan(samples.deadly, measures=("largest_force",), steps=1)
    out, folder = tmp_path / "s.h5", str(tmp_path)
    given = {"folder": folder, "always": True}
    found = rl.study(plan, seeds=4, parameters=given, out=out, workers=2)
    assert found.failed.tolist() == [2]
    assert "its worker ended 3 times" in found.message
    with rl.studies.storage.h5py.File(out) as file:
        assert [bool(d) for d in file["digest"].asstr()[:]] == [True, True, False, True]


def test_a_study_that_is_killed_goes_on(tmp_path):
    """Property: the file is that of a study which was not killed; its workers end with it."""
    out, folder = tmp_path / "s.h5", tmp_path / "marks"
    folder.mkdir()
    program = f"""
        import rigidlimit as rl
        from tests.studies import samples
        plan = rl.Plan(samples.slow, measures=("largest_force",), steps=1)
        if __name__ == "__main__":
            rl.study(plan, seeds=5, parameters={{"folder": {str(folder)!r}}},
                     out={str(out)!r}, workers=2, resume=True)
    """
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(program))
    path = os.pathsep.join([str(REPOSITORY), *filter(None, sys.path)])
    env = os.environ | {"PYTHONPATH": path}
    running = subprocess.Popen([sys.executable, str(script)], env=env)
    parts = tmp_path / "s.h5.parts"
    _until(lambda: len(list(parts.glob("*.npz"))) == 2 and list(folder.glob("3.*")))
    running.send_signal(signal.SIGKILL)
    running.wait()
    workers = {int(mark.name.split(".")[1]) for mark in folder.glob("[1-4].*")} - {running.pid}
    _until(lambda: not any(_lives(worker) for worker in workers))
    assert not out.exists()
    (folder / "go").touch()
    known = {mark.name.split(".")[0] for mark in folder.iterdir()}
    assert subprocess.run([sys.executable, str(script)], env=env).returncode == 0
    # 0 is looked at before any, the two that were done were not computed again
    again = [mark.name for mark in folder.glob("1.*")]
    assert len(again) == 1 and "1" in known
    with ThreadPoolExecutor(1) as here:
        plan = rl.Plan(samples.slow, measures=("largest_force",), steps=1)
        given = {"parameters": {"folder": str(folder)}, "executor": here}
        rl.study(plan, seeds=5, out=tmp_path / "whole.h5", **given)
    assert out.read_bytes() == (tmp_path / "whole.h5").read_bytes()


def _until(done, seconds=120.0):
    # generous: a loaded machine starts processes slowly
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


def _lives(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_parameters_of_a_scene_file(tmp_path):
    """Closed form: a ball's weight on the floor, its density given at a dotted key."""
    (tmp_path / "ball.toml").write_text(
        """
        gravity = [0.0, 0.0, -10.0]
        [materials.glass]
        density = 1.0
        [[bodies]]
        shape = "half-space"
        position = [0.0, 0.0, 0.0]
        [[bodies]]
        name = "ball"
        shape = "sphere"
        radius = 0.1
        position = [0.0, 0.0, 0.1]
        material = "glass"
        """
    )
    plan = rl.Plan(tmp_path / "ball.toml", measures=("largest_force",), steps=1)
    key = "materials.glass.density"
    weight = run_sample(Sample.of(plan, 0, {key: 3.0})).values["largest_force"]
    # 1e-9: the tolerance of the solver is 1e-10 of the weight
    assert weight == pytest.approx(3.0 * 4 / 3 * np.pi * 1e-3 * 10.0, rel=1e-9)
    by_name = {"bodies.ball.radius": 0.05}
    assert plan.scene_of(0, by_name).bodies.shapes[1].radius == 0.05
    with pytest.raises(SceneError, match="no 'materials2' there"):
        plan.scene_of(0, {"materials2.glass.density": 1.0})
    assert not plan.takes_seed


def test_hash_of_a_sample_is_that_of_its_inputs():
    """Property: everything that numbers depend on changes the hash."""
    plans = [
        rl.Plan("pile-2d"),
        rl.Plan("packing"),
        rl.Plan("pile-2d", steps=3),
        rl.Plan("pile-2d", options={"dt": 1e-4}),
        rl.Plan("pile-2d", measures=("force",)),
        rl.Plan(samples.beam),
        rl.Plan("periodic-packing", path=[{"kind": "isotropic", "pressures": 1.0}]),
        rl.Plan("periodic-packing", path=[{"kind": "isotropic", "pressures": 2.0}]),
    ]
    digests = {plan.digest(0, {}) for plan in plans}
    digests |= {plans[0].digest(1, {}), plans[0].digest(0, {"count": 12})}
    assert len(digests) == len(plans) + 2
    assert rl.Plan("pile-2d").digest(0, {}) == plans[0].digest(0, {})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"seeds": 0}, "expected their number"),
        ({"seeds": [1, 1]}, "each once"),
        ({"seeds": 1.5}, "expected their number"),
        ({"workers": 0}, "expected a number of processes"),
        ({"parameters": {"weight": []}}, "has no values"),
        ({"parameters": {"wait": 1.0}}, "unexpected keyword"),
        ({"out": "study.csv"}, "ends in .h5"),
        ({"out": "study.h5", "resume": True, "overwrite": True}, "one of the two"),
    ],
)
def test_wrong_input_is_one_error(given, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=said):
        rl.study(BEAM, **given)
    assert not list(tmp_path.iterdir())


def test_wrong_plans_are_one_error():
    for given, said in (
        ({"measures": ("coordinaton",)}, "did you mean 'coordination'"),
        ({"measures": ("force", "force")}, "each once"),
        ({"steps": 0}, "expected a number of steps"),
        ({"options": {"sover": "pgs"}}, "did you mean 'solver'"),
        ({"max_seconds": -1.0}, "max_seconds"),
        ({"measures": ("path.stres_xy",)}, "did you mean 'stress_xy'"),
        ({"steps": 3, "path": [{"kind": "isotropic"}]}, "expected one of the two"),
    ):
        with pytest.raises(InputError, match=said):
            rl.Plan("pile-2d", **given)
    with pytest.raises(SceneError, match="expected a TOML file or a scene of the gallery"):
        rl.Plan("pile-3d")
    with pytest.raises(InputError, match="nothing is random"):
        rl.study("beam", seeds=2)


@pytest.mark.parametrize(
    ("plan", "parameters", "said"),
    [
        (("beam", {"path": [{"kind": "isotropic"}]}), {}, "no periodic cell"),
        (("beam", {"measures": ("path.time",)}), {}, "expected tables"),
        ((samples.row, {"path": [{"kind": "isotrop"}]}), {}, "did you mean 'isotropic'"),
        ((samples.row, {"path": [{"kind": "isotropic"}]}), {}, "needs pressures"),
        ((samples.row, {"path": SQUEEZED.path}), {"path.0.axis": "w"}, "expected one of x, y, z"),
        ((samples.row, {"path": SQUEEZED.path}), {"path.1.axis": "x"}, "has no '1' there"),
    ],
)
def test_wrong_paths_are_one_error(plan, parameters, said):
    """Each is told before any sample is computed."""
    scene, given = plan
    with pytest.raises((InputError, SceneError), match=said):
        rl.study(rl.Plan(scene, **given), parameters=parameters, workers=1)


def test_a_study_is_not_written_over(tmp_path, here):
    out = tmp_path / "s.h5"
    rl.study(BEAM, out=out, executor=here)
    with pytest.raises(InputError, match="exists; expected a new name, or resume"):
        rl.study(BEAM, out=out, executor=here)
    rl.study(BEAM, seeds=2, out=out, overwrite=True, executor=here)
    assert len(rl.read_study(out)) == 2
    out.write_bytes(b"no study")
    with pytest.raises(OutputError, match="damaged"):
        rl.read_study(out)


def test_dask_computes_the_same_file(tmp_path):
    """Cross-check: processes of a Dask cluster, one of them killed in the midst."""
    distributed = pytest.importorskip("distributed")
    from dask import config

    rl.study(BEAM, seeds=4, out=tmp_path / "own.h5", executor=ThreadPoolExecutor(1))
    deadly = rl.Plan(samples.deadly, measures=("largest_force",), steps=1)
    folder = {"folder": str(tmp_path)}
    start = "forkserver" if FORKS else "spawn"
    with (
        config.set({"distributed.worker.multiprocessing-method": start}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        executor = client.get_executor()
        rl.study(BEAM, seeds=4, out=tmp_path / "dask.h5", executor=executor)
        found = rl.study(deadly, seeds=4, parameters=folder, executor=executor)
    assert (tmp_path / "dask.h5").read_bytes() == (tmp_path / "own.h5").read_bytes()
    assert (tmp_path / "killed").exists() and not len(found.failed)


def test_command(tmp_path):
    """Example: a study file, its table, what exists, and what is wrong in one line."""
    file, out = tmp_path / "study.toml", tmp_path / "study.h5"
    file.write_text(
        'scene = "beam"\nsteps = 1\nmeasures = ["contacts"]\n[parameters]\nweight = [1.0]'
    )
    made = forked("study", file, "--out", out, "--workers", 1)
    assert made.returncode == 0 and "contacts │    3 │   nan" in made.stdout, made.stderr
    assert rl.read_study(out).samples("contacts") == [3]
    again = forked("study", file, "--out", out)
    assert again.returncode == 2 and "exists; expected a new name" in again.stderr
    file.write_text('scene = "beam"\nseed = 3')
    wrong = forked("study", file)
    assert wrong.returncode == 2 and "seed: unknown key; did you mean 'seeds'?" in wrong.stderr
    assert "Traceback" not in again.stderr + wrong.stderr


def test_headings_leave_room_for_measures():
    """Property: a long parameter is a heading of several lines, none wider than a number."""
    assert _in_lines("path.1.inertial_number") == "path.1.\ninertial_\nnumber"
    assert _in_lines("friction") == "friction"


def test_command_with_a_path(tmp_path):
    """Example: a study file whose samples follow a path, its report, and what is wrong in it."""
    file, page = tmp_path / "study.toml", tmp_path / "page.html"
    (tmp_path / "row.toml").write_text(
        """
        [cell]
        vectors = [0.6, 1.0, 1.0]
        [[lattices]]
        shape = "sphere"
        radius = 0.1
        counts = [3, 1, 1]
        spacing = 0.2
        """
    )
    text = """
        scene = "row.toml"
        measures = ["path.stress_xx", "path.strain_xx", "largest_force"]
        [[path]]
        kind = "free"
        stress = [[1.0, nan, nan], [nan, nan, nan], [nan, nan, nan]]
        [[path]]
        kind = "oedometer"
        stresses = [2.0]
        axis = "x"
        [parameters]
        "path.1.stresses" = [2.0, 3.0]
    """
    file.write_text(text)
    made = forked("study", file, "--report", page, "--workers", 1)
    assert made.returncode == 0 and "largest force │    3 │" in made.stdout, made.stderr
    told = page.read_text()
    assert told.count("data:image/png") == 2 and "stress xx along the path" in told
    file.write_text(text.replace("stresses = [2.0]", "stress = [2.0]"))
    wrong = forked("study", file)
    assert wrong.returncode == 2 and "path" in wrong.stderr and "Traceback" not in wrong.stderr


def test_report(tmp_path, here):
    """Property: the page holds a picture a measure and tells what failed."""
    plan = rl.Plan(samples.picky, measures=("largest_force", "contacts"), steps=1)
    found = rl.study(plan, seeds=3, executor=here)
    rl.studies.write_report(tmp_path / "page.html", found, name="three & one")
    page = (tmp_path / "page.html").read_text()
    assert page.count("data:image/png") == 2 and "no sample 1 today" in page
    assert "the samples in order" in page
    assert [_within(4.33062, 0.0075), _within(42.34, 0.9), _within(2.0, 0.0)] == [
        "4.3306 ± 0.0075", "42.34 ± 0.9", "2 ± 0"
    ]  # fmt: skip
    assert "<title>three &amp; one</title>" in page and "http" not in page


def test_report_of_forces(tmp_path):
    """Property: P(f) stands beside a published curve, with its tail and its source in words."""
    rng = np.random.default_rng(0)
    found = rl.studies.Ensemble(
        "", np.arange(3), {}, {"force": [rng.exponential(2.0, 2000) for _ in range(3)]}, [""] * 3
    )
    rl.studies.write_report(tmp_path / "page.html", found)
    page = (tmp_path / "page.html").read_text()
    tail = rl.force_distribution(found.samples("force"))
    assert abs(tail.decay - 1.0) < 3 * tail.decay_error  # the closed form of these
    assert f"exp(-({tail.decay:.3g} ± {tail.decay_error:.2g}) f)" in page
    assert "Phys. Rev. E 57, 1998, 3164" in page and page.count("data:image/png") == 1
