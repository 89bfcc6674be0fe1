"""Forces that faces of cones span, as columns of order one for ranks, whatever friction and units.

A cone that is wholly in reach spans all d directions however narrow it is, and a ray one; so that
columns are unit vectors, in units in which all rows are of order one.
"""

import numpy as np
import scipy.sparse as sp

from .problem import RoughContacts
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
