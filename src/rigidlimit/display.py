"""What Jupyter shows of an object. The drawing itself is far above (``output.notebook``) and is
imported only when a notebook asks."""

from importlib import import_module


class Displayed:
    """Adds a table with a small picture in Jupyter."""

    __slots__ = ()

    def _repr_html_(self):
        return import_module("rigidlimit.output.notebook").html(self)

    def _repr_png_(self):
        return import_module("rigidlimit.output.notebook").png(self)
