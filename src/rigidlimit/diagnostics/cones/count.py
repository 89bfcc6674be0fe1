"""Degree of indeterminacy of rough forces that are known, by counting: two ranks, no program.

The classic and the compatible forces of a step are both admissible, so their mean is as well. What
it spans of the cones (d where it sticks, 1 where it slides, 0 where inactive) is no more than
what all admissible forces span, and the whole cones of all closed contacts no less:

    dim S - rank R_S  <=  dim P  <=  dim C - rank R_C,

as in ``diagnostics/degree.py``; contacts that are known to slide count one in both.
"""

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from ..._support.arrays import MatrixLike
from ..degree import Degree
from ..rank import rank
from ..tolerances import TOLERANCES
from .problem import RoughContacts, rough_contacts
from .span import single_directions, span_of


def rough_degree(
    B: MatrixLike,
    force: np.ndarray,
    *,
    tangential: MatrixLike,
    friction: ArrayLike,
    fixed: ArrayLike | None = None,
    sliding_direction: ArrayLike | None = None,
    blocks: ArrayLike | None = None,
) -> Degree:
    """Bounds of the degree of indeterminacy.

    Parameters
    ----------
    B, tangential, friction, fixed, sliding_direction, blocks
        Of the closed contacts, as for ``determinacy``.
    force : (m, d) [N]
        Mean of admissible forces that are known, normal first.
    """
    problem = rough_contacts(
        B,
        np.zeros(B.shape[1]),
        tangential=tangential,
        friction=friction,
        fixed=fixed,
        sliding_direction=sliding_direction,
        blocks=blocks,
    )
    alone = single_directions(problem)
    rough = ~alone.any(axis=1)
    most = _open(problem, rough, alone)
    size = TOLERANCES.bears * float(np.abs(force).max(initial=0.0))
    bears = force[:, 0] > size
    beyond = problem.friction * force[:, 0] - np.linalg.norm(force[:, 1:], axis=1)
    sticks = beyond > size * np.minimum(1.0, problem.friction)
    whole = bears & rough & sticks
    along = np.where(rough[:, None], force, alone) * bears[:, None]
    return Degree(min(_open(problem, whole, along), most), most)


def _open(problem: RoughContacts, whole: np.ndarray, along: np.ndarray) -> int:
    """Directions that are spanned, less the rank of what they push."""
    pushes, basis = span_of(problem, whole, along)
    return basis.shape[1] - rank(sp.csr_array(pushes.T)).rank
