"""Contacts listed for the penalty method, with the data that kernels need at one pose."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..bodies import Bodies, State
from ..collision.contacts import Contacts, empty
from ..compatibility.friction import (
    contact_friction,
    contact_tangential_stiffness,
    tangential_ratio,
)
from ..compatibility.law import contact_stiffness
from ..kinematics import (
    carry_tangential,
    framed,
    gap_gradient,
    in_frame,
    in_world,
    mean_turn,
    tangential_gradient,
)
from . import network
from .engine import Law
from .law import damping_coefficient


@dataclass(frozen=True)
class Listed:
    """m contacts of n bodies. B (m, 6 n): gap gradient; k (m,): stiffness; contact_mass (m,):
    1 / (B M^-1 B^T)_ii, 0 between held bodies; g (m,): damping. T, ratio (m,): tangential gradient
    and k_t/k_n, None without friction. network, tangents: what kernels take.
    """

    contacts: Contacts
    B: sp.csr_array
    k: np.ndarray
    contact_mass: np.ndarray
    g: np.ndarray
    network: network.Network
    tangents: network.Tangents
    T: sp.csr_array | None = None
    ratio: np.ndarray | None = None

    @classmethod
    def none(cls, bodies: Bodies) -> "Listed":
        """No contacts yet."""
        nothing, index = np.zeros(0), np.zeros(1, np.int64)
        B = sp.csr_array((0, 6 * len(bodies)))
        rows = network.Network(index, index[:0], nothing, nothing, nothing, nothing)
        contacts = framed(empty(len(bodies)), bodies.dim)
        return cls(contacts, B, nothing, nothing, nothing, rows, _frictionless())

    @classmethod
    def of(
        cls,
        bodies: Bodies,
        state: State,
        contacts: Contacts,
        inverse_mass: sp.csr_array,
        law: Law,
        before: "tuple[Listed, np.ndarray]",
    ) -> "Listed":
        """Of these contacts. inverse_mass (6 n, 6 n): M^-1. before: those listed so far, whose
        tangential springs go on, and by how much bodies have turned since (n, 6)."""
        B = gap_gradient(bodies, state, contacts)
        k = law.scale * contact_stiffness(bodies, contacts, law.exponent, law.pair_stiffness)
        response = np.asarray(((B @ inverse_mass) * B).sum(axis=1)).ravel()
        mass = np.divide(1.0, response, out=np.zeros(len(response)), where=response > 0)
        g = damping_coefficient(k, mass, law.exponent, law.damping)
        rows = network.Network(*_as_rows(B), contacts.gap, k, g)
        T = ratio = None
        tangents = _frictionless()
        if law.friction is not None:
            contacts = framed(contacts, bodies.dim, before[0].contacts)
            T = tangential_gradient(bodies, state, contacts)
            ratio = tangential_ratio(bodies, contacts, law.friction.pair_ratio)
            tangents = _tangents(bodies, contacts, T, k, law, _carried(contacts, bodies, *before))
        return cls(contacts, B, k, mass, g, rows, tangents, T, ratio)


def _as_rows(A: sp.csr_array):
    return A.indptr.astype(np.int64), A.indices.astype(np.int64), A.data


def _frictionless() -> network.Tangents:
    none, index = np.zeros(0), np.zeros(1, np.int64)
    return network.Tangents(index, index, none, none, none, np.zeros((0, 3)), 1.0, False)


def _carried(contacts, bodies, before: Listed, turned) -> np.ndarray:
    """Tangential springs (m, 3) of the contacts before, on these."""
    spring, each = np.zeros((len(contacts), 3)), bodies.dim - 1
    old = before.contacts
    if len(old):
        along = in_world(old, before.tangents.spring[:, :each])
        carried = carry_tangential(contacts, old, along, mean_turn(contacts, turned, 1.0))
        spring[:, :each] = in_frame(contacts, carried)
    return spring


def _tangents(bodies, contacts, T, k, law: Law, spring) -> network.Tangents:
    friction = law.friction
    return network.Tangents(
        *_as_rows(T),
        contact_friction(bodies, contacts, friction.pair_friction),
        contact_tangential_stiffness(bodies, contacts, k, law.exponent, friction.pair_ratio),
        spring,
        friction.damping,
        friction.keeps_force,
    )
