"""Style of all figures: type sizes of journals, colours that colour-blind readers can
distinguish, light and dark, numbers in units of a handy size.

Forces run from faint to strong against the background: light to dark on white, dark to light on
black. Bodies stay grey, so that hue belongs to forces alone.
"""

import io
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..._support.atomic import whole_file
from ...errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Layout:
    """Sizes of what figures show.

    Attributes
    ----------
    column : width of one column of print [in]; two columns are twice that.
    force_line : width of the line of the largest force [pt], less where bodies are small.
    thrust_line : the same of the largest thrust.
    arrow : width of the arrows of tangential forces, over the width of a panel.
    shift : largest displacement in the picture of a mechanism, over the size of what is shown.
    rounding : angle [rad] in that picture below which a body only shifts; resultant, over the
        largest, below which a joint counts as idle.
    beyond : largest force of a panel over the least of the others above which it is beyond their
        scale.
    pixels : larger side of an image in space: 400 dots per inch in one column of print.
    """

    column: float = 3.5
    force_line: float = 4.5
    thrust_line: float = 3.0
    arrow: float = 0.004
    shift: float = 0.06
    rounding: float = 1e-9
    beyond: float = 10.0
    pixels: int = 1400


LAYOUT = Layout()

FORMATS = ("pdf", "png", "svg")

LABELS = {
    "classic": "classic",
    "compatible": "compatible",
    "dem": "DEM",
    "pgs": "classic, PGS",
    "pgs permuted": "classic, PGS permuted",
    "apgd": "classic, APGD",
}
"""Names of methods as figures show them; others are shown as they are."""


@dataclass(frozen=True)
class Palette:
    """Colours of one look. ``marks``: for methods in charts (Okabe and Ito, CUD 2008)."""

    paper: str
    ink: str
    faint: str
    ground: str
    edge: str
    grey: tuple[float, float]
    force: tuple[str, float, float]
    marks: tuple[str, ...]


LIGHT = Palette(
    paper="white",
    ink="#1a1a1a",
    faint="#b0b0b0",
    ground="#d9d9d9",
    edge="#8c8c8c",
    grey=(0.97, 0.62),
    force=("plasma_r", 0.14, 0.77),
    marks=("#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"),
)
DARK = Palette(
    paper="#121212",
    ink="#e8e8e8",
    faint="#6a6a6a",
    ground="#333333",
    edge="#707070",
    grey=(0.15, 0.40),
    force=("plasma", 0.34, 1.0),
    marks=("#e69f00", "#56b4e9", "#009e73", "#cc79a7", "#d55e00", "#0072b2"),
)


def palette(dark: bool) -> Palette:
    return DARK if dark else LIGHT


@contextmanager
def look(dark: bool):
    """Matplotlib's settings for a figure made inside; yields the palette."""
    import matplotlib

    p = palette(dark)
    settings = {
        "font.size": 8,
        "axes.titlesize": 8,
        "axes.labelsize": 8,
        "xtick.labelsize": 7,
        "ytick.labelsize": 7,
        "legend.fontsize": 7,
        "legend.frameon": False,
        "axes.linewidth": 0.6,
        "figure.facecolor": p.paper,
        "savefig.facecolor": p.paper,
        "axes.facecolor": p.paper,
        "axes.edgecolor": p.ink,
        "axes.labelcolor": p.ink,
        "text.color": p.ink,
        "xtick.color": p.ink,
        "ytick.color": p.ink,
    }
    with matplotlib.rc_context(settings):
        yield p


def tidy(axes: "Axes", p: Palette) -> None:
    """Ticks take their look when they are drawn, so it is set on the axes; no box around charts."""
    axes.tick_params(
        which="both", color=p.ink, labelcolor=p.ink, labelsize=7, width=0.6, length=2.5, pad=2
    )
    axes.tick_params(which="minor", length=1.5)
    for side in ("top", "right"):
        if side in axes.spines:
            axes.spines[side].set_visible(False)


def force_colours(p: Palette):
    """Colour map of forces, cut so that even small ones stand off the background, and so that the
    largest differ from one another where they fill an area."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    name, low, high = p.force
    return ListedColormap(colormaps[name](np.linspace(low, high, 256)), name="force")


def pressure_colours(p: Palette):
    """Greys of the bodies."""
    from matplotlib.colors import ListedColormap

    grey = np.linspace(*p.grey, 256)
    return ListedColormap(np.column_stack([grey, grey, grey]), name="pressure")


_STEPS = {9: "G", 6: "M", 3: "k", 0: "", -3: "m", -6: "\N{MICRO SIGN}", -9: "n"}


def unit(largest: float, base: str) -> tuple[float, str]:
    """(factor, unit) that shows numbers up to ``largest`` [base] between 1 and 1000.

    >>> unit(0.0025, "N")
    (1000.0, 'mN')
    """
    if not (np.isfinite(largest) and largest > 0):
        return 1.0, base
    # 0.3 m is better read than 300 mm, and 1e-16 N of rounding is no nanonewton
    exponent = int(np.clip(3 * np.floor(np.log10(largest / 0.3) / 3), -9, 9))
    return 10.0**-exponent, f"{_STEPS[exponent]}{base}"


def force_unit(largest: float, units: tuple[str, float] | None) -> tuple[float, str]:
    """(factor, unit) for forces up to ``largest`` [N]; units: (name, its size in N), if given."""
    return unit(largest, "N") if units is None else (1 / units[1], units[0])


def label(method: str) -> str:
    return LABELS.get(method, method)


def figure_format(path: str | Path) -> str:
    """The format that the ending of ``path`` names, one of FORMATS."""
    ending = Path(path).suffix.lstrip(".").lower()
    if ending not in FORMATS:
        raise InputError(
            f"{path}: figures are written as {', '.join(FORMATS)}; found the ending {ending!r}"
        )
    return ending


def save_figure(figure: "Figure", path: str | Path) -> None:
    """Write a figure by the ending of the file's name, whole or not at all.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    path : str or Path
        Ends with .pdf, .png or .svg.

    Raises
    ------
    InputError
        For another ending.
    OutputError
        Where the file cannot be written.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> figure = rl.plots.scene_figure(rl.scenes.beam())
    >>> rl.plots.save_figure(figure, "beam.svg")
    """
    import matplotlib

    ending = figure_format(path)
    image = io.BytesIO()  # of a disk that is full the PDF writer makes a zlib.error
    # 42: text stays text in PDF, as journals require
    with matplotlib.rc_context({"pdf.fonttype": 42}):
        figure.savefig(image, format=ending, dpi=300)
    with whole_file(path) as temporary:
        temporary.write_bytes(image.getbuffer())
