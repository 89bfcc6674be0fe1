"""Options of a step, and the state that it hands to the next one."""

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from ..bodies import Bodies, State
from ..collision.contacts import Contacts
from ..increments import IncrementSettings
from .friction import Friction, Memory


@dataclass(frozen=True)
class StepSettings:
    """What a step needs besides the bodies and their state.

    dt [s]. exponent: p of the contact law. pair_stiffness: {(i, j): k}. restitution: e_n. solver,
    solver_options: for step 1. tolerance: of both steps. closed: largest gap of a closed contact,
    over the scene's reference length ``bodies.length``; None: chosen by the step, at
    most 1e-6 (``compatibility/closed.py``). friction: of pairs of bodies, beside that of materials.
    increment: how steps of rough bodies are solved, by solver "newton".
    """

    dt: float
    exponent: float = 2.0
    pair_stiffness: dict | None = None
    restitution: float = 0.0
    solver: str = "newton"
    solver_options: dict | None = None
    tolerance: float = 1e-10
    closed: float | None = None
    friction: Friction = field(default_factory=Friction)
    increment: IncrementSettings = field(default_factory=IncrementSettings)


@dataclass(frozen=True)
class WarmStart:
    """What one step hands to the next: forces by contact, displacement by degree of freedom.

    memory: what rough contacts remember, None without friction.
    """

    contacts: Contacts
    force: np.ndarray
    displacement: np.ndarray
    memory: Memory | None = None


@dataclass(frozen=True)
class Problem:
    """The data of one step: n bodies at the state of time t.

    external_force (6 n,) [N, N m]. M (6 n, 6 n): mass matrix at this state. first_tolerance: of
    step 1.
    """

    bodies: Bodies
    state: State
    external_force: np.ndarray
    settings: StepSettings
    M: sp.csr_array
    first_tolerance: float

    @property
    def dt(self) -> float:
        return self.settings.dt

    @property
    def velocity(self) -> np.ndarray:
        """v at the start of the step, (6 n,) [m/s, rad/s]."""
        return self.state.velocity.ravel()

    @property
    def free(self) -> np.ndarray:
        """Degrees of freedom that are not held, (6 n,) bool."""
        return self.bodies.free.ravel()
