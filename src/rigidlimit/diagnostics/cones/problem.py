"""Rough contacts under a load, in units of order one, and the generators of their cones.

Admissible forces f (m, d), normal first, balance the load and lie in the cones of Coulomb's law:

    P = { f : sum_i R_i^T f_i = F~,  f_in >= 0,  |f_it| <= mu_i f_in }

with R the rows of B and T, contact by contact. Each cone is the image of half-lines or of a
second-order cone, f = G x: one half-line where mu = 0 or where the direction of sliding is known,
two in the plane, f = a (1, mu) + b (1, -mu), and in space f_n = x_0 / mu, f_t = (x_1, x_2).
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from ..._support import arrays
from ..._support.arrays import MatrixLike
from ...equilibrium.rows import checked_friction, contact_rows, sliding_directions
from ...errors import InputError
from ...linear import MovedColumns
from .conic import Program
from .scaling import Balance, balance_of, contact_units, force_parts, units_at


@dataclass(frozen=True)
class Generators:
    """f = G x, x in K: ``positive`` half-lines, then ``cones`` second-order cones of d variables.

    G (m d, N) sparse. contact (N,): whose variable it is.
    """

    G: sp.csr_array
    contact: np.ndarray
    positive: int
    cones: int


@dataclass(frozen=True)
class RoughContacts:
    """m contacts of d rows under a load.

    rows (m d, k): R on the k degrees of freedom that move and are felt, columns over their longest
    arm. load (k,): F~ in units of ``size`` [N]. friction (m,). slide (m, d-1): unit direction of
    the tangential force where contacts are known to slide, zero elsewhere. dofs (k,), arm (k,) [m
    or 1]: which columns, and their arms; n: all. starts: first kept column of each body. unmoved:
    largest load on motions that no contact resists, in units of ``size``. loads (k,): largest that
    will act.
    known (m,): units of contacts, from forces that are known (``scaling.py``), or None.
    """

    rows: sp.csr_array
    load: np.ndarray
    friction: np.ndarray
    slide: np.ndarray
    size: float
    dofs: np.ndarray
    arm: np.ndarray
    n: int
    starts: np.ndarray
    unmoved: float
    loads: np.ndarray
    known: np.ndarray | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return self.slide.shape[0], self.slide.shape[1] + 1

    @cached_property
    def unit(self) -> np.ndarray:
        """Of each contact's forces (m,), in units of ``size``."""
        if self.known is not None:
            return self.known
        return contact_units(self.rows, self.friction, self.loads, self.shape[1])

    @cached_property
    def generators(self) -> Generators:
        return _generators(self.friction, self.slide, self.unit)

    @cached_property
    def balance(self) -> Balance:
        """R^T f = F~ as programs take it."""
        return balance_of(self.rows, self.generators.G, self.load, self.friction, self.unit)

    def with_friction(self, friction: np.ndarray) -> "RoughContacts":
        return replace(self, friction=np.asarray(friction, float), known=None)

    def with_units_at(self, x: np.ndarray) -> "RoughContacts":
        """The same in units of what the forces G x give equations to carry."""
        contact, m = self.generators.contact, self.shape[0]
        size = np.zeros(m)
        np.maximum.at(size, contact, np.abs(x))
        units = units_at(self.rows, self.friction, self.unit, size, self.load)
        return replace(self, known=units)

    def program(self, cost: np.ndarray | None = None) -> Program:
        """min cost . x over the admissible x; feasibility without a cost."""
        g = self.generators
        cost = np.zeros(g.G.shape[1]) if cost is None else cost
        columns, width = self.balance.columns, self.shape[1]
        return Program(cost, columns, self.balance.load, 0, g.positive, g.cones, width)

    def force(self, x: np.ndarray) -> np.ndarray:
        """Forces (m, d) in units of ``size``."""
        return (self.generators.G @ x).reshape(self.shape)

    def scaled(self, load: np.ndarray) -> np.ndarray:
        """A load (n,) [N] on the kept columns, in units of ``size``."""
        return load[self.dofs] / self.arm / self.size

    def moves(self, y: np.ndarray) -> np.ndarray:
        """The motion (k,) of the kept columns that multipliers y (r,) of the balance are."""
        return self.balance.combine.T @ y

    def motion(self, u: np.ndarray) -> np.ndarray:
        """A motion (n,) from one (k,) of the kept columns."""
        out = np.zeros(self.n)
        out[self.dofs] = u / self.arm
        return out

    def displacement(self, u: np.ndarray) -> np.ndarray:
        """w (m, d) at the contacts of a motion (k,) of the kept columns."""
        return (self.rows @ u).reshape(self.shape)

    def imbalance(self, force: np.ndarray) -> float:
        """|R^T f - F~| of forces (m, d), largest entry, both in units of ``size``."""
        return float(np.abs(self.rows.T @ force.ravel() - self.load).max(initial=0.0))

    def outside(self, force: np.ndarray) -> float:
        """How far forces (m, d) lie outside their cones, at most: f_n < 0, or |f_t| > mu f_n."""
        beyond = np.linalg.norm(force[:, 1:], axis=1) - self.friction * force[:, 0]
        return float(max(0.0, (-force[:, 0]).max(initial=0.0), beyond.max(initial=0.0)))


def rough_contacts(
    B: MatrixLike,
    load: ArrayLike,
    *,
    tangential: MatrixLike,
    friction: ArrayLike,
    fixed: ArrayLike | None = None,
    sliding_direction: ArrayLike | None = None,
    blocks: ArrayLike | None = None,
    also: ArrayLike | None = None,
) -> RoughContacts:
    """Arguments as for ``compatible_forces``; also (n,): another load that counts for ``size``.

    Raises InputError for wrong shapes and negative friction.
    """
    B = arrays.sparse("B", B)
    m, n = B.shape
    rows, d = contact_rows(B, tangential)
    load = arrays.vector("load", load, n, what="degree of freedom (column of B)")
    friction = checked_friction(friction, m)
    free = arrays.free_columns(fixed, n)
    slide = np.zeros((m, d - 1))
    if sliding_direction is not None:
        slide = sliding_directions(sliding_direction, m, d)
    moved = MovedColumns.of(rows, free, blocks)
    loads = np.abs(load) if also is None else np.maximum(np.abs(load), np.abs(also))
    size = float((loads / moved.arm)[free].max(initial=0.0)) or 1.0
    return RoughContacts(
        rows=moved.B,
        load=moved.over_arms(load) / size,
        friction=friction,
        slide=slide,
        size=size,
        dofs=moved.dofs,
        arm=moved.arm[moved.dofs],
        n=n,
        starts=moved.starts,
        unmoved=float(loads[free & ~moved.touched].max(initial=0.0)) / size,
        loads=moved.over_arms(loads) / size,
    )


def refuse_friction(friction: ArrayLike, *others) -> None:
    """Raises InputError where friction is given without the rows T it acts along."""
    if np.any(friction) or any(other is not None for other in others):
        raise InputError("friction is given without tangential; expected the rows T")


def _generators(mu: np.ndarray, slide: np.ndarray, unit: np.ndarray) -> Generators:
    m, d = len(mu), slide.shape[1] + 1
    known = slide.any(axis=1)
    single = (mu == 0.0) | known
    rough, one = np.flatnonzero(~single), np.flatnonzero(single)
    parts = force_parts(mu, d) * unit[:, None]  # the largest force of a generator is one unit
    rows, columns, data = [d * one], [np.arange(len(one))], [parts[one, 0]]
    for a in range(1, d):
        rows.append(d * one + a)
        columns.append(np.arange(len(one)))
        data.append(parts[one, a] * slide[one, a - 1])
    first, count = len(one), len(rough)
    if d == 2:
        for k, sign in ((0, 1.0), (1, -1.0)):
            at = first + 2 * np.arange(count) + k
            rows += [d * rough, d * rough + 1]
            columns += [at, at]
            data += [parts[rough, 0], sign * parts[rough, 1]]
        positive, cones, each = first + 2 * count, 0, 2
    else:
        for a in range(d):
            rows.append(d * rough + a)
            columns.append(first + d * np.arange(count) + a)
            data.append(parts[rough, a])
        positive, cones, each = first, count, d
    N = first + each * count
    G = sp.csr_array(
        (np.concatenate(data), (np.concatenate(rows), np.concatenate(columns))), shape=(m * d, N)
    )
    G.eliminate_zeros()
    return Generators(G, np.concatenate([one, np.repeat(rough, each)]), positive, cones)
