"""The paper's method for compatible forces: an augmented Lagrangian around projected descent.

Solves eq. 36: for B (m, n), load F~ (n,), stiffness k (m,) > 0 and exponent p > 1,

    min over f >= 0 of  sum_i (p-1)/p k_i^(1/(1-p)) f_i^(p/(p-1))    subject to B^T f = F~.

Source: A. R. Conn, N. I. M. Gould, Ph. L. Toint, LANCELOT (1992), algorithm 14.4.2: minimize

    objective + u . (B^T f - F~) + rho/2 |B^T f - F~|^2    over f >= 0,

by the accelerated projected descent of ``dynamics.apgd``, loosely at first; then
u <- u + rho (B^T f - F~) if the balance has improved enough, or else a larger rho.

The multiplier u (n,) [m, rad] is the displacement of the truss: stationarity where f_i > 0 reads
k_i^(-1/(p-1)) f_i^(1/(p-1)) + (B u)_i = 0, that is f_i = k_i max(0, -(B u)_i)^(p-1), eq. 31.

Departures: the problem is made dimensionless with the largest load and the median stiffness; the
power term is minimized exactly contact by contact instead of by its gradient, whose derivative is
infinite at f_i = 0 for p > 2; balance gained counts against the last multiplier step.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..dynamics.apgd import Objective, minimize
from ..status import HasStatus, Status


@dataclass(frozen=True)
class Settings:
    """penalty: first rho, dimensionless: a softening of the balance as large as the contacts' own.
    growth, largest: what rho is multiplied by, and the largest that it becomes. required: factor by
    which the balance must improve in one outer step for rho to stay. excessive: a load counts as
    not carried if it would take this many times the forces at hand. patience: outer steps that do
    not halve the balance error before a solve counts as stalled. inner: part of the residual to
    which inner problems are solved, at the tightest ``inner_least`` of the tolerance.
    """

    penalty: float = 1.0
    growth: float = 4.0
    largest: float = 1e6
    required: float = 0.25
    excessive: float = 1e6
    patience: int = 20
    inner: float = 0.1
    inner_least: float = 0.5


@dataclass(frozen=True)
class AugmentedLagrangianResult(HasStatus):
    """force (m,) [N]; u (n,): the multiplier, with f = k max(0, -B u)^(p-1).

    residual: |B^T f - F~|_inf / |F~|_inf. compatibility: max |f - k max(0, -B u)^(p-1)| / max f.
    history (outer, 2): both after each outer step. iterations: descent steps; outer: multiplier
    steps. Converged when both are below the tolerance.
    """

    force: np.ndarray
    u: np.ndarray
    status: Status
    residual: float
    compatibility: float
    iterations: int
    outer: int
    tolerance: float
    history: np.ndarray


def solve(
    B: sp.csr_array,
    load: np.ndarray,
    stiffness: np.ndarray,
    exponent: float,
    *,
    tolerance: float = 1e-8,
    max_iterations: int = 200_000,
    warm_start: np.ndarray | None = None,
    settings: Settings = Settings(),
) -> AugmentedLagrangianResult:
    """Compatible forces of ``load`` (n,) [N, N m]. warm_start: u (n,) of an earlier solve."""
    B = sp.csr_array(B)
    m, n = B.shape
    F, k, p = np.asarray(load, float), np.asarray(stiffness, float), float(exponent)
    unit = float(np.abs(F).max(initial=0.0))
    if m == 0 or unit == 0.0:
        return _without_forces(m, n, unit, tolerance)
    typical = float(np.median(k))
    length = (unit / typical) ** (1.0 / (p - 1.0))  # u, at which the typical contact carries unit
    b, k = F / unit, k / typical
    compliance = k ** (-1.0 / (p - 1.0))
    BT = sp.csr_array(B.T)
    u = np.zeros(n) if warm_start is None else np.asarray(warm_start, float) / length
    f = _force_of(B, k, p, u)
    rho, lipschitz, status = settings.penalty, None, Status.MAX_ITERATIONS
    residual, target, done, history = 1.0, 1.0, 0, []
    while done < max_iterations:

        def compatibility(
            f: np.ndarray, _product: np.ndarray | None = None, u: np.ndarray = u, rho: float = rho
        ) -> float:
            after = u + rho * (BT @ f - b)
            return _relative(f - _force_of(B, k, p, after), f)

        # as tight as the balance calls for, and ever tighter where the balance does not improve
        target = max(settings.inner_least * tolerance, settings.inner * min(residual, target))
        objective = Objective(
            B,
            sp.csr_array(rho * B),
            B @ (u - rho * b),
            measure=compatibility,
            compliance=compliance,
            exponent=1.0 / (p - 1.0),
        )
        inner = minimize(
            objective,
            start=f,
            lipschitz=lipschitz,
            tolerance=target,
            max_iterations=max_iterations - done,
        )
        f, lipschitz = inner.force, inner.lipschitz
        done += inner.iterations
        c = BT @ f - b
        u = u + rho * c
        before, residual = residual, float(np.abs(c).max())
        history.append((residual, inner.residual))
        if residual <= tolerance and inner.residual <= tolerance:
            status = Status.CONVERGED
            break
        if residual > settings.required * before:
            if _not_carried(B, b, f, c, settings.excessive):
                status = Status.LOAD_NOT_CARRIED
                break
            if rho < settings.largest:
                rho, lipschitz = rho * settings.growth, lipschitz * settings.growth
        patience = settings.patience
        if len(history) > patience and residual > 0.5 * history[-patience][0]:
            status = Status.STALLED
            break
    residual, compatible = history[-1] if history else (np.inf, np.inf)
    return AugmentedLagrangianResult(
        force=f * unit,
        u=u * length,
        status=status,
        residual=residual,
        compatibility=compatible,
        iterations=done,
        outer=len(history),
        tolerance=tolerance,
        history=np.array(history).reshape(-1, 2),
    )


def _force_of(B, k, p, u):
    """f = k max(0, -B u)^(p-1), eq. 31."""
    return k * np.maximum(0.0, -(B @ u)) ** (p - 1.0)


def _relative(difference, f):
    """max |difference| / max f; 0 for 0/0."""
    worst = float(np.abs(difference).max())
    largest = float(f.max())
    return worst / largest if largest > 0 else (np.inf if worst > 0 else 0.0)


def _not_carried(B, b, f, c, excessive):
    """Whether the imbalance c proves that no moderate forces carry b (Farkas' lemma).

    B^T f = b with f >= 0 gives b.c = f.(B c) >= -sum(f) max(0, -B c): where b.c < 0 that requires
    a total force of at least |b.c| / max(0, -B c).
    """
    work = float(b @ c)
    pull = float(np.maximum(0.0, -(B @ c)).max())
    moderate = excessive * (float(f.sum()) + float(np.abs(b).sum()))
    return work < 0.0 and -work > moderate * pull


def _without_forces(m, n, unit, tolerance):
    """No load: nothing moves. No contacts: no load is carried."""
    status = Status.CONVERGED if unit == 0.0 else Status.LOAD_NOT_CARRIED
    residual = 0.0 if unit == 0.0 else 1.0
    return AugmentedLagrangianResult(
        force=np.zeros(m),
        u=np.zeros(n),
        status=status,
        residual=residual,
        compatibility=0.0,
        iterations=0,
        outer=0,
        tolerance=tolerance,
        history=np.zeros((0, 2)),
    )
