"""The errors a user meets: each says what was found, what was expected and what to try."""

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = [
    "ContactError",
    "InputError",
    "MissingExtra",
    "NoRest",
    "OutOfMemory",
    "OutputError",
    "RigidlimitError",
    "SceneError",
    "SceneWarning",
    "UnfinishedRun",
]


class RigidlimitError(Exception):
    """Base of every error that rigidlimit raises on purpose.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> try:
    ...     rl.scenes.load("beem")
    ... except rl.RigidlimitError as error:
    ...     print(error)
    no scene 'beem' in the gallery and no such file; did you mean 'beam'?
    """


class InputError(RigidlimitError, ValueError):
    """An argument, array or option that cannot be used: wrong shape, wrong sign, not finite.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> try:
    ...     rl.compatible_forces([[1.0]], [1.0, 2.0])
    ... except rl.InputError as error:
    ...     print(error)
    load has shape (2,); expected (1,), one per degree of freedom (column of B)
    """


class SceneError(RigidlimitError, ValueError):
    """A scene that cannot be built or read: names the file and key, or the body.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> try:
    ...     rl.Sphere(-1.0)
    ... except rl.SceneError as error:
    ...     print(error)
    sphere: radius is -1.0; expected a positive length in metres
    """


class NoRest(RigidlimitError):
    """A scene that was not brought to rest: bodies that fall for ever, or time that is over.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> scene = rl.Scene()
    >>> ball = scene.add(rl.Sphere(0.1), position=(0, 0, 1))  # and no floor
    >>> try:
    ...     rl.settle(scene, by="dynamics", max_steps=100)
    ... except rl.NoRest as error:
    ...     print("no rest")
    no rest
    """


class ContactError(RigidlimitError, ValueError):
    """A geometric state without a contact normal (coincident centres, degenerate mesh).

    Examples
    --------
    >>> import rigidlimit as rl
    >>> scene = rl.Scene()
    >>> balls = scene.add_many(rl.Sphere(0.1), [(0, 0, 0), (0, 0, 0)])
    >>> try:
    ...     rl.Simulation(scene).step()
    ... except rl.ContactError as error:
    ...     print("no normal")
    no normal
    """


class OutputError(RigidlimitError, OSError):
    """A result file that is missing, damaged, unfinished or of another schema.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> try:
    ...     rl.read_run("missing.h5")
    ... except rl.OutputError as error:
    ...     print("missing.h5" in str(error))
    True
    """


class OutOfMemory(RigidlimitError, MemoryError):
    """Less memory is free than a computation needs; nothing was begun.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> issubclass(rl.OutOfMemory, MemoryError) and issubclass(rl.OutOfMemory, rl.RigidlimitError)
    True
    """


class SceneWarning(UserWarning):
    """A scene that can be computed but is hardly what was meant.

    Examples
    --------
    >>> import warnings, rigidlimit as rl
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     outline = rl.Polygon([(0, 0), (4, 0), (4, 4), (2, 1), (0, 4)])  # has a dent
    >>> told[0].category is rl.SceneWarning
    True
    """


class UnfinishedRun(UserWarning):
    """A run that was stopped, or goes on: what is read are the steps saved so far.

    Examples
    --------
    >>> import warnings, rigidlimit as rl
    >>> with warnings.catch_warnings():  # to read runs while they go on
    ...     warnings.simplefilter("ignore", rl.UnfinishedRun)
    """


class MissingExtra(RigidlimitError, ImportError):
    """An optional package is not installed; the message names the extra that brings it.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> issubclass(rl.MissingExtra, ImportError) and issubclass(rl.MissingExtra, rl.RigidlimitError)
    True
    """


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
