"""Step 1 to its last digits, where forces act along motions that contacts hardly feel.

N = dt B M^-1 B^T feels forces along a motion of singular value S (``network/felt.py``) by S^2 only.
Where contacts are solved to r = max |min(f_i, w_i / N_ii)|, their forces are open by

    r max N_ii m / (dt S^2),

m the mass of the motion: by a tenth at S = 1e-5 and a tolerance of 1e-10, altogether at 1e-6. Where
this is more than ``ENOUGH`` tolerances for a motion of one body, the bodies that hang together with
it are looked at as a whole, with N scaled to a diagonal of ones, G G^T = U s^2 U^T: r tells nothing
of forces along U with small s. If there are any, these contacts are solved again, the same way for
all solvers (``exact.py``), until what is left is rounding. What is open then are last digits of the
data: of B v_free, and of gaps that are not zero (``blur``); along U it is U^T of these over s^2.
"""

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ..network.felt import HARDLY, ROUNDED, finite_reach, slightly_felt
from ..network.least_distance import LARGEST
from ..products import transposed_product
from ..status import Status
from ..submatrix import submatrix
from .exact import WIDE, Systems
from .problem import ContactDynamicsResult
from .reduced import Reduced

ENOUGH, LITTLE = 1e4, 1e-3
"""Part of the largest force that may stay open, over the tolerance, where step 1 is solved to it;
and where it is not: residuals may be parts of forces far below the largest."""

TOLD = 1e-3
"""Part of the largest force from which on it is told that forces are open."""

MOST, SAMPLED = LARGEST, 3
"""Entries of B, zeros included, that are looked at as a whole; and motions whose surroundings are,
where it is more."""


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
    # a solver that stopped short gets there where such motions are all that kept it from it
    enough = (ENOUGH if classic.converged else LITTLE) * classic.tolerance * largest
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
    suspect = np.unique(part_of[m + bodies])
    dofs = np.count_nonzero(free.reshape(-1, 6), axis=1)
    parts = part_of.max() + 1
    size = np.bincount(part_of[:m], minlength=parts)
    size = size * np.bincount(part_of[m:], weights=dofs, minlength=parts)
    small = suspect[size[suspect] <= MOST]
    if len(small):
        known = _looked_at(known, *step, rows, part_of, small, free, enough, blur)
    for number in suspect[size[suspect] > MOST]:
        here = (part_of[m + bodies] == number) & (part > TOLD * largest)
        for body in bodies[here][np.argsort(-part[here])][:SAMPLED]:
            around = _around(touching, m, body, free).astype(int)
            known = _looked_at(known, *step, rows, around, 1, free, enough, blur, whole=False)
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
        pushed = (transposed_product(B, classic.force[rows]) * free / reach).reshape(-1, 6)
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
    known, M, B, bias, velocity, external_force, dt, rows, part_of, parts, free, enough, blur,
    whole=True,
):  # fmt: skip
    """``known`` after a look at ``parts`` of the closed contacts ``rows`` and of the bodies:
    part_of (r + N,). Each is all that hangs together (``whole``), and is solved again where more
    than ``enough`` is open; or a body with others around it that move as they do."""
    classic = known.classic
    chosen = np.isin(part_of, parts)
    of_row, of_body = part_of[: len(rows)], part_of[len(rows) :]
    rows, of_row = rows[chosen[: len(rows)]], of_row[chosen[: len(rows)]]
    free = free & np.repeat(chosen[-len(of_body) :], 6)
    velocity = np.where(free, velocity, classic.velocity)
    B_part = submatrix(B, rows=rows)
    reduced = Reduced(M, B_part, bias[rows], velocity, external_force, dt, free=free)
    problem, mine = reduced.problem, rows[reduced.rows]
    found = classic.force[mine]
    force, again = found.copy(), np.zeros(len(part_of), bool)
    looked = []
    for systems, places in _of_one_size(problem, of_row[reduced.rows], of_body[reduced.dofs // 6]):
        doubt = systems.open(found[places], systems.wrong(found[places])).max(axis=1) > enough
        if not doubt.any():
            continue
        systems, places = systems.some(doubt), places[doubt]
        looked.append((systems, places))
        if not whole:
            continue
        better, good = systems.solved()
        # the active sets may have ended far off
        least = classic.tolerance * found[places].max(axis=1)
        least = np.maximum(systems.wrong(found[places]).max(axis=1), least)
        good &= systems.wrong(better).max(axis=1) <= least
        force[places[good]] = better[good]
        again[of_row[reduced.rows][places[good, 0]]] = True
    if again.any():
        classic = _taken(classic, B, rows, reduced, force, of_row, of_body, again)
    by_contact = np.zeros(B.shape[0])
    for systems, places in looked:
        now = classic.force[mine[places]]
        left = systems.wrong(now) + systems.last_digits(blur[mine[places]])
        by_contact[mine[places]] = systems.open(now, left)
    by_body = known.open.copy()
    np.maximum.at(by_body, B.indices // 6, np.repeat(by_contact, np.diff(B.indptr)))
    return Known(classic, by_body)


def _taken(classic, B, rows, reduced, force, of_row, of_body, again):
    """``classic`` with the forces of the parts ``again`` (by their numbers, bool), but for those
    whose motion would close contacts that are not among ``rows``."""
    problem, mine = reduced.problem, rows[reduced.rows]
    speed = np.zeros(len(again))
    np.maximum.at(speed, of_row[reduced.rows], problem.closing)
    others = np.ones(B.shape[0], bool)
    others[rows] = False
    entry = np.flatnonzero(np.repeat(others, np.diff(B.indptr)))
    contact = np.repeat(np.arange(B.shape[0]), np.diff(B.indptr))[entry]
    part = of_body[B.indices[entry] // 6]
    answer = problem.velocity(force) - classic.velocity[reduced.dofs]
    while True:
        change = np.zeros(B.shape[1])
        change[reduced.dofs] = np.where(again[of_body[reduced.dofs // 6]], answer, 0.0)
        slack = classic.slack + B @ change
        closes = (slack - np.minimum(classic.slack, 0.0))[contact]
        wrong = again[part] & (closes < -classic.tolerance * speed[part])
        if not wrong.any():
            break
        again = again.copy()
        again[part[wrong]] = False
    carried, now = classic.force.copy(), again[of_row[reduced.rows]]
    carried[mine[now]] = force[now]
    return replace(classic, force=carried, velocity=classic.velocity + change, slack=slack)


def _of_one_size(problem, of_row, of_dof):
    """(Systems, places of their contacts (g, r)) of the parts of a problem, by their numbers
    of_row, of_dof, all of one size together."""
    rows, dofs = _members(of_row), _members(of_dof)
    local = np.zeros(len(of_dof), int)
    for members in dofs.values():
        local[members] = np.arange(len(members))
    response = problem.B.astype(np.longdouble) @ problem.inverse_mass.astype(np.longdouble)
    sizes = {}
    for number, members in rows.items():
        sizes.setdefault((len(members), len(dofs[number])), []).append(number)
    for (_, width), numbers in sizes.items():
        places = np.array([rows[number] for number in numbers])
        columns = np.array([dofs[number] for number in numbers])
        B, mass, answer = (
            _stacked(A, at, local, width)
            for A, at in ((problem.B, places), (problem.mass, columns), (response, places))
        )
        yield (
            Systems.of(
                B,
                mass,
                answer,
                problem.bias[places],
                problem.free_velocity[columns],
                problem.diagonal[places],
                problem.dt,
            ),
            places,
        )


def _members(number):
    """Where each number stands: {number: places, ascending}."""
    order = np.argsort(number, kind="stable")
    values, starts = np.unique(number[order], return_index=True)
    return dict(zip(values.tolist(), np.split(order, starts[1:]), strict=True))


def _stacked(A, places, local, width):
    """Rows of A at ``places`` (g, k) as dense (g, k, width), columns by their place in a part."""
    row = places.ravel()
    count = A.indptr[row + 1] - A.indptr[row]
    ends = np.cumsum(count)
    entry = np.arange(count.sum()) + np.repeat(A.indptr[row] - (ends - count), count)
    out = np.zeros((len(row), width), A.dtype)
    out[np.repeat(np.arange(len(row)), count), local[A.indices[entry]]] = A.data[entry]
    return out.reshape(*places.shape, width)
