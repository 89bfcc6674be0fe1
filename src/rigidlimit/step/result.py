"""What one step answers: forces, motion, stress, and what was found about them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from .._support.display import Displayed
from .._support.products import transposed_product
from .._support.submatrix import submatrix
from .._support.words import counted
from ..bodies import Bodies, HalfSpace, State
from ..bodies.cell import volume_of
from ..collision.contacts import Contacts
from ..compatibility import CompatibleForces
from ..compatibility.bearing import bearing
from ..conditioning.closed_contacts import WARNED
from ..conditioning.input_rounding import InputRounding
from ..conditioning.one_body import reduced_balance
from ..diagnostics.degree import Degree, degree
from ..dynamics import ContactDynamicsResult
from ..kinematics import in_world
from ..status import Status
from . import friction, messages
from .force_network import ForceNetwork
from .friction import Memory
from .motion import motion

FEW = 300
"""Largest number of closed contacts for which ``StepResult.message`` computes the degree of
indeterminacy: two ranks, of some milliseconds."""


@dataclass(frozen=True, repr=False)
class StepResult(Displayed):
    """One step of n bodies with m contacts; forces [N] push contacts.body[:, 1] along +normal.

    Attributes
    ----------
    force : (m,) ndarray [N]
        Compatible forces if computed, else the classic ones.
    tangential_force : (m, d - 1) ndarray [N]
        Along ``contacts.tangents``; zero without friction.
    force_vectors : (m, 3) ndarray [N]
        On contacts.body[:, 1], in the world frame.
    state : State
        At the end of the step.
    contacts : Contacts
        As found at its start.
    B : (m, 6 n) sparse
        Gap gradient.
    load : (6 n,) ndarray [N, N m]
        F~, eq. 37.
    stiffness : (m,) ndarray
        Of each contact.
    closed : (m,) bool ndarray
        Contacts that step 2 may load: closed at the end of the step.
    classic : ContactDynamicsResult
        Step 1.
    compatible : CompatibleForces or None
        Step 2 on the ``closed`` contacts, None where it was not requested; its residual and
        imbalance are those of ``balance``.
    dt : float [s]
    bodies : Bodies
        Whose contacts these are, for pictures.
    several_bodies : str
        How step 2 left out motions of several bodies (``conditioning/several_bodies.py``), "" if
        it did not.
    settled : bool
        Whether the forces are known to be the same as with these motions.
    open : (n,) ndarray [N] or None
        Error of the forces on each body due to rounding of the data, where a motion is weakly
        constrained; 0 where it is negligible (``conditioning/last_digits.py``).
    left_out : (m,) bool ndarray or None
        Contacts that are closed and cannot carry force, not among ``closed``.
    tilt_dependent : (n,) bool ndarray or None
        Bodies whose forces depend on negligible tilts (``conditioning/idle_contacts.py``).
    input_rounding : InputRounding or None
        How far forces depend on the digits that written coordinates lack
        (``conditioning/input_rounding.py``), None if they were not rounded.
    begun : State or None
        The pose that the simulation began with.
    gravity : (3,) ndarray [m/s^2] or None
        Of its scene.
    name : str
        Of its scene.
    reduced : (sparse, ndarray) or None
        ``balance`` as step 2 solved it, None before.
    overlapping : str
        Warning that the forces undo overlaps which smooth bodies had (``warnings.py``), or "".
    T : ((d - 1) m, 6 n) sparse or None
        Rows of the tangential motion, where contacts have friction.
    friction : (m,) ndarray or None
        mu of these contacts.
    memory : Memory or None
        What rough contacts remembered when the step began.
    separation : (n, 6) ndarray [m] or None
        Displacements that move rough bodies apart which overlap, without velocities or forces.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> step = rl.Simulation("four-leg-table").step()
    >>> step.force.round(2), step.converged, step.degree.most
    (array([17.5, 27.5, 22.5, 32.5]), True, 1)
    """

    state: State
    contacts: Contacts
    B: sp.csr_array
    load: np.ndarray
    stiffness: np.ndarray
    closed: np.ndarray
    classic: ContactDynamicsResult
    compatible: CompatibleForces | None
    dt: float
    bodies: Bodies = None  # type: ignore[assignment]  # None in tests of parts alone
    several_bodies: str = ""
    settled: bool = False
    open: np.ndarray | None = None
    left_out: np.ndarray | None = None
    tilt_dependent: np.ndarray | None = None
    input_rounding: InputRounding | None = None
    begun: State | None = None
    gravity: np.ndarray | None = None
    name: str = ""
    reduced: tuple[sp.csr_array, np.ndarray] | None = None
    overlapping: str = ""
    T: sp.csr_array | None = None
    friction: np.ndarray | None = None
    memory: Memory | None = None
    separation: np.ndarray | None = None

    @property
    def time(self) -> float:
        return self.state.time

    @property
    def force(self) -> np.ndarray:
        """Contact forces (m,) [N]: compatible ones if computed, else the classic ones."""
        if self.compatible is None:
            return self.classic.force
        force = np.zeros(len(self.contacts))
        force[self.closed] = self.compatible.force
        return force

    @property
    def tangential_force(self) -> np.ndarray:
        """Tangential forces (m, d - 1) [N] on contacts.body[:, 1], along ``contacts.tangents``;
        zero without friction."""
        if self.T is None:
            dim = 3 if self.bodies is None else self.bodies.dim
            return np.zeros((len(self.contacts), dim - 1))
        if self.compatible is None:
            return self.classic.tangential_force
        force = np.zeros(self.classic.tangential_force.shape)
        if self.closed.any():
            force[self.closed] = self.compatible.tangential_force
        return force

    @property
    def force_vectors(self) -> np.ndarray:
        """Contact forces (m, 3) [N] on contacts.body[:, 1], in the world frame."""
        normal = self.force[:, None] * self.contacts.normal
        if self.T is None:
            return normal
        return normal + in_world(self.contacts, self.tangential_force)

    @property
    def network(self) -> ForceNetwork:
        """What plots, measures and export show of this step."""
        contacts, rough = self.contacts, self.T is not None
        forces, along = {"classic": self.classic.force}, {}
        if rough:
            along["classic"] = in_world(contacts, self.classic.tangential_force)
        if self.compatible is not None:
            forces["compatible"] = self.force
            if rough:
                along["compatible"] = in_world(contacts, self.tangential_force)
        return ForceNetwork(
            bodies=self.bodies,
            position=self.state.position,
            quaternion=self.state.quaternion,
            contacts=contacts,
            forces=forces,
            gravity=np.zeros(3) if self.gravity is None else self.gravity,
            time=self.time,
            name=self.name,
            dt=self.dt,
            step=self,
            tangential=along,
            sliding={list(forces)[-1]: self.sliding} if rough else {},
            friction=self.friction,
            cell=self.state.cell,
        )

    @property
    def pushed(self) -> np.ndarray:
        """Generalized forces of all contacts, B^T f_n + T^T f_t, (6 n,) [N, N m]."""
        pushed = transposed_product(self.B, self.force)
        if self.T is not None:
            pushed = pushed + transposed_product(self.T, self.tangential_force.ravel())
        return pushed

    @property
    def sliding(self) -> np.ndarray:
        """Contacts with tangential force mu f_n, (m,) bool; none without friction."""
        sliding = np.zeros(len(self.contacts), bool)
        if self.T is not None and self.compatible is not None:
            sliding[self.closed] = self.compatible.sliding
        elif self.T is not None:
            sliding = self.classic.sliding
        return sliding

    @property
    def balance(self) -> tuple[sp.csr_array, np.ndarray]:
        """(B, load) of the closed contacts as step 2 solves them: without motions that contacts
        hardly resist (``conditioning/one_body.py``)."""
        if self.reduced is not None:
            return self.reduced
        chosen = np.flatnonzero(self.closed)
        B = submatrix(self.B, rows=chosen)
        if self.bodies is None or self.T is not None:
            return B, self.load
        return reduced_balance(self.bodies, B, self.load, self.classic.force[chosen])

    @property
    def stress(self) -> np.ndarray | None:
        """Stress of the contacts on the periodic cell, (dim, dim) [Pa; N/m in 2D], pressure
        positive: sum of d f^T over the volume where the step began; None without a cell."""
        if self.contacts.branch is None:
            return None
        branch = self.contacts.spans(self.bodies.are(HalfSpace))
        volume = volume_of(self.state.cell) / np.linalg.det(np.eye(3) + self.strain)
        dim = self.bodies.dim
        return np.einsum("mi,mj->ij", branch, self.force_vectors)[:dim, :dim] / volume

    @property
    def strain(self) -> np.ndarray:
        """Of a periodic cell in the step, L dt (3, 3)."""
        way = self.dt * self.classic.velocity.reshape(-1, 6)
        if self.separation is not None:
            way = way + self.separation
        return self.bodies.velocity_gradient(way)

    @property
    def impulse(self) -> np.ndarray:
        """Contact impulses f dt of the step, (m,) [N s]."""
        return self.force * self.dt

    @property
    def end_gap(self) -> np.ndarray:
        """Gap at the end of the step to first order, (m,) [m], eq. 15."""
        return self.contacts.gap + self.dt * (self.B @ self.classic.velocity)

    @property
    def converged(self) -> bool:
        """Whether both steps, as far as they were requested, are solved to their tolerance."""
        return self.classic.converged and (self.compatible is None or self.compatible.converged)

    @property
    def residual(self) -> float:
        """The larger residual of the two steps."""
        second = 0.0 if self.compatible is None else self.compatible.residual
        return max(self.classic.residual, second)

    @property
    def summary(self) -> str:
        """One line for a progress display."""
        return (
            f"t = {self.time:.4g} s, {counted(len(self.contacts), 'contact')}, "
            f"{counted(self.classic.iterations, 'iteration')}, residual {self.residual:.0e}"
        )

    @property
    def message(self) -> str:
        """A finding a line: doubt, motion and indeterminacy, and both solves; solves that did not
        converge come first."""
        solves = [self.classic.message]
        if self.compatible is not None:
            solves.append(self.compatible.message)
            if self.compatible.status is Status.LOAD_NOT_CARRIED and not self.classic.converged:
                solves.append("that load is of contact dynamics that did not converge")
        moving = "" if self.bodies is None else self.motion
        findings = [self.doubt, moving and f"not at rest: {moving}", self.indeterminacy()]
        parts = [*findings, *solves] if self.converged else [*solves, *findings]
        return "\n".join(filter(None, parts))

    @property
    def motion(self) -> str:
        """Who moves at the end of the step, how fast, and how far from the pose ``begun``; ""."""
        return motion(self.bodies, self.begun, self.state, self.dt)

    def indeterminacy(self, most: int = FEW) -> str:
        """The ``degree`` in words.

        Parameters
        ----------
        most : int
            Of closed contacts; it is not computed for more.
        """
        if self.bodies is None or not (self.converged and self.force.any()):
            return ""
        count = int(self.closed.sum())
        if count > most:
            what = counted(count, "closed contact")
            return f"degree of indeterminacy not computed for {what} (rigidlimit.determinacy does)"
        return str(self.degree)

    @cached_property
    def degree(self) -> Degree:
        """Degree of indeterminacy of the closed contacts, computed at first access; with
        friction that of all components, contacts that slide in step 1 known to slide."""
        if self.T is not None:
            return friction.degree(self)
        loaded = bearing(self.force) | bearing(self.classic.force)
        return degree(
            self.balance[0],
            loaded[self.closed],
            free=self.bodies.free.ravel(),
            blocks=self.bodies.blocks,
        )

    @property
    def open_forces(self) -> bool:
        """Whether forces are uncertain (``open``) by a thousandth of the largest or more, due to
        the tolerance of step 1 or rounding of the data."""
        least = self.least_reported
        return self.open is not None and bool(self.open.max(initial=0.0) > least)

    @property
    def least_reported(self) -> float:
        """Force error [N] above which it is reported."""
        return WARNED * max(self.force.max(initial=0.0), self.classic.force.max(initial=0.0))

    @property
    def doubt(self) -> str:
        """Which forces are open though solved, by a thousandth of the largest or more; or ""."""
        return messages.doubt(self)
