"""Which contacts can carry at all, and which could do so without sliding: the face of the cones.

The admissible forces P lie in one smallest face of the product of the contacts' cones: of each
contact the whole cone (a force of P lies inside it), one ray (it slides in all of P) or nothing.
Programs find forces that are as far inside as can be, up to a cap, of all contacts at once:

    max sum s_i + sum r_i   subject to   A x = b,   x_i - s_i e in K_i,   r_i <= x_i0,
                                         0 <= s_i, r_i <= cap

over the contacts not yet known to lie inside, and to carry. A sum of zero proves that none of them
can, by the motion that is its multiplier; otherwise at least one more is found, and the mean of all
x found is inside for all of these. (Facial reduction: J. M. Borwein, H. Wolkowicz, J. Aust. Math.
Soc. 30 (1981) 369.) Where the forces found are of different orders, the search begins anew in units
of them.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..tolerances import TOLERANCES
from .conic import INFEASIBLE, Program, solve
from .problem import RoughContacts


@dataclass(frozen=True)
class Face:
    """problem: in the units of x. x (N,): a point of P inside its face. carries (N,) bool:
    generators that can carry (of a second-order cone: all or none). inside (N,) bool: those whose
    cone is wholly spanned; half-lines that carry are. proven: no further one can. found: whether P
    has any point; refuted: proved that it has none. rounds: programs. residual: of the equations.
    margin: factor of the least carrying one over unloaded."""

    problem: RoughContacts
    x: np.ndarray
    carries: np.ndarray
    inside: np.ndarray
    proven: bool
    found: bool
    refuted: bool
    rounds: int
    residual: float
    margin: float


def smallest_face(problem: RoughContacts) -> Face:
    """The smallest face of the cones that holds all admissible forces."""
    for _ in range(TOLERANCES.rescalings):
        face = _face(problem)
        if not face.found:
            return face
        again = problem.with_units_at(face.x)
        change = again.unit / problem.unit
        if change.max(initial=1.0) <= TOLERANCES.alike * change.min(initial=1.0):
            return face
        problem = again
    return _face(problem)


def _face(problem: RoughContacts) -> Face:
    g, d = problem.generators, problem.shape[1]
    N, half, cones = g.G.shape[1], g.positive, g.cones
    tip = half + d * np.arange(cones)
    carries, inside = np.zeros(half + cones, bool), np.zeros(cones, bool)
    total, rounds, residual, proven = np.zeros(N), 0, 0.0, False
    least, refuted = np.inf, False
    while rounds < TOLERANCES.rounds:
        lift, show = np.flatnonzero(~inside), np.flatnonzero(~carries)
        if not len(lift) + len(show):
            proven = True
            break
        answer = solve(_program(problem, tip, lift, show))
        if not answer.optimal:
            refuted = answer.outcome == INFEASIBLE
            break
        rounds += 1
        x = _forces(answer.x, tip, lift, len(show), N)
        total += x
        residual = max(residual, answer.residual)
        size = TOLERANCES.unloaded * max(1.0, float(np.abs(x).max(initial=0.0)))
        s, r = answer.x[: len(lift)], answer.x[len(lift) : len(lift) + len(show)]
        new = np.concatenate([s[s > size], r[r > size]])
        inside[lift[s > size]] = True
        carries[show[r > size]] = True
        if -answer.value <= max(TOLERANCES.accepted, size) or not len(new):
            # what others could carry at most, by the motion
            proven = -answer.value + abs(answer.gap) <= 1e2 * size
            break
        least = min(least, float(new.min()))

    def expand(a: np.ndarray) -> np.ndarray:
        return np.concatenate([a[:half], np.repeat(a[half:], d)])

    return Face(
        problem=problem,
        x=total / max(rounds, 1),
        carries=expand(carries),
        inside=expand(np.concatenate([carries[:half], inside])),
        proven=proven,
        found=rounds > 0 or proven,
        refuted=refuted,
        rounds=rounds,
        residual=residual,
        margin=least / TOLERANCES.unloaded,
    )


def _program(problem: RoughContacts, tip, lift, show) -> Program:
    """Variables: s, r, their slacks to the cap, of x_0 - r, then x less what is lifted."""
    g = problem.generators
    N, half = g.G.shape[1], g.positive
    S, R = len(lift), len(show)
    A = problem.balance.columns
    place = np.concatenate([np.arange(half), tip])  # of what carries
    e = sp.csr_array((np.ones(S), (tip[lift], np.arange(S))), shape=(N, S))
    pick = sp.csr_array((np.ones(R), (np.arange(R), place[show])), shape=(R, N))
    eye = sp.eye_array
    rows = sp.block_array(
        [
            [A @ e, None, None, None, None, A],
            [eye(S), None, eye(S), None, None, None],
            [None, eye(R), None, eye(R), None, None],
            [pick @ e, -eye(R), None, None, -eye(R), pick],
        ],
        format="csr",
    )
    b = np.concatenate([problem.balance.load, np.full(S + R, TOLERANCES.cap), np.zeros(R)])
    cost = np.zeros(rows.shape[1])
    cost[: S + R] = -1.0
    extra = 2 * S + 3 * R
    return Program(cost, sp.csr_array(rows), b, 0, extra + half, g.cones, problem.shape[1])


def _forces(x, tip, lift, R, N):
    S = len(lift)
    out = x[2 * S + 3 * R :].copy()
    out[tip[lift]] += x[:S]
    return out
