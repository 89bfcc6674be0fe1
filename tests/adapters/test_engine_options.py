"""Options of the readers of all engines, on one scene: a table on four feet."""

import numpy as np
import pytest

from benchmarks.engine_scenes import SCENES
from benchmarks.engine_worlds import MODULES, OVERLAPS, WORLDS
from rigidlimit.errors import InputError


@pytest.fixture(scope="module", params=sorted(WORLDS))
def mend(request):
    """``from_mujoco`` and the like of the table, at rest by default."""
    engine = request.param
    pytest.importorskip(MODULES[engine], reason=f"needs the extra rigidlimit[{engine}]")
    world = WORLDS[engine](SCENES["table"](OVERLAPS[engine]))[1]
    return lambda **given: world(**{"load": "rest", **given})


def test_friction_as_a_number(mend):
    """Property: one coefficient, one a contact, by name and by a function are the same. (A number
    or an array ended in an IndexError in all engines but MuJoCo.)"""
    found = [mend(friction=mu) for mu in (0.3, [0.3] * 4, lambda a, b: 0.3)]
    names = found[0].contacts.places.named_parts
    table = next(n for n in (*names.bodies, *names.geoms) if n.endswith(("table", "body 1")))
    found.append(mend(friction={table: 0.3}))
    for other in found:
        assert "friction: as given" in other.message
        np.testing.assert_allclose(other.friction, 0.3)
        # of the same problem, solved alike
        np.testing.assert_allclose(other.contact_force, found[0].contact_force, atol=1e-12)
    with pytest.raises(InputError, match=r"friction is -0\.3; expected coefficients >= 0"):
        mend(friction=-0.3)


@pytest.mark.parametrize(
    ("given", "match"),
    [
        (dict(load=None), "load is None; expected engine or"),
        (dict(exponent="hertz", stiffness=1.0), "exponent is 'hertz'; expected p > 1"),
        (dict(gap_tolerance=-1e-6), "gap_tolerance is -1e-06; expected lengths >= 0"),
    ],
    ids=str,
)
def test_bad_input(mend, given, match):
    """One clear error each. (No load was the engine's without its friction, a negative tolerance
    was taken, text ended in a TypeError.)"""
    with pytest.raises(InputError, match=match):
        mend(**given)


def test_point_of_a_torque(mend):
    """One clear error."""
    mended = mend()
    name = mended.contacts.places.names[0][1]
    with pytest.raises(InputError, match="about is 'foot'; expected a point"):
        mended.on(name, about="foot")
