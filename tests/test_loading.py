"""Loads and velocities that change between steps, and what counts as rest under them."""

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.errors import InputError, SceneError
from rigidlimit.output.hdf5 import RunWriter
from rigidlimit.output.unfinished import read_unfinished
from rigidlimit.scenes.toml import parse_scene, scene_text


def _block():
    scene = rl.Scene(name="block", dim=2, gravity=(0, -10))
    scene.add(rl.HalfSpace(2), position=(0, 0), name="ground")
    shape = rl.rectangle(1.0, 0.5)
    scene.add(shape, position=(0, 0.25), mass=3, load=(0, -7), name="block")
    return scene


def test_loads_change_between_steps():
    """Closed form: weight 30 N and the load of the moment; a moment M is shared as M / width."""
    simulation = rl.Simulation(_block())
    for load, force in (
        (None, [18.5, 18.5]),
        ((0, -100), [65, 65]),
        ((0, 0), [15, 15]),
        ((0, -10, 6), [26, 14]),
    ):
        if load is not None:
            simulation.set_load("block", load)
        # the residual of a step is 1e-10
        np.testing.assert_allclose(simulation.step().force, force, atol=1e-7)


def test_scene_keeps_its_loads():
    """Property: a load of one simulation is none of another's of the same scene."""
    scene = _block()
    rl.Simulation(scene).set_load("block", (0, -500))
    np.testing.assert_allclose(rl.Simulation(scene).step().force.sum(), 37, atol=1e-7)


def test_loads_are_resumed():
    """Property: what follows a checkpoint has the load that was set before it, bit for bit; a
    checkpoint without loads of its own has those of the scene, and no array for them."""
    simulation = rl.Simulation(_block())
    assert "external_force" not in simulation.checkpoint()
    saved = simulation.checkpoint()
    simulation.set_load("block", (3, -40))
    simulation.step()
    other = rl.Simulation(_block())
    other.restore(simulation.checkpoint())
    np.testing.assert_array_equal(other.step().force, simulation.step().force)
    other.restore(saved)
    np.testing.assert_allclose(other.step().force.sum(), 37, atol=1e-7)


def test_loads_are_resumed_from_a_file(tmp_path):
    """Property: a stopped run of a file holds the loads that were set."""
    simulation = rl.Simulation(_block())
    writer = RunWriter.start(tmp_path / "run.h5", simulation, {})
    simulation.set_load("block", (0, -63))
    writer.add(simulation.step())
    writer.checkpoint()
    saved = read_unfinished(tmp_path / "run.h5").checkpoint
    other = rl.Simulation(_block())
    other.restore(saved)
    np.testing.assert_allclose(other.step().force.sum(), 93, atol=1e-7)


def test_gravity_turns_between_steps():
    """Closed form: a disk of 2 kg in a groove of two planes at 45 degrees, while the table tilts by
    a: w cos(45 deg -+ a), with the load of 5 N on it as it was; so also after a checkpoint."""
    scene = rl.Scene(dim=2, gravity=(0, -10))
    for name, x in (("left", 1), ("right", -1)):
        scene.add(rl.HalfSpace(2), position=(0, 0), normal=(x, 1), name=name)
    scene.add(rl.Disk(1.0), position=(0, np.sqrt(2)), mass=2, load=(0, -5), name="disk")
    simulation, other = rl.Simulation(scene), rl.Simulation(scene)
    assert "gravity" not in simulation.checkpoint()
    for degrees in (0, 10, -30, 44, 0):
        a = np.radians(degrees)
        weight = np.array([np.sin(a), -np.cos(a)])
        simulation.set_gravity(10 * weight)
        other.restore(simulation.checkpoint())
        other.set_load("disk", 5 * weight)
        turned = np.pi / 4 + np.array([a, -a])
        expected = 20 * np.cos(turned) + 5 * np.sqrt(0.5)
        # the residual of a step is 1e-10
        np.testing.assert_allclose(simulation.step().force, expected, atol=1e-7)
        np.testing.assert_allclose(other.step().force, 25 * np.cos(turned), atol=1e-7)
    with pytest.raises(SceneError, match=r"gravity: found .* 2 finite numbers"):
        simulation.set_gravity(9.81)


def test_driven_body_changes_its_velocity():
    """Closed form: a floor that is set in motion, upwards at 0.2 m/s, needs the impulse m v; then
    carries the weight; a block that is let down faster than it falls carries none."""
    simulation = rl.Simulation(_block(), dt=1e-2)
    simulation.set_load("block", (0, 0))
    for speed, force in ((0.0, 30.0), (0.2, 30 + 3 * 0.2 / 1e-2), (0.2, 30.0), (-1.0, 0.0)):
        simulation.set_velocity("ground", (0, speed))
        result = simulation.step()
        np.testing.assert_allclose(result.force.sum(), force, atol=1e-7)
    simulation.set_velocity("block", (0, 0), angular_velocity=2.0)
    np.testing.assert_array_equal(simulation.state.velocity[1], [0, 0, 0, 0, 0, 2])
    simulation.set_velocity("block", (1, 0))
    np.testing.assert_array_equal(simulation.state.velocity[1], [1, 0, 0, 0, 0, 2])


def test_light_body_under_a_large_load_is_no_measure_of_rest():
    """Property: nothing is at rest while a ball falls freely. The plate of 1 g under 100 kN would
    gain 1e5 m/s in a step, a millionth of which is more than the ball's speed."""
    scene = rl.Scene(name="press")
    scene.add(rl.HalfSpace(), position=(0, 0, 0), name="ground")
    scene.add(rl.Box((1, 1, 0.1)), position=(0, 0, 0.05), mass=1e-3, load=(0, 0, -1e5), name="lid")
    scene.add(rl.Sphere(0.1), position=(3, 0, 1), mass=10, name="falling")
    simulation = rl.Simulation(scene)
    simulation.step()
    assert not simulation.at_rest
    scene.add(rl.Sphere(0.1), position=(2, 0, 0.1), mass=10, name="lying")
    simulation = rl.Simulation(scene)
    simulation.set_load("falling", (0, 0, 98.1))
    simulation.run(until=3e-3)
    assert simulation.at_rest


@pytest.mark.parametrize(
    "change",
    [
        lambda simulation: simulation.set_load("block", (4, 0)),
        lambda simulation: simulation.set_gravity((1, -10)),
        lambda simulation: simulation.set_velocity("block", (0, 1)),
        lambda simulation: simulation.set_velocity("ground", (0, 1)),
    ],
    ids=["load", "gravity", "velocity", "driven"],
)
def test_what_is_set_ends_the_rest(change):
    """Property: the last step tells nothing of loads and velocities that were set after it. The
    block that lay still slides, flies or is lifted in the next step, and is not at rest before."""
    simulation = rl.Simulation(_block())
    simulation.step()
    assert simulation.at_rest
    simulation.set_load("block", (0, -7))  # as it was
    simulation.set_velocity("ground", (0, 0))
    assert simulation.at_rest
    change(simulation)
    assert not simulation.at_rest and not simulation.stands_still


def test_mistakes():
    """A body that is none, a half-space with a load, a load of another dimension: told."""
    simulation = rl.Simulation(_block())
    for mistake, error, said in (
        (lambda: simulation.set_load("blok", (0, 0)), SceneError, "did you mean 'block'"),
        (
            lambda: simulation.set_load("ground", (0, 0)),
            InputError,
            "takes no load; give it a mass",
        ),
        (lambda: simulation.set_load("block", (0, 0, 0, 1)), SceneError, "expected 2 or 3 finite"),
        (lambda: simulation.set_load("block", (0, np.nan)), SceneError, "expected 2 or 3 finite"),
        (lambda: simulation.set_velocity("ground", 1.0), SceneError, "velocity: found"),
        (lambda: simulation.set_velocity("ground", (0, 0), "fast"), SceneError, "angular_velocity"),
    ):
        with pytest.raises(error, match=said):
            mistake()


def _between_walls(**lid):
    """Three disks in a column on a floor, under a half-space."""
    scene = rl.Scene(dim=2, gravity=(0, -10.0), dt=1e-3)
    scene.add(rl.HalfSpace(2), position=(0, 0), name="floor")
    scene.add_many(rl.Disk(0.1), [(0, 0.1 + 0.2 * k) for k in range(3)], mass=1.0)
    scene.add(rl.HalfSpace(2), position=(0, 0.6), normal=(0, -1), name="lid", **lid)
    return scene


def test_a_half_space_with_a_mass_presses():
    """Closed form: the lid's load and weight, then those of the disks below it; by contact dynamics
    and by the DEM. 1e-9: tolerance of the solver, 1e-6: of the DEM's rest, over the load."""
    scene = _between_walls(mass=2.0, load=(3.0, -50.0))
    known = [100.0, 90.0, 80.0, 70.0]  # floor, between disks, lid: by body
    step = rl.Simulation(scene).step()
    np.testing.assert_allclose(step.force, known, rtol=1e-9)
    np.testing.assert_allclose(step.classic.force, known, rtol=1e-9)
    reaction = rl.body_forces(step)[scene.index("lid"), :3]
    np.testing.assert_allclose(reaction, (0, 70.0, 0), atol=1e-7)
    dem = rl.PenaltySimulation(scene, stiffness_scale=1e-3).run()
    np.testing.assert_allclose(dem.force, known, rtol=1e-6)
    again = parse_scene(scene_text(scene))
    np.testing.assert_array_equal(again.bodies.free, scene.bodies.free)
    np.testing.assert_array_equal(again.external_force(), scene.external_force())
    simulation = rl.Simulation(scene)
    simulation.set_load("lid", (0, -80.0))
    assert simulation.step().force[-1] == pytest.approx(100.0, rel=1e-9)


def test_a_half_space_falls_onto_what_holds_it():
    """Closed form: at rest on a held disk, which bears its weight; nothing moves but the wall,
    along its normal. 1e-9: gaps that count as closed."""
    scene = rl.Scene(dim=2, gravity=(0, -10.0), dt=1e-2)
    scene.add(rl.Disk(0.1), position=(0, 0), fixed=True)
    scene.add(rl.HalfSpace(2), position=(0.3, 0.2), normal=(0, -1), mass=2.0, name="wall")
    rest = rl.settle(scene)
    np.testing.assert_allclose(rest.simulation.state.position[1], (0.3, 0.1, 0.0), atol=1e-9)
    np.testing.assert_allclose(rest.simulation.step().force, [20.0], rtol=1e-9)


def test_four_walls_bear_their_pressures():
    """Closed form: mean stress of a packing between walls that cross is load over side. 1e-9: the
    tolerance of the balance."""
    rng = np.random.default_rng(2)
    scene = rl.Scene(dim=2, gravity=(0, 0), dt=0.02)
    load = {"x0": (3.0, 0), "x1": (-3.0, 0), "y0": (0, 3.3), "y1": (0, -3.3)}
    for name, force in load.items():
        at = 4.0 * int(name[1]) * np.abs(np.sign(force))
        scene.add(
            rl.HalfSpace(2), position=at, normal=np.sign(force), mass=1, load=force, name=name
        )
    grid = np.stack(np.meshgrid(np.arange(3), np.arange(3)), -1).reshape(-1, 2)
    disks = scene.add_many(
        [rl.Disk(r) for r in rng.uniform(0.4, 0.6, 9)], 0.65 + 1.3 * grid, mass=1
    )
    step = rl.settle(scene).simulation.step(compatible=True)
    sides = step.state.position[1, 0] - step.state.position[0, 0]
    sides = sides, step.state.position[3, 1] - step.state.position[2, 1]
    stress = rl.stress(step, np.prod(sides), bodies=disks)
    known = 3.0 / sides[1], 3.3 / sides[0]  # walls that cannot turn bear shear stress as well
    np.testing.assert_allclose(np.diag(stress), known, atol=1e-9)


def test_half_spaces_move_along_axes_alone():
    scene = rl.Scene()
    with pytest.raises(SceneError, match="expected a normal along an axis"):
        scene.add(rl.HalfSpace(), position=(0, 0, 0), normal=(1, 0, 1), mass=1.0)
    with pytest.raises(SceneError, match="give its mass, with which it moves"):
        scene.add(rl.HalfSpace(), position=(0, 0, 0), load=(0, 0, 1.0))
    scene.add(rl.HalfSpace(), position=(0, 0, 0), mass=1.0, fixed=True)
    assert not scene.bodies.free.any()


def test_rough_bodies_that_touch_nothing():
    """Property: steps without any contact follow one another."""
    scene = rl.Scene(dt=1e-3)
    rough = rl.Material(friction=0.5)
    scene.add_many(rl.Sphere(0.1), [(0, 0, 0), (1, 0, 0)], material=rough)
    simulation = rl.Simulation(scene)
    for _ in range(3):
        assert simulation.step(compatible=True).converged
