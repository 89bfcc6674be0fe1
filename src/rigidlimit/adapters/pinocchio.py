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
``load="step"`` solves its problem anew, g as the caller gave it to the solver.
"""

import numpy as np
import scipy.sparse as sp

from .. import arrays
from ..dynamics import contact_dynamics
from ..errors import InputError, MissingExtra
from ..words import counted
from .arguments import check_joint, expect, imported, joint_names, rigid_or_given, wanted_load
from .links import from_error, joined, joined_systems
from .mended import MendedForces, check_options, mend_forces
from .places import OUTSIDE, Places, mechanism_sizes

POINT_CONTACT = "PointContactConstraintModel"
ANCHORS = ("PointAnchorConstraintModel", "FrameAnchorConstraintModel")
SLIDES = ("JointModelP", "JointModelTranslation")  # prismatic joints of every kind
FREE = "JointModelFreeFlyer"


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
    on_friction: str = "refuse",
    **options,
) -> MendedForces:
    """Compatible forces, one per point contact in the order of ``constraint_models``.

    impulses: of the solver, all rows of all constraints [N s]; dt [s] turns them into forces (1 if
    they are forces). stiffness: relative k, a number or one per point contact; None: equal.
    load: "engine" keeps the impulses' resultant; "step" solves 0 <= x_n _|_ G x + g >= 0 of the
    normal rows anew, with friction and other constraints as they are, and needs ``g`` [m/s] and
    ``data.M`` (call ``crba``); or (nv,). held: names of joints taken as rigidly held. equalities:
    "rigid": anchors are rigid links, or "given": they keep their forces.
    exponent, on_friction and further keywords: as for ``mend_forces``.
    """
    pinocchio = library()
    check_options(from_pinocchio, options)
    expect("from_pinocchio", model=(model, pinocchio.Model), data=(data, pinocchio.Data))
    load_from, load = wanted_load(load, ("engine", "step"))
    rigid = rigid_or_given(equalities)
    _check_sizes(model, data, constraint_models, constraint_datas)
    J = pinocchio.getConstraintsJacobian(model, data, constraint_models, constraint_datas)
    impulses = arrays.vector("impulses", impulses, J.shape[0], what="row of all constraints")
    force = impulses / arrays.positive("dt", dt)
    pairs = zip(constraint_models, constraint_datas, strict=True)
    sizes = [model_.residualSize() for model_ in constraint_models]
    first = np.r_[0, np.cumsum(sizes)].astype(int)
    anchors = [
        (at, model_.extract(), data_.extract())
        for at, model_, data_ in zip(first, constraint_models, constraint_datas, strict=False)
        if rigid and model_.shortname() in ANCHORS
    ]
    contacts = [
        (at, model_.extract(), data_.extract())
        for at, (model_, data_) in zip(first, pairs, strict=False)
        if model_.shortname() == POINT_CONTACT
    ]
    normal = np.array([at + 2 for at, _, _ in contacts], int)
    slide = normal[:, None] - np.array([2, 1])
    B = sp.csr_array(J[normal].reshape(len(normal), model.nv))

    notes = ["stiffness: " + ("equal, Pinocchio has none" if stiffness is None else "as given")]
    rows = [at + np.arange(anchor.residualSize()) for at, anchor, _ in anchors]
    rows = np.concatenate([*rows, np.zeros(0, int)])
    others = J.shape[0] - 3 * len(contacts) - len(rows)
    if others:
        notes.append(f"{counted(others, 'row of other constraints')} kept as Pinocchio has them")
    held = _held(model, held)
    tree, system = _trees(model)
    whole = joined(tree, sp.csr_array(J[rows]), held)
    system = _joined(model, data, system, J[rows])
    point = np.array([[d.oMc1.translation, d.oMc2.translation] for _, _, d in contacts])
    places = Places(
        point=point.reshape(-1, 2, 3),
        normal=np.array([d.oMc1.rotation[:, 2] for _, _, d in contacts]).reshape(-1, 3),
        names=tuple((model.names[c.joint1_id], model.names[c.joint2_id]) for _, c, _ in contacts),
        system=np.array(
            [[system[c.joint1_id], system[c.joint2_id]] for _, c, _ in contacts], int
        ).reshape(-1, 2),
        centre=np.array(
            [
                [_root(model, data, joint) for joint in (c.joint1_id, c.joint2_id)]
                for _, c, _ in contacts
            ]
        ).reshape(-1, 2, 3),
    )
    sizes, _ = mechanism_sizes(B, whole, places)
    if load_from == "step":
        kept = force.copy()
        kept[normal] = 0.0
        load = _solved(data, B, g, normal, J.T @ kept, dt, J.shape[0])
    turns = _turns(model)
    links, link_accuracy = _links(J, anchors, sizes)
    return mend_forces(
        B,
        force[normal],
        load=load,
        load_from=load_from,
        stiffness=1.0 if stiffness is None else stiffness,
        exponent=exponent,
        held=held,
        tangential=force[slide],
        friction=np.array([c.getFriction() for _, c, _ in contacts]),
        on_friction=on_friction,
        sliding=sp.csr_array(J[slide.ravel()].reshape(2 * len(normal), model.nv)),
        mechanism=tree,
        reach=np.where(turns, sizes, 1.0),
        links=links,
        link_accuracy=link_accuracy,
        places=places,
        contacts=len(contacts),
        engine="Pinocchio",
        notes=tuple(notes),
        **options,
    )


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
