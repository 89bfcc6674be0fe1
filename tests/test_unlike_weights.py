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


@pytest.mark.parametrize("shape", [rl.Box((2, 2, 2)), rl.Sphere(1)])
@pytest.mark.parametrize("mass", [1e8, 1e12])
def test_friction_is_not_blamed_for_what_weights_do(shape, mass):
    """Contract: both stand still, a motion that friction does not keep from. Forces of opposite
    sides of the light one were said to lock it: they change the heavy one's velocity by little."""
    scene, rough = rl.Scene(dt=1e-3), rl.Material(friction=0.5)
    scene.add(rl.HalfSpace(), position=(0, 0, 0), material=rough)
    scene.add(shape, position=(0, 0, 1), mass=1, material=rough)
    scene.add(shape, position=(0, 0, 3), mass=mass, material=rough)
    answer = rl.Simulation(scene).step().classic
    assert answer.locked is None
    assert answer.status in (rl.Status.CONVERGED, rl.Status.STALLED)
    assert "friction locks" not in answer.message


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


@pytest.mark.parametrize(
    "law, mass", [("hooke", 1e5), ("hooke", 1e8), ("hooke", 1e12), ("hertz", 1e5), ("hertz", 1e8)]
)
def test_a_rough_kilogramme_on_a_rough_mountain(law, mass):
    """Closed form: 9.81 N on the upper block. It bore 0.25 % less beside 1e8 kg, and nothing beside
    1e12 kg, converged, since forces were balanced to a part of the largest."""
    rough = rl.Material(friction=0.5)
    scene = rl.Scene(dt=1e-3, law=law)
    scene.add(rl.HalfSpace(), position=(0, 0, 0), material=rough)
    scene.add(rl.Box((1, 1, 0.5)), position=(0, 0, 0.25), mass=mass, material=rough)
    scene.add(
        rl.Box((0.4, 0.4, 0.4)), position=(0.1, 0.05, 0.7), mass=1, material=rough, name="light"
    )
    simulation = rl.Simulation(scene)
    for _ in range(2):  # from nothing, and from what contacts remember
        result = simulation.step()
        assert result.converged and not result.doubt
        # step 1 balances light bodies to 1e-8, a hundred tolerances
        assert rl.body_forces(result)[2, 2] == pytest.approx(9.81, rel=1e-7)


@pytest.mark.parametrize("weight", [1e5, 1e7])
def test_a_light_beam_on_two_heavy_blocks_shares_as_on_light_ones(weight):
    """Property: all contacts bear and stick, so that forces are linear in the loads; those of the
    beam (three contacts, the last two on one block) do not feel what the blocks weigh, which give
    way under the beam as its own contacts do."""
    # columns x, y of either block, x, y and turn of the beam; contacts: two floors, three supports
    B, T = np.zeros((5, 7)), np.zeros((5, 7))
    for i, block in enumerate((0, 1)):
        B[i, 2 * block + 1] = T[i, 2 * block] = 1.0
    for i, (block, arm) in enumerate([(0, -1.0), (1, 0.2), (1, 1.0)], start=2):
        B[i, [2 * block + 1, 5, 6]] = -1.0, 1.0, arm
        T[i, [2 * block, 4]] = -1.0, 1.0

    def supports(weight):
        found = rl.compatible_forces(
            B,
            [0, weight, 0, weight, 0.1, 1.0, 0.05],
            tangential=T,
            tangential_stiffness=0.4,
            friction=0.9,
            blocks=[0, 2, 4, 7],
        )
        assert found.converged and not found.sliding.any()
        return np.column_stack([found.force, found.tangential_force])[2:]

    # last digits of forces of 1e7 are 1e-9
    np.testing.assert_allclose(supports(weight), supports(1.0), rtol=1e-8)


def test_a_rough_body_left_unbalanced_is_told():
    """Contract: imbalance beyond a body's own load is told of steps with friction too."""
    scene = two_balls(1e-3)
    for body in (1, 2):
        scene.set_pair_friction(0, body, 0.5)
    result = rl.Simulation(scene).step()
    missing = result.compatible.imbalance.copy()
    missing[14] = -0.3 * result.load[14]
    left = replace(result, compatible=replace(result.compatible, imbalance=missing))
    assert "forces on 'light' are off by up to 30 %" in left.doubt
