"""Step 1 to its last digits, where forces act along motions that contacts hardly feel.

N = dt B M^-1 B^T feels forces along a motion of singular value S (``network/felt.py``) by S^2 only.
Where contacts are solved to r = max |min(f_i, w_i / N_ii)|, their forces are open by

    r max N_ii m / (dt S^2),

m the mass of the motion: by a tenth at S = 1e-5 and a tolerance of 1e-10, altogether at 1e-6. Where
this is more than ``ENOUGH`` tolerances for a motion of one body, the bodies that hang together with
it are looked at as a whole, with N scaled to a diagonal of ones, G G^T = U s^2 U^T: r tells nothing
of forces along U with small s. If there are any, these contacts are solved again, the same way for
all solvers: as least distance problem, which loses eps / s^2 (``least_distance.py``), and from
there by active sets,

    N_PP f_P = -p_P,  f_P >= 0,   w >= 0 elsewhere,

with residuals in long double and corrections by the triangular factor of G_P^T, until what is left
is rounding. What is open then are last digits of the data: of B v_free, and of gaps that are not
zero (``blur``); along U it is U^T of these over s^2.
"""

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from scipy.linalg import qr, solve_triangular
from scipy.sparse.csgraph import connected_components

from ..network.felt import HARDLY, ROUNDED, finite_reach, slightly_felt
from ..network.least_distance import LARGEST, multipliers
from ..status import Status
from ..submatrix import submatrix
from .problem import ContactDynamicsResult, ContactProblem
from .reduced import Reduced

WIDE = 1e-2
"""S up to which step 1 may leave more than 1e-6 open at its tolerance of 1e-10."""

ENOUGH = 1e4
"""Part of the largest force that may stay open, over the tolerance."""

SURELY = 10.0
"""Small entries of a pivoted triangular factor over the S that they tell of, hardly ever more."""

TOLD = 1e-3
"""Part of the largest force from which on it is told that forces are open."""

MOST, SAMPLED = LARGEST, 3
"""Entries of B, zeros included, that are looked at as a whole; and motions whose surroundings are,
where it is more."""

DIGIT = float(np.finfo(float).eps)

ROUNDS, CORRECTIONS = 50, 8
"""Changes of the active set, which the least distance problem has mostly right; and corrections of
the forces on it."""


@dataclass(frozen=True)
class Known:
    """classic: step 1, refined where need be. slight: ``slightly_felt`` of its closed contacts up
    to WIDE, where these are the ones that it was asked for. open (N,) [N]: how far forces on each
    body are open all the same, or 0."""

    classic: ContactDynamicsResult
    open: np.ndarray
    slight: tuple | None = None


def refined(
    M, B, bias, velocity, external_force, dt, classic, *, closed, free, reach, blur
) -> Known:
    """Step 1 (``classic``, its answer by any solver) to its last digits.

    M (6 N, 6 N), B (m, 6 N), bias (m,) [m/s], velocity, external_force (6 N,), dt: its problem.
    closed (m,) bool: at the end of the step. free (6 N,) bool. reach (6 N,): see
    ``network/felt.py``. blur (m,) [m/s]: last digit of bias.
    """
    known = Known(classic, np.zeros(len(free) // 6))
    rows = np.flatnonzero(closed)
    if classic.status is Status.JAMMED or not classic.force[rows].any():
        return known
    largest = classic.force.max()
    enough = ENOUGH * classic.tolerance * largest
    B_closed = submatrix(B, rows=rows)
    slight = slightly_felt(B_closed, free, finite_reach(reach), WIDE)
    bodies, part = _suspects(
        M, B_closed, external_force, classic, rows, dt, free, finite_reach(reach), slight
    )
    bodies, part = bodies[part > enough], part[part > enough]
    if not len(bodies):
        return replace(known, slight=slight)
    step = M, B, bias, velocity, external_force, dt
    touching = _touching(B_closed, free)
    m = len(rows)
    part_of = connected_components(touching, directed=False)[1]
    part_of_body = np.repeat(part_of[m:], 6)
    for number in np.unique(part_of[m + bodies]):
        mine, moving = rows[part_of[:m] == number], free & (part_of_body == number)
        if len(mine) * np.count_nonzero(moving) <= MOST:
            known = _looked_at(known, *step, mine, moving, enough, blur)
            continue
        here = (part_of[m + bodies] == number) & (part > TOLD * largest)
        for body in bodies[here][np.argsort(-part[here])][:SAMPLED]:
            around = _around(touching, m, body, free)
            mine, moving = rows[around[:m]], free & np.repeat(around[m:], 6)
            known = _looked_at(known, *step, mine, moving, enough, blur, whole=False)
    if known.classic is not classic:
        problem = Reduced(*step, free=free)
        reached = problem.problem.residual(problem.among(known.classic.force))
        short = Status.STALLED if classic.status is Status.CONVERGED else classic.status
        status = Status.CONVERGED if reached <= classic.tolerance else short
        known = replace(known, classic=replace(known.classic, residual=reached, status=status))
    return known


def _suspects(M, B, external_force, classic, rows, dt, free, reach, slight):
    """(bodies (k,), how far forces on each are open at most (k,) [N]) by the formula above."""
    bodies, S, VT = slight
    felt = (S > ROUNDED) & (S <= WIDE)
    if felt.any():
        # what is left out of the balance later on need not be known
        pushed = ((B.T @ classic.force[rows]) * free / reach).reshape(-1, 6)
        loads = (external_force * free / reach).reshape(-1, 6)
        along = _along(VT, pushed[bodies])
        loaded = np.maximum(along, _along(VT, loads[bodies]))
        felt &= (S > HARDLY) | (loaded > HARDLY * np.abs(pushed).max())
    some = felt.any(axis=1)
    if not some.any():
        return bodies[some], np.zeros(0)
    bodies, S, VT, felt = bodies[some], S[some], VT[some], felt[some]
    mass = M.diagonal()
    diagonal = dt * (B.multiply(B) @ np.where(free, 1 / np.where(mass > 0, mass, np.inf), 0.0))
    fastest = np.zeros(len(free) // 6)
    np.maximum.at(fastest, B.indices // 6, np.repeat(diagonal, np.diff(B.indptr)))
    wrong = np.minimum(
        classic.force[rows], classic.slack[rows] / np.where(diagonal > 0, diagonal, np.inf)
    )
    moved = (VT / reach.reshape(-1, 6)[bodies, None]) ** 2 @ mass.reshape(-1, 6)[bodies, :, None]
    part = fastest[bodies, None] * moved[:, :, 0] / (dt * np.where(felt, S, np.inf) ** 2)
    return bodies, np.abs(wrong).max() * part.max(axis=1)


def _along(VT, load):
    """|load| (b, 6) along the motions VT (b, 6, 6), (b, 6)."""
    return np.abs(np.einsum("bji,bi->bj", VT, load))


def _touching(B, free):
    """Graph of contacts (m,) and free bodies (N,), in this order, which it connects: sparse."""
    m, n = B.shape[0], B.shape[1] // 6
    entries = free[B.indices]
    row = np.repeat(np.arange(m), np.diff(B.indptr))[entries]
    body = m + B.indices[entries] // 6
    ones = np.ones(2 * len(row), np.int32)
    place = np.concatenate([row, body]), np.concatenate([body, row])
    return sp.csr_array((ones, place), shape=(m + n, m + n))


def _around(touching, m, body, free):
    """Contacts and bodies (m + N,) bool around a body, as many rings as MOST allows: its
    contacts, the bodies at these, and all contacts of those bodies."""
    dofs = np.count_nonzero(free.reshape(-1, 6), axis=1)
    inside = np.zeros(touching.shape[0], bool)
    inside[m + body] = True
    while True:
        wider = inside | (touching @ inside > 0)  # the contacts of these bodies
        rows = np.count_nonzero(wider[:m])
        if np.array_equal(wider, inside) or rows * dofs[wider[m:]].sum() > MOST:
            return wider
        further = wider | (touching @ wider > 0)  # the bodies at these contacts
        if rows * dofs[further[m:]].sum() > MOST:
            return wider
        inside = further


def _looked_at(
    known, M, B, bias, velocity, external_force, dt, rows, free, enough, blur, whole=True
):
    """``known`` after a look at the closed contacts ``rows`` of bodies with the degrees of freedom
    ``free``: all that hang together (``whole``), and are solved again where more than ``enough`` is
    open; or with others around them that move as they do."""
    classic = known.classic
    B_part = submatrix(B, rows=rows)
    velocity = np.where(free, velocity, classic.velocity)
    part = Reduced(M, B_part, bias[rows], velocity, external_force, dt, free=free)
    exact, mine = _Exact(part.problem), rows[part.rows]
    found = classic.force[mine]
    if not exact.open(found, exact.wrong(found)).max(initial=0.0) > enough:
        return known
    better = exact.solved() if whole else None
    # the active sets may have ended far off
    least = max(exact.wrong(found).max(), classic.tolerance * found.max())
    if better is not None and exact.wrong(better).max() <= least:
        change = np.zeros(B.shape[1])
        change[part.dofs] = part.problem.velocity(better) - classic.velocity[part.dofs]
        slack = classic.slack + B @ change
        opened = np.delete(slack - np.minimum(classic.slack, 0.0), rows)
        if opened.min(initial=0.0) >= -classic.tolerance * part.problem.speed:
            found, force = better, classic.force.copy()
            force[mine] = better
            velocity = classic.velocity + change
            classic = replace(classic, force=force, velocity=velocity, slack=slack)
    by_contact = np.zeros(B.shape[0])
    by_contact[mine] = exact.open(found, exact.wrong(found) + exact.last_digits(blur[mine]))
    by_body = known.open.copy()
    np.maximum.at(by_body, B.indices // 6, np.repeat(by_contact, np.diff(B.indptr)))
    return Known(classic, by_body)


class _Exact:
    """Eq. 21 of a few contacts, dense; G (d, r): M^-1/2 B^T, with N scaled to a diagonal of ones.
    Forces (r,) [N]."""

    def __init__(self, problem: ContactProblem):
        self.problem = problem
        B = problem.B.toarray()
        lower = np.linalg.cholesky(problem.mass.toarray())
        self.root = np.sqrt(problem.diagonal)
        self.G = np.sqrt(problem.dt) * solve_triangular(lower, B.T, lower=True) / self.root
        self.B = problem.B.astype(np.longdouble)
        self.inverse = problem.inverse_mass.astype(np.longdouble)
        self.load = solve_triangular(lower, problem.mass @ problem.free_velocity, lower=True)
        self.p = problem.bias + self.B @ problem.free_velocity

    def slack(self, force):
        """w (r,) [m/s], in long double."""
        return self.p + self.B @ (self.problem.dt * (self.inverse @ (self.B.T @ force)))

    def wrong(self, force):
        """|min(f_i, w_i / N_ii)| (r,) [N]."""
        return np.abs(np.minimum(force, self.slack(force) / self.problem.diagonal)).astype(float)

    def last_digits(self, blur):
        """What last digits of B v_free and of the bias make of w, as forces (r,) [N]."""
        terms = abs(self.problem.B) @ np.abs(self.problem.free_velocity)
        return (DIGIT * terms + blur) / self.problem.diagonal

    def open(self, force, left):
        """How far each of the forces is open if ``left`` (r,) [N] is left of their contacts."""
        bears = (force > 0.0) | (self.wrong(force) <= left)
        out = np.zeros(len(force))
        if not self._any_small(bears):
            return out
        U, S, VT = np.linalg.svd(self.G[:, bears].T, full_matrices=False)
        along = S * np.abs(U.T @ (self.root * force)[bears])  # F~ of the motions
        loaded = np.maximum(along, np.abs(VT @ self.load))
        told = (S > HARDLY) | (loaded > HARDLY * along.max(initial=0.0))
        some = told & (S > ROUNDED) & (S <= WIDE)
        square = U[:, some] ** 2  # last digits add up like the sides of a right angle
        along = square.T @ (self.root * left)[bears] ** 2 / S[some] ** 4
        out[bears] = np.sqrt(square @ along) / self.root[bears]
        return out

    def _any_small(self, bears):
        """Whether there may be an S above 0 and up to WIDE: by a pivoted triangular factor, a sixth
        of the work of the decomposition and right about S to a small factor."""
        R = qr(self.G[:, bears], mode="r", pivoting=True)[0]
        size = np.abs(np.diag(R))
        return bool(((size > ROUNDED) & (size <= SURELY * WIDE)).any())

    def solved(self):
        """The forces, or None if they are not found."""
        low = -self.p.astype(float) / self.root
        moved = np.linalg.norm(self.load) / np.sqrt(self.problem.dt)
        start = multipliers(self.G.T, low, max(moved, np.abs(low).max()))
        if start is None:
            return None
        start = start / self.root
        active = start > 0.0
        best, least = None, self.wrong(start).max()
        for _ in range(ROUNDS):
            force = self._on(active)
            if force is None:
                break
            wrong = self.wrong(force).max()
            if best is None or wrong < least:
                best, least = np.maximum(force, 0.0), wrong
            ratio = (self.slack(force) / self.problem.diagonal).astype(float)
            limit = DIGIT**1.2 * force.max()
            if force.min() < 0.0:
                active &= force > 0.0
            elif ratio[~active].min(initial=0.0) < -limit:
                worst = np.flatnonzero(~active)[np.argmin(ratio[~active])]
                active[worst] = True
            else:
                break
        return best

    def _on(self, active):
        """Forces on the ``active`` contacts (r,) bool that leave these no slack, or None."""
        G = self.G[:, active]
        if G.shape[1] > G.shape[0] or not active.any():
            return None
        R = np.linalg.qr(G, mode="r")
        size = np.abs(np.diag(R))
        if size.min() <= ROUNDED * size.max():
            return None
        force, last = np.zeros(len(active), np.longdouble), np.inf
        for _ in range(CORRECTIONS):
            missing = (-self.slack(force)[active] / self.root[active]).astype(float)
            more = solve_triangular(R, solve_triangular(R, missing, trans="T"))
            if not np.abs(more).max() < 0.5 * last:
                break
            last = np.abs(more).max()
            force[active] += more / self.root[active]
        return force.astype(float)
