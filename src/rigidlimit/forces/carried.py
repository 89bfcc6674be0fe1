"""The load nearest to F~ that forces f >= 0 can balance: a projection like step 1."""

import numpy as np
import scipy.sparse as sp

from ..dynamics import newton as projection
from ..dynamics.problem import ContactProblem


def nearest_carried(network, load):
    """(force (m,), distance): f >= 0 with B^T f nearest to the load, and max |B^T f - F~|.

    With M = 1, dt = 1 and v_free = -F~, eq. 21 gives v+ = B^T f - F~ of least length.
    """
    B = network.B
    m, n = B.shape
    one = sp.csr_array(sp.eye_array(n))
    problem = ContactProblem(B, one, one, np.zeros(m), -load, 1.0)
    if problem.scale == 0.0:
        return np.zeros(m), float(np.abs(load).max(initial=0.0))
    answer = projection.solve(problem, tolerance=1e-11, blocks=network.starts)
    return answer.force, float(np.abs(answer.velocity).max(initial=0.0))
