"""Equilibrium equations of step 2 on the closed contacts, without uninformative ones.

First without weakly constrained motions of single bodies (``one_body.py``). Where negligible tilts
still decide forces, or stop the solver early, it is solved again with fewer equations: without
contacts that can never carry force (``idle_contacts.py``), and without collective motions of
several bodies (``several_bodies.py``).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ..bodies import Bodies
from ..compatibility.result import CompatibleForces
from .closed_contacts import WARNED
from .idle_contacts import far_moved, never_bearing, tilt_dependent
from .one_body import reduced_balance, resists_other_motions
from .screening import Columns
from .several_bodies import HELD, NONE, TAKEN, never_bearing_together
from .step_data import Balance
from .tolerances import TOLERANCES


class Reduced(NamedTuple):
    """Step 2 without uninformative equations. m closed contacts, N bodies.

    forces: of the contacts (m,). balance: (B (m, 6 N), load (6 N,)) that these satisfy, with
    empty rows for contacts left out, resting (m,) bool. several_bodies: how collective motions
    were excluded, "" if not at all. tilt_dependent (N,) bool: bodies whose forces still depend
    on slight tilts. far (N,) bool: bodies with displacements so large that weakly constrained
    collective motions decide forces. settled: whether the full balance is known to have no other
    forces, though it was not solved to tolerance."""

    forces: CompatibleForces
    balance: tuple
    resting: np.ndarray
    several_bodies: str
    tilt_dependent: np.ndarray
    far: np.ndarray
    settled: bool = False


def balanced(balance: Balance, forces: CompatibleForces) -> Balance:
    """``balance`` as satisfied by ``forces``: with another load along motions that they exclude."""
    return balance if forces.load is None else (balance[0], forces.load)


def reduced_forces(
    solve: Callable[[Balance], CompatibleForces],
    bodies: Bodies,
    B: sp.csr_array,
    load: np.ndarray,
    force: np.ndarray,
    balance: Balance | None = None,
) -> Reduced:
    """The compatible forces of closed contacts that made F~ (``load``) by ``force`` (m,).

    solve(balance): compatible forces of a (B, load). balance: ``reduced_balance`` of these, if
    known.
    """
    of = Columns.of(bodies)
    found = _without_idle(solve, bodies, B, load, force, balance, of)
    if not found.forces.converged:
        return _holding_together(solve, bodies, B, load, force, found) or found
    if not far_moved(found.balance[0], found.forces.displacement, of).any():
        return found
    found = _taking_together(solve, bodies, B, load, force, found, of) or found
    return found._replace(far=far_moved(found.balance[0], found.forces.displacement, of))


def _without_idle(solve, bodies, B, load, force, balance, of) -> Reduced:
    """The solution without contacts that can never carry force around bodies that depend on tilts,
    as long as that removes equations and converges."""
    resting = np.zeros(len(force), bool)
    asked = reduced_balance(bodies, B, load, force) if balance is None else balance
    forces = solve(asked)
    for _ in range(TOLERANCES.rounds):
        dependent = tilt_dependent(*asked, forces.displacement, of)
        if not (forces.converged and dependent.any()):
            break
        more = resting | never_bearing(asked[0], force, dependent, of)
        less = reduced_balance(bodies, B, load, force, more)
        if (more == resting).all() or not resists_other_motions(less[0], asked[0], more):
            break
        other = solve(less)
        if not other.converged:
            break
        forces, resting, asked = other, more, less
    asked = balanced(asked, forces)
    return Reduced(forces, asked, resting, "", dependent, np.zeros_like(dependent))


def _holding_together(solve, bodies, B, load, force, whole_answer) -> Reduced | None:
    """The solution with collective motions held, if that converges."""
    resting = never_bearing_together(bodies, B, force)
    held = reduced_balance(bodies, B, load, force, resting, several_bodies=HELD)
    if held[0] is B:
        return None
    whole = reduced_balance(bodies, B, load, force, resting, several_bodies=NONE)
    how = HELD if resists_other_motions(held[0], whole[0], resting) else NONE
    forces = solve(held)
    dependent = whole_answer.tilt_dependent
    settled = _settled(whole_answer.forces, forces)
    held = balanced(held, forces)
    found = Reduced(forces, held, resting, how, dependent, np.zeros_like(dependent), settled)
    return found if forces.converged else None


def _settled(whole, less) -> bool:
    """Whether forces of the whole balance are those of ``less``, to a thousandth of the largest:
    they balance, and their duality gap bounds how far they are from the ones sought."""
    apart = np.abs(whole.force - less.force).max(initial=0.0)
    bound = float(whole.force_error + apart / (less.force.max(initial=0.0) or 1.0))
    return whole.residual <= whole.tolerance and bound <= WARNED


def _taking_together(solve, bodies, B, load, force, found, of) -> Reduced | None:
    """The solution with collective motions removed from the balance, if that has fewer equations
    than ``found`` and converges; else None."""
    less = reduced_balance(
        bodies, B, load, force, found.resting, several_bodies=TAKEN, apart=found.balance
    )
    if less is found.balance or not resists_other_motions(less[0], found.balance[0], found.resting):
        return None
    forces = solve(less)
    if not forces.converged:
        return None
    less = balanced(less, forces)
    dependent = tilt_dependent(*less, forces.displacement, of)
    less = dict(balance=less, several_bodies=TAKEN, tilt_dependent=dependent)
    return found._replace(forces=forces, **less)
