"""What every adapter asks of its arguments: the engine itself, its own objects, the load wanted."""

from importlib import import_module

from ..errors import InputError, MissingExtra


def imported(module: str, *, engine: str, extra: str):
    """The engine's module; MissingExtra names the extra of rigidlimit that brings it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtra(
            f"{engine} cannot be loaded ({error}); "
            f"install it with pip install 'rigidlimit[{extra}]'"
        ) from error


def expect(function: str, **given) -> None:
    """given: name=(value, class). Raises InputError for a value of another class."""
    for name, (value, kind) in given.items():
        if isinstance(value, kind):
            continue
        other = next((n for n, (found, _) in given.items() if isinstance(found, kind)), None)
        hint = f"; are {name} and {other} swapped?" if other else ""
        raise InputError(
            f"{function}: {name} is {_kind(value)}; expected {_named(kind.__name__)}{hint}"
        )


def _kind(value) -> str:
    return "None" if value is None else _named(type(value).__name__)


def _named(name: str) -> str:
    return f"{'an' if name[0] in 'AEIOUaeiou' else 'a'} {name}"


def wanted_load(load, known: tuple[str, ...]):
    """(where the load comes from, the load): "engine" and the like with None, or "given"."""
    if not isinstance(load, str):
        return "given", load
    if load not in known:
        raise InputError(
            f"load is {load!r}; expected {' or '.join(known)}, or an array, one per column of B"
        )
    return load, None


def joint_names(held) -> list[str]:
    """held: the name of a joint, several, or None."""
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
            raise InputError(f"held names joint {name!r}; expected names of joints, as text")
    return names
