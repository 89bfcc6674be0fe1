"""Gauss-Seidel and projected gradients with friction."""

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.dynamics.rough_sweeps import cone_projection
from rigidlimit.errors import InputError
from rigidlimit.status import Status

BALLS, WEIGHT = 6, 2.0


def landing(solver, friction=0.4, speed=1.0, **options):
    """Step 1 of unequal balls in a row that land on a floor and on one another, each with a slip;
    columns x, z and turn of each."""
    rng = np.random.default_rng(2)
    radius = rng.uniform(0.5, 1.0, BALLS)
    rows, tangents = [], []
    for i in range(BALLS):
        row, rub = np.zeros((2, 3 * BALLS))
        row[3 * i + 1], rub[3 * i : 3 * i + 3] = 1.0, (1.0, 0.0, -radius[i])
        rows.append(row)
        tangents.append(rub)
    for i in range(BALLS - 1):
        row, rub = np.zeros((2, 3 * BALLS))
        row[3 * i], row[3 * i + 3] = -1.0, 1.0
        rub[3 * i + 1 : 3 * i + 3] = -1.0, -radius[i]
        rub[3 * i + 4 : 3 * i + 6] = 1.0, -radius[i + 1]
        rows.append(row)
        tangents.append(rub)
    mass = np.column_stack([np.ones(BALLS), np.ones(BALLS), 0.5 * radius**2]).ravel()
    push = np.tile([0.0, -WEIGHT, 0.0], BALLS)
    velocity = speed * rng.normal(size=3 * BALLS)
    return rl.contact_dynamics(
        mass, np.array(rows), np.zeros(len(rows)), velocity, push, 0.1, solver=solver,
        tangential=np.array(tangents), friction=friction, **options,
    )  # fmt: skip


@pytest.mark.parametrize("order", ["natural", "random", "symmetric", np.arange(10, -1, -1)])
def test_sweeps_find_coulomb_friction(order):
    """Cross-solver: the motion of the method of multipliers, unique here, in any order."""
    exact, swept = landing("newton"), landing("pgs", order=order)
    assert exact.converged and swept.converged and swept.solver == "pgs"
    assert 0 < exact.sliding.sum() < 11
    # both residuals are 1e-10 of velocities of a few metres per second
    np.testing.assert_allclose(swept.velocity, exact.velocity, atol=1e-8)
    np.testing.assert_array_equal(swept.sliding, exact.sliding)


def test_relaxation_opens_what_slides():
    """Property: the solution of the convex relaxation obeys Coulomb's cones, and opens sliding
    contacts by mu |u_t|; its status and residual say that it is not Coulomb's law."""
    found = landing("apgd")
    assert found.status is Status.RELAXED and found.residual > 1e-2 and not found.converged
    assert "convex relaxation" in found.message
    slip = np.abs(found.tangential_velocity[:, 0])
    slides = found.sliding
    # its residual of 1e-10
    np.testing.assert_allclose(found.slack[slides], 0.4 * slip[slides], atol=1e-8)
    bound = 0.4 * found.force + 1e-9
    assert slides.any() and (np.abs(found.tangential_force[:, 0]) <= bound).all()
    # where nothing slides or opens the two are the same
    rest = landing("apgd", speed=0.0)
    assert rest.converged and not rest.sliding.any()
    np.testing.assert_allclose(rest.force[:BALLS], WEIGHT, atol=1e-8)


def test_cone_projection():
    """Property: in the cone, and the error is normal to it (Moreau)."""
    rng = np.random.default_rng(0)
    f, mu = rng.normal(size=(200, 3)), rng.uniform(0, 2, 200)
    near = cone_projection(f, mu)
    assert (np.linalg.norm(near[:, 1:], axis=1) <= mu * near[:, 0] + 1e-14).all()
    np.testing.assert_allclose(((f - near) * near).sum(axis=1), 0.0, atol=1e-14)
    # f - near is in the polar cone
    assert ((f - near)[:, 0] <= -mu * np.linalg.norm((f - near)[:, 1:], axis=1) + 1e-14).all()


def test_faults():
    with pytest.raises(InputError, match="solver 'pgs' has no option 'subspace' for contacts with"):
        landing("pgs", subspace=False)
    with pytest.raises(InputError, match="solver 'newton' has no option 'order'"):
        landing("newton", order="random")
    result = landing("pgs", max_iterations=3)
    assert result.status is Status.MAX_ITERATIONS and result.iterations == 3
