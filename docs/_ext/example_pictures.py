"""The gallery's pictures: the ``figure`` of an example at the end of each of its blocks."""

from sphinx_gallery.scrapers import figure_rst

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
