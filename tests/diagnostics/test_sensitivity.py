"""Derivatives of compatible forces against finite differences and closed forms."""

import sys
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import rigidlimit as rl
from rigidlimit.errors import InputError
from tests.problems import pyramid_gradient

module = sys.modules[rl.sensitivity.__module__]
BEAM = np.array([[1.0, -0.5], [1.0, 0.0], [1.0, 0.5]])  # columns: rise, turn


def packing(seed=0, base=4):
    """(B, load, stiffness, gap): a small pyramid with unlike contacts, none barely closed."""
    rng = np.random.default_rng(seed)
    B = pyramid_gradient(base)
    n = B.shape[1]
    load = B.T @ rng.uniform(0.5, 1.5, B.shape[0])
    return B, load, rng.uniform(0.3, 1.0, B.shape[0]), 0.02 * rng.normal(size=B.shape[0]), n


def central(function, h):
    return (function(h) - function(-h)) / (2 * h)


@pytest.mark.parametrize("exponent", [1.6, 2.0, 2.5, 3.0])
def test_forward_against_finite_differences(exponent):
    """Central differences of compatible_forces along random directions of ln k, g and F~."""
    B, load, k, gap, _ = packing()
    options = dict(exponent=exponent, tolerance=1e-12)
    at = rl.sensitivity(B, load, stiffness=k, exponent=exponent, gap_error=gap)
    assert at.smooth and at.active.sum() > 40
    rng = np.random.default_rng(1)
    dk, dg = rng.normal(size=(2, len(k)))
    dF = B.T @ rng.normal(size=len(k))
    h = 1e-4
    cases = {
        "log_stiffness": (dk, lambda t: (load, k * np.exp(t * dk), gap)),
        "gap": (dg, lambda t: (load, k, gap + t * dg)),
        "load": (dF, lambda t: (load + t * dF, k, gap)),
    }
    for name, (direction, moved) in cases.items():

        def forces(t, moved=moved):
            F, stiffness, g = moved(t)
            return rl.compatible_forces(B, F, stiffness=stiffness, gap_error=g, **options).force

        slope = at.forward(**{name: direction})
        found = central(forces, h)
        # the error of central differences falls as h^2 = 1e-8, times third derivatives of 1e2
        np.testing.assert_allclose(slope, found, atol=2e-6 * np.abs(found).max())
    # all together are the sum
    both = at.forward(log_stiffness=dk, gap=dg, load=dF)
    parts = sum(at.forward(**{n: d}) for n, (d, _) in cases.items())
    np.testing.assert_allclose(both, parts, atol=1e-9 * np.abs(parts).max())


@pytest.mark.parametrize("exponent", [1.6, 2.0, 2.5])
def test_finite_differences_converge_with_slope_two(exponent):
    """Convergence slope: central differences come to the derivative as h^2."""
    if exponent == 2.0:
        exponent = 2.2  # Hooke is linear in the gaps: differences are exact
    B, load, k, gap, _ = packing(2)
    at = rl.sensitivity(B, load, stiffness=k, exponent=exponent, gap_error=gap)
    dg = np.random.default_rng(3).normal(size=len(k))
    slope = at.forward(gap=dg)
    steps = np.array([8e-3, 4e-3, 2e-3])
    errors = [
        np.abs(
            central(
                lambda t: rl.compatible_forces(
                    B, load, stiffness=k, exponent=exponent, gap_error=gap + t * dg,
                    tolerance=1e-12,
                ).force,
                h,
            )
            - slope
        ).max()
        for h in steps
    ]  # fmt: skip
    order = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert 1.7 < order < 2.4


@pytest.mark.parametrize("exponent", [1.6, 2.0, 2.5])
def test_products_and_matrix_agree(exponent):
    """Property: w . (J d) = (J^T w) . d, and the matrix holds both."""
    B, load, k, gap, _ = packing(4)
    at = rl.sensitivity(B, load, stiffness=k, exponent=exponent, gap_error=gap)
    rng = np.random.default_rng(5)
    w = rng.normal(size=len(k))
    back = dict(zip(("log_stiffness", "gap", "load"), at.reverse(w), strict=True))
    for name, gradient in back.items():
        d = rng.normal(size=len(gradient))
        if name == "load":
            d = B.T @ rng.normal(size=len(k))
        J = at.matrix(name)
        assert J.shape == (len(k), len(d))
        forward = at.forward(**{name: d})
        scale = np.abs(forward).max()
        # two solves, each to 1e-13 of its right side
        np.testing.assert_allclose(J @ d, forward, atol=1e-9 * scale)
        np.testing.assert_allclose(J.T @ w, gradient, atol=1e-9 * np.abs(gradient).max())
        assert w @ forward == pytest.approx(gradient @ d, abs=1e-9 * scale * len(k))


def test_properties():
    """Property: a common factor of all k changes nothing (without gaps); gaps that a motion
    closes change nothing; changes keep the balance."""
    B, load, k, _, n = packing(6)
    at = rl.sensitivity(B, load, stiffness=k, exponent=2.5)
    rng = np.random.default_rng(7)
    size = at.force.max()
    assert np.abs(at.forward(log_stiffness=1.0)).max() < 1e-9 * size
    assert np.abs(at.forward(gap=B @ rng.normal(size=n))).max() < 1e-8 * size
    change = at.forward(log_stiffness=rng.normal(size=len(k)))
    assert np.abs(B.T @ change).max() < 1e-9 * np.abs(change).max()
    dF = rng.normal(size=n)
    np.testing.assert_allclose(B.T @ at.forward(load=dF), dF, atol=1e-8)


def test_beam_in_closed_form():
    """Closed form, equal stiffness k: f_i = 10 k_i/sum k while symmetric; raising the middle gap
    by g takes 2/3 k g from the middle contact."""
    at = rl.sensitivity(BEAM, [10.0, 0.0], stiffness=5.0)
    np.testing.assert_allclose(
        at.forward(log_stiffness=[0, 1, 0]), np.array([-1, 2, -1]) * 10 / 9, atol=1e-10
    )
    np.testing.assert_allclose(at.forward(gap=[0, 1, 0]), 5 * np.array([1, -2, 1]) / 3, atol=1e-10)
    assert at.mean_overlap == pytest.approx(10 / 15)


@pytest.mark.parametrize("exponent", [2.0, 2.5])
def test_contact_that_touches_without_force(exponent):
    """A load at 5/3 of the way lifts the beam's left end to exactly zero force: directional.

    Load (10, 10/3): forces 10/3 + (-10/3, 0, 10/3). One-sided differences show the two slopes
    for Hooke, of which ``reverse`` gives the open one; for p > 2 both are the same.
    """
    load = np.array([10.0, 10 / 3])
    if exponent != 2.0:  # c_left = 0: turn by c/l of the ends, f = c^(p-1) at middle and right
        c = (10 / (1 + 2 ** (exponent - 1))) ** (1 / (exponent - 1))
        f = np.array([0.0, c ** (exponent - 1), (2 * c) ** (exponent - 1)])
        load = BEAM.T @ f
    at = rl.sensitivity(BEAM, load, exponent=exponent)
    assert at.weak.tolist() == [True, False, False] and at.smooth == (exponent > 2)

    def forces(t, direction):
        return rl.compatible_forces(
            BEAM, load, exponent=exponent, gap_error=t * np.array(direction), tolerance=1e-13
        ).force

    for direction in ([1.0, 0, 0], [-1.0, 0, 0], [0.3, -1.0, 0.2], [0, 1.0, 0]):
        h = 1e-5
        slope = (forces(h, direction) - forces(0, direction)) / h
        # Hooke is linear beyond the kink; Hertz' third contact comes in as h^(3/2)
        atol = 1e-7 if exponent == 2.0 else 2e-2
        np.testing.assert_allclose(at.forward(gap=direction), slope, atol=atol)
    if exponent == 2.0:
        opens, closes = at.forward(gap=[1.0, 0, 0]), at.forward(gap=[-1.0, 0, 0])
        assert not np.allclose(opens, -closes)
        # the open branch: two contacts carry what they must
        np.testing.assert_allclose(at.matrix("gap"), 0, atol=1e-9)


def test_rattler_does_not_spoil_the_derivative():
    """A body that touches the others without a load: no force there, whatever changes."""
    B = np.zeros((5, 4))
    B[:3, :2] = BEAM
    B[3, :3] = [-1.0, 0.0, 1.0]  # rests on nothing but the beam, without weight
    B[4, 3] = 1.0
    at = rl.sensitivity(B, [10.0, 0.0, 0.0, 0.0])
    change = at.forward(log_stiffness=[0, 1, 0, 1, 1])
    np.testing.assert_allclose(change, np.array([-1, 2, -1, 0, 0]) * 10 / 9, atol=1e-9)


def test_held_degrees_of_freedom():
    """Closed form: a beam that cannot turn shares the load by stiffness; no change by the load
    on the held one."""
    at = rl.sensitivity(BEAM, [10.0, 5.0], fixed=[False, True])
    np.testing.assert_allclose(at.forward(load=[1.0, 9.0]), 1 / 3, atol=1e-12)


def test_large_network_by_conjugate_gradients():
    """Cross-method: above ``direct_size`` the solves are iterative; same as dense algebra."""
    B, load, k, gap, n = packing(8, base=8)
    assert n > 300
    at = rl.sensitivity(B, load, stiffness=k, gap_error=gap)
    d = np.random.default_rng(9).normal(size=len(k))
    D, dense = np.diag(at.tangent), B.toarray()
    du = np.linalg.lstsq(dense.T @ D @ dense, dense.T @ (at.force * d), rcond=1e-12)[0]
    expected = at.force * d - D @ (dense @ du)
    np.testing.assert_allclose(
        at.forward(log_stiffness=d), expected, atol=1e-9 * np.abs(expected).max()
    )


def test_gap_noise_of_the_beam():
    """Closed form: df = -k P g, P the projection on (1, -2, 1)/sqrt 6: deviations k s (1, 2, 1)/
    sqrt 6; samples of small noise give the same within their own spread."""
    s = 1e-3
    found = rl.gap_noise_spread(BEAM, [10.0, 0.0], s, stiffness=5.0)
    known = 5 * s * np.array([1, 2, 1]) / np.sqrt(6)
    np.testing.assert_allclose(found.deviation, known, rtol=1e-9)
    sampled = rl.gap_noise_spread(
        BEAM, [10.0, 0.0], s, stiffness=5.0, method="sampled", samples=400
    )
    # a deviation from 400 samples has itself one of 1/sqrt(800) = 3.5 %: three of them
    np.testing.assert_allclose(sampled.deviation, known, rtol=0.11)
    assert sampled.samples == 400 and sampled.failed == 0 and "sampled" in sampled.method
    # noise far above the overlaps: contacts open, forces stay between 0 and their greatest
    wild = rl.gap_noise_spread(BEAM, [10.0, 0.0], 100.0, method="sampled", samples=50)
    assert (wild.deviation < [5, 10, 5]).all() and (wild.deviation > 1).all()


def test_gap_noise_of_large_systems(monkeypatch):
    """Cross-method: random directions against all derivatives."""
    B, load, k, _, _ = packing(10)
    exact = rl.gap_noise_spread(B, load, 1e-3, stiffness=k).deviation
    fewer = replace(module.SETTINGS, matrix_limit=10)
    monkeypatch.setattr(sys.modules[rl.gap_noise_spread.__module__], "SETTINGS", fewer)
    found = rl.gap_noise_spread(B, load, 1e-3, stiffness=k, samples=300)
    assert "random directions" in found.method
    # 300 signs: deviations within 1/sqrt(600) = 4 % each, the worst of 90 within four times that
    np.testing.assert_allclose(found.deviation, exact, rtol=0.16, atol=1e-9)


@pytest.mark.parametrize(
    ("call", "fragment"),
    [
        (lambda at: at.forward(gap=[1.0]), "gap has shape"),
        (lambda at: at.reverse([1.0]), "weight has shape"),
        (lambda at: at.matrix("stiffness"), "by is 'stiffness'"),
        (lambda at: rl.sensitivity(BEAM, [-10.0, 0.0]), "no forces to differentiate"),
        (lambda at: rl.gap_noise_spread(BEAM, [10.0, 0.0], -1.0), "size of contact"),
        (lambda at: rl.gap_noise_spread(BEAM, [10.0, 0.0], 1.0, method="x"), "method is 'x'"),
        (lambda at: rl.gap_noise_spread(BEAM, [10.0, 0.0], 1.0, samples=1), "samples is 1"),
    ],
)
def test_mistakes(call, fragment):
    """Bad input: one error."""
    with pytest.raises(InputError, match=fragment):
        call(rl.sensitivity(BEAM, [10.0, 0.0]))


def test_matrix_of_many_contacts_is_refused(monkeypatch):
    """Beyond the limit the products are pointed to."""
    monkeypatch.setattr(module, "SETTINGS", replace(module.SETTINGS, matrix_limit=2))
    with pytest.raises(InputError, match="forward and reverse"):
        rl.sensitivity(sp.csr_array(BEAM), [10.0, 0.0]).matrix("gap")
