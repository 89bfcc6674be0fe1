"""Motions that closed contacts hardly push along, body by body: which, and what is left of B."""

import numpy as np
import pytest
import scipy.sparse as sp

from rigidlimit.forces import compatible_forces
from rigidlimit.forces.tilts import LIMIT, ROUNDED, felt_balance

FREE = np.ones(6, bool)


def turned(rng, size):
    return np.linalg.qr(rng.normal(size=(size, size)))[0]


def block(rng, contacts, values):
    """Rows (contacts, 6) of one body with these singular values, their motions in any direction."""
    k = len(values)
    return turned(rng, contacts)[:, :k] * values @ turned(rng, 6)[:k]


def system(rng, blocks, reach):
    """B of unconnected bodies with these blocks over reach, forces, F~ and what else it takes."""
    B = sp.csr_array(sp.block_diag(blocks)) @ sp.diags_array(reach)
    B = sp.csr_array(B)
    B.sort_indices()
    force = rng.uniform(0.5, 1.5, B.shape[0])
    return B, B.T @ force, force


def test_agrees_with_singular_values_body_by_body():
    """Reference twin: the dense decomposition of every body's block, planted values on both sides
    of the limit and motions that nothing feels among them."""
    rng = np.random.default_rng(3)
    values = [
        np.array([2.0, 1.5, 1.0, 0.5, 0.2, s]) for s in (1e-3, 1e-5, 2e-6, 1e-7, 1e-10, 1e-12)
    ]
    values += [np.array([1.0, 0.7, 1e-8, 1e-9]), np.array([1.0, 1e-11]), np.array([1.0, 0.9])]
    blocks = [block(rng, 8, v) for v in values]
    reach = rng.uniform(0.01, 50.0, 6 * len(blocks))
    B, load, force = system(rng, blocks, reach)
    felt, pushed = felt_balance(B, load, force, free=np.tile(FREE, len(blocks)), reach=reach)

    small = [int(((v > ROUNDED) & (v <= LIMIT)).sum()) for v in values]
    assert sum(small) == 6
    for b, rows in enumerate(blocks):
        _, S, V = np.linalg.svd(rows)
        V = V[:6][np.pad(S, (0, 6 - len(S))) > LIMIT]
        part = (felt[8 * b : 8 * b + 8, 6 * b : 6 * b + 6]).toarray()
        # directions of motions are known to 1e-16 over the gap between their values, here 0.2
        np.testing.assert_allclose(part / reach[6 * b : 6 * b + 6], rows @ V.T @ V, atol=1e-13)
    np.testing.assert_allclose(pushed, felt.T @ force)
    # where nothing was left out, the very numbers of B
    same = np.repeat(np.array(small) == 0, 6)
    assert (felt[:, same] != B[:, same]).nnz == 0


def test_nothing_small_nothing_done():
    """Property: bodies whose values are zero, rounding or above the limit keep their balance."""
    rng = np.random.default_rng(4)
    slope = 1e-6
    opposite = np.array([[1.0, 0, 0, 0, 0, 0], [-1.0, slope, 0, 0, 0, 0]])
    oblique = np.array([[0.6, 0.8, 0, 0, 0, 0], [-0.6, -0.8, 0, 0, 0, 0]])  # zero but for rounding
    blocks = [block(rng, 9, np.linspace(2, 1e-3, 6)), opposite, oblique, np.ones((1, 6))]
    reach = np.ones(24)
    B, load, force = system(rng, blocks, reach)
    assert felt_balance(B, load, force, free=np.tile(FREE, 4), reach=reach)[0] is B
    # the same with a slope of a tenth is left out
    B.data[B.data == slope] = 1e-7
    felt, _ = felt_balance(B, B.T @ force, force, free=np.tile(FREE, 4), reach=reach)
    assert felt is not B and np.abs((felt[[9]] + felt[[10]]).toarray()).max() < 1e-13


def wedge(slope, side):
    """A body between two walls that open by ``slope``, and one on the floor under another load."""
    blocks = [
        np.array([[1.0, slope, 0, 0, 0, 0], [-1.0, slope, 0, 0, 0, 0]]),
        np.array([[0, 1.0, 0, 0, 0, 0]]),
    ]
    force = np.array([1.0, 1.0, side])
    B = sp.csr_array(sp.block_diag(blocks))
    return B, B.T @ force, force, dict(free=np.tile(FREE, 2), reach=np.ones(12))


def test_a_loaded_wedge_is_held():
    """Closed form: forces H / (2 slope) of a load H in a wedge of 1e-9 stay, unless H itself is
    lost beside the other loads."""
    B, load, force, known = wedge(1e-9, side=0.0)
    assert felt_balance(B, load, force, **known)[0] is B
    B, load, force, known = wedge(1e-9, side=1e-3)  # H = 2e-9 is 2e-6 of it
    assert felt_balance(B, load, force, **known)[0] is B
    B, load, force, known = wedge(1e-9, side=1.0)
    assert felt_balance(B, load, force, **known)[0] is not B


def test_held_motions_are_left_alone():
    """Property: a motion that is held is no motion, though contacts hardly push along it."""
    B, load, force, known = wedge(1e-9, side=1.0)
    held = known | dict(free=known["free"] & (np.arange(12) != 1))
    assert felt_balance(B, np.where(held["free"], load, 0.0), force, **held)[0] is B


@pytest.mark.parametrize("exponent", [2.0, 2.5])
def test_law_and_balance_of_the_whole(exponent):
    """Property: f = k (-B u)^(p-1) with the B of the velocities, the balance is broken by no more
    than the limit, and a warm start from u is the answer. A shaft on three rollers, in any
    direction, which lean by 1e-9."""
    rng = np.random.default_rng(5)
    B, reach = np.zeros((6, 24)), np.tile([1.0, 1.0, 1.0, 0.5, 0.5, 0.5], 4)
    for i, angle in enumerate((-0.7, 0.1, 0.8)):
        out, along = np.array([np.sin(angle), -np.cos(angle)]), [np.cos(angle), np.sin(angle)]
        own = slice(6 + 6 * i, 8 + 6 * i)
        B[2 * i, :2], B[2 * i, 5], B[2 * i, own] = -out, 0.2 * i - 0.1, out
        B[2 * i + 1, own] = -out + 1e-9 * rng.normal() * np.array(along)
    B = sp.csr_array(B)
    force = np.repeat([4.0, 5.0, 3.0], 2)
    load = B.T @ force
    felt, pushed = felt_balance(B, load, force, free=np.tile(FREE, 4), reach=reach)
    assert felt is not B
    answer = compatible_forces(felt, pushed, exponent=exponent, tolerance=1e-13)
    assert answer.converged
    u = answer.displacement
    # tilts of 1e-9 times displacements of a few overlaps
    overlap = np.maximum(-(B @ u), 0)
    np.testing.assert_allclose(overlap ** (exponent - 1), answer.force, rtol=3e-8)
    # tilt times force, and no more, is gone
    missing = B.T @ answer.force - load
    assert np.abs(missing).max() < 1e-8 * force.max()
    again = compatible_forces(felt, pushed, exponent=exponent, warm_start=u)
    assert again.iterations == 0 < answer.iterations
