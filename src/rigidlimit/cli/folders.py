"""Places that a command will write to, looked at before it computes."""

from pathlib import Path

from ..errors import InputError
from ..output.endings import RESULTS, check_ending


def check_folder(option: str, path: Path | None) -> None:
    """Raises InputError if ``path`` is a file, or lies below one."""
    if path is None:
        return
    for place in (path, *path.parents):
        if place.exists():
            if not place.is_dir():
                what = "a file" if place == path else f"below the file {place}"
                raise InputError(f"{option} is {path}, {what}; expected a folder")
            return


def check_file(option: str, path: Path | None, endings: tuple[str, ...] = ()) -> None:
    """Raises InputError if ``path`` ends in none of ``endings``, if there are any, is a folder,
    lies below a file, or in no folder that exists: a misspelt one would not be seen before a long
    run has ended."""
    if path is None:
        return
    if endings:
        check_ending(option, path, endings)
    if path.is_dir():
        raise InputError(f"{option} is {path}, a folder; expected the name of a file")
    for place in path.parents:
        if place.is_file():
            raise InputError(f"{option} is {path}, below the file {place}; expected a folder there")
    if not path.parent.is_dir():
        raise InputError(
            f"{option} is {path}, in a folder that does not exist; expected one that does: make "
            f"{path.parent} first, or correct the name"
        )


def check_results(path: Path | None, option: str = "--out") -> None:
    """The same of a file of results."""
    check_file(option, path, RESULTS)


def check_new(option: str, path: Path | None, overwrite: bool) -> None:
    """Raises InputError if ``path`` is there already and is not to be overwritten."""
    if path is not None and path.exists() and not overwrite:
        raise InputError(
            f"{option} is {path}, which exists and may hold changes of yours; expected a new name, "
            "or add --overwrite"
        )


def same_file(one: Path | None, other: Path | None) -> bool:
    """Whether two paths lead to one file, however they are written."""
    if one is None or other is None:
        return False
    try:
        return one.samefile(other)
    except OSError:  # one of them is not there yet
        return one.resolve() == other.resolve()
