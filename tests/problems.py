"""Contact problems built by hand, and slow obvious solutions to compare solvers with."""

import clarabel
import numpy as np
import scipy.sparse as sp
from scipy.optimize import lsq_linear, nnls
from scipy.spatial import cKDTree

import rigidlimit as rl
from rigidlimit._support.arrays import with_short_indices
from rigidlimit.conditioning.tolerances import TOLERANCES
from rigidlimit.dynamics.problem import ContactProblem

GRAVITY = 9.81


def contact_problem(B, mass, bias, free_velocity, dt) -> ContactProblem:
    """ContactProblem from a gap gradient and the diagonal of the mass matrix, with the indices that
    problems of a program have: kernels are compiled once a type of index."""
    mass = np.asarray(mass, float)
    return ContactProblem(
        B=with_short_indices(sp.csr_array(B)),
        mass=with_short_indices(sp.csr_array(sp.diags_array(mass))),
        inverse_mass=with_short_indices(sp.csr_array(sp.diags_array(1.0 / mass))),
        bias=np.asarray(bias, float),
        free_velocity=np.asarray(free_velocity, float),
        dt=dt,
    )


def beam(order=(0, 1, 2), *, weight=10.0, length=1.0, dt=1e-3) -> ContactProblem:
    """A beam at rest on supports at x = 0, L/2, L, numbered in this order; dofs: y and turn.

    The turn is measured about the middle; lumped inertia, rod of this length.
    """
    x = np.array([-0.5, 0.0, 0.5])[list(order)] * length
    B = np.column_stack([np.ones(3), x])
    mass = weight / GRAVITY
    inertia = mass * length**2 / 12
    return contact_problem(B, [mass, inertia], np.zeros(3), [-dt * GRAVITY, 0.0], dt)


def pyramid_gradient(base: int):
    """B (m, 3 n) of a cannonball pyramid of unit-diameter spheres, the base layer held.

    Layers are sqrt(2) radii apart. Contacts between two held spheres are left out.
    """
    r = 0.5
    centres = [
        (2 * r * i + r * layer, 2 * r * j + r * layer, r * np.sqrt(2) * layer)
        for layer in range(base)
        for i in range(base - layer)
        for j in range(base - layer)
    ]
    centres = np.array(centres, float)
    held = base * base
    pairs = cKDTree(centres).query_pairs(2 * r * (1 + 1e-9), output_type="ndarray")
    pairs = pairs[pairs.max(axis=1) >= held]
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    a, b = pairs.min(axis=1), pairs.max(axis=1)
    normal = (centres[b] - centres[a]) / (2 * r)
    row = np.arange(len(pairs))
    rows, cols, values = [], [], []
    for body, sign in ((a, -1.0), (b, 1.0)):
        free = body >= held
        for axis in range(3):
            rows.append(row[free])
            cols.append(3 * (body[free] - held) + axis)
            values.append(sign * normal[free, axis])
    shape = (len(pairs), 3 * (len(centres) - held))
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(cols)))
    return sp.csr_array(sp.coo_array(entries, shape=shape))


def static_pyramid(base: int):
    """(B (m, 3 n), load (3 n,)) of the pyramid of unit weights at rest."""
    B = pyramid_gradient(base)
    return B, np.tile([0.0, 0.0, 1.0], B.shape[1] // 3)


def pyramid(base: int, *, state="rest", seed=0, dt=1e-3) -> ContactProblem:
    """The pyramid under gravity: at rest, or hitting its held base ("impact"), or "random".

    "random" draws gaps and velocities so that Phi/dt is of the order of v.
    """
    B = pyramid_gradient(base)
    m, n = B.shape
    velocity = np.zeros(n)
    velocity[2::3] = -dt * GRAVITY
    bias = np.zeros(m)
    if state == "impact":
        velocity[2::3] -= 1.0
    elif state == "random":
        rng = np.random.default_rng(seed)
        velocity += rng.normal(size=n)
        bias = rng.uniform(0.0, 0.5, m)
    return contact_problem(B, np.ones(n), bias, velocity, dt)


def random_problem(seed, *, contacts=40, dofs=25) -> ContactProblem:
    """Sparse random gap gradient, masses over two decades, some gaps open; more contacts than
    needed, so that forces are not unique. Feasible: a known velocity satisfies every contact."""
    rng = np.random.default_rng(seed)
    B = sp.random_array((contacts, dofs), density=0.2, rng=rng, data_sampler=rng.normal)
    B = sp.csr_array(B)
    feasible = rng.normal(size=dofs)
    bias = rng.exponential(0.2, contacts) * (rng.random(contacts) < 0.5) - B @ feasible
    mass = 10 ** rng.uniform(-1, 1, dofs)
    return contact_problem(B, mass, bias, rng.normal(size=dofs), 0.01)


def reference_velocity(problem) -> np.ndarray:
    """v+ by an active-set method: min 1/2 |v - v_free|_M^2 subject to bias + B v >= 0.

    The least distance programming of Lawson and Hanson (Solving Least Squares Problems, ch. 23),
    on the dense bounded least squares of scipy: exact up to rounding, for small problems with
    a diagonal mass matrix.
    """
    root = np.sqrt(problem.mass.diagonal())
    E = np.vstack([(problem.B.toarray() / root).T, -problem.p])
    target = np.zeros(len(E))
    target[-1] = 1.0
    # nnls of scipy 1.17 stops short of some of these
    y = lsq_linear(E, target, bounds=(0.0, np.inf), method="bvls", tol=1e-15).x
    r = E @ y - target
    return problem.free_velocity - r[:-1] / r[-1] / root


def reference_forces(B, load, stiffness, *, tolerance=1e-10) -> np.ndarray:
    """Eq. 36 for p = 2 by Clarabel: min 1/2 sum f^2 / k, B^T f = F, f >= 0."""
    m, n = B.shape
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    solution = clarabel.DefaultSolver(
        sp.csc_matrix(sp.diags_array(1.0 / stiffness)),
        np.zeros(m),
        sp.csc_matrix(sp.vstack([B.T, -sp.eye_array(m)])),
        np.r_[load, np.zeros(m)],
        [clarabel.ZeroConeT(n), clarabel.NonnegativeConeT(m)],
        settings,
    ).solve()
    assert "Solved" in str(solution.status)
    return np.array(solution.x)


def random_springs(bodies, contacts, seed=0) -> sp.csr_array:
    """B (contacts * bodies, 3 bodies): springs between near points, like a loose packing."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, bodies ** (1 / 3), (bodies, 3))
    near = cKDTree(x).query(x, 7)[1][:, 1:]
    ends = np.column_stack([np.repeat(np.arange(bodies), 6), near.ravel()])
    ends = np.unique(np.sort(ends, axis=1), axis=0)
    ends = ends[rng.permutation(len(ends))[: int(contacts * bodies)]]
    along = x[ends[:, 1]] - x[ends[:, 0]]
    along /= np.linalg.norm(along, axis=1)[:, None]
    m = len(ends)
    dofs = 3 * np.repeat(ends, 3, axis=1) + np.tile(np.arange(3), 2)
    rows = np.repeat(np.arange(m), 6)
    values = np.column_stack([-along, along]).ravel()
    return sp.csr_array((values, (rows, dofs.ravel())), shape=(m, 3 * bodies))


def nearly_determinate(seed, n=40, redundant=5, idle=12):
    """B (m, n), a load, and a corner of its admissible forces: n + redundant contacts that can
    carry it, and contacts that the load would open."""
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(n + redundant, n))
    load = B.T @ rng.uniform(0.1, 1.0, n + redundant)
    B = np.vstack([B, rng.normal(size=(idle, n))])[rng.permutation(n + redundant + idle)]
    return B, load, nnls(B.T, load)[0], 10.0 ** rng.uniform(0, 2, len(B))


def tower(plates, *, shift=0.0, seed=0):
    """B and load of plates on one another, four corners each, moved about by up to ``shift``."""
    rng = np.random.default_rng(seed)
    rows, columns, values = [], [], []
    corners = [(x, y) for x in (-0.5, 0.5) for y in (-0.5, 0.5)]
    for k in range(plates):
        for c, corner in enumerate(corners):
            x, y = corner + shift * rng.uniform(-1, 1, 2)
            for body, sign in ((k, 1.0), (k - 1, -1.0)):
                if body >= 0:
                    rows += [4 * k + c] * 3
                    columns += [3 * body, 3 * body + 1, 3 * body + 2]
                    values += [sign, sign * y, -sign * x]
    B = sp.csr_array(sp.coo_array((values, (rows, columns)), shape=(4 * plates, 3 * plates)))
    return B, np.tile([1.0, 0.0, 0.0], plates)


def soft_motions(slopes, *, exponent=2.0, seed=0):
    """(B (3 n, 2 n), forces (3 n,)) of n bodies on three contacts each, of unit stiffness.

    Body i rises and slides; its contacts feel sliding by +-slopes[i] and 0. The forces belong to
    overlaps of order one, which take slides of 1/slopes[i]; some contacts open. Columns are turned
    into one another, or scaling each would make soft motions like others.
    """
    rng = np.random.default_rng(seed)
    n = len(slopes)
    B = np.zeros((3 * n, 2 * n))
    down, aside = rng.uniform(1, 2, n), rng.uniform(-2.5, 2.5, n)
    for i, slope in enumerate(slopes):
        B[3 * i : 3 * i + 3, 2 * i : 2 * i + 2] = [[1, slope], [1, -slope], [1, 0]]
    turn = np.linalg.qr(rng.normal(size=(2 * n, 2 * n)))[0]
    overlap = np.column_stack([down + aside, down - aside, down]).ravel()
    return B @ turn, np.maximum(overlap, 0.0) ** (exponent - 1.0)


def wedge(slope, pull, *, r=0.1) -> rl.Scene:
    """A disk of radius r pulled by ``pull`` [N] between two walls that open by ``slope`` each."""
    scene = rl.Scene(name="wedge", dim=2, gravity=(0, 0))
    for side in (1, -1):
        normal = np.array([side * np.cos(slope), np.sin(slope)])
        scene.add(rl.HalfSpace(2), position=-r * normal, normal=normal, name=f"wall {side}")
    scene.add(rl.Disk(r), position=(0, 0), mass=1.0, load=(0, -pull), name="disk")
    return scene


def balanced_arch(blocks=7, *, thrust=1000.0):
    """(scene, angles of the joints, weights [N]): radial joints between stones of weights
    H (tan a_i+1 - tan a_i), which stand without friction under the thrust H [N]."""
    radius, depth = 3.0, 0.4
    angle = np.radians(60) * np.linspace(-1, 1, blocks + 1)
    radial = np.column_stack([np.sin(angle), np.cos(angle)])
    scene = rl.Scene(name="arch", dim=2, gravity=(0, -10))
    for i, sign, name in ((0, 1, "left"), (-1, -1, "right")):
        normal = sign * radial[i, ::-1] * [1, -1]
        scene.add(rl.HalfSpace(2), position=radius * radial[i], normal=normal, name=name)
    weights = thrust * np.diff(np.tan(angle))
    for i in range(blocks):
        between = radial[i : i + 2]
        stone = rl.Polygon(np.concatenate([radius * between, (radius + depth) * between]))
        scene.add(stone, position=stone.centre, mass=weights[i] / 10, name=f"stone {i}")
    return scene, angle, weights


def turned(rng, size):
    """A random orthogonal matrix (size, size)."""
    return np.linalg.qr(rng.normal(size=(size, size)))[0]


def assert_asks_the_same(felt, wanted):
    """felt: columns of wanted, and as many as it has independent ones; none is next to nothing."""
    kept = np.flatnonzero(felt.any(axis=0))
    # directions of motions are known to 1e-16 over the gap between their values, here 0.2
    np.testing.assert_allclose(felt[:, kept], wanted[:, kept], atol=1e-13)
    rank = int((np.linalg.svd(wanted)[1] > TOLERANCES.weak / 2).sum())
    assert len(kept) == rank
    # pivots are not the best of all columns, but in any case within 2^5 of them
    assert np.linalg.svd(felt[:, kept])[1].min() > np.linalg.svd(wanted)[1][rank - 1] / 32


def from_rotation_vector(theta: np.ndarray) -> np.ndarray:
    """Quaternion of the rotation by |theta| radians about theta; (n, 3) -> (n, 4)."""
    theta = np.asarray(theta, float)
    angle = np.linalg.norm(theta, axis=-1, keepdims=True)
    # sin(a/2)/a by numpy's sinc, which has no division by zero: np.sinc(x) = sin(pi x)/(pi x)
    return np.concatenate([np.cos(angle / 2), 0.5 * np.sinc(angle / (2 * np.pi)) * theta], axis=-1)
