"""What a rough elastic contact answers: Coulomb's law with springs, and its derivative.

A contact has a displacement w = (w_n, w_t) of its second body relative to its first, normal first
(w_n > 0 opens), and answers with a force f = (f_n, f_t) on the second body:

    overlap      c   = max(0, -w_n)
    normal       f_n = k_n c^(p-1)
    trial        t   = s - k_t c^(p-2) w_t          s: tangential force kept from before
    tangential   f_t = t if |t| <= mu f_n, else mu f_n t/|t|

With p = 2 (Hooke) this is the return map of elastoplasticity with Coulomb's cone: associated in the
tangent plane, not associated along the normal, so that its derivative is not symmetric. A positive
p - 2 makes the tangential stiffness follow the contact radius, as Mindlin's does for Hertz.
Contacts that are known to slide (step 1) have the direction of their tangential force given, and
answer with mu f_n along it. The associated law of Hooke's contacts, by which a cone's nearest force
answers (in the metric of the compliances), is that of least energy; where they are
known to slide it is the nearest force along their direction.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numba import njit

from .._support.arrays import contiguous
from .._support.compiled import INNER

BOUND = 1e-9
"""Part of mu f_n by which a tangential force may be off it and slide."""


class CompiledLaw(NamedTuple):
    """What compiled code takes of a ``ContactLaw``, of the same fields. sliding (m,) bool: contacts
    that are known to slide, along ``slide``; elsewhere that says nothing."""

    normal: np.ndarray
    tangential: np.ndarray
    friction: np.ndarray
    kept: np.ndarray
    exponent: float
    sliding: np.ndarray
    slide: np.ndarray


@dataclass(frozen=True)
class ContactLaw:
    """The law of m contacts of d rows each (d = 2 in the plane, 3 in space).

    normal, tangential (m,): stiffness k_n, k_t. friction (m,): mu. kept (m, d-1): tangential force
    s kept from before. exponent: p. slide (m, d-1): unit direction of the tangential force of
    contacts that are known to slide, zero elsewhere; None: nowhere. associated: the law of least
    energy (p = 2, without kept forces).
    """

    normal: np.ndarray
    tangential: np.ndarray
    friction: np.ndarray
    kept: np.ndarray
    exponent: float = 2.0
    slide: np.ndarray | None = None
    associated: bool = False

    @cached_property
    def sliding(self) -> np.ndarray:
        """Contacts that are known to slide, (m,) bool."""
        m = len(self.friction)
        return np.zeros(m, bool) if self.slide is None else self.slide.any(axis=1)

    def respond(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(force (m, d), D (m, d, d)) at the displacement w (m, d); D = -df/dw."""
        force, D = np.empty_like(w), np.empty((*w.shape, w.shape[1]))
        kernel = respond_associated if self.associated else respond
        kernel(self.compiled, w, force, D)
        return force, D

    def force(self, w: np.ndarray) -> np.ndarray:
        """Force (m, d) at the displacement w (m, d)."""
        return self.respond(w)[0]

    def bearing(self, force: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Displacement (m, d) at which springs bear forces (m, d) in the cones, else as near to w
        as may be: contacts without force are open, sliding ones slip as far as by w."""
        p, out = self.exponent, w.copy()
        normal, tangential = force[:, 0], force[:, 1:]
        bears = normal > 0.0
        overlap = (np.where(bears, normal, self.normal) / self.normal) ** (1.0 / (p - 1.0))
        out[:, 0] = np.where(bears, -overlap, np.maximum(w[:, 0], 0.0))
        slope = (self.tangential * overlap ** (p - 2.0))[:, None]
        trial = np.linalg.norm(self.kept - slope * w[:, 1:], axis=1)
        size, bound = np.linalg.norm(tangential, axis=1), self.friction * normal
        slides = (size > 0.0) & (size >= (1.0 - BOUND) * bound)
        longer = np.where(slides, np.maximum(trial, (1.0 + BOUND) * size), size)
        longer /= np.where(size > 0.0, size, 1.0)
        borne = (self.kept - longer[:, None] * tangential) / slope
        out[:, 1:] = np.where(bears[:, None] & (self.friction > 0.0)[:, None], borne, w[:, 1:])
        return out

    def give(self, force: np.ndarray) -> np.ndarray:
        """C f (m, d): how far Hooke's springs give way under forces (m, d)."""
        return force / np.column_stack([self.normal] + [self.tangential] * (force.shape[1] - 1))

    def work(self, force: np.ndarray) -> float:
        """f . C f, twice the energy of Hooke's springs under forces (m, d)."""
        return float((force * self.give(force)).sum())

    def energy_gap(self, w: np.ndarray, force: np.ndarray) -> float:
        """How far the energy of forces (m, d) in the cones can be above the least for their load,
        by displacements w (m, d): of the associated law, never negative.

        The energy less the dual one is |f - p|^2 / 2 + f . (C p + w), with the metric C and p the
        law's answer to w; C p + w is in the dual of the cone.
        """
        answer = self.force(w)
        off = 0.5 * self.work(force - answer)
        return off + max(0.0, float((force * (self.give(answer) + w)).sum()))

    def secant(self, w: np.ndarray, force: np.ndarray) -> np.ndarray:
        """D (m, d, d) with which force = b - D w: slopes from the displacement at which a contact
        begins to bear, the bound of friction held. Symmetric and not negative, but where contacts
        are known to slide."""
        D = np.zeros((*w.shape, w.shape[1]))
        secant_blocks(self.compiled, w, force, D)
        return D

    def sticking(self, force_size: float) -> np.ndarray:
        """D (m, d, d) of contacts that all stick, pressed by ``force_size`` [N]."""
        m, d = len(self.normal), self.kept.shape[1] + 1
        D = np.empty((m, d, d))
        sticking_blocks(self.compiled, force_size, D)
        return D

    @property
    def compiled(self) -> CompiledLaw:
        """What compiled code takes: arrays of one kind, for others kernels are compiled again."""
        kept = contiguous(self.kept)
        return CompiledLaw(
            contiguous(self.normal),
            contiguous(self.tangential),
            contiguous(self.friction),
            kept,
            float(self.exponent),
            self.sliding,
            kept if self.slide is None else contiguous(self.slide),
        )


@njit(cache=True, nogil=True)
def sticking_blocks(law: CompiledLaw, force_size: float, D: np.ndarray):
    """``ContactLaw.sticking``, into D."""
    k_n, k_t, mu, p = law.normal, law.tangential, law.friction, law.exponent
    for i in range(len(D)):
        radius = 1.0 if p == 2.0 else (force_size / k_n[i]) ** ((p - 2.0) / (p - 1.0))
        D[i] = 0.0
        D[i, 0, 0] = k_n[i] * radius
        if mu[i] > 0.0:
            for a in range(1, D.shape[1]):
                D[i, a, a] = k_t[i] * radius


@njit(cache=True, nogil=True)
def secant_blocks(law: CompiledLaw, w: np.ndarray, force: np.ndarray, D: np.ndarray):
    """``ContactLaw.secant``, into D, which is zero."""
    k_n, k_t, mu, kept, p, sliding, slide = law
    m, d = w.shape
    for i in range(m):
        overlap = -w[i, 0]
        if not overlap > 0.0:
            continue
        radius = 1.0 if p == 2.0 else overlap ** (p - 2.0)
        D[i, 0, 0] = k_n[i] * radius
        if sliding[i]:
            for a in range(1, d):
                D[i, a, 0] = mu[i] * slide[i, a - 1] * D[i, 0, 0]
            continue
        k, trial, bound = k_t[i] * radius, 0.0, 0.0
        for a in range(1, d):
            trial += (kept[i, a - 1] - k * w[i, a]) ** 2
            bound += force[i, a] ** 2
        if bound < trial:
            k *= np.sqrt(bound / trial)
        for a in range(1, d):
            D[i, a, a] = k


@njit(cache=True, nogil=True)
def respond(law: CompiledLaw, w: np.ndarray, force: np.ndarray, D: np.ndarray):
    """``ContactLaw.respond`` of a law that is not associated, into force and D."""
    k_n, k_t, mu, kept, p, sliding, slide = law
    m, d = w.shape
    trial = np.empty(d)
    for i in range(m):
        force[i] = 0.0
        D[i] = 0.0
        overlap = -w[i, 0]
        if not overlap > 0.0:
            continue
        radius = 1.0 if p == 2.0 else overlap ** (p - 2.0)
        normal = k_n[i] * radius * overlap
        slope = k_n[i] * (p - 1.0) * radius
        force[i, 0], D[i, 0, 0] = normal, slope
        bound = mu[i] * normal
        if not bound > 0.0:
            continue
        if sliding[i]:
            for a in range(1, d):
                force[i, a] = bound * slide[i, a - 1]
                D[i, a, 0] = mu[i] * slope * slide[i, a - 1]
            continue
        k = k_t[i] * radius
        size = 0.0
        for a in range(1, d):
            trial[a] = kept[i, a - 1] - k * w[i, a]
            size += trial[a] * trial[a]
        size = np.sqrt(size)
        if size <= bound:
            softer = (p - 2.0) / overlap
            for a in range(1, d):
                force[i, a] = trial[a]
                D[i, a, a] = k
                # along the normal: the overlap sets the tangential stiffness
                D[i, a, 0] = -softer * k * w[i, a]
            continue
        for a in range(1, d):
            ea = trial[a] / size
            force[i, a] = bound * ea
            along = 0.0
            for b in range(1, d):
                eb = trial[b] / size
                part = bound / size * ((1.0 if a == b else 0.0) - ea * eb)
                D[i, a, b] = k * part
                along += part * w[i, b]
            D[i, a, 0] = mu[i] * slope * ea
            if p != 2.0:
                D[i, a, 0] -= (p - 2.0) / overlap * k * along


@njit(**INNER)
def _respond_along(i, law, w, force, D):
    """The force f_n (1, mu e) of contact i nearest to the trial force; e: ``slide``."""
    d, slide = w.shape[1], law.slide
    k_n, k_t, mu = law.normal[i], law.tangential[i], law.friction[i]
    opening = w[i, 0]
    for a in range(1, d):
        opening += mu * slide[i, a - 1] * w[i, a]
    if opening >= 0.0:
        return
    stiffness = 1.0 / (1.0 / k_n + mu * mu / k_t)
    for a in range(d):
        ea = 1.0 if a == 0 else mu * slide[i, a - 1]
        force[i, a] = -stiffness * opening * ea
        for b in range(d):
            D[i, a, b] = stiffness * ea * (1.0 if b == 0 else mu * slide[i, b - 1])


@njit(cache=True, nogil=True)
def respond_associated(law: CompiledLaw, w: np.ndarray, force: np.ndarray, D: np.ndarray):
    """``ContactLaw.respond`` of the associated law (Hooke's springs, nothing kept): the force
    of the cone nearest to the trial force, in the metric of the compliances, and D."""
    k_n, k_t, mu, sliding = law.normal, law.tangential, law.friction, law.sliding
    m, d = w.shape
    for i in range(m):
        force[i] = 0.0
        D[i] = 0.0
        if sliding[i]:
            _respond_along(i, law, w, force, D)
            continue
        normal, size = -k_n[i] * w[i, 0], 0.0
        for a in range(1, d):
            size += (k_t[i] * w[i, a]) ** 2
        size = np.sqrt(size)
        if size <= mu[i] * normal:
            force[i, 0], D[i, 0, 0] = normal, k_n[i]
            for a in range(1, d):
                force[i, a], D[i, a, a] = -k_t[i] * w[i, a], k_t[i]
            continue
        if normal / k_n[i] + mu[i] * size / k_t[i] <= 0.0:
            continue
        give = 1.0 / k_n[i] + mu[i] * mu[i] / k_t[i]
        force[i, 0] = (normal / k_n[i] + mu[i] * size / k_t[i]) / give
        D[i, 0, 0] = 1.0 / give
        if mu[i] == 0.0:
            continue
        bound = mu[i] * force[i, 0]
        for a in range(1, d):
            ea = -k_t[i] * w[i, a] / size
            force[i, a] = bound * ea
            D[i, 0, a] = D[i, a, 0] = mu[i] / give * ea
            for b in range(1, d):
                eb = -k_t[i] * w[i, b] / size
                across = (1.0 if a == b else 0.0) - ea * eb
                D[i, a, b] = mu[i] * mu[i] / give * ea * eb + bound / size * k_t[i] * across
