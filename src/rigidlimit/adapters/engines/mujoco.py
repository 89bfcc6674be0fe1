"""Compatible contact forces from MuJoCo's state after ``mj_step`` or ``mj_forward``.

B (m, nv) is made of the normal rows of ``data.efc_J``, in MuJoCo's generalized velocities, so
free bodies, articulated ones and flexes are alike: see ``mujoco_rows``.

Equalities are rigid links, which restrain motions: see ``mujoco_links``. Joint limits, dry joint
friction, actuators (those of adhesion, which press bodies together, too) and passive forces stay as
MuJoCo has them: given load. Joints that a stiff controller holds rigidly can be named in ``held``;
their torques then follow from the mended forces (``held_change``).

Adhesion of geoms and pairs is a pull that MuJoCo counts as a passive force, so that ``efc_force``
holds what balances it as well; ``mj_contactForce`` is net of it, and so are the forces here.

Stiffness. Direct ``solref`` = (-stiffness, -damping) is a spring per unit of mass; MuJoCo's force
at rest is stiffness d / (dmax^2) x D x overlap with D = d / ((1 - d) A), d the impedance and A its
estimate of the inverse mass. At full impedance d = dmax the spring is stiffness / ((1 - dmax) A)
[N/m], summed over the edges of a pyramid: what this module takes where every contact is direct.
A time constant (positive ``solref``) is no material: equal stiffness is taken, and said.

Where faces of two meshes or boxes lie on each other, MuJoCo takes the normal of one of them, by the
order of the geoms in the model, for all contacts of the pair. The faces lean on each other by what
uneven overlaps make: by that angle the normal would be another if the geoms were listed the other
way round, and all that hangs on it is no finding. The angle is seen in the overlaps themselves,
which grow along the faces by its tangent.
"""

from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Unpack

import numpy as np

from ..._support import arrays
from ..._support.matrices import Matrix
from ..._support.words import counted
from ...errors import InputError
from .arguments import (
    Load,
    check_joint,
    check_linear,
    imported,
    joint_names,
    kept_as_is,
    stopped_short,
)
from .contacts import EngineContacts
from .geometry import OUTSIDE, Places
from .links import free_systems, joined
from .materials import ByContact, by_name, given_stiffness
from .matrices import delivered
from .mujoco_links import equalities as rigid_equalities
from .mujoco_links import in_displacements
from .mujoco_model import Structure, name_of, structure
from .mujoco_rows import constraint_rows, contact_rows, solved_contacts
from .mujoco_state import check_positions, engine_residual
from .options import OfReader
from .parts import NamedParts
from .reading import asked, extents
from .result import MendedForces

if TYPE_CHECKING:
    from mujoco import MjData, MjModel


FLAT = ("mjGEOM_BOX", "mjGEOM_MESH")
"""Kinds of geoms that have flat faces with normals of their own, of which either may be taken."""


def lean(mujoco: ModuleType, model: "MjModel", data: "MjData", row: np.ndarray) -> np.ndarray:
    """Angle between the two faces of each contact ``row`` (m,) of MuJoCo's list, (m,) [rad]; zero
    where the pair has one contact, or one side has no flat faces.

    It is the difference of the pair's distances over the extent of its contact points: within a
    factor of two of the angle, as its contacts are at the corners of where the faces meet.
    """
    ncon, contact = int(data.ncon), data.contact
    kinds = [int(getattr(mujoco.mjtGeom, name)) for name in FLAT]
    flat = np.append(np.isin(np.array(model.geom_type, int), kinds), False)
    geom = np.array(contact.geom, int).reshape(ncon, 2)
    if not flat[geom].all(axis=1).any():
        return np.zeros(len(row))
    _, pair = np.unique(geom, axis=0, return_inverse=True)
    pair = pair.ravel()
    values = np.column_stack([contact.dist, np.array(contact.pos, float).reshape(ncon, 3)])
    low = np.full((pair.max() + 1, 4), np.inf)
    high = -low
    np.minimum.at(low, pair, values)
    np.maximum.at(high, pair, values)
    wide = np.linalg.norm(high[:, 1:] - low[:, 1:], axis=1)
    angle = np.divide(high[:, 0] - low[:, 0], wide, out=np.zeros_like(wide), where=wide > 0.0)
    return np.where(flat[geom].all(axis=1), angle[pair], 0.0)[row]


def contact_places(
    model: "MjModel",
    data: "MjData",
    made: Structure,
    row: np.ndarray,
    held: np.ndarray,
    links: Matrix,
    mechanism: np.ndarray,
) -> Places:
    """Of the contacts ``row`` (m,) of MuJoCo's list. held (nv,) bool; links (k, nv): rows of rigid
    ones; mechanism (nv,) int: of each degree of freedom, links included."""
    ncon, contact = int(data.ncon), data.contact
    geom = np.array(contact.geom, int).reshape(ncon, 2)[row]
    body, outer, number = made.geom_body[geom], geom < 0, geom
    if outer.any():
        flex = np.array(contact.flex, int).reshape(ncon, 2)[row]
        number = np.where(outer, len(made.geom_body) + flex, geom)
        body = np.where(outer, OUTSIDE, body)
    system, centre = _systems(data, made, held, links)[body], _middles(model, data, made, mechanism)
    centre = centre[body]
    if outer.any():
        system[outer], centre[outer] = OUTSIDE, np.nan
    frame = np.array(contact.frame, float).reshape(ncon, 3, 3)[row]
    parts = NamedParts(geom=number, body=body, geoms=made.geoms, bodies=made.bodies)
    return Places(
        point=np.array(contact.pos, float).reshape(ncon, 3)[row],
        normal=frame[:, 0],
        tangents=frame[:, 1:],
        names=parts.pairs,
        system=system,
        centre=centre,
        parts=parts,
    )


def _systems(data, made, held, links):
    """(nbody,): number of the free system whose base a body is on, or OUTSIDE."""

    def places(bodies):
        turned = np.array(data.xmat, float).reshape(-1, 3, 3)[bodies].transpose(0, 2, 1)
        return np.array(data.xpos, float)[bodies], np.broadcast_to(np.eye(3), turned.shape), turned

    return free_systems(made.root, made.bases, made.base_columns, held, links, places)


def _middles(model, data, made, mechanism):
    """(nbody, 3): centre of mass of the mechanism that each body is of [m]; nan for what cannot
    move."""
    moving = np.flatnonzero(made.body_tree >= 0)
    part, mass = mechanism[made.body_column[moving]], np.array(model.body_mass, float)[moving]
    push = mass[:, None] * np.array(data.xipos, float)[moving]
    total = np.bincount(part, weights=mass)
    mean = np.stack([np.bincount(part, weights=along) for along in push.T], axis=1)
    middle = np.full((len(made.root), 3), np.nan)
    light = total == 0.0
    middle[moving] = mean[part] / np.where(light, 1.0, total)[part, None]
    if light.any():
        alone = moving[light[part]]
        middle[alone] = np.array(data.subtree_com, float)[made.root[alone]]
    return middle


ADVICE = "let it iterate more (opt.iterations, opt.tolerance), or load='rest' where all rests"
"""What to do where MuJoCo's solver stopped early."""


def library() -> ModuleType:
    """The mujoco module."""
    return imported("mujoco", engine="MuJoCo", extra="mujoco")


def from_mujoco(
    model: "MjModel",
    data: "MjData",
    *,
    stiffness: ByContact | None = None,
    exponent: float = 2.0,
    load: Load = "engine",
    held: Sequence[str] | str | np.ndarray | None = None,
    equalities: Sequence[str] | str = "rigid",
    on_friction: str = "joint",
    **options: Unpack[OfReader],
) -> MendedForces:
    """Compatible forces in the order of ``data.contact`` and its frames.

    Contacts of geoms or pairs with adhesion have their net force, as ``mj_contactForce``, negative
    where they pull. Contacts that MuJoCo lists without solving (no efc_address) get zero.
    ``tangential`` has the columns of ``mj_contactForce`` after the first. Torsional and rolling
    friction (condim 4 and 6) stays MuJoCo's, as part of the load.

    Parameters
    ----------
    model, data : mujoco.MjModel, mujoco.MjData
        After ``mj_step``, whose contacts and forces are those of the start of that step, or after
        ``mj_forward``.
    stiffness : float, (contacts,) or by name, optional
        Relative k, one per entry of ``data.contact``, or by name of geoms and bodies
        (``mend_forces``); None: MuJoCo's own springs where every solref is direct, else equal.
    exponent : float
        Of the contact law.
    load : {"engine", "rest"} or (nv,) [N, N m]
        "engine" keeps its resultant; "rest": what holds all without acceleration under the forces
        applied (where the solver stopped early).
    held : str, list of str or (nv,) bool, optional
        Names of joints taken as rigidly held.
    equalities : {"rigid", "given"} or list of str
        "rigid": those active (connect, weld, joint, tendon; not those with mocap bodies) are rigid
        links; "given": they keep MuJoCo's forces, and parts that they join their share of the
        load; or names of those that are rigid.
    on_friction, **options
        As for ``mend_forces``. friction: coefficients of both sliding directions, in place of
        MuJoCo's, as stiffness is given.

    Raises
    ------
    InputError
        For data of another model, forces that are not of the present state, and options that do
        not fit.
    MissingExtra
        Without mujoco.

    Examples
    --------
    >>> import mujoco
    >>> from rigidlimit.adapters import from_mujoco
    >>> model = mujoco.MjModel.from_xml_string('''<mujoco><worldbody>
    ...   <geom type="plane" size="5 5 .1"/>
    ...   <body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>
    ... </worldbody></mujoco>''')
    >>> data = mujoco.MjData(model)
    >>> for _ in range(200):
    ...     mujoco.mj_step(model, data)
    >>> from_mujoco(model, data).force.round(2)
    array([2.45, 2.45, 2.45, 2.45])
    """
    mujoco = library()
    wanted = asked(
        from_mujoco, options, load=load, exponent=exponent, on_friction=on_friction,
        model=(model, mujoco.MjModel), data=(data, mujoco.MjData),
    )  # fmt: skip
    _check_data(model, data)
    check_positions(mujoco, model, data)
    made, held = structure(mujoco, model), held_columns(mujoco, model, held)
    solved = solved_contacts(mujoco, model, data)
    jacobian = constraint_rows(mujoco, model, data)
    residual = engine_residual(mujoco, model, data, jacobian, solved)
    rows = contact_rows(jacobian, solved, _forces(data))
    k, said = _stiffness(data, solved, stiffness, exponent)
    links = rigid_equalities(mujoco, model, data, jacobian, equalities)
    whole = joined(made.tree, links.rows, held)
    places = contact_places(model, data, made, solved.row, held, links.rows, whole)
    extent = extents(rows.B, made.turns, whole, places)
    link_rows, link_accuracy, soft = in_displacements(links, model, data, extent)
    load = wanted.load
    if wanted.load_from == "rest":
        normal = delivered(rows.B, rows.normal)
        load = _at_rest(data, made, jacobian, links, normal)
        load -= delivered(rows.B, solved.adhesion)  # a passive force, which contacts net of it have
    others = int(data.nefc) - int(solved.count.sum()) - len(links.engine_row)
    kept = kept_as_is(rows.tangential, on_friction, others)
    velocity = np.array(data.qvel, float)
    beyond = np.array(data.efc_pos, float) - np.array(data.efc_margin, float)
    contacts = EngineContacts(
        rows.B,
        rows.normal - solved.adhesion,
        adhesion=solved.adhesion,
        load=load,
        load_from=wanted.load_from,
        held=held,
        tangential=rows.tangential,
        friction=solved.friction,
        cone="pyramid" if solved.pyramidal.any() else "elliptic",
        sliding=rows.T,
        # distance beyond the margin at the end of the step, were it made with the present qvel
        gap=beyond[solved.address] + model.opt.timestep * (rows.B @ velocity),
        gap_tolerance=extent.gap_tolerance,
        mechanism=made.tree,
        reach=extent.reach,
        links=link_rows,
        link_accuracy=link_accuracy,
        places=places,
        lean=lean(mujoco, model, data, solved.row),
        row=solved.row,
        contacts=int(data.ncon),
        columns=made.columns,
        velocity=velocity,
        engine="MuJoCo",
        engine_residual=residual,
        stiffness=k,
        notes=(
            *said,
            *stopped_short("MuJoCo", residual, wanted.load_from, ADVICE, kept=kept),
            *_notes(mujoco, model, data, made, solved, links, others, places.parts.body, soft),
        ),
    )
    return wanted.mended(contacts)


def _check_data(model, data):
    """Raises InputError for data of another model, and numbers that are not finite."""
    if model.nv != len(data.qvel) or model.nbody != len(data.xpos):
        raise InputError(
            f"data has {len(data.qvel)} degrees of freedom and {len(data.xpos)} bodies, model "
            f"{model.nv} and {model.nbody}; expected the MjData of this model"
        )
    for name in ("qpos", "qvel", "qacc"):
        _check_finite(name, np.array(getattr(data, name), float))


def _forces(data):
    """efc_force (nefc,); finite, of rows that are no newer than it (``engine_residual``)."""
    forces = np.array(data.efc_force, float)
    _check_finite("efc_force", forces)
    return forces


def _check_finite(name, values):
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise InputError(
            f"data.{name}[{bad[0]}] is {values[bad[0]]}; expected finite numbers; where "
            "mj_step left that, the simulation has become unstable (data.warning counts it)"
        )


def _at_rest(data, made, jacobian, links, normal):
    """Everything but normal contact forces (nv,) and rigid links, to be held without acceleration:
    applied forces, and those of other constraints as they are."""
    inner = jacobian.taken(links.engine_row).T @ np.array(data.efc_force)[links.engine_row]
    load = -(data.qfrc_smooth + data.qfrc_constraint - normal - inner)
    load[_asleep(data, made)] = 0.0
    return load


def _notes(mujoco, model, data, made, solved, links, others, body, soft):
    """Notes on the interpretation of the model; others: rows of other constraints; body (m, 2): of
    both sides."""
    yield from links.notes
    yield from notes_of_rows(others, int(data.ncon) - len(solved.row))
    if _asleep(data, made).any():
        yield "bodies are asleep: MuJoCo lists no contacts between them, so none are mended"
    yield from notes_of_mocap(made, body)
    if soft:
        yield (
            f"{counted(len(soft), 'soft equality')} (off by more than 2 % of the size of what it "
            f"joins, or a slow spring), first {name_of(mujoco, model, 'EQUALITY', soft[0])}: rigid "
            "nevertheless; equalities='given', or the names of the others, keeps its force"
        )


def notes_of_rows(others: int, unsolved: int) -> Iterator[str]:
    """Of constraint rows of no contact, and of contacts without rows."""
    if others:
        rows = counted(others, "constraint row")
        yield f"{rows} of joints and equalities kept as MuJoCo has them"
    if unsolved:
        yield f"{counted(unsolved, 'listed contact')} not solved by MuJoCo: zero force"


def notes_of_mocap(made: Structure, body: np.ndarray) -> Iterator[str]:
    """body (m, 2): of both sides of the contacts, below zero for the world."""
    if made.mocap.any() and (made.mocap[body] & (body >= 0)).any():
        yield (
            "contacts with mocap bodies: a squeeze of theirs beyond the balance of the others "
            "is not kept"
        )


def _asleep(data, made):
    """(nv,) bool: degrees of freedom of sleeping trees (MuJoCo from 3.4 on)."""
    tree = getattr(data, "tree_asleep", None)
    if tree is None or not len(made.tree):
        return np.zeros(len(made.tree), bool)
    return np.array(tree, int)[made.tree] >= 0


def _stiffness(data, solved, stiffness, exponent):
    """(m,), and what was done: as given, MuJoCo's own contact springs [N/m], or ones."""
    row, ncon = solved.row, int(data.ncon)
    m = len(row)
    solref = np.array(data.contact.solref, float).reshape(ncon, 2)[row]
    direct = int((solref < 0).all(axis=1).sum())
    said = notes_of_stiffness(stiffness, direct, m)
    if stiffness is not None:
        return given_stiffness(stiffness, ncon, "entry of data.contact", row), said
    if direct < m or not m:
        return np.ones(m), said
    check_linear("MuJoCo's springs (negative solref) are", exponent)
    impedance = np.array(data.efc_KBIP, float).reshape(-1, 4)[:, 2]
    mass = solved.summed(np.array(data.efc_D, float) * (1 - impedance) / impedance)
    # MuJoCo keeps impedances inside these bounds (mjMINIMP, mjMAXIMP)
    solimp = np.array(data.contact.solimp, float).reshape(ncon, 5)[row]
    full = np.clip(solimp[:, 1], 1e-4, 1 - 1e-4)
    return -solref[:, 0] / (1 - full) * mass, said


def notes_of_stiffness(given: ByContact | None, direct: int, m: int) -> tuple[str, ...]:
    """Notes on m contacts, ``direct`` of them with a spring of their own; given: stiffness set by
    the caller."""
    if not m or by_name(given):
        return ()
    if given is not None:
        return ("stiffness: as given",)
    if direct == m:
        return ("stiffness: MuJoCo's springs (direct solref)",)
    some = f" (direct stiffness: {direct} of {counted(m, 'contact')})" if direct else ""
    return (f"stiffness: equal, solref has time constants{some}",)


def held_columns(mujoco, model, held) -> np.ndarray:
    """(nv,) bool from joint names or a mask."""
    mask = np.zeros(int(model.nv), bool)
    if isinstance(held, np.ndarray) and held.dtype == bool:
        return arrays.vector("held", held, len(mask), what="degree of freedom").astype(bool)
    for name in joint_names(held):
        check_joint(name, list(filter(None, (model.joint(j).name for j in range(model.njnt)))))
        joint = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name)
        mask[model.dof_jntid == joint] = True
    return mask
