"""Elastic materials. Only ratios of stiffness matter in the rigid limit."""

from dataclasses import dataclass

from ..arrays import is_positive, number
from ..errors import SceneError


@dataclass(frozen=True)
class Material:
    """Isotropic elastic material.

    young: Young's modulus [Pa]. poisson: Poisson's ratio [-]. density [kg/m^3] ([kg/m^2] in 2D)
    gives a body its mass where none is stated. The compatible forces depend on the ratios of the
    moduli only; the penalty DEM uses their values.
    """

    young: float = 50e9
    poisson: float = 0.25
    density: float = 2000.0
    name: str = "default"

    def __post_init__(self):
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

    @property
    def plane_modulus(self) -> float:
        """E / (1 - nu^2) [Pa], the modulus that enters contact stiffness."""
        return self.young / (1 - self.poisson**2)
