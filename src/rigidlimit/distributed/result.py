"""What the solution of a network file answers on each rank."""

from dataclasses import dataclass, field

import numpy as np

from .._support.words import counted
from ..compatibility import ContactHistory
from ..status import HasStatus, Status


@dataclass(frozen=True, eq=False)
class RubbingForces:
    """Of the rough contacts of this rank's slice of the file.

    tangential_force (., d-1) [N]: on the second body, along the tangential rows. sliding (.,) bool:
    contacts at their bound mu f_n. history: what the next increment begins with. state, routes,
    merged, several: as of ``RoughForces``. sliding_contacts: how many, of the whole.
    """

    tangential_force: np.ndarray
    sliding: np.ndarray
    history: ContactHistory
    state: str
    routes: tuple[str, ...]
    merged: int
    several: bool
    sliding_contacts: int


@dataclass(frozen=True, eq=False)
class DistributedForces(HasStatus):
    """What all ranks have found; arrays are this rank's slices, in the order of the file.

    force: [N], along the normal, of contacts ``contacts[0]`` to before ``contacts[1]``.
    displacement (., w): of bodies ``bodies[0]`` to before ``bodies[1]``. status, residual, history:
    as of ``CompatibleForces``, of the whole. solver, reason: which linear solver, and why. steps:
    of its Krylov method. setups: matrices made. counts: ranks, bodies, contacts, degrees of
    freedom. mean_force [N], bearing, coordination: mean of the normal forces of active contacts,
    how many these are, and twice as many over the bodies that they touch. distribution (60,): P(f)
    from 0 to 6 of the mean force. seconds; processor: largest processor time of a rank in these
    [s]; memory: largest of a rank [bytes], at its peak.
    virial (3, 3) [N m]: V times the mean stress of the bodies that move, as of
    ``rigidlimit.stress``, None where the file has no arms. rubbing: of rough contacts, else None.
    """

    force: np.ndarray
    displacement: np.ndarray
    contacts: tuple[int, int]
    bodies: tuple[int, int]
    status: Status
    residual: float
    tolerance: float
    history: np.ndarray
    solver: str
    reason: str
    steps: int
    setups: int
    largest_force: float
    mean_force: float
    bearing: int
    coordination: float
    distribution: np.ndarray
    seconds: float
    processor: float
    memory: float
    counts: dict = field(default_factory=dict)
    virial: np.ndarray | None = None
    rubbing: RubbingForces | None = None

    @property
    def first(self) -> bool:
        """Whether this is the rank that has the first contacts, and is to speak."""
        return self.contacts[0] == 0 and self.bodies[0] == 0

    @property
    def message(self) -> str:
        rough, advice = "", self.status.advice
        if self.status is Status.MAX_ITERATIONS:  # there is one method for each kind of contacts
            advice = "raise max_iterations, or loosen the tolerance"
        if self.rubbing is not None:
            sliding = counted(self.rubbing.sliding_contacts, "sliding contact")
            rough = f"{self.rubbing.state}, {sliding}; "
            if self.rubbing.several and self.converged:
                rough += "one of several equilibria, the first of which is unstable; "
        return (
            f"{self.solver} on {counted(self.counts['ranks'], 'rank')}: {self.status}, residual "
            f"{self.residual:.1e} (tolerance {self.tolerance:.1e}) after "
            f"{counted(self.setups, 'linear system')}"
            + (f" ({counted(self.steps, 'Krylov step')})" if self.steps else "")
            + f"; {self.bearing} of {counted(self.counts['contacts'], 'contact')} are active, mean "
            f"force {self.mean_force:.6g} N, largest {self.largest_force:.6g} N, coordination "
            f"{self.coordination:.4g}; {rough}{self.seconds:.3g} s "
            f"({self.processor:.3g} s of processor time), at most "
            f"{self.memory / 1e9:.2g} GB a rank; {advice}"
        )
