"""Runs the corpus, prints its table, keeps it in a file and compares it with one kept before.

    python -m benchmarks.corpus [--quick] [--only TEXT] [--out FILE] [--compare BEFORE]
    python -m benchmarks.corpus --mutate TEXT [--factor 10]     see ``constants.py``

An entry has a row for each of the solves that it asks for: step 1, step 2, or both at once, of
rough bodies. status: of all its solves, counted where they differ; residual: the largest; order:
how far the answer moves, over its size, if the contacts come in another order (velocities of step
1, forces of step 2); open: how far forces may be off, as step 2 says itself; products: steps of
conjugate gradients, or sweeps; routes: all that were taken; digest: two sums of the last answer of
a run, or of all exact answers to problems that are stated, with weights at random, which a change
of an answer by a part of its size changes by about that part times the root of their number.
"""

import argparse
import csv
import time
from collections import Counter
from dataclasses import dataclass, field, fields
from pathlib import Path

import numpy as np

from rigidlimit.errors import InputError
from rigidlimit.status import Status

from . import entries, moving, rough, runs

KEPT = Path(__file__).with_name("kept.tsv")

FEW = 10
"""Factorizations and products that are no matter."""


@dataclass
class Row:
    """One solve, or all of one kind that an entry asks for."""

    name: str
    step: int | str
    solves: int = 0
    status: str = ""
    residual: float = 0.0
    order: float = 0.0
    open: float = 0.0
    factorizations: int = 0
    products: int = 0
    seconds: float = 0.0
    digest: str = ""
    routes: str = ""
    ended: Counter = field(default_factory=Counter)

    def add(self, problem, result):
        """Take one more result in."""
        self.solves += 1
        self.ended[str(result.status)] += 1
        self.status = ", ".join(
            status if len(self.ended) == 1 else f"{status} {count}"
            for status, count in sorted(self.ended.items(), key=lambda s: (s[0] == "converged", s))
        )
        self.residual = max(self.residual, result.residual)
        self.open = max(self.open, getattr(result, "force_error", 0.0))
        self.factorizations += problem.systems(result)
        self.products += getattr(result, "linear_iterations", getattr(result, "sweeps", 0))
        known = self.routes.split(" > ") if self.routes else []
        self.routes = " > ".join(dict.fromkeys([*known, *getattr(result, "routes", ())]))


def digest(problem, result) -> np.ndarray:
    answer = problem.answer(result).ravel()
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (2, len(answer)))
    return signs @ answer / problem.size(result)


def measure(entry, *, in_order: bool = True) -> list[Row]:
    """Rows of an entry, compilation included in the seconds of the first. in_order: whether the
    contacts are taken in another order too."""
    begin = time.process_time()
    found = entry.make()
    spent = time.process_time() - begin
    rows, sums = {}, {}
    for item in found:
        problem, result = item if isinstance(item, tuple) else (item, None)
        row = rows.setdefault(problem.step, Row(entry.name, problem.step))
        if result is None:
            begin = time.process_time()
            result = problem.solve()
            spent = row.seconds + time.process_time() - begin
            if result.status != Status.APPROXIMATE:
                sums[problem.step] = sums.get(problem.step, 0.0) + digest(problem, result)
        row.add(problem, result)
        row.seconds, row.last = spent, (problem, result)
    for row in rows.values():
        problem, result = row.last
        signs = sums.get(row.step, digest(problem, result))
        row.digest = " ".join(f"{s:.9f}" for s in signs)
        if not in_order:
            continue
        order = np.random.default_rng(1).permutation(problem.contacts)
        again = problem.solve(problem.in_order(order))
        there, here = problem.put_back(problem.answer(again), order), problem.answer(result)
        row.order = float(np.abs(there - here).max(initial=0.0) / problem.size(result))
    return list(rows.values())


NAMES = [field.name for field in fields(Row) if field.name != "ended"]


def written(row) -> dict:
    """A row as text."""
    return {
        name: f"{value:.1e}" if isinstance(value, float) and name != "seconds" else
        f"{value:.3f}" if isinstance(value, float) else str(value)
        for name, value in ((name, getattr(row, name)) for name in NAMES)
    }  # fmt: skip


def told(row: dict) -> str:
    return (
        f"{row['name'][:44]:44} {row['step']:4} {row['status'][:30]:16} {row['residual']:>7} "
        f"{row['order']:>7} {row['open']:>7} {row['factorizations']:>5} {row['products']:>6} "
        f"{float(row['seconds']):7.3f}  {row['routes']}"
    )


def read(path) -> dict:
    with open(path) as file:
        return {(r["name"], r["step"]): r for r in csv.DictReader(file, delimiter="\t")}


def differences(before: dict, now: dict, *, times: bool = True) -> list[str]:
    """What is worse, or another answer, in the rows that both have. times: routes and seconds
    too."""
    said = []
    for key, row in now.items():
        old, what = before.get(key), []
        if old is None:
            continue
        if row["status"] != old["status"]:
            what.append(f"{old['status']} -> {row['status']}")
        if float(row["residual"]) > max(1e-10, 2 * float(old["residual"])):
            what.append(f"residual {old['residual']} -> {row['residual']}")
        if float(row["order"]) > max(1e-7, 10 * float(old["order"])):
            what.append(f"order {old['order']} -> {row['order']}")
        moved = np.abs(np.subtract(*(np.array(r["digest"].split(), float) for r in (row, old))))
        limit = max(1e-6, 10 * float(old["open"]), 10 * float(old["order"]))
        if moved.max(initial=0.0) > limit and "converged" in old["status"]:
            what.append(f"another answer, by {moved.max():.1e}")
        if times and float(row["seconds"]) > 1.5 * float(old["seconds"]) + 0.2:
            what.append(f"{old['seconds']} s -> {row['seconds']} s")
        known = old["routes"].split(" > ")
        more = [route for route in row["routes"].split(" > ") if route not in known]
        if times and more:
            what.append(f"routes taken now: {', '.join(more)}")
        if what:
            said.append(f"{key[0]} (step {key[1]}): " + "; ".join(what))
    return said


def mutate(text: str, factor: float, chosen: list) -> None:
    """Print for each constant whose label holds ``text`` which entry needs it."""
    from . import constants

    before, names = {}, {}
    for entry in chosen:
        for row in measure(entry, in_order=False):
            before[row.name, str(row.step)] = row
        with constants.names_seen() as names[entry.name]:
            measure(entry, in_order=False)
    for constant in (c for c in constants.constants() if text in c.label):
        name = constant.field or constant.name
        users = [entry for entry in chosen if name in names[entry.name]]
        if fixed := constants.fixed_places(constant):
            said = [f"not tried: {fixed}"]
        elif not users:
            said = ["no entry comes to it"]
        else:
            said = [_needed(constant, f, before, users) for f in (factor, 1.0 / factor)]
        print(f"{constant.label} = {constant.value:g}: " + "; ".join(said), flush=True)


def _needed(constant, factor: float, before: dict, users: list) -> str:
    """Which of these entries needs a constant that is changed by a factor, or what it costs."""
    from .constants import PATIENCE, TooLong, within

    work, name = [1.0], f"x {factor:g}"
    with constant.times(factor):
        for entry in users:
            try:
                with within(PATIENCE):
                    rows = measure(entry, in_order=False)
            except TooLong:
                return f"{name} needed by {entry.name} (over {PATIENCE} s)"
            except Exception as error:
                return f"{name} needed by {entry.name} ({type(error).__name__})"
            found = {(row.name, str(row.step)): row for row in rows}
            known = {key: before[key] for key in found if key in before}
            work += [_work(found[key]) / _work(known[key]) for key in known]
            changes = differences(_table(known), _table(found), times=False)
            if changes:
                return f"{name} needed by {changes[0]}"
    return f"{name} needed by none of {len(users)}, work {min(work):.2f} to {max(work):.2f}"


def _work(row: Row) -> int:
    """Of one entry; so many are nothing beside any other work."""
    return row.factorizations + row.products + FEW


def _table(rows: dict) -> dict:
    return {key: written(row) for key, row in rows.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="without what takes long")
    parser.add_argument(
        "--only",
        default="",
        help="entries whose names hold this text, or one of several parted by commas",
    )
    parser.add_argument("--out", type=Path, help="keep the table in this file")
    parser.add_argument("--compare", type=Path, nargs="?", const=KEPT, help="with this table")
    parser.add_argument("--mutate", help="constants whose names hold this text, one by one")
    parser.add_argument("--factor", type=float, default=10.0, help="of --mutate, and over it")
    options = parser.parse_args()
    chosen = [
        entry
        for entry in [*entries.ENTRIES, *runs.ENTRIES, *rough.ENTRIES, *moving.ENTRIES]
        if any(part in entry.name for part in options.only.split(","))
        and not (options.quick and entry.slow)
    ]
    if options.mutate is not None:
        mutate(options.mutate, options.factor, chosen)
        return
    rows = {}
    for entry in chosen:
        try:
            found = measure(entry)
        except InputError as error:
            print(f"{entry.name}: {error}")
            continue
        if not found:
            print(f"{entry.name}: no problem: a package or the captured problems are not here")
        for row in found:
            text = written(row)
            rows[row.name, str(row.step)] = text
            print(told(text), flush=True)
    if options.out:
        with open(options.out, "w", newline="") as file:
            writer = csv.DictWriter(file, NAMES, delimiter="\t", lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows.values())
    if options.compare:
        print()
        print("\n".join(differences(read(options.compare), rows)) or "nothing changed")


if __name__ == "__main__":
    main()
