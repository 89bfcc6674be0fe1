"""Rough contacts that give back their load: forces from a history under a load of zero."""

import numpy as np
import pytest

import rigidlimit as rl

FRICTION = 0.4


def contacts(seed):
    """(rows B, rows T, load): a few contacts that some load presses together, and that one motion
    opens, the first column's: w_n = 1 > 2 mu > mu |w_t|, so that no forces balance without load."""
    rng = np.random.default_rng(seed)
    m, n = rng.integers(2, 7, 2)
    B, T = rng.normal(size=(2, m, n))
    B[:, 0], T[:, 0] = 1.0, rng.uniform(-2.0, 2.0, m)
    return B, T, B.T @ rng.uniform(0.5, 1.0, m)


@pytest.mark.parametrize("law", ["mindlin", "mindlin/force"])
@pytest.mark.parametrize("exponent", [2.0, 2.5])
@pytest.mark.parametrize("increments", [1, 4])
def test_no_load_leaves_no_force(law, exponent, increments):
    """Closed form (above): zero, an equilibrium. Some ended without one, as forces had to be zero
    to a part of the load, which is none. 1e-8: a hundred tolerances, as contacts are ill placed."""
    for seed in range(40):
        B, T, load = contacts(seed)
        law_of_all = dict(
            tangential=T,
            friction=FRICTION,
            stiffness=1e3,
            tangential_stiffness=7e2,
            exponent=exponent,
            tangential_law=law,
        )
        loaded = rl.compatible_forces(B, load, **law_of_all)
        assert loaded.converged
        known = dict(history=loaded.history, increments=increments)
        answer = rl.compatible_forces(B, np.zeros_like(load), **law_of_all, **known)
        assert answer.converged, (seed, answer.message)
        assert answer.state == "history"
        np.testing.assert_allclose(answer.force / loaded.force.max(), 0.0, atol=1e-8)
