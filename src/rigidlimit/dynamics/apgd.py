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

STRIDE = 20
"""Steps between two measurements of the residual."""

CLOSE, SHORT = 10.0, 5
"""Residual of a start over the tolerance up to which so many steps may do."""

PATIENCE = 2000
"""Steps without a smaller residual after which a solve counts as stalled."""


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


def minimize(
    B: sp.csr_array,
    R: sp.csr_array,
    c: np.ndarray,
    *,
    measure: Callable[[np.ndarray, np.ndarray], float],
    compliance: np.ndarray | None = None,
    exponent: float = 1.0,
    metric: np.ndarray | None = None,
    start: np.ndarray | None = None,
    lipschitz: float | None = None,
    tolerance: float,
    max_iterations: int,
    decade: int | None = None,
    blocks: np.ndarray | None = None,
    leave: Callable[[np.ndarray, int, float], bool] | None = None,
    faces: bool = False,
) -> Minimum:
    """Minimize 1/2 f^T B R^T f + c^T f + sum a/(e+1) f^(e+1) over f >= 0.

    measure(f, N f): the residual to bring below ``tolerance``. compliance: a (m,), 0 by default.
    exponent: e. metric: h (m,) > 0, 1 by default. lipschitz: first guess of L. decade: stop as
    stalled when this many steps have not brought the residual down to a tenth. blocks: first
    column of each body, ending with n; faster products. leave(f, iterations, residual): asked at
    every measurement whether to stop there. faces: with conjugate gradients in between, for a = 0.
    """
    m = B.shape[0]
    a = np.zeros(m) if compliance is None else np.asarray(compliance, float)
    h = np.ones(m) if metric is None else np.asarray(metric, float)
    x = np.zeros(m) if start is None else np.maximum(np.array(start, float), 0.0)
    steps = GradientSteps(B, R, c, a, float(exponent), h, blocks)
    steps.begin(x, lipschitz)
    face = Face(steps.product, c, measure, h, B.shape[1]) if faces else None
    best, best_force, bettered = np.inf, x.copy(), 0
    history, done = [], 0
    mark, marked = np.inf, 0
    status = Status.MAX_ITERATIONS
    while True:
        residual = measure(steps.x, steps.Nx)
        history.append(residual)
        if residual < best:
            best, best_force, bettered = residual, steps.x.copy(), done
        if best <= 0.1 * mark:
            mark, marked = best, done
        if residual <= tolerance:
            status = Status.CONVERGED
        elif done - bettered > PATIENCE or (decade is not None and done - marked >= decade):
            status = Status.STALLED
        if status is not Status.MAX_ITERATIONS or done >= max_iterations:
            break
        if leave is not None and leave(steps.x, done, residual):
            break
        bears = None if face is None else face.due(steps.x, done, residual)
        if bears is not None:
            force, reached, more, gained = face.attempt(
                bears, steps.x, residual, tolerance, done, max_iterations - done
            )
            steps.products += more
            done += more
            if gained:
                steps.begin(force, steps.L)
                continue
        count = STRIDE if done or residual > CLOSE * tolerance else SHORT
        count = min(count, max_iterations - done)
        steps.take(count)
        done += count
    if face is not None and done and status is Status.CONVERGED:
        force, reached, more = face.cleared(best_force, tolerance, max_iterations - done)
        steps.products += more
        done += more
        if reached <= tolerance:
            best, best_force = reached, force
            history.append(best)
    return Minimum(best_force, status, best, done, steps.products, steps.L, np.array(history))


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
    masses; False is the method of Mazhar et al. max_iterations: 50,000 by default. decade,
    blocks: see ``minimize``.
    """
    R = problem.response
    found = minimize(
        problem.B,
        R,
        problem.p,
        measure=lambda f, Nf: problem.residual(f, Nf + problem.p),
        metric=problem.diagonal if scaled else None,
        start=warm_start,
        tolerance=tolerance,
        max_iterations=50_000 if max_iterations is None else max_iterations,
        decade=decade,
        blocks=blocks,
        leave=leave,
        faces=scaled,
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
