"""Figures with pictures of equal scale and colour bars below them, laid out in inches.

Every place is computed from the extent of what is shown, so that nothing overlaps, flat scenes
leave no empty paper, and panels beside one another have one scale.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .style import COLUMN, Palette, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap, Normalize

LEFT, RIGHT, TOP, BOTTOM = 0.55, 0.15, 0.08, 0.42
TITLE, GAP, BAR, BAR_BLOCK = 0.18, 0.18, 0.08, 0.46


@dataclass(frozen=True)
class Extent:
    """The part of the plane that is shown [m]."""

    low: np.ndarray
    high: np.ndarray

    @property
    def size(self) -> np.ndarray:
        return self.high - self.low

    def widened(self, flattest: float = 0.32, tallest: float = 2.2) -> "Extent":
        """Not flatter and not taller than these ratios of height over width."""
        dx, dy = self.size
        size = np.array([max(dx, dy / tallest), max(dy, dx * flattest)])
        middle = 0.5 * (self.low + self.high)
        return Extent(middle - size / 2, middle + size / 2)


@dataclass(frozen=True)
class Canvas:
    """A figure, its panels, axes for its colour bars, and the scale of its panels [pt per m]."""

    figure: object
    panels: list
    bars: list
    points: float


def canvas(
    p: Palette,
    extent: Extent,
    *,
    panels: int,
    bars: int,
    titled: bool,
    heading: str = "",
    ticks: bool = True,
    note: bool = False,
) -> Canvas:
    """Panels of one scale in rows that fit two columns of print, colour bars under them."""
    from matplotlib.figure import Figure

    dx, dy = extent.size
    left, bottom = (LEFT, BOTTOM) if ticks else (RIGHT, 0.1)
    columns = 1 if dx > 2.2 * dy else panels if panels <= 3 else -(-panels // 2)
    rows = -(-panels // columns)
    across = 2 * COLUMN if columns > 1 else COLUMN
    room = (across - left - RIGHT - (columns - 1) * GAP) / columns
    scale = min(room / dx, (3.4 if rows == 1 else 2.6) / dy)
    w, h = dx * scale, dy * scale
    needed = left + RIGHT + columns * w + (columns - 1) * GAP
    width = max(COLUMN, needed)
    title = TITLE if titled else 0.0
    row = h + title + (GAP if rows > 1 else 0.0)
    foot = bottom + (BAR_BLOCK if bars else 0.0) + (0.2 if note else 0.0)
    height = TOP + (0.25 if heading else 0.0) + rows * row - (GAP if rows > 1 else 0.0) + foot
    figure = Figure(figsize=(width, height))
    start = left + 0.5 * (width - needed)
    axes = []
    for k in range(panels):
        r, c = divmod(k, columns)
        x = start + c * (w + GAP)
        y = foot + (rows - 1 - r) * row
        panel = figure.add_axes((x / width, y / height, w / width, h / height))
        panel.set_aspect("equal")
        panel.set_xlim(extent.low[0], extent.high[0])
        panel.set_ylim(extent.low[1], extent.high[1])
        if ticks:
            tidy(panel, p)
            if c:
                panel.tick_params(labelleft=False)
            if r < rows - 1:
                panel.tick_params(labelbottom=False)
        else:
            panel.set_axis_off()
        axes.append(panel)
    if heading:
        figure.text(0.5, 1 - TOP / height, heading, ha="center", va="top")
    between = 0.5
    length = min(2.6, (width - LEFT - RIGHT - (bars - 1) * between) / max(bars, 1))
    used = bars * length + (bars - 1) * between
    places = []
    y = (0.36 + (0.2 if note else 0.0)) / height
    for k in range(bars):
        x = 0.5 * (width + LEFT - RIGHT - used) + k * (length + between)
        places.append(figure.add_axes((x / width, y, length / width, BAR / height)))
    return Canvas(figure, axes, places, 72 * scale)


def colour_bar(
    axes: "Axes", scale: "Normalize", colours: "Colormap", text: str, p: Palette, **options
) -> None:
    """A horizontal colour bar with its label."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.ticker import MaxNLocator

    bar = axes.figure.colorbar(
        ScalarMappable(scale, colours), cax=axes, orientation="horizontal", **options
    )
    bar.set_label(text, color=p.ink, labelpad=1)
    bar.locator = MaxNLocator(4)
    bar.update_ticks()
    bar.outline.set_linewidth(0.4)
    bar.outline.set_edgecolor(p.ink)
    axes.tick_params(color=p.ink, labelcolor=p.ink, labelsize=7, width=0.6, length=2, pad=1.5)
