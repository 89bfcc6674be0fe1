"""Friction forces that are moved, as little as Coulomb's law asks for, to go with mended normals.

How an engine shares out friction among the contacts of a foot is as open as how it shares out the
normal forces, and its friction belongs to its own normal forces. So with normal forces f mended,

- friction that holds becomes the nearest to the engine's that stays within its cone;
- a contact that slides stays at its bound, in the engine's direction: f_t = f_t' f/f';
- the resultant of all friction forces on every motion stays the engine's. What mended normal forces
  no longer push along motions that are left to friction (``friction_motions``) is added.

Bodies that hang together by contacts with friction are looked at on their own. Where there is no
such friction, the contacts that slide keep the engine's normal and friction force, which the others
take as given; where that does not do either, all contacts of these bodies do.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from .balance import Balance
from .cone_projection import nearest_admissible
from .coulomb import CoulombLaw
from .matrices import components, dense_block, entries, groups, scaled

ROUNDING = 1e-9
"""Part of the largest force of all below which forces of a set of bodies are rounding."""


@dataclass(frozen=True)
class Projected:
    """tangential (m, k) [N, N m]; keep (m,) bool: contacts that are to keep the engine's forces
    before this is an answer; missing: what friction lacks of the engine's resultant, over the
    largest normal force of the same bodies, the worst."""

    tangential: np.ndarray
    keep: np.ndarray
    missing: float


@dataclass(frozen=True)
class FrictionProjection:
    """Contacts with friction, and what their friction forces are to balance.

    tangential (m, k), before (m,) [N]: the engine's friction and normal forces; law: Coulomb's;
    share: part of what sliding contacts take that may be missing. along (m k, n): weighted
    velocities along the directions of friction, in units of the normal force that is needed;
    wanted (m, k): the engine's friction in these units; scale (n,); sets: (contacts, columns) of
    bodies that friction joins.
    """

    tangential: np.ndarray
    before: np.ndarray
    law: CoulombLaw
    share: float
    balance: Balance
    to_friction: tuple | None
    along: np.ndarray | sp.csr_array
    wanted: np.ndarray
    need: np.ndarray
    scale: np.ndarray
    sets: tuple

    @classmethod
    def of(cls, balance, to_friction, T, tangential, before, law, share) -> "FrictionProjection":
        """balance: of the motions that links leave; to_friction: those of them that are left to
        friction, as ``Balance`` has it; T (m k, n): velocities along the k directions of
        ``tangential`` (m, k) that are known, in the engine's."""
        m, k = tangential.shape
        # directions without friction, or without a bound, have no force that could be moved
        unbounded = (tangential == 0) & ~np.isfinite(law.friction[:, :k])
        friction = np.where(unbounded, 0.0, law.friction[:, :k])
        moves = ~balance.held
        if balance.restrained is not None:
            moves &= ~balance.restrained
        scale = np.where(moves, 1.0 / balance.reach, 0.0)
        along = scaled(balance.in_motions(T), rows=friction.ravel(), columns=scale)
        wanted = np.divide(tangential, friction, out=np.zeros((m, k)), where=friction > 0.0)
        need = law.needed(tangential)
        sets = tuple(_sets(along, k))
        law = CoulombLaw(friction, law.cone, law.tolerance)
        return cls(
            tangential, before, law, share, balance, to_friction, along, wanted, need, scale, sets
        )

    def onto(self, force, keep) -> Projected:
        """Friction for normal forces ``force`` (m,); keep (m,) bool: of contacts that keep the
        engine's."""
        tangential, keep = self.tangential.copy(), keep.copy()
        least = ROUNDING * max(float(force.max(initial=0.0)), float(self.before.max(initial=0.0)))
        more = self._left_to_friction(force)
        worst = 0.0
        for rows, columns in self.sets:
            if keep[rows].all():
                continue
            largest = max(float(force[rows].max()), float(self.before[rows].max()))
            slack = max(self.law.tolerance * largest, least)
            y, missing, near = self._nearest(rows, columns, force, keep, slack, more[columns])
            if (np.abs(missing) > near).any():
                slides = self._slides(rows, slack) & ~keep[rows]
                keep[rows[slides] if slides.any() else rows] = True
                continue
            worst = max(worst, float(np.abs(missing).max(initial=0.0)) / (largest or 1.0))
            if y is not None:
                other = y != self.wanted[rows]
                moved = self.law.friction[rows] * y
                tangential[rows] = np.where(other, moved, tangential[rows])
        return Projected(tangential, keep, worst)

    def _left_to_friction(self, force):
        """What normal forces do not balance along the motions that are friction's, (n,)."""
        balance = self.balance
        if self.to_friction is None:
            return np.zeros(self.along.shape[1])
        motions, left = self.to_friction
        missing = motions.load(balance.load - balance.B.T @ force)
        return self.scale * motions.load_back(np.where(left, missing, 0.0))

    def _slides(self, rows, slack):
        need = self.need[rows]
        return (need > slack) & (need >= self.before[rows] - slack)

    def _nearest(self, rows, columns, force, keep, slack, more):
        """(y or None for the engine's, what is missing, what may be missing) of one set."""
        k = self.wanted.shape[1]
        places = (k * rows[:, None] + np.arange(k)).ravel()
        A = dense_block(self.along, places, columns).T
        wanted, before, force = self.wanted[rows], self.before[rows], force[rows]
        slides = self._slides(rows, slack)
        tied = slides | keep[rows]
        # where the engine's own bound is another than the one that is checked, it stays that
        own = np.where(before > slack, before, np.maximum(self.need[rows], slack))
        grown = np.where(keep[rows], 1.0, force / own)
        y = np.where(
            (tied & (np.abs(force - before) > slack))[:, None], grown[:, None] * wanted, wanted
        )
        missing = A @ (wanted - y).ravel() + more
        inside = tied | (self.need[rows] <= force + slack)
        if inside.all() and np.abs(missing).max(initial=0.0) <= slack:
            return (None if (y == wanted).all() else y), missing, np.full(len(columns), slack)
        takes = np.linalg.norm(A * (y * tied[:, None]).ravel(), axis=1)
        near = np.maximum(slack, np.where(keep[rows].any(), 0.0, self.share * takes))
        holds = np.flatnonzero(~tied)
        free = (k * holds[:, None] + np.arange(k)).ravel()
        target = missing + A[:, free] @ y[holds].ravel()
        y[holds], missing = nearest_admissible(
            sp.csr_array(A[:, free]),
            target,
            wanted[holds],
            force[holds],
            self.law.norm,
            0.1 * slack,
            near,
        )
        return y, missing, near


def _sets(along, k):
    """(contacts, columns) of each set of bodies that friction joins; along (m k, n)."""
    row, column, _ = entries(along)
    label = components(along, np.ones(along.shape[1], bool))[0][column]
    for part in groups(label).values():
        yield np.unique(row[part] // k), np.unique(column[part])
