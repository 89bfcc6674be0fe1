"""Rough pyramids of balls on a fixed base (friction.md's table in the notes of the method)."""

import numpy as np
import scipy.sparse as sp
from scipy.spatial import cKDTree

from rigidlimit.equilibrium.law import ContactLaw
from rigidlimit.equilibrium.mechanics import Bodies
from rigidlimit.equilibrium.solve import solve


def frames(normal):
    """Two tangents (m, 3) of each normal (m, 3)."""
    axis = np.eye(3)[np.abs(normal).argmin(axis=1)]
    first = np.cross(normal, axis)
    first /= np.linalg.norm(first, axis=1)[:, None]
    return first, np.cross(normal, first)


def rough_pyramid(base: int, turn=0.0):
    """(B (3 m, n) rows contact by contact, load (n,), pairs (m, 2)) of balls of diameter 1 and
    weight 1; turn (m,): angles by which tangents are turned about their normals."""
    places = [
        (i + level / 2, j + level / 2, level / np.sqrt(2))
        for level in range(base)
        for i in range(base - level)
        for j in range(base - level)
    ]
    centre = np.array(places)
    held = centre[:, 2] == 0.0
    pairs = cKDTree(centre).query_pairs(1 + 1e-9, output_type="ndarray")
    pairs = pairs[~held[pairs].all(axis=1)]
    pairs = pairs[np.lexsort(pairs.T[::-1])]
    normal = centre[pairs[:, 1]] - centre[pairs[:, 0]]
    first, second = frames(normal)
    c, s = np.cos(turn)[..., None], np.sin(turn)[..., None]
    directions = normal, c * first + s * second, c * second - s * first
    m = len(pairs)
    rows, columns, values = [], [], []
    for k, t in enumerate(directions):
        for side, sign in ((1, 1.0), (0, -1.0)):
            lever = -0.5 * sign * normal
            part = np.hstack([sign * t, sign * np.cross(lever, t)])
            rows.append(np.repeat(3 * np.arange(m) + k, 6))
            columns.append((6 * pairs[:, side, None] + np.arange(6)).ravel())
            values.append(part.ravel())
    indices = np.concatenate(rows), np.concatenate(columns)
    B = sp.csr_array((np.concatenate(values), indices), shape=(3 * m, 6 * len(centre)))
    free = np.flatnonzero(np.repeat(~held, 6))
    load = np.zeros((len(centre), 6))
    load[:, 2] = 1.0
    return sp.csr_array(B[:, free]), load.ravel()[free], pairs


def forces(B, load, mu, *, normal=1.0, ratio=2 / 7):
    """Forces (m, 3) of the rough network with stiffness ``normal``, unloaded before."""
    m = B.shape[0] // 3
    k = np.broadcast_to(normal, m).astype(float)
    law = ContactLaw(k, ratio * k, np.full(m, mu), np.zeros((m, 2)))
    mechanics = Bodies(B, -load, 3, shift=1e-12)
    found, _ = solve(mechanics, law, np.zeros(len(load)), tolerance=1e-11, force_size=1.0)
    assert found.converged
    return found.force
