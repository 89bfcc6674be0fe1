"""Compatible contact forces from PyBullet's state after ``stepSimulation``.

PyBullet gives points, normals and forces, no Jacobians fit for all its bodies, so B is built here
from the joints of each body: base velocities (linear of its centre of mass, angular; world axes),
then one velocity a joint degree of freedom (``pybullet_world``):

    B_i v = normal_i . (v_A - v_B)

with PyBullet's normal, which points from B to A. Fixed and point-to-point constraints are rigid
links, which restrain motions. Motors, joint limits, other constraints,
damping stay as PyBullet has them: given load.

What PyBullet does not give: contact points are those of the start of the step, poses those of its
end, so moment arms are off by a step's motion; normals of points that it does not find anew are
older still (off by 5e-6 in a stack of plates): the noise left out of B is 1e-4 here; spinning and
rolling friction are not reported; double precision forces stop at the solver's own threshold
(solverResidualThreshold; see ``analytics``), which ``load="rest"`` does not inherit. Soft
bodies and planar joints are refused.

Rigid links: fixed and point-to-point constraints, as long as they pull less than half of their
largest force: one near its limit is a drive. Both bodies move through the middle p of the pivots,
or two constraints of the same bodies, a little apart, would forbid them to turn:

    G v = v_parent(p) - v_child(p) [m/s],   and w_parent - w_child [rad/s] for a fixed one

Contact points: a step finds points for the poses at its start, and ends with other poses. A body
that was moved by hand afterwards is elsewhere than its points, and its forces are of the other
pose.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Unpack

import numpy as np
import scipy.sparse as sp

from ..._support import arrays
from ..._support.matrices import Matrix
from ...errors import InputError
from .arguments import (
    Load,
    check_linear,
    constraints_given,
    imported,
    kept_as_is,
    rigid_or_given,
    stopped_short,
    unreported_moments,
)
from .contacts import EngineContacts
from .geometry import Places
from .links import from_error, joined
from .materials import ByContact, by_name, given_stiffness
from .matrices import delivered
from .options import OfReader
from .pybullet_world import BASE, World
from .reading import asked, extents
from .result import MendedForces
from .tolerances import TOLERANCES


def constraint_rows(world: World, rigid: bool) -> tuple[Matrix, np.ndarray, np.ndarray, int]:
    """Rows (k, n) of rigid constraints; which are rates of turn (k,) bool; distance [m] and angle
    of their sides (k, 2); how many constraints are not among them."""
    bullet, client = world.bullet, world.client
    kinds = (bullet.JOINT_FIXED, bullet.JOINT_POINT2POINT)
    rows, turning, error, given = [np.zeros((0, world.columns))], [], [], 0
    for place in range(bullet.getNumConstraints(**client)):
        number = bullet.getConstraintUniqueId(place, **client)
        info = bullet.getConstraintInfo(number, **client)
        pull = np.linalg.norm(bullet.getConstraintState(number, **client))
        if not rigid or info[4] not in kinds or pull >= TOLERANCES.at_limit * info[10]:
            given += 1
            continue
        parts = info[0:2], info[2:4]
        first, second = (
            _frame(world, *part, info[6 + i], info[8 + i]) for i, part in enumerate(parts)
        )
        middle = 0.5 * (first[0] + second[0])
        numbers = [world.number.get(part, -1) for part in parts]  # -1: the world
        move = np.subtract(*(world.twists.velocity(k, middle) for k in numbers))
        turn = np.subtract(*(world.twists.spin(k) for k in numbers))
        fixed = info[4] == bullet.JOINT_FIXED
        apart = float(np.linalg.norm(first[0] - second[0]))
        askew = float(np.linalg.norm(first[1] - second[1])) if fixed else 0.0
        rows += [move, turn] if fixed else [move]
        turning += [False] * 3 + [True] * 3 * fixed
        error += [(apart, askew)] * (6 if fixed else 3)
    error = np.array(error).reshape(-1, 2)
    if len(rows) == 1:
        return rows[0], np.zeros(0, bool), error, given
    return sp.csr_array(np.vstack(rows)), np.array(turning, bool), error, given


def in_displacements(
    links: Matrix, turning: np.ndarray, error: np.ndarray, sizes: np.ndarray
) -> tuple[Matrix, np.ndarray]:
    """Rows (k, n) in displacements, and their accuracy (k,). turning (k,) bool: rates of turn;
    error (k, 2): distance [m] and angle of the two sides; sizes (n,): of the mechanisms [m]."""
    if not len(turning):
        return links, np.zeros(0)
    entries = sp.coo_array(links)
    span = np.zeros(len(turning))
    np.maximum.at(span, entries.row, sizes[entries.col])
    span = np.where(span > 0, span, 1.0)
    links = sp.csr_array(sp.diags_array(np.where(turning, span, 1.0)) @ links)
    return links, from_error(error[:, 0] / span + error[:, 1])


def _frame(world, body, link, place, turn):
    """Place (3,) and axes (3, 3) in the world of a frame given in a link's, or in the world."""
    bullet, client = world.bullet, world.client
    if (body, BASE) in world.number:
        if link == BASE:
            pose = bullet.getBasePositionAndOrientation(body, **client)
        else:
            pose = bullet.getLinkState(body, link, computeForwardKinematics=1, **client)
        place, turn = bullet.multiplyTransforms(*pose[:2], place, turn)
    return np.array(place), np.array(bullet.getMatrixFromQuaternion(turn)).reshape(3, 3)


@dataclass(frozen=True)
class ContactPoints:
    """links (m, 2): numbers of ``World``, sides A and B; point (m, 2, 3) [m]; directions (m, 3, 3):
    normal from B to A, and both of friction; distance (m,) [m]; force (m,), rubs (m, 2) [N]."""

    links: np.ndarray
    point: np.ndarray
    directions: np.ndarray
    distance: np.ndarray
    force: np.ndarray
    rubs: np.ndarray


def contact_points(world: World) -> ContactPoints:
    """Of the last step, in PyBullet's order. Raises InputError for bodies that were moved since."""
    found = world.bullet.getContactPoints(**world.client)
    m, columns = len(found), list(zip(*found, strict=True)) or [()] * 14
    sides = (world.numbers(columns[1], columns[3]), world.numbers(columns[2], columns[4]))
    vectors = np.array([columns[7], columns[11], columns[13]], float).reshape(3, m, 3)
    points = ContactPoints(
        links=np.stack(sides, axis=1).reshape(m, 2),
        point=np.array([columns[5], columns[6]], float).reshape(2, m, 3).transpose(1, 0, 2),
        directions=np.ascontiguousarray(vectors.transpose(1, 0, 2)),
        distance=np.array(columns[8], float),
        force=np.array(columns[9], float),
        rubs=np.array([columns[10], columns[12]], float).reshape(2, m).T.copy(),
    )
    _check_places(world, points)
    return points


def _check_places(world, points):
    """Raises InputError where points are off the bounding boxes of their links."""
    box = np.zeros((len(world.links), 2, 3))
    for k in set(points.links.ravel().tolist()):
        box[k] = world.bullet.getAABB(*world.links[k], **world.client)
    low, high = box[points.links].transpose(2, 0, 1, 3)
    off = np.maximum(np.maximum(low - points.point, points.point - high), 0.0).max(axis=2)
    size = np.linalg.norm(box[:, 1] - box[:, 0], axis=1)
    for i, side in np.argwhere(off > TOLERANCES.aside * size[points.links]).tolist():
        k = int(points.links[i, side])
        way = world.dt * _speed(world, k, size[k])
        if off[i, side] > TOLERANCES.steps * way:
            raise InputError(
                f"from_pybullet: {world.name(k)} is {off[i, side]:.3g} m off its contact point {i} "
                f"(a step's motion is {way:.3g} m): it was moved after the last step, whose forces "
                "are of the other pose; call stepSimulation first"
            )


def _speed(world, k, size):
    """Of the fastest point of a link, about [m/s]."""
    body, link = world.links[k]
    if link == BASE:
        moves, turns = world.bullet.getBaseVelocity(body, **world.client)
    else:
        state = world.bullet.getLinkState(body, link, computeLinkVelocity=1, **world.client)
        moves, turns = state[6:8]
    return float(np.linalg.norm(moves) + size * np.linalg.norm(turns))


ADVICE = "more numSolverIterations, a smaller solverResidualThreshold, or load='rest'"
"""What to do where PyBullet's solver stopped early."""

GAINED = "the speed that gravity gives in a step"
"""What its solver's residual is measured by."""

ALIKE = 3.0
"""Masses of links up to this ratio count as one."""

FRICTION, ROLLING, SPINNING, STIFFNESS = 1, 6, 7, 9
"""Their places in getDynamicsInfo."""


def library() -> ModuleType:
    """The pybullet module."""
    return imported("pybullet", engine="PyBullet", extra="pybullet")


def from_pybullet(
    client: int = 0,
    *,
    stiffness: ByContact | None = None,
    exponent: float = 2.0,
    load: Load = "engine",
    held: Iterable[tuple[int, int]] | None = None,
    equalities: str = "rigid",
    on_friction: str = "joint",
    analytics: Sequence[Mapping[str, Any]] | None = None,
    **options: Unpack[OfReader],
) -> MendedForces:
    """Compatible forces in the order of ``pybullet.getContactPoints()``, along its normals.

    PyBullet bounds each direction of friction on its own unless cone friction is enabled, which
    cannot be read; forces found with friction are within Coulomb's circle.

    Parameters
    ----------
    client : int
        physicsClientId.
    stiffness : float, (contacts,) or by name, optional
        Relative k; None: the series of both links' contactStiffness where every contact has one,
        else equal.
    exponent : float
        Of the contact law.
    load : {"engine", "rest"} or (n,) [N, N m]
        "engine" keeps its resultant; "rest": what holds everything without acceleration under
        gravity and joint motors.
    held : list of (body, joint), optional
        Taken as rigidly held.
    equalities : {"rigid", "given"}
        "rigid": constraints are rigid links, or "given": they keep their forces.
    on_friction, **options
        As for ``mend_forces``. friction: coefficients, as stiffness is given, in place of
        PyBullet's.
    analytics : list of dict, optional
        What the last ``stepSimulation`` returned, with
        ``setPhysicsEngineParameter(reportSolverAnalytics=1)``: whether its solver had converged is
        then reported.

    Raises
    ------
    InputError
        For a client that is not connected, bodies that it does not have, and options that do not
        fit.
    MissingExtra
        Without pybullet.

    Examples
    --------
    >>> import pybullet
    >>> from rigidlimit.adapters import from_pybullet
    >>> client = pybullet.connect(pybullet.DIRECT)
    >>> pybullet.setGravity(0, 0, -10, physicsClientId=client)
    >>> for half, mass, height in ((1.0, 0, -1.0), (0.1, 1.0, 0.1)):
    ...     size = [half] * 3
    ...     shape = pybullet.createCollisionShape(
    ...         pybullet.GEOM_BOX, halfExtents=size, physicsClientId=client
    ...     )
    ...     body = pybullet.createMultiBody(
    ...         mass, shape, basePosition=[0, 0, height], physicsClientId=client
    ...     )
    >>> for _ in range(100):
    ...     done = pybullet.stepSimulation(physicsClientId=client)
    >>> round(float(from_pybullet(client).force.sum()), 1)
    10.0
    >>> pybullet.disconnect(client)
    """
    pybullet = library()
    wanted = asked(
        from_pybullet, options, load=load, exponent=exponent, on_friction=on_friction,
        client=(client, int),
    )  # fmt: skip
    if not pybullet.isConnected(client):
        raise InputError(f"from_pybullet: client {client} is not connected; expected its number")
    load_from, load = wanted.load_from, wanted.load
    world = World(pybullet, client)
    points = contact_points(world)
    # normals point from the second side to the first
    sides, point = points.links[:, ::-1], points.point[:, ::-1]
    gradient, sliding = world.twists.rows(sides, point, points.directions)
    mu, rolls, spins, springs = world.values(points.links, FRICTION, ROLLING, SPINNING, STIFFNESS)
    if stiffness is None:
        stiffness, said = _springs(springs, exponent)
    else:
        said = "" if by_name(stiffness) else "stiffness: as given"
        stiffness = given_stiffness(stiffness, len(points.force), "contact point")
    held = world.mask(held)
    links, turning, error, others = constraint_rows(world, rigid_or_given(equalities))
    residual, sweeps = _residual(world, analytics)
    share = _share(world, residual, sweeps, points.force)
    kept = kept_as_is(points.rubs, on_friction)
    doubt = stopped_short("PyBullet", residual, load_from, ADVICE, GAINED, share, kept)
    notes = [
        *([said] if said else []),
        *doubt,
        *constraints_given("PyBullet", others, load_from, "a load (n,)"),
        *unreported_moments("PyBullet", np.hstack([rolls, spins])),
    ]
    if load_from == "rest":
        load = -(world.applied() + delivered(sliding, points.rubs.ravel()))
    parts = world.parts(sides)
    places = Places(
        point=point,
        normal=points.directions[:, 0],
        tangents=points.directions[:, 1:],
        names=parts.pairs,
        system=world.systems(links)[sides],
        centre=world.middles()[sides],
        parts=parts,
    )
    extent = extents(gradient, world.turns_of, joined(world.mechanism, links, held), places)
    links, accuracy = in_displacements(links, turning, error, extent.sizes)
    velocity = world.velocity()
    contacts = EngineContacts(
        gradient,
        points.force,
        load=load,
        load_from=load_from,
        stiffness=stiffness,
        held=held,
        tangential=points.rubs,
        friction=mu[:, 0] * mu[:, 1],  # Bullet's combined coefficient
        sliding=sliding,
        gap=points.distance + world.dt * (gradient @ velocity),
        mechanism=world.mechanism,
        reach=extent.reach,
        links=links,
        link_accuracy=accuracy,
        places=places,
        contacts=len(points.force),
        engine="PyBullet",
        engine_residual=residual,
        notes=tuple(notes),
        accuracy=TOLERANCES.stale,
        gap_tolerance=extent.gap_tolerance,
        velocity=velocity,
    )
    return wanted.mended(contacts)


def _residual(world, analytics) -> tuple[float, int]:
    """By how much the solver's last sweep still changed velocities, over what gravity adds in
    a step, and after how many sweeps; nan where that is not known. Bullet reports the square of the
    largest."""
    if analytics is None:
        return np.nan, 0
    limit = int(world.bullet.getPhysicsEngineParameters(**world.client)["numSolverIterations"])
    try:
        left, sweeps = max(
            ((float(of["remainingResidual"]), int(of.get("numIterationsUsed", limit))))
            for of in ({"remainingResidual": 0.0}, *analytics)
        )
    except (TypeError, KeyError, AttributeError):
        raise InputError(
            f"analytics is {arrays.short(analytics)}; expected what stepSimulation returned, "
            "after setPhysicsEngineParameter(reportSolverAnalytics=1)"
        ) from None
    added = float(np.linalg.norm(world.gravity)) * world.dt
    return (left**0.5 / added if added else np.nan), sweeps


def _share(world, residual, sweeps, force) -> tuple[float, float] | None:
    """What that may leave of the largest contact force, at least and at most; None without forces.

    Changes of sweeps shrink by a ratio: in the mean the one that led from gravity's part to the
    residual. All that are still to come, on the heaviest link, are the most. Bullet's residual is
    of all rows: those of motors of light links may never shrink, and change forces by the residual
    on the lightest alone. Links of like masses are not told apart.
    """
    mass = world.mass[world.mass > 0.0]
    largest = float(force.max(initial=0.0))
    if not len(mass) or not largest > 0.0 or not residual > 0.0:
        return None
    weight = residual * float(np.linalg.norm(world.gravity)) / largest
    rest = 1.0 - residual ** (1.0 / max(sweeps, 1))
    most = min(1.0, weight * float(mass.max()) / rest) if rest > 0.0 else 1.0
    alike = mass.max() <= ALIKE * mass.min()
    return (most if alike else min(most, weight * float(mass.min()))), most


def _springs(sides, exponent):
    """Series of both sides' contactStiffness (m, 2), unset: rigid, or ones, and what was done."""
    soft = sides > 0
    if not len(sides) or not soft.any(axis=1).all():
        return np.ones(len(sides)), "stiffness: equal"
    check_linear("PyBullet's contactStiffness is", exponent)
    give = np.where(soft, 1.0 / np.where(soft, sides, 1.0), 0.0).sum(axis=1)
    return 1.0 / give, "stiffness: PyBullet's contactStiffness of both sides in series"
