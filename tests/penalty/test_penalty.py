"""The soft-particle DEM: law, time stepping, rest."""

from dataclasses import replace

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.errors import InputError
from rigidlimit.kinematics import gap_gradient
from rigidlimit.penalty import PenaltySimulation
from rigidlimit.penalty.ball_engine import BallEngine
from rigidlimit.penalty.ball_records import usable_threads
from rigidlimit.penalty.law import damping_of, restitution_of

LAWS = ["hooke", "hertz", 3.0]


def two_balls(speed=1.0, masses=(1.0, 3.0)):
    """Two balls, almost touching, meeting at ``speed``."""
    scene = rl.Scene(gravity=(0, 0, 0))
    soft = rl.Material(young=1e5)
    for x, v, m in ((0, speed, masses[0]), (0.2 + 1e-9, 0, masses[1])):
        scene.add(rl.Sphere(0.1), position=(x, 0, 0), velocity=(v, 0, 0), mass=m, material=soft)
    return scene


def cluster(count=40, seed=3):
    """Unequal balls flying into one another, without gravity; every other one is hard."""
    rng = np.random.default_rng(seed)
    scene = rl.Scene(gravity=(0, 0, 0))
    for k in range(count):
        cell = np.array([k % 4, k // 4 % 4, k // 16])
        at = 0.021 * (cell + rng.uniform(-0.1, 0.1, 3))
        scene.add(
            rl.Sphere(rng.uniform(0.006, 0.01)),
            position=at,
            velocity=-100 * (at - 0.03) + 0.1 * rng.normal(size=3),
            material=rl.Material(young=1e6 * (1 + 4 * (k % 2))),
        )
    return scene


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(
    ("damping", "tensile"), [(0.0, True), (0.1, True), (0.6, True), (0.6, False), (1.0, False)]
)
def test_restitution_of_two_balls(law, damping, tensile):
    """Closed form: e_n of the damped oscillator, the same for every power law and speed; and
    momentum."""
    scene = two_balls()
    limit = PenaltySimulation(scene, damping=damping, tensile=tensile, law=law).critical_dt
    dem = PenaltySimulation(scene, damping=damping, tensile=tensile, law=law, dt=limit / 200)
    result = dem.run(until=1.0)
    v, m = result.state.velocity[:, 0], scene.bodies.mass
    # momentum: rounding of some thousand steps
    assert m @ v == pytest.approx(m[0], rel=1e-11)
    # a contact begins and ends within a step, where damping acts at once: (omega dt) ~ 1e-2
    assert v[1] - v[0] == pytest.approx(restitution_of(damping, tensile=tensile), abs=6e-3)


@pytest.mark.parametrize("tensile", [True, False])
def test_damping_and_restitution_are_inverse(tensile):
    """Closed form: inverse of each other; 2 sqrt(k m) for 0; exp(-2) at critical without pull."""
    for e in (0.02, 0.1, 0.5, 0.9, 1.0):
        z = damping_of(e, tensile=tensile)
        assert restitution_of(z, tensile=tensile) == pytest.approx(e, abs=1e-12)
    assert damping_of(0, tensile=tensile) == 1
    assert restitution_of(1.0, tensile=False) == pytest.approx(np.exp(-2))
    with pytest.raises(InputError):
        damping_of(1.5)


def test_contact_time():
    """Closed form: pi/(w sqrt(1 - zeta^2)), w^2 = k/m_eff, of a damped Hooke contact."""
    scene, z = two_balls(masses=(1.0, 1.0)), 0.3
    dem = PenaltySimulation(scene, damping=z, dt=1e-5)
    k = dem.engine.springs.k[0]
    duration = np.pi * np.sqrt(0.5 / k) / np.sqrt(1 - z * z)
    # dt is below 1e-4 of it
    assert len(dem.run(until=0.995 * duration, closed=0.0).contacts) == 1
    assert len(dem.run(until=1.005 * duration, closed=0.0).contacts) == 0


@pytest.mark.parametrize("law", LAWS)
def test_verlet_keeps_energy_to_second_order(law):
    """Convergence slope: energy error of an undamped impact in mid-contact falls as dt^2."""
    scene = two_balls()
    limit = PenaltySimulation(scene, damping=0, law=law).critical_dt
    errors = []
    for fraction in (0.08, 0.04, 0.02):
        dem = PenaltySimulation(scene, damping=0, law=law, dt=fraction * limit)
        result = dem.run(until=0.011)
        assert result.elastic_energy > 0.03  # of 0.5 J: inside the contact
        errors.append(abs(result.kinetic_energy + result.elastic_energy - 0.5))
    slopes = np.log2(np.array(errors[:-1]) / errors[1:])
    # higher orders and the step in which the contact begins
    assert (slopes > 1.7).all() and (slopes < 2.3).all()


@pytest.mark.parametrize("law", ["hooke", "hertz"])
def test_two_engines_and_momentum(law):
    """Reference twin: compiled balls against the contact search, which knows no lists; property:
    momentum."""
    scene = cluster()
    results = [
        PenaltySimulation(scene, law=law, restitution=0.7, dt=1e-5, engine=engine).run(until=3e-3)
        for engine in ("balls", "convex")
    ]
    mass = scene.bodies.mass[:, None]
    before = (mass * scene.state.velocity[:, :3]).sum(axis=0)
    for result in results:
        after = (mass * result.state.velocity[:, :3]).sum(axis=0)
        # rounding of a thousand steps, against the size of the momenta that cancel
        assert abs(after - before).max() < 1e-12 * (mass * abs(scene.state.velocity[:, :3])).sum()
    assert (results[0].force > 0).sum() > 10
    # the network's gaps are linear between searches: 1 % of an overlap at most, far less here
    np.testing.assert_allclose(
        results[0].state.position, results[1].state.position, atol=2e-3 * 0.021
    )


@pytest.mark.skipif(usable_threads(2) < 2, reason="one thread only")
def test_threads_agree():
    """Reference twin: two threads against one; sums differ in their order only."""
    scene = rl.scenes.pyramid(5, drop=0)
    one, two = (
        PenaltySimulation(scene, stiffness_scale=1e-3, threads=t).run(max_steps=400) for t in (1, 2)
    )
    assert one.elastic_energy > 0
    # rounding, grown by collisions
    np.testing.assert_allclose(one.state.position, two.state.position, atol=1e-12)


@pytest.mark.parametrize("stiffness", [(1, 1, 1), (1, 3, 1)])
def test_beam_at_rest(stiffness):
    """Closed form: shares as the stiffness, 10/3 each or 2, 6, 2; polygons, convex engine."""
    dem = PenaltySimulation(rl.scenes.beam(stiffness=stiffness), stiffness_scale=1e8)
    assert dem.engine.kind == "convex"
    result = dem.run()
    assert result.at_rest and result.converged
    # overlaps of 1e-7 of the length change arms by as much
    np.testing.assert_allclose(result.force, 10 * np.array(stiffness) / sum(stiffness), rtol=1e-6)


@pytest.mark.parametrize("engine", ["balls", "convex"])
def test_disk_between_planes(engine):
    """Closed form: two tilted planes that hold a disk, by both engines."""
    scene = rl.scenes.disk_in_corner()
    result = PenaltySimulation(scene, stiffness_scale=1e-2, engine=engine).run()
    assert result.at_rest
    np.testing.assert_allclose(result.force, scene.reference["forces"], rtol=1e-6)


@pytest.mark.parametrize("law", ["hooke", "hertz"])
@pytest.mark.parametrize("background", ["quench", 2e4, None])
def test_background_damping_keeps_rest(law, background):
    """Property: each way to rest ends in the same forces, here those of a dropped pyramid."""
    scene = rl.scenes.pyramid(3, young=50e5)
    still = PenaltySimulation(rl.scenes.pyramid(3, young=50e5, drop=0), law=law).run()
    result = PenaltySimulation(scene, law=law, background=background).run()
    assert result.at_rest
    force = still.contacts.carry_over(result.contacts, result.force)
    # unbalanced force 1e-8 of a weight, and what the slowest mode makes of it
    np.testing.assert_allclose(force, still.force, atol=1e-5 * still.force.max())


def test_what_stalls_is_told_of_background_damping():
    """Property: what gets no nearer to rest names the option that brings it there, nothing else."""
    result = PenaltySimulation(rl.scenes.pyramid(2, young=50e5)).run()
    stalled = replace(result, status=rl.Status.STALLED, at_rest=False)
    assert "PenaltySimulation(background=" in stalled.message
    assert "background" not in replace(stalled, at_rest=True).message + result.message


def test_moving_floor_lifts():
    """Closed form: a held half-space that rises at a steady speed carries a ball along."""
    scene = rl.Scene()
    scene.add(rl.HalfSpace(), position=(0, 0, 0), velocity=(0, 0, 0.05), name="floor")
    scene.add(rl.Sphere(0.01), position=(0, 0, 0.01), material=rl.Material(young=1e7))
    result = PenaltySimulation(scene).run(until=0.5)
    # the floor's own speed, and its weight, once the start has been damped out
    assert result.state.position[0, 2] == pytest.approx(0.025, rel=1e-9)
    assert result.state.velocity[1, 2] == pytest.approx(0.05, rel=1e-6)
    assert result.force[0] == pytest.approx(scene.bodies.mass[1] * 9.81, rel=1e-6)


@pytest.mark.parametrize("damping", [0.0, 1.0])
def test_critical_step_is_sharp(damping):
    """Property: a pressed row of balls stays calm at 0.98 of the critical step, grows at 1.02."""
    scene = rl.Scene(gravity=(0, 0, 0))
    for k in range(8):  # each pair overlaps by 1 % of a radius
        scene.add(rl.Sphere(1.0), position=(1.99 * k, 0, 0), mass=1.0, fixed=k in (0, 7))
    energies = []
    for fraction in (0.98, 1.02):
        dem = PenaltySimulation(scene, damping=damping)
        dt = fraction * dem.critical_dt
        # far below what would open a contact
        dem.engine.motion[1:7, 3] = 1e-12 * np.array([1, -1, 1, -1, 1, -1]) / dt
        start = dem.engine.measures().kinetic_energy
        dem.engine.advance(400, dt, 0.0, False)
        energies.append(dem.engine.measures().kinetic_energy / start)
    assert energies[0] < 100  # near the limit Verlet's own energy oscillates
    assert energies[1] > 1e6


@pytest.mark.parametrize("damping", [0.0, 0.36])
def test_critical_step_of_a_packing(damping):
    """Cross-solver: LAPACK's largest eigenvalues of the same pairs. The search ends with 1 % of the
    eigenvalue open, which it adds; the step follows it by one to one half."""
    scene = rl.scenes.packing(150)
    dem = PenaltySimulation(scene, stiffness_scale=1e-4, damping=damping, background=20.0)
    dem.run(max_steps=8000)
    engine, springs, bodies = dem.engine, dem.engine.springs, scene.bodies
    B = gap_gradient(bodies, engine._pose(), engine.listed)[:, bodies.free.ravel()].toarray()
    response = B / np.repeat(bodies.mass, 6)[bodies.free.ravel()] @ B.T
    L_K, L_C = (
        np.linalg.eigvalsh(np.sqrt(np.outer(w, w)) * response)[-1] for w in (springs.k, springs.g)
    )
    exact = (np.sqrt(L_C**2 + 4 * L_K) - L_C) / L_K
    assert len(B) > 400 and 0.98 < dem.critical_dt / exact < 1.002


def test_wider_lists_while_balls_fall_change_nothing(monkeypatch):
    """Property: balls that fall and meet end where they do with a narrow list at the same steps,
    to rounding, and the list is made less than half as often; with a given step it stays narrow."""
    places, lists, made = [], [], []
    build = BallEngine._build
    monkeypatch.setattr(BallEngine, "_build", lambda e: (made.append(e.skin), build(e))[1])
    for given in (False, True):
        dem = PenaltySimulation(rl.scenes.packing(150), stiffness_scale=1e-4)
        made.clear()
        if given:
            dem.engine.keep_step()
        left = 6000  # steps, until 60 ms
        while left:
            left -= dem.engine.advance(left, 1e-5, 0.0, False)
        places.append(dem.state.position)
        lists.append(len(made))
    # contacts from some 30 ms on magnify rounding, 1e-17 m of a place
    np.testing.assert_allclose(places[0], places[1], rtol=0, atol=1e-12)
    assert lists[0] < lists[1] / 2 and len(set(made)) == 1


def test_unstable_steps_are_refused():
    """A dt beyond the critical one is an error that names the limit, at once or when met."""
    scene = rl.scenes.pyramid(3)
    limit = PenaltySimulation(scene).critical_dt
    with pytest.raises(InputError, match=f"at most {limit:.4g}"):
        PenaltySimulation(scene, dt=1.01 * limit)
    far = two_balls()
    far.add(rl.Sphere(0.1), position=(0.5, 0, 0), mass=1.0, material=rl.Material(young=1e9))
    # meets the hard ball later: that contact is twice as stiff
    slow = PenaltySimulation(far, dt=0.8 * PenaltySimulation(far, damping=0).critical_dt, damping=0)
    with pytest.raises(InputError, match="critical step"):
        slow.run(until=1.0)


def test_soft_starts_are_refused():
    """p < 2 has no stable step; other arguments that cannot be."""
    with pytest.raises(InputError, match="p >= 2"):
        PenaltySimulation(two_balls(), law=1.5)
    with pytest.raises(InputError, match="one of them"):
        PenaltySimulation(two_balls(), damping=0.1, restitution=0.1)
    with pytest.raises(InputError, match="engine"):
        PenaltySimulation(rl.scenes.beam(), engine="balls", stiffness_scale=1e6)
    for background in (-1.0, np.nan, np.inf, True, "quenches"):  # the first speeds bodies up
        with pytest.raises(InputError, match=r"background is .*a rate"):
            PenaltySimulation(rl.scenes.beam(), background=background)


def test_progress_and_stop():
    """A callback sees growing time and fraction and stops the run, which says so."""
    seen = []
    scene = rl.scenes.pyramid(3)
    dem = PenaltySimulation(scene, stiffness_scale=1e-4)
    result = dem.run(callback=lambda progress: seen.append(progress) or len(seen) == 3)
    assert not result.converged and "max_iterations" in result.message
    assert [p.steps for p in seen] == sorted(p.steps for p in seen)
    done = PenaltySimulation(scene, stiffness_scale=1e-4).run(until=2e-3, callback=seen.append)
    assert done.converged and seen[-1].fraction == pytest.approx(1) and "to go" in seen[-1].text


def test_progress_bar(capsys):
    """The bar goes to stderr and names scene and state; a callback still stops the run."""
    scene = rl.scenes.pyramid(3)
    dem = PenaltySimulation(scene, stiffness_scale=1e-4)
    seen = []
    dem.run(progress=True, callback=lambda progress: seen.append(progress) or len(seen) == 5)
    shown = capsys.readouterr()
    assert len(seen) == 5 and not shown.out
    assert "pyramid" in shown.err and "unbalanced force" in shown.err


def test_too_soft_contacts_are_an_error():
    """A beam of 10 N on supports of 1 N/m would sink through them; it says so and stops."""
    scene = rl.scenes.beam()
    for support in ("left", "middle", "right"):
        scene.set_pair_stiffness(support, "beam", 1.0)
    with pytest.raises(InputError, match="too soft for these loads"):
        PenaltySimulation(scene).run()
