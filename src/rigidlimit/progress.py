"""A progress bar: by rich on a terminal, as an HTML element in a Jupyter notebook.

The element needs no widget package, and its last state stays in the saved notebook.
"""

import html
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PAUSE = 0.1
"""Least time between two updates of the notebook [s]."""


@contextmanager
def progress(
    name: str, total: int, *, completed: int = 0, shown: bool = True
) -> Iterator[Callable[[int, str], None]]:
    """Yields update(completed, state): so many steps of ``total`` are done, and how it goes."""
    if shown and in_notebook():
        yield from _notebook(name, total, completed)
    else:
        yield from _terminal(name, total, completed, shown)


def in_notebook() -> bool:
    """Whether this is a Jupyter kernel."""
    if "IPython" not in sys.modules:
        return False
    shell = sys.modules["IPython"].get_ipython()
    return shell is not None and hasattr(shell, "kernel")


def _terminal(name, total, completed, shown):
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[state]}", markup=False),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), disable=not shown) as bar:
        task = bar.add_task(name, total=total, completed=completed, state="")
        yield lambda done, state: bar.update(task, completed=done, state=state)


def _notebook(name, total, completed):
    from IPython.display import HTML, display

    last = {"done": completed, "state": "", "at": time.monotonic()}
    start = time.monotonic()

    def element():
        done, state = last["done"], last["state"]
        spent = time.monotonic() - start
        share = (done - completed) / max(total - completed, 1)
        clock = f"{spent:.0f} s"
        if 0 < share < 1:
            clock += f", about {spent * (1 - share) / share:.0f} s to go"
        return HTML(
            f'<div>{html.escape(name)} <progress value="{done}" max="{total}" '
            f'style="width:16em;vertical-align:middle"></progress> {done} of {total}, {clock}'
            f"<br><small>{html.escape(state)}</small></div>"
        )

    handle = display(element(), display_id=True)

    def update(done: int, state: str = "") -> None:
        last["done"], last["state"] = done, state
        now = time.monotonic()
        if now - last["at"] > PAUSE:
            last["at"] = now
            handle.update(element())

    try:
        yield update
    finally:
        handle.update(element())
