"""Stress and void ratio of a loading path against the strain that it drives."""

from typing import TYPE_CHECKING, Protocol

import numpy as np

from ...errors import InputError
from .style import LAYOUT, look, tidy, unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STRESSES = ("pressure", "deviator")


class Followed(Protocol):
    """What has the table of a path, as a ``LoadingPath``."""

    table: np.ndarray


def stress_strain(path: Followed | np.ndarray, *, strain: str | None = None, dark: bool = False):
    """Pressure and deviator above, void ratio below, against a strain; steps that were not solved
    are hollow.

    path: a ``LoadingPath`` or its table. strain: a component, like "xy"; by default the one that
    goes farthest. Raises InputError for another name, and where the table is empty.
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
    factor, shown = unit(max(np.abs(table[name]).max() for name in STRESSES), base)
    with look(dark) as p:
        figure = Figure(figsize=(LAYOUT.column, 3.6), layout="constrained")
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))

        def line(
            panel: "Axes", values: np.ndarray, colour: str, label: str | None, mark: str
        ) -> None:
            x = table[f"strain_{along}"]
            panel.plot(x, values, color=colour, linewidth=0.8, label=label)
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
