"""One writer a run: keeps other processes, and other writers of this one, from a run's parts.

A record lock on the file ``lock`` in the folder of parts: the system frees it when a process is
killed. POSIX gives such a lock to a process, not to a file that it opened: a second opening would
be let in, and closing it would free the lock of the first. Hence the table of this process' own.
"""

import os
from contextlib import suppress
from pathlib import Path
from weakref import WeakValueDictionary

from ..errors import OutputError

LOCK = "lock"
_here: WeakValueDictionary[Path, "Lock"] = WeakValueDictionary()
"""Folders that are locked by this process. A writer that is dropped without an end frees its."""

ATTEMPTS = 100
"""Another process may remove the folder between two steps of locking it, but not for ever."""


class Lock:
    """Holds the folder ``parts`` of the run ``path`` from its making to ``close``.

    make: whether to make the folder. Raises FileNotFoundError without it, OutputError if held.
    """

    def __init__(self, path: Path, parts: Path, *, make: bool):
        self._folder = parts.resolve()
        self._file = None
        if self._folder in _here:
            raise OutputError(
                f"{path}: another RunWriter of this program is writing it; expected one; call its "
                "finish() or close() first"
            )
        for _ in range(ATTEMPTS):
            if make:
                parts.mkdir(parents=True, exist_ok=True)
            elif not parts.is_dir():
                raise FileNotFoundError(parts)
            if self._take(path, parts / LOCK):
                break
        else:
            raise OutputError(f"{path}: its folder {parts} comes and goes; take another name")
        _here[self._folder] = self

    def _take(self, path: Path, name: Path) -> bool:
        """Whether the lock is had, or cannot be had on this system."""
        try:
            import fcntl
        except ImportError:  # not a POSIX system
            return True
        try:
            self._file = open(name, "a")  # noqa: SIM115 - held until close
        except FileNotFoundError:
            return False
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError) as error:
            self.close()
            raise OutputError(
                f"{path}: another run is writing it; wait until it ends, or take another name"
            ) from error
        except OSError:  # a file system without locks
            return True
        # a run that ended meanwhile may have removed the file that was opened
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(self._file.fileno()), os.stat(name)):
                return True
        self.close()
        return False

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
        if _here.get(self._folder) is self:
            del _here[self._folder]
