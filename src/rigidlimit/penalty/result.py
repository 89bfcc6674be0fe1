"""What a run of the penalty method reports on its way and at its end."""

from dataclasses import dataclass

import numpy as np

from .._support.display import Brief
from .._support.words import counted
from ..bodies import State
from ..collision.contacts import Contacts
from ..compatibility.rough_result import ContactHistory
from ..kinematics import in_frame
from ..status import Status
from .engine import Measures


@dataclass(frozen=True)
class PenaltyProgress:
    """What a callback sees. fraction: of the way to ``until``, or to rest (by the logarithm of the
    unbalanced force, or of the motion), in [0, 1]. seconds: wall clock so far; seconds_left: at
    this pace."""

    time: float
    dt: float
    steps: int
    fraction: float
    seconds: float
    seconds_left: float
    unbalanced: float
    measures: Measures

    @property
    def text(self) -> str:
        """One line for a progress display, with the time to go."""
        left = f", about {self.seconds_left:.0f} s to go" if self.seconds_left < 1e6 else ""
        return f"{self.state}, {100 * self.fraction:.0f} %{left}"

    @property
    def state(self) -> str:
        """How the run goes, without the share that is done."""
        steps = counted(self.steps, "step")
        return f"t = {self.time:.4g} s, {steps}, unbalanced force {self.unbalanced:.1e}"


@dataclass(frozen=True, repr=False)
class PenaltyResult(Brief):
    """Where a penalty simulation ended. m contacts; forces [N] push contacts.body[:, 1] along +n.

    contacts: all with gap <= the closed tolerance, in the order of every other ``Contacts``; force
    (m,): elastic and damping force. tangential (m, 3): the tangential part of the force on
    contacts.body[:, 1], world frame, zero where bodies are smooth. history: what
    ``compatible_forces`` continues from; of springs at rest, as it takes damping for elastic force.
    kinetic_energy, elastic_energy [J]. unbalanced: largest force out of balance over the largest
    external force on one body. steps, dt: time steps made, the last size [s]. status: CONVERGED at
    rest or at ``until``; seconds: wall clock of the run. stopped: who was stopped, moving on under
    balanced forces, in words.
    """

    state: State
    contacts: Contacts
    force: np.ndarray
    tangential: np.ndarray
    history: ContactHistory
    kinetic_energy: float
    elastic_energy: float
    unbalanced: float
    steps: int
    dt: float
    status: Status
    at_rest: bool
    seconds: float
    rest_tolerance: float
    stopped: str = ""

    @property
    def tangential_force(self) -> np.ndarray:
        """Components (m, d - 1) [N] of ``tangential`` along ``contacts.tangents``."""
        return in_frame(self.contacts, self.tangential)

    @property
    def force_vectors(self) -> np.ndarray:
        """Whole contact forces (m, 3) [N] on contacts.body[:, 1], world frame."""
        return self.force[:, None] * self.contacts.normal + self.tangential

    @property
    def time(self) -> float:
        return self.state.time

    @property
    def converged(self) -> bool:
        return self.status is Status.CONVERGED

    @property
    def message(self) -> str:
        where = "at rest" if self.at_rest else "moving"
        return (
            f"penalty: {self.status}, {where} at t = {self.time:.6g} s after "
            f"{counted(self.steps, 'step')} (last {self.dt:.2e} s); unbalanced "
            f"force {self.unbalanced:.1e} of the largest load (tolerance "
            f"{self.rest_tolerance:.1e}), kinetic energy {self.kinetic_energy:.1e} J of "
            f"{self.elastic_energy:.1e} J elastic"
        )
