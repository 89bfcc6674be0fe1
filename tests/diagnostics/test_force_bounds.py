"""Ends of intervals by the central path, against linear programs and closed forms."""

from dataclasses import replace

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.diagnostics import admissible, bound_programs, force_bounds
from rigidlimit.linear import Network

from .test_determinacy import static_pyramid


def prepared(base):
    """(network, load, forces inside, motion that opens) of the contacts of a pyramid that bear."""
    B, load = static_pyramid(base)
    B, load = B.tocsr(), load / np.abs(load).max()
    inside = admissible.interior(Network(B), load)
    bears = np.flatnonzero(inside.carries)
    network = Network(B[bears], blocks=np.arange(0, B.shape[1] + 1, 3))
    return network, load, inside.force[bears], admissible.opening_motion(network)


@pytest.fixture(scope="module")
def pyramid():
    return prepared(8)


def exact(network, load, contacts):
    return bound_programs.extremes(network.B, load, contacts)[0]


def test_ends_are_those_of_the_programs(pyramid):
    """Cross-method: least and greatest forces of HiGHS, from outside and from inside."""
    network, load, inside, opening = pyramid
    some = np.arange(0, len(inside), 40)
    known, size = exact(network, load, some), inside.max()
    for i, (least, greatest) in zip(some, known, strict=True):
        (lower, upper), (down, up) = admissible._ends(network, load, inside, opening, i)
        # HiGHS is feasible to 1e-9; the path ends within 1e-7 of the largest force
        np.testing.assert_allclose((lower, upper), (least, greatest), atol=3e-7 * size)
        np.testing.assert_allclose((down, up), (least, greatest), atol=3e-6 * size)
        assert lower <= down and up <= upper
        bound, _ = force_bounds.end(network, load, inside, opening, i, -1.0)
        assert -bound == pytest.approx(least, abs=3e-7 * size)


def test_forces_reached_where_the_path_ends_unbalanced(pyramid, monkeypatch):
    """Property: where the last forces of a path cannot be brought to balance, a nearest point is
    reached all the same."""
    network, load, inside, opening = pyramid
    less = replace(force_bounds.SETTINGS, repairs=0)
    monkeypatch.setattr(force_bounds, "SETTINGS", less)
    i = 40
    (known,) = exact(network, load, [i])
    _, reached = force_bounds.end(network, load, inside, opening, i, 1.0)
    assert reached == inside[i]
    bounds, reached = admissible._ends(network, load, inside, opening, i)
    np.testing.assert_allclose(reached, known, atol=1e-6 * inside.max())
    np.testing.assert_allclose(bounds, known, atol=3e-7 * inside.max())


@pytest.mark.parametrize("steps", [1, 3, 8, 12])
def test_bounds_hold_wherever_the_path_is_left(pyramid, monkeypatch, steps):
    """Property: left after any number of steps, solved as loosely as you like, what is told as a
    bound is one, and what is told as reached balances the load and is no more than the end."""
    network, load, inside, opening = pyramid
    less = replace(force_bounds.SETTINGS, steps=steps)
    monkeypatch.setattr(force_bounds, "SETTINGS", less)
    some = np.arange(0, len(inside), 80)
    known = exact(network, load, some)[:, 1]
    for loose in (force_bounds.SETTINGS.loose, 0.3):
        less = replace(force_bounds.SETTINGS, loose=loose)
        monkeypatch.setattr(force_bounds, "SETTINGS", less)
        found = np.array([force_bounds.end(network, load, inside, opening, i, 1.0) for i in some])
        assert (found[:, 0] >= known * (1 - 1e-9)).all()  # the programs' own accuracy
        assert (found[:, 1] <= known + 1e-6 * found[:, 1].max()).all()


def test_forces_without_end():
    """Closed form: 1,200 disks between two walls may be pressed as much as you like; nothing bounds
    the push, and what they carry of their weight is as large as it is."""
    scene = rl.Scene(dim=2)
    count, r = 1200, 0.5
    scene.add(rl.HalfSpace(2), position=(0, 0), name="floor")
    scene.add(rl.HalfSpace(2), position=(0, 0), normal=(1, 0), name="left")
    scene.add(rl.HalfSpace(2), position=(2 * r * count, 0), normal=(-1, 0), name="right")
    scene.add_many(rl.Disk(r), [(r + 2 * r * k, r) for k in range(count)], mass=1.0)
    result = rl.Simulation(scene).step()
    B, load = result.balance
    fixed, blocks = ~result.bodies.free.ravel(), result.bodies.blocks
    found = rl.determinacy(
        B, load, fixed=fixed, blocks=blocks, intervals="bounds", contacts=[3, 1500]
    )
    assert found.degree == 1 and found.determined.sum() == count
    pushed = np.flatnonzero(~np.isnan(found.interval[:, 0]) & ~found.determined)
    assert (found.interval[pushed] == (0.0, np.inf)).all()
    # some way along what has no end
    assert (found.reached[pushed, 1] > 50 * 9.81).all()
    np.testing.assert_allclose(found.example[found.determined], 9.81, rtol=1e-8)


def test_large_pyramid():
    """Cross-method: 14,000 contacts, as sharp as linear bound_programs."""
    network, load, inside, opening = prepared(20)
    i = int(inside.argmax())
    bound, reached = force_bounds.end(network, load, inside, opening, i, 1.0)
    model = bound_programs._model(network.B, load, solver="ipm", run_crossover="off")
    known = -bound_programs._optimum(model, ([i], [-1.0]))
    # the program's own optimality is 1e-8 of its objective
    assert bound == pytest.approx(known, rel=1e-7) and reached == pytest.approx(known, rel=1e-7)
