"""Docstrings of this project are plain text: made into reStructuredText for autodoc.

A paragraph that explains arguments or fields in running text, "name (shape) [unit]: meaning. next:
...", becomes a list. ``code`` and doctests stay; everything else that would be markup (``*``,
``|``, a trailing ``_``) is escaped, and indented lines (formulas, tables) become literal blocks.
NumPy-style sections (a title underlined with dashes) become a bold title and a list of what they
explain.
"""

import contextlib
import dataclasses
import inspect
import re

CODE = re.compile(r"(``.+?``)")


def escaped(text: str) -> str:
    parts = CODE.split(text)
    for k in range(0, len(parts), 2):
        parts[k] = re.sub(r"([\\*|`])", r"\\\1", parts[k])
        parts[k] = re.sub(r"(?<=\w)_(?=\W|$)", r"\\_", parts[k])
    return "".join(parts)


def names_of(obj) -> set[str]:
    """What a docstring may explain: parameters, fields and properties."""
    names = set()
    if inspect.isclass(obj):
        names |= {n for n, v in vars(obj).items() if isinstance(v, property)}
        if dataclasses.is_dataclass(obj):
            names |= {f.name for f in dataclasses.fields(obj)}
    if callable(obj):
        with contextlib.suppress(TypeError, ValueError):
            names |= set(inspect.signature(obj).parameters)
    return names - {"self"}


def listed(paragraph: str, names: set[str]) -> list[str]:
    """The paragraph as lead text and one list item for each name that it explains."""
    if not names:
        return [escaped(paragraph)]
    name = "(?:" + "|".join(sorted(map(re.escape, names), key=len, reverse=True)) + ")"
    # "name", "name, name", "name (shape)", "name (shape) bool", "name [unit]", then a colon
    head = rf"{name}(?:, {name})*(?: \([^()]*(?:\([^()]*\))?[^()]*\))?(?: bool)?(?: \[[^\]]*\])?:"
    starts = [m.start() for m in re.finditer(rf"(?:(?<=^)|(?<=[.;] )){head}", paragraph)]
    if len(starts) < 2:
        return [escaped(paragraph)]
    out = []
    if starts[0]:
        out += [escaped(paragraph[: starts[0]].strip()), ""]
    for first, last in zip(starts, [*starts[1:], len(paragraph)], strict=True):
        item = paragraph[first:last].strip()
        label = item[: re.match(head, item).end() - 1]
        rest = item[len(label) + 1 :].strip()
        plain = re.match(rf"{name}(?:, {name})*", label).group()
        out.append(f"- **{plain}**{escaped(label[len(plain) :])}: {escaped(rest.rstrip(';'))}")
    return out


def explained(rows: list[str]) -> list[str]:
    """Names (or names and types), each with indented rows that explain it, as a list."""
    items: list[tuple[str, list[str]]] = []
    for row in filter(str.strip, rows):  # autodoc ends docstrings with an empty one
        if row.startswith("  ") and items:
            items[-1][1].append(row.strip())
        else:
            items.append((row.strip(), []))
    return [
        f"- **{escaped(name)}**" + (f": {escaped(' '.join(text))}" if text else "")
        for name, text in items
    ]


def process(app, what, obj_name, obj, options, lines):
    names = names_of(obj)
    out = []
    for block in re.split(r"\n\s*\n", "\n".join(lines)):
        rows = block.split("\n")
        if len(rows) > 1 and re.fullmatch(r"-{3,}", rows[1].strip()):
            out += [f"**{rows[0].strip()}**", ""]
            rows = rows[2:]
            if not (rows and rows[0].startswith(">>>")):
                out += [*explained(rows), ""]
                rows = []
        while rows and rows[0].strip():
            if rows[0].startswith(">>>"):
                out += [*rows, ""]
                rows = []
                break
            literal = rows[0].startswith("  ")
            end = 0
            while end < len(rows) and rows[end].startswith("  ") == literal:
                end += 1
            if literal:
                out += ["::", "", *rows[:end], ""]
            else:
                out += [*listed(" ".join(row.strip() for row in rows[:end]), names), ""]
            rows = rows[end:]
    lines[:] = out


def returned(app, what, obj_name, obj, options, signature, annotation):
    """Signatures without types (see ``conf.py``) end in the class that a function returns."""
    found = getattr(obj, "__annotations__", {}).get("return")
    known = isinstance(found, type | str) and not inspect.isclass(obj)
    return signature, getattr(found, "__name__", found) if known else annotation


def setup(app):
    app.connect("autodoc-process-docstring", process)
    app.connect("autodoc-process-signature", returned)
    return {"parallel_read_safe": True}
