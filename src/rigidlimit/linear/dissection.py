"""In which order the bodies of a network are eliminated: nested dissection by METIS.

The order depends only on which bodies share a contact or an inertia, so one order is valid for
every active set of a network; it never depends on values, which cancel in lattices.
"""

import importlib.util
from functools import cache

import numpy as np
import scipy.sparse as sp
from numba import njit

Pattern = tuple[np.ndarray, np.ndarray]
"""Of sparse rows: (ptr (rows + 1,), columns)."""


@cache
def has_metis() -> bool:
    """Whether pymetis is installed; without it factorizations cost many times more."""
    return importlib.util.find_spec("pymetis") is not None


@njit(cache=True, nogil=True)
def _bodies_of_rows(ptr, idx, body_of):
    """Which bodies the entries of each row belong to: (starts (rows + 1,), bodies), each once."""
    rows = len(ptr) - 1
    starts = np.zeros(rows + 1, np.int64)
    found = np.empty(len(idx), np.int32)
    at = 0
    for i in range(rows):
        for e in range(ptr[i], ptr[i + 1]):
            body = body_of[idx[e]]
            known = False
            for g in range(starts[i], at):
                known |= found[g] == body
            if not known:
                found[at] = body
                at += 1
        starts[i + 1] = at
    return starts, found[:at].copy()


@njit(cache=True, nogil=True)
def grouped(key: np.ndarray, groups: int):
    """(starts (groups + 1,), members): indices of ``key`` by its value; negative ones left out."""
    starts = np.zeros(groups + 1, np.int64)
    for k in key:
        if k >= 0:
            starts[k + 1] += 1
    for g in range(groups):
        starts[g + 1] += starts[g]
    members = np.empty(starts[groups], np.int64)
    at = starts[:-1].copy()
    for i in range(len(key)):
        k = key[i]
        if k >= 0:
            members[at[k]] = i
            at[k] += 1
    return starts, members


@njit(cache=True, nogil=True)
def neighbours_of_rows(
    row_starts: np.ndarray, row_bodies: np.ndarray, body_starts: np.ndarray, body_rows: np.ndarray
):
    """Other bodies in the rows of each body: (starts (bodies + 1,), neighbours), each once."""
    bodies = len(body_starts) - 1
    seen = np.full(bodies, -1, np.int32)
    starts = np.zeros(bodies + 1, np.int32)
    found = np.empty(0, np.int32)
    for sweep in range(2):  # count, then store
        at = 0
        seen[:] = -1
        for b in range(bodies):
            seen[b] = b
            for e in range(body_starts[b], body_starts[b + 1]):
                i = body_rows[e]
                for g in range(row_starts[i], row_starts[i + 1]):
                    other = row_bodies[g]
                    if seen[other] != b:
                        seen[other] = b
                        if sweep == 1:
                            found[at] = other
                        at += 1
            starts[b + 1] = at
        if sweep == 0:
            found = np.empty(at, np.int32)
    return starts, found


def _plain(ptr, idx):
    """In the one form that kernels are compiled for."""
    return np.ascontiguousarray(ptr, np.int64), np.ascontiguousarray(idx, np.int32)


def coupled_bodies(
    rows: Pattern, mass: Pattern, starts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Bodies of each contact, then of each row of the inertia: (starts (rows + 1,), bodies).

    rows, mass: (ptr, idx) of sparse rows. starts (bodies + 1,): first degree of freedom of each.
    """
    body_of = np.repeat(np.arange(len(starts) - 1, dtype=np.int32), np.diff(starts))
    begins, bodies = _bodies_of_rows(*_plain(*rows), body_of)
    if len(mass[1]):
        more, others = _bodies_of_rows(*_plain(*mass), body_of)
        begins = np.concatenate([begins, begins[-1] + more[1:]])
        bodies = np.concatenate([bodies, others])
    return begins, bodies


def neighbours(
    B: sp.csr_array, mass: sp.csr_array, starts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Bodies that share a contact or an inertia with each: (starts (bodies + 1,), neighbours).

    B (m, n), mass (n, n): csr. starts (bodies + 1,): first degree of freedom of each body.
    """
    row_starts, row_bodies = coupled_bodies(
        (B.indptr, B.indices), (mass.indptr, mass.indices), starts
    )
    body_starts, entries = grouped(row_bodies, len(starts) - 1)
    row_of = np.repeat(np.arange(len(row_starts) - 1), np.diff(row_starts))
    return neighbours_of_rows(row_starts, row_bodies, body_starts, row_of[entries])


def elimination_order(B: sp.csr_array, mass: sp.csr_array, starts: np.ndarray) -> np.ndarray | None:
    """Place of each body in the order that keeps the factor sparse; None without pymetis."""
    try:
        import pymetis
    except ImportError:
        return None
    begins, others = neighbours(B, mass, starts)
    if len(others) == 0:
        return np.arange(len(starts) - 1)
    bodies, _ = pymetis.nested_dissection(pymetis.CSRAdjacency(begins, others))
    place = np.empty(len(starts) - 1, np.int64)
    place[np.asarray(bodies)] = np.arange(len(place))
    return place
