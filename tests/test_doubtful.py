"""Warnings of steps in which bodies go too far."""

import re
import warnings

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.errors import SceneWarning


def _shot(dt, speed=60.0):
    scene = rl.Scene(gravity=(0, 0, 0))
    scene.add(rl.Sphere(0.05), position=(0, 0, 0), velocity=(speed, 0, 0), name="shot")
    scene.add(rl.Sphere(0.05), position=(0.25, 0.15, 0), fixed=True, name="post")
    return rl.Simulation(scene, dt=dt)


def _told(simulation, steps):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(steps):
            simulation.step()
    assert all(issubclass(each.category, SceneWarning) for each in caught)
    return [str(each.message) for each in caught]


def test_a_way_of_many_diameters_is_told_with_a_step_that_would_do():
    """Closed form: a ball flies straight past another at 1.5 diameters. In a step of six diameters
    the plane between the two holds it, which is told; with the time step that is proposed there it
    flies by and nothing is told."""
    shot = _shot(1e-2)
    told = _told(shot, 1)
    assert shot.state.velocity[0, 0] < 50.0
    assert len(told) == 1
    assert "body 'shot' moves by 0.6 m in a step of 0.01 s, 6 times its own size, 0.1 m" in told[0]
    proposed = float(re.search("take dt = (.*?) s or less", told[0]).group(1))
    assert 0.0005 <= proposed < 0.00084  # half a diameter a step, to one digit
    shot = _shot(proposed)
    assert _told(shot, int(np.ceil(1e-2 / proposed))) == []
    np.testing.assert_array_equal(shot.state.velocity[0, :3], [60.0, 0.0, 0.0])  # no contact


def _loose(load):
    scene = rl.Scene(name="loose")
    scene.add(rl.HalfSpace(), position=(0, 0, 0), name="floor")
    grid = np.stack(np.meshgrid(*[np.arange(4)] * 3, indexing="ij"), -1).reshape(-1, 3)
    radii = np.where(np.arange(len(grid)) % 5 == 0, 0.01, 0.05)
    scene.add_many([rl.Sphere(r) for r in radii], 0.05 + 0.15 * grid)
    lid, held = rl.Box((0.55, 0.55, 0.02)), ["x", "y", "rx", "ry", "rz"]
    scene.add(lid, position=(0.275, 0.275, 0.6), mass=0.5, fixed=held, name="lid")
    simulation = rl.Simulation(scene, compatible="never")
    simulation.set_load("lid", (0, 0, -load))
    return simulation


def test_a_load_too_large_for_the_step_is_told_once():
    """Property: a lid that 50 kN throw on loose balls goes 0.1 m in a step, many diameters of
    the small ones: one warning names it, in ten steps. Of 1 kN nothing is told."""
    told = _told(_loose(5e4), 10)
    assert len(told) == 1
    assert "body 'lid' moves by" in told[0] and "smaller load or speed" in told[0]
    assert _told(_loose(1e3), 10) == []


@pytest.mark.parametrize("ground", ["half-space", "under load"])
def test_what_is_a_plane_or_stays_is_not_told(ground):
    """Property: nothing is told of a ball that falls far in a step on a half-space, which is a
    plane from wherever it comes; nor of a lid that balls hold under a load that alone would move
    it by 0.2 m in a step."""
    scene = rl.Scene()
    scene.add(rl.HalfSpace(), position=(0, 0, 0), name="floor")
    if ground == "half-space":
        scene.add(rl.Sphere(0.01), position=(0, 0, 1.0), velocity=(0, 0, -100), name="falls")
    else:
        for at in ((0, 0), (0.3, 0), (0, 0.3), (0.3, 0.3)):
            scene.add(rl.Sphere(0.01), position=(*at, 0.01))
        lid = rl.Box((0.4, 0.4, 0.02))
        scene.add(lid, position=(0.15, 0.15, 0.03), mass=0.5, load=(0, 0, -1e5), name="lid")
    simulation = rl.Simulation(scene, dt=1e-3)
    assert _told(simulation, 20) == []


def test_a_wall_driven_into_a_packing_without_room_is_told_once():
    """Closed form: three disks in a channel, a wall comes at 1 m/s. It has 0.0195 m to go, 19
    steps; the next one is jammed, which is told with the wall's name, once."""
    scene = rl.Scene(name="channel", dim=2, gravity=(0, 0), dt=1e-3)
    scene.add(rl.HalfSpace(2), position=(0, 0), normal=(1, 0), name="end")
    scene.add(rl.HalfSpace(2), position=(0.6195, 0), normal=(-1, 0), velocity=(-1, 0), name="wall")
    for x in (0.1, 0.3, 0.5):
        scene.add(rl.Disk(0.1), position=(x, 0))
    simulation = rl.Simulation(scene)
    assert _told(simulation, 19) == []
    assert simulation.last.converged
    told = _told(simulation, 5)
    assert len(told) == 1 and not simulation.last.converged
    assert told[0].startswith("the step to t = 0.02 s is jammed: 'wall' is driven on")
    simulation.set_velocity("wall", (1, 0))
    assert _told(simulation, 10) == []


def test_what_an_overlap_throws_about_is_told_as_overlap_alone():
    """Property: two balls half inside one another part at 50 m/s, many diameters of a third one in
    a step. That they overlap is told, and no smaller time step is, by which they part faster."""
    scene = rl.Scene(gravity=(0, 0, 0))
    scene.add(rl.Sphere(0.05), position=(0, 0, 0))
    scene.add(rl.Sphere(0.05), position=(0.05, 0, 0))
    scene.add(rl.Sphere(0.005), position=(0.12, 0, 0))
    told = _told(rl.Simulation(scene, dt=1e-3), 5)
    assert len(told) == 1 and "overlap by 0.05 m at the start" in told[0]
