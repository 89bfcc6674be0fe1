"""The law of a rough contact: derivative, secant, closed forms."""

import numpy as np
import pytest

from rigidlimit.equilibrium.law import ContactLaw
from rigidlimit.equilibrium.multipliers import residuals


def law_of(m, d, p, rng, *, slide=False, associated=False):
    direction = None
    if slide:
        direction = rng.normal(size=(m, d - 1))
        direction /= np.linalg.norm(direction, axis=1)[:, None]
        direction[::2] = 0.0
    kept = np.zeros((m, d - 1)) if associated else 0.1 * rng.normal(size=(m, d - 1))
    k_n, k_t, mu = rng.uniform(0.5, 2, m), rng.uniform(0.2, 1, m), rng.uniform(0.1, 1, m)
    return ContactLaw(k_n, k_t, mu, kept, p, direction, associated)


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize(
    ("p", "slide", "associated"),
    [
        (2.0, False, False),
        (2.5, False, False),
        (2.5, True, False),
        (2.0, False, True),
        (2.0, True, True),
    ],
)
def test_derivative(d, p, slide, associated):
    """D = -df/dw, sticking, slipping and open contacts, against central differences."""
    rng = np.random.default_rng(5)
    law = law_of(400, d, p, rng, slide=slide, associated=associated)
    w = rng.normal(size=(400, d))
    _, D = law.respond(w)
    h = 1e-6
    step = np.stack(
        [(law.force(w + h * e) - law.force(w - h * e)) / (2 * h) for e in np.eye(d)], axis=2
    )
    off = np.abs(step + D).max(axis=(1, 2))
    smooth = off < 1e-6  # differences: h^2 beside rounding / h; a few straddle a kink by chance
    assert smooth.mean() > 0.99


@pytest.mark.parametrize("p", [2.0, 2.5])
@pytest.mark.parametrize("slide", [False, True])
def test_secant_gives_the_force(p, slide):
    """f = b - D w with b the kept force as far as the bound allows, nothing along the normal."""
    rng = np.random.default_rng(6)
    law = law_of(200, 3, p, rng, slide=slide)
    w = rng.normal(size=(200, 3))
    force = law.force(w)
    D = law.secant(w, force)
    b = force + np.einsum("mab,mb->ma", D, w)
    np.testing.assert_allclose(b[:, 0], 0.0, atol=1e-13)
    free = (w[:, 0] < 0.0) & ~law.sliding
    part = np.where(free, D[:, 1, 1], 0.0)
    whole = law.tangential * np.maximum(-w[:, 0], 1e-300) ** (p - 2.0)
    np.testing.assert_allclose(b[free, 1:], (part / whole)[free, None] * law.kept[free], atol=1e-12)


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("p", [2.0, 2.5])
def test_springs_bear_forces_there(d, p):
    """Reference twin: the law, at the displacement at which springs bear given forces, answers with
    them, in open, sticking and sliding contacts. From the displacement that the forces come from
    that is no way, along the slip too."""
    rng = np.random.default_rng(11)
    law = law_of(400, d, p, rng)
    there = rng.normal(size=(400, d))
    force = law.force(there)
    open_ = force[:, 0] == 0.0
    slides = np.linalg.norm(force[:, 1:], axis=1) >= (1 - 1e-12) * law.friction * force[:, 0]
    assert open_.any() and (slides & ~open_).any() and not slides.all()
    # 1e-9 of mu f_n is how near to the bound contacts slide, so that sliding ones are off by it
    np.testing.assert_allclose(law.bearing(force, there), there, rtol=0.0, atol=1e-8)
    elsewhere = law.bearing(force, rng.normal(size=(400, d)))
    np.testing.assert_allclose(law.force(elsewhere), force, rtol=0.0, atol=1e-14)


def test_residual_of_one_contact():
    """e = |f - P(f - rho u)| / rho by hand: opening, sticking and sliding."""
    rho, mu = np.full(4, 2.0), np.full(4, 0.5)
    force = np.array([[1.0, 0.0, 0.0], [1.0, 0.3, 0.0], [1.0, 0.5, 0.0], [0.0, 0.0, 0.0]])
    u = np.array([[0.1, 0.0, 0.0], [0.0, 0.0, 0.1], [0.0, -3.0, 0.0], [0.7, 0.2, 0.0]])
    expected = [0.1, 0.1, 0.0, 0.0]  # too open; slips with friction to spare; slides; is open
    np.testing.assert_allclose(residuals(force, u, mu, rho), expected, atol=1e-15)


def test_compiled_code_sees_one_kind_of_arrays():
    """Contract: a view of some columns and arrays that may not be written do not have kernels
    compiled again; the values are theirs."""
    force = np.arange(12.0).reshape(4, 3)
    stiffness = np.broadcast_to(2.0, 4)
    law = ContactLaw(stiffness, stiffness, stiffness, force[:, 1:]).compiled
    for array in (law.normal, law.tangential, law.friction, law.kept, law.slide):
        assert array.flags.c_contiguous and array.flags.writeable
    np.testing.assert_array_equal(law.kept, force[:, 1:])
    np.testing.assert_array_equal(law.normal, stiffness)
