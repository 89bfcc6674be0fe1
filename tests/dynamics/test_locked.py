"""Rough contacts that friction locks against driven walls and overlaps."""

import numpy as np
import pytest
import scipy.sparse as sp

import rigidlimit as rl
from rigidlimit import Status, contact_dynamics
from rigidlimit.adapters import CapturedProblem
from rigidlimit.errors import SceneWarning

SIN, COS = 0.2 / np.sqrt(1.04), 1.0 / np.sqrt(1.04)
DT = 0.01


def disk_between_walls(friction, speed=0.0, gap=0.0):
    """A disk of mass 1 and radius 1 between two walls that lean outwards by arctan 0.2 and close
    at ``speed`` each; unknowns x, y, turn, and x of the left and the right wall."""
    B = np.array([[COS, SIN, 0, -COS, 0], [-COS, SIN, 0, 0, COS]])
    T = np.array([[-SIN, COS, -1, SIN, 0], [SIN, COS, 1, 0, -SIN]])
    return contact_dynamics(
        np.array([1.0, 1.0, 0.5, 1.0, 1.0]),
        B,
        np.full(2, gap),
        np.array([0, 0, 0, speed, -speed]),
        np.array([0, -1.0, 0, 0, 0]),
        DT,
        fixed=np.array([False, False, False, True, True]),
        tangential=T,
        friction=friction,
    )


@pytest.mark.parametrize("driven", [dict(speed=1.0), dict(gap=-0.01)])
def test_disk_between_walls(driven):
    """Closed form: walls push the disk up by sin a f_n each, friction holds it by at most mu cos a
    f_n. For mu < tan a = 0.2 it slips out at 1/tan a = 5 times the walls' speed, or that at which
    overlaps open, 1/sin a; for larger mu no force moves it. 1e-9: the residual over sin a."""
    answer = disk_between_walls(0.1, **driven)
    assert answer.status is Status.CONVERGED
    assert answer.locked is None
    speed = 5.0 if "speed" in driven else 1.0 / SIN
    np.testing.assert_allclose(answer.velocity[:3], [0.0, speed, 0.0], rtol=0.0, atol=1e-9)

    answer = disk_between_walls(0.3, **driven)
    assert answer.status is Status.JAMMED
    assert sorted(answer.locked) == [0, 1]
    assert "friction locks the contacts" in answer.message
    # walls at rest and overlaps as they are: the disk stays where it is, and its weight is borne
    np.testing.assert_allclose(answer.velocity[:3], 0.0, rtol=0.0, atol=1e-9)
    pushed = (SIN * answer.force + COS * answer.tangential_force[:, 0]).sum()
    assert pushed == pytest.approx(1.0, abs=1e-7)


def closing_column(mass):
    """Five balls, the lowest of another mass, between plates that close."""
    scene, rough = rl.Scene(dt=1e-3), rl.Material(friction=0.5)
    scene.add(rl.HalfSpace(), position=(0, 0, 0), material=rough)
    for k in range(5):
        scene.add(rl.Sphere(1), position=(0, 0, 1 + 2 * k), mass=1 if k else mass, material=rough)
    above = dict(position=(0, 0, 10), normal=(0, 0, -1), material=rough, fixed=True)
    scene.add(rl.HalfSpace(), velocity=(0, 0, -0.1), **above)
    return scene


@pytest.mark.parametrize("mass", [1e-6, 1e-3, 1e3, 1e6])
def test_a_column_between_plates_that_close(mass):
    """Closed form: balls of any weights in a straight column have no room between rigid plates that
    close, jammed. Forces along the column push no ball at all."""
    scene = closing_column(mass)
    with pytest.warns(SceneWarning, match="no room left"):
        answer = rl.Simulation(scene).step().classic
    assert answer.status is Status.JAMMED
    assert len(answer.locked) == 6


def test_a_captured_disk_between_walls():
    """Example: the disk above in the velocities of its body, whose walls are in w: nothing is
    found, and that is said."""
    rows = np.array([[COS, SIN, 0], [-SIN, COS, -1], [-COS, SIN, 0], [SIN, COS, 1]])
    walls, M = np.array([-COS, SIN, -COS, SIN]), np.diag([1.0, 1.0, 0.5])
    matrices = dict(M=sp.csr_array(M), H=sp.csr_array(rows.T), f=np.array([0, -DT, 0]), w=walls)
    for friction, moves in ((0.1, True), (0.3, False)):
        problem = CapturedProblem("global", 2, np.full(2, friction), **matrices)
        assert problem.solve().converged == moves
