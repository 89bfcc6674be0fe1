"""Visco-elastic normal contact of the soft-particle DEM (Silbert et al. 2001; eq. 24 of the paper).

    f = max(0, k c^(p-1) + g(c) dc/dt)  for overlap c > 0,     g(c) = 2 z sqrt(k_t(c) m_eff)

k is the very stiffness that the compatible forces use (``forces/law.py``), k_t = (p-1) k c^(p-2)
its tangent, m_eff the effective mass of the two bodies and z the damping ratio. For Hooke g is
constant; for Hertz it grows as c^(1/4), which makes restitution independent of speed. Damping acts
on speeds only, so it does not change the state of rest. f is never tensile, unlike eq. 24, which
lets a parting contact pull.
"""

import numpy as np
from numba import njit

from ..errors import InputError


def damping_ratio(restitution: float) -> float:
    """z that gives two bodies the coefficient of restitution e_n (Hooke; eq. 24 with tension).

    e_n = exp(-pi z / sqrt(1 - z^2)); 0 is critical damping, z = 1, as in the paper.
    """
    if not 0 <= restitution <= 1:
        raise InputError(f"restitution is {restitution!r}; expected 0 <= e_n <= 1")
    if restitution == 0:
        return 1.0
    log = np.log(restitution)
    return float(-log / np.sqrt(np.pi**2 + log**2))


@njit(cache=True)
def contact_force(c, rate, k, p, damping, mass):
    """f [N] of one contact: overlap c > 0 [m], its rate [m/s], k [N/m^(p-1)], damping z, m_eff."""
    if p == 2.0:
        elastic, tangent = k * c, k
    elif p == 2.5:
        tangent = k * np.sqrt(c)
        elastic, tangent = tangent * c, 1.5 * tangent
    else:
        elastic = k * c ** (p - 1.0)
        tangent = (p - 1.0) * elastic / c
    f = elastic + 2.0 * damping * np.sqrt(tangent * mass) * rate
    return f if f > 0.0 else 0.0
