"""Rough contacts: degree, intervals, least friction, squeeze, load factor, certificate."""

import clarabel
import numpy as np
import pytest
import scipy.sparse as sp

import rigidlimit as rl
from rigidlimit.diagnostics.cones.sensitivity import BY
from rigidlimit.errors import InputError

A45 = np.sqrt(0.5)
GROOVE = dict(
    B=np.array([[A45, A45, 0.0], [-A45, A45, 0.0]]),
    tangential=np.array([[A45, -A45, 0.5], [A45, A45, 0.5]]),
)
"""A disk in a groove of 45 degrees; columns: along, up, turn."""


def block(half_width=1.0, half_height=0.5, mu=0.7):
    """A block on a floor, on two corners; columns: along, up, turn."""
    return dict(
        B=np.array([[0.0, 1.0, -half_width], [0.0, 1.0, half_width]]),
        tangential=np.array([[1.0, 0.0, half_height], [1.0, 0.0, half_height]]),
        friction=mu,
    )


def box(mu=0.5, rng=None):
    """A box on a floor in space, on four corners or more; columns: x, y, z, three turns."""
    corners = [(x, y, -0.5) for x in (-1, 1) for y in (-1, 1)]
    if rng is not None:
        corners += list(np.column_stack([rng.uniform(-1, 1, (3, 2)), np.full(3, -0.5)]))
    B, T = [], []
    for r in np.array(corners):
        for rows, n in ((B, (0, 0, 1.0)), (T, (1.0, 0, 0)), (T, (0, 1.0, 0))):
            rows.append(np.concatenate([n, np.cross(r, n)]))
    return dict(B=np.array(B), tangential=np.array(T), friction=mu)


def test_groove_in_closed_form():
    """Closed form: both sides rub alike, f_t = t, and f_n = W/sqrt(2) - t while |t| <= mu f_n; one
    degree of freedom, between t = -mu f_n and t = mu f_n."""
    mu, W = 0.3, 10.0
    found = rl.determinacy(**GROOVE, load=[0, W, 0], friction=mu)
    ends = [W * A45 / (1 + mu), W * A45 / (1 - mu)]
    assert found.degree == 1 and not found.determined.any()
    # tolerances of the linear programs, 1e-9 of the load
    np.testing.assert_allclose(found.interval[:, 0], [ends, ends], atol=1e-7)
    t = [-mu * ends[1], mu * ends[0]]
    np.testing.assert_allclose(np.sort(np.abs(found.interval[0, 1])), np.sort(np.abs(t)), atol=1e-7)
    slides = rl.determinacy(**GROOVE, load=[0, W, 0], friction=mu, sliding_direction=[[0.0], [1.0]])
    # the disk does not turn: if one side slides, the other is at its bound as well
    assert slides.degree == 0 and slides.sliding.all()
    np.testing.assert_allclose(slides.example[1, 0], ends[0], rtol=1e-9)


def test_intervals_of_cones_against_own_program():
    """Cross-solver: least and greatest components by second-order cone programs in another form
    (forces as variables, cones as constraints), written here."""
    rough = box(0.4, np.random.default_rng(1))
    load = np.array([0.3, -0.2, 1.0, 0.1, 0.05, 0.02])
    found = rl.determinacy(**rough, load=load)
    m, mu = len(rough["B"]), rough["friction"]
    R = np.empty((3 * m, 6))
    R[0::3], R[1::3], R[2::3] = rough["B"], rough["tangential"][0::2], rough["tangential"][1::2]
    scale = np.tile([mu, 1.0, 1.0], m)
    A = sp.csc_matrix(np.vstack([R.T, -np.diag(scale)]))
    cones = [clarabel.ZeroConeT(6)] + [clarabel.SecondOrderConeT(3)] * m
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    for component in (0, 4, 3 * m - 1):
        for side, sign in ((0, 1.0), (1, -1.0)):
            cost = np.zeros(3 * m)
            cost[component] = sign
            zero = sp.csc_matrix((3 * m, 3 * m))
            right = np.concatenate([load, np.zeros(3 * m)])
            known = clarabel.DefaultSolver(zero, cost, A, right, cones, settings).solve().obj_val
            # the default tolerance of this program is 1e-8
            assert found.interval.reshape(-1, 2)[component, side] == pytest.approx(
                sign * known, abs=1e-7
            )
    assert found.degree == 3 * m - 6 and found.interval_gap < 1e-8


def test_degree_counts_faces():
    """Closed form: pushed with exactly mu W, a box slides at all corners: their normal forces alone
    are open, 4 unknowns for 3 equations. With a tenth less each corner has 3 unknowns, 12 - 6."""
    rough = box(0.5)
    slides = rl.determinacy(**rough, load=[0.5, 0, 1.0, 0, 0.25, 0], intervals="none")
    assert slides.degree == 1 and slides.sliding.all() and slides.can_carry.all()
    sticks = rl.determinacy(**rough, load=[0.45, 0, 1.0, 0, 0.225, 0], intervals="none")
    assert sticks.degree == 6 and sticks.can_stick.all()
    # without friction: a smooth box
    smooth = rl.determinacy(**rough | {"friction": 0.0}, load=[0, 0, 1.0, 0, 0, 0])
    known = rl.determinacy(rough["B"], [0, 0, 1.0, 0, 0, 0])
    assert smooth.degree == known.degree
    np.testing.assert_allclose(smooth.interval[:, 0], known.interval, atol=1e-8)


@pytest.mark.parametrize("rough", [False, True])
@pytest.mark.parametrize(
    ("contacts", "said"), [([0.5], "like 0.5"), ([-1, 0], "from -1 to 0"), ([0, 2], "from 0 to 2")]
)
def test_contacts_are_indices(contacts, said, rough):
    """Contract: contacts whose intervals are wanted, with friction or without, are whole numbers
    below m; 0.5 was contact 0 with friction."""
    options = dict(tangential=[[0.0], [0.0]], friction=0.5) if rough else {}
    with pytest.raises(InputError, match=f"contacts .*{said}.* indices"):
        rl.determinacy([[1.0], [1.0]], [1.0], contacts=contacts, **options)


def test_no_admissible_forces():
    """Contract: one error that says what to ask for."""
    with pytest.raises(InputError, match="least_friction"):
        rl.determinacy(**box(0.1), load=[0.5, 0, 1.0, 0, 0, 0])
    with pytest.raises(InputError, match="tangential"):
        rl.determinacy(box()["B"], np.ones(6), friction=0.3)


@pytest.mark.parametrize("angle", [10.0, 35.0])
def test_least_friction_of_a_slope(angle):
    """Closed form: tan(angle), in the plane and in space."""
    c, s = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    flat = rl.least_friction([[1.0, 0.0]], [c, -s], tangential=[[0.0, 1.0]], friction=0.5)
    # tolerance of the bisection, 1e-7
    assert 0.5 * flat.factor == pytest.approx(s / c, rel=2e-7)
    low, high = flat.bracket
    assert low < flat.factor == high < (1 + 2e-7) * low and flat.residual < 1e-8
    rough = box(1.0)
    load = [0.8 * s, -0.6 * s, c, 0.0, 0.0, 0.0]
    load[3:] = np.cross([0, 0, -0.5], load[:3])  # it acts in the floor: no corner lifts
    space = rl.least_friction(**rough, load=load)
    assert space.factor == pytest.approx(s / c, rel=2e-7)
    u = space.mechanism  # it goes down the slope: F~ is what contacts must deliver
    assert np.dot(load, u) < 0


def test_no_friction_is_enough():
    """Closed form: a floor does not pull, whatever its friction."""
    found = rl.least_friction([[1.0, 0.0]], [-1.0, 0.0], tangential=[[0.0, 1.0]])
    assert np.isinf(found.factor) and found.status is rl.Status.LOAD_NOT_CARRIED
    assert found.mechanism[0] > 0


@pytest.mark.parametrize(("mu", "held"), [(0.26, False), (0.28, True)])
def test_wedge(mu, held):
    """Closed form: a wedge of half-angle 15 degrees holds itself from mu = tan(15 degrees) on."""
    a = np.radians(15)
    n = np.array([[np.cos(a), np.sin(a)], [-np.cos(a), np.sin(a)]])
    t = np.array([[np.sin(a), -np.cos(a)], [np.sin(a), np.cos(a)]])
    found = rl.self_stress(n, tangential=t, friction=mu)
    assert found.wedged.tolist() == [held] * 2
    assert (found.motion is None) == held
    if held:  # it balances itself
        assert np.abs(n.T @ found.force[:, 0] + t.T @ found.force[:, 1]).max() < 1e-9
    else:
        assert (n @ found.motion > mu * np.abs(t @ found.motion)).all()


@pytest.mark.parametrize(("mu", "factor"), [(0.7, 0.7), (3.0, 2.0)])
def test_load_factor_of_a_block(mu, factor):
    """Closed form: it slides at mu or tips about its corner at width over height."""
    found = rl.load_factor(**block(mu=mu), load=[0, 1, 0], growing=[-1, 0, 0])
    # tolerances of the linear programs
    assert found.factor == pytest.approx(factor, rel=1e-8) and abs(found.gap) < 1e-8
    assert found.slides.any() == (mu == factor) and found.exact == (mu != factor)
    # duality: the power of the growing load is 1 over that of the rest, in the same motion
    u = found.mechanism
    assert u[1] == pytest.approx(factor * u[0], rel=1e-8)
    assert u[0] > 0 and found.displacement[:, 0].min() > -1e-9  # with the push, into nothing


def test_load_factor_in_space_and_without_end():
    """Closed form: a box slides at mu in any direction; pressed down it stands at any factor."""
    push = np.array([-np.cos(0.3), -np.sin(0.3), 0, 0, 0, 0])
    push[3:] = np.cross([0, 0, -0.5], push[:3])  # in the floor
    found = rl.load_factor(**box(0.4), load=[0, 0, 1.0, 0, 0, 0], growing=push)
    assert found.factor == pytest.approx(0.4, rel=1e-8) and found.residual < 1e-9
    pressed = rl.load_factor(**box(0.4), load=[0, 0, 1.0, 0, 0, 0], growing=[0, 0, 1.0, 0, 0, 0])
    assert np.isinf(pressed.factor) and not pressed.mechanism.any()
    falls = rl.load_factor(**box(0.4), load=[0, 0, -1.0, 0, 0, 0], growing=push)
    assert np.isnan(falls.factor) and falls.status is rl.Status.LOAD_NOT_CARRIED
    assert falls.mechanism[2] > 0
    # a push that is too much already: it stands only if half of it is taken back
    slid = rl.load_factor(**box(0.4), load=[-0.8, 0, 1.0, 0, -0.4, 0], growing=push)
    back = rl.load_factor(**box(0.4), load=[-0.8, 0, 1.0, 0, -0.4, 0], growing=-push)
    assert slid.status is rl.Status.LOAD_NOT_CARRIED and slid.factor < 0 and "alone" in slid.message
    assert back.converged and back.factor > -slid.factor


def test_certificate():
    """Property: the kernel's forces are certified, others are told what is wrong with them."""
    problem = GROOVE | dict(load=[0, 10.0, 0], friction=0.3)
    answer = rl.compatible_forces(**problem, tangential_stiffness=2 / 7)
    force = np.column_stack([answer.force, answer.tangential_force])
    good = rl.certify(**problem, force=force, tangential_stiffness=2 / 7)
    assert good.compatible and not good.sliding.any()
    assert rl.determinacy(**problem, force=force).position[0, 0] == pytest.approx(
        (force[0, 0] - 10 * A45 / 1.3) / (10 * A45 / 0.7 - 10 * A45 / 1.3), abs=1e-7
    )
    other = rl.certify(**problem, force=force, tangential_stiffness=1.0)
    assert other.admissible and not other.compatible and "contact 0" in other.verdict
    rubs = rl.certify(**problem | {"friction": 0.2}, force=force)
    assert not rubs.admissible and rubs.cone > 0 and "rubs" in rubs.verdict
    assert "balance" in rl.certify(**problem, force=1.1 * force).verdict


def test_sensitivity_by_differences():
    """Numerical derivative: central differences of the kernel, of second order in 1e-5; contacts
    that slide and contacts that stick, Hooke and Hertz."""
    rough = box(0.3, np.random.default_rng(3))
    load = np.array([0.2, 0.1, 1.0, 0.05, 0.1, 0.06])
    rng = np.random.default_rng(4)
    m = len(rough["B"])
    way, more = rng.normal(size=m), 0.1 * rng.normal(size=6)
    for p in (2.0, 2.5):

        def forces(mu=0.0, kt=0.0, kn=0.0, F=0.0, p=p):
            found = rl.compatible_forces(
                rough["B"],
                load + F,
                tangential=rough["tangential"],
                friction=0.3 + mu,
                tangential_stiffness=0.5 * np.exp(kt),
                stiffness=np.exp(kn),
                exponent=p,
                tolerance=1e-13,
            )
            return np.column_stack([found.force, found.tangential_force])

        at = rl.sensitivity(**rough, load=load, tangential_stiffness=0.5, exponent=p)
        assert at.sliding.any() and not at.sliding.all() and at.smooth
        e = 1e-5
        for told, plus, minus in (
            (at.forward(friction=way), dict(mu=e * way), dict(mu=-e * way)),
            (at.forward(log_tangential_stiffness=way), dict(kt=e * way), dict(kt=-e * way)),
            (at.forward(log_stiffness=way), dict(kn=e * way), dict(kn=-e * way)),
            (at.forward(load=more), dict(F=e * more), dict(F=-e * more)),
        ):
            seen = (forces(**plus) - forces(**minus)) / (2 * e)
            # differences of forces known to 1e-13, and their second order
            np.testing.assert_allclose(told, seen, atol=1e-7)
    np.testing.assert_allclose(
        at.matrix("friction") @ way, at.forward(friction=way).ravel(), atol=1e-14
    )
    weight = rng.normal(size=at.force.shape)
    for by, found in zip(BY, at.reverse(weight), strict=True):
        # rounding of two systems of condition 100
        np.testing.assert_allclose(found, weight.ravel() @ at.matrix(by), atol=1e-12)
