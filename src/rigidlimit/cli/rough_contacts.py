"""Output of ``determinacy`` for contacts with friction: table, findings, file of results."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import typer

from ..errors import InputError
from .contacts import chosen_contacts, largest_first
from .options import LIMITS, Intervals
from .tables import new_table, terminal


@dataclass(frozen=True)
class Rough:
    """Rough contacts under a load, ready to be judged; m contacts of d components.

    rows: B, load, tangential, friction, fixed and blocks as ``rigidlimit.determinacy`` takes them.
    force (m, d): normal first, in ``unit``; whose: what they are called. names (m,) or None. number
    (m,): what the user calls them, of ``total``; those missing are open.
    """

    title: str
    rows: dict
    force: np.ndarray
    whose: str
    names: list[str] | None
    number: np.ndarray
    total: int
    unit: str = "N"

    @property
    def compatible(self) -> np.ndarray:
        """Normal forces, by which the largest contacts are chosen."""
        return self.force[:, 0]


def tell(rough: Rough, contacts: str | None, intervals: Intervals, out: Path | None) -> bool:
    """Judge, print and store; whether admissible forces were found."""
    from ..diagnostics import determinacy, least_friction, self_stress

    chosen = _chosen(rough, contacts, intervals)
    how = "none" if intervals is Intervals.none or not len(chosen) else "exact"
    found = squeeze = least = None
    rows = dict(rough.rows)
    try:
        found = determinacy(**rows, force=rough.force, contacts=chosen, intervals=how)
    except InputError as error:
        typer.echo(f"which forces are determined is not known: {error}")
    load, slide = rows.pop("load"), rows.pop("sliding_direction", None)
    if np.any(rows["friction"]) and slide is None:
        ratio = np.where(rows["friction"] > 0.0, 1.0, 0.0)
        least = least_friction(**rows | {"friction": ratio}, load=load)
    squeeze = self_stress(**rows)
    largest = largest_first(rough.compatible)[: LIMITS.contacts]
    _show(rough, found, chosen if len(chosen) else largest)
    for part in (found, least, squeeze):
        if part is not None:
            text = part.described(rough.unit) if part is found else part.message
            typer.echo(text)
    _store(out, rough, found, least, squeeze)
    return found is not None


def _chosen(rough: Rough, contacts: str | None, intervals: Intervals) -> np.ndarray:
    if intervals is Intervals.bounds:
        raise InputError("--intervals is bounds; contacts with friction have exact ones, or none")
    if contacts is None and rough.force.shape[1] == 3 and len(rough.force) > LIMITS.cones:
        contacts = "largest"
    many = len(rough.force) > LIMITS.intervals
    if contacts == "largest" and many and intervals is Intervals.auto:
        typer.echo(f"{len(rough.force)} contacts: intervals are left out; --contacts selects some")
        return np.zeros(0, int)
    return chosen_contacts(contacts, rough)


def _show(rough: Rough, found, chosen) -> None:
    """Table of the largest forces among the chosen contacts, with the intervals of their normal
    components and the friction that they mobilise."""
    from rich import box
    from rich.markup import escape

    order = chosen[largest_first(rough.compatible[chosen])][: LIMITS.contacts]
    named = [] if rough.names is None else ["bodies"]
    table = new_table(
        f"{rough.title}: largest forces, {rough.whose} [{rough.unit}]",
        ("contact", *named, "normal", "least", "greatest", "tangential", "mobi-\nlised",
         "deter-\nmined"),
        names="bodies",
        bold="normal",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )  # fmt: skip
    size = np.linalg.norm(rough.force[:, 1:], axis=1)
    bound = rough.rows["friction"] * rough.force[:, 0]
    used = np.divide(size, bound, out=np.full(len(size), np.nan), where=bound > 0.0)
    for i in order:
        row = [str(rough.number[i])] + [escape(rough.names[i]) for _ in named]
        ends = (np.nan, np.nan) if found is None else found.interval[i, 0]
        values = (rough.force[i, 0], *ends, size[i], used[i])
        row += ["?" if np.isnan(v) else f"{v:.6g}" for v in values[:-1]]
        row.append("" if np.isnan(used[i]) else f"{used[i]:.2f}")
        all_of_it = None if found is None else found.determined[i].all()
        table.add_row(*row, "?" if all_of_it is None else "yes" if all_of_it else "no")
    terminal().print(table)


def _store(out: Path | None, rough: Rough, found, least, squeeze) -> None:
    from ..output.results import write_results

    if out is None:
        return
    d = rough.force.shape[1]
    parts = ("normal", "tangential") if d == 2 else ("normal", "tangential_1", "tangential_2")

    def spread(values: np.ndarray, empty: float = 0.0) -> np.ndarray:
        whole = np.full(rough.total, empty)
        whole[rough.number] = values
        return whole

    columns = {} if rough.names is None else {"bodies": rough.names}
    columns |= {part: spread(rough.force[:, k]) for k, part in enumerate(parts)}
    columns["friction"] = spread(np.broadcast_to(rough.rows["friction"], len(rough.force)))
    summary = {"title": rough.title, "unit": rough.unit, "forces": rough.whose}
    if found is not None:
        for k, part in enumerate(parts):
            columns[f"least_{part}"] = spread(found.interval[:, k, 0])
            columns[f"greatest_{part}"] = spread(found.interval[:, k, 1])
        columns |= {
            "determined": spread(found.determined.all(axis=1), True),
            "can_carry": spread(found.can_carry, False),
            "slides_in_all": spread(found.sliding, False),
        }
        summary |= {
            "degree_of_indeterminacy": found.degree,
            "rank": found.rank.rank,
            "rank_tolerance": found.rank.tolerance,
            "doubtful": found.doubtful,
            "intervals": found.interval_method,
            "interval_gap": found.interval_gap,
            "status": str(found.status),
            "residual": found.residual,
        }
    if least is not None:
        summary |= {"least_friction": least.factor, "least_friction_bracket": least.bracket}
    if squeeze is not None:
        columns["can_be_squeezed"] = spread(squeeze.wedged, False)
    write_results(out, summary, columns)
    typer.echo(f"written: {out}" + ("" if found is not None else ", without intervals"))
