"""The errors a user meets: each says what was found, what was expected and what to try."""

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = [
    "ContactError",
    "InputError",
    "MissingExtra",
    "NoRest",
    "NoRoom",
    "OutputError",
    "RigidlimitError",
    "SceneError",
    "SceneWarning",
    "UnfinishedRun",
]


class RigidlimitError(Exception):
    """Base of every error that rigidlimit raises on purpose."""


class InputError(RigidlimitError, ValueError):
    """An argument, array or option that cannot be used: wrong shape, wrong sign, not finite."""


class SceneError(RigidlimitError, ValueError):
    """A scene that cannot be built or read: names the file and key, or the body."""


class NoRest(InputError):
    """A scene that was not brought to rest: bodies that fall for ever, or time that is over."""


class ContactError(RigidlimitError, ValueError):
    """A geometric state without a contact normal (coincident centres, degenerate mesh)."""


class OutputError(RigidlimitError, OSError):
    """A result file that is missing, damaged, unfinished or of another schema."""


class NoRoom(RigidlimitError, MemoryError):
    """Less memory is free than a computation needs; nothing was begun."""


class SceneWarning(UserWarning):
    """A scene that can be computed but is hardly what was meant."""


class UnfinishedRun(UserWarning):
    """A run that was stopped, or goes on: what is read are the steps saved so far."""


class MissingExtra(RigidlimitError, ImportError):
    """An optional package is not installed; the message names the extra that brings it."""


LIKE = 0.7
"""Likeness from which a name is proposed: above that of "foot" and "floor", below that of a letter
left out, doubled or changed."""


def nearest(name: str, known: Iterable[str]) -> str:
    """What to try in place of a name that is not known: "did you mean 'pgs'?" or all there are."""
    known = list(known)
    if not known:
        return "there are none with a name here"
    begun = [full for full in known if name and full.startswith(str(name))]
    near = begun or get_close_matches(str(name), known, n=1, cutoff=LIKE)
    if near:
        return f"did you mean {near[0]!r}?"
    shown = ", ".join(known[:12]) + (", ..." if len(known) > 12 else "")
    return f"expected one of {shown}"
