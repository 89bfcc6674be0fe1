"""A study as one page for the browser: statistics, measures against parameters, P(f)."""

import html
import io
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .. import __version__
from .._support.words import counted
from ..output import plots
from ..output.measures import ForceDistribution, force_distribution
from ..output.page import captioned, table, write_page
from ..output.plots.style import LAYOUT, look, tidy
from .ensemble import Ensemble
from .quantities import PATH

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORCES = "force"
"""The measure whose distribution is drawn."""

STRAIN = PATH + "strain_"
"""Beginning of the measures that loading paths are drawn against."""


def measure_figure(ensemble: Ensemble, measure: str, *, dark: bool = False) -> "Figure":
    """Means and standard errors of a measure, a point a combination of parameters.

    Against the first parameter that has several numbers as values; by the number of the
    combination where there is none. Of one combination, how the samples are distributed.

    Parameters
    ----------
    ensemble : Ensemble
    measure : str
        One that is a number a sample.
    dark : bool
        For dark pages.

    Raises
    ------
    InputError
        For a measure that the study does not have.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> plan = rl.Plan("packing", measures=["contacts"], steps=1)
    >>> found = rl.study(plan, seeds=2, parameters={"count": [8, 12]}, workers=1)
    >>> figure = rl.studies.measure_figure(found, "contacts")
    >>> figure.axes[0].get_xlabel()
    'count'
    """
    from matplotlib.figure import Figure

    if len(ensemble.statistics()) == 1:
        return _samples_figure(ensemble, measure, dark)
    along = _along(ensemble)
    lines: dict[str, list[tuple[float, float, float]]] = {}
    for number, row in enumerate(ensemble.statistics()):
        others = [f"{name} {row[name]}" for name in ensemble.parameters if name != along]
        at = number if along is None else float(row[along])
        name = "" if along is None else ", ".join(others)
        lines.setdefault(name, []).append((at, row[measure], row[f"{measure}_error"]))
    with look(dark) as p:
        figure = Figure(figsize=(LAYOUT.column, 2.5), layout="constrained")
        panel = figure.subplots()
        for number, (name, points) in enumerate(lines.items()):
            x, mean, error = np.array(sorted(points)).T
            mark = p.marks[number % len(p.marks)]
            panel.errorbar(
                x,
                mean,
                np.nan_to_num(error),
                color=mark,
                marker="o",
                markersize=3,
                linewidth=0.6 if along else 0.0,
                elinewidth=0.6,
                label=name,
            )
        panel.set_xlabel(along or "combination of parameters")
        panel.set_ylabel(measure.replace("_", " "))
        tidy(panel, p)
        if len(lines) > 1:
            figure.legend(loc="outside upper center", ncols=2)
        return figure


def _samples_figure(ensemble: Ensemble, measure: str, dark: bool) -> "Figure":
    """Share of the samples up to a value, and their mean within its standard error."""
    from matplotlib.figure import Figure

    (row,), values = ensemble.statistics(), np.sort(np.ravel(ensemble.samples(measure)))
    mean, error = row[measure], np.nan_to_num(row[f"{measure}_error"])
    with look(dark) as p:
        figure = Figure(figsize=(LAYOUT.column, 2.5), layout="constrained")
        panel = figure.subplots()
        share = np.arange(1, len(values) + 1) / len(values)
        panel.step(values, share, where="post", color=p.marks[1], linewidth=0.9)
        panel.axvline(mean, color=p.marks[0], linewidth=0.8)
        panel.axvspan(mean - error, mean + error, color=p.marks[0], alpha=0.25, linewidth=0.0)
        panel.set_ylim(0.0, 1.02)
        panel.set_xlabel(measure.replace("_", " "))
        panel.set_ylabel("share of samples up to it")
        tidy(panel, p)
        return figure


def path_figure(ensemble: Ensemble, measure: str, *, dark: bool = False) -> "Figure":
    """Mean of a column of loading paths over the samples, within its standard error, against the
    first strain that is measured, or the row; a line a combination of parameters."""
    from matplotlib.figure import Figure

    along = next((name for name in ensemble.values if name.startswith(STRAIN)), None)
    with look(dark) as p:
        figure = Figure(figsize=(LAYOUT.column, 2.5), layout="constrained")
        panel = figure.subplots()
        groups = [(values, group) for values, group in ensemble.groups() if group.samples(measure)]
        for number, (parameters, group) in enumerate(groups):
            mean, error = group.profile(measure)
            x = np.arange(len(mean)) if along is None else group.profile(along)[0]
            mark = p.marks[number % len(p.marks)]
            name = ", ".join(f"{key} {value}" for key, value in parameters.items())
            panel.plot(x, mean, color=mark, linewidth=0.9, label=name)
            panel.fill_between(x, mean - error, mean + error, color=mark, alpha=0.25, linewidth=0.0)
        panel.set_xlabel(_spoken(along) if along else "row of the path")
        panel.set_ylabel(_spoken(measure))
        tidy(panel, p)
        if len(groups) > 1:
            figure.legend(loc="outside upper center", ncols=1)
        return figure


def _spoken(measure: str) -> str:
    return measure.removeprefix(PATH).replace("_", " ")


def write_report(path: str | Path, ensemble: Ensemble, *, name: str = "study") -> None:
    """Write the page of a study, self-contained HTML.

    Parameters
    ----------
    path : str or Path
    ensemble : Ensemble
    name : str
        Title of the page.

    Raises
    ------
    OSError
        Where the file cannot be written.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> plan = rl.Plan("packing", measures=["contacts"], steps=1)
    >>> found = rl.study(plan, seeds=2, parameters={"count": 8}, workers=1)
    >>> rl.studies.write_report("piles.html", found, name="piles")
    >>> with open("piles.html") as page:
    ...     page.read()[:15]
    '<!doctype html>'
    """
    path = Path(path)
    parts = [
        f"<h1>{html.escape(name)}</h1>",
        f"<p>{html.escape(ensemble.message)}. rigidlimit {__version__}.</p>",
        _statistics(ensemble),
    ]
    shown = "mean and standard error"
    if len(ensemble.statistics()) == 1:
        shown = "the samples in order, and their mean within its standard error"
    for measure in ensemble.scalars:
        if ensemble.samples(measure):
            caption = f"{measure.replace('_', ' ')}: {shown}"
            parts.append(captioned(_png(measure_figure(ensemble, measure)), caption))
    for measure in ensemble.values:
        if measure.startswith(PATH) and not measure.startswith(STRAIN):
            caption = f"{_spoken(measure)} along the path: mean within its standard error"
            parts.append(captioned(_png(path_figure(ensemble, measure)), caption))
    if FORCES in ensemble.values:
        for parameters, group in ensemble.groups():
            forces = [f for f in group.samples(FORCES) if f.max(initial=0.0) > 0.0]
            if forces:
                listed = ", ".join(f"{key} {value}" for key, value in parameters.items())
                caption = "distribution of normal forces" + (f", {listed}" if listed else "")
                found = force_distribution(forces)
                caption += f"; {_spoken_tail(found)}"
                figure = plots.force_distribution(found, curve="mueth")
                parts.append(captioned(_png(figure), caption))
    failed = [(ensemble.label(i), ensemble.errors[i]) for i in ensemble.failed]
    if failed:
        parts += ["<h2>Samples that failed</h2>", table(("sample", "why"), failed)]
    write_page(path, name, parts)


def _spoken_tail(found: ForceDistribution) -> str:
    """What the picture of P(f) shows."""
    return (
        f"mean of {counted(len(found.contacts), 'sample')} within its standard error. Line: tail "
        f"above {found.tail_from:g} times the mean, exp(-({found.decay:.3g} ± "
        f"{found.decay_error:.2g}) f). Dashed: glass beads on walls, Mueth, Jaeger and Nagel, "
        "Phys. Rev. E 57, 1998, 3164, whose tail is exp(-1.5 f)"
    )


def _statistics(ensemble: Ensemble) -> str:
    names, scalars = list(ensemble.parameters), ensemble.scalars
    headings = [*names, "samples", "failed", *(s.replace("_", " ") for s in scalars)]
    rows = [
        [str(row[n]) for n in (*names, "samples", "failed")]
        + [_within(row[s], row[f"{s}_error"]) for s in scalars]
        for row in ensemble.statistics()
    ]
    return table(headings, rows)


def _within(mean: float, error: float) -> str:
    """The mean to the second digit of its error, and that."""
    if not (np.isfinite(error) and error > 0.0 and 1e-4 <= abs(mean) < 1e9):
        return f"{mean:.6g} ± {error:.2g}"
    decimals = max(0, 1 - int(np.floor(np.log10(error))))
    return f"{mean:.{decimals}f} ± {error:.2g}"


def _along(ensemble: Ensemble) -> str | None:
    for name, values in ensemble.parameters.items():
        if len(set(map(repr, values))) > 1 and all(isinstance(v, int | float) for v in values):
            return name
    return None


def _png(figure: "Figure") -> bytes:
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=200)
    return stream.getvalue()
