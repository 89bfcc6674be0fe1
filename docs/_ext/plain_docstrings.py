"""Docstrings of this project are plain text: made into reStructuredText for autodoc.

``code`` and doctests stay; everything else that would be markup (``*``, ``|``, a trailing ``_``)
is escaped, and indented lines (formulas, tables) become literal blocks.
"""

import re

CODE = re.compile(r"(``.+?``)")


def escaped(text: str) -> str:
    parts = CODE.split(text)
    for k in range(0, len(parts), 2):
        parts[k] = re.sub(r"([\\*|`])", r"\\\1", parts[k])
        parts[k] = re.sub(r"(?<=\w)_(?=\W|$)", r"\\_", parts[k])
    return "".join(parts)


def process(app, what, name, obj, options, lines):
    out, literal, doctest = [], False, False
    for line in lines:
        if line.startswith(">>>"):
            doctest = True
        elif not line.strip():
            doctest = False
        if doctest:
            out.append(line)
            continue
        indented = line.startswith("  ")
        if indented and not literal:
            out += ["", "::", ""]
        elif literal and not indented and line.strip():
            out.append("")
        if line.strip():
            literal = indented
        out.append(line if indented else escaped(line))
    lines[:] = out


def setup(app):
    app.connect("autodoc-process-docstring", process)
    return {"parallel_read_safe": True}
