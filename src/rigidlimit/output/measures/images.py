"""Periodic cells in measures: centres put back into the cell, and their images around it."""

from dataclasses import replace
from itertools import product

import numpy as np

from ...step.force_network import ForceNetwork


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
