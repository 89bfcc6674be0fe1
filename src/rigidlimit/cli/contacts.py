"""What ``determinacy`` and ``solve`` share: which contacts, one table, one file of results."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import typer

from ..errors import InputError
from .options import LIMITS, Intervals
from .tables import new_table, terminal

if TYPE_CHECKING:
    from ..diagnostics import Determinacy


@dataclass(frozen=True)
class Rigid:
    """Contacts under a load, ready to be judged. names (m,): a label each, or None.

    number (m,): what the user calls them, of ``total``; those missing are open. classic, compatible
    (m,): forces of contact dynamics and of stiff elastic bodies, in ``unit``.
    """

    title: str
    B: object
    load: np.ndarray
    fixed: np.ndarray | None
    blocks: np.ndarray | None
    classic: np.ndarray
    compatible: np.ndarray
    names: list[str] | None
    number: np.ndarray
    total: int
    unit: str = "N"


def chosen_contacts(text: str | None, rigid: Rigid):
    """Indices from --contacts; by default all of a small system, the largest forces of a big one.

    text: "all", "largest", or numbers like 0,5,7-9.
    """
    from ..diagnostics.tolerances import TOLERANCES

    m = len(rigid.compatible)
    if text == "all" or (text is None and m <= TOLERANCES.all_intervals):
        return np.arange(m)
    if text is None or text == "largest":
        return largest_first(rigid.compatible)[: LIMITS.contacts]
    try:
        out = []
        for part in text.split(","):
            first, _, last = part.partition("-")
            out += range(int(first), int(last or first) + 1)
    except ValueError:
        raise InputError(
            f"--contacts is {text!r}; expected all, largest, or numbers like 0,5,7-9"
        ) from None
    if not out or min(out) < 0 or max(out) >= rigid.total:
        raise InputError(f"--contacts is {text!r}; there are the contacts 0 to {rigid.total - 1}")
    return np.flatnonzero(np.isin(rigid.number, out))


def largest_first(force: np.ndarray) -> np.ndarray:
    return np.argsort(-force, kind="stable")


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
    from rich import box
    from rich.markup import escape

    order = chosen[largest_first(rigid.compatible[chosen])][: LIMITS.contacts]
    named = [] if rigid.names is None else ["bodies"]
    table = new_table(
        f"{rigid.title}: largest forces [{rigid.unit}]",
        ("contact", *named, "classic", "compatible", "least", "greatest", "deter-\nmined"),
        names="bodies",
        bold="compatible",
        # without lines between the columns: there is no room for them beside the numbers
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
    for i in order:
        row = [str(rigid.number[i])] + [escape(rigid.names[i]) for _ in named]
        interval = (np.nan, np.nan) if found is None else found.interval[i]
        values = (rigid.classic[i], rigid.compatible[i], *interval)
        row += ["?" if np.isnan(v) else f"{v:.6g}" for v in values]
        table.add_row(*row, "?" if found is None else "yes" if found.determined[i] else "no")
    terminal().print(table)


def store(
    out: Path | None,
    rigid: Rigid,
    found: "Determinacy | None",
    more: Mapping[str, object] = MappingProxyType({}),
) -> None:
    """Write the file of results, if requested. found: None as long as it is not known;
    more: further values of the whole."""
    from ..output.results import write_results

    if out is not None:
        write_results(out, _summary(rigid, found) | dict(more), _columns(rigid, found))
        typer.echo(f"written: {out}" + ("" if found is not None else ", without intervals"))


def _columns(rigid: Rigid, found) -> dict:
    """One column a quantity, for the file of results. Open contacts carry nothing, for sure."""

    def spread(values: np.ndarray, open_value: float = 0.0) -> np.ndarray:
        out = np.full(rigid.total, open_value)
        out[rigid.number] = values
        return out

    named = {} if rigid.names is None else {"bodies": rigid.names}
    forces = {"classic": spread(rigid.classic), "compatible": spread(rigid.compatible)}
    if found is None:
        return named | forces
    return (
        named
        | forces
        | {
            "least": spread(found.interval[:, 0]),
            "greatest": spread(found.interval[:, 1]),
            "determined": spread(found.determined, True),
            "can_carry": spread(found.can_carry, False),
        }
    )


def _summary(rigid: Rigid, found) -> dict:
    """What the file of results says of the whole."""
    whole = {"title": rigid.title, "unit": rigid.unit}
    if found is None:
        return whole
    return whole | {
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
    }
