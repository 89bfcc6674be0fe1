"""Linear systems of a Newton step, against sparse matrices put together by SciPy."""

import numpy as np
import pytest
import scipy.sparse as sp

from rigidlimit.equilibrium import krylov, large_system, mechanics
from rigidlimit.equilibrium.blocks import Blocks
from rigidlimit.equilibrium.delassus import Delassus, between_contacts
from rigidlimit.equilibrium.dense import Dense, between_bodies
from rigidlimit.equilibrium.law import ContactLaw
from rigidlimit.equilibrium.mechanics import Bodies, Inertia
from rigidlimit.equilibrium.multipliers import rigid_contacts
from rigidlimit.equilibrium.rows import contact_rows
from rigidlimit.equilibrium.solve import Settings, solve
from rigidlimit.errors import InputError
from tests.equilibrium.problems import rough_pyramid


def reference(B, D, M, shift):
    K = B.T @ sp.block_diag(list(D)) @ B + shift * sp.eye_array(B.shape[1])
    return sp.csr_array(K if M is None else K + M)


def inertia_of(B, M):
    """Of a diagonal M."""
    if M is None:
        return None
    inverse = sp.diags_array(1.0 / M.diagonal())
    return Inertia(M, inverse, B @ inverse)


def unsymmetric(m, d, rng):
    """Blocks of slipping contacts: normal slopes of one, tangential ones of friction."""
    D = 0.2 * rng.random((m, d, d)) + 0.5 * np.eye(d)
    D[rng.random(m) < 0.2] = 0.0
    return D


@pytest.mark.parametrize("base", [3, 8])
@pytest.mark.parametrize("by", ["factorization", "iteration", "both"])
def test_pyramids(monkeypatch, base, by):
    if by != "factorization":
        monkeypatch.setattr(mechanics, "SMALL", 0.0)
    B, load, _ = rough_pyramid(base)
    rng = np.random.default_rng(7)
    D, b = unsymmetric(B.shape[0] // 3, 3, rng), rng.normal(size=(B.shape[0] // 3, 3))
    bodies = Bodies(B, -load, 3, shift=1e-3)
    if by == "both":
        bodies.iterative.iterations = 1  # GMRES gives up at once
    solve = bodies.factorize(D)
    K = reference(B, D, None, 1e-3)
    for _ in range(2):
        np.testing.assert_allclose(K @ solve(load), -load, atol=1e-10)
    np.testing.assert_allclose(K @ solve(load, b), B.T @ b.ravel() - load, atol=1e-9)


@pytest.mark.parametrize("inertia", [False, True])
def test_open_contacts_drop_out(inertia):
    """One network after the other with other open contacts: more, fewer, and of these other ones
    than before, none, all. Twin: the sparse matrix with all contacts."""
    B, load, _ = rough_pyramid(5)
    m, rng = B.shape[0] // 3, np.random.default_rng(5)
    M = sp.diags_array(rng.uniform(1, 2, B.shape[1])).tocsr() if inertia else None
    bodies = Bodies(B, -load, 3, inertia=inertia_of(B, M), shift=1e-3)
    full = unsymmetric(m, 3, rng)
    few, some = rng.random(m) < 0.3, rng.random(m) < 0.6
    fewer, none = few & (rng.random(m) < 0.9), np.zeros(m, bool)
    for bears in (few, fewer, some, few, none, some, ~none):
        D, b = np.where(np.reshape(bears, (-1, 1, 1)), full, 0.0), rng.normal(size=(m, 3))
        x, K = bodies.factorize(D)(load, b), reference(B, D, M, 1e-3)
        # displacements of bodies that only the shift holds are a thousand times the load
        np.testing.assert_allclose(K @ x, B.T @ b.ravel() - load, atol=1e-10)


@pytest.mark.parametrize("starts", [None, [0, 3, 4, 7, 13]])
def test_bodies_of_unlike_sizes(starts):
    """Plane contacts between bodies of one to six degrees of freedom, with an inertia."""
    rng = np.random.default_rng(8)
    B = sp.csr_array(rng.random((30, 13)) * (rng.random((30, 13)) < 0.7))
    M = sp.csr_array(np.diag(rng.uniform(1, 2, 13)))
    D, r = unsymmetric(15, 2, rng), rng.random(13)
    x = Bodies(B, np.zeros(13), 2, inertia=inertia_of(B, M), starts=starts).factorize(D)(r)
    np.testing.assert_allclose(reference(B, D, M, 0.0) @ x, -r, atol=1e-12)


@pytest.mark.parametrize("inertia", [False, True])
def test_dense_networks_are_the_sparse_ones(inertia):
    """Forces by compiled loops and by ``Bodies``; with inertia by the path as well."""
    B, load, _ = rough_pyramid(4)
    m, n = B.shape[0] // 3, len(load)
    mass = sp.diags_array(np.random.default_rng(6).uniform(1, 2, n)) if inertia else None
    law = ContactLaw(np.ones(m), np.full(m, 0.3), np.full(m, 0.2), np.zeros((m, 2)))
    known = dict(inertia=inertia_of(B, mass), shift=0.0 if inertia else 1e-12)
    answers = []
    for make in (Bodies, between_bodies):
        for settings in (Settings(), Settings(starts=False))[: 1 + inertia]:
            found, _ = solve(
                make(B, -load, 3, **known), law, np.zeros(n), tolerance=1e-12, force_size=1.0,
                settings=settings,
            )  # fmt: skip
            assert found.converged
            answers.append(found.force)
    for other in answers[1:]:
        # residuals of 1e-12 through a network whose stiffest motion is a thousand times its softest
        np.testing.assert_allclose(other, answers[0], atol=1e-9)


@pytest.mark.parametrize("by", ["factorization", "iteration"])
def test_delassus_systems(monkeypatch, by):
    """(I + W D) dx = W b - r, W stored with errors that are not symmetric, one after the other with
    other open contacts. Twin: NumPy."""
    if by == "iteration":
        monkeypatch.setattr(mechanics, "SMALL", 0.0)
    B, _, _ = rough_pyramid(5)
    m = B.shape[0] // 3
    rng = np.random.default_rng(11)
    W = sp.csr_array(B @ B.T)
    W.data += 1e-3 * rng.normal(size=W.nnz)
    sparse = between_contacts(W, rng.normal(size=3 * m), 3)
    assert isinstance(sparse, Delassus)
    full, some = unsymmetric(m, 3, rng), rng.random(m) < 0.5
    for bears in (some, some & (rng.random(m) < 0.9), ~some, np.zeros(m, bool), np.ones(m, bool)):
        D, b, r = full * np.reshape(bears, (-1, 1, 1)), rng.normal(size=(m, 3)), rng.random(3 * m)
        K = np.eye(3 * m) + W.toarray() @ sp.block_diag(list(D)).toarray()
        # condition numbers of some 1e3
        np.testing.assert_allclose(
            sparse.factorize(D)(r, b), np.linalg.solve(K, W @ b.ravel() - r), atol=1e-9
        )


def test_delassus_matrices_are_the_dense_ones():
    """Step 1 with friction on W alone: forces and velocities by compiled loops and by sparse
    systems."""
    B, load, _ = rough_pyramid(4)
    W, q = sp.csr_array(B @ B.T), -(B @ load)
    friction, rho = np.full(B.shape[0] // 3, 0.3), 3.0 / W.diagonal().reshape(-1, 3).sum(axis=1)
    dense, sparse = (
        rigid_contacts(make(W, q, 3), friction, rho, scale=abs(q).max(), tolerance=1e-11)
        for make in (Dense.delassus, Delassus)
    )
    assert dense.converged and sparse.converged
    # residuals of 1e-11 |q|
    np.testing.assert_allclose(sparse.velocity, dense.velocity, atol=1e-9 * abs(q).max())


def test_loose_systems_are_as_good_as_they_are_said_to_be(monkeypatch):
    monkeypatch.setattr(mechanics, "SMALL", 0.0)
    B, load, _ = rough_pyramid(8)
    D = unsymmetric(B.shape[0] // 3, 3, np.random.default_rng(9))
    solve, K = Bodies(B, -load, 3, shift=1e-3).factorize(D), reference(B, D, None, 1e-3)
    for accuracy in (1e-2, 1e-6):
        off = np.linalg.norm(K @ solve(load, accuracy=accuracy) + load)
        assert off <= 1.01 * accuracy * np.linalg.norm(load)  # by GMRES' own account, to rounding


def test_singular_systems_are_said():
    B, load, _ = rough_pyramid(3)
    with pytest.raises(np.linalg.LinAlgError):
        Bodies(B, -load, 3).factorize(np.zeros((B.shape[0] // 3, 3, 3)))(load)


def test_gmres_waits_after_failures():
    """Property: after each failure in a row twice as many systems are factorized at once, up to a
    limit; a success ends that."""
    patience, tried = large_system.Patience(), []
    for _ in range(16):
        tried.append(patience.tries())
        if tried[-1]:
            patience.learn(False)
    assert np.flatnonzero(tried).tolist() == [0, 2, 6, 14]
    assert patience.iterations == large_system.PATIENCE // 16
    while not patience.tries():
        pass
    patience.learn(True)
    assert patience.tries() and patience.iterations == 2 * (large_system.PATIENCE // 16)


def test_factors_serve_the_systems_after_their_own(monkeypatch):
    """Property: once GMRES has taken as long as a factorization, that is made, and solves systems
    in which few contacts have changed; where all have, another one is. Each is accurate. Twin: the
    sparse matrix."""
    monkeypatch.setattr(mechanics, "SMALL", 0.0)
    B, load, _ = rough_pyramid(8)
    rng = np.random.default_rng(7)
    # damped, since systems that are not are solved more accurately than is asked here
    bodies, m = Bodies(B, -load, 3).damped(1e-3), B.shape[0] // 3
    patience, D = bodies.iterative, unsymmetric(m, 3, rng)
    patience.price = 1.0
    D[np.flatnonzero(D[:, 0, 0] == 0.0)] = 0.5 * np.eye(3)  # one pattern for all

    def solved(D):
        x = bodies.factorize(D)(load, accuracy=1e-3)
        off = reference(B, D, None, 1e-3) @ x + load
        assert np.linalg.norm(off) < 1.01e-3 * np.linalg.norm(load)

    solved(D)
    assert patience.factor is None and patience.spent > 0.0
    for _ in range(50):
        if patience.factor is not None:
            break
        solved(D)
    kept = patience.factor
    assert kept is not None and not patience.served
    D[0] *= 1.1
    solved(D)
    assert patience.factor is kept and patience.served
    patience.iterations = 1  # GMRES gives up at once without it
    solved(unsymmetric(m, 3, rng) + np.eye(3) * 10.0 ** rng.uniform(-3, 3, (m, 1, 1)))
    assert patience.factor is not kept


@pytest.mark.parametrize("width", [1, 3, 6])
def test_single_precision_does_not_limit_the_residual(width):
    """Iterative refinement: directions of seven digits give solutions of twelve (asked: 1e-12 of
    the right-hand side). Unsymmetric blocks of a random graph, dominated by their diagonal."""
    rng = np.random.default_rng(3)
    bodies, links = 60, 150
    graph = sp.coo_array((np.ones(links), rng.integers(0, bodies, (2, links))), (bodies, bodies))
    graph = sp.csr_array(graph + graph.T + sp.eye_array(bodies))
    blocks = Blocks()
    blocks.ptr, blocks.col, blocks.width = graph.indptr, graph.indices, width
    blocks.size = bodies * width
    values = rng.normal(size=(len(graph.indices), width, width))
    blocks.add_to_diagonal(values, 5.0 * width)
    K, rhs = sp.bsr_array((values, blocks.col, blocks.ptr)), rng.normal(size=blocks.size)
    matrix = krylov.BlockMatrix(blocks, values)
    np.testing.assert_allclose(matrix @ rhs, K @ rhs, rtol=0, atol=1e-13 * width * 60)
    factor = krylov.IncompleteFactor(blocks, values)
    single = matrix.single().__matmul__
    given = matrix.__matmul__, factor.solve, rhs, 1e-12, 200
    x, iterations, reached = krylov.gmres(*given, single=single)
    assert reached <= 1e-12
    assert np.linalg.norm(K @ x - rhs) <= 1.1e-12 * np.linalg.norm(rhs)  # rounding of the residual
    # cycles that end after five digits begin anew with fewer directions
    assert iterations <= 1.5 * krylov.gmres(*given)[1]


def test_rows_of_a_body_in_a_plane():
    """Closed form: two contacts on one floor, of a body held in the plane x z: their rows along
    x are equal, those along y move nothing. Tangents that are one motion are refused."""
    B = np.array([[0, 0, 1, 0, 0.5, 0], [0, 0, 1, 0, -0.3, 0.0]])
    T = np.array([[1, 0, 0, 0, -1, 0], [0, 0, 0, 0, 0, 0.0]] * 2)
    rows, d = contact_rows(B, T)
    assert d == 3 and rows.shape == (6, 6)
    with pytest.raises(InputError, match="which are one motion"):
        contact_rows(B, np.repeat(T[::2], 2, axis=0))
