"""Stress and void ratio of a loading path against the strain that it drives."""

from typing import TYPE_CHECKING, Protocol

import numpy as np

from ...errors import InputError
from .style import LAYOUT, look, tidy, unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STRESSES = ("pressure", "deviator")


class Followed(Protocol):
    """What has the table of a path, as a ``LoadingPath``."""

    table: np.ndarray


def stress_strain(
    path: Followed | np.ndarray, *, strain: str | None = None, dark: bool = False
) -> "Figure":
    """Pressure and deviator above, void ratio below, against a strain.

    Steps that were not solved are hollow. The strain of each leg starts at 0, where the path
    before it ended, and that of a path at its first row: a line each.

    Parameters
    ----------
    path : LoadingPath or structured array
        A path, or its table.
    strain : str, optional
        A component, like "xy"; by default the one that goes farthest.
    dark : bool
        For dark pages.

    Raises
    ------
    InputError
        For another component, and where the table is empty.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> scene = rl.Scene(cell=(0.6, 1, 1))
    >>> balls = scene.add_many(rl.Sphere(0.1), [(0, 0, 0), (0.2, 0, 0), (0.4, 0, 0)])
    >>> path = rl.paths.oedometer(scene, stresses=[1.0, 2.0], axis="x")
    >>> figure = rl.plots.stress_strain(path)
    >>> rl.plots.save_figure(figure, "oedometer.pdf")
    """
    from matplotlib.figure import Figure

    table = getattr(path, "table", path)
    if not len(table):
        raise InputError("the path has no rows yet; expected one that was followed")
    names = [name.removeprefix("strain_") for name in table.dtype.names if "strain_" in name]
    if strain is not None and strain not in names:
        raise InputError(f"strain is {strain!r}; expected one of {', '.join(names)}")
    along = strain or max(names, key=lambda name: np.ptp(table[f"strain_{name}"]))
    solved = table["converged"].astype(bool)
    base = "Pa" if "zz" in names else "N/m"
    x, legs = _of_legs(table, table[f"strain_{along}"])
    factor, shown = unit(max(np.abs(table[name]).max() for name in STRESSES), base)
    with look(dark) as p:
        figure = Figure(figsize=(LAYOUT.column, 3.6), layout="constrained")
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))

        def line(
            panel: "Axes", values: np.ndarray, colour: str, label: str | None, mark: str
        ) -> None:
            for k, rows in enumerate(legs):
                named = label if k == 0 else None
                panel.plot(x[rows], values[rows], color=colour, linewidth=0.8, label=named)
            for which, face in ((solved, colour), (~solved, p.paper)):
                panel.plot(
                    x[which], values[which], color=colour, linestyle="none", marker=mark,
                    markersize=2.5, markerfacecolor=face, markeredgewidth=0.6,
                )  # fmt: skip

        for name, mark, colour in zip(STRESSES, "os", (p.marks[1], p.marks[0]), strict=True):
            line(above, factor * table[name], colour, name, mark)
        line(below, table["void_ratio"], p.ink, None, "o")
        above.set_ylabel(f"stress [{shown}]")
        below.set_ylabel("void ratio [-]")
        below.set_xlabel(f"strain {along} [-]")
        for panel in (above, below):
            tidy(panel, p)
        figure.legend(*above.get_legend_handles_labels(), loc="outside upper center", ncols=2)
        return figure


def _of_legs(table: np.ndarray, strain: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """(strain less that at the start of its part of the path, rows of each part).

    A part is a driven leg, or stages one after the other. A row has the strain where its step
    began: the first of a driven leg that of its start. The first stage of a path is its own start:
    loose packings go far to get there.
    """
    leg = table["leg"]
    steps = np.array([np.count_nonzero(leg == each) for each in leg])
    # stages are legs of one row; those in a row are one part
    part = np.cumsum(np.r_[True, (leg[1:] != leg[:-1]) & ((steps[1:] > 1) | (steps[:-1] > 1))])
    rows = [np.flatnonzero(part == each) for each in np.unique(part)]
    out = strain.copy()
    for k, own in enumerate(rows):
        driven = steps[own[0]] > 1
        begun = strain[own[0]] if driven or not k else strain[rows[k - 1][-1]]
        out[own] -= begun
    return out, rows
