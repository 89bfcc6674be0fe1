"""The benchmarks run: every part on tiny problems, with answers that meet what the tables claim."""

import dataclasses
import gc
import json
import math
import os
import runpy
import time
from pathlib import Path

import numpy as np
import pytest

import benchmarks
import rigidlimit as rl
from benchmarks import (
    compatibility,
    engines,
    factorization,
    measure,
    peers,
    problems,
    run_all,
    scaling,
)
from benchmarks.corpus import __main__ as corpus
from benchmarks.corpus import constants, moving, rough
from benchmarks.corpus import runs as corpus_runs
from benchmarks.corpus.problems import Entry

from .problems import pyramid_gradient

pytestmark = pytest.mark.filterwarnings("ignore:bodies .* overlap:rigidlimit.errors.SceneWarning")


@pytest.mark.parametrize("base", [2, 3, 6])
def test_pyramid_gradient(base):
    """Reference twin: the gradient found by a neighbour search, entry by entry."""
    B, slow = problems.pyramid_gradient(base), pyramid_gradient(base)
    assert B.shape == slow.shape == (problems.pyramid_contacts(base), slow.shape[1])
    # normals of unit length, differences of coordinates below 10: rounding only
    assert abs(B - slow).max() < 1e-14


@pytest.mark.parametrize("law", ["two materials 1:5", "Hertz"])
def test_compatibility_solvers_agree(law):
    """Cross-solver: every solver gives the same forces."""
    problem = problems.compatibility(5, law)
    # unequal stiffness for every law
    stiffness = np.where(np.arange(len(problem.stiffness)) % 3, 1.0, 0.3)
    problem = dataclasses.replace(problem, stiffness=problem.stiffness * stiffness)
    exact = compatibility.exact_force(problem)
    for name, solver in peers.compatibility_solvers(problem.exponent).items():
        if not peers.installed(name):
            continue
        balance, distance = compatibility.errors(problem, exact, solver(problem, 1e-8).force)
        # 1e-8 asked for; an interior point errs by its root where forces vanish
        assert balance < 1e-7, name
        assert distance < 1e-4, name


@pytest.mark.parametrize("state", problems.STATES)
def test_dynamics_solvers_agree(state):
    """Cross-solver: the multipliers of every solver solve eq. 21."""
    problem = problems.dynamics(4, state)
    for name, solver in peers.dynamics_solvers().items():
        if peers.installed(name):
            # 1e-8 asked for in each solver's own measure, which may be a few decades looser
            assert problem.judge.residual(solver(problem, 1e-8).force) < 1e-5, name


def test_every_part(tmp_path, monkeypatch):
    """Example: all parts on tiny problems; report, figures, and residuals that meet the target."""
    monkeypatch.setattr(measure, "BATCH", 0.0)  # times do not matter here
    parts = [p for p in run_all.PARTS if p != "simulations"]
    rows = run_all.run(run_all.TINY, parts=parts, limit=None, folder=tmp_path, fork=False)
    assert {r["part"] for r in rows} >= {"compatibility", "contact dynamics"}
    text = (tmp_path / "report.md").read_text()
    for name in ("Clarabel", "PGS", "collapsing column", "wall of boxes"):
        assert name in text
    assert len(json.loads((tmp_path / "report.json").read_text())["rows"]) == len(rows)
    assert len(list(tmp_path.glob("*.png"))) == len(list(tmp_path.glob("*.pdf"))) == 4
    ours = [r for r in rows if r.get("method") == peers.OURS]
    assert ours
    for r in ours:
        assert not r["note"]
        assert max(r[k] for k in ("balance", "residual") if k in r) <= r["target"]


def test_fitted_exponent():
    """Closed form: times that grow as m^1.3 are reported so; small sizes are left out."""
    rows = [
        {"part": "scaling, compatibility", "kind": "Hooke", "contacts": m, "cpu": m**1.3,
         "products": 5.0 * m**0.3, "linear": 7, "bytes_per_contact": 900.0}
        for m in (10, 20_000, 50_000, 300_000)
    ]  # fmt: skip
    rows[0]["cpu"] = 1e9
    (fit,) = scaling.exponents(rows)
    assert math.isclose(fit["time ~ m^"], 1.3, rel_tol=1e-9)  # a straight line, fitted to rounding
    assert math.isclose(fit["products ~ m^"], 0.3, rel_tol=1e-9)
    assert abs(fit["linear iterations ~ m^"]) < 1e-9


def _busy():
    """Never ends by itself."""
    while True:
        sum(range(1000))


@pytest.mark.skipif(measure.resource is None, reason="no limits without fork")
def test_slow_solves_are_stopped():
    """Property: a solve beyond its CPU limit ends as a note, an error too, memory is seen."""
    start = time.perf_counter()
    stopped = measure.measure(_busy, limit=1)
    assert stopped.answer is None and stopped.note == "over 1 s"
    assert time.perf_counter() - start < 60  # a busy machine; the limit is on CPU time
    failed = measure.measure(lambda: 1 / 0, limit=5)
    assert failed.answer is None and "ZeroDivisionError" in failed.note

    def large():
        clock = measure.Clock()
        with clock:
            gc.collect()  # as may happen at any time
            block = np.ones(10_000_000)
        return measure.Answer(block[:3].copy(), clock, 1)

    cycle = [np.ones(5_000_000)]
    cycle.append(cycle)
    del cycle  # garbage of what ran before is not the solve's to give back
    # the kernel's peak once lacked 40 MB, in one of some hundred runs
    looks = [measure.measure(large, limit=20) for _ in range(3)]
    seen = max(looks, key=lambda one: one.memory)
    assert seen.answer.force.tolist() == [1, 1, 1]
    if not math.isnan(seen.memory):
        assert seen.memory > 7e7  # 80 MB, less what the process could reuse


def test_factorizations_side_by_side(capsys):
    """Peer: SuperLU on the same matrix, both residuals at rounding."""
    problem = problems.compatibility(8, "Hooke")
    factorization.measure("pyramid", problem.B, problem.load, problem.blocks)
    lines = capsys.readouterr().out.splitlines()
    residuals = {line.split()[0]: float(line.split()[-1]) for line in lines if "residual" in line}
    assert {"rigidlimit", "SuperLU"} <= set(residuals)
    # condition of some 1e4 times rounding
    assert max(residuals.values()) < 1e-11


def test_corpus_tells_what_became_worse(tmp_path, monkeypatch, capsys):
    """Example: two entries are measured, kept and compared; a status and an answer that changed
    are told, and nothing where nothing did."""
    table = tmp_path / "table.tsv"
    monkeypatch.setattr("sys.argv", ["corpus", "--only", "feet held", "--out", str(table)])
    corpus.main()
    kept = corpus.read(table)
    assert [row["status"] for row in kept.values()] == ["converged"] * 2
    assert all(float(row["order"]) < 1e-9 and row["routes"] for row in kept.values())
    assert corpus.differences(kept, kept) == []
    key = next(iter(kept))
    worse = kept | {key: kept[key] | {"status": "stalled", "digest": "1.0 1.0"}}
    told = corpus.differences(kept, worse)
    assert len(told) == 1 and "converged -> stalled" in told[0] and "another answer" in told[0]


def test_corpus_runs_keep_both_steps():
    """Example: an entry that is a run of a scene has the problems of step 1 and step 2."""
    found = corpus_runs.steps(rl.scenes.beam, 1)()
    kinds = [type(problem).__name__ for problem, _ in found]
    assert kinds == ["Dynamics", "Forces"] and all(result.converged for _, result in found)


def test_corpus_has_steps_of_rough_bodies():
    """Property: problems that a run stated are solved to the same digits again, and in any order of
    the contacts to what the residual of 1e-10 leaves."""
    run = moving.stated(corpus_runs.steps(rl.scenes.incline, 2))
    assert [type(problem).__name__ for problem in run()] == ["Motion"] * 2
    first, again = (corpus.measure(Entry("incline", run)) for _ in range(2))
    assert first[0].digest == again[0].digest
    assert first[0].status == "converged" and first[0].order < 1e-8
    assert first[0].factorizations > 0


@pytest.mark.parametrize("name", ("shear-111", "silo-1-16", "silo-4-5"))
def test_corpus_has_captured_steps_with_friction(name):
    """Property: they are solved, in any order of the contacts."""
    step = 1 if name in rough.STEP_1 else 2
    entry = Entry(name, lambda: rough.captured_step(f"step{step}-{name}"))
    (row,) = corpus.measure(entry)
    assert row.step == step and row.status == "converged" and row.residual <= 1e-10
    # of a step that bodies take up to the residual, over what some contacts resist
    assert row.order < 1e-6


COMMANDS = [
    path.stem
    for path in sorted(Path(benchmarks.__path__[0]).glob("*.py"))
    if "__main__" in path.read_text()
]


@pytest.mark.filterwarnings("ignore:.*found in sys.modules")
@pytest.mark.parametrize("module", COMMANDS)
def test_help(module, capsys, monkeypatch):
    """Example: every benchmark that is a command explains itself."""
    monkeypatch.setattr("sys.argv", [module, "--help"])
    monkeypatch.setattr("os.environ", dict(os.environ))  # some ask for one core
    with pytest.raises(SystemExit) as ended:
        runpy.run_module(f"benchmarks.{module}", run_name="__main__")
    assert ended.value.code == 0 and "usage" in capsys.readouterr().out


@pytest.mark.parametrize("name", sorted(engines.STACKS))
def test_engines(name):
    """Example: stacks of two boxes; every box's weight is carried."""
    pytest.importorskip(name)
    mended, *milliseconds = engines.measured(*engines.STACKS[name](2), 1)
    assert mended.converged and all(value > 0 for value in milliseconds)
    # by what the engine leaves of the motion
    assert mended.force.sum() == pytest.approx(mended.engine_force.sum(), rel=1e-3)


def test_constants_of_the_corpus(capsys):
    """Example: a constant that no value may replace is needed by an entry, and is what it was
    afterwards; compiled ones, and those of code that no entry comes to, are named."""
    (bound,) = (c for c in constants.constants() if c.label.endswith("LEAST_EXPONENT"))
    ball = next(
        e for e in corpus.entries.ENTRIES if e.name == "forces: pyramid 4, six decades, p = 1.4"
    )
    corpus.mutate("checked.LEAST_EXPONENT", 10.0, [ball])
    said = capsys.readouterr().out
    assert "x 10 needed by forces: pyramid 4" in said
    assert "x 0.1 needed by none of 1, work 1.00 to 1.00" in said
    corpus.mutate("budget.LARGE", 10.0, [ball])
    assert capsys.readouterr().out.endswith("LARGE = 2000: no entry comes to it\n")
    assert getattr(bound.module, bound.name) == bound.value
    fixed = [c.label for c in constants.constants() if "compiled" in constants.fixed_places(c)]
    assert "equilibrium.rough_newton.SETTINGS.halvings" in fixed
