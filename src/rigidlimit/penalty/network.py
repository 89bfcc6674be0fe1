"""Kernel of the penalty method for any shape: a network of contacts, frozen for a short travel.

Within a segment the gap is gap_0 + B q, eq. 15, with q the travel (n, 6) since the contacts were
found and B frozen; the error is of the order of travel^2 over the bodies' length.
``network_engine`` bounds the travel so that this stays far below an overlap, and then finds the
contacts again.

Forces on body A: B^T f + F_ext - w x J w; acceleration M^-1 times that, M^-1 (n, 6, 6) with zero
rows where held. The leapfrog is that of ``balls.py``.

T and the tangential springs are frozen with B.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from .._support.compiled import INNER
from .ball_records import Pace
from .friction import rub as rub_contact
from .law import contact_force

DONE, STALE = 0, 1


class Network(NamedTuple):
    """starts, columns, entries: B (m, 6 n) by compressed rows; gap (m,): gap_0 [m]; k, g (m,): the
    contacts' stiffness and gamma_0."""

    starts: np.ndarray
    columns: np.ndarray
    entries: np.ndarray
    gap: np.ndarray
    k: np.ndarray
    g: np.ndarray


class Tangents(NamedTuple):
    """starts, columns, entries: T by compressed rows, those of a contact one after the other; mu,
    stiffness (m,): k_t, empty where all bodies are smooth; spring (m, 3): spring[i, a] is along
    tangent a of contact i. factor: on gamma; keeps_force: whether springs are kept as forces."""

    starts: np.ndarray
    columns: np.ndarray
    entries: np.ndarray
    mu: np.ndarray
    stiffness: np.ndarray
    spring: np.ndarray
    factor: float
    keeps_force: bool


class Moving(NamedTuple):
    """q, v (6 n,): travel and velocity; total (6 n,) = B^T f + T^T f_t, and seen (6 n,), the
    velocity between two steps that it is of; external (6 n,): loads, which grow by rate (6 n,).
    inverse (n, 6, 6): M^-1; inertia (n, 3, 3); mass (6 n,): the diagonal of M, zero where held;
    radius (n,): of the bodies."""

    q: np.ndarray
    v: np.ndarray
    total: np.ndarray
    seen: np.ndarray
    external: np.ndarray
    rate: np.ndarray
    inverse: np.ndarray
    inertia: np.ndarray
    mass: np.ndarray
    radius: np.ndarray


@njit(cache=True, error_model="numpy")
def contact_response(
    contacts: Network, q: np.ndarray, v: np.ndarray, p: float, tensile: bool, total: np.ndarray
):
    """total (6 n,) = B^T f at travel q, velocity v; returns (3, m): f, overlap, closing speed."""
    starts, columns, entries, gap, k, g = contacts
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
def friction_response(
    tangents: Tangents,
    normal: np.ndarray,
    g: np.ndarray,
    v: np.ndarray,
    p: float,
    h: float,
    total: np.ndarray,
):
    """total (6 n,) += T^T f_t at velocity v; returns f_t (m, 3) along the tangents of each contact.

    normal (3, m): what ``contact_response`` returned. Springs move on by h [s]; 0 keeps them.
    """
    starts, columns, entries, mu, stiffness, spring, factor, keeps_force = tangents
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
        law = k, damping, keeps_force
        out[i, 0], out[i, 1], _ = rub_contact(
            spring, i, (0.0, 0.0, 1.0), (rate[0], rate[1], 0.0), 0.0, bound, law, h
        )
        for a in range(each):
            for e in range(starts[i * each + a], starts[i * each + a + 1]):
                total[columns[e]] += entries[e] * out[i, a]
    return out


@njit(**INNER, error_model="numpy")
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
    contacts: Network,
    tangents: Tangents,
    bodies: Moving,
    pace: Pace,
    reach: float,
    p: float,
    tensile: bool,
):
    """Makes the steps of ``pace``; stops where a body has travelled beyond ``reach``.

    Returns (steps made, DONE or STALE).
    """
    q, v, total, seen, external, rate, inverse, inertia, mass, radius = bodies
    steps, h, alpha, quench = pace
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
        f = contact_response(contacts, q, v, p, tensile, total)
        friction_response(tangents, f, contacts.g, v, p, h, total)
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
    seen[:] = v
    v += 0.5 * h * a
    return made, code
