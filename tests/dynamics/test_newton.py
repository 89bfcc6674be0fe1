"""The Newton solver of contact dynamics, and the public driver."""

import numpy as np
import pytest
import scipy.sparse as sp

import rigidlimit as rl
from rigidlimit.dynamics import newton
from rigidlimit.dynamics.driver import _scaled_to_fit
from rigidlimit.errors import InputError
from tests.problems import beam, contact_problem, pyramid, random_problem, reference_velocity


@pytest.mark.parametrize("state", ["rest", "impact", "random"])
@pytest.mark.parametrize("base", [4, 10])
@pytest.mark.parametrize("opening", [True, False])
def test_cold_start_reaches_tolerance(base, state, opening):
    """From nothing to 1e-10 on pyramids at rest, in impact, with random gaps and velocities."""
    problem = pyramid(base, state=state)
    answer = newton.solve(problem, opening=opening)
    assert answer.converged and answer.residual <= 1e-10
    assert problem.residual(answer.force) == answer.residual
    if base == 4:
        exact = reference_velocity(problem)
        # residual 1e-10 of speeds of order one, times the condition of the contact network
        np.testing.assert_allclose(answer.velocity, exact, atol=1e-8)


def test_overlapping_random_state():
    """The hard case: gaps of both signs, so that many contacts must push apart at once."""
    problem = pyramid(10, state="random")
    rng = np.random.default_rng(5)
    hard = contact_problem(
        problem.B,
        np.ones(problem.B.shape[1]),
        rng.normal(size=problem.B.shape[0]),
        rng.normal(size=problem.B.shape[1]),
        1e-3,
    )
    for opening in (True, False):
        assert newton.solve(hard, opening=opening).converged


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("opening", [True, False])
def test_random_problems_against_active_set(seed, opening):
    """Reference twin: least distance programming, unequal masses."""
    problem = random_problem(seed)
    answer = newton.solve(problem, opening=opening)
    assert answer.converged
    # masses over two decades raise the condition; 2e-6 is what a 1e-10 residual can leave
    np.testing.assert_allclose(answer.velocity, reference_velocity(problem), atol=2e-6)


def test_long_chain():
    """Closed form: a column of 1,000 spheres on a floor; contact j carries what is above it."""
    n, dt, g = 1000, 1e-3, 9.81
    B = sp.csr_array(sp.diags_array([np.ones(n), -np.ones(n - 1)], offsets=[0, -1]))
    problem = contact_problem(B, np.ones(n), np.zeros(n), np.full(n, -g * dt), dt)
    answer = newton.solve(problem)
    assert answer.converged
    # the softest mode of the chain raises the residual 1e-10 g by 4 n^2 / pi^2
    worst = 4 * n**2 / np.pi**2 * 1e-10 * g * np.sqrt(n)
    np.testing.assert_allclose(answer.force, g * np.arange(n, 0, -1), atol=worst)


def test_warm_start_saves_work():
    """Property: started from its own answer, at most one Newton step and the same velocity."""
    problem = pyramid(10)
    cold = newton.solve(problem, opening=False)
    warm = newton.solve(problem, warm_start=cold.force, opening=False)
    assert warm.iterations <= 1 < cold.iterations
    np.testing.assert_allclose(warm.velocity, cold.velocity, atol=1e-11)


def test_hopeless_warm_start_does_no_harm():
    """Property: forces without relation to the answer, a billion times too large, are brought to
    size first, or left out where no size helps; they used to end in rounding."""
    rng = np.random.default_rng(1)
    B = rng.normal(size=(40, 12))
    B[B @ rng.normal(size=12) < 0] *= -1  # some motion opens every contact
    problem = 10.0 ** rng.uniform(-2, 2, 12), B, np.zeros(40), rng.normal(size=12), 0.0, 1e-3
    cold = rl.contact_dynamics(*problem)
    warm = rl.contact_dynamics(*problem, warm_start=1e9 * rng.normal(size=40))
    assert warm.converged and warm.iterations <= 1.5 * cold.iterations
    # both are exact to 1e-10 of the velocities, of order one
    np.testing.assert_allclose(warm.velocity, cold.velocity, atol=1e-8)
    # forces that only push the wrong way are worse at any size
    assert _scaled_to_fit(contact_problem([[1.0]], [1.0], [0.0], [1.0], 1e-3), np.ones(1)) is None


@pytest.mark.parametrize("solver", ["newton", "pgs", "apgd"])
def test_driver_gives_the_same_velocity(solver):
    """Cross-solver: v+ is unique, held bodies keep theirs, driven ones push."""
    problem = pyramid(5, state="impact")
    n = problem.B.shape[1]
    answer = rl.contact_dynamics(
        np.ones(n),
        problem.B,
        problem.bias * problem.dt,
        problem.free_velocity,
        np.zeros(n),
        problem.dt,
        solver=solver,
    )
    assert answer.converged and answer.solver == solver
    np.testing.assert_allclose(answer.velocity, reference_velocity(problem), atol=1e-9)


def test_driven_boundary():
    """Closed form: a held body moving at speed 2 pushes a ball of any mass to the same speed."""
    answer = rl.contact_dynamics(
        [1.0, 5.0], [[-1.0, 1.0]], [0.0], [2.0, 0.0], [0, 0], 0.1, fixed=[True, False]
    )
    np.testing.assert_allclose(answer.velocity, [2, 2], rtol=1e-9)
    np.testing.assert_allclose(answer.force, [5 * 2 / 0.1], rtol=1e-9)


def test_gap_is_used_up_before_a_force_acts():
    """Closed form: eq. 16 with a gap of 0.3 lets a ball at speed 1 move 0.3 in dt = 1."""
    answer = rl.contact_dynamics([2.0], [[1.0]], [0.3], [-1.0], [0.0], 1.0)
    np.testing.assert_allclose(answer.velocity, [-0.3], rtol=1e-9)
    np.testing.assert_allclose(answer.force, [2 * 0.7], rtol=1e-9)


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_restitution_of_two_bodies(e):
    """Closed form: Newton's law and conserved momentum for masses 1 and 3."""
    m = np.array([1.0, 3.0])
    v = np.array([2.0, -1.0])
    answer = rl.contact_dynamics(m, [[-1, 1]], [0.0], v, [0, 0], 1e-3, restitution=e)
    mean = (m @ v) / m.sum()
    relative = -e * (v[1] - v[0])
    expected = mean + np.array([-m[1], m[0]]) / m.sum() * relative
    np.testing.assert_allclose(answer.velocity, expected, atol=1e-9)


def test_restitution_needs_an_existing_contact():
    """Section 4.3: a contact that has not formed yet closes without rebound in this step."""
    answer = rl.contact_dynamics([1.0], [[1.0]], [0.5], [-1.0], [0], 1.0, restitution=1.0)
    np.testing.assert_allclose(answer.velocity, [-0.5], rtol=1e-9)


@pytest.mark.parametrize("e", [0.0, 0.3, 1.0])
def test_energy_is_never_created(e):
    """Property (Moreau): one restitution coefficient for all contacts never adds energy."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        problem = pyramid(5)
        n = problem.B.shape[1]
        v = rng.normal(size=n)
        answer = rl.contact_dynamics(
            np.ones(n), problem.B, np.zeros(problem.B.shape[0]), v, np.zeros(n), 1.0, restitution=e
        )
        assert answer.velocity @ answer.velocity <= v @ v * (1 + 1e-9)  # residual 1e-10


@pytest.mark.parametrize("e", [0.8, 1.0])
def test_energy_is_never_created_where_some_contacts_are_open(e):
    """Property: nor where some contacts have formed and others are open and would stay so, as of
    bodies that have just parted (with Phi/dt for these e = 1 gave 1.7 to 2 times the energy)."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        problem = pyramid(5)
        m, n = problem.B.shape
        v = rng.normal(size=n)
        exists = (problem.B @ v < 0) | (rng.random(m) < 0.3)
        gap = np.where(exists, 0.0, 1e-3 * rng.random(m))
        answer = rl.contact_dynamics(
            np.ones(n), problem.B, gap, v, np.zeros(n), 1.0, restitution=e, exists=exists
        )
        assert answer.converged
        assert answer.velocity @ answer.velocity <= v @ v * (1 + 1e-9)  # residual 1e-10


def test_beam_at_rest():
    """Closed form: the beam stays; total force is the weight."""
    problem = beam()
    answer = newton.solve(problem)
    np.testing.assert_allclose(answer.velocity, 0, atol=1e-11)  # 1e-9 of the fall in one step
    assert answer.force.sum() == pytest.approx(10, rel=1e-9)


@pytest.mark.parametrize(
    ("change", "fragment"),
    [
        (dict(M=np.zeros(2)), "M is not positive definite at degrees of freedom [0]"),
        (dict(M=np.eye(3)), "M has shape (3, 3); expected 2 columns"),
        (dict(gap=[0, 0]), "gap has shape (2,); expected (1,)"),
        (dict(M=[[1.0, 0.5], [0.0, 1.0]]), "M differs from its transpose by 0.5"),
        (dict(restitution=0.5, exists=[True, True]), "exists has shape (2,); expected (1,)"),
        (dict(dt=0), "dt is 0"),
        (dict(restitution=1.5), "restitution at contact 0 is 1.5"),
        (dict(solver="gauss"), "solver is 'gauss'"),
        (dict(velocity=[np.nan, 0]), "velocity[0] is nan"),
    ],
)
def test_bad_input(change, fragment):
    """Each mistake gets one InputError that says what was found."""
    good = dict(
        M=np.ones(2), B=[[1.0, 0]], gap=[0.0], velocity=[0, 0], external_force=[0, 0], dt=1.0
    )
    with pytest.raises(InputError) as caught:
        rl.contact_dynamics(**(good | change))
    assert fragment in str(caught.value)


def test_no_bodies_at_all():
    """Edge: nothing to solve."""
    nothing = np.zeros(0)
    answer = rl.contact_dynamics(np.zeros((0, 0)), np.zeros((0, 0)), *[nothing] * 3, 1e-3)
    assert answer.converged and answer.velocity.shape == (0,)


def test_articulated_mass_matrix():
    """Closed form: a coupled mass matrix, v+ = v + M^-1 b lambda from the 2x2 inverse."""
    M = np.array([[2.0, 1.0], [1.0, 3.0]])
    v = np.array([-1.0, 0.5])
    answer = rl.contact_dynamics(M, [[1.0, 0.0]], [0.0], v, [0, 0], 1.0)
    inverse = np.linalg.inv(M)
    impulse = 1.0 / inverse[0, 0]
    np.testing.assert_allclose(answer.velocity, v + inverse[:, 0] * impulse, atol=1e-9)


def test_residual_in_velocities():
    """Closed form: two balls of masses 1 and 1e-6 fall on a floor at speed 1. Without a force on
    the light one w = -1 there: in forces it misses 1e-6 of the largest, in velocities everything,
    a hundredth of which counts."""
    problem = contact_problem(np.eye(2), [1.0, 1e-6], [0, 0], [-1.0, -1.0], 0.1)
    assert problem.residual(np.array([10.0, 0.0])) == pytest.approx(0.01, rel=1e-12)
    assert problem.residual(np.array([0.0, 1e-5])) == pytest.approx(1.0, rel=1e-12)
    assert problem.residual(np.array([10.0, 1e-5])) < 1e-15


@pytest.mark.parametrize("seed", [199, 219, 655, 1161, 1189])
def test_velocities_of_light_bodies(seed):
    """Reference twin: least distance programming, masses over six decades. Judged by forces alone
    these were called converged with velocities 2e-5 off."""
    rng = np.random.default_rng(seed)
    dofs = int(rng.integers(3, 40))
    contacts = int(rng.integers(2, 3 * dofs))
    B = sp.random_array((contacts, dofs), density=0.3, rng=rng, data_sampler=rng.normal)
    feasible = rng.normal(size=dofs)
    bias = rng.exponential(0.2, contacts) * (rng.random(contacts) < 0.5) - B @ feasible
    mass = 10 ** rng.uniform(-3, 3, dofs)
    problem = contact_problem(B, mass, bias, rng.normal(size=dofs), 0.01)
    answer = newton.solve(problem)
    assert answer.converged
    # residual 1e-10: 1e-8 of the speeds, of order one, times a condition of some 100
    np.testing.assert_allclose(answer.velocity, reference_velocity(problem), atol=2e-6)


def test_a_squeeze_that_nothing_holds_is_gone():
    """Closed form: a ball between two walls, a little apart from both, does not keep a squeeze
    1e10 times its weight that it is started with."""
    B = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
    problem = contact_problem(B, [1.0, 1.0], [1e-3, 1e-3, 0.0], [0.0, -1e-2], 1e-3)
    answer = newton.solve(problem, warm_start=np.array([1e11, 1e11, 0.0]))
    assert answer.converged
    # weight 10 N to the residual of the contact's own scale
    np.testing.assert_allclose(answer.force, [0.0, 0.0, 10.0], atol=1e-8)


def test_forces_that_hold_one_another_let_go_at_once():
    """Closed form: square tables of weight 1, each with a fourth leg that is short by 1e-9 to 1e-6
    of the way they fall in the step, so that the two beside it carry all. Forces drain from the
    even answer at that rate a network; one after the other that takes thousands."""
    legs = np.array([[1, 1, 1], [1, 1, -1], [1, -1, 1], [1.0, -1, -1]])
    short = 10.0 ** np.linspace(-9, -6, 40)
    problem = contact_problem(
        sp.csr_array(sp.block_diag([legs] * 40)),
        np.ones(120),
        np.ravel([[0, 0, 0, gap] for gap in short]),
        np.tile([-1.0, 0, 0], 40),
        1.0,
    )
    answer = newton.solve(problem)
    assert answer.converged
    # residual 1e-10 over the least stiff pattern of forces, which is of order one here
    np.testing.assert_allclose(answer.force.reshape(40, 4), [[0, 0.5, 0.5, 0]] * 40, atol=1e-8)
    assert answer.factorizations < 400  # two or three for each table; 2,000 without, and no end


@pytest.mark.parametrize("change", [1e-8, 1e-5, 1e-3])
def test_warm_and_cold_starts_have_one_answer(change):
    """Reference twin: where about as many contacts bear as there are degrees of freedom and the
    load changes a little, the forces before lead to the velocity of a cold start."""
    rng = np.random.default_rng(0)
    B = sp.csr_array(sp.random_array((70, 60), density=0.1, rng=rng, data_sampler=rng.normal))
    gap = np.where(np.arange(70) < 58, 0.0, 1.0)
    M = 10.0 ** rng.uniform(-1, 1, 60)
    load = -B.T @ np.where(gap == 0, rng.uniform(0.1, 1.0, 70), 0.0)
    moved = load + change * rng.normal(size=60)

    def solve(load, **options):
        return rl.contact_dynamics(M, B, gap, np.zeros(60), load, 1e-3, **options)

    before, cold = solve(load), solve(moved)
    warm = solve(moved, warm_start=before.force)
    assert before.converged and cold.converged and warm.converged
    # both to 1e-10 of the speed without forces, times the condition of the contacts
    fall = 1e-3 * abs(load / M).max()
    np.testing.assert_allclose(warm.velocity, cold.velocity, rtol=0, atol=1e-8 * fall)


@pytest.mark.parametrize("size", [1e-90, 1e-320])
def test_speeds_at_the_end_of_the_range_of_numbers(size):
    """Property: motions that fade step by step end at speeds whose products are zero. They close
    nothing, where a division by zero ended the solver; speeds of 1e-90 are solved as any other."""
    rng = np.random.default_rng(0)
    B, v = rng.normal(size=(30, 25)), -np.abs(rng.normal(size=25))
    answer = rl.contact_dynamics(np.ones(25), B, np.zeros(30), size * v, np.zeros(25), 1e-3)
    assert answer.converged
    if size < 1e-300:
        np.testing.assert_array_equal(answer.velocity, size * v)
    else:  # residual 1e-10 of speeds of order one, times the condition of the contacts
        assert (B @ (answer.velocity / size)).min() > -1e-8
