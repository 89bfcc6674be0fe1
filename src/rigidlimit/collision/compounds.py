"""Compounds in the contact search: bodies -> their convex parts -> contacts of the bodies.

Parts are searched as bodies are, with the reach of the body they belong to; pairs within a body
have no contact. A contact belongs to the pair of bodies, and its feature number names the pair of
parts as well: (number of part a * parts of body b + number of part b) * FEATURES + feature.
Which of the parts' contacts at a seam are those of the body: ``seams``.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..bodies import Bodies, Compound, State, rotations
from ..errors import ContactError
from .contacts import FEATURES, Contacts
from .seams import at_seams


@dataclass(frozen=True)
class Parts:
    """The P parts of n bodies, body after body; a body of one shape is its own part.

    bodies: the parts as bodies. owner (P,): body of each; number (P,): of the part in its body.
    count (n,): parts of each body. offset (P, 3) [m], quaternion (P, 4): pose in the body's frame.
    """

    bodies: Bodies
    owner: np.ndarray
    number: np.ndarray
    count: np.ndarray
    offset: np.ndarray
    quaternion: np.ndarray

    def placed(self, state: State) -> State:
        """Poses of the parts, without velocities, which the search does not need."""
        turn = rotations.matrix(state.quaternion)[self.owner]
        position = state.position[self.owner] + np.einsum("pij,pj->pi", turn, self.offset)
        quaternion = rotations.multiply(state.quaternion[self.owner], self.quaternion)
        return State(position, quaternion, np.zeros((len(self.owner), 6)), state.time)

    def of_bodies(self, found: Contacts, placed: State, reach: np.ndarray) -> Contacts:
        """The contacts of the bodies from those of their parts; reach (P,) [m]."""
        found = at_seams(self.bodies, self.owner, placed, reach, found)
        n, a, b = len(self.count), found.body[:, 0], found.body[:, 1]
        pair = self.number[a] * self.count[self.owner[b]] + self.number[b]
        whole = replace(
            found, body=self.owner[found.body], feature=pair * FEATURES + found.feature, bodies=n
        )
        return whole.select(np.argsort(whole.key, kind="stable"))


def parts_of(bodies: Bodies) -> Parts | None:
    """The parts of a scene; None where every body has one shape. Use ``bodies.derived``."""
    if not bodies.are(Compound).any():
        return None
    rows, table, offset, quaternion, count = [], {}, [], [], []
    for shape in bodies.shapes:
        split = isinstance(shape, Compound)
        parts = shape.shapes if split else (shape,)
        rows += [table.setdefault(part, len(table)) for part in parts]
        offset.append(shape.offsets if split else np.zeros((1, 3)))
        quaternion.append(shape.quaternions if split else rotations.identity(1))
        count.append(len(parts))
    first = np.cumsum([0, *count])[bodies.shape_of]
    count = np.array(count)[bodies.shape_of]
    if len(bodies) ** 2 * int(count.max()) ** 2 * FEATURES >= 2**62:
        raise ContactError(
            f"{len(bodies)} bodies of up to {count.max()} parts: more contacts than can be "
            "numbered; expected fewer bodies, or fewer parts each"
        )
    owner = np.repeat(np.arange(len(bodies)), count)
    number = np.arange(len(owner)) - np.repeat(np.cumsum(count) - count, count)
    row = first[owner] + number
    names = (
        bodies.names[o] if count[o] == 1 else f"{bodies.names[o]} (part {k})"
        for o, k in zip(owner.tolist(), number.tolist(), strict=True)
    )
    return Parts(
        replace(
            bodies,
            names=tuple(names),
            shapes=tuple(table),
            shape_of=np.array(rows)[row],
            material_of=bodies.material_of[owner],
            mass=bodies.mass[owner],
            inertia=bodies.inertia[owner],
            free=bodies.free[owner],
            group=None,
            excluded=None,
        ),
        owner,
        number,
        count,
        np.concatenate(offset)[row],
        np.concatenate(quaternion)[row],
    )
