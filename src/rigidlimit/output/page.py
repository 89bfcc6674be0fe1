"""A page for the browser that holds its figures: nothing beside it, no script, no network."""

import base64
import html
from collections.abc import Iterable
from pathlib import Path

from .._support.atomic import write_text

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 16px/1.5 system-ui, sans-serif; }}
body {{ max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; }}
th, td {{ padding: .3rem .8rem; border-bottom: 1px solid #8885; text-align: right; }}
th:first-child, td:first-child {{ text-align: left; }}
img {{ max-width: 100%; background: white; }}
figure {{ margin: 2rem 0; }}
</style></head><body>
{body}
</body></html>
"""


def write_page(path: Path, title: str, parts: Iterable[str]) -> None:
    """Write the page, whole or not at all; parts: HTML."""
    write_text(path, _PAGE.format(title=html.escape(title), body="\n".join(parts)))


def captioned(png: bytes, caption: str) -> str:
    """HTML of a picture with its caption."""
    data = base64.b64encode(png).decode()
    caption = html.escape(caption)
    return (
        f'<figure><img alt="{caption}" src="data:image/png;base64,{data}">'
        f"<figcaption>{caption}</figcaption></figure>"
    )


def table(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """HTML of a table of texts."""
    lines = [
        "".join(f"<{kind}>{html.escape(cell)}</{kind}>" for cell in cells)
        for kind, cells in [("th", headings), *(("td", row) for row in rows)]
    ]
    return "<table>" + "".join(f"<tr>{line}</tr>" for line in lines) + "</table>"
