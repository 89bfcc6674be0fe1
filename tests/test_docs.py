"""What README and documentation show can be done: Python blocks run, commands and options exist."""

import importlib
import re
import shlex
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import rigidlimit as rl
from rigidlimit.scenes.toml import parse_scene, tables
from rigidlimit.studies.file import read_study_file

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PYTHON = re.compile(r"^```python\n(.*?)^```", re.S | re.M)
TOML = re.compile(r"^```toml\n(.*?)^```", re.S | re.M)
COMMAND = re.compile(r"^(?:    )?(rigidlimit .*)$", re.M)
ENGINES = {name: name for name in ("mujoco", "pybullet", "pinocchio", "newton", "rerun")}
ENGINES["pydrake"] = "drake"
INLINE = re.compile(r"`(rigidlimit [^`\n]+)`")


def _named(pages):
    return pytest.mark.parametrize("page", pages, ids=lambda page: str(page.relative_to(ROOT)))


def _blocks(page):
    return PYTHON.findall(page.read_text(encoding="utf-8"))


def _scenes(page):
    """(file name, text) of the scene files that a page shows."""
    texts = TOML.findall(page.read_text(encoding="utf-8"))
    return [(re.match(r"# (\S+\.toml)\n", text)[1], text) for text in texts]


def _commands(page):
    text = page.read_text(encoding="utf-8")
    return [line.split("#")[0].strip() for line in COMMAND.findall(text) + INLINE.findall(text)]


@_named([page for page in PAGES if _blocks(page)])
@pytest.mark.filterwarnings("ignore::rigidlimit.output.plots.spatial.Fallback")
def test_python_blocks(page, tmp_path, monkeypatch, capsys):
    """Example: the blocks of a page run in order; a comment after print is what it prints. Scene
    files that the page shows are there."""
    for name in re.findall(r"^import (\w+)", "".join(_blocks(page)), re.M):
        if name in ENGINES:
            engine = pytest.importorskip(
                name, reason=f"needs the extra rigidlimit[{ENGINES[name]}]"
            )
        if name == "pybullet":  # calls that name no client mean the first, perhaps another test's
            for client in filter(engine.isConnected, range(100)):
                engine.disconnect(client)
    monkeypatch.chdir(tmp_path)
    for name, text in _scenes(page):
        Path(name).write_text(text, encoding="utf-8")
    names = {"__name__": "page"}
    for number, block in enumerate(_blocks(page)):
        exec(compile(block, f"{page.name} block {number}", "exec"), names)
        printed = capsys.readouterr().out
        for promised in re.findall(r"^print\(.*\)  # (.*)", block, re.M):
            assert promised in printed.splitlines(), f"block {number} prints {printed!r}"


@_named([page for page in PAGES if _commands(page)])
def test_commands_exist(page):
    """Property: each command line names a command of the program, and options that it has."""
    from rigidlimit.cli.app import app

    group = typer.main.get_command(app)
    for line in _commands(page):
        words = shlex.split(line.replace("...", ""))[1:]
        options = [word.split("=")[0] for word in words if word.startswith("-")]
        command = group
        if words and not words[0].startswith("-"):
            assert words[0] in group.commands, f"{page.name}: no command in {line!r}"
            command = group.commands[words[0]]
        known = {name for p in command.params for name in (*p.opts, *p.secondary_opts)}
        known |= {"--help", "--version"}
        assert set(options) <= known, f"{page.name}: unknown option in {line!r}"


def test_help_of_every_command():
    """Property: every command explains itself."""
    from rigidlimit.cli.app import app

    runner = CliRunner()
    for name in typer.main.get_command(app).commands:
        answer = runner.invoke(app, [name, "--help"])
        assert answer.exit_code == 0 and "Usage" in answer.output, name


def test_pages_are_found():
    """Property: the README, the start page and the how-to pages are among the pages tested."""
    names = {page.name for page in PAGES if _blocks(page)}
    assert {"README.md", "start.md", "pictures.md", "engine.md", "determinacy.md"} <= names
    assert sum(len(_commands(page)) for page in PAGES) > 20


@pytest.mark.parametrize(
    ("name", "text"),
    [pytest.param(*scene, id=scene[0]) for page in PAGES for scene in _scenes(page)],
)
def test_scene_files(name, text, tmp_path):
    """Example: every scene file shown, and the first scene of a study, computes a step that
    converges."""
    if name.startswith("study"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        study = read_study_file(tmp_path / name)
        first = {key: np.ravel(values)[0].item() for key, values in study.parameters.items()}
        scene = study.plan.scene_of(0, first)
    else:
        scene = parse_scene(text, name=name)
    result = rl.Simulation(scene).step()
    assert result.converged, result.message


def test_every_key_of_a_scene_file_is_explained():
    """Property: the page of scene files names every key and shape; its tables have no others."""
    text = (ROOT / "docs" / "scenes.md").read_text(encoding="utf-8")
    keys = {"counts", "spacing", *tables.SHAPES}
    for table in (
        tables.SceneTable,
        tables.BodyTable,
        tables.PartTable,
        tables.MaterialTable,
        tables.PairTable,
        tables.CellTable,
        tables.PathTable,
    ):
        keys |= table.model_fields.keys()
    prose = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    code = " ".join(re.findall(r"`([^`]+)`", prose))
    shown = set(re.findall(r"[\w-]+", code))
    assert keys <= shown, keys - shown
    rows = re.findall(r"^\| (`.*?) \|", prose, re.M)
    in_tables = {key for row in rows for key in re.findall(r"`\"?([\w-]+)\"?`", row)} - {"shape"}
    assert in_tables <= keys, in_tables - keys


def test_every_public_name_is_on_a_page_of_the_reference(tmp_path, monkeypatch):
    """Contract: the pages are written from the public names; one that belongs to no page is told
    here, before the site is built."""
    monkeypatch.syspath_prepend(ROOT / "docs" / "_ext")
    write_pages = importlib.import_module("public_api").write_pages
    write_pages(SimpleNamespace(srcdir=tmp_path))
    index = (tmp_path / "api" / "index.rst").read_text(encoding="utf-8")
    for name in rl.__all__:
        found = f":py:class:`{name} <" in index or f":py:func:`{name} <" in index
        assert found or name == "__version__" or f"\n   {name}\n" in index or name == "plots"
