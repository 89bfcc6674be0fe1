"""Penalty method for any convex shape: contacts by the scene's own contact search.

Slow and general. The contacts are found again whenever a body has travelled ``reach``; in between
their gaps change by B q (see ``network.py``). reach = sqrt(linear c l), with c the overlap under a
body's own weight and l the scene's length, keeps the error of a gap below linear of that overlap in
motion. At rest ``settled`` searches contacts again until the travel since then causes no error.

A periodic cell is the last body, as in contact dynamics: its columns of B and its mass move it, and
it is pushed by its stress at the volume that it had when the contacts were found.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..bodies import Bodies, HalfSpace, State, rotations
from ..bodies.cell import CellFrame, volume_of
from ..bodies.mass import block_matrix, inverse_blocks, mass_blocks, world_inertia
from ..bodies.motion import shifted
from ..collision.contacts import Contacts, empty
from ..collision.search import find_contacts
from ..compatibility.friction import (
    contact_friction,
    contact_tangential_stiffness,
    tangential_ratio,
)
from ..compatibility.law import contact_stiffness
from ..kinematics import (
    carry_tangential,
    framed,
    gap_gradient,
    in_frame,
    in_world,
    mean_turn,
    tangential_gradient,
)
from . import network
from .ball_records import Pace
from .engine import Law, Measures, check_finite, expected_tangent
from .friction import spring_energy
from .law import damping_coefficient, static_overlap
from .squeezed import push_of_stress
from .timestep import critical_step


@dataclass(frozen=True)
class Listed:
    """m contacts of n bodies. B (m, 6 n): gap gradient; k (m,): stiffness; contact_mass (m,):
    1 / (B M^-1 B^T)_ii, 0 between held bodies; g (m,): damping. T, ratio (m,): tangential gradient
    and k_t/k_n, None without friction. network, tangents: what kernels take.
    """

    contacts: Contacts
    B: sp.csr_array
    k: np.ndarray
    contact_mass: np.ndarray
    g: np.ndarray
    network: network.Network
    tangents: network.Tangents
    T: sp.csr_array | None = None
    ratio: np.ndarray | None = None

    @classmethod
    def none(cls, bodies: Bodies) -> "Listed":
        """No contacts yet."""
        nothing, index = np.zeros(0), np.zeros(1, np.int64)
        B = sp.csr_array((0, 6 * len(bodies)))
        rows = network.Network(index, index[:0], nothing, nothing, nothing, nothing)
        contacts = framed(empty(len(bodies)), bodies.dim)
        return cls(contacts, B, nothing, nothing, nothing, rows, _frictionless())

    @classmethod
    def of(
        cls,
        bodies: Bodies,
        state: State,
        contacts: Contacts,
        inverse_mass: sp.csr_array,
        law: Law,
        before: "tuple[Listed, np.ndarray]",
    ) -> "Listed":
        """Of these contacts. inverse_mass (6 n, 6 n): M^-1. before: those listed so far, whose
        tangential springs go on, and by how much bodies have turned since (n, 6)."""
        B = gap_gradient(bodies, state, contacts)
        k = law.scale * contact_stiffness(bodies, contacts, law.exponent, law.pair_stiffness)
        response = np.asarray(((B @ inverse_mass) * B).sum(axis=1)).ravel()
        mass = np.divide(1.0, response, out=np.zeros(len(response)), where=response > 0)
        g = damping_coefficient(k, mass, law.exponent, law.damping)
        rows = network.Network(*_as_rows(B), contacts.gap, k, g)
        T = ratio = None
        tangents = _frictionless()
        if law.friction is not None:
            contacts = framed(contacts, bodies.dim, before[0].contacts)
            T = tangential_gradient(bodies, state, contacts)
            ratio = tangential_ratio(bodies, contacts, law.friction.pair_ratio)
            tangents = _tangents(bodies, contacts, T, k, law, _carried(contacts, bodies, *before))
        return cls(contacts, B, k, mass, g, rows, tangents, T, ratio)


def _as_rows(A: sp.csr_array):
    return A.indptr.astype(np.int64), A.indices.astype(np.int64), A.data


def _frictionless() -> network.Tangents:
    none, index = np.zeros(0), np.zeros(1, np.int64)
    return network.Tangents(index, index, none, none, none, np.zeros((0, 3)), 1.0, False)


def _carried(contacts, bodies, before: Listed, turned) -> np.ndarray:
    """Tangential springs (m, 3) of the contacts before, on these."""
    spring, each = np.zeros((len(contacts), 3)), bodies.dim - 1
    old = before.contacts
    if len(old):
        along = in_world(old, before.tangents.spring[:, :each])
        carried = carry_tangential(contacts, old, along, mean_turn(contacts, turned, 1.0))
        spring[:, :each] = in_frame(contacts, carried)
    return spring


def _tangents(bodies, contacts, T, k, law: Law, spring) -> network.Tangents:
    friction = law.friction
    return network.Tangents(
        *_as_rows(T),
        contact_friction(bodies, contacts, friction.pair_friction),
        contact_tangential_stiffness(bodies, contacts, k, law.exponent, friction.pair_ratio),
        spring,
        friction.damping,
        friction.keeps_force,
    )


@dataclass(frozen=True)
class Settings:
    """When contacts are found again.

    linear: largest error of a gap in motion, over the overlap under a body's own weight.
    exact: the same at rest; also the travel over the scene's length, which changes arms.
    lag: longest time between two searches over sqrt(l/g), the time scale of rocking: bodies on
        frozen contact points have no righting moment.
    """

    linear: float = 1e-2
    exact: float = 1e-9
    lag: float = 0.02


SETTINGS = Settings()


class NetworkEngine:
    """State of a running penalty simulation of convex bodies. See ``engine.Engine``."""

    kind = "convex"

    def __init__(self, bodies, state, external_force, law: Law, threads: int = 1):
        self.bodies, self.law = bodies, law
        self._state = state
        self.held = ~bodies.free.ravel()
        self.set_external(external_force)
        self.plane, self.is_cell = bodies.are(HalfSpace), bodies.are(CellFrame)
        radius = bodies.bounding_radius
        self.radius = np.where(np.isfinite(radius), radius, 0.0)
        if bodies.cell is not None:
            self.radius[-1] = 1.0  # all of its rates are velocities
        self.arm = np.tile([1.0, 1.0, 1.0, 0.0, 0.0, 0.0], len(bodies))
        self.arm[self.arm == 0] = np.repeat(np.where(self.radius > 0, self.radius, 1.0), 3)
        self.next_reach = 1e-3 * bodies.length
        self.listed = Listed.none(bodies)
        self.q = np.zeros(6 * len(bodies))
        self.v = np.array(state.velocity, float).ravel()
        self.seen = self.v.copy()  # by the springs, see ``friction.rub``
        self.total = np.zeros(6 * len(bodies))
        self._find()

    @property
    def state(self) -> State:
        q = self.q.reshape(-1, 6)
        old, turn = self._state, np.where(self.is_cell[:, None], 0.0, q[:, 3:])
        moved = old.moved(
            quaternion=rotations.turned(old.quaternion, turn), velocity=self.v.reshape(-1, 6).copy()
        )
        return shifted(self.bodies, moved, q)

    @property
    def time(self) -> float:
        return self._state.time

    def advance(self, steps: int, dt: float, alpha: float, quench: bool) -> int:
        """Make up to ``steps`` steps, fewer where the contacts had to be found again."""
        steps = max(1, int(min(steps, self.lag / dt)))
        moving = network.Moving(
            self.q, self.v, self.total, self.seen, self.external, self.rate, self.inverse,
            self.inertia, self.diagonal, self.radius,
        )  # fmt: skip
        made, code = network.advance(
            self.listed.network,
            self.listed.tangents,
            moving,
            Pace(steps, dt, alpha, quench),
            self.reach,
            self.law.exponent,
            self.law.tensile,
        )
        self._state = self._state.moved(time=self._state.time + made * dt)
        # also after each call: for bodies that rock slowly contact points then move in time
        if code == network.STALE or not self._exact():
            self._find()
        return made

    def keep_step(self) -> None:
        """Nothing to do: how far contacts are listed does not follow the pace."""

    def stop(self) -> None:
        """All free bodies come to a halt; forces are those of the pose."""
        self.v[~self.held] = 0.0
        self.seen = self.v.copy()
        self._respond(self.total)

    def set_external(
        self, external_force: np.ndarray, later: np.ndarray | None = None, over: float = 1.0
    ) -> None:
        """Other loads (6 n,) [N, N m] from now on, evenly going over to ``later`` (6 n,) within
        ``over`` [s] if that is given."""
        self.external = np.where(self.held, 0.0, external_force)
        later = self.external if later is None else np.where(self.held, 0.0, later)
        self.rate = (later - self.external) / over
        push, cell = push_of_stress(self.bodies), self.bodies.cell
        if cell is not None:  # whose stress was given as a force at the volume of the scene
            share = volume_of(self._state.cell) / cell.volume
            self.external[-6:] *= share
            self.rate[-6:] *= share
        self.weight = np.maximum(*(
            np.linalg.norm(load.reshape(-1, 6)[:, :3], axis=1) for load in (self.external, later)
        ))  # fmt: skip
        if cell is not None:
            self.weight[-1] = 0.0
        self.weight = np.where(self.bodies.free.any(axis=1), np.maximum(self.weight, push), 0.0)
        mass = np.where(self.bodies.mass > 0, self.bodies.mass, np.inf)
        pull = (self.weight / mass).max(initial=0.0)
        self.lag = SETTINGS.lag * np.sqrt(self.bodies.length / pull) if pull > 0 else np.inf

    def settled(self) -> bool:
        """Whether the gaps are exact; if not, they are by the next call."""
        if not self._exact():
            self._find()
            return False
        return True

    def _exact(self) -> bool:
        travel = np.abs(self.q.reshape(-1, 6))
        far = (travel[:, :3].max(axis=1) + self.radius * travel[:, 3:].max(axis=1)).max(initial=0.0)
        length = self.bodies.length
        # the first is an error of gaps, the second one of the arms about which forces turn
        return bool(
            far**2 <= SETTINGS.exact * self.typical_overlap * length
            and far <= SETTINGS.exact * length
        )

    def limit(self) -> float:
        """Critical time step [s] with every contact found counted as closed."""
        if self._limit is None or self.law.exponent != 2:
            _, overlap, closing = self._measure()
            listed, body = self.listed, self.listed.contacts.body
            push = np.maximum(self.weight[body[:, 0]], self.weight[body[:, 1]])
            tangent, ahead = expected_tangent(
                self.law, listed.k, listed.contact_mass, overlap, closing, push
            )
            gamma = listed.g * ahead ** (0.5 * self.law.exponent - 1)
            B = listed.B
            if self.law.friction is not None:
                B = sp.csr_array(sp.vstack([B, listed.T]))
                each = self.bodies.dim - 1
                along = np.repeat(listed.ratio * tangent, each)
                damping = np.repeat(self.law.friction.damping * gamma, each)
                tangent, gamma = np.r_[tangent, along], np.r_[gamma, damping]
            self._limit = critical_step(B, self.inverse_mass, tangent, gamma)
        return self._limit

    def measures(self) -> Measures:
        force, overlap, _ = self._measure()
        v = np.where(self.held, 0.0, self.v)
        p = self.law.exponent
        balance = np.where(self.held, 0.0, self.total + self.external) / self.arm
        if self.bodies.cell is not None:
            balance[-6:] *= self.bodies.cell_length**self.bodies.dim / volume_of(self._state.cell)
        springs = 0.0
        if self.law.friction is not None:
            rub = self.listed.tangents
            springs = spring_energy(rub.spring, rub.stiffness, overlap, p, rub.keeps_force)
        return Measures(
            kinetic_energy=float(0.5 * v @ (self.mass @ v)),
            elastic_energy=float((self.listed.k * np.maximum(overlap, 0) ** p).sum() / p) + springs,
            unbalanced=float(np.abs(balance).max(initial=0.0)),
            largest_force=float(force.max(initial=0.0)),
            speed=float(np.linalg.norm((v * self.arm).reshape(-1, 6), axis=1).max(initial=0.0)),
            contacts=int((force > 0).sum()),
        )

    def contact_forces(self, reach: float) -> tuple[Contacts, np.ndarray]:
        """Contacts with gap <= reach and the force [N] of each."""
        force = self._measure()[0]
        contacts = find_contacts(self.bodies, self.state, np.where(self.plane, 0.0, reach))
        contacts = contacts.select(contacts.gap <= reach)
        return contacts, contacts.nearest(self.listed.contacts, force)

    def tangential_forces(self, contacts: Contacts) -> np.ndarray:
        """Tangential force (m, 3) [N] on the second body of each of these contacts."""
        if self.law.friction is None:
            return np.zeros((len(contacts), 3))
        _, along = self._respond(np.empty_like(self.total))
        listed = self.listed.contacts
        force = in_world(listed, along[:, : self.bodies.dim - 1])
        return carry_tangential(contacts, listed, force)

    def _measure(self):
        return self._respond(np.empty_like(self.total))[0]

    def _respond(self, total):
        """(force, overlap, closing speed (3, m), f_t along the tangents (m, 3)) at present."""
        p, listed = self.law.exponent, self.listed
        found = network.contact_response(
            listed.network, self.q, self.seen, p, self.law.tensile, total
        )
        rubs = listed.tangents, found, listed.g, self.seen, p, 0.0, total
        return found, network.friction_response(*rubs)

    def _find(self):
        """Contacts, B and M at the present poses."""
        bodies, law = self.bodies, self.law
        state = self.state
        check_finite(bodies, state.position)
        if bodies.cell is not None:
            grown = volume_of(state.cell) / volume_of(self._state.cell)
            self.external[-6:] *= grown
            self.rate[-6:] *= grown
        self._state = state
        turned = self.q.reshape(-1, 6).copy()
        self.q[:] = 0.0
        blocks = mass_blocks(bodies, state)
        self.inverse = inverse_blocks(bodies, blocks)
        self.mass = block_matrix(blocks)
        self.inverse_mass = block_matrix(self.inverse)
        self.inertia = world_inertia(bodies, state)
        self.diagonal = np.where(self.held, 0.0, self.mass.diagonal())
        self.reach = self.next_reach
        # each contact within 2 reach is known: none can close before the travel ends
        reach = np.where(self.plane, 0.0, 2 * self.reach + 1e-4 * bodies.length)
        found = find_contacts(bodies, state, reach)
        self.listed = Listed.of(bodies, state, found, self.inverse_mass, law, (self.listed, turned))
        self._respond(self.total)
        self._limit = None
        self._choose_reach()

    def _choose_reach(self):
        length = self.bodies.length
        pushed = self.weight[self.weight > 0]
        k = self.listed.k
        if len(k) and len(pushed):
            self.typical_overlap = float(
                static_overlap(k.max(), np.median(pushed), self.law.exponent)
            )
        else:
            self.typical_overlap = 1e-6 * length
        self.next_reach = float(
            np.clip(
                np.sqrt(SETTINGS.linear * self.typical_overlap * length),
                1e-7 * length,
                0.02 * length,
            )
        )
        self.reach = min(self.reach, self.next_reach)
