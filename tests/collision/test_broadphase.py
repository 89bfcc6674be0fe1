"""Pairs of balls that meet."""

import numpy as np
import pytest

from rigidlimit.collision.broadphase import meeting_balls


def brute_force(centre, radius):
    """Reference twin: all pairs."""
    distance = np.linalg.norm(centre[:, None] - centre[None], axis=2)
    meets = distance <= radius[:, None] + radius[None]
    return {(i, j) for i, j in zip(*np.nonzero(np.triu(meets, 1)), strict=True)}


def cloud(rng, n, dim, ratio):
    """n balls of sizes up to 1 : ratio, about as many neighbours each whatever n is."""
    radius = ratio ** -rng.random(n)
    box = 2 * (n * np.mean(radius**dim)) ** (1 / dim)
    centre = np.zeros((n, 3))
    centre[:, :dim] = rng.uniform(-box / 2, box / 2, (n, dim))
    return centre, radius


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("ratio", [1, 3, 1000])
@pytest.mark.parametrize("seed", range(3))
def test_against_all_pairs(dim, ratio, seed):
    """Reference twin: brute force, equal and very unequal sizes, negative coordinates too."""
    centre, radius = cloud(np.random.default_rng(seed), 300, dim, ratio)
    pairs, _ = meeting_balls(centre, radius, planar=dim == 2)
    assert len({tuple(p) for p in pairs.tolist()}) == len(pairs)
    assert {tuple(p) for p in pairs.tolist()} == brute_force(centre, radius)


def test_lattice_on_cell_borders():
    """Reference twin: touching balls whose centres lie exactly on cell borders."""
    grid = np.stack(np.meshgrid(*[np.arange(6.0)] * 3), axis=-1).reshape(-1, 3)
    radius = np.full(len(grid), 0.5)
    pairs, _ = meeting_balls(grid, radius)
    assert {tuple(p) for p in pairs.tolist()} == brute_force(grid, radius)


@pytest.mark.parametrize("ratio", [1, 100])
def test_linear_work(ratio):
    """Slope: distance tests grow like the number of balls (fit over 16,000 to 256,000)."""
    rng = np.random.default_rng(0)
    counts = np.array([16_000, 64_000, 256_000])
    tests = [meeting_balls(*cloud(rng, n, 3, ratio))[1] for n in counts]
    slope = np.polyfit(np.log(counts), np.log(tests), 1)[0]
    assert slope < 1.1  # the surface of a small box has fewer neighbours, which adds a little


def test_balls_of_almost_one_size():
    """Property: a few balls one per cent smaller than the rest change the work by as little (cells
    of twice the size would hold eight times as many)."""
    centre, radius = cloud(np.random.default_rng(0), 20_000, 3, 1)
    equal = meeting_balls(centre, radius)[1]
    radius[::50] *= 0.99
    assert meeting_balls(centre, radius)[1] < 1.05 * equal


def test_one_huge_ball():
    """Property: one ball a thousand times larger costs at most one test each of the others."""
    rng = np.random.default_rng(1)
    n = 20_000
    centre = rng.uniform(-50, 50, (n, 3))
    radius = np.full(n, 0.5)
    few = meeting_balls(centre, radius)[1]
    radius[0] = 500
    pairs, tests = meeting_balls(centre, radius)
    assert tests <= few + 2 * n
    assert (pairs[:, 0] == 0).sum() == n - 1
