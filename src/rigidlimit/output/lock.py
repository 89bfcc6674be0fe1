"""One writer a run: keeps other processes, and other writers of this one, from a run's parts.

The lock is on the file ``lock`` in the folder of parts; the system frees it when a process ends.
"""

import errno
from pathlib import Path

from filelock import FileLock, Timeout

from ..errors import OutputError

LOCK = "lock"
ATTEMPTS = 100
"""Another process may remove the folder between its creation and locking, but not forever."""

PATIENCE, PAUSE = 0.1, 0.02
"""Time to wait for a lock, and between two attempts [s]: a file that was removed as it was locked
takes another attempt."""

NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP)
"""Errors of file systems that have no locks: there two writers are not kept apart."""


class Lock:
    """Holds the folder ``parts`` of the run ``path`` from its making to ``close``.

    make: whether to make the folder. Raises FileNotFoundError without it, OutputError if held.
    A writer that is dropped without ``close`` frees it.
    """

    def __init__(self, path: Path, parts: Path, *, make: bool):
        # any thread may close it
        self._lock = FileLock(
            parts / LOCK, timeout=PATIENCE, poll_interval=PAUSE, thread_local=False
        )
        for _ in range(ATTEMPTS):
            if make:
                parts.mkdir(parents=True, exist_ok=True)
            elif not parts.is_dir():
                raise FileNotFoundError(parts)
            try:
                self._lock.acquire()
                return
            except Timeout as error:
                raise OutputError(
                    f"{path}: another run is writing it; wait until it ends, finish() or close() "
                    "the RunWriter of this program that does, or take another name"
                ) from error
            except FileNotFoundError:
                continue
            except OSError as error:
                if error.errno not in NO_LOCKS:
                    raise
                return
        raise OutputError(f"{path}: its folder {parts} comes and goes; take another name")

    def close(self) -> None:
        self._lock.release()
