"""What every narrow-phase function returns: contacts of some pairs, not yet sorted."""

from dataclasses import dataclass

import numpy as np


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
    def of(cls, a, b, *, point, normal, gap, feature=0, curvature=0.0) -> "Pieces":
        k = len(a)
        return cls(
            np.asarray(a, np.int64),
            np.asarray(b, np.int64),
            np.broadcast_to(np.asarray(feature, np.int64), (k,)),
            np.asarray(point, float).reshape(k, 3),
            np.broadcast_to(np.asarray(normal, float), (k, 3)),
            np.asarray(gap, float).reshape(k),
            np.broadcast_to(np.asarray(curvature, float), (k,)),
        )

    @classmethod
    def joined(cls, pieces: list["Pieces"]) -> "Pieces":
        names = cls.__dataclass_fields__
        if not pieces:
            none = np.zeros(0)
            return cls.of(none, none, point=np.zeros((0, 3)), normal=np.zeros((0, 3)), gap=none)
        return cls(*(np.concatenate([getattr(p, name) for p in pieces]) for name in names))
