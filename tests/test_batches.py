"""Bodies that come and go in a simulation, and the scene of a moment."""

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.errors import InputError, SceneError
from rigidlimit.output.hdf5 import RunWriter


def tower(high=3):
    """Rough disks on one another, between rough walls, each pushed to a side."""
    rough = rl.Material(friction=0.5)
    scene = rl.Scene(name="tower", dim=2, gravity=(0, -10))
    scene.add(rl.HalfSpace(2), position=(0, 0), material=rough, name="floor")
    scene.add(rl.HalfSpace(2), position=(-0.5, 0), normal=(1, 0), material=rough, name="left")
    scene.add(rl.HalfSpace(2), position=(0.5, 0), normal=(-1, 0), material=rough, name="right")
    for k in range(high):
        scene.add(
            rl.Disk(0.5), position=(0, 0.5 + k), mass=1.0, material=rough, load=(3.0, -2.0, 0.1)
        )
    return scene


def test_bodies_far_away_change_nothing():
    """Property: a disk that is added far off, and taken out again, leaves the forces of a disk in a
    rough groove as they are, with what its contacts remember of a push that made one slide."""
    rough = rl.Material(friction=0.3)
    groove = rl.Scene(dim=2, gravity=(0, -10))
    for side in (1, -1):
        groove.add(rl.HalfSpace(2), position=(0, 0), normal=(side, 1), material=rough)
    groove.add(rl.Disk(0.5), position=(0, 0.5 * np.sqrt(2)), mass=1.0, material=rough)
    with_guest, alone = rl.Simulation(groove), rl.Simulation(groove)
    for simulation in (with_guest, alone):
        simulation.step()
        simulation.set_load("2", (6.0, -2.0))
        assert simulation.step().sliding.any()
        simulation.set_load("2", (0.0, 0.0))
    for change in ("add", "remove"):
        if change == "add":
            assert with_guest.add(rl.Disk(0.2), position=(0.1, 60)) == 3
        else:
            with_guest.remove("3")
        found, expected = with_guest.step(), alone.step()
        # forces of some 10 N, the steps' residual is 1e-10
        np.testing.assert_allclose(found.force_vectors, expected.force_vectors, atol=1e-8)
    # one that begins anew remembers nothing, and its forces are others
    forgetful = alone.scene_now()
    forgetful.memory = None
    anew = rl.Simulation(forgetful).step()
    assert np.abs(anew.force_vectors - expected.force_vectors).max() > 1.0


def test_bodies_come_and_go():
    """Closed form: of smooth disks each carries the weight above; names stay, indices move up, and
    a free number becomes the name."""
    scene = rl.Scene(dim=2, gravity=(0, -10))
    scene.add(rl.HalfSpace(2), position=(0, 0), name="floor")
    scene.add_many(rl.Disk(0.5), [(0, 0.5 + k) for k in range(4)], mass=1.0)
    simulation = rl.Simulation(scene)
    # the residual of each step
    np.testing.assert_allclose(simulation.step().force, [40, 30, 20, 10], rtol=1e-8)
    simulation.remove(["4"])
    np.testing.assert_allclose(simulation.step().force, [30, 20, 10], rtol=1e-8)
    place = simulation.state.position[-1, :2] + (0, 1)
    assert simulation.add_many(rl.Disk(0.5), [place, place + (0, 1)], mass=2.0) == [4, 5]
    assert simulation.bodies.names[3:] == ("3", "4", "5")
    np.testing.assert_allclose(simulation.step().force, [70, 60, 50, 40, 20], rtol=1e-8)
    simulation.remove("2")
    simulation.add(rl.Disk(0.5), position=(9, 9))
    assert simulation.bodies.names[-2:] == ("5", "6")  # 5, their number, is taken
    assert len(scene) == 5 and simulation.steps == 3
    with pytest.raises(SceneError, match="no body that can move would be left"):
        simulation.remove(simulation.bodies.names[1:])
    with pytest.raises(SceneError, match="no body is named '9'"):
        simulation.remove("9")


def test_scene_of_now():
    """Property: it begins as the simulation stands, to the last bit: places, velocities, loads that
    were set and that were not, gravity, and what holds for pairs and groups of the bodies left."""
    scene = tower()
    scene.set_pair_friction("4", "5", 0.1)
    scene.exclude("3", "5")
    simulation = rl.Simulation(scene)
    simulation.step()
    simulation.set_gravity((1, -9))
    simulation.set_load("5", (0.1, 0.2))
    simulation.set_velocity("5", (0.3, 0.0), 2.0)
    now = simulation.scene_now()
    for name in ("position", "quaternion", "velocity"):
        np.testing.assert_array_equal(getattr(now.state, name), getattr(simulation.state, name))
    # weight is added to loads and taken off again
    np.testing.assert_allclose(now.external_force(), simulation.external_force, rtol=1e-15)
    assert now.pair_friction == scene.pair_friction and list(now.excluded) == [(3, 5)]
    simulation.remove("3")
    assert simulation.scene.pair_friction == {(3, 4): 0.1} and not simulation.scene.excluded
    np.testing.assert_array_equal(simulation.state.velocity[4, [0, 5]], [0.3, 2.0])


def test_bodies_come_into_a_periodic_cell():
    """Property: the cell stays the last body, with its motion and its stress."""
    cell = rl.Cell((4.0, 4.0), stress=[[1.0, 0.0], [0.0, None]], rate=[[0, 0], [0, -0.1]])
    scene = rl.Scene(dim=2, cell=cell)
    scene.add_many(rl.Disk(0.5), [(1, 1), (2, 1), (1, 2)])
    simulation = rl.Simulation(scene, compatible="never")
    simulation.step()
    row, vectors = simulation.state.velocity[-1].copy(), simulation.state.cell.copy()
    simulation.add(rl.Disk(0.5), position=(3, 3))
    assert simulation.bodies.names[-2:] == ("3", "cell")
    np.testing.assert_array_equal(simulation.state.velocity[-1], row)
    np.testing.assert_array_equal(simulation.state.cell, vectors)
    assert simulation.bodies.cell.stress[0, 0] == 1.0
    simulation.step()


def test_run_files_hold_the_same_bodies(tmp_path):
    """Property: a run whose bodies change is told before a step is stored under wrong names."""
    simulation = rl.Simulation(tower(1))
    writer = RunWriter.start(tmp_path / "run.h5", simulation, {})
    writer.add(simulation.step())
    simulation.add(rl.Disk(0.5), position=(0, 1.5))
    result = simulation.step()
    with pytest.raises(InputError, match="bodies came or went"):
        writer.add(result)
    writer.finish()
