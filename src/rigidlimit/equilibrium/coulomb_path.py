"""Interior path of rigid contacts with exact Coulomb friction (step 1).

    f_n u_n = t,      (mu f_n, f_t) o (s, u_t) = t e,      u = J v + offset of bodies with inertia

with the product o of ``cone.py`` and a slip s > |u_t| a contact; for t -> 0 these are Signorini's
and Coulomb's laws with s = |u_t| (T. A. Howell et al., Dojo, arXiv 2203.00806, 2022). Written with
u_n + mu |u_t| in one cone, as de Saxce does, the path has a kink wherever u_t passes zero.

The path begins at large t with all contacts pressed alike, and uses no start. As the law has
no energy, it may turn back before t = 0, where one motion folds into another; steps become short
there, and nothing follows. Other weights, t times a number for each contact, have their folds
elsewhere.

Forces are over sqrt(rho) and velocities times sqrt(rho), so that their products are of one size.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit

from .._support.compiled import INNER
from .cone import ACROSS, DOWN, FIRST, UP, aim, scalings_at, step_within
from .interior import predictor_corrector
from .mechanics import Mechanics

Direction = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""Changes of x (n,), force (m, d), gap velocity (m,) and opening (m, d)."""


@dataclass
class Iterate:
    """x (n,), velocities of the bodies; force f (m, d); separation (m,): u_n > 0; opening (m, d):
    (mu s, u_t), of contacts without friction without a meaning."""

    x: np.ndarray
    force: np.ndarray
    separation: np.ndarray
    opening: np.ndarray


class _Point(NamedTuple):
    """What compiled code takes of an iterate. mu (m,); ray (m,) bool: contacts without friction.
    scalings: of ``cone.find_scalings``."""

    mu: np.ndarray
    ray: np.ndarray
    force: np.ndarray
    separation: np.ndarray
    opening: np.ndarray
    scalings: np.ndarray


class _Aims(NamedTuple):
    """product (m,): f_n u_n; cone (m, d): ``cone.aim``."""

    product: np.ndarray
    cone: np.ndarray


class CoulombPath:
    """The path of a problem: mechanics, friction (m,), rho (m,), weight (m,) of t; scale [m/s]:
    the size of velocities from which it starts. force (m, d): that of the iterate."""

    def __init__(
        self,
        mechanics: Mechanics,
        friction: np.ndarray,
        rho: np.ndarray,
        *,
        scale: float,
        weight: np.ndarray,
    ):
        self.mechanics, self.weight = mechanics, weight
        self.ray = friction == 0.0
        self.friction = np.where(self.ray, 1.0, friction)
        self.unit = np.sqrt(rho)[:, None]
        self.at = self._start(scale * float(np.median(self.unit)))

    @property
    def force(self) -> np.ndarray:
        return self.unit * self.at.force

    def advance(self) -> float:
        """One step of predictor and corrector; returns its length. Raises ``LinAlgError`` at the
        end, where the iterate is on a boundary by rounding."""
        step, direction = predictor_corrector(_Tangent(self))
        if not np.isfinite(direction[0]).all():
            raise np.linalg.LinAlgError("singular matrix")
        at = self.at
        self.at = Iterate(
            *(a + step * b for a, b in zip(
                (at.x, at.force, at.separation, at.opening), direction, strict=True
            ))
        )  # fmt: skip
        return step

    def velocity(self, x: np.ndarray) -> np.ndarray:
        """u (m, d), times sqrt(rho)."""
        return self.unit * self.mechanics.displacement(x)

    def _start(self, size: float) -> Iterate:
        """Every contact pressed and open alike."""
        m, d = self.mechanics.shape
        force, separation = np.zeros((m, d)), np.full(m, size)
        force[:, 0] = size
        x = self.mechanics.start(self.unit * force)
        opening = self.velocity(x)
        opening[:, 0] = size + self.friction * np.linalg.norm(opening[:, 1:], axis=1)
        return Iterate(x, force, separation, opening)


class _Tangent:
    """``interior.Tangent`` at an iterate."""

    def __init__(self, path: CoulombPath):
        self.path, self.at = path, path.at
        at = path.at
        scalings = scalings_at(path.friction, path.ray, at.force, at.opening)
        self.point = _Point(path.friction, path.ray, at.force, at.separation, at.opening, scalings)
        self.mean = self._mean(at.force, at.separation, at.opening)
        self.r = path.mechanics.residual(at.x, path.force)
        self.solve = None

    def direction(
        self, target: float, accuracy: float, after: Direction | None = None
    ) -> Direction:
        path, at = self.path, self.at
        none = np.zeros(at.force.shape)
        _, force, separation, opening = (0, none, none[:, 0], none) if after is None else after
        aims = _Aims(target * path.weight - force[:, 0] * separation, np.empty_like(none))
        _aims(self.point, target * path.weight, force, opening, aims.cone)
        if self.solve is None:
            D = np.zeros((*none.shape, none.shape[1]))
            _blocks(self.point, D)
            self.solve = path.mechanics.factorize(path.unit[:, :, None] ** 2 * D)
        u = path.velocity(at.x)
        force, _, _ = self._answer(aims, u)
        dx = self.solve(self.r, path.unit * force, accuracy)
        # of u its change alone: stiffnesses multiply its rounding
        return dx, *self._answer(aims, u + path.unit * path.mechanics.change(dx))

    def _answer(self, aims, u):
        """Changes of force, separation and opening that go with velocities u (m, d)."""
        force, opening = np.empty_like(self.at.force), np.empty_like(self.at.opening)
        separation = np.empty(len(force))
        _answer(self.point, aims, u, force, separation, opening)
        return force, separation, opening

    def length(self, direction: Direction, fraction: float) -> float:
        _, force, separation, opening = direction
        at, path, falls = self.at, self.path, separation < 0.0
        step = float((at.separation[falls] / -separation[falls]).min(initial=np.inf)) * fraction
        forces, openings = (at.force, force), (at.opening, opening)
        return min(step, step_within(path.friction, path.ray, forces, openings, fraction))

    def mean_after(self, direction: Direction, length: float) -> float:
        at = self.at
        _, force, separation, opening = direction
        return self._mean(
            at.force + length * force,
            at.separation + length * separation,
            at.opening + length * opening,
        )

    def _mean(self, force, separation, opening):
        """The mean product over its weight."""
        path = self.path
        pressed, slides = force[:, 0] * separation, (force * opening).sum(axis=1)
        total = (pressed / path.weight).sum() + (slides / path.weight)[~path.ray].sum()
        return float(total) / (2 * len(force) - path.ray.sum())


@njit(cache=True, nogil=True, error_model="numpy")
def _aims(at, targets, force, opening, out):
    """``cone.aim`` of each contact with friction."""
    for i in range(len(out)):
        if not at.ray[i]:
            aim(at.mu[i], at.scalings[i], at.force[i], targets[i], force[i], opening[i], out[i])


@njit(**INNER, error_model="numpy")
def _along(scaling):
    """r and k of df_t = (r mu df_n + k e . c) e + (c - (e . c) e)/W_across^2, s eliminated."""
    down, up = scaling[DOWN] ** 2, scaling[UP] ** 2
    return (down - up) / (down + up), 2.0 / (down + up)


@njit(cache=True, nogil=True, error_model="numpy")
def _blocks(at, D):
    """D (m, d, d) of df = -D du + b, from zero."""
    m, d = at.force.shape
    for i in range(m):
        D[i, 0, 0] = at.force[i, 0] / at.separation[i]
        if at.ray[i]:
            continue
        scaling = at.scalings[i]
        ratio, stiffness = _along(scaling)
        across = 1.0 / scaling[ACROSS] ** 2
        for a in range(1, d):
            e = scaling[FIRST + a - 1]
            D[i, a, 0] = ratio * e * at.mu[i] * D[i, 0, 0]
            for b in range(1, d):
                D[i, a, b] = (stiffness - across) * e * scaling[FIRST + b - 1]
            D[i, a, a] += across


@njit(cache=True, nogil=True, error_model="numpy")
def _answer(at, aims, u, force, separation, opening):
    """Changes of force, separation and opening that go with velocities u (m, d), into these."""
    m, d = force.shape
    for i in range(m):
        separation[i] = u[i, 0] - at.separation[i]
        force[i, 0] = (aims.product[i] - at.force[i, 0] * u[i, 0]) / at.separation[i]
        opening[i, 0] = 0.0
        for a in range(1, d):
            force[i, a], opening[i, a] = 0.0, u[i, a] - at.opening[i, a]
        if at.ray[i]:
            continue
        scaling, target = at.scalings[i], aims.cone[i]
        ratio, stiffness = _along(scaling)
        push, along = at.mu[i] * force[i, 0], 0.0
        for a in range(1, d):
            along += scaling[FIRST + a - 1] * (target[a] - u[i, a])
        for a in range(1, d):
            e = scaling[FIRST + a - 1]
            across = (target[a] - u[i, a] - along * e) / scaling[ACROSS] ** 2
            force[i, a] = (ratio * push + stiffness * along) * e + across
        # stiffness W_down^2 W_up^2 without a product that overflows
        resists = 2.0 / (1.0 / scaling[DOWN] ** 2 + 1.0 / scaling[UP] ** 2)
        slip = target[0] - resists * push + along * ratio
        opening[i, 0] = at.mu[i] * slip - at.opening[i, 0]
