"""Whether rough contacts can hold a squeeze that no load needs: self-stress within the cones.

    max sum r_i   subject to   A x = 0,   x in K,   r_i <= f_in(x),   r_i <= 1

has r_i = 1 at every contact that some self-stress presses, and 0 elsewhere, for self-stresses can
be scaled and added. A sum of zero comes with a motion that opens every contact, f . w >= f_n: then
all admissible forces of any load are bounded. A sum above zero says that the scene can be wedged:
the forces of a load have no upper bound, and a block may hang between walls that only touch it.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from ..._support.arrays import MatrixLike
from ..._support.display import Brief
from ..._support.words import counted
from ...errors import InputError
from ...status import Status
from .conic import Program, solve
from .problem import rough_contacts


@dataclass(frozen=True, repr=False)
class SelfStress(Brief):
    """wedged (m,) bool: contacts that a self-stress can press. force (m, d): one that presses all
    of these, normal first, largest entry 1. motion (n,): where none is wedged, a motion that opens
    every contact without friction's holding it; else None. residual: of the program; status.
    """

    wedged: np.ndarray
    force: np.ndarray
    motion: np.ndarray | None
    residual: float
    status: Status

    @property
    def message(self) -> str:
        told = f"({self.status}, residual {self.residual:.1e})"
        if not self.wedged.any():
            return f"no squeeze without a load: a motion opens every contact {told}"
        return (
            f"{int(self.wedged.sum())} of {counted(len(self.wedged), 'contact')} can hold a "
            f"squeeze without a load: the scene can be wedged, and forces have no upper "
            f"bound {told}"
        )


def self_stress(
    B: MatrixLike,
    *,
    tangential: MatrixLike,
    friction: ArrayLike,
    fixed: ArrayLike | None = None,
    blocks: ArrayLike | None = None,
) -> SelfStress:
    """Which contacts can hold a squeeze without a load.

    Parameters as for ``compatible_forces``. Raises InputError for wrong shapes, or where the conic
    solver fails.

    Examples
    --------
    A block between two walls is wedged as soon as friction holds it:

    >>> import rigidlimit
    >>> B, T = [[1.0, 0.0], [-1.0, 0.0]], [[0.0, -1.0], [0.0, 1.0]]  # columns: along, up
    >>> rigidlimit.self_stress(B, tangential=T, friction=0.3).wedged.tolist()
    [True, True]
    """
    n = np.shape(B)[1] if not hasattr(B, "shape") else B.shape[1]
    problem = rough_contacts(
        B, np.zeros(n), tangential=tangential, friction=friction, fixed=fixed, blocks=blocks
    )
    m, d = problem.shape
    g = problem.generators
    N = g.G.shape[1]
    normal = g.G[d * np.arange(m)]
    eye = sp.eye_array(m)
    k = problem.columns.shape[0]
    A = sp.block_array(
        [
            [None, None, sp.csr_array((k, m)), problem.columns],
            [eye, eye, None, None],
            [eye, None, eye, -normal],
        ],
        format="csr",
    )  # variables: r, its slack to 1, f_n - r, x
    cost = np.concatenate([-np.ones(m), np.zeros(2 * m + N)])
    b = np.concatenate([np.zeros(k), np.ones(m), np.zeros(m)])
    answer = solve(Program(cost, sp.csr_array(A), b, 0, 3 * m + g.positive, g.cones, d))
    if not answer.optimal:
        raise InputError(
            f"self-stresses were not found: the conic solver ended with {answer.outcome}; expected "
            "arms within some ten orders of magnitude"
        )
    wedged = answer.x[:m] > 0.5
    force = problem.force(answer.x[3 * m :])
    motion = None
    if not wedged.any():
        force, motion = np.zeros((m, d)), problem.motion(-answer.y[:k])
        motion /= np.abs(motion).max(initial=0.0) or 1.0
    else:
        force /= np.abs(force).max()
    return SelfStress(wedged, force, motion, answer.residual, Status.CONVERGED)
