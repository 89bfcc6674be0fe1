"""Motions that closed contacts hardly resist, as degrees of freedom of their own.

A rod held from opposite sides but for a tilt of 1e-9 leaves a motion w with |B w| = 1e-9 |w|, of
which K = B^T D B knows nothing: 1e-18, in double precision. Displacements grow to 1e9 overlaps
before contacts bear its load, and a proximal term bears it instead: within the tolerance of the
balance forces may then be off by their own size. Packings of some 1,000 contacts have one to four
such motions, next to none between 1e-5 and a hundredth. Measured by what contacts feel of them,

    B Z = Q diag(s),   Q^T Q = 1,   c = -B u - Q b,   B^T f = F~,   Q^T f = diag(1/s) Z^T F~,

the same problem has k more columns and no weak motions: b is of the size of overlaps, and Q is
known to 1e-16 / s, which is what last digits of B leave open.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy.sparse as sp

from .._support.products import transposed_product
from ..linear.low_rank_update import ChangingSystem


@dataclass(frozen=True)
class Settings:
    """strongest: |B w| / |w| up to which a motion is weak: shifts of K leave far stronger ones
    alone. weakest: the same below which nothing pins a force (``linear/column_scaling.py``).
    looked_for: how many may be found. rounds: of inverse iteration, which leave 1e-8 of the others
    each, but for the first. rounding: of the load, over its largest, and of entries of B. noise:
    what rounded normals and arms may make of B w. resisted: least stiffness of the working set
    along w, Q_W^T D Q_W less what others take, at which it holds forces.
    """

    strongest: float = 1e-4
    weakest: float = 1e-12
    looked_for: int = 16
    rounds: int = 3
    rounding: float = 1e-15
    noise: float = 1e-14
    resisted: float = 1e-9


@dataclass(frozen=True)
class WeakMotions:
    """Z (n, k), s (k,), Q (m, k), and the load along them Q^T f (k,). open: part of the largest
    force by which rounding of B, over s, may move forces, all of it at most; f >= 0 may hold them
    closer."""

    motion: np.ndarray
    size: np.ndarray
    felt: np.ndarray
    load: np.ndarray
    open: float = 0.0

    def extended(self, B: sp.csr_array, load: np.ndarray) -> tuple[sp.csr_array, np.ndarray]:
        """(B (m, n + k), load (n + k,)) with them."""
        wide = sp.csr_array(sp.hstack([B, sp.csr_array(self.felt)], format="csr"))
        return wide, np.append(load, self.load)

    def whole(self, moved: np.ndarray) -> np.ndarray:
        """The displacement (n,) of u and b, (n + k,)."""
        n = len(self.motion)
        return moved[:n] + self.motion @ (moved[n:] / self.size)


def weak_motions(
    system: ChangingSystem,
    load: np.ndarray,
    admissible: np.ndarray,
    settings: Settings = Settings(),
) -> WeakMotions | None:
    """Those of all contacts, by inverse iteration with the matrix of the working set; None if
    there are none.

    load (n,), which forces ``admissible`` (m,) balance: what these do along weak motions is known
    to all digits, while the load is to its own over s.

    A start in the range of B^T is orthogonal to motions that nothing resists, of which there are
    hundreds: they look like weak ones to K, and what rounding lets contacts feel of them, 1e-14,
    would be divided by s.
    """
    B = system.network.B
    D = np.where(system.working, system.D, 0.0)
    pushes = np.random.default_rng(0).normal(size=(settings.looked_for, B.shape[0]))
    x = np.column_stack([system.network.load_of(push) for push in pushes])
    for _ in range(settings.rounds):
        x = system.nearly(np.asfortranarray(x))
        x, _ = np.linalg.qr(x / np.abs(x).max(axis=0))
    # what the rounding of the factor leaves of motions that K resists
    held = np.column_stack([system.network.load_of(D * felt) for felt in (B @ x).T])
    x, _ = np.linalg.qr(x - system.nearly(np.asfortranarray(held)))
    felt, size, mix = np.linalg.svd(B @ x, full_matrices=False)
    weak = (size < settings.strongest) & (size > settings.weakest)
    if not weak.any():
        return None
    motion, size, felt = x @ mix[weak].T, size[weak], felt[:, weak]
    missing = load - system.network.load_of(admissible)
    missing[np.abs(missing) <= settings.rounding * np.abs(load).max()] = 0.0
    return WeakMotions(motion, size, felt, felt.T @ admissible + motion.T @ missing / size)


class Springs:
    """The contacts of a working set as two-sided springs D (s - B u - Q b) under a load.

    system: K of the working set, which is loaded here. offset: s (m,). load (n,). weak: Z, s and Q,
    or None. B (m, n + k) and loads (n + k,) with them; moved (n + k,): u and b.
    """

    def __init__(self, system: ChangingSystem, offset, load, weak: WeakMotions | None = None):
        self.system, self.offset, self.load, self.weak = system, offset, load, weak
        self.B, self.loads, self.load_of = system.network.B, load, system.network.load_of
        push, loads = system.D * offset, load
        if weak is not None:
            self.B, self.loads = weak.extended(self.B, load)
            self.load_of = partial(transposed_product, self.B)
            push = np.column_stack([push, system.D[:, None] * weak.felt])
            loads = np.zeros((len(load), push.shape[1]))
            loads[:, 0] = load
        system.load_with(push, loads)
        self.moved = np.zeros(len(self.loads))

    def forces(self) -> np.ndarray:
        """Forces (m,) of all contacts, held by those of the working set."""
        system, found = self.system, self.system.displacement()
        if self.weak is None:
            self.moved = found
            return system.D * (self.offset - self.B @ found)
        n, felt = len(found), system.network.B @ found
        self._take_out(found[:, 1:], felt[:, 1:])
        spring = system.D * (self.offset - felt[:, 0])
        self.moved = np.append(found[:, 0], np.zeros(found.shape[1] - 1))
        spring = spring - self._move(np.zeros(n), self._missing(spring)[n:])
        rest = self._missing(spring)  # once more, as changes of the working set cancel each other
        y = system.nearly(rest[:n] - system.shift * self.moved[:n])
        return spring - self._move(y, rest[n:])

    def bear_as(self, force: np.ndarray, settings: Settings = Settings()):
        """Take loads along weak motions for those that forces (m,) bear, where rounding of B is all
        that is between them: none but contacts that let go may resist such a motion. How far
        rounding leaves forces open along the others is told by ``weak.open``."""
        if self.weak is None:
            return
        weak, largest = self.weak, force.max()
        borne, known = weak.felt.T @ force, settings.noise / weak.size * largest
        load = np.where(np.abs(borne - weak.load) <= known, borne, weak.load)
        resisted, way = np.linalg.eigh(self._stiffness)
        yields = way * np.where(resisted > settings.resisted, 1 / resisted, 0.0) @ way.T
        moved = np.abs(self._springs[self.system.working] @ yields)
        open_ = float((moved @ (settings.rounding / weak.size)).max(initial=0.0))
        self.weak = replace(weak, load=load, open=min(open_, 1.0))
        self.loads = np.append(self.load, load)

    def _take_out(self, answers, felt):
        """Eliminate u: its ``answers`` (n, k) to b = 1, of which contacts feel (m, k)."""
        system, working = self.system, self.system.working
        self._answers, self._springs = answers, system.D[:, None] * (self.weak.felt - felt)
        stiffness = self.weak.felt[working].T @ self._springs[working]
        self._stiffness = stiffness + system.shift * np.eye(len(stiffness))

    def _missing(self, spring):
        """What forces of the working set bear beyond the loads, (n + k,)."""
        return self.load_of(np.where(self.system.working, spring, 0.0)) - self.loads

    def solve(self, rhs: np.ndarray) -> np.ndarray:
        """The motion x (n + k,) whose forces D (B, Q) x of the working set are those of rhs."""
        if self.weak is None:
            return self.system.solve(rhs)
        n, before = len(self.load), self.moved
        self._move(self.system.nearly(rhs[:n]), rhs[n:])
        return self.moved - before

    def _move(self, y, push):
        """Move by y (n,), and as far along weak motions as ``push`` (k,) drives them; by how much
        forces (m,) fall."""
        system = self.system
        eased = system.D * (system.network.B @ y)
        felt = self.weak.felt.T @ np.where(system.working, eased, 0.0)
        try:
            along = np.linalg.solve(self._stiffness, push - felt)
        except np.linalg.LinAlgError:  # nothing of the working set holds one of them
            along = np.full(len(push), np.nan)
        self.moved = self.moved + np.append(y - self._answers @ along, along)
        return eased + self._springs @ along
