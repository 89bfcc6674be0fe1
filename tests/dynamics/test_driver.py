"""What the driver prepares for the solvers: the inverse mass, symmetry, the diagonal of N."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import rigidlimit as rl
from rigidlimit.dynamics import jams, newton
from rigidlimit.dynamics.inertia import inverse_mass
from rigidlimit.dynamics.problem import ContactProblem
from rigidlimit.errors import InputError
from rigidlimit.status import Status
from tests.problems import contact_problem


@pytest.mark.parametrize("seed", range(5))
def test_inverse_mass_of_scattered_blocks(seed):
    """Reference twin: numpy's inverse of the full matrix, with coupled degrees of freedom in
    blocks of one to seven, strewn over the matrix; only within blocks are there entries."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 8, 9)
    blocks = [rng.normal(size=(s, s)) for s in sizes]
    M = sp.block_diag([A @ A.T + np.eye(len(A)) for A in blocks]).toarray()
    order = rng.permutation(len(M))
    M = M[order][:, order]
    found = inverse_mass(sp.csr_array(M), np.arange(len(M)))
    # conditions below 1e3
    np.testing.assert_allclose(found.toarray(), np.linalg.inv(M), rtol=1e-10, atol=1e-12)
    assert found.nnz == (sizes**2).sum()
    found.check_format()


def test_block_that_is_not_positive_definite():
    """Closed form: the eigenvalues of [[1, 2], [2, 1]] are 3 and -1."""
    M = sp.csr_array(np.array([[1.0, 0, 2], [0, 5, 0], [2, 0, 1]]))
    with pytest.raises(InputError, match=r"freedom \[10, 12\] \(smallest eigenvalue -1\)"):
        inverse_mass(M, np.array([10, 11, 12]))


@pytest.mark.parametrize("stored", [False, True])
def test_response_of_a_diagonal_mass(stored):
    """Reference twin: dt B M^-1 of dense matrices, whether or not zeros are stored beside the
    diagonal, which the quick way for balls does not take."""
    rng = np.random.default_rng(1)
    B = sp.random_array((12, 7), density=0.4, rng=rng, format="csr")
    masses = rng.uniform(1, 9, 7)
    M = sp.diags_array(masses).tocsr()
    if stored:
        M = sp.csr_array((np.diag(masses).ravel(), np.indices((7, 7)).reshape(2, -1)), shape=(7, 7))
    assert M.nnz == (49 if stored else 7)
    inverse = inverse_mass(M, np.arange(7))
    np.testing.assert_allclose(inverse.toarray(), np.diag(1 / masses), rtol=1e-15)
    problem = ContactProblem(B, M, inverse, np.ones(12), np.zeros(7), 0.1)
    dense = 0.1 * B.toarray() / masses
    np.testing.assert_allclose(problem.response.toarray(), dense, rtol=1e-15)


def test_mass_that_is_not_positive():
    """A user's mistake: the degree of freedom is named, of a diagonal matrix as of blocks."""
    M = sp.diags_array([1.0, -2.0, 3.0]).tocsr()
    with pytest.raises(InputError, match=r"freedom \[11\] \(smallest eigenvalue -2\)"):
        inverse_mass(M, np.array([10, 11, 12]))


def test_closing_beyond_rounding():
    """Closed form: -p where it is more than 1e-14 of the terms of p = bias + B v, else 0."""
    B = sp.csr_array(np.array([[1.0, -1.0], [1.0, -1.0], [2.0, 0.0], [0.0, -1.0]]))
    v = np.array([1.0, 1.0])
    bias = np.array([-1e-12, -1e-15, 0.0, 0.5])
    M = sp.eye_array(2, format="csr")
    problem = ContactProblem(B, M, M, bias, v, 0.1)
    np.testing.assert_array_equal(problem.closing, [1e-12, 0.0, 0.0, 0.5])


@pytest.mark.parametrize("seed", range(5))
def test_asymmetry_is_told(seed):
    """Reference twin: the largest entry of |M - M^T|, where either of a pair may be missing."""
    rng = np.random.default_rng(seed)
    M = np.diag(rng.uniform(50, 60, 8)) + sp.random_array((8, 8), density=0.3, rng=rng).toarray()
    worst = np.abs(M - M.T).max()
    with pytest.raises(InputError, match=f"differs from its transpose by {worst:.3g};"):
        rl.contact_dynamics(M, np.ones((1, 8)), [0.0], np.zeros(8), np.zeros(8), 1.0)


def test_diagonal_of_unsorted_rows():
    """Reference twin: the diagonal of dt B M^-1 B^T, with the columns of B in any order."""
    B = sp.csr_array((np.array([2.0, -1.0, 3.0]), np.array([2, 0, 1]), np.array([0, 2, 2, 3])))
    inverse = sp.csr_array(np.array([[2.0, 0.5, 0], [0.5, 1, 0], [0, 0, 4]]))
    mass = sp.csr_array(np.linalg.inv(inverse.toarray()))
    problem = ContactProblem(B, mass, inverse, np.zeros(3), np.zeros(3), 0.1)
    dense = 0.1 * B.toarray() @ inverse.toarray() @ B.toarray().T
    # a contact that moves nothing gets 1
    np.testing.assert_allclose(problem.diagonal, [dense[0, 0], 1.0, dense[2, 2]], rtol=1e-14)


@pytest.mark.parametrize("solver", ["newton", "pgs", "apgd"])
def test_warm_start_of_a_jammed_body(solver):
    """Closed form: between walls that overlap it from both sides nothing solves eq. 21; forces
    that hold one another must end in a status, not in a division by zero."""
    answer = rl.contact_dynamics(
        [1.0], [[1.0], [-1.0]], [-1.0, -1.0], [0.0], [0.0], 1.0, warm_start=[1.0, 1.0],
        solver=solver, max_iterations=100,
    )  # fmt: skip
    assert not answer.converged and np.isfinite(answer.force).all()


@pytest.mark.parametrize("solver", ["newton", "pgs", "apgd"])
def test_jammed_body_that_slides(solver):
    """Property: with overlaps left as they are, only rounding of B v closes contacts; that needs no
    force, and must not divide by the largest of none."""
    for angle in np.linspace(0.1, 6.2, 20):
        normal, along = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
        answer = rl.contact_dynamics(
            np.ones(2), [normal, -normal], [-1e-3, -1e-3], 3.3 * along, [0.0, 0.0], 1e-3,
            solver=solver, max_iterations=100,
        )  # fmt: skip
        assert not answer.converged
        # the overlaps' speed is 1; what is left of it is rounding
        np.testing.assert_allclose(answer.velocity, 3.3 * along, atol=1e-9)


@pytest.mark.parametrize("solver", ["newton", "pgs", "apgd"])
@pytest.mark.parametrize("overlap", [1e-3, 1e-8])
def test_normals_opposite_but_for_rounding_do_not_undo_a_press_fit(solver, overlap):
    """Closed form: a body too wide for its hole stays and bears nothing but its load. With normals
    as a rotation leaves them, opposite to 1e-16, it left along the walls at 1e13 times the speed
    of the overlap, pressed with 1e16 times the force, and the answer was called converged."""
    rounding = 6e-17
    for load in (0.0, 1e-3):
        answer = rl.contact_dynamics(
            np.ones(2), [[1.0, rounding], [-1.0, rounding]], [-overlap, -overlap], [0.0, 0.0],
            [load, 0.0], 1e-3, solver=solver, max_iterations=1000,
        )  # fmt: skip
        assert not answer.converged
        if solver == "newton":
            assert answer.status is Status.JAMMED
            # solved to 1e-10 of the load; what holds itself is not told
            np.testing.assert_allclose(answer.velocity, 0.0, atol=1e-12)
            assert answer.force[1] - answer.force[0] == pytest.approx(load, abs=1e-12)


@pytest.mark.parametrize("slope", [1e-3, 1e-2])
def test_a_slope_far_above_rounding_undoes_a_press_fit(slope):
    """Closed form: of walls that open a little the body slides out, at overlap over slope."""
    across, along = np.array([[0.6, 0.8], [-0.8, 0.6]])
    walls = [across + slope * along, -across + slope * along]
    gap, zero = [-slope, -slope], [0.0, 0.0]
    answer = rl.contact_dynamics(np.ones(2), walls, gap, zero, zero, 1.0)
    assert answer.converged
    # solved to 1e-10 of a force 1/slope times what the body gains
    np.testing.assert_allclose(answer.velocity, along, atol=1e-10 / slope)


def test_large_forces_where_one_velocity_undoes_overlaps_are_no_jam():
    """Closed form: v >= 1 and v <= 1; forces that hold one another may be as large as they like."""
    problem = contact_problem([[1.0], [-1.0]], [1.0], [-1.0, 1.0], [0.0], 1.0)
    answer = newton.solve(problem)
    assert answer.velocity == pytest.approx([1.0], abs=1e-9)  # solved to 1e-10
    large = replace(answer, force=answer.force + 1e6, residual=1e-9, status=Status.STALLED)
    closed = np.array([0.0, 1.0])
    assert jams.without_opening(problem, closed, large, newton.solve) is None


def test_light_body_beside_a_heavy_one_in_flight():
    """Closed form: a milligram at rest bears its weight, whatever flies elsewhere."""
    answer = rl.contact_dynamics(
        [1e10, 1e-6], np.eye(2), [1.0, 0.0], [0.0, 0.0], [0.0, -1e-5], 1e-3
    )
    assert answer.converged
    np.testing.assert_allclose(answer.force, [0.0, 1e-5], rtol=1e-9)  # solved to 1e-10


@pytest.mark.parametrize("solver", ["newton", "pgs", "apgd"])
def test_contacts_of_held_bodies_change_nothing_for_the_others(solver):
    """Property: rows of held bodies, strewn among the others, leave the answer to the bit: forces
    and warm starts of the others keep their places, an order of visits too, theirs get none."""
    rng = np.random.default_rng(0)
    n, m = 12, 18
    fixed = np.arange(n) < 3
    B = rng.normal(size=(m, n)) * (rng.random((m, n)) < 0.4)
    B[:, 3] += 1.0  # every contact moves something
    idle = np.sort(rng.choice(24, 6, replace=False))
    among = np.setdiff1d(np.arange(24), idle)
    all_rows = np.zeros((24, n))
    all_rows[among] = B
    all_rows[idle, :3] = rng.normal(size=(6, 3))
    gap, v, start = rng.normal(size=24) * 0.01, rng.normal(size=n), rng.random(24)
    visits = rng.permutation(24)
    place = np.full(24, -1)
    place[among] = np.arange(m)
    order = {"order": visits} if solver == "pgs" else {}
    others = {"order": place[visits][place[visits] >= 0]} if solver == "pgs" else {}
    rest = dict(fixed=fixed, solver=solver, max_iterations=200)
    M, F = rng.uniform(0.5, 2, n), np.zeros(n)
    found = rl.contact_dynamics(M, all_rows, gap, v, F, 0.1, warm_start=start, **order, **rest)
    known = rl.contact_dynamics(
        M, B, gap[among], v, F, 0.1, warm_start=start[among], **others, **rest
    )
    np.testing.assert_array_equal(found.force[among], known.force)
    np.testing.assert_array_equal(found.velocity, known.velocity)
    np.testing.assert_array_equal(found.slack[among], known.slack)
    assert not found.force[idle].any()
    np.testing.assert_allclose(found.slack, gap / 0.1 + all_rows @ found.velocity, atol=1e-12)


def test_options_about_contacts_and_bodies_are_those_of_the_whole_problem():
    """Property: ``order`` and ``blocks`` are given for all contacts and degrees of freedom, though
    some are left out of eq. 21; a wrong order is told, and no blocks give wrong answers."""
    B = np.array([[1.0, 0.0, -0.5], [1.0, 0.0, 0.5], [0.0, 0.0, 0.0]])
    step = (np.array([2.0, 1.0, 0.1]), B, np.zeros(3), np.zeros(3), [-20.0, 0.0, 0.0], 1e-3)
    plain = rl.contact_dynamics(*step)
    for blocks in ([0, 3], [1, 2], [2, 1, 7], [-4]):
        for solver in ("newton", "apgd"):
            found = rl.contact_dynamics(*step, solver=solver, blocks=blocks)
            # tolerance of both
            np.testing.assert_allclose(found.force, plain.force, atol=1e-8)
    for order in ([0, 1, 2, 3], [0.5, 1, 2], [2, -1, 0]):
        with pytest.raises(InputError, match="permutation of the 3"):
            rl.contact_dynamics(*step, solver="pgs", order=order)
    found = rl.contact_dynamics(*step, solver="pgs", order=[2, 1, 0])
    assert found.converged and found.force[2] == 0.0
