"""Equations as HTML at build time: KaTeX runs in V8 (mini-racer), so pages need no script for
them and no network, and an equation that KaTeX cannot read is a warning with its place.

``katex.min.js`` beside this file and ``_static/katex`` are KaTeX 0.19.1 as published (MIT), its
style sheet cut down to the woff2 fonts.
"""

from functools import cache
from pathlib import Path

from docutils import nodes
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

logger = logging.getLogger(__name__)


@cache
def _engine():
    from py_mini_racer import MiniRacer

    engine = MiniRacer()
    engine.eval((Path(__file__).parent / "katex.min.js").read_text(encoding="utf-8"))
    return engine


@cache
def _html(latex: str, display: bool) -> str:
    options = {"displayMode": display, "throwOnError": True, "strict": "error"}
    return _engine().call("katex.renderToString", latex, options)


def _render(node, display):
    from py_mini_racer import JSEvalException

    try:
        return _html(node.astext(), display)
    except JSEvalException as error:
        logger.warning("equation: %s", str(error).splitlines()[0], location=node)
        return node.astext()


def visit_inline(self, node):
    self.body.append(f'<span class="math">{_render(node, False)}</span>')
    raise nodes.SkipNode


def visit_display(self, node):
    self.body.append(self.starttag(node, "div", CLASS="math"))
    if node["number"]:
        number = get_node_equation_number(self, node)
        self.body.append(f'<span class="eqno">({number})')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    self.body.append(_render(node, True) + "</div>\n")
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("katex", (visit_inline, None), (visit_display, None))
    app.add_css_file("katex/katex.min.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
