"""Friction coefficient and tangential stiffness of contacts from two materials.

mu = min(mu_a, mu_b): a smooth side makes a smooth contact, and a pair of one material has its mu.
(Other programs take the largest, the product, or the geometric or harmonic mean: give the value for
the pair of bodies then.)

Tangential springs are in series like normal ones. With the compliance (1 - nu^2)/E of a body along
the normal, divided by its own ratio k_t/k_n along the tangents,

    k_t/k_n = sum (1 - nu^2)/E  /  sum (1 - nu^2)/(E ratio),    ratio = 2 (1 - nu)/(2 - nu)

unless a material states another: Mindlin's 4 G*/E* with 1/G* = sum 2 (2 - nu) (1 + nu)/E. k_n is
df_n/dc of f_n = k c^(p-1), so that a tangential spring of length xi, at the overlap c, pulls with

    f_t = k_t c^(p-2) xi,    k_t = (k_t/k_n) (p - 1) k,

which for Hertz is Mindlin's 8 G* sqrt(R* c) xi.
"""

import numpy as np

from ..bodies import Bodies
from ..collision.contacts import Contacts
from .bearing import bearing
from .law import of_pairs


def has_friction(bodies: Bodies, pair_friction: dict | None = None) -> bool:
    """Whether any two bodies may rub on each other."""
    rough = any(material.friction > 0 for material in bodies.materials)
    return rough or any(mu > 0 for mu in (pair_friction or {}).values())


def contact_friction(
    bodies: Bodies, contacts: Contacts, pair_friction: dict | None = None
) -> np.ndarray:
    """mu (m,) [-]. pair_friction: {(i, j): mu} replaces the value for pairs of bodies."""
    mu = np.array([material.friction for material in bodies.materials])[bodies.material_of]
    return of_pairs(mu[contacts.body].min(axis=1), contacts, pair_friction)


def tangential_ratio(
    bodies: Bodies, contacts: Contacts, pair_ratio: dict | None = None
) -> np.ndarray:
    """k_t/k_n (m,) [-], k_n = df_n/dc. pair_ratio: {(i, j): k_t/k_n} for pairs of bodies."""
    normal = np.array([1 / material.plane_modulus for material in bodies.materials])
    ratio = np.array([material.tangential_ratio for material in bodies.materials])
    normal, along = (each[bodies.material_of][contacts.body] for each in (normal, normal / ratio))
    return of_pairs(normal.sum(axis=1) / along.sum(axis=1), contacts, pair_ratio)


def contact_tangential_stiffness(
    bodies: Bodies,
    contacts: Contacts,
    stiffness: np.ndarray,
    exponent: float,
    pair_ratio: dict | None = None,
) -> np.ndarray:
    """k_t (m,) [N/m^(p-1)] of f_t = k_t c^(p-2) xi; stiffness (m,): k of f_n = k c^(p-1)."""
    return tangential_ratio(bodies, contacts, pair_ratio) * (exponent - 1) * stiffness


def mobilised_friction(
    force: np.ndarray, tangential_force: np.ndarray, friction: np.ndarray
) -> np.ndarray:
    """|f_t|/(mu f_n) (m,), 1 where a contact slides; 0 where it is not active or has no friction.

    force (m,) [N]; tangential_force (m, k) [N]; friction (m,): mu.
    """
    bound = friction * force
    size = np.linalg.norm(tangential_force, axis=1)
    return np.divide(size, bound, out=np.zeros(len(force)), where=bearing(force) & (bound > 0.0))
