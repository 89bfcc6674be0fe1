"""Compatible contact forces from MuJoCo's state after ``mj_step`` or ``mj_forward``.

B (m, nv) is made of the normal rows of ``data.efc_J``, in MuJoCo's generalized velocities, so
free bodies, articulated ones and flexes are alike: with its rows J_e and forces f_e of contact i,

    frictionless, elliptic   B_i = J_0             f_n = f_0          f_t = f_1, f_2, ...
    pyramidal (edge pairs)   B_i = (J_0 + J_1)/2   f_n = sum of f_e   f_tk = mu_k (f_2k - f_2k+1)

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
import scipy.sparse as sp

from .. import arrays
from ..errors import InputError
from ..words import counted
from .arguments import check_joint, check_linear, expect, imported, joint_names, wanted_load
from .links import joined, joined_systems
from .mended import TOUCHING, MendedForces, check_options, mend_forces
from .mujoco_links import equalities as rigid_equalities
from .mujoco_links import in_displacements
from .places import OUTSIDE, Places, mechanism_sizes


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
    on_friction: str = "refuse",
    **options,
) -> MendedForces:
    """Compatible forces in the order of ``data.contact`` and its frames.

    model, data: mjModel and mjData after ``mj_step``, whose contacts and forces are those of the
    start of that step, or ``mj_forward``. stiffness: relative k, a number or one per entry of
    ``data.contact``; None: MuJoCo's own springs where every solref is direct, else equal.
    load: "engine" keeps its resultant; "rest": what holds all without acceleration under the
    forces applied (where the solver stopped early); or (nv,). held: names of joints taken as
    rigidly held, or (nv,) bool. equalities: "rigid": those active (connect, weld, joint,
    tendon; not those with mocap bodies) are rigid links; "given": they keep MuJoCo's forces, and
    parts that they join their share of the load; or names of those that are rigid.
    exponent, on_friction and further keywords: as for ``mend_forces``.

    Contacts that MuJoCo lists without solving (no efc_address) get zero. ``tangential`` has the
    columns of ``mj_contactForce`` after the first. Raises InputError where mending is wrong.
    """
    mujoco = library()
    check_options(from_mujoco, options)
    expect("from_mujoco", model=(model, mujoco.MjModel), data=(data, mujoco.MjData))
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
    load_from, load = wanted_load(load)
    contact = data.contact
    ncon = int(data.ncon)
    address = np.array(contact.efc_address, int).reshape(ncon)
    row = np.flatnonzero(address >= 0)
    address = address[row]
    dim = np.array(contact.dim, int).reshape(ncon)[row]
    friction = np.array(contact.friction, float).reshape(ncon, 5)[row]
    if len(row) and (address + dim).max() > data.nefc:
        raise InputError(
            f"contacts point to constraint row {address.max()} of {data.nefc}; call mj_forward or "
            "mj_step on this mjData first"
        )
    pyramidal = (dim > 1) & (model.opt.cone == mujoco.mjtCone.mjCONE_PYRAMIDAL)
    _check_cone(mujoco, data, row, address, dim, pyramidal)
    edges = np.where(pyramidal, 2 * (dim - 1), 1)
    forces = np.array(data.efc_force, float)
    jacobian = _jacobian(mujoco, model, data)

    normal_rows = _picked(address, 1 + pyramidal, 1.0 / (1 + pyramidal), data.nefc)
    B = sp.csr_array(normal_rows @ jacobian)
    normal = _picked(address, edges, np.ones(len(row)), data.nefc) @ forces
    tangential = _tangential(forces, address, dim, pyramidal, friction)

    if stiffness is None:
        stiffness, said = _springs(data, row, address, edges, exponent)
    else:
        given = arrays.vector("stiffness", stiffness, ncon, what="entry of data.contact")
        stiffness, said = given[row], "stiffness: as given"
    held = _held(mujoco, model, held)
    links = rigid_equalities(mujoco, model, data, jacobian, equalities)
    notes = [*([said] if len(row) else []), *links.notes]
    others = data.nefc - int(np.where(pyramidal, edges, dim).sum()) - len(links.engine_row)
    if others:
        rows = counted(others, "constraint row")
        notes.append(f"{rows} of joints and equalities kept as MuJoCo has them")
    if len(row) < ncon:
        listed = counted(ncon - len(row), "listed contact")
        notes.append(f"{listed} not solved by MuJoCo: zero force")
    asleep = _asleep(model, data)
    if asleep.any():
        notes.append("bodies are asleep: MuJoCo lists no contacts between them, so none are mended")
    geom = np.array(contact.geom, int).reshape(ncon, 2)[row]
    driven = np.array(model.body_mocapid, int)[np.array(model.geom_bodyid, int)[geom]] >= 0
    if ((geom >= 0) & driven).any():
        notes.append(
            "contacts with mocap bodies: what these squeeze harder than the balance of the others "
            "asks for is not kept"
        )
    if load_from == "rest":
        # everything but normal contact forces and rigid links: applied, and other constraints as
        # they are
        inner = jacobian[links.engine_row].T @ forces[links.engine_row]
        load = -(data.qfrc_smooth + data.qfrc_constraint - B.T @ normal - inner)
        load[asleep] = 0.0
    tree = np.array(model.dof_treeid, int)
    whole = joined(tree, links.rows, held)
    places = _places(mujoco, model, data, row, held, whole, links.rows)
    sizes, near = mechanism_sizes(B, whole, places)
    reach = np.where(_turns(mujoco, model), sizes, 1.0)
    link_rows, link_accuracy, soft = in_displacements(links, model, data, reach, sizes)
    if soft:
        notes.append(
            f"{counted(len(soft), 'soft equality')} (off by more than 2 % of the size of what it "
            f"joins, or a slow spring), first {_name(mujoco, model, 'EQUALITY', soft[0])}: rigid "
            "all the same; equalities='given', or the names of the others, keeps its force"
        )
    return mend_forces(
        B,
        normal,
        load=load,
        load_from=load_from,
        stiffness=stiffness,
        exponent=exponent,
        held=held,
        tangential=tangential,
        friction=friction,
        cone="pyramid" if model.opt.cone == mujoco.mjtCone.mjCONE_PYRAMIDAL else "elliptic",
        on_friction=on_friction,
        sliding=_sliding(jacobian, address, dim, pyramidal, friction),
        gap=_gap(model, data, address, B),
        mechanism=tree,
        reach=reach,
        links=link_rows,
        link_accuracy=link_accuracy,
        places=places,
        row=row,
        contacts=ncon,
        engine="MuJoCo",
        notes=tuple(notes),
        **{"gap_tolerance": TOUCHING * near, **options},
    )


def _check_cone(mujoco, data, row, address, dim, pyramidal):
    """Rows of another cone than the model's would be read as forces that they are not."""
    kind = np.array(data.efc_type, int).ravel()[address]
    pyramid, cone = (
        int(getattr(mujoco.mjtConstraint, f"mjCNSTR_CONTACT_{name}"))
        for name in ("PYRAMIDAL", "ELLIPTIC")
    )
    wrong = np.flatnonzero((dim > 1) & (kind != np.where(pyramidal, pyramid, cone)))
    if len(wrong):
        i = wrong[0]
        made = {pyramid: "a pyramidal cone", cone: "an elliptic cone"}
        raise InputError(
            f"contact {row[i]} of data has rows of {made.get(kind[i], 'another constraint')}, "
            f"model.opt.cone is {'pyramidal' if pyramidal[i] else 'elliptic'}; expected the MjData "
            "of this model; where the cone was changed, call mj_forward or mj_step afterwards"
        )


def _asleep(model, data):
    """(nv,) bool: degrees of freedom of sleeping trees (MuJoCo from 3.4 on)."""
    tree = getattr(data, "tree_asleep", None)
    if tree is None or not model.nv:
        return np.zeros(int(model.nv), bool)
    return np.array(tree, int)[np.array(model.dof_treeid, int)] >= 0


def _turns(mujoco, model):
    """(nv,) bool: which degrees of freedom are rotations."""
    joint = np.array(model.dof_jntid, int)
    kind = np.array(model.jnt_type, int)[joint]
    third = np.arange(len(joint)) - np.array(model.jnt_dofadr, int)[joint] >= 3
    free = kind == mujoco.mjtJoint.mjJNT_FREE
    return np.where(free, third, kind != mujoco.mjtJoint.mjJNT_SLIDE)


def _jacobian(mujoco, model, data):
    """efc_J (nefc, nv) as a sparse matrix, however MuJoCo stores it."""
    shape = (int(data.nefc), int(model.nv))
    values = np.array(data.efc_J, float).ravel()
    if not mujoco.mj_isSparse(model):
        return sp.csr_array(values[: shape[0] * shape[1]].reshape(shape))
    count = np.array(data.efc_J_rownnz, int)[: shape[0]]
    start = np.array(data.efc_J_rowadr, int)[: shape[0]]
    ends = np.r_[0, np.cumsum(count)]
    entry = np.arange(ends[-1]) + np.repeat(start - ends[:-1], count)
    column = np.array(data.efc_J_colind, int).ravel()[entry]
    return sp.csr_array((values[entry], column, ends), shape=shape)


def _picked(address, count, weight, rows):
    """(m, rows): row i has weight_i at the count_i columns from address_i on."""
    ends = np.r_[0, np.cumsum(count)]
    column = np.arange(ends[-1]) + np.repeat(address - ends[:-1], count)
    return sp.csr_array((np.repeat(weight, count), column, ends), shape=(len(address), int(rows)))


def _sliding(jacobian, address, dim, pyramidal, friction):
    """(s m, nv): velocities along the directions of ``_tangential``, both tangents at least; zero
    rows where there is no friction."""
    row, column, value = [], [], []
    s = max(2, int(dim.max(initial=0)) - 1)
    for k in range(s):
        with np.errstate(divide="ignore"):
            half = 0.5 / friction[:, k]
        for picked, place, weight in (
            (~pyramidal, address + 1 + k, np.ones(len(dim))),
            (pyramidal, address + 2 * k, half),
            (pyramidal, address + 2 * k + 1, -half),
        ):
            here = np.flatnonzero(picked & (dim > k + 1))
            row.append(s * here + k)
            column.append(place[here])
            value.append(weight[here])
    entries = np.concatenate(value), (np.concatenate(row), np.concatenate(column))
    picked = sp.csr_array(entries, shape=(s * len(dim), jacobian.shape[0]))
    return sp.csr_array(picked @ jacobian)


def _gap(model, data, address, B):
    """Distance beyond the margin at the end of the step, were it made with the present qvel."""
    beyond = np.array(data.efc_pos, float) - np.array(data.efc_margin, float)
    return beyond[address] + model.opt.timestep * (B @ np.array(data.qvel, float))


def _tangential(forces, address, dim, pyramidal, friction):
    """(m, 5): two sliding forces [N], spin and two rolling moments [N m]; unused ones zero."""
    tangential = np.zeros((len(address), 5))
    for k in range(5):
        has = dim > k + 1
        pyramid = np.flatnonzero(has & pyramidal)
        first = address[pyramid] + 2 * k
        tangential[pyramid, k] = friction[pyramid, k] * (forces[first] - forces[first + 1])
        cone = np.flatnonzero(has & ~pyramidal)
        tangential[cone, k] = forces[address[cone] + 1 + k]
    return tangential


def _springs(data, row, address, edges, exponent):
    """MuJoCo's own contact springs [N/m], or ones, and what was done."""
    solref = np.array(data.contact.solref, float).reshape(int(data.ncon), 2)[row]
    solimp = np.array(data.contact.solimp, float).reshape(int(data.ncon), 5)[row]
    if not len(row) or not (solref < 0).all():
        direct = int((solref < 0).all(axis=1).sum())
        some = f" (direct stiffness: {direct} of {counted(len(row), 'contact')})" if direct else ""
        return np.ones(len(row)), f"stiffness: equal, solref has time constants{some}"
    check_linear("MuJoCo's springs (negative solref) are", exponent)
    impedance = np.array(data.efc_KBIP, float).reshape(-1, 4)[:, 2]
    mass = np.array(data.efc_D, float) * (1 - impedance) / impedance
    mass = _picked(address, edges, np.ones(len(row)), data.nefc) @ mass
    # MuJoCo keeps impedances inside these bounds (mjMINIMP, mjMAXIMP)
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


def _places(mujoco, model, data, row, held, mechanism, links):
    ncon = int(data.ncon)
    geom = np.array(data.contact.geom, int).reshape(ncon, 2)[row]
    flex = np.array(data.contact.flex, int).reshape(ncon, 2)[row]
    root = np.array(model.body_rootid, int)
    system = np.full(int(model.nbody), OUTSIDE)
    bases = []
    for body in np.unique(root):
        joint = model.body_jntadr[body]
        if joint < 0 or model.jnt_type[joint] != mujoco.mjtJoint.mjJNT_FREE:
            continue
        dof = model.jnt_dofadr[joint]
        if not held[dof : dof + 6].any():
            bases.append((body, dof + np.arange(6)))
    frames = [np.array(data.xmat[body], float).reshape(3, 3).T for body, _ in bases]
    numbers = joined_systems(
        links,
        np.array([columns for _, columns in bases], int).reshape(-1, 6),
        np.array([data.xpos[body] for body, _ in bases]).reshape(-1, 3),
        np.broadcast_to(np.eye(3), (len(bases), 3, 3)),
        np.array(frames).reshape(-1, 3, 3),
    )
    for (body, _), number in zip(bases, numbers, strict=True):
        system[root == body] = number
    body = np.array(model.geom_bodyid, int)[np.maximum(geom, 0)]
    centre = _middles(model, data, root, mechanism)[body]
    moves = (geom >= 0) & (np.array(model.body_treeid, int)[body] >= 0)
    return Places(
        point=np.array(data.contact.pos, float).reshape(ncon, 3)[row],
        normal=np.array(data.contact.frame, float).reshape(ncon, 9)[row, :3],
        names=tuple(
            tuple(
                _name(mujoco, model, "GEOM", g) if g >= 0 else _name(mujoco, model, "FLEX", f)
                for g, f in zip(*pair, strict=True)
            )
            for pair in zip(geom, flex, strict=True)
        ),
        system=np.where(geom >= 0, system[body], OUTSIDE),
        centre=np.where(moves[:, :, None], centre, np.nan),
    )


def _middles(model, data, root, mechanism):
    """(nbody, 3): centre of mass of the mechanism that each body is of, links included [m]."""
    _, first = np.unique(np.array(model.dof_treeid, int), return_index=True)
    part = np.full(int(model.nbody), -1)
    tree = np.array(model.body_treeid, int)
    part[tree >= 0] = mechanism[first[tree[tree >= 0]]]
    mass = np.array(model.body_mass, float)
    middle = np.array(data.subtree_com, float)[root]
    count = int(part.max(initial=-1)) + 1
    total, moment = np.zeros(count), np.zeros((count, 3))
    moving = part >= 0
    np.add.at(total, part[moving], mass[moving])
    np.add.at(moment, part[moving], mass[moving, None] * np.array(data.xipos, float)[moving])
    whole = moving.copy()
    whole[moving] = (total > 0)[part[moving]]
    middle[whole] = (moment / np.maximum(total, 1e-300)[:, None])[part[whole]]
    return middle


def _name(mujoco, model, kind, number):
    name = mujoco.mj_id2name(model, getattr(mujoco.mjtObj, f"mjOBJ_{kind}"), int(number))
    return name or f"{kind.lower()} {number}"
