"""Periodic cells: the contacts of images, forces under a prescribed stress, motion, files."""

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.collision.images import wrapped
from rigidlimit.collision.search import find_contacts
from rigidlimit.errors import ContactError, InputError, SceneError
from rigidlimit.scenes.columns import StoredScene
from rigidlimit.scenes.toml import parse_scene, scene_text

OPEN = [[None] * 3] * 3


def held(**given):
    """A stress tensor (3, 3) of which only some entries are given, as xx=2.0."""
    stress = [list(row) for row in OPEN]
    for name, value in given.items():
        stress["xyz".index(name[0])]["xyz".index(name[1])] = value
    return stress


def chain(*, pressure=2.0, shift=0.0, sides=(0.6, 5.0, 5.0)):
    """Three balls of radius 0.1 that touch around a cell of length 0.6."""
    scene = rl.Scene(cell=rl.Cell(sides, stress=held(xx=pressure)))
    for k in range(3):
        scene.add(rl.Sphere(0.1), position=(0.2 * k + shift, 1, 1), mass=1.0)
    return scene


def lattice(vectors=None, *, moved=0.0, put=None, friction=0.0, stress=None):
    """A triangular lattice of 4 x 4 disks, of two materials, under a stress that is not isotropic.

    vectors: another cell of the same lattice. moved (2,): all bodies by this. put (16, 2): each by
    so many vectors of the cell.
    """
    d, high = 0.2, 0.1 * np.sqrt(3.0)
    own = np.array([[4 * d, 0.0], [2 * d, 4 * high]])
    vectors = own if vectors is None else np.asarray(vectors, float) @ own
    stress = [[3.0, 0.2], [0.2, 2.0]] if stress is None else stress
    scene = rl.Scene(dim=2, cell=rl.Cell(vectors, stress=stress), dt=1e-3)
    hard, soft = (rl.Material(young=E, density=10.0, friction=friction) for E in (5e9, 1e9))
    at = np.array([(d * (i + 0.5 * j), high * j) for j in range(4) for i in range(4)]) + moved
    at = at if put is None else at + put @ vectors
    for k, x in enumerate(at):
        scene.add(rl.Disk(d / 2), position=x, material=soft if k % 3 == 0 else hard)
    return scene


def forces(scene):
    """{(a, b): force} of one step, and the step."""
    step = rl.Simulation(scene, tolerance=1e-12).step()
    assert step.converged, step.message
    pairs = zip(step.contacts.body.tolist(), step.force, strict=True)
    return {tuple(pair): f for pair, f in pairs if f > 0}, step


def test_a_chain_around_the_cell_bears_the_stress():
    """Closed form: force = stress times area; 1e-10 is the tolerance of the step."""
    for shift in (0.0, 0.05, 0.1, -7.3):
        step = rl.Simulation(chain(shift=shift)).step()
        assert step.contacts.body.tolist() == [[0, 1], [0, 2], [1, 2]]
        np.testing.assert_allclose(step.force, 2.0 * 25.0, rtol=1e-10)
        np.testing.assert_allclose(step.stress, np.diag([2.0, 0.0, 0.0]), atol=2e-10)
        assert np.abs(step.state.velocity).max() < 1e-14  # of a free fall of 1e-3 m/s


def test_a_strain_that_is_prescribed_drives():
    """Closed form: a cell that shortens by the strain 0.1 dt pushes balls together; what is held
    instead of loaded is driven. It lengthens freely: no contact."""
    for rate, force in ((-0.1, True), (0.1, False)):
        scene = chain()
        scene.cell = rl.Cell((0.6, 5, 5), rate=np.diag([rate, 0, 0]))
        simulation = rl.Simulation(scene, dt=1e-3)
        with pytest.warns(rl.errors.SceneWarning, match="cell' is driven") if force else nothing():
            step = simulation.step(compatible=False)
        assert (step.classic.status is rl.Status.JAMMED) == force
        np.testing.assert_allclose(step.state.cell[0, 0], 0.6 * (1 + 1e-3 * rate), rtol=1e-15)
        # the balls move with the cell: none is faster than the others relative to it
        np.testing.assert_allclose(step.state.position[1, 0], 0.2 * (1 + 1e-3 * rate), rtol=1e-12)


def nothing():
    import contextlib

    return contextlib.nullcontext()


def test_shear_of_images():
    """Closed form: Lees and Edwards: under L_xy the image above moves by L_xy times the height."""
    scene = rl.Scene(dim=2, cell=rl.Cell((1.0, 2.0), rate=[[0, 0.3], [0, 0]]), dt=0.1)
    scene.add(rl.Disk(0.1), position=(0.5, 0.05), velocity=(0.0, -0.1))
    simulation = rl.Simulation(scene)
    for _ in range(7):
        simulation.step()
    np.testing.assert_allclose(simulation.state.cell[:2, :2], [[1, 0], [0.42, 2]], rtol=1e-14)
    # x' = 0.3 y with y from 0.05 - 0.1 t, Euler's sum over the seven steps
    y = 0.05 - 0.01 * np.arange(8)
    np.testing.assert_allclose(simulation.state.position[0, :2], (0.5 + 0.03 * y[:7].sum(), y[7]))
    inside, cells = wrapped(simulation.bodies, simulation.state)
    np.testing.assert_allclose(inside[0, :2], simulation.state.position[0, :2] + (0.42, 2))
    assert cells[0].tolist() == [0, -1, 0] and not cells[1].any()


@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_equivalent_cells_and_shifts(friction):
    """Property: forces do not change when all bodies are moved, by any vector or each by vectors of
    the cell, or when the same lattice is given by another cell. 1e-10: steps are solved to 1e-12 of
    the load of the cell, which is a hundred forces at most.

    Smooth, the lattice is indeterminate (48 contacts, 32 + 3 motions): two materials share it out.
    """
    known, step = forces(lattice(friction=friction))
    np.testing.assert_allclose(step.stress, [[3.0, 0.2], [0.2, 2.0]], rtol=1e-9)
    assert len(known) == 48 and np.ptp(list(known.values())) > 0.01
    put = np.random.default_rng(1).integers(-2, 3, (16, 2))
    for other in (
        lattice(moved=(0.337, -1.91), friction=friction),
        lattice(put=put, friction=friction),
        lattice([[1, 0], [1, 1]], friction=friction),
        lattice([[1, 0], [-7, 1]], friction=friction),
    ):
        found, _ = forces(other)
        assert found.keys() == known.keys()
        for pair, force in known.items():
            assert abs(found[pair] - force) <= 1e-10 * max(known.values()), pair


def test_sheets_are_periodic_sideways_alone():
    """Closed form: a layer of balls on a floor, periodic along x and y, under a lid: every ball
    bears its own weight and its share of the lid's load; a lateral pressure is borne by the chains
    of balls along x and y. 1e-9: the tolerance over the smallest force."""
    stress = [[8.0, 0.0, None], [0.0, 4.0, None], [None] * 3]
    cell = rl.Cell((0.8, 0.8, 1.0), periodic=(True, True, False), stress=stress)
    scene = rl.Scene(cell=cell, gravity=(0, 0, -10))
    floor = scene.add(rl.HalfSpace(), position=(0, 0, 0))
    for i in range(16):
        at = 0.2 * (i % 4), 0.2 * (i // 4), 0.1
        scene.add(rl.Sphere(0.1), position=at, mass=0.1, load=(0, 0, -2))
    step = rl.Simulation(scene).step()
    on_floor = step.contacts.body[:, 0] == floor
    np.testing.assert_allclose(step.force[on_floor], 3.0, rtol=1e-9)
    # pressure times height and width of a chain
    along_x = np.abs(step.contacts.normal[:, 0]) > 0.5
    np.testing.assert_allclose(step.force[along_x], 8.0 * 0.2, rtol=1e-9)
    along_y = np.abs(step.contacts.normal[:, 1]) > 0.5
    np.testing.assert_allclose(step.force[along_y], 4.0 * 0.2, rtol=1e-9)
    assert (on_floor.sum(), along_x.sum(), along_y.sum()) == (16, 16, 16)


def test_contacts_are_those_of_the_images():
    """Reference twin: pairs and gaps by going through 27 images of every pair, in a cell that is
    sheared far; shapes that are not balls are searched by their images as well."""
    rng = np.random.default_rng(3)
    vectors = np.array([[2.0, 0, 0], [3.1, 2.2, 0], [-0.7, 0.4, 1.9]])
    scene = rl.Scene(cell=vectors)
    at = rng.uniform(-3, 3, (40, 3))
    scene.add_many([rl.Sphere(r) for r in rng.uniform(0.1, 0.2, 40)], at)
    found = find_contacts(scene.bodies, scene.state, 0.05)
    inside, _ = wrapped(scene.bodies, scene.state)
    steps = np.stack(np.meshgrid(*[np.arange(-3, 4)] * 3, indexing="ij"), -1).reshape(-1, 3)
    known, r = {}, scene.bodies.bounding_radius
    for a in range(40):
        for b in range(a + 1, 40):
            away = inside[b] - inside[a] + steps @ vectors
            gap = float(np.linalg.norm(away, axis=1).min()) - r[a] - r[b]
            if gap <= 0.1:
                known[a, b] = gap
    assert dict.fromkeys(map(tuple, found.body.tolist())) == dict.fromkeys(known)
    np.testing.assert_allclose(found.gap, list(known.values()), atol=1e-14)
    middle = found.point - scene.state.position[found.body[:, 0]]
    half = r[found.body[:, 0]] + 0.5 * found.gap
    np.testing.assert_allclose(middle, half[:, None] * found.normal, atol=1e-14)

    boxes = rl.Scene(cell=(1.4, 4.0, 4.0))
    boxes.add(rl.Box((0.3, 0.3, 0.3)), position=(0.1, 0, 0))
    boxes.add(rl.Compound([(rl.Sphere(0.1), (0, 0, 0), None)]), position=(1.3, 0, 0))
    (gap,) = find_contacts(boxes.bodies, boxes.state, 0.05).gap
    assert abs(gap - (0.2 - 0.15 - 0.1)) < 1e-14


def test_files_keep_the_cell(monkeypatch):
    """Property: forces of a scene read back from text and from columns are the same."""
    scene = lattice()
    known, _ = forces(scene)
    assert forces(parse_scene(scene_text(scene)))[0] == known
    monkeypatch.setattr("rigidlimit.scenes.columns.MANY", 1)
    back = StoredScene.of(scene).scene("run")
    assert forces(back)[0] == known and len(back) == len(scene) == 16


def test_checkpoint_of_a_cell():
    """Property: a simulation restored in the middle of a shear goes on with the same numbers."""
    scene = lattice(stress=[[3.0, None], [None, 2.0]])
    simulation = rl.Simulation(scene)
    simulation.step()
    simulation.set_cell(stress=[[1.0, None], [None, 1.0]], rate=[[0, 0.5], [0, 0]])
    simulation.step()
    other = rl.Simulation(scene)
    other.restore(simulation.checkpoint())
    for _ in range(3):
        a, b = simulation.step(), other.step()
    np.testing.assert_array_equal(a.force, b.force)
    np.testing.assert_array_equal(a.state.cell, b.state.cell)
    assert a.state.cell[1, 0] > scene.cell.vectors[1, 0]


def test_errors_of_cells():
    """Each bad cell is one clear error."""
    for given, told in (
        (dict(vectors=(1, 0)), "determinant"),
        (dict(vectors=[[0, 1], [1, 0]]), "right-handed"),
        (dict(vectors="wide"), "side lengths"),
        (dict(vectors=(1, 1), periodic=[False, False]), "one of them true"),
        (dict(vectors=[[1, 1], [0, 1]], periodic=[True, False]), "without components"),
        (dict(vectors=(1, 1), stress=[[1, 2], [3, 4]]), "symmetric"),
        (dict(vectors=(1, 1), stress=np.eye(3)), "expected a pressure"),
        (dict(vectors=(1, 1), rate=[[0, 0], [1, 0]]), "upper triangular"),
        (dict(vectors=(1, 1), rate=[[0, np.nan], [0, 0]]), "finite"),
        (dict(vectors=(1, 1), inertia=-1), "inertia"),
        (dict(vectors=(1, 1), periodic=[True, False], stress=np.eye(2)), "walls that are loaded"),
        (dict(vectors=(1, 1), periodic=[True, False], rate=np.eye(2)), "walls that are driven"),
    ):
        with pytest.raises(SceneError, match=told):
            rl.Cell(**given)
    with pytest.raises(SceneError, match="one in 2D; expected 3D"):
        rl.Scene(cell=(1, 1))
    scene = rl.Scene(dim=2, cell=(1, 1))
    with pytest.raises(SceneError, match="normal without components"):
        scene.add(rl.HalfSpace(2), position=(0, 0))
    scene.add(rl.Disk(0.3), position=(0, 0))
    with pytest.raises(ContactError, match="smaller than half of the cell"):
        find_contacts(scene.bodies, scene.state, 0.0)


def test_run_files_keep_cell_and_stress(tmp_path):
    """Property: the stress read off a stored step of a sheared cell is that of the step."""
    from rigidlimit.output.writer import RunWriter

    scene = lattice(stress=[[3.0, None], [None, 2.0]])
    scene.cell = scene.cell.changed(rate=[[0, -0.5], [0, 0]])
    simulation = rl.Simulation(scene)
    writer = RunWriter.start(tmp_path / "run.h5", simulation, {"until": 2e-3})
    for _ in range(2):
        step = simulation.step()
        writer.add(step)
    writer.finish()
    run = rl.read_run(tmp_path / "run.h5")
    for source in (run, step):
        np.testing.assert_allclose(rl.stress(source), step.stress, rtol=1e-13)
    np.testing.assert_array_equal(run[-1].cell, step.state.cell)
    with pytest.raises(InputError, match="expected neither for a periodic cell"):
        rl.stress(step, 1.0)


def test_forces_at_a_periodic_pose():
    """Closed form: three contacts of stiffness k around a cell 3 g short press with k g;
    the cell is held, as no stress is prescribed. 1e-10: the tolerance."""
    scene = chain(sides=(0.6 - 3e-4, 5, 5))
    scene.cell = rl.Cell((0.6 - 3e-4, 5, 5))
    found = rl.forces_at_pose(scene, stiffness=1e5)
    np.testing.assert_allclose(found.force, 1e5 * 1e-4, rtol=1e-10)
