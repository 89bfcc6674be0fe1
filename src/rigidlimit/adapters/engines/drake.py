"""Compatible contact forces from Drake's ``MultibodyPlant`` and its contact results.

For every point pair, with n from body A to body B at the contact point C,

    B_i = n . (J_B - J_A),  J = plant.CalcJacobianTranslationalVelocity at C      f_n = f_Bc . n

in Drake's generalized velocities, free bodies and articulated ones alike. Joint limits,
constraints, actuators and springs stay as Drake has them: given load. Drake does not tell Python
between which points its weld, ball and coupler constraints are: give their rows as ``links``.

Stiffness: ``point_contact_stiffness`` of both geometries in series, as Drake combines them, where
every contact has one; else equal.

What Drake does not give: a plant of discrete time reports the contacts of its last step (none
before the first), poses are those of the step's end, so moment arms are off by a step's motion.
Hydroelastic contact is a pressure field whose stiffness is part
of the model, not a set of point forces: it is refused, as are deformable bodies.
"""

import numpy as np

from ..._support import arrays
from ..._support.words import counted
from ...errors import InputError
from .arguments import check_linear, imported, joint_names, stopped_short
from .contacts import EngineContacts
from .drake_state import engine_residual
from .drake_trees import LINEAR_FIRST, systems, trees_of
from .geometry import ContactGeometry, across
from .links import joined
from .materials import by_name
from .matrices import delivered
from .parts import NamedParts
from .reading import asked, extents
from .result import MendedForces
from .twists import Twists

ADVICE = (
    "make a step after poses or velocities were set, and give no other forces, or load='rest' "
    "where all rests"
)
"""What to do where Drake's forces are not those of its step."""


def library():
    """The pydrake.multibody.tree module."""
    imported("pydrake.multibody", engine="Drake", extra="drake")
    from pydrake.multibody import tree

    return tree


def from_drake(
    plant,
    context,
    *,
    stiffness=None,
    exponent: float = 2.0,
    load="engine",
    held=None,
    links=None,
    on_friction: str = "joint",
    **options,
) -> MendedForces:
    """Compatible forces in the order of ``ContactResults.point_pair_contact_info``.

    plant: finalized MultibodyPlant connected to a SceneGraph; context: the plant's own context
    (``plant.GetMyContextFromRoot(root)``) after a step.
    stiffness: relative k, a number, one per point pair or by name; None: see above. load: "engine"
    keeps its resultant; "rest": what holds everything without acceleration under gravity, springs
    and actuators; or (nv,). held: names of joints taken as rigidly held.
    links (k, nv): rows of rigid links, G v = 0, such as J_A(p) - J_B(p) of a constraint; those not
    given keep Drake's forces. friction: coefficients in place of Drake's. exponent, on_friction and
    further keywords: as for ``mend_forces``.
    """
    tree = library()
    from pydrake.multibody.plant import MultibodyPlant
    from pydrake.systems.framework import Context

    wanted = asked(
        from_drake, options, load=load, exponent=exponent, on_friction=on_friction,
        plant=(plant, MultibodyPlant), context=(context, Context),
    )  # fmt: skip
    load_from, load = wanted.load_from, wanted.load
    _check_ready(plant, context)
    infos = _point_pairs(plant, context)
    count = len(infos)
    bodies = [(plant.get_body(i.bodyA_index()), plant.get_body(i.bodyB_index())) for i in infos]
    number = np.array([[int(x.index()) for x in pair] for pair in bodies], int).reshape(-1, 2)
    pairs = [i.point_pair() for i in infos]
    normal = np.array([-pair.nhat_BA_W for pair in pairs]).reshape(-1, 3)
    point = np.array([i.contact_point() for i in infos]).reshape(-1, 3)
    axes = across(normal)
    push = np.array([i.contact_force() for i in infos]).reshape(-1, 3)
    force = np.einsum("ij,ij->i", push, normal)
    slide = push - force[:, None] * normal

    rubs, trees = np.einsum("ij,kij->ik", slide, axes), trees_of(plant)
    twists = _twists(plant, context, tree, np.unique(number), trees)
    B, sliding = twists.rows(
        number, np.stack([point, point], axis=1), np.stack([normal, *axes], axis=1)
    )
    friction, series = _properties(plant, context, pairs)
    said = () if by_name(stiffness) else ("stiffness: as given",)
    if stiffness is None:
        stiffness, said = 1.0, ("stiffness: equal",)
        if count and np.isfinite(series).all():
            stiffness = series
            said = ("stiffness: point_contact_stiffness of both sides in series",)
            check_linear("Drake's point_contact_stiffness is", exponent)
    held = _held(plant, held)
    whole = trees.mechanism
    if links is not None:
        links = arrays.sparse("links", links, columns=plant.num_velocities())
        whole = joined(whole, links, held)
    system = systems(plant, context, trees, held, links)
    places = _geometry(plant, context, pairs, bodies, number, point, normal, axes, system)
    extent = extents(B, trees.turns, whole, places)
    residual = engine_residual(plant, context, tree, number, point, push, trees, extent.sizes)
    doubt = stopped_short("Drake", residual, load_from, ADVICE)
    if load_from == "rest":
        load = _rest(plant, context, tree, delivered(sliding, rubs.ravel()))
    depth, velocity = np.array([pair.depth for pair in pairs]), plant.GetVelocities(context)
    contacts = EngineContacts(
        B,
        force,
        load=load,
        load_from=load_from,
        stiffness=stiffness,
        held=held,
        tangential=rubs,
        friction=friction,
        sliding=sliding,
        gap=-depth + plant.time_step() * (B @ velocity),
        mechanism=trees.mechanism,
        reach=extent.reach,
        links=links,
        places=places,
        contacts=count,
        engine="Drake",
        engine_residual=residual,
        notes=(*said, *([doubt] if doubt else [])),
        gap_tolerance=extent.gap_tolerance,
        velocity=velocity,
    )
    return wanted.mended(contacts)


def _point_pairs(plant, context):
    """Drake's point contacts. Raises InputError for contacts of other kinds."""
    results = plant.get_contact_results_output_port().Eval(context)
    deformable = getattr(results, "num_deformable_contacts", int)  # older Drake has none
    others = results.num_hydroelastic_contacts() + deformable()
    if others:
        raise InputError(
            f"found {counted(others, 'hydroelastic or deformable contact')}, each with a pressure "
            "field of its own; expected point contacts: set ContactModel.kPoint, or rigid and "
            "point geometry"
        )
    count = results.num_point_pair_contacts()
    return [results.point_pair_contact_info(i) for i in range(count)]


def _geometry(
    plant, context, pairs, bodies, number, point, normal, axes, system
) -> ContactGeometry:
    """bodies, number (m, 2): both of each contact, and their indices; axes (2, m, 3): tangents;
    system: of each body of the plant."""
    parts = _parts(plant, context, pairs, number)
    middle = np.full((plant.num_bodies(), 3), np.nan)
    for body in {int(x.index()): x for pair in bodies for x in pair}.values():
        middle[int(body.index())] = _middle(plant, context, body)
    return ContactGeometry(
        point=point,
        normal=normal,
        tangents=axes.transpose(1, 0, 2),
        names=tuple((a.name(), b.name()) for a, b in bodies),
        system=system[number],
        centre=middle[number],
        parts=parts,
    )


def _parts(plant, context, pairs, number) -> NamedParts:
    """Geometries and bodies of the plant by Drake's scoped names; number (m, 2): of the bodies."""
    inspector = plant.get_geometry_query_input_port().Eval(context).inspector()
    every = inspector.GetAllGeometryIds()
    place = {geometry.get_value(): i for i, geometry in enumerate(every)}
    geom = [[place[pair.id_A.get_value()], place[pair.id_B.get_value()]] for pair in pairs]
    return NamedParts(
        geom=np.array(geom, int).reshape(-1, 2),
        body=number,
        geoms=[inspector.GetName(geometry) for geometry in every],
        bodies=trees_of(plant).names,
    )


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


def _middle(plant, context, body):
    """Its centre of mass; nan for what is fixed to the world."""
    if plant.IsAnchored(body):
        return np.full(3, np.nan)
    pose = plant.EvalBodyPoseInWorld(context, body)
    return pose @ body.CalcCenterOfMassInBodyFrame(context)


def _twists(plant, context, tree, bodies, trees) -> Twists:
    """Of some bodies (indices), about their origins."""
    world, kv = plant.world_frame(), tree.JacobianWrtVariable.kV
    part, n = np.full(len(trees.root), -1), plant.num_velocities()
    centre, blocks, dofs = np.zeros((len(part), 3)), [], []
    for index in bodies.tolist():
        body = plant.get_body(tree.BodyIndex(index))
        own = np.flatnonzero(trees.mechanism == n + trees.root[index])
        if not len(own):
            continue
        part[index] = len(dofs)
        centre[index] = plant.EvalBodyPoseInWorld(context, body).translation()
        jacobian = plant.CalcJacobianSpatialVelocity(
            context, kv, body.body_frame(), np.zeros(3), world, world
        )
        blocks.append(jacobian[LINEAR_FIRST][:, own])
        dofs.append(own)
    count = np.array([len(own) for own in dofs], np.int64)
    table = np.zeros((len(dofs), 6, int(count.max(initial=0))))
    for block, own in zip(table, blocks, strict=True):
        block[:, : own.shape[1]] = own
    return Twists(
        blocks=table,
        dofs=np.concatenate([*dofs, np.zeros(0, int)]),
        first=np.cumsum(count) - count,
        count=count,
        part=part,
        row=np.zeros(len(part), np.int64),
        centre=centre,
        columns=n,
    )


def _properties(plant, context, pairs):
    """Drake's combined friction coefficients and stiffnesses, nan where a side has none."""
    inspector = plant.get_geometry_query_input_port().Eval(context).inspector()
    friction, series, known = np.zeros(len(pairs)), np.full(len(pairs), np.nan), {}

    def material(geometry):
        number = geometry.get_value()
        if number not in known:
            side = inspector.GetProximityProperties(geometry)
            names = "coulomb_friction", "point_contact_stiffness"
            known[number] = [_property(side, name) for name in names]
        return known[number]

    for i, pair in enumerate(pairs):
        mu, k = zip(material(pair.id_A), material(pair.id_B), strict=True)
        if all(mu):
            # the plant of discrete time has the dynamic coefficient only
            a, b = (side.dynamic_friction() for side in mu)
            friction[i] = 2 * a * b / (a + b) if a + b > 0 else 0.0
        if all(k):
            series[i] = k[0] * k[1] / (k[0] + k[1])
    return friction, series


def _property(properties, name):
    if properties is None or not properties.HasProperty("material", name):
        return None
    return properties.GetProperty("material", name)


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
