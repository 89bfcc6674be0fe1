"""Friction against closed forms: grooves, inclines, rolling. Evidence: analytic."""

import numpy as np
import pytest

import rigidlimit
from rigidlimit.bodies import Box, HalfSpace, Material, Sphere

G = 9.81


def groove(angle, weight=3.0, radius=1.0):
    """(B, T, load) of a disk between two walls whose normals make ``angle`` with the vertical."""
    B, T = [], []
    for side in (1.0, -1.0):
        n = np.array([side * np.sin(angle), np.cos(angle)])
        t, arm = np.array([n[1], -n[0]]), -radius * n
        B.append([*n, arm[0] * n[1] - arm[1] * n[0]])
        T.append([*t, arm[0] * t[1] - arm[1] * t[0]])
    return np.array(B), np.array(T), [0.0, weight, 0.0]


@pytest.mark.parametrize("angle", [0.3, 0.7, 1.1])
@pytest.mark.parametrize("mu", [0.05, 0.4, 2.0])
@pytest.mark.parametrize("ratio", [2 / 7, 0.8, 1.0])
def test_groove(angle, mu, ratio):
    B, T, load = groove(angle)
    found = rigidlimit.compatible_forces(
        B, load, tangential=T, tangential_stiffness=ratio, friction=mu
    )
    mobilised = min(ratio * np.tan(angle), mu)
    normal = 3.0 / (2 * (np.cos(angle) + mobilised * np.sin(angle)))
    assert found.converged and found.state == "unloaded"
    # the balance is solved to 1e-10 of the load
    np.testing.assert_allclose(found.force, normal, rtol=1e-9)
    np.testing.assert_allclose(np.abs(found.tangential_force[:, 0]), mobilised * normal, rtol=1e-9)
    assert (found.sliding == (ratio * np.tan(angle) > mu)).all()


def on_an_incline(shape, mu, angle, steps=20, dt=1e-3):
    """Mean acceleration down the slope of a body that starts at rest, and the last step."""
    scene = rigidlimit.Scene(gravity=(G * np.sin(angle), 0, -G * np.cos(angle)))
    rough = Material(friction=mu)
    scene.add(HalfSpace(), position=(0, 0, 0), material=rough)
    scene.add(shape, position=(0, 0, 0.1), mass=2.0, material=rough)
    simulation = rigidlimit.Simulation(scene, dt=dt)
    for _ in range(steps):
        last = simulation.step()
        assert last.converged, last.message
    return simulation.state.velocity[1][0] / (steps * dt), last


@pytest.mark.parametrize("mu", [0.0, 0.05, 0.12, 0.13, 0.5])
def test_ball_on_an_incline_rolls_or_slides(mu):
    angle = 0.4
    rolls = mu >= 2 / 7 * np.tan(angle)
    expected = 5 / 7 * G * np.sin(angle) if rolls else G * (np.sin(angle) - mu * np.cos(angle))
    acceleration, last = on_an_incline(Sphere(0.1), mu, angle)
    assert acceleration == pytest.approx(expected, rel=1e-8)  # velocities are solved to 1e-10
    if mu > 0:
        assert last.sliding.all() == (not rolls)


@pytest.mark.parametrize("mu", [0.2, 0.5])
def test_block_on_an_incline_sticks_or_slides(mu):
    angle = 0.4
    acceleration, last = on_an_incline(Box((0.4, 0.4, 0.2)), mu, angle)
    expected = max(0.0, G * (np.sin(angle) - mu * np.cos(angle)))
    assert acceleration == pytest.approx(expected, abs=1e-8)
    total = last.force_vectors.sum(axis=0)
    push = 2.0 * (np.array([expected, 0, 0]) - np.array([G * np.sin(angle), 0, -G * np.cos(angle)]))
    np.testing.assert_allclose(total, push, atol=1e-7)  # over a weight of 20 N: 1e-8
    bound = mu * last.force
    assert (np.linalg.norm(last.tangential_force, axis=1) <= bound * (1 + 1e-9)).all()


def test_sliding_ball_rolls_at_five_sevenths_of_its_speed():
    scene = rigidlimit.Scene(gravity=(0, 0, -G))
    rough = Material(friction=0.3)
    scene.add(HalfSpace(), position=(0, 0, 0), material=rough)
    scene.add(Sphere(0.1), position=(0, 0, 0.1), velocity=(1, 0, 0), mass=2.0, material=rough)
    simulation = rigidlimit.Simulation(scene, dt=1e-3, compatible="never")
    for _ in range(150):  # it slides for 2/7 of its speed over mu g: 97 steps
        simulation.step()
    assert simulation.state.velocity[1][0] == pytest.approx(5 / 7, rel=1e-8)


def test_a_checkpoint_keeps_what_contacts_remember():
    scene = rigidlimit.Scene(gravity=(0, 0, -G))
    rough = Material(friction=0.5)
    scene.add(HalfSpace(), position=(0, 0, 0), material=rough)
    scene.add(Box((0.4, 0.4, 0.2)), position=(0, 0, 0.1), mass=2.0, material=rough, name="block")

    def pushed():
        simulation = rigidlimit.Simulation(scene, dt=1e-3)
        simulation.step()
        simulation.set_load("block", (6.0, 1.0, 0))
        simulation.step()
        simulation.set_load("block", (0, 0, 0))
        return simulation

    one, other = pushed(), rigidlimit.Simulation(scene, dt=1e-3)
    other.restore(one.checkpoint())
    np.testing.assert_array_equal(one.step().force_vectors, other.step().force_vectors)


def test_a_push_that_is_taken_back_leaves_its_trace():
    """A side that slips under the push keeps its slip: forces at the end are not those before."""
    B, T, load = groove(0.6)
    keys = dict(tangential=T, tangential_stiffness=0.5, friction=0.3)
    rest = rigidlimit.compatible_forces(B, load, **keys)
    pushed = rigidlimit.compatible_forces(B, [0.8, 3.0, 0.0], history=rest.history, **keys)
    assert pushed.sliding.any() and pushed.state == "history"
    back = rigidlimit.compatible_forces(B, load, history=pushed.history, **keys)
    assert back.converged
    assert np.abs(back.force - rest.force).max() > 1e-3
    again = rigidlimit.compatible_forces(B, load, history=back.history, **keys)
    np.testing.assert_allclose(again.force, back.force, rtol=1e-9)  # solved to 1e-10


def test_a_load_that_no_friction_carries_shows_its_mechanism():
    B, T, _ = groove(0.6)
    found = rigidlimit.compatible_forces(
        B, [0, -1.0, 0], tangential=T, tangential_stiffness=0.5, friction=0.3
    )
    assert found.status is rigidlimit.Status.LOAD_NOT_CARRIED
    assert found.mechanism[1] > 0.5  # it rises


@pytest.mark.parametrize(
    "change, word",
    [
        (dict(friction=-0.1), "mu >= 0"),
        (dict(friction=np.nan), "finite"),
        (dict(tangential=np.zeros((3, 3))), "one a contact in the plane"),
        (dict(tangential_stiffness=0.0), "positive"),
        (dict(tangential=None), "tangential"),
        (dict(history="before"), "history"),
        (dict(increments=0), "increments"),
        (dict(increments="two"), "increments"),
        (dict(tangential=np.repeat(np.eye(2, 3), 2, axis=0)), "in the plane"),
        (dict(warm_start=[0.0]), "warm_start"),
        (dict(warm_start=np.full(3, np.nan)), "warm_start"),
        (dict(tolerance=-1.0), "tolerance"),
        (dict(tangential=None, friction=0.0, tangential_stiffness=0.5), "tangential_stiffness"),
        (dict(tangential=None, friction=0.0, increments=2), "increments"),
    ],
)
def test_bad_input_is_one_clear_error(change, word):
    B, T, load = groove(0.6)
    keys = dict(tangential=T, friction=0.3) | change
    with pytest.raises(rigidlimit.errors.InputError, match=word):
        rigidlimit.compatible_forces(B, load, **keys)


@pytest.mark.parametrize(
    "change, word",
    [
        (dict(warm_start=np.ones((3, 2))), "warm_start"),
        (dict(warm_start=np.full((2, 2), np.nan)), "warm_start"),
        (dict(exists=[True]), "exists"),
    ],
)
def test_bad_starts_of_step_one(change, word):
    B, T, load = groove(0.6)
    keys = dict(tangential=T, friction=0.3)
    step = np.ones(3), B, np.zeros(2), np.zeros(3), -np.asarray(load), 1e-2
    with pytest.raises(rigidlimit.errors.InputError, match=word):
        rigidlimit.contact_dynamics(*step, **keys | change)
    # normal forces alone are a start too; both are solved to 1e-10
    cold, warm = (
        rigidlimit.contact_dynamics(*step, **keys, warm_start=start) for start in (None, [1, 1])
    )
    assert warm.converged
    np.testing.assert_allclose(warm.velocity, cold.velocity, atol=1e-9)


@pytest.mark.parametrize("name", ["ladder", "arch"])
def test_settle_keeps_what_friction_holds(name):
    rest = rigidlimit.settle(name)
    assert rest.alone and rest.unbalanced < 1e-8  # both steps are solved to 1e-10
    assert rest.farthest == ""


def test_a_captured_step_with_friction_has_the_same_velocities(tmp_path):
    """Round trip: a sliding ball's step, written and solved as a captured problem."""
    from rigidlimit.adapters import read_captured
    from rigidlimit.adapters.formats.capture import capture_step
    from rigidlimit.adapters.formats.fclib import write_fclib

    scene = rigidlimit.scenes.load("rolling-ball")
    simulation = rigidlimit.Simulation(scene, compatible="never")
    before = simulation.state
    result = simulation.step()
    problem = capture_step(simulation.bodies, before, simulation.external_force, result)
    write_fclib(problem, tmp_path / "ball.hdf5")
    found = read_captured(tmp_path / "ball.hdf5").solve(tolerance=1e-12)
    force = np.column_stack([result.force, result.tangential_force]) * simulation.dt
    # the step is solved to 1e-10, the captured problem to more
    np.testing.assert_allclose(found.reaction, force, atol=1e-8 * np.abs(force).max())


def test_sliding_that_jams():
    """Contacts that slide along given directions push a guide by (1 + mu e t) f_n, while all are
    pressed alike: with negative stiffness in sum springs cannot carry what admissible forces can.
    The least energy has f_i = c a_i / (1/k_i + mu^2/k_t,i) where a_i > 0."""
    k, k_t, mu = np.array([1.0, 3.0, 2.0]), np.array([0.5, 1.0, 1.0]), 0.5
    t = np.array([[1.0], [-6.0], [-1.0]])
    a = 1.0 + mu * t[:, 0]
    assert a @ k < 0.0 < a.max()
    answer = rigidlimit.compatible_forces(
        np.ones((3, 1)), [1.0], stiffness=k, tangential=t, tangential_stiffness=k_t, friction=mu,
        sliding_direction=np.ones((3, 1)),
    )  # fmt: skip
    share = np.maximum(a, 0.0) / (1.0 / k + mu**2 / k_t)
    known = share / (share @ a)
    # the tolerance of 1e-10
    np.testing.assert_allclose(answer.force, known, atol=1e-9)
    np.testing.assert_allclose(answer.tangential_force[:, 0], mu * known, atol=1e-9)
    assert answer.state == "least energy" and answer.status.value == "no_equilibrium"
    # against the load the same springs carry, and follow the given directions
    answer = rigidlimit.compatible_forces(
        np.ones((3, 1)), [-1.0], stiffness=k, tangential=t, tangential_stiffness=k_t, friction=mu,
        sliding_direction=np.ones((3, 1)),
    )  # fmt: skip
    np.testing.assert_allclose(answer.force, k / -(a @ k), atol=1e-9)
    assert answer.converged and answer.state == "unloaded"


def test_settling_packing_bears_along_its_slip():
    """Property: in steps of impacts, where many contacts slide, forces of step 2 are an equilibrium
    of springs against the slip of step 1, and balance what step 1 asks for."""
    simulation = rigidlimit.Simulation(rigidlimit.scenes.rough_packing(50))
    slid = 0
    for _ in range(15):
        step = simulation.step()
        assert step.converged, step.message
        slides = step.classic.sliding & step.closed
        slid += slides.sum()
        against = (step.tangential_force * step.classic.tangential_velocity)[slides].sum(axis=1)
        speed = np.linalg.norm(step.classic.tangential_velocity[slides], axis=1)
        bound = step.friction[slides] * step.force[slides]
        # directions: the residual of step 1 over a slip of 1e-9 at least, both of the scale; of
        # softer springs what they give way by as well
        rounding = max(1e-6, 1.0 / step.classic.stiffness) if len(bound) else 0.0
        np.testing.assert_allclose(
            against, -bound * speed, atol=rounding * (bound * speed).max(initial=0)
        )
    assert slid > 30 and step.compatible.state == "history"


def test_packing_settles_in_solved_steps():
    """Property: step 1 converges on the way to rest too, where sticking contacts outnumber degrees
    of freedom and cannot close gaps of some 1e-12 m, and bodies do not sink into one another."""
    simulation = rigidlimit.Simulation(rigidlimit.scenes.rough_packing(12), compatible="never")
    for _ in range(100):
        step = simulation.step()
        assert step.converged, step.message
    # gaps that count as none, and the second order of a step's way on a radius: (4e-4 m)^2 / 1 cm
    assert step.contacts.gap.min() > -2e-5


def test_settle_says_whom_it_stopped():
    """Property: a ball that would roll for ever on a level floor is stopped, and named."""
    scene = rigidlimit.scenes.rolling_ball(0, friction=0.5, speed=0.1)
    scene.duration = 0.01
    rest = rigidlimit.settle(scene)
    assert rest.simulation.at_rest and "1 of 1 body moves, 'body' fastest at 0.07" in rest.stopped
    assert rest.stopped in rest.message
    assert rigidlimit.settle(rigidlimit.scenes.groove()).stopped == ""


@pytest.mark.parametrize("mu", [0.5, 1.3, 1.5, 2.0, 5.0])
def test_a_rod_that_slides_away_from_its_lean(mu):
    """Closed form, N (1/m + r_x (r_x + mu r_y) / J) = g: a rod at 60 degrees whose tip slides to
    the side to which it leans. Beyond mu = 1.35 its tangential coupling is larger than its normal
    one, sweeps alternate, and springs that stick would run away; the solution is unique."""
    angle, length, width = np.pi / 3, 1.0, 0.002
    along, across = (
        np.array(x) for x in ((np.cos(angle), np.sin(angle)), (np.sin(angle), -np.cos(angle)))
    )
    tip = -0.5 * length * along + 0.5 * width * across
    scene, rough = rigidlimit.Scene(dim=2), Material(friction=mu)
    scene.add(HalfSpace(2), position=(0, 0), material=rough)
    rod = dict(orientation=angle, velocity=(1.0, 0.0), mass=1.0, material=rough)
    scene.add(rigidlimit.rectangle(length, width), position=tuple(-tip), **rod)
    simulation = rigidlimit.Simulation(scene, dt=1e-3)
    result = simulation.step()
    inertia = (length**2 + width**2) / 12
    expected = 9.81 / (1.0 + tip[0] * (tip[0] + mu * tip[1]) / inertia)
    assert result.converged
    # the tolerance, and springs of 1e12 times the stiffness of inertia
    assert result.force.sum() == pytest.approx(expected, rel=1e-8)
    assert np.abs(result.tangential_force).sum() == pytest.approx(mu * expected, rel=1e-8)
