"""Figures: what is drawn is what was computed, every figure can be read, mistakes are one line."""

import itertools
import warnings
from dataclasses import replace
from unittest.mock import patch

import h5py
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.text import Text
from typer.testing import CliRunner

import rigidlimit as rl
from rigidlimit import plots
from rigidlimit.cli import main
from rigidlimit.cli.app import app
from rigidlimit.compatibility.bearing import bearing
from rigidlimit.errors import InputError
from rigidlimit.output.plots import spatial, style
from rigidlimit.output.plots.determinacy import frame_determinacy
from rigidlimit.output.surfaces import surface, surface_area, surface_pressure

from .test_output import short_run

SCENES = {
    "beam": lambda: rl.scenes.beam(stiffness=(1, 3, 1)),
    "box-stack": lambda: rl.scenes.box_stack(3),
    "pyramid": lambda: rl.scenes.pyramid(4, drop=0.0),
    "pile-2d": lambda: rl.scenes.pile_2d(6),
}
KINDS = {
    "network": plots.force_network,
    "compare": plots.comparison,
    "histogram": plots.force_histogram,
    "density": plots.force_density,
    "floor": plots.floor_forces,
    "determinacy": plots.determinacy_map,
}
DRAWS_SPACE = spatial.missing() is None


@pytest.fixture(scope="module")
def results():
    """The last of a few steps of each scene, with its scene."""
    out = {}
    for name, make in SCENES.items():
        scene = make()
        out[name] = scene, rl.Simulation(scene).run(0.4 if name == "pile-2d" else 2 * scene.dt)
    return out


def group(axes, gid):
    """The collection of that name, or None."""
    found = [c for c in axes.collections if c.get_gid() == gid]
    return found[0] if found else None


def flat(kind, source, **options):
    """A figure that needs no OpenGL."""
    if kind in ("network", "compare", "determinacy"):
        options["view"] = "front"
    return KINDS[kind](source, **options)


@pytest.mark.parametrize("name", SCENES)
def test_one_line_a_contact_that_carries(results, name):
    """Property: as many lines as contacts with load; wider lines are stronger forces."""
    _, result = results[name]
    figure = plots.force_network(result, view="front")
    lines = group(figure.axes[0], "forces")
    carry = np.sort(result.force[bearing(result.force)])
    assert len(lines.get_segments()) == len(carry) > 0
    # an affine map of sorted forces to widths: correlation one up to rounding
    widths = np.array(lines.get_linewidths())
    if np.ptp(carry) > 0:
        assert np.corrcoef(widths, carry)[0, 1] > 1 - 1e-9


def test_both_panels_share_one_scale(results):
    """Property: where classic and compatible forces agree, so do width and colour; the bar ends
    at the largest of both."""
    _, result = results["beam"]  # compatible 2, 6, 2; classic some others
    figure = plots.comparison(result)
    classic, compatible = (group(a, "forces") for a in figure.axes[:2])
    width = dict(zip((2, 2, 6), compatible.get_linewidths(), strict=True))
    per_newton = (width[6] - width[2]) / 4
    expected = np.sort(width[2] + per_newton * (result.classic.force - 2))
    # the forces are exact to the solvers' tolerance of 1e-10
    np.testing.assert_allclose(np.sort(classic.get_linewidths()), expected, rtol=1e-8)
    bar = figure.axes[2]
    largest = max(result.classic.force.max(), 6.0)
    assert bar.get_xlim() == pytest.approx((0, largest)) and bar.get_xlabel() == "contact force [N]"
    force = np.concatenate([np.sort(result.classic.force), np.sort(result.compatible.force)])
    red = np.concatenate([classic.get_colors()[:, 0], compatible.get_colors()[:, 0]])
    # the map goes from orange to black; equal forces may differ by a step of the map
    assert (np.diff(red[np.argsort(force)]) <= 1 / 128).all() and red.max() > red.min() + 0.3


@pytest.mark.parametrize("p", [style.LIGHT, style.DARK])
def test_colours_of_forces(p):
    """Property: lightness falls, or rises on dark paper, all along the map, and neither end is lost
    on the paper or so dark that areas of large forces look alike."""
    rgb = style.force_colours(p)(np.arange(256))[:, :3]
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    lightness = 116 * np.cbrt(linear @ [0.2126, 0.7152, 0.0722]) - 16  # CIE L* of sRGB
    steps = np.diff(lightness) * (-1 if p is style.LIGHT else 1)
    assert steps.min() >= 0
    # of 100: print keeps a tenth apart; below 25 differences of the map are hardly seen
    assert lightness.min() > 25 and np.ptp(lightness) > 45
    assert lightness.max() < 85 or p is style.DARK


def test_slab_keeps_only_its_contacts(results):
    """Property: contacts of the two halves of a pyramid make the whole."""
    _, result = results["pyramid"]
    y = result.contacts.point[:, 1]
    middle = float(np.median(y)) + 1e-9

    def count(slab):
        figure = plots.force_network(result, view="front", slab=slab)
        return len(group(figure.axes[0], "forces").get_segments())

    assert 0 < count((y.min(), middle)) < count(None)
    assert count((y.min(), middle)) + count((middle, y.max())) == count(None)
    with pytest.raises(InputError, match="slab is for scenes in space"):
        plots.force_network(results["beam"][1], slab=(0, 1))


@pytest.mark.parametrize(
    ("make", "steps"),
    [
        (SCENES["beam"], 3),
        (SCENES["box-stack"], 3),
        (lambda: rl.scenes.pyramid(4), 8),  # layers still fall
        (lambda: rl.scenes.newton_cradle(3), 2),
    ],
    ids=["beam", "box-stack", "falling", "cradle"],
)
def test_stored_frame_knows_what_the_step_knew(tmp_path, make, steps):
    """Reference twin: B, load and closed contacts made from the file against the step's own."""
    last = short_run(tmp_path / "run.h5", make(), steps=steps)[-1]
    assert len(last.contacts) > 0
    stored = rl.read_run(tmp_path / "run.h5").network
    np.testing.assert_array_equal(stored.closed, last.closed)
    # x+ - dt v+ is the old position up to rounding of x
    scale = abs(last.B).max()
    assert abs(stored.B - last.B).max() <= 1e-12 * scale
    np.testing.assert_allclose(stored.load, last.load, atol=1e-11 * abs(last.load).max())


def test_pressure_of_a_stack(results):
    """Closed form: a box under j others carries (2 j + 1) weights on its surface of 4 m^2."""
    _, result = results["box-stack"]
    pressure = surface_pressure(result.network, result.force)
    assert np.isnan(pressure[0])
    # forces are exact to the tolerance of 1e-10 of the step
    np.testing.assert_allclose(pressure[1:], 10 * np.array([5, 3, 1]) / 4, rtol=1e-7)


@pytest.mark.parametrize(
    "shape",
    [
        rl.Sphere(0.3),
        rl.Box((1, 2, 3)),
        rl.Capsule(0.3, 1.0),
        rl.Cylinder(0.3, 1.0),
        rl.Ellipsoid((0.2, 0.3, 0.4)),
        rl.ConvexPolyhedron(np.random.default_rng(1).normal(size=(20, 3))),
    ],
    ids=lambda s: type(s).__name__,
)
def test_surface_area(shape):
    """Reference twin: the formulas against the sum over the triangles that are drawn."""
    points, triangles = surface(shape)
    a, b, c = (points[triangles[:, i]] for i in range(3))
    drawn = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()
    # inscribed triangles: less than a round surface by a few percent, never more
    assert 0.95 * surface_area(shape) < drawn < surface_area(shape) * (1 + 1e-12)


def test_histogram_and_density_hold_every_contact(results):
    """Property: counts add up to the contacts that carry; the density integrates to one."""
    _, result = results["pyramid"]
    carry = int((result.force > 1e-6 * result.force.max()).sum())
    panel = plots.force_histogram(result, methods=["compatible"]).axes[0]
    assert sum(bar.get_height() for bar in panel.patches) == carry
    assert f"{carry} contacts" in panel.get_title()
    panel = plots.force_density(result, methods=["compatible"], log=False).axes[0]
    line = panel.get_lines()[0]
    width = panel.get_xlim()[1] / 24
    assert line.get_ydata().sum() * width == pytest.approx(1.0, rel=1e-9)
    assert plots.force_density(result).axes[0].get_yscale() == "log"
    assert plots.force_histogram(result, log=True).axes[0].get_yscale() == "log"


@pytest.mark.parametrize("name", ["box-stack", "pyramid", "beam"])
def test_floor_carries_the_weight(results, name):
    """Closed form: forces on the floor add up to the weight of the free bodies."""
    from rigidlimit.output.plots.floor import floor_load, floor_points

    scene, result = results[name]
    shown = result.network
    at, _, row = floor_points(shown)
    load = floor_load(shown, result.force, row, len(at))
    free = scene.bodies.free.any(axis=1)
    weight = scene.bodies.mass[free].sum() * np.linalg.norm(scene.gravity)
    # at rest up to the tolerance of 1e-10 of the step, times dt/dt: 1e-6 leaves room
    assert load.sum() == pytest.approx(weight, rel=1e-6)
    figure = plots.floor_forces(result)
    if name == "pyramid":
        assert len(group(figure.axes[0], "floor").get_paths()) == 16 == len(at)
    if name == "beam":
        np.testing.assert_allclose(load[np.argsort(at[:, 0])], [2, 6, 2], rtol=1e-6)


def test_walls_are_no_floor():
    """Property: a ball between a floor, a wall and a lid presses on one place of the floor."""
    from rigidlimit.output.plots.floor import floor_load, floor_points

    scene = rl.Scene(gravity=(0, 0, -10))
    for normal, at in (((0, 0, 1), (0, 0, 0)), ((1, 0, 0), (0, 0, 0)), ((0, 0, -1), (0, 0, 2))):
        scene.add(rl.HalfSpace(), position=at, normal=normal)
    scene.add(rl.Sphere(1.0), position=(1, 0, 1), mass=1.0, load=(-3, 0, 0))
    result = rl.Simulation(scene).step()
    assert len(result.contacts) == 3
    shown = result.network
    at, body, row = floor_points(shown)
    assert body.tolist() == [0] and (row >= 0).sum() == 1
    # exact to the tolerance of the step
    assert floor_load(shown, result.force, row, 1) == pytest.approx([10.0], rel=1e-8)


def test_determinacy_map(results):
    """Closed form: a beam leaves all three forces open, 5, 10 and 5 wide; a disk in a corner
    leaves none; each contact is drawn once, in the group determinacy puts it in."""
    figure = plots.determinacy_map(results["beam"][1])
    lines = group(figure.axes[0], "undetermined")
    assert len(lines.get_segments()) == 3 and group(figure.axes[0], "determined") is None
    assert figure.axes[1].get_xlim() == pytest.approx((0, 10))
    middle = [s[0, 0] for s in lines.get_segments()][-1]
    assert middle == pytest.approx(0, abs=1e-6)  # the widest is drawn last
    figure = plots.determinacy_map(rl.Simulation("disk-in-corner").step())
    assert len(group(figure.axes[0], "determined").get_segments()) == 2
    assert figure.axes[0].get_title() == "degree of indeterminacy 0"
    _, result = results["pyramid"]
    found, closed = frame_determinacy(result.network, intervals="none")
    figure = plots.determinacy_map(result, view="front", intervals="none")
    drawn = {
        gid: len(lines.get_segments())
        for gid in ("idle", "determined", "unknown", "undetermined")
        if (lines := group(figure.axes[0], gid)) is not None
    }
    assert drawn == {"unknown": int((~found.determined).sum())} and sum(drawn.values()) == len(
        closed
    )


def texts_of(figure):
    """(text, box in pixels, axes it belongs to or None, colour) of every text that is drawn."""
    drawn = []
    draw = Text.draw

    def record(self, renderer):
        draw(self, renderer)
        if self.get_visible() and self.get_text().strip():
            box = self.get_window_extent(renderer)
            drawn.append((self.get_text(), box, self.axes, self.get_color()))

    with patch.object(Text, "draw", record):
        FigureCanvasAgg(figure).draw()
    return drawn


def legible(figure):
    """No text reaches out of the figure, covers another text, or another axes' area; returns the
    texts."""
    page = figure.bbox
    found = texts_of(figure)
    assert found
    for text, box, *_ in found:
        assert page.x0 <= box.x0 and box.x1 <= page.x1, f"{text!r} is cut off sideways"
        assert page.y0 <= box.y0 and box.y1 <= page.y1, f"{text!r} is cut off"
    for (a, box, *_), (b, other, *_) in itertools.combinations(found, 2):
        assert not (
            box.x0 < other.x1 and other.x0 < box.x1 and box.y0 < other.y1 and other.y0 < box.y1
        ), f"{a!r} covers {b!r}"
    for text, box, axes, _ in found:
        for panel in figure.axes:
            area = panel.get_window_extent()
            if panel is axes or not panel.get_visible():
                continue
            across = min(box.x1, area.x1) - max(box.x0, area.x0)
            up = min(box.y1, area.y1) - max(box.y0, area.y0)
            assert min(across, up) <= 1.0, f"{text!r} lies on another panel"
    return found


@pytest.mark.parametrize(
    # the paper's colour moves no text: on dark one scene in the plane and one in space
    ("name", "dark"),
    [*((name, False) for name in SCENES), ("beam", True), ("pyramid", True)],
)
@pytest.mark.parametrize("kind", KINDS)
def test_figures_can_be_read(results, name, kind, dark):
    """Property: nothing clipped or covered, every axis labelled with its unit, light and dark."""
    _, result = results[name]
    figure = flat(kind, result, dark=dark)
    texts = legible(figure)
    labels = [
        text
        for axes in figure.axes
        for text in (axes.get_xlabel(), axes.get_ylabel())
        if text and axes.get_visible()
    ]
    labels += [t.get_text() for t in (figure._supxlabel, figure._supylabel) if t is not None]
    assert len(labels) >= 2 and all(text.endswith("]") for text in labels)
    assert (sum(to_rgb(figure.get_facecolor())) < 0.5) == dark
    for text, _, _, colour in texts:
        assert (sum(to_rgb(colour)) > 1.5) == dark, f"{text!r} is lost on its paper"


@pytest.mark.parametrize("count", [3, 4, 5])
def test_many_methods_can_be_read(results, count):
    """Property: panels of several methods stay legible."""
    _, result = results["pyramid"]
    names = ["pgs", "pgs permuted", "apgd", "compatible", "dem"][:count]
    shown = replace(result.network, forces=dict.fromkeys(names, result.force))
    for kind in ("compare", "histogram", "density", "floor"):
        legible(flat(kind, shown))


@pytest.mark.skipif(not DRAWS_SPACE, reason=str(spatial.missing()))
def test_space(results, monkeypatch):
    """Closed form: in parallel projection a ball covers pi r^2; network and labels are there."""
    # a third of the dots: OpenGL without a graphics card takes its time for each
    monkeypatch.setattr(spatial, "LAYOUT", replace(spatial.LAYOUT, pixels=450))
    scene = rl.Scene(gravity=(0, 0, -9.81))
    scene.add(rl.Sphere(0.5), position=(3, 1, 2))
    figure = plots.scene_figure(scene)
    image = figure.axes[0].images[0]
    x0, x1, y0, y1 = image.get_extent()
    pixels = image.get_array()
    covered = (pixels.astype(int).sum(axis=2) < 3 * 250).mean() * (x1 - x0) * (y1 - y0)
    # the drawn ball is a polyhedron inside the sphere: some percent less
    assert 0.93 * np.pi * 0.25 < covered < 1.01 * np.pi * 0.25
    scene, result = results["pyramid"]
    for dark in (False, True):
        figure = plots.comparison(result, view="3d", dark=dark)
        legible(figure)
        assert [a.get_title() for a in figure.axes[:2]] == ["classic", "compatible"]
        colourful = np.ptp(figure.axes[1].images[0].get_array().astype(int), axis=2)
        assert (colourful > 60).mean() > 0.02  # forces are the only things with a hue
        legible(plots.determinacy_map(result, view="3d", dark=dark))


def test_without_opengl(results, monkeypatch):
    """Where PyVista cannot draw, the front view is drawn and one warning says why."""
    monkeypatch.setattr(spatial, "missing", lambda: "PyVista is not installed (pip ...)")
    with pytest.warns(plots.Fallback, match="not installed") as caught:
        figure = plots.force_network(results["pyramid"][1])
    assert len(caught) == 1 and figure.axes[0].get_xlabel() == "x [mm]"
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a warning would be an exception
        plots.force_network(results["beam"][1])  # the plane needs no PyVista


def test_why_there_is_no_opengl(monkeypatch):
    """Without the library, or without OpenGL on a machine without display: what to install."""
    monkeypatch.setattr(spatial, "find_spec", lambda name: None)
    assert "rigidlimit[plot3d]" in spatial.missing.__wrapped__()
    monkeypatch.setattr(spatial, "find_spec", lambda name: True)
    monkeypatch.setattr(spatial.sys, "platform", "linux")
    monkeypatch.delenv("DISPLAY", raising=False)

    def absent(name):
        raise OSError(name)

    with monkeypatch.context() as inner:
        inner.setattr(spatial.ctypes, "CDLL", absent)
        assert "finds no OpenGL" in spatial.missing.__wrapped__()
    monkeypatch.setattr(spatial.ctypes, "CDLL", lambda name: None)
    monkeypatch.setitem(spatial.sys.modules, "pyvista", None)
    assert "does not load" in spatial.missing.__wrapped__()


def test_nothing_to_show():
    """Bodies in free fall: the network says so, charts refuse in one line."""
    scene = rl.Scene(name="falling")
    scene.add(rl.Sphere(0.1), position=(0, 0, 0))
    result = rl.Simulation(scene).step()
    figure = plots.force_network(result, view="front")
    assert "no contact carries load" in [t.get_text() for t in figure.texts]
    legible(figure)
    for draw, words in (
        (plots.force_histogram, "no contact carries load"),
        (plots.force_density, "no contact carries load"),
        (plots.floor_forces, "nothing rests"),
        (plots.determinacy_map, "no contact is closed"),
    ):
        with pytest.raises(InputError, match=words):
            draw(result)
    with pytest.raises(InputError, match="expected one of classic, compatible"):
        plots.force_network(result, method="dem", view="front")
    with pytest.raises(InputError, match="expected one of 3d, front"):
        plots.force_network(result, view="rear")
    with pytest.raises(InputError, match="found int; expected a run"):
        plots.force_network(3)


def test_vector_files(results, tmp_path):
    """Property: a plane picture as PDF holds no image, its text is text; other endings refused.

    (Colour bars are images, lest viewers show seams between 256 slivers: here is none.)
    """
    figure = plots.determinacy_map(rl.Simulation("disk-in-corner").step())
    plots.save_figure(figure, tmp_path / "a.pdf")
    data = (tmp_path / "a.pdf").read_bytes()
    assert data.startswith(b"%PDF") and b"/Subtype /Image" not in data
    assert b"/FontType 3" not in data and b"/Type3" not in data
    plots.save_figure(figure, tmp_path / "a.svg")
    assert "<image" not in (tmp_path / "a.svg").read_text()
    with pytest.raises(InputError, match="'jpg'"):
        plots.save_figure(figure, tmp_path / "a.jpg")


@pytest.fixture(scope="module")
def run_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "beam.h5"
    short_run(path, rl.scenes.beam(stiffness=(1, 3, 1)), steps=3)
    return path


def test_command_writes_every_kind(run_file, tmp_path):
    """The command: one file a kind, named after the run; a single file where asked."""
    runner = CliRunner()
    done = runner.invoke(app, ["plot", str(run_file), "--kind", "all", "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert {p.name for p in tmp_path.iterdir()} == {f"beam-{kind}.pdf" for kind in KINDS}
    assert done.output.count("written:") == len(KINDS)
    one = tmp_path / "one.svg"
    done = runner.invoke(
        app, ["plot", str(run_file), "--frame", "0", "--out", str(one), "--dark", "--kind", "floor"]
    )
    assert done.exit_code == 0 and one.exists()


def test_command_faults(run_file, tmp_path, capsys):
    """Missing, stopped, damaged, foreign, newer, empty, wrong options: one line, exit code 2."""
    from rigidlimit.output.hdf5 import RunWriter

    def refusal(*arguments):
        with pytest.raises(SystemExit) as caught:
            main(["plot", *map(str, arguments)])
        said = capsys.readouterr().err
        assert caught.value.code == 2 and said.count("\n") == 1, said
        return said

    def copy(name):
        path = tmp_path / name
        path.write_bytes(run_file.read_bytes())
        return path

    assert "no such file" in refusal(tmp_path / "none.h5")
    writer = RunWriter.start(tmp_path / "stopped.h5", rl.Simulation(rl.scenes.beam()), {})
    assert "unfinished" in refusal(tmp_path / "stopped.h5")
    writer.finish()
    assert "empty run" in refusal(tmp_path / "stopped.h5")
    cut = copy("cut.h5")
    cut.write_bytes(cut.read_bytes()[:5000])
    assert "damaged" in refusal(cut)
    with h5py.File(copy("newer.h5"), "a") as file:
        file.attrs["schema_version"] = 99
    assert "upgrade" in refusal(tmp_path / "newer.h5")
    with h5py.File(copy("holed.h5"), "a") as file:
        del file["steps/00000003/contacts/force"]
    assert "damaged at stored step" in refusal(tmp_path / "holed.h5")
    (tmp_path / "junk.h5").write_text("junk")
    assert "not an HDF5 file" in refusal(tmp_path / "junk.h5")
    assert "step 7 is not among them" in refusal(run_file, "--frame", 7)
    assert "expected .pdf" in refusal(run_file, "--out", tmp_path / "a.jpg")
    assert "several files" in refusal(run_file, "--kind", "all", "--out", tmp_path / "a.pdf")
    assert "make" in refusal(run_file, "--out", tmp_path / "misspelt" / "a.pdf")
    assert "below the file" in refusal(run_file, "--out", cut / "figures")


def test_command_without_opengl(tmp_path, monkeypatch):
    """The command says once why there is no picture in space, and draws the front view."""
    short_run(tmp_path / "stack.h5", rl.scenes.box_stack(2), steps=1)
    monkeypatch.setattr(spatial, "missing", lambda: "PyVista is not installed (pip ...)")
    done = CliRunner().invoke(app, ["plot", str(tmp_path / "stack.h5"), "--kind", "all"])
    assert done.exit_code == 0 and len(list(tmp_path.glob("*.pdf"))) == len(KINDS)
    assert done.output.count("PyVista is not installed") == 1
    assert "drawn as seen from the front" in done.output


def test_command_goes_on_where_one_kind_has_nothing(tmp_path):
    """--kind all of balls that touch no floor: the floor map is left out in one line."""
    scene = rl.scenes.newton_cradle(3)
    short_run(tmp_path / "cradle.h5", scene, steps=1)
    done = CliRunner().invoke(
        app, ["plot", str(tmp_path / "cradle.h5"), "--kind", "all", "--view", "front"]
    )
    assert done.exit_code == 0, done.output
    assert "no floor: nothing rests" in done.output
    assert len(list(tmp_path.glob("cradle-*.pdf"))) == len(KINDS) - 1


@pytest.mark.parametrize("make", [plots.force_network, plots.determinacy_map])
def test_contacts_seen_end_on_are_dots(make):
    """Property: seen from above, the vertical contacts of a table keep some length on paper."""
    scene = rl.scenes.four_leg_table()
    figure = make(rl.Simulation(scene).step(), view="top")
    segments = [
        np.asarray(segment)
        for lines in figure.axes[0].collections
        if lines.get_gid() in ("forces", "undetermined", "determined", "open")
        for segment in lines.get_segments()
    ]
    assert len(segments) == 4
    assert all(np.ptp(segment, axis=0).max() > 0 for segment in segments)
