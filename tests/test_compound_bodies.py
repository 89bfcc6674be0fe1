"""Bodies of several parts at rest and in motion: closed forms, and bodies of one part as twins."""

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.bodies import rotations
from rigidlimit.penalty import compare

pytestmark = pytest.mark.filterwarnings("ignore:bodies .* overlap:rigidlimit.errors.SceneWarning")

G = 10.0


def copied(scene, change, *, turn=None):
    """The scene with the shape of every finite body changed, turned as a whole by turn."""
    bodies, state, d = scene.bodies, scene.state, scene.dim
    turn = rotations.identity(1)[0] if turn is None else rotations.normalized(np.array(turn))
    R = rotations.matrix(turn)
    out = rl.Scene(dim=d, gravity=(R @ scene.gravity)[:d], law=scene.law, dt=scene.dt)
    load = scene.external_force().reshape(-1, 6).copy()
    load[:, :3] -= bodies.mass[:, None] * scene.gravity
    columns = slice(None) if d == 3 else [0, 1, 5]
    for i in range(len(bodies)):
        shape, plane = bodies.shape(i), isinstance(bodies.shape(i), rl.HalfSpace)
        push = np.concatenate([R @ load[i, :3], R @ load[i, 3:]])
        spin = R @ state.velocity[i, 3:]
        out.add_many(
            shape if plane else change(shape),
            [(R @ state.position[i])[:d]],
            quaternions=rotations.multiply(turn, state.quaternion[i : i + 1]),
            velocities=[(R @ state.velocity[i, :3])[:d]],
            angular_velocities=[spin if d == 3 else spin[2]],
            material=bodies.materials[bodies.material_of[i]],
            mass=None if plane else bodies.mass[i],
            fixed=not bodies.free[i].any(),
            loads=None if plane else [push[columns]],
        )
    for (i, j), k in scene.pair_stiffness.items():
        out.set_pair_stiffness(i, j, k)
    return out


def alone(shape):
    """A compound of this one part, given off the origin."""
    return rl.Compound([(shape, (0.25,) * shape.dim)])


@pytest.mark.parametrize(
    "name", ["beam", "four-leg-table", "block-on-legs", "box-stack", "disk-in-corner", "container"]
)
@pytest.mark.parametrize("law", ["hooke", "hertz"])
def test_one_part_moves_as_the_part(name, law):
    """Reference twin: scenes whose bodies are compounds of one part do as without, for some steps:
    the same contacts, forces and places."""
    scene = rl.scenes.load(name)
    one, other = (rl.Simulation(copied(scene, f), law=law) for f in (lambda s: s, alone))
    for _ in range(60 if name == "container" else 3):  # until what falls has landed
        known, found = one.step(), other.step()
    assert len(known.contacts) > 1
    np.testing.assert_array_equal(found.contacts.body, known.contacts.body)
    np.testing.assert_array_equal(found.contacts.feature, known.contacts.feature)
    largest = known.force.max()
    # both solved to 1e-10 of the forces, with a moderate condition
    np.testing.assert_allclose(found.force, known.force, rtol=0, atol=1e-7 * largest + 1e-12)
    np.testing.assert_allclose(found.state.position, known.state.position, rtol=0, atol=1e-9)


def test_the_gallery_block_turned_and_mirrored():
    """Property: the forces of the L-block stay when the scene is turned, and when its parts are
    given in another order; mirrored, they change sides."""
    scene = rl.scenes.l_block()
    known = scene.reference["forces"]
    assert known[0] > known[1] > known[2] > 0

    def other_way(shape):
        if not isinstance(shape, rl.Compound):
            return shape
        return rl.Compound(shape.parts[::-1], centre=shape.centre)

    def mirrored(shape):
        if not isinstance(shape, rl.Compound):
            return shape
        return rl.Compound([(part, (-at[0], at[1])) for part, at, _ in shape.parts])

    twin = copied(scene, mirrored)
    twin._columns["position"][:] *= [-1, 1, 1]
    for case, forces in (
        (copied(scene, lambda s: s, turn=(0.9, 0, 0, 0.4)), known),
        (copied(scene, other_way), known),
        (twin, known),
    ):
        result = rl.Simulation(case).step()
        np.testing.assert_allclose(result.force, forces, rtol=1e-8)  # solved to 1e-10
    np.testing.assert_allclose(twin.state.position[:3, 0], -scene.state.position[:3, 0], rtol=1e-15)


@pytest.mark.parametrize("reach", [0.5, 0.999, 1.001, 1.5])
def test_a_t_over_an_edge_tips_at_the_computed_load(reach):
    """Closed form: a T stands over the edge of a ledge; loaded at the tip of its arm beyond the
    edge by ``reach`` times W a / b it stands, the two forces by moments, up to 1; and tips past it.

    a = 0.35 m and b = 1.5 m: from the edge at x = 0 to the centre of mass and to the tip.
    """
    weight = 100.0
    shape = rl.Compound(
        [
            (rl.rectangle(1.0, 2.0), (-0.35, 1.0)),  # stem, from -0.85 to 0.15
            (rl.rectangle(3.7, 0.5), (-0.35, 2.25)),  # bar, from -2.2 to 1.5
        ]
    )
    np.testing.assert_allclose(shape.centre[0], -0.35, rtol=1e-14)
    load = reach * weight * 0.35 / 1.5
    scene = rl.Scene(dim=2, gravity=(0, -G))
    scene.add(rl.rectangle(4, 1), position=(-2, -0.5), fixed=True)
    push = (0, -load, -load * (1.5 - shape.centre[0]))
    scene.add(shape, position=shape.centre, mass=weight / G, load=push)
    result = rl.Simulation(scene).step()
    spin = result.state.velocity[1, 5]
    if reach > 1:
        assert spin < -1e-6
        return
    at = result.contacts.point[:, 0]
    left = (weight * 0.35 - load * 1.5) / 0.85
    known = np.where(at < -0.5, left, weight + load - left)
    np.testing.assert_allclose(np.sort(at), [-0.85, 0.0], rtol=0, atol=1e-12)
    # solved to 1e-10 of the largest
    np.testing.assert_allclose(result.force, known, rtol=0, atol=1e-8 * weight)
    assert abs(spin) < 1e-9


def test_an_l_on_two_supports_by_hand():
    """Closed form: lever rule about the centre of mass, 2D; parts of densities 1 and 4."""
    shape = rl.Compound(
        [(rl.rectangle(4, 0.5), (2, 0.25)), (rl.rectangle(0.5, 2), (0.25, 1.5))], densities=(1, 4)
    )
    c = (2 * 2 + 4 * 1 * 0.25) / 6
    np.testing.assert_allclose(shape.centre[0], c, rtol=1e-14)
    scene = rl.Scene(dim=2, gravity=(0, -G))
    for x in (0.2, 3.4):
        scene.add(rl.Disk(0.1), position=(x, -0.1), fixed=True)
    scene.add(shape, position=shape.centre, material=rl.Material(density=5.0))
    weight = 5.0 * 6 * G
    result = rl.Simulation(scene).step()
    known = [weight * (3.4 - c) / 3.2, weight * (c - 0.2) / 3.2]
    np.testing.assert_allclose(result.force, known, rtol=1e-9)  # determined: solved to 1e-10


@pytest.mark.parametrize("law", ["hooke", "hertz"])
def test_a_clump_of_two_balls_rests_as_a_capsule(law):
    """Reference twin: in a groove of two planes, load off the middle, two balls and the capsule
    around them have the same four contacts and forces; closed form: the lever rule, and each plane
    the same."""
    ball, angle = rl.Sphere(0.5), np.radians(35.0)
    clump = rl.Compound([(ball, (0, 0, -1.5)), (ball, (0, 0, 1.5))])
    force = []
    for shape in (clump, rl.Capsule(0.5, 3.0)):
        scene = rl.Scene(gravity=(0, 0, -G), law=law)
        for side in (-1, 1):
            normal = (0, side * np.sin(angle), np.cos(angle))
            scene.add(rl.HalfSpace(), position=(0, 0, 0), normal=normal)
        # the axis of the shapes, z, lies along x
        scene.add(
            shape,
            position=(0, 0, 0.5 / np.cos(angle)),
            orientation=(np.sqrt(0.5), 0, np.sqrt(0.5), 0),
            mass=10.0,
            load=(0, 0, -60, 0, 40, 0),
        )
        result = rl.Simulation(scene).step()
        at = result.contacts.point[:, 0]
        # 160 N at x = 0.25 m: 40 N m about y press the end at positive x down
        share = 80 + np.sign(at) * 40 / 3
        np.testing.assert_allclose(result.force, share / (2 * np.cos(angle)), rtol=1e-8)
        force.append(result.force[np.lexsort(result.contacts.point.round(9).T)])
    np.testing.assert_allclose(*force, rtol=1e-8)  # both solved to 1e-10


def test_a_peg_in_a_fork():
    """Closed form: a peg that fits between the tines of a fork touches each at two points; turned
    by a moment M it presses on two of them, across, with M/h, h the depth it stands in."""
    tine, depth, moment = rl.rectangle(0.3, 2.0), 0.8, 5.0
    fork = rl.Compound(
        [(rl.rectangle(1.6, 0.4), (0, 0.2)), (tine, (-0.65, 1.4)), (tine, (0.65, 1.4))]
    )
    scene = rl.Scene(dim=2, gravity=(0, 0))
    scene.add(fork, position=fork.centre, fixed=True)
    scene.add(rl.rectangle(1.0, 3.0), position=(0, 2.4 - depth + 1.5), mass=1, load=(0, 0, moment))
    result = rl.Simulation(scene).step()
    x, y = result.contacts.point[:, :2].T
    assert sorted(zip(x.round(9), y.round(9), strict=True)) == [
        (-0.5, 1.6), (-0.5, 2.4), (0.5, 1.6), (0.5, 2.4)
    ]  # fmt: skip
    pressed = (x > 0) == (y < 2)  # counter-clockwise: below to the right, above to the left
    np.testing.assert_allclose(result.force, np.where(pressed, moment / depth, 0), atol=1e-8)


BRICK = (1.0, 0.6, 0.4)


def glued(shape):
    """The brick of three unlike parts."""
    if not isinstance(shape, rl.Box):
        return shape
    x, y, z = shape.size
    return rl.Compound(
        [
            (rl.Box((x / 4, y, z)), (x / 8, 0, 0)),
            (rl.Box((3 * x / 4, y / 3, z)), (x * 5 / 8, -y / 3, 0)),
            (rl.Box((2 * y / 3, 3 * x / 4, z)), (x * 5 / 8, y / 6, 0), (1, 0, 0, 1)),
        ]
    )


def test_glued_boxes_fly_as_one_and_keep_their_energy():
    """Reference twin and property: in free flight with spin about no axis of symmetry."""
    scene = rl.Scene(gravity=(0, 0, -G), dt=0.01)
    scene.add(rl.Box(BRICK), position=(0, 0, 0), velocity=(1, 2, 3), angular_velocity=(2, 7, 1))
    one, other = (rl.Simulation(copied(scene, f)) for f in (lambda s: s, glued))
    energy = []
    for _ in range(100):
        one.step()
        other.step()
        state, bodies = other.state, other.bodies
        J = bodies.mass[0] * glued(rl.Box(BRICK)).inertia_per_mass
        R = rotations.matrix(state.quaternion)[0]
        w = R.T @ state.velocity[0, 3:]
        energy.append(w @ J @ w)
    # rounding, that the precession amplifies a little in 100 steps
    np.testing.assert_allclose(other.state.quaternion, one.state.quaternion, rtol=0, atol=1e-10)
    np.testing.assert_allclose(other.state.velocity, one.state.velocity, rtol=0, atol=1e-9)
    np.testing.assert_allclose(energy, energy[0], rtol=1e-12)


def test_glued_boxes_drop_as_one():
    """Reference twin: dropped on a floor at a slant, with spin, through impacts and rolling over
    edges; also on a floor that is a compound itself. The T-joint's corners on the faces of the
    brick only carry where the others do not."""
    scene = rl.Scene(gravity=(0, 0, -G), dt=0.005)
    scene.add(rl.HalfSpace(), position=(0, 0, 0))
    scene.add(
        rl.Box(BRICK),
        position=(0, 0, 0.7),
        orientation=(0.9, 0.2, -0.3, 0.1),
        velocity=(0.5, 0, 0),
        angular_velocity=(0, 3, 0),
    )
    one, other = (rl.Simulation(copied(scene, f)) for f in (lambda s: s, glued))
    speed = []
    for _ in range(80):
        speed.append(one.step(compatible=False).state.velocity[1])
        other.step(compatible=False)
    assert np.ptp(speed, axis=0)[:3].max() > 1.0  # something happened
    # solved to 1e-10, which impacts amplify
    np.testing.assert_allclose(other.state.position, one.state.position, rtol=0, atol=1e-6)


@pytest.mark.parametrize("dim", [2, 3])
def test_sliding_over_a_seam_keeps_the_speed(dim):
    """Closed form: what slides over a flush seam is not stopped at the edges inside: a block, a
    ball and a block that is cut itself, on a floor of two slabs."""
    long, size = (6.0, 4.0, 0.5)[:: 2 if dim == 2 else 1], (0.4, 0.3, 0.2)[:dim]
    box = rl.Box if dim == 3 else rl.rectangle
    slab = box(long) if dim == 3 else box(*long)
    at = np.zeros(dim)
    step = np.array([3.0, *at[1:]])
    floor = rl.Compound([(slab, at - step), (slab, at + step)])
    block = box(size) if dim == 3 else box(*size)
    halves = rl.Compound([(block, -0.2 * np.eye(dim)[0]), (block, 0.2 * np.eye(dim)[0])])
    ball = rl.Sphere(0.15) if dim == 3 else rl.Disk(0.15)
    scene = rl.Scene(dim=dim, dt=0.01)
    down = np.array([*at[:-1], -0.25])
    scene.add(floor, position=down, fixed=True)
    way = 2.0 * np.eye(dim)[0]
    for k, shape in enumerate((block, halves, ball)):
        high = 0.15 if shape is ball else size[-1] / 2
        place = np.array([-0.31 - 0.9 * k, *at[1:]]) + high * np.eye(dim)[-1]
        scene.add(shape, position=place, velocity=way)
    simulation = rl.Simulation(scene)
    for _ in range(150):
        simulation.step(compatible=False)
    state = simulation.state
    assert (state.position[1:, 0] > 0.3).all()
    # solved to 1e-10 a step
    np.testing.assert_allclose(state.velocity[1:, :dim], np.tile(way, (3, 1)), rtol=0, atol=1e-7)


def test_a_plate_of_halves_carries_as_one():
    """Reference twin: loaded off its middle, on a plane, on four balls and on one more below the
    seam, a plate of two halves has the contacts and forces of one plate, Hooke and Hertz alike."""
    halves = rl.Compound([(rl.Box((1, 1, 0.2)), (x, 0, 0)) for x in (-0.5, 0.5)])
    for law in ("hooke", "hertz"):
        for balls in (None, 4, 5):
            force = []
            for shape in (rl.Box((2, 1, 0.2)), halves):
                scene = rl.Scene(gravity=(0, 0, -G), law=law)
                if balls is None:
                    scene.add(rl.HalfSpace(), position=(0, 0, -0.1))
                else:
                    at = [(x, y, -0.2) for x in (-0.8, 0.8) for y in (-0.4, 0.4)] + [(0, 0, -0.2)]
                    scene.add_many(rl.Sphere(0.1), at[:balls], fixed=True)
                scene.add(shape, position=(0, 0, 0), mass=8, load=(0, 0, -20, 3, 15, 0))
                force.append(rl.Simulation(scene).step().force)
            assert len(force[0]) == (balls or 4)
            np.testing.assert_allclose(*force, rtol=1e-8)  # both solved to 1e-10


@pytest.mark.parametrize("digits", [9, 8, 7])
def test_a_plate_whose_parts_are_rounded_is_one_plate(digits):
    """Reference twin: four parts of a plate in turned axes, places and turns written down with few
    digits, bear at the corners of one plate with its forces, and what slides over the seams, which
    are now steps of 1e-10 to 1e-8 m, is not stopped."""
    half = 0.37 / 2
    exact = np.array([np.cos(half), 0.6 * np.sin(half), 0.0, 0.8 * np.sin(half)])
    axes, turn = rotations.matrix(exact[None])[0], exact.round(digits)
    quarter = rl.Box((0.5, 0.3, 0.1))
    plate = rl.Compound(
        [
            (quarter, (axes @ [x, y, 0]).round(digits), turn)
            for x in (-0.25, 0.25)
            for y in (-0.15, 0.15)
        ]
    )
    scene = rl.Scene()
    scene.add(rl.HalfSpace(), position=(0, 0, 0))
    scene.add(plate, position=(0, 0, 0.05), orientation=exact * [1, -1, -1, -1], mass=10)
    block = rl.Box((0.1, 0.1, 0.1))
    # it reaches the seam at the end of a step
    scene.add(block, position=(-0.25, 0.02, 0.15), velocity=(2, 0, 0), mass=1)
    simulation = rl.Simulation(scene, dt=1e-3)
    result = simulation.step()
    floor = result.contacts.body[:, 0] == 0
    assert (floor.sum(), (~floor).sum()) == (4, 4)
    at = simulation.state.position[2, :2]
    share = (1 + result.contacts.point[floor, :2] @ (at / [0.25, 0.09])) / 4
    # gaps of 1e-8 m close in the step of 1e-3 s: 1e-2 N a kg
    np.testing.assert_allclose(result.force[floor], 9.81 * (2.5 + share), rtol=0, atol=0.1)
    for _ in range(160):  # until its rear is beyond the seam
        simulation.step(compatible=False)
    assert simulation.state.position[2, 0] - 0.05 > 0.0
    np.testing.assert_allclose(simulation.state.velocity[2, :2], (2, 0), rtol=0, atol=1e-4)


def test_a_wall_of_cut_bricks():
    """Reference twin: bricks in running bond, each of two halves with the seam over the joint
    below, bear as whole bricks: the same places, the same forces."""
    forces = []
    for brick in (rl.Box((2, 0.3, 0.3)), glued_halves()):
        scene = rl.Scene(gravity=(0, 0, -G))
        scene.add(rl.HalfSpace(), position=(0, 0, 0))
        for row in range(5):
            places = [(2 * i + row % 2, 0, 0.15 + 0.3 * row) for i in range(5)]
            scene.add_many(brick, places)
        result = rl.Simulation(scene).step()
        places = np.column_stack([result.contacts.point, result.contacts.normal]).round(6)
        order = np.lexsort(places.T)
        forces.append(np.column_stack([places, result.force])[order])
    largest = forces[0][:, 6].max()
    np.testing.assert_allclose(forces[1], forces[0], rtol=0, atol=1e-8 * largest)  # solved to 1e-10


def glued_halves():
    return rl.Compound([(rl.Box((1, 0.3, 0.3)), (x, 0, 0)) for x in (0, 1)])


def test_a_t_that_lies_flat():
    """Closed form: of the joints of a T each place bears once; eight springs share a load as one
    plane over the places."""
    flat = rl.Compound([(rl.Box((3, 1, 0.2)), (0, 0, 0)), (rl.Box((1, 2, 0.2)), (0, -1.5, 0))])
    scene = rl.Scene(gravity=(0, 0, -G))
    scene.add(rl.HalfSpace(), position=(0, 0, -0.1))
    scene.add(flat, position=flat.centre, mass=8)
    result = rl.Simulation(scene).step()
    at = result.contacts.point[:, :2]
    assert len(np.unique(at.round(9), axis=0)) == 8 == len(at)
    arms = np.column_stack([np.ones(8), at])
    plane = np.linalg.solve(arms.T @ arms, 80 * np.array([1, *flat.centre[:2]]))
    np.testing.assert_allclose(result.force, arms @ plane, rtol=1e-8)  # solved to 1e-10


def test_dem_and_determinacy():
    """Cross-solver: the penalty method finds the L-block's forces on the same contacts; and they
    are known to be undetermined by the equations of motion alone."""
    scene = rl.scenes.l_block()
    result = rl.Simulation(scene).step()
    assert rl.determinacy(*result.balance).degree == 1
    comparison = compare(scene)
    for method in ("compatible", "dem"):
        # the DEM comes to rest to about 1e-4 of the forces, and its overlaps shift the levers
        force = comparison.force[method]
        np.testing.assert_allclose(force, scene.reference["forces"], rtol=1e-3)
