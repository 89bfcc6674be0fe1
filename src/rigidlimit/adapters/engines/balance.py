"""The reduced balance: the motions along which contact forces must balance their load.

In turn left out are motions that rigid links restrain (``links``) and weakly determined ones: of
one body or mechanism (``weak_motions``) and, where forces are seen to depend on them, of several
(``weak_motions_of_several``).
"""

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from ..._support.matrices import Matrix, taken
from ..._support.words import counted
from ...equilibrium.rows import rows_of
from .links import without_links
from .matrices import components, delivered, entries, numbered, product, without_columns
from .motions import Reduction
from .tolerances import TOLERANCES
from .weak_motions import weak_motions
from .weak_motions_of_several import hangs_on_rounding, weak_motions_of_several

RIGID = 6
"""Motions of a rigid body."""


@dataclass(frozen=True)
class Balance:
    """B^T f = load in some motions of an engine.

    B (d m, n), load (n,); held (n,) bool; mechanism (n,) int, or None where it is not known; reach,
    accuracy (n,); force (d m,) [N]: the engine's, or zeros. directions: rows d of each contact, one
    after another, normal first. lean (m,) [rad], or None: how uncertain each contact's
    normal is; stated: accuracy that the caller gives, its largest, or None. motions: what B's
    columns are, one change after another, none: the engine's velocities. notes: what was left out.
    """

    B: Matrix
    load: np.ndarray
    held: np.ndarray
    mechanism: np.ndarray | None
    reach: np.ndarray
    accuracy: np.ndarray
    force: np.ndarray
    lean: np.ndarray | None = None
    stated: float | None = None
    motions: tuple[sp.csr_array, ...] = ()
    notes: tuple[str, ...] = ()
    directions: int = 1

    def velocities(self, x: np.ndarray) -> np.ndarray:
        """Engine's velocities (n,) of amounts (n,) of the motions."""
        for motions in reversed(self.motions):
            x = motions @ x
        return x

    def matrix(self) -> sp.csr_array:
        """Motions (n, n) in the engine's velocities, one a column."""
        full = sp.csr_array(sp.eye_array(len(self.load)))
        for motions in self.motions:
            full = sp.csr_array(full @ motions)
        return full

    @property
    def normal_rows(self) -> Matrix:
        """(m, n) of B."""
        return self.B[:: self.directions]

    @property
    def tangential_rows(self) -> Matrix:
        """((d - 1) m, n) of B, contact by contact."""
        return self.B[np.arange(self.B.shape[0]) % self.directions > 0]

    def of(self, contacts: np.ndarray) -> "Balance":
        """Of some contacts: indices, in their order."""
        d = self.directions
        if len(contacts) == len(self.force) // d:
            return self
        lean = None if self.lean is None else self.lean[contacts]
        rows = rows_of(np.asarray(contacts), d)
        return replace(self, B=taken((self.B,), rows), force=self.force[rows], lean=lean)

    def alone(self, contacts: np.ndarray) -> "Balance":
        """Of the contacts (indices) of one island, with the load on the bodies that they touch."""
        part = self.of(contacts)
        own = part._touched
        if self.mechanism is not None:
            own = np.isin(self.mechanism, self.mechanism[own & ~self.held])
        return replace(part, load=np.where(own, self.load, 0.0))

    def _why(self, limit: float) -> str:
        """Why motions of several bodies below ``limit`` are left out, where it is the normals."""
        if limit <= TOLERANCES.slight or limit == self.stated:
            return ""
        return (
            ": faces of bodies lean on each other by as much, and the engine takes the normal of "
            "either, by the order of geoms; balance along them would let that decide the forces"
        )

    @property
    def unresisted(self) -> np.ndarray:
        """(n,) bool: loads on what no contact touches, and that are more than rounding."""
        size = np.where(self.held, 0.0, np.abs(self.load)) / self.reach
        return ~self._touched & (size > TOLERANCES.unresisted * size.max(initial=0.0))

    @property
    def _touched(self):
        touched = np.zeros(len(self.load), bool)
        touched[entries(self.B)[1]] = True
        return touched

    @property
    def islands(self) -> np.ndarray:
        """Number from 0 of the set of bodies that each contact belongs to, (m,) int: those that
        contacts join, whose forces do not depend on the others'."""
        label = self.mechanism
        if label is not None:
            label = numbered(label)
        of_contact = components(self.B, ~self.held, label, each=self.directions)[1]
        return numbered(of_contact)

    def noted(self, *notes: str) -> "Balance":
        """With more notes."""
        return replace(self, notes=(*self.notes, *notes))

    def reduced(self, reduction: Reduction | None) -> "Balance":
        """In new motions, without those that are left out; itself for None."""
        if reduction is None:
            return self
        motions = reduction.motions
        # a load that is not small stays, and is then said not to be carried
        load = np.where(reduction.unloaded, 0.0, delivered(motions, self.load))
        return replace(
            self,
            B=without_columns(product(self.B, motions), reduction.gone),
            load=load,
            reach=np.where(reduction.changed, 1.0, self.reach),
            motions=(*self.motions, motions),
        )

    def without_links(
        self, links: Matrix | None, accuracy: np.ndarray | None, bearing: np.ndarray
    ) -> "tuple[Balance, np.ndarray]":
        """Without the motions that ``links`` (k, n), of accuracy (k,), restrain; and which
        contacts push on none of the others, (m,) bool: their forces are taken out of the load.
        bearing (m,) bool: contacts that carry force."""
        if links is None or not links.shape[0]:
            return self, np.zeros(len(bearing), bool)
        mechanism = np.arange(len(self.load)) if self.mechanism is None else self.mechanism
        found = without_links(self.B, self.held, mechanism, self.reach, links, accuracy)
        more = f" ({found.redundant} of them redundant)" if found.redundant else ""
        balance = self.noted(f"{counted(links.shape[0], 'row')} of rigid links{more}")
        free = ~self.held
        if found.reduction is not None:
            balance = replace(balance.reduced(found.reduction), B=found.B)
        before, after = (abs(A.normal_rows[:, free]).sum(axis=1) > 0 for A in (self, balance))
        within = bearing & before & ~after
        if within.any():
            balance = balance.noted(
                f"{counted(int(within.sum()), 'contact')} between parts that links hold to each "
                "other or to what does not move: the engine's force is kept"
            )
            inner = np.where(np.repeat(within, self.directions), self.force, 0.0)
            balance = replace(balance, load=balance.load - balance.B.T @ inner)
        # what moves as one rigid body does so exactly, however far off its links are
        size = np.bincount(
            found.mechanism[free], minlength=int(found.mechanism.max(initial=-1)) + 1
        )
        inexact = np.where(size[found.mechanism] > RIGID, found.accuracy, 0.0)
        return replace(
            balance, mechanism=found.mechanism, accuracy=np.maximum(balance.accuracy, inexact)
        ), within

    def without_weak_motions(self) -> "Balance":
        """Without the motions of one mechanism that geometry resolves as noise only."""
        if self.mechanism is None:
            return self
        reduction = weak_motions(self)
        balance = self.reduced(reduction)
        if reduction is None or not reduction.count:
            return balance
        most = self.accuracy.max(initial=0.0)
        count = counted(reduction.count, "motion")
        return balance.noted(f"{count} that gaps resist by less than {most:.0e} left out")

    def without_weak_motions_of_several(
        self, displacement: np.ndarray, overlap: np.ndarray
    ) -> "Balance":
        """Without the weakly determined motions of several bodies, if forces with ``displacement``
        (n,) and ``overlap`` (m,) depend on them; itself if not. Without mechanism, or for too many
        bodies at once, that is only noted."""
        if self.mechanism is None:
            if not hangs_on_rounding(self, displacement, overlap):
                return self
            return self.noted(
                "elastic displacements are more than a million overlaps long: forces depend on "
                "what may be rounding in B; with mechanism= and reach= such motions are left out"
            )
        out, large, limit = weak_motions_of_several(self, displacement, overlap)
        balance = self
        if large:
            balance = balance.noted(
                f"elastic displacements of {counted(large, 'set')} of bodies, too large to look "
                "into, are thousands of overlaps long: forces there may depend on "
                "rounding of normals"
            )
        if not len(out):
            return balance
        gone = np.zeros(len(self.load), bool)
        gone[out] = True
        balance = balance.noted(
            f"{counted(len(out), 'motion')} of several bodies together that gaps resist by less "
            f"than {limit:.0e} left out{self._why(limit)}"
        )
        load = np.where(gone, 0.0, self.load)
        return replace(balance, B=without_columns(self.B, gone), load=load)
