"""The pose of locally least potential energy of bodies that only shift: balls, and held ones.

    min over x of  -F_ext . x    subject to    Phi(x) >= 0

with the gaps Phi of all near contacts, whose multipliers are contact forces in balance:

    F_ext + B^T f = 0,   0 <= f  _|_  Phi >= 0.

By the central path f_i Phi_i = mu -> 0 (interior point), one factorization a round. Each round
lists the contacts anew and makes one step of Newton's method on

    F_ext + B^T f = 0,    w = Phi,    f_i w_i = mu,
    (P + B^T D B) d = F_ext + B^T (mu/w),    D = f/w,

where bodies overlap with slacks w > 0 of their own in place of their gaps.

Distances of convex bodies are convex functions of shifts, so that a step which the linearised
gaps allow leads to no overlap, and the barrier function -F_ext . x - mu sum log Phi is below what
the linearised gaps make of it: its least value along the step, found by bisection, is a descent
that cannot fail. Their curvature, which would make the matrix indefinite, is left out.

P holds back single bodies that would go beyond the contacts that are listed, as a loose ball that
falls; for the others it is negligible, and it vanishes from the solution, since it is measured
from the present pose.

A periodic cell that is loaded by a stress shifts its bodies by strains, in which distances are
convex as well; its potential is sigma V, which is taken along its tangent in each round.

Lengths are over the scene's length, forces over the heaviest load.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .._support.words import counted
from ..bodies import Bodies, State
from ..bodies.cell import volume_of
from ..collision.contacts import Contacts
from ..errors import InputError
from ..status import HasStatus, Status
from .energy_path import Path, Round
from .energy_problem import SETTINGS, Problem

USUAL = 0.1
"""Heaviest load over the usual contact force, by which imbalances are judged under a stress."""


@dataclass(frozen=True)
class LeastEnergy(HasStatus):
    """Where the path ended, with zero velocities: the near contacts (m) and their forces [N] (m,).

    unbalanced: largest imbalance over the heaviest load. overlap: deepest, over the scene's length.
    status: CONVERGED, or MAX_ITERATIONS: then the pose is as good as it got.
    """

    state: State
    contacts: Contacts
    force: np.ndarray
    status: Status
    rounds: int
    unbalanced: float
    overlap: float


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # where overlaps cannot be undone
def least_energy(
    bodies: Bodies,
    state: State,
    external_force: np.ndarray,
    *,
    start: tuple[Contacts, np.ndarray] | None = None,
    begin: float = SETTINGS.begin,
    max_rounds: int = 1000,
    callback: Callable[[str], object] | None = None,
) -> LeastEnergy:
    """Pose near ``state`` in which bodies that only shift are at rest, with zero velocities.

    Bodies do not turn. The answer is to be judged by a step of contact dynamics, which must not
    move.

    Parameters
    ----------
    bodies, state
        Balls, and bodies that cannot turn; overlaps are undone.
    external_force
        (6 n,) [N].
    start
        Contacts and their forces (m,) [N] that about balance, to begin with.
    begin
        mu to begin with, the smaller the nearer ``state`` is to rest.
    max_rounds
        Most rounds, one factorization each.
    callback
        Called with a line of text in each round; true ends the search.

    Raises
    ------
    InputError
        Where no body is loaded.
    """
    load = force_scale(bodies, state, external_force)
    if load == 0.0:
        raise InputError("no body is loaded; expected gravity or loads that press bodies together")
    path = Path(Problem.of(bodies, external_force, load), begin, start)
    status = Status.MAX_ITERATIONS
    for k in range(max_rounds + 1):
        seen = path.look(state)
        if callback is not None and callback(_line(k, path.mu, seen)):
            break
        if path.at_end(seen):
            status = Status.CONVERGED
            state, seen = path.close(state, seen)
            break
        if k == max_rounds:
            break
        path.lower(seen)
        moved = path.step(state, seen)
        if moved is None:
            break
        state = moved
    return LeastEnergy(
        state=state.moved(velocity=np.zeros_like(state.velocity)),
        contacts=seen.contacts,
        force=load * seen.f,
        status=status,
        rounds=k,
        unbalanced=seen.unbalanced,
        overlap=float(max(0.0, -seen.gap.min(initial=0.0))),
    )


def _line(k: int, mu: float, seen: Round) -> str:
    """Round k in a line."""
    overlap = "" if seen.apart else f", overlap {-seen.gap.min():.0e}"
    return (
        f"round {k}: {counted(len(seen.gap), 'near contact')}, "
        f"unbalanced force {seen.unbalanced:.0e}, gap times force {mu:.0e}{overlap}"
    )


def force_scale(bodies: Bodies, state: State, external_force: np.ndarray) -> float:
    """The heaviest load of a body that can shift [N]; for a stress a tenth of that on a contact,
    sigma l^(dim - 1): in packings weights are that much smaller than contact forces."""
    load = np.where(bodies.shifts, np.abs(external_force).reshape(-1, 6), 0.0)
    if bodies.cell is not None:
        load[-1] *= USUAL * bodies.cell_length**bodies.dim / volume_of(state.cell)
    return float(load.max(initial=0.0))
