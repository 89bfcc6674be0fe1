"""Exact Coulomb friction of captured problems."""

import numpy as np
import pytest
import scipy.sparse as sp

from rigidlimit.adapters import CapturedProblem, read_captured
from rigidlimit.errors import InputError
from tests.captured import captured_file

pytestmark = pytest.mark.filterwarnings("ignore:W is not symmetric:UserWarning")

SMALL = (
    "FC3D_Example1.dat",
    "FrictionContact3D_1c.dat",
    "FrictionContact3D_RR_1c.dat",
    "GFC3D_Example00.dat",
    "GFC3D_TwoRods1.dat",
    "Rover1039.dat",
    "NESpheres_10_1.dat",
    "OneObject-i100000-316.hdf5.dat",
    "Confeti-ex03-Fc3D-SBM.dat",
    "LMGC_100_PR_PerioBox-i00361-60-03000.hdf5",
    "Box_Stacks-i0122-82-5.hdf5",
)


def check_coulomb(problem, answer, tolerance):
    """Reference twin: Coulomb's law, condition by condition, with velocities from W and q. Errors
    are velocities, over max |q|; impulses count by the yielding W_ii of their contact."""
    local, d, mu = problem.local(), problem.dim, problem.mu
    r = answer.reaction
    u = (local.W @ r.ravel() + local.q).reshape(-1, d)
    unit = np.abs(local.q).max()
    small = tolerance * unit
    yielding = local.W.diagonal().reshape(-1, d).sum(axis=1) / d
    np.testing.assert_allclose(answer.velocity, u, atol=small)
    slip, push = np.linalg.norm(u[:, 1:], axis=1), np.linalg.norm(r[:, 1:], axis=1)
    assert (r[:, 0] >= 0).all() and (u[:, 0] >= -small).all()
    assert (np.minimum(r[:, 0] * yielding, u[:, 0]) <= small).all()
    assert (push <= mu * r[:, 0] * (1 + 1e-12) + 1e-300).all()  # the disc: a projection, rounding
    spare = (mu * r[:, 0] - push) * yielding
    assert (np.minimum(spare, slip) <= 2 * small).all()  # slides, or has friction to spare
    along = np.einsum("ij,ij->i", r[:, 1:], u[:, 1:])
    off = np.abs(along + push * slip) * yielding / unit  # opposite to the slip
    assert (off <= 2 * small * max(1.0, (push * yielding).max(initial=0) / unit)).all()


@pytest.mark.parametrize("name", SMALL)
def test_captured_friction(name):
    """Siconos' own problems, 1 to 82 contacts, to 1e-10."""
    problem = read_captured(captured_file(name))
    answer = problem.solve(tolerance=1e-10)
    assert answer.converged, answer.message
    assert answer.reaction.shape == answer.velocity.shape == (problem.contacts, problem.dim)
    check_coulomb(problem, answer, 1e-9)  # residual with unlike yieldings in one contact


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize(("slip", "expected"), [(0.2, -0.2), (3.0, -0.5)])
def test_one_contact(dim, slip, expected):
    """Closed form, W = 1, q = (-1, slip): r_N = 1, and r_T = -slip up to mu = 0.5."""
    q = np.zeros(dim)
    q[0], q[-1] = -1.0, slip
    problem = CapturedProblem("local", dim, np.array([0.5]), W=sp.csr_array(np.eye(dim)), q=q)
    answer = problem.solve()
    assert answer.converged
    np.testing.assert_allclose(answer.reaction[0, [0, -1]], [1.0, expected], atol=1e-9)


def test_global_and_local_forms_agree():
    """Cross-form: in the velocities of bodies or of contacts the same impulses."""
    problem = read_captured(captured_file("Box_Stacks-i0122-82-5.hdf5"))
    a, b = problem.solve(), problem.local().solve()
    assert a.converged and b.converged
    # the motion is one; impulses of the box stacks are determined as far as elastic springs say
    np.testing.assert_allclose(a.velocity, b.velocity, atol=1e-8 * np.abs(b.velocity).max())
    np.testing.assert_allclose(a.reaction, b.reaction, atol=1e-8 * b.reaction.max())


def test_unconverged_says_so():
    """Closed form: contact 1 closes at 1 m/s and nothing moves it, so that no impulse is a
    solution. Its residual is all of max |q|. Each try needs no linear system, and yet they end."""
    W = sp.csr_array(np.diag([1.0, 1.0, 0.0, 0.0]))
    problem = CapturedProblem("local", 2, np.full(2, 0.5), W=W, q=np.array([-0.5, 0, -1.0, 0]))
    answer = problem.solve()
    assert not answer.converged and answer.residual == pytest.approx(1.0, rel=1e-12)
    assert answer.worst == 1
    assert f"stalled, residual {answer.residual:.1e}" in answer.message
    assert f"contact {answer.worst} " in answer.message
    # of a search that fell short, not of rounding
    assert answer.message.endswith(answer.advice) and answer.advice.startswith("no motion")


def test_contact_that_nothing_moves():
    """Rows of zeros: impulses of the other contact are not disturbed."""
    W = sp.csr_array(np.diag([1.0, 1.0, 0.0, 0.0]))
    problem = CapturedProblem("local", 2, np.full(2, 0.5), W=W, q=np.array([-1.0, 0, 1.0, 0]))
    answer = problem.solve()
    assert answer.converged
    np.testing.assert_allclose(answer.reaction, [[1, 0], [0, 0]], atol=1e-9)


def test_mistakes():
    """Negative friction and tolerance are one clear error."""
    W = sp.csr_array(np.eye(2))
    problem = CapturedProblem("local", 2, np.array([-0.5]), W=W, q=np.zeros(2))
    with pytest.raises(InputError, match=r"friction of contact 0 is -0\.5"):
        problem.solve()
    with pytest.raises(InputError, match="tolerance"):
        problem.solve(tolerance=0.0)
