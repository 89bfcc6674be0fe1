"""What a step of rough bodies answers of its motion."""

from dataclasses import dataclass

import numpy as np

from .._support.words import counted
from ..dynamics.rough import RoughDynamicsResult
from ..status import Status

SEVERAL = "the equilibrium is one of several: a disturbance of the scene leads to other forces"


@dataclass(frozen=True, repr=False)
class IncrementResult(RoughDynamicsResult):
    """``RoughDynamicsResult`` of an increment: motion and forces of springs s times as stiff as
    inertia.

    Kinetic and potential energy and that of the springs grow in no step by more than
    ``energy_made`` and the work of loads and of driven bodies.

    Attributes
    ----------
    trial : (m,) ndarray [N]
        Normal force, negative where the springs are open: what contacts remember.
    at_bound : (m,) bool ndarray
        Contacts that bear mu f_n.
    stiffness : float
        s, 0 where sweeps ended the step; forces differ from those of the stiff limit by a part of
        about 1/s.
    spring_scale : float
        Stiffness of the springs over that of ``StepResult.stiffness``.
    sweeps : int
        Gauss-Seidel sweeps.
    elastic_energy : float [J]
        Of the springs at the end of the step.
    energy_made : float [J]
        Which no load has supplied: of bodies that are moved apart against a load, of springs that
        are softer than in the step before, and of rough contacts that rebound, where Newton's law
        of restitution may give energy (T. R. Kane, Stanford Mechanics Alumni Club Newsletter 6,
        1984).
    several : bool
        Whether the step begins without forces and ends in an equilibrium that is one of several:
        it is unstable, or sweeps in reversed order end in another one. Other steps are not
        examined.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> motion = rl.Simulation("incline").step().classic  # block, 20 degrees, friction 0.5
    >>> type(motion).__name__, motion.sliding.any(), motion.stiffness > 1e9
    ('IncrementResult', np.False_, True)
    """

    trial: np.ndarray | None = None
    at_bound: np.ndarray | None = None
    stiffness: float = 0.0
    spring_scale: float = 0.0
    sweeps: int = 0
    elastic_energy: float = 0.0
    energy_made: float = 0.0
    several: bool = False

    @property
    def message(self) -> str:
        return (
            f"increment: {self.status}, residual {self.residual:.1e} (tolerance "
            f"{self.tolerance:.1e}) at {self.stiffness:.0e} times the stiffness of inertia, after "
            f"{counted(self.sweeps, 'sweep')} and {counted(self.factorizations, 'linear system')}; "
            f"{self.advice}; {counted(int(self.sliding.sum()), 'sliding contact')}"
            + (f"; {SEVERAL}" if self.several else "")
        )

    @property
    def advice(self) -> str:
        if self.status is Status.APPROXIMATE:
            return self.status.advice
        return super().advice
