"""``PublicModel`` in each engine and solver: ``RUNS[engine][solver](model, files)`` starts it.

A run is called with a time [s], goes on to it in the engine's own steps, and returns the mended
forces there. Motors are off. What an engine cannot read raises ``Unread``, which says why.
"""

import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.public_models import PublicModel
from rigidlimit.adapters import (
    MendedForces,
    from_drake,
    from_mujoco,
    from_newton,
    from_pinocchio,
    from_pybullet,
)

EARLY = 3
"""Iterations or sweeps of a solver that is stopped early."""

MOST_VELOCITIES = 300
"""Of models given to Pinocchio, whose problems here are dense, and to Newton, on a CPU."""

Run = Callable[[float], MendedForces]


class Unread(Exception):
    """Why an engine does not read a model, or does not simulate it."""


# MuJoCo


def mujoco_model(model: PublicModel, files: list[Path]):
    """(MjModel, MjData) of the scene, or of bodies on a floor."""
    import mujoco

    if model.whole:
        made = mujoco.MjModel.from_xml_path(str(files[0]))
        return made, mujoco.MjData(made)
    scene = mujoco.MjSpec()
    scene.worldbody.add_geom(name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[5, 5, 0.1])
    for i, (file, part) in enumerate(zip(files, model.parts, strict=True)):
        body = mujoco.MjSpec.from_file(str(file))
        for root in list(body.worldbody.bodies):
            root.add_freejoint()
        half = part.turn * np.pi / 4
        frame = scene.worldbody.add_frame(pos=part.at, quat=[np.cos(half), 0, 0, np.sin(half)])
        scene.attach(body, prefix=f"{i} ", frame=frame)
    made = scene.compile()
    return made, mujoco.MjData(made)


def step_on(made, data, time):
    """MuJoCo's steps to a time; ``Unread`` where its motion is not finite."""
    import mujoco

    kinds = mujoco.mjtWarning
    unstable = kinds.mjWARN_BADQPOS, kinds.mjWARN_BADQVEL, kinds.mjWARN_BADQACC
    while data.time < time:
        mujoco.mj_step(made, data)
        if any(data.warning[kind].number for kind in unstable):  # and it begins anew
            raise Unread("unstable with this solver")


def in_mujoco(solver, cone, iterations, model, files) -> Run:
    """iterations: None: as the model has them."""
    import mujoco

    made, data = mujoco_model(model, files)
    made.opt.solver = getattr(mujoco.mjtSolver, f"mjSOL_{solver}")
    made.opt.cone = getattr(mujoco.mjtCone, f"mjCONE_{cone.upper()}")
    if iterations is not None:
        made.opt.iterations = iterations

    def run(time):
        step_on(made, data, time)
        return from_mujoco(made, data)

    return run


# PyBullet


def in_pybullet(iterations, model, files) -> Run:
    import pybullet

    if model.whole:
        raise Unread("PyBullet reads a part of MJCF only")
    here = {"physicsClientId": pybullet.connect(pybullet.DIRECT)}
    pybullet.setGravity(0, 0, -9.81, **here)
    pybullet.setPhysicsEngineParameter(numSolverIterations=iterations, **here)
    floor = pybullet.createCollisionShape(pybullet.GEOM_PLANE, **here)
    pybullet.createMultiBody(0, floor, **here)
    for file, part in zip(files, model.parts, strict=True):
        turn = pybullet.getQuaternionFromEuler([0, 0, part.turn * np.pi / 2])
        body = pybullet.loadURDF(str(file), part.at, turn, **here)
        for joint in range(pybullet.getNumJoints(body, **here)):
            off = dict(controlMode=pybullet.VELOCITY_CONTROL, force=0)
            pybullet.setJointMotorControl2(body, joint, **off, **here)
    steps, dt = [0], pybullet.getPhysicsEngineParameters(**here)["fixedTimeStep"]

    def run(time):
        while steps[0] * dt < time:
            pybullet.stepSimulation(**here)
            steps[0] += 1
        return from_pybullet(here["physicsClientId"])

    return run


# Drake


def in_drake(approximation, model, files) -> Run:
    """Discrete point contact, without contacts of a robot with itself: models made for other
    engines leave out those of parts that overlap where they are joined."""
    import pydrake.all as drake

    logging.getLogger("drake").setLevel(logging.ERROR)  # a line for each attribute not read
    builder = drake.DiagramBuilder()
    plant, shapes = drake.AddMultibodyPlantSceneGraph(builder, 1e-3)
    plant.set_contact_model(drake.ContactModel.kPoint)
    kind = getattr(drake.DiscreteContactApproximation, f"k{approximation}")
    plant.set_discrete_contact_approximation(kind)
    parser = drake.Parser(plant)
    parser.SetAutoRenaming(True)
    for file, part in zip(files, model.parts, strict=True):
        try:
            instances = parser.AddModels(str(file))
        except RuntimeError as error:
            said = str(error).splitlines()[0].rsplit("error: ", 1)[-1]
            raise Unread(f"Drake: {said}") from None
        if not model.whole:
            base = plant.GetBodyIndices(instances[0])[0]
            turn = drake.RotationMatrix.MakeZRotation(part.turn * np.pi / 2)
            pose = drake.RigidTransform(turn, np.array(part.at))
            plant.SetDefaultFloatingBaseBodyPose(plant.get_body(base), pose)
    if not model.whole:
        properties = drake.ProximityProperties()
        rubs = drake.CoulombFriction(1.0, 1.0)
        drake.AddContactMaterial(friction=rubs, properties=properties)
        # a box: half spaces warn about deformable contact
        place = drake.RigidTransform(np.array([0.0, 0.0, -1.0]))
        world, shape = plant.world_body(), drake.Box(10, 10, 2)
        plant.RegisterCollisionGeometry(world, place, shape, "floor", properties)
    plant.Finalize()
    if plant.num_bodies() == 1:
        raise Unread("Drake reads no body of it")
    for joint in plant.GetJointIndices():
        if plant.get_joint(joint).parent_body().index() != plant.world_body().index():
            continue
        moved = plant.GetBodiesKinematicallyAffectedBy([joint])
        robot = plant.CollectRegisteredGeometries([plant.get_body(body) for body in moved])
        alone = drake.CollisionFilterDeclaration().ExcludeWithin(robot)
        shapes.collision_filter_manager().Apply(alone)
    diagram = builder.Build()
    simulator = drake.Simulator(diagram)
    context = plant.GetMyContextFromRoot(simulator.get_context())

    def run(time, kept=diagram):
        simulator.AdvanceTo(time)
        return from_drake(plant, context)

    return run


# Pinocchio


def in_pinocchio(solver, iterations, model, files) -> Run:
    """Its solvers at the states and contacts of MuJoCo: it has no simulation of its own."""
    import mujoco
    import pinocchio as pin

    made, data = mujoco_model(model, files)
    if made.nv > MOST_VELOCITIES:
        raise Unread(f"left out: of {made.nv} velocities its problem takes gigabytes")
    twin = PinocchioTwin(made)
    settings = getattr(pin, f"{solver}SolverSettings")()
    settings.max_iterations = iterations

    def run(time):
        step_on(made, data, time)
        mujoco.mj_forward(made, data)
        if not data.ncon:
            return from_mujoco(made, data)
        models, datas, g = twin.problem(data)
        result = getattr(pin, f"{solver}SolverResult")()
        J = pin.getConstraintsJacobian(twin.model, twin.data, models, datas)
        delassus = pin.DelassusOperatorDense(J @ np.linalg.solve(twin.M, J.T))
        method = getattr(pin, f"{solver}ConstraintSolver")(len(g))
        method.solve(delassus, g, models, datas, settings, result)
        impulses = np.array(result.retrieveConstraintImpulses())
        dt = made.opt.timestep
        return from_pinocchio(twin.model, twin.data, models, datas, impulses, dt=dt, g=g)

    return run


class PinocchioTwin:
    """A Pinocchio model of MuJoCo's bodies and joints, in the same order.

    Of MuJoCo are taken: poses, speeds, contacts, and all that acts but for contacts.
    """

    def __init__(self, made):
        import mujoco
        import pinocchio as pin

        self.mujoco, self.pin, self.made = mujoco, pin, made
        self.model = pin.Model()
        self.model.gravity.linear = np.array(made.opt.gravity)
        self.joint, place = [0], [pin.SE3.Identity()]  # of each body: joint, and its place in it
        for b in range(1, made.nbody):
            above = made.body_parentid[b]
            joint = self.joint[above]
            here = place[above] * self._placed(made.body_pos[b], made.body_quat[b])
            first, count = made.body_jntadr[b], made.body_jntnum[b]
            for j in range(first, first + count):
                at = pin.SE3(np.eye(3), np.array(made.jnt_pos[j]))
                if self._type(j) == mujoco.mjtJoint.mjJNT_FREE:
                    here = pin.SE3.Identity()
                joint = self.model.addJoint(joint, self._kind(j), here * at, f"joint {j}")
                here = at.inverse()
            inertia = self._inertia(b)
            if joint:
                self.model.appendBodyToJoint(joint, inertia, here)
            self.joint.append(joint)
            place.append(here)
        self.model.armature = np.array(made.dof_armature)
        self.data = self.model.createData()

    def _placed(self, pos, quat):
        w, x, y, z = quat
        return self.pin.SE3(self.pin.Quaternion(w, x, y, z).matrix(), np.array(pos))

    def _kind(self, j):
        pin, kinds = self.pin, self.mujoco.mjtJoint
        axis = np.array(self.made.jnt_axis[j])
        return {
            kinds.mjJNT_FREE: pin.JointModelFreeFlyer,
            kinds.mjJNT_BALL: pin.JointModelSpherical,
            kinds.mjJNT_SLIDE: partial(pin.JointModelPrismaticUnaligned, axis),
            kinds.mjJNT_HINGE: partial(pin.JointModelRevoluteUnaligned, axis),
        }[self._type(j)]()

    def _type(self, j):
        return self.mujoco.mjtJoint(int(self.made.jnt_type[j]))

    def _inertia(self, b):
        made = self.made
        place = self._placed(made.body_ipos[b], made.body_iquat[b])
        own = np.diag(made.body_inertia[b])
        return self.pin.Inertia(made.body_mass[b], place.translation,
                                place.rotation @ own @ place.rotation.T)  # fmt: skip

    def pose(self, data):
        """(q, T) of MuJoCo's state: positions (nq,), and MuJoCo's velocities (nv, nv) = T @ v."""
        made, kinds = self.made, self.mujoco.mjtJoint
        q, T = np.array(data.qpos), np.eye(made.nv)
        for j in range(made.njnt):
            kind, a, d = self._type(j), made.jnt_qposadr[j], made.jnt_dofadr[j]
            if kind in (kinds.mjJNT_SLIDE, kinds.mjJNT_HINGE):
                q[a] -= made.qpos0[a]
                continue
            a += 3 if kind == kinds.mjJNT_FREE else 0
            w, x, y, z = data.qpos[a : a + 4]
            q[a : a + 4] = x, y, z, w
            if kind == kinds.mjJNT_FREE:  # linear velocities are the world's in MuJoCo
                T[d : d + 3, d : d + 3] = self.pin.Quaternion(w, x, y, z).matrix()
        return q, T

    def problem(self, data):
        """(constraint models, their data, g) of the contacts of a state after mj_forward."""
        mujoco, pin, made = self.mujoco, self.pin, self.made
        q, T = self.pose(data)
        self.M = pin.crba(self.model, self.data, q)
        self.M = np.triu(self.M) + np.triu(self.M, 1).T
        pin.computeJointJacobians(self.model, self.data, q)
        models, datas = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
        for contact in data.contact:
            normal, first, second = np.array(contact.frame).reshape(3, 3)
            frame = pin.SE3(np.stack([first, second, normal], axis=1), np.array(contact.pos))
            joints = [self.joint[made.geom_bodyid[geom]] for geom in contact.geom]
            places = [self.data.oMi[joint].actInv(frame) for joint in joints]
            point = pin.PointContactConstraintModel(
                self.model, joints[0], places[0], joints[1], places[1]
            )
            point.setFriction(float(contact.friction[0]))
            models.append(pin.ConstraintModel(point))
            datas.append(models[len(models) - 1].createData())
            models[len(models) - 1].calc(self.model, self.data, datas[len(datas) - 1])
        rest = np.array(data.efc_force)
        rest[np.isin(data.efc_type, CONTACT_ROWS)] = 0.0
        push = np.zeros(made.nv)
        mujoco.mj_mulJacTVec(made, data, push, rest)
        acceleration = np.linalg.solve(self.M, T.T @ (push + data.qfrc_smooth))
        J = pin.getConstraintsJacobian(self.model, self.data, models, datas)
        speed = np.linalg.solve(T, data.qvel)
        return models, datas, J @ (speed + made.opt.timestep * acceleration)


CONTACT_ROWS = (5, 6, 7)
"""mjCNSTR_CONTACT_FRICTIONLESS, _PYRAMIDAL and _ELLIPTIC of MuJoCo."""


# Newton


def in_newton(solver, iterations, model, files) -> Run:
    """Robots of URDF files as in Drake, without contacts with themselves."""
    import newton
    import warp as wp

    wp.config.quiet = True
    builder = newton.ModelBuilder()
    if solver == "MuJoCo":
        newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    for file, part in zip(files, model.parts, strict=True):
        try:
            if model.whole:
                builder.add_mjcf(str(file))
            else:
                turn = wp.quat_from_axis_angle(wp.vec3(0, 0, 1), part.turn * np.pi / 2)
                place = dict(xform=wp.transform(part.at, turn), floating=True)
                builder.add_urdf(str(file), **place, enable_self_collisions=False)
        except Exception as error:  # of any kind: its readers check little
            raise Unread(f"Newton: {type(error).__name__}: {str(error).splitlines()[0]}") from None
    if not builder.body_count:
        raise Unread("Newton reads no body of it")
    if builder.joint_dof_count > MOST_VELOCITIES:
        raise Unread(f"left out: {builder.joint_dof_count} velocities, on a CPU")
    if not model.whole:
        builder.add_ground_plane()
    made = builder.finalize(device="cpu")
    method = getattr(newton.solvers, f"Solver{solver}")(made, iterations=iterations)
    states, control = [made.state(), made.state()], made.control()
    newton.eval_fk(made, made.joint_q, made.joint_qd, states[0])
    pipeline = newton.CollisionPipeline(made)
    contacts = pipeline.contacts()
    kind = newton.solvers.SolverBase.ObservableKind.CONTACT_F
    seen = method.observables([kind], contacts=contacts)
    dt, steps = 2e-3, [0]

    def run(time):
        while steps[0] * dt < time:
            states[0].clear_forces()
            pipeline.collide(states[0], contacts)
            method.step(*states, control, contacts, dt, observables=seen)
            states.reverse()
            steps[0] += 1
        return from_newton(made, states[0], contacts, seen.contact_f)

    return run


def _mujoco_runs():
    for solver in ("Newton", "CG", "PGS"):
        for cone in ("elliptic", "pyramidal"):
            for iterations in (None, EARLY):
                early = "" if iterations is None else f", {iterations} iterations"
                start = partial(in_mujoco, solver.upper() if solver != "Newton" else "NEWTON",
                                cone, iterations)  # fmt: skip
                yield f"{solver}, {cone}{early}", start


RUNS: dict[str, dict[str, Callable[[PublicModel, list[Path]], Run]]] = {
    "MuJoCo": dict(_mujoco_runs()),
    "PyBullet": {
        "impulses, 50 sweeps": partial(in_pybullet, 50),
        "impulses, 5 sweeps": partial(in_pybullet, 5),
    },
    "Drake": {
        name: partial(in_drake, kind)
        for name, kind in (
            ("TAMSI", "Tamsi"), ("SAP", "Sap"), ("similar", "Similar"), ("lagged", "Lagged")
        )
    },
    "Pinocchio": {
        "PGS, 1000 sweeps": partial(in_pinocchio, "PGS", 1000),
        "PGS, 20 sweeps": partial(in_pinocchio, "PGS", 20),
        "ADMM, 1000 iterations": partial(in_pinocchio, "ADMM", 1000),
        "ADMM, 20 iterations": partial(in_pinocchio, "ADMM", 20),
    },
    "Newton": {
        "XPBD, 2 iterations": partial(in_newton, "XPBD", 2),
        "XPBD, 20 iterations": partial(in_newton, "XPBD", 20),
        "MuJoCo": partial(in_newton, "MuJoCo", 100),
    },
}  # fmt: skip
"""Start of a run by engine and solver."""
