"""Least energy near the edge of what friction carries, where other interior paths end short.

Evidence: the peer Clarabel; energy and complementarity; the edge itself is a regression.
"""

import clarabel
import numpy as np
import pytest
import scipy.sparse as sp

from rigidlimit.equilibrium.dense import between_bodies
from rigidlimit.equilibrium.law import ContactLaw
from rigidlimit.equilibrium.solve import Settings, solve
from tests.equilibrium.problems import rough_pyramid


def least_energy(B, load, law, d):
    found, _ = solve(
        between_bodies(B, -load, d, shift=1e-14),
        law,
        np.zeros(len(load)),
        tolerance=1e-10,
        force_size=1.0,
        settings=Settings(newton=0),
    )
    assert found.converged
    return found


def cone_program(P, q, A, b, mu):
    """min x P x / 2 + q x, A x = b, by Clarabel; the first 3 m of x in the cones."""
    rows = np.arange(3 * len(mu))
    G = sp.csr_array(
        (-np.where(rows % 3, 1.0, np.repeat(mu, 3)), (rows, rows)), (len(rows), len(q))
    )
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    cones = [clarabel.ZeroConeT(len(b))] + [clarabel.SecondOrderConeT(3)] * len(mu)
    A, b = sp.csc_matrix(sp.vstack([A, G])), np.r_[b, np.zeros(len(rows))]
    solution = clarabel.DefaultSolver(sp.csc_matrix(P), q, A, b, cones, settings).solve()
    assert "Solved" in str(solution.status)
    return np.array(solution.x)


@pytest.mark.parametrize("softest", [1.0, 1e-3])
def test_pyramid_pushed_almost_over(softest):
    """Peer: Clarabel, at 0.999 of the largest force that may push each ball sideways."""
    B, weight, _ = rough_pyramid(3)
    m = B.shape[0] // 3
    mu = np.full(m, 0.1)
    push = np.tile([1.0, 0, 0, 0, 0, 0], len(weight) // 6)
    along = sp.hstack([B.T, -push[:, None]])
    nothing = sp.csc_matrix((3 * m + 1, 3 * m + 1))
    largest = cone_program(nothing, -np.eye(3 * m + 1)[-1], along, weight, mu)[-1]
    load = weight + 0.999 * largest * push
    k = np.random.default_rng(1).choice([1.0, softest], m)
    law = ContactLaw(k, 2 / 7 * k, mu, np.zeros((m, 2)), associated=True)
    found = least_energy(B, load, law, 3)
    give = np.column_stack([1.0 / k, 3.5 / k, 3.5 / k]).ravel()
    reference = cone_program(sp.diags_array(give), np.zeros(3 * m), B.T, load, mu).reshape(m, 3)
    # Clarabel's forces are those of objectives to 1e-12
    np.testing.assert_allclose(found.force, reference, atol=1e-6 * np.abs(reference).max())
    assert found.iterations <= 40  # 15 and 31; without the cones' scaling 62 to 81, and no end


def test_pyramid_on_the_edge():
    """Where a stiffness of 1e-10 holds motions that no contact resists, 2e-10 stays unbalanced."""
    B, weight, _ = rough_pyramid(3)
    m = B.shape[0] // 3
    push = np.tile([1.0, 0, 0, 0, 0, 0], len(weight) // 6)
    mu = np.full(m, 0.5)
    law = ContactLaw(np.ones(m), np.full(m, 2 / 7), mu, np.zeros((m, 2)), associated=True)
    # it turns over its lowest balls
    found = least_energy(B, weight + (1.0 - 1e-9) / np.sqrt(2.0) * push, law, 3)
    gap = law.energy_gap(found.displacement, found.force)
    assert 0.0 <= gap <= 1e-13 * law.work(found.force)
    assert found.residual < 1e-13


@pytest.mark.parametrize("d", [2, 3])
def test_smooth_and_sliding_contacts_beside_rough_ones(d):
    """Property: balanced, in the cones, of no more energy than other forces that are; the openings
    w + C f do no work with the forces."""
    rng, m, n = np.random.default_rng(7), 40, 25
    B, mu = rng.normal(size=(m * d, n)), rng.uniform(0.1, 1.0, m)
    mu[::4] = 0.0
    slide = rng.normal(size=(m, d - 1))
    slide /= np.linalg.norm(slide, axis=1)[:, None]
    # others at the bounds of their cones too: the load is near the edge
    given = rng.uniform(0, 1, m)[:, None] * np.column_stack([np.ones(m), mu[:, None] * slide])
    slide[(np.arange(m) % 4) != 1] = 0.0
    load = given.ravel() @ B
    k_n, k_t = rng.uniform(0.5, 2, m), rng.uniform(0.2, 1, m)
    law = ContactLaw(k_n, k_t, mu, np.zeros((m, d - 1)), slide=slide, associated=True)
    found = least_energy(B, load, law, d)
    f, give = found.force, np.column_stack([1 / k_n] + [1 / k_t] * (d - 1))
    np.testing.assert_allclose(f.ravel() @ B, load, atol=1e-9)
    size = np.linalg.norm(f[:, 1:], axis=1)
    assert (f[:, 0] >= 0).all() and (size <= mu * f[:, 0] * (1 + 1e-12)).all()
    np.testing.assert_allclose(f[1::4, 1:], (mu * f[:, 0])[1::4, None] * slide[1::4], atol=1e-12)
    np.testing.assert_allclose((f * (give * f + found.displacement)).sum(axis=1), 0.0, atol=1e-8)
    assert (give * f * f).sum() <= (give * given * given).sum()
