"""Visco-elastic normal contact of any power law, its damping and its closed forms.

Two bodies of effective mass m overlapping by c = -gap > 0 push each other with

    f = k c^(p-1) + gamma(c) dc/dt,    gamma(c) = zeta sqrt(2 p k m c^(p-2))

p = 2 is the Hookean law of Silbert et al. (2001), p = 5/2 the Hertzian one with the same k
[N/m^(p-1)] as ``compatibility.law``, so that the stiff limit of the penalty method is the
compatible force. For p = 2, gamma = 2 zeta sqrt(k m).

Why this gamma. With X = c^(p/2) and the clock ds = (p/2) c^(p/2-1) dt a collision becomes the
damped linear oscillator X'' + 2 zeta w X' + w^2 X = 0, w^2 = 2 k/(p m), for every p. So zeta is the
fraction of critical damping, the restitution does not depend on the impact speed, and one closed
form holds for Hooke, Hertz and every other p:

    e_n = exp(-zeta pi / sqrt(1 - zeta^2))                                   damping may pull
    e_n = exp(-zeta (pi - atan2(2 zeta r, 1 - 2 zeta^2)) / r), r = sqrt(1 - zeta^2)    f >= 0

(for p = 5/2 the first is the damping of LAMMPS's "coeff_restitution", up to its form). Departure
from Silbert's Hertzian law, whose gamma grows as c^(1/2) and not as c^(1/4): there e_n depends on
speed. The rest state has dc/dt = 0 and is the same under every gamma.

"tensile": while the bodies separate, damping may make f < 0 (default, as in the references; only
so is e_n = 0 reached at zeta = 1). Otherwise f = max(0, f), and zeta = 1 rebounds with exp(-2).
"""

import numpy as np
from numba import njit
from scipy.optimize import brentq

from .._support.arrays import number
from ..errors import InputError


def check_exponent(exponent: float) -> float:
    """p >= 2: for p < 2 a contact is infinitely stiff at first touch."""
    if exponent < 2:
        raise InputError(
            f"the exponent of the contact law is {exponent}; expected p >= 2 for the penalty "
            "method: the stiffness of a softer law grows without bound as the overlap vanishes"
        )
    return float(exponent)


def damping_coefficient(stiffness: np.ndarray, mass: np.ndarray, exponent: float, damping: float):
    """gamma(c) / c^(p/2-1): zeta sqrt(2 p k m) [N s/m^(p/2)]."""
    return damping * np.sqrt(2 * exponent * stiffness * mass)


def restitution_of(damping: float, *, tensile: bool = True) -> float:
    """e_n of two bodies that meet alone, for the fraction ``damping`` of critical damping."""
    z = float(damping)
    if z == 0:
        return 1.0
    if tensile:
        return float(np.exp(-np.pi * z / np.sqrt(1 - z * z))) if z < 1 else 0.0
    if abs(z - 1) < 1e-9:
        return float(np.exp(-2.0))
    if z < 1:
        r = np.sqrt(1 - z * z)
        # phase at which k x + gamma x' = 0, where the velocity is -v exp(-zeta w t)
        return float(np.exp(-z * np.arctan2(2 * z * r, 2 * z * z - 1) / r))
    r = np.sqrt(z * z - 1)
    # s = log((z + r)/(z - r))/r is the time at which the force vanishes
    return float(np.exp(-z / r * np.log((z + r) / (z - r))))


def damping_of(restitution: float, *, tensile: bool = True) -> float:
    """Fraction of critical damping that gives the restitution e_n in [0, 1].

    e_n = 0 gives 1, the paper's 2 sqrt(k m), whether tensile or not.
    """
    e = number(restitution)
    if not 0 <= e <= 1:
        raise InputError(f"restitution is {restitution!r}; expected 0 <= e_n <= 1")
    if e == 0:
        return 1.0
    if e == 1:
        return 0.0
    if tensile:
        return float(-np.log(e) / np.hypot(np.pi, np.log(e)))
    top = 2.0
    while restitution_of(top, tensile=False) > e:
        top *= 2
    return float(brentq(lambda z: restitution_of(z, tensile=False) - e, 0.0, top, xtol=1e-14))


def tangent_stiffness(stiffness: np.ndarray, overlap: np.ndarray, exponent: float):
    """df/dc = (p-1) k c^(p-2) [N/m]."""
    if exponent == 2:
        return np.asarray(stiffness, float)
    return (exponent - 1) * stiffness * np.maximum(overlap, 0.0) ** (exponent - 2)


def impact_overlap(stiffness: np.ndarray, mass: np.ndarray, speed: np.ndarray, exponent: float):
    """Largest overlap [m] of an undamped collision: k c^p / p = m v^2 / 2."""
    return (0.5 * exponent * mass * np.square(speed) / stiffness) ** (1 / exponent)


def static_overlap(stiffness: np.ndarray, force: np.ndarray, exponent: float):
    """Overlap [m] under a steady force."""
    return (force / stiffness) ** (1 / (exponent - 1))


@njit(cache=True, inline="always", error_model="numpy", fastmath={"contract"})
def contact_force(c: float, rate: float, k: float, g: float, p: float, tensile: bool):
    """f = k c^(p-1) + g c^(p/2-1) dc/dt."""
    if p == 2.0:
        f = k * c + g * rate
    elif p == 2.5:
        root = np.sqrt(c)
        f = k * c * root + g * np.sqrt(root) * rate
    else:
        f = k * c ** (p - 1.0) + g * c ** (0.5 * p - 1.0) * rate
    if f < 0.0 and not tensile:
        f = 0.0
    return f
