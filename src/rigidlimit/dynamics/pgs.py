"""Projected Gauss-Seidel for contact dynamics, with subspace minimization.

Solves eq. 21, 0 <= f _|_ N f + p >= 0, N = dt B M^-1 B^T (m, m), without ever forming N: a sweep
visits the contacts one after the other,

    f_i <- max(0, f_i - w_i / N_ii),    w_i = bias_i + (B v)_i,    v <- v + dt M^-1 B_i^T df_i,

as in the engines and in the paper's section 8. Each visit minimizes the energy of eq. 22,

    q(f) = 1/2 f^T N f + p^T f    [J/s scale: N m/s],

along one coordinate, so sweeps converge, but slowly: a sweep carries news across one contact.
Where contacts are redundant the force found depends on the order of the visits. That is the
weakness of classic contact dynamics that the library is about, so the order is an option.

Acceleration: J. L. Morales, J. Nocedal, M. Smelyanskiy, An algorithm for the fast solution of
symmetric linear complementarity problems, Numer. Math. 111 (2008) 251-266. After some sweeps the
loaded contacts A = {f_i > 0} are taken as the contacts that stay closed, N_AA s = -w_A is solved
for the correction s, and the answer is projected on f >= 0; a few rounds, then sweeps again.

Departures from that article: N_AA is singular where contacts are redundant, so its system is
solved by conjugate gradients from s = 0, which gives the correction of least size (in the norm of
diag N) and keeps the order dependence of the sweeps; the projected step must lower q, and is
shortened if it does not, so the combination converges wherever the sweeps do.
"""

from collections.abc import Callable, Sequence

import numpy as np
import scipy.sparse as sp
from numba import njit

from .._support.compiled import INNER
from ..status import Status
from .problem import ContactDynamicsResult, ContactProblem
from .visits import visits

ROUNDING = 4 * np.finfo(float).eps
"""A sweep that changes no force by more than this part of the largest has stalled."""

SUFFICIENT = 1e-4
"""Part of the slope's promise by which a subspace step must lower the energy q."""


@njit(cache=True)
def _sweep(order, matrices, diagonal, bias, f, v):
    """One Gauss-Seidel sweep over the contacts in this order; f and v are updated in place."""
    (Bp, Bj, Bx), (Rp, Rj, Rx) = matrices
    change = 0.0
    for i in order:
        w = bias[i]
        for a in range(Bp[i], Bp[i + 1]):
            w += Bx[a] * v[Bj[a]]
        new = max(0.0, f[i] - w / diagonal[i])
        df = new - f[i]
        if df != 0.0:
            f[i] = new
            for a in range(Rp[i], Rp[i + 1]):
                v[Rj[a]] += Rx[a] * df
            change = max(change, abs(df))
    return change


@njit(**INNER)
def _apply(rows, matrices, d, v, out):
    """out = N d restricted to ``rows``; v (n,) receives dt M^-1 B^T d."""
    (Bp, Bj, Bx), (Rp, Rj, Rx) = matrices
    v[:] = 0.0
    for i in rows:
        for a in range(Rp[i], Rp[i + 1]):
            v[Rj[a]] += Rx[a] * d[i]
    for i in rows:
        w = 0.0
        for a in range(Bp[i], Bp[i + 1]):
            w += Bx[a] * v[Bj[a]]
        out[i] = w


@njit(cache=True)
def _conjugate_gradients(rows, matrices, diagonal, w, target, max_steps, s, n):
    """Solve N_AA s = -w_A, A = rows, from s = 0, preconditioned by diag N; returns the steps.

    Stops at max |r_i| / N_ii <= target [N]. Singular but consistent systems are fine. Directions
    without stiffness (an inconsistent system: the guess of closed contacts was wrong) stop it.
    """
    m = len(w)
    r = np.zeros(m)
    d = np.zeros(m)
    Nd = np.zeros(m)
    v = np.zeros(n)
    rz = 0.0
    worst = 0.0
    for i in rows:
        s[i] = 0.0
        r[i] = -w[i]
        d[i] = r[i] / diagonal[i]
        rz += r[i] * d[i]
        worst = max(worst, abs(d[i]))
    first = rz
    steps = 0
    while worst > target and steps < max_steps:
        _apply(rows, matrices, d, v, Nd)
        curvature = 0.0
        size = 0.0
        for i in rows:
            curvature += d[i] * Nd[i]
            size += d[i] * d[i] * diagonal[i]
        if curvature <= 1e-14 * size:
            break
        alpha = rz / curvature
        before = rz
        rz = 0.0
        worst = 0.0
        for i in rows:
            s[i] += alpha * d[i]
            r[i] -= alpha * Nd[i]
            z = r[i] / diagonal[i]
            rz += r[i] * z
            worst = max(worst, abs(z))
        beta = rz / before
        for i in rows:
            d[i] = r[i] / diagonal[i] + beta * d[i]
        steps += 1
        if rz > 1e4 * first:
            break
    return steps


class _Network:
    """The arrays of a problem as the kernels take them."""

    def __init__(self, problem: ContactProblem):
        B, R = problem.B, problem.response
        self.problem = problem
        self.matrices = (B.indptr, B.indices, B.data), (R.indptr, R.indices, R.data)
        self.RT = sp.csr_array(R.T)
        # a contact that moves nothing has a zero row: dividing by inf leaves its force alone
        self.diagonal = np.where(abs(R).sum(axis=1) > 0, problem.diagonal, np.inf)

    def product(self, f: np.ndarray) -> np.ndarray:
        """N f, (m,) [m/s]."""
        return self.problem.B @ (self.RT @ f)

    def sweep(self, order: np.ndarray, f: np.ndarray, v: np.ndarray):
        return _sweep(order, self.matrices, self.diagonal, self.problem.bias, f, v)

    def correction(
        self, active: np.ndarray, w: np.ndarray, target: float
    ) -> tuple[np.ndarray, int]:
        """Least s with N_AA s = -w_A, zero elsewhere, and the conjugate gradient steps taken."""
        m, n = self.problem.B.shape
        s = np.zeros(m)
        steps = _conjugate_gradients(
            active, self.matrices, self.diagonal, w, target, 10 * n + 100, s, n
        )
        return s, steps


def solve(
    problem: ContactProblem,
    *,
    tolerance: float = 1e-10,
    max_iterations: int | None = None,
    warm_start: np.ndarray | None = None,
    order: str | Sequence[int] | np.ndarray = "natural",
    seed: int = 0,
    subspace: bool = True,
    sweeps: int = 10,
    rounds: int = 5,
    forcing: float = 0.1,
    callback: Callable[[int, float], None] | None = None,
) -> ContactDynamicsResult:
    """Contact forces by projected Gauss-Seidel; ``iterations`` counts sweeps.

    order: "natural", "reverse", "symmetric" (forth, then back), "random" (a new permutation each
    sweep, drawn from ``seed``) or a permutation of the contacts.
    subspace: False gives the plain method of the engines, which as a rule ends at
    ``max_iterations`` (default: 5,000 sweeps with the acceleration, 50,000 without).
    sweeps: between two subspace phases; the residual is measured as often. rounds: subspace
    steps in a phase. forcing: by how much conjugate gradients reduce w on the loaded contacts.
    callback(sweeps made, residual): called at every measurement.
    """
    m = problem.B.shape[0]
    sequence = visits(order, seed, m)
    if max_iterations is None:
        max_iterations = 5_000 if subspace else 50_000
    network = _Network(problem)
    f = np.zeros(m) if warm_start is None else problem.project(np.array(warm_start, float))
    f[np.isinf(network.diagonal)] = 0.0
    history, iterations, linear, change = [], 0, 0, np.inf
    best, best_force, status = np.inf, f, Status.MAX_ITERATIONS
    while True:
        v = problem.free_velocity + network.RT @ f
        w = problem.bias + problem.B @ v
        residual = problem.residual(f, w)
        history.append(residual)
        if callback is not None:
            callback(iterations, residual)
        if residual < best:
            best, best_force = residual, f.copy()
        if residual <= tolerance:
            status = Status.CONVERGED
        elif change <= ROUNDING * np.abs(f).max(initial=0.0):
            status = Status.STALLED
        if status is not Status.MAX_ITERATIONS or iterations >= max_iterations:
            break
        if subspace and iterations:
            f, steps = _subspace_phase(network, f, w, rounds, forcing, 0.1 * tolerance)
            v = problem.free_velocity + network.RT @ f
            linear += steps
        for _ in range(min(sweeps, max_iterations - iterations)):
            change = network.sweep(next(sequence), f, v)
            iterations += 1
    return ContactDynamicsResult(
        force=best_force,
        velocity=problem.velocity(best_force),
        slack=problem.slack(best_force),
        status=status,
        residual=best,
        iterations=iterations,
        solver="pgs",
        tolerance=tolerance,
        history=np.array(history),
        linear_iterations=linear,
    )


def _subspace_phase(network, f, w, rounds, forcing, floor):
    """Corrections on the loaded contacts until none of them opens, at most ``rounds``."""
    problem, linear = network.problem, 0
    for _ in range(rounds):
        active = np.flatnonzero(f > 0)
        error = float(np.abs(w[active] / network.diagonal[active]).max(initial=0.0))
        target = max(forcing * error, floor * problem.scale)
        if error <= target:
            break
        s, steps = network.correction(active, w, target)
        linear += steps
        step, dw = _projected_step(network, f, w, s)
        if step is None:
            break
        opened = ((f + step <= 0) & (f > 0)).any()
        f, w = f + step, w + dw
        if not opened:
            break
    return f, linear


def _projected_step(network, f, w, s):
    """The step max(0, f + t s) - f that lowers q, with N times it; (None, None) if none does.

    q is compared by differences, w^T d + 1/2 d^T N d, which do not cancel as energies would.
    """
    shrinking = s < 0
    boundary = float((f[shrinking] / -s[shrinking]).min(initial=1.0))
    for t in (1.0, 0.5, 0.25, 0.125, boundary):
        d = np.maximum(f + t * s, 0.0) - f
        Nd = network.product(d)
        slope = float(w @ d)
        if slope < 0 and slope + 0.5 * float(d @ Nd) <= SUFFICIENT * slope:
            return d, Nd
    return None, None
