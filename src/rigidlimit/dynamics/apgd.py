"""Accelerated projected gradient descent for contact dynamics, and for any problem of its kind.

Solves eq. 22, the quadratic program whose optimality conditions are eq. 21, in the more general
form that compatible forces need as well,

    min over f >= 0 of  1/2 f^T N f + c^T f + sum_i a_i/(e+1) f_i^(e+1),    N = B R^T (m, m),

with N symmetric and positive semidefinite, known by the rows of B (m, n) and R (m, n) only,
compliance a >= 0 (m,) and e > 0. Contact dynamics is R = dt B M^-1, c = p, a = 0.

Source: H. Mazhar, T. Heyn, D. Negrut, A. Tasora, Using Nesterov's method to accelerate multibody
dynamics with friction and contact, ACM Trans. Graph. 34(3):32 (2015), algorithm 1. Each step
descends from an extrapolated point y,

    f+ = prox(y - g(y) / (L h)),    y+ = f+ + beta (f+ - f),

with Nesterov's beta, the Lipschitz estimate L doubled until d^T N d <= L d^T H d, d = f+ - y, and
shrunk by a tenth after each step, momentum dropped when it climbs, and the best iterate kept.

Departures: the smooth part's curvature test uses d^T N d itself instead of a difference of
objectives, which would drown in rounding near the solution. prox is the projection max(0, .) for
a = 0; otherwise it solves the power term of each contact exactly, so that terms whose second
derivative is infinite at f_i = 0 (Hertz: e = 2/3) do no harm. The restart test uses the
generalized gradient h (y - f+), as for composite functions. H = diag(h) is the identity, or the
diagonal of N when scaled. The best iterate is looked for every few steps.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..status import Status
from .face import Face
from .gradient_steps import GradientSteps
from .problem import ContactDynamicsResult, ContactProblem


@dataclass(frozen=True)
class Settings:
    """stride: steps between two measurements of the residual. close, short: largest residual of a
    start over the tolerance for which so few steps may do. patience: steps without a smaller
    residual after which a solve has stalled. decade: that many without a digit gained; None: any.
    face_steps: conjugate gradients in between (``face.py``), where there is no compliance.
    """

    stride: int = 20
    close: float = 10.0
    short: int = 5
    patience: int = 2000
    decade: int | None = None
    face_steps: bool = False


@dataclass(frozen=True)
class Minimum:
    """Best iterate force (m,) of ``minimize`` with its residual, and how it was reached.

    history: residual at every measurement. products: products with N."""

    force: np.ndarray
    status: Status
    residual: float
    iterations: int
    products: int
    lipschitz: float
    history: np.ndarray


@dataclass(frozen=True)
class Objective:
    """1/2 f^T B R^T f + c^T f + sum a/(e+1) f^(e+1), for rows of B and R (m, n) and c (m,).

    measure(f, N f): the residual. compliance: a >= 0 (m,), 0 by default. exponent: e. metric: h > 0
    (m,), 1 by default. blocks: first column of each body, ending with n; faster products.
    """

    B: sp.csr_array
    R: sp.csr_array
    c: np.ndarray
    measure: Callable[[np.ndarray, np.ndarray], float]
    compliance: np.ndarray | None = None
    exponent: float = 1.0
    metric: np.ndarray | None = None
    blocks: np.ndarray | None = None


def minimize(
    objective: Objective,
    *,
    start: np.ndarray | None = None,
    lipschitz: float | None = None,
    tolerance: float,
    max_iterations: int,
    leave: Callable[[np.ndarray, int, float], bool] | None = None,
    settings: Settings = Settings(),
) -> Minimum:
    """Minimize over f >= 0 until the residual is below ``tolerance``.

    lipschitz: first guess of L. leave(f, iterations, residual): called at every measurement;
    True stops there.
    """
    descent = _Descent(objective, start, lipschitz, tolerance, max_iterations, settings)
    while not descent.over():
        if leave is not None and leave(descent.steps.x, descent.done, descent.residual):
            break
        if not descent.face_step():
            descent.gradient_steps()
    descent.clear()
    return descent.found()


class _Descent:
    """The steps so far: how many, the best iterate, and how fast the residual falls."""

    def __init__(self, objective, start, lipschitz, tolerance, max_iterations, settings):
        self.measure, self.settings = objective.measure, settings
        self.tolerance, self.max_iterations = tolerance, max_iterations
        B, m = objective.B, objective.B.shape[0]
        a, h = objective.compliance, objective.metric
        a = np.zeros(m) if a is None else np.asarray(a, float)
        h = np.ones(m) if h is None else np.asarray(h, float)
        x = np.zeros(m) if start is None else np.maximum(np.array(start, float), 0.0)
        law = objective.c, a, float(objective.exponent), h
        self.steps = GradientSteps(B, objective.R, *law, objective.blocks)
        self.steps.begin(x, lipschitz)
        face = self.steps.product, objective.c, objective.measure, h, B.shape[1]
        self.face = Face(*face) if settings.face_steps else None
        self.status, self.history, self.done = Status.MAX_ITERATIONS, [], 0
        self.best, self.best_force, self.bettered = np.inf, x.copy(), 0
        self.mark, self.marked = np.inf, 0  # residual, and steps, when a digit was last gained

    @property
    def residual(self) -> float:
        return self.history[-1]

    def over(self) -> bool:
        """Measure the residual, and whether to end here."""
        residual, settings = self.measure(self.steps.x, self.steps.Nx), self.settings
        self.history.append(residual)
        if residual < self.best:
            self.best, self.best_force, self.bettered = residual, self.steps.x.copy(), self.done
        if self.best <= 0.1 * self.mark:
            self.mark, self.marked = self.best, self.done
        slow = settings.decade is not None and self.done - self.marked >= settings.decade
        if residual <= self.tolerance:
            self.status = Status.CONVERGED
        elif slow or self.done - self.bettered > settings.patience:
            self.status = Status.STALLED
        return self.status is not Status.MAX_ITERATIONS or self.done >= self.max_iterations

    def gradient_steps(self) -> None:
        """A stride of them."""
        settings = self.settings
        near = not self.done and self.residual <= settings.close * self.tolerance
        count = min(settings.short if near else settings.stride, self.max_iterations - self.done)
        self.steps.take(count)
        self.done += count

    def face_step(self) -> bool:
        """Conjugate gradients on the active contacts, where these seem known; whether the
        residual is to be measured anew."""
        if self.face is None:
            return False
        x, residual = self.steps.x, self.residual
        bears = self.face.due(x, self.done, residual)
        if bears is None:
            return False
        limits = self.tolerance, self.done, self.max_iterations - self.done
        force, _, more, gained = self.face.attempt(bears, x, residual, *limits)
        self._count(more)
        if gained:
            self.steps.begin(force, self.steps.L)
        return gained

    def clear(self) -> None:
        """Clear forces that are rounding away (``Face.cleared``)."""
        if self.face is None or not self.done or self.status is not Status.CONVERGED:
            return
        left = self.max_iterations - self.done
        force, reached, more = self.face.cleared(self.best_force, self.tolerance, left)
        self._count(more)
        if reached <= self.tolerance:
            self.best, self.best_force = reached, force
            self.history.append(reached)

    def _count(self, more) -> None:
        self.steps.products += more
        self.done += more

    def found(self) -> Minimum:
        return Minimum(
            self.best_force,
            self.status,
            self.best,
            self.done,
            self.steps.products,
            self.steps.L,
            np.array(self.history),
        )


def solve(
    problem: ContactProblem,
    *,
    tolerance: float = 1e-10,
    max_iterations: int | None = None,
    warm_start: np.ndarray | None = None,
    scaled: bool = False,
    decade: int | None = None,
    blocks: np.ndarray | None = None,
    leave: Callable[[np.ndarray, int, float], bool] | None = None,
) -> ContactDynamicsResult:
    """Contact forces by accelerated projected gradient descent; ``iterations`` counts steps.

    scaled: measure steps in the norm of diag N, which helps where contacts move very unlike
    masses; False is the method of Mazhar et al. max_iterations: 50,000 by default. decade: see
    ``Settings``; blocks: see ``Objective``; leave: see ``minimize``.
    """
    objective = Objective(
        problem.B,
        problem.response,
        problem.p,
        measure=lambda f, Nf: problem.residual(f, Nf + problem.p),
        metric=problem.diagonal if scaled else None,
        blocks=blocks,
    )
    found = minimize(
        objective,
        start=warm_start,
        tolerance=tolerance,
        max_iterations=50_000 if max_iterations is None else max_iterations,
        leave=leave,
        settings=Settings(decade=decade, face_steps=scaled),
    )
    return ContactDynamicsResult(
        force=found.force,
        velocity=problem.velocity(found.force),
        slack=problem.slack(found.force),
        status=found.status,
        residual=found.residual,
        iterations=found.iterations,
        solver="apgd",
        tolerance=tolerance,
        history=found.history,
    )
