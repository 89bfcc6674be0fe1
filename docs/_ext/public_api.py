"""Pages of the API reference, written from the public names: ``rigidlimit.__all__`` and the
``__all__`` of each of its packages. A name appears once, under the package that it comes from."""

import importlib
import inspect
import re
from pathlib import Path

import rigidlimit

OTHERS = (
    "increments",
    "pose",
    "simulation",
    "step",
    "status",
    "output.hdf5",
    "output.measures",
    "output.packings",
    "output.vtk",
    "output.plots",
)


def _public(module):
    names = getattr(module, "__all__", None)
    if names is None:  # a module without a list: what it defines itself
        names = [
            n for n, v in vars(module).items() if getattr(v, "__module__", "") == module.__name__
        ]
    return [n for n in names if not n.startswith("_") and not inspect.ismodule(getattr(module, n))]


def _directive(module, name):
    value = getattr(module, name)
    if inspect.isclass(value):
        # the docstring of a data class lists its fields
        return f".. autoclass:: {module.__name__}.{name}\n" + _parts(module, value)
    kind = "autofunction" if callable(value) else "autodata"
    short = "\n   :no-value:" if kind == "autodata" else ""
    return f".. {kind}:: {module.__name__}.{name}{short}\n"


def _parts(module, cls):
    """Option that shows what bases beside the class define, which are no classes of their own."""
    folder = cls.__module__.rpartition(".")[0]
    parts = [
        base
        for base in cls.__bases__
        if base.__module__.rpartition(".")[0] == folder and base.__name__ not in _public(module)
    ]
    others = [base.__name__ for base in cls.__bases__ if base not in parts and base is not object]
    return f"   :inherited-members: {', '.join(others)}\n" if parts else ""


def _page(path):
    module = importlib.import_module(f"rigidlimit.{path}")
    title = module.__name__
    text = [title, "=" * len(title), "", f".. automodule:: {title}", "   :no-members:", ""]
    for name in _public(module):
        text += [_directive(module, name), ""]
    return "\n".join(text)


def write_pages(app):
    folder = Path(app.srcdir) / "api"
    folder.mkdir(exist_ok=True)
    packages = [n for n in rigidlimit.__all__ if inspect.ismodule(getattr(rigidlimit, n))]
    paths = [p for p in packages if p not in ("plots",)]
    paths += list(OTHERS)
    top = [n for n in rigidlimit.__all__ if n != "__version__" and n not in packages]
    index = ["API reference", "=============", "", "At the top of ``rigidlimit``:", ""]
    for name in top:
        value = getattr(rigidlimit, name)
        paragraph = " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split())
        first = re.split(r"(?<=[a-z\])]\.) |; ", paragraph)[0]
        role = "class" if inspect.isclass(value) else "func"
        home = _where(name, value, paths)
        index.append(f"- :py:{role}:`{name} <{home}.{name}>`: {_safe(first)}")
    index += ["", ".. toctree::", "   :maxdepth: 1", "", *[f"   {p}" for p in paths], ""]
    pages = {"index": "\n".join(index)} | {p: _page(p) for p in paths}
    for name, text in pages.items():
        target = folder / f"{name}.rst"
        if not target.exists() or target.read_text(encoding="utf-8") != text:
            target.write_text(text, encoding="utf-8")
    for stale in {p.stem for p in folder.glob("*.rst")} - set(pages):
        (folder / f"{stale}.rst").unlink()


def _where(name, value, paths):
    for path in paths:
        module = importlib.import_module(f"rigidlimit.{path}")
        if name in _public(module) and getattr(module, name) is value:
            return module.__name__
    raise LookupError(f"{name} is on no page of the API reference")


def _safe(text):
    from plain_docstrings import escaped

    return escaped(text)


def setup(app):
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True}
