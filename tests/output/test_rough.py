"""What is read off, stored and shown of contacts that rub."""

import meshio
import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.errors import InputError
from rigidlimit.output.hdf5 import RunWriter
from rigidlimit.output.plots import meshes, spatial
from rigidlimit.output.plots.network import _shades, force_arrows, force_tubes
from rigidlimit.output.plots.style import LIGHT, force_colours
from rigidlimit.output.vtk import write_paraview

STORED = ("tangential", "tangential_classic", "sliding", "friction")


@pytest.fixture(scope="module")
def block():
    """A rough cube under a moment, slid sideways: 4 contacts that slide, as a run and its step."""
    scene = rl.Scene(name="block", dt=1e-3)
    rough = rl.Material(friction=0.3)
    scene.add(rl.HalfSpace(), position=(0, 0, 0), material=rough, name="floor")
    scene.add(
        rl.Box((0.2, 0.2, 0.1)),
        position=(0, 0, 0.05),
        mass=2.0,
        velocity=(0.5, 0.2, 0),
        material=rough,
        name="block",
    )
    return scene


def stored(path, scene, steps=2, **options):
    """(run, last step as it was made) of so many steps."""
    simulation = rl.Simulation(scene, **options)
    writer = RunWriter.start(path, simulation, {})
    for _ in range(steps):
        writer.add(simulation.step())
    writer.finish()
    return rl.read_run(path), simulation.last


def test_runs_hold_tangential_forces(block, tmp_path):
    """Property: what is stored is the step's, bit for bit, and the table of both is one."""
    run, last = stored(tmp_path / "block.h5", block)
    step = run[-1]
    np.testing.assert_array_equal(step.contacts.tangents, last.contacts.tangents)
    np.testing.assert_array_equal(step.sliding, last.sliding)
    np.testing.assert_array_equal(step.friction, 0.3)
    np.testing.assert_array_equal(step.force_vectors, last.force_vectors)
    assert step.sliding.all()
    assert [s.info["compatible_state"] for s in run] == ["unloaded", "history"]
    for one, other in zip(*(rl.contact_table(x) for x in (step, last)), strict=True):
        assert one == other
    # the sliding block slows down by mu g, and its contacts bear mu f_n against its way
    np.testing.assert_allclose(rl.body_forces(run)[1, 2], 2 * 9.81, rtol=1e-8)  # solved to 1e-10
    way = last.state.velocity[1, :2] / np.linalg.norm(last.state.velocity[1, :2])
    np.testing.assert_allclose(rl.body_forces(run)[1, :2], -0.3 * 2 * 9.81 * way, rtol=1e-8)


def test_classic_forces_alone_are_stored_too(block, tmp_path):
    """Contract: where compatible forces were not asked for they are NaN, the classic ones known."""
    step = stored(tmp_path / "block.h5", block, compatible="never")[0][-1]
    assert np.isnan(step.tangential).all() and np.isnan(step.force_vectors).all()
    assert step.sliding.all()
    table = rl.contact_table(step)
    np.testing.assert_allclose(table["mobilised"], 1.0, rtol=1e-8)
    assert "compatible_tangential" not in table.dtype.names


def test_nothing_of_it_without_friction(tmp_path):
    """Contract: files, tables and ParaView files of smooth bodies are as they were."""
    run, last = stored(tmp_path / "beam.h5", "beam")
    assert all(getattr(run[-1], name) is None for name in STORED)
    assert run[-1].contacts.tangents is None
    np.testing.assert_array_equal(run[-1].force_vectors, last.force_vectors)
    names = rl.contact_table(run).dtype.names
    assert names[-3:] == ("gap", "classic", "compatible")
    write_paraview(run, tmp_path / "vtk")
    data = meshio.read(tmp_path / "vtk" / "contacts-00000002.vtu").cell_data
    assert not {"force vector [N]", "mobilised friction", "sliding"} & set(data)


def test_damaged_tangential_forces_are_refused(block, tmp_path):
    """Contract: one clear error, as of any other array."""
    import h5py

    path = tmp_path / "block.h5"
    stored(path, block)
    with h5py.File(path, "r+") as file:
        del file["steps/00000002/contacts/sliding"]
    with pytest.raises(rl.errors.OutputError, match="contacts/sliding is missing"):
        rl.read_run(path)[-1]


def test_table_and_stress_of_a_groove():
    """Closed form: a disk at rest between walls at 45 degrees mobilises k_t/k_n tan a / mu of the
    friction, and its walls bear the resultants of both forces."""
    scene = rl.scenes.groove()
    result = rl.Simulation(scene).step()
    table = rl.contact_table(result)
    ratio = table["compatible_tangential"] / table["compatible"]
    np.testing.assert_allclose(table["mobilised"], ratio / 0.5, rtol=1e-12)
    assert not table["sliding"].any()
    one_side = rl.pair_forces(result)[0]
    np.testing.assert_allclose(
        one_side["force"], np.hypot(table["compatible"], table["compatible_tangential"])[0]
    )


def test_stress_at_rest_is_symmetric():
    """Property: of a block at rest on an incline the unsymmetric parts cancel, of normal forces,
    which act below its centre, and of tangential ones."""
    scene = rl.scenes.incline()
    result = rl.Simulation(scene).step()
    stress = rl.stress(result, 1.0)
    arm = result.contacts.point - scene.state.position[1]
    normal_alone = np.einsum("m,mi,mj->ij", result.force, arm, result.contacts.normal)
    size = np.abs(stress).max()
    assert np.abs(normal_alone - normal_alone.T).max() > 0.1 * size
    # the balance is solved to 1e-10 of the load
    np.testing.assert_allclose(stress, stress.T, atol=1e-8 * size)


def test_stress_with_tangential_forces_of_a_body_that_turns():
    """Property: the unsymmetric part is half the moment of the contacts, which spins up a disk that
    rolls; of the body itself rl.body_forces tells it."""
    scene = rl.scenes.rolling_ball()
    result = rl.Simulation(scene).step()
    stress, moment = rl.stress(result, 1.0), rl.body_forces(result)[1, 3:]
    assert np.abs(moment).max() > 1e-3
    skew = stress - stress.T
    np.testing.assert_allclose([skew[2, 1], skew[0, 2], skew[1, 0]], moment, atol=1e-12)


def test_paraview_shows_force_vectors(block, tmp_path):
    run, last = stored(tmp_path / "block.h5", block)
    write_paraview(run, tmp_path / "vtk")
    data = meshio.read(tmp_path / "vtk" / "contacts-00000002.vtu").cell_data
    np.testing.assert_array_equal(data["force vector [N]"][0], last.force_vectors)
    np.testing.assert_allclose(data["mobilised friction"][0], 1.0, rtol=1e-8)
    np.testing.assert_array_equal(data["sliding"][0], 1)


def test_notebooks_show_rough_steps(block):
    """Contract: step and both of its results have a table in Jupyter, which counts what slides."""
    result = rl.Simulation(block).step()
    for thing in (result, result.classic, result.compatible):
        assert "<td>slide</td><td>4 contacts</td>" in thing._repr_html_()


def test_pictures_show_friction(block):
    """Property: an arrow a bearing contact, along its tangential force on the block, and a ring
    around each that slides; nothing of that without friction."""
    result = rl.Simulation(block).step()
    (panel,) = network_panels(rl.plots.force_network(result, view="top"))
    arrows, rings = found(panel, "tangential"), found(panel, "sliding")
    assert len(rings.get_offsets()) == 4
    push = np.column_stack([arrows.U, arrows.V])
    expected = result.force_vectors[:, :2] * (block.bodies.length / result.force.max())
    order, other = (np.lexsort(x.T.round(9)) for x in (arrows.XY, result.contacts.point[:, :2]))
    np.testing.assert_allclose(push[order], expected[other], rtol=1e-12)
    (smooth,) = network_panels(rl.plots.force_network(rl.Simulation("beam").step()))
    assert found(smooth, "tangential") is None and found(smooth, "sliding") is None


def network_panels(figure):
    return [panel for panel in figure.axes if found(panel, "forces") is not None]


def found(panel, gid):
    return next((item for item in panel.collections if item.get_gid() == gid), None)


def test_mobilised_friction_and_sliding_fraction(block):
    """Closed form: a groove of 45 degrees mobilises k_t/k_n = 2/7 of 0.5, one of 75 degrees all of
    0.3; a block that slides does on all of its corners."""
    groove = rl.Simulation(rl.scenes.groove()).step()
    np.testing.assert_allclose(rl.mobilised(groove), 4 / 7, rtol=1e-9)  # solved to 1e-10
    assert rl.sliding_fraction(groove) == 0.0
    steep = rl.Simulation(rl.scenes.groove(75, friction=0.3)).step()
    np.testing.assert_allclose(rl.mobilised(steep), 1.0, rtol=1e-9)
    assert rl.sliding_fraction(steep) == 1.0
    moving = rl.Simulation(block).step()
    assert rl.sliding_fraction(moving) == rl.sliding_fraction(moving, method="classic") == 1.0
    with pytest.raises(InputError, match="no tangential parts; expected bodies with friction"):
        rl.mobilised(rl.Simulation("beam").step())


def test_colours_show_mobilised_friction():
    """Closed form: the sides of a groove of 45 degrees mobilise 2/7 of 0.5, which is 4/7."""
    groove = rl.Simulation(rl.scenes.groove()).step()
    drawn = [rl.plots.force_network, rl.plots.comparison]
    for figure in (draw(groove, colour="mobilised") for draw in drawn):
        lines = found(network_panels(figure)[-1], "forces")
        np.testing.assert_allclose(lines.get_colors(), [force_colours(LIGHT)(4 / 7)] * 2)
        assert "mobilised friction" in figure.axes[-2].get_xlabel()
    shown = groove.network
    (shade,) = _shades(shown, ["compatible"], [groove.force], groove.force.max(), "mobilised")
    tubes = force_tubes(shown, groove.force, groove.force.max(), LIGHT, shade)
    np.testing.assert_allclose(tubes.colours, [force_colours(LIGHT)(4 / 7)] * 2)
    with pytest.raises(InputError, match="expected 'force' or 'mobilised'"):
        rl.plots.force_network(groove, colour="red")
    with pytest.raises(InputError, match="no tangential parts"):
        rl.plots.force_network(rl.Simulation("beam").step(), colour="mobilised")


@pytest.mark.skipif(spatial.missing() is not None, reason=str(spatial.missing()))
def test_pictures_in_space_show_friction(block):
    """Property: arrows along the tangential forces, and rings where contacts slide."""
    result = rl.Simulation(block).step()
    shown = result.network
    rubs = force_arrows(shown, "compatible", result.force, result.force.max())
    arrows, rings = meshes.friction(rubs, block.bodies.length)
    low, high = (np.array(arrows.bounds)[k::2] for k in (0, 1))
    tips = result.contacts.point + rubs.arrow
    # as thick as the tip of an arrow
    room = 0.35 * np.linalg.norm(rubs.arrow, axis=1).max()
    assert (tips.min(axis=0) >= low - 1e-9).all() and (tips.max(axis=0) <= high + 1e-9).all()
    assert (low >= np.minimum(tips, result.contacts.point).min(axis=0) - room).all()
    corner = np.abs(result.contacts.point).max()
    wide = np.array(rings.bounds)[1] - corner
    assert 0.0 < wide < 0.2 * block.bodies.length
    without = rl.Simulation("pyramid").step().network
    assert force_arrows(without, "compatible", without.forces["compatible"], 1.0) is None
