"""One implicit increment of the elastic contact law with inertia: motion and forces together.

    M (v - v0)/dt = F + B^T f,      f = law(c0 - dt (B v + b)),      backward Euler

``law`` is that of ``equilibrium/law.py``: Coulomb friction with springs, whose stiffnesses are in
the ratios of the bodies' own, and s times as stiff as inertia: a contact at the reference stiffness
has K = s rho, rho = d/tr(dt B M^-1 B^T) the stiffness [N s/m] of inertia, of the median contact. As
s grows, forces tend to those of rigid bodies in the stiff limit, with an error that falls as 1/s.

c0, the overlap of the springs when the step begins, is what the contact remembers, c_k, as long as
the gap of the geometry is below ``slop``. Beyond, active contacts open by the excess,

    c0 = min(c_k, -gap + slop),

and open ones have their gap. Below, the opening of an open contact is at most ``LEFT`` slop more
and ``slop`` less than its gap. A rough network at rest has more rows than its bodies have motions,
so that gaps of rounding or of compliance could not all be closed. Overlaps of bodies beyond that of
springs change no forces: ``separation.py`` undoes them after the step. What is remembered is the
force, over K, and of open contacts, beyond what springs give way by, the length by which they are
apart. A contact that remembers nothing has the overlap zero, or its gap if it is open.

All is written in velocities: lengths over dt.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from .._support.submatrix import submatrix
from ..bodies.materials import MINDLIN
from ..compatibility.rough_result import ContactHistory
from ..dynamics.given import Given
from ..dynamics.inertia import coupled, inverse_mass, inverse_root
from ..equilibrium.dense import SMALL, Dense
from ..equilibrium.law import ContactLaw
from ..equilibrium.mechanics import Bodies, Inertia
from ..linear import column_arms
from .sweeps import Blocks, packed

PRESTRESSED = 1e-4
"""Part of the velocity that remembered forces would give their contacts in a step: below, residuals
of 1e-10 are the rounding of those forces."""

GIVES = 100.0
"""Forces of springs over those that stop impacts, at most, for what bodies at rest give way by: at
the foot of a packing of some ten layers they are ten times those."""

LEFT = 2.0
"""Overlap over ``slop`` that is left. Gaps change with the second order of the way that surfaces
slide to and fro: were less left, active contacts would open on the way back."""


@dataclass(frozen=True)
class ContactSprings:
    """The law of m contacts, of which only the ratios of stiffness matter.

    normal, tangential (m,): k_n of f_n = k_n c^(p-1), k_t of f_t = k_t c^(p-2) xi. friction (m,):
    mu. exponent: p. tangential_law: "mindlin" or "mindlin/force".
    """

    normal: np.ndarray
    tangential: np.ndarray
    friction: np.ndarray
    exponent: float
    tangential_law: str


@dataclass(frozen=True)
class Springs:
    """The law at one stiffness s: w = B v + rigid + lead goes into ``law``.

    scale: of the springs, k over that of ``ContactSprings`` [N/m^(p-1)]. rigid (m, d) [m/s]: what
    bodies of any stiffness have: velocities of held bodies, gaps. lead (m, d) [m/s]: displacements
    that springs begin with, which tend to zero as s grows. begun [W]: energy of the springs over dt
    when the step begins.
    """

    s: float
    scale: float
    law: ContactLaw
    rigid: np.ndarray
    lead: np.ndarray
    begun: float

    def energy(self, force: np.ndarray) -> float:
        """Of the springs under forces (m, d) [N], over dt [W]."""
        return _energy(self.law, force)

    @property
    def offset(self) -> np.ndarray:
        """What is added to B v, (m, d) [m/s]."""
        return self.rigid + self.lead


@dataclass(frozen=True)
class Increment:
    """The data of one increment: m contacts of d rows that can be moved, n free velocities.

    step: what was given. moved (m,): indices of the contacts among those given, in the order in
    which sweeps go over them, as all that follows. dofs (n,): of the degrees of freedom. rows (m d,
    n): B. mass, inverse (n, n): M and M^-1. root (n, n): L with L L^T = dt M^-1, v = L y; rooted (m
    d, n): B L. v_free (n,) [m/s]: v0 + dt M^-1 F. driven (m, d) [m/s]: velocities that held bodies
    give the contacts. rho (m,) [N s/m]: d/tr(W_ii). scale [m/s]: the fastest contact without
    contact forces, the unit of residuals. history: what the contacts remember, of springs of the
    scale ``remembered`` (0: as they are now). gap (m,) [m]. slop (m,) [m]. way (m,) [m]: by which
    surfaces move past each other or turn in a step, at the velocities when it begins.
    """

    step: Given
    springs: ContactSprings
    history: ContactHistory
    remembered: float
    moved: np.ndarray
    dofs: np.ndarray
    rows: sp.csr_array
    mass: sp.csr_array
    inverse: sp.csr_array
    root: sp.csr_array
    rooted: sp.csr_array
    v_free: np.ndarray
    driven: np.ndarray
    rho: np.ndarray
    scale: float
    gap: np.ndarray
    slop: np.ndarray
    way: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        """(m, d)."""
        return self.driven.shape

    @property
    def small(self) -> bool:
        """Whether linear systems are dense and compiled."""
        return isinstance(self.mechanics, Dense)

    @cached_property
    def blocks(self) -> Blocks:
        """What sweeps go over: B L, contact by contact."""
        return packed(self.rooted, self.shape[1])

    @cached_property
    def y_free(self) -> np.ndarray:
        return self.root.T @ (self.mass @ self.v_free) / self.step.dt

    @cached_property
    def _rho(self) -> float:
        """Of the median contact."""
        return float(np.median(self.rho))

    @cached_property
    def arm(self) -> np.ndarray:
        """Longest arm of each column of B, (n,)."""
        return np.maximum(column_arms(self.rows)[0], np.finfo(float).tiny)

    @cached_property
    def weight(self) -> np.ndarray:
        """Roots of the inertia, (n,), of the mean body about one: unknowns of linear systems are
        velocities times these, so that norms of residuals are energies."""
        root = np.sqrt(self.mass.diagonal())
        return root / np.exp(np.mean(np.log(root / self.arm)))

    @cached_property
    def mechanics(self) -> "Bodies | Dense":
        """Bodies with inertia between the contacts, in the unknowns weight * v."""
        dt, arm, response = self.step.dt, self.weight, self.step.dt * (self.rows @ self.inverse)
        if len(self.dofs) <= SMALL:
            return Dense(
                response.toarray() * arm,
                arm * self.v_free,
                self.shape[1],
                rows=self.rows.toarray() / arm,
                unit=self.scale * arm / self.arm,
            )
        columns, arms = sp.diags_array(1.0 / arm), sp.diags_array(arm)
        return Bodies(
            submatrix(self.rows, scale=1.0 / arm),
            (self.mass @ self.v_free) / arm / dt,
            self.shape[1],
            inertia=Inertia(
                sp.csr_array(columns @ self.mass @ columns / dt),
                sp.csr_array(arms @ self.inverse @ arms * dt),
                sp.csr_array(response @ arms),
            ),
            offset=np.zeros(self.shape),
            unit=self.scale / (self.inverse.diagonal() * self.arm * arm * dt),
        )

    @property
    def begins(self) -> bool:
        """Whether contacts remember no forces, as in the first step of a scene."""
        return not self.history.normal.any()

    def among(self, which: np.ndarray) -> "Increment":
        """That of the contacts ``which`` (k,), in this order."""
        d, given, kept = self.shape[1], self.springs, self.history
        rows = (d * which[:, None] + np.arange(d)).ravel()
        springs = replace(
            given,
            normal=given.normal[which],
            tangential=given.tangential[which],
            friction=given.friction[which],
        )
        return replace(
            self,
            springs=springs,
            history=ContactHistory(kept.normal[which], kept.tangential[which]),
            moved=self.moved[which],
            rows=self.rows[rows],
            rooted=self.rooted[rows],
            driven=self.driven[which],
            rho=self.rho[which],
            gap=self.gap[which],
            slop=self.slop[which],
            way=self.way[which],
        )

    def velocity(self, force: np.ndarray) -> np.ndarray:
        """v (n,) [m/s] with contact forces (m, d) [N]."""
        return self.v_free + self.step.dt * (self.inverse @ (self.rows.T @ force.ravel()))

    def contact_velocity(self, v: np.ndarray) -> np.ndarray:
        """B v and what is driven, (m, d) [m/s]."""
        return (self.rows @ v).reshape(self.shape) + self.driven

    def springs_at(self, s: float) -> Springs:
        """The law at the stiffness s."""
        given, p, (m, d) = self.springs, self.springs.exponent, self.shape
        k_ref = float(np.median(given.normal))
        # a force at which the slope (p - 1) f / c is to be s rho
        force = self._rho * self.scale
        size = force * (s * self._rho / ((p - 1.0) * force)) ** (p - 1.0) / k_ref
        normal, tangential = size * given.normal, size * given.tangential
        history, dt = self.history, self.step.dt
        kept = history.tangential
        scale = size / dt ** (p - 1.0)
        of_springs, apart = remembered_lengths(
            history.normal, given.normal, p, scale, self.remembered, GIVES * self.impact
        )
        of_springs, apart = of_springs / dt, apart / dt
        known = np.sign(history.normal) * (of_springs + apart)
        by_gap, slop = -self.gap / dt, self.slop / dt
        # open by a displacement of springs
        near = np.clip(known, by_gap - LEFT * slop, by_gap + slop)
        known = np.where(history.normal < 0.0, np.minimum(near, 0.0), known)
        known = np.where(history.normal == 0.0, np.minimum(by_gap, 0.0), known)
        most = np.where(history.normal > 0.0, by_gap + slop, by_gap)
        overlap = np.where(-by_gap > slop, np.minimum(known, most), known)
        remembered = np.maximum(known, 0.0)
        rigid, lead = self.driven.copy(), np.zeros((m, d))
        # what springs have opened by, not gaps
        opened = np.minimum(-np.minimum(known, 0.0), of_springs)
        opened = np.where((history.normal < 0.0) & (overlap == known), opened, 0.0)
        rigid[:, 0] += self._bias(remembered - overlap) - opened
        lead[:, 0] = opened - remembered
        if p != 2.0 and given.tangential_law == MINDLIN:
            # the spring's length is kept: its force grows with the radius
            bears = remembered > 0.0
            spring = np.where(bears, tangential * np.where(bears, remembered, 1.0) ** (p - 2), 1.0)
            lead[:, 1:] = np.where(bears[:, None], -kept / spring[:, None], 0.0)
            kept = np.zeros((m, d - 1))
        law = ContactLaw(normal, tangential, given.friction, kept, p)
        begun = np.column_stack([normal * np.maximum(overlap, 0.0) ** (p - 1), history.tangential])
        return Springs(s, scale, law, rigid, lead, _energy(law, begun))

    def slopes(self, s: float) -> np.ndarray:
        """Stiffnesses (m,) [N s/m] of the contacts at s under forces that stop impacts."""
        return s * self._rho * self.springs.normal / float(np.median(self.springs.normal))

    @property
    def impact(self) -> float:
        """Force [N] that stops the fastest contact within the step."""
        return self._rho * self.scale

    @property
    def load(self) -> float:
        """Sum [N] of the loads on all bodies."""
        return float((np.abs(self.step.external_force[self.dofs]) / self.arm).sum())

    def stiffness_of(self, force: float) -> float:
        """s at which a contact gives way by the median ``slop`` under this force [N]."""
        return force * self.step.dt / (self._rho * float(np.median(self.slop)))

    def _bias(self, opening: np.ndarray) -> np.ndarray:
        """Normal velocity (m,) [m/s] that the contacts have at least, of ``contact_bias``."""
        if not np.any(self.step.restitution):
            return opening
        gap = self.step.gap.copy()
        gap[self.moved] = opening * self.step.dt
        return self.step.bias(gap)[self.moved]

    @property
    def idle(self) -> bool:
        """Whether no contact closes or remembers anything: bodies fall freely."""
        if self.history.normal.any():
            return False
        u = self.contact_velocity(self.v_free)
        return not (u[:, 0] < -np.maximum(self.gap, 0.0) / self.step.dt).any()


def remembered_lengths(
    normal: np.ndarray,
    stiffness: np.ndarray,
    exponent: float,
    scale: float,
    before: float,
    most: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Lengths (m,) [m]: by which springs are pressed or open, and contacts are apart beyond that.

    normal (m,) [N]: remembered, negative where open, of springs of the scale ``before`` (0: as
    now); stiffness (m,): of ``ContactSprings``; scale: of the springs now. Openings up to the force
    ``most`` are of springs, and change with their scale; the rest is a distance.
    """
    size = np.abs(normal)

    def length(force: np.ndarray, scale: float) -> np.ndarray:
        return (force / (scale * stiffness)) ** (1.0 / (exponent - 1.0))

    if not before:
        return length(size, scale), np.zeros(len(size))
    springs = np.where(normal < 0.0, np.minimum(size, most), size)
    return length(springs, scale), length(size, before) - length(springs, before)


def _energy(law: ContactLaw, force: np.ndarray) -> float:
    """Of the springs under forces (m, d) [N], over dt [W]."""
    p, bears = law.exponent, force[:, 0] > 0.0
    normal, tangential = law.normal[bears], law.tangential[bears]
    overlap = (force[bears, 0] / normal) ** (1.0 / (p - 1.0))
    rubs = (force[bears, 1:] ** 2).sum(axis=1) / (tangential * overlap ** (p - 2.0))
    return float(force[bears, 0] @ overlap / p + 0.5 * rubs.sum())


def prepare(
    step: Given,
    rows: sp.csr_array,
    d: int,
    springs: ContactSprings,
    history: ContactHistory | None,
    *,
    remembered: float,
    overlap: float,
    size: np.ndarray,
    order: np.ndarray,
) -> Increment:
    """The increment of these m contacts.

    rows (m d, 6 n): B, contact by contact, normal first. remembered: scale of the springs whose
    forces ``history`` has. size (m,) [m]: of the smaller body; overlap: ``slop`` over it. order
    (m,): for sweeps.
    """
    m = len(step.gap)
    free, velocity, dt = step.free, step.velocity, step.dt
    dofs = np.flatnonzero(free)
    mass = sp.csr_array(step.M[dofs][:, dofs])
    inverse = inverse_mass(mass, dofs, coupled(mass))
    v_free = velocity[dofs] + dt * (inverse @ step.external_force[dofs])
    driven = (rows @ np.where(free, 0.0, velocity)).reshape(m, d)
    inner = sp.csr_array(rows[:, dofs])
    root = inverse_root(sp.csr_array(mass / dt))
    rooted = sp.csr_array(inner @ root)
    contact = np.repeat(np.arange(m), np.diff(rooted.indptr[::d]))
    trace = np.bincount(contact, rooted.data**2, m)  # of dt B M^-1 B^T
    moved = order[trace[order] > 0.0]
    if history is None:
        history = ContactHistory(np.zeros(m), np.zeros((m, d - 1)))
    u = (inner @ v_free).reshape(m, d) + driven
    rho = d / np.where(trace > 0.0, trace, np.inf)
    # where next to nothing moves, residuals are in parts of what remembered forces would move
    begun = float((np.maximum(history.normal, 0.0)[moved] / rho[moved]).max(initial=0.0))
    scale = max(float(np.abs(u[moved]).max(initial=0.0)), PRESTRESSED * begun)
    turns = np.where(np.arange(len(velocity)) % 6 >= 3, np.abs(velocity), 0.0)
    way = (np.abs(rows @ velocity) + abs(rows) @ turns).reshape(m, d).max(axis=1) * dt
    return Increment(
        step,
        springs,
        history,
        remembered,
        np.arange(m),
        dofs,
        inner,
        mass,
        inverse,
        root,
        rooted,
        v_free,
        driven,
        rho,
        scale or 1.0,
        step.gap,
        overlap * size,
        way,
    ).among(moved)
