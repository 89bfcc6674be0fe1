"""Rows of a matrix in compiled loops, in both of their forms."""

import numpy as np
import pytest
import scipy.sparse as sp

from rigidlimit.dynamics import apgd, gradient_steps
from rigidlimit.dynamics.rows import columns_of, onto_bodies, onto_contacts, rows_of
from tests.problems import pyramid


def contacts_of_pairs(bodies=12, size=3, contacts=40, seed=0):
    rng = np.random.default_rng(seed)
    B = np.zeros((contacts, bodies * size))
    for row in B:
        a, b = rng.choice(bodies, 2, replace=False)
        for body in (a, b) if rng.random() < 0.7 else (a,):
            row[body * size : (body + 1) * size] = rng.normal(size=size)
    B[3] = 0.0  # a contact between held bodies
    return sp.csr_array(B), np.arange(0, bodies * size + 1, size)


def product(rows, others, shape, d):
    """B R^T d, in two pieces each as two threads would do it."""
    columns, v, out = columns_of(others, shape), np.full(shape, np.nan), np.empty(len(d))
    v[-1] = 0.0  # the spare body of the pairs; a column like others of csr
    for low, high in ((0, 5), (5, len(columns[0]) - 1)):
        onto_bodies(columns, d, v, low, high)
    for low, high in ((0, 7), (7, len(d))):
        onto_contacts(rows, v, out, low, high)
    return out


@pytest.mark.parametrize("size", [2, 3, 6])
def test_product_in_both_forms(size):
    """Reference twin: B R^T d by scipy."""
    B, starts = contacts_of_pairs(size=size)
    R = sp.csr_array(B * 0.5)
    d = np.where(np.arange(B.shape[0]) % 3, np.linspace(-1, 1, B.shape[0]), 0.0)
    exact = B @ (R.T @ d)
    for blocks, length in ((None, 3), (starts, 5)):
        rows, shape = rows_of(B, blocks)
        assert len(rows) == length
        out = product(rows, rows_of(R, blocks)[0], shape, d)
        # a few hundred roundings of numbers of order ten
        np.testing.assert_allclose(out, exact, atol=1e-13)


def test_smaller_bodies_are_padded():
    """Reference twin: without a column of one body the product is that of scipy."""
    B, _ = contacts_of_pairs(size=3)
    B = sp.csr_array(B[:, np.arange(B.shape[1]) != 4])
    starts = np.r_[0, 3, np.arange(5, B.shape[1] + 1, 3)]
    rows, shape = rows_of(B, starts)
    assert len(rows) == 5 and shape[1] == 3
    d = np.linspace(-1, 1, B.shape[0])
    # a few hundred roundings of numbers of order ten
    np.testing.assert_allclose(product(rows, rows, shape, d), B @ (B.T @ d), atol=1e-13)


def test_what_is_no_pair_of_like_bodies_stays_csr():
    """Edges: three bodies in a row, bodies of very unlike or rare size, no columns."""
    B, starts = contacts_of_pairs(size=4)
    assert len(rows_of(B, starts)[0]) == 3
    B = sp.csr_array(np.ones((1, 9)))
    assert len(rows_of(B, np.array([0, 3, 6, 9]))[0]) == 3
    assert len(rows_of(B, np.array([0, 1, 2, 3, 9]))[0]) == 3
    assert len(rows_of(sp.csr_array((2, 0)), np.array([0]))[0]) == 3


def test_gradient_steps_do_not_depend_on_the_form():
    """Property: the same iterates up to rounding, hence the same number of steps."""
    problem = pyramid(6)
    plain = apgd.solve(problem, scaled=True)
    pairs = apgd.solve(problem, scaled=True, blocks=np.arange(0, problem.B.shape[1] + 1, 3))
    assert plain.converged and pairs.converged
    assert abs(plain.iterations - pairs.iterations) <= apgd.Settings().stride
    np.testing.assert_allclose(pairs.force, plain.force, atol=1e-7 * plain.force.max())


def test_threads_change_no_digit(monkeypatch):
    """Property: sums are made of the same parts, so any number of threads gives the same bits."""
    problem = pyramid(8, state="random")
    fewer = gradient_steps.SETTINGS._replace(least=100)
    monkeypatch.setattr(gradient_steps, "SETTINGS", fewer)
    found = []
    for threads in (1, 2, 3):
        monkeypatch.setattr(gradient_steps, "thread_count", lambda threads=threads: threads)
        found.append(apgd.solve(problem, scaled=True, max_iterations=200, tolerance=1e-30))
    for other in found[1:]:
        np.testing.assert_array_equal(other.force, found[0].force)
        np.testing.assert_array_equal(other.history, found[0].history)
