"""When ``rigidlimit run`` computes compatible forces: ``--forces``."""

from collections.abc import Callable

from ..errors import InputError


def wanted_steps(forces: str, steps: int, dt: float) -> Callable[[int], bool]:
    """Which steps (1, 2, ...) get compatible forces."""
    if forces == "every":
        return lambda k: True
    if forces == "never":
        return lambda k: False
    if forces == "end":
        return lambda k: k == steps
    chosen = _chosen(forces, dt)
    if max(chosen) > steps:
        raise InputError(
            f"--forces requests t = {max(chosen) * dt:.6g} s, but the run ends at "
            f"{steps * dt:.6g} s; expected times within the run; make it longer with --until"
        )
    return lambda k: k in chosen


def _chosen(forces: str, dt: float) -> set[int]:
    """The steps that end nearest the requested times."""
    try:
        return {max(1, round(float(t) / dt)) for t in forces.split(",")}
    except (ValueError, OverflowError):
        raise InputError(
            f"--forces is {forces!r}; expected every, end, never, or times in seconds like 0.1,0.2"
        ) from None


def refuse_past(forces: str, time: float, dt: float) -> None:
    """A finished run is extended at ``time`` [s]: its steps are not made again."""
    if forces in ("every", "never", "end"):
        return
    first = min(_chosen(forces, dt))
    if first <= round(time / dt):
        raise InputError(
            f"--forces requests t = {first * dt:.6g} s, but the run is finished up to {time:.6g} s"
            "; expected times after that; the steps before keep the forces that they have"
        )
