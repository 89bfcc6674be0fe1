"""Units in which the balance of rough contacts is well scaled: solvers have absolute tolerances.

Programs are over x, f = G x, with the balance R^T G x = F~. Three things are scaled, none of which
changes the answer:

- contacts: each has a unit of force, so that rows of B given in other units, and bodies of other
  weights, have entries and forces of order one (D. Ruiz, RAL-TR-2001-034, by blocks; ``islands``,
  which share no motion, have loads of their own);
- equations: each by its largest entry;
- normal and tangential forces, where friction is far from one. A table on four legs with mu = 1e-8
  has equations that no normal force enters, all of whose entries are 1e-8. Its equations are
  combined in steps, from what large columns push down to what only small ones do: each step gets
  its own unit, and its combinations are exactly free of the larger columns.

Where a point amid the admissible forces is known, units are what it gives the equations to carry
(``units_at``).
"""

from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

ALIKE = 1e3
"""Largest ratio of friction and 1 for which normal and tangential columns need no steps: it costs
three of the solvers' eleven digits."""

STEPS = 1500
"""Largest number of equations that are combined, which is dense; larger ones are scaled one by
one."""

SINGULAR = 1e-9
"""Singular values over the largest of a step that count as zero, as in ``diagnostics/rank.py``."""

CANCELLED = 1e-12
"""What is left of sums that cancel, over their parts."""

NO_LOAD = 1e-14
"""Loads, over the largest, that are the rounding of others."""

ROUNDING = 4.0 * np.finfo(float).eps
"""Remainder of loads that cancel when combined, over their parts."""


@dataclass(frozen=True)
class Balance:
    """columns (r, N), load (r,): the balance R^T G x = F~ as programs take it. combine (r, k): it
    is combine @ (R^T G x - F~), so that multipliers y (r,) are the motion combine^T y (k,)."""

    columns: sp.csr_array
    load: np.ndarray
    combine: sp.csr_array


def balance_of(
    rows: sp.csr_array, G: sp.csr_array, load: np.ndarray, friction: np.ndarray, unit: np.ndarray
) -> Balance:
    """rows (m d, k): R; G (m d, N); load (k,); friction, unit (m,)."""
    columns = sp.csr_array(rows.T @ G)
    k = columns.shape[0]
    rough = friction[friction > 0.0]
    steps = bool(len(rough)) and (rough.max() > ALIKE or rough.min() < 1.0 / ALIKE)
    if steps and 0 < k <= STEPS:
        combine, pushes = _steps(rows, friction, unit)
        combine, columns = sp.csr_array(combine), sp.csr_array(sp.csr_array(pushes) @ G)
    else:
        combine = sp.csr_array(sp.eye_array(k))
    E = sp.diags_array(1.0 / largest(columns))
    combine = sp.csr_array(E @ combine)
    right = combine @ load
    right[np.abs(right) <= ROUNDING * (abs(combine) @ np.abs(load))] = 0.0
    return Balance(sp.csr_array(E @ columns), right, combine)


def force_parts(friction: np.ndarray, d: int) -> np.ndarray:
    """Largest normal force, then largest tangential ones, of a cone's unit vector, (m, d): the
    larger of the two is 1."""
    parts = np.empty((len(friction), d))
    parts[:, 0] = 1.0 / np.maximum(1.0, friction)
    parts[:, 1:] = (friction * parts[:, 0])[:, None]
    return parts


def contact_units(rows: sp.csr_array, friction: np.ndarray, loads: np.ndarray, d: int):
    """Units of the contacts (m,) before any forces are known. loads (k,): largest that will act."""
    felt = _felt(rows, force_parts(friction, d))
    m = felt.shape[0]
    loads = np.where(loads > NO_LOAD * loads.max(initial=0.0), loads, 0.0)
    unit = np.ones(m)
    for _ in range(4):  # Ruiz' iteration gains a factor of two in the exponent each time
        scaled = sp.diags_array(unit) @ felt
        equation = np.sqrt(largest(sp.csr_array(scaled.T)))
        unit /= np.sqrt(largest(sp.csr_array(scaled @ sp.diags_array(1.0 / equation))))
        felt = sp.csr_array(felt @ sp.diags_array(1.0 / equation))
        loads = loads / equation
    carried = np.abs(loads) / largest(sp.csr_array((sp.diags_array(unit) @ felt).T))
    count, island = islands(felt)
    most = np.zeros(count)
    np.maximum.at(most, island[m:], carried)
    return unit * np.where(most > 0.0, most, 1.0)[island[:m]]


def islands(felt: sp.csr_array) -> tuple[int, np.ndarray]:
    """(number, label (m + k,) of contacts, then equations) of parts that share no equation."""
    m, k = felt.shape
    graph = sp.block_array([[None, felt], [sp.csr_array((k, m)), None]], format="csr")
    return connected_components(graph, directed=False)


def units_at(
    rows: sp.csr_array, friction: np.ndarray, unit: np.ndarray, size: np.ndarray, load: np.ndarray
) -> np.ndarray:
    """Units (m,) of contacts whose cones hold forces of ``size`` (m,) in the units so far: what the
    least of their equations with a load carries, of forces and of load (k,). A light body on a
    heavy one has equations of its own weight. Equations that a contact hardly pushes, by a slight
    tilt, say nothing of its force."""
    m = len(unit)
    d = rows.shape[0] // m if m else 1
    felt = sp.coo_array(sp.diags_array(unit) @ _felt(rows, force_parts(friction, d)))
    i, j = felt.coords
    carried = np.zeros(felt.shape[1])
    np.maximum.at(carried, j, felt.data * size[i])
    pushes = felt.data * ALIKE >= largest(felt.tocsr())[i]
    load = np.abs(load)
    load = np.where(load > NO_LOAD * load.max(initial=0.0), load, 0.0)
    carried = np.where(load > 0.0, np.maximum(carried, load), np.inf)
    least = np.full(m, np.inf)
    np.minimum.at(least, i[pushes], (carried[j] / felt.data)[pushes])
    return unit * np.where(np.isfinite(least), least, 1.0)


def _felt(rows, parts) -> sp.csr_array:
    """(m, k): what the unit forces of each contact add to the equations at most."""
    m, d = parts.shape
    weighted = sp.diags_array(parts.ravel()) @ abs(rows)
    entries = np.ones(m * d), (np.repeat(np.arange(m), d), np.arange(m * d))
    felt = sp.csr_array(sp.csr_array(entries, shape=(m, m * d)) @ weighted)
    felt.eliminate_zeros()
    return felt


def largest(A: sp.csr_array) -> np.ndarray:
    """Largest entry of each row, 1 where there is none."""
    most = abs(A).max(axis=1).toarray().ravel() if min(A.shape) else np.zeros(A.shape[0])
    return np.where(most > 0.0, most, 1.0)


def _steps(rows, friction, unit):
    """(combinations of the equations (k, k), what forces push in them (k, m d)): each from the
    columns of one size, and free of the larger ones."""
    (entries, k), m = rows.shape, len(friction)
    parts = force_parts(friction, entries // m).ravel()
    R = rows.toarray().T
    units = R * np.repeat(unit, entries // m)
    size = np.full(entries, np.inf)  # no force, no column
    size[parts > 0.0] = np.round(-np.log10(parts[parts > 0.0]) / np.log10(ALIKE))
    rest, chosen, level = np.eye(k), [], []
    for now in np.unique(size[parts > 0.0]):
        own, rest = _split(rest, units[:, size == now])
        chosen.append(own)
        level += [now] * len(own)
    combine = np.vstack([*chosen, rest])
    level = np.concatenate([level, np.full(len(rest), np.inf)])
    return combine, np.where(level[:, None] > size[None, :], 0.0, combine @ R)


def _split(W: np.ndarray, block: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Combinations of the rows W (c, k) that columns ``block`` (k, e) enter independently, and
    those that they do not enter."""
    pushes = W @ block
    top = np.abs(pushes).max(axis=1, initial=0.0)
    live = top > CANCELLED * (np.abs(W) @ np.abs(block)).max(axis=1, initial=0.0)
    W = np.where(live, 1.0 / np.where(live, top, 1.0), 1.0)[:, None] * W
    U, s, _ = scipy.linalg.svd(W[live] @ block, full_matrices=True)
    r = int((s > SINGULAR * s.max(initial=0.0)).sum())
    rest = np.vstack([U[:, r:].T @ W[live], W[~live]])
    most = np.abs(rest).max(axis=1, initial=0.0)
    return U[:, :r].T @ W[live], rest / np.where(most > 0.0, most, 1.0)[:, None]
