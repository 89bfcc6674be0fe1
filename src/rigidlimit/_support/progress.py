"""How far a run of many steps is: a progress bar, and a word where the end is days away.

The bar is rich's on a terminal, an HTML element in a Jupyter notebook, which needs no widget
package, and whose last state stays in the saved notebook.
"""

import html
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PAUSE = 0.1
"""Least time between two updates of the notebook [s]."""

FIRST = 2.0
"""Time for which the pace is looked at, after the first step, which may have to compile [s]."""

LONG = 86_400.0
"""Remaining time [s] above which a run is probably not what was intended."""


class Pace:
    """Whether a run of ``steps`` more steps ends within a day, at the pace of its first ones."""

    def __init__(self, steps: int, dt: float):
        self.steps, self.dt, self.done = steps, dt, 0
        self._since, self._announced = 0.0, False

    def word(self) -> str:
        """After each step: once, when it is known, what to say of a run without end; else ""."""
        if self._announced:
            return ""
        self.done, now = self.done + 1, time.monotonic()
        if self.done == 1:
            self._since = now
            return ""
        spent = now - self._since
        if spent < FIRST:
            return ""
        self._announced = True
        left = (self.steps - self.done) * spent / (self.done - 1)
        if left < LONG:
            return ""
        return (
            f"{self.steps:,} steps of {self.dt:g} s take some {_long(left)} at the pace of the "
            f"first {self.done}; expected less than a day: look at dt and at the time to the end"
        )


def _long(seconds: float) -> str:
    days = seconds / 86_400.0
    return f"{days:.0f} days" if days < 1000 else f"{days / 365.25:.2g} years"


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
