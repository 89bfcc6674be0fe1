"""Command lines of benchmarks that are a list of checks by name."""

import argparse
from collections.abc import Callable, Mapping


def run(
    doc: str, checks: Mapping[str, Callable[[], None]], others: Mapping[str, Callable] = {}
) -> None:
    """Run those named on the command line, or all ``checks``; ``others`` only by name."""
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    known = {**checks, **others}
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"of {', '.join(known)}; all if none is given"
        + (f", but {', '.join(others)}" if others else ""),
    )  # fmt: skip
    names = parser.parse_args().names
    if unknown := [name for name in names if name not in known]:
        parser.error(f"no check is called {unknown[0]!r}; expected of {', '.join(known)}")
    for name in names or checks:
        known[name]()
