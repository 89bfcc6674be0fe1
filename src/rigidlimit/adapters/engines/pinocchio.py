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

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType
from typing import TYPE_CHECKING, Unpack

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from ..._support import arrays
from ..._support.matrices import Matrix, compact
from ..._support.words import counted
from ...dynamics import contact_dynamics
from ...errors import InputError, MissingExtra
from .arguments import (
    Load,
    check_joint,
    imported,
    joint_names,
    kept_as_is,
    rigid_or_given,
    stopped_short,
)
from .contacts import EngineContacts
from .geometry import OUTSIDE, Places
from .links import free_systems, from_error, joined
from .materials import ByContact, by_name
from .options import OfReader
from .parts import NamedParts
from .reading import asked, extents
from .result import MendedForces
from .tolerances import TOLERANCES

if TYPE_CHECKING:
    from pinocchio import Data, Model, StdVec_ConstraintData, StdVec_ConstraintModel


SLIDES = ("JointModelP", "JointModelTranslation")  # prismatic joints of every kind
FREE = "JointModelFreeFlyer"


@dataclass(frozen=True)
class Structure:
    """tree, turns (nv,): root of each velocity, and whether it is a rotation; root (njoints,): of
    each joint, the first below the world; bases (f,): joints that float, columns (f, 6): their
    velocities; names of all joints."""

    tree: np.ndarray
    turns: np.ndarray
    root: np.ndarray
    bases: np.ndarray
    columns: np.ndarray
    names: list[str]


def structure(model: "Model") -> Structure:
    """Of ``model``; kept, since reading it takes as long as mending."""
    return _structure(model, model.njoints)


@lru_cache(maxsize=4)
def _structure(model, joints) -> Structure:
    """joints: how many it has, to notice a model that has grown."""
    root = np.zeros(joints, int)
    tree, turns = np.zeros(model.nv, int), np.ones(model.nv, bool)
    bases, columns = [], []
    for j in range(1, joints):
        parent, name = model.parents[j], model.joints[j].shortname()
        own = model.idx_vs[j] + np.arange(model.nvs[j])
        root[j] = root[parent] if parent else j
        tree[own] = root[j]
        if name == FREE:
            turns[own[:3]] = False
            if not parent:
                bases.append(j)
                columns.append(own)
        elif name == "JointModelPlanar":
            turns[own[:2]] = False
        elif name.startswith(SLIDES):
            turns[own] = False
    columns = np.array(columns, int).reshape(-1, 6)
    bases = np.array(bases, int)
    return Structure(tree, turns, root, bases, columns, list(model.names))


def systems(data: "Data", made: Structure, held: np.ndarray, links: np.ndarray) -> np.ndarray:
    """Free system of each joint (njoints,), those that ``links`` (k, nv) join made one."""

    def places(joints):
        turned = np.array([data.oMi[j].rotation.T for j in joints.tolist()])
        return np.array([data.oMi[j].translation for j in joints.tolist()]), turned, turned

    return free_systems(made.root, made.bases, made.columns, held, links, places)


def centres(data: "Data", made: Structure, joints: np.ndarray) -> np.ndarray:
    """Place of the root of each of ``joints`` (m, 2), (m, 2, 3) [m]; nan for the world's."""
    place = np.full((len(made.root), 3), np.nan)
    for j in np.unique(made.root[joints]).tolist():
        if j:
            place[j] = data.oMi[j].translation
    return place[made.root[joints]]


def check_size(pinocchio: ModuleType, model: "Model", force: np.ndarray) -> None:
    """Raises InputError for forces beside which the weight of all bodies is rounding."""
    mass = pinocchio.computeTotalMass(model)
    weight = mass * (float(np.linalg.norm(model.gravity.linear)) or 9.81)
    largest = float(np.abs(force).max(initial=0.0))
    if largest > TOLERANCES.diverged * weight:
        raise InputError(
            f"from_pinocchio: impulses are forces of {largest:.3g} N, {largest / weight:.1g} times "
            "the weight of the model: the solver diverged, or dt is wrong; expected impulses of a "
            "solver that converged (ADMM, or PGS with over_relax below 1)"
        )


def engine_residual(
    data: "Data", J: np.ndarray, g: ArrayLike | None, impulses: np.ndarray, normal: np.ndarray
) -> float:
    """How far the normal impulses are from 0 <= x_n _|_ (G x + g)_n >= 0, over the largest; nan
    where g or data.M is not there."""
    M = _inertia(data)
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


def solved_load(
    data: "Data",
    B: Matrix,
    g: ArrayLike | None,
    kept: np.ndarray,
    dt: float,
    *,
    normal: np.ndarray,
    rows: int,
) -> np.ndarray:
    """F~ = B^T f (nv,) [N, N m] of the solver's own problem, solved to the end for the ``normal``
    ones of all ``rows``; kept (nv,): load of the others."""
    if g is None:
        raise InputError("load is 'step' and g is not given; expected the solver's g, every row")
    g = arrays.vector("g", g, rows, what="row of all constraints")
    M = _inertia(data)
    if not M.any():
        raise InputError("data.M is zero; call pinocchio.crba(model, data, q) first")
    n = len(M)
    # g holds the free velocity already
    step = contact_dynamics(M, B, dt * g[normal], np.zeros(n), kept, dt, tolerance=1e-11)
    return M @ step.velocity / dt - kept


def _inertia(data):
    """M (nv, nv), of which Pinocchio keeps the upper half; zero where it was not computed."""
    return np.triu(data.M) + np.triu(data.M, 1).T


POINT_CONTACT = "PointContactConstraintModel"
ANCHORS = ("PointAnchorConstraintModel", "FrameAnchorConstraintModel")


def library() -> ModuleType:
    """The pinocchio module."""
    pinocchio = imported("pinocchio", engine="Pinocchio", extra="pinocchio")
    if not hasattr(pinocchio, POINT_CONTACT):
        raise MissingExtra(
            f"this Pinocchio ({pinocchio.__version__}) has no {POINT_CONTACT}; "
            "install 4.0 or later with pip install 'rigidlimit[pinocchio]'"
        )
    return pinocchio


def from_pinocchio(
    model: "Model",
    data: "Data",
    constraint_models: "StdVec_ConstraintModel",
    constraint_datas: "StdVec_ConstraintData",
    impulses: ArrayLike,
    *,
    dt: float = 1.0,
    stiffness: ByContact | None = None,
    exponent: float = 2.0,
    load: Load = "engine",
    g: ArrayLike | None = None,
    held: Sequence[str] | str | None = None,
    equalities: str = "rigid",
    on_friction: str = "joint",
    **options: Unpack[OfReader],
) -> MendedForces:
    """Compatible forces, one per point contact in the order of ``constraint_models``.

    Parameters
    ----------
    model, data, constraint_models, constraint_datas
        Pinocchio's, ``calc`` called.
    impulses : (rows,) [N s]
        Of the solver, all rows of all constraints.
    dt : float [s]
        Turns impulses into forces (1 if they are forces).
    stiffness : float, (contacts,) or by names of joints, optional
        Relative k; None: equal.
    exponent : float
        Of the contact law.
    load : {"engine", "step"} or (nv,) [N, N m]
        "engine" keeps the impulses' resultant; "step" solves 0 <= x_n _|_ G x + g >= 0 of the
        normal rows anew, with friction and other constraints as they are, and needs ``g`` and
        ``data.M``.
    g : (rows,) [m/s], optional
        Of the solver's problem; with ``data.M`` (call ``crba``) the impulses are checked against
        that problem.
    held : str or list of str, optional
        Names of joints taken as rigidly held.
    equalities : {"rigid", "given"}
        "rigid": anchors are rigid links, or "given": they keep their forces.
    on_friction, **options
        As for ``mend_forces``. friction: coefficients, as stiffness is given, in place of those of
        the constraints.

    Raises
    ------
    InputError
        For sizes that do not agree, and impulses of a solver that diverged.
    MissingExtra
        Without pinocchio.

    Examples
    --------
    A beam of weight 10 on three supports, of which a solver gave the impulses of one second:

    >>> import numpy as np, pinocchio as pin
    >>> from rigidlimit.adapters import from_pinocchio
    >>> model = pin.Model()
    >>> beam = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "beam")
    >>> model.appendBodyToJoint(beam, pin.Inertia.FromBox(1.0, 1.0, 0.1, 0.1), pin.SE3.Identity())
    >>> data = model.createData()
    >>> J = pin.computeJointJacobians(model, data, pin.neutral(model))
    >>> models, datas = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
    >>> for k, x in enumerate((-0.5, 0.0, 0.5)):
    ...     place = pin.SE3(np.eye(3), np.array([x, 0.0, -0.05]))  # the third axis is the normal
    ...     contact = pin.PointContactConstraintModel(model, 0, place, beam, place)
    ...     models.append(pin.ConstraintModel(contact))
    ...     datas.append(models[k].createData())
    ...     models[k].calc(model, data, datas[k])
    >>> impulses = np.array([0, 0, 0.65, 0, 0, 8.7, 0, 0, 0.65])
    >>> from_pinocchio(model, data, models, datas, impulses).force.round(4)
    array([3.3333, 3.3333, 3.3333])
    """
    pinocchio = library()
    wanted = asked(
        from_pinocchio, options, load=load, loads=("engine", "step"), exponent=exponent,
        on_friction=on_friction, model=(model, pinocchio.Model), data=(data, pinocchio.Data),
    )  # fmt: skip
    load_from, load = wanted.load_from, wanted.load
    contacts, anchors = _by_kind(
        model, data, constraint_models, constraint_datas, rigid_or_given(equalities)
    )
    J = pinocchio.getConstraintsJacobian(model, data, constraint_models, constraint_datas)
    impulses = arrays.vector("impulses", impulses, J.shape[0], what="row of all constraints")
    force = impulses / arrays.positive("dt", dt)
    check_size(pinocchio, model, force)
    first = np.array([at for at, _, _ in contacts], int)
    normal, slide = first + 2, first[:, None] + np.arange(2)
    B = compact(J[normal])
    rows = np.concatenate(
        [at + np.arange(anchor.residualSize()) for at, anchor, _ in anchors] or [np.zeros(0, int)]
    )
    residual = engine_residual(data, J, g, impulses, normal)
    made, held = structure(model), _held(model, held)
    places = _geometry(data, made, contacts, systems(data, made, held, J[rows]))
    extent = extents(B, made.turns, joined(made.tree, J[rows], held), places)
    if load_from == "step":
        kept = force.copy()
        kept[normal] = 0.0
        load = solved_load(data, B, g, J.T @ kept, dt, normal=normal, rows=J.shape[0])
    links, link_accuracy = _links(J, anchors, extent.sizes)
    others = len(J) - 3 * len(contacts) - len(rows)
    as_is = kept_as_is(force[slide], on_friction, others)
    found = EngineContacts(
        B,
        force[normal],
        load=load,
        load_from=load_from,
        stiffness=1.0 if stiffness is None else stiffness,
        held=held,
        tangential=force[slide],
        friction=np.array([contact.getFriction() for _, contact, _ in contacts]),
        sliding=compact(J[slide.ravel()]),
        mechanism=made.tree,
        reach=extent.reach,
        links=links,
        link_accuracy=link_accuracy,
        places=places,
        contacts=len(contacts),
        engine="Pinocchio",
        engine_residual=residual,
        notes=tuple(_notes(stiffness, others, residual, load_from, as_is, contacts)),
    )
    return wanted.mended(found)


def _by_kind(model, data, models, datas, rigid):
    """Contacts, and anchors where they are ``rigid``: (first row, model, data) of each.

    Raises InputError for data or constraints that are not the model's; Pinocchio would end the
    program.
    """
    if len(data.oMi) != model.njoints:
        raise InputError(
            f"from_pinocchio: data has {len(data.oMi)} joints and model {model.njoints}; expected "
            "the data of this model"
        )
    for name, kind, found in (
        ("constraint_models", "ConstraintModel", models),
        ("constraint_datas", "ConstraintData", datas),
    ):
        wrong = next((item for item in found if not hasattr(item, "extract")), None)
        if wrong is not None:
            raise InputError(
                f"from_pinocchio: {name} has a {type(wrong).__name__}; expected each as "
                f"pinocchio.{kind}, in a StdVec_{kind}"
            )
    if len(models) != len(datas):
        raise InputError(
            f"from_pinocchio: {len(models)} constraint_models and {len(datas)} constraint_datas; "
            "expected one for each"
        )
    contacts, anchors, row = [], [], 0
    for constraint, its_data in zip(models, datas, strict=True):
        kind = constraint.shortname()
        if kind == POINT_CONTACT:
            contacts.append((row, constraint.extract(), its_data.extract()))
        elif rigid and kind in ANCHORS:
            anchors.append((row, constraint.extract(), its_data.extract()))
        row += constraint.residualSize()
    return contacts, anchors


def _notes(stiffness, others, residual, load_from, as_is, contacts):
    """Notes on the interpretation of the model; others: rows of constraints that are kept."""
    if not by_name(stiffness):
        said = "equal, Pinocchio has none" if stiffness is None else "as given"
        yield f"stiffness: {said}"
    if others:
        yield f"{counted(others, 'row of other constraints')} kept as Pinocchio has them"
    advice = "let it iterate more, or load='step'"
    yield from stopped_short("Pinocchio", residual, load_from, advice, kept=as_is)
    if np.isnan(residual) and contacts:
        yield "impulses not checked against Pinocchio's problem (give g=, and data.M by crba)"


def _geometry(data, made, contacts, system) -> Places:
    """system (njoints,): free system of each joint."""
    poses = [(its_data.oMc1, its_data.oMc2) for _, _, its_data in contacts]
    frame = np.array([first.rotation for first, _ in poses]).reshape(-1, 3, 3)
    joint = np.array([(c.joint1_id, c.joint2_id) for _, c, _ in contacts], int).reshape(-1, 2)
    parts = NamedParts(joint, np.full_like(joint, OUTSIDE), made.names, ())
    point = np.array([[side.translation for side in pair] for pair in poses]).reshape(-1, 2, 3)
    return Places(
        point=point,
        normal=frame[:, :, 2],
        tangents=frame[:, :, :2].transpose(0, 2, 1),
        names=parts.pairs,
        system=system[joint],
        centre=centres(data, made, joint),
        parts=parts,
    )


def _links(J, anchors, sizes):
    """Rows of anchors (k, nv) in displacements, and their accuracy (k,); None without any."""
    if not anchors:
        return None, None
    links, accuracy = [], []
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


def _held(model, held):
    mask = np.zeros(model.nv, bool)
    for name in joint_names(held):
        check_joint(name, list(model.names))
        j = model.getJointId(name)
        mask[model.idx_vs[j] : model.idx_vs[j] + model.nvs[j]] = True
    return mask
