"""New distribution of the load among the contacts that can carry force.

With friction kept as it is, or without any, normal forces are the compatible ones of eq. 36 (Olsen
& Kamrin) under friction as given; Coulomb's law is then checked (``coulomb``). With
``on_friction="joint"`` normal and tangential forces are found at once (``joint``).
"""

from dataclasses import dataclass

import numpy as np

from ..._support.deadline import cut, late
from ...compatibility import CompatibleForces, RoughForces, compatible_forces
from .balance import Balance
from .contacts import EngineContacts
from .coulomb import CoulombLaw
from .joint import by_islands, rough_answer
from .options import MendOptions

DOUBT = "forces depend on weakly constrained motions of several bodies"

ENGINE = "engine"
"""State of contacts that keep the engine's forces."""


@dataclass(frozen=True)
class Bearing:
    """rows (b,): contacts that can carry force, of m; balance: of these; open, within (m,) bool:
    those left out because they are apart, or because no balance determines them."""

    rows: np.ndarray
    balance: Balance
    open: np.ndarray
    within: np.ndarray


@dataclass(frozen=True)
class Shares:
    """Forces of b such contacts. force (b,) [N]: pressing, adhesion included; tangential (b, k),
    found or not; state (b,): what each belongs to, of ``compatibility.rough``'s names, ``ENGINE``
    or "" without tangential forces; answer; balance: that it obeys; outside, slid (b,) bool:
    Coulomb's law broken."""

    force: np.ndarray
    tangential: np.ndarray
    state: np.ndarray
    answer: CompatibleForces
    balance: Balance
    outside: np.ndarray
    slid: np.ndarray


def shared_out(contacts: EngineContacts, bearing: Bearing, options: MendOptions) -> Shares:
    """Compatible normal forces of the contacts, friction as the engine has it."""
    rows = bearing.rows
    keywords = options.solver_for(rows, len(contacts.row))
    if contacts.load_from == "engine":  # whose forces balance the load: an initial guess
        keywords.setdefault("admissible", bearing.balance.force)
    slack = contacts.slack(rows, options.exponent)
    if slack is not None:
        given = keywords.get("gap_error")
        keywords["gap_error"] = slack if given is None else slack + given

    def solved(balance: Balance) -> CompatibleForces:
        return compatible_forces(
            balance.B,
            balance.load,
            fixed=balance.held,
            stiffness=contacts.stiffness[rows],
            exponent=options.exponent,
            **keywords,
        )

    balance, answer = _without_weak(contacts, rows, bearing.balance, options, solved)
    law = CoulombLaw(contacts.friction, contacts.cone, options.friction_tolerance).of(rows)
    before = None if contacts.engine_force is None else contacts.pressing[rows]
    tangential = contacts.tangential[rows]
    outside, slid = law.broken(before, answer.force, tangential)
    state = np.full(len(rows), "", object)
    return Shares(answer.force, tangential, state, answer, balance, outside, slid)


def shared_jointly(contacts: EngineContacts, bearing: Bearing, options: MendOptions) -> Shares:
    """Normal and tangential forces of the contacts from their total wrench.

    Contacts of an island where no admissible ones balance it keep the engine's forces.
    """
    rows = bearing.rows

    def solved(balance: Balance) -> RoughForces:
        return rough_answer(contacts, rows, balance, options)

    balance, answer = _without_weak(contacts, rows, bearing.balance, options, solved)
    answer, state = by_islands(contacts, rows, balance, options, answer)
    kept = state == ENGINE
    found = answer.tangential_force * contacts.coefficients[1][rows]
    tangential = contacts.tangential[rows].copy()
    tangential[:, :2] = np.where(kept[:, None], tangential[:, :2], found)
    force = np.where(kept, contacts.pressing[rows], answer.force)
    # moments stay, and may be more than the new normal forces allow
    moments, bound = np.abs(tangential[:, 2:]), contacts.friction[rows, 2:] * force[:, None]
    slack = options.friction_tolerance * np.abs(tangential[:, 2:]).max(initial=0.0)
    outside = ~kept & (moments > bound + slack).any(axis=1)
    return Shares(force, tangential, state, answer, balance, outside, np.zeros(len(rows), bool))


def _without_weak(contacts, rows, balance, options, solved):
    """The answer of ``solved(balance)`` and the balance that it obeys: without weakly determined
    motions of several bodies, where forces depend on these."""
    answer = solved(balance)
    overlap = (answer.force / contacts.stiffness[rows]) ** (1 / (options.exponent - 1))
    overlap = np.repeat(overlap, balance.directions)
    less = balance.without_weak_motions_of_several(answer.displacement, overlap)
    if less.B is balance.B:
        return less, answer
    if late():
        return balance.noted(DOUBT), answer
    other = solved(less)
    worse = cut() and other.residual > answer.residual
    if other.converged or not (answer.converged or worse):
        return less, other
    return balance.noted(DOUBT), answer
