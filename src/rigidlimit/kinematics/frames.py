"""Tangents of contacts, and what contacts remember in their tangent planes from step to step.

A contact's frame is its normal n (from body[:, 0] to body[:, 1]) and d - 1 tangents: t in the
plane with t x n = z in 2D, t1 and t2 = n x t1 in 3D. A new contact's t1 is the x axis laid into the
tangent plane (the y axis where n is next to x), so that level floors have t1 = x, t2 = y. A contact
that was there before keeps its frame, turned by ``turned``.

From one step to the next a tangential vector turns with its contact: by the smallest rotation that
takes the old normal to the new one, then about the new normal by the mean spin of both bodies (the
rotation of two bodies that turn as one). Where the normal has turned by a right angle or more, the
bodies touch elsewhere: the contact counts as new.
"""

from dataclasses import replace

import numpy as np

from ..collision.contacts import Contacts

NEXT_TO_X = 0.95
"""|n_x| above which a new contact's first tangent comes from the y axis."""


def tangents_of(normal: np.ndarray, dim: int) -> np.ndarray:
    """Unit tangents (m, dim - 1, 3) of unit normals (m, 3), from the normals alone."""
    if dim == 2:
        return np.cross(normal, (0.0, 0.0, 1.0))[:, None, :]
    axis = np.where(np.abs(normal[:, :1]) < NEXT_TO_X, (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    return _with_second(normal, axis)


def framed(contacts: Contacts, dim: int, earlier: Contacts | None = None) -> Contacts:
    """The contacts with ``tangents``: those of ``earlier`` contacts with the same key, turned with
    the normal; from the normal alone where the key is new."""
    tangents = tangents_of(contacts.normal, dim)
    if dim == 3 and earlier is not None and earlier.tangents is not None:
        at, same = _persisting(contacts, earlier)
        first = turned(earlier.normal[at], contacts.normal[same], earlier.tangents[at, 0])
        tangents[same] = _with_second(contacts.normal[same], first)
    return replace(contacts, tangents=tangents)


def turned(
    before: np.ndarray, after: np.ndarray, vectors: np.ndarray, turn: np.ndarray | None = None
) -> np.ndarray:
    """Tangential ``vectors`` (m, 3) at unit normals ``before`` (m, 3), turned to those ``after``.

    turn (m,) [rad]: then about the normal, by the right-hand rule. Lengths stay; n . n' > -1.
    """
    along = _dot(after, vectors) / (1.0 + _dot(before, after))
    out = vectors - along[:, None] * (before + after)
    if turn is not None:
        angle = np.asarray(turn)[:, None]
        out = np.cos(angle) * out + np.sin(angle) * np.cross(after, out)
    return out


def mean_turn(contacts: Contacts, velocity: np.ndarray, dt: float) -> np.ndarray:
    """Angle [rad] by which both bodies turn about the normal within ``dt`` [s] on the mean, (m,).

    velocity (n, 6) [m/s, rad/s].
    """
    spin = velocity[contacts.body[:, 0], 3:] + velocity[contacts.body[:, 1], 3:]
    return 0.5 * dt * _dot(spin, contacts.normal)


def carry_tangential(
    contacts: Contacts, earlier: Contacts, vectors: np.ndarray, turn: np.ndarray | None = None
) -> np.ndarray:
    """Tangential ``vectors`` (k, 3) of the earlier contacts on these ones, (m, 3), world frame.

    They are turned with their contact, and zero where the key is new. turn (m,) [rad]: how far the
    bodies of each of these contacts turned about the normal since, see ``mean_turn``.
    """
    at, same = _persisting(contacts, earlier)
    out = np.zeros((len(contacts), 3))
    out[same] = turned(
        earlier.normal[at],
        contacts.normal[same],
        vectors[at],
        None if turn is None else np.asarray(turn)[same],
    )
    return out


def in_frame(contacts: Contacts, vectors: np.ndarray) -> np.ndarray:
    """Components (m, d - 1) along ``contacts.tangents`` of vectors (m, 3)."""
    return np.einsum("mak,mk->ma", contacts.tangents, vectors)


def in_world(contacts: Contacts, components: np.ndarray) -> np.ndarray:
    """Vectors (m, 3) with components (m, d - 1) along ``contacts.tangents``."""
    return np.einsum("mak,ma->mk", contacts.tangents, components)


def _persisting(contacts, earlier):
    """(indices of earlier contacts, mask (m,) of those here that they persist as)."""
    at = contacts.places_in(earlier)
    same = at >= 0
    same[same] = _dot(contacts.normal[same], earlier.normal[at[same]]) > 0.0
    return at[same], same


def _with_second(normal, first):
    """(m, 2, 3): ``first`` laid into the tangent plane, and n x t1."""
    first = first - _dot(first, normal)[:, None] * normal
    first /= np.linalg.norm(first, axis=1)[:, None]
    return np.stack([first, np.cross(normal, first)], axis=1)


def _dot(a, b):
    return np.einsum("mk,mk->m", a, b)
