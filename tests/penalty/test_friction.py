"""The DEM with friction: closed forms, its two engines, springs that turn with their contact."""

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.errors import InputError
from rigidlimit.penalty import PenaltySimulation
from rigidlimit.penalty.friction import rub

ENGINES = ["balls", "convex"]


def on_incline(shape, slope, friction, *, speed=0.0):
    """A body on a level plane under inclined gravity."""
    dim = shape.dim
    down = 9.81 * np.array([np.sin(slope), 0.0, -np.cos(slope)])[[0, 1, 2] if dim == 3 else [0, 2]]
    scene = rl.Scene(dim=dim, gravity=down)
    rough = rl.Material(young=1e7, friction=friction)
    up = (0.0,) * (dim - 1)
    scene.add(rl.HalfSpace(dim), position=(0.0,) * dim, material=rough)
    scene.add(
        shape, position=(*up, 0.1), velocity=(speed, *up[1:], 0.0), mass=1.0, material=rough,
        name="body",
    )  # fmt: skip
    return scene


def groove(angle, friction, ratio, *, law="hooke"):
    """A ball between two planes whose normals make ``angle`` with the vertical."""
    scene = rl.Scene(gravity=(0, 0, -10), law=law)
    young = 1e7 if law == "hertz" else 1e6
    rough = rl.Material(young=young, friction=friction, tangential_stiffness=ratio)
    for side in (-1, 1):
        normal = (side * np.sin(angle), 0, np.cos(angle))
        scene.add(rl.HalfSpace(), position=(0, 0, 0), normal=normal, material=rough)
    scene.add(rl.Sphere(0.1), position=(0, 0, 0.1 / np.cos(angle)), mass=0.1, material=rough)
    return scene


def loaded_slowly(scene, *, over, **options):
    """At rest after weights have grown from zero."""
    weights = scene.external_force()
    dem = PenaltySimulation(scene, external_force=0.0 * weights, **options)
    dem.load(weights, over=over)
    return dem.run(until=1.1 * over)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("slope", "friction"), [(0.3, 0.5), (0.3, 0.05), (0.3, 0.09)])
def test_ball_down_an_incline(engine, slope, friction):
    """Closed form: rolls with 5/7 g sin while mu >= 2/7 tan, else slides with g (sin - mu cos)."""
    scene = on_incline(rl.Sphere(0.1), slope, friction)
    result = PenaltySimulation(scene, engine=engine).run(until=0.1)
    rolls = friction >= 2 / 7 * np.tan(slope)
    speed = 5 / 7 * np.sin(slope) if rolls else np.sin(slope) - friction * np.cos(slope)
    # until the spring bears the ball has slid for a few periods of it: 2e-4 of the time
    assert result.state.velocity[1, 0] == pytest.approx(0.981 * speed, rel=2e-4)
    force = 2 / 7 * np.sin(slope) if rolls else friction * np.cos(slope)
    # t1 = x on a level plane, and the plane holds back the ball, its second body
    np.testing.assert_allclose(result.tangential_force, [[-9.81 * force, 0.0]], rtol=1e-4)
    np.testing.assert_allclose(result.force_vectors[0, 2], 9.81 * np.cos(slope), rtol=1e-6)


@pytest.mark.parametrize("engine", ENGINES)
def test_sliding_ball_starts_to_roll(engine):
    """Closed form: mu g until it rolls, at 5/7 of its speed, after 2 v/(7 mu g) = 0.097 s; friction
    ends there, and energy does not come back."""
    scene = on_incline(rl.Sphere(0.1), 0.0, 0.3, speed=1.0)
    simulation = PenaltySimulation(scene, engine=engine)
    slides = simulation.run(until=0.08)
    # the weight rests on the floor to 1e-6 from the start
    assert slides.state.velocity[1, 0] == pytest.approx(1 - 0.08 * 0.3 * 9.81, abs=1e-6)
    assert np.abs(slides.tangential).max() == pytest.approx(0.3 * 9.81, rel=1e-5)
    result = simulation.run(until=0.2)
    velocity = result.state.velocity[1]
    # overlap over radius: the arm is shorter by half of it
    assert velocity[0] == pytest.approx(5 / 7, rel=5e-5)
    assert velocity[4] == pytest.approx(velocity[0] / 0.1, rel=5e-5)
    assert np.abs(result.tangential).max() < 1e-6
    assert result.kinetic_energy <= 0.5 * 5 / 7
    turn = result.state.quaternion[1]
    assert np.linalg.norm(turn) == pytest.approx(1, abs=1e-12) and turn[2] > 0.1


@pytest.mark.parametrize(
    "shape", [rl.Box((0.4, 0.3, 0.2)), rl.rectangle(0.4, 0.2)], ids=["3D", "2D"]
)
def test_block_on_an_incline(shape):
    """Closed form: sticks where tan <= mu, else g (sin - mu cos)."""
    held = PenaltySimulation(on_incline(shape, 0.3, 0.32)).run()
    assert held.at_rest
    weight = (
        9.81
        * np.array([-np.sin(0.3), 0.0, np.cos(0.3)])[[0, 1, 2] if shape.dim == 3 else [0, 2, 1]]
    )
    # its tolerance
    np.testing.assert_allclose(held.force_vectors.sum(axis=0), weight, atol=1e-6)
    sliding = PenaltySimulation(on_incline(shape, 0.3, 0.2)).run(until=0.1)
    speed = 0.981 * (np.sin(0.3) - 0.2 * np.cos(0.3))
    assert sliding.state.velocity[1, 0] == pytest.approx(speed, rel=1e-3)


@pytest.mark.parametrize("law", ["hooke", "hertz"])
@pytest.mark.parametrize("named", ["mindlin", "mindlin/force"])
@pytest.mark.parametrize(("angle", "friction"), [(1.0, 0.3), (0.8, 0.9)])
def test_groove(law, named, angle, friction):
    """Closed form of a ball in a groove, sliding and sticking: f_t/f_n = k_t c^(p-2) xi/(k c^(p-1))
    is (p-1) times the ratio of stiffnesses, and the ratio itself where forces are added up."""
    scene = groove(angle, friction, 0.5, law=law)
    # overlaps of 1e-5 of a radius; damping, which enters the cap, as the ramp is slow
    check_groove(loaded_slowly(scene, over=10.0, tangential_law=named), scene, named, 1e-3)


@pytest.mark.parametrize(("law", "named"), [("hooke", "mindlin"), ("hertz", "mindlin/force")])
def test_groove_by_the_contact_search(law, named):
    """The same by the other engine, whose ramp is shorter."""
    scene = groove(0.8, 0.9, 0.5, law=law)
    result = loaded_slowly(scene, over=0.4, engine="convex", tangential_law=named)
    check_groove(result, scene, named, 3e-3)


def check_groove(result, scene, named, rtol):
    normal, material = result.contacts.normal[0], scene.bodies.materials[0]
    ratio = material.tangential_stiffness * (scene.exponent - 1 if named == "mindlin" else 1)
    cos, sin = abs(normal[2]), abs(normal[0])
    mobilised = min(ratio * sin / cos, material.friction)
    force = 0.5 / (cos + mobilised * sin)
    np.testing.assert_allclose(result.force, force, rtol=rtol)
    rubbing = np.linalg.norm(result.tangential, axis=1)
    np.testing.assert_allclose(rubbing, mobilised * force, rtol=3 * rtol)


@pytest.mark.parametrize("engine", ENGINES)
def test_plate_on_a_roller(engine):
    """Closed form: a plate pulled over a ball goes twice as fast as the ball that rolls under it:
    F = (M + 7/20 m) a."""
    scene = rl.Scene()
    rough = rl.Material(young=1e6, friction=0.8)
    scene.add(rl.HalfSpace(), position=(0, 0, 0), material=rough)
    scene.add(rl.Sphere(0.1), position=(0, 0, 0.1), mass=2.0, material=rough)
    scene.add(
        rl.Box((1, 1, 0.1)), position=(0, 0, 0.25), mass=3.0, material=rough,
        load=(5, 0, 0), fixed=["rx", "ry", "rz"],
    )  # fmt: skip
    result = PenaltySimulation(scene, engine=engine).run(until=0.1)
    speed = 0.5 / (3.0 + 0.7)
    # contacts settle for a hundredth of the time, and bear at first less than friction needs
    velocity = result.state.velocity
    np.testing.assert_allclose(velocity[1:, 0], [speed / 2, speed], rtol=1e-3)
    assert velocity[1, 4] == pytest.approx(velocity[1, 0] / 0.1, rel=1e-3)
    # the floor pushes the ball with m a/2 less what the plate does, which is held back by F - M a
    acceleration = 5 / 3.7
    known = [0.3 * acceleration, -0.7 * acceleration]
    np.testing.assert_allclose(result.tangential[:, 0], known, rtol=2e-2)


def tumbling(count=20, seed=3):
    """Rough unequal balls flying into one another, without gravity."""
    rng = np.random.default_rng(seed)
    scene = rl.Scene(gravity=(0, 0, 0))
    for k in range(count):
        at = 0.021 * (np.array([k % 4, k // 4 % 4, k // 16]) + rng.uniform(-0.1, 0.1, 3))
        scene.add(
            rl.Sphere(rng.uniform(0.006, 0.01)),
            position=at,
            velocity=-100 * (at - 0.03) + 0.1 * rng.normal(size=3),
            angular_velocity=30 * rng.normal(size=3),
            material=rl.Material(young=1e6 * (1 + 4 * (k % 2)), friction=0.4),
        )
    return scene


@pytest.mark.parametrize("law", ["hooke", "hertz"])
def test_two_engines_momentum_and_energy(law):
    """Reference twin: compiled balls against the contact search; property: momentum and angular
    momentum are kept, energy does not grow."""
    scene = tumbling()
    bodies, start = scene.bodies, scene.state
    mass, inertia = bodies.mass[:, None], bodies.inertia[:, 0, :1]

    def momenta(state):
        p, L = mass * state.velocity[:, :3], inertia * state.velocity[:, 3:]
        return np.r_[p.sum(axis=0), (np.cross(state.position, p) + L).sum(axis=0)]

    results = [
        PenaltySimulation(scene, law=law, restitution=0.7, dt=1e-5, engine=engine).run(until=3e-3)
        for engine in ENGINES
    ]
    energy = 0.5 * (mass * start.velocity[:, :3] ** 2 + inertia * start.velocity[:, 3:] ** 2).sum()
    before = momenta(start)
    for result in results:
        assert np.abs(momenta(result.state) - before)[:3].max() < 1e-12 * np.abs(before).max()
        assert result.kinetic_energy + result.elastic_energy < energy
    # arms of the compiled engine move with its balls
    assert np.abs(momenta(results[0].state) - before)[3:].max() < 1e-12 * np.abs(before).max()
    assert np.abs(results[0].tangential).max() > 0.1 * results[0].force.max()
    np.testing.assert_allclose(
        results[0].state.position, results[1].state.position, atol=4e-3 * 0.021
    )


def test_springs_turn_with_their_contact():
    """Analytic: two balls pressed and sheared, then turned as one about any axis: the spring turns
    with them, by its own mean spin about the normal as well."""
    spring = np.array([[3.0, 1.0, 0.0]]) * 1e-6
    normal, axis = np.array([0.0, 0.0, 1.0]), np.array([0.3, -0.5, 0.8])
    steps, first = 20_000, spring[0].copy()

    def turned(vector, angle):
        along = axis * (axis @ vector)
        return along + np.cos(angle) * (vector - along) + np.sin(angle) * np.cross(axis, vector)

    axis /= np.linalg.norm(axis)
    for k in range(steps):
        now = turned(normal, (k + 1) / steps)
        out = rub(
            spring, 0, tuple(now), (0.0, 0.0, 0.0), axis @ now, 1.0, (1.0, 0.0, False), 1 / steps
        )
    # first order in the angle of a step
    np.testing.assert_allclose(spring[0], turned(first, 1.0), atol=1e-4 * 3e-6)
    np.testing.assert_allclose(out, -spring[0])


def test_without_friction_nothing_rubs():
    """Property: mu = 0 between all bodies is the smooth DEM itself, digit for digit."""
    scene = rl.scenes.pyramid(3, drop=0)
    plain = PenaltySimulation(scene, stiffness_scale=1e-3).run(until=0.01)
    assert not plain.tangential.any() and plain.tangential_force.shape == (len(plain.force), 2)
    assert type(PenaltySimulation(scene).engine).__name__ == "BallEngine"


@pytest.mark.parametrize(
    ("options", "fragment"),
    [
        (
            {"tangential_law": "coulomb"},
            "tangential_law is 'coulomb'; expected mindlin or mindlin.force",
        ),
        ({"tangential_damping": -1}, "tangential_damping is -1; expected a factor >= 0"),
    ],
)
def test_faults(options, fragment):
    with pytest.raises(InputError, match=fragment):
        PenaltySimulation(on_incline(rl.Sphere(0.1), 0.1, 0.5), **options)
