"""A barrier for threads that run one compiled kernel together, many times a millisecond.

The threads are Python's, the kernel lets go of the interpreter's lock. A parallel loop of numba
starts and ends its threads each time, for some 10 us or more; this barrier costs 0.1 us between
threads that run on cores of their own. They wait by looking, so there should be no more of them
than free cores.
"""

import threading

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

ARRIVED, ROUND, GIVEN_UP = 0, 8, 9
"""Places in the gate, the first in a cache line of its own."""


def new_gate() -> np.ndarray:
    """State of a barrier: an array that the threads share."""
    return np.zeros(16, np.int64)


def _place(context, builder, kind, array, index):
    view = context.make_array(kind)(context, builder, array)
    return cgutils.get_item_pointer(context, builder, kind, view, [index], wraparound=False)


@intrinsic
def _fetch_add(typing, array, index, value):
    """array[index] += value at once; returns what was there."""

    def make(context, builder, signature, arguments):
        place = _place(context, builder, signature.args[0], *arguments[:2])
        return builder.atomic_rmw("add", place, arguments[2], "seq_cst")

    return types.int64(array, types.int64, types.int64), make


@intrinsic
def _load(typing, array, index):
    """array[index] as it is now, seen together with all that was written before it."""

    def make(context, builder, signature, arguments):
        place = _place(context, builder, signature.args[0], *arguments)
        return builder.load_atomic(place, "seq_cst", 8)

    return types.int64(array, types.int64), make


@njit(cache=True, nogil=True)
def wait(gate, threads):
    """Returns when all threads have come here."""
    if threads == 1:
        return
    now = _load(gate, ROUND)
    if _fetch_add(gate, ARRIVED, 1) == threads - 1:
        _fetch_add(gate, ARRIVED, -threads)
        _fetch_add(gate, ROUND, 1)
    else:
        while _load(gate, ROUND) == now and _load(gate, GIVEN_UP) == 0:
            pass


def together(work, threads: int, gate: np.ndarray):
    """work(t) in ``threads`` threads at once, t = 0 in this one, whose answer is returned."""
    others = [threading.Thread(target=work, args=(t,)) for t in range(1, threads)]
    try:
        for thread in others:
            thread.start()
        return work(0)
    except BaseException:
        gate[GIVEN_UP] = 1  # the others must not wait for ever
        raise
    finally:
        for thread in others:
            if thread.ident is not None:
                thread.join()
