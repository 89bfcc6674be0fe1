"""Types for checkers: the stub of lazily imported names, and mypy on what users copy."""

import ast
import pkgutil
import re
from importlib import import_module
from importlib.util import find_spec
from inspect import ismodule
from pathlib import Path
from typing import get_type_hints
from zipfile import ZipFile

import pytest

import rigidlimit as rl

ROOT = Path(__file__).parents[1]
LAZY = ["", ".adapters", ".distributed", ".output.measures", ".output.plots"]


@pytest.mark.parametrize("package", LAZY)
def test_names_of_stubs_load(package):
    """Contract: each name that a stub has for type checkers is there at run time, and listed."""
    module = import_module("rigidlimit" + package)
    tree = ast.parse(Path(module.__file__).with_suffix(".pyi").read_text())
    imports = (node for node in tree.body if isinstance(node, ast.ImportFrom))
    names = {alias.asname for node in imports for alias in node.names}
    assert names == {*module.__all__} - {"__version__"} and names <= {*dir(module)}
    assert all(getattr(module, name) is not None for name in names)


def test_zipped_packages_have_lazy_names(tmp_path, monkeypatch):
    """Contract: a stub is read from where its package is, which need not be a folder."""
    with ZipFile(tmp_path / "all.zip", "w") as file:
        made = "from rigidlimit._support.lazy import attach\n"
        file.writestr("zipped/__init__.py", f"{made}__getattr__, _, __all__ = attach(__name__)\n")
        file.writestr("zipped/__init__.pyi", "from .below import value as value\n")
        file.writestr("zipped/below.py", "value = 3\n")
    monkeypatch.syspath_prepend(str(tmp_path / "all.zip"))
    module = import_module("zipped")
    assert module.__all__ == ["value"] and module.value == 3


@pytest.mark.parametrize("package", LAZY)
def test_lazy_names_are_of_no_module_beside_them(package):
    """Contract: a module of the same name takes the place of a name that is imported when first
    used, as soon as anything else of that module is: ``closed_contacts`` was no function then."""
    module = import_module("rigidlimit" + package)
    modules = {found.name for found in pkgutil.iter_modules(module.__path__)}
    assert all(ismodule(getattr(module, name)) for name in modules & {*module.__all__})


def test_errors_are_at_the_top():
    """Contract: what a call may raise can be caught without another import."""
    for name in ("InputError", "SceneError", "OutputError", "RigidlimitError", "SceneWarning"):
        assert getattr(rl, name) is getattr(rl.errors, name)
    with pytest.raises(rl.InputError):
        rl.compatible_forces([[1.0]], [1.0, 2.0])


def test_keywords_of_mending_are_typed():
    """Contract: what type checkers take is what is taken of arrays; and readers know what each of
    their options sets."""
    from rigidlimit.adapters.engines import from_arrays, options

    taken = {*from_arrays.CONTACTS, *from_arrays.OPTIONS, *options.SOLVER}
    assert {*get_type_hints(from_arrays.Given)} == taken
    assert {*options.OF_MENDING} <= {*from_arrays.OPTIONS}
    assert {*options.OF_CONTACTS} <= {*options.READER}


MISSPELT = """
from rigidlimit.adapters import from_pybullet, mend_forces

rigidlimit.determinacy([[1.0]], [1.0], intervls="none")
rigidlimit.scenes.beam(weigth=10.0)
mend_forces([[1.0]], [2.0], stifness=2.0)
from_pybullet(0, budgt=1.0)
"""
"""Keywords that there are not, of functions of several kinds."""


@pytest.mark.skipif(find_spec("mypy") is None, reason="mypy is not installed")
def test_what_users_copy_has_types(tmp_path, monkeypatch):
    """Peer: mypy finds nothing wrong in the Python of README, pages and examples, and a keyword
    that is misspelt. Without the types of other packages, which would take a minute."""
    from mypy import api

    for page in (
        ROOT / "README.md",
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "docs").glob("*/*.md"),
    ):
        code = "\n".join(re.findall(r"```python\n(.*?)```", page.read_text(), re.S))
        if code:
            (tmp_path / f"page_{page.stem.replace('-', '_')}.py").write_text(code)
            if page.stem == "README":
                misspelt = code.replace("stiffness=", "stifness=")
                misspelt += MISSPELT
    for example in (ROOT / "examples").rglob("*.py"):
        (tmp_path / f"example_{example.stem}.py").write_text(example.read_text())
    (tmp_path / "misspelt.py").write_text(misspelt)
    files = [str(file) for file in tmp_path.glob("*.py")]
    assert len(files) > 45
    monkeypatch.setenv("MYPYPATH", str(ROOT / "src"))
    options = ["--no-site-packages", "--ignore-missing-imports", "--follow-imports=silent"]
    options += ["--disable-error-code=assignment", "--cache-dir", str(tmp_path)]
    said, _, _ = api.run([*options, *files])
    errors = [line for line in said.splitlines() if ": error:" in line]
    assert errors and all("misspelt.py" in error for error in errors), said
    for name in ("stifness", "intervls", "weigth", "budgt"):
        assert any(f'Unexpected keyword argument "{name}"' in error for error in errors), name
