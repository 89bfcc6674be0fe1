"""What a command does while numba compiles the kernels: see ``_support.compiling``."""

import sys

from .._support.compiling import watch


def watch_compiler(*, quiet: bool = False) -> None:
    """From here on the garbage collector looks seldom while numba compiles, and, if not ``quiet``,
    one line on stderr says when that takes long."""
    watch(None if quiet else _print, collect_seldom=True)


def _print(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
