"""Whether MuJoCo's forces are those of its present contacts, and how well they solve its equations.

Positions. After ``mj_step`` qpos is one step ahead of the contacts, after ``mj_forward`` it is
theirs. With q set by hand the contacts are of another pose, and so are their forces.

Forces. With the rows J of all constraints, MuJoCo's accelerations a and a_0 with and without
constraint forces f, and its reference aref, the solver starts from b = J a_0 - aref. Rows that do
not fit its b are newer than its forces (``mj_step1`` alone). Its law says of the rows of a contact,
with y = J a - aref and their regularization D,

    frictionless, pyramidal   f = max(0, -D y)          elliptic   -D y, projected onto the cone

and M a = M a_0 + J^T f. Primal solvers (CG, Newton) fulfil the law and approach this balance, PGS
the other way round: the larger of both residuals shows how far the solver converged.
"""

import threading
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from ..._support.compiled import INNER
from ...errors import InputError
from .matrices import delivered_by, moved
from .mujoco_model import codes as codes_of
from .mujoco_rows import Jacobian, Solved
from .prepared import codes
from .tolerances import TOLERANCES

if TYPE_CHECKING:
    from mujoco import MjData, MjModel

_STILL, _STEPS = TOLERANCES.still, TOLERANCES.steps


def check_positions(mujoco: ModuleType, model: "MjModel", data: "MjData") -> None:
    """Raises InputError where data.qpos is not where the last step ended, nor where it began."""
    scratch, tree = _scratch(mujoco, model), np.array(model.body_treeid, np.int64)
    scratch.mocap_pos[:], scratch.mocap_quat[:] = data.mocap_pos, data.mocap_quat
    dt, extent = float(model.opt.timestep), float(model.stat.extent)

    def found(qpos: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        scratch.qpos[:] = qpos
        mujoco.mj_kinematics(model, scratch)
        return scratch.xpos.copy(), scratch.xquat.copy()

    poses = data.xpos, data.xquat, *found(data.qpos)
    places = *poses, *poses[2:], data.cvel.reshape(-1, 6)
    code, body, away, step = in_place(places, tree, dt, extent, False)
    if code == codes.FAR:
        before = np.array(data.qpos, float)
        mujoco.mj_integratePos(model, before, data.qvel, -dt)
        places = *poses, *found(before), places[-1]
        code, body, away, step = in_place(places, tree, dt, extent, True)
    if code == codes.SOLVED:
        return
    name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, body) or f"body {body}"
    raise InputError(
        f"from_mujoco: data.qpos puts {name} elsewhere than where MuJoCo found the contacts (off "
        f"by {away:.3g} m or rad, a step's motion is {step:.3g}); its forces are of the other "
        "pose: call mj_forward or mj_step after qpos was set"
    )


@njit(cache=True, nogil=True)
def in_place(
    places: tuple[np.ndarray, ...], body_tree: np.ndarray, dt: float, extent: float, far: bool
) -> tuple[int, int, float, float]:
    """(SOLVED where qpos is where MuJoCo found the contacts, or one step on, WRONG_STATE where it
    is neither; FAR where the pose one step before has to be known to tell; the body that is
    farthest off, by how much, and a step's motion of it).

    places: positions and quaternions where contacts were found, at qpos, and one step before,
    which counts if ``far``; cvel.
    """
    xpos, xquat, xpos_now, xquat_now, xpos_before, xquat_before, cvel = places
    size, away, anything = max(1.0, extent), 0.0, False
    for b in range(len(xpos)):
        for k in range(3):
            away = max(away, abs(xpos_now[b, k] - xpos[b, k]))
        for k in range(4):
            away = max(away, abs(xquat_now[b, k] - xquat[b, k]))
    if away <= _STILL * size:
        return codes.SOLVED, -1, 0.0, 0.0
    worst, most, way = -1, 0.0, 0.0
    for b in range(len(xpos)):
        if body_tree[b] < 0:
            continue
        off, step, speed = 0.0, 0.0, 0.0
        for k in range(3):
            anything |= xpos[b, k] != 0.0
            off = max(off, abs(xpos_now[b, k] - xpos[b, k]))
            if far:
                step = max(step, abs(xpos_now[b, k] - xpos_before[b, k]))
        for k in range(4):
            anything |= xquat[b, k] != 0.0
            off = max(off, abs(xquat_now[b, k] - xquat[b, k]))
            if far:
                step = max(step, abs(xquat_now[b, k] - xquat_before[b, k]))
        for k in range(6):
            speed = max(speed, abs(cvel[b, k]))
        # stages of Runge-Kutta and speeds set by hand: still of the order of one step's motion
        step += dt * speed * size
        if off > max(most, _STEPS * step + _STILL * size):
            worst, most, way = b, off, step
    if worst < 0 or not anything:
        return codes.SOLVED, worst, most, way
    return codes.WRONG_STATE if far else codes.FAR, worst, most, way


def engine_residual(
    mujoco: ModuleType, model: "MjModel", data: "MjData", jacobian: Jacobian, solved: Solved
) -> float:
    """How far MuJoCo's forces are from solving its equations, over the largest.

    jacobian (nefc, nv); solved: contacts with rows in it. Raises InputError where rows are newer
    than the forces. nan after a step of Runge-Kutta, whose accelerations are of several stages.
    """
    if not len(solved.row):
        return 0.0
    J, aref = jacobian.rows, np.array(data.efc_aref, float)
    b = moved(*J, np.array(data.qacc_smooth, float)) - aref
    # not met either where efc_b is what was in memory before, and perhaps no number
    if not _over(b - data.efc_b, data.efc_b) <= TOLERANCES.same_state:
        raise InputError(
            "from_mujoco: MuJoCo's forces are not those of its present contacts, which were found "
            "later; call mj_step2 after mj_step1, or mj_forward or mj_step"
        )
    if int(model.opt.integrator) == codes_of(mujoco).runge_kutta:
        return np.nan
    force, acceleration = np.array(data.efc_force, float), np.array(data.qacc, float)
    passed, inertial = delivered_by(*J, force, int(model.nv)), np.zeros(int(model.nv))
    mujoco.mj_mulM(model, data, inertial, acceleration)
    missing = _over(inertial - data.qfrc_smooth - passed, passed, inertial)
    if model.opt.noslip_iterations:  # which violates the law
        return missing
    law = off_law(
        moved(*J, acceleration) - aref, np.array(data.efc_D, float), force,
        (solved.address, solved.dim, solved.pyramidal, solved.friction),
        np.array(data.contact.mu, float).ravel()[solved.row],
    )  # fmt: skip
    return max(missing, law)


def _over(part, *whole) -> float:
    """The largest entry over the largest of all of ``whole``."""
    size = max(float(np.abs(values).max(initial=0.0)) for values in whole)
    return float(np.abs(part).max(initial=0.0)) / (size or 1.0)


@njit(cache=True, nogil=True)
def off_law(
    y: np.ndarray,
    D: np.ndarray,
    force: np.ndarray,
    contacts: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    mu: np.ndarray,
) -> float:
    """How far forces of contacts are from MuJoCo's law, over the largest force. y (nefc,): J a -
    aref; contacts: address, dim, pyramidal, friction; mu (m,): MuJoCo's, of elliptic cones."""
    address, dim, pyramidal, friction = contacts
    apart, largest, wanted = 0.0, 0.0, np.empty(6)
    for i in range(len(force)):
        largest = max(largest, abs(force[i]))
    for i in range(len(address)):
        first, count = address[i], 2 * (dim[i] - 1) if pyramidal[i] else dim[i]
        if pyramidal[i] or dim[i] == 1:
            for k in range(first, first + count):
                law = max(0.0, -D[k] * y[k])
                apart, largest = max(apart, abs(law - force[k])), max(largest, law)
            continue
        _cone(y[first : first + count], D[first : first + count], friction[i], mu[i], wanted)
        for k in range(count):
            apart = max(apart, abs(wanted[k] - force[first + k]))
            largest = max(largest, abs(wanted[k]))
    return apart / largest if largest > 0.0 else apart


@njit(**INNER)
def _cone(y, D, friction, mu, force):
    """MuJoCo's forces of one contact with an elliptic cone, in place."""
    normal, size = mu * y[0], 0.0
    for k in range(1, len(y)):
        size += (y[k] * friction[k - 1]) ** 2
    size = np.sqrt(size)
    for k in range(len(force)):
        force[k] = 0.0
    if normal >= mu * size or (size <= 0.0 and normal >= 0.0):
        return
    if mu * normal + size <= 0.0 or (size <= 0.0 and normal < 0.0):
        for k in range(len(y)):
            force[k] = -D[k] * y[k]
        return
    over = D[0] / (mu**2 * (1.0 + mu**2)) * (normal - mu * size)
    force[0] = -over * mu
    for k in range(1, len(y)):
        force[k] = over * mu * (y[k] * friction[k - 1]) / size * friction[k - 1]


_kept = threading.local()


def _scratch(mujoco, model):
    """Data to place bodies in, kept for the last model of each thread: making it takes as long as
    mending."""
    if getattr(_kept, "model", None) is not model:
        _kept.model, _kept.data = model, mujoco.MjData(model)
    return _kept.data
