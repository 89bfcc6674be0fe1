"""Arrays of a MuJoCo state as compiled code takes them."""

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from .mujoco_model import codes

if TYPE_CHECKING:
    from mujoco import MjData, MjModel


class View:
    """Arrays of an MjData that stay where they are."""

    def __init__(self, data):
        for name in (
            "qpos", "qvel", "qacc", "qacc_smooth", "qfrc_smooth", "xpos", "xquat", "xipos",
            "cvel", "mocap_pos", "mocap_quat",
        ):  # fmt: skip
            setattr(self, name, getattr(data, name))
        self.active = data.eq_active
        asleep = getattr(data, "tree_asleep", None)
        self.asleep = asleep if asleep is not None and len(asleep) else None


class StateArrays:
    """What ``prepared.mujoco_read`` takes of states of one model.

    codes: numbers by which MuJoCo names cones and integrators. Poses and products are made in what
    is kept here, so that an answer is to be found before the next state is read.
    """

    def __init__(self, mujoco: ModuleType, model: "MjModel"):
        self.mujoco, self.model, self.codes = mujoco, model, codes(mujoco)
        self._now, self._before = (mujoco.MjData(model) for _ in range(2))
        self._poses = View(self._now), View(self._before)
        self._inertial = np.zeros(int(model.nv))

    def of(self, data: "MjData", view: View) -> tuple[tuple, tuple, tuple, tuple, tuple]:
        """(contact, efc, state, places, all numbers but the first and the last) of ``mend_mujoco``;
        view: of data."""
        model, mujoco, option, code = self.model, self.mujoco, self.model.opt, self.codes
        now, before = self._poses
        if len(view.mocap_pos):
            for pose in self._poses:
                pose.mocap_pos[:], pose.mocap_quat[:] = view.mocap_pos, view.mocap_quat
        dt = option.timestep
        now.qpos[:] = view.qpos
        before.qpos[:] = view.qpos
        mujoco.mj_integratePos(model, before.qpos, view.qvel, -dt)
        mujoco.mj_kinematics(model, self._now)
        mujoco.mj_kinematics(model, self._before)
        mujoco.mj_mulM(model, data, self._inertial, view.qacc)
        c = data.contact
        contact = (
            c.pos, c.frame, c.geom, c.dim, c.friction, c.efc_address, c.mu, c.solref, c.solimp
        )  # fmt: skip
        efc = (
            data.efc_J, data.efc_J_rownnz, data.efc_J_rowadr, data.efc_J_colind, data.efc_force,
            data.efc_pos, data.efc_margin, data.efc_aref, data.efc_b, data.efc_D, data.efc_type,
            data.efc_KBIP,
        )  # fmt: skip
        state = (
            view.qvel, view.qacc, view.qacc_smooth, view.qfrc_smooth, self._inertial, view.xipos
        )  # fmt: skip
        places = (
            view.xpos, view.xquat, now.xpos, now.xquat, before.xpos, before.xquat, view.cvel
        )  # fmt: skip
        flags = (
            dt, model.stat.extent, bool(mujoco.mj_isSparse(model)), code.pyramid, code.elliptic,
            option.cone == code.cone, option.integrator == code.runge_kutta,
            option.noslip_iterations > 0,
        )  # fmt: skip
        return contact, efc, state, places, flags
