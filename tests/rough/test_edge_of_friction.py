"""A load next to the edge of what friction carries is decided, or told how far it is from it.

Evidence: pyramids pushed along x turn over their lowest balls at 1/sqrt(2) of the weight while
friction is large.
"""

import numpy as np

import rigidlimit as rl
from rigidlimit import Status


def pushed(base, friction, part):
    pyramid = rl.statics(rl.scenes.rough_pyramid(base)).with_friction(friction)
    load = pyramid.load - part / np.sqrt(2.0) * pyramid.growing((1, 0, 0))
    return rl.compatible_forces(load=load, **pyramid._rows, **pyramid._law)


def test_just_inside_forces_are_found():
    """Of an equilibrium, or those of least energy, as near as their energy gap tells."""
    found = pushed(5, 0.8, 1.0 - 1e-9)
    assert found.status in (Status.CONVERGED, Status.NO_EQUILIBRIUM)
    assert found.residual <= found.tolerance
    if found.status is Status.NO_EQUILIBRIUM:
        assert found.duality_gap < 1e-13 and found.force_error < 1e-6


def test_just_outside_the_margin_is_told():
    """Some two fifths of what is too much is missing, in the unit of residuals; a motion proves it
    from some 1e-6 on."""
    found = pushed(3, 0.5, 1.0 + 1e-8)
    assert found.status is Status.STALLED
    assert 1e-9 < found.residual < 1e-8
    assert "come within" in found.message and "of the load and no closer" in found.message
