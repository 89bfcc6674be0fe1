"""Overlaps of rough bodies are undone without velocities or forces."""

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.increments.problem import LEFT
from rigidlimit.increments.separation import STIFF

RADIUS, ROUGH = 0.05, rl.Material(friction=0.4)


def two_balls(overlap: float) -> rl.Simulation:
    """Balls of 1 and 3 kg without gravity, at rest."""
    scene = rl.Scene(gravity=(0, 0, 0))
    along = np.array([0.6, 0.0, 0.8])
    scene.add(rl.Sphere(RADIUS), position=(0, 0, 0), mass=1.0, material=ROUGH)
    apart = (2 * RADIUS - overlap) * along
    scene.add(rl.Sphere(RADIUS), position=apart, mass=3.0, material=ROUGH)
    return rl.Simulation(scene, dt=1e-3)


@pytest.mark.filterwarnings("ignore::rigidlimit.SceneWarning")
def test_two_balls_are_moved_apart_by_a_part_of_what_they_overlap():
    """Closed form: by the overlap beyond LEFT slop, in the first step of a scene, along the normal,
    about the common centre of mass, less what contacts of STIFF times the stiffness of inertia give
    way by."""
    overlap, simulation = 0.1 * RADIUS, two_balls(0.1 * RADIUS)
    # something closes, else bodies fall freely and no increment is solved
    simulation.set_velocity(0, velocity=(0.6e-3, 0, 0.8e-3))
    before = simulation.state.position
    result = simulation.step()
    after = simulation.state.position
    assert result.converged and result.separation is not None
    moved = after - before - simulation.dt * simulation.state.velocity[:, :3]
    # W of a ball's contact: 1/m along the normal, more by 5/2 of the arm's square along tangents
    stiff = STIFF * 3.0 / (1.0 + 2 * (1.0 + 2.5 * 0.95**2))
    part = stiff / (1.0 + stiff)
    excess = overlap + simulation.dt * 1e-3 * 1.0 - LEFT * 1e-3 * RADIUS
    # the spring takes up the approach of 1 um
    assert (moved[1] - moved[0]) @ (0.6, 0, 0.8) == pytest.approx(part * excess, rel=1e-3)
    np.testing.assert_allclose(moved[0] + 3 * moved[1], 0.0, atol=1e-12 * RADIUS)  # rounding


def on_a_floor(sunk: float) -> rl.Simulation:
    scene = rl.Scene()
    scene.add(rl.HalfSpace(), position=(0, 0, 0), material=ROUGH)
    start = dict(position=(0, 0, RADIUS - sunk), velocity=(1.0, 0, 0))
    scene.add(rl.Sphere(RADIUS), **start, mass=1.0, material=ROUGH)
    return rl.Simulation(scene, dt=1e-3)


@pytest.mark.filterwarnings("ignore::rigidlimit.SceneWarning")
def test_overlaps_change_no_force_nor_velocity():
    """Property: a ball that slides has the forces and the velocity of one that touches, however
    deep it is, and comes out of the floor up to LEFT slop, where it moves."""
    deep, touching = on_a_floor(0.05 * RADIUS), on_a_floor(0.0)
    for _ in range(30):
        a, b = deep.step(), touching.step()
        # to rounding of lengths and the tolerance of 1e-10
        np.testing.assert_allclose(a.force, b.force, rtol=1e-9)
        np.testing.assert_allclose(a.tangential_force, b.tangential_force, atol=1e-8)
        sliding, known = (x.state.velocity[1, :3] for x in (deep, touching))
        np.testing.assert_allclose(sliding, known, atol=1e-9)
    assert a.contacts.gap[0] == pytest.approx(-LEFT * 1e-3 * RADIUS, rel=0.1)  # what STIFF leaves


def test_bodies_without_room_stay_where_they_are():
    """Closed form: a ball between fixed walls that are closer than its diameter is pushed by both
    alike, and by neither with a force."""
    scene = rl.Scene(gravity=(0, 0, -9.81))
    for side in (-1, 1):
        at, normal = (0.95 * side * RADIUS, 0, 0), (-side, 0, 0)
        scene.add(rl.HalfSpace(), position=at, normal=normal, material=ROUGH)
    scene.add(rl.HalfSpace(), position=(0, 0, -RADIUS), normal=(0, 0, 1), material=ROUGH)
    scene.add(rl.Sphere(RADIUS), position=(0, 0, 0), mass=1.0, material=ROUGH)
    simulation = rl.Simulation(scene, dt=1e-3)
    with pytest.warns(rl.SceneWarning, match="overlap"):
        result = simulation.step()
    for _ in range(20):
        result = simulation.step()
    assert result.converged
    assert abs(simulation.state.position[3, 0]) < 1e-3 * 0.05 * RADIUS  # what sweeps leave
    assert simulation.state.position[3, 2] == pytest.approx(0.0, abs=1e-6)
    assert result.force.sum() == pytest.approx(9.81, rel=1e-6)


def test_steps_of_a_settling_pile_reach_the_stiff_limit():
    """Property: overlaps keep no step from the limit. Where it undid them itself, two in three
    ended below."""
    rng, n = np.random.default_rng(5), 14
    scene = rl.Scene(dim=2)
    scene.add(rl.HalfSpace(2), position=(0, 0), material=ROUGH)
    for side in (-1, 1):
        scene.add(rl.HalfSpace(2), position=(0.32 * side, 0), normal=(-side, 0), material=ROUGH)
    for i in range(n):
        place = (0.12 * (i % 5) - 0.24, 0.08 + 0.13 * (i // 5)) + rng.uniform(-0.015, 0.015, 2)
        scene.add(rl.Disk(rng.uniform(0.03, 0.055)), position=place, material=ROUGH)
    simulation, limit = rl.Simulation(scene, dt=2e-3), []
    for _ in range(200):
        result = simulation.step()
        if result.force.any():
            limit.append(result.classic.stiffness == 1e12)
    assert np.mean(limit) > 0.8
