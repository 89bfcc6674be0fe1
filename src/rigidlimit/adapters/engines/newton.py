"""Compatible contact forces from Newton (newton-physics, on Warp), any device, read on the CPU.

Rigid contacts i < rigid_contact_count; Newton's contact_f row i is the force on the first body,
and its normal points from shape 0 to shape 1, so f_n = -contact_f . normal. With the Jacobian of
every articulation, whose rows are twists about each centre of mass in world axes,

    B_i = normal . ((v_1 + w_1 x r_1) - (v_0 + w_0 x r_0)),   (v, w) = eval_jacobian(...) qd

in Newton's joint velocities; free bodies are articulations of one free joint.

What Newton does not give: all is single precision, so the noise left out of B is 1e-5 here, more
where bodies are small beside their distance from the origin, and forces are sums to 1e-6; XPBD
reports forces that its averaging has already changed; only solvers with the observable CONTACT_F
report forces at all; ``ke`` is not used by the rigid solvers, so stiffness is given or equal. Loop
joints, soft contacts and particles stay given load.
"""

import numpy as np

from ..._support.words import counted
from ...errors import InputError, MissingExtra
from .arguments import check_joint, imported, joint_names
from .contacts import EngineContacts
from .geometry import OUTSIDE, ContactGeometry, across, crossed
from .materials import by_name, given_stiffness
from .matrices import delivered
from .parts import NamedParts
from .reading import asked, extents
from .result import MendedForces
from .sizes import mechanism_distances
from .twists import Twists

SINGLE = 1e-5
"""Accuracy of geometry in single precision, after a few operations."""

FAR = 4 * float(np.finfo(np.float32).eps)
"""The same of places, over their distance from the origin: it makes arms of small bodies noise."""


def library():
    """The newton module."""
    newton = imported("newton", engine="Newton", extra="newton")
    if not hasattr(newton, "eval_jacobian"):
        raise MissingExtra(
            "this newton has no eval_jacobian; install 1.7 or later with pip install "
            "'rigidlimit[newton]'"
        )
    return newton


def from_newton(
    model,
    state,
    contacts,
    contact_force,
    *,
    stiffness=None,
    exponent: float = 2.0,
    load="engine",
    held=None,
    on_friction: str = "joint",
    **options,
) -> MendedForces:
    """Compatible forces in the order of Newton's rigid contacts, along its normals.

    model, contacts: newton's; state: after the step, with joint_q up to date where joints have
    several axes (``newton.eval_ik`` after solvers that move bodies); contact_force:
    ``observables.contact_f`` of that step. stiffness: relative k, a number or one per rigid
    contact; None: equal. load: "engine" keeps its resultant; "rest": what holds everything without
    acceleration under gravity and friction forces, joints unloaded; or (n,). held: labels of joints
    taken as rigidly held.
    friction: coefficients in place of the mean of both shapes'. exponent, on_friction and further
    keywords: as for ``mend_forces``. Stiffness and friction also by name.
    """
    newton = library()
    wanted = asked(
        from_newton, options, load=load, exponent=exponent, on_friction=on_friction,
        model=(model, newton.Model), state=(state, newton.State),
        contacts=(contacts, newton.Contacts),
    )  # fmt: skip
    if not hasattr(contact_force, "numpy"):
        raise InputError(
            f"from_newton: contact_force is a {type(contact_force).__name__}; expected the Warp "
            "array observables.contact_f"
        )
    load_from, load = wanted.load_from, wanted.load
    count = int(contacts.rigid_contact_count.numpy()[0])
    _check_sizes(model, state, contacts, contact_force, count)
    shapes = [getattr(contacts, f"rigid_contact_shape{side}").numpy()[:count] for side in (0, 1)]
    body = np.array([model.shape_body.numpy()[shape] for shape in shapes], int).T.reshape(-1, 2)
    normal = contacts.rigid_contact_normal.numpy()[:count].astype(float)
    pose = state.body_q.numpy().astype(float)
    point = np.stack([_surface(contacts, side, count, body[:, side], pose) for side in (0, 1)], 1)
    push = -np.asarray(contact_force.numpy()[:count, :3], float)
    force = np.einsum("ij,ij->i", push, normal)
    slide = push - force[:, None] * normal

    axes = across(normal)
    centre = pose[:, :3] + _turned(pose[:, 3:], model.body_com.numpy().astype(float))
    twists = _twists(newton, model, state, centre)
    twist, sliding = twists.rows(body, point, np.stack([normal, *axes], axis=1))
    rubs = np.einsum("ij,kij->ik", slide, axes)
    if load_from == "rest":
        load = -twists.delivered(_weight(model)) - delivered(sliding, rubs.ravel())
    free, joint_of, turns = _joints(newton, model)
    said = "equal" if stiffness is None else "as given"
    parts = NamedParts(
        geom=np.array(shapes, int).T.reshape(-1, 2),
        body=body,
        geoms=list(map(str, model.shape_label)),
        bodies=list(map(str, model.body_label)),
    )
    places = ContactGeometry(
        point=point,
        normal=normal,
        tangents=axes.transpose(1, 0, 2),
        names=parts.pairs,
        system=np.where(body >= 0, free[body], OUTSIDE),
        centre=np.where(body[:, :, None] >= 0, centre[body], np.nan),
        parts=parts,
    )
    articulation = _articulation_of(model, joint_of)
    extent = extents(twist, turns, articulation, places)
    mu = model.shape_material_mu.numpy()
    far = mechanism_distances(twist, articulation, places)
    contacts_ = EngineContacts(
        twist,
        force,
        load=load,
        load_from=load_from,
        stiffness=given_stiffness(1.0 if stiffness is None else stiffness, count, "rigid contact"),
        held=_held(model, held, joint_of),
        tangential=rubs,
        # combined coefficients differ by solver; the mean is XPBD's
        friction=(mu[shapes[0]] + mu[shapes[1]]) / 2,
        sliding=sliding,
        mechanism=articulation,
        reach=extent.reach,
        gap=np.einsum("ij,ij->i", point[:, 1] - point[:, 0], normal),
        places=places,
        contacts=count,
        engine="Newton",
        notes=() if by_name(stiffness) else (f"stiffness: {said}",),
        accuracy=np.clip(FAR * far / extent.sizes, SINGLE, 0.1),
        gap_tolerance=extent.gap_tolerance,
        velocity=state.joint_qd.numpy().astype(float),
    )
    return wanted.mended(contacts_)


def _check_sizes(model, state, contacts, contact_force, count):
    """Raises InputError for a state, contacts or forces of another model or step."""
    bodies = state.body_q.shape[0]
    if bodies != int(model.body_count):
        raise InputError(
            f"from_newton: state has {counted(bodies, 'body')} and model {int(model.body_count)}; "
            "expected a state of this model"
        )
    last = max(
        int(getattr(contacts, f"rigid_contact_shape{side}").numpy()[:count].max(initial=-1))
        for side in (0, 1)
    )
    if last >= int(model.shape_count):
        raise InputError(
            f"from_newton: contacts name shape {last} and model has {int(model.shape_count)}; "
            "expected contacts of this model"
        )
    shape = contact_force.numpy().shape
    if len(shape) != 2 or shape[0] < count or shape[1] != 6:
        raise InputError(
            f"from_newton: contact_force has shape {shape}; expected ({count} or more, 6), "
            "observables.contact_f of the step that found these contacts"
        )


def _surface(contacts, side, count, body, pose):
    """World points of one side's surface (m, 3)."""
    local = sum(
        getattr(contacts, f"rigid_contact_{part}{side}").numpy()[:count].astype(float)
        for part in ("point", "offset")
    )
    moves = body >= 0
    point = local.copy()
    at = pose[body[moves]]
    point[moves] = at[:, :3] + _turned(at[:, 3:], local[moves])
    return point.reshape(-1, 3)


def _turned(quaternion, vector):
    """Vectors (m, 3) turned by quaternions (x, y, z, w)."""
    axis, w = quaternion[:, :3], quaternion[:, 3:]
    return vector + 2 * crossed(axis, crossed(axis, vector) + w * vector)


def _twists(newton, model, state, centre) -> Twists:
    """Of all bodies at ``state``; centre (bodies, 3): their centres of mass [m]."""
    blocks = newton.eval_jacobian(model, state).numpy().astype(float)
    start, child = model.articulation_start.numpy(), model.joint_child.numpy()
    first = model.joint_qd_start.numpy()[start[: len(blocks) + 1]].astype(np.int64)
    part, row = np.full(int(model.body_count), -1), np.zeros(int(model.body_count), np.int64)
    for a in range(len(blocks)):
        body = child[start[a] : start[a + 1]]
        part[body], row[body] = a, 6 * np.arange(len(body))
    n = int(model.joint_dof_count)
    return Twists(blocks, np.arange(n), first[:-1], np.diff(first), part, row, centre, n)


def _weight(model):
    """Gravity on each body, (bodies, 3)."""
    gravity = model.gravity.numpy().astype(float).reshape(-1, 3)
    world = np.maximum(model.body_world.numpy(), 0) if len(gravity) > 1 else 0
    return model.body_mass.numpy()[:, None].astype(float) * gravity[world]


def _joints(newton, model):
    """Free system of each body, joint of each velocity, and whether that turns."""
    kind, child = model.joint_type.numpy(), model.joint_child.numpy()
    parent, first = model.joint_parent.numpy(), model.joint_qd_start.numpy()
    size = np.diff(first)
    joint_of = np.repeat(np.arange(len(size)), size)
    linear = model.joint_dof_dim.numpy()[:, 0]
    turns = np.arange(len(joint_of)) - first[joint_of] >= linear[joint_of]
    above = {int(c): j for j, c in enumerate(child)}
    free, number = np.full(int(model.body_count) + 1, OUTSIDE), {}  # one more: the world, -1
    for b in range(int(model.body_count)):
        top = b
        while top in above and parent[above[top]] >= 0:
            top = int(parent[above[top]])
        if top in above and kind[above[top]] == newton.JointType.FREE:
            free[b] = number.setdefault(top, len(number))
    return free, joint_of, turns


def _articulation_of(model, joint_of):
    start = model.articulation_start.numpy()
    return np.searchsorted(start, joint_of, side="right")


def _held(model, held, joint_of):
    mask = np.zeros(len(joint_of), bool)
    labels = list(model.joint_label)
    for name in joint_names(held):
        check_joint(name, labels)
        mask[joint_of == labels.index(name)] = True
    return mask
