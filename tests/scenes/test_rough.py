"""Scenes with friction: what they state is true."""

from dataclasses import replace

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.collision.search import find_contacts
from rigidlimit.compatibility.friction import contact_friction, contact_tangential_stiffness
from rigidlimit.compatibility.law import contact_stiffness
from rigidlimit.errors import InputError, SceneError
from rigidlimit.kinematics import framed, gap_gradient, in_world, tangential_gradient
from rigidlimit.penalty import PenaltySimulation
from rigidlimit.scenes.columns import StoredScene
from rigidlimit.scenes.packings import ROUGH_PYRAMID
from rigidlimit.scenes.toml import parse_scene, scene_text

STATICS = [
    rl.scenes.groove(),
    rl.scenes.groove(75, friction=0.3),
    rl.scenes.groove(30, tangential_stiffness=1.0),
    rl.scenes.ladder(),
    rl.scenes.ladder(80, friction=0.3),
]


@pytest.mark.parametrize("scene", STATICS, ids=lambda s: s.name)
def test_stated_forces_balance(scene):
    """Analytic: they carry the weight, within their cones."""
    contacts = framed(find_contacts(scene.bodies, scene.state, 1e-9), scene.dim)
    rows = [
        make(scene.bodies, scene.state, contacts) for make in (gap_gradient, tangential_gradient)
    ]
    f, t = (np.array(scene.reference[key]) for key in ("forces", "tangential forces"))
    loads = np.where(scene.bodies.free.ravel(), scene.external_force(), 0.0)
    # rounding of the weight
    assert np.abs(rows[0].T @ f + rows[1].T @ t + loads).max() < 1e-12 * np.abs(loads).max()
    mu = max(material.friction for material in scene.bodies.materials)
    assert (f > 0).all() and (np.abs(t) <= mu * f + 1e-12).all()


def test_who_stands():
    """Analytic: a ladder slips where tan(angle) is near 1/(2 mu); a thin arch is not known to."""
    assert rl.scenes.ladder(46, friction=0.5).reference["stands"]
    assert not rl.scenes.ladder(43, friction=0.5).reference["stands"]
    assert "forces" not in rl.scenes.ladder(43, friction=0.5).reference
    assert rl.scenes.arch().reference["stands"] and not rl.scenes.arch(thickness=0.1).reference


@pytest.mark.parametrize(
    "scene",
    [
        rl.scenes.incline(25, friction=0.3),
        rl.scenes.rolling_ball(),
        rl.scenes.rolling_ball(40, friction=0.1),
    ],
    ids=lambda s: s.name,
)
def test_accelerations(scene):
    """The DEM, within what its contacts take to settle: they are laid down without overlap."""
    result = PenaltySimulation(scene, stiffness_scale=1e-3).run(until=0.05)
    speed = np.linalg.norm(result.state.velocity[1, :3])
    assert speed == pytest.approx(0.05 * scene.reference["acceleration"], rel=2e-3)


@pytest.mark.parametrize(
    "scene",
    [
        rl.scenes.incline(),
        rl.scenes.incline(25, friction=0.3),
        rl.scenes.rolling_ball(),
        rl.scenes.rolling_ball(40, friction=0.1),
    ],
    ids=lambda s: s.name,
)
def test_accelerations_of_rigid_bodies(scene):
    """Analytic: steps of the simulation, within their tolerance of 1e-10 of the loads."""
    simulation = rl.Simulation(scene)
    for _ in range(3):
        step = simulation.step()
    speed = np.linalg.norm(step.state.velocity[1, :3])
    assert speed / step.time == pytest.approx(scene.reference["acceleration"], abs=1e-9 * 9.81)


@pytest.mark.parametrize("scene", STATICS, ids=lambda s: s.name)
def test_forces_in_a_simulation(scene):
    """Analytic: what the first step gives and what the history keeps."""
    simulation = rl.Simulation(scene)
    weight = np.abs(scene.external_force()).max()
    for _ in range(3):
        step = simulation.step()
        np.testing.assert_allclose(step.force, scene.reference["forces"], atol=1e-8 * weight)
        known = np.reshape(scene.reference["tangential forces"], (-1, 1))
        np.testing.assert_allclose(step.tangential_force, known, atol=1e-8 * weight)


def test_ball_rolls_at_last():
    scene = rl.scenes.rolling_ball(0, friction=0.5, speed=1.0)
    result = PenaltySimulation(scene, stiffness_scale=1e-3).run(until=0.1)
    known = scene.reference["final speed"]
    assert result.state.velocity[1, 0] == pytest.approx(known, rel=1e-4)


def unloaded(scene, turn=0.0, *, state=None, reach=1e-9, load=None, **options):
    """(contacts, compatible forces), from the unloaded state without a history. turn (m,): of the
    tangents. state: else the scene's. reach: of contacts over the scene's length."""
    bodies, state = scene.bodies, scene.state if state is None else state
    load = scene.external_force() if load is None else load
    contacts = framed(find_contacts(bodies, state, reach * bodies.length), scene.dim)
    if scene.dim == 3:
        t1, t2 = np.moveaxis(contacts.tangents, 1, 0)
        c, s = np.cos(turn)[..., None], np.sin(turn)[..., None]
        contacts = replace(contacts, tangents=np.stack([c * t1 + s * t2, c * t2 - s * t1], axis=1))
    k = contact_stiffness(bodies, contacts, scene.exponent)
    return contacts, rl.compatible_forces(
        gap_gradient(bodies, state, contacts),
        -np.where(bodies.free.ravel(), load, 0.0),
        stiffness=k,
        exponent=scene.exponent,
        tangential=tangential_gradient(bodies, state, contacts),
        tangential_stiffness=contact_tangential_stiffness(bodies, contacts, k, scene.exponent),
        friction=contact_friction(bodies, contacts),
        **options,
    )


def vectors(contacts, answer):
    return answer.force[:, None] * contacts.normal + in_world(contacts, answer.tangential_force)


@pytest.mark.parametrize("scene", STATICS, ids=lambda s: s.name)
def test_closed_forms(scene):
    """Analytic: grooves that stick and slide, ladders."""
    _, answer = unloaded(scene)
    weight = np.abs(scene.external_force()).max()
    np.testing.assert_allclose(answer.force, scene.reference["forces"], atol=1e-10 * weight)
    known = np.reshape(scene.reference["tangential forces"], (-1, 1))
    np.testing.assert_allclose(answer.tangential_force, known, atol=1e-10 * weight)


@pytest.mark.parametrize("base_and_friction", [k for k in ROUGH_PYRAMID if k[0] == 5] + [(10, 0.3)])
def test_rough_pyramid(base_and_friction):
    """Reference: six digits of the table, in any frame of the tangents."""
    base, friction = base_and_friction
    scene = rl.scenes.rough_pyramid(base, friction=friction)
    weight = np.abs(scene.external_force()).max()
    contacts, answer = unloaded(scene)
    found = (
        answer.force.max(),
        np.linalg.norm(answer.tangential_force, axis=1).max(),
        answer.force.sum(),
    )
    np.testing.assert_allclose(
        np.array(found) / weight, list(scene.reference.values()), atol=1e-6, rtol=0
    )
    turn = np.random.default_rng(0).uniform(0, 7, len(contacts))
    np.testing.assert_allclose(
        vectors(*unloaded(scene, turn)), vectors(contacts, answer), atol=1e-9 * weight
    )


def test_dem_of_a_rough_pyramid():
    """Peer: the DEM under weights that grow slowly; vectors differ by the overlap."""
    scene = rl.scenes.rough_pyramid(4, friction=0.3)
    weights = scene.external_force()
    contacts, answer = unloaded(scene)
    known, errors = vectors(contacts, answer), []
    for scale in (5e-6, 5e-5):
        dem = PenaltySimulation(
            scene, external_force=0 * weights, restitution=0.3, stiffness_scale=scale
        )
        dem.load(weights, over=0.5)
        result = dem.run(until=0.6)
        at = contacts.places_in(result.contacts)
        mine = np.where(at[:, None] >= 0, result.force_vectors[at], 0.0)
        errors.append(np.abs(mine - known).max() / np.abs(known).max())
    # overlaps of 1e-4 and 1e-5 of a diameter; the ramp is not infinitely slow
    assert errors[0] < 1e-3 and errors[1] < 2e-4 and errors[1] < 0.5 * errors[0], errors
    assert rl.scenes.rough_pyramid(5, young_ratio=2.0).reference == {}


def test_history_of_the_dem():
    """Peer: compatible forces go on from the springs of a DEM at rest as the DEM itself does, first
    order in the increment."""
    scene = rl.scenes.rough_pyramid(4, friction=0.3)
    weights = scene.external_force()
    tilted = weights.reshape(-1, 6).copy()
    tilted[:, 0] = -0.1 * tilted[:, 2]
    dem = PenaltySimulation(
        scene, external_force=0 * weights, restitution=0.3, stiffness_scale=2e-5
    )
    dem.load(weights, over=0.5)
    before = dem.run(until=0.6, closed=1e-3)  # with what opens a little
    dem.load(tilted.ravel(), over=0.5)
    after = dem.run(until=1.2, closed=1e-3)
    contacts, _ = unloaded(scene)
    at = contacts.places_in(before.contacts)
    assert (at >= 0).all()
    history = replace(
        before.history, normal=before.history.normal[at], tangential=before.history.tangential[at]
    )
    errors = []
    for increments in (1, 4, 16):
        _, answer = unloaded(scene, load=tilted.ravel(), history=history, increments=increments)
        assert answer.state == "history" and answer.converged
        now = contacts.places_in(after.contacts)
        mine = np.where(now[:, None] >= 0, after.force_vectors[now], 0.0)
        errors.append(np.abs(mine - vectors(contacts, answer)).max() / np.abs(mine).max())
    # 2.4e-3, 7e-4, 2e-4; in the end the overlaps of the DEM, 5e-5
    assert errors[2] < 5e-4 and errors[2] < 0.5 * errors[1] < 0.25 * errors[0]
    _, straight = unloaded(scene, load=tilted.ravel())
    assert np.abs(mine - vectors(contacts, straight)).max() > 3e-3 * np.abs(mine).max()


def test_random_packing_taken_over_from_the_dem():
    """Peer: forces of a packing that came to rest with friction go on from its springs as gravity
    turns by 0.01, within 1 % of the changes. Balls that roll freely then are left out of the turn.
    """
    scene = rl.scenes.rough_packing(40)
    weights = scene.external_force()
    tilted = weights.reshape(-1, 6).copy()
    tilted[:, 0] = -np.sin(0.01) * tilted[:, 2]
    tilted[:, 2] *= np.cos(0.01)
    for _ in range(2):
        dem = PenaltySimulation(scene, stiffness_scale=3e-5)
        assert dem.run().at_rest
        before = dem.run(until=dem.time + 1e-4, closed=1e-3)
        dem.load(tilted.ravel(), over=0.1)
        after = dem.run(until=dem.time + 0.03, closed=1e-3)
        far = np.linalg.norm(after.state.position - before.state.position, axis=1)
        rolls = far > 1e-6  # others go 3e-8
        tilted[rolls] = weights.reshape(-1, 6)[rolls]
    assert not rolls.any()
    errors = []
    for increments in (1, 16):
        contacts, answer = unloaded(
            scene, state=before.state, reach=1e-3, load=tilted.ravel(),
            history=before.history, increments=increments,
        )  # fmt: skip
        assert np.array_equal(contacts.key, before.contacts.key) and answer.state == "history"
        at = contacts.places_in(after.contacts)
        change = np.where(at[:, None] >= 0, after.force_vectors[at], 0.0) - before.force_vectors
        mine = vectors(contacts, answer) - before.force_vectors
        errors.append(np.abs(mine - change).max() / np.abs(change).max())
    assert errors[1] < 5e-3 and errors[1] < 0.5 * errors[0], errors


def test_arch_is_closed():
    """Analytic: two contacts a joint and a foot, all touching."""
    scene = rl.scenes.arch(9)
    contacts = find_contacts(scene.bodies, scene.state, 1e-9)
    assert len(contacts) == 20
    # rounding of corners at a metre
    assert np.abs(contacts.gap).max() < 1e-15 * 4


def test_poured_scenes_start_apart():
    """Property: nothing touches but fixed balls, and the same seed is the same scene."""
    for make in (rl.scenes.heap, rl.scenes.rough_packing, rl.scenes.periodic_packing):
        scene = make(60)
        assert not len(find_contacts(scene.bodies, scene.state, 0.0))
        np.testing.assert_array_equal(scene.state.position, make(60).state.position)


def test_settings_of_friction_in_files():
    """Property: written and read again, also beside a scene of the gallery; a simulation takes
    them unless it is told others."""
    text = 'gallery = "groove"\ntangential_law = "mindlin/force"\nincrements = 4'
    for _ in range(2):
        scene = parse_scene(text)
        rub = rl.Simulation(scene).settings.friction
        assert (rub.tangential_law, rub.increments) == ("mindlin/force", 4)
        text = scene_text(scene)
    assert rl.Simulation(scene, increments=2).settings.friction.increments == 2
    with pytest.raises(InputError, match=r"increments is 1.5; expected a positive integer"):
        rl.Simulation(scene, increments=1.5)
    with pytest.raises(SceneError, match="expected one of mindlin, mindlin/force"):
        parse_scene('tangential_law = "coulomb"')


@pytest.mark.parametrize(
    "make",
    [lambda: rl.scenes.rough_pyramid(3, friction=0.1), lambda: rl.scenes.groove(friction=0.1)],
)
@pytest.mark.parametrize("columns", [False, True])
def test_contact_memory_in_files(make, columns, monkeypatch):
    """Property: a scene that is written while it leans, and read again, as text or as the columns
    of large scenes, makes the next step that it would have made; without what its contacts
    remember other forces."""
    monkeypatch.setattr("rigidlimit.scenes.columns.MANY", 0 if columns else 1000)
    simulation = rl.Simulation(make())
    down = simulation.gravity / 9.81
    for lean in (0.0, 0.1, 0.05):  # back a little: contacts that slid bear what is left
        pull = 9.81 * (down + [lean, 0, 0])
        simulation.set_gravity(pull[: simulation.bodies.dim])
        simulation.step()
    now = simulation.scene_now()
    again = StoredScene.of(now).scene("again")
    known = simulation.step()
    found = rl.Simulation(again).step()
    assert found.compatible.state == "history"
    # places in text have all digits, the angle of a planar pose but for rounding
    size = known.force.max()
    np.testing.assert_allclose(found.force_vectors, known.force_vectors, atol=1e-10 * size)
    again.memory = None
    forgetful = rl.Simulation(again).step()
    assert np.abs(forgetful.force_vectors - known.force_vectors).max() > 1e-3 * size


@pytest.mark.parametrize(
    ("line", "fragment"),
    [
        ('bodies = ["disk", "left side"]', "contacts[0].bodies: found .* in the order of the file"),
        ('bodies = ["left side", "disc"]', "contacts[0].bodies: .*'disk'"),
        ("normal = [1.0, 1.0]", "contacts[0].normal: found .*; expected a unit vector"),
        ("tangential_force = [0.0, 0.0, 1.0]", "contacts[0].tangential_force: found 3 numbers"),
        ("force = -1.0", "contacts[0].force: found -1.0"),
    ],
)
def test_faults_in_contacts(line, fragment):
    simulation = rl.Simulation(rl.scenes.groove())
    simulation.step()
    head, first, *others = scene_text(simulation.scene_now()).split("[[contacts]]\n")
    key = line.split(" = ")[0]
    changed = [line if row.startswith(f"{key} = ") else row for row in first.splitlines()]
    with pytest.raises(SceneError, match=fragment.replace("[", r"\[").replace("]", r"\]")):
        parse_scene("[[contacts]]\n".join([head, "\n".join(changed) + "\n", *others]))
    with pytest.raises(SceneError, match=r"contacts\[1\]: the contact of contacts\[0\]"):
        parse_scene("[[contacts]]\n".join([head, first, first]))


@pytest.mark.parametrize(
    ("call", "fragment"),
    [
        (lambda s: s.groove(90), "angle is 90; expected an angle between 0 and 90 degrees"),
        (lambda s: s.ladder(friction=-0.1), "friction is -0.1; expected a number, zero or more"),
        (lambda s: s.rolling_ball(slope=-1), "slope is -1; expected an angle from 0 to below 90"),
        (lambda s: s.rough_pyramid(tangential_stiffness=0), "tangential_stiffness is 0; expected"),
    ],
)
def test_faults(call, fragment):
    with pytest.raises(InputError, match=fragment):
        call(rl.scenes)
