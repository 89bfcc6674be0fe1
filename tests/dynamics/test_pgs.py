"""Projected Gauss-Seidel: right velocities in every order of visits, forces that depend on it."""

import numpy as np
import pytest

from rigidlimit.dynamics import pgs
from rigidlimit.errors import InputError
from rigidlimit.status import Status

from ..problems import beam, contact_problem, pyramid, random_problem, reference_velocity

WEIGHT = 10.0
# residual 1e-10 is measured in forces of one contact; the sum over the beam loses a digit
BALANCE = 1e-8


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
        return pgs.solve(
            problem, order=order, max_iterations=sweeps, subspace=False, warm_start=start
        ).force

    np.testing.assert_array_equal(after("natural", 1), after(forth, 1))
    np.testing.assert_array_equal(after("reverse", 1), after(back, 1))
    # the velocity is summed anew between the two calls: rounding of forces of a thousand newton
    np.testing.assert_allclose(after("symmetric", 2), after(back, 1, after(forth, 1)), atol=1e-9)
    assert np.abs(after("natural", 2) - after("symmetric", 2)).max() > 1.0


@pytest.mark.parametrize("order", ["natural", "reverse", "symmetric", "random", "permutation"])
@pytest.mark.parametrize("state", ["rest", "impact", "random"])
def test_pyramid_velocity_is_the_reference_in_every_order(state, order):
    """Reference twin: least distance programming by nonnegative least squares."""
    problem = pyramid(4, state=state)
    m = len(problem.p)
    visits = np.random.default_rng(3).permutation(m) if order == "permutation" else order
    answer = pgs.solve(problem, order=visits)
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
@pytest.mark.parametrize("subspace", [False, True])
def test_random_problems(seed, subspace):
    """Reference twin on unstructured networks with more contacts than degrees of freedom."""
    problem = random_problem(seed)
    answer = pgs.solve(problem, subspace=subspace)
    assert answer.converged, answer.message
    # masses over two decades and nearly parallel contacts: conditioning up to 1e4 on 1e-10
    np.testing.assert_allclose(answer.velocity, reference_velocity(problem), atol=2e-6)


def test_subspace_steps_pay():
    """Property: the acceleration needs far fewer sweeps than the plain method."""
    problem = pyramid(8)
    plain = pgs.solve(problem, subspace=False)
    fast = pgs.solve(problem)
    assert plain.converged and fast.converged
    assert fast.linear_iterations > 0 == plain.linear_iterations
    assert 3 * fast.iterations < plain.iterations


def test_plain_sweeps_say_when_they_did_not_converge():
    """Property: honest status, the best iterate, and its true residual."""
    problem = pyramid(8)
    answer = pgs.solve(problem, subspace=False, max_iterations=25)
    assert answer.status is Status.MAX_ITERATIONS
    assert answer.iterations == 25
    assert answer.residual == answer.history.min()
    assert answer.residual == pytest.approx(problem.residual(answer.force), rel=1e-6)
    assert answer.residual > answer.tolerance


def test_unreachable_tolerance_stalls():
    """Property: rounding ends the sweeps, not the iteration limit."""
    answer = pgs.solve(random_problem(1), tolerance=1e-30, max_iterations=10**6)
    assert answer.status is Status.STALLED


def test_warm_start_from_the_answer_costs_nothing():
    """Property: the residual is looked at before the first sweep, and the force is kept."""
    problem = pyramid(5, state="random")
    first = pgs.solve(problem)
    again = pgs.solve(problem, warm_start=first.force)
    assert again.iterations == 0
    np.testing.assert_array_equal(again.force, first.force)


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


def test_rattler_duplicate_and_held_contacts():
    """Analytic: a ball on a twofold contact, a flying ball, a contact between held bodies."""
    B = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    problem = contact_problem(B, [2.0, 1.0], [0.0, 0.0, 5.0, 1.0], [-1.0, -1.0], 0.5)
    answer = pgs.solve(problem, warm_start=np.full(4, 3.0))
    assert answer.converged, answer.message
    np.testing.assert_allclose(answer.velocity, [0.0, -1.0], atol=1e-10)
    # momentum 2 kg m/s over 0.5 s on the pair; nothing elsewhere
    assert answer.force[:2].sum() == pytest.approx(4.0, rel=1e-9)
    np.testing.assert_array_equal(answer.force[2:], 0.0)


def test_wedged_body_has_no_solution_and_says_so():
    """Property: a body between walls too close together: not converged, and finite."""
    B = np.array([[1.0], [-1.0]])
    problem = contact_problem(B, [1.0], [-1.0, -1.0], [0.0], 0.1)
    answer = pgs.solve(problem, max_iterations=200)
    assert not answer.converged
    assert np.isfinite(answer.force).all()


def test_overlap_of_held_bodies_is_not_pushed_at():
    """Property: no force can open a contact that moves nothing; none is piled up, and the answer
    does not count as one."""
    B = np.array([[1.0], [0.0]])
    problem = contact_problem(B, [1.0], [0.0, -1.0], [-1.0], 0.1)
    answer = pgs.solve(problem)
    assert answer.status is Status.STALLED
    np.testing.assert_allclose(answer.force, [10.0, 0.0], atol=1e-9)


@pytest.mark.parametrize("subspace", [False, True])
def test_no_contacts_and_no_approach(subspace):
    """Analytic: nothing to do."""
    empty = contact_problem(np.zeros((0, 3)), np.ones(3), [], [1.0, 2.0, 3.0], 0.1)
    answer = pgs.solve(empty, subspace=subspace)
    assert answer.converged and len(answer.force) == 0
    np.testing.assert_array_equal(answer.velocity, [1.0, 2.0, 3.0])
    opening = contact_problem(np.eye(2), np.ones(2), [0.0, 0.0], [1.0, 0.0], 0.1)
    answer = pgs.solve(opening, warm_start=np.array([2.0, 0.0]), subspace=subspace)
    assert answer.converged
    np.testing.assert_array_equal(answer.force, 0.0)


@pytest.mark.parametrize("order", ["forward", [0, 1], [0, 0, 1]])
def test_bad_orders_are_refused(order):
    """Property: the error names what was found."""
    with pytest.raises(InputError, match="order is"):
        pgs.solve(beam(), order=order)
