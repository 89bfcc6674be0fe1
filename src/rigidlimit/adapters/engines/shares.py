"""Forces of the contacts that can bear: shared out among them anew, with the friction they have.

Normal forces are the compatible ones of eq. 36 (Olsen & Kamrin) under friction as given, which is
then moved or checked (``coulomb``, ``friction_projection``); with ``on_friction="joint"`` normal
and tangential forces are found at once (``joint``).
"""

from dataclasses import dataclass

import numpy as np

from ..._support.words import counted
from ...errors import InputError
from ...forces import CompatibleForces, compatible_forces
from ...status import Status
from .balance import Balance
from .contacts import EngineContacts
from .coulomb import CoulombLaw, refusal
from .friction_projection import FrictionProjection
from .joint import coefficients, rough_answer
from .options import MendOptions

MANY = 300
"""Degrees of freedom above which the engine's forces, which balance the load, are a good start."""


@dataclass(frozen=True)
class Bearing:
    """rows (b,): contacts that can bear, of m; balance: of these; open, within (m,) bool: those
    left out because they are apart, or because no balance tells of them; linked: ``balance``
    before anything was left to friction."""

    rows: np.ndarray
    balance: Balance
    open: np.ndarray
    within: np.ndarray


@dataclass(frozen=True)
class Shares:
    """Forces of b bearing contacts. force (b,) [N]; tangential (b, k), moved or not; kept (b,)
    bool: the engine's forces; answer: of the others; balance: that they obey; missing: what
    friction lacks; outside, slid (b,) bool: Coulomb's law broken."""

    force: np.ndarray
    tangential: np.ndarray
    kept: np.ndarray
    answer: CompatibleForces
    balance: Balance
    missing: float
    outside: np.ndarray
    slid: np.ndarray


def shared_out(
    contacts: EngineContacts,
    bearing: Bearing,
    balance: Balance,
    law: CoulombLaw,
    options: MendOptions,
) -> Shares:
    """Compatible normal forces of the bearing contacts, and the friction that goes with them.

    Contacts for which no friction goes with them keep the engine's forces, and the others are
    shared out again.
    """
    rows, known = bearing.rows, balance.force
    tangential = contacts.tangential[rows]
    projection = None
    if options.on_friction == "move" and tangential.any():
        projection = _projection(contacts, bearing, balance, law, options)
    kept, missing, moved = np.zeros(len(rows), bool), 0.0, tangential
    while True:
        rest = np.flatnonzero(~kept)
        part, answer = compatible(contacts, rows[rest], balance.with_given(kept), options)
        force = known.copy()
        force[rest] = answer.force
        # no friction goes with forces that do not balance
        if projection is None or not answer.converged:
            break
        found = projection.onto(force, kept)
        moved = tangential.copy()
        moved[:, : found.tangential.shape[1]] = found.tangential
        missing = found.missing
        if (found.keep == kept).all():
            break
        if contacts.load_from != "engine":
            raise _not_movable(contacts, rows[found.keep & ~kept])
        kept = found.keep
    outside, slid = _broken_law(contacts, rows, law, force, moved, options)
    return Shares(force, moved, kept, answer, part, missing, outside, slid)


def shared_jointly(
    contacts: EngineContacts,
    bearing: Bearing,
    balance: Balance,
    law: CoulombLaw,
    options: MendOptions,
) -> Shares:
    """Normal and tangential forces of the bearing contacts from their total wrench.

    Where no admissible ones balance it, all contacts keep the engine's forces.
    """
    rows = bearing.rows
    part, answer = compatible(contacts, rows, balance, options)
    none = np.zeros(len(rows), bool)
    tangential = contacts.tangential[rows]
    solved = answer.status in (Status.CONVERGED, Status.NO_EQUILIBRIUM)
    if not (solved and answer.residual <= answer.tolerance):
        part = balance.with_given(~none)
        return Shares(contacts.normal_force[rows], tangential, ~none, answer, part, 0.0, none, none)
    moved = tangential.copy()
    moved[:, :2] = answer.tangential_force * coefficients(contacts)[1][rows]
    return Shares(answer.force, moved, none, answer, part, 0.0, none, none)


def compatible(
    contacts: EngineContacts, rows: np.ndarray, balance: Balance, options: MendOptions
) -> tuple[Balance, CompatibleForces]:
    """Compatible forces of some contacts (indices), and the balance that they obey: without weakly
    determined motions of several bodies, where forces depend on these."""
    stiffness = contacts.stiffness[rows]
    joint = options.on_friction == "joint"
    keywords = options.solver_for(rows, len(contacts.row))
    if not joint and contacts.load_from == "engine" and len(balance.load) > MANY:
        keywords.setdefault("admissible", balance.force)

    def solved(balance):
        if joint:
            return rough_answer(contacts, rows, balance, options)
        return compatible_forces(
            balance.B,
            balance.load,
            fixed=balance.held,
            stiffness=stiffness,
            exponent=options.exponent,
            **keywords,
        )

    answer = solved(balance)
    overlap = (answer.force / stiffness) ** (1 / (options.exponent - 1))
    overlap = np.repeat(overlap, balance.directions)
    less = balance.without_weak_motions_of_several(answer.displacement, overlap)
    if less.B is balance.B:
        return less, answer
    other = solved(less)
    if other.converged or not answer.converged:
        return less, other
    doubt = "forces hang on motions of several bodies that gaps feel by next to nothing"
    return balance.told(doubt), answer


def _projection(contacts, bearing, balance, law, options) -> FrictionProjection:
    k = min(contacts.directions, contacts.tangential.shape[1])
    return FrictionProjection.of(
        bearing.balance,
        balance.to_friction,
        contacts.tangential_rows(bearing.rows, k),
        contacts.tangential[bearing.rows, :k],
        balance.force,
        law,
        options.friction_share,
    )


def _broken_law(contacts, rows, law, force, moved, options):
    """Contacts where Coulomb's law is broken: outside their cone, and sliding; (b,) bool each."""
    tangential, known = contacts.tangential[rows], contacts.normal_force[rows]
    if options.on_friction == "move":
        slack = law.slack(force, known)
        outside = law.needed(moved) > force + slack
        return outside & (law.needed(tangential) <= known + slack), np.zeros(len(rows), bool)
    before = None if contacts.engine_force is None else known
    refuse = options.on_friction == "refuse"
    outside, slid = law.broken(before, force, tangential, required=refuse)
    broken = np.flatnonzero(outside | slid)
    if refuse and len(broken):
        worst = broken[0]
        reason = "slides, so its friction force would have to change with it"
        if outside[worst]:
            reason = "leaves the friction cone"
        reason += f" ({len(broken)} such contacts)"
        was = None if before is None else known[worst]
        raise refusal(contacts, rows[worst], reason, was, force[worst])
    return outside, slid


def _not_movable(contacts, rows) -> InputError:
    """The error where, with a load of its own, contacts ``rows`` cannot keep their forces."""
    return InputError(
        f"{contacts.engine}: no friction that Coulomb's law admits goes with these normal forces "
        f"at {counted(len(rows), 'contact')}, first {contacts.where(rows[0])}, and with "
        "this load the engine's forces cannot be kept there; take load='engine', or "
        "on_friction='keep'"
    )
