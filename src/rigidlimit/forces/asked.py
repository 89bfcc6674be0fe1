"""What step 2 is asked for: the balance of the closed contacts, less what tells nothing of it.

First without the motions that contacts of one body hardly feel (``tilts.py``). Asked again, for
less, where tilts next to nothing decide forces all the same, or stop the solver short: without
contacts that can never bear (``levers.py``), and without motions of all bodies together
(``together.py``).
"""

from typing import NamedTuple

import numpy as np

from .levers import hanging, leans, never_bearing
from .problem import CompatibleForces
from .tilts import asked_balance, asks_less
from .together import HELD, NONE, TAKEN, leaning_parts, never_bearing_together

ROUNDS = 5
"""Times that it is asked again without contacts that can never bear."""


class Answered(NamedTuple):
    """forces: of the closed contacts (m,). resting (m,) bool: contacts left out. together: how
    motions of all bodies together were left out, "" if not at all. hangs (n,) bool: bodies whose
    forces hang on tilts all the same. leaning (n,) bool: bodies with forces that such motions
    decide, and which hang together with too many others for these to be taken out."""

    forces: CompatibleForces
    resting: np.ndarray
    together: str
    hangs: np.ndarray
    leaning: np.ndarray


def asked_for_less(solve, bodies, B, load, force, slight) -> Answered:
    """The compatible forces of closed contacts that made F~ (``load``) by ``force`` (m,).

    solve(balance): compatible forces of a (B, load). slight: see ``asked_balance``.
    """
    of = bodies.free.ravel(), bodies.turning_arm.ravel()
    asked, found = _without_idle(solve, bodies, B, load, force, slight, of)
    if not found.forces.converged:
        return _holding_together(solve, bodies, B, load, force, found.hangs) or found
    if not leans(asked[0], found.forces.displacement, *of):
        return found
    less = _taking_together(solve, bodies, B, load, force, asked, found.resting, of)
    asked, found = less or (asked, found)
    answer = found.forces.force, found.forces.displacement
    return found._replace(leaning=leaning_parts(bodies, asked[0], *answer))


def _without_idle(solve, bodies, B, load, force, slight, of):
    """(balance asked for, answer) once contacts are left out that can never bear around bodies that
    hang on tilts, as long as that asks for less and converges."""
    resting = np.zeros(len(force), bool)
    asked = asked_balance(bodies, B, load, force, slight=slight)
    forces = solve(asked)
    for _ in range(ROUNDS):
        hangs = hanging(*asked, forces.displacement, *of)
        if not (forces.converged and hangs.any()):
            break
        more = resting | never_bearing(asked[0], force, hangs, *of)
        less = asked_balance(bodies, B, load, force, more)
        if (more == resting).all() or not asks_less(less[0], asked[0], more):
            break
        other = solve(less)
        if not other.converged:
            break
        forces, resting, asked = other, more, less
    return asked, Answered(forces, resting, "", hangs, np.zeros_like(hangs))


def _holding_together(solve, bodies, B, load, force, hangs) -> Answered | None:
    """The answer where motions of all bodies together are held, if that converges."""
    resting = never_bearing_together(bodies, B, force)
    held = asked_balance(bodies, B, load, force, resting, together=HELD)
    if held[0] is B:
        return None
    whole = asked_balance(bodies, B, load, force, resting, together=NONE)
    how = HELD if asks_less(held[0], whole[0], resting) else NONE
    forces = solve(held)
    answer = Answered(forces, resting, how, hangs, np.zeros_like(hangs))
    return answer if forces.converged else None


def _taking_together(solve, bodies, B, load, force, asked, resting, of):
    """(balance asked for, answer) where motions of all bodies together are taken out of the
    balance, if that asks for less than ``asked`` and converges; else None."""
    less = asked_balance(bodies, B, load, force, resting, together=TAKEN)
    if not asks_less(less[0], asked[0], resting):
        return None
    forces = solve(less)
    if not forces.converged:
        return None
    hangs = hanging(*less, forces.displacement, *of)
    return less, Answered(forces, resting, TAKEN, hangs, np.zeros_like(hangs))
