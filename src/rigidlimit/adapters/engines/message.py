"""Message of a mending: what was done, and its caveats."""

from typing import TYPE_CHECKING

import numpy as np

from ..._support.words import counted
from ...status import Status

if TYPE_CHECKING:
    from .result import MendedForces

LOADS = {
    "engine": "the engine's own resultant, so total force and moment are its own",
    "given": "as given, not the engine's resultant",
    "step": "the engine's own step solved anew, not the resultant of its forces",
    "rest": "what holds everything without acceleration, not the engine's resultant",
}

UNDER_FRICTION = (
    "normal forces are the compatible ones under the engine's friction: what that carries of the "
    "load of each body is kept, and another share of it would change them"
)
"""Said where friction is kept: only normal forces are made unique."""

TOGETHER = (
    "normal and friction forces are found together from the total wrench on each body, in the "
    "stiff limit with Coulomb's cones"
)


def message(mended: "MendedForces") -> str:
    """Of ``MendedForces``, a finding a line, the most important first."""
    if not len(mended.force):
        none = f"{mended.engine}: no contacts (nothing touches, or the engine has made no step yet)"
        return "\n".join([none, *mended.notes, *_rest(mended)])
    apart = [
        f"{counted(int(some.sum()), 'open contact')}: {force}"
        for some, force in (
            (mended.open & (mended.adhesion == 0.0), "zero force"),
            (mended.open & (mended.adhesion > 0.0), "pulling by the adhesion"),
        )
        if some.any()
    ]
    first = f"{mended.engine}: {counted(len(mended.force), 'contact')}, {_change(mended)}"
    if not mended.converged:
        first = f"{mended.engine}: {mended.status}, residual {mended.residual:.1e}; {first}"
    parts = [
        first,
        f"load: {LOADS.get(mended.load_from, mended.load_from)}",
        *mended.notes,
        *apart,
        _friction(mended),
        *_held(mended),
        mended.answer.message,
        *_rest(mended),
    ]
    return "\n".join(parts)


def _change(mended):
    part = mended.largest_change
    if np.isnan(part):
        return "the engine's forces were not given"
    if mended.already_compatible:
        return f"the engine's forces were compatible already (changed by {part:.1e} of the largest)"
    percent = f"{100 * part:.0f}" if part >= 1.0 else f"{100 * part:.2g}"
    return f"forces changed by up to {percent} % of the engine's largest"


def _friction(mended):
    if mended.joint:
        return "; ".join([f"{TOGETHER}: {_states(mended)}", *_moments(mended)])
    if not mended.engine_tangential.any():
        return "no friction forces"
    text = "friction forces kept as the engine has them"
    broken = np.flatnonzero(mended.outside_cone | mended.slid)
    if len(broken):
        text += (
            f"; Coulomb's law is broken at {counted(len(broken), 'contact')}, first at contact "
            f"{broken[0]}: do not use these forces as a solution with friction"
        )
    return f"{text}; {UNDER_FRICTION}"


def _states(mended):
    """The states by name, with numbers of contacts where there are several."""
    state = mended.state[mended.row]
    kept = np.flatnonzero(mended.kept)
    names = [name for name in dict.fromkeys(state.tolist()) if name != "engine"]
    if not len(state):
        names = [mended.answer.state]
    count = "" if len(names) + bool(len(kept)) < 2 else " at {}"
    said = [
        f"those of the state {name!r}"
        + count.format(counted(int((state == name).sum()), "contact"))
        for name in names
    ]
    if len(kept):
        said.append(
            f"no admissible normal and friction forces found at {counted(len(kept), 'contact')}, "
            f"first contact {kept[0]}: the engine's are kept{_at_bound(mended)}"
        )
    return ", ".join(said)


def _at_bound(mended):
    """Of contacts that keep the engine's forces: how many of these are at the bound of friction."""
    row, contacts = mended.contacts.row, mended.contacts
    need, bound = np.zeros(len(mended.force)), np.zeros(len(mended.force))
    need[row] = np.linalg.norm(mended.engine_tangential[row, :2], axis=1)
    bound[row] = contacts.coefficients[0] * contacts.pressing
    near = 1.0 - mended.options.friction_tolerance
    number = int((mended.kept & (bound > 0.0) & (need >= near * bound)).sum())
    if not number:
        return ""
    return (
        f" ({counted(number, 'contact')} of them at the bound of friction: bodies that slide or "
        "fall leave hardly any others)"
    )


def _moments(mended):
    """Spin and rolling moments, which stay the engine's."""
    bounds = mended.contacts.friction[:, 2:] > 0.0
    if not bounds.any():
        return
    number = counted(int(bounds.any(axis=1).sum()), "contact")
    text = f"torsional and rolling friction of {number} kept as the engine has it"
    outside = np.flatnonzero(mended.outside_cone)
    if len(outside):
        text += (
            f", at {counted(len(outside), 'contact')}, first contact {outside[0]}, more than the "
            "new normal force allows"
        )
    yield text


def _held(mended):
    if mended.held.any():
        change = np.abs(mended.held_change)
        most = int(change.argmax())
        yield (
            f"held joints deliver up to {change[most]:.3g} (N, N m) beyond their load, "
            f"{mended.contacts.column(most)} the most; a squeeze of theirs beyond the balance "
            "of the others is not kept"
        )


def _rest(mended):
    if mended.load_from == "rest" and mended.answer.status is Status.LOAD_NOT_CARRIED:
        yield (
            "load='rest' requires zero acceleration, and the engine is "
            f"{mended.answer.residual:.1e} of the load away from that; let it come to rest, take "
            "load='engine', or, where that is near enough, a tolerance above it"
        )
