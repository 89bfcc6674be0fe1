"""Types for checkers: the stub of lazily imported names, and mypy on what users copy."""

import ast
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

import rigidlimit as rl

ROOT = Path(__file__).parents[1]


def test_the_stub_has_the_names_of_the_package():
    """Contract: each name from where it is imported at run time, and no other."""
    tree = ast.parse((ROOT / "src/rigidlimit/__init__.pyi").read_text())
    found = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            found |= {name.asname: node.module for name in node.names}
    assert {*found, "__version__"} == set(rl.__all__)
    lazy = vars(rl)["_HOME"]
    assert {name: module for name, module in found.items() if name in lazy} == lazy


def test_errors_are_at_the_top():
    """Contract: what a call may raise can be caught without another import."""
    for name in ("InputError", "SceneError", "OutputError", "RigidlimitError", "SceneWarning"):
        assert getattr(rl, name) is getattr(rl.errors, name)
    with pytest.raises(rl.InputError):
        rl.compatible_forces([[1.0]], [1.0, 2.0])


@pytest.mark.skipif(find_spec("mypy") is None, reason="mypy is not installed")
def test_readme_has_types(tmp_path):
    """Peer: mypy finds nothing wrong in the README's Python, and a keyword that is misspelt."""
    from mypy import api

    options = ["--ignore-missing-imports", "--follow-imports=silent", "--cache-dir", str(tmp_path)]
    code = "\n".join(re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S))
    misspelt = tmp_path / "misspelt.py"
    misspelt.write_text(code.replace("stiffness=", "stifness="))
    right = tmp_path / "readme.py"
    right.write_text(code)
    said, _, _ = api.run([*options, str(right), str(misspelt)])
    errors = [line for line in said.splitlines() if ": error:" in line]
    assert len(errors) == 1, said
    assert "misspelt.py" in errors[0] and 'Unexpected keyword argument "stifness"' in errors[0]
