"""Rigid links: the motions that equality constraints of an engine leave to bodies and mechanisms.

A weld, a loop that a connection closes, a coupling of joints: rows G (k, n) with G v = 0. Their
forces G^T lambda do no work on motions v that obey them, and on nothing else does the balance of
the contacts hold without them. With G/a in units of displacement (a_j: 1 for displacements, an arm
for turns), one set of rows after another restrains motions Z that begin as the unit motions,

    G Z / a = U S V^T     S > accuracy: V is restrained     the others: redundant rows

and leaves an orthonormal rest of Z. A held degree of freedom keeps its column, moved along with the
free ones that links tie to it, so that what it must deliver counts their forces (the least ones,
where links are redundant). Restrained motions keep a column of zeros: B stays (m, n).

Rows between the same mechanisms are taken together, so their order does not matter.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.sparse.csgraph import connected_components

from ..._support.matrices import Matrix, blockwise, from_rows
from ..._support.sets import groups
from ..._support.singular import svd
from .geometry import OUTSIDE
from .matrices import components, compressed, entries, numbered, row_sizes, without_rounding
from .motions import Reduction
from .tolerances import TOLERANCES


def from_error(error: ArrayLike) -> np.ndarray:
    """Accuracy of links from their position errors, as a part of the size of their mechanism."""
    return np.clip(TOLERANCES.lever * np.asarray(error, float), 1e-6, TOLERANCES.least_accurate)


def joined(mechanism: np.ndarray, links: Matrix, held: np.ndarray) -> np.ndarray:
    """Labels (n,) of mechanisms; those are one whose free columns a row of ``links`` joins."""
    if not links.shape[0]:
        return mechanism
    label = numbered(mechanism)
    return components(links, ~held, label)[0][label]


def free_systems(
    root: np.ndarray,
    base: np.ndarray,
    columns: np.ndarray,
    held: np.ndarray,
    links: Matrix | None = None,
    places: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]] | None = None,
) -> np.ndarray:
    """Number of the system that each body (bodies,) moves freely with, or OUTSIDE.

    root (bodies,): of the tree of each; base (f,): roots that float; columns (f, 6), point, linear
    and angular, the last three as ``places`` tells for some bases: as of ``joined_systems``; held
    (n,) bool; links (k, n): rows of rigid ones, or None.
    """
    whole = ~held[columns].any(axis=1)
    base, columns = base[whole], columns[whole]
    system = np.full(len(root), OUTSIDE)
    system[base] = np.arange(len(base))
    if places is not None and links is not None and links.shape[0] and len(base):
        system[base] = joined_systems(links, columns, *places(base))
    return system[root]


def joined_systems(
    links: Matrix, columns: np.ndarray, point: np.ndarray, linear: np.ndarray, angular: np.ndarray
) -> np.ndarray:
    """Of each system that moves freely, without links: the number of that which links make of it,
    or OUTSIDE where they hold it; (s,).

    columns (s, 6): displacements and turns of each base in the engine's velocities; point (s, 3)
    [m]; linear, angular (s, 3, 3): those of v and w in world axes are linear @ v, angular @ w.
    Systems whose own rigid motions obey the links are not joined by them.
    """
    count = len(columns)
    links = sp.csc_array(links)
    size = np.sqrt(np.asarray(links.multiply(links).sum(axis=1)).ravel())
    rows, parts = [], []  # of links that touch each base
    for own in columns:
        part = links[:, own]
        rows.append(np.unique(part.indices))
        parts.append(sp.csr_array(part)[rows[-1]].toarray())
    tying = []
    for s in range(count):
        felt = parts[s] @ _rigid(point[s], point[s], linear[s], angular[s])
        tying.append(rows[s][np.abs(felt).max(axis=1) > 1e-9 * size[rows[s]]])
    entries = np.repeat(np.arange(count), [len(t) for t in tying]), np.concatenate(tying)
    ties = sp.csr_array((np.ones(len(entries[0])), entries), shape=(count, len(size)))
    tied = connected_components(ties @ ties.T, directed=False)[1]
    system, number = np.full(count, OUTSIDE), 0
    for members in groups(tied).values():
        middle = point[members].mean(axis=0)
        every = np.unique(np.concatenate([rows[s] for s in members]))
        moved, arm = np.zeros((len(every), 6)), 0.0
        for s in members:
            rigid = _rigid(middle, point[s], linear[s], angular[s])
            moved[np.searchsorted(every, rows[s])] += parts[s] @ rigid
            arm = max(arm, np.abs(rigid).max())
        if (np.abs(moved).max(axis=1) <= 1e-6 * arm * size[every]).all():
            system[members], number = number, number + 1
    return system


def _rigid(middle, point, linear, angular):
    """(6, 6): a base's velocities in displacements of all, and in turns about ``middle``."""
    x, y, z = point - middle
    across = np.array([[0, z, -y], [-z, 0, x], [y, -x, 0]])  # w x (point - middle)
    return np.block([[linear, linear @ across], [np.zeros((3, 3)), angular]])


@dataclass(frozen=True)
class Linked:
    """What rigid links leave. reduction: new motions, or None where none are restrained; B (m, n):
    in these; mechanism (n,) int: joined; accuracy (n,): of each column, 0 for those that are not
    new; redundant: number of rows that add nothing."""

    reduction: Reduction | None
    B: Matrix
    mechanism: np.ndarray
    accuracy: np.ndarray
    redundant: int


def without_links(
    B: Matrix,
    held: np.ndarray,
    mechanism: np.ndarray,
    reach: np.ndarray,
    links: Matrix,
    accuracy: np.ndarray,
) -> Linked:
    """B (m, n) on the motions that ``links`` (k, n) leave.

    accuracy (k,): rows restrain no motions along which they change by less than this part of the
    largest; held (n,) bool, mechanism (n,) int, reach (n,).
    """
    n = B.shape[1]
    links = sp.csr_array(sp.csr_array(links) @ sp.diags_array(1.0 / np.where(held, 1.0, reach)))
    row, column, value = entries(links)
    largest = float(np.abs(value).max(initial=0.0))
    label = numbered(mechanism)
    together = components(links, np.ones(n, bool))[0]
    blocks, exact, restrained = [], np.zeros(n), np.zeros(n, bool)
    for part in groups(together[column]).values():
        rows, columns = np.unique(row[part]), np.unique(column[part])
        free = np.flatnonzero(~held[columns])
        if not len(free):
            continue
        G = links[rows][:, columns]
        limit = largest * np.maximum(accuracy[rows], TOLERANCES.link_rounding)
        sets = _sets(G, free, label[columns])
        motions, stopped = _left(G, free, [(s, limit[s].max()) for s in sets])
        exact[columns] = min(accuracy[rows].max(), TOLERANCES.blunt)
        arm = np.where(held[columns], 1.0, reach[columns])
        blocks.append((columns[None], (motions / arm[:, None])[None]))
        restrained[columns[stopped]] = True
    redundant = links.shape[0] - int(restrained.sum())
    mechanism = joined(mechanism, links, held)
    if not blocks:
        return Linked(None, B, mechanism, exact, redundant)
    lost = np.flatnonzero(restrained)
    mechanism[lost] = mechanism.max() + 1 + np.arange(len(lost))
    motions, changed = blockwise(n, blocks), np.zeros(n, bool)
    changed[np.concatenate([columns[0] for columns, _ in blocks])] = True
    reduction = Reduction(motions, changed, restrained, restrained)
    left = sp.csr_array(sp.csr_array(B) @ motions)
    left.data *= ~restrained[left.indices]
    # without what cancels to rounding: contacts within linked parts push on no motion
    least = TOLERANCES.link_rounding * row_sizes(*compressed(B), reach)[1]
    left = from_rows(*without_rounding(*compressed(left), np.ones(n), least), B.shape)
    return Linked(reduction, left, mechanism, exact, redundant)


def _sets(G, free, label):
    """Rows of G (k, c) by the mechanisms whose free columns they touch, in the order of these."""
    touched = {}
    pattern = sp.csr_array(G[:, free])
    for row in range(G.shape[0]):
        places = pattern.indices[pattern.indptr[row] : pattern.indptr[row + 1]]
        touched.setdefault(tuple(np.unique(label[free[places]])), []).append(row)
    return [np.array(touched[key]) for key in sorted(touched)]


def _left(G, free, sets):
    """Motions (c, c): of every column of G (k, c), and which of them are restrained."""
    M = np.eye(G.shape[1])
    fixed = np.setdiff1d(np.arange(len(M)), free)
    gone = np.zeros(len(M), bool)
    for rows, limit in sets:
        part = sp.csr_array(G[rows])
        used = np.unique(part.indices)
        felt = part[:, used] @ M[used]
        left = free[~gone[free]]
        left = left[np.abs(felt[:, left]).max(axis=0) > TOLERANCES.link_rounding * limit]
        if not len(left):
            continue
        U, S, V = svd(_tall(felt[:, left]), full_matrices=False)
        rank = int(np.count_nonzero(limit < S))
        stopped = V[:rank].T
        # the rest by projecting unit motions, which keeps those that nothing restrains
        rest = la.qr(np.eye(len(left)) - stopped @ stopped.T, pivoting=True)[0][:, : -rank or None]
        M[:, left] = M[:, left] @ np.hstack([stopped, rest])
        gone[left[:rank]] = True
        drive = (U[: len(rows), :rank].T / S[:rank, None]) @ felt[:, fixed]
        M[:, fixed] -= M[:, left[:rank]] @ drive
    M[np.abs(M) < 0.01 * TOLERANCES.link_rounding] = 0.0
    return M, np.flatnonzero(gone)


def _tall(A):
    """With rows of zeros, if it has fewer rows than columns: for all its singular motions."""
    return np.vstack([A, np.zeros((max(A.shape[1] - A.shape[0], 0), A.shape[1]))])
