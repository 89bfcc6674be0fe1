"""What a run of the penalty method reports on its way and at its end."""

from dataclasses import dataclass

import numpy as np

from .._support.display import Brief
from .._support.words import counted
from ..bodies import State
from ..collision.contacts import Contacts
from ..compatibility.friction import contact_friction, has_friction, mobilised_friction
from ..compatibility.rough_result import AT_BOUND, ContactHistory
from ..kinematics import in_frame
from ..scenes.scene import Scene
from ..status import HasStatus, Status
from ..step.force_network import ForceNetwork
from .engine import Measures


@dataclass(frozen=True)
class PenaltyProgress:
    """What a callback of a penalty simulation sees.

    Attributes
    ----------
    time : float [s]
        Simulated.
    dt : float [s]
        Of the last step.
    steps : int
        Made so far.
    fraction : float
        Of the way to ``until``, or to rest (by the logarithm of the unbalanced force, or of the
        motion), in [0, 1].
    seconds : float [s]
        Wall clock so far.
    seconds_left : float [s]
        At this pace.
    unbalanced : float
        Largest force out of balance over the largest external force on one body.
    measures : Measures
        Energies and speeds, as of ``PenaltySimulation``.
    text : str
        One line for a progress display.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> seen = []
    >>> done = rl.PenaltySimulation("beam").run(until=2e-4, callback=seen.append)
    >>> seen[-1].fraction <= 1.0, seen[-1].text[:4]
    (True, 't = ')
    """

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
class PenaltyResult(HasStatus, Brief):
    """Where a penalty simulation ended. m contacts; forces [N] push contacts.body[:, 1] along +n.

    Attributes
    ----------
    scene : Scene
        Whose run it is.
    state : State
    contacts : Contacts
        All with gap <= the closed tolerance, in the order of every other ``Contacts``.
    force : (m,) ndarray [N]
        Elastic and damping force along the normals.
    tangential : (m, 3) ndarray [N]
        Tangential part of the force on contacts.body[:, 1], world frame, zero where bodies are
        smooth.
    tangential_force : (m, d - 1) ndarray [N]
        The same along ``contacts.tangents``.
    force_vectors : (m, 3) ndarray [N]
        Whole contact forces on contacts.body[:, 1], world frame.
    history : ContactHistory
        What ``compatible_forces`` continues from; of springs at rest, as it takes damping for
        elastic force.
    kinetic_energy, elastic_energy : float [J]
    unbalanced : float
        Largest force out of balance over the largest external force on one body.
    steps : int
        Made.
    dt : float [s]
        Of the last step.
    status : Status
        CONVERGED at rest or at ``until``.
    at_rest : bool
    seconds : float [s]
        Wall clock of the run.
    rest_tolerance : float
        On ``unbalanced``.
    stopped : str
        Who was stopped, moving on under balanced forces, in words.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> found = rl.PenaltySimulation("beam").run()
    >>> found.at_rest, found.force.round(2)
    (True, array([3.33, 3.33, 3.33]))
    """

    scene: Scene
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
    def network(self) -> ForceNetwork:
        """What plots, measures and export show of this run: where it ended."""
        scene, along, sliding, mu = self.scene, {}, {}, None
        if has_friction(scene.bodies, scene.pair_friction):
            mu = contact_friction(scene.bodies, self.contacts, scene.pair_friction)
            mobilised = mobilised_friction(self.force, self.tangential, mu)
            along, sliding = {"dem": self.tangential}, {"dem": mobilised >= 1.0 - AT_BOUND}
        return ForceNetwork(
            bodies=scene.bodies,
            position=self.state.position,
            quaternion=self.state.quaternion,
            contacts=self.contacts,
            forces={"dem": self.force},
            gravity=scene.gravity,
            time=self.state.time,
            name=scene.name,
            tangential=along,
            sliding=sliding,
            friction=mu,
        )

    @property
    def time(self) -> float:
        return self.state.time

    @property
    def message(self) -> str:
        where = "at rest" if self.at_rest else "moving"
        return (
            f"penalty: {self.status}, {where} at t = {self.time:.6g} s after "
            f"{counted(self.steps, 'step')} (last {self.dt:.2e} s); unbalanced "
            f"force {self.unbalanced:.1e} of the largest load (tolerance "
            f"{self.rest_tolerance:.1e}), kinetic energy {self.kinetic_energy:.1e} J of "
            f"{self.elastic_energy:.1e} J elastic{self._advice()}"
        )

    def _advice(self):
        if self.at_rest or self.status is not Status.STALLED:
            return ""
        return (
            "; bodies that slide or spin on need a rate of background damping, as "
            "PenaltySimulation(background=10.0)"
        )
