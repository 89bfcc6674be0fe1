"""Degree of indeterminacy of rough forces that are known, by counting: two ranks, no program.

The classic and the compatible forces of a step are both admissible, so their mean is as well. What
it spans of the cones (d where it sticks, 1 where it slides, 0 where inactive) is no more than
what all admissible forces span, and the whole cones of all closed contacts no less:

    dim S - rank R_S  <=  dim P  <=  dim C - rank R_C,

as in ``diagnostics/degree.py``; contacts that are known to slide count one in both.

A cone that is wholly in reach spans all d directions however narrow it is, and a ray one; so that
columns are unit vectors, in units in which all rows are of order one.
"""

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from ..._support.arrays import MatrixLike
from ..degree import Degree
from ..rank import rank
from ..tolerances import TOLERANCES
from .problem import RoughContacts, rough_contacts
from .scaling import contact_units, largest


def single_directions(problem: RoughContacts) -> np.ndarray:
    """(m, d): the one direction of contacts without friction or known to slide, else zero."""
    m, d = problem.shape
    g = problem.generators
    alone = np.flatnonzero(np.bincount(g.contact, minlength=m)[g.contact] == 1)
    entries = sp.coo_array(g.G[:, alone])
    out = np.zeros(m * d)
    out[entries.coords[0]] = entries.data
    return out.reshape(m, d)


def span_of(
    problem: RoughContacts, whole: np.ndarray, along: np.ndarray
) -> tuple[sp.csr_array, sp.csr_array]:
    """(what the columns push (k, c), the columns (m d, c), each component in its row's unit).

    whole (m,) bool: contacts whose cone is spanned; along (m, d): direction of the ray of others,
    zero where they carry nothing.
    """
    m, d = problem.shape
    # a row has a unit of its own: of normal and tangential rows as well
    unit = contact_units(problem.rows, np.ones(m * d), np.zeros(len(problem.load)), 1)
    along = along / unit.reshape(m, d)
    all_of_it = (d * np.flatnonzero(whole)[:, None] + np.arange(d)).ravel()
    size = np.linalg.norm(along, axis=1)
    rays = np.flatnonzero(~whole & (size > 0.0))
    rows = np.concatenate([all_of_it, (d * rays[:, None] + np.arange(d)).ravel()])
    first = len(all_of_it)
    columns = np.concatenate([np.arange(first), np.repeat(first + np.arange(len(rays)), d)])
    data = np.concatenate([np.ones(first), (along[rays] / size[rays, None]).ravel()])
    basis = sp.csr_array((data, (rows, columns)), shape=(m * d, first + len(rays)))
    columns = sp.csr_array(problem.rows.T @ sp.diags_array(unit))
    columns = sp.csr_array(sp.diags_array(1.0 / largest(columns)) @ columns)
    return sp.csr_array(columns @ basis), basis


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
