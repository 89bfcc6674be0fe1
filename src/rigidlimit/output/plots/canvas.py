"""Figures with pictures of equal scale and colour bars below them, laid out in inches.

Every place is computed from the extent of what is shown, so that nothing overlaps, flat scenes
leave no empty paper, and panels beside one another have one scale.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .style import LAYOUT, Palette, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap, Normalize


@dataclass(frozen=True)
class Margins:
    """Room around and between panels [in]: beside them with ticks (left) and without (right), above
    and below them, for their titles and the heading, between them, for a colour bar and its block,
    between bars, for a note under all."""

    left: float = 0.55
    right: float = 0.15
    top: float = 0.08
    bottom: float = 0.42
    bare: float = 0.1
    title: float = 0.18
    heading: float = 0.25
    gap: float = 0.18
    bar: float = 0.08
    bar_block: float = 0.46
    bar_foot: float = 0.36
    between_bars: float = 0.5
    note: float = 0.2


MARGINS = Margins()


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

    m, (dx, dy) = MARGINS, extent.size
    left, bottom = (m.left, m.bottom) if ticks else (m.right, m.bare)
    columns = 1 if dx > 2.2 * dy else panels if panels <= 3 else -(-panels // 2)
    rows = -(-panels // columns)
    across = 2 * LAYOUT.column if columns > 1 else LAYOUT.column
    room = (across - left - m.right - (columns - 1) * m.gap) / columns
    scale = min(room / dx, (3.4 if rows == 1 else 2.6) / dy)
    w, h = dx * scale, dy * scale
    needed = left + m.right + columns * w + (columns - 1) * m.gap
    width = max(LAYOUT.column, needed)
    below_note = m.note if note else 0.0
    foot = bottom + (m.bar_block if bars else 0.0) + below_note
    row = h + (m.title if titled else 0.0) + m.gap
    height = m.top + (m.heading if heading else 0.0) + rows * row - m.gap + foot
    figure = Figure(figsize=(width, height))
    start = left + 0.5 * (width - needed)
    axes = []
    for k in range(panels):
        r, c = divmod(k, columns)
        x, y = start + c * (w + m.gap), foot + (rows - 1 - r) * row
        panel = figure.add_axes((x / width, y / height, w / width, h / height))
        axes.append(panel)
        panel.set_aspect("equal")
        panel.set_xlim(extent.low[0], extent.high[0])
        panel.set_ylim(extent.low[1], extent.high[1])
        if not ticks:
            panel.set_axis_off()
            continue
        tidy(panel, p)
        panel.tick_params(labelleft=c == 0, labelbottom=r == rows - 1)
    if heading:
        figure.text(0.5, 1 - m.top / height, heading, ha="center", va="top")
    return Canvas(figure, axes, _bars(figure, bars, m.bar_foot + below_note), 72 * scale)


def _bars(figure, bars: int, foot: float) -> list:
    """Axes of colour bars beside one another, ``foot`` [in] above the lower edge."""
    m, (width, height) = MARGINS, figure.get_size_inches()
    between = (bars - 1) * m.between_bars
    length = min(2.6, (width - m.left - m.right - between) / max(bars, 1))
    first = 0.5 * (width + m.left - m.right - bars * length - between)
    return [
        figure.add_axes(
            (
                (first + k * (length + m.between_bars)) / width,
                foot / height,
                length / width,
                m.bar / height,
            )
        )
        for k in range(bars)
    ]


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
