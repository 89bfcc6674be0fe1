"""Periodic cells in the contact search: bodies -> these and images near the cell -> contacts.

Bodies are put back into a reduced cell of the same lattice (P. Q. Nguyen and D. Stehle, ACM Trans.
Algorithms 5 (2009) 46: greedy reduction), so that its vectors are short however far it was sheared.
Those within reach of a side have images beyond the opposite one, which are searched as bodies are.
A pair has one image at most that it touches, since no body is larger than half the cell: contacts
keep the key of their pair wherever the boundary lies.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..bodies import Bodies, HalfSpace, State
from ..errors import ContactError
from .broadphase import Apart
from .contacts import Contacts

REDUCTIONS = 1000
"""Most sweeps of the reduction; each halves a vector at least where it changes one."""


@dataclass(frozen=True)
class Images:
    """N bodies of a scene, put back into the cell, and images of some of them: k in all.

    bodies, state: these, without the cell as a body. origin (k,): body of each. back (N, 3) [m]:
    where a body stands less where it was put. apart: which bodies do not collide.
    """

    bodies: Bodies
    state: State
    origin: np.ndarray
    back: np.ndarray
    apart: Apart | None

    def collide(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Pairs (a_k, b_k) of which one is in the cell, and the lower body if both may be."""
        low, high = np.minimum(a, b), np.maximum(a, b)
        own, other = self.origin[low], self.origin[high]
        plane = self.plane[high] | self.plane[low]
        wanted = (low < len(self.back)) & ((high < len(self.back)) | (own < other))
        wanted &= ~plane | (high < len(self.back))
        return wanted if self.apart is None else wanted & self.apart.collide(own, other)

    @property
    def plane(self) -> np.ndarray:
        return self.bodies.are(HalfSpace)

    def of_bodies(self, found: Contacts, count: int) -> Contacts:
        """The contacts of the scene's bodies, ``count`` with the cell, by its poses."""
        a, b = found.body[:, 0], found.body[:, 1]
        x, plane = self.state.position, self.plane
        # a half-space has no images: the point lies by the other body
        at = np.where(plane[a], self.origin[b], self.origin[a])
        moved = self.back[self.origin[b]] - self.back[self.origin[a]]
        branch = x[b] - x[a] + np.where((plane[a] | plane[b])[:, None], moved, 0.0)
        whole = replace(
            found,
            body=self.origin[found.body],
            point=found.point + self.back[at],
            bodies=count,
            branch=branch,
        )
        return whole.select(np.argsort(whole.key, kind="stable"))


def lattice(bodies: Bodies, vectors: np.ndarray) -> np.ndarray:
    """Vectors (3, 3), row by row: reduced ones of the periodic lattice, unit axes elsewhere."""
    A, periodic = np.eye(3), bodies.cell.periodic
    A[periodic] = vectors[periodic]
    which = np.flatnonzero(periodic)
    for _ in range(REDUCTIONS):
        changed = False
        for i in which:
            for j in which:
                if i != j:
                    times = np.rint(A[i] @ A[j] / (A[j] @ A[j]))
                    shorter = A[i] - times * A[j]
                    if times and shorter @ shorter < A[i] @ A[i]:
                        A[i], changed = shorter, True
        if not changed:
            break
    return A


def wrapped(bodies: Bodies, state: State) -> tuple[np.ndarray, np.ndarray]:
    """(positions in the cell (n, 3) [m], how many of its vectors were taken off (n, 3)).

    Half-spaces, and the cell as a body, stay as they are.
    """
    A = np.eye(3)
    A[bodies.cell.periodic] = state.cell[bodies.cell.periodic]
    cells = _cells(bodies, state.position, A)
    return state.position - cells @ A, cells.astype(np.int64)


def _cells(bodies, position, A):
    cells = np.floor(position @ np.linalg.inv(A))
    cells[:, ~bodies.cell.periodic] = 0.0
    cells[~np.isfinite(bodies.bounding_radius)] = 0.0
    return cells


def width_of(bodies: Bodies, vectors: np.ndarray) -> float:
    """How wide a cell with these vectors is across its narrowest periodic direction [m]."""
    dual = np.linalg.inv(lattice(bodies, vectors))
    return float(1.0 / np.linalg.norm(dual, axis=0)[bodies.cell.periodic].max())


def images_of(bodies: Bodies, state: State, reach: np.ndarray, apart: Apart | None):
    """(images, their reach (k,)) for a search with ``reach`` (n,) [m].

    Raises ContactError where a body is not smaller than half of the cell.
    """
    A = lattice(bodies, state.cell)
    dual = np.linalg.inv(A)
    width = 1.0 / np.linalg.norm(dual, axis=0)
    N = len(bodies) - 1
    radius = bodies.bounding_radius[:N] + reach[:N]
    finite = np.isfinite(radius)
    _check_size(bodies, np.where(finite, radius, 0.0), width_of(bodies, state.cell), reach)
    back = _cells(bodies, state.position, A)[:N] @ A
    position = state.position[:N] - back
    origin = np.arange(N)
    margin = 2.0 * radius[finite].max(initial=0.0) / width
    for k in np.flatnonzero(bodies.cell.periodic):
        s = position @ dual[:, k]
        solid = finite[origin]
        low = np.flatnonzero(solid & (s < margin[k]))
        high = np.flatnonzero(solid & (s >= 1.0 - margin[k]))
        position = np.concatenate([position, position[low] + A[k], position[high] - A[k]])
        origin = np.concatenate([origin, origin[low], origin[high]])
    ghosts = bodies.derived(_without_cell).rows(origin)
    placed = State(position, state.quaternion[origin], np.zeros((len(origin), 6)), state.time)
    return Images(ghosts, placed, origin, back, apart), reach[origin]


def _without_cell(bodies: Bodies) -> Bodies:
    """The bodies of a scene but the cell. Use ``bodies.derived``."""
    return replace(bodies.rows(np.arange(len(bodies) - 1)), shapes=bodies.shapes[:-1])


def _check_size(bodies, radius, narrow, reach) -> None:
    largest = int(radius.argmax()) if len(radius) else 0
    if len(radius) and not 4.0 * radius[largest] < narrow:
        own = 2.0 * bodies.bounding_radius[largest]
        moves = f" and may move {reach[largest]:.3g} m" if reach[largest] > 0.1 * own else ""
        raise ContactError(
            f"body {bodies.names[largest]!r} measures {own:.3g} m{moves}, the periodic cell "
            f"{narrow:.3g} m across; expected bodies smaller than half of the cell, and a time "
            "step in which they do not cross it: take a larger cell, more bodies, or a shorter dt"
        )
