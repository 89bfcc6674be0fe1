"""Interior path of the associated law, to the forces of least energy: a second-order cone program.

With forces f in Coulomb's cone of each contact, openings z in the dual cone (z_n >= mu |z_t|) and
the springs' compliance C,

    C f + w = z,        f o z = t e,        r(x, f) = 0

f o z = (f . z, f_n z_t + z_n f_t) is the product of the cone's Jordan algebra and e = (1, 0) its
unit, in coordinates (``cone.py``) where the cone is its own dual. For t -> 0 these are the
conditions of min f . C f / 2 over B^T f = F in the cones. The product is linearised after both
sides are scaled alike, l = W^-1 f = W z (Nesterov & Todd):

    W^-1 df + W dz = l \\ (t e - second) - l,   df = (C + W^-2)^-1 (W^-1 (l \\ ...) - C f - w - dw)

with second = (W^-1 df) o (W dz) of the predictor. Smooth contacts and those known to slide have a
ray for a cone, f = f_n (1, mu e).

Bounds written as mu^2 f_n^2 - |f_t|^2 >= 0 with a number l each, as in ``rough_path.py``, end
short: l |f_t| is the slip, so that l grows without bound where a contact opens.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit

from .cone import ACROSS, DOWN, FIRST, UP, aim, inverse, scalings_at, step_within
from .interior import predictor_corrector
from .law import CompiledLaw, ContactLaw
from .mechanics import Mechanics

Direction = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Changes of x (n,), force (m, d) and opening (m, d)."""


@dataclass
class ConePath:
    """An iterate: x, force f (m, d), opening z (m, d); of a ray, along it, in the first
    entry alone."""

    x: np.ndarray
    force: np.ndarray
    opening: np.ndarray


def start(mechanics: Mechanics, law: ContactLaw, force_size: float) -> ConePath:
    """All contacts pressed alike by ``force_size`` [N], and open by what they give way."""
    force, opening = np.zeros(mechanics.shape), np.zeros(mechanics.shape)
    force[:, 0] = force_size
    opening[:, 0] = force_size / law.normal
    if law.slide is not None:
        force[:, 1:] = (law.friction * force_size)[:, None] * law.slide
    return ConePath(mechanics.start(force), force, opening)


class _Point(NamedTuple):
    """What compiled code takes of an iterate. ray (m,) bool: contacts whose cone is a ray. w,
    force, opening (m, d). scalings: of ``cone.find_scalings``."""

    law: CompiledLaw
    ray: np.ndarray
    w: np.ndarray
    force: np.ndarray
    opening: np.ndarray
    scalings: np.ndarray


class Tangent:
    """``interior.Tangent`` at an iterate; raises ``LinAlgError`` where that is on a cone's
    boundary, by rounding."""

    def __init__(self, mechanics: Mechanics, law: ContactLaw, at: ConePath):
        self.mechanics, self.at = mechanics, at
        sums = mechanics.sums
        self.r = mechanics.residual(at.x, at.force)
        own = sums.own(at.force * at.opening)
        self.mean = sums.mean(float(own.sum()), len(own))
        ray = law.sliding | (law.friction == 0.0)
        scalings = scalings_at(law.compiled.friction, ray, at.force, at.opening, sums)
        w = mechanics.displacement(at.x)
        self.point = _Point(law.compiled, ray, w, at.force, at.opening, scalings)
        self.solve = None

    def direction(
        self, target: float, accuracy: float, after: Direction | None = None
    ) -> Direction:
        none = np.zeros(self.mechanics.shape)
        _, force, opening = (None, none, none) if after is None else after
        aims = np.empty_like(none)
        _aims(self.point, target, force, opening, aims)
        if self.solve is None:
            D = np.zeros((*none.shape, none.shape[1]))
            _blocks(self.point, D)
            self.solve = self.mechanics.factorize(D)
        force, opening = np.empty_like(none), np.empty_like(none)
        _answer(self.point, aims, self.point.w, force, opening)
        dx = self.solve(self.r, force, accuracy)
        _answer(self.point, aims, self.point.w + self.mechanics.change(dx), force, opening)
        return dx, force, opening

    def length(self, direction: Direction, fraction: float) -> float:
        _, force, opening = direction
        forces, openings = (self.at.force, force), (self.at.opening, opening)
        length = step_within(self.point.law.friction, self.point.ray, forces, openings, fraction)
        return self.mechanics.sums.least(length)

    def mean_after(self, direction: Direction, length: float) -> float:
        _, force, opening = direction
        at, sums = self.at, self.mechanics.sums
        own = sums.own((at.force + length * force) * (at.opening + length * opening))
        return sums.mean(float(own.sum()), len(own))


def advance(mechanics: Mechanics, law: ContactLaw, at: ConePath) -> float:
    """One iteration of predictor and corrector, in place; returns t before it, the mean product."""
    tangent = Tangent(mechanics, law, at)
    step, (dx, force, opening) = predictor_corrector(tangent)
    if mechanics.sums.any(~np.isfinite(dx)):
        raise np.linalg.LinAlgError("singular matrix")
    at.x = at.x + step * dx
    at.force = at.force + step * force
    at.opening = at.opening + step * opening
    return tangent.mean


@njit(cache=True, nogil=True, error_model="numpy")
def _aims(at, target, force, opening, out):
    """``cone.aim`` of each contact; of a ray (target - second)/f."""
    law, ray, _, f, _, scalings = at
    for i in range(len(f)):
        mu = law.friction[i]
        if ray[i]:
            out[i] = 0.0
            out[i, 0] = (target - force[i, 0] * opening[i, 0]) / f[i, 0]
        else:
            aim(mu, scalings[i], f[i], target, force[i], opening[i], out[i])


@njit(cache=True, nogil=True, error_model="numpy")
def _blocks(at, D):
    """D (m, d, d) of df = -D dw + b, from zero."""
    law, ray, _, force, opening, scalings = at
    m, d = force.shape
    for i in range(m):
        k_n, k_t, mu = law.normal[i], law.tangential[i], law.friction[i]
        if ray[i]:
            stiffness = 1.0 / (1.0 / k_n + mu * mu / k_t + opening[i, 0] / force[i, 0])
            for u in range(d):
                one = stiffness * (1.0 if u == 0 else mu * law.slide[i, u - 1])
                for v in range(d):
                    D[i, u, v] = one * (1.0 if v == 0 else mu * law.slide[i, v - 1])
            continue
        down, up, between, across = inverse(k_n, k_t, mu, scalings[i])
        D[i, 0, 0] = 0.5 * (down + up + 2.0 * between) / (mu * mu)
        mixed, along = 0.5 * (up - down) / mu, 0.5 * (down + up - 2.0 * between)
        for u in range(1, d):
            e = scalings[i, FIRST + u - 1]
            D[i, 0, u] = D[i, u, 0] = mixed * e
            for v in range(1, d):
                D[i, u, v] = (along - across) * e * scalings[i, FIRST + v - 1]
            D[i, u, u] += across


@njit(cache=True, nogil=True, error_model="numpy")
def _answer(at, aims, w, force, opening):
    """Changes of force and opening (m, d) that go with displacements w (m, d)."""
    law, ray, _, f, z, scalings = at
    m, d = f.shape
    c = np.empty(d)
    for i in range(m):
        k_n, k_t, mu, scaling = law.normal[i], law.tangential[i], law.friction[i], scalings[i]
        if ray[i]:
            push, ratio = aims[i, 0] - w[i, 0], z[i, 0] / f[i, 0]
            give = 1.0 / k_n + mu * mu / k_t
            for u in range(1, d):
                push -= mu * law.slide[i, u - 1] * w[i, u]
            opening[i] = 0.0
            force[i, 0] = (push - give * f[i, 0]) / (give + ratio)
            opening[i, 0] = aims[i, 0] - z[i, 0] - ratio * force[i, 0]
            for u in range(1, d):
                follows = mu * law.slide[i, u - 1]
                force[i, u] = follows * (f[i, 0] + force[i, 0]) - f[i, u]
            continue
        c[0] = aims[i, 0] - f[i, 0] / (k_n * mu) - w[i, 0] / mu
        along = 0.0
        for u in range(1, d):
            c[u] = aims[i, u] - f[i, u] / k_t - w[i, u]
            along += scaling[FIRST + u - 1] * c[u]
        down, up, between, across = inverse(k_n, k_t, mu, scaling)
        low, high = 0.5 * (c[0] - along), 0.5 * (c[0] + along)
        low, high = down * low + between * high, between * low + up * high
        force[i, 0] = high + low
        for u in range(1, d):
            e = scaling[FIRST + u - 1]
            force[i, u] = (high - low) * e + across * (c[u] - along * e)
        low, high = low * scaling[DOWN] ** 2, high * scaling[UP] ** 2
        opening[i, 0] = mu * (aims[i, 0] - high - low) - z[i, 0]
        for u in range(1, d):
            e = scaling[FIRST + u - 1]
            rest = across * scaling[ACROSS] ** 2 * (c[u] - along * e)
            opening[i, u] = aims[i, u] - (high - low) * e - rest - z[i, u]
        force[i, 0] /= mu
