"""Rows of rough contacts as they come from outside: normal ones B (m, n), tangential ones T, and
what goes with them contact by contact."""

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from .._support import arrays
from .._support.matrices import matrix, taken
from .._support.words import counted
from ..errors import InputError


def rows_of(contacts: np.ndarray, d: int) -> np.ndarray:
    """The rows (k d,) of contacts (k,), d each."""
    return (d * contacts[:, None] + np.arange(d)).ravel()


def contact_rows(
    B: np.ndarray | sp.csr_array, tangential: np.ndarray | sp.sparray
) -> tuple[np.ndarray | sp.csr_array, int]:
    """(rows (m d, n) contact by contact, normal first; d). Raises InputError for a wrong count.

    B (m, n): a plain array or compressed rows; of that form are the rows, a plain array only while
    it is small.
    """
    m, n = B.shape
    if sp.issparse(B):
        T = arrays.sparse("tangential", tangential, columns=n)
    else:
        T = matrix("tangential", tangential, columns=n)
    if T.shape[0] not in (m, 2 * m):
        raise InputError(
            f"tangential has {counted(T.shape[0], 'row')} for {counted(m, 'contact')}; expected "
            f"one a contact in the plane ({m}) or two in space ({2 * m}), contact by contact"
        )
    d = 1 + T.shape[0] // m if m else 3
    if m and d == 3 and _doubled(B, T):
        raise InputError(
            "tangential has two rows a contact, which are one motion at every contact; expected "
            f"one row a contact in the plane ({m}), in space two at right angles"
        )
    if not (sp.issparse(B) or sp.issparse(T)):
        each = np.concatenate([B[:, None], T.reshape(m, d - 1, n)], axis=1)
        return each.reshape(m * d, n), d
    order = np.empty((m, d), int)
    order[:, 0] = np.arange(m)
    order[:, 1:] = m + np.arange(m * (d - 1)).reshape(m, d - 1)
    return taken((B, T), order.ravel()), d


def _doubled(B, T) -> bool:
    """Whether the two tangents are the same, or opposite, at every contact of T (2 m, n), one after
    the other or those of all contacts twice.

    Contacts that are all listed twice, ``B`` as well as ``T``, repeat the first half of T rightly,
    and so may those of bodies held in a plane, one of whose tangents moves nothing.
    """
    m = B.shape[0]
    if _alike(T, slice(0, None, 2), slice(1, None, 2)):
        return True
    if not _alike(T, slice(m), slice(m, None)):
        return False
    if not _any(T[0::2]) or not _any(T[1::2]):
        return False  # motions in a plane: contacts of equal arms have equal rows along it
    half = m // 2
    return m % 2 == 1 or not _alike(B, slice(half), slice(half, None))


def _any(rows) -> bool:
    """Whether any entry of rows is not zero."""
    return bool(rows.count_nonzero() if sp.issparse(rows) else rows.any())


def _alike(T, some: slice, others: slice) -> bool:
    """Whether those rows of T are the same, up to their signs, as the others, and not all zero."""
    i, j = some.start or 0, others.start  # the first ones are enough in most cases
    if sp.issparse(T):
        a, b = slice(T.indptr[i], T.indptr[i + 1]), slice(T.indptr[j], T.indptr[j + 1])
        x, y = np.abs(T.data[a]), np.abs(T.data[b])
        if len(x) != len(y) or (x != y).any():
            return False
        first, second = T[some], T[others]
        if not first.count_nonzero():
            return False
        same, opposite = (abs(first - sign * second).sum(axis=1) for sign in (1.0, -1.0))
        return bool((np.minimum(same, opposite) == 0.0).all())
    if (np.abs(T[i]) != np.abs(T[j])).any() or not T[some].any():
        return False
    same, opposite = ((T[some] == sign * T[others]).all(axis=1) for sign in (1.0, -1.0))
    return bool((same | opposite).all())


def checked_friction(friction: ArrayLike, m: int) -> np.ndarray:
    """mu (m,) >= 0; raises InputError."""
    mu = arrays.vector("friction", friction, m, what="contact (row of B)")
    if (mu < 0.0).any():
        i = int(np.argmin(mu))
        raise InputError(f"friction of contact {i} is {mu[i]}; expected mu >= 0")
    return mu


def directions(vectors: np.ndarray) -> np.ndarray:
    """Unit vectors along the rows of ``vectors`` (m, k), zero for zero ones."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0.0)


def sliding_directions(given: ArrayLike, m: int, d: int) -> np.ndarray:
    """Unit vectors (m, d-1), zero where a contact is not known to slide; raises InputError."""
    try:
        given = arrays.floats(given)
    except (TypeError, ValueError):
        given = np.full(0, np.nan)
    if given.shape != (m, d - 1) or not np.isfinite(given).all():
        raise InputError(
            f"sliding_direction has shape {given.shape}; expected ({m}, {d - 1}) finite numbers"
        )
    return directions(given / (np.abs(given).max(initial=0.0) or 1.0))
