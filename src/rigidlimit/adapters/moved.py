"""Friction forces that are moved, as little as Coulomb's law asks for, to go with mended normals.

How an engine shares out friction among the contacts of a foot is as open as how it shares out the
normal forces, and its friction belongs to its own normal forces. So with normal forces f mended,

- friction that holds becomes the nearest to the engine's that stays within its cone;
- a contact that slides stays at its bound, in the engine's direction: f_t = f_t' f/f';
- the resultant of all friction forces on every motion stays the engine's. What mended normal forces
  no longer push along motions that are left to friction (``sliding``) is added.

Bodies that hang together by contacts with friction are looked at on their own. Where there is no
such friction, the contacts that slide keep the engine's normal and friction force, which the others
take as given; where that does not do either, all contacts of these bodies do.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from .admissible import nearest_admissible
from .friction import CONES, needed
from .mechanisms import components, groups

ROUNDING = 1e-9
"""Part of the largest force of all below which forces of a set of bodies are rounding."""


@dataclass(frozen=True)
class Moved:
    """tangential (m, k) [N, N m]; keep (m,) bool: contacts that are to keep the engine's forces
    before this is an answer; missing: what friction lacks of the engine's resultant, over the
    largest normal force of the same bodies, the worst."""

    tangential: np.ndarray
    keep: np.ndarray
    missing: float


class Grip:
    """Contacts with friction, and what their friction forces are to balance.

    balance: of the motions that links leave; handed: those of them that are left to friction, as
    ``Balance`` has it; sliding (m s, n): velocities along the
    directions of ``tangential`` (m, k), the engine's, none beyond the first s; friction (m, k);
    before (m,) [N]: the engine's normal forces; cone, tolerance, share: as for ``mend_forces``.
    """

    def __init__(
        self, balance, handed, sliding, tangential, friction, before, cone, tolerance, share
    ):
        m, s = len(tangential), sliding.shape[0] // len(tangential)
        k = min(s, tangential.shape[1])
        sliding = sliding[(s * np.arange(m)[:, None] + np.arange(k)).ravel()]
        self.need = needed(tangential, friction, cone)
        tangential = tangential[:, :k]
        # directions without friction, or without a bound, have no force that could be moved
        friction = np.where((tangential == 0) & ~np.isfinite(friction[:, :k]), 0.0, friction[:, :k])
        self.before, self.tangential, self.friction = before, tangential, friction
        self.norm, self.tolerance, self.share = CONES[cone], tolerance, share
        moves = ~balance.held
        if balance.restrained is not None:
            moves &= ~balance.restrained
        along = sliding if balance.motions is None else sliding @ balance.motions
        scale = np.where(moves, 1.0 / balance.reach, 0.0)
        along = sp.diags_array(friction.ravel()) @ along @ sp.diags_array(scale)
        self.along = sp.csr_array(along)
        self.along.eliminate_zeros()
        self.wanted = np.divide(tangential, friction, out=np.zeros((m, k)), where=friction > 0.0)
        self.balance, self.scale, self.handed = balance, scale, handed
        if handed is not None:
            self.back = splu(sp.csc_array(handed[0].T))
        self.parts = self._parts(m, k)

    def _parts(self, m, k):
        """(contacts, columns) of each set of bodies that friction joins."""
        entries = sp.coo_array(self.along)
        n = self.along.shape[1]
        label = components(self.along, np.ones(n, bool), np.arange(n))[entries.col]
        return [
            (np.unique(entries.row[part] // k), np.unique(entries.col[part]))
            for part in groups(label).values()
        ]

    def moved(self, force, keep) -> Moved:
        """Friction for normal forces ``force`` (m,); keep (m,) bool: of contacts that keep the
        engine's."""
        tangential, keep = self.tangential.copy(), keep.copy()
        least = ROUNDING * max(float(force.max(initial=0.0)), float(self.before.max(initial=0.0)))
        more = self._left_to_friction(force)
        worst = 0.0
        for rows, columns in self.parts:
            if keep[rows].all():
                continue
            largest = max(float(force[rows].max()), float(self.before[rows].max()))
            slack = max(self.tolerance * largest, least)
            y, missing, near = self._nearest(rows, columns, force, keep, slack, more[columns])
            if (np.abs(missing) > near).any():
                slides = self._slides(rows, slack) & ~keep[rows]
                keep[rows[slides] if slides.any() else rows] = True
                continue
            worst = max(worst, float(np.abs(missing).max(initial=0.0)) / (largest or 1.0))
            if y is not None:
                other = y != self.wanted[rows]
                tangential[rows] = np.where(other, self.friction[rows] * y, tangential[rows])
        return Moved(tangential, keep, worst)

    def _left_to_friction(self, force):
        """What normal forces do not balance along the motions that are friction's, (n,)."""
        balance = self.balance
        if self.handed is None:
            return np.zeros(self.along.shape[1])
        motions, left = self.handed
        missing = motions.T @ (balance.load - balance.B.T @ force)
        return self.scale * self.back.solve(np.where(left, missing, 0.0))

    def _slides(self, rows, slack):
        need = self.need[rows]
        return (need > slack) & (need >= self.before[rows] - slack)

    def _nearest(self, rows, columns, force, keep, slack, more):
        """(y or None for the engine's, what is missing, what may be missing) of one set."""
        k = self.wanted.shape[1]
        places = (k * rows[:, None] + np.arange(k)).ravel()
        A = sp.csr_array(self.along[places][:, columns].T)
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
        each = sp.csr_array(A @ sp.diags_array((y * tied[:, None]).ravel()))
        takes = np.sqrt(np.asarray(each.multiply(each).sum(axis=1)).ravel())
        near = np.maximum(slack, np.where(keep[rows].any(), 0.0, self.share * takes))
        holds = np.flatnonzero(~tied)
        free = (k * holds[:, None] + np.arange(k)).ravel()
        target = missing + A[:, free] @ y[holds].ravel()
        y[holds], missing = nearest_admissible(
            A[:, free], target, wanted[holds], force[holds], self.norm, 0.1 * slack, near
        )
        return y, missing, near
