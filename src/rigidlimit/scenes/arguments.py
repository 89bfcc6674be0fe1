"""What the functions of the gallery take: a wrong argument is one clear error, at once.

A rule is a function of a value that returns it as the scene uses it, or None if it cannot be used;
its docstring says what was expected.
"""

import functools
import inspect
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import numpy as np

from .._support.arrays import is_positive, number
from ..errors import InputError, SceneError, nearest
from .checks import law_exponent

P = ParamSpec("P")
Made = TypeVar("Made")
RAISES = "Raises\n------\nInputError\n    For an argument out of range.\n\n"
"""Section that the docstring of each checked function gets, unless it has its own."""


def _untyped(signature: inspect.Signature) -> inspect.Signature:
    """The signature as users type it."""
    parameters = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    return inspect.Signature(parameters)


def checked(
    **rules: Callable[[object], object],
) -> Callable[[Callable[P, Made]], Callable[P, Made]]:
    """Decorator of a gallery function: parameter=rule, one for each parameter. Its docstring gets
    the section on what is raised, before its examples."""

    def decorate(function: Callable[P, Made]) -> Callable[P, Made]:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def scene(*arguments: P.args, **options: P.kwargs) -> Made:
            call = f"{function.__name__}()"
            for name in options:
                if name not in signature.parameters:
                    hint = nearest(name, signature.parameters)
                    raise InputError(f"{call} has no parameter {name!r}; {hint}")
            try:
                bound = signature.bind(*arguments, **options)
            except TypeError as error:
                raise InputError(
                    f"{call}: {error}; expected {function.__name__}{_untyped(signature)}"
                ) from None
            for name, value in bound.arguments.items():
                used = rules[name](value)
                if used is None:
                    expected = inspect.getdoc(rules[name])
                    raise InputError(f"{call}: {name} is {value!r}; expected {expected}")
                bound.arguments[name] = used
            return function(*bound.args, **bound.kwargs)

        told = inspect.getdoc(function) or ""
        if "Raises\n------" not in told:
            scene.__doc__ = told.replace("Examples\n--------", f"{RAISES}Examples\n--------")
        return scene

    return decorate


def _says(text: str):
    """Gives a rule the words for what it expects."""

    def decorate(rule: Callable):
        rule.__doc__ = text
        return rule

    return decorate


def at_least(least: int):
    """Rule: a whole number from ``least`` on."""

    @_says(f"a whole number, at least {least}")
    def rule(value: object):
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        return int(value) if whole and value >= least else None

    return rule


def between(low: float, high: float, text: str):
    """Rule: a number in the open interval."""

    @_says(text)
    def rule(value: object):
        return number(value) if low < number(value) < high else None

    return rule


SLOPE = between(0, 90, "an angle between 0 and 90 degrees")


def numbers(count: int, *, positives: bool = False):
    """Rule: so many finite numbers, or positive ones."""

    @_says(f"{count} {'positive' if positives else 'finite'} numbers")
    def rule(value: object):
        try:
            found = tuple(number(v) for v in value)
        except TypeError:
            return None
        good = is_positive if positives else np.isfinite
        return found if len(found) == count and all(map(good, found)) else None

    return rule


def one_of(*values):
    """Rule: one of these values."""

    @_says(" or ".join(map(str, values)))
    def rule(value: object):
        return value if value in values and not isinstance(value, bool) else None

    return rule


@_says("a positive number")
def positive(value: object):
    return number(value) if is_positive(value) else None


@_says("a finite number")
def finite(value: object):
    return number(value) if np.isfinite(number(value)) else None


@_says("a number, zero or more")
def not_negative(value: object):
    return number(value) if 0 <= number(value) < np.inf else None


@_says("a number from 0 to 1")
def fraction(value: object):
    return number(value) if 0 <= number(value) <= 1 else None


@_says("'hooke', 'hertz' or an exponent p > 1")
def law(value: object):
    try:
        law_exponent(value)
    except SceneError:
        return None
    return value


@_says("0, 1 and 2 in any order")
def order_of_three(value: object):
    try:
        found = tuple(value)
        return found if sorted(found) == [0, 1, 2] else None
    except TypeError:
        return None
