"""Contact tables, resultants, stress and neighbours against closed forms and balance."""

from itertools import pairwise

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.errors import InputError
from rigidlimit.output.hdf5 import RunWriter

from ..problems import balanced_arch


@pytest.fixture(scope="module")
def oedometer():
    """4 x 3 disks in a square grid between walls, under a lid with 60 N; without gravity."""
    scene = rl.Scene(name="oedometer", dim=2, gravity=(0, 0), law="hertz")
    scene.add(rl.HalfSpace(2), position=(0, 0), name="floor")
    scene.add(rl.HalfSpace(2), position=(0, 0), normal=(1, 0), name="left")
    scene.add(rl.HalfSpace(2), position=(0.8, 0), normal=(-1, 0), name="right")
    grid = np.array([(x, y) for x in range(4) for y in range(3)])
    scene.add_many(rl.Disk(0.1), 0.1 + 0.2 * grid)
    lid = rl.rectangle(0.78, 0.1)
    scene.add(lid, position=(0.4, 0.65), fixed=["x", "rz"], load=(0, -60), name="lid")
    return scene


def test_stress_of_an_oedometer(oedometer):
    """Closed form: 60 N on 0.8 m is 75 N/m of vertical stress, nothing sideways. Of the lid as
    well it is the stress times (0.6 + 0.1 / 2) / 0.6: half of a plate between its load and the
    packing is pressed."""
    result = rl.Simulation(oedometer).step()
    grains = list(range(3, 15))
    stress = rl.stress(result, 0.8 * 0.6, bodies=grains)
    # the residual of a step is 1e-10
    np.testing.assert_allclose(stress, [[0, 0], [0, 75]], atol=1e-7)
    whole = rl.stress(result, 0.8 * 0.6)
    np.testing.assert_allclose(whole[1, 1], 75 * 0.65 / 0.6, rtol=1e-8)
    named = rl.stress(result, 0.8 * 0.6, bodies=[str(k) for k in grains])
    np.testing.assert_array_equal(named, stress)


def test_forces_on_bodies_balance(oedometer):
    """Property: forces on bodies at rest are their loads with the sign turned, the floor's is the
    load; columns stand on one another, so that inner disks have two neighbours."""
    result = rl.Simulation(oedometer).step()
    force = rl.body_forces(result)
    expected = -oedometer.external_force().reshape(-1, 6)
    expected[oedometer.index("floor"), 1] = -60
    expected[0, 5] = -60 * 0.4  # of a half-space about its position, the left end
    np.testing.assert_allclose(force, expected, atol=1e-7)
    z = rl.neighbours(result)
    assert z[oedometer.index("floor")] == 4 and z[1] == 0
    assert (z[3:15] == 2).all()
    # two points of one pair
    assert list(rl.neighbours(rl.Simulation("beam").step())) == [1, 1, 1, 3]
    block = rl.Scene(dim=2)
    block.add(rl.HalfSpace(2), position=(0, 0))
    block.add(rl.rectangle(1, 1), position=(0, 0.5))
    assert list(rl.neighbours(rl.Simulation(block).step())) == [1, 1]


def test_bodies_that_move(tmp_path):
    """Property: F + F_ext = M dv/dt, of a simulation and of the same step read from its file,
    where centres have moved since its contacts were found; a turn shows where arms are taken."""
    scene = rl.Scene(name="moving", dt=5e-3)
    scene.add(rl.HalfSpace(), position=(0, 0, 0), normal=(0.3, 0.1, 1), name="slope")
    # a ball, whose inertia does not turn with it, and a cube, whose neither does
    scene.add(rl.Sphere(0.1), position=(0, 0, 0.12), velocity=(1, 0, -20), name="ball")
    scene.add(rl.Box((0.2, 0.2, 0.2)), position=(0.5, 0, 0), velocity=(0, 2, -3), name="cube")
    simulation = rl.Simulation(scene)
    writer = RunWriter.start(tmp_path / "moving.h5", simulation, {})
    before = simulation.state.velocity
    result = simulation.step()
    writer.add(result)
    writer.finish()
    mass = np.repeat(scene.bodies.mass[:, None], 6, axis=1)
    mass[:, 3:] = scene.bodies.inertia[:, [0, 1, 2], [0, 1, 2]]
    external = scene.external_force().reshape(-1, 6)
    wanted = mass * (result.state.velocity - before) / result.dt - external
    size = np.abs(wanted[1:]).max()
    run = rl.read_run(tmp_path / "moving.h5")
    for source in (simulation, result, run, tmp_path / "moving.h5", run[0]):
        force = rl.body_forces(source)
        assert np.abs(force[1:, 3:]).max() > 1e-3 * size  # there is a moment to be right about
        # the step's residual, 1e-10
        np.testing.assert_allclose(force[1:], wanted[1:], atol=1e-8 * size)
    classic = rl.body_forces(run, method="classic")
    np.testing.assert_allclose(classic[1:], wanted[1:], atol=1e-8 * size)


def test_stress_of_a_regular_packing():
    """Closed form: balls on a cubic grid pressed by 3, 5, 7 N a column along x, y, z have the
    stress diag(3, 5, 7) N over the face of a cell."""
    scene = rl.Scene(name="cube", gravity=(0, 0, 0))
    for axis in range(3):
        normal = np.eye(3)[axis]
        scene.add(rl.HalfSpace(), position=(0, 0, 0), normal=normal, name=f"wall{axis}")
    grid = np.array([(x, y, z) for x in range(2) for y in range(2) for z in range(2)])
    scene.add_many(rl.Sphere(0.5), grid + 0.5)
    for axis, force in enumerate((3, 5, 7)):
        size, at = np.full(3, 1.9), np.full(3, 1.0)
        size[axis], at[axis] = 0.2, 2.1
        held = [name for k, name in enumerate(("x", "y", "z", "rx", "ry", "rz")) if k != axis]
        load = -4.0 * force * np.eye(3)[axis]
        scene.add(rl.Box(tuple(size)), position=at, fixed=held, load=load, name=f"plate{axis}")
    result = rl.Simulation(scene).step()
    stress = rl.stress(result, 8.0, bodies=range(3, 11))
    np.testing.assert_allclose(stress, np.diag([3.0, 5.0, 7.0]), atol=1e-8)


def test_contact_table(oedometer):
    """Property: the columns are those of the step, under the names of the bodies."""
    result = rl.Simulation(oedometer).step()
    table = rl.contact_table(result)
    assert len(table) == len(result.contacts)
    np.testing.assert_array_equal(table["compatible"], result.force)
    np.testing.assert_array_equal(table["classic"], result.classic.force)
    names = oedometer.bodies.names
    assert [names.index(name) for name in table["second"]] == list(result.contacts.body[:, 1])
    np.testing.assert_array_equal(table["ny"], result.contacts.normal[:, 1])
    never = rl.Simulation(oedometer, compatible="never").step()
    assert "compatible" not in rl.contact_table(never).dtype.names


def test_thrust_line_of_an_arch():
    """Closed form: blocks between radial joints at angles a_i whose weights are H (tan a_i+1 - tan
    a_i) stand without friction under the thrust H. The moment of all forces about the centre of
    the circle then gives the radius of the thrust in each joint, r_i = (r_0 N_0 - sum of the
    moments of the weights before it) / N_i, if that in the springing is known."""
    H, blocks = 1000.0, 7
    scene, angle, weights = balanced_arch(blocks, thrust=H)
    moments = -weights * scene.state.position[2:, 0]
    result = rl.Simulation(scene).step()
    joints = {(row["first"], row["second"]): row for row in rl.pair_forces(result)}
    names = ["left", *(f"stone {i}" for i in range(blocks)), "right"]
    pairs = [(a, b) if (a, b) in joints else (b, a) for a, b in pairwise(names)]
    row = np.array([joints[pair] for pair in pairs])
    assert len(joints) == blocks + 1 and (row["contacts"] == 2).all()
    # the residual of a step is 1e-10
    np.testing.assert_allclose(row["force"], H / np.cos(angle), rtol=1e-8)
    np.testing.assert_allclose(np.abs(row["fx"]), H, rtol=1e-8)
    radius = np.hypot(row["x"], row["y"])
    np.testing.assert_allclose(row["x"] / radius, np.sin(angle), atol=1e-8)
    known = radius[0] * row["force"][0] - np.concatenate([[0], np.cumsum(moments)])
    np.testing.assert_allclose(radius * row["force"], known, rtol=1e-7)


def test_mistakes(oedometer):
    """A wrong body, volume, method: one error that says what was expected."""
    result = rl.Simulation(oedometer).step()
    for mistake, said in (
        (lambda: rl.stress(result, 0), "volume is 0; expected a positive"),
        (lambda: rl.stress(result, 1, bodies=["lidd"]), "did you mean 'lid'"),
        (lambda: rl.stress(result, 1, bodies=[99]), "numbers below 16"),
        (lambda: rl.stress(result, 1, bodies=[1.5]), "bodies: found"),
        (lambda: rl.body_forces(result, method="dem"), "no forces 'dem'"),
        (lambda: rl.neighbours(3), "expected a run"),
    ):
        with pytest.raises(InputError, match=said):
            mistake()


def test_fabric_of_columns_and_of_a_groove(oedometer):
    """Closed form: columns have vertical normals only; a disk in a groove of 45 degrees those of
    both sides, and of an uneven one each counts by its force f = W sin(other) / sin(sum)."""
    result = rl.Simulation(oedometer).step()
    np.testing.assert_allclose(rl.fabric(result), [[0, 0], [0, 1]], atol=1e-12)
    groove = rl.Simulation(rl.scenes.disk_in_corner(45, 45)).step()
    np.testing.assert_allclose(rl.fabric(groove), np.eye(2) / 2, atol=1e-12)
    uneven = rl.Simulation(rl.scenes.disk_in_corner(30, 60)).step()
    f = np.sin(np.radians([60, 30]))  # over W, on the sides of 30 and 60 degrees
    up = np.cos(np.radians([30, 60])) ** 2
    weighted = rl.fabric(uneven, weighted=True)
    np.testing.assert_allclose(weighted[1, 1], (f * up).sum() / f.sum(), rtol=1e-9)
    np.testing.assert_allclose(rl.fabric(uneven)[1, 1], up.mean(), rtol=1e-9)
    assert np.trace(weighted) == pytest.approx(1.0, abs=1e-12)


def test_fabric_of_some_bodies(oedometer):
    """Property: only contacts of the bodies asked for; of a body that touches nothing there is
    none, which is said."""
    result = rl.Simulation(oedometer).step()
    assert rl.fabric(result, bodies="lid").tolist() == rl.fabric(result).tolist()
    with pytest.raises(InputError, match="no contact is active"):
        rl.fabric(result, bodies=["left"])


def test_forces_that_a_step_does_not_have_are_told_with_what_to_ask_for():
    """Closed form: a beam of 10 N on its supports. A step made without compatible forces says how
    to ask for them, and then gives them; a misspelt method is told with the name that was meant."""
    simulation = rl.Simulation("beam", compatible="never")
    with pytest.raises(InputError, match=r"step\(compatible=True\).* it has classic"):
        rl.body_forces(simulation.step(), method="compatible")
    result = simulation.step(compatible=True)
    # forces of a step are solved to 1e-10 of ten newtons
    on_beam = rl.body_forces(result, method="compatible")[-1, 1]
    np.testing.assert_allclose(on_beam, 10.0, atol=1e-8)
    with pytest.raises(InputError, match="did you mean 'classic'"):
        rl.body_forces(result, method="clasic")


def test_stress_by_contacts_is_that_by_walls():
    """Property: of a random packing at rest without weight, between three walls and a lid, the mean
    stress by contacts is that of the forces on the walls, each by its place: V sigma_ij = sum of
    x_i f_j over what holds the packing."""
    rng = np.random.default_rng(5)
    cell = rl.Scene(dim=2, gravity=(0, 0))
    for at, normal in (((0, 0), (0, 1)), ((0, 0), (1, 0)), ((0.4, 0), (-1, 0))):
        cell.add(rl.HalfSpace(2), position=at, normal=normal)
    grid = 0.05 + 0.1 * np.array([(i, j) for j in range(3) for i in range(4)])
    grains = cell.add_many([rl.Disk(r) for r in rng.uniform(0.03, 0.05, 12)], grid)
    lid = rl.rectangle(0.399, 0.1)
    cell.add(lid, position=(0.2, 0.35), fixed=["x", "rz"], load=(0, -50), mass=1, name="lid")
    simulation = rl.Simulation(cell, compatible="never")
    rl.settle(simulation)
    result = simulation.step(compatible=True)
    stress = rl.stress(result, 0.16, bodies=grains)
    contacts = result.contacts
    push = result.force[:, None] * contacts.normal
    is_grain = np.isin(contacts.body, grains)
    at_walls = np.flatnonzero(is_grain.any(axis=1) & ~is_grain.all(axis=1))
    outward = np.where(is_grain[at_walls, 1], -1.0, 1.0)  # the force on what holds the packing
    moments = np.einsum("mi,mj,m->ij", contacts.point[at_walls], push[at_walls], outward)
    by_walls = moments[:2, :2] / 0.16
    # forces of the step are balanced to its residual, 1e-10
    np.testing.assert_allclose(stress, by_walls, atol=1e-9 * stress.max())
