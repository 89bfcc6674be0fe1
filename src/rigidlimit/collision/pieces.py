"""What every narrow-phase function returns: contacts of some pairs, not yet sorted."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


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
