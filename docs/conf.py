"""The site: `make docs` builds it into site/. Needs no network."""

import importlib.util
import sys
import warnings
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent / "src")]

import rigidlimit  # noqa: E402
from rigidlimit.output.plots.spatial import Fallback  # noqa: E402

warnings.filterwarnings("ignore", category=Fallback)

project = "rigidlimit"
author = "the rigidlimit developers"
version = release = rigidlimit.__version__
html_title = f"rigidlimit {release}"
html_show_copyright = False

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "katex",
    "plain_docstrings",
    "public_api",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = [
    "_ext",
    "numerics-archive.md",  # trials and timings, for those who change the solvers
    "gallery/*.py",
    "gallery/*.ipynb",
    "gallery/*.zip",
    "sg_execution_times.rst",
]
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
myst_dmath_double_inline = True
html_math_renderer = "katex"
math_eqref_format = "({number})"

autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_default_options = {"members": True, "inherited-members": False}

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_theme_options = {"top_of_page_buttons": []}

copybutton_exclude = ".linenos, .gp, .go"

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    # examples of other programs are shown where these are installed
    "ignore_pattern": r"__init__\.py" if importlib.util.find_spec("mujoco") else r"mujoco_",
    "notebook_extensions": set(),
    # pictures follow the library, not only the scripts
    "run_stale_examples": True,
    "default_thumb_file": str(HERE / "pyramid.png"),
    "within_subsection_order": "examples_gallery.Order",
    "image_scrapers": ("examples_gallery.scraper",),
    "reset_modules": (),
    "matplotlib_animations": False,
    "download_all_examples": False,
    "min_reported_time": 1e9,
    "show_memory": False,
    "show_signature": False,
    "remove_config_comments": True,
    "write_computation_times": False,
    "abort_on_example_error": True,
    "copyfile_regex": r"",
    "thumbnail_size": (400, 280),
}
