"""Endings of file names: a file says by its name what it holds, or is not written."""

from pathlib import Path

from ..errors import InputError

RESULTS = (".json", ".csv")
"""Of files of results."""


def check_ending(what: str, path: str | Path | None, endings: tuple[str, ...]) -> None:
    """Raises InputError if ``path`` ends in none of ``endings``. what: the option it came by."""
    if path is None:
        return
    path = Path(path)
    if path.suffix.lower() in endings:
        return
    found = f"with the ending {path.suffix}" if path.suffix else "without an ending"
    # ".5" of "run-0.5" is part of the name
    stem = path.stem if path.suffix[1:].isalpha() else path.name
    raise InputError(
        f"{what} is {path}, {found}; expected a name that ends in {' or '.join(endings)}; "
        f"try {path.with_name(stem + endings[0])}"
    )
