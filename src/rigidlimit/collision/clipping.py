"""Kernels that cut the face of one polytope to the outline of another's: the patch of a contact.

Sutherland and Hodgman's algorithm with names: a corner of the cut polygon has the label 2 c if it
is corner c of the incident face, else 2 (256 + 64 (edge mod 320) + side mod 64), where ``edge`` is
the incident edge it lies on (named by its first corner; an edge of the outline is 256 + side) and
``side`` the side of the outline that made the cut. Labels stay while the bodies move a little.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from .._support.compiled import INNER
from .tolerances import TOLERANCES

MADE = 512
"""Labels from here on belong to corners made by a cut."""

OUTLINES = 256
"""Names of edges from here on belong to the outline: a corner that a cut makes on one is a corner
of the outline itself."""


class Polygon(NamedTuple):
    """corners (.., 3) and of (.., 2): their labels and the names of the edges that leave them; with
    room for more."""

    corners: np.ndarray
    of: np.ndarray


@njit(**INNER)
def _copy(x, of_x, y, of_y):
    """Corner x and its names into y."""
    y[0], y[1], y[2] = x[0], x[1], x[2]
    of_y[0], of_y[1] = of_x[0], of_x[1]


@njit(**INNER)
def _width(outline):
    """Largest distance of a corner (k, 3) from the first."""
    across = 0.0
    for side in range(1, len(outline)):
        away = 0.0
        for c in range(3):
            away += (outline[side, c] - outline[0, c]) ** 2
        across = max(across, np.sqrt(away))
    return across


@njit(**INNER)
def _beyond(x, start, ox, oy, oz):
    """How far x lies beyond a side through ``start``, times the length of o."""
    beyond = ox * (x[0] - start[0]) + oy * (x[1] - start[1])
    return beyond + oz * (x[2] - start[2])


@njit(**INNER)
def _cut(outline, side, along, margin, before, count, after, line):
    """The ``count`` corners of polygon ``before`` cut at one side of the outline, into ``after``;
    their number. margin: distance beyond the side that counts as inside; line: two corners have one
    edge, not two."""
    (old, old_of), (new, new_of) = before, after
    start, end = outline[side], outline[(side + 1) % len(outline)]
    ux, uy, uz = end[0] - start[0], end[1] - start[1], end[2] - start[2]
    ox = uy * along[2] - uz * along[1]
    oy = uz * along[0] - ux * along[2]
    oz = ux * along[1] - uy * along[0]
    margin *= np.sqrt(ox * ox + oy * oy + oz * oz)  # o is as long as the side
    first = here = _beyond(old[0], start, ox, oy, oz)
    kept = 0
    for i in range(count):
        j = i + 1 if i + 1 < count else 0
        there = first if j == 0 else _beyond(old[j], start, ox, oy, oz)
        inside = here <= margin
        if inside and kept < len(new):
            _copy(old[i], old_of[i], new[kept], new_of[kept])
            kept += 1
        if inside != (there <= margin) and kept < len(new) and not (line and i > 0):
            # what counts as inside by the margin may lie outside: no further than the edge
            share = min(max(here / (here - there), 0.0), 1.0)
            for c in range(3):
                new[kept, c] = old[i, c] + share * (old[j, c] - old[i, c])
            edge = old_of[i, 1]
            new_of[kept, 0] = MADE + 2 * ((edge % 320) * 64 + side % 64)
            new_of[kept, 1] = OUTLINES + side % 64 if inside else edge
            kept += 1
        here = there
    return kept


@njit(cache=True)
def clip(
    outline: np.ndarray,
    along: np.ndarray,
    normal: np.ndarray,
    height: float,
    incident: np.ndarray,
    names: np.ndarray,
    poly: np.ndarray,
    poly_of: np.ndarray,
):
    """Cuts ``incident`` (m, 3) to the prism over ``outline`` (k, 3), a face with unit ``normal``.

    along (3,): unit direction of the prism, the face's normal or nearly so. Two corners are a
    straight line.
    poly (2, >= 2 (k + m), 3), poly_of (2, .., 2): scratch; poly[0] gets the corners, poly_of[0]
    their labels and the names of the edges that leave them. Returns (corners, least gap).
    """
    count, now = len(incident), 0
    line = count == 2  # has one edge, not two
    for i in range(count):
        for c in range(3):
            poly[0, i, c] = incident[i, c]
        poly_of[0, i, 0], poly_of[0, i, 1] = 2 * names[i], names[i]
    margin = TOLERANCES.rounding * _width(outline)
    for side in range(len(outline)):
        before, after = Polygon(poly[now], poly_of[now]), Polygon(poly[1 - now], poly_of[1 - now])
        count = _cut(outline, side, along, margin, before, count, after, line)
        now = 1 - now
        if count == 0:
            return 0, np.inf
    if now == 1:
        for i in range(count):
            _copy(poly[1, i], poly_of[1, i], poly[0, i], poly_of[0, i])
    lowest = np.inf
    for i in range(count):
        p = poly[0, i]
        lowest = min(lowest, p[0] * normal[0] + p[1] * normal[1] + p[2] * normal[2] - height)
    return count, lowest


@njit(**INNER)
def _in_line(before, x, after, normal, snap):
    """Whether corner x lies within ``snap`` of the line between its neighbours, which rise above it
    no more than rounding: the crossing that is nearest of all stays."""
    cx, cy, cz = after[0] - before[0], after[1] - before[1], after[2] - before[2]
    dx, dy, dz = x[0] - before[0], x[1] - before[1], x[2] - before[2]
    ax, ay, az = cy * dz - cz * dy, cz * dx - cx * dz, cx * dy - cy * dx
    off = ax * ax + ay * ay + az * az
    if not (off < snap * snap * (cx * cx + cy * cy + cz * cz) or off == 0):
        return False
    return min(_rise(normal, x, before), _rise(normal, x, after)) <= TOLERANCES.nearer * snap


@njit(**INNER)
def _rise(normal, x, y):
    """Height of y above x."""
    dx, dy, dz = y[0] - x[0], y[1] - x[1], y[2] - x[2]
    return normal[0] * dx + normal[1] * dy + normal[2] * dz


@njit(**INNER)
def _label_near(x, label, incident, names, snap):
    """The label of the corner of ``incident`` nearest to x within ``snap``; else ``label``."""
    nearest = snap * snap
    for k in range(len(incident)):
        dx, dy, dz = x[0] - incident[k, 0], x[1] - incident[k, 1], x[2] - incident[k, 2]
        if dx * dx + dy * dy + dz * dz < nearest:
            nearest = dx * dx + dy * dy + dz * dz
            label = 2 * names[k]
    return label


@njit(**INNER)
def _same_corner(p, of, i, kept, label, snap):
    """The corner kept that corner i repeats: one of its label, or both made by cuts and within
    ``snap``; ``kept`` without one."""
    for k in range(kept):
        dx, dy, dz = p[i, 0] - p[k, 0], p[i, 1] - p[k, 1], p[i, 2] - p[k, 2]
        both_made = label >= MADE and of[k, 0] >= MADE
        if of[k, 0] == label or (both_made and dx * dx + dy * dy + dz * dz < snap * snap):
            return k
    return kept


@njit(**INNER)
def thin_out(
    polygon: Polygon,
    count: int,
    normal: np.ndarray,
    height: float,
    incident: np.ndarray,
    names: np.ndarray,
    snap: float,
    gap: np.ndarray,
):
    """Merge corners within ``snap``: otherwise aligned faces would gain and lose
    corners by rounding. gap: gets the gaps of the ``count`` corners.

    Crossings within ``snap`` of the line between their neighbours go (nearly parallel edges cross
    anywhere), and corners of neither face, whichever is the outline; made corners nearest to a
    corner of ``incident`` within ``snap`` take its label, and of one label, and of made ones within
    ``snap``, the one of least gap stays. Returns how many are left.
    """
    p, of = polygon
    i = 0
    while count > 3 and i < count:
        before, after = p[i - 1 if i > 0 else count - 1], p[i + 1 if i + 1 < count else 0]
        crossing = of[i, 0] >= MADE and (of[i, 0] - MADE) // 128 < OUTLINES
        if crossing and _in_line(before, p[i], after, normal, snap):
            for j in range(i, count - 1):
                _copy(p[j + 1], of[j + 1], p[j], of[j])
            count -= 1
        else:
            i += 1
    kept = np.int64(0)
    for i in range(count):
        label = _label_near(p[i], of[i, 0], incident, names, snap)
        g = p[i, 0] * normal[0] + p[i, 1] * normal[1] + p[i, 2] * normal[2] - height
        at = _same_corner(p, of, i, kept, label, snap)
        if at < kept:
            label = of[at, 0] = min(label, of[at, 0])
            if g >= gap[at]:
                continue
        else:
            kept += 1
        _copy(p[i], of[i], p[at], of[at])
        of[at, 0] = label
        gap[at] = g
    return kept
