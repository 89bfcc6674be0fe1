"""Scenes that contact dynamics does not bring to rest by itself, and the DEM from there."""

import re
import warnings
from dataclasses import replace

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.errors import InputError, NoRest, SceneWarning
from rigidlimit.penalty import (
    PenaltySimulation,
    compare,
    from_rest,
    kinetic_damping,
    rest_criterion,
    stiffness_sweep,
)
from rigidlimit.penalty.classic_forces import last_step
from rigidlimit.penalty.from_rest import loaded_pose
from rigidlimit.penalty.least_energy import least_energy
from rigidlimit.penalty.rest import settle

from ..problems import balanced_arch


@pytest.fixture(scope="module")
def poured():
    """(rest, what was told, scene) of a packing of 500 by the DEM."""
    scene, told = rl.scenes.packing(500), []
    return rl.settle(scene, by="dem", callback=told.append), told, scene


def test_random_packing_of_150():
    """Peer and convergence slope: the DEM of an unequal packing between walls at 1, 10 and 100
    times its stiffness bears at the same contacts, three a ball, and nears as 1/k."""
    scene = rl.scenes.packing(150)
    rest = settle(scene, by="dem")
    assert "least potential energy" in rest.how and rest.simulation.at_rest
    result, _ = last_step(rest.simulation, cold=False)
    bears = result.force > 1e-9 * result.force.max()
    # smooth balls of random size: as many contacts as degrees of freedom, but for those of balls
    # that lie alone on the floor
    each = np.bincount(result.contacts.body[bears].ravel(), minlength=len(scene.bodies))
    alone = (each[scene.bodies.mass > 0] == 1).sum()
    assert bears.sum() == 3 * 150 - 2 * alone and alone < 5
    errors = []
    for scale in (1.0, 10.0, 100.0):
        state = rest.simulation.state
        state = state.moved(velocity=np.zeros_like(state.velocity))
        dem = PenaltySimulation(
            scene, state=state, stiffness_scale=scale, rest_tolerance=1e-8
        ).run()
        assert dem.at_rest
        force = result.contacts.carry_over(dem.contacts, dem.force)
        np.testing.assert_array_equal(bears, force > 0)
        errors.append(np.linalg.norm(result.force - force) / np.linalg.norm(force))
    assert max(errors) < 1e-3
    # second order in the overlap
    assert np.log10(errors[0] / errors[2]) == pytest.approx(2, abs=0.05)


def test_a_contact_all_but_closed_bears_nothing():
    """Analytic: a disk in a groove of two others, over a third that it misses by 1e-7 of its
    radius: half the weight over the cosine of 45 degrees on each side, nothing below."""
    scene = rl.Scene(dim=2)
    for x, y in ((-1, -1), (1, -1), (0, -np.sqrt(2) * (1 + 5e-8))):
        centre = np.sqrt(2) * np.array([x, y]) * 0.01
        scene.add(rl.Disk(0.01), position=centre, fixed=True)
    top = scene.add(rl.Disk(0.01), position=(0, 1e-5))
    rest = settle(scene, by="dem")
    result, _ = last_step(rest.simulation, cold=False)
    weight = scene.bodies.mass[top] * 9.81
    # by default contacts within 1e-6 of the scene's length count as closed, and share the load
    np.testing.assert_allclose(result.force / weight, [2**-0.5, 2**-0.5, 0], atol=1e-6)


def test_loaded_pose_holds_the_forces():
    """Property: overlaps of the loaded pose carry the compatible forces, to the second order of
    turns of 1e-5 (two materials, Hooke and Hertz), and soft contacts are left alone."""
    for law in ("hooke", "hertz"):
        scene = rl.scenes.pyramid(4, law=law, young_ratio=5.0)
        rest = settle(scene)
        result, _ = last_step(rest.simulation)
        pose = loaded_pose(result, 0.5, scene.exponent)
        dem = PenaltySimulation(scene, state=pose, stiffness_scale=0.5)
        contacts, force = dem.engine.contact_forces(0.0)
        force = result.contacts.carry_over(contacts, force)
        np.testing.assert_allclose(force, result.force, atol=1e-3 * result.force.max())
        assert (loaded_pose(result, 1e-9, scene.exponent).position == result.state.position).all()


def test_rest_pose_forces_balance():
    """Property: multipliers of the last program are forces that carry the weights, on contacts
    that are closed; no ball overlaps another."""
    scene = rl.scenes.packing(60)
    soft = PenaltySimulation(scene, stiffness_scale=1e-4, restitution=0.3, rest_tolerance=1e-3)
    bodies, external = scene.bodies, scene.external_force()
    found = least_energy(bodies, soft.run().state, external)
    assert found.converged and found.overlap == 0.0
    state, contacts, force = found.state, found.contacts, found.force
    assert (force >= 0).all() and not state.velocity.any()
    # the last round moves by its own tolerance of the scene's length, 1e-9
    assert abs(contacts.gap[force > 1e-6 * force.max()]).max() < 1e-8 * bodies.length
    assert contacts.gap.min() > -1e-8 * bodies.length
    net = external.reshape(-1, 6)[:, :3].copy()
    np.add.at(net, contacts.body[:, 1], force[:, None] * contacts.normal)
    np.add.at(net, contacts.body[:, 0], -force[:, None] * contacts.normal)
    # the programs' own tolerance, 1e-10, and what rounding of the pose does to directions
    assert abs(net[bodies.mass > 0]).max() < 1e-7 * abs(external).max()


def test_rough_balls_rest_with_what_they_remember():
    """Property: poured rough balls come to rest by the DEM with friction, walls and floor carry
    them, and a step changes no force, as contacts remember; without memory forces are others."""
    scene = rl.scenes.rough_packing(20)
    rest = settle(scene)
    simulation, result = rest.simulation, rest.simulation.last
    assert rest.how == "DEM" and simulation.at_rest and result.compatible.state == "history"
    pushed = rl.body_forces(result)[scene.bodies.free.any(axis=1), :3].sum(axis=0)
    weight = scene.bodies.mass[scene.bodies.free.any(axis=1)].sum() * 9.81
    # the DEM rests to 1e-8 of the heaviest ball, and both steps are solved to 1e-10
    np.testing.assert_allclose(pushed, [0, 0, weight], atol=1e-7 * weight)
    assert not rest.simulation.last.sliding.all() and np.abs(result.tangential_force).max() > 0
    again = simulation.step()
    np.testing.assert_allclose(again.force_vectors, result.force_vectors, atol=1e-7 * weight)
    simulation.start_from(simulation.state, result.contacts, result.force)
    assert np.abs(simulation.step().force_vectors - result.force_vectors).max() > 1e-3 * weight


def test_a_packing_of_500_rests_at_the_first_try(poured):
    """Convergence: rounds of least energy from the DEM, each of which halves mu, which falls by
    2^20: 29 here. Three times as many would tell of a packing that slides on the way: 250 from a
    softer DEM that stops all bodies at each maximum of their energy, without its forces."""
    rest = poured[0]
    assert rest.simulation.at_rest and rest.unbalanced < 1e-8
    assert rest.rounds < 90


def test_path_begins_with_the_forces_of_the_dem():
    """Property: the path begins as well balanced as the DEM left the packing (1e-3), but for what
    contacts get that are open, 2e-2 each at most and few on a ball; forces told from the gaps
    leave more than the heaviest load open. Both come to rest beside each other, in the same corner
    or in the next: which one hangs on last digits of the DEM, and so on the machine."""
    scene = rl.scenes.packing(60, seed=2)
    ran = PenaltySimulation(scene, stiffness_scale=1e-3, restitution=0.3, rest_tolerance=1e-3).run()
    bodies, external = scene.bodies, scene.external_force()
    start, at_first, ends = (ran.contacts, np.maximum(ran.force, 0.0)), [], []
    for how in (dict(start=start), {}):
        how["begin"] = 1e-4
        at_first.append(least_energy(bodies, ran.state, external, max_rounds=0, **how).unbalanced)
        found = least_energy(bodies, ran.state, external, **how)
        assert found.converged
        ends.append(found.state.position)
    assert at_first[0] < 0.05 and at_first[1] > 1.0
    # corners next to each other: a part of a radius for single bodies, less for their weight
    assert abs(ends[0] - ends[1]).max() < 0.1 * bodies.length
    energy = [float(bodies.mass @ end[:, 2]) / bodies.mass.sum() for end in ends]
    assert energy[0] == pytest.approx(energy[1], abs=1e-3 * bodies.length)


def test_rounds_off_the_path_take_longer_steps():
    """Property: far from rest mu grows again, tenfold at most, by which a packing that slides gets
    on, and a search that runs out of rounds ends with a pose as good as it got."""
    scene, told = rl.scenes.packing(60), []
    given = dict(begin=1e-10, max_rounds=60, callback=told.append)
    found = least_energy(scene.bodies, scene.state, scene.external_force(), **given)
    assert not found.converged and found.rounds == 60
    assert np.isfinite(found.state.position).all()
    widest = max(float(re.search(r"gap times force (\S+?)(,|$)", text)[1]) for text in told)
    assert widest == pytest.approx(1e-9)


def test_damping_without_stops_leaves_a_slide_its_speed():
    """Closed form: a ball that slides on a smooth floor keeps its speed but for the background,
    exp(-alpha t), while another that vibrates takes the total energy through maxima; with stops it
    stands still."""
    speeds = {}
    for quenches in (True, False):
        scene = rl.Scene()
        scene.add(rl.HalfSpace(), position=(0, 0, 0))
        sliding = scene.add(rl.Sphere(0.01), position=(0, 0, 0.01), velocity=(2e-3, 0, 0))
        scene.add(rl.Sphere(0.01), position=(0, 0.1, 0.01 - 1e-7))
        dem = PenaltySimulation(
            scene,
            stiffness_scale=1e-4,
            restitution=1.0,
            rest_tolerance=1e-9,
            background=1.0,
            quenches=quenches,
        )
        ran = dem.run(max_steps=4000)
        speeds[quenches] = ran.state.velocity[sliding, 0] / (2e-3 * np.exp(-ran.time))
    assert speeds[True] == 0.0
    # leapfrog with damping at the half step: second order in alpha h
    assert speeds[False] == pytest.approx(1.0, rel=1e-6)


def test_boxes_and_ellipsoids():
    """Peer: smooth bodies that would spin for ever are stopped, and the DEM agrees in every
    contact; asked: 1e-3."""
    answer = compare(rl.scenes.container(5), stiffness_scale=1e-2, rest_tolerance=1e-5)
    assert "kinetic damping" in answer.how and answer.dem.at_rest
    np.testing.assert_array_equal(answer.bears("compatible"), answer.bears("dem"))
    assert answer.shared_error < 1e-3 and answer.contact_error["compatible"] < 1e-3
    assert answer.floor_error["compatible"] < 1e-3


def test_drifting_bodies_come_to_rest():
    """Property: at nominal stiffness a box slides for ever under 1e-7 of its weight, on a floor
    tilted by as little; the DEM stops it and finds that its forces balance."""
    scene = rl.Scene()
    tilt = 0.7e-7
    scene.add(rl.HalfSpace(), position=(0, 0, 0), normal=(tilt, 0, 1.0))
    scene.add(rl.Box((0.02, 0.02, 0.02)), position=(0, 0, 0.01))
    dem = PenaltySimulation(scene, rest_tolerance=1e-7)
    result = dem.run(max_steps=60_000)
    assert result.at_rest and result.kinetic_energy == 0.0
    weight = scene.bodies.mass[1] * 9.81
    assert result.force.sum() == pytest.approx(weight, rel=1e-6)  # the tolerance, over four


@pytest.mark.parametrize("by", ["dem", "dynamics"])
def test_a_rough_ball_that_rolls_on_is_stopped_and_told(by):
    """Contract: on a level floor without walls it would roll for ever; the DEM took 50,000,000
    steps to give up. It lies where it was stopped, and bears its weight."""
    scene = rl.Scene()
    rough = rl.Material(friction=0.5, young=1e7)
    scene.add(rl.HalfSpace(), position=(0, 0, 0), material=rough)
    for x, v in ((0.0, 0.3), (-0.2, 0.0)):
        ball = f"ball {x:g}"
        scene.add(
            rl.Sphere(0.05), position=(x, 0, 0.05), velocity=(v, 0, 0), material=rough, name=ball
        )
    rest = settle(scene, by=by)
    assert "1 of 2 bodies moves, 'ball 0' fastest at 0.2" in rest.stopped
    assert f"stopped while moving: {rest.stopped}" in rest.message
    np.testing.assert_allclose(
        rl.body_forces(rest.simulation.step())[1:, 2], 9.81 * scene.bodies.mass[1:], rtol=1e-6
    )  # the DEM rests to 1e-8 of the weight


def test_spinning_box_is_not_at_rest():
    """Property: turning counts for rest by the speed of the farthest point; the spin of a ball
    does not."""
    speeds = []
    for shape in (rl.Box((0.02, 0.02, 0.02)), rl.Sphere(0.01)):
        scene = rl.Scene()
        scene.add(rl.HalfSpace(), position=(0, 0, 0))
        scene.add(shape, position=(0, 0, 0.01), angular_velocity=(0, 0, 1.0))
        simulation = rl.Simulation(scene)
        simulation.step()
        simulation.step()
        speeds.append(simulation.at_rest)
    assert speeds == [False, True]


def test_no_rest_is_an_error():
    """Bodies that fall for ever, and a route that does not exist."""
    scene = rl.Scene(duration=5e-3, dt=5e-3)
    scene.add(rl.Box((1, 1, 1)), position=(0, 0, 0))
    with pytest.raises(NoRest, match="not at rest after 20 damped steps"):
        settle(scene, max_steps=20)
    with pytest.raises(InputError, match="'dynamics' or 'dem'"):
        settle(scene, by="magic")
    scene.add(rl.Box((1, 1, 1)), position=(9, 0, 0))
    # 30 lengths of 0.87 m take 2.3 s of free fall
    told = r"after 4\d\d damped steps .* 2 of 2 bodies move, .* fastest at 22\.\d m/s; "
    told += r".* has gone farthest, 26(\.\d)? m; expected walls or a floor in the way"
    with pytest.raises(NoRest, match=told):
        settle(scene)


def test_a_rest_that_does_not_last_is_told_early(monkeypatch):
    """An arch in balance is not stable: soft contacts let it collapse, or shake it for ever, which
    took 500,000 steps and more to say. Stiff ones hold it, and nothing is said."""
    scene, _, _ = balanced_arch()
    fallen = compare(scene, stiffness_scale=1e-4)
    assert not fallen.dem.at_rest and fallen.dem.steps < 30_000
    # seven stones have 21 degrees of freedom, 16 contacts, one of them more than is needed
    told = r"left the pose of rest, 'stone \d' by .* m in .* s; 6 motions of loaded bodies keep all"
    assert re.search(told, fallen.unrest) and fallen.unrest in fallen.message
    # the same fall, which need not go as far again
    monkeypatch.setattr(from_rest, "SETTINGS", replace(from_rest.SETTINGS, left=0.02))
    with pytest.raises(InputError, match=r"stiffness x 0\.0001: the DEM left .* which it stays"):
        stiffness_sweep(scene, scales=(1.0, 1e-4))
    stiff = compare(scene)
    assert stiff.dem.at_rest and stiff.unrest == "" and "NOT" not in stiff.message


def test_a_scene_that_shakes_for_ever_is_told(monkeypatch):
    """Property: a DEM of blocks whose forces no longer fall ends after ``PATIENCE`` steps."""
    monkeypatch.setitem(rest_criterion.PATIENCE, "convex", 3000)
    scene, _, _ = balanced_arch()
    shaken = compare(scene, rest_tolerance=1e-30)
    assert shaken.dem.status is rl.Status.STALLED and shaken.dem.steps < 60_000
    assert "no longer fell" in shaken.unrest


def test_a_dem_that_only_creeps_is_given_up(monkeypatch):
    """Contract: a comparison does not wait for long where the DEM, begun at rest, gets no nearer
    to it: to 1e-30 of the load rounding allows none. It took 100,000 steps to say so."""
    monkeypatch.setitem(from_rest.IDLE, "convex", 2000)
    shaken = compare(balanced_arch()[0], rest_tolerance=1e-30)
    assert not shaken.dem.converged and shaken.dem.steps < 20_000
    assert "no longer fell" in shaken.unrest and "NOT at rest" in shaken.message


def test_a_simulation_goes_on_to_rest_under_its_own_loads():
    """Closed form: a cell without gravity, in which loose disks drift for ever; a lid whose load
    was doubled by ``set_load`` bears all of it at rest, the floor too, and nothing else does."""
    scene = rl.Scene(name="cell", dim=2, gravity=(0, 0), duration=0.3)
    for x, y, normal in ((0.0, 0.0, (0, 1)), (0.0, 0.0, (1, 0)), (0.5, 0.0, (-1, 0))):
        scene.add(rl.HalfSpace(2), position=(x, y), normal=normal)
    lid, held = rl.rectangle(0.49, 0.1), ["x", "rz"]
    scene.add(lid, position=(0.25, 0.55), fixed=held, load=(0, -50), mass=20, name="lid")
    rng = np.random.default_rng(0)
    for at in [(0.05 + 0.1 * i, 0.05 + 0.1 * j) for i in range(5) for j in range(5)]:
        velocity = tuple(rng.normal(size=2))
        scene.add(rl.Disk(rng.uniform(0.03, 0.05)), position=at, velocity=velocity)
    simulation = rl.Simulation(scene, compatible="never")
    simulation.step()
    simulation.set_load("lid", (0, -100.0))
    rest = rl.settle(simulation)
    assert rest.simulation is simulation and not rest.alone and simulation.at_rest
    force = rl.body_forces(simulation.step(compatible=True))
    # the residual of a step is 1e-10, of a hundred newtons
    np.testing.assert_allclose(force[[0, 3], 1], [-100.0, 100.0], rtol=1e-7)
    np.testing.assert_allclose(force[4:], 0.0, atol=1e-5)


def test_stages_of_load_are_each_brought_to_rest():
    """Closed form: disks of unequal size under a lid, loaded in stages that each begin at rest;
    lid and floor bear the load of the stage. Rest under the stage before says nothing of it."""
    cell = rl.Scene(name="oedometer", dim=2, gravity=(0, 0), duration=0.3)
    for x, normal in ((0.0, (0, 1)), (0.0, (1, 0)), (0.4, (-1, 0))):
        cell.add(rl.HalfSpace(2), position=(x, 0), normal=normal)
    lid, held = rl.rectangle(0.4, 0.1), ["x", "rz"]
    cell.add(lid, position=(0.2, 0.45), fixed=held, mass=10, name="lid")
    rng = np.random.default_rng(0)
    for at in [(0.05 + 0.1 * i, 0.05 + 0.1 * j) for i in range(4) for j in range(4)]:
        cell.add(rl.Disk(rng.uniform(0.03, 0.05)), position=at)
    simulation = rl.Simulation(cell, compatible="never")
    for load in (40.0, 400.0, 4000.0, 40.0):
        simulation.set_load("lid", (0, -load))
        assert not simulation.at_rest
        rest = rl.settle(simulation)
        # forces of a step count as solved at a residual of 1e-10; at rest allows a millionth
        assert rest.unbalanced < 1e-6
        force = rl.body_forces(simulation.step(compatible=True))
        np.testing.assert_allclose(force[[0, 3], 1], [-load, load], rtol=1e-6)


def test_platens_may_reach_into_walls_that_they_slide_along():
    """Closed form: a cell of two walls and two platens, each as long as the cell at the start and
    half a cell longer beyond the wall that it slides along. They bear their loads at rest, so do
    the walls across, and nothing is told of the overlap, which no motion could undo."""
    cell = rl.Scene(name="biaxial", dim=2, gravity=(0, 0))
    cell.add(rl.HalfSpace(2), position=(0, 0), normal=(1, 0), name="left")
    cell.add(rl.HalfSpace(2), position=(0, 0), normal=(0, 1), name="floor")
    held, long = ["rz"], rl.rectangle(0.3, 0.1)
    cell.add(long, position=(0.02, 0.26), fixed=["x", *held], mass=5, load=(0, -40), name="lid")
    tall = rl.rectangle(0.1, 0.3)
    cell.add(tall, position=(0.26, 0.02), fixed=["y", *held], mass=5, load=(-60, 0), name="side")
    rng = np.random.default_rng(0)
    for at in [(0.05 + 0.1 * i, 0.05 + 0.1 * j) for i in range(2) for j in range(2)]:
        cell.add(rl.Disk(rng.uniform(0.04, 0.05)), position=at + rng.uniform(-1e-3, 1e-3, 2))
    simulation = rl.Simulation(cell, compatible="never")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rest = rl.settle(simulation)
    assert "least potential energy" in rest.how
    force = rl.body_forces(simulation.step(compatible=True))
    # at rest allows a millionth of the load
    np.testing.assert_allclose(force[[0, 3], 0], [-60.0, 60.0], rtol=1e-6)
    np.testing.assert_allclose(force[[1, 2], 1], [-40.0, 40.0], rtol=1e-6)


@pytest.mark.parametrize("seed", [1, 4])
def test_a_large_packing_comes_to_rest_quickly(poured, seed):
    """Property: a poured packing, of which linear programs took minutes, rests in as many contacts
    as it has degrees of freedom, none of its balls overlaps, and its forces balance."""
    rest, told, scene = poured  # of the seed 1, in as many rounds as most; of 4 in twice as many
    if seed != 1:
        scene, told = rl.scenes.packing(400, seed=seed), []
        rest = rl.settle(scene, by="dem", callback=told.append)
    count = scene.bodies.free.any(axis=1).sum()
    assert count >= 400 and told[0].startswith("DEM")
    assert rest.how == "DEM, then least potential energy"
    result = rest.simulation.step(compatible=True)
    assert rest.simulation.at_rest and result.converged
    # the path ends a hundred times below these; 1e-9 is what counts as closed
    assert rest.unbalanced < 1e-9 and rest.overlap < 1e-10
    bears = result.force > 1e-9 * result.force.max()
    each = np.bincount(result.contacts.body[bears].ravel(), minlength=len(scene.bodies))
    alone = (each[scene.bodies.mass > 0] == 1).sum()
    assert bears.sum() == 3 * count - 2 * alone
    # about a hundred rounds are the rule, whatever the size; linear programs took 90, each of 0.3 s
    assert 20 < rest.rounds < 1500


def test_what_is_at_rest_stays_where_it_is():
    """Property: a second ``settle`` moves nothing, whoever is to go first, and makes no step; it
    ran the DEM anew, and moved 300 balls by a third of their radius."""
    simulation = rl.Simulation(rl.scenes.packing(60), compatible="never")
    rl.settle(simulation, by="dem")
    simulation.step(compatible=True)
    at = simulation.state.position
    for by in ("dem", "dynamics"):
        rest = rl.settle(simulation, by=by)
        assert rest.steps == rest.rounds == 0 and rest.alone and rest.farthest == ""
        np.testing.assert_array_equal(simulation.state.position, at)


def test_another_load_goes_on_from_present_contacts():
    """Closed form: disks at rest under 1.5 times their weight bear 1.5 times the forces, in the
    same pose; from 300 disks on they were shaken by a soft DEM."""
    simulation = rl.Simulation(rl.scenes.pile_2d(310), compatible="never")
    rl.settle(simulation)
    before, at = simulation.step(compatible=True), simulation.state.position
    simulation.set_gravity(1.5 * simulation.gravity[:2])
    assert rl.settle(simulation).how.startswith("contact dynamics")
    after = simulation.step(compatible=True)
    # gaps count as closed to 1e-9 of the scene's length in such poses
    assert abs(simulation.state.position - at).max() < 1e-8 * simulation.bodies.length
    force = before.contacts.carry_over(after.contacts, after.force)
    np.testing.assert_allclose(force, 1.5 * before.force, atol=1e-6 * force.max())


@pytest.mark.parametrize("count", [12, 310])
def test_the_state_decides_who_goes_first(count):
    """Property: disks above the floor, with nothing to lose, are poured by the DEM, however many;
    the same at rest, tilted by six degrees, go on from their contacts."""
    simulation = rl.Simulation(rl.scenes.pile_2d(count), compatible="never")
    assert rl.settle(simulation).how.startswith("DEM")
    g = np.linalg.norm(simulation.gravity)
    simulation.set_gravity((g * np.sin(0.1), -g * np.cos(0.1)))
    assert rl.settle(simulation).how.startswith("contact dynamics") and simulation.at_rest


def test_a_rest_far_away_says_who_went_how_far():
    """Closed form: a disk that rolls down a slope to a wall has gone the way between, 0.3 m along
    the floor; an arch without friction lies flat "at rest", and that was all that was said."""
    scene = rl.Scene(name="slope", dim=2, duration=0.5)
    slope = np.radians(10)
    scene.add(rl.HalfSpace(2), position=(0, 0), normal=(-np.sin(slope), np.cos(slope)))
    scene.add(rl.HalfSpace(2), position=(0, 0), normal=(1, 0))
    down = np.array([np.cos(slope), np.sin(slope)])
    corner = 0.1 * np.array([1.0, (1 + np.sin(slope)) / np.cos(slope)])
    scene.add(rl.Disk(0.1), position=corner + 0.3 * down, name="disk")
    rest = rl.settle(scene)
    assert rest.farthest == "'disk' has gone farthest, 0.3 m" and rest.farthest in rest.message
    moving = rl.Simulation(scene).run(0.1)
    assert "not at rest: 1 of 1 body moves, 'disk' fastest at 0.1" in moving.message
    # v = g sin(slope) t, and v t / 2, with what a step of contact dynamics is ahead
    assert "'disk' has gone farthest, 0.008" in moving.message


def test_a_stack_in_order_is_left_to_contact_dynamics():
    """Known answer: equal balls in a pyramid, a thousand and more, keep their order: largest force
    of the static pyramid, which a soft DEM could have shaken down."""
    scene = rl.scenes.pyramid(15)
    told = []
    rest = rl.settle(scene, callback=told.append)
    assert scene.bodies.free.any(axis=1).sum() > 1000
    assert told[0].startswith("contact dynamics") and rest.alone and rest.rounds == 0
    moved = rl.scenes.pyramid(15, drop=0)
    # closed to a millionth of the scene's length, the rule of contact dynamics
    shift = np.abs(rest.simulation.state.position - moved.state.position)
    assert shift.max() < 1e-6 * scene.bodies.length


def test_a_high_pile_is_stiffened():
    """Property: disks that fall in 25 layers sink through one another in the softest DEM, which
    was an error; the next stiffer one brings them to rest, and their weight is on the floor."""
    scene = rl.scenes.pile_2d(600)
    told = []
    rest = rl.settle(scene, by="dem", callback=told.append)
    result = rest.simulation.step(compatible=True)
    assert result.converged and rest.unbalanced < 1e-9
    assert any("stiffness x 0.001" in text for text in told)
    weight = 9.81 * scene.bodies.mass.sum()
    # the residual of a step, 1e-10 of the largest force, of which the floor bears many
    assert rl.body_forces(result)[0, 1] == pytest.approx(-weight, rel=1e-8)


def test_bodies_without_room_to_part_are_not_at_rest():
    """Property: disks wedged between walls that are too near stand still, and no forces balance;
    this was reported as rest. Slight overlaps of rounded places are, with the weight on the floor.
    """
    for width, room in ((0.55, False), (0.6 - 1e-5, False), (0.6 - 1e-10, True), (0.6, True)):
        scene = rl.Scene(name="shaft", dim=2)
        for at, normal in (((0, 0), (0, 1)), ((0, 0), (1, 0)), ((width, 0), (-1, 0))):
            scene.add(rl.HalfSpace(2), position=at, normal=normal)
        scene.add(rl.Disk(0.3), position=(width / 2, 0.3), name="disk")
        if room:
            rest = rl.settle(scene)
            weight = 9.81 * scene.bodies.mass.sum()
            force = rl.body_forces(rest.simulation.step(compatible=True))[0, 1]
            assert force == pytest.approx(-weight, rel=1e-6) and rest.unbalanced < 1e-9
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SceneWarning)
            with pytest.raises(NoRest, match=r"overlap by .* m and have no room to part"):
                rl.settle(scene)


def test_settle_ends_when_its_time_is_over():
    """Contract: boxes that take minutes to come to rest end when they are told to, with how far
    they came, and the simulation stays there."""
    simulation = rl.Simulation(rl.scenes.container(8), compatible="never")
    told = r"not at rest after 0\.01 s of the wall clock: contact dyn.*; 8 of 8 bodies move, .* fas"
    with pytest.raises(NoRest, match=told):
        rl.settle(simulation, max_seconds=0.01)
    assert simulation.steps > 0


def test_damping_that_brings_no_less_motion_is_given_up(monkeypatch):
    """Contract: kinetic damping ends where stops no longer lower the motion, not after 5000 steps,
    and says so; here the first stop already counts as one that did not."""
    none = replace(kinetic_damping.SETTINGS, stops=-1)
    monkeypatch.setattr(kinetic_damping, "SETTINGS", none)
    scene = rl.Scene(name="tilted", duration=0.01)
    scene.add(rl.HalfSpace(), position=(0, 0, 0))
    turned = (np.cos(0.3), np.sin(0.3), 0.0, 0.0)
    scene.add(rl.Box((0.02, 0.02, 0.02)), position=(0, 0, 0.02), orientation=turned)
    simulation = rl.Simulation(scene, compatible="never")
    with pytest.raises(NoRest, match="stops brought no less motion; expected a scene"):
        rl.settle(simulation)
    assert simulation.steps < 500


@pytest.mark.parametrize("spin", [(0, 0, 5.0), (3.0, 1.0, 5.0)])
def test_a_turning_box_is_stopped(spin):
    """Closed form: a smooth box that spins on the floor, or is thrown on it turning, keeps its
    energy for ever and was given up after 5000 steps; at rest its four corners bear its weight."""
    scene = rl.Scene(name="spinning", duration=0.05)
    scene.add(rl.HalfSpace(), position=(0, 0, 0))
    height = 0.02 if spin[0] == 0 else 0.03  # lying, and thrown from 1 cm
    scene.add(rl.Box((0.02, 0.03, 0.04)), position=(0, 0, height), angular_velocity=spin)
    simulation = rl.Simulation(scene, compatible="never")
    rest = rl.settle(simulation)
    assert rest.steps < 2500 and simulation.at_rest
    force = rl.body_forces(simulation.step(compatible=True))[0, 2]
    # the residual of a step, 1e-10, and what at_rest allows, a millionth
    assert force == pytest.approx(-9.81 * scene.bodies.mass[1], rel=1e-5)


def test_settling_on_a_turning_box_is_given_up():
    """Contract: a disk in a shaft over a box that is driven round is thrown up by each corner. The
    box was stopped without a word, and the disk called at rest; it stays driven, and settling ends
    by itself, before the steps are over, with what does not help."""
    scene = rl.Scene(name="turnspit", dim=2, duration=0.01)
    for x, normal in ((-0.051, (1, 0)), (0.051, (-1, 0))):
        scene.add(rl.HalfSpace(2), position=(x, 0), normal=normal)
    box = rl.rectangle(0.08, 0.08)
    scene.add(box, position=(0, 0), fixed=True, angular_velocity=20.0, name="box")
    scene.add(rl.Disk(0.05), position=(0, 0.12), fixed=["x"], name="disk")
    simulation = rl.Simulation(scene, compatible="never")
    told = "stops brought no less motion; expected a scene .*; 'box' is driven"
    with pytest.raises(NoRest, match=told):
        rl.settle(simulation, by="dynamics")
    assert simulation.steps < 5000


def test_what_nothing_presses_cannot_come_to_rest():
    """Contract: balls without gravity or loads that fly apart; one error, with the scene's name."""
    with pytest.raises(NoRest, match="'newton-cradle' cannot come to rest: nothing presses"):
        rl.settle("newton-cradle")


def test_settle_takes_what_a_simulation_takes():
    """Contract: names of the gallery; wrong input gets one error."""
    rest = rl.settle("block-on-legs")
    assert rest.alone and rest.simulation.at_rest
    for mistake, fragment in (
        (lambda: rl.settle(3), "scene is 3"),
        (lambda: rl.settle("beam", by="dam"), "expected 'state', 'dynamics' or"),
        (lambda: rl.settle("beam", max_steps=0), "max_steps is 0"),
        (lambda: rl.settle("beam", max_seconds=-1), "max_seconds is -1"),
    ):
        with pytest.raises(InputError, match=fragment):
            mistake()


def test_what_falls_forever_ends_soon():
    """Contract: a ball without a floor is given up when it is far from all, with the reason, and
    not after 724 m and a minute; one that its weight brings back is not."""
    scene = rl.Scene(name="well")
    scene.add(rl.Sphere(0.1), position=(0, 0, 1), mass=1.0, name="ball")
    told = r"farthest, 3\.\d+ m; expected walls or a floor in the way of 'ball', ahead of which"
    with pytest.raises(NoRest, match=told):
        rl.settle(scene)
    scene = rl.Scene(name="thrown", dt=5e-3)
    scene.add(rl.HalfSpace(), position=(0, 0, 0))
    ball = scene.add(rl.Sphere(0.1), position=(0, 0, 0.1), mass=1.0, velocity=(0, 0, 10.0))
    assert rl.settle(scene).state.position[ball, 2] == pytest.approx(0.1, abs=1e-6)
