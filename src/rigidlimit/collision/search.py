"""Contact search: (bodies, state, reach) -> Contacts."""

import numpy as np

from ..bodies import Bodies, Disk, HalfSpace, Polygon, Sphere, State
from ..errors import ContactError
from .balls import ball_ball
from .broadphase import meeting_balls
from .contacts import Contacts
from .pieces import Pieces
from .planes import plane_body

BALL, POLYGON, CONVEX, PLANE = range(4)


def find_contacts(bodies: Bodies, state: State, reach) -> Contacts:
    """All contacts with gap <= reach of one body + reach of the other.

    reach (n,) or a number [m]: how far each body may move in the step; zero for half-spaces.
    Pairs without a free degree of freedom are left out. Raises ContactError for coincident
    centres and poses that are not finite. Overlapping bodies give the normal of least overlap.
    """
    n = len(bodies)
    reach = np.broadcast_to(np.asarray(reach, float), (n,))
    lost = np.flatnonzero(
        ~(np.isfinite(state.position).all(axis=1) & np.isfinite(state.quaternion).all(axis=1))
    )
    if len(lost):
        raise ContactError(
            f"body {bodies.names[lost[0]]!r} has position {state.position[lost[0]].tolist()} and "
            f"quaternion {state.quaternion[lost[0]].tolist()}; expected finite numbers"
        )
    family = bodies.derived(_families)
    movable = bodies.free.any(axis=1)

    planes = np.flatnonzero(family == PLANE)
    solid = np.flatnonzero(family != PLANE)
    pairs, _ = meeting_balls(
        state.position[solid],
        bodies.bounding_radius[solid] + reach[solid],
        planar=bodies.dim == 2,
    )
    a, b = solid[pairs[:, 0]], solid[pairs[:, 1]]
    wanted = movable[a] | movable[b]
    a, b = a[wanted], b[wanted]

    pieces = [plane_body(bodies, state, p, solid[movable[solid]], reach) for p in planes]
    balls = (family[a] == BALL) & (family[b] == BALL)
    pieces.append(ball_ball(bodies, state, a[balls], b[balls]))
    pieces.extend(_one_by_one(bodies, state, a[~balls], b[~balls], family, reach))
    return _sorted_contacts(Pieces.joined(pieces), reach, n)


def _families(bodies: Bodies) -> np.ndarray:
    """Which narrow phase serves each body, (n,)."""
    return np.array([_family(shape) for shape in bodies.shapes], int)[bodies.shape_of]


def _family(shape) -> int:
    if isinstance(shape, HalfSpace):
        return PLANE
    if isinstance(shape, Sphere | Disk):
        return BALL
    return POLYGON if isinstance(shape, Polygon) else CONVEX


def _one_by_one(bodies, state, a, b, family, reach):
    """Pairs with a shape that is no ball."""
    if not len(a):
        return
    from . import convex, planar

    for i, j in zip(a.tolist(), b.tolist(), strict=True):
        kinds = family[i], family[j]
        if CONVEX in kinds:
            yield convex.convex_pair(bodies, state, i, j, reach[i] + reach[j])
        elif kinds == (POLYGON, POLYGON):
            yield planar.polygon_polygon(bodies, state, i, j, reach[i] + reach[j])
        elif kinds == (BALL, POLYGON):
            yield planar.disk_polygon(bodies, state, i, j)
        else:
            yield planar.disk_polygon(bodies, state, j, i)


def _sorted_contacts(found: Pieces, reach, n: int) -> Contacts:
    """Within reach, from the lower to the higher body number, sorted by (a, b, feature)."""
    swap = found.a > found.b
    a = np.where(swap, found.b, found.a)
    b = np.where(swap, found.a, found.b)
    normal = np.where(swap[:, None], -found.normal, found.normal)
    keep = np.flatnonzero(found.gap <= reach[a] + reach[b])
    order = keep[np.lexsort((found.feature[keep], b[keep], a[keep]))]
    return Contacts(
        np.column_stack([a, b])[order],
        found.feature[order],
        found.point[order],
        normal[order],
        found.gap[order],
        found.curvature[order],
        n,
    )
