"""Refine step 1 along weakly constrained motions; bound the remaining force error.

N = dt B M^-1 B^T resists forces along a motion of singular value S (``screening.py``) by S^2 only.
Where slacks w are off by d [m/s], forces along the motion of one body are uncertain by up to

    U^T d m / (dt S^2),      U = B V / S, of its contacts,

m the mass of the motion: by a tenth at S = 1e-5 and a tolerance of 1e-10. Mostly other bodies give
way and the forces are certain after all. Whether they are is computed for all connected contacts
there: the response of the forces to the residual (``Response``), B without the motions that the
balance of the step excludes. Where that is too much, small parts are solved again, the same way for
all solvers (``exact_parts.py``), until only rounding remains. The response to the remaining
residual, and to rounding of B v_free and of gaps with random signs, then bounds the force error.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..dynamics.problem import ContactDynamicsResult
from ..dynamics.reduced import Reduced
from ..status import Status
from .closed_contacts import WARNED, ClosedContacts
from .step_data import Balance, StepData
from .tolerances import TOLERANCES


@dataclass(frozen=True)
class RefinedStep:
    """data, classic: step 1, refined where necessary. open (N,) [N]: remaining force error of each
    body, or 0. around: the closed contacts that were examined."""

    data: StepData
    classic: ContactDynamicsResult
    open: np.ndarray
    around: ClosedContacts | None = None

    def balance(self, rows: np.ndarray) -> Balance | None:
        """``reduced_balance`` of the closed contacts ``rows`` (r,), if these were examined."""
        if self.around is None or not np.array_equal(rows, self.around.rows):
            return None
        return self.around.balance(self.classic)

    def opened(self, rows: np.ndarray, bodies: np.ndarray) -> np.ndarray:
        """Force error of each body due to rounding (N,) [N], around ``bodies`` (k,) that weakly
        constrained motions of several bodies move far: elsewhere forces are the same as without
        the balance along such motions. rows (r,): closed contacts."""
        around = self.around
        if around is None or not np.array_equal(rows, around.rows):
            around = ClosedContacts(self.data, rows, TOLERANCES.weak)
        return around.open(self.classic, bodies, weak=True)


def refined(step: StepData, classic: ContactDynamicsResult, closed: np.ndarray) -> RefinedStep:
    """Step 1 (``classic``, its solution by any solver) refined to rounding. closed (m,) bool:
    contacts at the end of the step."""
    known = RefinedStep(step, classic, np.zeros(len(step.free) // 6))
    rows = np.flatnonzero(closed)
    if classic.status is Status.JAMMED or not classic.force[rows].any():
        return known
    around = ClosedContacts(step, rows, TOLERANCES.resisted)
    known = replace(known, around=around)
    found = around.suspects(classic)
    if not len(found.body):
        return known
    largest = classic.force.max()
    # a solver that stopped early converges here if such motions were the only obstacle
    enough = (
        (TOLERANCES.converged if classic.converged else TOLERANCES.stalled)
        * classic.tolerance
        * largest
    )
    wrong = found.by_residual > enough
    if wrong.any():
        wedged = found.body[wrong & found.below]
        classic = around.solved_again(classic, found.body[wrong], wedged, enough)
    if classic is not known.classic:
        known = replace(known, classic=_judged(step, classic))
    return replace(known, open=around.may_be_open(known.classic, found, WARNED * largest))


def _judged(step, classic):
    """``classic`` with the residual and status of its forces."""
    reduced = Reduced(
        step.M, step.B, step.bias, step.velocity, step.external_force, step.dt, free=step.free
    )
    reached = reduced.problem.residual(reduced.among(classic.force))
    short = Status.STALLED if classic.status is Status.CONVERGED else classic.status
    status = Status.CONVERGED if reached <= classic.tolerance else short
    return replace(classic, residual=reached, status=status)
