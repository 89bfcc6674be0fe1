"""Every script of examples/ runs, its own assertions hold, and its picture can be saved."""

import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore::rigidlimit.output.plots.spatial.Fallback")
def test_example(path, tmp_path, monkeypatch):
    """Example: each script asserts its closed form or known value and draws one figure."""
    if "mujoco" in path.stem:
        pytest.importorskip("mujoco")
    picture = tmp_path / "picture.png"
    monkeypatch.setattr(sys, "argv", [str(path), str(picture)])
    runpy.run_path(str(path), run_name="__main__")
    if "figure" in path.read_text(encoding="utf-8"):
        assert picture.read_bytes().startswith(b"\x89PNG")


def test_examples_are_short():
    """Property: at least ten scripts, each under 60 lines, with an assertion and a title."""
    assert len(EXAMPLES) >= 10
    for path in EXAMPLES:
        text = path.read_text(encoding="utf-8")
        assert len(text.splitlines()) < 60, path.name
        assert "assert" in text and text.startswith('"""\n'), path.name
