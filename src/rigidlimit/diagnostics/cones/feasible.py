"""Whether any admissible force balances the load, and if none does, the motion that shows it.

    min sum p + q   subject to   A x + p - q = b,   x in K,   p, q >= 0

is zero if some does. Else its multiplier y, |y| <= 1, is a motion u = -y which no contact resists
(w = R u in the dual cones) and which the load drives, F~ . u < 0: Farkas' lemma for cones.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ...errors import InputError
from ..tolerances import TOLERANCES
from .conic import Program, solve
from .problem import RoughContacts


@dataclass(frozen=True)
class Feasible:
    """missing: sum of the loads (of order one) that no force balances; force (m, d); u (k,): the
    motion, of the kept columns; residual of the program."""

    missing: float
    force: np.ndarray
    u: np.ndarray
    residual: float

    @property
    def balanced(self) -> bool:
        return self.missing <= TOLERANCES.missing


def feasible(problem: RoughContacts) -> Feasible:
    """The forces that leave least unbalanced. Raises InputError if the solver fails."""
    g = problem.generators
    k, N = problem.columns.shape
    A = sp.hstack([sp.eye_array(k), -sp.eye_array(k), problem.columns], format="csr")
    cost = np.concatenate([np.ones(2 * k), np.zeros(N)])
    program = Program(cost, A, problem.load, 0, 2 * k + g.positive, g.cones, problem.shape[1])
    answer = solve(program)
    if not answer.optimal:
        raise InputError(
            "whether any forces balance the load was not found: the conic solver ended with "
            f"{answer.outcome}, residual {answer.residual:.1e}; expected loads and arms within "
            "some ten orders of magnitude"
        )
    return Feasible(
        max(0.0, answer.value), problem.force(answer.x[2 * k :]), -answer.y, answer.residual
    )


def stuck(problem: RoughContacts) -> bool:
    """Whether friction without end would balance the load: f_n >= 0, f_t free."""
    if problem.unmoved > TOLERANCES.balanced:
        return False
    m, d = problem.shape
    order = np.arange(m * d).reshape(m, d)
    tangential = order[:, 1:].ravel()
    columns = sp.csr_array(problem.rows.T)
    k = columns.shape[0]
    A = sp.hstack(
        [columns[:, tangential], sp.eye_array(k), -sp.eye_array(k), columns[:, order[:, 0]]],
        format="csr",
    )
    free = len(tangential)
    cost = np.concatenate([np.zeros(free), np.ones(2 * k), np.zeros(m)])
    answer = solve(Program(cost, A, problem.load, free, 2 * k + m))
    return answer.optimal and answer.value <= TOLERANCES.missing
