"""Newton's step on the natural map of Coulomb's law, against finite differences of the map."""

import numpy as np
import pytest

from rigidlimit.equilibrium.natural_map import forces_along, linearized, natural_map


@pytest.mark.parametrize("d", [2, 3])
def test_step_is_that_of_the_derivative(d):
    """df = b - D du solves (1 - (1 - delta) P') df + rho P' du = -F: P' by central differences of
    F over f and u (property). Step 1e-6: truncation 1e-12 and rounding 1e-10 over slopes of 100."""
    rng = np.random.default_rng(3)
    m, h, delta = 40, 1e-6, 0.01
    f, u, du = (rng.normal(size=(m, d)) for _ in range(3))
    mu, rho = rng.uniform(0.1, 1.0, m), rng.uniform(0.5, 2.0, m)
    mu[:3] = 0.0
    F, D, b, df = (np.empty((m, d)), np.empty((m, d, d)), np.empty((m, d)), np.empty((m, d)))
    norm, worst, place = natural_map(f, u, mu, rho, F)
    linearized(f, u, mu, rho, delta, F, D, b)
    forces_along(D, b, du, df)

    def along(df, du):
        ends = np.empty((2, m, d))
        for end, sign in zip(ends, (1.0, -1.0), strict=True):
            natural_map(f + sign * h * df, u + sign * h * du, mu, rho, end)
        return (ends[0] - ends[1]) / (2.0 * h)

    softened = df - along(df, 0.0 * du)  # P' df
    np.testing.assert_allclose(along(df, du) + delta * softened, -F, rtol=0.0, atol=1e-6)
    sizes = np.linalg.norm(F, axis=1) / rho
    assert place == np.argmax(sizes)
    assert (norm, worst) == pytest.approx((np.linalg.norm(sizes), sizes.max()), rel=1e-12)
