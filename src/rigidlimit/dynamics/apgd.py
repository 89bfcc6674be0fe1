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
from numba import njit

from ..status import Status
from .problem import ContactDynamicsResult, ContactProblem
from .rows import product, rows_of

STRIDE = 20
"""Steps between two measurements of the residual."""

PATIENCE = 100
"""Measurements without a smaller residual after which a solve counts as stalled."""


@njit(cache=True)
def _prox(z, a, e, weight):
    """Minimizer over x >= 0 of weight/2 (x - z)^2 + a/(e+1) x^(e+1), by Newton's method from the
    side on which the equation is monotone and convex."""
    if z <= 0.0 or a == 0.0:
        return max(0.0, z)
    if e == 1.0:
        return z / (1.0 + a / weight)
    b = a / weight  # solve b x^e + x = z
    if e > 1.0:
        x = min(z, (z / b) ** (1.0 / e))
        for _ in range(60):
            power = b * x ** (e - 1.0)
            dx = (power * x + x - z) / (e * power + 1.0)
            x -= dx
            if abs(dx) <= 1e-15 * x:
                break
        return x
    q = 1.0 / e  # in s = x^e: b s + s^q = z
    s = min(z**e, z / b)
    for _ in range(60):
        power = s ** (q - 1.0)
        ds = (b * s + power * s - z) / (b + q * power)
        s -= ds
        if abs(ds) <= 1e-15 * s:
            break
    return s**q


@njit(cache=True, fastmath={"reassoc", "contract", "nsz"})
def _towards(y, Ny, c, a, e, h, L, plain, new, d):
    """new = prox(y - g(y) / (L h)), d = new - y; returns d^T H d."""
    size = 0.0
    if plain:
        for i in range(len(y)):
            new[i] = max(0.0, y[i] - (c[i] + Ny[i]) / (L * h[i]))
            d[i] = new[i] - y[i]
            size += d[i] * d[i] * h[i]
    else:
        for i in range(len(y)):
            weight = L * h[i]
            new[i] = _prox(y[i] - (c[i] + Ny[i]) / weight, a[i], e, weight)
            d[i] = new[i] - y[i]
            size += d[i] * d[i] * h[i]
    return size


@njit(cache=True, fastmath={"reassoc", "contract", "nsz"})
def _judge(d, Nd, h, new, x):
    """(d^T N d, generalized gradient times the step from x): curvature and climb."""
    curvature = 0.0
    climb = 0.0
    for i in range(len(d)):
        curvature += d[i] * Nd[i]
        climb -= h[i] * d[i] * (new[i] - x[i])
    return curvature, climb


@njit(cache=True)
def _advance(beta, new, Nd, x, y, Nx, Ny):
    """x = new and y = new + beta (new - old x), with their products."""
    for i in range(len(x)):
        Nnew = Ny[i] + Nd[i]
        y[i] = new[i] + beta * (new[i] - x[i])
        Ny[i] = Nnew + beta * (Nnew - Nx[i])
        x[i] = new[i]
        Nx[i] = Nnew


@njit(cache=True)
def _descend(steps, B, R, c, a, e, h, x, y, Nx, Ny, momentum, L, v):
    """``steps`` accelerated steps in place on x, y, N x, N y; returns momentum theta, L, and the
    products with N that were needed. B, R: ``rows``; v is work space."""
    m = len(x)
    new = np.empty(m)
    d = np.empty(m)
    Nd = np.empty(m)
    theta = momentum
    products = 0
    plain = not a.any()
    for _ in range(steps):
        while True:
            size = _towards(y, Ny, c, a, e, h, L, plain, new, d)
            product(B, R, d, v, Nd)
            curvature, climb = _judge(d, Nd, h, new, x)
            products += 1
            if not curvature > L * size * (1.0 + 1e-12):  # also leaves on NaN
                break
            L *= 2.0
        following = 0.5 * theta * (np.sqrt(theta * theta + 4.0) - theta)
        beta = theta * (1.0 - theta) / (theta * theta + following)
        if climb > 0.0:
            beta = 0.0
            following = 1.0
        _advance(beta, new, Nd, x, y, Nx, Ny)
        theta = following
        L *= 0.9
    return theta, L, products


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
    stride: int = STRIDE,
    decade: int | None = None,
    blocks: np.ndarray | None = None,
    leave: Callable[[np.ndarray, int, float], bool] | None = None,
) -> Minimum:
    """Minimize 1/2 f^T B R^T f + c^T f + sum a/(e+1) f^(e+1) over f >= 0.

    measure(f, N f): the residual to bring below ``tolerance``. compliance: a (m,), 0 by default.
    exponent: e. metric: h (m,) > 0, 1 by default. lipschitz: first guess of L. decade: stop as
    stalled when this many steps have not brought the residual down to a tenth. blocks: first
    column of each body, ending with n; faster products. leave(f, iterations, residual): asked at
    every measurement whether to stop there.
    """
    m = B.shape[0]
    a = np.zeros(m) if compliance is None else np.asarray(compliance, float)
    h = np.ones(m) if metric is None else np.asarray(metric, float)
    x = np.zeros(m) if start is None else np.maximum(np.array(start, float), 0.0)
    B_rows, shape = rows_of(B, blocks)
    R_rows, same = rows_of(R, blocks)
    if same != shape:
        (B_rows, shape), (R_rows, _) = rows_of(B), rows_of(R)
    work = np.zeros(shape)

    def N(f):
        out = np.empty(m)
        product(B_rows, R_rows, f, work, out)
        return out

    Nx = N(x)
    y, Ny = x.copy(), Nx.copy()
    theta, L = 1.0, lipschitz or _first_lipschitz(N, h)
    best, best_force, waited = np.inf, x.copy(), 0
    history, done, products = [], 0, 0
    mark, marked = np.inf, 0
    status = Status.MAX_ITERATIONS
    while True:
        residual = measure(x, Nx)
        history.append(residual)
        waited += 1
        if residual < best:
            best, best_force, waited = residual, x.copy(), 0
        if best <= 0.1 * mark:
            mark, marked = best, done
        if residual <= tolerance:
            status = Status.CONVERGED
        elif waited > PATIENCE or (decade is not None and done - marked >= decade):
            status = Status.STALLED
        if status is not Status.MAX_ITERATIONS or done >= max_iterations:
            break
        if leave is not None and leave(x, done, residual):
            break
        steps = min(stride, max_iterations - done)
        theta, L, used = _descend(
            steps, B_rows, R_rows, c, a, float(exponent), h, x, y, Nx, Ny, theta, L, work
        )
        done += steps
        products += used
        # the running sums collect rounding; both are renewed, since an error in only one grows
        Nx, Ny = N(x), N(y)
    return Minimum(best_force, status, best, done, products, L, np.array(history))


def _first_lipschitz(N, h):
    """Rayleigh quotient of N against H at the vector of ones, as Mazhar et al. start."""
    guess = float(np.linalg.norm(N(np.ones(len(h))) / h) / np.sqrt(max(len(h), 1)))
    return guess if guess > 0 else 1.0


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
