"""A barrier for threads that run one compiled kernel together, many times a millisecond.

The threads are Python's, the kernel lets go of the interpreter's lock. A parallel loop of numba
starts and ends its threads each time, for some 10 us or more; this barrier costs 0.1 us between
threads that run on cores of their own. They wait by looking, and where that takes long, because
other programs want the cores, by short sleeps: who has slept is let onto a core before who has not.
"""

import sys
import threading
from collections.abc import Callable

import numpy as np
from llvmlite.ir import IRBuilder
from numba import njit, types
from numba.core import cgutils
from numba.core.base import BaseContext
from numba.core.typing import Signature
from numba.extending import intrinsic

ARRIVED, ROUND, GIVEN_UP = 0, 8, 9
"""Places in the gate, the first in a cache line of its own."""

if sys.platform == "win32":
    _sleep = types.ExternalFunction("Sleep", types.void(types.uint32))  # milliseconds, 0: yields
    NAP = 0
else:
    _sleep = types.ExternalFunction("usleep", types.int32(types.uint32))
    NAP = 10


class CannotStart(RuntimeError):
    """The system gives this process no more threads."""


def new_gate() -> np.ndarray:
    """State of a barrier: an array that the threads share."""
    return np.zeros(16, np.int64)


def _place(context, builder, kind, array, index):
    view = context.make_array(kind)(context, builder, array)
    return cgutils.get_item_pointer(context, builder, kind, view, [index], wraparound=False)


@intrinsic
def _fetch_add(typing, array, index, value):
    """array[index] += value at once; returns what was there."""

    def make(context: BaseContext, builder: IRBuilder, signature: Signature, arguments: list):
        place = _place(context, builder, signature.args[0], *arguments[:2])
        return builder.atomic_rmw("add", place, arguments[2], "seq_cst")

    return types.int64(array, types.int64, types.int64), make


@intrinsic
def _load(typing, array, index):
    """array[index] as it is now, seen together with all that was written before it."""

    def make(context: BaseContext, builder: IRBuilder, signature: Signature, arguments: list):
        place = _place(context, builder, signature.args[0], *arguments)
        return builder.load_atomic(place, "seq_cst", 8)

    return types.int64(array, types.int64), make


@njit(cache=True, nogil=True)
def wait(gate: np.ndarray, threads: int, patience: int):
    """Returns when all threads have come here; how many naps it took.

    patience: looks, of a nanosecond or so, before a waiting thread sleeps.
    """
    naps = 0
    if threads == 1:
        return naps
    now = _load(gate, ROUND)
    if _fetch_add(gate, ARRIVED, 1) == threads - 1:
        _fetch_add(gate, ARRIVED, -threads)
        _fetch_add(gate, ROUND, 1)
    else:
        looks = 0
        while _load(gate, ROUND) == now and _load(gate, GIVEN_UP) == 0:
            looks += 1
            if looks > patience:
                _sleep(types.uint32(NAP))
                naps += 1
    return naps


def together(work: Callable[[int], object], threads: int, gate: np.ndarray):
    """work(t) in ``threads`` threads at once, t = 0 in this one, whose answer is returned.

    Whatever one of them raises lets the others go and is raised here; what they have written is
    then of no use. ``CannotStart``, with nothing done, where the system gives no more threads.
    """
    failed, go = [], threading.Event()

    def guarded(t: int):
        go.wait()
        if gate[GIVEN_UP]:
            return None
        try:
            return work(t)
        except BaseException as error:
            gate[GIVEN_UP] = 1  # the others must not wait forever
            failed.append(error)

    others = [threading.Thread(target=guarded, args=(t,)) for t in range(1, threads)]
    try:
        for thread in others:
            thread.start()
    except RuntimeError as error:
        gate[GIVEN_UP] = 1
        raise CannotStart from error
    finally:
        go.set()
    try:
        answer = guarded(0)
    finally:
        for thread in others:
            if thread.ident is not None:
                thread.join()
    if failed:
        raise failed[0]
    return answer
