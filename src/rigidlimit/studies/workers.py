"""Samples on workers: processes of one's own, or any ``concurrent.futures`` executor.

A worker that is killed loses its sample, not the study: samples that ran at that moment are
computed again one by one, which identifies one that kills its worker each time.
"""

import multiprocessing
import os
import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    wait,
)
from concurrent.futures import ProcessPoolExecutor as Pool
from multiprocessing import connection

from .._support.words import counted
from ..errors import InputError, OutputError
from .sample import Outcome, Sample, run_sample

TRIES = 3
"""Times that a sample may end the worker which computes nothing else before it has failed."""

PAUSE = 0.1
"""[s] Half of the first wait for a killed server of workers to be gone; then doubled."""

AHEAD = 2
"""Samples handed to a worker at a time, so that it does not wait for the next one."""

AT_ONCE = 1000
"""Samples handed to an executor at a time whose number of workers is not known."""

LOADED = "rigidlimit.scenes", "rigidlimit.simulation"
"""What workers are forked with, since to import it takes longer than many samples."""

START = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"


def outcomes(
    samples: Sequence[Sample], *, workers: int, executor: Executor | None = None
) -> Iterator[tuple[int, Outcome]]:
    """(number of the sample, outcome), in the order in which they are done."""
    if executor is not None:
        yield from _by_executor(samples, executor)
        return
    own = _Workers(samples, workers)
    try:
        yield from own.outcomes()
    finally:
        own.end()


def _by_executor(samples, executor) -> Iterator[tuple[int, Outcome]]:
    waiting, running = deque(range(len(samples))), {}
    try:
        while waiting or running:
            while waiting and len(running) < AT_ONCE:
                number = waiting.popleft()
                running[executor.submit(run_sample, samples[number])] = number
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                number = running.pop(future)
                try:
                    yield number, future.result()
                except BrokenExecutor as error:
                    raise OutputError(
                        f"the executor's workers ended: {error}; make a new one and go on with "
                        "resume"
                    ) from error
                except Exception as error:  # as of a scheduler that gave the sample up
                    text = f"{type(error).__name__}: {error}"
                    yield number, Outcome(error=text, lost=True)
    finally:
        for future in running:
            future.cancel()


class _Workers:
    """Processes of one's own. The first sample runs alone, so that the compiled kernels are in
    their cache before the others look there."""

    def __init__(self, samples: Sequence[Sample], count: int):
        self.samples, self.count = samples, count
        self.waiting, self.suspects = deque(range(len(samples))), deque()
        self.running: dict[Future, int] = {}
        self.tries = Counter()
        self.pool: Pool | None = None
        self.warm, self.refused = False, 0

    def outcomes(self) -> Iterator[tuple[int, Outcome]]:
        while self.waiting or self.suspects or self.running:
            self._submit()
            lost = []
            for future in wait(self.running, return_when=FIRST_COMPLETED).done:
                number = self.running.pop(future)
                try:
                    found = future.result()
                except (BrokenExecutor, CancelledError):
                    lost.append(number)
                else:
                    self.warm = True
                    yield number, found
            if lost:
                yield from self._lost(sorted([*lost, *self.running.values()]))

    def _submit(self):
        alone = bool(self.suspects) or not self.warm
        room = 1 if alone else AHEAD * self.count
        source = self.suspects or self.waiting
        while source and len(self.running) < room:
            if self.pool is None:
                self.pool = _pool(self.count)
            number = source.popleft()
            try:
                future = self.pool.submit(run_sample, self.samples[number])
            except BrokenExecutor:  # a worker ended between two samples
                source.appendleft(number)
                self.end()
                continue
            except (EOFError, ConnectionError) as error:  # what forks workers was killed
                source.appendleft(number)
                self.end()
                self.refused += 1
                if self.refused > TRIES:
                    raise OutputError(
                        f"no worker process can be started ({type(error).__name__}: {error}); "
                        "nothing that is done is lost: go on with resume"
                    ) from error
                time.sleep(PAUSE * 2**self.refused)  # until it has ended
                continue
            self.refused = 0
            self.running[future] = number

    def _lost(self, numbers: list[int]) -> Iterator[tuple[int, Outcome]]:
        self.running.clear()
        self.end()
        if len(numbers) > 1:
            self.suspects.extend(numbers)
            return
        (number,) = numbers
        self.tries[number] += 1
        if self.tries[number] < TRIES:
            self.suspects.append(number)
            return
        if not self.warm:
            raise InputError(
                "the worker processes end before their first sample is done. A script that calls "
                "study() must do so below `if __name__ == '__main__':`, and its functions must be "
                "in a file, not in a notebook; otherwise look at the memory that a sample needs"
            )
        times = counted(TRIES, "time")
        yield number, Outcome(error=f"its worker ended {times}: killed, or no memory", lost=True)

    def end(self):
        """Stop the processes, whatever they are doing."""
        if self.pool is None:
            return
        processes = list((getattr(self.pool, "_processes", None) or {}).values())
        self.pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()
        self.pool = None


def _pool(count: int) -> Pool:
    # not a fork of this process, whose threads may hold locks: of one that only imports
    context = multiprocessing.get_context(START)
    if START == "forkserver":
        context.set_forkserver_preload([__name__, *LOADED])
    return Pool(count, mp_context=context, initializer=_begin)


def _begin():
    """In a worker: leave Ctrl-C to the parent, and end with it, however it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def watch():
        connection.wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
