"""First-order solvers of step 1: projected Gauss-Seidel, whose forces depend on the order of visits
and whose velocities do not, and accelerated projected descent with its minimizer and prox."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import brentq

from rigidlimit.dynamics import apgd, gradient_kernels, pgs
from rigidlimit.errors import InputError
from rigidlimit.status import Status

from ..problems import beam, contact_problem, pyramid, random_problem, reference_velocity

WEIGHT = 10.0
# residual 1e-10 is measured in forces of one contact; the sum over the beam loses a digit
BALANCE = 1e-8
PLAIN = partial(pgs.solve, subspace=False)
SOLVERS = {
    "pgs": pgs.solve,
    "plain": PLAIN,
    "apgd": apgd.solve,
    "scaled": partial(apgd.solve, scaled=True),
}
each_solver = pytest.mark.parametrize("solve", SOLVERS.values(), ids=SOLVERS)


def permuted(problem):
    """Sweeps in an order without a name."""
    return pgs.solve(problem, order=np.random.default_rng(3).permutation(len(problem.p)))


ORDERS = {name: partial(pgs.solve, order=name) for name in ("reverse", "symmetric", "random")}
VISITS = SOLVERS | ORDERS | {"permuted": permuted}


@pytest.mark.parametrize("solve", VISITS.values(), ids=VISITS)
@pytest.mark.parametrize("state", ["rest", "impact", "random"])
def test_pyramid_velocity_is_the_reference(state, solve):
    """Reference twin: least distance programming by nonnegative least squares."""
    problem = pyramid(5, state=state)
    answer = solve(problem)
    assert answer.converged, answer.message
    # the slack of the sweeps and the one recomputed differ by rounding, 1e-15 of large forces
    assert answer.residual == pytest.approx(problem.residual(answer.force), rel=1e-2, abs=1e-13)
    # residual 1e-10 of a force that changes v by |v_free| in one step, times the pyramid's
    # conditioning, well below a thousand
    speed = np.abs(problem.free_velocity).max()
    np.testing.assert_allclose(
        answer.velocity, reference_velocity(problem), atol=1e-8 * speed, rtol=0
    )


@pytest.mark.parametrize("seed", range(4))
@each_solver
def test_random_problems(seed, solve):
    """Reference twin on unstructured networks with more contacts than degrees of freedom."""
    problem = random_problem(seed)
    answer = solve(problem)
    assert answer.converged, answer.message
    # masses over two decades and nearly parallel contacts: conditioning up to 1e4 on 1e-10
    np.testing.assert_allclose(answer.velocity, reference_velocity(problem), atol=2e-6)


@each_solver
def test_warm_start_from_the_answer_costs_nothing(solve):
    """Property: the residual is looked at before the first sweep, and the force is kept."""
    problem = pyramid(5, state="random")
    first = solve(problem)
    again = solve(problem, warm_start=first.force)
    assert again.iterations == 0
    np.testing.assert_array_equal(again.force, first.force)


@pytest.mark.parametrize(
    ("solve", "iterations"), [(PLAIN, 25), (apgd.solve, 70)], ids=["plain", "apgd"]
)
def test_best_iterate_is_kept_where_iterations_end(solve, iterations):
    """Property: honest status, the best measured point (descent is not monotone), and its true
    residual."""
    problem = pyramid(8)
    answer = solve(problem, max_iterations=iterations)
    assert answer.status is Status.MAX_ITERATIONS
    assert answer.iterations == iterations
    assert answer.residual == answer.history.min()
    # renewed once in a stride, so equal up to rounding
    assert answer.residual == pytest.approx(problem.residual(answer.force), rel=1e-6)
    assert answer.residual > answer.tolerance


@pytest.mark.parametrize("start", [None, np.full(4, 3.0)], ids=["zero", "warm"])
@each_solver
def test_rattler_duplicate_and_held_contacts(solve, start):
    """Analytic: a ball on a twofold contact, a flying ball, a contact between held bodies. Equal
    contacts stay equal in a descent."""
    B = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    problem = contact_problem(B, [2.0, 1.0], [0.0, 0.0, 5.0, 1.0], [-1.0, -1.0], 0.5)
    answer = solve(problem, warm_start=start)
    assert answer.converged, answer.message
    np.testing.assert_allclose(answer.velocity, [0.0, -1.0], atol=1e-10)
    # momentum 2 kg m/s over 0.5 s on the pair; nothing elsewhere
    assert answer.force[:2].sum() == pytest.approx(4.0, rel=1e-9)
    np.testing.assert_array_equal(answer.force[2:], 0.0)
    if solve not in (pgs.solve, PLAIN):
        np.testing.assert_allclose(answer.force[:2], 2.0, atol=1e-8)


@each_solver
def test_no_contacts_and_no_approach(solve):
    """Analytic: nothing to do."""
    empty = contact_problem(np.zeros((0, 3)), np.ones(3), [], [1.0, 2.0, 3.0], 0.1)
    answer = solve(empty)
    assert answer.converged and len(answer.force) == 0
    np.testing.assert_array_equal(answer.velocity, [1.0, 2.0, 3.0])
    opening = contact_problem(np.eye(2), np.ones(2), [0.0, 0.0], [1.0, 0.0], 0.1)
    for start in (None, np.array([2.0, 0.0])):
        answer = solve(opening, warm_start=start)
        assert answer.converged
        np.testing.assert_array_equal(answer.force, 0.0)


@each_solver
def test_wedged_body_has_no_solution_and_says_so(solve):
    """Property: a body between walls too close together: not converged, and finite, although forces
    so large that they swallow the gaps are reached."""
    problem = contact_problem(np.array([[1.0], [-1.0]]), [1.0], [-1.0, -1.0], [0.0], 0.1)
    answer = solve(problem, max_iterations=5000)
    assert not answer.converged
    assert np.isfinite(answer.force).all()


def unordered(order, **options):
    """Force of the beam visited in this order, listed by support from left to right."""
    return pgs.solve(beam(), order=np.array(order), **options).force


@pytest.mark.parametrize("subspace", [False, True])
def test_beam_forces_depend_on_the_order_of_visits_but_balance(subspace):
    """Property (the paper's figure 1): three orders, three force sets, each of them in balance."""
    orders = ([0, 1, 2], [1, 0, 2], [2, 1, 0])
    answers = [pgs.solve(beam(), order=np.array(o), subspace=subspace) for o in orders]
    for answer in answers:
        assert answer.status is Status.CONVERGED
        f = answer.force
        assert f.sum() == pytest.approx(WEIGHT, rel=BALANCE)
        assert f[0] == pytest.approx(f[2], abs=BALANCE * WEIGHT)
        # v+ = 0 exactly; v_free is 1e-2 m/s and the residual relative 1e-10
        np.testing.assert_allclose(answer.velocity, 0.0, atol=1e-10)
    middle = [a.force[1] for a in answers]
    # far beyond any solver tolerance: the orders end in other solutions
    assert abs(middle[0] - middle[1]) > 0.5


def test_middle_first_carries_the_whole_beam():
    """Analytic (the paper's figure 1b): the middle support, visited first, stops the beam at once,
    and nothing is left for the others."""
    # one visit solves its own contact to rounding
    np.testing.assert_allclose(unordered([1, 0, 2]), [0.0, WEIGHT, 0.0], atol=1e-12)


def test_relabelled_contacts_equal_a_permuted_order():
    """Property: visiting in an order is the same as numbering the contacts so."""
    order = np.array([2, 0, 1])
    relabelled = pgs.solve(beam(order)).force
    # the same operations up to the order of sums
    np.testing.assert_allclose(relabelled, unordered(order)[order], atol=1e-12)


def test_named_orders():
    """Property: what the names mean, in terms of explicit permutations, after one or two sweeps."""
    problem = pyramid(4, state="random")
    forth = np.arange(len(problem.p))
    back = forth[::-1]

    def after(order, sweeps, start=None):
        return PLAIN(problem, order=order, max_iterations=sweeps, warm_start=start).force

    np.testing.assert_array_equal(after("natural", 1), after(forth, 1))
    np.testing.assert_array_equal(after("reverse", 1), after(back, 1))
    # the velocity is summed anew between the two calls: rounding of forces of a thousand newton
    np.testing.assert_allclose(after("symmetric", 2), after(back, 1, after(forth, 1)), atol=1e-9)
    assert np.abs(after("natural", 2) - after("symmetric", 2)).max() > 1.0


def test_subspace_steps_pay():
    """Property: the acceleration needs far fewer sweeps than the plain method."""
    problem = pyramid(8)
    plain = PLAIN(problem)
    fast = pgs.solve(problem)
    assert plain.converged and fast.converged
    assert fast.linear_iterations > 0 == plain.linear_iterations
    assert 3 * fast.iterations < plain.iterations


def test_unreachable_tolerance_stalls():
    """Property: rounding ends the sweeps, not the iteration limit."""
    answer = pgs.solve(random_problem(1), tolerance=1e-30, max_iterations=10**6)
    assert answer.status is Status.STALLED


def test_warm_start_is_kept_in_the_null_space():
    """Property: corrections are least, so another admissible start ends in other forces."""
    start = np.array([5.0, 0.0, 5.0])
    answer = pgs.solve(beam(), warm_start=start)
    np.testing.assert_allclose(answer.force, start, atol=1e-9)  # already a solution


def test_random_order_is_reproduced_by_its_seed():
    """Property: the same seed gives the same forces, another seed others."""
    problem = pyramid(4)
    same = [pgs.solve(problem, order="random", seed=7).force for _ in range(2)]
    np.testing.assert_array_equal(*same)
    other = pgs.solve(problem, order="random", seed=8).force
    assert np.abs(other - same[0]).max() > 1e-3 * same[0].max()


def test_overlap_of_held_bodies_is_not_pushed_at():
    """Property: no force can open a contact that moves nothing; none is piled up, and the answer
    does not count as one."""
    B = np.array([[1.0], [0.0]])
    problem = contact_problem(B, [1.0], [0.0, -1.0], [-1.0], 0.1)
    answer = pgs.solve(problem)
    assert answer.status is Status.STALLED
    np.testing.assert_allclose(answer.force, [10.0, 0.0], atol=1e-9)


@pytest.mark.parametrize("order", ["forward", [0, 1], [0, 0, 1]])
def test_bad_orders_are_refused(order):
    """Property: the error names what was found."""
    with pytest.raises(InputError, match="order is"):
        pgs.solve(beam(), order=order)


def test_beam_is_shared_evenly():
    """Analytic (the paper's figure 2): from zero forces the descent keeps the symmetry and stays
    in the range of B, where even shares are the only solution."""
    answer = apgd.solve(beam())
    # residual 1e-10 in units of the largest single-contact force, 10
    np.testing.assert_allclose(answer.force, 10 / 3, rtol=1e-8)


@pytest.mark.parametrize("state", ["rest", "random"])
def test_agrees_with_gauss_seidel_on_base_ten(state):
    """Cross-solver: 1,620 contacts, other forces, the same velocity to 1e-8 of the speed."""
    problem = pyramid(10, state=state)
    descent, sweeps = apgd.solve(problem), pgs.solve(problem)
    assert descent.converged and sweeps.converged
    assert descent.iterations < 2000  # a few hundred; plain gradient descent takes many thousand
    speed = np.abs(problem.free_velocity).max()
    np.testing.assert_allclose(descent.velocity, sweeps.velocity, atol=1e-8 * speed, rtol=0)


def test_rounding_does_not_grow_over_many_steps():
    """Property: the residual, once small, stays small (the running products N f are renewed)."""
    problem = pyramid(6)
    answer = apgd.solve(problem, tolerance=1e-30, max_iterations=3000)
    assert answer.status in (Status.STALLED, Status.MAX_ITERATIONS)
    # 1e-12 is a thousand roundings of the largest force, some ten single-contact forces
    assert answer.history[-50:].max() < 1e-12
    # accelerated descent is not monotone: the answer is not the last point but the best
    assert answer.residual == answer.history.min() < answer.history[-1]
    assert problem.residual(answer.force) < answer.history[-1]


@pytest.mark.parametrize("e", [0.2, 2 / 3, 1.0, 1.5, 4.0])
@pytest.mark.parametrize("b", [1e-6, 1.0, 1e6])
def test_prox_solves_its_equation(e, b):
    """Reference twin: bisection (Brent) on b x^e + x = z."""
    for z in (1e-8, 0.3, 1.0, 7e5):
        expected = brentq(lambda x: b * x**e + x - z, 0.0, z, xtol=1e-300, rtol=1e-14, maxiter=5000)  # noqa: B023
        # both at rounding; s**(1/e) with 1/e = 5 loses less than a digit
        assert gradient_kernels._prox(z, 2.0 * b, e, 2.0) == pytest.approx(expected, rel=1e-12)
    assert gradient_kernels._prox(-1.0, b, e, 1.0) == 0.0


def test_minimizer_with_power_terms_has_zero_gradient():
    """Property: at f > 0 the gradient N f + c + a f^e vanishes, elsewhere it is >= 0."""
    rng = np.random.default_rng(0)
    B = sp.csr_array(rng.normal(size=(12, 8)))
    c, a, e = rng.normal(size=12), rng.uniform(0.5, 2.0, 12), 2 / 3

    def gradient(f, Nf):
        return Nf + c + a * f**e

    objective = apgd.Objective(
        B,
        B,
        c,
        measure=lambda f, Nf: np.abs(f - np.maximum(f - gradient(f, Nf), 0)).max(),
        compliance=a,
        exponent=e,
    )
    found = apgd.minimize(objective, tolerance=1e-11, max_iterations=5000)
    assert found.status is Status.CONVERGED
    g = gradient(found.force, B @ (B.T @ found.force))
    loaded = found.force > 0
    assert loaded.any() and not loaded.all()
    # the measure's own tolerance: |min(f, g)| <= 1e-11, and every loaded f is far above it
    np.testing.assert_allclose(g[loaded], 0.0, atol=1e-10)
    assert (g[~loaded] >= -1e-10).all()
