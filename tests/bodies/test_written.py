"""How many digits coordinates were written down with."""

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.bodies.written import written


@pytest.mark.parametrize("digits", [4, 6, 9])
@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
def test_rounded_coordinates_are_known(digits, unit):
    """Property: the last digit is found in any unit, and whatever else lies on a grid; with all
    digits there is none."""
    at = np.random.default_rng(digits).uniform(-1, 1, (20, 3))
    rounded = np.round(at, digits)
    rounded[:3] = [[0, 0, 0], [0.25, 0.5, 0], [-1.5, 0, 0]]
    shift = int(np.log10(unit))
    there = np.array([[float(f"{x:.{digits}f}e{shift}") for x in row] for row in rounded])
    found = written(there, 0.2 * unit)
    assert np.isclose(found.digit, 10.0**-digits * unit, rtol=1e-12)
    assert written(at * unit, 0.2 * unit) is None


def test_grids_are_meant():
    """Property: coordinates of a drawing are exact, also where single ones need more digits."""
    courses = np.array([[0.05 + 0.1 * i, 0.025 + 0.05 * j, 0] for i in range(6) for j in range(4)])
    assert written(courses, 0.05) is None
    shimmed = courses.copy()
    shimmed[7, 1] += 2e-5  # a shim, seen on one body
    assert written(shimmed, 0.05) is None
    assert written(np.zeros((3, 3)), 0.05) is None


def test_scenes_know_their_digits():
    """Contract: what a scene was given counts, not where its bodies have moved."""
    scene = rl.Scene(dim=2)
    for i, x in enumerate(np.round(np.sqrt(np.arange(2, 9)), 5)):
        scene.add(rl.Disk(0.1), position=(x, float(i)), mass=1.0)
    assert np.isclose(scene.bodies.written.digit, 1e-5)
    moved = scene.state.position
    moved[2, 1] += 2e-3
    assert scene.bodies.written.here(moved).tolist() == [i != 2 for i in range(7)]
