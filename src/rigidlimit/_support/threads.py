"""Large loops over several cores: compiled pieces that need no lock of the interpreter.

Plain threads that live as long as the loop, and not a pool of a compiler's runtime: programs may
fork, and may call from several threads at once. Pieces depend on the size of the loop alone and
their answers come back in order, so that nothing depends on the number of threads.
"""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import TypeVar

import numpy as np

T = TypeVar("T")

MOST = 8
"""Threads at most: the loops are bound by memory, which more of them do not make faster."""

PIECES = 16
"""Pieces of a loop, for threads to share evenly where its parts take unlike times."""


_most: ContextVar[int] = ContextVar("most", default=MOST)


@contextmanager
def at_most(threads: int) -> Iterator[None]:
    """So many threads for the loops of this context, where other processes have the other cores."""
    before = _most.set(threads)
    try:
        yield
    finally:
        _most.reset(before)


def thread_count() -> int:
    """min(cores, MOST, those of ``at_most``); cores: those this process may use, or
    NUMBA_NUM_THREADS if set."""
    return min(_most.get(), _cores())


def _cores() -> int:
    wanted = os.environ.get("NUMBA_NUM_THREADS", "")
    if wanted.isdigit() and int(wanted) > 0:
        return min(int(wanted), MOST)
    known = hasattr(os, "sched_getaffinity")
    cores = len(os.sched_getaffinity(0)) if known else os.cpu_count() or 1
    return max(1, min(cores, _allowance(), MOST))


@cache
def _allowance(group: str = "/sys/fs/cgroup/cpu.max") -> int:
    """Whole cores that a container may use at once; MOST where it does not say."""
    try:
        quota, period = Path(group).read_text().split()
        return int(float(quota) / float(period))
    except (OSError, ValueError):  # no such file, or "max"
        return MOST


def in_pieces(work: Callable[[int, int], T], size: int, *, least: int) -> list[T]:
    """[work(first, last), ...] over the pieces of range(size), in order; work must be ``nogil``.

    least: size from which the loop is cut at all.
    """
    if size < least:
        return [work(0, size)]
    ends = np.linspace(0, size, PIECES + 1).astype(int).tolist()
    return shared(work, ends[:-1], ends[1:])


def shared(work: Callable[..., T], *items: list) -> list[T]:
    """[work(*item), ...] in order, by as many threads as there are; work must be ``nogil``."""
    threads = min(thread_count(), len(items[0]))
    if threads < 2:
        return list(map(work, *items))
    with ThreadPoolExecutor(threads, thread_name_prefix="rigidlimit") as pool:
        return list(pool.map(work, *items))
