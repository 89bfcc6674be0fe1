"""Steps of rough bodies by increments (``rigidlimit.increments``)."""

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.bodies.mass import mass_matrix
from rigidlimit.compatibility.friction import contact_tangential_stiffness
from rigidlimit.increments import IncrementSettings
from rigidlimit.increments.problem import remembered_lengths
from rigidlimit.increments.solve import _Search as Search
from rigidlimit.increments.solve import solve
from rigidlimit.step import increment

RADIUS = 0.01


@pytest.fixture
def solved(monkeypatch):
    """What ``solve`` was called with, step by step."""
    calls = []

    def watched(*data):
        calls.append(data)
        return solve(*data)

    monkeypatch.setattr(increment, "solve", watched)
    return calls


def heap(friction: float, order: np.ndarray, base: int = 4) -> tuple[rl.Scene, np.ndarray]:
    """A pyramid of balls on a rough floor, added in this order, and their places."""
    scene, rough = rl.Scene(dt=1e-3), rl.Material(friction=friction)
    scene.add(rl.HalfSpace(), position=(0, 0, 0), material=rough)
    places = np.array(
        [
            (2 * i - n + 1, 2 * j - n + 1, 1 + (base - n) * np.sqrt(2))
            for n in range(base, 0, -1)
            for i in range(n)
            for j in range(n)
        ]
    )
    for k in order:
        scene.add(rl.Sphere(RADIUS), position=RADIUS * places[k], material=rough, name=f"ball {k}")
    return scene, RADIUS * places


@pytest.mark.parametrize("friction", [0.3, 1.0, 1.2])
def test_heaps_move_alike_in_every_order_of_the_bodies(friction):
    """Property: the numbers of bodies and contacts decide nothing. (At 1.2 the heap stood or slid
    by them, both converged.)"""
    ends = []
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(30) if seed else np.arange(30)
        scene, places = heap(friction, order)
        simulation = rl.Simulation(scene)
        for _ in range(15):
            result = simulation.step()
            assert result.converged, result.message
        end = np.empty((30, 3))
        end[order] = simulation.state.position[1:]
        ends.append(end)
    # a heap that stands is solved to 1e-10 in the stiff limit; steps of one that slides may end at
    # other stiffnesses, whose springs give way by 1e-5 of a radius
    close = 1e-8 if friction >= 1.0 else 1e-6
    np.testing.assert_allclose(ends[1:], [ends[0]] * 2, rtol=0.0, atol=close * RADIUS)
    moved = np.abs(ends[0] - places).max()
    assert moved < 1e-4 * RADIUS if friction >= 1.0 else moved > 1e-2 * RADIUS


def test_forces_are_those_of_step_two():
    """Reference twin: a heap that stands is pushed and let go by increments; ``compatible_forces``
    under the same loads, from what contacts remembered, is another method for each step."""
    scene, _ = heap(1.0, np.arange(14), base=3)
    simulation, history = rl.Simulation(scene), None
    for push in (0.0, 0.02, -0.01):  # of a weight of 0.1 N
        simulation.set_load("ball 13", (push, 0.3 * push, 0))
        result = simulation.step()
        assert result.converged and result.classic.stiffness == 1e12
        closed = result.closed
        twin = rl.compatible_forces(
            result.B[closed],
            result.load,
            stiffness=result.stiffness[closed],
            fixed=~result.bodies.free.ravel(),
            tangential=result.T[np.flatnonzero(np.repeat(closed, 2))],
            tangential_stiffness=contact_tangential_stiffness(
                result.bodies, result.contacts, result.stiffness, 2.0, None
            ),
            friction=1.0,
            history=history,
        )
        history = result.compatible.history
        assert twin.converged and closed.all()
        size = result.force.max()
        # both are solved to 1e-10, and 1/s = 1e-12
        np.testing.assert_allclose(result.force, twin.force, rtol=0.0, atol=1e-9 * size)
        np.testing.assert_allclose(
            result.tangential_force, twin.tangential_force, rtol=0.0, atol=1e-9 * size
        )


def test_sweeps_and_newton_solve_one_increment(solved):
    """Cross-solver: an increment of falling and touching balls, by Newton's method and by sweeps
    alone, has one motion and one set of forces at the same stiffness."""
    simulation = rl.Simulation(rl.scenes.rough_packing(50))
    for _ in range(14):
        simulation.step()
    simulation.step()
    data, _, tolerance, _ = solved[-1]
    found = [
        solve(data, 0.0, tolerance, IncrementSettings(stiffest=1e3, sweeps=20000, **options))
        for options in (dict(), dict(accuracy=1e-9, systems=0))
    ]
    assert "newton" in found[0].routes and found[1].systems == 0
    # sweeps end at a residual of 1e-9, in parts of the fastest contact
    np.testing.assert_allclose(
        found[1].velocity, found[0].velocity, atol=1e-7 * np.abs(data.v_free).max()
    )
    size = found[0].force.max()
    assert size > 0.0
    np.testing.assert_allclose(found[1].force, found[0].force, atol=1e-5 * size)


def test_a_step_rises_from_the_stiffness_of_the_one_before(solved):
    """Property: where the step before came no further than s, a step takes 10 s and its forces,
    without another try for the limit; by s and the limit the forces are the same to 1/s."""
    scene, _ = heap(1.0, np.arange(14), base=3)
    simulation = rl.Simulation(scene)
    simulation.step()
    simulation.set_load("ball 13", (0.02, 0.01, 0))  # of a weight of 0.1 N
    simulation.step()
    data, _, tolerance, settings = solved[-1]
    limit = solve(data, 0.0, tolerance, settings)
    found = solve(data, 1e8, tolerance, settings)
    assert limit.s == 1e12 and found.s == pytest.approx(1e9)
    assert limit.residual <= tolerance and found.residual <= tolerance
    np.testing.assert_allclose(found.force, limit.force, atol=1e-7 * limit.force.max())
    assert solve(data, 2.5e11, tolerance, settings).s == 1e12  # and no stiffer


def test_newton_begins_with_the_contacts_of_the_forces(solved):
    """Property: forces off by 1e-6 leave each contact open, sticking or sliding as it is, so that
    one linear system has the answer. Their velocities, by springs 1e4 times as stiff as inertia,
    do not: Newton's method from them gave up."""
    simulation = rl.Simulation(rl.scenes.rough_packing(100))
    for _ in range(31):
        simulation.step()
    data, _, tolerance, _ = solved[-1]
    settings = IncrementSettings(softest=1e4, stiffest=1e4, sweeps=10000)
    exact = solve(data, 0.0, tolerance, settings)
    assert exact.s == 1e4
    off = 1.0 + 1e-6 * np.random.default_rng(0).normal(size=(len(exact.force), 1))
    search = Search(data, tolerance, settings)
    found = search._newton_from(search.increment.springs_at(1e4), exact.force * off)
    assert found.residual <= tolerance and search.budget.systems == 1
    # both balance the law to 1e-10 of the impact of the fastest contact
    np.testing.assert_allclose(found.force, exact.force, rtol=0.0, atol=1e-9 * exact.force.max())


def test_a_spent_budget_is_said_and_the_run_goes_on():
    """Contract: forces lie in the cones and go with the motion; the step is not converged."""
    few = {"sweeps": 50, "systems": 1, "accuracy": 1e-12}
    simulation = rl.Simulation(rl.scenes.rough_packing(100), solver_options=few)
    said = set()
    for _ in range(25):
        result = simulation.step()
        said.add(str(result.classic.status))
        rubs = np.linalg.norm(result.classic.tangential_force, axis=1)
        assert (rubs <= result.friction * result.classic.force * (1 + 1e-12)).all()
        if not result.converged:
            assert result.classic.residual > 1e-12
            assert "the budget of the step was spent" in result.classic.message
    assert said == {"converged", "approximate"}


@pytest.mark.parametrize(
    "options, word",
    [
        ({"overlaps": 1e-3}, "did you mean 'overlap'"),
        ({"overlap": 0.0}, "overlap is 0.0; expected a positive number"),
        ({"sweeps": "many"}, "sweeps is 'many'"),
        ({"softest": 1e9, "stiffest": 1e3}, "softest is 1e\\+09, above stiffest"),
    ],
)
def test_bad_options_are_one_clear_error(options, word):
    with pytest.raises(rl.errors.InputError, match=word):
        rl.Simulation("rolling-ball", solver_options=options)


def test_energy_is_made_by_nothing_but_what_is_said():
    """Property: kinetic energy, that of gravity and of the springs together grow in no step of a
    pour by more than ``energy_made``; rounding is 1e-12 of what has been lost."""
    simulation = rl.Simulation(rl.scenes.rough_packing(40))
    free = simulation.bodies.free.ravel()
    weight = simulation.bodies.mass[:, None] * np.asarray(simulation.gravity)
    weight[~simulation.bodies.free.any(axis=1)] = 0.0

    def energy() -> float:
        v = np.where(free, simulation.state.velocity.ravel(), 0.0)
        M = mass_matrix(simulation.bodies, simulation.state)
        height = np.where(weight == 0.0, 0.0, simulation.state.position)
        return 0.5 * v @ (M @ v) - (weight * height).sum()

    first = before = energy()
    for _ in range(100):
        result = simulation.step()
        now = energy() + result.classic.elastic_energy
        assert now <= before + result.classic.energy_made + 1e-12 * (first - now)
        before = now
    assert first - now > 1e-5  # J: a fall of some centimetres


def test_a_packing_comes_to_rest_and_stays():
    """Property: no creep: bodies at rest have no velocity but rounding, contacts keep their forces;
    the stiff limit is reached, where motion and compatible forces are one."""
    simulation = rl.Simulation(rl.scenes.rough_packing(12, seed=4))
    simulation.run(until=0.8)  # of other seeds a ball still spins by then
    before = simulation.state.position.copy()
    for _ in range(100):
        result = simulation.step()
        assert result.converged and result.classic.stiffness == 1e12
    radius = simulation.bodies.bounding_radius[-1]
    still = np.abs(simulation.state.position - before).max(axis=1)
    # balls may roll for ever; most are at rest to rounding
    assert np.median(still) < 1e-9 * radius
    assert result.contacts.gap.min() > -1e-2 * radius


@pytest.mark.parametrize("exponent", [2.0, 2.5])
def test_openings_beyond_what_springs_give_way_by_stay_as_long(exponent):
    """Closed form: a ball that has rolled a micrometre off another one at the stiff limit is that
    far off at soft springs too (their opening under the same force was cut down to ``overlap``)."""
    normal, k, stiff, soft = np.array([2.0, -3.0, -1e6]), np.full(3, 0.5), 1e12, 1e3

    def length(force, scale):
        return (force / (scale * 0.5)) ** (1 / (exponent - 1))

    springs, apart = remembered_lengths(normal, k, exponent, soft, stiff, 10.0)
    # rounding of powers
    np.testing.assert_allclose(springs, length(np.array([2.0, 3.0, 10.0]), soft), rtol=1e-14)
    np.testing.assert_allclose(apart, [0, 0, length(1e6, stiff) - length(10.0, stiff)], rtol=1e-14)
    for before in (soft, 0.0):  # the same springs, or unknown ones
        same = sum(remembered_lengths(normal, k, exponent, soft, before, 10.0))
        np.testing.assert_allclose(same, length(np.abs(normal), soft), rtol=1e-14)


def swept() -> rl.Simulation:
    """A disk that a turning bar sweeps outwards, in steps of 2 ms."""
    scene, R, rate = rl.Scene(dim=2, gravity=(0.0, 0.0)), 0.05, 5.0
    material = rl.Material(friction=0.3)
    bar = rl.rectangle(4.0, 0.02)
    scene.add(bar, position=(0, 0), fixed=True, angular_velocity=rate, material=material)
    start = dict(position=(0.3, 0.01 + R), velocity=(-rate * (0.01 + R), 0.3 * rate))
    scene.add(rl.Disk(R), **start, mass=1.0, material=material)
    return rl.Simulation(scene, dt=2e-3)


def test_bodies_that_move_do_not_sink_in():
    """Property: a step turns the bar's face by W dt and leaves an overlap of (W dt)^2 r/2, 1e-3 R;
    three times that stays where 0.3 is undone a step, beyond 2e-3 R. Where nothing was undone in
    the stiff limit, 0.1 R."""
    simulation, deepest = swept(), 0.0
    for _ in range(200):
        result = simulation.step()
        deepest = max(deepest, -result.contacts.gap.min(initial=0.0))
    assert result.converged and deepest < 0.01 * 0.05


def test_the_stiffest_springs_hold_from_a_checkpoint_on():
    """Property: ``stiffest`` holds whatever the step before reached."""
    simulation = swept()
    simulation.run(until=0.2)
    other = rl.Simulation(simulation.scene, dt=2e-3, solver_options={"stiffest": 1e5})
    other.restore(simulation.checkpoint())
    assert other.step().classic.stiffness == 1e5


def test_energy_of_rough_rebounds_is_named():
    """Property: a rough bar that hits a floor at an angle and rebounds with e_n = 1 gains kinetic
    energy by Newton's law of restitution (Kane), as none does with e_n = 0. No loads and no
    springs take part, so that the gain is what the step names, to rounding of energies of 1 J."""
    gains = []
    for e in (0.0, 1.0):
        scene, rough = rl.Scene(dim=2, gravity=(0, 0), restitution=e), rl.Material(friction=0.5)
        scene.add(rl.HalfSpace(2), position=(0, 0), material=rough)
        height = 0.5 * np.sin(0.9) + 0.01 * np.cos(0.9) + 1e-9
        way = dict(orientation=0.9, velocity=(1.0, -1.0), mass=1.0)
        scene.add(rl.rectangle(1.0, 0.02), position=(0, height), material=rough, **way)
        simulation = rl.Simulation(scene, dt=1e-4)
        before = _kinetic(simulation)
        made = simulation.step().classic.energy_made
        gains.append(_kinetic(simulation) - before)
        assert made == pytest.approx(max(gains[-1], 0.0), abs=1e-9)
    assert gains[0] < 0.0 < 0.05 < gains[1]


def _kinetic(simulation):
    bodies, velocity = simulation.bodies, simulation.state.velocity[1]
    spin = bodies.inertia[1][2, 2] * velocity[5] ** 2
    return 0.5 * (bodies.mass[1] * (velocity[:2] ** 2).sum() + spin)
