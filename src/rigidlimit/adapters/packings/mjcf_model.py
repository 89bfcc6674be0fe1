"""A loaded model of MuJoCo at its first pose: names, masses, gravity."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .mjcf_bodies import Unit
    from .mjcf_left_out import LeftOut


@dataclass(frozen=True)
class Model:
    """The module ``mujoco``, a model, its data at the first pose, and the file of both."""

    mujoco: object
    model: object
    data: object
    path: Path

    def name(self, kind: str, number: int) -> str:
        """Name of an element, "geom3" where it has none."""
        return getattr(self.model, kind)(int(number)).name or f"{kind}{number}"

    def disabled(self, flag: str) -> bool:
        """Whether the model switches off what mjDSBL_``flag`` names."""
        bit = getattr(self.mujoco.mjtDisableBit, f"mjDSBL_{flag}")
        return bool(self.model.opt.disableflags & int(bit))

    @cached_property
    def roots(self) -> np.ndarray:
        """(nbody,) bool: bodies that begin a tree of moving ones."""
        tree, found = self.model.body_treeid, np.zeros(self.model.nbody, bool)
        found[np.unique(tree, return_index=True)[1]] = True
        return found & (tree >= 0)

    @property
    def gravity(self) -> np.ndarray:
        return np.zeros(3) if self.disabled("GRAVITY") else self.model.opt.gravity.copy()

    def mass(self, bodies: np.ndarray) -> float:
        """[kg] of some bodies."""
        return float(self.model.body_mass[bodies].sum())

    def compensation(
        self, unit: "Unit", centre: np.ndarray, left_out: "LeftOut"
    ) -> np.ndarray | None:
        """Load (6,) [N, N m] by which ``gravcomp`` lifts the bodies of a unit; None: none.

        It acts at each body's centre of mass. Of bodies that it lifts unequally the moment is that
        of the first pose, which is noted.
        """
        part = self.model.body_gravcomp[unit.bodies]
        if not part.any():
            return None
        force = -(part * self.model.body_mass[unit.bodies])[:, None] * self.gravity
        moment = np.cross(self.data.xipos[unit.bodies] - centre, force).sum(axis=0)
        if np.ptp(part) > 0.0 and unit.free[3:].any():
            left_out.add("gravcomp that turns with the body", unit.name)
        return np.concatenate([force.sum(axis=0), moment])
