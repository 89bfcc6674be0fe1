"""Tables on the terminal: numbers and headings are never cut, names give way."""

NARROWEST = 76
"""Columns of a terminal below which lines break by themselves: better than numbers cut short. It
holds the widest table, that of `determinacy`, with numbers like 1.23457e-05 in every column."""


def new_table(title: str, columns: tuple[str, ...], *, names: str, bold: str = "", **options):
    """A table with these headings; the column ``names`` folds where there is no room, the others
    hold numbers."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=escape(title), **options)
    for heading in columns:
        if heading == names:
            table.add_column(escape(heading), overflow="fold")
        else:
            style = "bold" if heading == bold else None
            table.add_column(escape(heading), justify="right", no_wrap=True, style=style)
    return table


def terminal():
    """The terminal, or the pipe, as wide as a table needs at least."""
    from rich.console import Console

    console = Console()
    return Console(width=NARROWEST) if console.width < NARROWEST else console
