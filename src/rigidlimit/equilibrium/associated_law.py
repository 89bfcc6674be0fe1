"""What a contact answers by the associated law, that of least energy: the force of its cone nearest
to the trial force, in the metric of the compliances (``law.py``; Hooke's springs, nothing kept)."""

import numpy as np
from numba import njit

from .._support.compiled import INNER


@njit(**INNER)
def _respond_along(i, law, w, force, D):
    """The force f_n (1, mu e) of contact i nearest to the trial force; e: ``slide``."""
    d, slide = w.shape[1], law.slide
    k_n, k_t, mu = law.normal[i], law.tangential[i], law.friction[i]
    opening = w[i, 0]
    for a in range(1, d):
        opening += mu * slide[i, a - 1] * w[i, a]
    if opening >= 0.0:
        return
    stiffness = 1.0 / (1.0 / k_n + mu * mu / k_t)
    for a in range(d):
        ea = 1.0 if a == 0 else mu * slide[i, a - 1]
        force[i, a] = -stiffness * opening * ea
        for b in range(d):
            D[i, a, b] = stiffness * ea * (1.0 if b == 0 else mu * slide[i, b - 1])


@njit(cache=True, nogil=True)
def respond_associated(law: tuple, w: np.ndarray, force: np.ndarray, D: np.ndarray):
    """``ContactLaw.respond`` of the associated law, a ``CompiledLaw``, into force and D."""
    k_n, k_t, mu, sliding = law.normal, law.tangential, law.friction, law.sliding
    m, d = w.shape
    for i in range(m):
        force[i] = 0.0
        D[i] = 0.0
        if sliding[i]:
            _respond_along(i, law, w, force, D)
            continue
        normal, size = -k_n[i] * w[i, 0], 0.0
        for a in range(1, d):
            size += (k_t[i] * w[i, a]) ** 2
        size = np.sqrt(size)
        if size <= mu[i] * normal:
            force[i, 0], D[i, 0, 0] = normal, k_n[i]
            for a in range(1, d):
                force[i, a], D[i, a, a] = -k_t[i] * w[i, a], k_t[i]
            continue
        if normal / k_n[i] + mu[i] * size / k_t[i] <= 0.0:
            continue
        give = 1.0 / k_n[i] + mu[i] * mu[i] / k_t[i]
        force[i, 0] = (normal / k_n[i] + mu[i] * size / k_t[i]) / give
        D[i, 0, 0] = 1.0 / give
        if mu[i] == 0.0:
            continue
        bound = mu[i] * force[i, 0]
        for a in range(1, d):
            ea = -k_t[i] * w[i, a] / size
            force[i, a] = bound * ea
            D[i, 0, a] = D[i, a, 0] = mu[i] / give * ea
            for b in range(1, d):
                eb = -k_t[i] * w[i, b] / size
                across = (1.0 if a == b else 0.0) - ea * eb
                D[i, a, b] = mu[i] * mu[i] / give * ea * eb + bound / size * k_t[i] * across
