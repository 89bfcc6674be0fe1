"""Compatible forces by the dual of eq. 36: Newton on the no-tension network.

Packings in which hardly more contacts are closed than the load determines are settled among forces
(``active_set.py``). Otherwise one equilibrium of ``network/equilibrium.py``; the starts are tried
in turn until one converges:

- from admissible forces with no more contacts bearing than there are degrees of freedom: those
  contacts as linear springs. Such packings are nearly determinate, and the answer is near;
- from the displacement of an earlier answer;
- cold: every contact a linear spring;
- from the central path (``network/central_path.py``), which always gets there but costs about
  three times as much. It goes first where stiffnesses are very unlike, and for p < 2.

Newton may fail even from there: for 1 < p < 2 a contact is infinitely stiff as it closes; and in
walls of blocks that touch side by side, rounding of the load is all that their sides carry, 1e-10
of the forces in the beds, and Newton closes a few of them a step. Then the central path is followed
to its end and its forces are balanced. Where rounding stops that too, a linear spring is put in
series with every contact and its yield taken out again by the proximal
point iteration on the forces,

    f+ = forces of the network with overlap law (f/k)^(1/(p-1)) + (f - f_before)/series = -B u,

whose fixed point has no trace of the spring. Where no attempt converges, the best is returned.
"""

import numpy as np

from ..errors import NoRoom
from ..network import Network, equilibrium
from ..network.central_path import follow
from ..network.price import affordable
from ..network.stiffness import DIRECT_SIZE, LinearStats, StiffnessSystem
from ..status import Status
from . import active_set
from .active_set import FEW
from .carried import nearest_carried
from .problem import duality_gap
from .settle import settle

UNLIKE = 30.0
"""Ratio of the largest to the smallest stiffness above which Newton alone tends to wander."""

WANDERING = 25
"""Newton steps after which a start has shown that it is not near; more in large networks."""

SMALL = 100_000
"""Degrees of freedom of a network that is not large; ``patience``."""

BALANCED = 1e-6
"""Imbalance up to which given forces count as admissible."""

GAP = 10.0
"""Duality gap, or violation of the law, over tolerance up to which balanced forces count as the
answer."""

ROUGHLY = 1e-6
"""Imbalance and gap at which the path is a start for Newton."""

SETTLE = 1e-2, 1e-5, 1e-8
"""Parts of the tolerance to which the path is followed to its end, one after the other if need be;
to the first its forces are balanced: what is left, times displacements that are large where
stiffnesses are unlike, is part of the gap."""

STIFFER = 3
"""Series springs tried at rounding level without gain after which the iteration has stalled."""

NEAR = 1e-6
"""Residual at which a stalled solve is settled by a last step in forces."""


def patience(n: int) -> int:
    """Newton steps given to a start, for n degrees of freedom.

    Contacts close and open from neighbour to neighbour, so that Newton steps grow like the linear
    size, and so does the cost of the path, which would come next.
    """
    return round(WANDERING * max(1.0, n / SMALL) ** (1 / 3))


def solve(
    network: Network,
    load,
    stiffness,
    exponent,
    *,
    tolerance,
    max_iterations,
    warm_start,
    admissible=None,
    offset=None,
):
    """(u, force, status, iterations, history, stats); loads and stiffness of order one.

    warm_start (n,): u of an earlier answer. admissible (m,): some forces f >= 0 that balance the
    load. offset (m,): s of the overlaps c = s - B u, initial gaps with the other sign.
    """
    stats = LinearStats()
    iterations = 0

    def attempt(start, limit):
        nonlocal iterations
        answer = equilibrium(
            network,
            stiffness,
            exponent,
            load=load,
            offset=offset,
            start=start,
            tolerance=tolerance,
            scale=1.0,
            max_iterations=min(limit, max(1, max_iterations - iterations)),
            stats=stats,
        )
        iterations += answer.iterations
        return answer

    point = None

    def path(imbalance=None, gap_tolerance=None):
        """The point of the central path there, from the one before if there is one."""
        nonlocal iterations, point
        point = follow(
            network,
            stiffness,
            exponent,
            load=load,
            offset=offset,
            tolerance=max(ROUGHLY, tolerance) if imbalance is None else imbalance,
            gap_tolerance=gap_tolerance,
            start=point,
            stats=stats,
        )
        iterations += point.iterations
        return point

    def reached(force):
        return np.array([np.abs(network.BT @ force - load).max(initial=0.0)])

    def error(u, force):
        """(imbalance, duality gap)."""
        gap = duality_gap(network.B, u, force, stiffness, exponent, load, offset)
        return np.nan_to_num([reached(force)[0], gap], nan=np.inf)

    def end_of_path(small):
        """(u, forces): the path followed to a gap of ``small``, and its forces balanced."""
        if exponent < 2.0:
            path(gap_tolerance=small)
        elif (point or path()).imbalance <= 2 * ROUGHLY:  # the load is carried
            path(max(1e3 * small, 0.1 * tolerance), small)
        q = 1.0 / (exponent - 1.0)
        with np.errstate(all="ignore"):  # a path that lost its way
            tangent = point.force / (point.slack + q * (point.force / stiffness) ** q)
        # on the path no force is zero
        force = np.where(point.force > small * point.force.max(), point.force, 0.0)
        return point.u, _settled(network, force, tangent, load, SETTLE[0] * tolerance, stats)

    def violation(u, force):
        """|f - k max(0, c)^(p-1)|_inf over the largest force."""
        overlap = -(network.B @ u) if offset is None else offset - network.B @ u
        law = stiffness * np.maximum(overlap, 0.0) ** (exponent - 1.0)
        return np.abs(force - law).max() / (force.max(initial=0.0) or 1.0)

    def from_path():
        return path().u

    def from_bearing():
        return _on(network, admissible > 0, stiffness, exponent, load, stats)

    def among_forces(admissible):
        """The answer by the active set method, or None. Without the memory: forces as given."""
        nonlocal iterations, max_iterations
        if offset is not None or not active_set.applies(admissible, len(load)):
            return None
        if reached(admissible)[0] > BALANCED:
            return None
        try:
            u, force, steps, balanced = active_set.solve(
                network,
                load,
                stiffness,
                exponent,
                tolerance=tolerance,
                admissible=admissible,
                stats=stats,
            )
        except NoRoom:  # the other ways have no hope here
            missing = reached(admissible)
            return np.zeros(n), admissible, Status.NO_ROOM, iterations, missing, stats
        iterations += steps
        max_iterations += steps  # where it fails, not at the cost of the others
        if not balanced or error(u, force)[1] > GAP * tolerance:
            return None
        return u, force, Status.CONVERGED, iterations, reached(force), stats

    n = len(load)
    # hardly more contacts than the load can determine: forces that balance it may be the way
    seek = admissible is None and offset is None and load.any() and len(stiffness) <= n + FEW
    found = among_forces(admissible)
    if seek and warm_start is None and n > DIRECT_SIZE:
        seek, found = False, among_forces(nearest_carried(network, load).force)
    if found is not None:
        return found

    unlike = stiffness.max(initial=0.0) > UNLIKE * stiffness.min(initial=np.inf)
    starts = []
    bears_it = active_set.determined(admissible, n) and affordable(n)
    if bears_it and exponent >= 2.0 and offset is None:
        starts.append(from_bearing)
    if warm_start is not None and not _drifted(network, warm_start, tolerance):
        starts.append(lambda: warm_start)
    if not load.any() or (exponent >= 2.0 and not unlike):
        starts.append(lambda: None)
    if load.any():
        starts.append(from_path)
    best = _Best(error, tolerance, exponent)
    for start in starts:
        if start is from_path and seek:
            found = among_forces(nearest_carried(network, load).force)
            if found is not None:
                return found
        answer = attempt(start(), patience(n) if load.any() else max_iterations)
        force, status = answer.force, answer.status
        lost = status is not Status.CONVERGED and answer.history.min() < NEAR
        if status is Status.STALLED and answer.residual < NEAR and exponent >= 2.0:
            bears = (force > 0) & (answer.overlap > 0)
            tangent = np.zeros(len(force))
            tangent[bears] = (exponent - 1.0) * force[bears] / answer.overlap[bears]
            force = _settled(network, force, tangent, load, tolerance, stats)
        best.take(answer.x, force, answer.history)
        if best.arrived or lost or iterations >= max_iterations:
            break
    for part in SETTLE if exponent >= 2.0 else SETTLE[:1]:
        if load.any() and not best.arrived and iterations < max_iterations:
            u, force = end_of_path(part * tolerance)
            best.take(u, force, reached(force), violation(u, force))
    if exponent >= 2.0 and not (best.arrived or lost) and iterations < max_iterations:
        answer = attempt(best.u, max_iterations)
        status = answer.status
        best.take(answer.x, answer.force, answer.history)
    if exponent < 2.0 and not best.arrived:
        u, force, status, more, history, stats = _proximal(
            network, load, stiffness, exponent, tolerance, max_iterations, stats, offset
        )
        iterations += more
        best.take(u, force, history)
    if best.arrived:
        status = Status.CONVERGED
    elif status is Status.CONVERGED:
        # where all contacts yield next to nothing, forces stay wherever the springs left them
        status = Status.STALLED
    return best.u, best.force, status, iterations, best.history, stats


class _Best:
    """The best of several attempts, and whether it is the answer.

    Judged by the imbalance, as by the driver: forces of an equilibrium obey the law. For p < 2 also
    by the duality gap: u may be so large, or a path so lost, that balanced forces are far from the
    least energy.
    """

    def __init__(self, error, tolerance, exponent):
        self._error, self._tolerance, self._gap_counts = error, tolerance, exponent < 2.0
        self._missed, self.arrived = np.inf, False
        self.u = self.force = self.history = None

    def take(self, u, force, history, violation=0.0):
        """Keep this attempt if it is better than those before. violation: of the law."""
        imbalance, gap = self._error(u, force)
        missed = max(imbalance, (gap if self._gap_counts else violation) / GAP)
        if self.force is None or missed < self._missed:
            self._missed, self.u, self.force, self.history = missed, u, force, history
            self.arrived = missed <= self._tolerance


def _settled(network, force, tangent, load, tolerance, stats):
    """``settle`` with the tangent stiffness (m,) of any size."""
    top = float(tangent.max(initial=0.0))
    if not top > 0.0:
        return force
    system = StiffnessSystem(network, tangent / top, 1e-12)

    def solve(missing):
        return system.solve(missing, target=0.01 * tolerance, stats=stats)

    return settle(network, force, load, tangent / top, solve, tolerance=tolerance)[0]


def _on(network, bearing, stiffness, exponent, load, stats):
    """u of the bearing contacts alone, as two-sided springs of their stiffness under the load."""
    system = StiffnessSystem(network, np.where(bearing, stiffness, 0.0), 1e-12)
    u = system.solve(-load, target=1e-9, stats=stats)
    if exponent == 2.0:
        return u
    # the same forces through the power law
    force = np.where(bearing, stiffness * -(network.B @ u), 0.0)
    overlap = np.sign(force) * (np.abs(force) / stiffness) ** (1 / (exponent - 1))
    weight = np.where(bearing, 1.0, 0.0)
    return StiffnessSystem(network, weight, 1e-12).solve(
        -(network.BT @ (weight * overlap)), target=1e-9, stats=stats
    )


def _drifted(network, u, tolerance):
    """Whether u has moved so far that rounding of B u would spoil forces of order one.

    Floating bodies move where nothing holds them; over many warm starts that adds up.
    """
    return 1e-16 * np.abs(network.B @ u).max(initial=0.0) > 0.01 * tolerance


def _proximal(network, load, stiffness, exponent, tolerance, max_iterations, stats, offset):
    """The series-spring iteration for 1 < p < 2, started from linear springs."""
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
        return u, force, answer.status, iterations, answer.history, stats
    q = 1.0 / (exponent - 1.0)
    size = force.max() or 1.0
    tangent = np.median(stiffness) ** q * size ** (1 - q) / q  # df/dc at the largest force
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
            return u, force, answer.status, iterations, np.array(history[1:]), stats
        if least <= tolerance:
            status = Status.CONVERGED
        elif waited > STIFFER and least < NEAR:
            status = Status.STALLED  # stiffer springs only raise the rounding from here on
        if status is not Status.MAX_ITERATIONS:
            break
        if history[-1] > 0.2 * history[-2]:
            series *= 3.0
    return *best, status, iterations, np.array(history[1:]), stats
