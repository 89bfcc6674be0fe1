"""Silo and shear box: what they state is true, by the DEM and by contact dynamics."""

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.penalty import PenaltySimulation


def on(scene, result, name):
    """Force (3,) [N] of grains on a body."""
    body = scene.index(name)
    mine = (result.contacts.body == body).any(axis=1)
    sign = np.where(result.contacts.body[mine, 1] == body, 1.0, -1.0)
    return (sign[:, None] * result.force_vectors[mine]).sum(axis=0)


def test_walls_of_a_silo_carry_by_their_friction():
    """Analytic: once grains hang on the rising walls, these and the floor carry the weight, walls
    by no more than their friction."""
    scene = rl.scenes.silo(40, wide=4)
    dem = PenaltySimulation(scene, damping=0.5)
    result = dem.run(until=0.8)
    weight = 9.81 * scene.bodies.mass.sum()
    names = ("left wall", "right wall")
    left, right = (on(scene, result, name) for name in names)
    carried = -on(scene, result, "floor")[1] - left[1] - right[1]
    # what moves still, slower than the walls, takes part of the weight
    assert carried == pytest.approx(weight, rel=0.02)
    friction = (left[1] + right[1]) / (left[0] - right[0])
    assert 0.1 < friction <= 0.2 + 1e-9  # some contacts roll


def test_shear_box_bears_its_lid():
    """Analytic: at rest the floor and the walls carry the lid's load, and grains push its halves
    apart by equal forces."""
    scene = rl.scenes.shear_box(24, wide=6, speed=0.0)
    rest = rl.settle(scene, by="dem")
    result, load = rest.simulation.last, scene.reference["pressure"] * scene.reference["width"]
    assert rest.simulation.at_rest and result.compatible.state == "history"
    walls = [f"{half} {side} wall" for half in ("lower", "upper") for side in ("left", "right")]
    names = ["floor", *walls]
    forces = np.array([on(scene, result, name) for name in names])
    np.testing.assert_allclose(forces.sum(axis=0)[1], -load, rtol=1e-7)  # settled to 1e-8
    across = forces.sum(axis=0) + on(scene, result, "lid")
    np.testing.assert_allclose(across[0], 0.0, atol=1e-7 * load)
