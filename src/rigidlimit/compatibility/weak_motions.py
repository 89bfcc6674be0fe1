"""Weakly constrained motions as additional degrees of freedom.

A rod held from opposite sides, with a tilt of 1e-9, has a motion w with |B w| = 1e-9 |w|, which
K = B^T D B does not resolve: 1e-18, in double precision. Displacements grow to 1e9 overlaps
before contacts carry its load, and a proximal term carries it instead: within the tolerance of the
balance forces may then be off by their own size. Packings of some 1,000 contacts have one to four
such motions, hardly any between 1e-5 and a hundredth. Measured by the change of gaps,

    B Z = Q diag(s),   Q^T Q = 1,   c = -B u - Q b,   B^T f = F~,   Q^T f = diag(1/s) Z^T F~,

the same problem has k more columns and no weak motions: b is of the size of overlaps, and Q is
known to 1e-16 / s, the force error due to rounding of B.

In step 1 velocities respond to forces along w by |B w|^2, so that below some size, ``unresolved``,
no data determine the forces along a motion without a load. These are excluded from the balance:

    Z^T u = 0,   and loads along Z, s Q^T f, are those of the least energy.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from .._support.products import absolute_product
from ..linear.column_scaling import ROUNDING, ZERO
from ..linear.low_rank_update import ChangingSystem


@dataclass(frozen=True)
class Settings:
    """strongest: largest |B w| / |w| of a weak motion: shifts of K hardly affect far stronger ones.
    weakest: the same below which nothing determines a force (``linear/column_scaling.py``), and
    nothing: below which it is rounding of B. loaded: in place of weakest where the load is known by
    itself, to its rounding over s, and not by the forces that made it. looked_for: how many may be
    found. rounds: of inverse iteration, which leave 1e-8 of the others each, but for the first.
    rounding: of the load, over its largest, and of entries of B. noise: what rounded normals and
    arms may make of B w. resisted: least stiffness of the working set along w, Q_W^T D Q_W less
    that used by others, at which it holds forces. free: part of an excluded motion that nothing
    resists: rounding of K^-1 leaves some 1e-4.
    """

    strongest: float = 1e-4
    weakest: float = ROUNDING
    nothing: float = ZERO
    loaded: float = 1e-11
    looked_for: int = 16
    rounds: int = 3
    rounding: float = 1e-15
    noise: float = 1e-14
    resisted: float = 1e-9
    free: float = 1e-3


@dataclass(frozen=True)
class WeakMotions:
    """Z (n, k), s (k,), Q (m, k), and the load along them Q^T f (k,). out (n, l): Z of those
    excluded from the balance, which are not among these. open: bound on the force error due to
    rounding of B, over s, as a fraction of the largest force, at most 1; f >= 0 may limit it
    more."""

    motion: np.ndarray
    size: np.ndarray
    gap: np.ndarray
    load: np.ndarray
    out: np.ndarray
    open: float = 0.0

    def extended(self, B: sp.csr_array, load: np.ndarray) -> tuple[sp.csr_array, np.ndarray]:
        """(B (m, n + k), load (n + k,)) with them."""
        wide = sp.csr_array(sp.hstack([B, sp.csr_array(self.gap)], format="csr"))
        return wide, np.append(load, self.load)

    def missing(self, force: np.ndarray) -> np.ndarray:
        """What forces (m,) leave of the loads along them, (k,)."""
        return self.load - self.gap.T @ force

    def displacement(self, moved: np.ndarray) -> np.ndarray:
        """The displacement (n,) of u and b, (n + k,)."""
        n = len(self.motion)
        return moved[:n] + self.motion @ (moved[n:] / self.size)


def weak_motions(
    system: ChangingSystem,
    load: np.ndarray,
    admissible: np.ndarray,
    unresolved: float = 0.0,
    settings: Settings = Settings(),
) -> WeakMotions | None:
    """Those of all contacts, by inverse iteration with the matrix of the working set; None if
    there are none.

    load (n,), which forces ``admissible`` (m,) balance: what these do along weak motions is known
    to all digits, while the load is to its own over s.

    A start in the range of B^T is orthogonal to motions that nothing resists, of which there are
    hundreds: they look like weak ones to K, and what rounding makes gaps change in them, 1e-14,
    would be divided by s.
    """
    B = system.network.B
    D = np.where(system.working, system.D, 0.0)
    pushes = np.random.default_rng(0).normal(size=(settings.looked_for, B.shape[0]))
    x = np.column_stack([system.network.load_of(push) for push in pushes])
    for _ in range(settings.rounds):
        x = system.nearly(np.asfortranarray(x))
        x, _ = np.linalg.qr(x / np.abs(x).max(axis=0))
    # remainder of motions that K resists, by rounding of the factor
    held = np.column_stack([system.network.load_of(D * gap) for gap in (B @ x).T])
    x, _ = np.linalg.qr(x - system.nearly(np.asfortranarray(held)))
    gap, size, mix = np.linalg.svd(B @ x, full_matrices=False)
    x, largest = x @ mix.T, np.abs(load).max()
    out = (size <= unresolved) & (np.abs(load @ x) <= unresolved * largest)
    out &= size > settings.nothing
    missing = load - system.network.load_of(admissible)
    pressed = max(largest, absolute_product(B.T.tocsr(), admissible).max(initial=0.0))
    missing[np.abs(missing) <= settings.rounding * pressed] = 0.0
    least = settings.loaded if missing.any() else settings.weakest
    weak = (size < settings.strongest) & (size > least) & ~out
    if not (weak.any() or out.any()):
        return None
    motion, size, gap, out = x[:, weak], size[weak], gap[:, weak], x[:, out]
    along = gap.T @ admissible + motion.T @ missing / size
    return WeakMotions(motion, size, gap, along, out)


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
            self.B, self.loads = weak.extended(self.B, self._asked(load))
            self.load_of = self._asked_of
            none = np.zeros((len(push), weak.out.shape[1]))
            push = np.column_stack([push, system.D[:, None] * weak.gap, none])
            loads = np.zeros((len(load), push.shape[1]))
            loads[:, 0] = load
            loads[:, 1 + len(weak.size) :] = -system.shift * weak.out
        system.load_with(push, loads)
        self.moved = np.zeros(len(self.loads))

    def forces(self) -> np.ndarray:
        """Forces (m,) of all contacts, held by those of the working set."""
        system, found = self.system, self.system.displacement()
        if self.weak is None:
            self.moved = found
            return system.D * (self.offset - self.B @ found)
        n, gaps = len(found), system.network.B @ found
        self._take_out(found[:, 1:], gaps[:, 1:])
        spring = system.D * (self.offset - gaps[:, 0])
        self.moved = np.append(found[:, 0], np.zeros(len(self.weak.size)))
        spring = spring - self._move(np.zeros(n), self._missing(spring)[n:])
        rest = self._missing(spring)  # once more, as changes of the working set cancel each other
        y = system.nearly(rest[:n] - system.shift * self.moved[:n])
        return spring - self._move(y, rest[n:])

    def bear_as(self, force: np.ndarray, settings: Settings = Settings()):
        """Replace loads along weak motions by those that forces (m,) carry, where they differ by
        rounding of B only: only contacts that open may resist such a motion. ``weak.open``: force
        error due to rounding along the others."""
        if self.weak is None:
            return
        weak, largest = self.weak, force.max()
        borne, known = weak.gap.T @ force, settings.noise / weak.size * largest
        load = np.where(np.abs(borne - weak.load) <= known, borne, weak.load)
        self.weak = replace(weak, load=load, open=self._open(settings))
        self.loads = np.append(self._asked(self.load), load)

    def balanced(self, force: np.ndarray, settings: Settings = Settings()) -> np.ndarray:
        """The load (n,) with the part of the forces (m,) along excluded motions; these are known
        except for a part of those that nothing resists, which e (K + e)^-1 does not change."""
        if self.weak is None or not self.weak.out.size:
            return self.load
        missing = self.system.network.load_of(force) - self.load
        out = self._left_out(missing)
        free = self.system.shift * self.system.nearly(missing - out)
        if np.linalg.norm(free) <= settings.free * np.linalg.norm(out):
            out = out + free
        return self.load + out

    def _left_out(self, load):
        out = self.weak.out
        return out @ (out.T @ load)

    def _asked(self, load):
        """``load`` (n,) less that along motions left out."""
        return load - self._left_out(load)

    def _asked_of(self, force):
        """(n + k,) of forces (m,)."""
        return np.append(self._asked(self.system.network.load_of(force)), self.weak.gap.T @ force)

    def _open(self, settings: Settings) -> float:
        """``WeakMotions.open``."""
        k = len(self.weak.size)
        resisted, way = np.linalg.eigh(self._stiffness[:k, :k])
        yields = way * np.where(resisted > settings.resisted, 1 / resisted, 0.0) @ way.T
        moved = np.abs(self._springs[self.system.working][:, :k] @ yields)
        return min(float((moved @ (settings.rounding / self.weak.size)).max(initial=0.0)), 1.0)

    def _take_out(self, answers, gaps):
        """Eliminate u: its ``answers`` (n, k + l) to b = 1 and to loads along motions left out, by
        which gaps change by (m, k + l)."""
        system, weak, k = self.system, self.weak, len(self.weak.size)
        self._answers = answers
        self._springs = -system.D[:, None] * gaps
        self._springs[:, :k] += system.D[:, None] * weak.gap
        stiffness = weak.gap[system.working].T @ self._springs[system.working]
        stiffness[:, :k] += system.shift * np.eye(k)
        self._stiffness = np.vstack([stiffness, weak.out.T @ answers])

    def _missing(self, spring):
        """Forces of the working set minus the loads, (n + k,)."""
        return self.load_of(np.where(self.system.working, spring, 0.0)) - self.loads

    def solve(self, rhs: np.ndarray) -> np.ndarray:
        """The motion x (n + k,) whose forces D (B, Q) x of the working set are those of rhs."""
        if self.weak is None:
            return self.system.solve(rhs)
        n, before = len(self.load), self.moved
        self._move(self.system.nearly(rhs[:n]), rhs[n:])
        return self.moved - before

    def _move(self, y, push):
        """Move by y (n,), and as far along weak motions as ``push`` (k,) drives them, by nothing
        along those that are left out; by how much forces (m,) fall."""
        system, weak, n = self.system, self.weak, len(self.load)
        eased = system.D * (system.network.B @ y)
        taken = weak.gap.T @ np.where(system.working, eased, 0.0)
        driven = np.append(push - taken, weak.out.T @ (self.moved[:n] + y))
        try:
            along = np.linalg.solve(self._stiffness, driven)
        except np.linalg.LinAlgError:  # nothing of the working set holds one of them
            along = np.full(len(driven), np.nan)
        self.moved = self.moved + np.append(y - self._answers @ along, along[: len(push)])
        return eased + self._springs @ along
