"""Arrays of many environments from other libraries, with their shapes checked.

Every array has an axis of environments in front, or none where it is the same in all of them.
"""

from dataclasses import dataclass

import numpy as np

from ..._support import arrays
from ...errors import InputError

SHAPES = {
    "B": ("contact", "n"),
    "engine_force": ("contact",),
    "mask": ("contact",),
    "load": ("n",),
    "sliding": ("contact", "s", "n"),
    "tangential": ("contact", "k"),
    "stiffness": ("contact",),
    "gap": ("contact",),
    "gap_tolerance": ("contact",),
    "point": ("contact", 3),
    "normal": ("contact", 3),
    "tangents": ("contact", 2, 3),
    "part": ("contact", 2),
}
"""Axes of each array after that of environments."""


def host_array(name: str, value: object) -> np.ndarray:
    """``value`` as an array of numbers in the memory of the CPU.

    value: what numpy reads, has ``__array__`` or ``__dlpack__``, or, as arrays of Warp, a method
    ``numpy()`` that copies from the device. Raises InputError for anything else.
    """
    ways = (np.asarray,)
    if not isinstance(value, np.ndarray | list | tuple | int | float):
        known = hasattr(value, "__array__"), hasattr(value, "__dlpack__"), hasattr(value, "numpy")
        readers = np.asarray, np.from_dlpack, lambda array: array.numpy()
        ways = [read for read, has in zip(readers, known, strict=True) if has] or ways
    why = ""
    for read in ways:
        try:
            array = np.asarray(read(value))
        except (TypeError, ValueError, RuntimeError, BufferError) as wrong:
            why = why or f" ({str(wrong).splitlines()[0]})"
            continue
        if array.dtype.kind in "biuf":
            return array
    found = f"a {type(value).__name__}" if isinstance(value, list | tuple) else arrays.short(value)
    raise InputError(
        f"{name} is {found}{why}; expected an array of numbers in the memory of the CPU: move it "
        "there, and detach it where it has gradients"
    )


@dataclass(frozen=True)
class Stack:
    """Arrays of all environments by name, those that are given; each with an axis of environments,
    of length 1 where it is the same in all. sizes: env, contact, n, s, k (of which some may be
    missing)."""

    arrays: dict[str, np.ndarray]
    sizes: dict[str, int]

    def __contains__(self, name: str) -> bool:
        return name in self.arrays

    def of(self, name: str, e: int) -> np.ndarray:
        """One array of one environment."""
        array = self.arrays[name]
        return array[min(e, len(array) - 1)]

    def or_else(self, name: str, value: float, *axes: str) -> np.ndarray:
        """An array, or one of a number, the same in all environments."""
        if name in self.arrays:
            return self.arrays[name]
        return np.full((1, *(self.sizes[axis] for axis in axes)), value)


def stacked(given: dict[str, object]) -> Stack:
    """``Stack`` of arrays by name; None: not given.

    friction: a number, (contact,), (env, contact) or (env, contact, k); becomes (env, contact, k)
    where ``tangential`` or ``sliding`` say what k is.
    """
    read = {name: host_array(name, value) for name, value in given.items() if value is not None}
    friction = read.pop("friction", None)
    sizes = _sizes(read)
    out = {name: _fitted(name, array, SHAPES[name], sizes) for name, array in read.items()}
    if "tangential" not in out and "s" in sizes:
        sizes["k"] = sizes["s"]
    if friction is not None:
        out["friction"] = _friction(friction, sizes)
    return Stack(out, sizes)


def _sizes(read):
    rows = read["B"]
    if rows.ndim not in (2, 3):
        raise InputError(
            f"B has shape {rows.shape}; expected (env, contact, n), or (contact, n) for all "
            "environments"
        )
    sizes = {"contact": rows.shape[-2], "n": rows.shape[-1]}
    for name, array in read.items():
        axes = SHAPES[name]
        if array.ndim == len(axes) + 1 and array.shape[0] != 1:
            sizes.setdefault("env", array.shape[0])
        if name in ("sliding", "tangential") and array.ndim in (len(axes), len(axes) + 1):
            sizes["s" if name == "sliding" else "k"] = array.shape[-2 if name == "sliding" else -1]
    if sizes.get("s", 2) < 2:
        raise InputError(
            f"sliding has shape {read['sliding'].shape}; expected (env, contact, s, n) with two "
            "directions s or more"
        )
    sizes.setdefault("env", 1)
    return sizes


def _fitted(name, array, axes, sizes):
    wanted = tuple(axis if isinstance(axis, int) else sizes[axis] for axis in axes)
    if array.ndim == 0 and name == "stiffness":
        array = np.full(wanted, array)
    if array.shape == wanted:
        array = array[None]
    if array.shape[1:] != wanted or array.shape[0] not in (1, sizes["env"]):
        raise InputError(
            f"{name} has shape {array.shape}; expected {(sizes['env'], *wanted)}, "
            f"(env, {', '.join(map(str, axes))}), or {wanted} for all environments"
        )
    kind = {"mask": bool, "part": np.int64}.get(name, float)
    return np.require(array, kind, ["C"])


def _friction(friction, sizes):
    env, contact, k = sizes["env"], sizes["contact"], sizes.get("k", 2)
    if friction.ndim == 0:
        friction = np.full((1, contact, k), friction, float)
    elif friction.shape == (contact,):
        friction = friction[None, :, None]
    elif friction.ndim == 2 and friction.shape[0] in (1, env):
        friction = friction[:, :, None]
    try:
        wide = np.broadcast_to(friction, (len(friction), contact, k))
        if friction.ndim == 3 and len(friction) in (1, env):
            return np.array(wide, float)
    except ValueError:
        pass
    raise InputError(
        f"friction has shape {np.squeeze(friction).shape}; expected a number, ({contact},), "
        f"({env}, {contact}) or ({env}, {contact}, {k}), (env, contact, k)"
    )
