"""How much the contacts of a body feel of each of its motions."""

import numpy as np
import pytest
import scipy.sparse as sp

from rigidlimit.conditioning.screening import Columns, weak_motions

LIMIT = 1e-5


def network(rng, bodies=60):
    """B of bodies with one to fifteen contacts, in any order, some without some of the columns;
    some feel a motion by 1e-9 to 1e-3 only, some a column in one contact, by 1e-8 to 1e-5."""
    rows = []
    for body in range(bodies):
        count = rng.integers(1, 16)
        block = rng.normal(size=(count, 6))
        block[:, rng.random(6) < rng.choice([0.0, 0.5])] = 0.0
        if rng.random() < 0.5:
            way = rng.normal(size=6) * block.any(axis=0)
            way /= np.linalg.norm(way) or 1.0
            block -= (1 - 10.0 ** -rng.uniform(3, 9)) * np.outer(block @ way, way)
        if rng.random() < 0.3:
            column = rng.integers(6)
            block[:-1, column] = 0.0
            block[-1, column] *= 10.0 ** -rng.uniform(5, 8)
        row = np.zeros((count, 6 * bodies))
        row[:, 6 * body : 6 * body + 6] = block
        rows.append(row)
    B = np.vstack(rows)
    return sp.csr_array(B[rng.permutation(len(B))])


@pytest.mark.parametrize("seed", range(10))
def test_against_singular_values(seed):
    """Reference twin: numpy's singular values of all rows of a body, its columns over the reach:
    every body with one above 0 and up to the limit is found, with all of them."""
    rng = np.random.default_rng(seed)
    B = network(rng)
    free = rng.random(B.shape[1]) < 0.9
    reach = rng.uniform(0.5, 2.0, B.shape[1])
    bodies, S, VT = weak_motions(B, Columns(free, reach), LIMIT)
    dense = B.toarray() / reach * free
    for body in range(B.shape[1] // 6):
        block = dense[:, 6 * body : 6 * body + 6]
        expected = np.linalg.svd(block, compute_uv=False)
        if ((expected > 1e-12) & (expected <= LIMIT)).any():
            assert body in bodies
    for body, s, v in zip(bodies, S, VT, strict=True):
        block = dense[:, 6 * body : 6 * body + 6]
        # rounding of the largest
        np.testing.assert_allclose(s, np.linalg.svd(block, compute_uv=False), atol=1e-13)
        np.testing.assert_allclose(np.linalg.norm(block @ v.T, axis=0), s, atol=1e-13)
    assert len(bodies) < B.shape[1] // 6  # the others need not be decomposed


def test_bodies_that_may_move_freely_are_not_decomposed():
    """Closed form: what contacts do not touch at all, besides motions that they resist well, is no
    small S, whichever way it lies; with a motion that they feel by 1e-6 beside it there is one, and
    columns of faint entries are handed on in any case."""
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    rows = rng.normal(size=(8, 6)) * [1, 1, 1, 1, 0, 0] @ turn
    slight = rows + 1e-6 * rng.normal(size=8)[:, None] * turn[4]
    faint = rng.normal(size=(8, 6)) * [1, 1, 1, 1, 1e-3, 0]
    faint[:, 5] = 0.1 * faint[:, 4]
    B = sp.block_diag([rows, slight, faint], format="csr")
    bodies, S, _ = weak_motions(B, Columns(np.ones(18, bool), np.ones(18)), LIMIT)
    assert bodies.tolist() == [1, 2]
    assert 1e-7 < S[0, 4] < 1e-5 and S[0, 5] < 1e-13
