"""Bodies of several parts in files, pictures and pages."""

import meshio
import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.output import plots
from rigidlimit.output.hdf5 import read_run
from rigidlimit.output.plots import spatial
from rigidlimit.output.surfaces import surface, surface_area, surface_pressure
from rigidlimit.output.view import write_view
from rigidlimit.output.view_bodies import facets
from rigidlimit.output.vtk import write_paraview
from rigidlimit.scenes.toml import parse_scene, scene_text

from .test_output import short_run

JACK = rl.Compound(
    [
        (rl.Box((3, 1, 1)), (0, 0, 0)),
        (rl.Cylinder(0.5, 2), (0, 0, 1.5)),
        (rl.Sphere(0.5), (2.0, 0, 0)),
        (rl.Box((1, 1, 1)), (-2, 0, 0), (1, 0, 0, 1)),
    ]
)


def jack_on_floor():
    """A body of four parts and a ball that it carries, on a floor."""
    scene = rl.Scene(gravity=(0, 0, -10), dt=1e-3)
    scene.add(rl.HalfSpace(), position=(0, 0, -0.5), name="floor")
    scene.add(JACK, position=JACK.centre, orientation=(1, 0, 0, 0.5), name="jack")
    turn = rl.bodies.rotations.matrix(scene.state.quaternion[1])
    top = JACK.centre + turn @ (JACK.offsets[1] + [0, 0, 1])
    scene.add(rl.Sphere(0.2), position=top + [0, 0, 0.2], name="ball")
    return scene


def test_runs_hold_compounds(tmp_path):
    """Property: what was computed is what is read; a run stopped after its scene was written and
    read again goes on to the last bit."""
    path = tmp_path / "run.h5"
    scene = rl.Scene(gravity=(0, 0, -10), dt=0.01)
    scene.add(rl.HalfSpace(), position=(0, 0, 0))
    balls = rl.Compound([(rl.Sphere(0.5), (x, 0, 0)) for x in (-0.5, 0.5)])
    scene.add(balls, position=(0, 0, 0.6), angular_velocity=(0, 1, 2))
    scene.add(balls, position=(0.2, 0.3, 1.8), orientation=(1, 0, 1, 1))
    results = short_run(path, scene, steps=30)
    assert results[-1].contacts.feature.max() >= 1 << 16
    run = read_run(path)
    for stored, result in zip(run, results, strict=True):
        np.testing.assert_array_equal(stored.contacts.key, result.contacts.key)
        np.testing.assert_array_equal(stored.force, result.force)
    again = rl.Simulation(parse_scene(scene_text(scene)))
    half = rl.Simulation(scene)
    half.run(0.15)
    again.restore(half.checkpoint())
    for _ in range(15):
        last = again.step()
    np.testing.assert_array_equal(last.state.position, results[-1].state.position)
    np.testing.assert_array_equal(last.force, results[-1].force)


def test_warned_of_once(tmp_path, recwarn):
    """Property: a run of a clump whose parts overlap warns when it is made, not when it is read."""
    scene = rl.Scene()
    scene.add(rl.Compound([(rl.Sphere(1), (x, 0, 0)) for x in (0, 1)]), position=(0, 0, 0))
    assert len(recwarn) == 1
    short_run(tmp_path / "run.h5", scene, steps=1)
    recwarn.clear()
    read_run(tmp_path / "run.h5")
    assert not len(recwarn)


def volume(points, triangles):
    a, b, c = (points[triangles[:, i]] for i in range(3))
    return np.einsum("ij,ij->", a, np.cross(b, c)) / 6


def test_surfaces():
    """Closed form: the triangles of a compound enclose the volumes of its parts, and have their
    areas; those of inscribed round parts a few percent less; in 2D as well."""
    points, triangles = surface(JACK)
    assert 0.98 * JACK.measure < volume(points, triangles) < JACK.measure
    box = surface_area(JACK.shapes[0])
    assert surface_area(JACK) == pytest.approx(box + 6 + np.pi * 2.5 + 4 * np.pi * 0.25)
    corner = facets(JACK).corner
    np.testing.assert_array_equal(
        np.unique(corner, axis=0), np.unique(points[triangles.ravel()], axis=0)
    )
    flat = rl.Compound([(rl.rectangle(2, 1), (1, 0.5)), (rl.Disk(0.5), (2.5, 0.5))])
    points, triangles = surface(flat)
    a, b, c = (points[triangles[:, i]] for i in range(3))
    area = 0.5 * np.cross(b - a, c - a)[:, 2]
    assert (area > 0).all() and 0.98 * flat.measure < area.sum() < flat.measure
    np.testing.assert_allclose(points.min(axis=0)[:2] + flat.centre, 0, atol=1e-14)


def test_paraview(tmp_path):
    """Property: the body in the file spans what its parts span; its triangles are one body."""
    short_run(tmp_path / "run.h5", jack_on_floor(), steps=1)
    run = read_run(tmp_path / "run.h5")
    write_paraview(run, tmp_path / "vtk")
    mesh = meshio.read(tmp_path / "vtk" / "bodies-00000001.vtu")
    owner = mesh.cell_data["body"][0]
    assert set(owner) == {1, 2}
    points, triangles = mesh.points, mesh.cells[0].data[owner == 1]
    assert volume(points, triangles) == pytest.approx(volume(*surface(JACK)), rel=1e-12)


@pytest.mark.parametrize("view", ["front", "top", "side"])
def test_outlines(view):
    """Closed form: the outline of a body in a picture is that of its parts together."""
    scene = jack_on_floor()
    figure = plots.scene_figure(scene, view=view)
    drawn = next(c for c in figure.axes[0].collections if c.get_gid() == "bodies")
    paths = drawn.get_paths()
    assert len(paths) == 2  # one a body
    axes = {"front": (0, 2), "side": (1, 2), "top": (0, 1)}[view]
    turn = rl.bodies.rotations.matrix(scene.state.quaternion[1])
    known = surface(JACK)[0] @ turn.T + JACK.centre
    jack = max(paths, key=lambda path: np.ptp(path.vertices, axis=0).max())
    for k, axis in enumerate(axes):
        low, high = known[:, axis].min(), known[:, axis].max()
        box = jack.get_extents()
        # balls of pictures are circles, those of surfaces inscribed
        assert box.min[k] == pytest.approx(low, abs=0.02)
        assert box.max[k] == pytest.approx(high, abs=0.02)
    x, y = figure.axes[0].get_xlim(), figure.axes[0].get_ylim()
    assert x[0] < known[:, axes[0]].min() and known[:, axes[0]].max() < x[1]
    assert y[0] < known[:, axes[1]].min() and known[:, axes[1]].max() < y[1]


def test_figures_of_the_gallery_block():
    """Property: networks, maps of the floor and of determinacy are drawn of a body of parts; from
    above as well, with what rests on the floor."""
    scene = rl.scenes.l_block()
    result = rl.Simulation(scene).step()
    for kind in (plots.force_network, plots.comparison, plots.floor_forces, plots.determinacy_map):
        assert kind(result).axes
    scene = jack_on_floor()
    result = rl.Simulation(scene).step()
    figure = plots.floor_forces(result)
    assert figure.axes[0].collections
    pressure = surface_pressure(result.network, result.force)
    _, jack, ball = 10 * scene.bodies.mass
    # solved to 1e-10
    assert pressure[1] == pytest.approx((jack + 2 * ball) / surface_area(JACK), rel=1e-7)


@pytest.mark.skipif(spatial.missing() is not None, reason="draws in space")
def test_in_space():
    """Property: a picture in space shows all parts: more than the largest of them alone."""
    covered = []
    for shape in (JACK, JACK.shapes[0]):
        scene = rl.Scene()
        scene.add(shape, position=(0, 0, 0))
        image = plots.scene_figure(scene).axes[0].images[0]
        x0, x1, y0, y1 = image.get_extent()
        seen = (image.get_array().astype(int).sum(axis=2) < 3 * 250).mean()
        covered.append(seen * (x1 - x0) * (y1 - y0))
    assert covered[0] > 1.3 * covered[1]


def test_the_page_of_a_run(tmp_path):
    """Property: the browser gets the parts' corners as one solid."""
    short_run(tmp_path / "run.h5", jack_on_floor(), steps=1)
    page = write_view(read_run(tmp_path / "run.h5"), tmp_path / "run.html")
    assert f'"solids": [{len(facets(JACK))}]' in page.read_text(encoding="utf-8")
