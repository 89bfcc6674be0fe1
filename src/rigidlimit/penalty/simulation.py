"""The soft-particle DEM of a scene: same bodies, shapes, materials, contact search and stiffness.

Two roads with the same law and time step: balls and half-spaces run compiled (``balls.py``); any
other convex shape goes through the contact search of the rigid method in every step, which costs
about as much as a step of contact dynamics and suits small scenes.
"""

import time as clock
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .. import arrays
from ..bodies import Disk, HalfSpace, Sphere, State
from ..bodies.mass import block_matrix, inverse_blocks, mass_blocks
from ..bodies.motion import move
from ..collision.balls import ball_ball
from ..collision.broadphase import meeting_balls
from ..collision.contacts import Contacts
from ..collision.planes import plane_normal
from ..collision.search import find_contacts
from ..constraints import gap_gradient
from ..errors import InputError
from ..forces.law import contact_stiffness
from ..scenes.scene import Scene, law_exponent
from .balls import _forces, march
from .law import contact_force, damping_ratio

SAFETY = 0.1
"""Time step over the shortest contact period's 1/omega; velocity Verlet is stable up to 2."""

SKIN = 0.02
"""Thickness of the neighbour lists' skin over the reference length."""


@dataclass(frozen=True)
class PenaltyResult:
    """State and contact forces of a DEM run when it stopped.

    contacts, force (m,) [N]: overlapping contacts. at_rest: whether both rest tests were met.
    kinetic_energy [J]. unbalanced: largest net force on a free body over the largest contact force.
    steps; dt [s]; seconds: wall time, compilation excluded.
    """

    state: State
    contacts: Contacts
    force: np.ndarray
    at_rest: bool
    kinetic_energy: float
    unbalanced: float
    steps: int
    dt: float
    seconds: float


class PenaltySimulation:
    """Soft-particle DEM of a scene, started from the scene's state or a given one.

    dt [s]: default SAFETY / omega; more than 2 / omega is refused. restitution: e_n of two bodies,
    0 critical. stiffness_scale: factor on every stiffness. law: default the scene's.
    rest_tolerance: unbalanced force over the largest contact force at which a run is at rest;
    the kinetic energy must be below the same part of (largest weight times reference length).
    relax: look for rest by kinetic damping (all bodies stop whenever the kinetic energy has passed
    a maximum), which is quick in soft packings and changes the way to rest only; balls and planes.

    >>> import rigidlimit as rl
    >>> dem = rl.PenaltySimulation(rl.scenes.beam(), stiffness_scale=1e-4)
    >>> dem.run(until=0.1).force.round(4)
    array([3.3333, 3.3333, 3.3333])
    """

    def __init__(
        self,
        scene: Scene,
        *,
        state: State | None = None,
        dt: float | None = None,
        restitution: float = 0.0,
        stiffness_scale: float = 1.0,
        law=None,
        rest_tolerance: float = 1e-7,
        relax: bool = False,
    ):
        self.scene, self.bodies = scene, scene.bodies
        self.state = scene.state if state is None else state
        self.external_force = scene.external_force()
        self.exponent = scene.exponent if law is None else law_exponent(law)
        self.damping = damping_ratio(restitution)
        self.stiffness_scale = arrays.positive("stiffness_scale", stiffness_scale)
        self.relax = bool(relax)
        self.rest_tolerance = arrays.positive("rest_tolerance", rest_tolerance)
        omega = self._largest_frequency()
        self.critical_dt = 2.0 / omega
        self.dt = SAFETY / omega if dt is None else arrays.positive("dt", dt)
        if self.dt > self.critical_dt:
            raise InputError(
                f"dt is {self.dt:.3g} s; the penalty DEM of this scene is stable below "
                f"{self.critical_dt:.3g} s only; take that, or fewer stiffness (stiffness_scale)"
            )
        self.steps = 0
        kinds = [isinstance(shape, Sphere | Disk | HalfSpace) for shape in self.bodies.shapes]
        self.compiled = all(kinds)

    def _largest_frequency(self) -> float:
        """Upper bound on the contact network's largest angular frequency [rad/s].

        A row of B M^-1 B^T k, summed over the contacts of both bodies: for the tangent stiffness
        at the overlap that the heaviest column above, or an impact at the fall of one reference
        length, would press in.
        """
        bodies = self.bodies
        contacts = find_contacts(bodies, self.state, 0.2 * bodies.length)
        free = bodies.free.any(axis=1)
        if not free.any():
            return 1.0
        mass = float(bodies.mass[free].min())
        if not len(contacts):
            stiffness, neighbours = self._lonely_stiffness(), 12
        else:
            stiffness = float(self._stiffness(contacts).max())
            count = np.bincount(contacts.body.ravel(), minlength=len(bodies))
            neighbours = int(max(1, count[free].max()))
        p = self.exponent
        tangent = stiffness
        if p != 2.0:
            weight = np.abs(self.external_force.reshape(-1, 6)[:, :3]).sum()
            speed = np.abs(self.state.velocity[:, :3]).max()
            energy = weight * 0.1 * bodies.length + 0.5 * bodies.mass[free].max() * speed**2
            overlap = max(
                (weight / stiffness) ** (1 / (p - 1)), (p * energy / stiffness) ** (1 / p)
            )
            tangent = (p - 1) * stiffness * overlap ** (p - 2)
        # rotations add to a contact's compliance: a factor of 1 + arm^2 m/J, at most 4 for boxes
        turning = (
            1.0 if all(isinstance(s, Sphere | Disk | HalfSpace) for s in bodies.shapes) else 4.0
        )
        return float(np.sqrt(neighbours * turning * tangent / mass))

    def _lonely_stiffness(self) -> float:
        young = max(material.plane_modulus for material in self.bodies.materials)
        return self.stiffness_scale * 2 * young * self.bodies.length ** (3 - self.exponent)

    def _stiffness(self, contacts: Contacts) -> np.ndarray:
        k = contact_stiffness(self.bodies, contacts, self.exponent, self.scene.pair_stiffness)
        return self.stiffness_scale * k

    def run(
        self,
        *,
        until: float | None = None,
        max_steps: int = 20_000_000,
        callback: Callable[["PenaltySimulation", float], object] | None = None,
    ) -> PenaltyResult:
        """March until at rest, or until time ``until`` [s] if given.

        callback(simulation, unbalanced) is called now and then; True stops the run.
        """
        road = self._run_balls if self.compiled else self._run_any
        return road(until, max_steps, callback)

    def _effective_mass(self, contacts: Contacts) -> np.ndarray:
        """m_a m_b / (m_a + m_b) of the free bodies at each contact, (m,) [kg]."""
        free = self.bodies.free[:, :3].any(axis=1)
        inverse = np.where(free, 1 / np.where(free, self.bodies.mass, 1.0), 0.0)
        return 1 / inverse[contacts.body].sum(axis=1)

    def _rest_energy(self) -> float:
        weight = np.abs(self.external_force.reshape(-1, 6)[:, :3]).max(initial=0.0)
        return self.rest_tolerance * max(weight, 1e-300) * self.bodies.length

    def _run_balls(self, until, max_steps, callback):
        bodies, dt = self.bodies, self.dt
        planes = [i for i, s in enumerate(bodies.shape_of) if _is_plane(bodies.shapes[s])]
        solid = np.setdiff1d(np.arange(len(bodies)), planes)
        free = bodies.free[:, :3]
        inverse_mass = np.where(free.any(axis=1), 1 / np.maximum(bodies.mass, 1e-300), 0.0)
        external = np.ascontiguousarray(self.external_force.reshape(-1, 6)[:, :3])
        skin = SKIN * bodies.length
        target = max_steps if until is None else int(np.ceil((until - self.state.time) / dt - 1e-9))
        made, at_rest, seconds = 0, False, 0.0
        net = largest = energy = 0.0
        f = np.zeros((len(bodies), 3))
        while True:
            contacts = self._ball_contacts(solid, planes, skin)
            on_plane = np.isin(contacts.body, planes).any(axis=1)
            k, mass = self._stiffness(contacts), self._effective_mass(contacts)
            pairs = np.ascontiguousarray(contacts.body[~on_plane])
            arms = self.state.position[pairs[:, 1]] - self.state.position[pairs[:, 0]]
            arms = np.column_stack([arms, np.linalg.norm(arms, axis=1)])
            table = self._plane_table(contacts, on_plane, planes, k, mass)
            found = np.zeros(len(contacts))
            u = np.zeros((len(bodies), 3))
            v = self.state.velocity[:, :3].copy()
            network = (
                pairs, arms, contacts.gap[~on_plane], k[~on_plane], mass[~on_plane], table,
                self.exponent, self.damping,
            )  # fmt: skip
            largest = _forces(self.state.position, u, v, *network, f, found)
            used_up = False
            while made < target and not used_up and not at_rest:
                chunk = min(2000, target - made)
                start = clock.perf_counter()
                steps, net, largest, energy = march(
                    self.state.position, u, v, free, inverse_mass, external, *network,
                    dt, chunk, 0.5 * skin, self.relax, f, found,
                )  # fmt: skip
                seconds += clock.perf_counter() - start
                made += steps
                used_up = steps < chunk
                if not np.isfinite(energy):
                    raise InputError(f"the DEM diverged with dt = {dt:.3g} s; take a smaller dt")
                unbalanced = net / largest if largest > 0 else np.inf
                if until is None:
                    at_rest = unbalanced <= self.rest_tolerance and energy <= self._rest_energy()
                if callback is not None and callback(self, unbalanced):
                    target = made
            velocity = self.state.velocity.copy()
            velocity[:, :3] = v
            self.state = State(
                self.state.position + u,
                self.state.quaternion,
                velocity,
                self.state.time,
            )
            if made >= target or at_rest:
                break
        self.steps += made
        self.state = self.state.moved(time=self.state.time + made * dt)
        order = np.concatenate([np.flatnonzero(~on_plane), np.flatnonzero(on_plane)])
        force = np.zeros(len(contacts))
        force[order] = found
        touching = np.flatnonzero(force > 0)
        unbalanced = net / largest if largest > 0 else 0.0
        at_rest = at_rest or (unbalanced <= self.rest_tolerance and energy <= self._rest_energy())
        return PenaltyResult(
            self.state, contacts.select(touching), force[touching], at_rest, energy, unbalanced,
            made, dt, seconds,
        )  # fmt: skip

    def _ball_contacts(self, solid, planes, skin) -> Contacts:
        """Neighbours within the skin as contacts, sorted like those of the contact search."""
        bodies = self.bodies
        radius = bodies.bounding_radius[solid] + 0.5 * skin
        pairs, _ = meeting_balls(self.state.position[solid], radius, planar=bodies.dim == 2)
        a, b = solid[pairs[:, 0]], solid[pairs[:, 1]]
        movable = bodies.free.any(axis=1)
        wanted = movable[a] | movable[b]
        found = ball_ball(bodies, self.state, a[wanted], b[wanted])
        order = np.lexsort((found.b, found.a))
        near = Contacts(
            np.column_stack([found.a, found.b])[order],
            found.feature[order],
            found.point[order],
            found.normal[order],
            found.gap[order],
            found.curvature[order],
            len(bodies),
        )
        if not planes:
            return near
        return find_contacts(bodies, self.state, 0.5 * skin)

    def _plane_table(self, contacts, on_plane, planes, k, mass):
        """Rows (body, normal to the body, gap, k, effective mass) of the contacts with planes."""
        rows = np.zeros((int(on_plane.sum()), 7))
        for row, c in enumerate(np.flatnonzero(on_plane)):
            first_is_plane = contacts.body[c, 0] in planes
            plane, body = contacts.body[c] if first_is_plane else contacts.body[c, ::-1]
            normal = plane_normal(self.bodies, self.state, plane)
            rows[row] = [body, *normal, contacts.gap[c], k[c], mass[c]]
        return rows

    def _run_any(self, until, max_steps, callback):
        """Any convex shape: contact search, B and velocity Verlet in every step."""
        bodies, dt = self.bodies, self.dt
        external = np.where(bodies.free.ravel(), self.external_force, 0.0)
        target = max_steps if until is None else int(np.ceil((until - self.state.time) / dt - 1e-9))
        start, made, at_rest = clock.perf_counter(), 0, False
        force, net, largest, energy = self._contact_forces(external)
        while made < target and not at_rest:
            v = self.state.velocity + 0.5 * dt * self._acceleration(force, external)
            self.state = move(bodies, self.state, v, dt)
            force, net, largest, energy = self._contact_forces(external)
            v = self.state.velocity + 0.5 * dt * self._acceleration(force, external)
            self.state = self.state.moved(velocity=v)
            made += 1
            unbalanced = net / largest if largest > 0 else np.inf
            if until is None:
                at_rest = unbalanced <= self.rest_tolerance and energy <= self._rest_energy()
            if made % 500 == 0 and callback is not None and callback(self, unbalanced):
                break
        self.steps += made
        unbalanced = net / largest if largest > 0 else 0.0
        at_rest = at_rest or (unbalanced <= self.rest_tolerance and energy <= self._rest_energy())
        return PenaltyResult(
            self.state, self._touching, self._touching_force, at_rest, energy, unbalanced, made,
            dt, clock.perf_counter() - start,
        )  # fmt: skip

    def _contact_forces(self, external):
        """(generalized contact force (6 n,), largest net force, largest contact force, energy)."""
        contacts = find_contacts(self.bodies, self.state, 0.0)
        B = gap_gradient(self.bodies, self.state, contacts)
        k, mass = self._stiffness(contacts), self._effective_mass(contacts)
        rate = -(B @ self.state.velocity.ravel())
        f = np.array(
            [
                contact_force(-g, r, kk, self.exponent, self.damping, m) if g < 0 else 0.0
                for g, r, kk, m in zip(contacts.gap, rate, k, mass, strict=True)
            ]
        )
        self._touching, self._touching_force = contacts, f
        force = B.T @ f
        net = np.abs((force + external).reshape(-1, 6)[:, :3][self.bodies.free[:, :3]])
        blocks = mass_blocks(self.bodies, self.state)
        v = np.where(self.bodies.free, self.state.velocity, 0.0).ravel()
        energy = 0.5 * v @ (block_matrix(blocks) @ v)
        return force, net.max(initial=0.0), f.max(initial=0.0), energy

    def _acceleration(self, force, external):
        inverse = inverse_blocks(self.bodies, mass_blocks(self.bodies, self.state))
        return np.einsum("nij,nj->ni", inverse, (force + external).reshape(-1, 6))


def _is_plane(shape) -> bool:
    return isinstance(shape, HalfSpace)
