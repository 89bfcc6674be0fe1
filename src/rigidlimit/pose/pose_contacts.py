"""Contacts of a pose with the elastic law on them, and the two kinds of forces they may have."""

from dataclasses import dataclass, replace

import numpy as np

from ..bodies import Bodies, State
from ..collision.contacts import Contacts
from ..collision.search import find_contacts
from ..compatibility import CompatibleForces, ContactHistory, compatible_forces
from ..compatibility.friction import contact_friction, contact_tangential_stiffness, has_friction
from ..compatibility.law import contact_stiffness
from ..errors import InputError
from ..kinematics import carry_tangential, framed, gap_gradient, in_frame, tangential_gradient
from ..scenes.scene import Scene
from .as_pressed import PressedForces, pressed
from .springs import Springs


@dataclass(frozen=True)
class PoseContacts:
    """m contacts at a state. stiffness (m,) [N/m^(p-1)] with the exponent p; friction (m,), None of
    smooth bodies; springs: of the same bodies, or None.
    """

    scene: Scene
    state: State
    contacts: Contacts
    stiffness: np.ndarray
    exponent: float
    friction: np.ndarray | None
    springs: Springs | None

    @classmethod
    def within(
        cls, reach: float, scene: Scene, state: State, exponent: float, *,
        stiffness: float | None, springs: Springs | None, touch: float = 0.0,
        rough: bool | None = None,
    ) -> "PoseContacts":  # fmt: skip
        """Those of gaps up to ``reach`` [m]; stiffness: of all, None as of materials. Gaps up to
        ``touch`` [m] count as none. Raises InputError where there are none. rough: of a part of a
        larger scene, which may have none, whether any bodies of the whole rub."""
        bodies, mu = scene.bodies, None
        contacts = _near(bodies, state, reach)
        closed = (contacts.gap > 0.0) & (contacts.gap <= touch)
        contacts = replace(contacts, gap=np.where(closed, 0.0, contacts.gap))
        if rough is None and not len(contacts):
            raise InputError(
                f"scene {scene.name!r}: no bodies touch, so that there are no contact forces; "
                "expected a pose of rest, with bodies that touch or overlap"
            )
        k = (
            contact_stiffness(bodies, contacts, exponent, scene.pair_stiffness)
            if stiffness is None
            else np.full(len(contacts), stiffness)
        )
        if has_friction(bodies, scene.pair_friction) if rough is None else rough:
            contacts = framed(contacts, bodies.dim)
            mu = contact_friction(bodies, contacts, scene.pair_friction)
        return cls(scene, state, contacts, k, exponent, mu, springs)

    def balanced(self, load: np.ndarray, tolerance: float) -> CompatibleForces:
        """Forces of the elastic equilibrium next to the pose; load (6 n,) [N, N m]."""
        bodies = self.scene.bodies
        return compatible_forces(
            gap_gradient(bodies, self.state, self.contacts),
            load,
            stiffness=self.stiffness,
            exponent=self.exponent,
            fixed=~bodies.free.ravel(),
            tolerance=tolerance,
            gap_error=self.contacts.gap,
            **({"blocks": bodies.blocks} if self.friction is None else self.rubbing()),
        )

    def pressed(self, load: np.ndarray, tolerance: float) -> PressedForces:
        """Forces of the overlaps and springs as they stand; load (6 n,) [N, N m]."""
        bodies, normal = self.scene.bodies, self._normal()
        B, along, T = gap_gradient(bodies, self.state, self.contacts), None, None
        if self.friction is not None:
            T = tangential_gradient(bodies, self.state, self.contacts)
            along = np.zeros((len(normal), bodies.dim - 1))
            if self.springs is not None:
                along = np.where(normal[:, None] > 0.0, self._kept(), 0.0)
        normal = np.maximum(normal, 0.0)
        return pressed(bodies, B, T, load, normal, along, self.friction, tolerance)

    def _normal(self) -> np.ndarray:
        """Force of the law at the overlaps (m,); of gaps as if they pulled."""
        overlap = -self.contacts.gap
        return np.sign(overlap) * self.stiffness * np.abs(overlap) ** (self.exponent - 1)

    def _kept(self) -> np.ndarray:
        """Forces (m, d - 1) of the tangential springs."""
        springs = self.springs
        return in_frame(
            self.contacts, carry_tangential(self.contacts, springs.contacts, springs.tangential)
        )

    def rubbing(self) -> dict:
        """Further arguments of ``compatible_forces``, from overlaps and tangential springs."""
        scene, contacts, begun = self.scene, self.contacts, {}
        if self.springs is not None:
            # the gaps are kept: given, they set rounding to that of the overlaps' forces
            begun = {
                "history": ContactHistory(self._normal(), self._kept(), contacts.gap),
                "increments": scene.increments,
            }
        return begun | {
            "tangential": tangential_gradient(scene.bodies, self.state, contacts),
            "tangential_stiffness": contact_tangential_stiffness(
                scene.bodies, contacts, self.stiffness, self.exponent,
                scene.pair_tangential_stiffness,
            ),
            "friction": self.friction,
            "tangential_law": scene.tangential_law,
        }  # fmt: skip


def _near(bodies: Bodies, state: State, reach: float) -> Contacts:
    """Contacts of bodies that overlap or are less than ``reach`` [m] apart, of which one moves."""
    around = np.where(np.isfinite(bodies.bounding_radius), reach, 0.0)
    contacts = find_contacts(bodies, state, around)
    moves = bodies.free.any(axis=1)[contacts.body].any(axis=1)
    return contacts.select(np.flatnonzero(moves & (contacts.gap <= reach)))
