"""Which bodies are meant, and the force vectors on both bodies of each contact; in periodic cells
centres put back into the cell, and their images around it."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from ..._support import arrays
from ...bodies import Disk, HalfSpace, Sphere
from ...bodies.cell import CellFrame
from ...errors import InputError, nearest
from ...step.force_network import ForceNetwork

Chosen = str | int | Sequence[str | int] | np.ndarray | None
"""Names or numbers of bodies; None: all that are free to move in some way, or all."""


def pushes(shown: ForceNetwork, method: str | None) -> tuple[np.ndarray, np.ndarray]:
    """(push, arm), (m, 2, 3) each: the force on either body of each contact, and where it acts
    from the centre that the body had where the step began."""
    push = shown.vectors(method)[:, None, :] * np.array([[-1.0], [1.0]])
    return push, shown.contacts.point[:, None, :] - centres(shown)


def centres(shown: ForceNetwork) -> np.ndarray:
    """Centres (m, 2, 3) [m] of both bodies of each contact where the step began; in a periodic cell
    the second is that of the image which is touched."""
    contacts = shown.contacts
    at = shown.start[contacts.body]
    if contacts.branch is not None:
        at[:, 1] = at[:, 0] + contacts.branch
    return at


def volumes(shown: ForceNetwork) -> np.ndarray:
    """Volume of each body, (n,) [m^3; m^2 in 2D]; nan for half-spaces and a periodic cell."""
    endless = HalfSpace | CellFrame
    volume = [np.nan if isinstance(s, endless) else s.measure for s in shown.bodies.shapes]
    return np.array(volume, float)[shown.bodies.shape_of]


def balls(shown: ForceNetwork) -> np.ndarray:
    """Indices of the balls, or disks, of which there is one at least."""
    found = np.flatnonzero(shown.bodies.are(Sphere, Disk))
    if not len(found):
        raise InputError("no body is a ball or a disk; expected some")
    return found


def chosen(shown: ForceNetwork, bodies: Chosen) -> np.ndarray:
    """Which bodies are meant, (n,) bool."""
    if bodies is None:
        return shown.bodies.free.any(axis=1) & ~shown.bodies.are(CellFrame)
    names, found = shown.bodies.names, np.zeros(len(shown.bodies), bool)
    for body in [bodies] if isinstance(bodies, str) else np.atleast_1d(bodies):
        if isinstance(body, str):
            if body not in names:
                raise InputError(f"bodies: no body is named {str(body)!r}; {nearest(body, names)}")
            found[names.index(body)] = True
        elif isinstance(body, int | np.integer) and 0 <= body < len(names):
            found[body] = True
        else:
            raise InputError(f"bodies: found {body}; expected names, or numbers below {len(names)}")
    return found


def growing_edges(what: str, edges: ArrayLike) -> np.ndarray:
    """Edges of bins (b + 1,), checked."""
    edges = np.asarray(edges, float)
    good = edges.ndim == 1 and len(edges) > 1 and np.isfinite(edges).all()
    if not (good and (np.diff(edges) > 0).all()):
        raise InputError(f"{what}: found {arrays.short(edges)}; expected two or more growing edges")
    return edges


def start_cell(shown: ForceNetwork) -> np.ndarray | None:
    """Vectors (3, 3) [m] of the cell where the step began; None without one."""
    return None if shown.cell is None else np.linalg.solve(shown.strain, shown.cell.T).T


def wrapped(shown: ForceNetwork, place: np.ndarray, vectors: np.ndarray | None) -> np.ndarray:
    """Points (k, 3) [m] put back into the cell with these vectors, as they are without one."""
    if vectors is None:
        return place
    turns = np.floor(place @ np.linalg.inv(vectors))
    turns[:, ~shown.bodies.cell.periodic] = 0.0
    return place - turns @ vectors


def around(
    shown: ForceNetwork, place: np.ndarray, vectors: np.ndarray | None, reach: float
) -> tuple[np.ndarray, np.ndarray]:
    """(points (K, 3) [m], of which each is an image (K,)): those put back into the cell come first,
    then their images up to ``reach`` [m] beyond it."""
    first = np.arange(len(place))
    if vectors is None:
        return place, first
    inside = wrapped(shown, place, vectors)
    inverse = np.linalg.inv(vectors)
    beyond = reach * np.linalg.norm(inverse, axis=0)  # in parts of each vector
    beyond[~shown.bodies.cell.periodic] = 0.0
    part = inside @ inverse
    points, origin = [inside], [first]
    for turn in product(*(range(-int(np.ceil(b)), int(np.ceil(b)) + 1) for b in beyond)):
        if any(turn):
            at = part + turn
            outside = (at < -beyond) | (at > 1 + beyond)
            outside[:, ~shown.bodies.cell.periodic] = False
            near = np.flatnonzero(~outside.any(axis=1))
            points.append(inside[near] + turn @ vectors)
            origin.append(near)
    return np.concatenate(points), np.concatenate(origin)


def in_cell(shown: ForceNetwork) -> ForceNetwork:
    """The same moment with all bodies within the periodic cell, contacts beside the first ones."""
    if shown.cell is None:
        return shown
    whole = ~shown.half_space
    position = shown.position.copy()
    position[whole] = wrapped(shown, position[whole], shown.cell)
    moved = (position - shown.position)[shown.contacts.body[:, 0]]
    contacts = replace(shown.contacts, point=shown.contacts.point + moved)
    return replace(shown, position=position, contacts=contacts)
