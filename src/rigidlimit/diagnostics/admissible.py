"""The set of admissible forces P = {f >= 0 : B^T f = F}: a point inside it, its spread, its width.

B (m, n): gap gradient with columns of order one; F (n,): load of order one.

``interior``: a force set in which every contact that can carry force does, by
``analytic_centre.py``. Where that does not end: starting from any admissible f, the contacts at
zero are given a force and the result is brought back to the nearest point of P, a no-tension
network with offset: f + delta at zeros, projected. It is g = f only if some motion u has B u = 0
where f > 0 and B u > 0 at the zeros, which by Farkas' lemma proves that those zeros are zero in all
of P; otherwise at least one is now positive, and a mean of all points found carries everything that
any of them does.

``free_part``: the projection of random forces on {z : B^T z = 0}. Contact i is determined if and
only if every such z has z_i = 0, which a random one shows with probability one.

``outer_bounds``: bounds of min and max f_i that hold whatever the rounding of the iteration, see
``force_bounds.py``.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from ..dynamics import newton as projection
from ..dynamics.problem import ContactProblem
from ..equilibrium import regularized_newton, smooth_newton
from ..equilibrium.smooth_law import SmoothNetwork
from ..linear import LinearStats, Network
from ..linear.stiffness import SETTINGS as LINEAR
from ..status import Status
from .analytic_centre import SETTINGS as CENTRE
from .analytic_centre import centre, threshold_of
from .force_bounds import SETTINGS as BOUNDS
from .force_bounds import end
from .tolerances import TOLERANCES

APART = 1e-5
"""Bound and force reached that are so far apart, over the largest force, are not the last word."""

REACH = 100.0
"""How far the target of a nearest point that has no force at a contact lies from the forces, over
the largest force."""


@dataclass(frozen=True)
class Interior:
    """force (m,): carries what can be carried; carries (m,) bool; rounds: steps of the path, or
    projections, made.

    threshold: part of the largest force above which a force is not zero. proven: the last round
    found nothing more that could carry.
    """

    force: np.ndarray
    carries: np.ndarray
    rounds: int
    status: Status
    residual: float
    threshold: float = CENTRE.carries
    proven: bool = True


def nearest(
    network: Network,
    load: np.ndarray,
    target: np.ndarray,
    *,
    tolerance: float = 1e-12,
    start: np.ndarray | None = None,
):
    """(f, equilibrium): the point of P nearest to ``target`` (m,). The equilibrium's residual is
    over the largest of ``target`` and 1."""
    m = network.B.shape[0]
    size = max(1.0, float(np.abs(target).max(initial=0.0)))
    problem = SmoothNetwork(network, np.ones(m), 2.0, load, offset=target)
    if len(load) <= LINEAR.direct_size:
        options = dict(tolerance=tolerance * size, max_iterations=300)
        answer = regularized_newton.solve(problem, start=start, **options)
        answer = replace(answer, residual=answer.residual / size)
    else:
        options = dict(tolerance=tolerance, scale=size, max_iterations=300)
        answer = smooth_newton.solve(problem, start=start, **options)
    return answer.force, answer


def interior(
    network: Network, load: np.ndarray, *, known: np.ndarray | None = None, max_rounds: int = 50
) -> Interior:
    """A point in the relative interior of P (see the header).

    known (m,): a point of P; the least forces that balance the load by default.
    """
    if known is None:
        known, answer = nearest(network, load, np.zeros(network.B.shape[0]))
        worst = answer.residual
        if not _good(answer):
            return Interior(known, known > 0, 0, answer.status, worst, proven=False)
    else:
        worst = float(np.abs(network.load_of(known) - load).max(initial=0.0))
    force, rounds, proven = known, 0, False
    found = centre(network, load, force) if force.any() else None
    if found is not None:
        force, carries, worst, rounds = found
        threshold = threshold_of(worst, float(force.max()))
        return Interior(force, carries, rounds, Status.CONVERGED, worst, threshold)
    while True:
        size = float(force.max(initial=0.0)) or 1.0
        threshold = threshold_of(worst, size)
        zero = force <= threshold * size
        if proven or rounds == max_rounds or not zero.any():
            break
        rounds += 1
        lifted, answer = nearest(network, load, np.where(zero, size, force))
        if not _good(answer):
            break
        worst = max(worst, answer.residual)
        # a lifted force that is zero again shows that it is zero everywhere (see the header)
        proven = not (lifted[zero] > threshold * size).any()
        if not proven:
            force = (rounds * force + lifted) / (rounds + 1)
    proven = proven or not zero.any()
    return Interior(force, ~zero, rounds, Status.CONVERGED, worst, threshold, proven)


def _good(answer):
    # near-degenerate networks stop at their rounding; the residual says how far that is
    return answer.status is Status.CONVERGED or answer.residual < TOLERANCES.balanced


def free_part(B: sp.csr_array) -> np.ndarray:
    """max over samples of |z|, (m,), z = w - B B^+ w for random w with entries of order one."""
    return np.abs(self_stresses(B)).max(axis=1, initial=0.0)


def self_stresses(B: sp.csr_array, *, samples: int = 2, seed: int = 0) -> np.ndarray:
    """Random z with B^T z = 0, (m, samples): w - B B^+ w for w with entries of order one."""
    m = B.shape[0]
    network = Network(B)
    system = network.system(np.ones(m), 1e-13)
    rng = np.random.default_rng(seed)
    found = np.zeros((m, samples))
    for k in range(samples):
        z = rng.choice([-1.0, 1.0], m) * rng.uniform(0.5, 1.0, m)
        for _ in range(2):  # a second pass takes out what the first left by rounding
            right = network.load_of(z)
            size = float(np.abs(right).max(initial=0.0))
            if size > 0:
                z = z - B @ system.solve(right, target=1e-9 * size, stats=LinearStats())
        found[:, k] = z
    return found


def opening_motion(network: Network) -> np.ndarray | None:
    """v (n,) with B v >= 1, the shortest; None if there is none (some forces balance alone)."""
    B = network.B
    m, n = B.shape
    one = sp.csr_array(sp.eye_array(n))
    problem = ContactProblem(B, one, one, -np.ones(m), np.zeros(n), 1.0)
    answer = projection.solve(problem, tolerance=1e-8, blocks=network.starts)
    v = answer.velocity
    least = float((B @ v).min())
    return v / least if np.isfinite(v).all() and least > 0.1 else None


def outer_bounds(
    network: Network,
    load: np.ndarray,
    inside: np.ndarray,
    contacts: np.ndarray,
    *,
    workers: int | None = None,
):
    """(intervals (len(contacts), 2) that contain the true ones, intervals reached by forces).

    inside (m,): a point of P, positive. workers: threads.
    """
    opening, _ = opening_motion(network), network.pairs  # before the threads
    workers = min(workers or min(4, os.cpu_count() or 1), max(1, len(contacts)))
    with ThreadPoolExecutor(workers) as pool:
        ends = list(pool.map(lambda i: _ends(network, load, inside, opening, int(i)), contacts))
    ends = np.array(ends).reshape(-1, 2, 2)
    return ends[:, 0], ends[:, 1]


def _ends(network, load, inside, opening, i):
    """((least, greatest) f_i from outside, the same as reached)."""
    size = float(inside.max(initial=0.0)) or 1.0

    def shifted(sign: float):
        """f_i of the point nearest to forces that are far off in f_i, if it is one of P."""
        target = inside.copy()
        target[i] += sign * REACH * size
        force, answer = nearest(network, load, target, tolerance=1e-11)
        balanced = answer.residual * np.abs(target).max() <= BOUNDS.sharp * size
        return float(force[i]) if balanced else inside[i]

    greatest, up = end(network, load, inside, opening, i, 1.0)
    if np.isfinite(greatest) and greatest - up > APART * max(size, greatest):
        up = max(up, min(shifted(1.0), greatest))
    # nearly all can be without force, which one nearest point shows
    least, down = 0.0, shifted(-1.0)
    if down > BOUNDS.sharp * size:
        bound, reached = end(network, load, inside, opening, i, -1.0)
        least, down = max(0.0, -bound), max(0.0, min(down, -reached))
    return (least, greatest), (down, up)
