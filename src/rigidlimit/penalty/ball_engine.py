"""Penalty method for scenes of balls and half-spaces: neighbour list with a skin, fast kernels.

The list holds every pair whose gap is at most the skin; it is valid until a body has travelled
half a skin since it was built. Half-spaces may move at a steady velocity, and so may held bodies.
Spins of balls are steady, as a normal force through the centre turns nothing.

Boxes that do not turn may be among them: any that are held or driven, and one that balls and loads
shift, the lid of a packing (``ball_on_box.py``). What the lid itself meets of half-spaces and other
boxes is left to the scene's own contact search, and joins the walls of balls: as flat bodies shift,
gaps change as theirs do.

In a periodic cell balls touch images of one another, and the cell moves with them
(``moving_cell.py``); boxes have no images here.
"""

from dataclasses import dataclass

import numpy as np

from ..bodies import Bodies, Disk, HalfSpace, Sphere, State, rotations
from ..bodies.cell import CellFrame, volume_of
from ..collision.contacts import Contacts
from ..collision.images import width_of
from ..collision.search import find_contacts
from ..compatibility.law import contact_stiffness
from . import ball_measures, ball_records, balls, moving_cell
from .ball_forces import fill_forces
from .ball_on_box import BoxesNear, box_of
from .ball_records import SharedSteps
from .ball_search import BallSearch
from .engine import Law, Measures, check_finite, expected_tangent
from .law import damping_coefficient
from .squeezed import push_of_stress
from .timestep import critical_step_of


@dataclass(frozen=True)
class Springs:
    """Of m contacts. k, g (m,): of the law, gamma_0 of its damping; mass (m,) [kg]: effective, 0
    between held bodies; push (m,) [N]: the larger load of both bodies."""

    k: np.ndarray
    g: np.ndarray
    mass: np.ndarray
    push: np.ndarray

    def expected(
        self, law: Law, overlap: np.ndarray, closing: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """(stiffness [N/m], damping [kg/s]) (m,) that contacts may soon reach, see
        ``expected_tangent``; overlap [m], closing [m/s]: present ones."""
        tangent, reached = expected_tangent(law, self.k, self.mass, overlap, closing, self.push)
        return tangent, self.g * reached ** (0.5 * law.exponent - 1)


def springs_of(
    bodies: Bodies, contacts: Contacts, law: Law, free: np.ndarray, external: np.ndarray
) -> Springs:
    """free (n, 3): 1/m, 0 where held; external (n, 3) [N]: loads."""
    a, b = contacts.body.T
    k = law.scale * contact_stiffness(bodies, contacts, law.exponent, law.pair_stiffness)
    response = (contacts.normal**2 * (free[a] + free[b])).sum(axis=1)
    mass = np.divide(1.0, response, out=np.zeros(len(a)), where=response > 0)
    size = np.linalg.norm(external, axis=1)
    push = np.maximum(np.maximum(size[a], size[b]), push_of_stress(bodies))
    return Springs(k, damping_coefficient(k, mass, law.exponent, law.damping), mass, push)


def of_listed(listed: Contacts, values: np.ndarray, contacts: Contacts) -> np.ndarray:
    """``values`` (c, ...) of listed contacts in any order, on other ones; zero where not listed."""
    order = np.argsort(listed.key)
    return contacts.carry_over(listed.select(order), values[order])


def serves(bodies: Bodies, external_force: np.ndarray, spin: np.ndarray) -> bool:
    """Whether all bodies are balls, half-spaces, or boxes that do not turn, of which one at most is
    free to shift; and none is turned by a moment. spin (n, 3) [rad/s]: of the bodies. In a periodic
    cell there are no boxes."""
    boxes = boxes_of(bodies)
    if bodies.has_apart:  # its search knows no exclusions
        return False
    if bodies.free[bodies.are(HalfSpace)].any():  # and no planes that give way
        return False
    if bodies.cell is not None:
        moments = np.where(bodies.free, external_force.reshape(-1, 6), 0.0)[:-1, 3:]
        return not (len(boxes) or moments.any())
    if any(box_of(bodies.shapes[s]) is None for s in np.unique(bodies.shape_of[boxes])):
        return False
    if bodies.free[boxes, 3:].any() or spin[boxes].any():
        return False
    if bodies.free[boxes].any(axis=1).sum() > 1:
        return False
    return not np.where(bodies.free, external_force.reshape(-1, 6), 0.0)[:, 3:].any()


def boxes_of(bodies: Bodies) -> np.ndarray:
    """Numbers of the bodies that are neither balls nor half-spaces, nor the cell."""
    return np.flatnonzero(~bodies.are(Sphere, Disk, HalfSpace, CellFrame))


@dataclass(frozen=True)
class Settings:
    """Of the neighbour list.

    skin: skin of the neighbour list over the reference length of the scene, to begin with.
    widest: largest skin of that.
    wider: its factor from one list to the next.
    brief: steps that a list lasted below which, as while balls fall, the next one gets a wider
        skin, since a list takes as long as 60 steps.
    long: the same above which it gets a narrower one. Each listed pair counts as closed in the
        critical step, so that wide skins are for steps that may shrink.
    room: skin over what a periodic cell has room for, so that balls meet one image of another at
        most.
    """

    skin: float = 0.1
    widest: float = 0.5
    wider: float = 1.5
    brief: int = 60
    long: int = 400
    room: float = 0.9


SETTINGS = Settings()


class BallEngine:
    """State of a running penalty simulation of balls. See ``engine.Engine`` for its interface."""

    kind = "balls"

    def __init__(self, bodies, state, external_force, law: Law, threads: int = 1):
        n = len(bodies)
        self.bodies, self.law = bodies, law
        self.shared = SharedSteps(ball_records.usable_threads(threads))
        self.start_time, self.elapsed = state.time, 0.0
        self.origin = np.array(state.position)
        self.vectors, self.cell = state.cell, moving_cell.cell_motion(bodies, state, self.threads)
        velocity = np.where(bodies.are(CellFrame)[:, None], 0.0, state.velocity)
        self.quaternion, self.spin = state.quaternion, np.ascontiguousarray(velocity[:, 3:])
        self.motion = np.zeros((n, 8))
        self.motion[:, 3:6] = velocity[:, :3]
        self.force = np.zeros((self.threads, n, 4))
        held = ~bodies.free[:, :3] | bodies.are(CellFrame)[:, None]
        mass = np.where(bodies.mass > 0, bodies.mass, 1.0)[:, None]
        self.mass = np.where(held, 0.0, mass)
        self.free = np.where(held, 0.0, 1 / mass)
        self.set_external(external_force)
        self.boxes = BoxesNear(bodies, boxes_of(bodies), state.quaternion)
        self.search = BallSearch(bodies, self.boxes, self.free)
        self.skin, self.widest = SETTINGS.skin * bodies.length, SETTINGS.widest
        self._build()
        self._fill()

    @property
    def threads(self) -> int:
        return self.shared.threads

    @property
    def lists(self) -> ball_records.Lists:
        return ball_records.Lists(
            self.first, self.other, self.pair, self.wall, self.wall_pair,
            self.box, self.box_pair, self.boxes.frame,
        )  # fmt: skip

    @property
    def state(self) -> State:
        return self._state(rotations.turned(self.quaternion, self.elapsed * self.spin))

    def _state(self, quaternion: np.ndarray) -> State:
        position, velocity = (
            self.origin + self.motion[:, :3],
            np.column_stack([self.motion[:, 3:6], self.spin]),
        )
        if self.vectors is None:
            return State(position, quaternion, velocity, self.time)
        F = moving_cell.deformation(self.cell)
        velocity[-1] = self.cell.rate * self.bodies.cell_length
        return State(position @ F.T, quaternion, velocity, self.time, self.vectors @ F.T)

    @property
    def time(self) -> float:
        return self.start_time + self.elapsed

    def advance(self, steps: int, dt: float, alpha: float, quench: bool) -> int:
        """Make up to ``steps`` steps, fewer where the neighbour list had to be rebuilt."""
        moving = ball_records.Balls(self.motion, self.force, self.free, self.push, self.mass)
        lists, settings = self.lists, (self.reach, self.law.exponent, self.law.tensile, self.cell)

        def work(part: int, end: int, steps: int, gate: np.ndarray, share: np.ndarray):
            parts = ball_records.Work(self.ranges, part, end, gate, share)
            pace = ball_records.Pace(steps, dt, alpha, quench)
            return balls.advance(moving, lists, parts, pace, *settings)

        made, code = self.shared.call(work, steps)
        self.elapsed += made * dt
        self._load_on(made * dt)
        self.lasted += made
        if code == ball_records.STALE:
            self._choose_skin()
            self._build()
        return made

    def _choose_skin(self):
        narrow, wide = SETTINGS.skin * self.bodies.length, self.widest * self.bodies.length
        if self.lasted < SETTINGS.brief:
            self.skin = min(SETTINGS.wider * self.skin, wide)
        elif self.lasted > SETTINGS.long:
            self.skin = max(self.skin / SETTINGS.wider, narrow)

    def keep_step(self) -> None:
        self.widest = SETTINGS.skin

    def stop(self) -> None:
        """All free bodies come to a halt; forces are those of the pose."""
        self.motion[:, 3:6][self.mass > 0] = 0.0
        moving_cell.stop(self.cell, self.cell.rate)
        self._fill()

    def set_external(
        self, external_force: np.ndarray, later: np.ndarray | None = None, over: float = 1.0
    ) -> None:
        """Other loads (6 n,) [N, N m] from now on, evenly going over to ``later`` (6 n,) within
        ``over`` [s] if that is given; between smooth balls from call to call of ``advance``."""
        later = external_force if later is None else later
        stress, stress_later = (
            moving_cell.stress_of(self.bodies, load) for load in (external_force, later)
        )
        self.cell = self.cell._replace(stress=stress)
        self.stress_rate = (stress_later - stress) / over
        self.external = np.where(self.mass > 0, external_force.reshape(-1, 6)[:, :3], 0.0)
        later = np.where(self.mass > 0, later.reshape(-1, 6)[:, :3], 0.0)
        self.rate = (later - self.external) / over
        self.push = self.external * self.free

    def _load_on(self, time):
        if self.rate.any():
            self.external = self.external + time * self.rate
            self.push = self.external * self.free
        if self.stress_rate.any():
            self.cell = self.cell._replace(stress=self.cell.stress + time * self.stress_rate)

    def settled(self) -> bool:
        """Positions and gaps are exact at every step."""
        return True

    def limit(self) -> float:
        """Critical time step [s] with every listed pair closed."""
        if self._limit is None or self.law.exponent != 2:
            _, overlap, closing = self._measure()
            tangent, gamma = self.springs.expected(self.law, overlap, closing)
            body, normal = self.listed.body, np.ascontiguousarray(self.listed.normal)
            push, of_cell = np.empty((len(self.bodies), 3)), self._response_of_cell()
            self._limit = critical_step_of(
                lambda x: ball_measures.response(body, normal, self.free, x, push) + of_cell(x),
                tangent,
                gamma,
            )
        return self._limit

    def measures(self) -> Measures:
        force, overlap, _ = self._measure()
        v, cell = self.motion[:, 3:6], self.cell
        balance = self.force.sum(axis=0)[:, :3] + self.external
        p = self.law.exponent
        energy = float(0.5 * (self.mass * v * v).sum() + 0.5 * (cell.mass * cell.rate**2).sum())
        off = np.abs(balance[self.mass > 0]).max(initial=0.0)
        return Measures(
            kinetic_energy=energy,
            elastic_energy=float((self.springs.k * np.maximum(overlap, 0) ** p).sum() / p),
            unbalanced=float(max(off, moving_cell.imbalance(self.bodies, cell))),
            largest_force=float(force.max(initial=0.0)),
            speed=float(np.sqrt((np.where(self.mass > 0, v, 0.0) ** 2).sum(axis=1).max())),
            contacts=int((force > 0).sum()),
        )

    def contact_forces(self, reach: float) -> tuple[Contacts, np.ndarray]:
        """Contacts with gap <= reach and the force [N] of each."""
        contacts = find_contacts(self.bodies, self.state, np.where(self.search.plane, 0.0, reach))
        contacts = contacts.select(contacts.gap <= reach)
        return contacts, of_listed(self.listed, self._measure()[0], contacts)

    def tangential_forces(self, contacts: Contacts) -> np.ndarray:
        """None between smooth balls, (m, 3) [N]."""
        return np.zeros((len(contacts), 3))

    @property
    def reach(self) -> float:
        """How far balls may go before a new list."""
        return 0.5 * self.skin

    def _response_of_cell(self):
        """What the cell adds to ``ball_measures.response``."""
        if self.vectors is None:
            return lambda x: 0.0
        C, mass = moving_cell.columns(self.listed), self.cell.mass
        free = np.divide(1.0, mass, out=np.zeros(6), where=mass > 0)
        return lambda x: C @ (free * (x @ C))

    def _fill(self):
        """Contact forces at the present positions and velocities."""
        law = self.law
        fill_forces(self.motion, self.force, self.lists, law.exponent, law.tensile, self.cell)

    def _measure(self):
        law = self.law
        return ball_measures.measure(self.motion, self.lists, law.exponent, law.tensile, self.cell)

    def _build(self):
        """New reference positions and the pairs within the skin of one another."""
        bodies, self.lasted = self.bodies, 0
        self._move_origin()
        pose, free = self._pose(), (self.mass > 0).any(axis=1)
        velocity = self.motion[:, 3:6]
        near = self.search.near(pose, velocity, free, reach=self.reach, skin=self.skin)
        self.listed = near.contacts
        self.springs = springs_of(bodies, self.listed, self.law, self.free, self.external)
        k, g = self.springs.k, self.springs.g
        m, w = len(near.other), len(near.other) + len(near.wall)
        self.first, self.other, self.wall, self.box = near.first, near.other, near.wall, near.box
        self.pair = np.column_stack([near.pair, k[:m], g[:m]])
        self.wall_pair = np.column_stack([near.wall_pair, k[m:w], g[m:w]])
        self.box_pair = np.column_stack([near.box_pair, k[w:], g[w:]])
        self.ranges = ball_records.shared_work(
            self.threads, self.first, self.other, self.wall, self.box
        )
        self._limit = None

    def _move_origin(self):
        """The present positions become those of reference."""
        if self.vectors is None:
            moved = self.origin + self.motion[:, :3]
            # what the sum loses stays in u: a new list must not shake a packing at rest
            self.motion[:, :3] -= moved - self.origin
        else:
            F = moving_cell.deformation(self.cell)
            exact = self.origin.astype(np.longdouble) + self.motion[:, :3]
            exact = exact + exact @ (F - np.eye(3)).T
            moved = exact.astype(float)
            self.motion[:, :3] = exact - moved
            self.vectors = self.vectors @ F.T
            largest = float(self.bodies.bounding_radius[self.search.ball].max(initial=0.0))
            room = 0.5 * width_of(self.bodies, self.vectors) - 2.0 * largest
            if room > 0.0:  # else the search says what is wrong
                self.skin = min(self.skin, SETTINGS.room * room)
            self.cell = self.cell._replace(
                strain=np.zeros(6),
                volume=np.array([volume_of(self.vectors)]),
                span=largest + self.reach,
            )
        check_finite(self.bodies, moved)
        self.origin = moved

    def _pose(self):
        still = np.zeros((len(self.bodies), 6))
        return State(self.origin, self.quaternion, still, cell=self.vectors)
