"""Kernel of the penalty method for any shape: a network of contacts, frozen for a short travel.

Within a segment the gap is gap_0 + B q, eq. 15, with q the travel (n, 6) since the contacts were
found and B frozen; the error is of the order of travel^2 over the bodies' length.
``network_engine`` bounds the travel so that this stays far below an overlap, and then finds the
contacts again.

Forces on body A: B^T f + F_ext - w x J w; acceleration M^-1 times that, M^-1 (n, 6, 6) with zero
rows where held. The leapfrog is that of ``balls.py``.

Friction. ``rub``: starts, columns and entries of T, mu, k_t, springs, factor on gamma, whether
springs are kept as forces. T and the springs (m, 3) are frozen with B: spring[i, a] is along
tangent a of contact i. mu is empty where all bodies are smooth.
"""

import numpy as np
from numba import njit

from .friction import rub as rub_contact
from .law import contact_force

DONE, STALE = 0, 1


@njit(cache=True, error_model="numpy")
def contact_response(starts, columns, entries, gap, k, g, q, v, p, tensile, total):
    """total (6 n,) = B^T f at travel q, velocity v; returns (3, m): f, overlap, closing speed."""
    m = len(gap)
    out = np.zeros((3, m))
    total[:] = 0.0
    for i in range(m):
        c = -gap[i]
        rate = 0.0
        for e in range(starts[i], starts[i + 1]):
            c -= entries[e] * q[columns[e]]
            rate -= entries[e] * v[columns[e]]
        out[1, i], out[2, i] = c, rate
        if c > 0.0:
            f = contact_force(c, rate, k[i], g[i], p, tensile)
            out[0, i] = f
            for e in range(starts[i], starts[i + 1]):
                total[columns[e]] += entries[e] * f
    return out


@njit(cache=True, error_model="numpy")
def friction_response(rub, normal, g, v, p, h, total):
    """total (6 n,) += T^T f_t at velocity v; returns f_t (m, 3) along the tangents of each contact.

    normal (3, m): what ``contact_response`` returned. Springs move on by h [s]; 0 leaves them.
    """
    starts, columns, entries, mu, stiffness, spring, factor, keeps_force = rub
    m = len(mu)
    out = np.zeros((m, 3))
    if m == 0:
        return out
    each = (len(starts) - 1) // m
    rate = np.zeros(2)
    for i in range(m):
        f, c = normal[0, i], normal[1, i]
        if c <= 0.0:
            if h > 0.0:
                spring[i] = 0.0
            continue
        for a in range(each):
            rate[a] = 0.0
            for e in range(starts[i * each + a], starts[i * each + a + 1]):
                rate[a] += entries[e] * v[columns[e]]
        k, damping = stiffness[i] * c ** (p - 2.0), factor * g[i] * c ** (0.5 * p - 1.0)
        # within a segment tangents stand still: nothing turns, and the normal is a third axis
        bound = mu[i] * max(f, 0.0)
        out[i, 0], out[i, 1], _ = rub_contact(
            spring, i, 0.0, 0.0, 1.0, rate[0], rate[1], 0.0, 0.0, bound, k, damping, keeps_force, h
        )
        for a in range(each):
            for e in range(starts[i * each + a], starts[i * each + a + 1]):
                total[columns[e]] += entries[e] * out[i, a]
    return out


@njit(cache=True, error_model="numpy")
def _acceleration(total, external, inverse, inertia, v, out):
    for b in range(len(inverse)):
        o = 6 * b
        w = v[o + 3 : o + 6]
        spin = np.zeros(3)
        if w[0] != 0.0 or w[1] != 0.0 or w[2] != 0.0:
            P = inertia[b] @ w
            spin[0] = P[1] * w[2] - P[2] * w[1]
            spin[1] = P[2] * w[0] - P[0] * w[2]
            spin[2] = P[0] * w[1] - P[1] * w[0]
        for r in range(6):
            a = 0.0
            for s in range(6):
                push = total[o + s] + external[o + s]
                if s >= 3:
                    push += spin[s - 3]
                a += inverse[b, r, s] * push
            out[o + r] = a


@njit(cache=True, error_model="numpy")
def advance(
    starts, columns, entries, gap, k, g, q, v, total, external, rate, inverse, inertia, mass,
    reach, radius, rub, steps, h, alpha, quench, p, tensile,
):  # fmt: skip
    """Up to ``steps`` steps; stops where a body has travelled beyond ``reach``.

    q, v (6 n,), total = B^T f and the loads ``external``, which grow by ``rate``, are brought up to
    date. mass (6 n,): zero where held; the diagonal
    of M, for the kinetic energy that tells ``quench`` when to stop all bodies. Returns (steps
    made, DONE or STALE).
    """
    n = len(inverse)
    a = np.zeros(6 * n)
    _acceleration(total, external, inverse, inertia, v, a)
    v -= 0.5 * h * a
    keep, gain = (1 - 0.5 * alpha * h) / (1 + 0.5 * alpha * h), h / (1 + 0.5 * alpha * h)
    before, rising = -1.0, False
    made, code = 0, DONE
    while made < steps:
        energy = 0.0
        for d in range(6 * n):
            if mass[d] > 0.0:
                v[d] = v[d] * keep + gain * a[d]
                energy += mass[d] * v[d] * v[d]
        if quench:
            if rising and energy < before:
                for d in range(6 * n):
                    if mass[d] > 0.0:
                        v[d] = 0.0
                energy, rising = 0.0, False
            else:
                rising = energy > before
            before = energy
        q += h * v
        external += h * rate
        f = contact_response(starts, columns, entries, gap, k, g, q, v, p, tensile, total)
        friction_response(rub, f, g, v, p, h, total)
        _acceleration(total, external, inverse, inertia, v, a)
        made += 1
        for b in range(n):
            o = 6 * b
            travel = np.sqrt(q[o] ** 2 + q[o + 1] ** 2 + q[o + 2] ** 2)
            turn = np.sqrt(q[o + 3] ** 2 + q[o + 4] ** 2 + q[o + 5] ** 2)
            if travel + radius[b] * turn > reach:
                code = STALE
        if code == STALE:
            break
    v += 0.5 * h * a
    return made, code
