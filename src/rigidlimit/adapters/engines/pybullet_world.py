"""Bodies of a PyBullet world, their joints and their kinematics at the present state.

Every base and every link has a number: those of one body follow one another, its base first. With
ancestors' axes a_j through points o_j,

    v(point) = v_base + w_base x (point - base) + sum_j a_j x (point - o_j) qd_j   (revolute)
                                                + sum_j a_j qd_j                   (prismatic)
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

import numpy as np

from ..._support.matrices import Matrix
from ...errors import InputError
from .links import free_systems
from .parts import NamedParts
from .twists import Twists

BASE = -1
SOFT = 3  # body type in getDynamicsInfo


class World:
    """bodies: their ids; links: (body, link) of every number, and number: the other way round.

    Of each number: parent, column (its first degree of freedom), count of these (six for a base
    that floats), turns (whether its joint does), axes (3, 3), origin (3,): a point on the axis, for
    a base its centre of mass [m]. columns: degrees of freedom in all, with mechanism (n,): the body
    of each, and turns_of (n,) bool: whether it is a rotation.
    """

    def __init__(self, pybullet, client):
        self.bullet, self.client = pybullet, {"physicsClientId": client}
        parameters = pybullet.getPhysicsEngineParameters(**self.client)
        self.dt = parameters["fixedTimeStep"]
        self.gravity = np.array([parameters[f"gravityAcceleration{axis}"] for axis in "XYZ"])
        self.bodies, self.links, self.number, self._info = [], [], {}, {}
        self.columns, self.parent, self.column, self.count, self.turns = 0, [], [], [], []
        self.axes, self.origin, mechanism, turning = [], [], [], []
        for i in range(pybullet.getNumBodies(**self.client)):
            for size, turns in self._add(pybullet.getBodyUniqueId(i, **self.client)):
                mechanism += [self.bodies[-1]] * size
                turning += [False] * 3 + [True] * 3 if size == 6 else [turns] * size
        self.mechanism, self.turns_of = np.array(mechanism, int), np.array(turning, bool)
        self.parent, self.column, self.count = (
            np.array(values, np.int64) for values in (self.parent, self.column, self.count)
        )
        self.turns = np.array(self.turns, bool)
        self.axes = np.array(self.axes, float).reshape(-1, 3, 3)
        self.origin = np.array(self.origin, float).reshape(-1, 3)
        body = [self.number[body, BASE] for body, _ in self.links]
        self.base = np.array(body, np.int64)

    def _add(self, body):
        """Its base and links; yields how many degrees of freedom each has, and whether it turns."""
        bullet = self.bullet
        info = self.info(body, BASE)
        if info[10] == SOFT:
            raise InputError(f"body {body} is a soft body; expected rigid bodies and joints")
        self.bodies.append(body)
        centre = bullet.getBasePositionAndOrientation(body, **self.client)[0]
        size = 6 if info[0] > 0 else 0
        self._number((body, BASE), -1, size, True, UNIT, centre)
        yield size, True
        for j in range(bullet.getNumJoints(body, **self.client)):
            joint = bullet.getJointInfo(body, j, **self.client)
            parent = self.number[body, joint[16]]
            if joint[2] == bullet.JOINT_FIXED:
                self._number((body, j), parent, 0, False, UNIT, centre)
                continue
            state = bullet.getLinkState(body, j, computeForwardKinematics=1, **self.client)
            axes = UNIT
            if joint[2] in (bullet.JOINT_REVOLUTE, bullet.JOINT_PRISMATIC):
                frame = np.array(bullet.getMatrixFromQuaternion(state[1])).reshape(3, 3)
                axes = np.array([frame @ np.array(joint[13]), NOTHING, NOTHING])
            elif joint[2] != bullet.JOINT_SPHERICAL:
                raise InputError(
                    f"joint {joint[1].decode()!r} of body {body} is planar; expected revolute, "
                    "prismatic, spherical or fixed joints"
                )
            size, turns = 3 if axes is UNIT else 1, joint[2] != bullet.JOINT_PRISMATIC
            self._number((body, j), parent, size, turns, axes, state[4])
            yield size, turns

    def _number(self, link, parent, size, turns, axes, origin):
        self.number[link] = len(self.links)
        self.links.append(link)
        self.parent.append(parent)
        self.column.append(self.columns)
        self.count.append(size)
        self.turns.append(turns)
        self.axes.append(axes)
        self.origin.append(origin)
        self.columns += size

    @property
    def joints(self) -> Iterator[tuple[int, int, int, int]]:
        """(body, link, first column, degrees of freedom) of every joint that moves."""
        for (body, link), column, count in zip(
            self.links, self.column.tolist(), self.count.tolist(), strict=True
        ):
            if link != BASE and count:
                yield body, link, column, count

    @cached_property
    def floating(self) -> np.ndarray:
        """Numbers of the bases that float."""
        return np.flatnonzero((self.parent < 0) & (self.count > 0))

    def numbers(self, bodies: Sequence[int], links: Sequence[int]) -> np.ndarray:
        """Of links (body, link), one after another."""
        return np.array([self.number[p] for p in zip(bodies, links, strict=True)], np.int64)

    @cached_property
    def twists(self) -> Twists:
        """Of all numbers, each about its ``origin``."""
        dofs, blocks = [], []
        for k, (parent, size) in enumerate(zip(self.parent, self.count, strict=True)):
            own = np.zeros((6, size))
            if size == 6:
                own[:] = np.eye(6)
            else:
                own[3 * self.turns[k] : 3 * self.turns[k] + 3] = self.axes[k, :size].T
            dofs.append(self.column[k] + np.arange(size))
            blocks.append(own)
            if parent >= 0 and len(dofs[parent]):
                above = blocks[parent].copy()
                above[:3] += np.cross(above[3:], self.origin[k] - self.origin[parent], axis=0)
                dofs[k], blocks[k] = np.append(dofs[parent], dofs[k]), np.hstack([above, own])
        count = np.array([len(own) for own in dofs], np.int64)
        whole = np.zeros((len(blocks), 6, int(count.max(initial=0))))
        for block, own in zip(whole, blocks, strict=True):
            block[:, : own.shape[1]] = own
        return Twists(
            blocks=whole,
            dofs=np.concatenate([*dofs, np.zeros(0, int)]),
            first=np.cumsum(count) - count,
            count=count,
            part=np.arange(len(blocks)),
            row=np.zeros(len(blocks), np.int64),
            centre=self.origin,
            columns=self.columns,
        )

    def systems(self, links: Matrix) -> np.ndarray:
        """Number of the free system of every link, or OUTSIDE; held joints do not take a total
        away. Bodies that rigid ``links`` (k, n) join are one, those that they hold none."""
        base, axes = self.floating, np.broadcast_to(UNIT, (len(self.floating), 3, 3))
        columns = self.column[base][:, None] + np.arange(6)
        none = np.zeros(self.columns, bool)
        return free_systems(
            self.base, base, columns, none, links, lambda base: (self.origin[base], axes, axes)
        )

    def middles(self) -> np.ndarray:
        """(numbers, 3): centre of mass of the base of each; nan where the body cannot move."""
        moves = np.zeros(len(self.links), bool)
        moves[self.base[self.count > 0]] = True
        return np.where(moves[self.base][:, None], self.origin[self.base], np.nan)

    def velocity(self) -> np.ndarray:
        """(n,): at the end of the step."""
        v, bullet = np.zeros(self.columns), self.bullet
        for base in self.floating:
            first = self.column[base]
            moves = bullet.getBaseVelocity(self.links[base][0], **self.client)
            v[first : first + 3], v[first + 3 : first + 6] = moves
        for body, link, column, count in self.joints:
            if count == 1:
                v[column] = bullet.getJointState(body, link, **self.client)[1]
            else:
                rate = bullet.getJointStateMultiDof(body, link, **self.client)[1]
                v[column : column + 3] = rate
        return v

    @cached_property
    def mass(self) -> np.ndarray:
        """Of each link [kg], 0 of what cannot move."""
        return np.array([self.info(*link)[0] for link in self.links])

    def applied(self) -> np.ndarray:
        """Gravity and joint motors (n,) [N, N m]."""
        total, bullet = np.zeros(self.columns), self.bullet
        mass = self.mass
        heavy = np.flatnonzero(mass > 0.0)
        centre = self.origin.copy()
        for k in heavy:
            body, link = self.links[k]
            if link != BASE:
                state = bullet.getLinkState(body, link, computeForwardKinematics=1, **self.client)
                centre[k] = state[0]
        links = np.stack([np.full(len(heavy), -1), heavy], axis=1)
        point = np.repeat(centre[heavy][:, None], 2, axis=1)
        down = np.broadcast_to(self.gravity, (len(heavy), 1, 3))
        total += self.twists.rows(links, point, down)[0].T @ mass[heavy]
        for body, link, column, count in self.joints:
            if count == 1:
                total[column] += bullet.getJointState(body, link, **self.client)[3]
            else:
                torque = bullet.getJointStateMultiDof(body, link, **self.client)[3]
                total[column : column + 3] += torque
        return total

    def info(self, body: int, link: int) -> tuple:
        """Result of getDynamicsInfo, cached."""
        key = body, link
        if key not in self._info:
            self._info[key] = self.bullet.getDynamicsInfo(body, link, **self.client)
        return self._info[key]

    def values(self, links: np.ndarray, *items: int) -> np.ndarray:
        """Items of ``info`` of links (m, 2): numbers; (items, m, 2)."""
        table = np.zeros((len(items), len(self.links)))
        for k in set(links.ravel().tolist()):
            found = self.info(*self.links[k])
            table[:, k] = [found[item] for item in items]
        return table[:, links]

    def mask(self, held: Iterable | None) -> np.ndarray:
        """(n,) bool of pairs (body, joint)."""
        mask = np.zeros(self.columns, bool)
        single = isinstance(held, str) or not isinstance(held, Iterable)
        for pair in () if held is None else (held,) if single else held:
            named = tuple(pair) if isinstance(pair, Iterable) and not isinstance(pair, str) else ()
            if len(named) != 2:
                raise InputError(f"held names {pair!r}; expected pairs (body, joint)")
            body, j = named
            k = self.number.get((body, j), -1)
            if k < 0 or j == BASE or not self.count[k]:
                raise InputError(f"held names joint {j} of body {body}, which does not move")
            mask[self.column[k] : self.column[k] + self.count[k]] = True
        return mask

    def parts(self, links: np.ndarray) -> NamedParts:
        """Of both sides (m, 2) of contacts, as numbers of links."""
        place = {number: i for i, number in enumerate(self.bodies)}
        body = np.array([place[body] for body, _ in self.links], int)
        return NamedParts(
            geom=links,
            body=body[links],
            geoms=_Names(self, self.links),
            bodies=_Names(self, [(number, None) for number in self.bodies]),
        )

    def name(self, k: int) -> str:
        """Of a link, "body 2 robot foot"."""
        return _Names(self, self.links)[k]


UNIT, NOTHING = np.eye(3), np.zeros(3)


class _Names(Sequence):
    """Names of links (body, link), or of whole bodies (body, None), made at access."""

    def __init__(self, world, links):
        self.bullet, self.client, self.links = world.bullet, world.client, links

    def __len__(self):
        return len(self.links)

    def __getitem__(self, i):
        body, link = self.links[i]
        base, label = self.bullet.getBodyInfo(body, **self.client)[:2]
        part = b""
        if link is not None:
            info = () if link == BASE else self.bullet.getJointInfo(body, link, **self.client)
            part = info[12] if info else base
        return " ".join(filter(None, (f"body {body}", label.decode(), part.decode())))
