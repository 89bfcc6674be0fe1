"""Periodic cells in the penalty method."""

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit import penalty

pytestmark = pytest.mark.filterwarnings("ignore:bodies .* overlap:rigidlimit.errors.SceneWarning")


def grains(count, dim, *, friction=0.0, **cell):
    """Loose balls of unequal size on a grid, with random velocities."""
    rng = np.random.default_rng(3)
    grid = np.stack(np.meshgrid(*[np.arange(count)] * dim, indexing="ij"), -1).reshape(-1, dim)
    shape = rl.Disk if dim == 2 else rl.Sphere
    vectors = cell.pop("vectors", (1.1 * count,) * dim)
    scene = rl.Scene(dim=dim, dt=0.05, gravity=(0,) * dim, cell=rl.Cell(vectors, **cell))
    scene.add_many(
        [shape(r) for r in rng.uniform(0.4, 0.6, count**dim)],
        1.1 * grid + rng.uniform(-0.05, 0.05, (count**dim, dim)),
        velocities=rng.normal(0, 0.3, (count**dim, dim)),
        material=rl.Material(young=2e3, density=1.0, friction=friction),
    )
    return scene


def moving(scene, **options):
    """A DEM of the scene, at rates of its cell."""
    state = scene.state
    velocity = state.velocity.copy()
    velocity[-1] = np.where(scene.bodies.free[-1], [0.03, -0.02, 0.0, 0.0, 0.0, 0.01], velocity[-1])
    return rl.PenaltySimulation(scene, state=state.moved(velocity=velocity), **options)


@pytest.mark.parametrize("dim", [2, 3])
def test_energy_and_work_of_the_stress_are_kept(dim):
    """Analytic: without damping the kinetic energy of balls and cell, elastic energy and sigma V
    together are constant; the leapfrog keeps them to the order of its step."""
    scene = grains(4, dim, stress=0.5)

    def drift(dt):
        dem = moving(scene, damping=0.0, dt=dt)
        energies = []

        def note(progress):
            seen, volume = dem.engine.measures(), np.linalg.det(dem.state.cell)
            energies.append(seen.kinetic_energy + seen.elastic_energy + 0.5 * volume)

        dem.run(until=1.0, callback=note)
        note(None)
        assert dem.engine.measures().elastic_energy > 1e-3 * energies[0]
        return np.ptp(energies[1:]) / energies[0]

    coarse, fine = drift(4e-4), drift(1e-4)
    assert fine < 1e-4
    assert fine < 0.4 * coarse


@pytest.mark.parametrize(("dim", "friction"), [(2, 0.0), (3, 0.4)])
def test_engines_agree(dim, friction):
    """Cross-solver: balls and the network of contacts move the same packing, in a leaning cell that
    is sheared while a stress is held, the same way. Both are late with damping forces by a step: at
    a quarter of this one a quarter of the tolerance is left."""
    rate, vectors = np.zeros((dim, dim)), np.diag([4.4] * dim)
    rate[0, 1], vectors[1, 0] = 0.2, 2.0
    stress = np.where(np.eye(dim) > 0, [2.0, 3.0, 4.0][:dim], np.nan)
    scene = grains(4, dim, friction=friction, vectors=vectors, rate=rate, stress=stress)
    ended = []
    for engine in ("balls", "convex"):
        dem = moving(scene, engine=engine, dt=1e-3)
        dem.run(until=0.2)
        ended.append(dem.state)
    one, other = ended
    assert np.abs(one.cell - scene.cell.vectors).max() > 0.05
    np.testing.assert_allclose(one.cell, other.cell, atol=5e-4)
    np.testing.assert_allclose(one.position, other.position, atol=2e-3)


def test_equivalent_lattices_move_alike():
    """Property: the cell that leans by a whole vector is the same lattice; last digits differ."""
    ended = []
    for lean in (0.0, 4.4):
        vectors = [[4.4, 0.0], [lean, 4.4]]
        dem = moving(grains(4, 2, vectors=vectors, stress=1.0), dt=1e-3)
        dem.run(until=0.5)
        ended.append(dem.state)
    np.testing.assert_allclose(ended[0].position, ended[1].position, atol=1e-9)
    change = [np.linalg.solve(v, s.cell) for v, s in zip(
        ([[4.4, 0, 0], [0, 4.4, 0], [0, 0, 1]], [[4.4, 0, 0], [4.4, 4.4, 0], [0, 0, 1]]), ended,
        strict=True,
    )]  # fmt: skip
    np.testing.assert_allclose(change[0], change[1], atol=1e-9)


@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_packing_rests_under_its_stress(friction):
    """Property: the contacts of a DEM at rest answer a full stress tensor; forces balance to the
    tolerance of rest."""
    stress = np.array([[2.0, 0.2], [0.2, 1.5]])
    dem = rl.PenaltySimulation(grains(5, 2, friction=friction, stress=stress), background=0.3)
    rest = dem.run()
    assert rest.at_rest
    volume = np.linalg.det(rest.state.cell)
    found = np.einsum("mi,mj->ij", rest.contacts.branch, rest.force_vectors)[:2, :2] / volume
    np.testing.assert_allclose(found, stress, atol=1e-7)


def test_methods_agree_on_a_packing_in_a_cell():
    """Cross-solver: compatible forces are those of the DEM, whose overlaps are 1e-5 radii."""
    found = penalty.compare(grains(4, 2, stress=1.0), stiffness_scale=1e3)
    assert found.dem.at_rest
    assert found.contact_error["compatible"] < 3e-3


def test_loose_balls_in_a_cell_are_squeezed_by_the_dem():
    """Property: from a gas to the rest of rigid balls, whose stress is the prescribed one; contact
    dynamics creeps there."""
    rng = np.random.default_rng(0)
    scene = rl.Scene(dim=2, dt=0.05, cell=rl.Cell((9.0, 9.0), stress=1.0))
    grid = np.stack(np.meshgrid(np.arange(6), np.arange(6)), -1).reshape(-1, 2)
    shapes = [rl.Disk(r) for r in rng.uniform(0.4, 0.6, 36)]
    scene.add_many(shapes, 1.5 * grid, material=rl.Material(density=1.0))
    rest = rl.settle(scene)
    assert rest.how.startswith("DEM, then least potential energy")
    step = rest.simulation.step(compatible=True)
    np.testing.assert_allclose(step.stress, np.eye(2), atol=1e-9)


def test_loose_rough_disks_in_a_cell_are_squeezed_by_the_dem():
    """Property: from a gas to the rest of rough disks, whose stress is the prescribed one, though
    the first collisions bear more than it; rattlers lose their speed to the damping alone."""
    rest = rl.settle(rl.scenes.periodic_packing(25, dim=2, friction=0.5, seed=1))
    assert rest.how.startswith("DEM")
    step = rest.simulation.step(compatible=True)
    np.testing.assert_allclose(step.stress, 1e4 * np.eye(2), atol=1e4 * 1e-9)
    # between the numbers of rough and of smooth isostatic disks
    assert 3.0 <= rl.coordination(step).without_rattlers < 4.0


def test_walls_in_a_cell_bear_its_stress():
    """Analytic: between a floor and a lid, which the cell does not strain, wherever they stand."""
    scene = rl.Scene(
        dim=2, dt=0.01, gravity=(0, 0), cell=rl.Cell((6.0, 1.0), periodic=[True, False], stress=2.0)
    )
    scene.add(rl.HalfSpace(2), position=(17.0, 0.0))
    scene.add(rl.HalfSpace(2), position=(-5.0, 1.0), normal=(0, -1))
    scene.add_many(
        rl.Disk(0.5),
        [(k * 1.1, 0.5) for k in range(5)],
        material=rl.Material(density=1.0, friction=0.4),
    )
    rest = rl.settle(scene)
    step = rest.simulation.step(compatible=True)
    np.testing.assert_allclose(step.stress[0, 0], 2.0, rtol=1e-9)
    np.testing.assert_allclose(rl.stress(step)[0, 0], 2.0, rtol=1e-9)
