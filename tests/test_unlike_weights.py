"""Bodies of very unlike weight in one scene: light ones bear what is right, or it is told."""

from dataclasses import replace

import numpy as np
import pytest

import rigidlimit as rl


def two_balls(light):
    """A ball of a centimetre and one of radius ``light`` [m] apart from it, on a floor."""
    scene = rl.Scene(dt=1e-3)
    scene.add(rl.HalfSpace(), position=(0, 0, 0))
    scene.add(rl.Sphere(0.01), position=(0, 0, 0.01), name="heavy")
    scene.add(rl.Sphere(light), position=(0.1, 0, light), name="light")
    return scene


@pytest.mark.parametrize("radius", [1e-3, 1e-6, 1e-12, 1e-15])
def test_a_light_ball_bears_its_weight(radius):
    """Closed form: each bears its weight; of a ball of 1e-15 m nothing was left, "at rest"."""
    scene = two_balls(radius)
    result = rl.Simulation(scene).step()
    # step 1 balances velocities of light bodies to 1e-8, a hundred tolerances
    np.testing.assert_allclose(result.force, 9.81 * scene.bodies.mass[1:], rtol=1e-7)
    assert not result.doubt


def test_a_kilogramme_on_a_mountain():
    """Closed form: 9.81 N; step 2 balanced it to last digits of those of 1e12 kg below."""
    scene = rl.Scene(dt=1e-3)
    scene.add(rl.HalfSpace(), position=(0, 0, 0))
    scene.add(rl.Sphere(1), position=(0, 0, 1), mass=1e12, name="mountain")
    scene.add(rl.Sphere(1), position=(0, 0, 3), mass=1, name="climber")
    result = rl.Simulation(scene).step()
    assert result.force.min() == pytest.approx(9.81, rel=1e-7)  # as above
    assert not result.doubt


def test_a_kilogramme_in_the_groove_of_two_mountains():
    """Closed form: W / (2 cos a) on either side, tan a = 1 / sqrt(1.25). One side bore 5e-5 more:
    forces were known to last digits of those below."""
    scene = rl.Scene(dt=1e-3)
    scene.add(rl.HalfSpace(), position=(0, 0, 0))
    for x in (-1.0, 1.0):
        scene.add(rl.Sphere(1), position=(x, 0, 1), mass=1e12, fixed=["x", "y"])
    height = np.sqrt(1.5**2 - 1.0)
    scene.add(rl.Sphere(0.5), position=(0, 0, 1.0 + height), mass=1, name="light")
    result = rl.Simulation(scene).step()
    sides = result.force[(result.contacts.body == 3).any(axis=1)]
    # as above; a balance in two directions
    np.testing.assert_allclose(sides, 0.5 * 9.81 * 1.5 / height, rtol=1e-7)


@pytest.mark.parametrize("shape", [rl.Box((1, 1, 1)), rl.Sphere(0.5)])
def test_a_kilogramme_under_a_mountain_is_told(shape):
    """Contract: of two forces of 1e13 N the weight between them is known to their last digit,
    2e-4 of it; up to 1e6 times the weight nothing is told, since 1e-9 is left."""
    for mass, told in ((1e6, False), (1e12, True)):
        scene = rl.Scene(dt=1e-3)
        scene.add(rl.HalfSpace(), position=(0, 0, 0))
        scene.add(shape, position=(0, 0, 0.5), mass=1, name="light")
        scene.add(shape, position=(0, 0, 1.5), mass=mass, name="heavy")
        result = rl.Simulation(scene).step()
        pushed = rl.body_forces(result)[1, 2]
        assert pushed == pytest.approx(9.81, rel=5e-4 if told else 1e-7)
        assert bool(result.doubt) == told
        if told:
            assert "forces on 'light' are 2e+12 times" in result.doubt
            assert "known to 0.04 %" in result.doubt and result.doubt in result.message


def test_what_flies_freely_has_no_load_to_leave_open():
    """Property: a ball whose only contact pushes by rounding is not told of; it was said that its
    forces were "off by 100 % of the body's own load"."""
    scene = two_balls(1e-3)
    result = rl.Simulation(scene).step()
    load, missing, force = (
        x.copy() for x in (result.load, result.compatible.imbalance, result.classic.force)
    )
    touching = int((result.contacts.body == scene.bodies.names.index("light")).any(axis=1).argmax())
    load[-6:], missing[-6:], force[touching] = 0.0, 0.0, 1e-28
    load[-4] = missing[-4] = 1e-28
    assert not replace(
        result,
        load=load,
        classic=replace(result.classic, force=force),
        compatible=replace(result.compatible, imbalance=missing),
    ).doubt
