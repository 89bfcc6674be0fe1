"""What ``run`` and ``settle`` say of a step: its largest forces, determinacy, balance, rest."""

from typing import TYPE_CHECKING

import numpy as np

from .._support.words import counted
from ..bodies import HalfSpace
from ..status import Status
from .tables import new_table, terminal

if TYPE_CHECKING:
    from ..simulation import Simulation
    from ..step import StepResult

MANY = 2000
"""Closed contacts up to which the degree of indeterminacy is computed: a second or two. Random
packings of 20,000 take half a minute."""

RUBBING = ("along [N]", "mobilised", "slides")
"""Columns of contacts that rub: |f_t|, |f_t|/(mu f_n), and whether it slides."""


def show_forces(simulation: "Simulation", result: "StepResult", *, largest: int = 10) -> None:
    """Table of the largest contact forces, on the terminal, and what is said of all."""
    from rich.markup import escape

    from ..forces.bearing import bearing
    from ..forces.friction import mobilised_friction

    names = simulation.bodies.names
    contacts, classic = result.contacts, result.classic.force
    both = result.compatible is not None
    force, rough = result.force, result.T is not None
    if rough:
        size = np.linalg.norm(result.tangential_force, axis=1)
        mobilised = mobilised_friction(force, result.tangential_force, result.friction)
    table = new_table(
        f"{_which(len(force), largest)} at t = {result.time:.6g} s",
        (
            "bodies",
            *([] if rough else ["gap [m]"]),  # no room for both in 80 columns
            "classic [N]",
            *(["compatible [N]"] if both else []),
            *(RUBBING if rough else []),
        ),
        names="bodies",
        bold="compatible [N]",
    )
    for i in np.argsort(-force, kind="stable")[:largest]:
        a, b = contacts.body[i]
        row = [escape(f"{names[a]} - {names[b]}")]
        row += [] if rough else [f"{contacts.gap[i]:.2e}"]
        row += [f"{classic[i]:.6g}"]
        row += [f"{force[i]:.6g}"] if both else []
        if rough:
            row += [f"{size[i]:.6g}", f"{mobilised[i]:.3f}", "yes" if result.sliding[i] else ""]
        table.add_row(*row)
    table.add_section()
    bears = int(bearing(force).sum())
    row = ["largest", *([] if rough else [""]), f"{classic.max(initial=0.0):.6g}"]
    row += [f"{force.max(initial=0.0):.6g}"] if both else []
    if rough:
        slide = str(int(result.sliding.sum()))
        row += [f"{size.max(initial=0.0):.6g}", f"{mobilised.max(initial=0.0):.3f}", slide]
    table.add_row(*row)
    console = terminal()
    console.print(table)
    console.print(
        f"{bears} of {counted(len(force), 'contact')} "
        f"{'carries' if bears == 1 else 'carry'} load; residual of contact dynamics "
        f"{result.classic.residual:.1e} ({result.classic.status})"
        + (
            f", of the compatible forces {result.compatible.residual:.1e} "
            f"({result.compatible.status}{f', {result.compatible.state}' if rough else ''})"
            if both
            else ""
        ),
        highlight=False,
    )
    if said := result.indeterminacy(MANY):
        console.print(said, highlight=False)
    console.print(balance(simulation, result), highlight=False)
    if result.doubt:
        console.print(result.doubt, highlight=False, markup=False)


def _which(contacts: int, largest: int) -> str:
    """Title of a table that shows so many ``largest`` of the contact forces at most."""
    if contacts <= largest:
        return "contact forces"
    number = "ten" if largest == 10 else str(largest)
    return f"{number} largest of {contacts} contact forces"


def balance(simulation: "Simulation", result: "StepResult") -> str:
    """Force on what is held against the weight it carries, and whether the rest is at rest.

    Both along gravity, with constant loads in the weight; without gravity only the latter.
    """
    bodies, gravity = simulation.bodies, simulation.scene.gravity
    size = float(np.linalg.norm(gravity))
    state = "at rest" if simulation.at_rest else _moving(simulation)
    if result.classic.status is Status.JAMMED:
        state = "jammed"  # what cannot part stands still
    if size == 0.0:
        return state
    down = gravity / size
    held = ~bodies.free[:, :3][:, np.abs(down) > 1e-9].any(axis=1)
    a, b = result.contacts.body.T
    # a push on b, the opposite one on a
    along = result.force_vectors @ down
    carried = along[held[b]].sum() - along[held[a]].sum()
    external = simulation.external_force.reshape(-1, 6)[~held, :3]
    weight = float((external @ down).sum())
    loads = external - bodies.mass[~held, None] * gravity
    what = "weight and loads" if np.abs(loads).max(initial=0.0) > 0 else "weight"
    ground = any(isinstance(bodies.shape(i), HalfSpace) for i in np.flatnonzero(held))
    where = "floor" if ground else "supports"
    return f"force on the {where} {carried:.6g} N, {what} {weight:.6g} N, {state}"


def _moving(simulation) -> str:
    """Who moves, how fast, and who has gone how far; what is driven does not count."""
    from ..step.motion import farthest, speeds

    bodies, state, begun = simulation.bodies, simulation.state, simulation.scene.state
    if simulation.stands_still:
        return "standing still, but its forces are open"
    speed = speeds(bodies, state)
    fastest = int(speed.argmax())
    told = f"moving, at up to {speed[fastest]:.2g} m/s ({bodies.names[fastest]!r})"
    gone = farthest(bodies, begun, state)
    return f"{told}; {gone}" if gone else told
