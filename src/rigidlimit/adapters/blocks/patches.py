"""Where faces of two blocks lie on each other: intersections of convex polygons in one plane, by
Sutherland and Hodgman's algorithm."""

from collections.abc import Iterator, Sequence

import numpy as np

from ..tolerances import TOLERANCES

Face = tuple[np.ndarray, np.ndarray]
"""Corners (k, 3) [m] and outward unit normal (3,)."""


def patches_of(
    one: Sequence[Face], other: Sequence[Face], gap: float
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """(corners (k, 3) between the faces, normal from one to the other) of patches of two blocks,
    given by their faces. gap [m]: distance of the faces at the corners, at most, so that faces of
    few digits that lean on each other count."""
    for corners, outward in one:
        for against, opposite in other:
            if outward @ opposite > -TOLERANCES.same_face:
                continue
            normal = outward - opposite
            normal /= np.linalg.norm(normal)
            apart = (against - corners.mean(axis=0)) @ outward
            if apart.min() > gap or apart.max() < -gap:
                continue
            patch = _intersection(corners, against, normal)
            if patch is None:
                continue
            low, high = (
                ((face.mean(axis=0) - patch) @ n) / (normal @ n)
                for face, n in ((corners, outward), (against, opposite))
            )
            if np.abs(high - low).max() <= gap:
                yield patch + (0.5 * (low + high))[:, None] * normal, normal


def _intersection(one: np.ndarray, other: np.ndarray, normal: np.ndarray) -> np.ndarray | None:
    """Corners (k, 3) of the overlap of two convex polygons seen along the normal, in the plane
    through the middle of the first."""
    x = np.cross(normal, np.eye(3)[np.abs(normal).argmin()])
    x /= np.linalg.norm(x)
    frame = np.column_stack([x, np.cross(normal, x)])
    origin = one.mean(axis=0)
    P, Q = (one - origin) @ frame, (other - origin) @ frame
    clip = P if _area(P) > 0.0 else P[::-1]
    poly = list(Q if _area(Q) > 0.0 else Q[::-1])
    across = np.ptp(P, axis=0).max()
    for start, end in zip(clip, np.roll(clip, -1, axis=0), strict=True):
        way = end - start
        inward = np.array([-way[1], way[0]]) / (np.linalg.norm(way) or 1.0)
        height = [float((p - start) @ inward) for p in poly]
        height = [0.0 if abs(h) < 1e-9 * across else h for h in height]
        kept = []
        for k, p in enumerate(poly):
            h, before, last = height[k], height[k - 1], poly[k - 1]
            if h * before < 0.0:
                kept.append(last + (p - last) * (before / (before - h)))
            if h >= 0.0:
                kept.append(p)
        poly = kept
        if len(poly) < 3:
            return None
    flat = np.array(poly)
    flat = flat[np.linalg.norm(flat - np.roll(flat, 1, axis=0), axis=1) > 1e-9 * across]
    if len(flat) < 3 or _area(flat) <= TOLERANCES.sliver * min(abs(_area(P)), abs(_area(Q))):
        return None
    return flat @ frame.T + origin


def _area(flat: np.ndarray) -> float:
    x, y = flat.T
    return 0.5 * float(x @ np.roll(y, -1) - y @ np.roll(x, -1))
