"""Where the columns of each body begin."""

import numpy as np
import pytest

from rigidlimit.linear import body_starts, kept_starts
from rigidlimit.linear.block_offsets import MAX_BLOCK, cut_starts


@pytest.mark.parametrize("seed", range(20))
def test_starts_of_kept_columns(seed):
    """Reference twin: the bodies of the kept columns, one after the other."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    blocks = np.flatnonzero(rng.random(n) < 0.3)
    starts = body_starts(n, blocks)
    dofs = np.flatnonzero(rng.random(n) < 0.5)
    body = [int(np.sum(starts <= j)) for j in dofs]
    begin = [i for i, b in enumerate(body) if i == 0 or b != body[i - 1]]
    np.testing.assert_array_equal(kept_starts(starts, dofs), [*begin, len(dofs)])


@pytest.mark.parametrize(
    "given", [[0, 3, 9], [9, 0, 3], [3], (3, 3, 0), np.array([0, 3, 9]), [-2, 3, 12]]
)
def test_starts_in_any_order(given):
    """Property: starts as users give them come out ascending from 0 to n, none twice."""
    np.testing.assert_array_equal(body_starts(9, given), [0, 3, 9])
    assert np.diff(cut_starts(9, given)).max() <= MAX_BLOCK
