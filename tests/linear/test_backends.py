"""Another program's linear algebra in place of ours: plain SciPy and PETSc behind the protocol."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from rigidlimit.equilibrium import smooth_newton
from rigidlimit.equilibrium.smooth_law import SmoothNetwork
from rigidlimit.equilibrium.smooth_path import follow
from rigidlimit.linear import LinearStats, Network
from rigidlimit.linear.low_rank_update import ChangingSystem
from rigidlimit.status import Status

from ..distributed.networks import launched, needs_petsc

BODIES, BLOCK = 12, 3


class SciPySystem:
    """``LinearSystem`` of an assembled K and SuperLU."""

    class Factor:
        route, single_precision = "scipy", False

        def __init__(self, K):
            self.lu = splu(sp.csc_array(K))
            self.entries = self.lu.nnz

        def solve(self, rhs):
            return self.lu.solve(rhs)

    def __init__(self, network, tangent, shift):
        n = network.B.shape[1]
        D = sp.diags_array(np.asarray(tangent, float))
        self.K = network.B.T @ D @ network.B + network.mass + shift * sp.eye_array(n)
        self.factor = None

    def apply(self, x):
        return self.K @ x

    def factorize(self, stats):
        if self.factor is None:
            self.factor = self.Factor(self.K)
            stats.factorizations += 1
            stats.took(self.factor.route)
        return self.factor

    def refactorize(self, stats):
        raise AssertionError("factors are in double precision")

    def solve(self, rhs, *, target, stats):
        return self.solve_directly(rhs, stats)

    def solve_directly(self, rhs, stats, *, refined=True):
        return self.factorize(stats).solve(rhs)

    def iterate(self, rhs, *, target, max_steps, stats):
        x = self.solve(rhs, target=target, stats=stats)
        return x, float(np.abs(self.K @ x - rhs).max()), 1


def problem():
    """Bodies of three degrees of freedom, a contact between any two neighbours and with a wall,
    and a load that nonnegative forces carry."""
    rng = np.random.default_rng(5)
    n, rows = BODIES * BLOCK, []
    for i in range(BODIES):
        for j in (i + 1, i + 2, BODIES):
            for _ in range(2):
                row, normal = np.zeros(n), rng.normal(size=BLOCK)
                row[BLOCK * i : BLOCK * (i + 1)] = normal / np.linalg.norm(normal)
                if j < BODIES:
                    row[BLOCK * j : BLOCK * (j + 1)] = -normal / np.linalg.norm(normal)
                rows.append(row)
    B = sp.csr_array(np.array(rows))
    mass = sp.diags_array(rng.uniform(0.5, 2.0, n)).tocsr()
    load = B.T @ rng.uniform(0.5, 1.5, B.shape[0])
    return B, mass, load, rng.uniform(0.5, 2.0, B.shape[0])


def networks(backend, B, **options):
    blocks = np.arange(0, B.shape[1] + 1, BLOCK)
    ours = Network(B, blocks=blocks, **options)
    return ours, Network(B, blocks=blocks, backend=backend, **options)


@pytest.mark.parametrize("exponent", [2.0, 2.5])
@pytest.mark.parametrize("inertia", [False, True])
def test_equilibrium_by_another_backend(exponent, inertia, backend=SciPySystem):
    """Cross-solver: Newton on systems that SciPy solves has the same forces, which are unique."""
    B, mass, load, k = problem()
    both, found = (LinearStats(), LinearStats()), []
    pair = networks(backend, B, mass=mass if inertia else None)
    for network, stats in zip(pair, both, strict=True):
        springs = SmoothNetwork(network, k, exponent, load)
        answer = smooth_newton.solve(springs, tolerance=1e-12, stats=stats)
        assert answer.status is Status.CONVERGED
        found.append(answer)
    route = backend.Factor.route
    assert both[1].routes == [route] and route not in both[0].routes
    # residual of 1e-12 of the load, times the condition of B
    np.testing.assert_allclose(found[1].force, found[0].force, atol=1e-9 * load.max())


def test_path_and_updates_by_another_backend(backend=SciPySystem):
    """Cross-solver: the central path, and a factorization whose contacts change, ask no more of a
    system than the protocol says."""
    B, _, load, k = problem()
    ours, theirs = networks(backend, B)
    both = [SmoothNetwork(network, k, 1.5, load) for network in (ours, theirs)]
    points = [follow(springs, stats=LinearStats()) for springs in both]
    # both within the path's own last parameter of the answer
    np.testing.assert_allclose(points[1].force, points[0].force, atol=1e-5 * load.max())
    held = np.ones(len(k), bool)
    systems = [ChangingSystem(network, k, held, 1e-6, LinearStats()) for network in (ours, theirs)]
    for system in systems:
        system.toggle([3, 11])
    # condition 1e6 of K times rounding
    np.testing.assert_allclose(systems[1].solve(load), systems[0].solve(load), rtol=1e-8)


@needs_petsc
def test_petsc_as_backend():
    """Cross-solver: the same by PETSc's MUMPS, in a process of its own, where MPI is PETSc's."""
    done = launched(1, "-m", "tests.linear.petsc_backend", folder=Path(__file__).parents[2])
    assert done.returncode == 0, done.stderr
