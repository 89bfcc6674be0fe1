"""Numbers with their nouns in a message, "1 contact", "2 contacts", "2 bodies", and some names."""

from collections.abc import Sequence


def counted(number: int, noun: str) -> str:
    """``number`` and ``noun``, given in the singular; what gets the plural is the last word, or the
    last before " of " ("contact force", "row of B")."""
    if number == 1:
        return f"1 {noun}"
    head, of, rest = noun.partition(" of ")
    return f"{number} {_plural(head)}{of}{rest}"


def listed(names: Sequence[str]) -> str:
    """Names of bodies in a message: "'a', 'b', 'c' and 2 other bodies"."""
    text = ", ".join(repr(name) for name in names[:3])
    more = len(names) - 3
    return text + (f" and {counted(more, 'other body')}" if more > 0 else "")


def _plural(noun: str) -> str:
    if noun.endswith("y") and noun[-2] not in "aeou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "x", "ch")) else "s")
