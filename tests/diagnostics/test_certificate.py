"""The verdict on force vectors, right and wrong."""

from dataclasses import replace

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.diagnostics import certificate
from rigidlimit.errors import InputError
from rigidlimit.status import Status
from tests.problems import pyramid_gradient, static_pyramid

BEAM = np.array([[1.0, -0.5], [1.0, 0.0], [1.0, 0.5]])  # columns: rise, turn
LOAD = [10.0, 0.0]


@pytest.mark.parametrize("exponent", [1.5, 2.0, 2.5])
@pytest.mark.parametrize("seed", [0, 1])
def test_right_forces(exponent, seed):
    """Property: what compatible_forces returns is compatible, whatever the law and stiffness."""
    B, load = static_pyramid(4)
    k = np.random.default_rng(seed).uniform(0.2, 1.0, B.shape[0])
    answer = rl.compatible_forces(B, load, stiffness=k, exponent=exponent)
    found = rl.certify(B, load, answer.force, stiffness=k, exponent=exponent)
    assert found.compatible and found.admissible, found.message
    assert found.verdict.startswith("compatible")
    assert found.balance < 1e-9 and found.sign == 0 and abs(found.duality_gap) < 1e-9
    assert np.isnan(found.complementarity)
    # its own displacement is a witness too
    own = rl.certify(
        B, load, answer.force, stiffness=k, exponent=exponent, displacement=answer.displacement
    )
    assert own.compatible, own.message
    other = rl.certify(B, load, answer.force, stiffness=k[::-1], exponent=exponent)
    assert other.admissible and not other.compatible


def test_preload_far_above_the_load():
    """Closed form: a ring of springs, 4 kN of preload each, moves by load over stiffness; balance
    is known to the last digits of the preload."""
    turn = 2 * np.pi * np.arange(12) / 12
    B = -np.column_stack([np.cos(turn), np.sin(turn)])
    force = 4000 + 1e-6 / 6 * np.cos(turn)
    law = dict(stiffness=4e8, gap_error=np.full(12, -1e-5))
    assert rl.certify(B, [-1e-6, 0.0], force, **law).compatible
    force[0] += 1e-3
    assert not rl.certify(B, [-1e-6, 0.0], force, **law).admissible


def test_gaps_of_zero_are_none():
    """Contract: forces far above the load, by a slope of 1e-6, are judged alike with gaps of zero
    as without gaps."""
    B, load = np.array([[1e-6, 1.0], [1e-6, -1.0], [-1.0, 0.0]]), [1.0, 0.0]
    force = np.array([0.5e6 + 1e-3, 0.5e6, 0.0])
    without, zero = rl.certify(B, load, force), rl.certify(B, load, force, gap_error=np.zeros(3))
    assert without.balance == zero.balance > 1e-4


def test_gap_errors():
    """Property: forces with initial gaps are compatible with those gaps, not without them."""
    gap = [0.1, 0.0, -0.2]
    force = rl.compatible_forces(BEAM, LOAD, stiffness=20.0, gap_error=gap).force
    found = rl.certify(BEAM, LOAD, force, stiffness=20.0, gap_error=gap)
    assert found.compatible and abs(found.duality_gap) < 1e-9
    without = rl.certify(BEAM, LOAD, force, stiffness=20.0)
    assert without.admissible and not without.compatible


def test_admissible_but_not_compatible():
    """Closed form: 5, 0, 5 against 10/3 each: off by 2/3 of the largest; energy 25 against 50/3."""
    found = rl.certify(BEAM, LOAD, [5, 0, 5])
    assert found.admissible and not found.compatible
    assert found.compatibility == pytest.approx(2 / 3, rel=1e-8)
    assert found.worst_contact == 1
    assert found.duality_gap == pytest.approx(1 / 3, rel=1e-8)
    assert found.verdict == (
        "admissible, not compatible: contact 1 is off by 67 % of the largest force"
    )


def test_out_of_balance():
    """Closed form: compatible forces of another weight and moment are out of balance only."""
    found = rl.certify(BEAM, LOAD, np.full(3, 11 / 3))
    assert not found.admissible and found.balance == pytest.approx(0.1, rel=1e-12)
    assert found.worst_dof == 0 and "out of balance by 10 %" in found.verdict
    assert found.compatibility < 1e-8  # not mixed up
    turned = rl.certify(BEAM, LOAD, [3, 10 / 3, 11 / 3])
    # a moment of 1/3 on an arm of 0.5 compares as a force of 2/3
    assert turned.worst_dof == 1 and turned.balance == pytest.approx(1 / 15, rel=1e-9)


def test_pulling():
    """Closed form: 6, -2, 6 balances, but the middle pulls by a third of the largest."""
    found = rl.certify(BEAM, LOAD, [6, -2, 6])
    assert found.balance < 1e-12 and found.sign == pytest.approx(1 / 3) and found.worst_sign == 1
    assert "contact 1 pulls with 33 %" in found.verdict and not found.admissible


def test_force_over_a_gap():
    """A contact that ends open by half of the largest gap carries force: named."""
    right = [10 / 3] * 3
    assert rl.certify(BEAM, LOAD, right, slack=np.zeros(3)).compatible
    found = rl.certify(BEAM, LOAD, right, slack=[0.0, 0.0, 1e-3], slack_scale=2e-3)
    assert found.complementarity == pytest.approx(0.5) and found.worst_slack == 2
    assert found.verdict == "not admissible: contact 2 carries force over a gap, or overlaps"
    overlap = rl.certify(BEAM, LOAD, right, slack=[0.0, -1e-3, 0.0])
    assert overlap.worst_slack == 1 and not overlap.admissible


def test_every_fault_is_named_at_once():
    """All faults in one verdict."""
    found = rl.certify(BEAM, LOAD, [6, -2, 7], slack=[1.0, 0.0, 0.0])
    for word in ("out of balance", "pulls", "over a gap"):
        assert word in found.verdict
    assert "tolerance 1e-08" in found.message


def test_wrong_displacement():
    """Right forces with a displacement that does not explain them."""
    found = rl.certify(BEAM, LOAD, [10 / 3] * 3, displacement=[-1.0, 0.0])
    assert found.admissible and found.compatibility == pytest.approx(0.7, rel=1e-9)


def test_held_degrees_of_freedom_and_nothing():
    """Loads on held dofs are not missed; no forces under no load are right."""
    held = rl.certify(BEAM, [10.0, 99.0], [10, 0, 0], fixed=[False, True])
    assert held.balance == 0
    assert rl.certify(BEAM, [0.0, 0.0], [0, 0, 0]).compatible
    assert not rl.certify(BEAM, LOAD, [0, 0, 0]).admissible


@pytest.mark.parametrize(
    ("options", "fragment"),
    [
        ({"force": [1.0, 2.0]}, "force has shape"),
        ({"force": [1.0, np.nan, 2.0]}, "force\\[1\\] is nan"),
        ({"stiffness": [1, 0, 1]}, "stiffness of contact 1"),
        ({"stiffness": [1, 0, 1], "displacement": [0.0, 0.0]}, "stiffness of contact 1"),
        ({"exponent": 1.0, "displacement": [0.0, 0.0]}, "exponent is 1.0"),
        ({"slack": [1.0]}, "slack has shape"),
        ({"tolerance": -1}, "tolerance is -1"),
        ({"fixed": [True]}, "fixed has shape"),
    ],
)
def test_mistakes(options, fragment):
    """Bad input: one error that says what was found."""
    with pytest.raises(InputError, match=fragment):
        rl.certify(BEAM, LOAD, **({"force": [5, 0, 5]} | options))


@pytest.mark.parametrize(("exponent", "ratio"), [(1.5, 1e6), (1.5, 1e5)])
def test_soft_laws_are_judged_by_energy(exponent, ratio):
    """Cross-solver: forces that balance to 1e-10 are certified although u, good to 1e-16, gives
    those of barely closed contacts only to 1e-5; those of stiffnesses a little other are not."""
    rng = np.random.default_rng(0)
    B = pyramid_gradient(8)
    load = B.T @ rng.uniform(0.5, 1.5, B.shape[0])
    k = ratio ** rng.uniform(0, 1, B.shape[0])
    answer = rl.compatible_forces(B, load, stiffness=k, exponent=exponent)
    assert answer.converged
    right = rl.certify(B, load, answer.force, stiffness=k, exponent=exponent)
    # the case is one that the forces of u alone would get wrong
    assert right.compatibility > right.tolerance and right.compatible
    other = rl.compatible_forces(B, load, stiffness=k**0.99, exponent=exponent)
    wrong = rl.certify(B, load, other.force, stiffness=k, exponent=exponent)
    assert wrong.admissible and not wrong.compatible and "more energy" in wrong.verdict


def test_what_is_not_known_is_not_accused(monkeypatch):
    """Property: without a displacement to compare with, nothing is said of compatibility; with
    one that is good enough the energy proves it all the same."""
    solve = rl.compatible_forces

    def poor(*arguments, **options):
        answer = solve(*arguments, **options)
        return replace(answer, displacement=0.9 * answer.displacement, status=Status.MAX_ITERATIONS)

    options = dict(stiffness=[1, 3, 1], exponent=1.5)
    force = solve(BEAM, [10.0, 0.0], **options).force
    monkeypatch.setattr(certificate, "compatible_forces", poor)
    found = rl.certify(BEAM, [10.0, 0.0], force, **options)
    assert not found.compatible and "not known" in found.verdict
    monkeypatch.undo()
    assert rl.certify(BEAM, [10.0, 0.0], force, **options).compatible


def test_each_of_two_equilibria_is_accepted():
    """Closed form: a body with three contacts has two stable equilibria under one load, with one
    contact open and with all closed; forces of both follow from 3 equations each. The solver
    returns the one or the other, and both are those of elastic bodies. 1e-9: a tenth of the
    tolerance."""
    angle = np.array([3.3, 6.0, 4.2])
    x, y = np.array([[-0.6, 0.0], [1.1, 0.5], [1.0, 0.5]]).T
    n, t = (np.cos(angle), np.sin(angle)), (-np.sin(angle), np.cos(angle))
    B, T = (np.column_stack([*e, x * e[1] - y * e[0]]) for e in (n, t))
    load, mu, ratio = np.array([0.05, -0.59, -0.62]), 0.5, 6 / 7
    rough = dict(tangential=T, friction=mu, tangential_stiffness=ratio)
    found = rl.compatible_forces(B, load, **rough)
    differences = []
    for closed, way in (((1, 2), (0, 0, 1)), ((0, 1, 2), (0, -1, 1))):
        closed, way = list(closed), np.array(way, float)
        sticks = [i for i in closed if not way[i]]
        K = B[closed].T @ B[closed] + ratio * T[sticks].T @ T[sticks]
        K += mu * (way[:, None] * T)[closed].T @ B[closed]
        u = -np.linalg.solve(K, load)
        force = np.zeros((3, 2))
        force[closed, 0] = -B[closed] @ u
        force[:, 1] = mu * way * force[:, 0]
        force[sticks, 1] = -ratio * T[sticks] @ u
        answer = rl.certify(B, load, force, **rough)
        assert answer.compatible and answer.compatibility < 1e-9
        differences.append(np.abs(force[:, 0] - found.force).max())
        assert answer.several == (differences[-1] > 0.01)
    assert min(differences) < 1e-9 < 0.01 < max(differences)
