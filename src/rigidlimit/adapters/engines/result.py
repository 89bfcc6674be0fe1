"""Mended forces, beside the engine's own."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ...diagnostics import determinacy, sensitivity
from ...errors import InputError
from .geometry import Places
from .gradients import ForceGradients, gradients_of
from .joint import in_rows
from .listed import Listed
from .memory import ContactSprings, springs_of
from .message import message
from .net_forces import NetForce, margins, net_forces, of_part
from .shares import ENGINE
from .solved_problem import SolvedProblem

if TYPE_CHECKING:
    from ...diagnostics import Determinacy, RoughDeterminacy, RoughSensitivity, Sensitivity


@dataclass(frozen=True, repr=False)
class MendedForces(SolvedProblem):
    """Compatible forces in the order and frames of an engine's own list of ``contacts``.

    Attributes
    ----------
    force : (contacts,) ndarray [N]
        Normal forces, net of adhesion. What there is more is listed below.
    tangential : (contacts, k) ndarray [N, N m]
        Friction forces and moments along ``places.tangents``.
    message : str
        What was done, and its caveats, a finding a line.
    contacts : EngineContacts
        Of the engine's step.
    options : MendOptions
    bearing : Bearing
        Which contacts took part.
    shares : Shares
        What was found for them.

    Examples
    --------
    >>> from rigidlimit.adapters import mend_forces
    >>> beam = [[1.0, -0.5], [1.0, 0.0], [1.0, 0.5]]
    >>> mended = mend_forces(beam, [0.65, 8.7, 0.65])
    >>> mended.force.round(4), mended.change.round(4)
    (array([3.3333, 3.3333, 3.3333]), array([ 2.6833, -5.3667,  2.6833]))
    """

    @cached_property
    def listed(self) -> Listed:
        """The engine's contacts, where they are, and its own forces of them."""
        known = self.contacts
        return Listed(
            known.contacts, known.row, known.places, known.engine_force, known.tangential,
            known.friction,
        )  # fmt: skip

    @cached_property
    def force(self) -> np.ndarray:
        """(contacts,) [N], mended normal forces, net of adhesion; zero where the engine lists a
        contact without solving it, or that is open and does not adhere."""
        return self.pressing - self.adhesion

    @cached_property
    def pressing(self) -> np.ndarray:
        """(contacts,) [N], what contacts press, ``force + adhesion`` >= 0: mu times it bounds
        friction."""
        force = self._spread(self.shares.force, self.solved)
        within = self.bearing.within
        if within.any():
            force[self.contacts.row[within]] = self.contacts.pressing[within]
        return force

    @cached_property
    def adhesion(self) -> np.ndarray:
        """(contacts,) [N], largest pull of each contact."""
        return self._spread(self.contacts.adhesion)

    @cached_property
    def engine_force(self) -> np.ndarray:
        """(contacts,) [N], the engine's, net of adhesion; nan if not given."""
        listed = self.listed
        force = listed.engine_force
        return listed.spread(np.full(len(listed.row), np.nan) if force is None else force)

    @cached_property
    def tangential(self) -> np.ndarray:
        """(contacts, k), friction forces and moments along ``places.tangents`` (spin about the
        normal, rolling about the tangents)."""
        tangential = self.engine_tangential.copy()
        tangential[self.row] = self.shares.tangential
        return tangential

    @cached_property
    def engine_tangential(self) -> np.ndarray:
        """The engine's friction forces and moments, (contacts, k)."""
        return self.listed.spread(self.listed.tangential)

    @property
    def outside_cone(self) -> np.ndarray:
        """(contacts,) bool, Coulomb's law broken by what is kept of the friction forces."""
        return self._spread(self.shares.outside, self.solved)

    @property
    def slid(self) -> np.ndarray:
        """(contacts,) bool, the same where a contact slides under another normal force."""
        return self._spread(self.shares.slid, self.solved)

    @property
    def open(self) -> np.ndarray:
        """(contacts,) bool, left out because they are apart at the end of the step."""
        return self._spread(self.bearing.open)

    @property
    def within(self) -> np.ndarray:
        """(contacts,) bool, between parts that links hold to each other, or that push on nothing
        that can move: the engine's force is kept."""
        return self._spread(self.bearing.within)

    @property
    def state(self) -> np.ndarray:
        """(contacts,) str, what the forces belong to where they were found jointly: "unloaded",
        "history" (of ``springs``), "least energy", or "engine" where that is kept; else ""."""
        state = np.full(self.contacts.contacts, "", object)
        state[self.row] = self.shares.state
        return state

    @cached_property
    def springs(self) -> ContactSprings | None:
        """What the contacts remember, for ``springs=`` of the next state; None where normal and
        friction forces were not found together."""
        return springs_of(self)

    @property
    def kept(self) -> np.ndarray:
        """(contacts,) bool, the engine's force is kept because no admissible forces were found."""
        return self.state == ENGINE

    @property
    def contact_force(self) -> np.ndarray:
        """Normal and tangential force in the engine's contact frames, (contacts, 1 + k) [N]."""
        return np.column_stack([self.force, self.tangential])

    @property
    def change(self) -> np.ndarray:
        """force - engine_force, (contacts,) [N]."""
        return self.force - self.engine_force

    @property
    def friction_changed(self) -> np.ndarray:
        """Contacts whose friction force is another than the engine's, (contacts,) bool."""
        return (self.tangential != self.engine_tangential).any(axis=1)

    @cached_property
    def friction_margin(self) -> np.ndarray:
        """(contacts,), how far each contact is from slipping: 1 - |f_t|/(mu f_n) of its mended
        forces, 1 where friction carries nothing, 0 at the bound of Coulomb's cone (of its ellipse
        where there are two coefficients), below 0 where kept friction forces are outside it; nan
        where a contact does not press or has no friction."""
        out = np.full(len(self.force), np.nan)
        out[self.listed.row] = margins(self)
        return out

    @property
    def largest_change(self) -> float:
        """The largest change of a contact's force vector over the largest of the engine's (of
        ``pressing`` ones), of the contacts that took part; nan where the engine's forces were not
        given."""
        rows = self.row
        pressing = self.engine_force + self.adhesion
        before = np.column_stack([pressing, self.engine_tangential[:, :2]])[rows]
        after = np.column_stack([self.pressing, self.tangential[:, :2]])[rows]
        largest = float(np.linalg.norm(before, axis=1).max(initial=0.0))
        change = float(np.linalg.norm(after - before, axis=1).max(initial=0.0))
        return change / largest if largest else change

    @property
    def already_compatible(self) -> bool:
        """Whether the engine's forces were the compatible ones already, to the part
        ``friction_tolerance`` (1e-6) of the largest."""
        return self.converged and self.largest_change <= self.options.friction_tolerance

    @property
    def vectors(self) -> np.ndarray:
        """Contact forces on the second part of each contact in world axes, (contacts, 3) [N]."""
        return self._vectors(self.force, self.tangential)

    @property
    def engine_vectors(self) -> np.ndarray:
        """The same of the engine's forces."""
        return self._vectors(self.engine_force, self.engine_tangential)

    def on(self, name: str, *, by: str | None = None, about: ArrayLike | None = None) -> NetForce:
        """Net contact force and torque on a part of the engine's model, as a sensor there has it.

        Parameters
        ----------
        name : str
            Of a geom, a body or a link; its end after "/", "::" or a space will do where only one
            part is called so.
        by : str, optional
            Only of its contacts with this part, named in the same way; None: of all.
        about : (3,) [m], optional
            Point of the torque; None: the centroid of its contacts, weighted by their normal
            forces.

        Raises
        ------
        InputError
            For a name that the model does not have, or for several parts.
        """
        return of_part(self, name, by, about)

    @property
    def by_geom(self) -> dict[str, NetForce]:
        """Net force on every geom (shape, link) that has contacts, by name."""
        return net_forces(self, "geom")

    @property
    def by_body(self) -> dict[str, NetForce]:
        """Net force on every body that has contacts, by name."""
        return net_forces(self, "body")

    @property
    def total(self) -> np.ndarray:
        """Force and moment on each free system, (systems, 6) [N, N m]: of normal forces, and of
        friction forces where they were found with them."""
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
        force = self.contacts.pressing[self.solved].sum()
        worst = float(off.max(initial=0.0))
        return worst / float(force) if force > 0 else (np.inf if worst > 0 else 0.0)

    def determinacy(self, **options: Any) -> "Determinacy | RoughDeterminacy":
        """Which forces balance alone determines, of the contacts that took part. Its indices are
        those of ``row``.

        Parameters
        ----------
        **options
            Of ``rigidlimit.determinacy``.
        """
        rough = dict(tangential=self.T, friction=self.friction) if self.joint else {}
        return determinacy(self.B, self.load, fixed=self.held, **rough, **options)

    def sensitivity(self, **options: Any) -> "Sensitivity | RoughSensitivity":
        """Derivatives of the forces of the contacts that took part with respect to stiffness,
        friction and load. Its indices are those of ``row``.

        Parameters
        ----------
        **options
            Of ``rigidlimit.sensitivity``.

        Raises
        ------
        InputError
            For forces that go on from ``springs`` of an earlier state.
        """
        if self.joint and self.contacts.springs is not None:
            raise InputError(
                "derivatives are of contacts loaded from nothing; found springs= of an earlier "
                "state, from which these forces go on"
            )
        law = dict(stiffness=self.stiffness, exponent=self.options.exponent)
        if self.joint:
            ratio = self.options.tangential_stiffness * (law["exponent"] - 1.0)
            law |= dict(
                tangential=self.T,
                friction=self.friction,
                tangential_stiffness=ratio * self.stiffness,
            )
        return sensitivity(self.B, self.load, fixed=self.held, **law, **options)

    def gradients(self) -> ForceGradients:
        """Derivatives of the forces with respect to load, stiffness and friction as arrays in the
        engine's list of contacts and its own velocities; see ``ForceGradients``. Friction forces
        are among them where they were found with normal ones.

        Raises InputError where forces are no equilibrium of stiff elastic bodies (``converged``).
        """
        return gradients_of(self)

    @property
    def displacement(self) -> np.ndarray:
        """The elastic displacement that goes with the forces, (n,), in the engine's velocities."""
        return self.balance.velocities(self.answer.displacement)

    @property
    def held_change(self) -> np.ndarray:
        """What the held degrees of freedom must deliver beyond the load given, (n,) [N, N m]."""
        force = self.pressing[self.row]
        if self.joint:
            force = in_rows(self.contacts, self.solved, force, self.tangential[self.row])
        return np.where(self.held, self.load - self.balance.B.T @ force, 0.0)

    @property
    def message(self) -> str:
        """What was done, and its caveats, in words."""
        return message(self)

    def _spread(self, values, rows=slice(None)):
        """Values of some rows of ``contacts.B`` in the order of the engine's list, else zero."""
        full = np.zeros((self.contacts.contacts, *values.shape[1:]), values.dtype)
        full[self.contacts.row[rows]] = values
        return full

    def _vectors(self, force, tangential):
        contacts, places = self.contacts, self._places(all_rows=True)
        out = np.zeros((len(self.force), 3))
        out[contacts.row] = places.vectors(force[contacts.row], tangential[contacts.row])
        return out

    def _totals(self, force, tangential):
        places, rows = self._places(), self.row
        rubs = tangential[rows] if self.joint else np.zeros((len(rows), 0))
        return places.totals(places.vectors(force[rows], rubs))

    def _places(self, all_rows: bool = False) -> Places:
        places = self.contacts.places if all_rows else self.places
        if places is None:
            raise InputError("totals need places=: contact points, normals and systems")
        return places
