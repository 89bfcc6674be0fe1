"""Equilibrium of a no-tension network: semismooth Newton with a line search on the slope.

    min over x of  E(x) = sum_i k_i/p max(0, c_i)^p + F . x,     c = s - B x

Contact i is a spring that resists closing: its overlap c_i [m] gives the force
f_i = k_i max(0, c_i)^(p-1) (eqs 28, 31). E is convex and once differentiable (p > 1) with

    grad E = F - B^T f(c),        Hessian = B^T D B,   D_i = (p-1) k_i max(0, c_i)^(p-2).

With s = 0 this is eq. 32, the dual of eq. 36. (The load's sign there: stationarity must give
B^T f = F~, so F = F~ for c = -B x.) The Hessian is singular wherever bodies float; a proximal term
that vanishes with the residual keeps the iteration quadratic. For p < 2 it has no bound, and the
central path is the way (``central_path.py``).
"""

from dataclasses import dataclass

import numpy as np

from ..linear import LinearStats, Network
from ..status import Status
from .law import forces_of, stretch_to_law, tangents
from .line_search import dot, minimum

LOOSE = 0.1
"""Part of the slope that line searches leave."""

FORCING = 0.1
"""Relative accuracy of the first linear solves; looser ones cost Newton steps."""

PATIENCE = 60
"""Newton steps without a smaller gradient before a solve counts as stalled."""

NEAR = 1e-6
"""Residual from which on rounding may be what keeps a solve from its end."""

TINY, HELD = 1e-3, 2
"""Part of Newton's step that leads nowhere, and how many such steps near the end show that contacts
which carry next to nothing stand in each other's way."""

FAR, REBOUNDS = 100.0, 6
"""Once the residual has been below NEAR, Newton steps to FAR times the smallest one after which a
solve counts as stalled: contacts that carry next to nothing open and close a few at a time."""


@dataclass(frozen=True)
class Equilibrium:
    """x (n,), overlap c (m,), force f (m,), residual |grad E| / scale with its history.

    held: whether it stalled because contacts that carry next to nothing allow no step.
    """

    x: np.ndarray
    overlap: np.ndarray
    force: np.ndarray
    status: Status
    residual: float
    iterations: int
    history: np.ndarray
    held: bool = False


def equilibrium(
    network: Network,
    stiffness: np.ndarray,
    exponent: float,
    *,
    load: np.ndarray,
    offset: np.ndarray | None = None,
    start: np.ndarray | None = None,
    tolerance: float = 1e-10,
    scale: float | None = None,
    max_iterations: int = 100,
    stats: LinearStats | None = None,
    rate: float = 1.0,
    leave=None,
    let_be: float = 0.0,
) -> Equilibrium:
    """Minimize E(x); stops at |grad E|_inf <= tolerance * scale (scale: max |load| by default), or
    where ``leave()`` says that another way is better.

    rate: linear systems are solved to that power of the residual; less where they are dear and
    contacts still change near the end. let_be: part of the tolerance that is not asked for where a
    solve begins near its end: what hardly anything holds, as blocks along their beds, would be
    thrown far for it, against others.

    Status LOAD_NOT_CARRIED: E has no minimum as far as the line search could see.
    """
    B, k, p = network.B, stiffness, float(exponent)
    m, n = B.shape
    s = np.zeros(m) if offset is None else offset
    F = load
    stats = LinearStats() if stats is None else stats
    scale = float(np.abs(F).max(initial=0.0)) if scale is None else scale
    x = np.zeros(n) if start is None else start.copy()
    history = []
    status = Status.MAX_ITERATIONS
    best, waited, rebounds = np.inf, 0, 0
    tiny = 0  # steps in a row that led nowhere

    def gradient(f):
        return F - network.carried(f)

    c = s - B @ x
    f = forces_of(c, k, p)
    g = gradient(f)
    for iteration in range(max_iterations + 1):
        size = float(np.abs(g).max(initial=0.0))
        residual = size / scale if scale > 0 else (0.0 if size == 0 else np.inf)
        history.append(residual)
        if residual <= tolerance:
            status = Status.CONVERGED
            break
        if size < 0.9 * best:
            best, waited = size, 0
        else:
            waited += 1
            rebounds += best < NEAR * scale and size > FAR * best
            # the gradient may rise while the energy falls; only near rounding is waiting in vain
            patience = 12 if residual < NEAR else PATIENCE
            if waited > patience or rebounds > REBOUNDS or tiny >= HELD:
                status = Status.STALLED
                break
        if iteration == max_iterations or (leave is not None and leave()):
            break

        cold = iteration == 0 and not (c > 0).any()
        if cold:
            # nothing is closed yet: take every contact as a linear spring of its stiffness
            D = k.astype(float)
        else:
            closed = c[c > 0]
            floor = 1e-8 * closed.max() if len(closed) else 1.0
            D = tangents(c, k, p, floor)
        mean = float(D.max(initial=0.0)) or 1.0
        shift = mean * min(1e-4, max(1e-12, 1e-3 * residual))
        forcing = max(min(FORCING, residual**rate), 0.05 * tolerance / residual)
        system = network.system(D, shift)
        rhs = -g
        if let_be and history[0] <= NEAR:
            rhs = np.copysign(np.maximum(np.abs(g) - let_be * tolerance * scale, 0.0), rhs)
        d = system.solve(rhs, target=forcing * size, stats=stats)
        dc = -(B @ d)
        if cold and p != 2.0:
            # turn the linear springs' answer into overlaps of the power law's size
            ratio = stretch_to_law(dc, k, p)
            d, dc = d * ratio, dc * ratio
        t = minimum(c, dc, f, k, p, dot(g, d), LOOSE)
        if t < 0.0:
            status = Status.LOAD_NOT_CARRIED
            break
        # near the solution the slope is rounding: the full Newton step is then the best there is
        full = x + d
        c_full = s - B @ full
        f_full = forces_of(c_full, k, p)
        g_full = gradient(f_full)
        if t == 1.0 or np.abs(g_full).max() <= 0.5 * size:
            x, c, f, g = full, c_full, f_full, g_full
            tiny = 0
        else:
            tiny = tiny + 1 if t < TINY and residual < NEAR else 0
            x = x + t * d
            c = s - B @ x
            f = forces_of(c, k, p)
            g = gradient(f)
    steps = len(history) - 1
    held = status is Status.STALLED and tiny >= HELD
    return Equilibrium(x, c, f, status, residual, steps, np.array(history), held)
