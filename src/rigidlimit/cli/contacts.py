"""What ``determinacy`` and ``solve`` show of contacts: which, one table, one file of results.

Contacts without friction are ``Rigid``, with it ``Rough``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import typer

from ..errors import InputError, MissingExtra
from .options import LIMITS, Intervals
from .tables import new_table, terminal

if TYPE_CHECKING:
    from ..diagnostics import Determinacy


@dataclass(frozen=True, kw_only=True)
class _Closed:
    """Closed contacts under a load, ready to be judged. names (m,): a label each, or None.

    number (m,): what the user calls them, of ``total``; those missing are open. unit: of forces.
    """

    title: str
    names: list[str] | None
    number: np.ndarray
    total: int
    unit: str = "N"

    def table(self, title: str, columns: tuple[str, ...], bold: str):
        """A table of these contacts with the given columns, after those that say which they are."""
        from rich import box

        return new_table(
            f"{self.title}: {title} [{self.unit}]",
            ("contact", *([] if self.names is None else ["bodies"]), *columns),
            names="bodies",
            bold=bold,
            # without lines between the columns: there is no room for them beside the numbers
            box=box.SIMPLE_HEAD,
            show_edge=False,
            pad_edge=False,
            padding=(0, 1, 0, 0),
        )

    def which(self, i: int) -> list[str]:
        """The first columns of the table, of contact i."""
        from rich.markup import escape

        return [str(self.number[i]), *([] if self.names is None else [escape(self.names[i])])]

    def spread(self, values: np.ndarray, empty: float = 0.0) -> np.ndarray:
        """Values of these contacts on all; ``empty`` on open ones."""
        whole = np.full(self.total, empty)
        whole[self.number] = values
        return whole

    def write(self, out: Path, summary: dict, columns: dict, known: bool) -> None:
        """The file of results; known: whether intervals are among them."""
        from ..output.results import write_results

        named = {} if self.names is None else {"bodies": self.names}
        write_results(out, {"title": self.title, "unit": self.unit} | summary, named | columns)
        typer.echo(f"written: {out}" + ("" if known else ", without intervals"))


@dataclass(frozen=True, kw_only=True)
class Rigid(_Closed):
    """Without friction. classic, compatible (m,): forces of contact dynamics and of stiff elastic
    bodies, in ``unit``."""

    B: object
    load: np.ndarray
    fixed: np.ndarray | None
    blocks: np.ndarray | None
    classic: np.ndarray
    compatible: np.ndarray


@dataclass(frozen=True, kw_only=True)
class Rough(_Closed):
    """With friction; m contacts of d components.

    rows: B, load, tangential, friction, fixed and blocks as ``rigidlimit.determinacy`` takes them.
    force (m, d): normal first, in ``unit``; whose: what they are called.
    """

    rows: dict
    force: np.ndarray
    whose: str

    @property
    def compatible(self) -> np.ndarray:
        """Normal forces, by which the largest contacts are chosen."""
        return self.force[:, 0]


def chosen_contacts(text: str | None, closed: Rigid | Rough):
    """Indices from --contacts; by default all of a small system, the largest forces of a big one.

    text: "all", "largest", or numbers like 0,5,7-9.
    """
    from ..diagnostics.tolerances import TOLERANCES

    m = len(closed.compatible)
    if text == "all" or (text is None and m <= TOLERANCES.all_intervals):
        return np.arange(m)
    if text is None or text == "largest":
        return largest_first(closed.compatible)[: LIMITS.contacts]
    try:
        out = []
        for part in text.split(","):
            first, _, last = part.partition("-")
            out += range(int(first), int(last or first) + 1)
    except ValueError:
        raise InputError(
            f"--contacts is {text!r}; expected all, largest, or numbers like 0,5,7-9"
        ) from None
    if not out or min(out) < 0 or max(out) >= closed.total:
        raise InputError(f"--contacts is {text!r}; there are the contacts 0 to {closed.total - 1}")
    return np.flatnonzero(np.isin(closed.number, out))


def largest_first(force: np.ndarray) -> np.ndarray:
    return np.argsort(-force, kind="stable")


def _number(value: float) -> str:
    return "?" if np.isnan(value) else f"{value:.6g}"


def _yes(known: bool | None) -> str:
    return "?" if known is None else "yes" if known else "no"


def judge(
    rigid: Rigid, contacts: str | None, intervals: Intervals
) -> "tuple[Determinacy | None, np.ndarray]":
    """(Determinacy, chosen indices); prints a message and returns None where there are no
    admissible forces, so that the forces themselves are still shown and stored."""
    from rich.console import Console

    from ..diagnostics import determinacy

    chosen = chosen_contacts(contacts, rigid)
    many = len(rigid.compatible) > LIMITS.intervals
    if contacts is None and intervals is Intervals.auto and many:
        intervals = Intervals.none
        typer.echo(
            f"{len(rigid.compatible)} contacts: least and greatest forces would take minutes; "
            "--contacts largest, or numbers like 0,5,7-9, selects some"
        )
    with Console(stderr=True).status(f"judging {len(rigid.compatible)} contacts"):
        try:
            found = determinacy(
                rigid.B,
                rigid.load,
                force=rigid.compatible,
                fixed=rigid.fixed,
                blocks=rigid.blocks,
                contacts=chosen,
                intervals=str(intervals),
            )
        except InputError as error:
            typer.echo(f"which forces are determined is not known: {error}")
            return None, chosen
    return found, chosen


def show(rigid: Rigid, found: "Determinacy | None", chosen: np.ndarray) -> None:
    """Table of the largest forces among the chosen contacts, with their intervals."""
    columns = "classic", "compatible", "least", "greatest", "deter-\nmined"
    table = rigid.table("largest forces", columns, "compatible")
    for i in chosen[largest_first(rigid.compatible[chosen])][: LIMITS.contacts]:
        interval = (np.nan, np.nan) if found is None else found.interval[i]
        values = (rigid.classic[i], rigid.compatible[i], *interval)
        determined = None if found is None else found.determined[i]
        table.add_row(*rigid.which(i), *map(_number, values), _yes(determined))
    terminal().print(table)


def store(
    out: Path | None,
    rigid: Rigid,
    found: "Determinacy | None",
    more: Mapping[str, object] = MappingProxyType({}),
) -> None:
    """Write the file of results, if requested. found: None as long as it is not known; more:
    further values of the whole. Open contacts carry nothing, for sure."""
    if out is None:
        return
    spread, summary = rigid.spread, dict(more)
    columns = {"classic": spread(rigid.classic), "compatible": spread(rigid.compatible)}
    if found is not None:
        columns |= {
            "least": spread(found.interval[:, 0]),
            "greatest": spread(found.interval[:, 1]),
            "determined": spread(found.determined, True),
            "can_carry": spread(found.can_carry, False),
        }
        summary = {
            "degree_of_indeterminacy": found.degree,
            "nullity": found.nullity,
            "rank": found.rank.rank,
            "rank_method": found.rank.method,
            "rank_tolerance": found.rank.tolerance,
            "near_null_singular_values": found.rank.near_null[:20],
            "force_threshold": found.threshold,
            "doubtful": found.doubtful,
            "intervals": found.interval_method,
            "widest_interval": found.diameter,
            "distance_of_compatible_forces": found.distance,
            "floating_bodies": found.floating,
            "rattlers": found.rattlers,
        } | summary
    rigid.write(out, summary, columns, found is not None)


def tell(rough: Rough, contacts: str | None, intervals: Intervals, out: Path | None) -> bool:
    """Judge, print and store; whether admissible forces were found."""
    from ..diagnostics import determinacy, least_friction, self_stress

    chosen = _chosen_rough(rough, contacts, intervals)
    how = "none" if intervals is Intervals.none or not len(chosen) else "exact"
    found = squeeze = least = None
    rows = dict(rough.rows)
    try:
        found = determinacy(**rows, force=rough.force, contacts=chosen, intervals=how)
    except (InputError, MissingExtra) as error:
        typer.echo(f"which forces are determined is not known: {error}")
    load, slide = rows.pop("load"), rows.pop("sliding_direction", None)
    if np.any(rows["friction"]) and slide is None:
        ratio = np.where(rows["friction"] > 0.0, 1.0, 0.0)
        least = least_friction(**rows | {"friction": ratio}, load=load)
    squeeze = self_stress(**rows)
    largest = largest_first(rough.compatible)[: LIMITS.contacts]
    _show_rough(rough, found, chosen if len(chosen) else largest)
    for part in (found, least, squeeze):
        if part is not None:
            text = part.described(rough.unit) if part is found else part.message
            typer.echo(text)
    if out is not None:
        _store_rough(out, rough, found, least, squeeze)
    return found is not None


def _chosen_rough(rough: Rough, contacts: str | None, intervals: Intervals) -> np.ndarray:
    if intervals is Intervals.bounds:
        raise InputError("--intervals is bounds; contacts with friction have exact ones, or none")
    if contacts is None and rough.force.shape[1] == 3 and len(rough.force) > LIMITS.cones:
        contacts = "largest"
    many = len(rough.force) > LIMITS.intervals
    if contacts == "largest" and many and intervals is Intervals.auto:
        typer.echo(f"{len(rough.force)} contacts: intervals are left out; --contacts selects some")
        return np.zeros(0, int)
    return chosen_contacts(contacts, rough)


def _show_rough(rough: Rough, found, chosen) -> None:
    """As ``show``, with the intervals of normal components and the friction that is mobilised."""
    columns = "normal", "least", "greatest", "tangential", "mobi-\nlised", "deter-\nmined"
    table = rough.table(f"largest forces, {rough.whose}", columns, "normal")
    size = np.linalg.norm(rough.force[:, 1:], axis=1)
    bound = rough.rows["friction"] * rough.force[:, 0]
    used = np.divide(size, bound, out=np.full(len(size), np.nan), where=bound > 0.0)
    for i in chosen[largest_first(rough.compatible[chosen])][: LIMITS.contacts]:
        interval = (np.nan, np.nan) if found is None else found.interval[i, 0]
        values = (rough.force[i, 0], *interval, size[i])
        mobilised = "" if np.isnan(used[i]) else f"{used[i]:.2f}"
        determined = None if found is None else found.determined[i].all()
        table.add_row(*rough.which(i), *map(_number, values), mobilised, _yes(determined))
    terminal().print(table)


def _store_rough(out: Path, rough: Rough, found, least, squeeze) -> None:
    parts, spread = parts_of_force(rough.force.shape[1]), rough.spread
    columns = {part: spread(rough.force[:, k]) for k, part in enumerate(parts)}
    columns["friction"] = spread(np.broadcast_to(rough.rows["friction"], len(rough.force)))
    summary = {"forces": rough.whose}
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
    rough.write(out, summary, columns, found is not None)


def parts_of_force(d: int) -> tuple[str, ...]:
    """Names of the d components of a rough contact's force, as of its velocity."""
    return ("normal", "tangential") if d == 2 else ("normal", "tangential_1", "tangential_2")
