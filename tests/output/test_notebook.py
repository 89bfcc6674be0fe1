"""What Jupyter shows."""

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.output import notebook

from .test_output import short_run

PNG = b"\x89PNG"


@pytest.fixture(scope="module")
def things(tmp_path_factory):
    scene = rl.scenes.beam(stiffness=(1, 3, 1))
    result = rl.Simulation(scene).step()
    path = tmp_path_factory.mktemp("run") / "beam.h5"
    short_run(path, scene, steps=2)
    known = rl.determinacy(result.B, result.load, fixed=~scene.bodies.free.ravel())
    return {
        "scene": (scene, ["4 bodies in 2D", "middle", "Disk", "fixed"]),
        "step": (result, ["converged", "3 of 3 contacts", "6 N"]),
        "compatible": (result.compatible, ["residual", "6 N"]),
        "classic": (result.classic, ["not unique", "3.33333 N"]),
        "determinacy": (known, ["degree of indeterminacy", "0 of 3 contacts", "10 N"]),
        "run": (rl.read_run(path), ["2 stored steps", "beam: 4 bodies"]),
    }


@pytest.mark.parametrize("name", ["scene", "step", "compatible", "classic", "determinacy", "run"])
def test_table_and_picture(things, name):
    """Property: the table tells the known answers, and the picture is in it."""
    thing, words = things[name]
    shown = thing._repr_html_()
    for word in words:
        assert word in shown
    assert "data:image/png;base64," in shown and thing._repr_png_().startswith(PNG)


def test_drawn_once(things, monkeypatch):
    """Property: Jupyter asks for HTML and for PNG; the picture is drawn for the first only."""
    drawn = []
    picture = notebook._picture
    monkeypatch.setattr(notebook, "_picture", lambda thing: drawn.append(1) or picture(thing))
    monkeypatch.setattr(notebook, "_last", (None, None, None))
    result = things["step"][0]
    result._repr_html_(), result._repr_png_()
    assert len(drawn) == 1
    things["scene"][0]._repr_html_()
    assert len(drawn) == 2


def test_scene_that_grows_is_drawn_anew():
    """Property: a scene changed after it was shown is shown as it is."""
    scene = rl.Scene(name="<growing>", dim=2)
    assert "no bodies yet" in scene._repr_html_() and scene._repr_png_() is None
    scene.add(rl.Disk(1.0), position=(0, 0))
    assert "1 body in 2D" in scene._repr_html_() and "&lt;growing&gt;" in scene._repr_html_()
    first = scene._repr_png_()
    scene.add(rl.Disk(1.0), position=(3, 0))
    assert scene._repr_png_() != first and first.startswith(PNG)


def test_no_forces():
    """Nothing in contact: a table without a picture of forces, no error."""
    answer = rl.compatible_forces(np.zeros((0, 2)), [0.0, 0.0])
    assert "none" in answer._repr_html_() and answer._repr_png_() is None


def test_terminal_progress(capsys):
    """run(progress=True) writes to the terminal's stderr; without it nothing is written."""
    simulation = rl.Simulation("beam")
    simulation.run(0.003)
    assert capsys.readouterr().err == ""
    simulation.run(0.006, progress=True)
    assert "beam" in capsys.readouterr().err


def test_in_a_real_kernel():
    """The notebook as a user runs it: tables and pictures as outputs, and the bar at its end."""
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    cells = [
        "import rigidlimit as rl\nscene = rl.scenes.beam()\nscene",
        "result = rl.Simulation(scene).run(0.02, progress=True)\nresult",
    ]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3").execute()
    first = book.cells[0].outputs[-1]["data"]
    assert "4 bodies" in first["text/html"] and "image/png" in first
    bar, last = book.cells[1].outputs[0]["data"], book.cells[1].outputs[-1]["data"]
    assert '<progress value="20" max="20"' in bar["text/html"] and "20 of 20" in bar["text/html"]
    assert "3 of 3 contacts" in last["text/html"] and "image/png" in last
