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
def test_a_light_ball_bears_its_weight_or_it_is_told(radius):
    """Closed form: each bears its weight, to the 1e-5 from which on it is told; of a ball of 1e-15
    m nothing was left, "at rest" and without a word."""
    scene = two_balls(radius)
    result = rl.Simulation(scene).step()
    right = np.allclose(result.force / (9.81 * scene.bodies.mass[1:]), 1.0, rtol=1e-5)
    told = "forces on 'light' are off by up to" in result.doubt
    assert right != told and (right or radius < 1e-6)


def test_a_kilogramme_on_a_mountain():
    """Closed form: 9.81 N; step 2 knows forces to last digits of those of 1e12 kg below."""
    scene = rl.Scene(dt=1e-3)
    scene.add(rl.HalfSpace(), position=(0, 0, 0))
    scene.add(rl.Sphere(1), position=(0, 0, 1), mass=1e12, name="mountain")
    scene.add(rl.Sphere(1), position=(0, 0, 3), mass=1, name="climber")
    result = rl.Simulation(scene).step()
    right = abs(result.force.min() - 9.81) < 1e-5 * 9.81
    assert right != ("forces on 'climber' are off by up to" in result.doubt)


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
