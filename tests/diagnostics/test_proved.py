"""What programs over friction cones say is proved: least friction, degree, intervals, load factors,
in any units of loads and rows."""

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.diagnostics.cones.conic_checks import INFEASIBLE, OPTIMAL, Program, judged
from rigidlimit.diagnostics.cones.feasible import feasible
from rigidlimit.diagnostics.cones.problem import rough_contacts

UP = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])


def wedge(degrees):
    """A block between two walls that lean; columns: x, y, z, three turns."""
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    B = np.array([[c, 0, -s, 0, 0, 0], [-c, 0, -s, 0, 0, 0]])
    T = np.array([
        [s, 0, c, 0, -0.5, 0], [0, 1, 0, 0, 0, 0.5], [-s, 0, c, 0, 0.5, 0], [0, 1, 0, 0, 0, -0.5],
    ])  # fmt: skip
    return B, T


def table(floor=-0.5):
    """A table on four legs; columns: x, y, z, three turns."""
    B, T = [], []
    for x, y in ((-1, -1), (-1, 1), (1, -1), (1, 1)):
        r = np.array([x, y, floor])
        for rows, n in ((B, (0, 0, 1.0)), (T, (1.0, 0, 0)), (T, (0, 1.0, 0))):
            rows.append(np.concatenate([n, np.cross(r, n)]))
    return np.array(B), np.array(T)


def opened(B, T, u, mu):
    """By how much each contact opens beyond what friction holds."""
    slip = np.linalg.norm((T @ u).reshape(B.shape[0], -1), axis=1)
    return B @ u - mu * slip


@pytest.mark.parametrize("degrees", range(1, 60, 3))
def test_bracket_of_a_wedge_holds_its_friction(degrees):
    """Closed form: tan of the lean. Both ends of the bracket are proved: forces at the upper one,
    and at the lower one a motion that the load drives and no contact resists. (Ten angles
    were off by up to 1.6 %, none of 1 to 59 had its answer in the bracket.)"""
    B, T = wedge(degrees)
    found = rl.least_friction(B, UP, tangential=T)
    exact = np.tan(np.radians(degrees))
    low, high = found.bracket
    # rounding of the forces, 1e-16, over what is left of the bracket, 1e-7
    assert low * (1 - 1e-9) <= exact <= high * (1 + 1e-9)
    assert high <= (1 + 1e-7) * low and found.factor == high and found.converged
    u = found.mechanism
    assert UP @ u < 0 and opened(B, T, u, low).min() > -1e-12
    f = found.force
    assert (np.linalg.norm(f[:, 1:], axis=1) <= high * f[:, 0] * (1 + 1e-12)).all()
    pushed = B.T @ f[:, 0] + T.T @ f[:, 1:].ravel()
    # forces are some 1e7 times the load there
    assert np.abs(pushed - UP).max() <= 1e-11 * f.max()


@pytest.mark.parametrize("scene", ["arch", "buttressed-arch", "dome"])
def test_mechanism_of_least_friction_is_one(scene):
    """Property: bodies that slide on each other by what the motion says are not held by less."""
    s = rl.statics(scene)
    found = s.least_friction()
    assert found.converged
    u = found.mechanism
    free = s.bodies.free.ravel()
    assert s.load[free] @ u[free] < 0 and not u[~free].any()
    # entries of the motion are up to 1
    assert opened(s.B, s.T, u, found.bracket[0]).min() > -1e-9


def test_no_certificate_no_finding():
    """Contract: vectors count by what they prove. One that leaves 1e-9 of the load unbalanced, as
    solvers do near the least friction of a wedge, proves neither that there are forces nor none."""
    B, T = wedge(30)
    program = rough_contacts(B, UP, tangential=T, friction=0.586).program()
    N, k = len(program.cost), len(program.b)
    assert judged(program, np.zeros(N), program.b).outcome == "failed"
    assert judged(program, np.zeros(N), np.full(k, np.nan)).outcome == "failed"
    known = feasible(rough_contacts(B, UP, tangential=T, friction=0.586))
    assert known.balanced and not known.refuted
    assert feasible(rough_contacts(B, UP, tangential=T, friction=0.57)).refuted
    # min x subject to x = 1, and to x = -1, x >= 0
    one = dict(cost=np.ones(1), A=np.ones((1, 1)), positive=1)
    assert judged(Program(b=np.ones(1), **one), np.ones(1), np.ones(1)).outcome == OPTIMAL
    assert judged(Program(b=-np.ones(1), **one), np.ones(1), -np.ones(1)).outcome == INFEASIBLE


@pytest.mark.parametrize("mu", 10.0 ** np.arange(-12, 13, 4))
def test_table_at_any_friction(mu):
    """Closed form: four legs, 12 unknowns and 6 equations; each leg bears from 0 to a half, and
    rubs in proportion to the friction. (Degree 0 was said of mu = 1e-8 and 1e6.)"""
    B, T = table()
    found = rl.determinacy(B, UP, tangential=T, friction=mu)
    assert found.degree == 6 and found.can_carry.all() and found.can_stick.all()
    assert not found.doubtful
    # solved to 1e-11 of the load, with friction as its own unit
    np.testing.assert_allclose(found.interval[:, 0], [[0.0, 0.5]] * 4, atol=1e-9)
    known = rl.determinacy(B, UP, tangential=T, friction=0.5).interval[:, 1:] / 0.5
    np.testing.assert_allclose(found.interval[:, 1:] / mu, known, atol=1e-8)


@pytest.mark.parametrize("mu", 10.0 ** np.arange(-12, 13, 4))
def test_plane_at_any_friction(mu):
    """Closed form: two legs in the plane, 4 unknowns and 3 equations. (At 1e-12 it was 2.)"""
    B, T = np.array([[0, 1, -1.0], [0, 1, 1.0]]), np.array([[1.0, 0, 0.5], [1.0, 0, 0.5]])
    found = rl.determinacy(B, [0, 1.0, 0], tangential=T, friction=mu)
    assert found.degree == 1
    np.testing.assert_allclose(found.interval[:, 0], 0.5, atol=1e-9)
    np.testing.assert_allclose(found.interval[:, 1], [[-mu / 2, mu / 2]] * 2, rtol=1e-8)


@pytest.mark.parametrize("size", [1e-12, 1e-6, 1e6, 1e12])
@pytest.mark.parametrize("friction", [None, 0.5])
def test_units_of_rows_and_loads(size, friction):
    """Property: one leg's rows in another unit, and a second table of another weight, change what
    is said in that proportion alone. (Intervals were off by 3e-5 to 25 %.)"""
    B, T = table()
    rough = {} if friction is None else dict(tangential=T, friction=friction)
    plain = rl.determinacy(B, UP, **rough)
    known = plain.interval if friction is None else plain.interval[:, 0]
    b, t = B.copy(), T.copy()
    b[0], t[:2] = size * b[0], size * t[:2]
    if friction is not None:
        rough["tangential"] = t
    leg = rl.determinacy(b, UP, **rough)
    normal = leg.interval if friction is None else leg.interval[:, 0]
    assert leg.degree == plain.degree
    # solved to 1e-9 of the largest, each in its own unit
    np.testing.assert_allclose(normal[0] * size, known[0], atol=1e-8)
    np.testing.assert_allclose(normal[1:], known[1:], atol=1e-8)
    if friction is not None:
        rough["tangential"] = np.kron(np.eye(2), T)
    two = rl.determinacy(np.kron(np.eye(2), B), np.r_[UP, size * UP], **rough)
    normal = two.interval if friction is None else two.interval[:, 0]
    assert two.degree == 2 * plain.degree
    np.testing.assert_allclose(normal[:4], known, atol=1e-8)
    np.testing.assert_allclose(normal[4:] / size, known, atol=1e-8)


@pytest.mark.parametrize("size", [1e-12, 1e-6, 1e6])
def test_light_table_on_a_heavy_one(size):
    """Property: what the upper one's legs can bear goes with its weight, and both slide at mu."""
    B, T = table()
    under, across = table(floor=0.5)
    b = np.block([[B, 0 * B], [-under, B]])
    t = np.block([[T, 0 * T], [-across, T]])
    load = np.r_[UP, size * UP]
    found = rl.determinacy(b, load, tangential=t, friction=0.5)
    smooth = rl.determinacy(b, load)
    for normal in (found.interval[:, 0], smooth.interval):
        np.testing.assert_allclose(normal[4:] / size, [[0.0, 0.5]] * 4, atol=1e-7)
    assert (found.degree, smooth.degree) == (12, 2)
    push = np.zeros(12)
    push[0], push[6] = -1.0, -size
    slides = rl.load_factor(b, load, push, tangential=t, friction=0.5)
    assert slides.converged and slides.factor == pytest.approx(0.5, rel=1e-8)


def test_open_squeeze_is_said(monkeypatch):
    """Contract: where neither a squeeze nor an opening motion is proved, that is what is said."""
    from rigidlimit.diagnostics.cones import wedging
    from rigidlimit.diagnostics.cones.conic_checks import nothing_found

    B, T = wedge(30)
    monkeypatch.setattr(wedging, "solve", nothing_found)
    found = rl.self_stress(B, tangential=T, friction=0.7)
    assert found.undecided.all() and not found.wedged.any() and "undecided whether" in found.message
    assert found.status is rl.Status.STALLED
