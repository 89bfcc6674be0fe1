"""Degree of indeterminacy of rough forces that are known, by counting: two ranks, no program.

The classic and the compatible forces of a step are both admissible, so their mean is as well. What
it spans of the cones (d where it sticks, 1 where it slides, 0 where nothing bears) is no more than
what all admissible forces span, and the whole cones of all closed contacts no less:

    dim S - rank R_S  <=  dim P  <=  dim C - rank R_C,

as in ``diagnostics/degree.py``; contacts that are known to slide count one in both.
"""

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from ..._support.arrays import MatrixLike
from ...equilibrium.rows import rows_of
from ..degree import Degree
from ..rank import rank
from ..tolerances import TOLERANCES
from .problem import RoughContacts, rough_contacts


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
    generators = problem.generators
    most = _open(problem, generators.G)
    size = TOLERANCES.bears * float(np.abs(force).max(initial=0.0))
    bears = force[:, 0] > size
    sticks = problem.friction * force[:, 0] - np.linalg.norm(force[:, 1:], axis=1) > size
    single = np.bincount(generators.contact, minlength=len(force)) == 1
    whole = bears & (sticks | single)
    kept = generators.G[:, np.flatnonzero(whole[generators.contact])]
    rays = np.flatnonzero(bears & ~whole)
    d = problem.shape[1]
    entries = (
        force[rays].ravel(),
        (
            rows_of(rays, d),
            np.repeat(np.arange(len(rays)), d),
        ),
    )
    along = sp.csr_array(entries, shape=(generators.G.shape[0], len(rays)))
    return Degree(min(_open(problem, sp.hstack([kept, along], format="csr")), most), most)


def _open(problem: RoughContacts, span) -> int:
    """Columns of ``span`` (m d, k), less the rank of what they push."""
    columns = span @ sp.diags_array(1.0 / np.abs(span).max(axis=0).toarray().ravel())
    return span.shape[1] - rank(sp.csr_array((problem.rows.T @ columns).T)).rank
