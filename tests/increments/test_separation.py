"""Overlaps of rough bodies are undone without velocities or forces."""

from functools import partial

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.increments.problem import LEFT
from rigidlimit.increments.separation import PART, STIFF

RADIUS, ROUGH = 0.05, rl.Material(friction=0.4)


def two_balls(overlap: float) -> rl.Simulation:
    """Balls of 1 and 3 kg without gravity, at rest."""
    scene = rl.Scene(gravity=(0, 0, 0))
    along = np.array([0.6, 0.0, 0.8])
    scene.add(rl.Sphere(RADIUS), position=(0, 0, 0), mass=1.0, material=ROUGH)
    apart = (2 * RADIUS - overlap) * along
    scene.add(rl.Sphere(RADIUS), position=apart, mass=3.0, material=ROUGH)
    return rl.Simulation(scene, dt=1e-3)


def test_two_balls_are_moved_apart_by_a_part_of_what_they_overlap():
    """Closed form, of balls that overlap on the way: by PART of the overlap beyond LEFT slop, along
    the normal, about the common centre of mass, less what contacts of STIFF times the stiffness of
    inertia give way by."""
    overlap, simulation = 0.1 * RADIUS, two_balls(-0.1 * RADIUS)
    simulation.step()
    deep = two_balls(overlap).state.position
    simulation.state = simulation.state.moved(position=deep)
    # something closes, else bodies fall freely and no increment is solved
    simulation.set_velocity(0, velocity=(0.6e-3, 0, 0.8e-3))
    result = simulation.step()
    assert result.converged and result.separation is not None
    moved = simulation.state.position - deep - simulation.dt * simulation.state.velocity[:, :3]
    # W of a ball's contact: 1/m along the normal, more by 5/2 of the arm's square along tangents
    stiff = STIFF * 3.0 / (1.0 + 2 * (1.0 + 2.5 * 0.95**2))
    part = PART * stiff / (1.0 + stiff)
    excess = overlap + simulation.dt * 1e-3 * 1.0 - LEFT * 1e-3 * RADIUS
    # the spring takes up the approach of 1 um
    assert (moved[1] - moved[0]) @ (0.6, 0, 0.8) == pytest.approx(part * excess, rel=1e-3)
    np.testing.assert_allclose(moved[0] + 3 * moved[1], 0.0, atol=1e-12 * RADIUS)  # rounding


def column(count: int, overlap: float) -> rl.Scene:
    """Balls one above the other that overlap the floor and one another by so much [m]."""
    scene = rl.Scene()
    scene.add(rl.HalfSpace(), position=(0, 0, 0), material=ROUGH)
    for k in range(count):
        height = RADIUS - overlap + k * (2 * RADIUS - overlap)
        scene.add(rl.Sphere(RADIUS), position=(0, 0, height), mass=1.0, material=ROUGH)
    return scene


def crowd(dim: int, overlap: float) -> rl.Scene:
    """Balls on a grid, each off its place by up to 3 % of a radius, above a floor."""
    scene, rng = rl.Scene(dim=dim), np.random.default_rng(5)
    ball = rl.Sphere(RADIUS) if dim == 3 else rl.Disk(RADIUS)
    scene.add(rl.HalfSpace(dim), position=(0,) * dim, material=ROUGH)
    sides = (3, 2, 2) if dim == 3 else (4, 3)
    for place in np.ndindex(*sides):
        position = (2 * RADIUS - overlap) * (np.array(place) + 0.5)
        position += 0.03 * RADIUS * rng.uniform(-1, 1, dim)
        scene.add(ball, position=tuple(position), mass=1.0, material=ROUGH)
    return scene


@pytest.mark.parametrize("part", [0.01, 0.1, 0.3])
@pytest.mark.parametrize("make", [partial(column, 12), partial(crowd, 2), partial(crowd, 3)])
def test_no_overlap_of_the_beginning_is_left(make, part):
    """Property: bodies that overlap by a part of their diameter where a scene begins do so by no
    more than LEFT slop in its first step, and get no more speed than a step of falling gives them.
    A pass moves all of a column, and bodies that are moved meet others."""
    simulation = rl.Simulation(make(2 * part * RADIUS), dt=1e-3)
    with pytest.warns(rl.SceneWarning, match="moved apart before the first step, without forces;"):
        result = simulation.step()
    assert result.converged
    # passes end where the deepest overlap shrinks by less than a hundredth
    assert result.contacts.gap.min() >= -1.01 * LEFT * 1e-3 * RADIUS
    assert np.abs(simulation.state.velocity[:, :3]).max() <= 1.001 * 9.81e-3


def test_forces_of_a_column_that_began_with_overlaps_are_its_weight():
    """Closed form: 12 to 1 weights, of a kilogram each, from the first step on."""
    simulation = rl.Simulation(column(12, 0.1 * RADIUS), dt=1e-3)
    with pytest.warns(rl.SceneWarning, match="overlap"):
        result = simulation.step()
    # springs of the step leave 1e-9, of residual and stiffness
    np.testing.assert_allclose(np.sort(result.force), 9.81 * np.arange(1, 13), rtol=1e-8)
    assert np.abs(simulation.state.velocity).max() < 1e-9


def test_where_there_is_no_room_a_warning_says_what_is_left():
    """Closed form: 80 % of a diameter between a floor and a held ball leave 10 % on each side."""
    scene = rl.Scene()
    scene.add(rl.HalfSpace(), position=(0, 0, 0), material=ROUGH)
    scene.add(rl.Sphere(RADIUS), position=(0, 0, 2.6 * RADIUS), fixed=True, material=ROUGH)
    scene.add(rl.Sphere(RADIUS), position=(0, 0, 0.7 * RADIUS), mass=1.0, material=ROUGH)
    simulation = rl.Simulation(scene, dt=1e-3)
    with pytest.warns(rl.SceneWarning, match=r"but for 0\.01 m, where they have no room"):
        result = simulation.step()
    # contacts of STIFF are alike on both sides
    np.testing.assert_allclose(result.contacts.gap, -0.2 * RADIUS, rtol=1e-2)


def test_settling_by_the_dem_begins_without_deep_overlaps():
    """Closed form: a column stands as high as its balls; overlaps of a fifth of a diameter threw
    it about."""
    rest = rl.settle(column(4, 0.2 * RADIUS), by="dem")
    # balls rest on springs, by up to 5e-4 radii each
    assert rest.state.position[-1, 2] == pytest.approx(7 * RADIUS, abs=4 * 5e-4 * RADIUS)


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
    deep, touching = on_a_floor(0.0), on_a_floor(0.0)
    deep.step(), touching.step()
    sunk = deep.state.position - np.array([[0.0], [1.0]]) * (0, 0, 0.05 * RADIUS)
    deep.state = deep.state.moved(position=sunk)
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
