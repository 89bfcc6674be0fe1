"""Steps that threads share, and that one thread makes where other programs hold the cores."""

from collections.abc import Callable

import numpy as np

from .._support.barrier import CannotStart, new_gate, together
from .ball_records import CROWDED, SLEPT

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
