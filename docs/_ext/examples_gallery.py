"""The gallery: its order, and its pictures, the ``figure`` of an example after each block.

Figures of ``rigidlimit.plots`` are drawn twice, light and dark, and the page shows the one that
goes with its theme; figures made otherwise keep their white paper.
"""

from functools import wraps
from pathlib import Path

from sphinx_gallery.scrapers import figure_rst

from rigidlimit import plots

ORDER = [
    "beam",
    "table",
    "block_on_legs",
    "determinacy",
    "disk_in_corner",
    "hertz_or_hooke",
    "bearing",
    "pyramid",
    "two_materials",
    "wall",
    "own_shape",
    "packing",
    "dem_check",
    "own_engine",
    "mujoco_beam",
    "mujoco_walk",
    "mujoco_regrasp",
    "mujoco_peg",
    "mujoco_push",
    "stop_and_resume",
]


class Order:
    """Place of an example in the gallery; new ones come last."""

    def __init__(self, folder):
        pass

    def __call__(self, name):
        stem = Path(name).stem
        return ORDER.index(stem) if stem in ORDER else len(ORDER)

    def __repr__(self):
        return "<Order>"


_seen = {}
DRAWING = (
    "collapse_mechanism",
    "comparison",
    "determinacy_map",
    "floor_forces",
    "force_density",
    "force_histogram",
    "force_network",
    "scene_figure",
    "thrust_line",
)


def _remembering(draw):
    """``draw``, whose figures know how to be drawn again for a dark page."""

    @wraps(draw)
    def drawn(*arguments, **options):
        figure = draw(*arguments, **options)
        figure.in_the_dark = lambda: draw(*arguments, **{**options, "dark": True})
        return figure

    return drawn


for _name in DRAWING:
    setattr(plots, _name, _remembering(getattr(plots, _name)))


def scraper(block, block_vars, gallery_conf):
    figure = block_vars["example_globals"].get("figure")
    source = block_vars["src_file"]
    if figure is None or _seen.get(source) is figure:
        return ""
    _seen[source] = figure
    paths, folder = block_vars["image_path_iterator"], gallery_conf["src_dir"]
    again = getattr(figure, "in_the_dark", None)
    if again is None:
        path = next(paths)
        figure.savefig(path, dpi=200)
        return figure_rst([path], folder)
    return _picture(figure, next(paths), folder, "only-light") + _picture(
        again(), next(paths), folder, "only-dark"
    )


def _picture(figure, path, folder, theme):
    """A picture for pages of one theme; ``figure_rst`` keeps a single class of its pictures."""
    figure.savefig(path, dpi=200)
    place = Path(path).relative_to(folder).as_posix()
    name = Path(path).stem.removeprefix("sphx_glr_").rsplit("_", 1)[0].replace("_", " ")
    return f"""
.. image:: /{place}
   :alt: {name}
   :class: sphx-glr-single-img {theme}

"""
