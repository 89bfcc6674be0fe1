"""Checks of the arguments of all adapters: the engine itself, its own objects, the load."""

from collections.abc import Sequence
from importlib import import_module
from types import ModuleType

import numpy as np
from numpy.typing import ArrayLike

from ..._support.words import counted
from ...errors import InputError, MissingExtra, nearest
from .tolerances import TOLERANCES

Load = str | ArrayLike
"""Where the load comes from, by name, or the load itself (n,)."""


def imported(module: str, *, engine: str, extra: str) -> ModuleType:
    """The engine's module; MissingExtra names the extra of rigidlimit that brings it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtra(
            f"{engine} cannot be loaded ({error}); "
            f"install it with pip install 'rigidlimit[{extra}]'"
        ) from error


EQUALITIES = ("rigid", "given")
"""Treatment of equality constraints: rigid links, or a given load."""


def expect(function: str, **given) -> None:
    """given: name=(value, class). Raises InputError for a value of another class."""
    for name, (value, kind) in given.items():
        if isinstance(value, kind):
            continue
        other = next((n for n, (found, _) in given.items() if isinstance(found, kind)), None)
        hint = f"; are {name} and {other} swapped?" if other else ""
        is_now = "None" if value is None else _named(type(value).__name__)
        raise InputError(f"{function}: {name} is {is_now}; expected {_named(kind.__name__)}{hint}")


def _named(name: str) -> str:
    return f"{'an' if name[0] in 'AEIOUaeiou' else 'a'} {name}"


def wanted_load(
    load: Load, known: tuple[str, ...] = ("engine", "rest")
) -> tuple[str, ArrayLike | None]:
    """(where the load comes from, the load): "engine" and the like with None, or "given"."""
    if load is not None and not isinstance(load, str):
        return "given", load
    if load not in known:
        raise InputError(
            f"load is {load!r}; expected {' or '.join(known)}, or an array, one per column of B"
        )
    return load, None


def rigid_or_given(equalities: str) -> bool:
    """Whether equalities are rigid links: "rigid" or "given"."""
    if not isinstance(equalities, str) or equalities not in EQUALITIES:
        raise InputError(f"equalities is {equalities!r}; expected 'rigid' or 'given'")
    return equalities == "rigid"


def check_linear(springs: str, exponent: float) -> None:
    """Raises InputError if an engine's own springs, "... are", are wanted for another law."""
    if exponent != 2.0:
        raise InputError(
            f"{springs} linear and exponent is {exponent}; give stiffness= for another law"
        )


def joint_names(
    held: Sequence[str] | str | None, option: str = "held", kind: str = "joint"
) -> list[str]:
    """held: the name of a joint (or of another kind of thing), several, or None."""
    if held is None:
        return []
    if isinstance(held, str):
        return [held]
    try:
        names = list(held)
    except TypeError:
        names = [held]
    for name in names:
        if not isinstance(name, str):
            plural = counted(2, kind).partition(" ")[2]
            raise InputError(f"{option} names {kind} {name!r}; expected names of {plural}, as text")
    return names


def check_joint(name: str, known: Sequence[str]) -> None:
    """Raises InputError for the name of a joint that is not ``known``."""
    if name not in known:
        raise InputError(f"held names joint {name!r}; {nearest(name, known)}")


def stopped_short(
    engine: str,
    residual: float,
    load_from: str,
    advice: str,
    of: str = "the largest force",
    share: tuple[float, float] | None = None,
    kept: Sequence[str] = (),
) -> tuple[str, ...]:
    """What to say of an engine's forces that are ``residual`` of something from solving its own
    equations; nothing where that is little, or nan. share: what that leaves of the largest contact
    force, at least and at most; None: about the same. kept: ``kept_as_is``."""
    if not residual > TOLERANCES.stopped:
        return ()
    text = f"{engine}'s solver stopped {100 * residual:.2g} % of {of} short of its own solution; "
    if load_from != "engine":
        if not kept or load_from == "given":
            return (f"{text}the mended forces do not go by it",)
        through = " and ".join(f"the {what}" for what in kept)
        return (f"{text}the mended forces go by it only through {through}, which are {engine}'s",)
    if share is None:
        much = (
            f"{text}its resultant, which is kept, and the mended forces with it depend on the "
            "order of contacts by about as much"
        )
        return (f"{much}: {advice}",)
    least, most = (100 * part for part in share)
    if not share[1] > TOLERANCES.stopped:
        return ()
    much, light = f"about {most:.2g} % of the largest contact force", ""
    if most > least:
        much = f"up to {much}"
        light = f" (by {least:.1g} % if only motors of light links still changed)"
    return (
        f"{engine}'s solver stopped early: its resultant, which mended forces keep, is off by "
        f"{much}{light}: {advice}",
    )


def kept_as_is(tangential: np.ndarray, on_friction: str, other_rows: int = 0) -> tuple[str, ...]:
    """What of an engine's forces is in a load that is not its resultant, in words. tangential
    (m, k): friction forces, then moments; other_rows: of constraints that are no rigid links."""
    found = {
        "friction forces": on_friction == "keep" and tangential[:, :2].any(),
        "torsional and rolling moments": tangential[:, 2:].any(),
        "forces of other constraints": other_rows > 0,
    }
    return tuple(what for what, some in found.items() if some)


def constraints_given(engine: str, count: int, load_from: str, remedy: str) -> tuple[str, ...]:
    """What to say of ``count`` constraints that are no rigid links, and whose forces are given.

    Raises InputError where the load is to be that of rest, which does not have them.
    """
    if not count:
        return ()
    if load_from == "rest":
        raise InputError(
            f"load is 'rest', without what {counted(count, 'constraint')} of {engine} may carry; "
            f"expected load='engine', which has it, or {remedy}"
        )
    return (f"{counted(count, 'constraint')} kept as {engine} has them",)


def unreported_moments(engine: str, coefficients: np.ndarray) -> tuple[str, ...]:
    """Message about contacts with torsional or rolling friction, whose moments an engine does not
    report: coefficients (m, k) of each contact and side."""
    number = int((coefficients > 0.0).any(axis=1).sum())
    if not number:
        return ()
    return (
        f"torsional and rolling friction of {counted(number, 'contact')}: {engine} does not report "
        "the moments, which are in no load and no total",
    )
