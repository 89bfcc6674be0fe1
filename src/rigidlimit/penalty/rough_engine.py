"""Penalty method for scenes of rough balls and half-spaces: ``BallEngine`` with spins and springs.

Springs belong to listed contacts, by their keys, and outlast the lists.
"""

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from ..bodies import Bodies, Disk, HalfSpace, Sphere, State
from ..bodies.cell import CellFrame
from ..collision.contacts import Contacts, empty
from ..compatibility.friction import (
    contact_friction,
    contact_tangential_stiffness,
    tangential_ratio,
)
from ..kinematics import gap_gradient, tangential_gradient
from . import ball_engine, moving_cell, rough_balls
from .ball_engine import BallEngine, of_listed
from .ball_records import STALE, Pace
from .engine import Law, Measures
from .friction import spring_energy
from .timestep import critical_step


def serves(bodies: Bodies, external_force: np.ndarray, spin: np.ndarray) -> bool:
    """As of ``ball_engine``, and no half-space turns."""
    turning = spin[bodies.are(HalfSpace)].any()
    return not turning and ball_engine.serves(bodies, external_force, spin)


class RoughBallEngine(BallEngine):
    """State of a running penalty simulation of rough balls. See ``engine.Engine``."""

    def __init__(self, bodies, state, external_force, law: Law, threads: int = 1):
        n = len(bodies)
        self.listed, self.spring = empty(n), np.zeros((0, 3))
        self.radius = np.where(bodies.are(Sphere, Disk), bodies.bounding_radius, 0.0)
        inertia = np.einsum("nkk->nk", bodies.inertia)
        mass = np.column_stack([np.repeat(bodies.mass[:, None], 3, axis=1), inertia])
        self.masses = np.where(bodies.free & ~bodies.are(CellFrame)[:, None], mass, 0.0)
        self.inverse = np.divide(1.0, mass, out=np.zeros((n, 6)), where=self.masses > 0)
        self.forces = np.zeros((n, 6))
        rub = law.friction
        self.rough_law = rough_balls.RoughLaw(
            law.exponent, law.tensile, rub.damping, rub.keeps_force
        )
        super().__init__(bodies, state, external_force, law)
        # these move here
        self.quaternion, self.spin = self.quaternion.copy(), self.spin.copy()

    @property
    def state(self) -> State:
        return self._state(self.quaternion.copy())

    def advance(self, steps: int, dt: float, alpha: float, quench: bool) -> int:
        """Make up to ``steps`` steps, fewer where the neighbour list had to be rebuilt."""
        # moments on balls are none (``serves``)
        push, rate = (np.pad(a, ((0, 0), (0, 3))) for a in (self.push, self.rate * self.free))
        made, code = rough_balls.advance(
            self.lists,
            self._balls(self.forces, self.motion, self.spin),
            rough_balls.Inertia(self.inverse, push, rate, self.masses),
            Pace(steps, dt, alpha, quench),
            self.reach,
            self.rough_law,
            self.rows,
            self.cell,
        )
        self._load_on(made * dt)
        self.elapsed += made * dt
        self.lasted += made
        if code == STALE:
            self._choose_skin()
            self._build()
        return made

    def _balls(self, force: np.ndarray, motion, spin) -> rough_balls.RoughBalls:
        """What the kernels move and press; force (n, 6): gets the contact forces."""
        own = self.quaternion, self.radius, self.rough, self.spring
        return rough_balls.RoughBalls(motion, spin, *own, force, self.seen)

    def stop(self) -> None:
        self.spin[self.masses[:, 3:] > 0] = 0.0
        super().stop()

    def limit(self) -> float:
        """Critical time step [s] with every listed pair closed and sticking."""
        if self._limit is None or self.law.exponent != 2:
            _, overlap, closing = self._measure()
            tangent, gamma = self.springs.expected(self.law, overlap, closing)
            each = self.bodies.dim - 1
            along = np.repeat(self.ratio * tangent, each)
            inverse = self.inverse
            if self.vectors is not None:
                inverse = inverse.copy()
                inverse[-1] = np.where(self.bodies.free[-1], 1.0 / self.bodies.mass[-1], 0.0)
            self._limit = critical_step(
                self.gradient,
                inverse.ravel(),
                np.concatenate([tangent, along]),
                np.concatenate([gamma, np.repeat(self.law.friction.damping * gamma, each)]),
            )
        return self._limit

    def measures(self) -> Measures:
        smooth = super().measures()
        _, overlap, _ = self._measure()
        mass = self.masses[:, 3:]
        springs = spring_energy(
            self.spring, self.rough[:, 1], overlap, self.law.exponent, self.rough_law.keeps_force
        )
        balance = self.forces[:, :3] + self.external
        moment = np.where(mass > 0, self.forces[:, 3:], 0.0)[self.radius > 0]
        moment = np.abs(moment / self.radius[self.radius > 0, None])
        return replace(
            smooth,
            kinetic_energy=smooth.kinetic_energy + float(0.5 * (mass * self.spin**2).sum()),
            elastic_energy=smooth.elastic_energy + springs,
            unbalanced=float(
                max(
                    np.abs(balance[self.mass > 0]).max(initial=0.0),
                    moment.max(initial=0.0),
                    moving_cell.imbalance(self.bodies, self.cell),
                )
            ),
        )

    def tangential_forces(self, contacts: Contacts) -> np.ndarray:
        """Tangential force (m, 3) [N] on the second body of each of these contacts."""
        self._measure()
        force = np.where(self.swapped[:, None], -1.0, 1.0) * self.rows[:, 3:]
        return of_listed(self.listed, force, contacts)

    def _measure(self):
        self._press(np.empty_like(self.forces), np.empty(len(self.cell.strain)))
        return self.rows[:, :3].T

    def _fill(self):
        self.seen = np.column_stack([self.motion[:, 3:6], self.spin])
        self._press(self.forces, self.cell.sums[0])

    def _press(self, force: np.ndarray, sums: np.ndarray) -> None:
        """Contact forces at the present positions, into ``force``, with the velocities that springs
        have seen last (``friction.rub``); sums (6,): see ``CellMotion``."""
        motion = self.motion.copy()
        motion[:, 3:6] = self.seen[:, :3]
        spin = np.ascontiguousarray(self.seen[:, 3:])
        cell, balls = self.cell, self._balls(force, motion, spin)
        rough_balls.contact_forces(
            self.lists, balls, self.rough_law, 0.0, self.rows, cell.strain, cell.rate, sums
        )

    def _build(self):
        before, springs = self.listed, self.spring
        super()._build()
        bodies, law, rub = self.bodies, self.law, self.law.friction
        # each kernel's second body: j of a pair, the ball at a wall or box
        ball = np.concatenate([self.wall[:, 0], self.box[:, 0]])
        second = np.concatenate([self.other, ball])
        self.swapped = self.listed.body[:, 1] != second
        # by the first body of a pair: the second one is an image in a cell
        near = np.concatenate([self.listed.body[: len(self.other), 0], ball])
        away = np.where(self.listed.body[:, 0] == near, 1.0, -1.0) * self.radius[near]
        point = self.origin[near] + away[:, None] * self.listed.normal
        self.listed = listed = replace(self.listed, point=point)
        mu = contact_friction(bodies, listed, rub.pair_friction)
        self.ratio = tangential_ratio(bodies, listed, rub.pair_ratio)
        known = self.springs.k, law.exponent, rub.pair_ratio
        k_t = contact_tangential_stiffness(bodies, listed, *known)
        self.rough, self.rows = np.column_stack([mu, k_t]), np.zeros((len(mu), 6))
        self.spring = of_listed(before, springs, listed)
        rows = (make(bodies, self._pose(), listed) for make in (gap_gradient, tangential_gradient))
        self.gradient = sp.csr_array(sp.vstack(tuple(rows)))
