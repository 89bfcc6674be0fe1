"""Files that appear whole or not at all: written beside their place, then renamed."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import OutputError

_watchers: list[list[Path]] = []


@contextmanager
def watched() -> Iterator[list[Path]]:
    """The files that appear while the block lasts, in their order."""
    files: list[Path] = []
    _watchers.append(files)
    try:
        yield files
    finally:
        _watchers.pop()


@contextmanager
def whole_file(path: str | Path, *, durable: bool = False) -> Iterator[Path]:
    """A temporary path beside ``path``, renamed to it if the block succeeds, else removed.

    durable: on the disk before it is renamed, so that a power cut leaves the old file or the new.
    """
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except FileExistsError as error:
            raise OutputError(f"{path}: cannot be written: {path.parent} is a file") from error
        yield temporary
        if durable:
            with open(temporary, "r+b") as stream:
                os.fsync(stream.fileno())
        os.replace(temporary, path)
        for files in _watchers:
            files.append(path)
    except OutputError:  # it says what is wrong already
        raise
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror or error}") from error
    finally:
        with suppress(OSError):  # its folder may be a file, or gone
            temporary.unlink()


def remove_stale(path: Path) -> None:
    """Remove the temporary files that killed programs left beside ``path``."""
    if os.name != "posix":  # elsewhere there is no way to find out whether a process lives
        return
    name = re.compile(rf"\.{re.escape(path.name)}\.(\d+)\.part")
    for found in path.parent.iterdir():
        writer = name.fullmatch(found.name)
        if writer and not _lives(int(writer[1])):
            found.unlink(missing_ok=True)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # another user's
        return True
    return True


def write_text(path: str | Path, text: str) -> None:
    """Write a text file whole or not at all."""
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
