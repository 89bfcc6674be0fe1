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

import numpy as np

from .._support.barrier import CannotStart, new_gate, together
from ..bodies import Bodies, Disk, HalfSpace, Sphere, State, rotations
from ..bodies.cell import CellFrame, volume_of
from ..collision.broadphase import meeting_balls
from ..collision.contacts import Contacts
from ..collision.images import images_of, width_of
from ..collision.planes import plane_normal
from ..collision.search import find_contacts
from ..forces.law import contact_stiffness
from . import balls, moving_cell
from .ball_on_box import BoxesNear, box_of
from .engine import Law, Measures, check_finite, expected_tangent
from .law import damping_coefficient
from .squeezed import push_of_stress
from .timestep import critical_step_of

SKIN = 0.1
"""Skin of the neighbour list over the reference length of the scene, to begin with."""

WIDEST, WIDER = 0.5, 1.5
"""Largest skin of that, and the factor from one list to the next."""

BRIEF, LONG = 60, 400
"""Steps that a list lasted: below the first, as while balls fall, the next one gets a wider skin,
since a list takes as long as 60 steps; above the second a narrower one. Each listed pair counts as
closed in the critical step, so that wide skins are for steps that may shrink."""

ROOM = 0.9
"""Skin over what a periodic cell has room for, so that balls meet one image of another at most."""

ACROSS = 1e-9
"""Part of a normal along the ways a lid can go, below which it slides along the other body."""

ALONE = 10
"""Calls by one thread after one in which threads had to wait for cores; twice as many the next."""


def serves(bodies: Bodies, external_force: np.ndarray, spin: np.ndarray) -> bool:
    """Whether all bodies are balls, half-spaces, or boxes that do not turn, of which one at most is
    free to shift; and none is turned by a moment. spin (n, 3) [rad/s]: of the bodies. In a periodic
    cell there are no boxes."""
    boxes = _boxes(bodies)
    if bodies.has_apart:  # its search knows no exclusions
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


def _boxes(bodies: Bodies) -> np.ndarray:
    """Numbers of the bodies that are neither balls nor half-spaces, nor the cell."""
    return np.flatnonzero(~bodies.are(Sphere, Disk, HalfSpace, CellFrame))


class BallEngine:
    """State of a running penalty simulation of balls. See ``engine.Engine`` for its interface."""

    kind = "balls"

    def __init__(self, bodies, state, external_force, law: Law, threads: int = 1):
        n = len(bodies)
        self.bodies, self.law = bodies, law
        self.threads = balls.usable_threads(threads)
        # calls to make by one thread, now and next, where other programs take the cores
        self.calls_alone, self.next_alone = 0, ALONE
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
        self.plane = bodies.are(HalfSpace)
        self.ball = bodies.are(Sphere, Disk)
        self.boxes = BoxesNear(bodies, _boxes(bodies), state.quaternion)
        self.lid = next((b for b in self.boxes.boxes if (self.free[b] > 0).any()), None)
        self.skin, self.widest = SKIN * bodies.length, WIDEST
        self._build()
        self._fill()

    @property
    def lists(self) -> balls.Lists:
        return balls.Lists(
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
        moving = balls.Balls(self.motion, self.force, self.free, self.push, self.mass)
        lists, settings = self.lists, (self.reach, self.law.exponent, self.law.tensile, self.cell)
        gate, share = new_gate(), np.zeros((self.threads, 8))

        def work(part: int, end: int, steps: int = steps) -> tuple[int, int]:
            parts = balls.Work(self.ranges, part, end, gate, share)
            pace = balls.Pace(steps, dt, alpha, quench)
            return balls.advance(moving, lists, parts, pace, *settings)

        if self.threads > 1 and self.calls_alone <= 0:
            try:
                made, code = together(lambda t: work(t, t + 1), self.threads, gate)
            except CannotStart:
                made, code = 0, balls.CROWDED
            crowded = code == balls.CROWDED
            self.calls_alone = self.next_alone if crowded else 0
            self.next_alone = 2 * self.next_alone if crowded else ALONE
            if crowded:
                share[:, balls.SLEPT] = 0.0
                more, code = work(0, self.threads, steps - made)
                made += more
        else:
            self.calls_alone -= 1
            made, code = work(0, self.threads)
        self.elapsed += made * dt
        self._load_on(made * dt)
        self.lasted += made
        if code == balls.STALE:
            self._choose_skin()
            self._build()
        return made

    def _choose_skin(self):
        narrow, wide = SKIN * self.bodies.length, self.widest * self.bodies.length
        if self.lasted < BRIEF:
            self.skin = min(WIDER * self.skin, wide)
        elif self.lasted > LONG:
            self.skin = max(self.skin / WIDER, narrow)

    def keep_step(self) -> None:
        self.widest = SKIN

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
            measured = self._measure()
            tangent, overlap = expected_tangent(
                self.law, self.k, self.pair_mass, measured[1], measured[2], self.pair_push
            )
            gamma = self.g * overlap ** (0.5 * self.law.exponent - 1)
            body, normal = self.listed.body, np.ascontiguousarray(self.listed.normal)
            push, of_cell = np.empty((len(self.bodies), 3)), self._response_of_cell()
            self._limit = critical_step_of(
                lambda x: balls.response(body, normal, self.free, x, push) + of_cell(x),
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
            elastic_energy=float((self.k * np.maximum(overlap, 0) ** p).sum() / p),
            unbalanced=float(max(off, moving_cell.imbalance(self.bodies, cell))),
            largest_force=float(force.max(initial=0.0)),
            speed=float(np.sqrt((np.where(self.mass > 0, v, 0.0) ** 2).sum(axis=1).max())),
            contacts=int((force > 0).sum()),
        )

    def contact_forces(self, reach: float) -> tuple[Contacts, np.ndarray]:
        """Contacts with gap <= reach and the force [N] of each."""
        contacts = find_contacts(self.bodies, self.state, np.where(self.plane, 0.0, reach))
        contacts = contacts.select(contacts.gap <= reach)
        force = self._measure()[0]
        listed = self.listed.key
        order = np.argsort(listed)
        out = np.zeros(len(contacts))
        if len(listed):
            at = order[np.minimum(np.searchsorted(listed[order], contacts.key), len(listed) - 1)]
            same = listed[at] == contacts.key
            out[same] = force[at[same]]
        return contacts, out

    def tangential_forces(self, contacts: Contacts) -> np.ndarray:
        """None between smooth balls, (m, 3) [N]."""
        return np.zeros((len(contacts), 3))

    @property
    def reach(self) -> float:
        """How far balls may go before a new list."""
        return 0.5 * self.skin

    def _response_of_cell(self):
        """What the cell adds to ``balls.response``."""
        if self.vectors is None:
            return lambda x: 0.0
        C, mass = moving_cell.columns(self.listed), self.cell.mass
        free = np.divide(1.0, mass, out=np.zeros(6), where=mass > 0)
        return lambda x: C @ (free * (x @ C))

    def _fill(self):
        """Contact forces at the present positions and velocities."""
        law = self.law
        balls.fill_forces(self.motion, self.force, self.lists, law.exponent, law.tensile, self.cell)

    def _measure(self):
        law = self.law
        return balls.measure(self.motion, self.lists, law.exponent, law.tensile, self.cell)

    def _build(self):
        """New reference positions and the pairs within the skin of one another."""
        bodies, n = self.bodies, len(self.bodies)
        self.lasted = 0
        moved = self._moved()
        radius = bodies.bounding_radius
        solid = np.flatnonzero(self.ball)
        free = (self.mass > 0).any(axis=1)
        i, j, arm = self._near_balls(moved, solid)
        wanted = np.flatnonzero(free[i] | free[j])
        wanted = wanted[np.lexsort((j[wanted], i[wanted]))]
        i, j = i[wanted], j[wanted]
        # the gap to all digits: R_i + R_j and the distance agree to nine of them at rest
        arm = arm[wanted].astype(np.longdouble)
        distance = np.sqrt((arm**2).sum(axis=1))
        gap = (distance - radius[i].astype(np.longdouble) - radius[j]).astype(float)
        L0 = distance.astype(float)
        if (1e-12 * (radius[i] + radius[j]) >= L0).any():
            find_contacts(bodies, self.state, 0.0)  # names the bodies in its error
        normal = arm.astype(float) / L0[:, None]
        curvature = 1 / radius[i] + 1 / radius[j]

        on_planes = self._near_planes(moved, radius, solid[free[solid]])
        on_lid = self._near_lid(moved)
        walls, wall_normal, wall_gap = (
            np.concatenate(both) for both in zip(on_planes, on_lid[:3], strict=True)
        )
        feature = np.concatenate([np.zeros(len(on_planes[0]), np.int64), on_lid[3]])
        order = np.argsort(walls[:, 0], kind="stable")
        walls, wall_normal = walls[order], wall_normal[order]
        wall_gap, feature = wall_gap[order], feature[order]
        near = solid if self.lid is not None else solid[free[solid]]
        box, box_pair, box_normal, box_gap = self.boxes.find(moved, radius, near, self.skin)
        flat = np.concatenate([walls, box[:, :2]])
        low, high = flat.min(axis=1), flat.max(axis=1)
        a, b = np.concatenate([i, low]), np.concatenate([j, high])
        branch = None
        if self.vectors is not None:
            branch = np.concatenate([arm.astype(float), moved[high] - moved[low]])
        away = np.where(flat[:, :1] < flat[:, 1:], -1.0, 1.0)
        away = away * np.concatenate([wall_normal, box_normal])
        self.listed = Contacts(
            np.column_stack([a, b]),
            np.concatenate([np.zeros(len(i), np.int64), feature, np.zeros(len(box), np.int64)]),
            np.concatenate([moved[i], moved[flat[:, 0]]]),
            np.concatenate([normal, away]),
            np.concatenate([gap, wall_gap, box_gap]),
            np.concatenate([curvature, np.where(self.ball[flat[:, 0]], 1 / radius[flat[:, 0]], 0)]),
            n,
            branch=branch,
        )
        law = self.law
        self.k = law.scale * contact_stiffness(
            bodies, self.listed, law.exponent, law.pair_stiffness
        )
        direction2 = self.listed.normal**2
        response = (direction2 * (self.free[a] + self.free[b])).sum(axis=1)
        self.pair_mass = np.divide(1.0, response, out=np.zeros(len(a)), where=response > 0)
        size = np.linalg.norm(self.external, axis=1)
        self.pair_push = np.maximum(np.maximum(size[a], size[b]), push_of_stress(bodies))
        self.g = damping_coefficient(self.k, self.pair_mass, law.exponent, law.damping)
        m, w = len(i), len(i) + len(walls)
        self.first = np.zeros(n + 1, np.int64)
        np.cumsum(np.bincount(i, minlength=n), out=self.first[1:])
        self.other = np.ascontiguousarray(j, np.int64)
        self.pair = np.column_stack(
            [arm.astype(float), gap * (gap - 2 * L0), L0, gap, self.k[:m], self.g[:m]]
        )
        self.wall = np.ascontiguousarray(walls, np.int64)
        self.wall_pair = np.column_stack([wall_normal, wall_gap, self.k[m:w], self.g[m:w]])
        self.box = np.ascontiguousarray(box, np.int64)
        self.box_pair = np.column_stack([box_pair, self.k[w:], self.g[w:]])
        self.ranges = balls.shared_work(self.threads, self.first, self.other, self.wall, self.box)
        self._limit = None

    def _moved(self):
        """The present positions, which become those of reference."""
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
            largest = float(self.bodies.bounding_radius[self.ball].max(initial=0.0))
            room = 0.5 * width_of(self.bodies, self.vectors) - 2.0 * largest
            if room > 0.0:  # else the search says what is wrong
                self.skin = min(self.skin, ROOM * room)
            self.cell = self.cell._replace(
                strain=np.zeros(6),
                volume=np.array([volume_of(self.vectors)]),
                span=largest + self.reach,
            )
        check_finite(self.bodies, moved)
        self.origin = moved
        return moved

    def _near_balls(self, moved, solid):
        """(i, j, branch vectors (m, 3)) of balls, and images of them, within the skin; i < j."""
        bodies, planar = self.bodies, self.bodies.dim == 2
        if self.vectors is None:
            radius = bodies.bounding_radius[solid]
            found, _ = meeting_balls(moved[solid], radius + self.reach, planar=planar)
            i, j = solid[found].T
            return i, j, moved[j] - moved[i]
        reach = np.where(self.ball, self.reach, 0.0)
        images, reach = images_of(bodies, self._pose(), reach, None)
        near = np.flatnonzero(self.ball[images.origin])
        radius, x = images.bodies.bounding_radius[near], images.state.position[near]
        found, _ = meeting_balls(x, radius + reach[near], planar=planar)
        found = found[images.collide(near[found[:, 0]], near[found[:, 1]])]
        first, second = images.origin[near[found]].T
        arm = x[found[:, 1]] - x[found[:, 0]]
        swap = first > second
        i, j = np.where(swap, second, first), np.where(swap, first, second)
        return i, j, np.where(swap[:, None], -arm, arm)

    def _near_planes(self, moved, radius, others):
        """(bodies and planes (w, 2), normals (w, 3), gaps (w,)) within the skin."""
        pose = self._pose()
        pairs, normals, gaps = [np.zeros((0, 2), np.int64)], [np.zeros((0, 3))], [np.zeros(0)]
        for plane in np.flatnonzero(self.plane):
            normal = plane_normal(self.bodies, pose, plane)
            height = (moved[others] - moved[plane]).astype(np.longdouble) @ normal
            gap = (height - radius[others]).astype(float)
            near = gap <= self.skin
            pairs.append(np.column_stack([others[near], np.full(near.sum(), plane)]))
            normals.append(np.broadcast_to(normal, (near.sum(), 3)))
            gaps.append(gap[near])
        return np.concatenate(pairs), np.concatenate(normals), np.concatenate(gaps)

    def _near_lid(self, moved):
        """The same of the box that shifts and the half-spaces and held boxes it may meet, as the
        scene's own search finds them, and the contacts' features."""
        if self.lid is None or not self._lid_may_meet(moved):
            nothing = np.zeros(0, np.int64)
            return nothing.reshape(0, 2), np.zeros((0, 3)), np.zeros(0), nothing
        lid, pose = self.lid, self._pose()
        reach = np.where(self.plane | self.ball, 0.0, self.skin)
        contacts = find_contacts(self.bodies, pose, reach)
        mine = (contacts.body == lid).any(axis=1) & ~self.ball[contacts.body].any(axis=1)
        pushes = self._along_ways(contacts.normal) > ACROSS
        contacts = contacts.select(mine & pushes)
        first = contacts.body[:, :1] == lid
        pairs = np.where(first, contacts.body, contacts.body[:, ::-1])
        return pairs, np.where(first, -1, 1) * contacts.normal, contacts.gap, contacts.feature

    def _lid_may_meet(self, moved) -> bool:
        """Whether a half-space or another box is within the skin of the lid and in its way."""
        pose, lid = self._pose(), self.lid
        planes = [
            (moved[plane], normal)
            for plane in np.flatnonzero(self.plane)
            if self._along_ways(normal := plane_normal(self.bodies, pose, plane)) > ACROSS
        ]
        ways = self.free[lid] > 0
        return self.boxes.may_meet(lid, moved, ways, planes, self.motion[:, 3:6], self.skin)

    def _along_ways(self, normal):
        """Largest part of normals (.., 3) along the axes that the lid can go."""
        return np.abs(normal[..., self.free[self.lid] > 0]).max(axis=-1, initial=0.0)

    def _pose(self):
        still = np.zeros((len(self.bodies), 6))
        return State(self.origin, self.quaternion, still, cell=self.vectors)
