"""Threads that run one compiled kernel together: nothing hangs, whatever goes wrong in one."""

import threading
from functools import partial

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit._support import threads
from rigidlimit._support.barrier import CannotStart, new_gate, together, wait
from rigidlimit.dynamics import apgd, gradient_steps
from rigidlimit.penalty import ball_records, balls
from tests.problems import pyramid

FAILS_AT = 0, 1, 2


@pytest.mark.parametrize("failing", FAILS_AT)
@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt])
def test_failure_of_one_lets_the_others_go(failing, error):
    """Property: what one thread raises before its first barrier is raised, and no thread is left
    waiting. Without it the test would never end."""
    gate, before = new_gate(), set(threading.enumerate())

    def work(t):
        if t == failing:
            raise error("one of them")
        return wait(gate, len(FAILS_AT), 1000)

    with pytest.raises(error, match="one of them"):
        together(work, len(FAILS_AT), gate)
    assert set(threading.enumerate()) <= before  # others of the process may end meanwhile


@pytest.fixture
def no_threads(monkeypatch):
    """A container whose limit of processes is reached."""

    def refuse(_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)


def test_without_threads_nothing_has_been_done(no_threads):
    """Property: the work has not begun anywhere when it is told."""
    done = []
    with pytest.raises(CannotStart):
        together(done.append, 2, new_gate())
    assert not done


def test_gradient_steps_go_on_alone(no_threads, monkeypatch):
    """Reference twin: one thread from the start, to the last digit."""
    problem = pyramid(6, state="random")
    alone = apgd.solve(problem, scaled=True, max_iterations=100)
    one, four = (gradient_steps.SETTINGS._replace(least=10, parts=parts) for parts in (1, 4))
    monkeypatch.setattr(gradient_steps, "SETTINGS", one)
    few = apgd.solve(problem, scaled=True, max_iterations=100)
    np.testing.assert_array_equal(few.force, alone.force)
    monkeypatch.setattr(gradient_steps, "SETTINGS", four)
    monkeypatch.setattr(gradient_steps, "thread_count", lambda: 2)
    found = apgd.solve(problem, scaled=True, max_iterations=100)
    # sums of other parts: rounding of a hundred steps
    np.testing.assert_allclose(found.force, alone.force, atol=1e-9 * alone.force.max())


def test_dem_goes_on_alone(no_threads):
    """Reference twin: the DEM on one thread."""
    scene = rl.scenes.pyramid(4)
    two, one = (rl.PenaltySimulation(scene, stiffness_scale=1e-4, threads=t) for t in (2, 1))
    for dem in (two, one):
        dem.run(max_steps=50)
    # forces are summed by parts
    np.testing.assert_allclose(two.state.position, one.state.position, atol=1e-12)


@pytest.mark.parametrize("rate", ["quench", 3.0])
def test_crowded_cores_change_no_digit(monkeypatch, rate):
    """Reference twin: a call that is stopped on its way, for cores that others hold, ends in the
    bits of one that is not, time and choice of the next step among them."""
    monkeypatch.setattr(ball_records, "usable_threads", int)
    monkeypatch.setattr(ball_records, "together", lambda work, threads, gate: work(0))
    steps, calls = balls.advance, []

    def as_threads(crowded, moving, lists, work, *rest):
        if work.end < len(work.ranges) - 1:
            work.share[:, ball_records.SLEPT] = balls.NAPS + 1 if crowded else 0
            work = work._replace(end=len(work.ranges) - 1)
        made, code = steps(moving, lists, work, *rest)
        calls.append(code)
        return made, code

    found = []
    for crowded in (True, False):
        monkeypatch.setattr(balls, "advance", partial(as_threads, crowded))
        scene = rl.scenes.pyramid(4)
        dem = rl.PenaltySimulation(scene, stiffness_scale=1e-4, threads=2, background=rate)
        found.append(dem.run(max_steps=500))
        assert (ball_records.CROWDED in calls) == crowded
        calls.clear()
    stopped, whole = found
    assert stopped.steps == whole.steps and stopped.dt == whole.dt
    for name in ("position", "velocity", "time"):
        np.testing.assert_array_equal(getattr(stopped.state, name), getattr(whole.state, name))


@pytest.mark.parametrize(
    ("text", "cores"), [("200000 100000", 2), ("150000 100000", 1), ("max 100000", threads.MOST)]
)
def test_allowance_of_a_container(tmp_path, text, cores):
    """Example: the kernel's file, whole cores rounded down."""
    (tmp_path / "cpu.max").write_text(text + "\n")
    assert threads._allowance(str(tmp_path / "cpu.max")) == cores
    assert threads._allowance(str(tmp_path / "missing")) == threads.MOST
