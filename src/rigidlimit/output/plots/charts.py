"""How forces are distributed: histogram and probability density of f over its mean.

The mean <f> is over the contacts that carry load (above 1e-6 of the largest force); contacts
without load are left out, and their number is not lost: legends say how many carry.
"""

from typing import TYPE_CHECKING

import numpy as np

from ..._support.words import counted
from ...errors import InputError
from ..measures.statistics import CARRYING
from ..sources import network_of
from .style import LAYOUT, force_unit, label, look, tidy, unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..sources import Source

LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))
MARKS = ("o", "s", "^", "D", "v", "x")


def force_histogram(
    source: "Source",
    *,
    methods: list[str] | None = None,
    bins: int = 30,
    log: bool = False,
    units: tuple[str, float] | None = None,
    dark: bool = False,
) -> "Figure":
    """Numbers of contacts by force over the mean force, one panel a method, common scales.

    Parameters
    ----------
    source
        As of ``measures.body_forces``.
    methods : list of str, optional
        All that the source has by default.
    bins : int
    log : bool
        Logarithmic numbers.
    units : (str, float [N]), optional
        Name and size of the unit of the mean, which the titles state.
    dark : bool
        For dark pages.

    Raises
    ------
    InputError
        For a source without such forces, and where no contact carries.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> step = rl.Simulation(rl.scenes.pyramid(4, drop=0.0)).step()
    >>> figure = rl.plots.force_histogram(step, methods=["compatible"], bins=10)
    >>> rl.plots.save_figure(figure, "histogram.pdf")
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator, NullFormatter

    carrying, means, name = _carrying(source, methods, units)
    edges = np.linspace(0, max(f.max() for f in carrying.values()) * (1 + 1e-12), bins + 1)
    tallest = max(np.histogram(f, edges)[0].max() for f in carrying.values())
    columns = len(carrying) if len(carrying) <= 3 else -(-len(carrying) // 2)
    rows = -(-len(carrying) // columns)
    with look(dark) as p:
        width = 2 * LAYOUT.column if columns > 1 else LAYOUT.column
        figure = Figure(figsize=(width, 0.35 + 2.1 * rows), layout="constrained")
        panels = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
        for k, (panel, (method, f)) in enumerate(zip(panels.flat, carrying.items(), strict=False)):
            panel.hist(f, edges, color=p.marks[1], edgecolor=p.paper, linewidth=0.3)
            mean = f"{counted(len(f), 'contact')}, ⟨f⟩ = {means[method]:.4g} {name}"
            panel.set_title(f"{label(method)}{':' if columns < 3 else chr(10)} {mean}")
            if log:
                panel.set_yscale("log")
                panel.set_ylim(0.5, 10 ** np.ceil(np.log10(1.2 * tallest)))
                panel.yaxis.set_minor_formatter(NullFormatter())
            else:
                panel.yaxis.set_major_locator(MaxNLocator(5, integer=True))
            tidy(panel, p)
            if k + columns >= len(carrying):
                panel.tick_params(labelbottom=True)
        for panel in panels.flat[len(carrying) :]:
            panel.set_visible(False)
        figure.supxlabel("contact force over its mean, f / ⟨f⟩ [-]", fontsize=8)
        figure.supylabel("number of contacts [-]", fontsize=8)
        panels[0, 0].set_xlim(0, edges[-1])
        return figure


def histogram_of(force: np.ndarray) -> "Figure":
    """Numbers of contacts by force over the mean force, for forces (m,) [N] without bodies."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    f = force[force > CARRYING * force.max()]
    factor, name = unit(float(f.mean()), "N")
    with look(False) as p:
        figure = Figure(figsize=(LAYOUT.column, 2.0), layout="constrained")
        panel = figure.subplots()
        panel.hist(f / f.mean(), 20, color=p.marks[1], edgecolor=p.paper, linewidth=0.3)
        panel.yaxis.set_major_locator(MaxNLocator(5, integer=True))
        panel.set_xlim(left=0)
        panel.set_xlabel(f"f / ⟨f⟩ [-], ⟨f⟩ = {f.mean() * factor:.4g} {name}")
        panel.set_ylabel("number of contacts [-]")
        tidy(panel, p)
        return figure


def force_density(
    source: "Source",
    *,
    methods: list[str] | None = None,
    bins: int = 24,
    log: bool = True,
    units: tuple[str, float] | None = None,
    dark: bool = False,
) -> "Figure":
    """Probability density of the force over its mean, all methods in one chart.

    Points at the middles of bins that hold contacts, bars of one standard error
    sqrt(n (1 - n/N))/(N width) for n of N contacts in a bin.

    Parameters
    ----------
    source
        As of ``measures.body_forces``.
    methods : list of str, optional
        All that the source has by default.
    bins : int
    log : bool
        Logarithmic density, on which an exponential tail is a straight line.
    units : (str, float [N]), optional
        Name and size of the unit of the mean.
    dark : bool
        For dark pages.

    Raises
    ------
    InputError
        For a source without such forces, and where no contact carries.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> step = rl.Simulation(rl.scenes.pyramid(4, drop=0.0)).step()
    >>> figure = rl.plots.force_density(step, bins=10)
    >>> rl.plots.save_figure(figure, "density.pdf")
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullFormatter

    carrying, means, name = _carrying(source, methods, units)
    edges = np.linspace(0, max(f.max() for f in carrying.values()) * (1 + 1e-12), bins + 1)
    middle, wide = 0.5 * (edges[1:] + edges[:-1]), edges[1] - edges[0]
    with look(dark) as p:
        figure = Figure(figsize=(LAYOUT.column, 2.4 + 0.15 * len(carrying)), layout="constrained")
        panel = figure.subplots()
        lowest, highest = np.inf, 0.0
        for k, (method, f) in enumerate(carrying.items()):
            count, _ = np.histogram(f, edges)
            density = count / (len(f) * wide)
            error = np.sqrt(count * (1 - count / len(f))) / (len(f) * wide)
            have = count > 0
            lowest, highest = min(lowest, density[have].min()), max(highest, density.max())
            panel.errorbar(
                middle[have],
                density[have],
                # on a logarithmic axis a bar down to zero has no end
                np.minimum(error[have], 0.9 * density[have]) if log else error[have],
                color=p.marks[k % len(p.marks)],
                linestyle=LINES[k % len(LINES)],
                marker=MARKS[k % len(MARKS)],
                # hollow under filled: both are seen where they agree
                markersize=3 if k else 5.5,
                markerfacecolor=p.paper if k == 0 else None,
                linewidth=0.9,
                elinewidth=0.6,
                label=f"{label(method)}: {counted(len(f), 'contact')}, "
                f"⟨f⟩ = {means[method]:.4g} {name}",
            )
        if log:
            panel.set_yscale("log")
            decades = np.floor(np.log10(0.7 * lowest)), np.ceil(np.log10(1.4 * highest))
            # a little below the decade, so that its label clears the corner
            panel.set_ylim(0.6 * 10.0 ** decades[0], 10.0 ** decades[1])
            panel.yaxis.set_minor_formatter(NullFormatter())
        else:
            panel.set_ylim(bottom=0)
        panel.set_xlim(0, edges[-1])
        panel.set_xlabel("contact force over its mean, f / ⟨f⟩ [-]")
        panel.set_ylabel("probability density of f / ⟨f⟩ [-]")
        tidy(panel, p)
        figure.legend(loc="outside upper center", handlelength=2.6)
        return figure


def _carrying(source: "Source", methods, units):
    """{method: f/<f> of the contacts that carry}, {method: <f> in units}, name of the unit."""
    shown = network_of(source)
    methods = shown.chosen(methods)
    largest = max((float(shown.forces[m].max(initial=0.0)) for m in methods), default=0.0)
    if not largest > 0:
        raise InputError(
            f"no contact carries load at t = {shown.time:.4g} s; a chart of forces needs some: "
            "try another frame"
        )
    carrying, means = {}, {}
    for method in methods:
        f = shown.forces[method]
        f = f[f > CARRYING * largest]
        means[method] = float(f.mean()) if len(f) else 0.0
        if len(f):
            carrying[method] = f / means[method]
    factor, name = force_unit(max(means.values()), units)
    return carrying, {k: v * factor for k, v in means.items()}, name
