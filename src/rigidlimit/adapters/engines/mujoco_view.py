"""Where the arrays of MuJoCo's states and of a ``Mender`` are, for compiled code."""

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from .mujoco_addresses import address, contact_fields, fields, pointers
from .mujoco_model import codes

if TYPE_CHECKING:
    from mujoco import MjData, MjModel

STAY = ("qvel", "qacc", "qacc_smooth", "qfrc_smooth", "xipos", "xpos", "xquat", "cvel")
"""Arrays of an MjData that stay where they are, in the order of ``View.places``."""


class View:
    """What stays of an MjData.

    places (12,) int: address of mjData, of ``STAY``, then of active equalities and of the trees
    that are asleep, and how many there are of these.
    """

    def __init__(self, data: "MjData"):
        self.qpos, self.qvel, self.qacc = data.qpos, data.qvel, data.qacc
        self.mocap_pos, self.mocap_quat = data.mocap_pos, data.mocap_quat
        self.xpos = data.xpos
        asleep = getattr(data, "tree_asleep", None)
        asleep = np.zeros(0, np.int32) if asleep is None else asleep
        kept = [*(getattr(data, name) for name in STAY), data.eq_active, asleep]
        where = [0, *map(address, kept), len(data.eq_active), len(asleep)]
        self.places = np.array(where, np.int64)
        self._kept = asleep


class StateArrays:
    """What ``prepared.mujoco_read`` takes of states of one model.

    Poses and products are made in what is kept here, so that an answer is to be found before the
    next state is read. poses: addresses of xpos and xquat at qpos and one step before, and of
    M qacc. moving: whether the pointers of mjData to its contacts and rows are known; else their
    addresses are asked for in each state.
    """

    def __init__(self, mujoco: ModuleType, model: "MjModel"):
        self.mujoco, self.model, self.codes = mujoco, model, codes(mujoco)
        self._now, self._before = (mujoco.MjData(model) for _ in range(2))
        self._poses = self._now, self._before
        self._inertial = np.zeros(int(model.nv))
        self.poses = [
            *(address(a) for pose in self._poses for a in (pose.xpos, pose.xquat)),
            address(self._inertial),
        ]
        self._option = model.opt
        self._mocap = len(self._now.mocap_pos) > 0
        contact, found = contact_fields(mujoco), pointers(mujoco)
        self.known = contact is not None
        self.moving = found is not None
        self._rows = np.zeros(13, np.int64)
        where = found if self.moving else 8 * np.arange(13)
        self.layout = np.concatenate([where, contact]) if self.known else np.zeros(0, np.int64)

    def place(self, data: "MjData", view: View) -> np.ndarray:
        """``view.places`` with the address from which ``layout`` counts, of this state."""
        if self.moving:
            view.places[0] = data._address
            return view.places
        contact = data.contact.dist
        self._rows[0] = address(contact) if len(contact) else 0
        self._rows[1:] = [address(a) for a in fields(data)]
        view.places[0] = address(self._rows)
        return view.places

    def pose(self, data: "MjData", view: View) -> None:
        """Where bodies are at qpos, and M qacc."""
        if self._mocap:
            for pose in self._poses:
                pose.mocap_pos[:], pose.mocap_quat[:] = view.mocap_pos, view.mocap_quat
        self._now.qpos[:] = view.qpos
        self.mujoco.mj_kinematics(self.model, self._now)
        self.mujoco.mj_mulM(self.model, data, self._inertial, view.qacc)

    def pose_before(self, view: View) -> None:
        """Where bodies were one step before."""
        self._before.qpos[:] = view.qpos
        step = -self.model.opt.timestep
        self.mujoco.mj_integratePos(self.model, self._before.qpos, view.qvel, step)
        self.mujoco.mj_kinematics(self.model, self._before)

    def now(self) -> tuple:
        """What ``options`` depend on."""
        option = self._option
        return (
            option.timestep, option.cone, option.integrator, option.noslip_iterations,
            option.jacobian,
        )  # fmt: skip

    def options(self) -> tuple:
        """timestep, extent, whether rows are sparse, codes of pyramids and of elliptic cones,
        whether cones are pyramids, Runge-Kutta, noslip: of the model's options as they are now."""
        option, code = self._option, self.codes
        return (
            option.timestep, self.model.stat.extent, self.mujoco.mj_isSparse(self.model),
            code.pyramid, code.elliptic, option.cone == code.cone,
            option.integrator == code.runge_kutta, option.noslip_iterations > 0,
        )  # fmt: skip
