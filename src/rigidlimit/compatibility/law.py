"""Relative contact stiffness from two materials: series rule and, for Hertz, local curvature.

Two bodies press like two springs in series: 1/E* = (1 - nu_a^2)/E_a + (1 - nu_b^2)/E_b. Then with
the force law f = k c^(p-1)

    Hooke (p = 2)      k = 2 E* l            l: one reference length for the whole scene
    Hertz (p = 5/2)    k = 4/3 E* sqrt(R*)   1/R*: sum of the bodies' curvatures at the contact
    any other p        k = 2 E* l^(3-p)

For E_b/E_a = 5 and equal nu, Hooke gives 1/5, 1/3 and 1 of the stiffest (section 8.2.2 of the
paper). Only ratios matter to the compatible forces; the penalty DEM takes k in N/m^(p-1). Flat
faces have no curvature: between them R* is that of balls as large as the bodies, which stands in
for the rounding that real corners have.
"""

import numpy as np

from ..bodies import Bodies
from ..collision.contacts import Contacts
from ..errors import InputError

HERTZ = 2.5


def contact_stiffness(
    bodies: Bodies, contacts: Contacts, exponent: float, pair_stiffness: dict | None = None
) -> np.ndarray:
    """k (m,) [N/m^(p-1)]. pair_stiffness: {(i, j): k} replaces the value for pairs of bodies."""
    compliance = np.array([1 / material.plane_modulus for material in bodies.materials])
    a, b = contacts.body[:, 0], contacts.body[:, 1]
    modulus = 1 / (compliance[bodies.material_of[a]] + compliance[bodies.material_of[b]])
    if exponent == HERTZ:
        ball = 1 / bodies.bounding_radius
        curvature = np.where(contacts.curvature > 0, contacts.curvature, ball[a] + ball[b])
        k = 4 / 3 * modulus / np.sqrt(curvature)
    else:
        with np.errstate(over="ignore", under="ignore"):
            k = 2 * modulus * np.float64(bodies.length) ** (3 - exponent)
        if not (np.isfinite(k).all() and (k > 0).all()):
            raise InputError(
                f"law: exponent {exponent:g} gives stiffnesses beyond the range of numbers; "
                "expected an exponent of a few units, like hooke (2) or hertz (2.5)"
            )
    return of_pairs(k, contacts, pair_stiffness)


def of_pairs(values: np.ndarray, contacts: Contacts, pairs: dict | None) -> np.ndarray:
    """``values`` (m,), those of contacts between bodies i < j replaced by ``pairs[i, j]``."""
    if not pairs:
        return values
    known = np.array([sorted(pair) for pair in pairs], dtype=np.int64)
    known = known[:, 0] * contacts.bodies + known[:, 1]
    order = np.argsort(known)
    mine = contacts.body[:, 0].astype(np.int64) * contacts.bodies + contacts.body[:, 1]
    at = np.minimum(np.searchsorted(known[order], mine), len(known) - 1)
    given = np.array(list(pairs.values()), dtype=float)[order]
    return np.where(known[order][at] == mine, given[at], values)
