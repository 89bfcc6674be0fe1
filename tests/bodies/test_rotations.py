"""Rotations as quaternions."""

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.bodies import State, rotations
from rigidlimit.bodies.mass import world_inertia
from rigidlimit.bodies.motion import move
from tests.problems import from_rotation_vector


@pytest.mark.parametrize("size", [0.0, 1e-9, 1e-3, 1.0, 20.0])
def test_turned(size):
    """Reference twin: the product with the quaternion of the turn, brought to length one."""
    rng = np.random.default_rng(0)
    q = rotations.normalized(rng.normal(size=(20, 4)))
    theta = size * rng.normal(size=(20, 3))
    expected = rotations.normalized(rotations.multiply(from_rotation_vector(theta), q))
    # a dozen operations on numbers of order one
    np.testing.assert_allclose(rotations.turned(q, theta), expected, atol=1e-15)


@pytest.mark.parametrize("spin", [1e-17, 1e-3, 5.0])
def test_precession_keeps_momentum_and_energy(spin):
    """Property: free bodies of unequal inertia keep angular momentum and energy to rounding, at
    turns of up to 0.5 a step, whatever the poses (eq. 13's implicit midpoint)."""
    rng = np.random.default_rng(1)
    scene = rl.Scene(gravity=(0, 0, 0))
    for k in range(6):
        scene.add(
            rl.Box(rng.uniform(0.1, 1.0, 3)),
            position=(10.0 * k, 0, 0),
            mass=2.0,
            orientation=rotations.normalized(rng.normal(size=4)),
        )
    bodies, state = scene.bodies, scene.state
    velocity = np.hstack([np.zeros((6, 3)), spin * rng.normal(size=(6, 3))])

    def kept(state):
        L = np.einsum("kij,kj->ki", world_inertia(bodies, state), state.velocity[:, 3:])
        return L, np.einsum("ki,ki->k", L, state.velocity[:, 3:])

    state = State(state.position, state.quaternion, velocity, 0.0)
    momentum, energy = kept(state)
    for _ in range(100):
        state = move(bodies, state, state.velocity, 0.05)
    L, E = kept(state)
    # a hundred steps of some thirty operations each
    np.testing.assert_allclose(L, momentum, atol=1e-13 * np.abs(momentum).max())
    np.testing.assert_allclose(E, energy, atol=1e-13 * energy.max())
