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
from .ball_engine import BallEngine
from .ball_forces import contact_forces
from .ball_records import Pace
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
        self.moment = np.zeros((n, 3))
        super().__init__(bodies, state, external_force, law)
        # these move here
        self.quaternion, self.spin = self.quaternion.copy(), self.spin.copy()

    @property
    def state(self) -> State:
        return self._state(self.quaternion.copy())

    def _march(self, pace: Pace) -> tuple[int, int]:
        # moments on balls are none (``serves``)
        push, rate = (np.pad(a, ((0, 0), (0, 3))) for a in (self.push, self.rate * self.free))
        return rough_balls.advance(
            self.lists,
            rough_balls.RoughBalls(self.motion, self.force, self.quaternion, *self._rubs()),
            rough_balls.Inertia(self.inverse, push, rate, self.masses),
            pace,
            self.reach,
            (self.law.exponent, self.law.tensile),
            self.cell,
        )

    def _rubs(self) -> tuple:
        """What ``ball_forces`` takes, but for the time by which springs move on."""
        rub = self.law.friction
        balls = self.spin, self.radius, self.moment, self.rough, self.spring
        return *balls, rub.damping, rub.keeps_force

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
            self.spring, self.rough[:, 1], overlap, self.law.exponent, self.law.friction.keeps_force
        )
        moment = np.where(mass > 0, self.moment, 0.0)[self.radius > 0]
        moment = np.abs(moment / self.radius[self.radius > 0, None])
        return replace(
            smooth,
            kinetic_energy=smooth.kinetic_energy + float(0.5 * (mass * self.spin**2).sum()),
            elastic_energy=smooth.elastic_energy + springs,
            unbalanced=max(smooth.unbalanced, float(moment.max(initial=0.0))),
        )

    def tangential_forces(self, contacts: Contacts) -> np.ndarray:
        """Tangential force (m, 3) [N] on the second body of each of these contacts."""
        along = self._rows()[:, 3:]
        force = np.where(self.swapped[:, None], -1.0, 1.0) * along
        return self._of_listed(self.listed, force, contacts)

    def _press(self, force: np.ndarray, cell: moving_cell.CellMotion, rows: np.ndarray | None):
        """As of smooth balls; springs stay as they are."""
        moment, law = self.moment, (self.law.exponent, self.law.tensile)
        if rows is not None:
            self.moment = np.zeros_like(moment)
        contact_forces(self.motion, force, self.lists, law, cell, (*self._rubs(), 0.0), rows)
        self.moment = moment

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
        self.rough = np.column_stack([mu, k_t])
        self.spring = self._of_listed(before, springs, listed)
        rows = (make(bodies, self._pose(), listed) for make in (gap_gradient, tangential_gradient))
        self.gradient = sp.csr_array(sp.vstack(tuple(rows)))
