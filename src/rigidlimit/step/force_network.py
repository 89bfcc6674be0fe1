"""What plots, measures and export show: bodies in their pose, contacts, forces of some methods.

Results of steps, stored steps, runs, simulations, comparisons, DEM runs, poses and scenes have it
as ``network``. B and F~ are taken from the step where it still has them; a run file does not store
them, so they are computed again from its contacts:

    B      from points and normals (eq. 15), with the centres where the step began, x+ - dt v+
    F~     = B^T f_classic on the contacts closed at the end of the step (eq. 37)
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ..bodies import Bodies, HalfSpace, State
from ..bodies.cell import CellFrame
from ..collision.contacts import Contacts
from ..compatibility.closed import closing_gap
from ..compatibility.friction import mobilised_friction
from ..conditioning.one_body import reduced_balance
from ..conditioning.tolerances import TOLERANCES
from ..errors import InputError, nearest
from ..kinematics import gap_gradient, in_frame, tangential_gradient
from ..linear import column_arms


@dataclass(frozen=True)
class ForceNetwork:
    """One moment of a scene. n bodies, m contacts.

    Attributes
    ----------
    bodies : Bodies
    position : (n, 3) ndarray [m]
    quaternion : (n, 4) ndarray
    contacts : Contacts
    forces : dict of str to (m,) ndarray [N]
        Normal forces by the name of the method.
    gravity : (3,) ndarray [m/s^2]
        Or zero.
    time : float [s]
    name : str
        Of the scene.
    dt : float [s]
    velocity : (n, 6) ndarray [m/s, rad/s] or None
        With dt it makes B (m, 6 n), the gap gradient, at first access.
    step : StepResult or None
        What it was made of.
    stored_closed : (m,) bool ndarray or None
    several_bodies : str
    unresolved : bool
        These three are options of step 2; the last says whether it excluded unresolved motions
        from the balance.
    tangential : dict of str to (m, 3) ndarray [N]
        Tangential parts of the force vectors on contacts.body[:, 1], by method, of scenes with
        friction; so is what follows.
    sliding : dict of str to (m,) bool ndarray
    friction : (m,) ndarray or None
        mu.
    cell : (3, 3) ndarray [m] or None
        Vectors of a periodic cell, at the same time as the positions.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> shown = rl.Simulation("beam").step().network
    >>> sorted(shown.forces), shown.vectors("compatible").shape
    (['classic', 'compatible'], (3, 3))
    """

    bodies: Bodies
    position: np.ndarray
    quaternion: np.ndarray
    contacts: Contacts
    forces: dict[str, np.ndarray]
    gravity: np.ndarray
    time: float = 0.0
    name: str = ""
    dt: float = 0.0
    velocity: np.ndarray | None = None
    step: object = None
    stored_closed: np.ndarray | None = None
    several_bodies: str = ""
    unresolved: bool = False
    tangential: dict[str, np.ndarray] = field(default_factory=dict)
    sliding: dict[str, np.ndarray] = field(default_factory=dict)
    friction: np.ndarray | None = None
    cell: np.ndarray | None = None

    @property
    def best(self) -> str:
        """The method whose forces are shown alone: compatible, else the last one."""
        return "compatible" if "compatible" in self.forces else list(self.forces)[-1]

    @property
    def up(self) -> np.ndarray:
        """Unit vector (3,) against gravity; z, or y in 2D, without gravity."""
        size = np.linalg.norm(self.gravity)
        if size > 0:
            return -self.gravity / size
        return np.array([0.0, 1.0, 0.0] if self.bodies.dim == 2 else [0.0, 0.0, 1.0])

    def of(self, method: str | None) -> tuple[str, np.ndarray]:
        """(method, its forces (m,) [N]); None is the best one."""
        method = self.best if method is None else method
        if not isinstance(method, str) or method not in self.forces:
            remedy = nearest(method, self.forces)
            if method == "compatible":
                remedy = (
                    "the step was made without them: use step(compatible=True), or run --forces "
                    f"every; it has {', '.join(self.forces)}"
                )
            raise InputError(f"no forces {method!r} in this step; {remedy}")
        return method, self.forces[method]

    def vectors(self, method: str | None) -> np.ndarray:
        """Force vectors (m, 3) [N] on contacts.body[:, 1]; None is the best method."""
        method, force = self.of(method)
        normal = force[:, None] * self.contacts.normal
        return normal + self.tangential[method] if method in self.tangential else normal

    def mobilised(self, method: str) -> np.ndarray:
        """Mobilised friction |f_t|/(mu f_n) (m,) of a method with tangential forces."""
        return mobilised_friction(self.forces[method], self.tangential[method], self.friction)

    def chosen(self, methods: list[str] | None) -> list[str]:
        """These methods, each of which has to be there; all if none are named."""
        return list(self.forces) if methods is None else [self.of(m)[0] for m in methods]

    @property
    def speeds(self) -> np.ndarray:
        """Velocities (n, 6) [m/s, rad/s] at the end of the step; zero where none are known."""
        velocity = self.step.state.velocity if self.step is not None else self.velocity
        return np.zeros((len(self.bodies), 6)) if velocity is None else velocity

    @cached_property
    def start(self) -> np.ndarray:
        """Centres (n, 3) [m] where the step began, as its contacts were found."""
        velocity = self.step.state.velocity if self.step is not None else self.velocity
        if velocity is None:
            return self.position
        before = self.position - self.dt * velocity[:, :3]
        if self.bodies.cell is None:
            return before
        return np.linalg.solve(self.strain, before.T).T

    @property
    def strain(self) -> np.ndarray:
        """Vectors of a periodic cell at the end of the step over those at its start, (3, 3)."""
        velocity = self.step.state.velocity if self.step is not None else self.velocity
        if velocity is None or self.bodies.cell is None:
            return np.eye(3)
        return np.eye(3) + self.dt * self.bodies.velocity_gradient(velocity)

    @cached_property
    def B(self):
        if self.step is not None:
            return self.step.B
        state = State(self.start, self.quaternion, np.zeros((len(self.start), 6)))
        return gap_gradient(self.bodies, state, self.contacts)

    @cached_property
    def closed(self) -> np.ndarray:
        """Contacts closed at the end of the step, (m,) bool."""
        if self.step is not None:
            return self.step.closed
        if self.stored_closed is not None:
            return self.stored_closed
        gap = self.contacts.gap
        if self.velocity is not None:
            gap = gap + self.dt * (self.B @ self.velocity.ravel())
        force = np.max([np.zeros(len(gap)), *self.forces.values()], axis=0)
        return (force > 0) | (gap <= closing_gap(gap, force, self.bodies.length))

    @cached_property
    def load(self) -> np.ndarray:
        """F~ (6 n,) [N, N m]: what the closed contacts carry together."""
        if self.step is not None:
            return self.step.load
        closed = np.flatnonzero(self.closed)
        normal = self.B[closed].T @ self._admissible[closed]
        if "classic" not in self.tangential:
            return normal
        state = State(self.start, self.quaternion, np.zeros((len(self.start), 6)))
        T = tangential_gradient(self.bodies, state, self.contacts)
        rub = in_frame(self.contacts, self.tangential["classic"])
        return normal + T.T @ np.where(self.closed[:, None], rub, 0.0).ravel()

    @property
    def balance(self) -> tuple:
        """(B, load) of the closed contacts as ``StepResult.balance``."""
        if self.step is not None:
            return self.step.balance
        closed = np.flatnonzero(self.closed)
        B, load = self.B[closed], np.where(self.bodies.free.ravel(), self.load, 0.0)
        force, how = self._admissible[closed], self.several_bodies
        B, load = reduced_balance(self.bodies, B, load, force, several_bodies=how)
        if not self.unresolved:
            return B, load
        borne = np.where(self.bodies.free.ravel(), B.T @ self.forces["compatible"][closed], 0.0)
        arm = column_arms(B)[0]
        near = np.abs(borne - load) / arm <= TOLERANCES.weak * np.abs(force).sum()
        return B, np.where(near, borne, load)

    @property
    def _admissible(self):
        """Forces that made F~, (m,) [N]."""
        return self.forces["classic" if "classic" in self.forces else self.best]

    @property
    def half_space(self) -> np.ndarray:
        """Which bodies are half-spaces, (n,) bool."""
        return self.bodies.are(HalfSpace)

    @property
    def solid(self) -> np.ndarray:
        """Which bodies have a surface of their own, (n,) bool."""
        return ~self.bodies.are(HalfSpace, CellFrame)
