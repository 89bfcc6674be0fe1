"""Which motions of an engine's bodies and mechanisms the balance of its normal forces is asked for.

In turns: motions that rigid links restrain are left out (``links``), then those that are friction's
to balance (``sliding``), then those that the engine's geometry resolves only as noise: of one body
or mechanism (``noise``) and, where forces are seen to hang on them, of several (``together``).
"""

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from ..words import counted
from .links import without_links
from .mechanisms import ROUNDING
from .noise import without_noise
from .sliding import without_sliding
from .together import SLIGHT, felt_by_nothing, hangs_on_rounding

RIGID = 6
"""Motions of a rigid body."""


@dataclass(frozen=True)
class Balance:
    """B (m, n) and load (n,) in ``motions`` (n, n) of the engine's velocities, None: in these; held
    (n,) bool; mechanism (n,) int or None and reach (n,) of each column; accuracy (n,); force (m,):
    the engine's, or zeros; restrained (n,) bool or None: by links; handed: motions (n, n) in turn
    of these, and which are left to friction, (n,) bool, or None; notes: what was left out."""

    B: sp.csr_array
    load: np.ndarray
    held: np.ndarray
    mechanism: np.ndarray | None
    reach: np.ndarray
    accuracy: np.ndarray
    force: np.ndarray
    motions: sp.csr_array | None = None
    restrained: np.ndarray | None = None
    handed: tuple[sp.csr_array, np.ndarray] | None = None
    notes: tuple[str, ...] = ()

    def linked(self, links, link_accuracy, closed) -> "tuple[Balance, np.ndarray]":
        """Without the motions that ``links`` restrain; rows that push on none of the others, (m,)
        bool: their forces are taken out of the load. closed (m,) bool: rows that bear."""
        none = np.zeros(self.B.shape[0], bool)
        if links is None or not links.shape[0]:
            return self, none
        n = len(self.load)
        mechanism = np.arange(n) if self.mechanism is None else self.mechanism
        B, load, motions, new, stopped, mechanism, exact, redundant = without_links(
            self.B, self.load, self.held, mechanism, self.reach, links, link_accuracy
        )
        more = f" ({redundant} of them redundant)" if redundant else ""
        notes = [f"{counted(links.shape[0], 'row')} of rigid links{more}"]
        free = ~self.held
        before, after = (np.abs(A[:, free]).sum(axis=1) > 0 for A in (self.B, B))
        within = closed & before & ~after
        if within.any():
            notes.append(
                f"{counted(int(within.sum()), 'contact')} between parts that links hold to each "
                "other or to what does not move: the engine's force is kept"
            )
            load = load - B.T @ np.where(within, self.force, 0.0)
        balance = self._in(B, load, motions, new, *notes)
        # what moves as one rigid body does so exactly, however far off its links are
        size = np.bincount(mechanism[free], minlength=int(mechanism.max(initial=-1)) + 1)
        inexact = np.where(size[mechanism] > RIGID, exact, 0.0)
        accuracy = np.maximum(self.accuracy, inexact)
        balance = replace(balance, mechanism=mechanism, accuracy=accuracy, restrained=stopped)
        return balance, within

    def of(self, rows) -> "Balance":
        """Of some rows of B: indices."""
        return replace(self, B=self.B[rows], force=self.force[rows])

    def beside(self, kept) -> "Balance":
        """Of the rows that are not ``kept`` (m,) bool, the engine's forces of those given."""
        if not kept.any():
            return self
        given = np.where(kept, self.force, 0.0)
        load = self.load - self.B.T @ given
        # what they carry alone is not to be left over as rounding, a load that nothing carries
        size = np.abs(self.load) + abs(self.B).T @ given
        rest = self.of(np.flatnonzero(~kept))
        return replace(rest, load=np.where(np.abs(load) > ROUNDING * size, load, 0.0))

    def without_sliding(self, sliding, hold, share) -> "Balance":
        """Without the motions that are friction's; sliding (2 m, n): in the engine's velocities."""
        if sliding is None or self.mechanism is None:
            return self
        B, load, motions, new, left = without_sliding(
            self.B,
            self.load,
            self.held,
            self.mechanism,
            self.reach,
            share,
            self.accuracy,
            sliding if self.motions is None else sliding @ self.motions,
            hold,
            self.force,
        )
        notes = []
        if left:  # never where the share is zero
            notes.append(
                f"{counted(left, 'sliding motion')} left to friction, which can take "
                f"{1 / share:.3g} times what normal forces push along them"
            )
        balance = self._in(B, load, motions, new, *notes)
        if motions is None:
            return balance
        pushed, asked = (np.abs(A).sum(axis=0) > 0 for A in (self.B @ motions, B))
        return replace(balance, handed=(motions, pushed & ~asked))

    def without_noise(self) -> "Balance":
        """Without the motions that gaps feel as noise only."""
        B, load, motions, new, dull = without_noise(
            self.B,
            self.load,
            self.held,
            self.mechanism,
            self.reach,
            self.accuracy,
            self.force,
        )
        most = self.accuracy.max(initial=0.0)
        note = f"{counted(dull, 'motion')} that gaps feel by less than {most:.0e} left out"
        return self._in(B, load, motions, new, *([note] if dull else []))

    def without_together(self, displacement, overlap) -> "Balance":
        """Without the motions of several bodies together that gaps feel by next to nothing, if
        forces with ``displacement`` (n,) and ``overlap`` (m,) hang on them; itself if not. Without
        mechanism, or for too many bodies at once, that is told as a note only."""
        if self.mechanism is None:
            if not hangs_on_rounding(displacement, overlap, self.held, self.reach):
                return self
            note = (
                "elastic displacements are more than a million overlaps long: forces hang on what "
                "may be rounding in B; with mechanism= and reach= such motions are left out"
            )
            return replace(self, notes=(*self.notes, note))
        out, large = felt_by_nothing(
            self.B,
            self.load,
            self.held,
            self.reach,
            self.accuracy,
            self.force,
            displacement,
            overlap,
        )
        notes = list(self.notes)
        if large:
            notes.append(
                f"elastic displacements of {counted(large, 'set')} of bodies, too large to look "
                "into, are thousands of overlaps long: forces there may hang on rounding of normals"
            )
        if len(out):
            notes.append(
                f"{counted(len(out), 'motion')} of several bodies together that gaps feel by less "
                f"than {SLIGHT:.0e} left out"
            )
        if not len(out):
            return replace(self, notes=tuple(notes)) if large else self
        kept = np.ones(len(self.load))
        kept[out] = 0.0
        B = self.B.copy()
        B.data *= kept[B.indices]
        B.eliminate_zeros()
        return replace(self, B=B, load=kept * self.load, notes=tuple(notes))

    def _in(self, B, load, motions, new, *notes):
        notes = (*self.notes, *notes)
        if motions is None:
            return replace(self, B=B, load=load, notes=notes)
        if self.motions is not None:
            motions = sp.csr_array(self.motions @ motions)
        reach = np.where(new, 1.0, self.reach)
        return replace(self, B=B, load=load, motions=motions, reach=reach, notes=notes)
