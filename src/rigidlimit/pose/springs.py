"""Tangential springs that belong to a pose, matched with the contacts of a scene by body names.

Springs come from another program's file, from a DEM or from an earlier answer, whose scene may
have had fewer bodies, or the same in another order: contacts are matched by the names of their two
bodies and their feature, not by numbers.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from .._support import arrays
from .._support.warned import warn
from .._support.words import counted
from ..bodies import Bodies
from ..collision.contacts import Contacts
from ..errors import InputError, SceneWarning
from ..kinematics import in_world

if TYPE_CHECKING:
    from ..scenes.scene import Scene
    from .overlaps import PoseForces

EXPECTED = (
    "expected Packing.springs, or a result with contacts and tangential forces: of forces_at_pose, "
    "of a step, of a DEM or of LAMMPS"
)


@dataclass(frozen=True)
class Springs:
    """Tangential forces of the contacts of a pose.

    contacts: m of them. tangential (m, 3) [N]: on the body contacts.body[:, 1], world frame. names:
    of the bodies that ``contacts.body`` counts; None where they are not known. stiffness
    [N/m^(p-1)]: of every contact, or None for that of the scene.
    """

    contacts: Contacts
    tangential: np.ndarray
    names: tuple[str, ...] | None = None
    stiffness: float | None = None

    def begin(self, scene: "Scene") -> "PoseForces":
        """Balanced forces of the scene's pose with these springs: what a simulation of it begins
        with."""
        from .overlaps import forces_at_pose

        return forces_at_pose(scene, stiffness=self.stiffness, springs=self)

    def in_scene(self, bodies: Bodies) -> "Springs":
        """The same springs, their contacts counted as ``bodies`` are.

        Those of bodies that the scene does not have are left out, with a SceneWarning. Raises
        InputError where the numbers of bodies differ and names are not known.
        """
        if self.names is None:
            if self.contacts.bodies != len(bodies):
                raise InputError(
                    f"springs are of {counted(self.contacts.bodies, 'body')} without names, the "
                    f"scene has {len(bodies)}; {EXPECTED}, of the same scene"
                )
            return self
        if self.names == tuple(bodies.names):
            return self
        number = {name: k for k, name in enumerate(bodies.names)}
        new = np.array([number.get(name, -1) for name in self.names], np.int64)
        body = new[self.contacts.body].reshape(-1, 2)
        known = (body >= 0).all(axis=1)
        lost = int(self.tangential[~known].any(axis=1).sum())
        if lost:
            warn(
                f"springs of {counted(lost, 'contact')} are left out: their bodies are not in the "
                "scene",
                SceneWarning,
            )
        return self._renumbered(body, known, len(bodies))

    def _renumbered(self, body: np.ndarray, known: np.ndarray, count: int) -> "Springs":
        """Of the contacts that are ``known`` (m,), between the bodies ``body`` (m, 2)."""
        contacts, body = self.contacts.select(known), body[known]
        turned = body[:, 0] > body[:, 1]
        body = np.sort(body, axis=1)
        sign = np.where(turned, -1.0, 1.0)[:, None]
        contacts = replace(contacts, body=body, normal=sign * contacts.normal, bodies=count)
        order = np.lexsort((contacts.feature, body[:, 1], body[:, 0]))
        tangential = sign * self.tangential[known]
        # the order may change, which a mask or ascending indices of ``select`` do not do
        return Springs(contacts.select(order), tangential[order], None)


def springs_from(given: object) -> Springs | None:
    """Springs from what a caller gives: ``Springs``, a result with forces at contacts, or None.

    Raises InputError for anything else.
    """
    if given is None or isinstance(given, Springs):
        return given
    contacts = getattr(given, "contacts", None)
    tangential = getattr(given, "tangential", None)
    if isinstance(contacts, Contacts) and tangential is None and contacts.tangents is not None:
        along = getattr(given, "tangential_force", None)
        tangential = None if along is None else in_world(contacts, np.asarray(along, float))
    if not isinstance(contacts, Contacts) or tangential is None:
        raise InputError(f"springs is {arrays.short(given)}; {EXPECTED}")
    tangential = np.asarray(tangential, float)
    if tangential.shape != (len(contacts), 3):
        raise InputError(
            f"springs has tangential forces of shape {tangential.shape}; expected "
            f"({len(contacts)}, 3), a vector [N] for each of its contacts"
        )
    names = getattr(getattr(given, "bodies", None), "names", None)
    return Springs(contacts, tangential, None if names is None else tuple(names))
