"""Docstrings of what is public: sections that name every argument, and examples that are run."""

import builtins
import doctest
import importlib
import inspect
import logging
import re
import sys
from dataclasses import is_dataclass

import pytest

import rigidlimit as rl

MODULES = (name for name in rl.__all__ if inspect.ismodule(getattr(rl, name)) and name != "plots")
PACKAGES = [*MODULES, "output.measures", "output.plots"]
ENGINES = ("mujoco", "pybullet", "pinocchio", "pydrake", "newton", "rerun")
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.M)


def _public():
    """Name and value of every public callable, once: at the top, or in its package."""
    found = {}
    for module in (rl, *(importlib.import_module(f"rigidlimit.{name}") for name in PACKAGES)):
        for name in module.__all__:
            value = getattr(module, name)
            if callable(value) and not name.startswith("_"):
                found.setdefault(value, f"{module.__name__}.{name}"[len("rigidlimit.") :])
    return {name: value for value, name in found.items()}


PUBLIC = _public()


def _sections(value):
    """Text of each section of a docstring in numpy's style; what stands before them as ""."""
    text = inspect.cleandoc(value.__doc__ or "")
    first, *rest = SECTION.split(text)
    return {"": first, **dict(zip(rest[::2], rest[1::2], strict=True))}


def _explained(section):
    """Names that a section explains: what stands at its margin, before a colon."""
    heads = [line.split(" : ")[0] for line in section.splitlines() if re.match(r"[\w*]", line)]
    return {name.strip(" *") for head in heads for name in head.split(",")} - {""}


def _arguments(value):
    try:
        given = inspect.signature(value).parameters
    except ValueError:
        return set()
    return {name for name in given if name not in ("self", "cls") and not name.startswith("_")}


def _takes_any(value):
    """Whether keywords are taken that the signature does not name."""
    kinds = {parameter.kind for parameter in inspect.signature(value).parameters.values()}
    return inspect.Parameter.VAR_KEYWORD in kinds


def _says_all(value):
    """Whether the return annotation is enough: nothing, a class with a docstring of its own, or a
    figure of matplotlib."""
    annotation = value.__annotations__.get("return")
    name = getattr(annotation, "__name__", str(annotation))
    ours = {of.__name__ for of in PUBLIC.values() if inspect.isclass(of)}
    return name in {"None", "Figure"} | ours


def lacking(value):
    """What the docstring of a callable does not have."""
    sections, arguments = _sections(value), _arguments(value)
    told = {name: _explained(sections.get(name, "")) for name in ("Parameters", "Attributes")}
    for base in value.__mro__[1:] if inspect.isclass(value) else ():  # a result adds to another
        told["Attributes"] |= _explained(_sections(base).get("Attributes", ""))
    missing = [] if ">>> " in sections.get("Examples", "") else ["Examples"]
    if inspect.isclass(value) and issubclass(value, Exception):
        return missing
    explained = told["Parameters"] | (told["Attributes"] if inspect.isclass(value) else set())
    made_here = inspect.isclass(value) and "Parameters" not in sections
    if not made_here or is_dataclass(value):  # else its fields are told, and not how it is made
        missing += [f"argument {name}" for name in sorted(arguments - explained)]
    if not _takes_any(value):
        missing += [f"no argument {name}" for name in sorted(told["Parameters"] - arguments)]
    if not inspect.isclass(value):
        missing += [] if _says_all(value) or "Returns" in sections else ["Returns"]
    return missing + ([] if "Raises" in sections or "Attributes" in sections else ["Raises"])


@pytest.mark.parametrize("name", PUBLIC)
def test_docstring_is_complete(name):
    """Contract: a docstring names every argument and no other, what is returned and raised, and
    has an example. Classes that the library makes name their attributes instead."""
    assert not lacking(PUBLIC[name])


def _methods():
    """Name and function of every public method of a public class, once."""
    found = {}
    for name, value in PUBLIC.items():
        if not inspect.isclass(value) or issubclass(value, Exception):
            continue
        for method in filter(lambda method: not method.startswith("_"), dir(value)):
            function = inspect.getattr_static(value, method)
            function = getattr(function, "__func__", function)  # of class methods
            ours = getattr(function, "__module__", "").startswith("rigidlimit")
            if inspect.isfunction(function) and ours:
                found.setdefault(function, f"{name}.{method}")
    return {name: function for function, name in found.items()}


METHODS = _methods()


@pytest.mark.parametrize("name", METHODS)
def test_methods_explain_their_arguments(name):
    """Contract: a method says in words what it does, and names every argument and no other."""
    method = METHODS[name]
    sections, arguments = _sections(method), _arguments(method)
    told = _explained(sections.get("Parameters", ""))
    assert sections[""].strip() and not arguments - told
    assert _takes_any(method) or not told - arguments


@pytest.mark.parametrize("name", PUBLIC)
def test_what_is_raised_are_errors(name):
    """Contract: names under "Raises" are errors of the package or of Python."""
    known = vars(builtins) | vars(rl.errors)
    for error in _explained(_sections(PUBLIC[name]).get("Raises", "")):
        assert issubclass(known[error], Exception), error


@pytest.mark.parametrize("name", PUBLIC)
def test_examples_of_docstrings(name, tmp_path, monkeypatch):
    """Example: what a docstring shows runs, and prints what it says."""
    monkeypatch.chdir(tmp_path)
    value, told = PUBLIC[name], []
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner(optionflags=OPTIONS)
    for case in finder.find(value, name, module=False, globs={}):
        for engine in ENGINES:
            if re.search(rf">>> import .*\b{engine}\b", case.docstring):
                pytest.importorskip(engine, reason=f"needs {engine}")
            if engine == "newton" and "newton" in sys.modules:
                sys.modules["warp"].config.log_level = logging.WARNING  # it prints what it loads
        runner.run(case, out=told.append)
    assert not runner.failures, "".join(told)
