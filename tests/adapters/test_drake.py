"""Peer: Drake's contacts, mended, against closed forms and Drake's own totals."""

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.adapters import from_drake
from rigidlimit.errors import InputError
from tests.adapters.problems import (
    BEAM,
    ORDERS,
    TOLERANCE,
    TOTAL,
    UNEQUAL,
    WEIGHT,
    beam_shares,
    beam_stiffness,
    box_shares,
    box_stiffness,
)

drake = pytest.importorskip("pydrake.all", reason="needs the extra rigidlimit[drake]")


class World:
    """A floor and what a test puts on it; ``run`` gives the plant and its context."""

    def __init__(self, mu=0.0):
        self.builder = drake.DiagramBuilder()
        self.plant, _ = drake.AddMultibodyPlantSceneGraph(self.builder, 1e-2)
        self.plant.set_contact_model(drake.ContactModel.kPoint)
        self.plant.set_discrete_contact_approximation(drake.DiscreteContactApproximation.kSap)
        self.plant.mutable_gravity_field().set_gravity_vector([0, 0, -WEIGHT])
        self.friction = drake.CoulombFriction(mu, mu)

    def body(self, name, mass=1.0):
        inertia = drake.SpatialInertia(mass, np.zeros(3), drake.UnitInertia(0.01, 0.1, 0.1))
        return self.plant.AddRigidBody(name, inertia)

    def geometry(self, body, shape, position=(0, 0, 0), stiffness=None):
        properties = drake.ProximityProperties()
        given = {} if stiffness is None else {"point_stiffness": stiffness, "dissipation": 1.0}
        drake.AddContactMaterial(friction=self.friction, properties=properties, **given)
        name = f"{body.name()} {shape} {position}"
        self.plant.RegisterCollisionGeometry(
            body, drake.RigidTransform(position), shape, name, properties
        )

    def floor(self, stiffness=None):
        # a box: half spaces warn about deformable contact
        body = self.plant.world_body()
        self.geometry(body, drake.Box(9, 9, 2), (0, 0, -1), stiffness)

    def run(self, time, start):
        self.plant.Finalize()
        diagram = self.builder.Build()
        root = diagram.CreateDefaultContext()
        context = self.plant.GetMyContextFromRoot(root)
        start(self.plant, context)
        if time:
            drake.Simulator(diagram, root).AdvanceTo(time)
        self.kept = diagram, root  # contexts do not keep their diagram alive
        return self.plant, context


def at(height, speed=0.0):
    def start(plant, context):
        body = plant.get_body(drake.BodyIndex(1))
        plant.SetFreeBodyPose(context, body, drake.RigidTransform([0, 0, height]))
        plant.SetVelocities(context, np.r_[0, 0, 0, speed, 0, 0, plant.GetVelocities(context)[6:]])

    return start


def beam(order, *, springs=None, mu=0.0, time=2.0, speed=0.0):
    world = World(mu)
    world.floor(None if springs is None else 1e15)
    body = world.body("beam")
    for i in order:
        k = None if springs is None else springs[BEAM[i]]
        world.geometry(body, drake.Sphere(0.1), (BEAM[i], 0, 0), k)
    return world, *world.run(time, at(0.0999, speed))


@pytest.mark.parametrize("kind", ["equal", "middle"])
@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_beam(order, kind):
    """Closed form, whatever Drake's forces are; its own resultant is kept."""
    _, plant, context = beam(order)
    results = plant.get_contact_results_output_port().Eval(context)
    x = [results.point_pair_contact_info(i).contact_point()[0] for i in range(3)]
    k = beam_stiffness(x, kind)
    mended = from_drake(plant, context, stiffness=k)
    np.testing.assert_allclose(mended.force, beam_shares(x, kind), atol=TOLERANCE)
    assert mended.total_error < TOTAL
    rest = from_drake(plant, context, stiffness=k, load="rest")
    np.testing.assert_allclose(rest.force, beam_shares(x, kind), atol=TOLERANCE)
    # Drake's regularization: 2.30, 5.40, 2.30, which is neither
    assert np.abs(mended.change).max() > 0.5


@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_stiffness_of_geometries(order):
    """Closed form: 2, 6, 2 from the geometries' own stiffness, soft and near the rigid limit,
    where Drake's forces no longer follow it."""
    for size in (1e4, 1e12):
        springs = {x: size * k for x, k in UNEQUAL.items()}
        _, plant, context = beam(order, springs=springs)
        mended = from_drake(plant, context)
        x = mended.places.point[:, 0]
        # the floor's stiffness of 1e15 is in series
        np.testing.assert_allclose(mended.stiffness / size, beam_stiffness(x, "middle"), rtol=4e-3)
        tolerance = TOLERANCE if size == 1e4 else 1e-2
        np.testing.assert_allclose(mended.force, beam_shares(x, "middle"), atol=tolerance)
        assert "point_contact_stiffness" in mended.message
        assert np.abs(mended.change).max() > 0.2
    with pytest.raises(InputError, match="linear"):
        from_drake(plant, context, exponent=2.5)


def test_box_on_a_plane():
    """Closed form: a box on four feet, equal and three times as stiff along one diagonal. (Drake
    gives a box on a plane one contact; the feet give it its corners.)"""
    world = World()
    world.floor()
    body = world.body("box")
    for x in (0.5, -0.5):
        for y in (0.3, -0.3):
            world.geometry(body, drake.Sphere(0.02), (x, y, 0))
    plant, context = world.run(2.0, at(0.0199))
    equal = from_drake(plant, context)
    np.testing.assert_allclose(equal.force, WEIGHT / 4, atol=TOLERANCE)
    x, y = equal.places.point.T[:2]
    stiff = from_drake(plant, context, stiffness=box_stiffness(x, y))
    np.testing.assert_allclose(stiff.force, box_shares(x, y), atol=TOLERANCE)
    assert stiff.total_error < TOTAL


def test_held_joints():
    """Closed form: a table on four sliding legs: with the springs of the joints as given load the
    feet are determined; held, it is a table of degree 1 with 3.5 N a leg."""
    world = World()
    world.floor()
    top = world.body("top")
    legs = []
    for i, (x, y) in enumerate([(0.5, 0.3), (-0.5, 0.3), (-0.5, -0.3), (0.5, -0.3)]):
        leg = world.body(f"leg{i}", 0.1)
        world.geometry(leg, drake.Sphere(0.02))
        joint = world.plant.AddJoint(
            drake.PrismaticJoint(
                f"slide{i}",
                world.plant.AddFrame(
                    drake.FixedOffsetFrame(
                        f"hip{i}", top.body_frame(), drake.RigidTransform([x, y, -0.3])
                    )
                ),
                leg.body_frame(),
                [0, 0, 1],
                damping=20,
            )
        )
        # one spring pushes more than the others
        spring = drake.PrismaticSpring(joint, 0.0 if i else -0.002, 1000)
        world.plant.AddForceElement(spring)
        legs.append(joint.name())
    plant, context = world.run(3.0, at(0.3199))
    own = from_drake(plant, context, load="rest")
    assert rl.determinacy(own.B, own.load).degree == 0
    np.testing.assert_allclose(own.force, own.engine_force, atol=1e-3)  # as settled
    table = from_drake(plant, context, load="rest", held=legs)
    assert rl.determinacy(table.B, table.load, fixed=table.held).degree == 1
    np.testing.assert_allclose(table.force, 3.5, atol=1e-2)  # the top stands a little askew
    assert np.abs(table.change).max() > 0.1
    assert from_drake(plant, context, held=legs).total_error < TOTAL
    with pytest.raises(InputError, match="'knee'"):
        from_drake(plant, context, held=["knee"])


def test_friction():
    """Closed form: sliding at mu f_n everywhere, so friction that is kept does not go with changed
    normal forces, which is flagged."""
    _, plant, context = beam((0, 1, 2), mu=0.3, time=0.01, speed=2.0)
    kept = from_drake(plant, context, stiffness=[1, 3, 1], on_friction="keep")
    assert (kept.slid | kept.outside_cone).any() and kept.total_error < TOTAL


def test_normal_and_friction_forces_together():
    """Closed form: sliding one way, every contact is at its bound; the totals are Drake's, in world
    axes too."""
    _, plant, context = beam((0, 1, 2), mu=0.3, time=0.01, speed=2.0)
    mended = from_drake(plant, context, stiffness=[1, 3, 1])
    assert mended.converged and mended.total_error < TOTAL and np.abs(mended.change).max() > 1
    # Drake's friction is at its bound to 1e-5 at this velocity
    size = np.linalg.norm(mended.tangential, axis=1)
    np.testing.assert_allclose(size, 0.3 * mended.force, rtol=1e-5)
    np.testing.assert_allclose(mended.vectors[:, 0], -0.3 * mended.force, rtol=1e-5)
    np.testing.assert_allclose(mended.vectors[:, 2], mended.force, rtol=1e-12)
    total = mended.on("beam")
    np.testing.assert_allclose(total.force, mended.engine_vectors.sum(axis=0), atol=1e-8)


@pytest.mark.parametrize("speed", [0.0, 0.7])
def test_balance_of_the_step(speed):
    """Peer: forces of Drake's step close its momentum balance where that began, also of a beam
    that slides; with speeds set afterwards they do not, and that is told."""
    _, plant, context = beam(ORDERS[0], mu=0.3, time=0.01, speed=speed)
    mended = from_drake(plant, context)
    assert len(mended.force) == 3
    # the solver's own tolerance
    assert mended.contacts.engine_residual < 1e-6
    assert "short of" not in mended.message
    plant.SetVelocities(context, [0, 0, 0, 0.5 - speed, 0, 0])
    late = from_drake(plant, context)
    assert late.contacts.engine_residual > 1e-3
    assert "Drake's solver stopped" in late.message


def test_hydroelastic_is_refused():
    """One clear error each."""
    world = World()
    world.plant.set_contact_model(drake.ContactModel.kHydroelasticWithFallback)
    soft = drake.ProximityProperties()
    drake.AddContactMaterial(friction=world.friction, properties=soft)
    drake.AddCompliantHydroelasticProperties(0.1, 1e6, soft)
    hard = drake.ProximityProperties()
    drake.AddContactMaterial(friction=world.friction, properties=hard)
    drake.AddRigidHydroelasticProperties(1.0, hard)
    place, ground = drake.RigidTransform(), drake.RigidTransform([0, 0, -1])
    plant = world.plant
    plant.RegisterCollisionGeometry(plant.world_body(), ground, drake.Box(9, 9, 2), "f", hard)
    plant.RegisterCollisionGeometry(world.body("ball"), place, drake.Sphere(0.1), "b", soft)
    plant, context = world.run(0.02, at(0.05))
    with pytest.raises(InputError, match="hydroelastic"):
        from_drake(plant, context)
    _, plant, context = beam((0, 1, 2), time=0.0)
    with pytest.raises(InputError, match="engine or rest"):
        from_drake(plant, context, load="step")


def test_arguments_that_are_no_plant():
    """One clear error."""
    with pytest.raises(InputError, match="plant is None; expected a MultibodyPlant"):
        from_drake(None, None)


def test_plant_that_is_not_ready():
    """One clear error each, where Drake has its own."""
    plant = drake.MultibodyPlant(1e-3)
    with pytest.raises(InputError, match=r"call plant\.Finalize"):
        from_drake(plant, beam((0, 1, 2), time=0.01)[2])
    plant.Finalize()
    with pytest.raises(InputError, match="connect it to a SceneGraph"):
        from_drake(plant, plant.CreateDefaultContext())
    other = plant.CreateDefaultContext()
    _, plant, _ = beam((0, 1, 2), time=0.01)
    with pytest.raises(InputError, match="GetMyContextFromRoot"):
        from_drake(plant, other)


def test_links_that_are_given():
    """Closed form: two halves of a plank that a weld constraint joins, whose rows the caller gives,
    carry as one, f = a + b x; without rows each keeps its own share."""
    world = World()
    world.floor()
    parts = (-0.25, (-0.2, 0.2), 1.0), (0.325, (-0.275, 0.125), 2.0)
    bodies = [world.body(f"part{i}", mass) for i, (_, _, mass) in enumerate(parts)]
    for body, (_, places, _) in zip(bodies, parts, strict=True):
        for x in places:
            for y in (-0.1, 0.1):
                world.geometry(body, drake.Sphere(0.04), (x, y, 0))
    apart = drake.RigidTransform([0.575, 0, 0])
    world.plant.AddWeldConstraint(bodies[0], apart, bodies[1], drake.RigidTransform())

    def start(plant, context):
        for body, (x, _, _) in zip(bodies, parts, strict=True):
            plant.SetFreeBodyPose(context, body, drake.RigidTransform([x, 0, 0.0399]))

    plant, context = world.run(2.0, start)
    frame = plant.world_frame()
    rows = np.zeros((6, plant.num_velocities()))
    for sign, body in zip((1, -1), bodies, strict=True):
        local = plant.EvalBodyPoseInWorld(context, body).inverse() @ np.array([0, 0, 0.05])
        rows += sign * plant.CalcJacobianSpatialVelocity(
            context, drake.JacobianWrtVariable.kV, body.body_frame(), local, frame, frame
        )
    mended = from_drake(plant, context, links=rows)
    x = mended.places.point[:, 0]
    assert mended.converged and mended.total_error < TOTAL and len(mended.total) == 1
    # parts sag by 1e-5 m
    known = 3 * WEIGHT / 8 * (1 + x * 4 / 30 / np.mean(x**2))
    np.testing.assert_allclose(mended.force, known, rtol=1e-4)
    own = from_drake(plant, context)
    assert np.abs(own.force - known).max() > 0.1
    assert len(own.total) == 2 and "1 constraint kept as Drake has them" in own.message
    assert "does not report" not in mended.message
    with pytest.raises(InputError, match="without what 1 constraint of Drake may carry"):
        from_drake(plant, context, load="rest")
    (weld,) = plant.GetConstraintIds()
    plant.SetConstraintActiveStatus(context, weld, False)
    assert from_drake(plant, context, load="rest").converged
