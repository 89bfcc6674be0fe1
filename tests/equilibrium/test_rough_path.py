"""The interior path to equilibria of rough networks."""

import numpy as np

from benchmarks.corpus.rough import captured_step


def test_the_order_of_contacts_does_not_decide_where_the_path_leads():
    """Property: a kept step of a shear box, which Newton's method does not reach from its start,
    has the same equilibrium in four orders of its contacts. 1e-10: the residual, and forces that
    the largest one bounds."""
    problem, found = captured_step("step2-shear-61")[0], []
    for seed in (None, 1, 6, 11):
        order = np.arange(problem.contacts)
        if seed is not None:
            order = np.random.default_rng(seed).permutation(problem.contacts)
        result = problem.solve(problem.in_order(order))
        assert result.converged and result.state == "history"
        found.append(problem.put_back(problem.answer(result), order))
    np.testing.assert_allclose(found, [found[0]] * 4, atol=1e-10 * np.abs(found[0]).max(), rtol=0)
