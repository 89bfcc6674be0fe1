"""Cholesky factorization front by front: against LAPACK and SuperLU on the same matrices."""

import tracemalloc
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from rigidlimit._support import memory
from rigidlimit.errors import OutOfMemory
from rigidlimit.linear import LinearStats, Network, blas_threads, fronts, lapack
from rigidlimit.linear.dissection import elimination_order, neighbours
from rigidlimit.linear.library_factors import LUFactor
from rigidlimit.linear.multifrontal import MultifrontalFactor
from rigidlimit.linear.unassembled import Unassembled
from tests.problems import pyramid_gradient


def factor(C, M, shift, starts, place):
    rows = C.indptr.astype(np.int64), C.indices, C.data
    K = Unassembled(rows, (M.indptr, M.indices, M.data), shift)
    return MultifrontalFactor(K, starts, place)


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("threads", ["1", "3"])
def test_memory_is_known_beforehand(threads, rounded, monkeypatch):
    """Reference twin: what the factorization really holds at its peak; and without that much
    memory it is not begun. Threads need not be at their peaks at the same time."""
    monkeypatch.setattr(fronts, "SETTINGS", replace(fronts.SETTINGS, large=0))
    B = pyramid_gradient(16)
    n = B.shape[1]
    network = Network(B, blocks=np.arange(0, n + 1, 3))
    system = network.system(np.ones(B.shape[0]), 1e-9)
    place = network.elimination_order
    monkeypatch.setenv("NUMBA_NUM_THREADS", "1")
    compiled = MultifrontalFactor(system.matrix, network.starts, place, single_precision=rounded)
    least = compiled.fronts.bytes(rounded)
    monkeypatch.setenv("NUMBA_NUM_THREADS", threads)
    tracemalloc.start()
    found = MultifrontalFactor(system.matrix, network.starts, place, single_precision=rounded)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.single_precision is rounded
    told = found.fronts.bytes(rounded)
    # above it: lists of contacts and rows, views, what the order takes
    assert 0.95 * least < peak < 1.5 * told
    network.single_precision = rounded
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "_of_machine", lambda: told)
        patch.setattr(memory, "LITTLE", 0)
        with pytest.raises(OutOfMemory, match=rf"network of {n:,} degrees of freedom"):
            system.solve_directly(np.ones(n), LinearStats())


def test_threads_change_nothing(monkeypatch):
    """Property: many threads on wide fronts, tried and left, and one give the same solution; the
    number of threads is what it was before."""
    B = pyramid_gradient(12)
    n = B.shape[1]
    network = Network(B, blocks=np.arange(0, n + 1, 3))
    rhs = np.tile([0.0, 0.0, -1.0], n // 3)
    libraries = blas_threads._libraries()
    before = [library.num_threads for library in libraries]
    try:
        for library in libraries:
            library.set_num_threads(2)
        found = []
        for wide, gain in ((10**9, 1.2), (20, 0.0), (20, 1e9)):
            settings = blas_threads.Settings(wide, gain)
            monkeypatch.setattr(blas_threads, "SETTINGS", settings)
            system = network.system(np.ones(B.shape[0]), 1e-3)
            found.append(system.solve_directly(rhs, LinearStats()))
            assert all(library.num_threads == 2 for library in libraries)
    finally:
        for library, count in zip(libraries, before, strict=True):
            library.set_num_threads(count)
    # condition 1e4 or so, after refinement
    np.testing.assert_allclose(found[1:], [found[0]] * 2, rtol=0, atol=1e-9 * abs(found[0]).max())


@pytest.mark.parametrize("small", [0.0, 1e6, np.inf])
def test_parts_are_all_there_is_below_the_rest(small, monkeypatch):
    """Property: every front is in one part or above all; what a part takes in comes from itself;
    and whoever works on the parts, the factor and its solutions are the same to the last
    digit. Parts of one front
    each, of some, and one of all give the same solution."""
    parts = 1e9 if small == 0.0 else 16
    changed = replace(fronts.SETTINGS, small=small, parts=parts, long=0)
    monkeypatch.setattr(fronts, "SETTINGS", changed)
    B = pyramid_gradient(12)
    n = B.shape[1]
    none, starts = sp.csr_array((n, n)), np.arange(0, n + 1, 3)
    place = elimination_order(B, none, starts)
    rhs = np.random.default_rng(0).normal(size=n)
    factors, found = [], []
    for threads in ("1", "3"):
        monkeypatch.setenv("NUMBA_NUM_THREADS", threads)
        factors.append(factor(B, none, 1e-3, starts, place))
        found.append(factors[-1].solve(rhs))
    one, other = factors
    np.testing.assert_array_equal(one.values, other.values)
    np.testing.assert_array_equal(*found)
    known = one.fronts
    inside = [np.arange(first, last + 1) for first, last in known.parts]
    assert sorted(np.concatenate([*inside, known.above])) == list(range(len(known.parent)))
    for mine in inside:
        children = np.flatnonzero(np.isin(known.parent, mine))
        assert np.isin(children, mine).all()
    assert (len(known.above) == 0) == (small == np.inf)
    K = (B.T @ B).toarray() + 1e-3 * np.eye(n)
    # condition 1e4, times rounding
    np.testing.assert_allclose(one.solve(rhs), np.linalg.solve(K, rhs), atol=1e-9)


def test_many_parts_that_touch_nothing_are_few_pieces():
    """Property: thousands of bodies apart are gathered in parts that are worth a call."""
    bodies = 5000
    B = sp.csr_array(sp.kron(sp.eye_array(bodies), np.random.default_rng(0).normal(size=(5, 3))))
    n = 3 * bodies
    found = factor(B, sp.csr_array((n, n)), 1.0, np.arange(0, n + 1, 3), np.arange(bodies))
    assert len(found.fronts.parts) <= 2 * fronts.SETTINGS.parts and not len(found.fronts.above)
    rhs = np.ones(n)
    residual = B.T @ (B @ found.solve(rhs)) + found.solve(rhs) - rhs
    assert np.abs(residual).max() < 1e-12  # condition 30


def test_elimination_of_a_front_against_numpy():
    """Reference twin: dense formulas; and a front that is not positive definite is told."""
    rng = np.random.default_rng(0)
    for k, r in ((1, 0), (3, 5), (40, 0), (37, 61)):
        A = rng.normal(size=(k + r, 2 * (k + r)))
        F = A @ A.T
        panel = np.concatenate([F[:k, :k].ravel("F"), F[k:, :k].ravel("F")])
        rest = F[k:, k:].ravel("F").copy()
        assert lapack.eliminate(panel, k, r, rest)
        top = np.tril(panel[: k * k].reshape((k, k), order="F"))
        left = panel[k * k :].reshape((r, k), order="F")
        # condition below 1e3, times rounding
        np.testing.assert_allclose(top, np.linalg.cholesky(F[:k, :k]), atol=1e-11)
        np.testing.assert_allclose(left @ top.T, F[k:, :k], atol=1e-11)
        update = np.tril(F[k:, k:] - left @ left.T)
        np.testing.assert_allclose(np.tril(rest.reshape((r, r), order="F")), update, atol=1e-11)
    assert not lapack.eliminate(np.array([1.0, 2.0, 2.0, 1.0]), 2, 0, np.empty(0))


def random_rows(rng, rows, starts, most):
    """C (rows, n): each row couples one to ``most`` bodies; bodies of unequal width."""
    n = starts[-1]
    dense = np.zeros((rows, n))
    for row in dense:
        for b in rng.choice(len(starts) - 1, rng.integers(1, most + 1), replace=False):
            row[starts[b] : starts[b + 1]] = rng.normal(size=starts[b + 1] - starts[b])
    return sp.csr_array(dense)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("coupled", [False, True])
def test_any_order_of_any_bodies(seed, coupled):
    """Reference twin: dense solve. Bodies of one to six degrees of freedom, rows of up to four
    bodies, inertia within and between bodies, a random order of elimination."""
    rng = np.random.default_rng(seed)
    starts = np.concatenate([[0], np.cumsum(rng.integers(1, 7, rng.integers(2, 120)))])
    n = int(starts[-1])
    C = random_rows(rng, int(rng.integers(1, 2 * n)), starts, min(4, len(starts) - 1))
    M = sp.csr_array((n, n))
    if coupled:
        across = np.zeros((n, n))
        for _ in range(n // 4):
            i, j = rng.integers(0, n, 2)
            across[i, j] = across[j, i] = 0.1
        M = sp.csr_array(across + np.diag(np.abs(across).sum(1) + 1.0))
    shift = 0.5
    found = factor(C, M, shift, starts, rng.permutation(len(starts) - 1))
    assert not found.failed
    K = C.toarray().T @ C.toarray() + M.toarray() + shift * np.eye(n)
    rhs = rng.normal(size=(n, 3))
    expected = np.linalg.solve(K, rhs)
    # condition below 1e4, times rounding
    np.testing.assert_allclose(found.solve(rhs), expected, atol=1e-11)
    np.testing.assert_allclose(found.solve(rhs[:, 1]), expected[:, 1], atol=1e-11)
    # single entries, which pass over most fronts on their way to the root
    columns = rng.integers(0, n, 5)
    few = np.eye(n)[:, columns]
    np.testing.assert_allclose(found.solve(few), np.linalg.inv(K)[:, columns], atol=1e-11)


def test_pyramid_against_superlu():
    """Peer: SuperLU in the same order; many right sides at once as one by one."""
    pytest.importorskip("pymetis")
    B = pyramid_gradient(14)
    n = B.shape[1]
    starts = np.arange(0, n + 1, 3)
    none = sp.csr_array((n, n))
    place = elimination_order(B, none, starts)
    assert sorted(place) == list(range(n // 3))
    found = factor(B, none, 1e-6, starts, place)
    K = sp.csr_array(B.T @ B + 1e-6 * sp.eye_array(n))
    order = np.argsort(np.repeat(place, 3), kind="stable")
    theirs = LUFactor(K, order)
    rhs = np.random.default_rng(0).normal(size=(n, 60))
    x = found.solve(rhs)
    # backward error of factorizations without pivoting, condition 1e7
    assert np.abs(K @ x - rhs).max() < 1e-8
    np.testing.assert_allclose(x[:, 7], found.solve(rhs[:, 7].copy()), rtol=1e-6, atol=1e-9)
    peer = theirs.solve(rhs[:, 7].copy())
    np.testing.assert_allclose(x[:, 7], peer, rtol=1e-6, atol=1e-6 * np.abs(peer).max())
    # fronts hold zeros to be few, but not many
    assert len(found.values) < 3.0 * theirs.lu.L.nnz


def test_floating_bodies_fall_back():
    """Property: K that is not positive definite to rounding is told, and solved all the same."""
    B = pyramid_gradient(8)
    n = B.shape[1]
    loose = B.copy()
    loose.data[B.indices < 30] = 0.0  # ten bodies without contact
    starts = np.arange(0, n + 1, 3)
    none = sp.csr_array((n, n))
    place = np.arange(n // 3)
    assert factor(loose, none, 0.0, starts, place).failed
    network = Network(loose, blocks=starts)
    system = network.system(np.ones(B.shape[0]), 0.0)
    rhs = loose.T @ np.random.default_rng(1).normal(size=B.shape[0])
    x = system.factorize(LinearStats()).solve(rhs)
    assert np.isfinite(x).all()
    # lifted pivots are 1e-13 of the largest entry
    assert np.abs(system.apply(x) - rhs).max() < 1e-6 * np.abs(rhs).max()


def test_neighbours_from_contacts_and_inertia():
    """Property: bodies are neighbours through a contact or a coupled inertia, whatever values."""
    B = sp.csr_array(np.array([[1.0, 0, -1, 0, 0, 0], [0, 0, 0, 1, 0, 0]]))
    starts = np.array([0, 2, 4, 6])

    def pairs(mass):
        begins, others = neighbours(B, sp.csr_array(mass), starts)
        return [sorted(others[a:b]) for a, b in pairwise(begins)]

    assert pairs(np.zeros((6, 6))) == [[1], [0], []]
    M = np.eye(6)
    M[2, 4] = M[4, 2] = 0.1
    assert pairs(M) == [[1], [0, 2], [1]]
