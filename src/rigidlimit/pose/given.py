"""Contact forces that another program states, at the contacts of a pose: nothing is solved."""

from collections.abc import Sequence

import numpy as np

from ..collision.contacts import Contacts
from ..collision.search import find_contacts
from ..compatibility.friction import contact_friction, has_friction
from ..errors import InputError
from ..kinematics import framed, gap_gradient, in_frame, tangential_gradient
from ..scenes.scene import Scene
from .as_pressed import pressed
from .overlaps import NEAR, PoseForces

BALANCED = 1e-6
"""Largest imbalance over the largest force at which given forces count as balanced: files of other
programs have six digits by default."""


def given_forces(
    scene: Scene, pairs: Sequence[tuple[str, str]], force: np.ndarray, *, source: str = "a file"
) -> PoseForces:
    """Forces as given, for stress, P(f), chains and pictures.

    Parameters
    ----------
    scene
        Its pose is that of the forces.
    pairs
        Names of the two bodies of each of k contacts; a pair that is listed in both orders, with
        opposite forces, is one contact.
    force : (k, 3)
        [N] on the first body of each, or all of them on the second: most push bodies apart, which
        decides.
    source
        Where they are from, for messages.

    Raises
    ------
    InputError
        For unknown names, a pair that is listed twice, and bodies that are far from each other.
    """
    bodies, state = scene.bodies, scene.state
    reach = NEAR * bodies.length
    around = np.where(np.isfinite(bodies.bounding_radius), reach, 0.0)
    near = framed(find_contacts(bodies, state, around), bodies.dim)
    row, vectors = _at_contacts(near, tuple(bodies.names), pairs, np.asarray(force, float))
    contacts = near.select(row)
    normal = np.einsum("mk,mk->m", vectors, contacts.normal)
    if normal.sum() < 0.0:
        vectors, normal = -vectors, -normal
    along = in_frame(contacts, vectors)
    mu = np.zeros(len(row))
    if has_friction(bodies, scene.pair_friction):
        mu = contact_friction(bodies, contacts, scene.pair_friction)
    load = np.where(bodies.free.ravel(), -scene.external_force(), 0.0)
    B = gap_gradient(bodies, state, contacts)
    T = tangential_gradient(bodies, state, contacts)
    answer = pressed(bodies, B, T, load, normal, along, mu, BALANCED, source=f"given by {source}")
    return PoseForces(
        bodies=bodies,
        state=state,
        contacts=contacts,
        elastic=answer,
        stiffness=np.full(len(row), np.nan),
        load=load,
        shift=0.0,
        overlap=float(max(0.0, -contacts.gap.min(initial=0.0))),
        friction=mu,
        sprung=True,
    )


def _at_contacts(
    near: Contacts, names: tuple[str, ...], pairs: Sequence[tuple[str, str]], force: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(ascending rows of contacts that have a force, forces (m, 3) on their second body)."""
    number = {name: k for k, name in enumerate(names)}
    row = {tuple(pair): k for k, pair in enumerate(near.body.tolist())}
    total, seen = np.zeros((len(near), 3)), np.zeros((len(near), 2), int)
    for (first, second), vector in zip(pairs, force, strict=True):
        if first not in number or second not in number:
            unknown = first if first not in number else second
            raise InputError(f"a force on body {unknown!r}, which the packing does not have")
        a, b = number[first], number[second]
        at = row.get((min(a, b), max(a, b)))
        if at is None:
            if vector.any():
                raise InputError(
                    f"bodies {first} and {second} have a force and are not near each other; "
                    "expected contacts of the same snapshot"
                )
            continue
        swapped = int(a > b)
        if seen[at, swapped]:
            raise InputError(
                f"the pair {first}, {second} is listed twice; expected each contact once"
            )
        seen[at, swapped] = 1
        total[at] += vector if swapped else -vector
    count = seen.sum(axis=1)
    rows = np.flatnonzero(count)
    return rows, total[rows] / count[rows, None]
