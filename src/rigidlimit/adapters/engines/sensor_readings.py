"""Which user sensors of a MuJoCo model read mended forces, and what of which parts."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from ..._support.words import counted
from ...errors import InputError, nearest
from .mujoco_model import Structure, name_of
from .net_forces import of_parts
from .parts import NamedParts
from .result import MendedForces

if TYPE_CHECKING:
    from mujoco import MjData, MjModel

QUANTITIES = {
    "force": 3,
    "torque": 3,
    "wrench": 6,
    "normal_force": 1,
    "friction_margin": 1,
    "centre_of_pressure": 3,
    "converged": 1,
}
"""What sensors read, and how many numbers that is."""

NAMED = re.compile(r"(?<![a-zA-Z])mended_(\w+)$")
"""How names of sensors end that read a quantity."""

OF_ALL = "converged"
"""The quantity that is of no part."""


@dataclass(frozen=True)
class Reading:
    """What a user sensor reads. name; quantity of ``QUANTITIES``; begin, end: in ``sensordata``;
    part: of which, None where it is of no part; by: of whose contacts alone, or None. Both are
    (kind "geom" or "body", number). at: array of MjData and index there, whose place is the point
    of torques; site: whose axes these are, or -1."""

    name: str
    quantity: str
    begin: int
    end: int
    part: tuple[str, int] | None
    by: tuple[str, int] | None
    at: tuple[str, int]
    site: int

    def values(self, data: "MjData", sums: tuple, p: int) -> np.ndarray:
        """Of part p of ``sums``, as ``of_parts`` has them."""
        net, centre, normal_force, margin = sums
        place, index = self.at
        found = {
            "force": net[p, :1],
            "torque": net[p, 1:2],
            "wrench": net[p, :2],
            "normal_force": normal_force[p],
            "friction_margin": margin[p],
            "centre_of_pressure": centre[p : p + 1],
        }[self.quantity]
        if self.site >= 0 and np.ndim(found):
            if self.quantity == "centre_of_pressure":
                found = found - getattr(data, place)[index]
            found = found @ data.site_xmat[self.site].reshape(3, 3)
        return np.ravel(found)


class Readings:
    """All sensors of a model that read mended forces.

    sensors: by name, as ``MendedSensors`` has them; None: those whose names end in "mended_" and a
    quantity.
    """

    def __init__(
        self,
        mujoco: ModuleType,
        model: "MjModel",
        made: Structure,
        sensors: Mapping[str, Sequence[str]] | None,
    ):
        self.mujoco, self.model = mujoco, model
        none = np.zeros((0, 2), int)
        self._parts = NamedParts(none, none, made.geoms, made.bodies)
        found = self._by_name() if sensors is None else self._given(sensors)
        self.every = tuple(found)

    def fill(self, mended: MendedForces, data: "MjData") -> None:
        """Values of all sensors into ``data.sensordata``."""
        of_a_part = [reading for reading in self.every if reading.part is not None]
        sums = None
        if of_a_part:
            at = np.array([getattr(data, r.at[0])[r.at[1]] for r in of_a_part])
            sums = of_parts(mended, self._sides(mended, of_a_part), at)
        for reading in self.every:
            if reading.part is None:
                data.sensordata[reading.begin] = mended.converged
        for p, reading in enumerate(of_a_part):
            data.sensordata[reading.begin : reading.end] = reading.values(data, sums, p)

    def fill_with(self, value: float, data: "MjData") -> None:
        """One number into all of them."""
        for reading in self.every:
            data.sensordata[reading.begin : reading.end] = value

    @staticmethod
    def _sides(mended, readings):
        """(readings, m, 2) bool: sides of the contacts that belong to the part of each."""
        parts = mended.listed.places.named_parts
        return np.stack([parts.sides(reading.part, reading.by) for reading in readings])

    # which sensors

    def _by_name(self) -> Iterator[Reading]:
        users = self._users()
        found = {name: NAMED.search(name) for name in users}
        chosen = {name: match[1] for name, match in found.items() if match}
        if not chosen:
            raise InputError(
                f"none of {counted(len(users), 'user sensor')} has a name that ends in mended_ and "
                f"{' or '.join(QUANTITIES)}; expected one, or sensors="
            )
        for name, quantity in chosen.items():
            self._check_quantity(name, quantity)
            yield self._reading(name, users[name], quantity, None, None)

    def _given(self, sensors) -> Iterator[Reading]:
        users = self._users()
        if not isinstance(sensors, Mapping) or not sensors:
            raise InputError("sensors: expected a dict of sensors, {name: (part, quantity)}")
        for name, wanted in sensors.items():
            if name not in users:
                raise InputError(f"no user sensor is called {name!r}; {nearest(name, users)}")
            if isinstance(wanted, str) or len(wanted) not in (2, 3):
                raise InputError(
                    f"sensors[{name!r}] is {wanted!r}; expected (part, quantity), or (part, "
                    "quantity, by)"
                )
            part, quantity, by = (*wanted, None)[:3]
            self._check_quantity(name, quantity)
            places = [None if p is None else self._parts.place(p)[:2] for p in (part, by)]
            yield self._reading(name, users[name], quantity, *places)

    @staticmethod
    def _check_quantity(name, quantity):
        if quantity not in QUANTITIES:
            raise InputError(f"sensor {name!r} reads {quantity!r}; {nearest(quantity, QUANTITIES)}")

    def _users(self) -> dict[str, int]:
        """Numbers of user sensors by name."""
        kind = np.array(self.model.sensor_type, int)
        users = np.flatnonzero(kind == int(self.mujoco.mjtSensor.mjSENS_USER))
        return {name_of(self.mujoco, self.model, "SENSOR", i): int(i) for i in users}

    def _reading(self, name, i, quantity, part, by) -> Reading:
        model = self.model
        dim, begin = int(model.sensor_dim[i]), int(model.sensor_adr[i])
        if dim != QUANTITIES[quantity]:
            raise InputError(
                f"sensor {name!r} has dim {dim}; expected {QUANTITIES[quantity]}, of {quantity}"
            )
        if int(model.sensor_needstage[i]) != int(self.mujoco.mjtStage.mjSTAGE_ACC):
            raise InputError(
                f'sensor {name!r} has another needstage; expected needstage="acc", the stage in '
                "which contact forces are known"
            )
        own, at, site = self._attached(i)
        part = own if part is None else part
        if quantity == OF_ALL:
            part = None
        elif part is None:
            raise InputError(
                f"sensor {name!r} is attached to nothing; expected objtype (geom, body, xbody or "
                "site) and objname, or its part in sensors="
            )
        elif at is None:
            at = {"geom": "geom_xpos", "body": "xpos"}[part[0]], part[1]
        return Reading(name, quantity, begin, begin + dim, part, by, at, site)

    def _attached(self, i):
        """(part, place, site) of the object of sensor i; None, None, -1 without one."""
        kinds, model = self.mujoco.mjtObj, self.model
        kind, number = int(model.sensor_objtype[i]), int(model.sensor_objid[i])
        if kind == int(kinds.mjOBJ_SITE):
            return ("body", int(model.site_bodyid[number])), ("site_xpos", number), number
        for of, part, place in (
            (kinds.mjOBJ_GEOM, "geom", "geom_xpos"),
            (kinds.mjOBJ_BODY, "body", "xipos"),
            (kinds.mjOBJ_XBODY, "body", "xpos"),
        ):
            if kind == int(of):
                return (part, number), (place, number), -1
        return None, None, -1
