"""Compatible contact forces from Drake's ``MultibodyPlant`` and its contact results.

For every point pair, with n from body A to body B at the contact point C,

    B_i = n . (J_B - J_A),  J = plant.CalcJacobianTranslationalVelocity at C      f_n = f_Bc . n

in Drake's generalized velocities, free bodies and articulated ones alike. Joint limits,
constraints, actuators and springs stay as Drake has them: given load. Drake does not expose to
Python between which points its weld, ball and coupler constraints act: give their rows as
``links``.

Stiffness: ``point_contact_stiffness`` of both geometries in series, as Drake combines them, where
every contact has one; else equal.

What Drake does not give: a plant of discrete time reports the contacts of its last step (none
before the first), poses are those of the step's end, so moment arms are off by a step's motion.
Hydroelastic contact is a pressure field whose stiffness is part
of the model, not a set of point forces: it is refused, as are deformable bodies.

Residual: Drake does not keep the state before its last step, but the accelerations a of that step.
With q_0 = q - dt N v and v_0 = v - dt a, its discrete momentum balance is

    M(q_0) a + C(q_0, v_0) = gravity and springs + contact forces J(q_0)^T f

Only bodies that float alone are checked, with what is welded to them: there is no other force on
them that Drake does not report (limits, constraints, damping of joints). SAP satisfies the balance
to 1e-15, TAMSI to 1e-7; where poses or velocities were set after the step it does not hold.
"""

from collections.abc import Sequence
from functools import lru_cache
from types import ModuleType
from typing import TYPE_CHECKING, Unpack

import numpy as np
from numba import njit

from ..._support import arrays
from ..._support.arrays import MatrixLike
from ...errors import InputError
from .arguments import (
    Load,
    check_linear,
    constraints_given,
    imported,
    joint_names,
    kept_as_is,
    stopped_short,
)
from .contacts import EngineContacts
from .drake_contacts import PointPairs, point_pairs
from .drake_trees import Trees, systems, trees_of, twists
from .geometry import Places, cross
from .links import joined
from .materials import ByContact, by_name
from .matrices import delivered
from .options import OfReader
from .parts import Pairs
from .reading import asked, extents
from .result import MendedForces

if TYPE_CHECKING:
    from pydrake.multibody.plant import MultibodyPlant
    from pydrake.systems.framework import Context


def engine_residual(
    plant: "MultibodyPlant",
    context: "Context",
    tree: ModuleType,
    pairs: PointPairs,
    trees: Trees,
    sizes: np.ndarray,
) -> float:
    """What is missing in that balance, over the largest force; nan where no body can be judged.

    tree: pydrake.multibody.tree; sizes (nv,): of the mechanisms [m].
    """
    if not len(pairs.point):
        return 0.0
    alone = trees.alone
    ports = (
        plant.get_applied_generalized_force_input_port(),
        plant.get_applied_spatial_force_input_port(),
    )
    if not len(alone) or plant.num_constraints() or any(port.HasValue(context) for port in ports):
        return np.nan
    before, acceleration = _before(plant, context)
    given = tree.MultibodyForces(plant)
    plant.CalcForceElementsContribution(before, given)
    columns = trees.first[alone][:, None] + np.arange(6)
    needed = plant.CalcInverseDynamics(before, acceleration, given)[columns]
    origin = np.zeros((len(trees.root), 3))
    for body in trees.base.tolist():
        origin[body] = plant.EvalBodyPoseInWorld(before, trees.bodies[body]).translation()
    found = _wrenches(trees.root[pairs.body], pairs.point, pairs.push, origin)[trees.base[alone]]
    arm = np.where(trees.turns, sizes, 1.0)[columns]
    largest = max(float(np.abs(part / arm).max()) for part in (needed, found))
    return float(np.abs((needed - found) / arm).max()) / (largest or 1.0)


@lru_cache(maxsize=1)
def _scratch(plant):
    """A context to look back in, kept for the last plant: making it takes as long as mending."""
    return plant.CreateDefaultContext()


def _before(plant, context):
    """Context at the beginning of the last step, and its accelerations (nv,)."""
    a = plant.get_generalized_acceleration_output_port().Eval(context)
    q, v, dt = plant.GetPositions(context), plant.GetVelocities(context), plant.time_step()
    before = _scratch(plant)
    before.SetTimeStateAndParametersFrom(context)
    plant.SetPositions(before, q - dt * plant.MapVelocityToQDot(context, v))
    plant.SetVelocities(before, v - dt * a)
    return before, a


@njit(cache=True)
def _wrenches(root, point, push, origin):
    """What contacts push on each root: torque about its ``origin`` (bodies, 3), force; (bodies, 6).

    root (m, 2) int: of both sides; push (m, 3) [N]: on the second, at point (m, 3).
    """
    found, turn = np.zeros((len(origin), 6)), np.empty(3)
    for i in range(len(point)):
        for side in range(2):
            k, sign = root[i, side], 2.0 * side - 1.0
            cross(point[i] - origin[k], push[i], turn)
            found[k, :3] += sign * turn
            found[k, 3:] += sign * push[i]
    return found


ADVICE = (
    "make a step after poses or velocities were set, and give no other forces, or load='rest' "
    "where all rests"
)
"""What to do where Drake's forces are not those of its step."""


def library() -> ModuleType:
    """The pydrake.multibody.tree module."""
    imported("pydrake.multibody", engine="Drake", extra="drake")
    from pydrake.multibody import tree

    return tree


def from_drake(
    plant: "MultibodyPlant",
    context: "Context",
    *,
    stiffness: ByContact | None = None,
    exponent: float = 2.0,
    load: Load = "engine",
    held: Sequence[str] | str | None = None,
    links: MatrixLike | None = None,
    on_friction: str = "joint",
    **options: Unpack[OfReader],
) -> MendedForces:
    """Compatible forces in the order of ``ContactResults.point_pair_contact_info``.

    Parameters
    ----------
    plant : MultibodyPlant
        Finalized, connected to a SceneGraph.
    context : Context
        The plant's own (``plant.GetMyContextFromRoot(root)``) after a step.
    stiffness : optional
        Relative k, a number, one per point pair, or by name; None: see the head of this file.
    exponent : float
        Of the contact law.
    load : {"engine", "rest"} or (nv,)
        "engine" keeps its resultant; "rest": what holds everything without acceleration under
        gravity, springs and actuators.
    held : str or list of str, optional
        Names of joints taken as rigidly held.
    links : (k, nv), optional
        Rows of rigid links, G v = 0, such as J_A(p) - J_B(p) of a constraint; those not given keep
        Drake's forces.
    on_friction, **options
        As for ``mend_forces``. friction: coefficients in place of Drake's.

    Raises
    ------
    InputError
        For a plant without contacts of points, and options that do not fit.
    MissingExtra
        Without pydrake.

    Examples
    --------
    A table of weight 10 on four round feet:

    >>> import pydrake.all as drake
    >>> from rigidlimit.adapters import from_drake
    >>> builder = drake.DiagramBuilder()
    >>> plant, scene_graph = drake.AddMultibodyPlantSceneGraph(builder, time_step=1e-3)
    >>> plant.set_contact_model(drake.ContactModel.kPoint)
    >>> rough, at = drake.CoulombFriction(0.5, 0.5), drake.RigidTransform
    >>> inertia = drake.SpatialInertia.SolidBoxWithMass(1.0, 1.0, 1.0, 0.1)
    >>> table = plant.AddRigidBody("table", inertia)
    >>> shapes = [(plant.world_body(), at(), drake.HalfSpace(), "floor")]
    >>> for x, y in ((-0.5, -0.5), (0.5, -0.5), (-0.5, 0.5), (0.5, 0.5)):
    ...     shapes.append((table, at([x, y, -0.1]), drake.Sphere(0.1), f"foot {x} {y}"))
    >>> numbers = [plant.RegisterCollisionGeometry(*shape, rough) for shape in shapes]
    >>> plant.Finalize()
    >>> plant.mutable_gravity_field().set_gravity_vector([0.0, 0.0, -10.0])
    >>> simulator = drake.Simulator(builder.Build())
    >>> status = simulator.AdvanceTo(0.5)
    >>> context = plant.GetMyContextFromRoot(simulator.get_context())
    >>> from_drake(plant, context).force.round(2)
    array([2.5, 2.5, 2.5, 2.5])
    """
    tree = library()
    from pydrake.multibody.plant import MultibodyPlant
    from pydrake.systems.framework import Context

    wanted = asked(
        from_drake, options, load=load, exponent=exponent, on_friction=on_friction,
        plant=(plant, MultibodyPlant), context=(context, Context),
    )  # fmt: skip
    _check_ready(plant, context)
    pairs, geometries = point_pairs(plant, context)
    trees, held = trees_of(plant), _held(plant, held)
    normal, tangents = pairs.frame[:, 0], pairs.frame[:, 1:]
    twist, middle = twists(plant, context, trees, pairs.body)
    point = np.stack([pairs.point, pairs.point], axis=1)
    B, sliding = twist.rows(pairs.body, point, pairs.frame)
    k, said = _stiffness(pairs, stiffness, exponent)
    whole = trees.mechanism
    if links is not None:
        links = arrays.sparse("links", links, columns=plant.num_velocities())
        whole = joined(whole, links, held)
    loops = _constraints(plant, context) if links is None else 0
    places = Places(
        point=pairs.point,
        normal=normal,
        tangents=tangents,
        names=Pairs(pairs.body, trees.short),
        system=systems(plant, context, trees, held, links)[pairs.body],
        centre=middle[pairs.body],
        parts=pairs.parts(geometries, trees.names),
    )
    extent = extents(B, trees.turns, whole, places)
    residual = engine_residual(plant, context, tree, pairs, trees, extent.sizes)
    rubs = np.einsum("ij,ikj->ik", pairs.push, tangents)
    load = wanted.load
    if wanted.load_from == "rest":
        load = _rest(plant, context, tree, delivered(sliding, rubs.ravel()))
    kept = kept_as_is(rubs, on_friction)
    velocity = plant.GetVelocities(context)
    contacts = EngineContacts(
        B,
        np.einsum("ij,ij->i", pairs.push, normal),
        load=load,
        load_from=wanted.load_from,
        stiffness=k,
        held=held,
        tangential=rubs,
        friction=pairs.friction,
        sliding=sliding,
        gap=-pairs.depth + plant.time_step() * (B @ velocity),
        mechanism=trees.mechanism,
        reach=extent.reach,
        links=links,
        places=places,
        contacts=len(normal),
        engine="Drake",
        engine_residual=residual,
        notes=(
            *said,
            *constraints_given("Drake", loops, wanted.load_from, "their rows as links=..."),
            *stopped_short("Drake", residual, wanted.load_from, ADVICE, kept=kept),
        ),
        gap_tolerance=extent.gap_tolerance,
        velocity=velocity,
    )
    return wanted.mended(contacts)


def _stiffness(pairs, stiffness, exponent):
    """(stiffness as ``EngineContacts`` takes it, what to say of it)."""
    if stiffness is not None:
        return stiffness, () if by_name(stiffness) else ("stiffness: as given",)
    if not len(pairs.stiffness) or not np.isfinite(pairs.stiffness).all():
        return 1.0, ("stiffness: equal",)
    check_linear("Drake's point_contact_stiffness is", exponent)
    return pairs.stiffness, ("stiffness: point_contact_stiffness of both sides in series",)


def _check_ready(plant, context):
    """Raises InputError for what Drake would answer with an error of its own."""
    if not plant.is_finalized():
        raise InputError(
            "from_drake: plant is not finalized; call plant.Finalize() and make a step"
        )
    port = plant.get_geometry_query_input_port()
    try:
        plant.ValidateContext(context)
    except RuntimeError as error:
        raise InputError(
            "from_drake: context is not the plant's own; give "
            "plant.GetMyContextFromRoot(root), root of the diagram's context"
        ) from error
    if not port.HasValue(context):
        raise InputError(
            "from_drake: plant has no geometry; connect it to a SceneGraph, as "
            "AddMultibodyPlantSceneGraph does"
        )


def _constraints(plant, context):
    """How many constraints act."""
    if not plant.num_constraints():
        return 0
    return sum(plant.GetConstraintActiveStatus(context, i) for i in plant.GetConstraintIds())


def _rest(plant, context, tree, friction):
    forces = tree.MultibodyForces(plant)
    plant.CalcForceElementsContribution(context, forces)
    still = plant.CalcInverseDynamics(context, np.zeros(plant.num_velocities()), forces)
    motors = np.zeros(plant.num_velocities())
    if plant.num_actuators():
        motors = plant.MakeActuationMatrix() @ plant.get_net_actuation_output_port().Eval(context)
    return still - motors - friction


def _held(plant, held):
    mask = np.zeros(plant.num_velocities(), bool)
    for name in joint_names(held):
        try:
            joint = plant.GetJointByName(name)
        except RuntimeError as error:
            raise InputError(f"held names joint {name!r}: {error}") from error
        mask[joint.velocity_start() : joint.velocity_start() + joint.num_velocities()] = True
    return mask
