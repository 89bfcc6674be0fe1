"""Whether rough contacts can hold a squeeze that no load needs: self-stress within the cones.

    max sum r_i   subject to   A x = 0,   x in K,   r_i <= x_i0,   r_i <= 1

in units of each contact's force, has r_i = 1 at every contact that some self-stress presses, and 0
elsewhere, for self-stresses can be scaled and added. A sum of zero comes with a motion that opens
every contact, f . w >= f_n: then all admissible forces of any load are bounded. A sum above zero
says that the scene can be wedged: the forces of a load have no upper bound, and a block may hang
between walls that only touch it.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from ..._support import arrays
from ..._support.arrays import MatrixLike
from ..._support.display import Brief
from ..._support.words import counted
from ...status import Status
from ..tolerances import TOLERANCES
from .conic import Answer, Program, solve
from .problem import RoughContacts, rough_contacts


@dataclass(frozen=True, repr=False)
class SelfStress(Brief):
    """Which contacts a self-stress within the cones can press. m contacts of d components.

    Attributes
    ----------
    wedged : (m,) bool ndarray
        Contacts that a self-stress can press.
    undecided : (m,) bool ndarray
        Those of which neither that nor the contrary was proved.
    force : (m, d) ndarray
        A self-stress that presses all that are wedged, normal first, largest entry 1.
    motion : (n,) ndarray or None
        Where none is wedged, a motion that opens every contact without friction's holding it.
    residual : float
        Of the program.
    status : Status
        "stalled" where some are undecided.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> found = rl.statics("arch").self_stress()
    >>> found.wedged.any(), found.motion.shape  # floor and 21 voussoirs
    (np.False_, (132,))
    """

    wedged: np.ndarray
    undecided: np.ndarray
    force: np.ndarray
    motion: np.ndarray | None
    residual: float
    status: Status

    @property
    def message(self) -> str:
        solved = f"({self.status}, residual {self.residual:.1e})"
        if self.undecided.any():
            some = counted(int(self.undecided.sum()), "contact")
            known = f"{int(self.wedged.sum())} can, others cannot"
            return (
                f"undecided whether {some} of {len(self.wedged)} can hold a squeeze "
                "without a load: neither a squeeze nor a motion that opens them was found; "
                f"{known} {solved}"
            )
        if not self.wedged.any():
            return f"no squeeze without a load: a motion opens every contact {solved}"
        return (
            f"{int(self.wedged.sum())} of {counted(len(self.wedged), 'contact')} can hold a "
            f"squeeze without a load: the scene can be wedged, and forces have no upper "
            f"bound {solved}"
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

    Parameters
    ----------
    B, tangential, friction, fixed, blocks
        As for ``compatible_forces``.

    Raises
    ------
    InputError
        For wrong shapes and values that are not finite.

    Examples
    --------
    A block between two walls is wedged as soon as friction holds it:

    >>> import rigidlimit
    >>> B, T = [[1.0, 0.0], [-1.0, 0.0]], [[0.0, -1.0], [0.0, 1.0]]  # columns: along, up
    >>> rigidlimit.self_stress(B, tangential=T, friction=0.3).wedged.tolist()
    [True, True]
    """
    n = arrays.sparse("B", B).shape[1]
    problem = rough_contacts(
        B, np.zeros(n), tangential=tangential, friction=friction, fixed=fixed, blocks=blocks
    )
    m, d = problem.shape
    found, x, y = _presses(problem)
    if not found.optimal:
        nothing = np.zeros(m, bool)
        return SelfStress(nothing, ~nothing, np.zeros((m, d)), None, np.inf, Status.STALLED)
    r = found.x[:m]
    wedged = r > 1.0 - TOLERANCES.decided
    undecided = ~wedged & (r > TOLERANCES.decided)
    force, motion = np.zeros((m, d)), None
    if wedged.any():
        force = problem.force(x)
        force /= np.abs(force).max()
    else:
        u = -problem.moves(y)
        undecided |= ~(opened(problem, u) > 0.0)
        motion = problem.motion(u)
        motion /= np.abs(motion).max(initial=0.0) or 1.0
    status = Status.STALLED if undecided.any() else Status.CONVERGED
    return SelfStress(wedged, undecided, force, motion, found.residual, status)


def opening_motion(problem: RoughContacts) -> np.ndarray | None:
    """A motion (k,) of the kept columns that opens every contact against its friction, or None."""
    found, _, y = _presses(problem)
    if not found.optimal:
        return None
    u = -problem.moves(y)
    return u if (opened(problem, u) > 0.0).all() else None


def opened(problem: RoughContacts, u: np.ndarray) -> np.ndarray:
    """By how much each contact opens beyond what friction holds, w_n - mu |w_t| (m,)."""
    w = problem.displacement(u)
    return w[:, 0] - problem.friction * np.linalg.norm(w[:, 1:], axis=1)


def _presses(problem: RoughContacts) -> tuple[Answer, np.ndarray, np.ndarray]:
    """(answer of the program in the header, its x, its y). Variables: r, its slack to 1, x_0 - r,
    x."""
    m, d = problem.shape
    g, columns = problem.generators, problem.balance.columns
    k, N = columns.shape
    first = np.ones(N, bool)  # what makes a contact press: half-lines, and the axes of cones
    first[g.positive :] = np.arange(N - g.positive) % d == 0
    at = np.flatnonzero(first)
    presses = sp.csr_array((np.ones(len(at)), (g.contact[at], at)), shape=(m, N))
    eye = sp.eye_array(m)
    A = sp.block_array(
        [
            [None, None, sp.csr_array((k, m)), columns],
            [eye, eye, None, None],
            [eye, None, eye, -presses],
        ],
        format="csr",
    )
    cost = np.concatenate([-np.ones(m), np.zeros(2 * m + N)])
    b = np.concatenate([np.zeros(k), np.ones(m), np.zeros(m)])
    answer = solve(Program(cost, sp.csr_array(A), b, 0, 3 * m + g.positive, g.cones, d))
    return answer, answer.x[3 * m :], answer.y[:k]
