"""Compatible contact forces from MuJoCo's state after ``mj_step`` or ``mj_forward``.

B (m, nv) is made of the normal rows of ``data.efc_J``, in MuJoCo's generalized velocities, so
free bodies, articulated ones and flexes are alike: see ``mujoco_rows``.

Equalities are rigid links, which restrain motions: see ``mujoco_links``. Joint limits, dry joint
friction, actuators, passive and adhesive forces stay as MuJoCo has them: given load. Joints that a
stiff controller holds rigidly can be named in ``held``; their torques then follow from the mended
forces (``held_change``).

Stiffness. Direct ``solref`` = (-stiffness, -damping) is a spring per unit of mass; MuJoCo's force
at rest is stiffness d / (dmax^2) x D x overlap with D = d / ((1 - d) A), d the impedance and A its
estimate of the inverse mass. At full impedance d = dmax the spring is stiffness / ((1 - dmax) A)
[N/m], summed over the edges of a pyramid: what this module takes where every contact is direct.
A time constant (positive ``solref``) is no material: equal stiffness is taken, and said.
"""

import numpy as np

from ..._support import arrays
from ..._support.words import counted
from ...errors import InputError
from .arguments import check_joint, check_linear, imported, joint_names, stopped_short
from .contacts import EngineContacts
from .geometry import OUTSIDE, ContactGeometry
from .links import joined, joined_systems
from .materials import by_name, given_stiffness
from .matrices import delivered
from .mujoco_links import equalities as rigid_equalities
from .mujoco_links import in_displacements
from .mujoco_model import name_of, structure
from .mujoco_rows import constraint_rows, contact_rows, is_pyramidal, solved_contacts
from .mujoco_state import check_positions, engine_residual
from .parts import NamedParts
from .reading import asked, extents
from .result import MendedForces

ADVICE = "let it iterate more (opt.iterations, opt.tolerance), or load='rest' where all rests"
"""What to do where MuJoCo's solver stopped early."""


def library():
    """The mujoco module."""
    return imported("mujoco", engine="MuJoCo", extra="mujoco")


def from_mujoco(
    model,
    data,
    *,
    stiffness=None,
    exponent: float = 2.0,
    load="engine",
    held=None,
    equalities="rigid",
    on_friction: str = "joint",
    **options,
) -> MendedForces:
    """Compatible forces in the order of ``data.contact`` and its frames.

    Parameters
    ----------
    model, data : mjModel and mjData after ``mj_step``, whose contacts and forces are those of the
        start of that step, or after ``mj_forward``.
    stiffness : relative k, a number or one per entry of ``data.contact``, or by name of geoms and
        bodies (``mend_forces``); None: MuJoCo's own springs where every solref is direct, else
        equal.
    friction : coefficients of both sliding directions, likewise, in place of MuJoCo's.
    load : "engine" keeps its resultant; "rest": what holds all without acceleration under the
        forces applied (where the solver stopped early); or (nv,).
    held : names of joints taken as rigidly held, or (nv,) bool.
    equalities : "rigid": those active (connect, weld, joint, tendon; not those with mocap bodies)
        are rigid links; "given": they keep MuJoCo's forces, and parts that they join their share of
        the load; or names of those that are rigid.
    exponent, on_friction and further keywords : as for ``mend_forces``.

    Contacts that MuJoCo lists without solving (no efc_address) get zero. ``tangential`` has the
    columns of ``mj_contactForce`` after the first. Torsional and rolling friction (condim 4 and 6)
    stays MuJoCo's, as part of the load.

    Raises
    ------
    InputError : data of another model, or forces that are not of the present state.
    """
    mujoco = library()
    wanted = asked(
        from_mujoco, options, load=load, exponent=exponent, on_friction=on_friction,
        model=(model, mujoco.MjModel), data=(data, mujoco.MjData),
    )  # fmt: skip
    _check_data(model, data)
    check_positions(mujoco, model, data)
    solved = solved_contacts(mujoco, model, data)
    k, said = _stiffness(data, solved, stiffness, exponent)
    held = _held(mujoco, model, held)
    said = (said,) if said and len(solved.row) else ()
    contacts = _contacts(mujoco, model, data, solved, wanted, held, equalities, k, said)
    return wanted.mended(contacts)


def _contacts(
    mujoco, model, data, solved, wanted, held, equalities, stiffness, said
) -> EngineContacts:
    """said: what was done about the stiffness."""
    load_from, load = wanted.load_from, wanted.load
    forces, made = np.array(data.efc_force, float), structure(mujoco, model)
    jacobian = constraint_rows(mujoco, model, data)
    residual = engine_residual(mujoco, model, data, jacobian, solved)
    rows = contact_rows(jacobian, solved, forces)
    links = rigid_equalities(mujoco, model, data, jacobian, equalities)
    if load_from == "rest":
        # everything but normal contact forces and rigid links: applied, and other constraints as
        # they are
        inner = jacobian.taken(links.engine_row).T @ forces[links.engine_row]
        normal = delivered(rows.B, rows.normal)
        load = -(data.qfrc_smooth + data.qfrc_constraint - normal - inner)
        load[_asleep(model, data, made)] = 0.0
    whole = joined(made.tree, links.rows, held)
    geometry = _geometry(data, made, solved.row, held, _middles(model, data, made, whole), links)
    extent = extents(rows.B, made.turns, whole, geometry)
    link_rows, link_accuracy, soft = in_displacements(
        links, model, data, extent.reach, extent.sizes
    )
    doubt = stopped_short("MuJoCo", residual, load_from, ADVICE)
    velocity = np.array(data.qvel, float)
    beyond = np.array(data.efc_pos, float) - np.array(data.efc_margin, float)
    return EngineContacts(
        rows.B,
        rows.normal,
        load=load,
        load_from=load_from,
        held=held,
        tangential=rows.tangential,
        friction=solved.friction,
        cone="pyramid" if is_pyramidal(mujoco, model) else "elliptic",
        sliding=rows.T,
        # distance beyond the margin at the end of the step, were it made with the present qvel
        gap=beyond[solved.address] + model.opt.timestep * (rows.B @ velocity),
        gap_tolerance=extent.gap_tolerance,
        mechanism=made.tree,
        reach=extent.reach,
        links=link_rows,
        link_accuracy=link_accuracy,
        places=geometry,
        row=solved.row,
        contacts=int(data.ncon),
        velocity=velocity,
        engine="MuJoCo",
        engine_residual=residual,
        stiffness=stiffness,
        notes=(
            *said,
            *doubt,
            *_notes(mujoco, model, data, made, solved, links, geometry, soft),
        ),
    )


def _check_data(model, data):
    """Raises InputError for data of another model, and numbers that are not finite."""
    if model.nv != len(data.qvel) or model.nbody != len(data.xpos):
        raise InputError(
            f"data has {len(data.qvel)} degrees of freedom and {len(data.xpos)} bodies, model "
            f"{model.nv} and {model.nbody}; expected the MjData of this model"
        )
    for name in ("qvel", "efc_force"):
        bad = np.flatnonzero(~np.isfinite(np.array(getattr(data, name), float)))
        if len(bad):
            raise InputError(
                f"data.{name}[{bad[0]}] is {getattr(data, name)[bad[0]]}; expected finite numbers: "
                "the simulation has become unstable (data.warning counts that)"
            )


def _notes(mujoco, model, data, made, solved, links, geometry, soft):
    """What was taken for what."""
    yield from links.notes
    others = data.nefc - int(solved.count.sum()) - len(links.engine_row)
    if others:
        rows = counted(others, "constraint row")
        yield f"{rows} of joints and equalities kept as MuJoCo has them"
    if len(solved.row) < data.ncon:
        listed = counted(int(data.ncon) - len(solved.row), "listed contact")
        yield f"{listed} not solved by MuJoCo: zero force"
    if _asleep(model, data, made).any():
        yield "bodies are asleep: MuJoCo lists no contacts between them, so none are mended"
    body = geometry.parts.body
    if (made.mocap[body] & (body >= 0)).any():
        yield (
            "contacts with mocap bodies: what these squeeze harder than the balance of the others "
            "asks for is not kept"
        )
    if soft:
        yield (
            f"{counted(len(soft), 'soft equality')} (off by more than 2 % of the size of what it "
            f"joins, or a slow spring), first {name_of(mujoco, model, 'EQUALITY', soft[0])}: rigid "
            "all the same; equalities='given', or the names of the others, keeps its force"
        )


def _asleep(model, data, made):
    """(nv,) bool: degrees of freedom of sleeping trees (MuJoCo from 3.4 on)."""
    tree = getattr(data, "tree_asleep", None)
    if tree is None or not len(made.tree):
        return np.zeros(len(made.tree), bool)
    return np.array(tree, int)[made.tree] >= 0


def _stiffness(data, solved, stiffness, exponent):
    """(m,), and what was done: as given, MuJoCo's own contact springs [N/m], or ones."""
    row, ncon = solved.row, int(data.ncon)
    if stiffness is not None:
        value = given_stiffness(stiffness, ncon, "entry of data.contact", row)
        return value, "" if by_name(stiffness) else "stiffness: as given"
    solref = np.array(data.contact.solref, float).reshape(ncon, 2)[row]
    if not len(row) or not (solref < 0).all():
        direct = int((solref < 0).all(axis=1).sum())
        some = f" (direct stiffness: {direct} of {counted(len(row), 'contact')})" if direct else ""
        return np.ones(len(row)), f"stiffness: equal, solref has time constants{some}"
    check_linear("MuJoCo's springs (negative solref) are", exponent)
    impedance = np.array(data.efc_KBIP, float).reshape(-1, 4)[:, 2]
    mass = solved.summed(np.array(data.efc_D, float) * (1 - impedance) / impedance)
    # MuJoCo keeps impedances inside these bounds (mjMINIMP, mjMAXIMP)
    solimp = np.array(data.contact.solimp, float).reshape(ncon, 5)[row]
    full = np.clip(solimp[:, 1], 1e-4, 1 - 1e-4)
    return -solref[:, 0] / (1 - full) * mass, "stiffness: MuJoCo's springs (direct solref)"


def _held(mujoco, model, held):
    """(nv,) bool from joint names or a mask."""
    mask = np.zeros(int(model.nv), bool)
    if isinstance(held, np.ndarray) and held.dtype == bool:
        return arrays.vector("held", held, len(mask), what="degree of freedom").astype(bool)
    for name in joint_names(held):
        check_joint(name, list(filter(None, (model.joint(j).name for j in range(model.njnt)))))
        joint = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name)
        mask[model.dof_jntid == joint] = True
    return mask


def _geometry(data, made, row, held, middle, links):
    """middle (nbody, 3): see ``_middles``."""
    ncon = int(data.ncon)
    geom = np.array(data.contact.geom, int).reshape(ncon, 2)[row]
    body, outer = made.geom_body[geom], geom < 0
    number = geom
    if outer.any():
        flex = np.array(data.contact.flex, int).reshape(ncon, 2)[row]
        number = np.where(outer, len(made.geom_body) + flex, geom)
        body = np.where(outer, OUTSIDE, body)
    system, centre = _systems(data, made, held, links.rows)[body], middle[body]
    fixed = made.body_tree[body] < 0
    if outer.any():
        system[outer], fixed = OUTSIDE, fixed | outer
    centre[fixed] = np.nan
    frame = np.array(data.contact.frame, float).reshape(ncon, 3, 3)[row]
    parts = NamedParts(geom=number, body=body, geoms=made.geoms, bodies=made.bodies)
    return ContactGeometry(
        point=np.array(data.contact.pos, float).reshape(ncon, 3)[row],
        normal=frame[:, 0],
        tangents=frame[:, 1:],
        names=parts.pairs,
        system=system,
        centre=centre,
        parts=parts,
    )


def _systems(data, made, held, links):
    """(nbody,): number of the free system whose base a body is on, or OUTSIDE."""
    bodies, columns = made.bases, made.base_columns
    if held.any():
        whole = ~held[columns].any(axis=1)
        bodies, columns = bodies[whole], columns[whole]
    system = np.full(len(made.root), OUTSIDE)
    system[bodies] = joined_systems(
        links,
        columns,
        np.array(data.xpos, float)[bodies],
        np.broadcast_to(np.eye(3), (len(bodies), 3, 3)),
        np.array(data.xmat, float).reshape(-1, 3, 3)[bodies].transpose(0, 2, 1),
    )
    return system[made.root]


def _middles(model, data, made, mechanism):
    """(nbody, 3): centre of mass of the mechanism that each body is of, links included [m]."""
    moving = made.body_tree >= 0
    part = mechanism[made.body_column[moving]]
    mass = np.array(model.body_mass, float)[moving]
    total = np.bincount(part, weights=mass)
    push = mass[:, None] * np.array(data.xipos, float)[moving]
    mean = np.stack([np.bincount(part, weights=along) for along in push.T], axis=1)
    middle = np.array(data.subtree_com, float)[made.root]
    heavy = total[part] > 0
    place = np.flatnonzero(moving)[heavy]
    middle[place] = mean[part[heavy]] / total[part[heavy], None]
    return middle
