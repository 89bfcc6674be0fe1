"""What Python and Jupyter show of an object. Jupyter's drawing is far above (``output.notebook``)
and is imported only when a notebook needs it."""

from dataclasses import fields
from importlib import import_module

LONGEST = 70
"""Letters of one value in a line that shows an object."""


class Brief:
    """Shows a dataclass of arrays in a line or two: its message, or what its fields are.

    Needs ``@dataclass(repr=False)``, or its own long ``__repr__`` stays.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        said = getattr(self, "message", None)
        if said is None:
            said = ", ".join(
                f"{f.name}={_brief(getattr(self, f.name))}" for f in fields(self) if f.repr
            )
        return f"<{type(self).__name__}: {said}>"


def _brief(value: object) -> str:
    shape = getattr(value, "shape", None)
    if shape:
        return f"{type(value).__name__} {shape}"
    text = repr(value)
    return text if len(text) <= LONGEST and "\n" not in text else f"<{type(value).__name__}>"


class Displayed(Brief):
    """Adds a table with a small picture in Jupyter."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return import_module("rigidlimit.output.notebook").html(self)

    def _repr_png_(self) -> bytes | None:
        return import_module("rigidlimit.output.notebook").png(self)
