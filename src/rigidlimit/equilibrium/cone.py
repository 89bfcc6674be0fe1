"""Coulomb's cone as a symmetric cone: its Jordan algebra, Nesterov and Todd's scaling, its bound.

In coordinates (mu f_n, f_t) of forces and (z_n/mu, z_t) of openings, where the cone |v_t| <= v_n
is its own dual. The scaling W has W z = W^-1 f = l; W^-1 has the eigenvectors (1, -u)/sqrt 2,
(1, u)/sqrt 2 and those across u, a unit tangent. It is kept by its eigenvalues, which run to zero
and to infinity at the end of a path: no difference of them is ever taken. (Y. E. Nesterov & M. J.
Todd, SIAM J. Optim. 8 (1998) 324; L. Vandenberghe, The CVXOPT linear and quadratic cone program
solvers, 2010.)
"""

import numpy as np
from numba import njit

from .._support.compiled import INNER
from .sums import WHOLE, Sums

DOWN, UP, ACROSS, ROOT, FIRST = 0, 1, 2, 3, 4
"""Columns of ``scalings``: eigenvalues of W^-1 along (1, -u), (1, u) and across u; the square root
of l_n^2 - |l_t|^2; from there on u."""


@njit(**INNER, error_model="numpy")
def first_root(A: float, B: float, C: float) -> float:
    """The least positive root of A s^2 + 2 B s + C, or inf."""
    under, first = B * B - A * C, np.inf
    if under >= 0.0 and (A != 0.0 or B < 0.0):
        q = -(B + (np.sqrt(under) if B >= 0.0 else -np.sqrt(under)))
        for root in (q / A if A != 0.0 else np.inf, C / q if q != 0.0 else np.inf):
            if root > 0.0:
                first = min(first, root)
    return first


@njit(**INNER, error_model="numpy")
def _room(first, v):
    """first^2 - |v_t|^2."""
    size = 0.0
    for u in range(1, len(v)):
        size += v[u] * v[u]
    size = np.sqrt(size)
    return (first - size) * (first + size)


@njit(cache=True, nogil=True, error_model="numpy")
def find_scalings(
    mu: np.ndarray, ray: np.ndarray, force: np.ndarray, opening: np.ndarray, scalings: np.ndarray
):
    """Into scalings (m, d + 3): W^-1 at every contact that is no ray, no number where force or
    opening (m, d) is on its cone's boundary; mu, ray (m,)."""
    m, d = force.shape
    for i in range(m):
        if ray[i]:
            continue
        first, other = mu[i] * force[i, 0], opening[i, 0] / mu[i]
        det_f, det_z = np.sqrt(_room(first, force[i])), np.sqrt(_room(other, opening[i]))
        product = first * other
        for u in range(1, d):
            product += force[i, u] * opening[i, u]
        double = np.sqrt(2.0 * (1.0 + product / (det_f * det_z)))
        size = 0.0
        for u in range(1, d):
            scalings[i, FIRST + u - 1] = force[i, u] / det_f - opening[i, u] / det_z
            size += scalings[i, FIRST + u - 1] ** 2
        size = np.sqrt(size)
        for u in range(1, d):
            along = 1.0 if u == 1 else 0.0
            scalings[i, FIRST + u - 1] = scalings[i, FIRST + u - 1] / size if size > 0.0 else along
        stretch = (first / det_f + other / det_z + size) / double
        across = np.sqrt(det_z / det_f)
        scalings[i, DOWN], scalings[i, UP] = across * stretch, across / stretch
        scalings[i, ACROSS], scalings[i, ROOT] = across, np.sqrt(det_f * det_z)


@njit(cache=True, nogil=True, error_model="numpy")
def scaled(scaling: np.ndarray, v: np.ndarray, power: int, out: np.ndarray):
    """W^-power v (d,), into out, which may be v."""
    along = 0.0
    d = len(v)
    for u in range(1, d):
        along += scaling[FIRST + u - 1] * v[u]
    down = 0.5 * (v[0] - along) * scaling[DOWN] ** power
    up = 0.5 * (v[0] + along) * scaling[UP] ** power
    across = scaling[ACROSS] ** power
    out[0] = up + down
    for u in range(1, d):
        e = scaling[FIRST + u - 1]
        out[u] = (up - down) * e + across * (v[u] - along * e)


@njit(**INNER, error_model="numpy")
def scaled_force(mu: float, scaling: np.ndarray, force: np.ndarray, out: np.ndarray):
    """W^-1 of a force (d,) as it is, not in the cone's coordinates."""
    out[:] = force
    out[0] *= mu
    scaled(scaling, out, 1, out)


@njit(**INNER, error_model="numpy")
def scaled_opening(mu: float, scaling: np.ndarray, opening: np.ndarray, out: np.ndarray):
    """W of an opening (d,) as it is, not in the cone's coordinates."""
    out[:] = opening
    out[0] /= mu
    scaled(scaling, out, -1, out)


@njit(cache=True, nogil=True, error_model="numpy")
def aim(
    mu: float,
    scaling: np.ndarray,
    at: np.ndarray,
    target: float,
    force: np.ndarray,
    opening: np.ndarray,
    out: np.ndarray,
):
    """W^-1 (l \\ (target e - (W^-1 df) o (W dz))) into out (d,), in coordinates of the cone.

    at (d,): the force f, l = W^-1 f; force, opening (d,): the changes df and dz."""
    d = len(out)
    a, b, c = np.empty(d), np.empty(d), np.empty(d)
    scaled_force(mu, scaling, force, a)
    scaled_opening(mu, scaling, opening, b)
    c[0] = target
    for u in range(d):
        c[0] -= a[u] * b[u]
    for u in range(1, d):
        c[u] = -(a[0] * b[u] + b[0] * a[u])
    scaled_force(mu, scaling, at, a)  # l
    first = a[0] * c[0]
    for u in range(1, d):
        first -= a[u] * c[u]
    first /= scaling[ROOT] ** 2
    for u in range(1, d):
        c[u] = (c[u] - first * a[u]) / a[0]
    c[0] = first
    scaled(scaling, c, 1, out)


@njit(cache=True, nogil=True, error_model="numpy")
def inverse(
    k_n: float, k_t: float, mu: float, scaling: np.ndarray
) -> tuple[float, float, float, float]:
    """Inverse of C + W^-2 along (1, -u), along (1, u), between these two, and across u."""
    give, slip = 1.0 / (k_n * mu * mu), 1.0 / k_t
    down, up = scaling[DOWN] ** 2, scaling[UP] ** 2
    mean, half = 0.5 * (give + slip), 0.5 * (give - slip)
    det = down * up + mean * (down + up) + give * slip
    return (mean + up) / det, (mean + down) / det, -half / det, 1.0 / (slip + scaling[ACROSS] ** 2)


@njit(cache=True, nogil=True, error_model="numpy")
def step_length(
    mu: np.ndarray, ray: np.ndarray, at: np.ndarray, change: np.ndarray, part: float
) -> float:
    """The step, at most 1, that goes ``part`` of the way from ``at`` (m, d) to the boundary of a
    cone |v_t| <= mu v_n, or of a ray."""
    m, d = at.shape
    step = 1.0
    for i in range(m):
        if change[i, 0] < 0.0:
            step = min(step, -part * at[i, 0] / change[i, 0])
        if ray[i]:
            continue
        # room(step) = A step^2 + 2 B step + C
        A = _room(mu[i] * change[i, 0], change[i])
        B = mu[i] * mu[i] * at[i, 0] * change[i, 0]
        C = _room(mu[i] * at[i, 0], at[i])
        for u in range(1, d):
            B -= at[i, u] * change[i, u]
        step = min(step, part * first_root(A, B, C))
    return step


def scalings_at(
    mu: np.ndarray, ray: np.ndarray, force: np.ndarray, opening: np.ndarray, sums: Sums = WHOLE
) -> np.ndarray:
    """``find_scalings``; raises ``LinAlgError`` where a force or an opening is on the boundary of
    its cone, by rounding."""
    m, d = force.shape
    scalings = np.empty((m, FIRST + d - 1))
    find_scalings(mu, ray, force, opening, scalings)
    if sums.any(~np.isfinite(scalings[~ray])):
        raise np.linalg.LinAlgError("on the boundary of a cone")
    return scalings


def step_within(
    mu: np.ndarray,
    ray: np.ndarray,
    forces: tuple[np.ndarray, np.ndarray],
    openings: tuple[np.ndarray, np.ndarray],
    part: float,
) -> float:
    """``step_length`` of forces and openings, each (at, change), in their cones."""
    reciprocal = 1.0 / np.where(ray, 1.0, mu)
    return min(step_length(mu, ray, *forces, part), step_length(reciprocal, ray, *openings, part))
