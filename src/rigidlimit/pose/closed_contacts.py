"""The closed contacts of a pose, gathered once for questions of statics: see ``static_analysis``.

Those of a ``Scene`` as it begins, of a ``Simulation`` as it stands, or of a ``StepResult``.
"""

from pathlib import Path

import numpy as np

from .._support import arrays
from .._support.submatrix import submatrix
from ..bodies import State
from ..collision.contacts import Contacts
from ..collision.search import find_contacts
from ..compatibility.friction import contact_friction, contact_tangential_stiffness
from ..compatibility.law import contact_stiffness
from ..errors import InputError
from ..kinematics import framed, gap_gradient, tangential_gradient
from ..scenes.load import as_scene
from ..scenes.scene import Scene
from ..simulation import Simulation
from ..step import StepResult
from ..step.friction import sliding_direction
from .static_analysis import Statics

CLOSED = 1e-6
"""Largest gap over the scene's length at which a contact of a pose counts as closed."""


def statics(
    source: Scene | Simulation | StepResult | str | Path, *, closed: float = CLOSED
) -> Statics:
    """The closed contacts of a pose, for questions of statics.

    Parameters
    ----------
    source
        A ``Scene``, the name of one in the gallery or a TOML file, as it begins; a ``Simulation``
        as it stands; or a ``StepResult``, with the contacts and the load of its step.
    closed : float
        Largest gap over the scene's length at which a contact of a pose may carry force.

    Returns
    -------
    Statics

    Raises
    ------
    InputError
        Where no bodies touch, and for a step without friction.
    SceneError
        For a name or file that is no scene.

    Examples
    --------
    >>> import rigidlimit
    >>> arch = rigidlimit.statics("arch")
    >>> round(arch.load_factor().factor, 4), round(arch.least_friction().factor, 4)
    (0.1483, 0.3505)
    """
    if isinstance(source, StepResult):
        return _of_step(source)
    simulation = source if isinstance(source, Simulation) else None
    scene = as_scene(source) if simulation is None else simulation.scene
    bodies = scene.bodies
    state = scene.state if simulation is None else simulation.state
    external = scene.external_force() if simulation is None else simulation.external_force
    reach = arrays.positive("closed", closed) * bodies.length
    around = np.where(np.isfinite(bodies.bounding_radius), reach, 0.0)
    contacts = find_contacts(bodies, state, around)
    moves = bodies.free.any(axis=1)[contacts.body].any(axis=1)
    contacts = contacts.select(np.flatnonzero(moves & (contacts.gap <= reach)))
    if not len(contacts):
        raise InputError(
            f"scene {scene.name!r}: no bodies touch; expected a pose of rest, with bodies whose "
            f"gaps are at most {reach:.1e} m (closed= takes in wider ones)"
        )
    return of_contacts(scene, contacts, state=state, external=external)


def of_contacts(
    scene: Scene,
    contacts: Contacts,
    *,
    state: State | None = None,
    external: np.ndarray | None = None,
) -> Statics:
    """The statics of contacts that are known, as from another program.

    scene: their ``Scene``; state, external (6 n,) [N, N m]: pose and external forces, the scene's
    by default.
    """
    bodies = scene.bodies
    state = scene.state if state is None else state
    external = scene.external_force() if external is None else external
    contacts = framed(contacts, bodies.dim)
    stiffness = contact_stiffness(bodies, contacts, scene.exponent, scene.pair_stiffness)
    return Statics(
        name=scene.name,
        bodies=bodies,
        state=state,
        contacts=contacts,
        B=gap_gradient(bodies, state, contacts),
        T=tangential_gradient(bodies, state, contacts),
        load=np.where(bodies.free.ravel(), -external, 0.0),
        friction=contact_friction(bodies, contacts, scene.pair_friction),
        gravity=float(np.linalg.norm(scene.gravity)),
        stiffness=stiffness,
        tangential_stiffness=contact_tangential_stiffness(
            bodies, contacts, stiffness, scene.exponent, scene.pair_tangential_stiffness
        ),
        exponent=scene.exponent,
        scene=scene,
    )


def _of_step(step: StepResult) -> Statics:
    if step.bodies is None or step.T is None:
        raise InputError(
            "the step has no rough contacts; expected one of a scene whose materials have friction "
            "(smooth ones: rigidlimit.determinacy(*result.balance))"
        )
    chosen = np.flatnonzero(step.closed)
    d = step.bodies.dim
    rows = ((d - 1) * chosen[:, None] + np.arange(d - 1)).ravel()
    slide = sliding_direction(step)[chosen]
    return Statics(
        name=f"step at t = {step.time:.6g} s",
        bodies=step.bodies,
        state=step.state,
        contacts=step.contacts.select(chosen),
        B=submatrix(step.B, rows=chosen),
        T=submatrix(step.T, rows=rows),
        load=step.load,
        friction=step.friction[chosen],
        slide=slide if slide.any() else None,
    )
