"""Where MuJoCo keeps what a step makes anew.

Contacts and constraint rows lie in an arena, at other addresses after each step, which mjData
points to. Where in mjData is found once for a version of MuJoCo: by the pointers of states of a
small model, whose arrays tell where they begin. No version's layout is written down here.
"""

import ctypes
from functools import lru_cache
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mujoco import MjData

ROWS = (
    "efc_J", "efc_J_rownnz", "efc_J_rowadr", "efc_J_colind", "efc_force", "efc_pos", "efc_margin",
    "efc_aref", "efc_b", "efc_D", "efc_type", "efc_KBIP",
)  # fmt: skip
"""Arrays of constraint rows that compiled code reads."""

CONTACT = ("pos", "frame", "geom", "dim", "friction", "efc_address", "mu", "solref", "solimp")
"""Fields of contacts that it reads."""

INTEGERS = {"efc_J_rownnz", "efc_J_rowadr", "efc_J_colind", "efc_type"} | {
    "geom", "dim", "efc_address",
}  # fmt: skip
"""Those of either that are integers."""

WORLD = """<mujoco><option jacobian="{jacobian}" cone="{cone}"/><worldbody>
  <geom type="plane" size="5 5 .1"/>
  <body pos="0 0 .0999"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
</worldbody></mujoco>"""


def address(array: np.ndarray) -> int:
    """Where an array begins."""
    return array.__array_interface__["data"][0]


def fields(data: "MjData") -> list[np.ndarray]:
    """``ROWS`` of a state."""
    return [getattr(data, name) for name in ROWS]


@lru_cache(maxsize=1)
def contact_fields(mujoco: ModuleType) -> np.ndarray | None:
    """Bytes of a contact, then where in it ``CONTACT`` begin; None where they are of other types
    than expected."""
    listed = _states(mujoco)[0].contact
    first = address(listed.dist)
    found = [listed.dist.strides[0]]
    for name in CONTACT:
        field = getattr(listed, name)
        if field.dtype != (np.int32 if name in INTEGERS else np.float64):
            return None
        found.append(address(field) - first)
    return None if found[0] % 8 else np.array(found, np.int64)


@lru_cache(maxsize=1)
def pointers(mujoco: ModuleType) -> np.ndarray | None:
    """Where in mjData the pointers to contacts and ``ROWS`` are [bytes]; None where that is not
    sure."""
    alike = None
    for data in _states(mujoco):
        kinds = {name: np.int32 if name in INTEGERS else np.float64 for name in ROWS}
        if any(getattr(data, name).dtype != kind for name, kind in kinds.items()):
            return None
        # two energies, the pointers to two buffers, then one to each array that is elsewhere
        begin = address(data.energy) - data._address
        public = [getattr(data, name) for name in dir(type(data)) if not name.startswith("_")]
        arrays = [a for a in public if isinstance(a, np.ndarray)]
        count = 4 + sum(not 0 <= address(a) - data._address <= begin for a in arrays)
        text = ctypes.string_at(data._address + begin, 8 * count)
        block = np.frombuffer(text, np.int64)
        wanted = [data.contact.dist, *fields(data)]
        found = [set((begin + 8 * np.flatnonzero(block == address(a))).tolist()) for a in wanted]
        alike = found if alike is None else [a & b for a, b in zip(alike, found, strict=True)]
    # contacts begin where the arena does, whose own pointer precedes all others
    alike[0] = {max(alike[0], default=0)}
    if any(len(places) != 1 or 0 in places for places in alike):
        return None
    return np.array([places.pop() for places in alike], np.int64)


@lru_cache(maxsize=1)
def _states(mujoco):
    """With dense and sparse rows, of both cones."""
    found = []
    for jacobian, cone in (("dense", "pyramidal"), ("sparse", "elliptic")):
        world = WORLD.format(jacobian=jacobian, cone=cone)
        model = mujoco.MjModel.from_xml_string(world)
        data = mujoco.MjData(model)
        mujoco.mj_step(model, data)
        found.append(data)
    return found
