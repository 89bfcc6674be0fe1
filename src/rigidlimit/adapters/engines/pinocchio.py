"""Compatible contact forces from Pinocchio's constraint models and its solver's impulses.

Pinocchio keeps no state: the caller has made constraint models and data (``calc`` called), the
problem G x + g and the impulses x of ``PGSConstraintSolver`` or ``ADMMConstraintSolver``. Rows of
a point contact are two tangents and the normal of its frame, motion of joint 2 less joint 1, so

    J = getConstraintsJacobian(...)    B = its third row of each point contact    f_n = x_n / dt

in Pinocchio's generalized velocities, free flyers and articulated bodies alike. Anchors of points
and frames are rigid links, which restrain motions: see ``links``. Constraints of other kinds (joint
limits, dry friction) stay as solved: given load.

What Pinocchio does not give: no contact stiffness (compliance regularizes, and is not read);
Gauss-Seidel may stop well short of the solution, with a resultant that is not the body's: for that
``load="step"`` solves its problem anew, g as the caller gave it to the solver. With g and data.M,
impulses are checked against that problem in any case, and the message says how far they are off.
"""

import numpy as np
import scipy.sparse as sp

from ..._support import arrays
from ..._support.matrices import compact
from ..._support.words import counted
from ...dynamics import contact_dynamics
from ...errors import InputError, MissingExtra
from .arguments import check_joint, imported, joint_names, rigid_or_given, stopped_short
from .contacts import EngineContacts
from .geometry import OUTSIDE, ContactGeometry
from .links import from_error, joined, joined_systems
from .materials import by_name
from .parts import NamedParts
from .reading import asked, extents
from .result import MendedForces

POINT_CONTACT = "PointContactConstraintModel"
ANCHORS = ("PointAnchorConstraintModel", "FrameAnchorConstraintModel")
SLIDES = ("JointModelP", "JointModelTranslation")  # prismatic joints of every kind
FREE = "JointModelFreeFlyer"

DIVERGED = 1e12
"""Largest force over the weight of the model from which on that is lost in the rounding of forces,
to 1e-4 and more."""


def library():
    """The pinocchio module."""
    pinocchio = imported("pinocchio", engine="Pinocchio", extra="pinocchio")
    if not hasattr(pinocchio, POINT_CONTACT):
        raise MissingExtra(
            f"this Pinocchio ({pinocchio.__version__}) has no {POINT_CONTACT}; "
            "install 4.0 or later with pip install 'rigidlimit[pinocchio]'"
        )
    return pinocchio


def from_pinocchio(
    model,
    data,
    constraint_models,
    constraint_datas,
    impulses,
    *,
    dt: float = 1.0,
    stiffness=None,
    exponent: float = 2.0,
    load="engine",
    g=None,
    held=None,
    equalities="rigid",
    on_friction: str = "joint",
    **options,
) -> MendedForces:
    """Compatible forces, one per point contact in the order of ``constraint_models``.

    Parameters
    ----------
    model, data, constraint_models, constraint_datas : Pinocchio's, ``calc`` called.
    impulses : of the solver, all rows of all constraints [N s].
    dt : [s], turns impulses into forces (1 if they are forces).
    stiffness : relative k, a number, one per point contact or by names of joints; None: equal.
    friction : coefficients likewise, in place of those of the constraints.
    load : "engine" keeps the impulses' resultant; "step" solves 0 <= x_n _|_ G x + g >= 0 of the
        normal rows anew, with friction and other constraints as they are, and needs ``g`` and
        ``data.M``; or (nv,).
    g : [m/s], of the solver's problem, all rows; with ``data.M`` (call ``crba``) the impulses are
        checked against that problem.
    held : names of joints taken as rigidly held.
    equalities : "rigid": anchors are rigid links, or "given": they keep their forces.
    exponent, on_friction and further keywords : as for ``mend_forces``.

    Raises
    ------
    InputError : sizes that do not agree, impulses of a solver that diverged.
    """
    pinocchio = library()
    wanted = asked(
        from_pinocchio, options, load=load, loads=("engine", "step"), exponent=exponent,
        on_friction=on_friction, model=(model, pinocchio.Model), data=(data, pinocchio.Data),
    )  # fmt: skip
    load_from, load = wanted.load_from, wanted.load
    _check_sizes(model, data, constraint_models, constraint_datas)
    J = pinocchio.getConstraintsJacobian(model, data, constraint_models, constraint_datas)
    impulses = arrays.vector("impulses", impulses, J.shape[0], what="row of all constraints")
    force = impulses / arrays.positive("dt", dt)
    _check_size(pinocchio, model, force)
    contacts, anchors = _by_kind(constraint_models, constraint_datas, rigid_or_given(equalities))
    normal = np.array([at + 2 for at, _, _ in contacts], int)
    slide = normal[:, None] - np.array([2, 1])
    B = compact(J[normal].reshape(len(normal), model.nv))

    rows = [at + np.arange(anchor.residualSize()) for at, anchor, _ in anchors]
    rows = np.concatenate([*rows, np.zeros(0, int)])
    residual = _residual(data, J, g, impulses, normal)
    held = _held(model, held)
    tree, system = _trees(model)
    whole = joined(tree, sp.csr_array(J[rows]), held)
    system = _joined(model, data, system, J[rows])
    places = _geometry(model, data, contacts, system)
    extent = extents(B, _turns(model), whole, places)
    if load_from == "step":
        kept = force.copy()
        kept[normal] = 0.0
        load = _solved(data, B, g, normal, J.T @ kept, dt, J.shape[0])
    said = "equal, Pinocchio has none" if stiffness is None else "as given"
    links, link_accuracy = _links(J, anchors, extent.sizes)
    found = EngineContacts(
        B,
        force[normal],
        load=load,
        load_from=load_from,
        stiffness=1.0 if stiffness is None else stiffness,
        held=held,
        tangential=force[slide],
        friction=np.array([c.getFriction() for _, c, _ in contacts]),
        sliding=compact(J[slide.ravel()].reshape(2 * len(normal), model.nv)),
        mechanism=tree,
        reach=extent.reach,
        links=links,
        link_accuracy=link_accuracy,
        places=places,
        contacts=len(contacts),
        engine="Pinocchio",
        engine_residual=residual,
        notes=(
            *(() if by_name(stiffness) else (f"stiffness: {said}",)),
            *_notes(J.shape[0] - 3 * len(contacts) - len(rows), residual, load_from, len(contacts)),
        ),
    )
    return wanted.mended(found)


def _by_kind(models, datas, rigid):
    """Contacts, and anchors where they are ``rigid``: (first row, model, data) of each."""
    first = np.cumsum([0, *(model.residualSize() for model in models)])
    contacts, anchors = [], []
    for at, model, data in zip(first, models, datas, strict=False):
        if model.shortname() == POINT_CONTACT:
            contacts.append((int(at), model.extract(), data.extract()))
        elif rigid and model.shortname() in ANCHORS:
            anchors.append((int(at), model.extract(), data.extract()))
    return contacts, anchors


def _notes(others, residual, load_from, contacts):
    """What was taken for what; others: rows of constraints that are kept."""
    if others:
        yield f"{counted(others, 'row of other constraints')} kept as Pinocchio has them"
    advice = "let it iterate more, or load='step'"
    doubt = stopped_short("Pinocchio", residual, load_from, advice)
    if doubt:
        yield doubt
    if np.isnan(residual) and contacts:
        yield "impulses not checked against Pinocchio's problem (give g=, and data.M by crba)"


def _geometry(model, data, contacts, system) -> ContactGeometry:
    """system (njoints,): free system of each joint."""
    point = np.array([[d.oMc1.translation, d.oMc2.translation] for _, _, d in contacts])
    frame = np.array([d.oMc1.rotation for _, _, d in contacts]).reshape(-1, 3, 3)
    joints = [(c.joint1_id, c.joint2_id) for _, c, _ in contacts]
    centre = np.array([[_root(model, data, joint) for joint in pair] for pair in joints])
    joint = np.array(joints, int).reshape(-1, 2)
    parts = NamedParts(joint, np.full_like(joint, OUTSIDE), list(model.names), ())
    return ContactGeometry(
        point=point.reshape(-1, 2, 3),
        normal=frame[:, :, 2],
        tangents=frame[:, :, :2].transpose(0, 2, 1),
        names=parts.pairs,
        system=system[parts.geom],
        centre=centre.reshape(-1, 2, 3),
        parts=parts,
    )


def _check_size(pinocchio, model, force):
    """Raises InputError for forces beside which the weight of all bodies is rounding."""
    mass = pinocchio.computeTotalMass(model)
    weight = mass * (float(np.linalg.norm(model.gravity.linear)) or 9.81)
    largest = float(np.abs(force).max(initial=0.0))
    if largest > DIVERGED * weight:
        raise InputError(
            f"from_pinocchio: impulses are forces of {largest:.3g} N, {largest / weight:.1g} times "
            "the weight of the model: the solver diverged, or dt is wrong; expected impulses of a "
            "solver that converged (ADMM, or PGS with over_relax below 1)"
        )


def _residual(data, J, g, impulses, normal):
    """How far the normal impulses are from 0 <= x_n _|_ (G x + g)_n >= 0, over the largest; nan
    where g or data.M is not there."""
    M = np.triu(data.M) + np.triu(data.M, 1).T
    if g is None or not M.any() or not len(normal):
        return np.nan
    g = arrays.vector("g", g, J.shape[0], what="row of all constraints")
    back = np.linalg.solve(M, J.T)
    v = (J @ (back @ impulses) + g)[normal]
    inverse = np.einsum("ij,ji->i", J[normal], back[:, normal])
    mass = 1.0 / np.where(inverse > 0.0, inverse, 1.0)
    x = impulses[normal]
    missing = np.abs(x - np.maximum(0.0, x - mass * v))
    largest = max(float(np.abs(x).max()), float((mass * np.abs(g[normal])).max()))
    return float(missing.max()) / (largest or 1.0)


def _check_sizes(model, data, constraint_models, constraint_datas):
    """Raises InputError for data or constraints that are not the model's; Pinocchio would end the
    program."""
    if len(data.oMi) != model.njoints:
        raise InputError(
            f"from_pinocchio: data has {len(data.oMi)} joints and model {model.njoints}; expected "
            "the data of this model"
        )
    for name, found in (
        ("constraint_models", constraint_models),
        ("constraint_datas", constraint_datas),
    ):
        wrong = next((item for item in found if not hasattr(item, "extract")), None)
        if wrong is not None:
            kind = "ConstraintModel" if name.endswith("models") else "ConstraintData"
            raise InputError(
                f"from_pinocchio: {name} has a {type(wrong).__name__}; expected each as "
                f"pinocchio.{kind}, in a StdVec_{kind}"
            )
    if len(constraint_models) != len(constraint_datas):
        raise InputError(
            f"from_pinocchio: {len(constraint_models)} constraint_models and "
            f"{len(constraint_datas)} constraint_datas; expected one for each"
        )


def _links(J, anchors, sizes):
    """Rows of anchors (k, nv) in displacements, and their accuracy (k,)."""
    links, accuracy = [np.zeros((0, J.shape[1]))], []
    for at, anchor, data in anchors:
        rows = J[at + np.arange(anchor.residualSize())].copy()
        size = float(sizes[np.abs(rows).max(axis=0) > 0].max(initial=0.0)) or 1.0
        rows[3:] *= size
        apart = data.c1Mc2
        error = np.linalg.norm(apart.translation)
        if len(rows) > 3:
            error += size * np.linalg.norm(apart.rotation - np.eye(3))
        links.append(rows)
        accuracy += [error / size] * len(rows)
    return sp.csr_array(np.vstack(links)), from_error(accuracy)


def _joined(model, data, system, links):
    """Free system of each joint (njoints,), those that ``links`` join made one."""
    bases = [
        j
        for j in range(1, model.njoints)
        if model.parents[j] == 0 and model.joints[j].shortname() == FREE
    ]
    turned = np.array([data.oMi[j].rotation.T for j in bases]).reshape(-1, 3, 3)
    number = joined_systems(
        links,
        np.array([model.idx_vs[j] + np.arange(6) for j in bases], int).reshape(-1, 6),
        np.array([data.oMi[j].translation for j in bases]).reshape(-1, 3),
        turned,
        turned,
    )
    return np.r_[number, OUTSIDE][system].astype(int)


def _solved(data, B, g, normal, kept, dt, rows):
    """F~ = B^T f of the solver's own problem, solved to the end."""
    if g is None:
        raise InputError("load is 'step' and g is not given; expected the solver's g, every row")
    g = arrays.vector("g", g, rows, what="row of all constraints")
    M = np.triu(data.M) + np.triu(data.M, 1).T
    if not M.any():
        raise InputError("data.M is zero; call pinocchio.crba(model, data, q) first")
    n = len(M)
    # g holds the free velocity already
    step = contact_dynamics(M, B, dt * g[normal], np.zeros(n), kept, dt, tolerance=1e-11)
    return M @ step.velocity / dt - kept


def _root(model, data, joint):
    """Place of the first joint below it; nan for the world."""
    if joint == 0:
        return np.full(3, np.nan)
    while model.parents[joint]:
        joint = model.parents[joint]
    return data.oMi[joint].translation


def _trees(model):
    """Tree of each velocity (nv,) and the free system of each joint (njoints,), or OUTSIDE."""
    root = np.zeros(model.njoints, int)
    tree = np.zeros(model.nv, int)
    system = np.full(model.njoints, OUTSIDE)
    free = 0
    for j in range(1, model.njoints):
        root[j] = j if model.parents[j] == 0 else root[model.parents[j]]
        tree[model.idx_vs[j] : model.idx_vs[j] + model.nvs[j]] = root[j]
        if root[j] == j and model.joints[j].shortname() == FREE:
            system[j], free = free, free + 1
        else:
            system[j] = system[root[j]] if root[j] != j else OUTSIDE
    return tree, system


def _turns(model):
    """(nv,) bool: which velocities are rotations."""
    turns = np.ones(model.nv, bool)
    for j in range(1, model.njoints):
        first, name = model.idx_vs[j], model.joints[j].shortname()
        if name == FREE:
            turns[first : first + 3] = False
        elif name == "JointModelPlanar":
            turns[first : first + 2] = False
        elif name.startswith(SLIDES):
            turns[first : first + model.nvs[j]] = False
    return turns


def _held(model, held):
    mask = np.zeros(model.nv, bool)
    for name in joint_names(held):
        check_joint(name, list(model.names))
        j = model.getJointId(name)
        mask[model.idx_vs[j] : model.idx_vs[j] + model.nvs[j]] = True
    return mask
