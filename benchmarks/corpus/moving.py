"""Entries of rough bodies that move: steps that solve motion and forces together, by increments.

Those of pours and driven bodies are problems that a run stated, to be solved one by one: what
changes in one step, within its accuracy, is another problem in the next.
"""

from functools import cache, partial

import numpy as np

import rigidlimit as rl
from tests.dynamics.test_locked import closing_column
from tests.increments.test_increments import heap
from tests.rough.test_stability import lid

from .problems import Entry
from .runs import steps


def stated(run):
    """The problems of a run, which is made once."""
    return cache(lambda: [problem for problem, _ in run()])


def standing(friction):
    """A pyramid of 30 balls on a floor, which stands or slides."""
    return steps(lambda: heap(friction, np.arange(30))[0], 15)


def lidded(friction, ratio):
    """The first step under a lid, symmetric to rounding: from k_t/k_n = 6/7 on it is unstable."""
    return steps(lambda: lid(friction, ratio).scene, 1)


def poured(count, after, then, *, seed=0, **options):
    """Steps ``after`` to ``after + then`` of balls poured into a box."""
    made = partial(rl.scenes.rough_packing, count, seed=seed, friction=0.5)
    return stated(steps(made, then, after=after, dt=2e-3, **options))


DRIVEN = {
    "drum": (rl.scenes.drum, 30),
    "hopper": (rl.scenes.hopper, 30),
    "chute": (rl.scenes.chute, 30),
    "vibrated box": (rl.scenes.vibrated_box, 30),
    "shear box": (rl.scenes.shear_box, 30),
}

ENTRIES = [
    *[Entry(f"moving: heap at {mu:g}", standing(mu)) for mu in (0.3, 0.9, 1.0, 1.2)],
    *[
        Entry(f"moving: lid, {mu:g}, {ratio:.2g}", lidded(mu, ratio))
        for mu, ratio in ((0.5, 2 / 7), (0.6, 6 / 7))
    ],
    *[
        Entry(f"moving: jammed column, 1 : {ratio:g}", steps(partial(closing_column, 1 / ratio), 1))
        for ratio in (1e3, 1e-3)
    ],
    *[Entry(f"moving: {name}", stated(steps(*run))) for name, run in DRIVEN.items()],
    Entry("moving: 60 balls poured", poured(60, 0, 150)),
    Entry("moving: 60 balls poured, Hertz", poured(60, 50, 50, law="hertz")),
    Entry("moving: 300 balls poured, colliding", poured(300, 60, 20)),
    Entry("moving: 300 balls poured, near rest", poured(300, 150, 20)),
    Entry("moving: 300 balls poured, rattlers roll", poured(300, 200, 20), slow=True),
    Entry("moving: 2,000 balls poured, colliding", poured(2000, 80, 5), slow=True),
    Entry("moving: 2,000 balls poured, near rest", poured(2000, 150, 10), slow=True),
]
