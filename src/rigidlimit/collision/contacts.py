"""Contacts: where two bodies touch or may touch within the step.

``Pieces`` are what every narrow-phase function returns: contacts of some pairs, not yet sorted.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from .._support.display import Brief

FEATURES = 1 << 16
"""How many contacts a pair of convex bodies can have: its feature numbers are below this."""


def contact_key(
    a: np.ndarray, b: np.ndarray, feature: np.ndarray, bodies: int, features: int = FEATURES
) -> np.ndarray:
    """Integers in the order of (a, b, feature), one per contact, (m,); feature < features."""
    return (np.asarray(a, np.int64) * bodies + b) * features + feature


@dataclass(frozen=True, repr=False)
class Contacts(Brief):
    """m potential contacts, sorted by (body[:, 0], body[:, 1], feature).

    Attributes
    ----------
    body : (m, 2) int ndarray
        Indices of the two bodies, body[:, 0] < body[:, 1].
    feature : (m,) int ndarray
        Number of the contact within its pair, the same from step to step as long as the same
        corners, edges or faces meet.
    point : (m, 3) ndarray [m]
        Where the force acts, world frame.
    normal : (m, 3) ndarray
        Unit normal from the first body to the second. A contact force f > 0 pushes the second body
        along +normal and the first along -normal.
    gap : (m,) ndarray [m]
        Signed distance Phi, negative where the bodies overlap.
    curvature : (m,) ndarray [1/m]
        Sum of the two bodies' mean curvatures at the contact, 1/R* of Hertz for spheres (1/R_1 +
        1/R_2); zero for flat on flat.
    bodies : int
        Number of bodies in the scene.
    tangents : (m, d - 1, 3) ndarray or None
        Unit tangents in the world frame, see ``kinematics/frames.py``; None where friction plays
        no part.
    branch : (m, 3) ndarray [m] or None
        In a periodic cell, from the centre of the first body to that of the image of the second
        one that it touches. The point lies by the first body.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> contacts = rl.Simulation("beam").step().contacts
    >>> contacts.body.tolist(), contacts.gap.round(9) + 0.0
    ([[0, 3], [1, 3], [2, 3]], array([0., 0., 0.]))
    """

    body: np.ndarray
    feature: np.ndarray
    point: np.ndarray
    normal: np.ndarray
    gap: np.ndarray
    curvature: np.ndarray
    bodies: int
    tangents: np.ndarray | None = None
    branch: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.gap)

    def spans(self, plane: np.ndarray) -> np.ndarray:
        """Branch vectors (m, 3) [m] whose products with forces are the stress of a periodic cell:
        those along which a half-space is met go from it to the body.

        Parameters
        ----------
        plane : (n,) bool
            Which bodies are half-spaces.
        """
        met = plane[self.body].any(axis=1)[:, None]
        across = (self.branch * self.normal).sum(axis=1)[:, None] * self.normal
        return np.where(met, across, self.branch)

    @cached_property
    def key(self) -> np.ndarray:
        """One integer per contact that stays with it from step to step, (m,), ascending."""
        return self._key(self._features)

    @cached_property
    def _features(self) -> int:
        """A bound of the feature numbers; those of compounds name their parts, and go further."""
        most = int(self.feature.max(initial=0))
        return FEATURES if most < FEATURES else 1 << most.bit_length()

    def _key(self, features: int) -> np.ndarray:
        return contact_key(self.body[:, 0], self.body[:, 1], self.feature, self.bodies, features)

    def select(self, which: np.ndarray) -> "Contacts":
        """Some of the contacts.

        Parameters
        ----------
        which : (m,) bool, or ascending indices
        """
        return Contacts(
            self.body[which],
            self.feature[which],
            self.point[which],
            self.normal[which],
            self.gap[which],
            self.curvature[which],
            self.bodies,
            None if self.tangents is None else self.tangents[which],
            None if self.branch is None else self.branch[which],
        )

    def resultants(self, force: np.ndarray) -> np.ndarray:
        """Resultant (n, 3) [N] on each body of contact forces.

        Parameters
        ----------
        force : (m,) or (m, 3) [N]
            Along the normals, or vectors.
        """
        push = force if force.ndim == 2 else force[:, None] * self.normal
        total = np.zeros((self.bodies, 3))
        np.add.at(total, self.body[:, 1], push)
        np.add.at(total, self.body[:, 0], -push)
        return total

    def carry_over(
        self, earlier: "Contacts", values: np.ndarray, missing: float = 0.0
    ) -> np.ndarray:
        """Values of earlier contacts, in the order of these ones.

        Parameters
        ----------
        earlier : Contacts
        values : (k, ...)
            Of these.
        missing : float
            What contacts have that are new.
        """
        out = np.full((len(self), *values.shape[1:]), missing)
        at = self.places_in(earlier)
        same = at >= 0
        out[same] = values[at[same]]
        return out

    def places_in(self, earlier: "Contacts") -> np.ndarray:
        """Index of each contact among earlier ones, by its key, (m,); -1 where it is new.

        Parameters
        ----------
        earlier : Contacts
        """
        if not len(earlier):
            return np.full(len(self), -1)
        key, known = self.key, earlier.key
        if self._features != earlier._features:
            features = max(self._features, earlier._features)
            key, known = self._key(features), earlier._key(features)
        at = np.minimum(np.searchsorted(known, key), len(earlier) - 1)
        return np.where(known[at] == key, at, -1)

    def nearest(self, other: "Contacts", values: np.ndarray) -> np.ndarray:
        """Values of other contacts in the order of these ones: by number, and where a pair's
        numbers are others, as after its faces took turns, on its nearest contact, summed.

        Parameters
        ----------
        other : Contacts
        values : (k, ...)
            Of these.
        """
        out = self.carry_over(other, values)
        pair, of = (x.body[:, 0] * self.bodies + x.body[:, 1] for x in (self, other))
        for k in np.flatnonzero(~np.isin(other.key, self.key) & (values != 0)):
            first, last = np.searchsorted(pair, of[k]), np.searchsorted(pair, of[k], "right")
            if last > first:
                away = np.linalg.norm(self.point[first:last] - other.point[k], axis=1)
                out[first + int(away.argmin())] += values[k]
        return out


def empty(bodies: int) -> Contacts:
    """No contacts among ``bodies`` bodies."""
    return keyed(np.zeros((0, 2), np.int64), np.zeros(0, np.int64), bodies)


def keyed(body: np.ndarray, feature: np.ndarray, bodies: int) -> Contacts:
    """Contacts of which only the keys are known: body (m, 2), feature (m,)."""
    m = len(feature)
    nowhere = np.zeros((m, 3))
    return Contacts(body, feature, nowhere, nowhere.copy(), np.zeros(m), np.zeros(m), bodies)


@dataclass
class Pieces:
    """Contacts found between pairs (a, b): normal from a to b, in the order of Contacts' fields."""

    a: np.ndarray
    b: np.ndarray
    feature: np.ndarray
    point: np.ndarray
    normal: np.ndarray
    gap: np.ndarray
    curvature: np.ndarray

    @classmethod
    def of(
        cls,
        a: np.ndarray,
        b: np.ndarray,
        *,
        point: np.ndarray,
        normal: np.ndarray,
        gap: np.ndarray,
        feature: ArrayLike = 0,
        curvature: ArrayLike = 0.0,
    ) -> "Pieces":
        k = len(a)
        return cls(
            np.asarray(a, np.int64),
            np.asarray(b, np.int64),
            _full(feature, np.int64, (k,)),
            np.asarray(point, float).reshape(k, 3),
            _full(normal, float, (k, 3)),
            np.asarray(gap, float).reshape(k),
            _full(curvature, float, (k,)),
        )

    def select(self, which: np.ndarray) -> "Pieces":
        """The contacts chosen by a mask (k,) or by indices."""
        return Pieces(*(getattr(self, name)[which] for name in self.__dataclass_fields__))

    @classmethod
    def joined(cls, pieces: list["Pieces"]) -> "Pieces":
        names = cls.__dataclass_fields__
        if not pieces:
            none = np.zeros(0)
            return cls.of(none, none, point=np.zeros((0, 3)), normal=np.zeros((0, 3)), gap=none)
        return cls(*(np.concatenate([getattr(p, name) for p in pieces]) for name in names))


def _full(value, dtype, shape):
    """``value`` as an array that can be written to: kernels are compiled anew for others."""
    value = np.asarray(value, dtype)
    return value if value.shape == shape else np.array(np.broadcast_to(value, shape), order="C")
