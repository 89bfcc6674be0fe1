"""What the kernels of ``balls.py`` work on: lists of what may touch, balls, parts of the work.

Threads share the steps (``SharedSteps``); one makes them where other programs hold the cores.
"""

from collections.abc import Callable
from typing import NamedTuple

import numba
import numpy as np

from .._support.barrier import CannotStart, new_gate, together

DONE, STALE, CROWDED = 0, 1, 2

BODIES, ROWS, WALLS, BOXES, TOUCHED = range(5)
"""Columns of ``ranges`` (parts + 1, 6): where the bodies, rows, walls and boxes of each part begin,
and the range of bodies that its forces touch."""

FAR, ENERGY, SLEPT, STOPPED, BEFORE, RISING = range(6)
"""Columns of ``share``: largest |u|^2 and sum of m v^2 of a part, naps of its thread; whether a
call was stopped after a half step, with the energy of its last step and whether that had risen."""


class Lists(NamedTuple):
    """What may touch. first (n + 1,), other (m,), pair (m, 8): neighbours j > i of i with d_0,
    gap_0 (gap_0 - 2 L_0), L_0, gap_0, k, gamma_0; wall (w, 2): body and half-space; wall_pair
    (w, 6): normal, gap_0, k, gamma_0; box, box_pair, frame: see ``ball_on_box.py``."""

    first: np.ndarray
    other: np.ndarray
    pair: np.ndarray
    wall: np.ndarray
    wall_pair: np.ndarray
    box: np.ndarray
    box_pair: np.ndarray
    frame: np.ndarray


class Balls(NamedTuple):
    """motion (n, 8): u [m], v [m/s], two spare. force (parts, n, 4) [N]. free (n, 3): 1/m or 0
    where held; push (n, 3): F_ext/m [m/s^2], 0 where held; mass (n, 3): m, 0 where held."""

    motion: np.ndarray
    force: np.ndarray
    free: np.ndarray
    push: np.ndarray
    mass: np.ndarray


class Work(NamedTuple):
    """Parts part ... end - 1 of what ``ranges`` divides: either all, or one, in as many threads at
    once; gate, see ``barrier``; share (parts, 8): data of each part for the others (``FAR`` ...),
    and of an interrupted call for the one that continues it."""

    ranges: np.ndarray
    part: int
    end: int
    gate: np.ndarray
    share: np.ndarray


class Pace(NamedTuple):
    """Up to ``steps`` steps of h [s]; alpha [1/s]: background damping; quench: velocities are set
    to zero wherever the kinetic energy passes a maximum."""

    steps: int
    h: float
    alpha: float
    quench: bool


def shared_work(
    parts: int, first: np.ndarray, other: np.ndarray, wall: np.ndarray, box: np.ndarray
) -> np.ndarray:
    """``ranges`` (parts + 1, 6) of as many pairs each.

    wall, box: sorted by their first column.
    """
    n = len(first) - 1
    part = np.arange(parts + 1) / parts
    ranges = np.zeros((parts + 1, 6), np.int64)
    rows = np.searchsorted(first, part * len(other))
    rows[0], rows[-1] = 0, n
    ranges[:, BODIES] = ranges[:, ROWS] = rows
    ranges[:, WALLS] = np.searchsorted(wall[:, 0], rows)
    ranges[-1, WALLS] = len(wall)
    ranges[:, BOXES] = np.searchsorted(box[:, 0], rows)
    ranges[-1, BOXES] = len(box)
    for t in range(parts):
        there = other[first[rows[t]] : first[rows[t + 1]]]
        pushed = box[ranges[t, BOXES] : ranges[t + 1, BOXES], 1]
        own = [rows[t], rows[t + 1] - 1]
        touched = np.concatenate([there, pushed, own])
        ranges[t, TOUCHED], ranges[t, TOUCHED + 1] = touched.min(), touched.max() + 1
    return ranges


def usable_threads(wanted: int) -> int:
    """``wanted`` or the number of threads that numba may use, whichever is less."""
    return max(1, min(int(wanted), numba.config.NUMBA_NUM_THREADS))


ALONE = 10
"""Calls by one thread after one in which threads had to wait for cores; twice as many the next."""


class SharedSteps:
    """threads: that share the work. calls_alone, next_alone: calls to make by one thread, now and
    the next time that cores are crowded."""

    def __init__(self, threads: int):
        self.threads, self.calls_alone, self.next_alone = threads, 0, ALONE

    def call(self, work: Callable[..., tuple[int, int]], steps: int) -> tuple[int, int]:
        """(steps made, code) of work(part, end, steps, gate, share), a part for each thread."""
        gate, share = new_gate(), np.zeros((self.threads, 8))
        if self.threads == 1 or self.calls_alone > 0:
            self.calls_alone -= 1
            return work(0, self.threads, steps, gate, share)
        try:
            made, code = together(lambda t: work(t, t + 1, steps, gate, share), self.threads, gate)
        except CannotStart:
            made, code = 0, CROWDED
        crowded = code == CROWDED
        self.calls_alone = self.next_alone if crowded else 0
        self.next_alone = 2 * self.next_alone if crowded else ALONE
        if crowded:
            share[:, SLEPT] = 0.0
            more, code = work(0, self.threads, steps - made, gate, share)
            made += more
        return made, code
