"""Rank of large sparse gap gradients: both roads for large systems against singular values."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

from rigidlimit.diagnostics import rank as module
from rigidlimit.diagnostics.graph_dissection import dissect
from rigidlimit.diagnostics.null_motions import smallest_singular_values
from rigidlimit.diagnostics.rank import _multifrontal, rank
from tests.problems import pyramid_gradient, tower


def floppy(seed, *, bodies=60, lost=4, faint=0.0):
    """B of a chain of bodies with 3 dofs, with ``lost`` motions that no contact feels.

    faint: size of the smallest singular value put in besides.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for b in range(bodies):
        for _ in range(6):
            row = np.zeros(3 * bodies)
            row[3 * b : 3 * b + 3] = rng.normal(size=3)
            if b:
                row[3 * b - 3 : 3 * b] = rng.normal(size=3)
            rows.append(row)
    B = np.array(rows)
    U, s, V = scipy.linalg.svd(B, full_matrices=False)
    s[len(s) - lost :] = 0.0
    if faint:
        s[len(s) - lost - 1] = faint * s[0]
    return sp.csr_array(U * s @ V)


def pinned(seed, *, bodies=150):
    """Sparse B in which the sideways motion of every tenth body is felt by nothing."""
    rng = np.random.default_rng(seed)
    rows = []
    for b in range(bodies):
        for other in (b - 1, b - 7, b - 13):
            row = np.zeros(3 * bodies)
            row[3 * b : 3 * b + 3] = rng.normal(size=3)
            if other >= 0:
                row[3 * other : 3 * other + 3] = rng.normal(size=3)
            rows += [row, np.roll(row, 1)]
    B = np.array(rows)
    B[:, ::30] = B[:, 1::30]  # such motions cannot be told from the one beside
    return sp.csr_array(B)


@pytest.mark.parametrize(
    "B", [floppy(0), floppy(1, lost=0), pinned(2), pyramid_gradient(6), tower(120)[0]],
    ids=["floppy", "full", "pinned", "pyramid", "tower"],
)  # fmt: skip
def test_multifrontal_qr_against_singular_values(B):
    """Reference twin: dense singular values."""
    s = scipy.linalg.svd(B.toarray(), compute_uv=False)
    expected = int((s > 1e-9 * s[0]).sum())
    found, small = _multifrontal(B, np.arange(0, B.shape[1] + 1, 3), 1e-9 * s[0])
    assert found == expected
    assert (small <= s[0]).all()


@pytest.mark.parametrize("faint", [0.0, 1e-8, 1e-10])
def test_inverse_iteration_against_singular_values(faint):
    """Reference twin: the zero singular values are all found, and one of 1e-8 is told from zero
    although its square is below rounding; the smallest others come from above."""
    B = floppy(3, faint=faint)
    s = np.sort(scipy.linalg.svd(B.toarray(), compute_uv=False))
    values = smallest_singular_values(B, np.arange(0, B.shape[1] + 1, 3), s[-1])
    assert int((values <= 1e-9 * s[-1]).sum()) == int((s <= 1e-9 * s[-1]).sum())
    if faint == 1e-8:
        assert np.abs(values / s[-1] / faint - 1).min() < 1e-3
    # two rounds of inverse iteration: the least of the rest within a factor of 2, never below
    least = values[values > 1e-7 * s[-1]].min()
    true = s[s > 1e-7 * s[-1]].min()
    assert true * (1 - 1e-9) <= least <= 2 * true


def test_inverse_iteration_gives_up_on_many_still_motions():
    """More still motions than samples: None, and ``rank`` takes the QR road."""
    B = floppy(4, lost=30)
    assert smallest_singular_values(B, np.arange(0, B.shape[1] + 1, 3), 5.0) is None


@pytest.mark.parametrize("lost", [0, 5, 30])
def test_rank_takes_every_road(monkeypatch, lost):
    """Cross-method: dense, inverse iteration and QR agree; the method is named."""
    B = floppy(5, lost=lost)
    dense = rank(B)
    assert dense.method == "singular values" and dense.rank == 180 - lost
    monkeypatch.setattr(module, "SETTINGS", replace(module.SETTINGS, dense=10))
    large = rank(B)
    assert large.rank == dense.rank
    assert large.method == ("multifrontal QR" if lost == 30 else "inverse iteration")


def test_wide_part():
    """A part with fewer contacts than degrees of freedom: rank of the rows."""
    B = sp.csr_array(floppy(6)[:100])
    assert rank(B).rank == np.linalg.matrix_rank(B.toarray())


def test_independent_parts_are_counted_apart():
    """Property: the rank of a block diagonal matrix is the sum of the ranks."""
    parts = [floppy(7, bodies=10, lost=2), floppy(8, bodies=5, lost=0), sp.csr_array((2, 3))]
    assert rank(sp.csr_array(sp.block_diag(parts))).rank == 28 + 15


def test_margin():
    """The margin is the factor from the tolerance to the nearest singular value."""
    B = sp.csr_array(np.diag([1.0, 1e-7, 1e-12]) + 1e-30)
    found = rank(B)
    assert found.rank == 2
    assert found.margin == pytest.approx(100, rel=1e-6)


def test_dissection():
    """Property: no edge joins two sets of which neither is an ancestor of the other."""
    B = pyramid_gradient(8)
    pattern = sp.csr_array(
        (np.ones(B.nnz), B.indices // 3, B.indptr), shape=(B.shape[0], B.shape[1] // 3)
    )
    graph = sp.csr_array(pattern.T @ pattern)
    nodes, parents = dissect(graph)
    assert sorted(np.concatenate(nodes)) == list(range(graph.shape[0]))
    assert len(nodes) > 5
    home = np.empty(graph.shape[0], int)
    for k, members in enumerate(nodes):
        home[members] = k

    def line(k):
        while k >= 0:
            yield k
            k = parents[k]

    above = [set(line(k)) for k in range(len(nodes))]
    for a, b in zip(*graph.nonzero(), strict=True):
        assert home[b] in above[home[a]] or home[a] in above[home[b]]
