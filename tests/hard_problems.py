"""Hard problems that tests and the corpus of the benchmarks share."""

import numpy as np
import scipy.sparse as sp
from scipy.spatial import cKDTree

import rigidlimit as rl
from tests.problems import GRAVITY, contact_problem, turned

DT = 1e-3


def boxed_lattice(kind, n, noise, *, seed=0):
    """Unit spheres of a lattice, n a side, that fits its box exactly but for noise; no lid."""
    rng = np.random.default_rng(seed)
    place = np.stack(np.meshgrid(*[np.arange(n)] * 3, indexing="ij"), -1).reshape(-1, 3)
    if kind == "bcc":
        middle = place[(place < n - 1).all(axis=1)] + 0.5
        centres = np.concatenate([place, middle]) * 2 / np.sqrt(3)
    else:
        k, j, i = place.T
        centres = np.column_stack(
            [i + (j + k) % 2 / 2, np.sqrt(3 / 4) * (j + k % 2 / 3), np.sqrt(2 / 3) * k]
        )
    low, high = centres.min(axis=0), centres.max(axis=0)
    pairs = cKDTree(centres).query_pairs(1 + 1e-6, output_type="ndarray")
    walls = [(axis, 1, low[axis]) for axis in range(3)] + [(a, -1, high[a]) for a in range(2)]
    beside = [np.flatnonzero(np.abs(centres[:, axis] - at) < 1e-6) for axis, _, at in walls]
    centres = centres + noise * rng.uniform(-1, 1, centres.shape)
    rows, gaps = [], []
    for a, b in pairs[np.lexsort(pairs.T[::-1])]:
        apart = centres[b] - centres[a]
        length = np.linalg.norm(apart)
        row = np.zeros(centres.shape)
        row[a], row[b] = -apart / length, apart / length
        rows.append(row.ravel())
        gaps.append(length - 1)
    for (axis, sign, at), balls in zip(walls, beside, strict=True):
        for ball in balls:
            row = np.zeros(centres.shape)
            row[ball, axis] = sign
            rows.append(row.ravel())
            gaps.append(sign * (centres[ball, axis] - at))
    velocity = np.tile([0.0, 0.0, -GRAVITY * DT], len(centres))
    return contact_problem(
        np.array(rows), np.ones(len(velocity)), np.array(gaps) / DT, velocity, DT
    )


def hexagonal_wall(columns, rows, ratio):
    """Disks in rows, each row ``ratio`` times as heavy as the one below, on a floor, no sides."""
    x = np.array([(i + j % 2 / 2, np.sqrt(3 / 4) * j) for j in range(rows) for i in range(columns)])
    pairs = cKDTree(x).query_pairs(1 + 1e-6, output_type="ndarray")
    pairs = pairs[np.lexsort(pairs.T[::-1])]
    B = np.zeros((len(pairs) + columns, *x.shape))
    for row, (a, b) in zip(B, pairs, strict=False):
        row[a], row[b] = x[a] - x[b], x[b] - x[a]
    B[len(pairs) + np.arange(columns), np.arange(columns), 1] = 1.0
    mass = np.repeat(ratio ** np.arange(rows, dtype=float), 2 * columns)
    velocity = np.tile([0.0, -GRAVITY * DT], len(x))
    return contact_problem(B.reshape(len(B), -1), mass, np.zeros(len(B)), velocity, DT)


def squeezed_row(count, overlap):
    """Unit spheres in a row between two walls that are too near by ``overlap``, on a floor; they
    cannot climb over one another."""
    rows, gaps = [], []
    for i in range(count + 1):
        row = np.zeros((count, 2))
        if i > 0:
            row[i - 1, 0] = -1.0
        if i < count:
            row[i, 0] = 1.0
        rows.append(row.ravel())
        gaps.append(-overlap / (count + 1))
    for i in range(count):
        row = np.zeros((count, 2))
        row[i, 1] = 1.0
        rows.append(row.ravel())
        gaps.append(0.0)
    velocity = np.tile([0.0, -GRAVITY * DT], count)
    return contact_problem(np.array(rows), np.ones(2 * count), np.array(gaps) / DT, velocity, DT)


def softened(seed, soft, motions=4, contacts=60, n=24):
    """(B0, B, admissible): B = B0 T, where T makes ``motions`` directions all but free. T has an
    inverse, so that B^T f = T^T B0^T f asks the same of forces as B0^T f."""
    rng = np.random.default_rng(seed)
    firm = rng.normal(size=(contacts, n))
    admissible = np.where(rng.random(contacts) < 0.6, rng.random(contacts), 0.0)
    turned = np.linalg.qr(rng.normal(size=(n, n)))[0]
    size = np.ones(n)
    size[:motions] = soft * np.arange(1, motions + 1)
    return firm, firm @ (turned * size @ turned.T), admissible


def stack(seed, soft):
    """Two bodies whose motions together, not those of either alone, are felt by ``soft``: B, forces
    and F~."""
    rng = np.random.default_rng(seed)
    values = np.array([2.0, 1.5, 1.2, 1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, soft])
    B = sp.csr_array(turned(rng, 16)[:, :12] * values @ turned(rng, 12))
    force = rng.uniform(0.5, 1.5, 16)
    return B, force, B.T @ force


def unlike_stiffness(seed, decades):
    """A random problem that some f >= 0 do carry: B, load, stiffness over so many decades."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    m = int(rng.integers(n, 3 * n))
    B = rng.normal(size=(m, n)) * (rng.random((m, n)) < rng.uniform(0.2, 1))
    f = rng.uniform(0, 1, m) * (rng.random(m) < rng.uniform(0.3, 1))
    return B, B.T @ f, 10.0 ** rng.uniform(-decades, 0, m)


def wall(long, high):
    """A running bond of blocks, half a block at the ends of every second course."""
    scene = rl.Scene(dt=1e-3, duration=1.0)
    scene.add(rl.HalfSpace(), position=(0, 0, 0))
    whole, half = [], []
    for j in range(high):
        z, odd = 0.05 + 0.1 * j, j % 2
        whole += [(0.2 * i + 0.1 * odd, 0, z) for i in range(long - odd)]
        half += [(-0.05, 0, z), (0.2 * long - 0.15, 0, z)] * odd
    scene.add_many(rl.Box((0.2, 0.1, 0.1)), np.array(whole))
    scene.add_many(rl.Box((0.1, 0.1, 0.1)), np.array(half))
    return scene


def side_by_side(apart, seed):
    """(B, forces) of seven contacts of one freedom, two of them beside others but for ``apart``."""
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(8, 6))
    B = np.vstack([B[:5], B[:2] + apart * rng.normal(size=(2, 6))])
    return B, rng.uniform(0.2, 1, 7)


def preloaded_ring(exponent):
    """(B, stiffness, overlap) of twelve rollers around a shaft, 4 to 10 kN of preload each."""
    k, overlap = {2.0: 4e8, 2.5: 1e10}[exponent], {2.0: 1e-5, 2.5: 1e-4}[exponent]
    turn = 2 * np.pi * np.arange(12) / 12
    return -np.column_stack([np.cos(turn), np.sin(turn)]), k, overlap


def beside_a_face(seed):
    """(B, v, force, stiffness): forces of the contacts with B v = 0, which span a face of the cone
    of loads, with normal v, as the others have B v > 0."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 40))
    m = int(rng.integers(n, 3 * n))
    B, v = rng.normal(size=(m, n)), rng.normal(size=n)
    flat = rng.random(m) < 0.6
    B[flat] -= np.outer(B[flat] @ v, v) / (v @ v)
    B[~flat] *= np.sign(B[~flat] @ v)[:, None]
    return B, v, rng.uniform(0, 1, m) * flat, 10 ** rng.uniform(0, 1, m)


def floating_cluster():
    """(B, load) of ten bodies, each of which touches all others, and a way of all of them."""
    rng = np.random.default_rng(0)
    first, second = np.triu_indices(10, k=1)
    B, normals = np.zeros((len(first), 10, 3)), rng.normal(size=(len(first), 3))
    B[np.arange(len(first)), first], B[np.arange(len(first)), second] = normals, -normals
    B = B.reshape(len(first), 30)
    return B, B.T @ rng.random(len(first)), np.tile([0.6, 0.64, 0.48], 10)


def held_feet(held):
    """(B, forces) of a rod on three feet with a lid, which carries 10: forces that hold one
    another, this large, hide what the feet carry."""
    B = np.array([[1.0, -0.5], [1.0, 0.0], [1.0, 0.5], [-1.0, 0.0]])
    small = 0.9e-9 * held
    return B, np.array([small, held + 10.0 - 2 * small, small, held])


def many_feet():
    """(B, forces) of a plate on 10,000 feet: four are loaded, the others by rounding."""
    x, y = (a.ravel() for a in np.meshgrid(*2 * [np.linspace(-1, 1, 100)]))
    given = np.full(len(x), 0.9e-9)
    given[[0, 99, 9900, 9999]] = 1.0
    return np.column_stack([np.ones(len(x)), x, y]), given


def only_one_velocity(seed):
    """(problem, velocity): this velocity alone undoes the overlaps, and forces have no bounds."""
    rng = np.random.default_rng(seed)
    B = rng.integers(-1, 2, size=(36, 6)).astype(float)
    velocity = rng.normal(size=6)
    slack = np.where(rng.random(36) < 0.5, 0.0, 10.0 ** rng.integers(-8, 2, 36))
    return contact_problem(B, np.ones(6), slack - B @ velocity, rng.normal(size=6), DT), velocity


def rounding_on_the_sides():
    """(B, load, free, force) of a wall whose load asks next to nothing, 1e-9, of the sides of its
    blocks."""
    simulation = rl.Simulation(wall(12, 12))
    result = simulation.step()
    closed = np.flatnonzero(result.closed)
    B, free = result.B[closed], simulation.bodies.free.ravel()
    force = result.classic.force[closed]
    sides = np.abs(result.contacts.normal[closed, 2]) < 0.5
    rng = np.random.default_rng(0)
    force = force + np.where(sides, 1e-8 * force.max() * rng.uniform(0, 1, len(force)), 0)
    return B, np.where(free, B.T @ force, 0.0), free, force
