"""Mended forces, beside the engine's own."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..._support.display import Brief
from ..._support.words import counted
from ...errors import InputError
from ...forces import CompatibleForces
from ...status import Status
from .balance import Balance
from .contacts import EngineContacts
from .geometry import ContactGeometry
from .options import MendOptions

MISSING = 1e-5
"""What friction lacks of the engine's resultant from which on it is told."""

CONDITION = (
    "normal forces are the compatible ones under the engine's friction: what that carries of the "
    "load of each body is kept, and another share of it would change them"
)
"""Said wherever there is friction: only normal forces are made unique."""

JOINT = (
    "normal and friction forces are found together from the total wrench on each body, in the "
    "stiff limit with Coulomb's cones: those of the state {state!r}"
)
"""Said with on_friction="joint"."""

_LOADS = {
    "engine": "the engine's own resultant, so total force and moment are its own",
    "given": "as given, not the engine's resultant",
    "step": "the engine's own step solved anew, not the resultant of its forces",
    "rest": "what holds everything without acceleration, not the engine's resultant",
}


@dataclass(frozen=True, repr=False)
class MendedForces(Brief):
    """Compatible forces in the order and frames of an engine's own list of ``contacts``.

    Attributes
    ----------
    contacts : ``EngineContacts``, what the engine's step left; options : ``MendOptions``.
    force, engine_force : (contacts,) [N], normal forces, mended and the engine's (nan if not
        given); zero where the engine lists a contact without solving it.
    tangential, engine_tangential : (contacts, k), friction forces and moments in the engine's own
        contact frame, and the engine's; the same unless on_friction is "move" or "joint".
    outside_cone, slid : (contacts,) bool, Coulomb's law broken by keeping them (always False with
        on_friction="refuse").
    open : (contacts,) bool, left out because they are apart at the end of the step.
    within : (contacts,) bool, between parts that links hold to each other, or that push on nothing
        that can move: the engine's force is kept.
    kept : (contacts,) bool, the engine's force is kept: with on_friction="move" because no friction
        goes with another one, with "joint" because no admissible forces were found.
    solved : (b,) int, which rows of ``contacts.B`` took part.
    balance : ``Balance``, what their forces obey; answer : its ``CompatibleForces``, with "joint"
        ``RoughForces``, whose ``state`` names the forces.
    friction_missing : with "move", what friction forces lack of the engine's resultant, over the
        largest normal force of the bodies concerned.
    """

    contacts: EngineContacts
    options: MendOptions
    force: np.ndarray
    engine_force: np.ndarray
    tangential: np.ndarray
    engine_tangential: np.ndarray
    outside_cone: np.ndarray
    slid: np.ndarray
    open: np.ndarray
    within: np.ndarray
    kept: np.ndarray
    solved: np.ndarray
    balance: Balance
    answer: CompatibleForces
    friction_missing: float

    @property
    def engine(self) -> str:
        """Name of the engine."""
        return self.contacts.engine

    @property
    def row(self) -> np.ndarray:
        """Place in the engine's list of each contact that took part, (b,)."""
        return self.contacts.row[self.solved]

    @property
    def places(self) -> ContactGeometry | None:
        """Geometry of the contacts that took part."""
        places = self.contacts.places
        return None if places is None else places[self.solved]

    @property
    def B(self) -> sp.csr_array:
        """(b, n), normal rows of the problem solved; without friction or with friction given ready
        for ``determinacy(B, load, fixed=held)``."""
        return sp.csr_array(self.balance.normal_rows)

    @property
    def T(self) -> sp.csr_array:
        """(2 b, n), tangential rows of the problem solved with "joint", else none."""
        return sp.csr_array(self.balance.tangential_rows)

    @property
    def load(self) -> np.ndarray:
        """(n,) [N, N m], of the problem solved."""
        return self.balance.load

    @property
    def stiffness(self) -> np.ndarray:
        """(b,), of the contacts that took part."""
        return self.contacts.stiffness[self.solved]

    @property
    def held(self) -> np.ndarray:
        """(n,) bool, degrees of freedom taken as rigidly held."""
        return self.contacts.held

    @property
    def motions(self) -> sp.csr_array:
        """(n, n), engine velocities of B's columns, the identity where nothing is left out."""
        return self.balance.matrix()

    @property
    def load_from(self) -> str:
        """ "engine", "step", "rest" or "given"."""
        return self.contacts.load_from

    @property
    def on_friction(self) -> str:
        """What became of friction forces."""
        return self.options.on_friction

    @property
    def notes(self) -> tuple[str, ...]:
        """What the reader did, and what was left out."""
        return self.balance.notes

    @property
    def converged(self) -> bool:
        return self.answer.converged

    @property
    def contact_force(self) -> np.ndarray:
        """Normal and tangential force in the engine's contact frames, (contacts, 1 + k) [N]."""
        return np.column_stack([self.force, self.tangential])

    @property
    def change(self) -> np.ndarray:
        """force - engine_force, (contacts,) [N]."""
        return self.force - self.engine_force

    @property
    def friction_moved(self) -> np.ndarray:
        """Contacts whose friction force is another than the engine's, (contacts,) bool."""
        return (self.tangential != self.engine_tangential).any(axis=1)

    @property
    def total(self) -> np.ndarray:
        """Force and moment on each free system, (systems, 6) [N, N m]: of normal forces, with
        on_friction="joint" of friction forces too."""
        return self._totals(self.force, self.tangential)

    @property
    def engine_total(self) -> np.ndarray:
        """The same of the engine's forces."""
        return self._totals(self.engine_force, self.engine_tangential)

    @property
    def total_error(self) -> float:
        """max |total - engine_total| over the sum of the engine's forces, both of the contacts that
        took part; moments over sizes."""
        if not len(self.row):
            return 0.0
        if np.isnan(self.engine_force).any():
            return np.nan
        off = np.abs(self.total - self.engine_total)
        off[:, 3:] /= self._places().sizes[:, None]
        force = np.abs(self.engine_force[self.row]).sum()
        worst = float(off.max(initial=0.0))
        return worst / float(force) if force > 0 else (np.inf if worst > 0 else 0.0)

    @property
    def displacement(self) -> np.ndarray:
        """The elastic displacement that goes with the forces, (n,), in the engine's velocities."""
        return self.balance.velocities(self.answer.displacement)

    @property
    def held_change(self) -> np.ndarray:
        """What the held degrees of freedom must deliver beyond the load given, (n,) [N, N m]."""
        delivered = self.B.T @ self.force[self.row]
        if self.on_friction == "joint" and len(self.row):
            delivered += self.T.T @ self.answer.tangential_force.ravel()
        return np.where(self.held, self.load - delivered, 0.0)

    @property
    def message(self) -> str:
        largest = float(np.abs(self.engine_force[~self.within]).max(initial=0.0))
        part = float(np.abs(self.change).max(initial=0.0)) / largest if largest > 0 else 0.0
        change = f"forces changed by up to {100 * part:.2g} % of the engine's largest"
        if np.isnan(largest):
            change = "the engine's forces were not given"
        if not len(self.force):
            none = f"{self.engine}: no contacts (an engine lists none before its first step)"
            return "; ".join([none, *self.notes])
        opened = int(self.open.sum())
        parts = [
            f"{self.engine}: {counted(len(self.force), 'contact')}, {change}",
            f"load: {_LOADS.get(self.load_from, self.load_from)}",
            *self.notes,
            *([f"{counted(opened, 'open contact')}: zero force"] if opened else []),
            self._friction_message(),
            *self._held_message(),
            self.answer.message,
            *self._rest_message(),
        ]
        return "; ".join(parts)

    def _held_message(self):
        change = float(np.abs(self.held_change).max(initial=0.0))
        if not self.held.any():
            return []
        return [
            f"held joints deliver up to {change:.3g} (N, N m) beyond their load; what they squeeze "
            "harder than the balance of the others asks for is not kept"
        ]

    def _rest_message(self):
        if self.load_from != "rest" or self.answer.status is not Status.LOAD_NOT_CARRIED:
            return []
        return [
            "load='rest' asks for no acceleration at all, and the engine is "
            f"{self.answer.residual:.1e} of the load away from that; let it come to rest, take "
            "load='engine', or, where that is near enough, a tolerance above it"
        ]

    def _friction_message(self):
        if self.on_friction == "joint":
            if self.kept.any():
                return "no admissible normal and friction forces found: the engine's are kept"
            return JOINT.format(state=self.answer.state)
        if not self.engine_tangential.any():
            return "no friction forces"
        text = "friction forces kept as the engine has them"
        if self.on_friction == "move":
            text = self._moved_message()
        return f"{text}{self._broken_message()}; {CONDITION}"

    def _broken_message(self):
        broken = np.flatnonzero(self.outside_cone | self.slid)
        if not len(broken):
            return ""
        return (
            f"; Coulomb's law is broken at {counted(len(broken), 'contact')}, first at contact "
            f"{broken[0]}: do not use these forces as a solution with friction"
        )

    def _moved_message(self):
        moved = self.friction_moved
        change = np.abs(self.tangential - self.engine_tangential)
        largest = float(np.abs(self.engine_tangential[~self.within]).max(initial=0.0))
        text = "friction forces kept as the engine has them"
        if moved.any():
            part = float(change.max()) / largest
            text = (
                f"friction forces of {counted(int(moved.sum()), 'contact')} moved by up to "
                f"{100 * part:.2g} % of the engine's largest, to the nearest that Coulomb's law "
                "admits with these normal forces"
            )
        if self.friction_missing > MISSING:
            text += (
                f"; beside contacts that slide friction misses the engine's resultant by "
                f"{self.friction_missing:.1e} of the largest normal force"
            )
        if self.kept.any():
            text += (
                f"; {counted(int(self.kept.sum()), 'contact')}, first contact "
                f"{np.flatnonzero(self.kept)[0]}, slide or bear at the bound of friction in a way "
                "that goes with the engine's normal forces only: both are kept there"
            )
        return text

    def _totals(self, force, tangential):
        places = self._places()
        vectors = force[self.row, None] * places.normal
        if self.on_friction == "joint" and places.tangents is not None:
            vectors += np.einsum("ik,ikj->ij", tangential[self.row, :2], places.tangents)
        return places.totals(vectors)

    def _places(self) -> ContactGeometry:
        places = self.places
        if places is None:
            raise InputError("totals need places=: contact points, normals and systems")
        return places
