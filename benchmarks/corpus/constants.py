"""Which constants of the solvers an entry of the corpus needs: each is multiplied and divided.

    python -m benchmarks.corpus --mutate TEXT [--factor 10]

TEXT: part of ``module.NAME`` or ``module.NAME.field``; "" for all of the solvers. An entry needs a
constant where its status, residual or answer changes as ``--compare`` would report; where none
does, the work of the entries (factorizations, conjugate gradient steps, sweeps) over what it was,
least and most, is what the constant saves or costs. Only entries that come to code with the
constant's name are solved again; where there is none, that is said. Constants that compiled code
holds, or that others are made of as modules are imported, cannot be changed in a running program,
and are named as such.
"""

import ast
import importlib
import inspect
import pkgutil
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, is_dataclass, replace

PACKAGES = (
    "linear", "equilibrium", "dynamics", "compatibility", "conditioning", "increments",
)  # fmt: skip
PATIENCE = 20
"""Seconds of processor time of one entry with a constant that is changed; beyond them the entry
needs it."""


class TooLong(Exception):
    """An entry with a changed constant."""


@dataclass(frozen=True)
class Constant:
    """A number, or a field of settings, that a module defines."""

    module: object
    name: str
    field: str | None
    value: float

    @property
    def label(self) -> str:
        dotted = self.module.__name__.removeprefix("rigidlimit.") + "." + self.name
        return dotted if self.field is None else f"{dotted}.{self.field}"

    @contextmanager
    def times(self, factor: float) -> Iterator[None]:
        """The program with the constant times a factor."""
        old = getattr(self.module, self.name)
        value = type(self.value)(max(1, round(self.value * factor)))
        if isinstance(self.value, float):
            value = self.value * factor
        new = value if self.field is None else changed(old, self.field, value)
        users = [m for m in modules() if m.__dict__.get(self.name) is old]
        for user in users:
            setattr(user, self.name, new)
        try:
            yield
        finally:
            for user in users:
                setattr(user, self.name, old)


def changed(settings, field: str, value: float):
    """Settings with another value of a field."""
    if is_dataclass(settings):
        return replace(settings, **{field: value})
    return settings._replace(**{field: value})


def modules() -> list:
    """Those of the program that are imported."""
    return [m for name, m in list(sys.modules.items()) if name.startswith("rigidlimit") and m]


def constants() -> list[Constant]:
    """All that modules of the solvers define at their top."""
    found = []
    for package in PACKAGES:
        root = importlib.import_module(f"rigidlimit.{package}")
        for info in pkgutil.iter_modules(root.__path__, f"{root.__name__}."):
            module = importlib.import_module(info.name)
            for node in ast.parse(inspect.getsource(module)).body:
                targets = node.targets if isinstance(node, ast.Assign) else []
                for target in targets:
                    found += _of(module, getattr(target, "id", ""))
    return found


def _of(module, name: str) -> list[Constant]:
    """The constant of this name, or the fields of settings."""
    if not name.strip("_").isupper():
        return []
    value = getattr(module, name)
    if _number(value):
        return [Constant(module, name, None, value)]
    fields = getattr(value, "_fields", ()) or getattr(value, "__dataclass_fields__", ())
    known = {field: getattr(value, field) for field in fields}
    return [Constant(module, name, field, v) for field, v in known.items() if _number(v)]


def _number(value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value != 0


def fixed_places(constant: Constant) -> str:
    """Why a constant cannot be changed in a running program, or ""."""
    value = getattr(constant.module, constant.name)
    for module in modules():
        if module.__dict__.get(constant.name) is not value:
            continue
        where = module.__name__.removeprefix("rigidlimit.")
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            if not isinstance(node, ast.FunctionDef):
                continue
            if any("njit" in ast.unparse(d) for d in node.decorator_list) and _uses(node, constant):
                return f"compiled, in {where}.{node.name}"
            if _uses(node.args, constant):
                return f"a default of {where}.{node.name}"
        for node in ast.parse(inspect.getsource(module)).body:
            value_of = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
            if value_of is not None and _uses(value_of, constant):
                return f"others are made of it in {where}"
    return ""


def _uses(tree, constant: Constant) -> bool:
    for node in ast.walk(tree):
        if constant.field is None and isinstance(node, ast.Name) and node.id == constant.name:
            return True
        if (
            constant.field is not None
            and isinstance(node, ast.Attribute)
            and node.attr == constant.field
            and isinstance(node.value, ast.Name)
            and node.value.id == constant.name
        ):
            return True
    return False


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """Raises ``TooLong`` where the block takes longer."""

    def late(*_):
        raise TooLong

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@contextmanager
def names_seen() -> Iterator[set]:
    """The names of globals and attributes in all functions of the program that the block calls."""
    codes, names = set(), set()

    def seen(frame, event, _):
        if event == "call":
            codes.add(frame.f_code)

    sys.setprofile(seen)
    try:
        yield names
    finally:
        sys.setprofile(None)
        for code in codes:
            if "rigidlimit" in code.co_filename:
                names.update(code.co_names)
