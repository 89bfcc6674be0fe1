"""Interior path to an equilibrium with Coulomb friction, for what Newton does not reach.

Coulomb's law in complementarity form, for displacements w and with multipliers s, l >= 0:

    normal      c(f_n) + w_n = s,                     f_n s = t
    tangent     f_t a(f_n) + w_t - z + l f_t = 0,     l (mu^2 f_n^2 - |f_t|^2) = t

c(f) = (f/k_n)^(1/(p-1)) is the overlap under a force, a = 1/(k_t c^(p-2)) the tangential compliance
and z = a s_t what is kept from before; l f_t is slip, along the force and not along the cone's
normal. t = 0 is the law. For t > 0 every contact gives way a little, none is at its bound, and
Newton's systems are regular; t goes to zero by predictors and correctors (``interior.py``).
Contacts that are known to slide follow their normal force, f_t = mu f_n e, and have no l. The
associated law, of least energy, has a path of its own (``cone_path.py``).
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit

from .._support.compiled import INNER
from .cone import first_root
from .interior import Settings, predictor_corrector
from .law import CompiledLaw, ContactLaw
from .mechanics import Mechanics

STEP = Settings(fraction=0.85)
"""Steps of 0.95 and more of the way to the nearest bound end near it, where the next ones are short
and rounding decides: "rough: captured shear-61, step 2" was led to its equilibrium in two of twelve
orders of its contacts. With 0.6 to 0.9 it is in each."""


@dataclass
class Path:
    """An iterate: x, force (m, d), multipliers s and l (m,)."""

    x: np.ndarray
    force: np.ndarray
    gap: np.ndarray
    slip: np.ndarray


def start(mechanics: Mechanics, law: ContactLaw, force_size: float) -> Path:
    """All contacts pressed alike by ``force_size`` [N], without tangential force."""
    m, d = mechanics.shape
    force = np.zeros((m, d))
    force[:, 0] = force_size
    gap = (force_size / law.normal) ** (1.0 / (law.exponent - 1.0))
    sums = mechanics.sums
    own = sums.own(gap)
    energy = sums.mean(float((force_size * own).sum()), len(own))
    bound = np.maximum((law.friction * force_size) ** 2, np.finfo(float).tiny)
    slip = np.minimum(gap ** (2.0 - law.exponent) / law.tangential, energy / bound)
    slip[(law.friction == 0.0) | law.sliding] = 0.0
    return Path(mechanics.start(force), force, gap, slip)


class _Point(NamedTuple):
    """What compiled code takes of an iterate. w (m, d). force, gap, slip: of ``Path``. room (m,):
    mu^2 f_n^2 - |f_t|^2."""

    law: CompiledLaw
    w: np.ndarray
    force: np.ndarray
    gap: np.ndarray
    slip: np.ndarray
    room: np.ndarray


class Tangent:
    """``interior.Tangent`` at an iterate. Directions are pairs (dx, change (m, d + 2) of the force,
    s and l)."""

    def __init__(self, mechanics: Mechanics, law: ContactLaw, at: Path):
        self.mechanics, self.friction, self.at = mechanics, law.friction, at
        w = mechanics.displacement(at.x)
        self.r = mechanics.residual(at.x, at.force)
        room = (law.friction * at.force[:, 0]) ** 2 - (at.force[:, 1:] ** 2).sum(axis=1)
        products = mechanics.sums.own(at.force[:, 0] * at.gap + at.slip * room)
        self.mean = mechanics.sums.mean(float(products.sum()), len(products)) / 2.0
        self.point = _Point(law.compiled, w, at.force, at.gap, at.slip, room)
        self.solve = None

    def direction(
        self, target: float, accuracy: float, after: tuple[np.ndarray, np.ndarray] | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        m, d = self.mechanics.shape
        D, b, second = np.empty((m, d, d)), np.empty((m, d)), np.zeros((m, 2))
        if after is not None:
            _second_order(self.friction, self.at.force, self.at.slip, after[1], second)
        _linearized(self.point, target, second, D, b)
        if self.solve is None:
            self.solve = self.mechanics.factorize(D)
        dx, change = self.solve(self.r, b, accuracy), np.empty((m, d + 2))
        _changes(self.point, target, second, D, b, self.mechanics.change(dx), change)
        return dx, change

    def length(self, direction: tuple[np.ndarray, np.ndarray], fraction: float) -> float:
        at = self.at
        length = _step_length(self.friction, at.force, at.gap, at.slip, direction[1], fraction)
        return self.mechanics.sums.least(length)

    def mean_after(self, direction: tuple[np.ndarray, np.ndarray], length: float) -> float:
        at = self.at
        sums = self.mechanics.sums
        iterate = (self.friction, at.force, at.gap, at.slip, direction[1])
        total = _sum_of_products(*map(sums.own, iterate), length)
        return sums.mean(total, len(sums.own(at.gap))) / 2.0


def advance(mechanics: Mechanics, law: ContactLaw, at: Path) -> float:
    """One iteration of predictor and corrector, in place; returns t before it, the mean product."""
    d, tangent = mechanics.shape[1], Tangent(mechanics, law, at)
    step, (dx, change) = predictor_corrector(tangent, STEP)
    at.x = at.x + step * dx
    at.force = at.force + step * change[:, :d]
    at.gap = at.gap + step * change[:, d]
    at.slip = at.slip + step * change[:, d + 1]
    return tangent.mean


@njit(cache=True, nogil=True, error_model="numpy")
def _linearized(at, target, second, D, b):
    """D (m, d, d) and b (m, d) of df = -D dw + b, multipliers eliminated."""
    law, w, force, gap, slip, room = at
    k_n, k_t, mu, kept, p, _, _ = law
    m, d = force.shape
    C = np.zeros((d, d))
    q = 1.0 / (p - 1.0)
    for i in range(m):
        fn, s, l, g, mm = force[i, 0], gap[i], slip[i], room[i], mu[i] * mu[i]
        overlap = fn / k_n[i] if p == 2.0 else (fn / k_n[i]) ** q
        give = q * overlap / fn  # dc/df_n
        a = 1.0 / k_t[i] if p == 2.0 else 1.0 / (k_t[i] * overlap ** (p - 2.0))
        da = 0.0 if p == 2.0 else -(p - 2.0) / overlap * give * a  # da/df_n
        if l == 0.0:
            _follower(i, at, overlap, give, (target, second[i, 0]), D, b)
            continue
        missing = overlap + w[i, 0] - s
        of_gap = (target - fn * s - second[i, 0]) / fn  # ds = of_gap - s/f_n df_n
        c = 2.0 * l / g
        of_slip = (target - l * g - second[i, 1]) / g  # dl = of_slip - c (mm fn dfn - ft.dft)
        C[0, 0] = give + s / fn
        b[i, 0] = -missing + of_gap
        for u in range(1, d):
            f = force[i, u]
            C[0, u] = 0.0  # it holds b of the contact before
            C[u, 0] = -c * mm * fn * f + da * (f - kept[i, u - 1])
            for v in range(1, d):
                C[u, v] = c * f * force[i, v]
            C[u, u] += a + l
            b[i, u] = -(a * (f - kept[i, u - 1]) + l * f + w[i, u]) - f * of_slip
        _invert(C, D[i])
        for u in range(d):
            C[0, u] = b[i, u]
        for u in range(d):
            total = 0.0
            for v in range(d):
                total += D[i, u, v] * C[0, v]
            b[i, u] = total


@njit(**INNER, error_model="numpy")
def _follower(i, at, overlap, give, product, D, b):
    """The same of contact i, which is smooth, or known to slide: the tangential force follows the
    normal one. give: dc/df_n. product: of f_n and s, to come to, and its second-order part."""
    law, w, force, gap, _, _ = at
    mu, known, d = law.friction[i], law.slide, w.shape[1]
    fn, s = force[i, 0], gap[i]
    target, second = product
    D[i] = 0.0
    D[i, 0, 0] = 1.0 / (give + s / fn)
    b[i, 0] = D[i, 0, 0] * (s - overlap - w[i, 0] + (target - fn * s - second) / fn)
    for u in range(1, d):
        along = mu * known[i, u - 1]
        D[i, u, 0] = along * D[i, 0, 0]
        b[i, u] = along * (fn + b[i, 0]) - force[i, u]


@njit(**INNER, error_model="numpy")
def _invert(C, out):
    """Inverse of a small matrix (d, d), d = 1, 2, 3, by cofactors."""
    d = len(C)
    if d == 1:
        out[0, 0] = 1.0 / C[0, 0]
    elif d == 2:
        det = C[0, 0] * C[1, 1] - C[0, 1] * C[1, 0]
        out[0, 0], out[1, 1] = C[1, 1] / det, C[0, 0] / det
        out[0, 1], out[1, 0] = -C[0, 1] / det, -C[1, 0] / det
    else:
        for u in range(3):
            for v in range(3):
                a, b, e, f = (v + 1) % 3, (v + 2) % 3, (u + 1) % 3, (u + 2) % 3
                out[u, v] = C[a, e] * C[b, f] - C[a, f] * C[b, e]
        det = C[0, 0] * out[0, 0] + C[0, 1] * out[1, 0] + C[0, 2] * out[2, 0]
        for u in range(3):
            for v in range(3):
                out[u, v] /= det


@njit(cache=True, nogil=True, error_model="numpy")
def _changes(at, target, second, D, b, dw, change):
    """Changes of force, s and l (m, d + 2) that go with dw (m, d)."""
    mu, force, gap, slip, room = at.law.friction, at.force, at.gap, at.slip, at.room
    m, d = force.shape
    for i in range(m):
        along = 0.0
        for u in range(d):
            total = b[i, u]
            for v in range(d):
                total -= D[i, u, v] * dw[i, v]
            change[i, u] = total
            if u > 0:
                along += force[i, u] * total
        fn, dfn = force[i, 0], change[i, 0]
        change[i, d] = (target - fn * gap[i] - second[i, 0] - gap[i] * dfn) / fn
        if slip[i] == 0.0:
            change[i, d + 1] = 0.0
            continue
        outward = 2.0 * slip[i] * (mu[i] * mu[i] * fn * dfn - along)
        change[i, d + 1] = (target - slip[i] * room[i] - second[i, 1] - outward) / room[i]


@njit(cache=True, nogil=True, error_model="numpy")
def _second_order(mu, force, slip, change, second):
    """Products of changes that a linear step leaves out of f_n s and l g (Mehrotra)."""
    m, d = force.shape
    for i in range(m):
        first = mu[i] * mu[i] * force[i, 0] * change[i, 0]
        pure = (mu[i] * change[i, 0]) ** 2
        for u in range(1, d):
            first -= force[i, u] * change[i, u]
            pure -= change[i, u] * change[i, u]
        second[i, 0] = change[i, 0] * change[i, d]
        second[i, 1] = slip[i] * pure + 2.0 * change[i, d + 1] * first


@njit(cache=True, nogil=True, error_model="numpy")
def _step_length(mu, force, gap, slip, change, part):
    """The step, at most 1, that goes ``part`` of the way to the nearest bound."""
    m, d = force.shape
    step = 1.0
    for i in range(m):
        if change[i, 0] < 0.0:
            step = min(step, -part * force[i, 0] / change[i, 0])
        if change[i, d] < 0.0:
            step = min(step, -part * gap[i] / change[i, d])
        if slip[i] == 0.0:
            continue
        if change[i, d + 1] < 0.0:
            step = min(step, -part * slip[i] / change[i, d + 1])
        # room(step) = A step^2 + 2 B step + C
        A = (mu[i] * change[i, 0]) ** 2
        B = mu[i] * mu[i] * force[i, 0] * change[i, 0]
        C = (mu[i] * force[i, 0]) ** 2
        for u in range(1, d):
            A -= change[i, u] * change[i, u]
            B -= force[i, u] * change[i, u]
            C -= force[i, u] * force[i, u]
        step = min(step, part * first_root(A, B, C))
    return step


@njit(cache=True, nogil=True, error_model="numpy")
def _sum_of_products(mu, force, gap, slip, change, step):
    """Of both complementary products of all contacts, after a step of that length."""
    m, d = force.shape
    total = 0.0
    for i in range(m):
        fn = force[i, 0] + step * change[i, 0]
        room = (mu[i] * fn) ** 2
        for u in range(1, d):
            room -= (force[i, u] + step * change[i, u]) ** 2
        total += fn * (gap[i] + step * change[i, d]) + (slip[i] + step * change[i, d + 1]) * room
    return total
