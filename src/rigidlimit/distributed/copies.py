"""A large network of periodic copies of a small one, written copy by copy.

The cell repeats along up to three vectors. Contacts across its border join neighbouring copies, and
those across the border of the whole its other side, so that the forces are those of the cell again:
what a large solve finds is known.
"""

from dataclasses import replace
from os import PathLike

import numpy as np

from ..errors import InputError
from .network import ContactNetwork
from .network_file import new_network


def write_copies(
    network: ContactNetwork, path: str | PathLike, *, counts: tuple[int, int, int],
    vectors: np.ndarray, image: np.ndarray | None = None,
) -> None:  # fmt: skip
    """Write a network of counts[0] x counts[1] x counts[2] copies of a cell.

    vectors (3, 3) [m]: edges of the cell, its rows. image (m, 3): whole numbers of edges by which
    the second body of a contact is away from where it is listed; None without a periodic cell.
    """
    whole = all(isinstance(count, int | np.integer) and count >= 1 for count in counts)
    if len(counts) != 3 or not whole:
        raise InputError(f"counts is {counts}; expected three whole numbers from 1 on")
    n, m, number = len(network.position), len(network.body), int(np.prod(counts))
    vectors = np.asarray(vectors, float).reshape(3, 3)
    image = np.zeros((m, 3), int) if image is None else np.asarray(image)
    if image.shape != (m, 3):
        raise InputError(f"image has shape {image.shape}; expected ({m}, 3), a row per contact")
    if image.dtype.kind not in "iu":
        raise InputError("image is not whole; expected numbers of edges, of an integer type")
    with new_network(path, n * number, m * number, network) as file:
        for copy, place in enumerate(np.ndindex(*counts)):
            shift = np.array(place) @ vectors
            there = (np.array(place) + image) % np.array(counts)
            beside = np.ravel_multi_index(tuple(there.T), counts)
            body = network.body + n * np.column_stack([np.full(m, copy), beside])
            part = replace(network, position=network.position + shift, body=body)
            file.put_bodies(n * copy, part)
            file.put_contacts(m * copy, part)


def images_of(position: np.ndarray, body: np.ndarray, branch: np.ndarray, vectors: np.ndarray):
    """image (m, 3) of contacts with branch vectors (m, 3) from the first body to the second, in a
    cell of edges ``vectors`` (3, 3); an edge of length zero is no period."""
    beyond = branch - (position[body[:, 1]] - position[body[:, 0]])
    return np.rint(beyond @ np.linalg.pinv(np.asarray(vectors, float))).astype(int)
