"""Whether MuJoCo's forces are those of its present contacts, and how well they solve its equations.

Positions. ``mj_step`` leaves qpos one step ahead of the contacts, ``mj_forward`` where they are.
With q set by hand the contacts are of another pose, and so are their forces.

Forces. With the rows J of all constraints, MuJoCo's accelerations a and a_0 with and without
constraint forces f, and its reference aref, the solver starts from b = J a_0 - aref. Rows that do
not fit its b are newer than its forces (``mj_step1`` alone). Its law says of the rows of a contact,
with y = J a - aref and their regularization D,

    frictionless, pyramidal   f = max(0, -D y)          elliptic   -D y, projected onto the cone

and M a = M a_0 + J^T f. Primal solvers (CG, Newton) fulfil the law and approach this balance, PGS
the other way round: the larger of what is missing in both tells how far the solver came.
"""

from functools import lru_cache

import numpy as np

from ...errors import InputError

ROUNDING = 1e-9
"""Part of the largest b up to which rows and forces are of one state."""

STEPS = 2.0
"""Motion since the contacts were found, in those of one step, up to which it was that step."""

STILL = 1e-6
"""Motion over the extent of the model that is rounding."""


def check_positions(mujoco, model, data) -> None:
    """Raises InputError where data.qpos is not where the last step ended, nor where it began."""
    scratch = _scratch(mujoco, model)
    scratch.mocap_pos[:], scratch.mocap_quat[:] = data.mocap_pos, data.mocap_quat
    moved = _poses(mujoco, model, scratch, data.qpos)
    found = _stacked(data, model)
    if not found.any():  # before the first step
        return
    away = np.abs(moved - found).max(axis=1)
    size = max(1.0, float(model.stat.extent))
    if (away <= STILL * size).all():
        return
    before = np.array(data.qpos, float)
    mujoco.mj_integratePos(model, before, data.qvel, -model.opt.timestep)
    step = np.abs(moved - _poses(mujoco, model, scratch, before)).max(axis=1)
    # stages of Runge-Kutta and speeds set by hand: of the order of one step's motion all the same
    speed = np.abs(np.array(data.cvel, float).reshape(-1, 6)).max(axis=1)
    step = step + model.opt.timestep * speed * size
    wrong = np.flatnonzero(away > STEPS * step + STILL * size)
    if not len(wrong):
        return
    body = int(wrong[np.argmax(away[wrong])])
    name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, body) or f"body {body}"
    raise InputError(
        f"from_mujoco: data.qpos puts {name} elsewhere than where MuJoCo found the contacts (off "
        f"by {away[body]:.3g} m or rad, a step's motion is {step[body]:.3g}); its forces are of "
        "the other pose: call mj_forward or mj_step after qpos was set"
    )


def engine_residual(mujoco, model, data, jacobian, solved) -> float:
    """How far MuJoCo's forces are from solving its equations, over the largest.

    jacobian (nefc, nv); solved: contacts with rows in it. Raises InputError where rows are newer
    than the forces. nan after a step of Runge-Kutta, whose accelerations are of several stages.
    """
    if not len(solved.row):
        return 0.0
    b, aref = np.array(data.efc_b, float), np.array(data.efc_aref, float)
    off = float(np.abs(jacobian @ np.array(data.qacc_smooth, float) - aref - b).max())
    if off > ROUNDING * float(np.abs(b).max()):
        raise InputError(
            "from_mujoco: MuJoCo's forces are not those of its present contacts, which were found "
            "later; call mj_step2 after mj_step1, or mj_forward or mj_step"
        )
    if model.opt.integrator == mujoco.mjtIntegrator.mjINT_RK4:
        return np.nan
    force, acceleration = np.array(data.efc_force, float), np.array(data.qacc, float)
    delivered, inertial = jacobian.T @ force, np.zeros(int(model.nv))
    mujoco.mj_mulM(model, data, inertial, acceleration)
    missing = _over(inertial - data.qfrc_smooth - delivered, delivered, inertial)
    if model.opt.noslip_iterations:  # which leave the law
        return missing
    wanted = _law(data, solved, np.array(data.efc_D, float), jacobian @ acceleration - aref)
    rows = np.flatnonzero(~np.isnan(wanted))
    return max(missing, _over(wanted[rows] - force[rows], wanted[rows], force))


def _over(part, *whole) -> float:
    """The largest entry over the largest of all of ``whole``."""
    size = max(float(np.abs(values).max(initial=0.0)) for values in whole)
    return float(np.abs(part).max(initial=0.0)) / (size or 1.0)


def _law(data, solved, D, y):
    """Forces (nefc,) of MuJoCo's law for the rows of contacts; nan in other rows."""
    wanted = np.full(len(y), np.nan)
    count = solved.count
    for k in range(int(count.max(initial=0))):
        row = solved.address[count > k] + k
        wanted[row] = np.maximum(0.0, -D[row] * y[row])
    cone = np.flatnonzero((solved.dim > 1) & ~solved.pyramidal)
    if not len(cone):
        return wanted
    first, dim = solved.address[cone], solved.dim[cone]
    mu = np.array(data.contact.mu, float).ravel()[solved.row[cone]]
    friction = solved.friction[cone]
    has = np.arange(5) < (dim - 1)[:, None]
    row = np.where(has, first[:, None] + 1 + np.arange(5), first[:, None])
    normal, slide = mu * y[first], np.where(has, y[row] * friction, 0.0)
    size = np.linalg.norm(slide, axis=1)
    apart = (normal >= mu * size) | ((size <= 0.0) & (normal >= 0.0))
    sticks = ~apart & ((mu * normal + size <= 0.0) | ((size <= 0.0) & (normal < 0.0)))
    over = D[first] / (mu**2 * (1 + mu**2)) * (normal - mu * size)
    along = np.divide(over[:, None] * mu[:, None] * slide, np.maximum(size, 1e-300)[:, None])
    push = np.where(apart, 0.0, np.where(sticks, -D[first] * y[first], -over * mu))
    pull = np.where(sticks[:, None], -D[row] * y[row], along * friction)
    wanted[row[has]] = np.where(apart[:, None], 0.0, pull)[has]
    wanted[first] = push
    return wanted


@lru_cache(maxsize=1)
def _scratch(mujoco, model):
    """Data to place bodies in, kept for the last model: making it takes as long as mending."""
    return mujoco.MjData(model)


def _poses(mujoco, model, scratch, qpos):
    """Places and quaternions (nbody, 7) of all bodies at qpos; those that cannot move are zero."""
    scratch.qpos[:] = qpos
    mujoco.mj_kinematics(model, scratch)
    return _stacked(scratch, model)


def _stacked(data, model):
    moves = np.array(model.body_treeid, int)[:, None] >= 0
    return np.where(moves, np.hstack([data.xpos, data.xquat]), 0.0)
