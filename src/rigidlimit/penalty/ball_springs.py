"""Stiffness and damping of the listed contacts of balls, and what they may soon reach."""

from dataclasses import dataclass

import numpy as np

from ..bodies import Bodies
from ..collision.contacts import Contacts
from ..compatibility.law import contact_stiffness
from .engine import Law, expected_tangent
from .law import damping_coefficient
from .squeezed import push_of_stress


@dataclass(frozen=True)
class Springs:
    """Of m contacts. k, g (m,): of the law, gamma_0 of its damping; mass (m,) [kg]: effective, 0
    between held bodies; push (m,) [N]: the larger load of both bodies."""

    k: np.ndarray
    g: np.ndarray
    mass: np.ndarray
    push: np.ndarray

    def expected(
        self, law: Law, overlap: np.ndarray, closing: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """(stiffness [N/m], damping [kg/s]) (m,) that contacts may soon reach, see
        ``expected_tangent``; overlap [m], closing [m/s]: present ones."""
        tangent, reached = expected_tangent(law, self.k, self.mass, overlap, closing, self.push)
        return tangent, self.g * reached ** (0.5 * law.exponent - 1)


def springs_of(
    bodies: Bodies, contacts: Contacts, law: Law, free: np.ndarray, external: np.ndarray
) -> Springs:
    """free (n, 3): 1/m, 0 where held; external (n, 3) [N]: loads."""
    a, b = contacts.body.T
    k = law.scale * contact_stiffness(bodies, contacts, law.exponent, law.pair_stiffness)
    response = (contacts.normal**2 * (free[a] + free[b])).sum(axis=1)
    mass = np.divide(1.0, response, out=np.zeros(len(a)), where=response > 0)
    size = np.linalg.norm(external, axis=1)
    push = np.maximum(np.maximum(size[a], size[b]), push_of_stress(bodies))
    return Springs(k, damping_coefficient(k, mass, law.exponent, law.damping), mass, push)
