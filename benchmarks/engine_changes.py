"""What mending changes on ten public models, engine by engine and solver by solver.

    python -m benchmarks.engine_changes [--engines MuJoCo Drake] [--models humanoid Jenga]
                                        [--folder mujoco=PATH] [--out TABLE.md]

Every engine that is installed simulates every model that it reads and that is there
(``public_models``), with each of its solvers, and its forces are mended at four moments. Writes a
table in Markdown: contacts that took part; forces that balance leaves open (degree); by what part
of the largest force of its state the force of a contact changed, median and maximum; how far the
engine's solver was from its own solution; and what stays, what all contacts together push every
body and joint with. Each model and engine runs in a process of its own, so that a program that ends
there ends no other.
"""

import os

if __name__ == "__main__":
    # before numpy is loaded: one core for everyone
    for name in ("OPENBLAS", "OMP", "MKL", "NUMBA"):
        os.environ[f"{name}_NUM_THREADS"] = "1"

import argparse
import re
import sys
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from benchmarks.public_models import MODELS, SOURCES
from benchmarks.public_runs import RUNS, Unread
from rigidlimit.errors import InputError

MOMENTS = (0.5, 1.0, 1.5, 2.0)
"""When forces are mended [s]."""

LIMIT = 300.0
"""Time for a model in an engine's solver [s]."""

PACKAGES = {
    "MuJoCo": ("mujoco", "mujoco"),
    "PyBullet": ("pybullet", "pybullet"),
    "Drake": ("pydrake", "drake"),
    "Pinocchio": ("pinocchio", "pin"),
    "Newton": ("newton", "newton"),
}
"""Module and distribution of each engine."""

SAME = 1e-6
"""Changes below this part of the largest force count as none: ``already_compatible``."""


@dataclass(frozen=True)
class Seen:
    """One state. changes (contacts,): of each contact that took part, over the largest force;
    degree: forces left open; totals: change of what all contacts together push each body and joint
    with, over the largest force; left: what the solver left over, nan where that is not told; kept:
    whether the engine's forces were kept somewhere; converged."""

    changes: np.ndarray
    degree: int | None
    totals: float
    left: float
    kept: bool
    converged: bool


@dataclass(frozen=True)
class Line:
    """Of the table. states: with contacts; why: no state could be had, or a later one not."""

    model: str
    engine: str
    solver: str
    states: tuple[Seen, ...]
    why: str = ""


def degree(mended) -> int | None:
    """Forces left open; None where no admissible forces balance what the engine delivers."""
    try:
        return mended.determinacy(intervals="none").degree
    except InputError:
        return None


def totals_apart(mended) -> float:
    """Change of what all contacts push each body and joint with [N], moments over arms."""
    contacts, row = mended.contacts, mended.contacts.row
    total = contacts.B.T @ mended.force[row] - contacts.wrench()
    known = min(contacts.directions, mended.tangential.shape[1])
    if known:
        rubs = np.zeros((len(row), contacts.directions))
        rubs[:, :known] = mended.tangential[row, :known]
        total += contacts.sliding.T @ rubs.ravel()
    return float((np.abs(total) / contacts.reach).max())


def seen(mended) -> Seen:
    row = mended.row
    forces = mended.vectors[row], mended.engine_vectors[row]
    largest = float(np.linalg.norm(forces[1], axis=1).max()) or 1.0
    return Seen(
        changes=np.linalg.norm(forces[0] - forces[1], axis=1) / largest,
        degree=degree(mended),
        totals=totals_apart(mended) / largest,
        left=mended.contacts.engine_residual,
        kept=bool(mended.kept.any()),
        converged=mended.converged,
    )


def lines_of(engine: str, name: str, folders: dict[str, str], first: int = 0) -> Iterable[Line]:
    """Each solver of an engine on a model, from the ``first`` on."""
    warnings.simplefilter("ignore")
    model = next(model for model in MODELS if model.name == name)
    for solver, start in list(RUNS[engine].items())[first:]:
        states, why = [], ""
        try:
            run = start(model, model.files(folders))
            for moment in MOMENTS:
                mended = run(moment)
                if len(mended.row):
                    states.append(seen(mended))
        except (Unread, InputError, ImportError, RuntimeError, ValueError) as error:
            text = str(error).splitlines()[0] if str(error) else type(error).__name__
            text = re.sub(r"/\S*/", "", text)  # folders of this machine
            said = isinstance(error, Unread) or text.startswith(engine)
            why = text if said else f"{engine}: {text}"
        if not states and not why:
            why = "nothing touches"
        yield Line(name, engine, solver, tuple(states), why)


def _send(pipe, engine, name, folders, first):
    for line in lines_of(engine, name, folders, first):
        pipe.send(line)


def apart(engine: str, name: str, folders: dict[str, str], limit: float) -> Iterable[Line]:
    """``lines_of`` by a process of its own, which begins anew after a solver that ended it, or that
    took longer than ``limit`` seconds."""
    context, solvers, done = get_context("spawn"), list(RUNS[engine]), 0
    while done < len(solvers):
        received, sent = context.Pipe(duplex=False)
        process = context.Process(target=_send, args=(sent, engine, name, folders, done))
        process.start()
        sent.close()
        why = f"{engine} ended the program"
        while done < len(solvers):
            if not received.poll(limit):
                process.kill()
                why = f"not done in {limit:.0f} s"
                break
            try:
                yield received.recv()
            except EOFError:
                break
            done += 1
        process.join()
        if done < len(solvers):
            yield Line(name, engine, solvers[done], (), why)
            done += 1


def all_lines(engines, models, folders, limit=LIMIT) -> Iterable[Line]:
    for name in models:
        model = next(model for model in MODELS if model.name == name)
        try:
            model.files(folders)
        except FileNotFoundError as error:
            yield Line(name, "every engine", "", (), str(error))
            continue
        for engine in engines:
            yield from apart(engine, name, folders, limit)


# as Markdown


def part(value: float) -> str:
    """A part of the largest force."""
    if np.isnan(value):
        return "-"
    if value <= SAME:
        return "none"
    return f"{100 * value:.0f} %" if value >= 0.0995 else f"{100 * value:.2g} %"


def between(values) -> str:
    values = [value for value in values if value is not None]
    if not values:
        return "-"
    low, high = min(values), max(values)
    return f"{low}" if low == high else f"{low} to {high}"


def median(values) -> float:
    known = [value for value in values if not np.isnan(value)]
    return float(np.median(known)) if known else np.nan


HEAD = (
    "model", "engine", "solver", "contacts", "forces left open", "change, median",
    "change, largest", "left over by the solver", "totals apart", "",
)  # fmt: skip


def cells(line: Line) -> list[str]:
    states = line.states
    changes = np.concatenate([state.changes for state in states])
    notes = []
    for what, count in (
        ("the engine's kept", sum(state.kept for state in states)),
        ("least energy", sum(not state.converged and not state.kept for state in states)),
    ):
        if count:
            notes.append(f"{what} in {count} of {len(states)} states")
    if line.why:
        notes.append(f"{len(states)} states, then: {line.why}")
    return [
        line.model, line.engine, line.solver, between([len(state.changes) for state in states]),
        between([state.degree for state in states]), part(float(np.median(changes))),
        part(float(changes.max())), part(median([state.left for state in states])),
        f"{max(state.totals for state in states):.0e}", "; ".join(notes),
    ]  # fmt: skip


def table(head, rows) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


SUMMARY = (
    "engine", "solver", "models", "states", "states that nothing changed",
    "largest change of a state, median", "largest of all",
)  # fmt: skip


def summary(lines: list[Line]) -> list[list[str]]:
    """A row a solver, over models."""
    rows = []
    for engine, solver in dict.fromkeys((line.engine, line.solver) for line in lines):
        own = [line for line in lines if (line.engine, line.solver) == (engine, solver)]
        worst = [float(state.changes.max()) for line in own for state in line.states]
        same = sum(change <= SAME for change in worst)
        rows.append([
            engine, solver, str(len(own)), str(len(worst)), str(same),
            part(float(np.median(worst))), part(max(worst)),
        ])  # fmt: skip
    return rows


def versions(engines) -> str:
    packages = [PACKAGES[engine][1] for engine in engines]
    packages += [source for source in SOURCES if source not in packages]
    known = []
    for package in ("rigidlimit", *packages, "mujoco-warp"):
        try:
            known.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return ", ".join(known)


def page(lines: list[Line], engines) -> str:
    told = [line for line in lines if line.states]
    missing = {}
    for line in lines:
        if not line.states:
            missing.setdefault((line.model, line.engine, line.why), []).append(line.solver)
    absent = [
        "; ".join(filter(None, [f"- {model}, {engine}", *solvers])) + f": {why}"
        for (model, engine, why), solvers in missing.items()
    ]
    doing = "\n".join(
        f"- **{model.name}** ({model.source}, `{model.parts[0].file}`): {model.doing}"
        for model in MODELS
    )
    return "\n\n".join([
        f"Versions: {versions(engines)}; Python {sys.version.split()[0]}.",
        "## The models", doing,
        "## By solver, over all models", table(SUMMARY, summary(told)),
        "## Model by model", table(HEAD, map(cells, told)),
        "## Not in the tables", "\n".join(absent) or "Nothing is missing.",
    ]) + "\n"  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = [model.name for model in MODELS]
    parser.add_argument("--engines", nargs="+", choices=PACKAGES, default=list(PACKAGES))
    parser.add_argument("--models", nargs="+", choices=names, default=names)
    parser.add_argument(
        "--folder", action="append", default=[], metavar="SOURCE=PATH",
        help=f"folder of models of {', '.join(SOURCES)}; else that of the package installed, or of "
        "the environment's MUJOCO_MODELS and so on",
    )  # fmt: skip
    parser.add_argument("--out", type=Path, help="file to write; else it is printed")
    parser.add_argument(
        "--limit", type=float, default=LIMIT, help="time for a model in a solver [s]"
    )
    options = parser.parse_args()
    folders = dict(given.split("=", 1) for given in options.folder)
    engines = [name for name in options.engines if find_spec(PACKAGES[name][0]) is not None]
    for name in options.engines:
        if name not in engines:
            print(f"{name} is not installed", file=sys.stderr)
    lines = []
    for line in all_lines(engines, options.models, folders, options.limit):
        lines.append(line)
        said = " ".join(cells(line)[3:]) if line.states else line.why
        print(f"{line.model}, {line.engine}, {line.solver}: {said}", file=sys.stderr, flush=True)
        if options.out is not None:  # what there is, should the rest be cut off
            options.out.write_text(page(lines, engines))
    if options.out is None:
        print(page(lines, engines))


if __name__ == "__main__":
    main()
