"""Captured problems: what W may be, and what their impulses could be besides those found."""

import numpy as np
import pytest
import scipy.sparse as sp

from rigidlimit.adapters import CapturedProblem, closed_contacts
from rigidlimit.errors import InputError


def block(weight=3.0, mu=0.5):
    """A block on two rough contacts in the plane, at x = -1 and 1: columns x, y, turn. The impulses
    of a step of rest, whose tangential ones may hold one another: one of many choices."""
    H = np.array([[0, 1, -1.0], [1, 0, 0], [0, 1, 1.0], [1, 0, 0]]).T
    return CapturedProblem(
        "global",
        2,
        np.full(2, mu),
        M=sp.csr_array(np.eye(3)),
        H=sp.csr_array(H),
        f=np.array([0.0, -weight, 0.0]),
        w=np.zeros(4),
    )


def local(W, q):
    return CapturedProblem("local", 2, np.full(len(q) // 2, 0.5), W=sp.csr_array(W), q=np.array(q))


@pytest.mark.parametrize("form", ["global", "local"])
def test_a_block_at_rest_has_one_impulse_too_many(form):
    """Closed form: two contacts that stick, four impulses for three motions: degree 1; elastic ones
    are without tangential parts, half the weight each."""
    problem = block() if form == "global" else block().local()
    answer = problem.solve()
    found = closed_contacts(problem, answer)
    assert found.number.tolist() == [0, 1] and found.total == 2
    assert (found.degree().least, found.degree().most) == (1, 1)
    assert found.determinacy().degree == 1
    elastic = found.compatible_forces()
    assert elastic.converged
    # solved to 1e-10 of the load
    np.testing.assert_allclose(elastic.force, 1.5, rtol=1e-9)
    np.testing.assert_allclose(elastic.tangential_force, 0.0, atol=1e-9)
    assert "2 contacts of 2 closed" in found.message


def test_a_stack_at_rest_does_not_slide():
    """Property: velocities below what the residual leaves open are rest, whatever the largest of
    them is; all contacts of resting stacks were given as sliding, and their impulses as unique."""
    answer = block().solve(tolerance=1e-6)
    assert np.abs(answer.velocity).max() <= answer.still
    assert not closed_contacts(block(), answer).rows["sliding_direction"].any()


@pytest.mark.parametrize(
    "W, word",
    [
        (-np.eye(2), r"tr W_ii of contact 0 is -2; expected more than 0"),
        (np.diag([1.0, -0.5]), r"entry 1, 1 of W \(contact 0\) is -0\.5"),
        (np.array([[1.0, 3.0], [3.0, 1.0]]), r"entry 0, 1 of W is 3, beside 1 and 1"),
    ],
)
def test_no_matrix_of_mobilities(W, word):
    """W = B M^-1 B^T has none of these; such problems were "converged"."""
    with pytest.raises(InputError, match=word):
        local(W, [-1.0, 0.2]).solve()


def test_a_matrix_that_is_not_symmetric_is_warned_of():
    """One entry on one side only: solved as it is, and said."""
    with pytest.warns(UserWarning, match="W is not symmetric: entries differ by 1.0e-01"):
        local(np.array([[1.0, 0.1], [0.0, 1.0]]), [-1.0, 0.0]).solve()


def test_residuals_of_rounding_are_called_so():
    """Property: in a column of twenty bodies impulses are many times what moves one of them, and
    cancel to their rounding. A tolerance below is met by nothing; "there may be none" was said."""
    inverse = np.random.default_rng(1).uniform(0.3, 3.0, 20)
    normal = np.eye(20) - np.eye(20, k=-1)  # of contact i, below body i
    W = np.zeros((40, 40))
    W[::2, ::2], W[1::2, 1::2] = normal.T @ np.diag(inverse) @ normal, np.diag(inverse)
    q = np.zeros(40)
    q[:2] = -1 / 3, 0.1
    answer = local(W, q).solve(tolerance=1e-18)
    assert not answer.converged and answer.at_rounding
    assert "the rounding of the problem's own numbers" in answer.message
