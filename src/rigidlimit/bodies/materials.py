"""Elastic materials. Only ratios of stiffness matter in the rigid limit."""

from dataclasses import dataclass

import numpy as np

from .._support.arrays import is_positive, number
from ..errors import SceneError

MINDLIN, MINDLIN_FORCE = TANGENTIAL_LAWS = ("mindlin", "mindlin/force")
"""Tangential laws of Hertzian contacts by LAMMPS' names: the spring's length is kept, or its force
(for Hooke they are the same)."""


@dataclass(frozen=True)
class Material:
    """Isotropic elastic material.

    The compatible forces depend on the ratios of the moduli only; the penalty DEM uses their
    values.

    Parameters
    ----------
    young : float [Pa]
        Young's modulus.
    poisson : float
        Poisson's ratio, above -1 and up to 0.5.
    density : float [kg/m^3; kg/m^2 in 2D]
        Gives a body its mass where none is stated.
    name : str
        Used in messages and files.
    friction : float
        Coefficient mu >= 0. Two materials have the smaller of theirs, so that one smooth side
        makes a smooth contact.
    tangential_stiffness : float, optional
        k_t/k_n of a contact of two bodies of this material, k_n = df_n/dc; by default Mindlin's
        2 (1 - nu)/(2 - nu).

    Raises
    ------
    SceneError
        For values out of these ranges, or not finite.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> steel = rl.Material(young=210e9, poisson=0.3, density=7850.0, friction=0.2)
    >>> round(steel.tangential_ratio, 4), f"{steel.plane_modulus:.4g}"
    (0.8235, '2.308e+11')
    """

    young: float = 50e9
    poisson: float = 0.25
    density: float = 2000.0
    name: str = "default"
    friction: float = 0.0
    tangential_stiffness: float | None = None

    def __post_init__(self) -> None:
        if not is_positive(self.young):
            raise SceneError(
                f"material {self.name!r}: young is {self.young!r}; expected a positive modulus [Pa]"
            )
        if not -1 < number(self.poisson) <= 0.5:
            raise SceneError(
                f"material {self.name!r}: poisson is {self.poisson!r}; expected -1 < nu <= 0.5"
            )
        if not is_positive(self.density):
            raise SceneError(
                f"material {self.name!r}: density is {self.density!r}; expected a positive density"
            )
        if not 0 <= number(self.friction) < np.inf:
            raise SceneError(
                f"material {self.name!r}: friction is {self.friction!r}; expected a finite "
                "coefficient mu >= 0"
            )
        if not (self.tangential_stiffness is None or is_positive(self.tangential_stiffness)):
            raise SceneError(
                f"material {self.name!r}: tangential_stiffness is {self.tangential_stiffness!r}; "
                "expected a positive ratio k_t/k_n, or None for Mindlin's"
            )

    @property
    def plane_modulus(self) -> float:
        """E / (1 - nu^2) [Pa], the modulus that enters contact stiffness."""
        return self.young / (1 - self.poisson**2)

    @property
    def tangential_ratio(self) -> float:
        """k_t/k_n [-] of a contact of two bodies of this material."""
        if self.tangential_stiffness is None:
            return 2 * (1 - self.poisson) / (2 - self.poisson)
        return self.tangential_stiffness
