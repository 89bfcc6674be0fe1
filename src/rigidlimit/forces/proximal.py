"""Compatible forces for 1 < p < 2 where all else fails: springs in series, and their yield undone.

For 1 < p < 2 a contact is infinitely stiff as it closes. A linear spring in series with every
contact bounds the stiffness, and its yield is taken out again by the proximal point iteration on
the forces,

    f+ = forces of the network with overlap law (f/k)^(1/(p-1)) + (f - f_before)/series = -B u,

whose fixed point has no trace of the spring.
"""

from dataclasses import dataclass

import numpy as np

from ..network import equilibrium
from ..network.equilibrium import NEAR
from ..network.stiffness import LinearStats
from ..status import Status

STIFFER = 3
"""Series springs tried at rounding level without gain after which the iteration has stalled."""


@dataclass(frozen=True)
class Proximal:
    """Where the iteration ended, or its best: u (n,), force (m,), residuals of its rounds."""

    u: np.ndarray
    force: np.ndarray
    status: Status
    iterations: int
    history: np.ndarray


def solve(
    network,
    load,
    stiffness,
    exponent,
    *,
    tolerance,
    max_iterations,
    stats: LinearStats,
    offset=None,
) -> Proximal:
    """The iteration, started from linear springs; arguments as of ``newton.solve``."""
    answer = equilibrium(
        network,
        stiffness,
        2.0,
        load=load,
        offset=offset,
        tolerance=1e-3,
        scale=1.0,
        max_iterations=max_iterations,
        stats=stats,
    )
    u, force = answer.x, answer.force
    iterations, history = answer.iterations, [np.inf]
    if answer.status is not Status.CONVERGED:
        return Proximal(u, force, answer.status, iterations, answer.history)
    q = 1.0 / (exponent - 1.0)
    size = force.max() or 1.0
    tangent = np.median(stiffness) ** q * size ** (1 - q) / q  # df/dc at the largest force
    if not 0.0 < tangent < np.inf:  # p so near 1 that a contact is all or nothing
        return Proximal(u, force, Status.STALLED, iterations, answer.history)
    series = 10.0 * tangent
    best, least, waited = (u, force), np.inf, 0
    status = Status.MAX_ITERATIONS
    while iterations < max_iterations:
        answer = equilibrium(
            network,
            stiffness,
            exponent,
            load=load,
            offset=force / series if offset is None else force / series + offset,
            start=u,
            scale=1.0,
            series=series,
            tolerance=max(0.1 * tolerance, min(1e-3, 0.1 * history[-1])),
            max_iterations=max_iterations - iterations,
            stats=stats,
        )
        iterations += max(1, answer.iterations)
        u = answer.x
        change = np.abs(answer.force - force).max() / size
        force = answer.force
        # both must vanish: imbalance, and the force still held back by the series springs
        history.append(max(answer.residual, change))
        waited += 1
        if history[-1] < least:
            best, least, waited = (u, force), history[-1], 0
        if answer.status is Status.LOAD_NOT_CARRIED:
            return Proximal(u, force, answer.status, iterations, np.array(history[1:]))
        if least <= tolerance:
            status = Status.CONVERGED
        elif waited > STIFFER and least < NEAR:
            status = Status.STALLED  # stiffer springs only raise the rounding from here on
        if status is not Status.MAX_ITERATIONS:
            break
        if history[-1] > 0.2 * history[-2]:
            series *= 3.0
    return Proximal(*best, status, iterations, np.array(history[1:]))
