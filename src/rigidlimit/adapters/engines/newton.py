"""Compatible contact forces from Newton (newton-physics, on Warp), any device, read on the CPU.

Rigid contacts i < rigid_contact_count; Newton's contact_f row i is the force on the first body,
and its normal points from shape 0 to shape 1, so f_n = -contact_f . normal. With the Jacobian of
every articulation, whose rows are twists about each centre of mass in world axes,

    B_i = normal . ((v_1 + w_1 x r_1) - (v_0 + w_0 x r_0)),   (v, w) = eval_jacobian(...) qd

in Newton's joint velocities; free bodies are articulations of one free joint.

What Newton does not give: all is single precision, so the noise left out of B is 1e-5 here, more
where bodies are small beside their distance from the origin, and forces are sums to 1e-6; XPBD
reports forces that its averaging has already changed; only solvers with the observable CONTACT_F
report forces at all; ``ke`` is not used by the rigid solvers, so stiffness is given or equal.
Joints that close loops, couplings of joints, tendons, soft contacts and particles stay given load.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType
from typing import TYPE_CHECKING, Unpack

import numpy as np
from numba import njit

from ..._support.words import counted
from ...errors import InputError, MissingExtra
from .arguments import (
    Load,
    check_joint,
    constraints_given,
    imported,
    joint_names,
    unreported_moments,
)
from .contacts import EngineContacts
from .geometry import OUTSIDE, Places, cross, frames_along
from .materials import ByContact, by_name, given_stiffness
from .matrices import delivered
from .options import OfReader
from .parts import NamedParts
from .reading import asked, extents
from .result import MendedForces
from .sizes import mechanism_distances
from .tolerances import TOLERANCES
from .twists import Twists

if TYPE_CHECKING:
    import warp
    from newton import Contacts, Model, State


@dataclass(frozen=True)
class Structure:
    """Of each velocity (n,): joint, turns (whether it is a rotation) and articulation. Of each
    body: system, that which moves freely, or OUTSIDE, one more for the world, -1; part and row,
    its articulation and its first row in that one's Jacobian. first, count: of each articulation
    the first velocity, and how many. shape_body: body of each shape. Labels of shapes, bodies,
    joints. constraints: number of joints that close loops, couplings of joints, and tendons."""

    joint: np.ndarray
    turns: np.ndarray
    articulation: np.ndarray
    system: np.ndarray
    part: np.ndarray
    row: np.ndarray
    first: np.ndarray
    count: np.ndarray
    shape_body: np.ndarray
    shapes: list[str]
    bodies: list[str]
    joints: list[str]
    constraints: int


@lru_cache(maxsize=4)
def structure(newton: ModuleType, model: "Model") -> Structure:
    """Of ``model``; kept, since reading it takes as long as mending."""
    kind, child, parent, first, linear, tree = (
        getattr(model, f"joint_{name}").numpy()
        for name in ("type", "child", "parent", "qd_start", "dof_dim", "articulation")
    )
    size, count = np.diff(first), int(model.body_count)
    joint = np.repeat(np.arange(len(size)), size)
    above = {int(child[j]): j for j in np.flatnonzero(tree >= 0)}  # no joints that close loops
    system, number = np.full(count + 1, OUTSIDE), {}
    for b in range(count):
        top = b
        while top in above and parent[above[top]] >= 0:
            top = int(parent[above[top]])
        if top in above and kind[above[top]] == newton.JointType.FREE:
            system[b] = number.setdefault(top, len(number))
    articulations = int(model.articulation_count)
    start, end = (
        getattr(model, f"articulation_{name}").numpy()[:articulations] for name in ("start", "end")
    )
    part, row = np.full(count, -1), np.zeros(count, np.int64)
    for a in range(articulations):
        body = child[start[a] : end[a]]
        part[body], row[body] = a, 6 * np.arange(len(body))
    return Structure(
        joint=joint,
        turns=np.arange(len(joint)) - first[joint] >= linear[joint, 0],
        articulation=tree[joint].astype(np.int64) + 1,
        system=system,
        part=part,
        row=row,
        first=first[start].astype(np.int64),
        count=(first[end] - first[start]).astype(np.int64),
        shape_body=model.shape_body.numpy().astype(int),
        shapes=list(map(str, model.shape_label)),
        bodies=list(map(str, model.body_label)),
        joints=list(model.joint_label),
        constraints=int((tree < 0).sum() + model.constraint_mimic_count + model.tendon_count),
    )


def twists(
    newton: ModuleType, model: "Model", state: "State", made: Structure, centre: np.ndarray
) -> Twists:
    """Of all bodies at ``state``; centre (bodies, 3): their centres of mass [m]."""
    blocks = newton.eval_jacobian(model, state).numpy().astype(float)
    n = len(made.joint)
    return Twists(blocks, np.arange(n), made.first, made.count, made.part, made.row, centre, n)


@njit(cache=True)
def carried(pose: np.ndarray, body: np.ndarray, local: np.ndarray) -> np.ndarray:
    """World places (m, s, 3) of points given in the frames of bodies (m, s), -1: in the world's.

    pose (bodies, 7): place and quaternion (x, y, z, w) of each; local (m, s, 3).
    """
    place, once, twice = local.copy(), np.empty(3), np.empty(3)
    for i in range(body.shape[0]):
        for s in range(body.shape[1]):
            if body[i, s] >= 0:
                at, x = pose[body[i, s]], local[i, s]
                cross(at[3:6], x, once)
                cross(at[3:6], once + at[6] * x, twice)
                place[i, s] = x + 2.0 * twice + at[:3]
    return place


FAR = 4 * float(np.finfo(np.float32).eps)
"""The same of places, over their distance from the origin: it makes arms of small bodies noise."""


WEIGHS = 0.01
"""Part of a body's weight by which contact forces may differ from it unsaid."""


def library() -> ModuleType:
    """The newton module."""
    newton = imported("newton", engine="Newton", extra="newton")
    if not hasattr(newton, "eval_jacobian"):
        raise MissingExtra(
            "this newton has no eval_jacobian; install 1.7 or later with pip install "
            "'rigidlimit[newton]'"
        )
    return newton


def from_newton(
    model: "Model",
    state: "State",
    contacts: "Contacts",
    contact_force: "warp.array",
    *,
    stiffness: ByContact | None = None,
    exponent: float = 2.0,
    load: Load = "engine",
    held: Sequence[str] | str | None = None,
    on_friction: str = "joint",
    **options: Unpack[OfReader],
) -> MendedForces:
    """Compatible forces in the order of Newton's rigid contacts, along its normals.

    Parameters
    ----------
    model, contacts
        Newton's.
    state
        After the step, with joint_q up to date where joints have several axes (``newton.eval_ik``
        after solvers that move bodies).
    contact_force
        ``observables.contact_f`` of that step.
    stiffness : optional
        Relative k, a number, one per rigid contact, or by name; None: equal.
    exponent : float
        Of the contact law.
    load : {"engine", "rest"} or (n,)
        "engine" keeps its resultant; "rest": what holds everything without acceleration under
        gravity and friction forces, joints unloaded.
    held : str or list of str, optional
        Labels of joints taken as rigidly held.
    on_friction, **options
        As for ``mend_forces``. friction: coefficients in place of the mean of both shapes', also
        by name.

    Raises
    ------
    InputError
        For a state, contacts or forces of another model.
    MissingExtra
        Without newton 1.7 or later.

    Examples
    --------
    A table of weight 10 on four balls:

    >>> import newton, warp
    >>> from rigidlimit.adapters import from_newton
    >>> builder = newton.ModelBuilder(gravity=(0, 0, -10))
    >>> shape = newton.ModelBuilder.ShapeConfig(density=0)
    >>> floor = builder.add_ground_plane(cfg=shape)
    >>> at, level = warp.transform((0, 0, 0.1), warp.quat_identity()), warp.quat_identity()
    >>> inertia = warp.mat33(0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1)
    >>> table = builder.add_body(xform=at, mass=1.0, inertia=inertia)
    >>> for x, y in ((-0.5, -0.5), (0.5, -0.5), (-0.5, 0.5), (0.5, 0.5)):
    ...     place = warp.transform((x, y, 0), level)
    ...     foot = builder.add_shape_sphere(table, xform=place, radius=0.1, cfg=shape)
    >>> model = builder.finalize(device="cpu")
    >>> solver, state, after = newton.solvers.SolverXPBD(model), model.state(), model.state()
    >>> pipeline = newton.CollisionPipeline(model)
    >>> contacts = pipeline.contacts()
    >>> kind = newton.solvers.SolverBase.ObservableKind.CONTACT_F
    >>> seen = solver.observables([kind], contacts=contacts)
    >>> for _ in range(20):
    ...     pipeline.collide(state, contacts)
    ...     solver.step(state, after, None, contacts, 1 / 240, observables=seen)
    ...     state, after = after, state
    >>> mended = from_newton(model, state, contacts, seen.contact_f, load="rest")
    >>> mended.force[mended.row].round(2)
    array([2.5, 2.5, 2.5, 2.5])
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
    count = int(contacts.rigid_contact_count.numpy()[0])
    made = structure(newton, model)
    shape = _of_sides(contacts, "shape", count).astype(int)
    wrench = contact_force.numpy()
    _check_sizes(state, wrench, made, shape)
    body = made.shape_body[shape]
    frame = frames_along(contacts.rigid_contact_normal.numpy()[:count].astype(float))
    normal, tangents = frame[:, 0], frame[:, 1:]
    pose = state.body_q.numpy().astype(float)
    local = _of_sides(contacts, "point", count) + _of_sides(contacts, "offset", count)
    point = carried(pose, body, local.astype(float))
    number = np.arange(len(pose))[:, None]
    centre = carried(pose, number, model.body_com.numpy().astype(float)[:, None])[:, 0]
    push = -wrench[:count, :3].astype(float)  # on the second body
    rubs = np.einsum("ij,ikj->ik", push, tangents)
    twist = twists(newton, model, state, made, centre)
    B, sliding = twist.rows(body, point, frame)
    load = wanted.load
    if wanted.load_from == "rest":
        load = -twist.delivered(_weight(model)) - delivered(sliding, rubs.ravel())
    parts = NamedParts(geom=shape, body=body, geoms=made.shapes, bodies=made.bodies)
    places = Places(
        point=point,
        normal=normal,
        tangents=tangents,
        names=parts.pairs,
        system=made.system[body],
        centre=np.where(body[:, :, None] >= 0, centre[body], np.nan),
        parts=parts,
    )
    extent = extents(B, made.turns, made.articulation, places)
    far = mechanism_distances(B, made.articulation, places)
    k = 1.0 if stiffness is None else stiffness
    said = "equal" if stiffness is None else "as given"
    turning = np.hstack(
        [_coefficients(model, f"_{kind}", shape) for kind in ("torsional", "rolling")]
    )
    found = EngineContacts(
        B,
        np.einsum("ij,ij->i", push, normal),
        load=load,
        load_from=wanted.load_from,
        stiffness=given_stiffness(k, count, "rigid contact"),
        held=_held(held, made),
        tangential=rubs,
        # combined coefficients differ by solver; the mean is XPBD's
        friction=_coefficients(model, "", shape).mean(axis=1),
        sliding=sliding,
        mechanism=made.articulation,
        reach=extent.reach,
        gap=np.einsum("ij,ij->i", point[:, 1] - point[:, 0], normal),
        places=places,
        contacts=count,
        engine="Newton",
        notes=(
            *(() if by_name(stiffness) else (f"stiffness: {said}",)),
            *constraints_given("Newton", made.constraints, wanted.load_from, "a load (n,)"),
            *unreported_moments("Newton", turning),
            *_off_weight(model, made, places, push, wanted.load_from),
        ),
        accuracy=np.clip(FAR * far / extent.sizes, TOLERANCES.single, 0.1),
        gap_tolerance=extent.gap_tolerance,
        velocity=state.joint_qd.numpy().astype(float),
    )
    return wanted.mended(found)


def _of_sides(contacts, what, count):
    """One of Newton's arrays of both sides of each contact, (count, 2, ...)."""
    sides = [getattr(contacts, f"rigid_contact_{what}{side}").numpy()[:count] for side in (0, 1)]
    return np.stack(sides, axis=1)


def _check_sizes(state, wrench, made, shape):
    """Raises InputError for a state, contacts or forces of another model or step; shape (m, 2):
    numbers of the contacts' shapes, wrench: Newton's contact forces."""
    bodies = state.body_q.shape[0]
    if bodies != len(made.bodies):
        raise InputError(
            f"from_newton: state has {counted(bodies, 'body')} and model {len(made.bodies)}; "
            "expected a state of this model"
        )
    if shape.max(initial=-1) >= len(made.shapes):
        raise InputError(
            f"from_newton: contacts name shape {shape.max()} and model has {len(made.shapes)}; "
            "expected contacts of this model"
        )
    found = wrench.shape
    if len(found) != 2 or found[0] < len(shape) or found[1] != 6:
        raise InputError(
            f"from_newton: contact_force has shape {found}; expected ({len(shape)} or more, 6), "
            "observables.contact_f of the step that found these contacts"
        )


def _coefficients(model, kind, shape):
    """Friction of both shapes of each contact (m, 2), of sliding, "_torsional" or "_rolling"."""
    return getattr(model, f"shape_material_mu{kind}").numpy().astype(float)[shape]


def _off_weight(model, made, places, push, load_from):
    """Message about floating bodies whose contact forces are not their weight: Newton keeps no
    accelerations to distinguish those that move from solvers that stop early. push (m, 3) [N]: on
    the second bodies."""
    if load_from != "engine":
        return
    total = places.totals(push)[:, :3]
    weight = np.zeros_like(total)
    own = np.asarray(made.system[: len(made.bodies)])
    floats = (own >= 0) & (own < len(total))
    np.add.at(weight, own[floats], _weight(model)[floats])
    size = (weight**2).sum(axis=1)
    borne = np.divide(-(total * weight).sum(axis=1), size, where=size > 0, out=np.ones(len(total)))
    off = np.where(total.any(axis=1), np.abs(borne - 1.0), 0.0)
    if not off.max(initial=0.0) > WEIGHS:
        return
    worst = int(off.argmax())
    name = made.bodies[int(np.flatnonzero(own == worst)[0])]
    yield (
        f"Newton's contact forces carry {100 * borne[worst]:.3g} % of the weight of {name!r}, and "
        "so do the mended ones: where it rests or sinks slowly, the solver left that over (XPBD "
        "moves bodies by positions), and load='rest' does not go by it"
    )


def _weight(model):
    """Gravity on each body, (bodies, 3)."""
    gravity = model.gravity.numpy().astype(float).reshape(-1, 3)
    world = np.maximum(model.body_world.numpy(), 0) if len(gravity) > 1 else 0
    return model.body_mass.numpy()[:, None].astype(float) * gravity[world]


def _held(held, made):
    mask = np.zeros(len(made.joint), bool)
    for name in joint_names(held):
        check_joint(name, made.joints)
        mask[made.joint == made.joints.index(name)] = True
    return mask
