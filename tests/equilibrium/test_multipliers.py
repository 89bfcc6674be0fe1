"""Forces that have to change by far more than residuals say."""

import numpy as np
import pytest
import scipy.sparse as sp

from rigidlimit.equilibrium.dense import Dense
from rigidlimit.equilibrium.mechanics import Bodies, Inertia
from rigidlimit.equilibrium.multipliers import Settings, residuals, rigid_contacts
from rigidlimit.equilibrium.natural_map import natural_map
from rigidlimit.equilibrium.natural_newton import Settings as NaturalSettings
from rigidlimit.equilibrium.natural_newton import natural_newton
from tests.equilibrium.problems import rough_pyramid

WEIGHT, PUSH, FRICTION = 2.0, 0.2, 0.4


def belts(slip):
    """A block on two belts of which one runs faster by ``slip``; unknowns x, z, turn; contacts at
    the height of its centre, normal first. The impulse of its weight is 2, of a push back 0.2."""
    rows = np.array([[0, 1, -1], [1, 0, 0], [0, 1, 1], [1, 0, 0]], float)
    offset = np.array([[0.0, 0.0], [0.0, -slip]])
    return Dense(rows, np.array([-PUSH, -WEIGHT, 0.0]), 2, rows=rows, offset=offset)


@pytest.mark.parametrize("slip", [1e-2, 1e-7])
@pytest.mark.parametrize("newton", [0, 30])
def test_stuck_contacts_that_disagree(slip, newton):
    """Closed form: both belts cannot hold the block. It goes with the slow one, and the fast one
    pulls with all its friction, mu W/2 = 0.4, so that the slow one holds 0.2 against it and the
    push. Sweeps change forces by the slip each, 4e6 of them for the small one; with and without
    Newton's method on the map before the multipliers. 1e-8: the residual of 1e-10, over what a
    belt's slip of 1e-7 is known by."""
    mechanics = belts(slip)
    rho = np.full(2, 2.0 / 3.0)  # tr W_ii = 2 + 1
    settings = Settings(natural=NaturalSettings(iterations=newton))
    options = {"scale": WEIGHT, "tolerance": 1e-11, "settings": settings}
    found = rigid_contacts(mechanics, np.full(2, FRICTION), rho, **options)
    assert found.converged
    u = mechanics.displacement(found.x)
    e = residuals(found.force, u, np.full(2, FRICTION), rho)
    assert e.max() <= 1e-11 * WEIGHT
    np.testing.assert_allclose(found.force, [[1.0, -0.2], [1.0, 0.4]], rtol=0.0, atol=1e-8)
    np.testing.assert_allclose(u[:, 1], [0.0, -slip], rtol=0.0, atol=1e-10)


def test_the_separate_sequence_goes_on_where_it_ended():
    """The belts above by turns that may end after each system, with ten sweeps between them.
    Begun anew each time, with springs rho, a turn follows forces for a few of the 4e6 sweeps that
    they need. Neither Newton's method on the map nor interior paths help. 1e-8 as above."""
    mechanics, mu, rho = belts(1e-7), np.full(2, FRICTION), np.full(2, 2.0 / 3.0)
    settings = Settings(
        least=1, worth=10**9, sweeps=10, most=10, paths=0,
        natural=NaturalSettings(iterations=0), work=200,
    )  # fmt: skip
    found = rigid_contacts(mechanics, mu, rho, scale=WEIGHT, tolerance=1e-11, settings=settings)
    assert found.converged
    np.testing.assert_allclose(found.force, [[1.0, -0.2], [1.0, 0.4]], rtol=0.0, atol=1e-8)


def test_newton_that_makes_no_way_is_given_up():
    """Property: a rough pyramid, cold: the norm does not halve in each system. With patience for
    one Newton's method ends early, with forces no worse than it began with."""
    B, load, _ = rough_pyramid(5)
    m, n = B.shape[0] // 3, B.shape[1]
    eye = sp.identity(n, format="csr")
    bodies = Bodies(B, -load, 3, inertia=Inertia(eye, eye, sp.csr_array(B)))
    W = (B @ B.T).diagonal().reshape(-1, 3).sum(axis=1)
    start = np.zeros((m, 3))
    F = np.empty_like(start)
    u = bodies.displacement(bodies.start(start))
    scale = float(np.abs(u).max())
    mu, rho = np.full(m, 0.5), 3.0 / W
    _, e, _ = natural_map(start, u, mu, rho, F)
    found = natural_newton(
        bodies, mu, rho, scale=scale, tolerance=1e-12, force=start,
        settings=NaturalSettings(patience=1),
    )  # fmt: skip
    assert 0 < found.solves < NaturalSettings().iterations
    assert 1e-12 < found.residual <= e / scale
