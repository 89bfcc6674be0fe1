"""Compatible forces of few contacts whose displacements cannot be known: among forces, dense.

Cylinders and boxes that lean on one another with nearly aligned faces leave motions that contacts
feel by 1e-8 to 1e-10 only. K = B^T D B does not know these (1e-16), and displacements grow until c
= -B u loses the digits that the forces need. The forces themselves are as well determined as ever:
with the singular value decomposition B^T S = U s V^T, S a diagonal, all forces that balance are

    f = t + S (g0 + Z y),    Z: columns of V with s = 0,    g0 = (f0 - t)/S without its part in Z

for one f0 that balances, and no small s is divided by. For p = 2, t = 0 and S^2 = k the energy of
eq. 36 is |g0|^2 + |y|^2 over 2, and f >= 0 makes it least distance programming in y
(``network/least_distance.py``). For p > 2 it is Newton's method: S^2 = D, the tangent at f, and t
= f - D c(f), the forces where the springs that are tangent there are slack.

With the multipliers l >= 0 of f >= 0 the overlaps are c = (g0 + Z y - l)/S = -B u, u from the other
singular vectors. Singular values below a part of the tolerance count as zero: what such motions
bear is that much out of balance at most, and rounding in B.
"""

import numpy as np

from ..network.least_distance import multipliers
from .active_set import damping, tangent
from .problem import duality_gap

ZERO = 0.1
"""Singular values, over the largest and the tolerance, that count as zero."""

FEW_ENTRIES = 25_000
"""Entries of B, zeros included, up to which it is looked how far forces are open: some ms."""

KNOWN = 1e3
"""Part of the largest force, over the tolerance, that may be open."""

OFF = 1e-4
"""Part of the largest force from which on forces that stay open are no answer."""

ROUNDED, SOFT = 1e-13, 1e-3
"""Singular values over the largest that are rounding, and up to which a balance to the tolerance
says little of forces."""

FLOOR = 1e-9
"""D is taken at this part of the largest force, at least."""

SLACK = 1e-12
"""Part of |g| that forces may pull by while it is sought which contacts let go: those whose force
is determined to be zero leave no room else. Rows of Z shorter than that say nothing."""

LINEARISATIONS = 12
"""Newton steps for p > 2; three to seven are the rule."""

MOST = 200_000
"""Entries of B, zeros included, up to which this is done, in some 50 ms."""

WIDEST = 400_000
"""Entries of Z, m times the forces' freedom, up to which this takes a tenth of a second."""


def applies(network, exponent, offset) -> bool:
    """Whether there are so few contacts that dense matrices cost little, of a law that serves."""
    m, n = network.B.shape
    few = 0 < m * n <= MOST and m * (m - n) <= WIDEST
    return few and exponent >= 2.0 and offset is None


def looked_at(network, exponent, offset) -> bool:
    """Whether it is looked how far forces are open, which Newton for p = 2 takes care of."""
    m, n = network.B.shape
    return exponent > 2.0 and applies(network, exponent, offset) and m * n <= FEW_ENTRIES


def off(network, load, force) -> float:
    """How far balanced forces are open along motions that are hardly felt, over the largest."""
    n = network.B.shape[1]
    left = np.abs(network.carried(force) - load).max(initial=0.0)
    if left <= n * float(np.finfo(float).eps) or not force.any():
        return 0.0
    return float(np.abs(missing(network, load, force)).max() / force.max())


def missing(network, load, force):
    """What forces (m,) lack along motions that contacts which bear hardly feel, (m,).

    Balanced to r they are open by r / s. This part balances what is left there.
    """
    bears, out = force > 0.0, np.zeros(len(force))
    if not bears.any():
        return out
    U, s, VT = np.linalg.svd(network.B[np.flatnonzero(bears)].toarray(), full_matrices=False)
    soft = (s > ROUNDED * s[0]) & (s <= SOFT * s[0])
    left = load - network.carried(force)
    out[bears] = U[:, soft] @ ((VT[soft] @ left) / s[soft])
    return out


def sharpened(
    network, load, stiffness, exponent, u, force, *, converged, admissible, tolerance, gap
):
    """(u, forces, whether they are the answer): those given, which balance nearly, or others that
    leave less open.

    converged: whether those given are the answer but for that. admissible (m,) or None: forces that
    balance the load. gap: up to which a duality gap is that of an answer.
    """
    open_part, enough = off(network, load, force), KNOWN * tolerance
    if converged and open_part <= enough:
        return u, force, True
    guesses = [np.maximum(force + missing(network, load, force), 0.0)]
    if admissible is not None and admissible.any():
        guesses.insert(0, admissible)
    law = stiffness, exponent
    for guess in guesses:
        if converged and open_part <= enough:
            break
        found = solve(network, load, *law, admissible=guess, tolerance=tolerance, zero=ROUNDED)
        if found is None:
            continue
        lawful = duality_gap(network.B, *found, *law, load) <= gap
        left, less = np.abs(network.carried(found[1]) - load).max(), off(network, load, found[1])
        if lawful and left <= tolerance and less <= max(open_part, enough):
            (u, force), open_part, converged = found, less, True
    return u, force, converged and open_part <= OFF


def solve(network, load, stiffness, exponent, *, admissible, tolerance, zero=None):
    """(u, force) from forces ``admissible`` (m,) that balance the load, or None.

    Loads and stiffness of order one. Whether that is the answer, the duality gap tells. zero:
    singular values over the largest that count as zero, by default ZERO tolerances.
    """
    zero = ZERO * tolerance if zero is None else zero
    BT, q, force, found = network.B.toarray().T, 1.0 / (exponent - 1.0), admissible, None
    for _ in range(1 if exponent == 2.0 else LINEARISATIONS):
        D = tangent(force, stiffness, q, FLOOR)
        slack_at = force - D * (force / stiffness) ** q
        step = _least_energy(BT, D, slack_at, force, zero)
        if step is None:
            return found
        u, aim = step
        change = aim - force
        if exponent != 2.0:
            change *= damping(force, change, stiffness, q)
        force = force + change
        found = u, force
        law = (stiffness, exponent)
        if duality_gap(network.B, u, force, *law, load) <= tolerance:
            break
    return found


def _least_energy(BT, D, slack_at, force, zero):
    """(u, forces) of least energy among those that balance like ``force``, of springs D that are
    slack at the forces ``slack_at``; or None."""
    S = np.sqrt(D)
    n, m = BT.shape
    U, s, VT = np.linalg.svd(BT * S, full_matrices=n < m)  # all of V in either case
    rank = int(np.count_nonzero(s > zero * s[0]))
    known, Z = VT[:rank], VT[rank:].T
    g = (force - slack_at) / S
    size = float(np.linalg.norm(g))
    g = g - Z @ (Z.T @ g)
    length = np.linalg.norm(Z, axis=1)
    free, held = length > SLACK, np.zeros(len(S))
    if free.any():
        rows, low = Z[free] / length[free, None], (-slack_at / S - g)[free] / length[free]
        pressing = multipliers(rows, low - SLACK * size / length[free], size)
        if pressing is None:
            return None
        # to the last digit: contacts that let go have no force, whatever room they were given
        lost = pressing > 0
        y = np.linalg.lstsq(rows[lost], low[lost], rcond=SLACK)[0]
        pressing[lost] = np.linalg.lstsq(rows[lost].T, y, rcond=SLACK)[0]
        held[free] = pressing / length[free]
        g = g + Z @ y
    u = -(U[:, :rank] @ ((known @ (g - held)) / s[:rank]))
    return u, np.maximum(slack_at + S * g, 0.0)
