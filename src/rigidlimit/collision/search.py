"""Contact search: (bodies, state, reach) -> Contacts."""

import numpy as np
from numba import njit

from .._support.threads import in_pieces
from ..bodies import Bodies, State, rotations
from ..errors import ContactError
from .balls import ball_ball, ball_solid
from .broadphase import Apart, kept_apart, meeting_balls
from .capsules import capsule_capsule
from .compounds import parts_of
from .contacts import Contacts, Pieces, contact_key
from .convex import convex_pairs
from .images import Images, images_of
from .kinds import BALL, CAPSULE, CYLINDER, KINDS, PLANE, POLYGON, POLYTOPE, shape_kinds
from .planar import disk_polygon, polygon_polygon
from .planes import planes_bodies
from .polytopes import polytope_polytope, small_enough
from .tolerances import TOLERANCES

PAIRS = {
    (BALL, BALL): ball_ball,
    (BALL, POLYGON): disk_polygon,
    (POLYGON, POLYGON): polygon_polygon,
    (BALL, POLYTOPE): ball_solid,
    (BALL, CAPSULE): ball_solid,
    (BALL, CYLINDER): ball_solid,
    (CAPSULE, CAPSULE): capsule_capsule,
    (POLYTOPE, POLYTOPE): polytope_polytope,
}
"""Narrow phase (bodies, state, a, b, reach) -> Pieces of each pair of kinds, the lower kind first;
of all others, and of polytopes with very many edges, ``convex_pairs``."""

SEARCHES = [*dict.fromkeys(PAIRS.values()), convex_pairs]

_SEARCH_OF = np.array(
    [
        [SEARCHES.index(PAIRS.get((one, other), convex_pairs)) for other in range(KINDS)]
        for one in range(KINDS)
    ]
)


def find_contacts(
    bodies: Bodies, state: State, reach: float | np.ndarray, of: np.ndarray | None = None
) -> Contacts:
    """All contacts with gap <= reach of one body + reach of the other.

    Overlapping bodies give the normal of least overlap. In a periodic cell bodies touch images of
    one another (``images``). Compounds are searched part by part (``compounds``). Pairs without a
    free degree of freedom are left out, and those that do not collide (``apart``).

    Parameters
    ----------
    bodies : Bodies
    state : State
        Where they are.
    reach : float or (n,) [m]
        How far each body may move in the step.
    of : (n,) bool, optional
        Bodies whose contacts are needed, all by default; others may be included.

    Raises
    ------
    ContactError
        For coincident centres, poses that are not finite, quaternions that are not of unit length,
        and a reach without bounds.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> scene = rl.scenes.beam()
    >>> contacts = rl.collision.find_contacts(scene.bodies, scene.state, 1e-6)
    >>> contacts.body.tolist()
    [[0, 3], [1, 3], [2, 3]]
    """
    n = len(bodies)
    reach = np.full(n, reach, float)
    lost = np.flatnonzero(
        ~(np.isfinite(state.position).all(axis=1) & np.isfinite(state.quaternion).all(axis=1))
    )
    if len(lost):
        raise ContactError(
            f"body {bodies.names[lost[0]]!r} has position {state.position[lost[0]].tolist()} and "
            f"quaternion {state.quaternion[lost[0]].tolist()}; expected finite numbers"
        )
    wrong = rotations.no_rotations(state.quaternion)
    if len(wrong):
        raise ContactError(
            f"body {bodies.names[wrong[0]]!r} has quaternion "
            f"{state.quaternion[wrong[0]].tolist()}; expected one of unit length (w, x, y, z), "
            "1, 0, 0, 0 for a body that is not turned"
        )
    fast = np.flatnonzero(~(reach < TOLERANCES.farthest))
    if len(fast):
        raise ContactError(
            f"body {bodies.names[fast[0]]!r} may move {reach[fast[0]]:.3g} m within the step; "
            f"expected less than {TOLERANCES.farthest:.0e}: look at velocities, loads and masses"
        )
    apart = bodies.derived(kept_apart)
    if bodies.cell is None:
        return _found(bodies, state, reach, apart, of)
    images, around = images_of(bodies, state, reach, apart)
    found = _found(images.bodies, images.state, around, images)
    return images.of_bodies(found, n)


def _found(
    bodies: Bodies,
    state: State,
    reach: np.ndarray,
    apart: Apart | Images | None,
    of: np.ndarray | None = None,
) -> Contacts:
    """Contacts of bodies, part by part where they are compounds."""
    parts = bodies.derived(parts_of)
    if parts is None:
        return _search(bodies, state, reach, apart=apart, of=of)
    placed, reach = parts.placed(state), reach[parts.owner]
    of = None if of is None else of[parts.owner]
    found = _search(parts.bodies, placed, reach, owner=parts.owner, apart=apart, of=of)
    return parts.of_bodies(found, placed, reach)


def _search(
    bodies: Bodies,
    state: State,
    reach: np.ndarray,
    *,
    apart: Apart | Images | None,
    owner: np.ndarray | None = None,
    of: np.ndarray | None = None,
) -> Contacts:
    """Contacts of bodies with one shape each; owner (n,): those of one owner have none, and by
    ``apart`` those of other pairs of owners. of (n,) bool: those that are needed."""
    n = len(bodies)
    kind, movable, planes, solid = bodies.derived(_roles)
    pairs, _ = meeting_balls(
        state.position[solid], bodies.bounding_radius[solid] + reach[solid], planar=bodies.dim == 2
    )
    a, b = solid[pairs[:, 0]], solid[pairs[:, 1]]
    wanted = movable[a] | movable[b]
    if owner is not None:
        wanted &= owner[a] != owner[b]
    if apart is not None:
        wanted &= apart.collide(*((a, b) if owner is None else (owner[a], owner[b])))
    on_planes = movable[solid] | movable[planes].any()
    if of is not None:
        wanted &= of[a] | of[b]
        on_planes &= of[solid] | of[planes].any()
    a, b = a[wanted], b[wanted]

    pieces = list(_pair_contacts(bodies, state, a, b, kind, reach))
    if len(planes):
        of_planes = planes_bodies(bodies, state, planes, solid[on_planes], reach)
        if movable[planes].any():
            of_planes = of_planes.select(movable[of_planes.a] | movable[of_planes.b])
        if apart is not None:
            a, b = of_planes.a, of_planes.b
            of_planes = of_planes.select(
                apart.collide(*((a, b) if owner is None else (owner[a], owner[b])))
            )
        pieces.append(of_planes)
    within = np.abs(state.position).max(axis=1, initial=0.0)
    within += np.where(np.isfinite(bodies.bounding_radius), bodies.bounding_radius, 0.0)
    return _sorted_contacts(Pieces.joined(pieces), reach, TOLERANCES.gap_rounding * within, n)


def _roles(bodies: Bodies):
    """(kind of each body's shape (n,), which may move (n,) bool, half-spaces, others)."""
    kind = bodies.of_shapes(shape_kinds)[bodies.shape_of]
    planes, solid = np.flatnonzero(kind == PLANE), np.flatnonzero(kind != PLANE)
    return kind, bodies.free.any(axis=1), planes, solid


def _pair_contacts(bodies, state, a, b, kind, reach):
    """Contacts of the pairs (a_k, b_k), each kind of pair by its own narrow phase."""
    swap = kind[a] > kind[b]
    a, b = np.where(swap, b, a), np.where(swap, a, b)
    search = _SEARCH_OF[kind[a], kind[b]]
    fine = search == SEARCHES.index(polytope_polytope)
    if fine.any():
        search[fine & ~small_enough(bodies, a, b)] = SEARCHES.index(convex_pairs)
    for number in np.flatnonzero(np.bincount(search, minlength=len(SEARCHES))):
        which = np.flatnonzero(search == number)
        i, j = a[which], b[which]
        yield SEARCHES[number](bodies, state, i, j, reach[i] + reach[j])


def _sorted_contacts(found: Pieces, reach, rounding, n: int) -> Contacts:
    """Within reach, from the lower to the higher body number, sorted by (a, b, feature).

    rounding (n,) [m]: of the places of each body; gaps up to the larger of two bodies' are 0.
    """
    low, high = np.minimum(found.a, found.b), np.maximum(found.a, found.b)
    keep = np.flatnonzero(found.gap <= reach[low] + reach[high])
    order = keep[np.argsort(contact_key(low, high, found.feature, n)[keep], kind="stable")]
    m = len(order)
    body, feature = np.empty((m, 2), np.int64), np.empty(m, np.int64)
    point, normal, gap, curvature = (
        np.empty((m, 3)), np.empty((m, 3)), np.empty(m), np.empty(m)
    )  # fmt: skip

    def take(first: int, last: int):
        _take(
            order, first, last, rounding,
            (found.a, found.b, found.feature, found.point, found.normal, found.gap,
             found.curvature),
            (body, feature, point, normal, gap, curvature),
        )  # fmt: skip

    in_pieces(take, m, least=TOLERANCES.threaded)
    return Contacts(body, feature, point, normal, gap, curvature, n)


@njit(cache=True, nogil=True)
def _take(order, first, last, rounding, found, into):
    """Contacts order[first:last] of ``found`` into the arrays of a ``Contacts``, turned from the
    lower body up."""
    a, b, number, at, direction, distance, curved = found
    body, feature, point, normal, gap, curvature = into
    for c in range(first, last):
        k = order[c]
        sign = 1.0 if a[k] < b[k] else -1.0
        body[c, 0], body[c, 1] = min(a[k], b[k]), max(a[k], b[k])
        feature[c], gap[c], curvature[c] = number[k], distance[k], curved[k]
        if abs(gap[c]) <= max(rounding[a[k]], rounding[b[k]]):
            gap[c] = 0.0
        for axis in range(3):
            point[c, axis] = at[k, axis]
            normal[c, axis] = sign * direction[k, axis]
