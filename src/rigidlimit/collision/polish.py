"""Normals and nearest points of two convex solids made exact, from a normal close to the truth.

Every solid is the hull of a few points c_i (corners; the ends of an axis; the centre) rounded by a
smooth body (nothing; a ball, a disk across the axis, an ellipsoid) with support point r(n), so that

    f(n) = n . w - max_i c_i . n - max_j (-c'_j . n) - smooth part,    w the arm from a to b,

whose largest value over unit n the gap is, has all its kinks in the two maxima. In the plane across
n (two coordinates s) f is a concave quadratic less two maxima of linear functions, up to terms of
third order. Its top lies on no kink, on one (a corner of the hull of differences c_i - c'_j has
become an edge) or on two (a face), where

    g - H s = sum of lambda_m e_m,    g = w + x_b - x_a across n,    H = f 1 + second derivatives,

with the multipliers lambda of the kinks e_m, which share x_a and x_b among the points of an edge or
face. All kinds are tried among the three points of each body nearest to the top, and the one with
multipliers of the right sign is taken: Newton's method with an active set, three or four steps from
a normal known to 1e-4.

An answer is accepted only if it does not separate less than the normal it came from, and if
x_b - x_a = f n within rounding, that is, if n is a normal of both bodies at points that face each
other. Bodies apart have no other such n. The end of a cylinder, where the disk is itself not
smooth, is entered with its own normal only, and kept where the other body stands within its rim.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from .._support.compiled import INNER
from .kinds import CYLINDER
from .kinks import ends_bear, top_near
from .normal_search import look, look_across, new_search, share, take_pair, take_points, within_ends
from .pairs import Nearest, Pairs
from .solid_table import Solids


class Settings(NamedTuple):
    """Of Newton's method on the normal.

    steps: steps of Newton; four are ordinary.
    close: steps [rad] after which the answer may be exact.
    settled: steps [rad] after which another is of no use.
    far: longest step [rad].
    uphill: least second derivative, over the smaller size, of steps uphill: taken where bodies
        overlap or just touch and f has no top near, some of its directions being flat or bent
        upward.
    exact: part of x_b - x_a across n, over the size of the coordinates, at which a normal is exact.
    facing: ten times that, at which it is accepted if it does not improve further.
    tries: small steps after which it gets no better.
    nudge: turn [rad] off the normal of an end that is not in contact.
    """

    steps: int = 16
    close: float = 1e-4
    settled: float = 1e-12
    far: float = 0.3
    uphill: float = 1e-3
    exact: float = 1e-15
    facing: float = 1e-13
    tries: int = 4
    nudge: float = 1e-3


SETTINGS = Settings()


@njit(**INNER)
def _before_axis(n, u, v, s, sign):
    """The share of a step sign * (u, v) . s of n that ends well before the axis of a disk."""
    toward = -sign * s[0] * (n[0] * u[0] + n[1] * u[1])
    toward -= sign * s[1] * (n[0] * v[0] + n[1] * v[1])
    return min(1.0, 0.5 * (n[0] * n[0] + n[1] * n[1]) / toward) if toward > 0 else 1.0


@njit(**INNER)
def _unit(n):
    size = np.sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2])
    for k in range(3):
        n[k] /= size


@njit(**INNER)
def _bend(bend_a, bend_b, u, v, du, dv):
    """Second derivative in the axes u, v (du, dv in those of b) across the normal: uu, uv, vv."""
    uu = uv = vv = 0.0
    for i in range(3):
        for j in range(3):
            p, q = bend_a[i, j], bend_b[i, j]
            uu += u[i] * p * u[j] + du[i] * q * du[j]
            uv += u[i] * p * v[j] + du[i] * q * dv[j]
            vv += v[i] * p * v[j] + dv[i] * q * dv[j]
    return uu, uv, vv


@njit(**INNER)
def _find_top(search):
    """Newton's step into ``turn_by``, with the shares of the points; whether there is one."""
    a, b, value, slack = search.a, search.b, search.value, search.slack
    uu, uv, vv = _bend(a.bend, b.bend, search.u, search.v, search.u_b, search.v_b)
    flat = 10 * slack if abs(value) < 10 * slack else value
    found = False
    for more in (flat, max(abs(flat), SETTINGS.uphill * search.small)):
        found = found or top_near(
            search.slope, (uu + more, uv, vv + more), a, b, slack, search.turn_by, search.room,
        )  # fmt: skip
    return found


@njit(**INNER)
def _shrink(search, turned):
    """Share of the step to take: no further than far, and not beyond the axis of a disk."""
    shrink, s = SETTINGS.far / max(SETTINGS.far, turned), search.turn_by
    if search.a.kind == CYLINDER:
        shrink = min(shrink, _before_axis(search.n, search.u, search.v, s, 1.0))
    if search.b.kind == CYLINDER:
        shrink = min(shrink, _before_axis(search.inward, search.u_b, search.v_b, s, -1.0))
    return shrink


@njit(**INNER)
def _move(search, shrink):
    """Turns the direction by that share of the step."""
    n, u, v, s = search.n, search.u, search.v, search.turn_by
    for k in range(3):
        n[k] += shrink * (s[0] * u[k] + s[1] * v[k])
    _unit(n)


@njit(**INNER)
def _search_exact(search):
    """Newton's method from the direction n; whether an exact one was found."""
    a, b, size, slack = search.a, search.b, search.size, search.slack
    highest, turned, tries = -np.inf, np.inf, 0
    for _ in range(SETTINGS.steps):
        look(search)
        value = search.value
        if turned < np.inf:  # are these the points that face each other?
            off = take_points(search)
            tries += turned < SETTINGS.close
            touching = abs(value) < 10 * slack  # where many normals serve
            if off <= SETTINGS.exact * size or (touching and off <= slack):
                return True
            if turned < SETTINGS.settled or tries == SETTINGS.tries:
                return off <= 10 * slack
        if value < highest - slack:  # too far: halfway back to the best so far
            for k in range(3):
                search.n[k] += search.best[k]
            _unit(search.n)
            turned = np.inf
            continue
        highest = max(highest, value)
        look_across(search)
        bears, shrink, s = False, SETTINGS.nudge, search.turn_by
        if a.smooth and b.smooth:
            if not _find_top(search):
                return False
            turned = np.sqrt(s[0] * s[0] + s[1] * s[1])
            shrink = _shrink(search, turned)
        else:
            bears = ends_bear(a, b, search.slope, slack, s)
        share(a)
        share(b)
        if bears:
            take_points(search)
            within_ends(search)
            return True
        _move(search, shrink)
    return False


@njit(cache=True, nogil=True)
def polish(rows: np.ndarray, pairs: Pairs, solids: Solids, found: Nearest):
    """Makes the answers of pairs ``rows`` exact where that succeeds (see ``found.exact``);
    others are not changed."""
    if len(rows) == 0:
        return
    search = new_search(pairs, solids)
    for row in range(len(rows)):
        p = rows[row]
        found.exact[p] = False
        if not found.separation[p] > -np.inf:
            continue
        take_pair(search, pairs, solids, p, found.normal[p], SETTINGS.facing)
        exact = _search_exact(search)
        if exact and search.value >= found.separation[p] - search.slack:
            found.exact[p], found.separation[p] = True, search.value
            for k in range(3):
                found.normal[p, k] = search.n[k]
                found.on_a[p, k], found.on_b[p, k] = search.on_a[k], search.on_b[k]
