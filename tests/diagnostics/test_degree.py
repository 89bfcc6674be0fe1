"""Degree of indeterminacy by counting, and where it is said."""

import numpy as np
import pytest
import scipy.sparse as sp

import rigidlimit as rl
from rigidlimit.diagnostics.degree import Degree, degree
from rigidlimit.scenes import pyramid


def counted(B, loaded):
    B = sp.csr_array(np.asarray(B, float))
    return degree(B, np.array(loaded), free=np.ones(B.shape[1], bool))


def test_three_supports():
    """Closed form: three supports of a beam that can rise and turn are one too many. Of those that
    bear on one side of the middle two alone are known, and the third may bear."""
    beam = [[1.0, -0.5], [1.0, 0.0], [1.0, 0.5]]
    assert counted(beam, [True, True, True]) == Degree(1, 1)
    assert counted(beam, [True, False, True]) == Degree(0, 1)
    assert counted(beam[:2], [True, True]) == Degree(0, 0)


def test_units_do_not_matter():
    """Property: turns of a body of a micrometre count as those of a metre."""
    beam = np.array([[1.0, -0.5], [1.0, 0.0], [1.0, 0.5]]) * [1.0, 1e-6]
    assert counted(beam, [True, True, True]) == Degree(1, 1)


@pytest.mark.parametrize("scene", ["four-leg-table", "box-stack", pyramid(4)])
def test_against_determinacy(scene):
    """Cross-check: what the search for all contacts that can carry finds."""
    result = rl.Simulation(scene).run(until=0.02)
    fixed = ~result.bodies.free.ravel()
    known = rl.determinacy(*result.balance, fixed=fixed, intervals="none").degree
    assert result.degree == Degree(known, known)
    assert f"degree of indeterminacy {known}: balance does not determine forces" in result.message


def test_said_of_forces_that_balance_determines():
    result = rl.Simulation("disk-in-corner").step()
    assert "degree of indeterminacy 0: balance alone determines every force" in result.message


def test_not_computed_is_said():
    """Property: beyond a number of contacts nothing is computed, and that is said."""
    result = rl.Simulation("box-stack").step()
    said = result.indeterminacy(most=19)
    assert said.startswith("degree of indeterminacy not computed for 20 closed contacts")
    assert "degree" not in vars(result)


def test_nothing_is_said_without_forces():
    scene = rl.Scene()
    scene.add(rl.Sphere(0.1), position=(0, 0, 1), mass=1.0)
    assert "indeterminacy" not in rl.Simulation(scene).step().message
