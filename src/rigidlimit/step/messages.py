"""Messages about forces that are solved, but that the data do not determine."""

from typing import TYPE_CHECKING

import numpy as np

from .._support.words import listed
from ..bodies import Bodies
from ..conditioning.input_rounding import InputRounding
from ..conditioning.several_bodies import HELD
from ..conditioning.tolerances import TOLERANCES
from .warnings import left_unbalanced

if TYPE_CHECKING:
    from .result import StepResult


def doubt(result: "StepResult") -> str:
    """Which forces of a step are uncertain by a thousandth of the largest or more, and why; or
    ""."""
    bodies = result.bodies
    if bodies is None:
        return result.overlapping
    parts = [result.overlapping]
    judged = result.open is not None
    if judged or result.converged:  # else the status says more
        parts.append(left_unbalanced(bodies, result))
    if judged:
        parts += [_uncertain_by_rounding(result), _on_slight_tilts(result)]
    if result.input_rounding is not None:
        parts.append(_on_rounding(result.input_rounding, result.least_reported, bodies))
    if result.several_bodies == HELD and not result.settled:
        parts.append(
            "collective motions of several bodies below relative stiffness "
            f"{TOLERANCES.weak:g} were excluded, as of bricks that lean on one another: "
            "forces there may change with the rounding of positions"
        )
    return "\n".join(filter(None, parts))


def _uncertain_by_rounding(result: "StepResult") -> str:
    bodies = result.bodies
    worst = np.flatnonzero((result.open > result.least_reported) & bodies.free.any(axis=1))
    if not len(worst):
        return ""
    worst = worst[np.argsort(-result.open[worst], kind="stable")]
    return (
        f"forces on {listed([bodies.names[i] for i in worst])} are uncertain by "
        f"{result.open[worst[0]]:.2g} N: their contacts push from nearly opposite sides, and "
        "rounding of positions and loads dominates"
    )


def _on_slight_tilts(result: "StepResult") -> str:
    # tilts of poses that were never written to a file are exact to rounding, and reported above
    if (
        result.tilt_dependent is None
        or result.bodies.written is None
        or not result.tilt_dependent.any()
    ):
        return ""
    names = [result.bodies.names[i] for i in np.flatnonzero(result.tilt_dependent)]
    return (
        f"forces on {listed(names)} depend on tilts of their contacts "
        f"below {TOLERANCES.weak:g}, as rounded coordinates have: give more digits, or remove "
        "contacts that touch by chance"
    )


def _on_rounding(rounding: InputRounding, least: float, bodies: Bodies) -> str:
    """Of forces that change by more than ``least`` [N] with rounding of positions."""
    change, tilt_dependent, digit = rounding
    changed = np.flatnonzero((change > least) | tilt_dependent)
    if not len(changed):
        return ""
    changed = changed[np.argsort(-change[changed], kind="stable")]
    gap, tilt = TOLERANCES.gap * digit, TOLERANCES.tilt * digit / bodies.length
    much = f"by {change.max():.2g} N " if change.max() > least else ""
    return (
        f"forces on {listed([bodies.names[i] for i in changed])} change {much}if coordinates, all "
        f"multiples of {digit:.0e} m, were rounded: gaps up to {gap:.0e} m and tilts up to "
        f"{tilt:.0e} are not significant then; give more digits, or closed=, the largest gap "
        "over the scene's length at which contacts may carry force"
    )
