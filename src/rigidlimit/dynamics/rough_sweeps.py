"""Gauss-Seidel and projected gradients for rigid contacts with friction: what engines do.

Both know contact forces f (m, d) and the velocities u = B v + offset of their contacts, normal
first, with v = v_free + R^T f, R = dt B M^-1, and are judged by the residual of exact Coulomb
friction (``equilibrium.multipliers``).

``pgs``   one contact after the other, normal then tangential, as in Bullet and ODE; a fixed point
          is exact Coulomb friction (Siconos' NSGS with a projection a contact):
              f_n <- max(0, f_n - u_n/W_nn),    f_t <- P_[|.| <= mu f_n](f_t - u_t/|W_tt|)
``apgd``  Nesterov's method on the convex relaxation, as in Chrono (Mazhar et al. 2015, alg. 1):
              min 1/2 f^T W f + q^T f  over the cones |f_t| <= mu f_n,
          whose solution opens a sliding contact by mu |u_t|: the residual of Coulomb's law
          stays at that size, and says so.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from ..equilibrium.contact_blocks import ContactBlocks, contact_blocks, sweep
from ..equilibrium.multipliers import residuals
from ..status import Status
from .pgs import ROUNDING
from .problem import ContactProblem
from .visits import visits

STRIDE = 10
"""Sweeps or gradient steps between two measurements of the residual."""

LIMIT = 20_000
"""Sweeps or gradient steps at most, by default."""

ROUNDED, GROWTH, DECAY = 1e-14, 2.0, 0.9
"""Lipschitz constant L of Nesterov's method: part of the curvature that is rounding; factors by
which the estimate grows until it bounds the curvature, and shrinks after a step."""


@dataclass(frozen=True)
class RoughProblem:
    """data: eq. 21 with d rows each of m contacts, one after the other; friction (m,)."""

    data: ContactProblem
    friction: np.ndarray
    d: int

    @property
    def offset(self) -> np.ndarray:
        """(m, d) [m/s]."""
        return self.data.bias.reshape(-1, self.d)

    @cached_property
    def rho(self) -> np.ndarray:
        """d/tr(W_ii), (m,) [N s/m]."""
        trace = self.data.own_response.reshape(-1, self.d).sum(axis=1)
        return self.d / np.where(trace > 0.0, trace, 1.0)

    @cached_property
    def scale(self) -> float:
        """The fastest contact without contact forces [m/s], the unit of the residual."""
        return float(np.abs(self.data.p).max(initial=0.0))

    @cached_property
    def pushes(self) -> sp.csr_array:
        """R^T."""
        return sp.csr_array(self.data.response.T)

    @cached_property
    def blocks(self) -> ContactBlocks:
        """What sweeps go over."""
        return contact_blocks(self.data.B, self.data.response, self.d)

    def velocity(self, force: np.ndarray) -> np.ndarray:
        return self.data.free_velocity + self.pushes @ force.ravel()

    def contact_velocity(self, v: np.ndarray) -> np.ndarray:
        return (self.data.B @ v).reshape(self.offset.shape) + self.offset

    def residual(self, force: np.ndarray, u: np.ndarray) -> tuple[float, int]:
        """(largest residual of Coulomb's law over the scale, its contact)."""
        e = residuals(force, u, self.friction, self.rho)
        worst = int(np.argmax(e))
        return float(e[worst]) / self.scale, worst


@dataclass(frozen=True)
class Swept:
    """Where a method ended: the iterate of least residual, and the residual by measurements.
    locked: contacts that friction locks, the hardest pressed first, where no motion was found."""

    force: np.ndarray
    status: Status
    iterations: int
    history: np.ndarray
    routes: tuple[str, ...] = ()
    locked: np.ndarray | None = None


def pgs(
    problem: RoughProblem,
    force: np.ndarray,
    *,
    tolerance: float,
    max_iterations: int | None = None,
    order: str | Sequence[int] | np.ndarray = "natural",
    seed: int = 0,
    callback: Callable[[int, float], None] | None = None,
) -> Swept:
    """Projected Gauss-Seidel from ``force`` (m, d); order, seed, callback as in ``pgs.solve``."""
    limit = LIMIT if max_iterations is None else max_iterations
    f, history, done, change = np.array(force, float), [], 0, np.inf
    best, best_force, status = np.inf, f.copy(), Status.MAX_ITERATIONS
    sequence = visits(order, seed, len(f))
    while True:
        v = problem.velocity(f)  # anew, so that rounding does not add up
        residual, _ = problem.residual(f, problem.contact_velocity(v))
        history.append(residual)
        if residual < best:
            best, best_force = residual, f.copy()
        if callback is not None:
            callback(done, best)
        if residual <= tolerance:
            status = Status.CONVERGED
        elif change <= ROUNDING * np.abs(f).max(initial=0.0):
            status = Status.STALLED
        if status is not Status.MAX_ITERATIONS or done >= limit:
            return Swept(best_force, status, done, np.array(history))
        for _ in range(min(STRIDE, limit - done)):
            change = sweep(next(sequence), problem.blocks, problem.friction, problem.offset, f, v)
            done += 1


def apgd(
    problem: RoughProblem, force: np.ndarray, *, tolerance: float, max_iterations: int | None = None
) -> Swept:
    """Accelerated projected gradient descent on the convex relaxation, from ``force`` (m, d)."""
    limit = LIMIT if max_iterations is None else max_iterations
    mu, rho = problem.friction, problem.rho[:, None]

    def slope(f: np.ndarray) -> np.ndarray:
        return problem.contact_velocity(problem.velocity(f))

    def relaxed(f: np.ndarray, u: np.ndarray) -> float:
        back = cone_projection(f - rho * u, mu)
        return float(np.abs((f - back) / rho).max(initial=0.0)) / problem.scale

    f = cone_projection(np.array(force, float), mu)
    u = slope(f)
    y, at_y, theta, history, done = f, u, 1.0, [], 0
    lipschitz = 1.0 / float(problem.rho.max())
    while True:
        if done % STRIDE == 0:
            history.append(problem.residual(f, u)[0])
            solved = relaxed(f, u) <= tolerance
            if solved or history[-1] <= tolerance or done >= limit:
                break
        while True:
            new = cone_projection(y - at_y / lipschitz, mu)
            d, at_new = new - y, slope(new)
            curvature, size = float(((at_new - at_y) * d).sum()), float((d * d).sum())
            if curvature <= lipschitz * size * (1.0 + ROUNDED):
                break
            lipschitz *= GROWTH
        following = 0.5 * (np.sqrt(theta**4 + 4.0 * theta**2) - theta**2)
        beta = theta * (1.0 - theta) / (theta**2 + following)
        if float(((y - new) * (new - f)).sum()) > 0.0:  # the momentum climbs
            beta, following = 0.0, 1.0
        y, at_y = new + beta * (new - f), at_new + beta * (at_new - u)
        f, u, theta, lipschitz, done = new, at_new, following, DECAY * lipschitz, done + 1
    status = Status.MAX_ITERATIONS
    if history[-1] <= tolerance:
        status = Status.CONVERGED
    elif solved:
        status = Status.RELAXED
    return Swept(f, status, done, np.array(history), ("convex relaxation",))


def cone_projection(f: np.ndarray, mu: np.ndarray) -> np.ndarray:
    """The forces (m, d) in the cones |f_t| <= mu f_n nearest to f."""
    size = np.linalg.norm(f[:, 1:], axis=1)
    normal = np.maximum((f[:, 0] + mu * size) / (1.0 + mu**2), 0.0)
    part = np.divide(mu * normal, size, out=np.zeros_like(size), where=size > 0.0)
    inside = size <= mu * f[:, 0]
    normal, part = np.where(inside, f[:, 0], normal), np.where(inside, 1.0, part)
    return np.column_stack([normal, part[:, None] * f[:, 1:]])
