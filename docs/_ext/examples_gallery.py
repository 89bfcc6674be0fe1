"""The gallery: its order, and its pictures, the ``figure`` of an example after each block."""

from pathlib import Path

from sphinx_gallery.scrapers import figure_rst

ORDER = [
    "beam",
    "table",
    "block_on_legs",
    "determinacy",
    "disk_in_corner",
    "hertz_or_hooke",
    "pyramid",
    "two_materials",
    "wall",
    "own_shape",
    "packing",
    "dem_check",
    "own_engine",
    "mujoco_beam",
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


def scraper(block, block_vars, gallery_conf):
    figure = block_vars["example_globals"].get("figure")
    source = block_vars["src_file"]
    if figure is None or _seen.get(source) is figure:
        return ""
    _seen[source] = figure
    path = next(iter(block_vars["image_path_iterator"]))
    figure.savefig(path, dpi=200)
    return figure_rst([path], gallery_conf["src_dir"])
