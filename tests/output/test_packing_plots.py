"""Pictures of packings: what is drawn is what was measured, and can be read."""

from dataclasses import replace

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit import plots
from rigidlimit.errors import InputError
from rigidlimit.output.measures import mueth_distribution
from rigidlimit.paths.record import columns as table_of

from .networks import columns, network, periodic_disks
from .test_plots import group, legible


def fan(count=1440, seed=0):
    """Pairs of disks far from each other whose normals, by E = (1 + 0.6 cos 2 theta)/(2 pi), and
    forces, 2 (1 + 0.3 cos 2 (theta - 1)), are known."""
    angle = (np.arange(count) + 0.5) * 2 * np.pi / count
    # F(theta) = theta + 0.3 sin 2 theta, inverted by Newton
    theta = angle.copy()
    for _ in range(50):
        theta -= (theta + 0.3 * np.sin(2 * theta) - angle) / (1 + 0.6 * np.cos(2 * theta))
    first = np.column_stack([3.0 * np.arange(count), np.zeros(count)])
    second = first + np.column_stack([np.cos(theta), np.sin(theta)])
    force = 2.0 * (1 + 0.3 * np.cos(2 * (theta - 1.0)))
    pairs = np.column_stack([np.arange(count), np.arange(count) + count])
    return network(np.concatenate([first, second]), pairs, force)


def test_roses_of_known_distributions():
    """Closed form: harmonics of the second order in densities and forces come back; the mean over a
    bin of width d flattens them by sin d/d."""
    shown = fan()
    contacts = rl.rose(shown)
    # 1,440 directions stand for the density to their square
    assert contacts.amplitude == pytest.approx(0.6, abs=1e-5)
    assert min(contacts.direction, np.pi - contacts.direction) < 1e-5
    area = (contacts.values * np.diff(contacts.edges)).sum()
    assert area == pytest.approx(1.0, rel=1e-12)
    forces = rl.rose(shown, of="normal", bins=72)
    # bins of 5 degrees hold 20 contacts each
    assert forces.amplitude == pytest.approx(0.3, abs=0.01)
    assert forces.direction == pytest.approx(1.0, abs=0.01)
    with pytest.raises(InputError, match="an even number"):
        rl.rose(shown, bins=7)


def test_published_curve():
    """Property: a density of mean 1, as its authors state it to the two digits of its constants."""
    f = np.linspace(0, 40, 400_001)
    density = mueth_distribution(f)
    assert np.trapezoid(density, f) == pytest.approx(1.0, abs=0.02)
    assert np.trapezoid(f * density, f) == pytest.approx(1.0, abs=0.05)


def test_line_of_the_tail_is_that_of_its_forces():
    """Closed form: it begins at decay times the share of forces beyond, also within a bin. 3 %: as
    the density of a bin is no better known."""
    forces = -np.log1p(-(np.arange(4000) + 0.5) / 4000)
    found = rl.force_distribution(forces, bins=np.linspace(0, 8, 21), tail_from=1.5)
    (line,) = [
        line
        for line in plots.force_distribution(found).axes[0].lines
        if str(line.get_label()).startswith("exp")
    ]
    assert line.get_ydata()[0] == pytest.approx(np.exp(-1.5), rel=0.03)


@pytest.mark.parametrize("dark", [False, True])
def test_stress_by_strain(dark):
    """Property: the strain that goes farthest is the axis, lines are the columns, steps that
    were not solved are hollow."""
    table = np.zeros(5, dtype=table_of(2))
    table["strain_xy"], table["strain_yy"] = np.linspace(0, 0.2, 5), -0.01
    table["pressure"], table["deviator"] = 5e3, [0, 1e3, 2e3, 1.5e3, 1.5e3]
    table["void_ratio"], table["converged"] = 0.25, [1, 1, 0, 1, 1]
    figure = plots.stress_strain(table, dark=dark)
    legible(figure)
    above, below = figure.axes
    assert below.get_xlabel() == "strain xy [-]" and above.get_ylabel() == "stress [kN/m]"
    np.testing.assert_allclose(
        above.lines[3].get_xydata(), np.c_[table["strain_xy"], table["deviator"] / 1e3]
    )
    np.testing.assert_allclose(above.lines[5].get_xydata(), [[0.1, 2.0]])
    assert above.lines[5].get_markerfacecolor() != above.lines[4].get_markerfacecolor()
    with pytest.raises(InputError, match="strain is 'xz'; expected one of xx, yy, xy"):
        plots.stress_strain(table, strain="xz")
    with pytest.raises(InputError, match="no rows"):
        plots.stress_strain(table[:0])


def test_strain_of_each_leg_starts_at_zero():
    """Property: a driven leg after stages is drawn from 0, in a line of its own, and stages from
    the first of them, however far a loose packing went to get there; the table keeps the strain
    of the whole path (exact differences of the numbers given)."""
    table = np.zeros(6, dtype=table_of(2))
    table["leg"] = [0, 1, 2, 2, 2, 2]
    table["strain_xy"] = [0.25, 0.5, 0.5, 0.75, 1.0, 1.25]
    table["pressure"], table["converged"] = 1e3, True
    lines = plots.stress_strain(table).axes[1].lines
    drawn = [line.get_xdata().tolist() for line in lines if line.get_linestyle() == "-"]
    assert drawn == [[0.0, 0.25], [0.0, 0.25, 0.5, 0.75]]


@pytest.mark.parametrize("dark", [False, True])
def test_pictures_can_be_read(dark):
    """Property: nothing clipped or covered; links of chains are drawn, other contacts thin; the
    field's colours are the numbers that were measured."""
    shown = columns()
    rng = np.random.default_rng(0)
    samples = [rng.exponential(1.0, 300) for _ in range(3)]
    figure = plots.force_distribution(samples, curve="mueth", dark=dark)
    legible(figure)
    assert len(figure.axes[0].lines) >= 2
    legible(plots.rose(fan(48), dark=dark))
    figure = plots.force_chains(shown, dark=dark)
    legible(figure)
    assert len(group(figure.axes[0], "forces").get_segments()) == 4
    assert len(group(figure.axes[0], "other contacts").get_segments()) == 4
    figure = plots.stress_field(shown, of="major", resolution=20, dark=dark)
    legible(figure)
    drawn = group(figure.axes[0], "field")
    points = np.asarray(drawn.get_coordinates()).reshape(-1, 2)
    values = rl.principal(rl.stress_field(shown, points))[0][:, 0]
    shown_values = np.asarray(drawn.get_array()).ravel()
    np.testing.assert_allclose(shown_values, values * shown_values.max() / values.max(), rtol=1e-9)
    legible(plots.stress_field(shown, of="solid", resolution=20, dark=dark))


def test_periodic_cells_are_drawn():
    """Property: the outline is the cell's, centres lie in it, lines are as long as branch vectors
    and begin at the first body."""
    periodic = periodic_disks()
    for figure in (plots.force_network(periodic), plots.force_chains(periodic)):
        legible(figure)
        panel = figure.axes[0]
        outline = next(patch for patch in panel.patches if patch.get_gid() == "cell")
        corners = {tuple(np.round(corner, 9)) for corner in outline.get_xy()}
        assert corners == {(0, 0), (1, 0), (1.3, 0.9), (0.3, 0.9)}
    figure = plots.force_network(periodic)
    segments = np.array(group(figure.axes[0], "forces").get_segments())
    force, branch = periodic.forces["compatible"], periodic.contacts.branch[:, :2]
    order = np.argsort(force, kind="stable")
    np.testing.assert_allclose(segments[:, 1] - segments[:, 0], branch[order], atol=1e-12)
    part = segments[:, 0] @ np.linalg.inv(periodic.cell[:2, :2])
    assert part.min() >= 0 and part.max() < 1


def test_pictures_of_nothing():
    """Property: without forces a chart says so; fields of unknown names and curves are refused."""
    shown = columns()
    idle = replace(shown, forces={"compatible": np.zeros(8)})
    legible(plots.force_chains(idle))
    with pytest.raises(InputError, match="no contact is active"):
        plots.rose(idle)
    with pytest.raises(InputError, match="of is 'heat'"):
        plots.stress_field(shown, of="heat")
    with pytest.raises(InputError, match="curve is 'other'"):
        plots.force_distribution([np.ones(3)], curve="other")
