"""Compatible contact forces from PyBullet's state after ``stepSimulation``.

PyBullet gives points, normals and forces, no Jacobians fit for all its bodies, so B is built here
from the joints of each body: base velocities (linear of its centre of mass, angular; world axes),
then one velocity a joint degree of freedom. With ancestors' axes a_j through points o_j,

    v(point) = v_base + w_base x (point - base) + sum_j a_j x (point - o_j) qd_j   (revolute)
                                                + sum_j a_j qd_j                   (prismatic)

and B_i v = normal_i . (v_A - v_B), PyBullet's normal pointing from B to A. Fixed and point-to-point
constraints are rigid links, which restrain motions: see ``pybullet_links``. Motors, joint limits,
other constraints, damping stay as PyBullet has them: given load.

What PyBullet does not give: contact points are those of the start of the step, poses those of its
end, so moment arms are off by a step's motion; normals of points that it does not find anew are
older still (off by 5e-6 in a stack of plates): the noise left out of B is 1e-4 here; spinning and
rolling friction are not reported; double precision forces stop at the solver's own threshold
(solverResidualThreshold; ``analytics`` tells how far), which ``load="rest"`` does not inherit. Soft
bodies and planar joints are refused.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..._support import arrays
from ..._support.matrices import compact
from ..._support.words import counted
from ...errors import InputError
from .arguments import check_linear, imported, rigid_or_given, stopped_short
from .contacts import EngineContacts
from .geometry import OUTSIDE, ContactGeometry
from .links import joined, joined_systems
from .materials import by_name, given_stiffness
from .matrices import interleaved
from .parts import NamedParts
from .pybullet_links import constraint_rows, in_displacements
from .reading import asked, extents
from .result import MendedForces

ADVICE = "more numSolverIterations, a smaller solverResidualThreshold, or load='rest'"
"""What to do where PyBullet's solver stopped early."""

GAINED = "the speed that gravity gives in a step"
"""What its solver's residual is measured by."""

BASE = -1
SOFT = 3  # body type in getDynamicsInfo
STALE = 1e-4
"""Accuracy of geometry where Bullet keeps the normals of contact points it does not find anew."""


def library():
    """The pybullet module."""
    return imported("pybullet", engine="PyBullet", extra="pybullet")


def from_pybullet(
    client: int = 0,
    *,
    stiffness=None,
    exponent: float = 2.0,
    load="engine",
    held=None,
    equalities="rigid",
    on_friction: str = "joint",
    analytics=None,
    **options,
) -> MendedForces:
    """Compatible forces in the order of ``pybullet.getContactPoints()``, along its normals.

    Parameters
    ----------
    client : physicsClientId.
    stiffness : relative k, a number, one per contact point or by name; None: the series of both
        links' contactStiffness where every contact has one, else equal.
    load : "engine" keeps its resultant; "rest": what holds everything without acceleration under
        gravity and joint motors; or (n,).
    held : pairs (body, joint) taken as rigidly held.
    equalities : "rigid": constraints are rigid links, or "given": they keep their forces.
    friction : coefficients likewise, in place of PyBullet's.
    analytics : what the last ``stepSimulation`` returned, with
        ``setPhysicsEngineParameter(reportSolverAnalytics=1)``: whether its solver had converged is
        then told.
    exponent, on_friction and further keywords : as for ``mend_forces``.

    PyBullet bounds each direction of friction on its own unless cone friction is enabled, which
    cannot be read; forces found with friction are within Coulomb's circle.
    """
    pybullet = library()
    wanted = asked(
        from_pybullet, options, load=load, exponent=exponent, on_friction=on_friction,
        client=(client, int),
    )  # fmt: skip
    if not pybullet.isConnected(client):
        raise InputError(f"from_pybullet: client {client} is not connected; expected its number")
    load_from, load = wanted.load_from, wanted.load
    points = pybullet.getContactPoints(physicsClientId=client)
    world = _World(pybullet, client)
    A, B = [p[1] for p in points], [p[2] for p in points]
    links_a, links_b = [p[3] for p in points], [p[4] for p in points]
    on_a, on_b, normal = (_vectors(points, column) for column in (5, 6, 7))
    sides = ((A, links_a, on_a, 1.0), (B, links_b, on_b, -1.0))
    tangents = np.stack([_vectors(points, column) for column in (11, 13)], axis=1)
    directions = np.concatenate([normal[:, None], tangents], axis=1)
    gradient, *sliding = world.rows(sides, directions)
    force = np.array([p[9] for p in points])
    tangential = np.array([[p[10], p[12]] for p in points]).reshape(-1, 2)
    friction = np.array([world.friction(*p[1:5]) for p in points])

    if stiffness is None:
        stiffness, said = world.springs(points, exponent)
    else:
        said = "" if by_name(stiffness) else "stiffness: as given"
        stiffness = given_stiffness(stiffness, len(points), "contact point")
    sliding = interleaved(*sliding)
    held = world.mask(held)
    links, turning, error, others = constraint_rows(world, rigid_or_given(equalities))
    residual = world.residual(analytics)
    doubt = stopped_short("PyBullet", residual, load_from, ADVICE, GAINED)
    notes = [text for text in (said, doubt) if text]
    if others:
        notes.append(f"{counted(others, 'constraint')} kept as PyBullet has them")
    mechanism = np.array(world.mechanism, int)
    whole = joined(mechanism, links, held)
    world.join_systems(links)
    if load_from == "rest":
        load = -(world.applied() + sliding.T @ tangential.ravel())
    parts = world.parts([((p[2], p[4]), (p[1], p[3])) for p in points])
    places = ContactGeometry(
        point=np.stack([on_b, on_a], axis=1),
        normal=normal,
        tangents=tangents,
        names=parts.pairs,
        system=np.array([[world.system(p[2]), world.system(p[1])] for p in points], int).reshape(
            -1, 2
        ),
        centre=np.array([[world.middle(p[2]), world.middle(p[1])] for p in points]).reshape(
            -1, 2, 3
        ),
        parts=parts,
    )
    extent = extents(gradient, world.turns, whole, places)
    links, accuracy = in_displacements(links, turning, error, extent.sizes)
    velocity = world.velocity()
    gap = np.array([p[8] for p in points]) + world.dt * (gradient @ velocity)
    contacts = EngineContacts(
        gradient,
        force,
        load=load,
        load_from=load_from,
        stiffness=stiffness,
        held=held,
        tangential=tangential,
        friction=friction,
        sliding=sliding,
        gap=gap,
        mechanism=mechanism,
        reach=extent.reach,
        links=links,
        link_accuracy=accuracy,
        places=places,
        contacts=len(points),
        engine="PyBullet",
        engine_residual=residual,
        notes=tuple(notes),
        accuracy=STALE,
        gap_tolerance=extent.gap_tolerance,
        velocity=velocity,
    )
    return wanted.mended(contacts)


def _cross(a, b):
    """Of two vectors, or of one and the columns of a matrix; ten times as fast as numpy's."""
    (ax, ay, az), (bx, by, bz) = a, b
    return np.array([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx])


def _vectors(points, column):
    return np.array([p[column] for p in points], float).reshape(-1, 3)


@dataclass(frozen=True)
class _Joint:
    """A moving joint: its first column, its axes (d, 3), whether it turns, a point on its axis."""

    column: int
    axes: np.ndarray
    turns: bool
    point: np.ndarray


class _World:
    """Bodies, their degrees of freedom and their kinematics at the present state."""

    def __init__(self, pybullet, client):
        self.bullet, self.client = pybullet, {"physicsClientId": client}
        parameters = pybullet.getPhysicsEngineParameters(**self.client)
        self.dt = parameters["fixedTimeStep"]
        self.gravity = np.array([parameters[f"gravityAcceleration{axis}"] for axis in "XYZ"])
        self.base, self.centre, self.parent, self.joint = {}, {}, {}, {}
        self.bodies, self.moving, self._info = [], set(), {}
        self.columns = 0
        self.mechanism, self.turns = [], []  # of each column
        for i in range(pybullet.getNumBodies(**self.client)):
            self._add(pybullet.getBodyUniqueId(i, **self.client))
        self._free = {body: number for number, body in enumerate(self.base)}

    def _add(self, body):
        bullet = self.bullet
        self.bodies.append(body)
        info = bullet.getDynamicsInfo(body, BASE, **self.client)
        if info[10] == SOFT:
            raise InputError(f"body {body} is a soft body; expected rigid bodies and joints")
        self.centre[body] = np.array(bullet.getBasePositionAndOrientation(body, **self.client)[0])
        if info[0] > 0:
            self.base[body] = self.columns
            self._count(body, [False] * 3 + [True] * 3)
        for j in range(bullet.getNumJoints(body, **self.client)):
            joint = bullet.getJointInfo(body, j, **self.client)
            self.parent[body, j] = joint[16]
            if joint[2] == bullet.JOINT_FIXED:
                continue
            state = bullet.getLinkState(body, j, computeForwardKinematics=1, **self.client)
            frame = np.array(bullet.getMatrixFromQuaternion(state[1])).reshape(3, 3)
            if joint[2] in (bullet.JOINT_REVOLUTE, bullet.JOINT_PRISMATIC):
                axes = (frame @ np.array(joint[13]))[None]
            elif joint[2] == bullet.JOINT_SPHERICAL:
                axes = np.eye(3)
            else:
                raise InputError(
                    f"joint {joint[1].decode()!r} of body {body} is planar; expected revolute, "
                    "prismatic, spherical or fixed joints"
                )
            turns = joint[2] != bullet.JOINT_PRISMATIC
            self.joint[body, j] = _Joint(self.columns, axes, turns, np.array(state[4]))
            self._count(body, [turns] * len(axes))

    def _count(self, body, turns):
        self.moving.add(body)
        self.columns += len(turns)
        self.mechanism += [body] * len(turns)
        self.turns += turns

    def row(self, body, link, point, direction):
        """Columns and values of direction . velocity of a point of a link; direction (3,) or, for
        several, (3, d)."""
        columns, values = [], []
        if body in self.base:
            turn = _cross(point - self.centre[body], direction)
            columns.append(self.base[body] + np.arange(6))
            values.append(np.concatenate([direction, turn]))
        while link != BASE:
            joint = self.joint.get((body, link))
            if joint is not None:
                along = _cross(point - joint.point, direction) if joint.turns else direction
                columns.append(joint.column + np.arange(len(joint.axes)))
                values.append(joint.axes @ along)
            link = self.parent[body, link]
        return columns, values

    def rows(self, sides, directions):
        """Relative velocities, A less B, along each of d ``directions`` (m, d, 3): d matrices
        (m, n)."""
        m, d = directions.shape[:2]
        row, column, value = [np.zeros(0, int)], [np.zeros(0, int)], [np.zeros((0, d))]
        for bodies, links, point, sign in sides:
            for i, (body, link) in enumerate(zip(bodies, links, strict=True)):
                columns, values = self.row(body, link, point[i], directions[i].T)
                for c, v in zip(columns, values, strict=True):
                    row.append(np.full(len(c), i))
                    column.append(c)
                    value.append(sign * v)
        place, value = (np.concatenate(row), np.concatenate(column)), np.concatenate(value)
        shape = m, self.columns
        return [compact(sp.csr_array((value[:, k], place), shape=shape)) for k in range(d)]

    def spin(self, body, link, direction):
        """Columns and values of direction . angular velocity of a link."""
        columns, values = [], []
        if body in self.base:
            columns.append(self.base[body] + np.arange(3, 6))
            values.append(direction)
        while link != BASE:
            joint = self.joint.get((body, link))
            if joint is not None and joint.turns:
                columns.append(joint.column + np.arange(len(joint.axes)))
                values.append(joint.axes @ direction)
            link = self.parent[body, link]
        return columns, values

    def join_systems(self, links):
        """Bodies that ``links`` join are one system, those that they hold none."""
        axes = np.broadcast_to(np.eye(3), (len(self.base), 3, 3))
        columns = np.array(list(self.base.values()), int)[:, None] + np.arange(6)
        centre = np.array([self.centre[body] for body in self.base]).reshape(-1, 3)
        number = joined_systems(links, columns.reshape(-1, 6), centre, axes, axes)
        self._free = dict(zip(self.base, number.tolist(), strict=True))

    def velocity(self):
        """(n,): at the end of the step."""
        v = np.zeros(self.columns)
        for body, first in self.base.items():
            v[first : first + 6] = np.ravel(self.bullet.getBaseVelocity(body, **self.client))
        for (body, j), joint in self.joint.items():
            if len(joint.axes) == 1:
                v[joint.column] = self.bullet.getJointState(body, j, **self.client)[1]
            else:
                rate = self.bullet.getJointStateMultiDof(body, j, **self.client)[1]
                v[joint.column : joint.column + 3] = rate
        return v

    def residual(self, analytics) -> float:
        """By how much the solver's last sweep still changed velocities, over what gravity adds in
        a step; nan where that is not known. Bullet tells the square of the largest."""
        if analytics is None:
            return np.nan
        try:
            left = [float(island["remainingResidual"]) for island in analytics]
        except (TypeError, KeyError):
            raise InputError(
                f"analytics is {arrays.short(analytics)}; expected what stepSimulation returned, "
                "after setPhysicsEngineParameter(reportSolverAnalytics=1)"
            ) from None
        added = float(np.linalg.norm(self.gravity)) * self.dt
        return max(left, default=0.0) ** 0.5 / added if added else np.nan

    def applied(self):
        """Gravity and joint motors (n,) [N, N m]."""
        total = np.zeros(self.columns)
        for body in self.bodies:
            for link in range(BASE, self.bullet.getNumJoints(body, **self.client)):
                mass = self.info(body, link)[0]
                centre = self.centre[body]
                if link != BASE:
                    centre = self.bullet.getLinkState(
                        body, link, computeForwardKinematics=1, **self.client
                    )[0]
                for c, v in zip(
                    *self.row(body, link, np.array(centre), mass * self.gravity), strict=True
                ):
                    total[c] += v
        for (body, j), joint in self.joint.items():
            if len(joint.axes) == 1:
                total[joint.column] += self.bullet.getJointState(body, j, **self.client)[3]
            else:
                torque = self.bullet.getJointStateMultiDof(body, j, **self.client)[3]
                total[joint.column : joint.column + 3] += torque
        return total

    def info(self, body, link):
        key = body, link
        if key not in self._info:
            self._info[key] = self.bullet.getDynamicsInfo(body, link, **self.client)
        return self._info[key]

    def friction(self, a, b, link_a, link_b):
        """Bullet's combined coefficient: the product."""
        return self.info(a, link_a)[1] * self.info(b, link_b)[1]

    def springs(self, points, exponent):
        """Series of both sides' contactStiffness (unset: rigid), or ones, and what was done."""
        sides = np.array(
            [[self.info(p[1], p[3])[9], self.info(p[2], p[4])[9]] for p in points]
        ).reshape(-1, 2)
        soft = sides > 0
        if not len(points) or not soft.any(axis=1).all():
            return np.ones(len(points)), "stiffness: equal"
        check_linear("PyBullet's contactStiffness is", exponent)
        give = np.where(soft, 1.0 / np.where(soft, sides, 1.0), 0.0).sum(axis=1)
        return 1.0 / give, "stiffness: PyBullet's contactStiffness of both sides in series"

    def mask(self, held):
        mask = np.zeros(self.columns, bool)
        for pair in () if held is None else held if isinstance(held, Iterable) else (held,):
            if (
                isinstance(pair, str)
                or not isinstance(pair, Iterable)
                or len(pair := tuple(pair)) != 2
            ):
                raise InputError(f"held names {pair!r}; expected pairs (body, joint)")
            body, j = pair
            joint = self.joint.get((body, j))
            if joint is None:
                raise InputError(f"held names joint {j} of body {body}, which does not move")
            mask[joint.column : joint.column + len(joint.axes)] = True
        return mask

    def system(self, body):
        """Number among the free bodies; held joints do not take a total away."""
        return self._free.get(body, OUTSIDE)

    def middle(self, body):
        """Its base's centre of mass; nan for a body that cannot move."""
        return self.centre[body] if body in self.moving else np.full(3, np.nan)

    def parts(self, pairs) -> NamedParts:
        """Of the links (body, link) of both sides of each contact."""
        links = [(body, BASE) for body in self.bodies] + list(self.parent)
        place = {link: i for i, link in enumerate(links)}
        body = {number: i for i, number in enumerate(self.bodies)}
        return NamedParts(
            geom=np.array([[place[link] for link in pair] for pair in pairs], int).reshape(-1, 2),
            body=np.array([[body[b] for b, _ in pair] for pair in pairs], int).reshape(-1, 2),
            geoms=_Names(self.bullet, self.client, links),
            bodies=_Names(self.bullet, self.client, [(number, None) for number in self.bodies]),
        )


class _Names(Sequence):
    """Names of links (body, link), or of whole bodies (body, None), made when they are asked for:
    "body 2 robot foot"."""

    def __init__(self, bullet, client, links):
        self.bullet, self.client, self.links = bullet, client, links

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
