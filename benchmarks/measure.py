"""Time, memory and limits: every measured solve runs in a process of its own.

A child forked from the compiled and loaded parent makes the solve, so that a slow peer can be
stopped and its peak memory is its own. The limit is on CPU time and set in the child itself, so
that other work on the machine does not shorten it. Where fork is missing (Windows) solves run in
the parent, without limit and without memory figures.
"""

import gc
import multiprocessing
import signal
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import numpy as np

try:
    import resource
except ImportError:  # Windows
    resource = None


BATCH = 0.1
"""Seconds over which short solves are repeated before the clock is read."""


@dataclass
class Clock:
    """Wall and CPU seconds of the code inside ``with clock:``, summed."""

    wall: float = 0.0
    cpu: float = 0.0

    def __enter__(self):
        self._wall, self._cpu = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_):
        self.wall += time.perf_counter() - self._wall
        self.cpu += time.process_time() - self._cpu


@dataclass
class Answer:
    """What a solver gives: force (m,), clock, iterations; extra: other figures for the report."""

    force: np.ndarray
    clock: Clock
    iterations: int
    extra: dict = field(default_factory=dict)


@dataclass
class Measured:
    """Medians of the repeats; answer None where the solve did not end, with ``note`` saying why.

    memory [bytes]: peak of the process during the first solve over what it held before.
    """

    answer: Answer | None
    wall: float = float("nan")
    cpu: float = float("nan")
    memory: float = float("nan")
    repeats: int = 0
    note: str = ""


def _peak() -> float:
    """Peak resident memory of this process [bytes]."""
    with suppress(OSError, StopIteration), open("/proc/self/status") as lines:
        line = next(line for line in lines if line.startswith("VmHWM"))
        return 1024.0 * int(line.split()[1])
    return float("nan")


def _held() -> float:
    """Resident memory of this process at present [bytes]; the peak starts here afterwards."""
    with suppress(OSError):
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
        return _peak()
    return float("nan")


def _repeat(solve, repeat, enough):
    """One solve, then up to ``repeat`` batches within ``enough`` CPU seconds; medians of batches.

    Short solves are batched up to BATCH seconds: the CPU clock ticks every few milliseconds.
    """
    gc.collect()  # garbage collected within the solve would lower its peak
    before = _held()
    start = time.perf_counter()
    answer = solve()
    spent = time.perf_counter() - start  # with what the solver's clock leaves out
    memory = _peak() - before
    walls, cpus = [answer.clock.wall], [answer.clock.cpu]
    size = int(np.clip(np.ceil(BATCH / max(spent, 1e-6)), 1, 1000))
    if size > 1 and repeat:
        walls, cpus = [], []  # the first solve alone is too short for the clock
    while len(cpus) < repeat and (not cpus or spent < enough):
        start = time.perf_counter()
        clocks = [solve().clock for _ in range(size)]
        spent += time.perf_counter() - start
        walls.append(sum(c.wall for c in clocks) / size)
        cpus.append(sum(c.cpu for c in clocks) / size)
    return Measured(answer, float(np.median(walls)), float(np.median(cpus)), memory, len(cpus))


def _child(solve, repeat, enough, limit, pipe, parents_end):
    parents_end.close()  # or a dead parent would leave this process waiting at its pipe
    if limit is not None:
        # the first solve alone is limited; the repeats stop by themselves
        seconds = int(np.ceil(limit + time.process_time() + min(enough, limit)))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
        signal.signal(signal.SIGXCPU, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        pipe.send(_repeat(solve, repeat, enough))
    except Exception as error:
        pipe.send(Measured(None, note=f"failed: {type(error).__name__}: {error}"[:120]))


def measure(solve, *, limit=None, repeat=3, enough=2.0, fork=True) -> Measured:
    """Run ``solve() -> Answer`` up to ``repeat`` times or ``enough`` CPU seconds, whichever is
    first; a solve longer than ``limit`` CPU seconds is stopped and counts as not run."""
    if not (fork and resource and "fork" in multiprocessing.get_all_start_methods()):
        return _repeat(solve, repeat, enough)
    context = multiprocessing.get_context("fork")
    mine, theirs = context.Pipe(duplex=False)
    child = context.Process(target=_child, args=(solve, repeat, enough, limit, theirs, mine))
    child.start()
    theirs.close()
    wait = None if limit is None else 6 * limit + 60  # other work may share the core
    try:
        if mine.poll(wait):
            measured = mine.recv()
        else:
            measured = Measured(None, note=f"over {wait:g} s of wall time")
    except EOFError:
        child.join(2.0)
        stopped = child.exitcode in (-signal.SIGXCPU, -signal.SIGKILL)
        why = f"over {limit:g} s" if limit and stopped else f"died (exit code {child.exitcode})"
        measured = Measured(None, note=why)
    finally:
        child.join(2.0)
        if child.is_alive():
            child.kill()
            child.join()
        mine.close()
    if measured.answer is not None and limit is not None and measured.cpu > limit:
        measured.note = f"over {limit:g} s"
    return measured


def product_seconds(B, D=None, *, repeat=5) -> float:
    """CPU seconds of B^T (D (B x)) by scipy: the unit of cost that no machine changes."""
    m, n = B.shape
    D = np.ones(m) if D is None else D
    BT = B.T.tocsr()
    x = np.random.default_rng(0).normal(size=n)
    return cpu_seconds(lambda: BT @ (D * (B @ x)), repeat=repeat)[0]


def cpu_seconds(call, *, repeat=3, enough=1.0):
    """(median CPU seconds of a call, its last answer), in batches as above."""
    start, wall = time.process_time(), time.perf_counter()
    answer = call()
    first, wall = time.process_time() - start, time.perf_counter() - wall
    if wall >= enough:
        return first, answer
    size = int(np.clip(np.ceil(BATCH / max(wall, 1e-7)), 1, 100_000))
    seconds, spent = [first] if size == 1 else [], wall
    while len(seconds) < repeat and (not seconds or spent < enough):
        start, wall = time.process_time(), time.perf_counter()
        for _ in range(size):
            answer = call()
        seconds.append((time.process_time() - start) / size)
        spent += time.perf_counter() - wall
    return float(np.median(seconds)), answer


@contextmanager
def told(text):
    """Say what runs now, and how long it took, on the terminal."""
    print(text, end=" ", flush=True)
    start = time.perf_counter()
    yield
    print(f"({time.perf_counter() - start:.1f} s)", flush=True)
