"""The compiled DEM with boxes that do not turn among the balls: lids, containers, obstacles."""

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.collision.search import find_contacts
from rigidlimit.penalty import PenaltySimulation
from rigidlimit.penalty.ball_records import usable_threads

SHIFTS = ["x", "y", "rx", "ry", "rz"]
"""What a lid is held against: it shifts along z."""


def lid_in_space():
    """Unequal balls in a row each under a loaded lid, which the highest bear."""
    scene, rng = rl.Scene(), np.random.default_rng(0)
    scene.add(rl.HalfSpace(), position=(0, 0, 0))
    for i in range(4):
        at = (0.25 * (i // 2), 0.25 * (i % 2), 0.12)
        scene.add(rl.Sphere(0.1 + 0.01 * rng.random()), position=at, fixed=["x", "y"])
    turned = (np.cos(0.4), 0.0, 0.0, np.sin(0.4))
    scene.add(
        rl.Box((0.65, 0.65, 0.1)),
        position=(0.125, 0.125, 0.3),
        orientation=turned,
        fixed=SHIFTS,
        load=(0, 0, -5000),
    )
    return scene


def lid_in_plane():
    """Disks between rectangles, under a lid that touches both sides."""
    scene = rl.Scene(dim=2)
    scene.add(rl.rectangle(4, 1), position=(0, -0.5), fixed=True)
    for x in (-0.62, 1.63):
        scene.add(rl.rectangle(1, 3), position=(x, 1), fixed=True)
    for i in range(5):
        scene.add(rl.Disk(0.1 + 0.005 * i), position=(0.25 * i, 0.1001 + 0.005 * i))
    scene.add(rl.rectangle(1.25, 0.2), position=(0.505, 0.3403), fixed=["x", "rz"], load=(0, -3000))
    return scene


def box_on_floor():
    """A box that lands on a half-space, one ball on it and one beside its edge."""
    scene = rl.Scene()
    scene.add(rl.HalfSpace(), position=(0, 0, 0))
    scene.add(rl.Box((1, 1, 0.2)), position=(0, 0, 0.1001), fixed=SHIFTS)
    scene.add(rl.Sphere(0.1), position=(0.05, 0, 0.301))
    scene.add(rl.Sphere(0.1), position=(0.595, 0.02, 0.15), fixed=["y", "z"], load=(-500, 0, 0))
    return scene


def lid_on_ledge():
    """A lid that comes down on a held box, not on the ball below."""
    scene = rl.Scene()
    scene.add(rl.HalfSpace(), position=(0, 0, 0))
    scene.add(rl.Sphere(0.1), position=(0, 0, 0.1))
    scene.add(rl.Box((0.2, 0.2, 0.4)), position=(0.4, 0, 0.2), fixed=True)
    scene.add(rl.Box((1, 1, 0.2)), position=(0, 0, 0.5001), fixed=SHIFTS, load=(0, 0, -100))
    return scene


def lid_on_ledge_in_plane():
    """The same in the plane, on a floor that is a rectangle."""
    scene = rl.Scene(dim=2)
    scene.add(rl.rectangle(4, 1), position=(0, -0.5), fixed=True)
    scene.add(rl.Disk(0.1), position=(0, 0.1))
    scene.add(rl.rectangle(0.2, 0.4), position=(0.4, 0.2), fixed=True)
    scene.add(rl.rectangle(1, 0.2), position=(0, 0.5001), fixed=["x", "rz"], load=(0, -100))
    return scene


SCENES = [lid_in_space, lid_in_plane, box_on_floor, lid_on_ledge, lid_on_ledge_in_plane]


@pytest.mark.parametrize("make", SCENES)
@pytest.mark.parametrize("law", ["hooke", "hertz"])
def test_two_engines(make, law):
    """Reference twin: the contact search, which knows faces, edges and corners by itself."""
    runs = [
        PenaltySimulation(
            make(), law=law, stiffness_scale=1e-3, dt=2e-5, background=None, engine=engine
        )
        for engine in ("balls", "convex")
    ]
    fast, slow = (run.run(until=0.05) for run in runs)
    assert fast.contacts.key.tolist() == slow.contacts.key.tolist() and fast.force.max() > 0
    # the other's gaps are linear between searches, and exact to 1 % of an overlap of 1e-4
    np.testing.assert_allclose(fast.state.position, slow.state.position, atol=2e-6)
    np.testing.assert_allclose(fast.force, slow.force, atol=5e-3 * slow.force.max())


@pytest.mark.parametrize("make", SCENES)
def test_third_law_at_rest(make):
    """Property: contacts give every body, the lid too, what balances its load."""
    scene = make()
    ended = PenaltySimulation(scene, stiffness_scale=1e-2, engine="balls").run()
    external = scene.external_force().reshape(-1, 6)[:, :3]
    missing = np.where(
        scene.bodies.free[:, :3], ended.contacts.resultants(ended.force) + external, 0.0
    )
    # what ``rest_tolerance`` allows
    assert ended.at_rest and abs(missing).max() < 2e-8 * abs(external).max()


@pytest.mark.parametrize(
    ("at", "normal"),
    [
        ((0.1, 0.0, 0.601), (0, 0, 1)),  # a face
        ((0.55, 0.1, 0.601), (0.5, 0, np.sqrt(0.75))),  # an edge
        ((0.54, 0.53, 0.601), (0.4, 0.3, np.sqrt(0.75))),  # a corner
    ],
)
def test_rebound(at, normal):
    """Closed form: v - 2 (v . n) n, n from the nearest point of a held box to the ball; to the part
    of the radius by which the ball sinks in."""
    scene, normal = rl.Scene(gravity=(0, 0, 0)), np.array(normal)
    scene.add(rl.Box((1, 1, 1)), position=(0, 0, 0), fixed=True)
    scene.add(rl.Sphere(0.1), position=at, velocity=(0, 0, -1))
    critical = PenaltySimulation(scene).critical_dt
    # steps so short that they add no energy to see
    dynamics = PenaltySimulation(scene, restitution=1, engine="balls", dt=critical / 200)
    ended = dynamics.run(until=0.03)
    rebound = np.array([0, 0, -1]) + 2 * normal[2] * normal
    np.testing.assert_allclose(ended.state.velocity[1, :3], rebound, atol=2e-3)
    assert ended.kinetic_energy == pytest.approx(0.5 * scene.bodies.mass[1], rel=1e-4)


@pytest.mark.skipif(usable_threads(2) < 2, reason="one thread only")
def test_threads_agree_under_a_lid():
    """Reference twin: two threads against one; the lid comes first and last among the bodies."""
    for lid_first in (True, False):
        scene, rng = rl.Scene(), np.random.default_rng(5)
        lid = rl.Box((0.2, 0.2, 0.01)), (0.04, 0.04, 0.0252), SHIFTS
        balls = [
            (
                rl.Sphere(0.0095 + 5e-4 * rng.random()),
                (k % 5 * 0.021, k // 5 * 0.021, 0.0101),
                False,
            )
            for k in range(25)
        ]
        for shape, position, fixed in [lid, *balls] if lid_first else [*balls, lid]:
            scene.add(shape, position=position, fixed=fixed)
        scene.add(rl.HalfSpace(), position=(0, 0, 0))
        one, two = (
            PenaltySimulation(scene, stiffness_scale=1e-3, threads=t).run(max_steps=400)
            for t in (1, 2)
        )
        assert one.elastic_energy > 0
        # rounding, grown by collisions
        np.testing.assert_allclose(one.state.position, two.state.position, atol=1e-12)


def engine_of(**lid) -> str:
    scene = rl.Scene()
    scene.add(rl.HalfSpace(), position=(0, 0, 0))
    scene.add(rl.Sphere(0.1), position=(0, 0, 0.1))
    scene.add(lid.pop("shape", rl.Box((1, 1, 0.1))), position=(0, 0, 0.25), **lid)
    for more in range(lid.pop("more", 0)):
        scene.add(rl.Box((1, 1, 0.1)), position=(0, 0, 0.4 + more), fixed=SHIFTS)
    return PenaltySimulation(scene).engine.kind


def test_what_the_compiled_engine_serves():
    """Property: boxes that turn, or of which two shift, are left to the contact search."""
    assert engine_of(fixed=SHIFTS) == engine_of(fixed=True) == "balls"
    assert engine_of(fixed=True, velocity=(0, 0, -1)) == "balls"
    assert engine_of() == engine_of(fixed=["rx", "ry"]) == "convex"
    assert engine_of(fixed=True, angular_velocity=(0, 0, 1)) == "convex"
    assert engine_of(fixed=True, shape=rl.Cylinder(0.5, 0.1)) == "convex"
    scene = lid_in_space()
    scene.add(rl.Box((1, 1, 0.1)), position=(0.25, 0.25, 0.5), fixed=SHIFTS)
    assert PenaltySimulation(scene).engine.kind == "convex"


def packing_under_lid(count, load):
    """Unequal balls between half-spaces, under a lid as heavy as all of them that is loaded with
    ``load`` times their weight."""
    rng = np.random.default_rng(3)
    wide = round((count / 1.5) ** (1 / 3))
    high, side = int(1.5 * wide), 2.05e-3 * wide
    scene = rl.Scene(dt=1e-3)
    for at, normal in (
        ((0, 0, 0), (0, 0, 1)),
        ((0, 0, 0), (1, 0, 0)),
        ((side, 0, 0), (-1, 0, 0)),
        ((0, 0, 0), (0, 1, 0)),
        ((0, side, 0), (0, -1, 0)),
    ):
        scene.add(rl.HalfSpace(), position=at, normal=normal)
    grid = np.stack(np.meshgrid(*map(np.arange, (wide, wide, high)), indexing="ij"), -1)
    grid = grid.reshape(-1, 3)
    radius = 1e-3 * rng.uniform(0.6, 1.0, len(grid))
    room = (1.02e-3 - radius)[:, None]
    scene.add_many(
        [rl.Sphere(r) for r in radius],
        2.05e-3 * grid + 1.02e-3 + rng.uniform(-1, 1, grid.shape) * room,
    )
    weight = 4 / 3 * np.pi * (radius**3).sum() * 2000 * 9.81
    scene.add(
        rl.Box((side, side, 2e-3)),
        position=(side / 2, side / 2, 2.05e-3 * high + 1.5e-3),
        fixed=SHIFTS,
        mass=weight / 9.81,
        name="lid",
        load=(0, 0, -load * weight),
    )
    return scene


@pytest.mark.parametrize("load", [1, 100])
def test_packing_under_a_lid_comes_to_rest(load):
    """Property: at rest, with the lid's load on the floor; and by the compiled DEM and few rounds
    of least energy, 34 and 35. With mu of the heaviest load, the lid's, they took 154 and 1,181."""
    rest = rl.settle(packing_under_lid(300, load), by="dem")
    assert rest.simulation.at_rest and rest.how.startswith("DEM") and rest.rounds < 100
    result, bodies = rest.simulation.last, rest.simulation.bodies
    floor = (result.contacts.body[:, 0] == 0) | (result.contacts.body[:, 1] == 0)
    pull = -rest.simulation.external_force.reshape(-1, 6)[:, 2].sum()
    assert bodies.names.index("lid") in result.contacts.body
    # what a scene at rest may leave open: a millionth of the largest load
    assert result.force[floor].sum() == pytest.approx(pull, rel=1e-6)


@pytest.mark.parametrize("dim", [2, 3])
def test_gaps_of_random_poses(dim):
    """Reference twin: gaps and normals of the contact search, for balls all about a turned box and
    within it, before and after all have moved on the same list."""
    rng = np.random.default_rng(dim)
    scene = rl.Scene(dim=dim, gravity=np.zeros(dim))
    turn = 0.7 if dim == 2 else (0.8, 0.3, -0.4, 0.33166248)
    shape = rl.rectangle(1.0, 0.6) if dim == 2 else rl.Box((1.0, 0.6, 0.8))
    scene.add(shape, position=rng.normal(size=dim), fixed=True, orientation=turn)
    middle = scene.state.position[0]
    ball = rl.Disk if dim == 2 else rl.Sphere
    for _ in range(300):
        scene.add(ball(rng.uniform(0.05, 0.2)), position=middle[:dim] + rng.normal(size=dim) * 0.5)
    engine = PenaltySimulation(scene, engine="balls", stiffness_scale=1e-9).engine
    for moved in (0.0, 0.02):  # less than half a skin
        engine.motion[1:, :dim] = moved * rng.uniform(-1, 1, (300, dim))
        overlap = engine._measure()[1][len(engine.other) :]
        found = find_contacts(scene.bodies, engine.state, np.full(301, 1.0))
        found = found.select(found.body[:, 0] == 0)
        gap = dict(zip(found.body[:, 1].tolist(), found.gap, strict=True))
        expected = [gap[i] for i in engine.box[:, 0]]
        assert len(expected) > 80
        # rounding of places of order one
        np.testing.assert_allclose(-overlap, expected, atol=1e-14)
