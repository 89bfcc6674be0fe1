"""Newton-type solver for eq. 22: method of multipliers around the no-tension network.

With x = v+ - v_free and impulses l = dt f, eq. 22 is the projection of v_free onto the velocities
that do not close a gap further than it is open,

    min over x of 1/2 x^T M x   subject to   p + B x >= 0,

whose multipliers are the impulses. Each outer iteration lets every contact yield a little: a
spring of stiffness r_i = sigma / (B M^-1 B^T)_ii preloaded with the present impulse,

    x, l+ = equilibrium of  M x = B^T l+,   l+ = max(0, l - r (p + B x)),

the network of ``network/equilibrium.py``. Its fixed points solve eq. 21 whatever sigma is. sigma
starts at 1, where networks are easy, and grows while that pays: a large one at once leaves Newton
in the wrong active set on random states. Rounding enters l times sigma, hence a cap and the way
back down. Each inner problem is solved to a fraction of the outer residual only. Nearly dependent
contacts can keep rounding above the tolerance; Gauss-Seidel with its subspace step then finishes
from the best forces.

Accelerated projected gradient steps open as long as they pay: a few hundred products find most of
the contacts that bear, and in packings often the answer. Where no more contacts bear than there are
degrees of freedom, the last digits come from one factorization (``active_set.py``). Newton takes
over where gradient steps slow down (long chains, unlike masses).
"""

import numpy as np
import scipy.sparse as sp

from ..network import Network, column_arms, equilibrium
from ..network.stiffness import DIRECT_LIMIT, LinearStats
from ..status import Status
from . import active_set, apgd, least_distance, pgs
from .problem import ContactDynamicsResult, ContactProblem

OPENING_DECADE = 1000
"""Projected gradient steps that must gain a digit in problems of up to OPENING_SIZE unknowns; in
larger ones more are allowed, as the square root of the size."""

BEARING = 1e-5
"""Residual at which gradient steps have found nearly all contacts that bear."""

OPENING_SIZE = 6000

SIGMA_CAP = 1e5
"""Largest spring stiffness over effective mass; rounding of l is about 1e-16 sigma."""


def solve(
    problem: ContactProblem,
    *,
    tolerance: float = 1e-10,
    max_iterations: int = 5000,
    warm_start: np.ndarray | None = None,
    blocks: np.ndarray | None = None,
    opening: bool = True,
) -> ContactDynamicsResult:
    """Solve eq. 21 to ``tolerance``. max_iterations bounds the Newton systems in all.

    warm_start (m,) [N]: forces to begin with. blocks: see ``Network``. opening: whether gradient
    steps go first. ``iterations`` of the answer counts gradient steps and Newton systems.
    """
    B, dt = problem.B, problem.dt
    m, n = B.shape
    # rotations measured by the way of their longest arm, so that momenta compare with momenta
    arm, _ = column_arms(B)
    inverse = sp.diags_array(1 / arm)
    network = Network(
        sp.csr_array(B @ inverse),
        mass=sp.csr_array(inverse @ problem.mass @ inverse),
        blocks=blocks,
    )
    effective_mass = dt / problem.diagonal
    force = np.zeros(m) if warm_start is None else problem.project(warm_start)
    gradient_steps = newton_steps = 0
    stats = LinearStats()
    if opening:
        force, reached, gradient_steps = _open(problem, max(BEARING, tolerance), force, blocks)
        if active_set.pays(problem, force, gradient_steps, reached, tolerance):
            force, reached, newton_steps = active_set.finish(
                problem, network, force, tolerance=tolerance, stats=stats
            )
        if tolerance < reached <= BEARING:
            force, reached, more = _open(problem, tolerance, force, blocks)
            gradient_steps += more
    impulse = dt * force
    x = arm * (problem.response.T @ force)
    residual = problem.residual(force)
    history = [residual]
    status = Status.MAX_ITERATIONS
    best_force, best = force, residual
    # the warmer the start, the stiffer the first network may be
    sigma = float(np.clip(1.0 / max(residual, 1e-300), 1.0, 1e3))
    waited = 0
    while residual > tolerance and newton_steps < max_iterations:
        stiffness = sigma * effective_mass
        network_answer = equilibrium(
            network,
            stiffness,
            2.0,
            load=np.zeros(n),
            offset=impulse / stiffness - problem.p,
            start=x,
            tolerance=max(0.3 * residual, 0.1 * tolerance),
            scale=problem.scale * dt,
            max_iterations=min(300, max_iterations - newton_steps),
            stats=stats,
        )
        newton_steps += max(1, network_answer.iterations)
        impulse, x = network_answer.force, network_answer.x
        force = impulse / dt
        before, residual = residual, problem.residual(force)
        history.append(residual)
        if residual < best:
            waited = 0
            best_force, best = force, residual
        else:
            waited += 1
            if waited > 12:
                status = Status.STALLED
                break
        if residual > 1.5 * before:
            sigma = max(0.1 * sigma, 1.0)
        elif residual > 0.1 * before:
            sigma = min(3.0 * sigma, SIGMA_CAP)

    def finish(force):
        nonlocal best_force, best, newton_steps
        force, residual, rounds = active_set.finish(
            problem, network, force, tolerance=tolerance, stats=stats
        )
        newton_steps += rounds
        history.append(residual)
        if residual < best:
            best_force, best = force, residual

    if best > tolerance and n <= DIRECT_LIMIT:
        finish(best_force)
    if best > tolerance and least_distance.applies(problem):
        exact = least_distance.solve(problem)
        if exact is not None:
            finish(exact)
    if best > tolerance and status is Status.STALLED:
        finish = pgs.solve(problem, tolerance=tolerance, max_iterations=500, warm_start=best_force)
        stats.products += finish.linear_iterations
        history.append(finish.residual)
        if finish.residual < best:
            best_force, best = finish.force, finish.residual
    if best <= tolerance:
        status = Status.CONVERGED
    return ContactDynamicsResult(
        force=best_force,
        velocity=problem.velocity(best_force),
        slack=problem.slack(best_force),
        status=status,
        residual=best,
        iterations=gradient_steps + newton_steps,
        solver="newton",
        tolerance=tolerance,
        history=np.array(history),
        linear_iterations=stats.products,
        factorizations=stats.factorizations,
    )


def _open(problem: ContactProblem, tolerance, force, blocks):
    """(forces, residual, steps) of gradient descent, as long as it gains a digit now and then."""
    n = problem.B.shape[1]
    answer = apgd.solve(
        problem,
        tolerance=tolerance,
        warm_start=force,
        scaled=True,
        decade=int(OPENING_DECADE * max(1.0, n / OPENING_SIZE) ** 0.5),
        blocks=blocks,
    )
    return answer.force, answer.residual, answer.iterations
