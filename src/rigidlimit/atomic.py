"""Files that appear whole or not at all: written beside their place, then renamed."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .errors import OutputError

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
def whole_file(path: str | Path) -> Iterator[Path]:
    """A temporary path beside ``path``, renamed to it if the block succeeds, else removed."""
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except FileExistsError as error:
            raise OutputError(f"{path}: cannot be written: {path.parent} is a file") from error
        yield temporary
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


def write_text(path: str | Path, text: str) -> None:
    """Write a text file whole or not at all."""
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
