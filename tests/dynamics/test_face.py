"""Conjugate gradients among the contacts that bear, between gradient steps."""

from functools import partial

import numpy as np
import pytest

from rigidlimit.dynamics import apgd, face
from tests.problems import pyramid


def with_settings(**values):
    return partial(face.Face, settings=face.Settings(**values))


def plain(problem, monkeypatch, **options):
    """Gradient steps alone."""
    with monkeypatch.context() as patch:
        patch.setattr(apgd, "Face", with_settings(begin=-1.0))
        return apgd.solve(problem, scaled=True, **options)


@pytest.mark.parametrize("state", ["rest", "impact"])
def test_fewer_steps_to_the_same_velocity(state, monkeypatch):
    """Peer: gradient steps alone (base 9: 160 steps against 110), whose velocity, which is unique,
    is the same."""
    problem = pyramid(9, state=state)
    found = apgd.solve(problem, scaled=True)
    before = plain(problem, monkeypatch)
    assert found.converged and before.converged
    assert found.residual == problem.residual(found.force)
    assert found.iterations < before.iterations
    # residuals of 1e-10 beside speeds of order one, times the condition of the contacts
    np.testing.assert_allclose(found.velocity, before.velocity, atol=1e-8)


def test_start_of_a_pile_at_rest(monkeypatch):
    """Peer: gradient steps until two looks find the same contacts bearing, from the same forces,
    off by up to 5e-7: whoever begins that near knows them at once (190 steps against 240)."""
    problem = pyramid(12, state="rest")
    answer = apgd.solve(problem, scaled=True)

    def steps():
        count = 0
        for off in (3e-8, 1e-7, 2e-7, 3e-7, 5e-7):
            near = answer.force * np.linspace(1.0, 1.0 + off, len(answer.force))
            found = apgd.solve(problem, scaled=True, warm_start=near)
            assert found.converged
            count += found.iterations
        return count

    at_once = steps()
    monkeypatch.setattr(apgd, "Face", with_settings(near=-1.0))
    assert at_once < steps()


def of(problem, n=0):
    """The face of a problem; n: as if it had so many degrees of freedom."""

    def product(f):
        return problem.slack(f) - problem.p

    def measure(f, Nf):
        return problem.residual(f, Nf + problem.p)

    return face.Face(product, problem.p, measure, problem.diagonal, n)


def test_right_contacts_take_a_straight_way():
    """Property: from the answer with its bearing forces less by 1e-4, one attempt of a
    few dozen steps gets back to it; what does not bear stays without force."""
    problem = pyramid(7, state="impact")
    answer = apgd.solve(problem, scaled=True, tolerance=1e-12)
    bears = answer.force > 1e-6 * answer.force.max()
    start = np.where(bears, 0.9999 * answer.force, 0.0)
    force, residual, steps = of(problem).descend(bears, start, 1.0, 1e-10, 1000, 100)
    assert residual <= 1e-10 and residual == pytest.approx(problem.residual(force))
    assert steps <= 150 and not force[~bears].any()


def test_wrong_contacts_are_given_up_soon():
    """Property: with half of the bearing contacts left out, an attempt ends after as many steps
    without a gain as it was given, and returns forces no worse than those it began with."""
    problem = pyramid(7, state="impact")
    answer = apgd.solve(problem, scaled=True)
    start = np.where(np.arange(len(answer.force)) % 2, answer.force, 0.0)
    given = problem.residual(start)
    attempt = of(problem)
    force, residual, steps, gained = attempt.attempt(start > 0, start, given, 1e-10, 100, 1000)
    assert not gained and attempt.next == 100 + steps + face.Settings().wait
    # a few looks may gain before the wrong contacts show
    assert steps <= 10 * face.Settings().stride and residual <= given
    assert problem.residual(force) == pytest.approx(residual)


def test_asked_only_where_contacts_stay_and_no_factorization_is_open():
    """Property: not before two looks agree, not from afar, not while an attempt is just lost, and
    not where no more contacts bear than there are degrees of freedom. Forces as small as the
    residual may come and go, and are left out."""
    x = np.array([1.0, 2.0, 0.0, 3.0])

    def asking(n):
        return face.Face(None, None, None, np.ones(4), n)

    asked = asking(2)
    assert asked.due(x, 20, 1e-5) is None
    assert asked.due(x, 40, 1e-5).tolist() == [True, True, False, True]
    assert asked.due(x, 60, 1e-1) is None
    assert asked.due(x[::-1].copy(), 80, 1e-5) is None
    assert asked.due(x, 90, 1e-5) is None
    flicker = np.array([1.0, 2.0, 1e-5, 3.0])
    assert asked.due(flicker, 100, 1e-5).tolist() == [True, True, False, True]
    assert asked.due(x, 120, 1e-5).tolist() == [True, True, False, True]
    asked.next = 200
    assert asked.due(x, 140, 1e-5) is None
    assert asked.due(x, 200, 1e-5) is not None
    few = asking(3)
    assert few.due(x, 20, 1e-5) is None and few.due(x, 40, 1e-5) is None


def test_few_contacts_are_solved_to_the_last_digit_and_no_further():
    """Property: a handful of contacts leaves nothing to conjugate gradients after as many steps,
    and the rest of ten must do no harm (0/0 ended a run of 120 balls)."""
    problem = pyramid(2)
    answer = apgd.solve(problem, scaled=True, tolerance=1e-12)
    start = answer.force * (1 + 1e-9 * np.arange(len(answer.force)))
    everything = np.ones(len(start), bool)
    force, residual, _ = of(problem).descend(everything, start, np.inf, 0.0, 300, 300)
    assert residual < 1e-14 and np.isfinite(force).all()
    step = (problem.diagonal, everything, np.full(4, 1e-300), start.copy(), np.zeros(4))
    assert face._step(*step, np.full(4, 1e-10), 0.0) == 0.0
    assert (step[3] == start).all()


class Failing(face.Face):
    """Attempts that come to nothing, as long as they may."""

    def due(self, x, done, residual):
        return x > 0

    def descend(self, bears, x, residual, tolerance, most, patience):
        return x, residual, min(most, 30)


def test_attempts_end_with_the_steps_that_are_left(monkeypatch):
    """Contract: gradient steps and attempts together take no more than max_iterations, also where
    the last attempt fails; a solve that had passed them went on for ever."""
    monkeypatch.setattr(apgd, "Face", Failing)
    problem = pyramid(5, state="impact")
    take = apgd.GradientSteps.take
    counts = []

    def counted(self, count):
        assert count >= 0
        counts.append(count)
        take(self, count)

    monkeypatch.setattr(apgd.GradientSteps, "take", counted)
    found = apgd.solve(problem, scaled=True, max_iterations=70, tolerance=0.0)
    assert found.iterations == 70 and not found.converged
    assert sum(counts) < 70
