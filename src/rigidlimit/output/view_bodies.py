"""What the page of a run draws of its bodies: surfaces, half-spaces, and the box around them."""

import numpy as np

from ..bodies import Disk, HalfSpace, Sphere
from ..bodies.cell import CellFrame
from ..bodies.rotations import matrix
from .facets import EDGES, Facets, facets, plane_patch
from .hdf5 import Run
from .limits import LIMITS
from .surfaces import surface
from .view_cells import edges, within


def box(run: Run, chosen: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Corners of the box around the finite bodies in all steps shown."""
    bodies = run.bodies
    radius = bodies.bounding_radius
    finite = np.flatnonzero(np.isfinite(radius))
    if not len(finite):
        return np.full(3, -1.0), np.full(3, 1.0)
    long = [b for b in finite if not isinstance(bodies.shape(b), Sphere | Disk)]
    if len(long) * len(chosen) > LIMITS.exact:
        long = []  # the balls that hold them will do
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for k in chosen:
        step = within(run[k], bodies)
        reach = np.repeat(radius[:, None], 3, axis=1)
        for b in long:
            points = surface(bodies.shape(b))[0]
            reach[b] = np.abs(points @ matrix(step.quaternion[b : b + 1])[0].T).max(axis=0)
        low = np.minimum(low, (step.position - reach)[finite].min(axis=0))
        high = np.maximum(high, (step.position + reach)[finite].max(axis=0))
        corners = edges(step, run.scene.dim).reshape(-1, 3)
        low = np.minimum(low, corners.min(axis=0, initial=np.inf))
        high = np.maximum(high, corners.max(axis=0, initial=-np.inf))
    if run.scene.dim == 2:
        low[2] = high[2] = 0.0
    return low, high


def arrays_of_bodies(
    run: Run, origin: np.ndarray, low: np.ndarray, high: np.ndarray
) -> tuple[dict, np.ndarray]:
    """Arrays of what does not change with time, and the indices of the bodies with a turn."""
    bodies, first = run.bodies, run[0]
    stands = (run[-1].position == first.position).all(axis=1)
    kinds = [bodies.shape(b) for b in range(len(bodies))]
    ball = np.array([b for b, s in enumerate(kinds) if isinstance(s, Sphere | Disk)], int)
    # a patch has one place: half-spaces that move are left out
    plane = [b for b, s in enumerate(kinds) if isinstance(s, HalfSpace) and stands[b]]
    solid = np.setdiff1d(np.flatnonzero(~bodies.are(HalfSpace, CellFrame)), ball)
    used, shape = np.unique(bodies.shape_of[solid], return_inverse=True)
    shapes = [facets(bodies.shapes[k]) for k in used]
    turn = matrix(first.quaternion)
    planes = [(turn[b] @ kinds[b].local_normal, first.position[b] - origin) for b in plane]
    margin = 0.04 * np.linalg.norm(high - low)
    patches = [
        plane_patch(
            *planes[k],
            low - margin,
            high + margin,
            planes[:k] + planes[k + 1 :],
            dim=run.scene.dim,
        )
        for k in range(len(planes))
    ]
    arrays = {
        "ball": ball.astype(np.int32),
        "radius": np.array([kinds[b].radius for b in ball], np.float32),
        "solid": solid.astype(np.int32),
        "shape": shape.astype(np.int32),
        "fixed": (~bodies.free.any(axis=1)).astype(np.uint8),
        **_corners(shapes, ""),
        **_corners(patches, "patch_"),
        "solids": [len(f) for f in shapes],
        "patches": [len(f) for f in patches],
    }
    return arrays, solid


def _corners(parts: list[Facets], prefix: str) -> dict:
    def joined(name: str, width: int) -> np.ndarray:
        return np.concatenate([np.zeros((0, width)), *(getattr(part, name) for part in parts)])

    return {
        f"{prefix}corner": joined("corner", 3).astype(np.float32),
        f"{prefix}normal": (127 * joined("normal", 3)).round().astype(np.int8),
        f"{prefix}edge": np.minimum(joined("edge", EDGES), 1e30).astype(np.float32),
    }
