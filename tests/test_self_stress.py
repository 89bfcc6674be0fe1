"""Bodies that just fit between others: forces of step 1 that hold one another have no bounds."""

from dataclasses import replace

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit import plots
from rigidlimit.step import forces

PRESS = 1e5


def a_row_that_fits(count=6, radius=0.01):
    """Disks on a floor from wall to wall, and the same simulation begun with forces of ``PRESS``
    weights along the row, as a solver or a pose that was found may leave them."""
    scene = rl.Scene(name="row", dim=2, dt=1e-3)
    width = 2 * count * radius
    for at, normal in (((0, 0), (0, 1)), ((0, 0), (1, 0)), ((width, 0), (-1, 0))):
        scene.add(rl.HalfSpace(2), position=at, normal=normal)
    for i in range(count):
        scene.add(rl.Disk(radius), position=((2 * i + 1) * radius, radius))
    simulation = rl.Simulation(scene)
    contacts = simulation.step().contacts
    weight = 9.81 * scene.bodies.mass.max()
    along = np.abs(contacts.normal[:, 0]) > 0.5
    force = np.where(along, PRESS * weight, weight)
    simulation.start_from(scene.state, contacts, force)
    return simulation, weight, along


def test_the_multiplier_of_least_size_is_taken(monkeypatch):
    """Closed form: nothing has to press along the row, and each disk rests by its weight; velocity
    and balance are those of step 1. Classic forces of 7e5 weights were handed out there."""
    simulation, weight, along = a_row_that_fits()
    result = simulation.step()
    assert result.converged
    # the tolerance of a step, 1e-10, of the forces that it began with
    np.testing.assert_allclose(result.classic.force[along], 0.0, atol=1e-4 * weight)
    np.testing.assert_allclose(result.classic.force[~along], weight, rtol=1e-4)
    monkeypatch.setattr(forces, "SELF_STRESS", np.inf)
    kept = a_row_that_fits()[0].step()
    assert kept.classic.force.max() > 0.5 * PRESS * weight


def test_a_panel_beyond_the_scale_does_not_blank_the_others():
    """Property: strong lines of the compatible forces as without the classic ones beside them,
    whose title says how far beyond the scale they are."""
    pytest.importorskip("matplotlib")
    result = rl.Simulation(rl.scenes.beam()).step()
    huge = replace(result, classic=replace(result.classic, force=1e6 * result.classic.force))
    drawn = [plots.comparison(r, pressure=False) for r in (result, huge)]
    assert f"classic (up to {huge.classic.force.max():.3g} N)" in titles(drawn[1])
    assert titles(drawn[0])[:2] == ["classic", "compatible"]
    widths = [max(np.max(c.get_linewidths()) for c in lines(figure)) for figure in drawn]
    assert widths[1] >= widths[0]


def titles(figure):
    return [panel.get_title() for panel in figure.axes]


def lines(figure):
    """What is drawn in the panel of the compatible forces: bodies with thin edges, and forces."""
    return next(p for p in figure.axes if p.get_title() == "compatible").collections
