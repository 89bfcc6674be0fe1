"""What ``run`` and ``settle`` say of a step: its largest forces, determinacy, balance, rest."""

from typing import TYPE_CHECKING

import numpy as np

from .._support.words import counted
from ..status import Status
from .options import LIMITS
from .tables import new_table, terminal

if TYPE_CHECKING:
    from ..simulation import Simulation
    from ..step import StepResult


def show_forces(simulation: "Simulation", result: "StepResult", *, largest: int = 10) -> None:
    """Table of the largest contact forces, on the terminal, and what is said of all."""
    from ..compatibility.bearing import bearing

    force, answer, console = result.force, result.compatible, terminal()
    console.print(_table(simulation.bodies.names, result, largest))
    bears = int(bearing(force).sum())
    said = (
        f"{bears} of {counted(len(force), 'contact')} "
        f"{'carries' if bears == 1 else 'carry'} load; residual of contact dynamics "
        f"{result.classic.residual:.1e} ({result.classic.status})"
    )
    if answer is not None:
        state = "" if result.T is None else f", {answer.state}"
        said += f", of the compatible forces {answer.residual:.1e} ({answer.status}{state})"
    texts = (said, result.indeterminacy(LIMITS.degree), balance(simulation, result), result.doubt)
    for text in filter(None, texts):
        console.print(text, highlight=False, markup=False)


def _table(names, result: "StepResult", largest: int):
    """The ``largest`` forces, and below them the largest of each column."""
    from rich.markup import escape

    from ..compatibility.friction import mobilised_friction

    contacts, force = result.contacts, result.force
    rows = np.argsort(-force, kind="stable")[:largest]

    def sizes(values: np.ndarray, form: str) -> tuple[list[str], str]:
        return [format(values[i], form) for i in rows], format(values.max(initial=0.0), form)

    # heading -> (a word for each row, a word for all contacts)
    columns = {}
    if result.T is None:  # no room for all in 80 columns
        columns["gap [m]"] = sizes(contacts.gap, ".2e")[0], ""
    columns["classic [N]"] = sizes(result.classic.force, ".6g")
    if result.compatible is not None:
        columns["compatible [N]"] = sizes(force, ".6g")
    if result.T is not None:
        along = result.tangential_force
        columns["along [N]"] = sizes(np.linalg.norm(along, axis=1), ".6g")
        mobilised = mobilised_friction(force, along, result.friction)
        columns["mobilised"] = sizes(mobilised, ".3f")
        slides = ["yes" if result.sliding[i] else "" for i in rows]
        columns["slides"] = slides, str(int(result.sliding.sum()))
    table = new_table(
        f"{_which(len(force), largest)} at t = {result.time:.6g} s",
        ("bodies", *columns),
        names="bodies",
        bold="compatible [N]",
    )
    for k, (a, b) in enumerate(contacts.body[rows]):
        words = (each[k] for each, _ in columns.values())
        table.add_row(escape(f"{names[a]} - {names[b]}"), *words)
    table.add_section()
    table.add_row("largest", *(whole for _, whole in columns.values()))
    return table


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
    from ..bodies import HalfSpace

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
    text = f"moving, at up to {speed[fastest]:.2g} m/s ({bodies.names[fastest]!r})"
    gone = farthest(bodies, begun, state)
    return f"{text}; {gone}" if gone else text
