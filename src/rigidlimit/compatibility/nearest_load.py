"""The load nearest to F~ that forces f >= 0 can balance: a projection like step 1."""

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from ..dynamics import newton as projection
from ..dynamics.problem import ContactProblem
from ..linear import Network
from ..status import Status

EXCESSIVE = {True: 1.0, False: 1e6}
"""A load counts as not carried if it would take this many times the forces of the nearest load,
where the projection is solved or not. Its residual alone is no proof: it can be met 1e-6 short of a
load that is carried."""

INFEASIBLE = 1e-8
"""Distance of a load from those that can be carried, over its size, from which it is said so."""


@dataclass(frozen=True)
class NearestLoad:
    """f >= 0 (m,), load B^T f (n,) nearest to F~, distance max |B^T f - F~|, and status: whether
    it is the nearest to 1e-11 of the load. excess: any forces that carry F~ are at least this many
    times as large as f, in sum; inf proves that there are none (Farkas)."""

    force: np.ndarray
    load: np.ndarray
    distance: float
    status: Status
    excess: float

    @property
    def settled(self) -> bool:
        """Whether ``distance`` > 0 means that F~ cannot be carried."""
        return self.excess > EXCESSIVE[self.status is Status.CONVERGED]


def nearest_load(network: Network, load: np.ndarray) -> NearestLoad:
    """The load of forces f >= 0 nearest to ``load`` (n,), which is of order one.

    With M = 1, dt = 1 and v_free = -F~, eq. 21 gives v+ = B^T f - F~ of least length.
    """
    B = network.B
    m, n = B.shape
    one = sp.csr_array(sp.eye_array(n))
    problem = ContactProblem(B, one, one, np.zeros(m), -load, 1.0)
    if problem.scale == 0.0:
        distance = float(np.abs(load).max(initial=0.0))
        return NearestLoad(np.zeros(m), np.zeros(n), distance, Status.CONVERGED, np.inf)
    found = _judged(
        network, load, projection.solve(problem, tolerance=1e-11, blocks=network.starts)
    )
    if found.distance <= INFEASIBLE or found.settled or found.status is not Status.CONVERGED:
        return found
    # little is missing: only an accurate solution shows whether anything is
    closer = projection.solve(
        problem, tolerance=1e-15, warm_start=found.force, blocks=network.starts, max_iterations=200
    )
    return _judged(network, load, replace(closer, status=Status.CONVERGED))


def _judged(network, load, answer) -> NearestLoad:
    missing = answer.velocity
    # g >= 0 with B^T g = F~ has g . B v = F~ . v < 0: the less v closes contacts, the larger is g
    closing = max(0.0, -float(answer.slack.min()))
    least = -float(load @ missing)
    size = max(1.0, float(answer.force.sum()))
    return NearestLoad(
        force=answer.force,
        load=network.load_of(answer.force),
        distance=float(np.abs(missing).max(initial=0.0)),
        status=answer.status,
        excess=0.0 if least <= 0.0 else least / (closing * size) if closing > 0.0 else np.inf,
    )
