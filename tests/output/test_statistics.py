"""Statistics of packings on cases with a known answer."""

from dataclasses import replace

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.errors import InputError

from .networks import columns, network, periodic_disks


def test_distribution_of_exponential_forces():
    """Closed form: exponential forces have P = exp(-f), decay 1 and participation 1/2; of error
    bars the squared pulls have the mean 1."""
    rng = np.random.default_rng(0)
    samples = [rng.exponential(3.0, 400) for _ in range(50)]
    found = rl.force_distribution(samples, bins=np.linspace(0, 4, 17))
    # 20,000 forces, of which exp(-1.5) are in the tail: three standard errors
    assert abs(found.decay - 1.0) < 3 * found.decay_error < 0.06
    exact = -np.diff(np.exp(-found.edges)) / np.diff(found.edges)
    pull = (found.density - exact) / found.error
    # 16 bins: the mean of chi^2 over its degrees has the standard deviation sqrt(2/16)
    assert 0.3 < (pull**2).mean() < 2.1
    np.testing.assert_allclose(found.mean, 3.0, atol=0.6)  # four times 3/sqrt(400)
    # <f>^2/<f^2> = 1/2, of 400 forces to 0.03
    assert abs(found.participation.mean() - 0.5) < 0.02
    whole = rl.force_distribution(samples[0], bins=10)
    np.testing.assert_allclose((whole.density * np.diff(whole.edges)).sum(), 1.0, rtol=1e-12)
    with pytest.raises(InputError, match="sample 1: no contact carries"):
        rl.force_distribution([samples[0], np.zeros(3)])


def test_participation_of_few():
    """Closed form: M alike forces give 1, forces 1 and 3 give 16/(2 10)."""
    assert rl.participation(np.full(7, 2.0)) == pytest.approx(1.0, rel=1e-14)
    assert rl.participation(np.array([1.0, 3.0])) == pytest.approx(0.8, rel=1e-14)


def test_rattlers_are_taken_away_in_turn():
    """Closed form: four disks that all touch, and a tail of two: the last has one contact, and the
    one before it is left with one."""
    pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3), (0, 4), (4, 5)]
    shown = network(np.random.default_rng(1).uniform(0, 9, (6, 2)), pairs, 1.0)
    found = rl.coordination(shown)
    assert list(found.rattler) == [False] * 4 + [True] * 2
    assert found.mean == pytest.approx(16 / 6) and found.without_rattlers == 3.0
    assert list(found.count) == [3, 3, 3, 3, 0, 0]
    assert not rl.coordination(shown, least=1).rattler.any()


def test_principal_values():
    """Closed form: a turned diagonal tensor; normals along one axis have the anisotropy 2 in the
    plane and 5/2 in space, normals in all directions none."""
    c, s = np.cos(0.3), np.sin(0.3)
    turn = np.array([[c, -s], [s, c]])
    values, axes = rl.principal(turn @ np.diag([1.0, 5.0]) @ turn.T)
    np.testing.assert_allclose(values, [5, 1], rtol=1e-14)
    np.testing.assert_allclose(np.abs(axes @ turn[:, ::-1]), np.eye(2), atol=1e-14)
    assert rl.anisotropy(rl.fabric(columns())) == pytest.approx(2.0)
    assert rl.anisotropy(np.eye(3) / 3) == pytest.approx(0.0, abs=1e-15)
    assert rl.anisotropy(np.diag([1.0, 0, 0])) == 2.5


def test_pair_correlation_of_a_cubic_lattice():
    """Closed form: six neighbours at 1, twelve at sqrt 2, none between."""
    grid = np.stack(np.meshgrid(*[np.arange(8.0)] * 3), axis=-1).reshape(-1, 3)
    edges = np.array([0.5, 1.2, 1.3, 1.5])
    g = rl.pair_correlation(network(grid, [], [], dim=3), edges, bounds=[[-0.5] * 3, [7.5] * 3])
    shell = 4 / 3 * np.pi * np.diff(edges**3)
    np.testing.assert_allclose(g * shell, [6, 0, 12], rtol=1e-13)
    with pytest.raises(InputError, match="away from the bounds"):
        rl.pair_correlation(network(grid, [], [], dim=3), [1.0, 9.0])


def test_packing_fractions():
    """Closed form: balls of a cubic lattice fill pi/6 of it, each of its own cell; of two balls
    that touch the radical plane goes through the point of contact."""
    pytest.importorskip("pyvoro2")
    grid = np.stack(np.meshgrid(*[np.arange(3.0)] * 3), axis=-1).reshape(-1, 3)
    lattice = network(grid, [], [], dim=3)
    assert rl.packing_fraction(lattice, 27.0) == pytest.approx(np.pi / 6, rel=1e-14)
    # planes at the middle between centres; voro++ sums in double precision
    np.testing.assert_allclose(rl.local_packing_fraction(lattice), np.pi / 6, rtol=1e-12)
    pair = network([(1, 2), (4, 2)], [], [], radius=(1.0, 2.0))
    np.testing.assert_allclose(
        rl.local_packing_fraction(pair), [np.pi / (2 * 4), 4 * np.pi / (4 * 4)], rtol=1e-12
    )


def test_chains_are_the_columns_that_carry():
    """Closed form: of four columns those with 30 N are above the mean stress, each is a chain of
    three; across, nothing presses."""
    shown = columns()
    found = rl.force_chains(shown)
    assert list(found.chain) == [0, 0, 0] + [-1] * 6 + [1, 1, 1]
    assert sorted(map(tuple, found.pairs.tolist())) == [(0, 1), (1, 2), (9, 10), (10, 11)]
    assert found.share == 0.5 and len(found) == 2
    # a disk between two forces F: sigma_yy = F d / (pi d^2/4), at the ends of a column half of that
    np.testing.assert_allclose(found.major[1], 30 * 4 / np.pi, rtol=1e-14)
    np.testing.assert_allclose(found.major[0], 15 * 4 / np.pi, rtol=1e-14)
    # three side by side, pressed from above and below by ten times what they press on each other:
    # all three carry more than the mean, across their major direction
    x = np.arange(3.0)
    place = np.concatenate([np.column_stack([x, 0 * x + y]) for y in (0.0, 1.0, -1.0)])
    across = [(0, 1), (1, 2)] + [(k, k + 3 * side) for side in (1, 2) for k in range(3)]
    assert len(rl.force_chains(network(place, across, [1, 1, *[10] * 6]))) == 0


def test_graph_of_forces(tmp_path):
    """Property: the graph has the forces of the pairs, and GraphML brings it back."""
    networkx = pytest.importorskip("networkx")
    graph = rl.force_graph(columns())
    assert graph.number_of_edges() == 8 and graph.edges["0", "1"]["force"] == 30.0
    assert graph.edges["0", "1"]["in_chain"] and not graph.edges["3", "4"]["in_chain"]
    networkx.write_graphml(graph, tmp_path / "chains.graphml")
    again = networkx.read_graphml(tmp_path / "chains.graphml")
    assert dict(again.nodes["1"]) == dict(graph.nodes["1"])
    assert dict(again.edges["0", "1"]) == dict(graph.edges["0", "1"])


def test_fields_integrate_to_what_they_spread():
    """Property: the integral of the stress field over the plane is V times the mean stress, that of
    the density the area of the disks; sums of Gaussians on a grid are exact to rounding."""
    shown, width, step = columns(), 0.4, 0.2
    axis = np.arange(-4.0, 8.0, step)
    points = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    field = rl.stress_field(shown, points, width=width)
    total = rl.stress(shown, 1.0)
    np.testing.assert_allclose(field.sum(axis=0) * step**2, total, atol=1e-10 * total.max())
    area = rl.density_field(shown, points, width=width).sum() * step**2
    np.testing.assert_allclose(area, 12 * np.pi / 4, rtol=1e-10)
    ball = network([(1.0, 2.0, 3.0)], [], [], dim=3, radius=2.0)
    peak = rl.density_field(ball, np.array([[1.0, 2.0, 3.0]]), width=width)
    np.testing.assert_allclose(peak, 32 / 3 * np.pi / (2 * np.pi * width**2) ** 1.5, rtol=1e-14)
    # in the middle of a wide column of 1 N over each metre the stress is 1 N/m
    wide = columns(np.ones(9), high=9)
    middle = rl.stress_field(wide, np.array([[4.0, 4.0]]), width=1.0)[0]
    # erfc(4/sqrt 2) of the Gaussian is outside; the lattice's ripple is exp(-2 pi^2)
    np.testing.assert_allclose(middle, [[0, 0], [0, 1]], atol=5e-4)


def test_correlation_of_forces():
    """Closed form: alike forces have the correlation 1; of forces 1, 3, 1, 3, ... along a line next
    neighbours have 3/4, those after them 5/4."""
    line = np.column_stack([np.arange(41.0), np.zeros(41)])
    pairs = np.column_stack([np.arange(40), np.arange(1, 41)])
    edges = np.array([0.5, 1.5, 2.5])
    alike, count = rl.force_correlation(network(line, pairs, 2.0), edges)
    np.testing.assert_allclose(alike, 1.0, rtol=1e-14)
    assert list(count) == [39, 38]
    found, _ = rl.force_correlation(network(line, pairs, np.tile([1.0, 3.0], 20)), edges)
    np.testing.assert_allclose(found, [0.75, 1.25], rtol=1e-14)


@pytest.fixture(scope="module")
def periodic():
    return periodic_disks()


def test_measures_of_a_periodic_cell(periodic):
    """Property: the stress of the cell is the sum over its bodies, and the mean of its field; of
    all pairs up to a distance as many are found as images of the centres lie within it."""
    area = 0.9
    total = rl.stress(periodic)
    weight = np.pi * periodic.bodies.bounding_radius[:-1, None, None] ** 2
    mean = (weight * rl.body_stress(periodic)[:-1]).sum(axis=0) / area
    np.testing.assert_allclose(mean, total, rtol=1e-12)
    part = np.stack(np.meshgrid(*[np.arange(24) / 24] * 2), axis=-1).reshape(-1, 2)
    points = part @ periodic.cell[:2, :2] + [0.3, -2.0]
    # 24 points a period of Gaussians of width 0.1 are exact to exp(-2 (pi 24 0.1)^2)
    field = rl.stress_field(periodic, points, width=0.1).mean(axis=0)
    np.testing.assert_allclose(field, total, rtol=1e-9)
    solid = rl.density_field(periodic, points, width=0.1).mean()
    np.testing.assert_allclose(solid, rl.packing_fraction(periodic), rtol=1e-9)
    place, edges = periodic.position[:-1, :2], np.array([0.2, 0.5, 1.3])
    moves = np.array([(i, j) for i in range(-4, 5) for j in range(-4, 5)])
    every = (place + (moves @ periodic.cell[:2, :2])[:, None]).reshape(-1, 2)
    apart = np.linalg.norm(every[:, None] - place, axis=2)
    expected = np.histogram(apart, edges)[0] * area / (20**2 * np.pi * np.diff(edges**2))
    np.testing.assert_allclose(rl.pair_correlation(periodic, edges), expected, rtol=1e-12)
    alike = replace(periodic, forces={"compatible": np.ones(len(periodic.contacts))})
    np.testing.assert_allclose(rl.force_correlation(alike, edges)[0], 1.0, rtol=1e-12)
