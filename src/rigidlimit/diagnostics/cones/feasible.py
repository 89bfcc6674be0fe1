"""Whether any admissible force balances the load, and if none does, the motion that shows it.

Either there are forces f = G x with A x = b, x in K, or a motion u = E^T y that no contact resists
(w = R u in the dual cones) and that the load drives, F~ . u < 0: Farkas' lemma for cones. Both are
checked before they count; where neither is found, the question is open. Programs, in turn:

    A x = b, x in K          whose solvers go to the middle of what there is, or to such a motion;
    max t,  A x = t b,  e . x + t <= 1,  x in K,  t >= 0
    min sum p + q,  A x + p - q = b,  x in K,  p, q >= 0

of which the second and third have an optimum in any case. Near the least friction of a wedge forces
grow without end, t falls to zero with them, and a motion is found for t = 0. Near that of an arch
motions grow without end, and are known to rounding; there a motion that opens every contact makes
up for what is left outside the dual cones, at a price that the load's work must exceed.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..._support.deadline import left
from ..tolerances import TOLERANCES
from .conic import INFEASIBLE, Answer, Program, solve
from .conic_checks import judged
from .problem import RoughContacts
from .wedging import opened

BALANCED, REFUTED, OPEN = "balanced", "refuted", "open"


@dataclass(frozen=True)
class Feasible:
    """outcome: "balanced", by ``force`` (m, d); "refuted", by the motion ``u`` (k,) of the kept
    columns, F~ . u = -1; or "open". residual: imbalance of the forces, over them and the load; or
    how far w is outside the dual cones, by which only forces over 1 / residual are not refuted."""

    outcome: str
    force: np.ndarray
    u: np.ndarray
    residual: float

    @property
    def balanced(self) -> bool:
        return self.outcome == BALANCED

    @property
    def open(self) -> bool:
        return self.outcome == OPEN

    @property
    def refuted(self) -> bool:
        return self.outcome == REFUTED


def feasible(problem: RoughContacts, opening: np.ndarray | None = None) -> Feasible:
    """Forces that balance the load, or a motion that shows that none do. opening (k,): a motion
    that opens every contact, against friction (``wedging.opening_motion``), if one is known."""
    program = problem.program()
    found = interpreted(problem, solve(program))
    if found.open and left():
        found = interpreted(problem, _by_size(program))
    if found.open and left():
        y, missing = _least_missing(program)
        if missing > 0.0:
            found = _repaired(problem, -problem.moves(y) / missing, opening) or found
    return found


def interpreted(problem: RoughContacts, answer: Answer) -> Feasible:
    """The same of an answer of the program at hand."""
    k = len(problem.load)
    if answer.outcome == INFEASIBLE:
        u = -problem.moves(answer.y)
        return Feasible(REFUTED, np.zeros(problem.shape), u, answer.residual)
    size = max(1.0, float(np.abs(answer.x).max(initial=0.0)))
    most = min(TOLERANCES.in_balance * size, TOLERANCES.balanced)
    if answer.optimal and answer.residual <= most:
        force = problem.force(answer.x)
        size = max(1.0, float(np.abs(force).max(initial=0.0)))
        residual = problem.imbalance(force) / size
        return Feasible(BALANCED, force, np.zeros(k), residual)
    return Feasible(OPEN, np.zeros(problem.shape), np.zeros(k), answer.residual)


def _by_size(program: Program) -> Answer:
    """By the second of the programs above. Variables: t, its slack, x."""
    k, N = program.A.shape
    half = program.positive
    e = np.zeros(N)
    e[:half] = 1.0
    e[half :: program.width] = 1.0
    rows = sp.block_array(
        [
            [sp.csr_array(-program.b[:, None]), None, program.A],
            [np.ones((1, 1)), np.ones((1, 1)), sp.csr_array(e[None, :])],
        ],
        format="csr",
    )
    cost = np.zeros(N + 2)
    cost[0] = -1.0
    right = np.append(np.zeros(k), 1.0)
    found = solve(
        Program(cost, sp.csr_array(rows), right, 0, half + 2, program.cones, program.width)
    )
    t, x = float(found.x[0]), found.x[2:]
    return judged(program, x / t if t > 0.0 else x, -found.y[:k])


def _least_missing(program: Program) -> tuple[np.ndarray, float]:
    """(multipliers y (k,), |y| <= 1, what is missing at least) by the third."""
    k, N = program.A.shape
    A = sp.hstack([sp.eye_array(k), -sp.eye_array(k), program.A], format="csr")
    cost = np.concatenate([np.ones(2 * k), np.zeros(N)])
    half = 2 * k + program.positive
    found = solve(Program(cost, A, program.b, 0, half, program.cones, program.width))
    return found.y, float(program.b @ found.y)


def _repaired(problem: RoughContacts, u: np.ndarray, opening: np.ndarray | None):
    """The motion with so much of the opening one that no contact resists it, if the load still
    drives it; else None."""
    if opening is None:
        return None
    share = float(max(0.0, (-opened(problem, u) / opened(problem, opening)).max(initial=0.0)))
    u = u + share * (1.0 + TOLERANCES.sharp) * opening
    work = -float(problem.load @ u)
    if not work > 0.5:  # half of what the load did
        return None
    return Feasible(REFUTED, np.zeros(problem.shape), u / work, 0.0)


def stuck(problem: RoughContacts) -> Feasible:
    """Whether friction without end would balance the load: f_n >= 0, f_t free."""
    m, d = problem.shape
    order = np.arange(m * d).reshape(m, d)
    tangential = order[:, 1:].ravel()
    columns = sp.csr_array(problem.rows.T @ sp.diags_array(np.repeat(problem.unit, d)))
    k = columns.shape[0]
    A = sp.hstack([columns[:, tangential], columns[:, order[:, 0]]], format="csr")
    free = len(tangential)
    scale = 1.0 / np.maximum(abs(A).max(axis=1).toarray().ravel(), 1e-300) if k else np.ones(0)
    A, b = sp.csr_array(sp.diags_array(scale) @ A), scale * problem.load
    answer = solve(Program(np.zeros(free + m), A, b, free, m, width=d))
    none = np.zeros(problem.shape)
    if answer.outcome == INFEASIBLE:
        return Feasible(REFUTED, none, -scale * answer.y, answer.residual)
    return Feasible(BALANCED if answer.optimal else OPEN, none, np.zeros(k), answer.residual)
