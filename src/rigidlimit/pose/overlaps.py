"""Contact forces of a given pose, with the overlaps that its bodies have: no step is made.

A packing from a DEM rests by its overlaps: they are what its contacts press with, and no error to
be undone, as a step of rigid bodies would undo them. With gaps g (overlaps if negative) at the pose
and loads F,

    f_i = k_i max(0, -(B u)_i - g_i)^(p-1),    B^T f = -F,

the equilibrium of the elastic bodies next to the pose, to first order in u. Where the stiffness k
is that of the DEM, and the DEM was at rest, u is negligible and f are the DEM's forces.

With friction, tangential springs belong to the pose (``springs``: those of a DEM), and this is
an increment from their forces and those of the overlaps. A pose alone does not determine springs:
without them f are the forces of bodies placed at the pose, its overlaps their initial gaps.

Of a DEM that was not at rest, or whose springs nobody kept, ``balance=False`` takes the forces of
the overlaps as they stand (``as_pressed.py``).
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .._support import arrays
from .._support.display import Brief
from .._support.warned import warn
from .._support.words import counted
from ..bodies import Bodies, State
from ..collision.contacts import Contacts
from ..compatibility import CompatibleForces, ContactHistory
from ..compatibility.friction import has_friction
from ..errors import InputError, SceneWarning
from ..kinematics import in_world
from ..scenes.checks import law_exponent
from ..scenes.load import as_scene
from ..scenes.scene import Scene
from ..simulation import Simulation
from ..status import Status
from ..step.force_network import ForceNetwork
from .as_pressed import PressedForces
from .pose_contacts import PoseContacts
from .springs import Springs, springs_from

SEARCHES = 8
"""Most searches for contacts, each as wide as bodies shift in the answer of the one before."""

NEAR = 1e-3
"""Contacts with gaps up to this, over the scene's length, are always listed: they cost nothing
while they stay open."""

OTHER = 0.1
"""Shift of bodies over the deepest overlap above which the pose is not the equilibrium of this
stiffness and these loads."""


RIGID = 1e-9
"""Largest overlap over the scene's length of a pose of rigid bodies, as ``settle`` finds
them: it was not made by a stiffness."""


@dataclass(frozen=True, repr=False)
class PoseForces(Brief):
    """Forces of a pose: m contacts, those that are near or overlap. n bodies, dim d.

    Attributes
    ----------
    force : (m,) ndarray [N]
        Pushes contacts.body[:, 1] along +normal.
    tangential_force : (m, d - 1) ndarray [N]
        Along ``contacts.tangents``; zero without friction.
    force_vectors : (m, 3) ndarray [N]
        On contacts.body[:, 1], in the world frame.
    bodies : Bodies
    state : State
    contacts : Contacts
    elastic : CompatibleForces
        The solver's answer, with displacement (6 n,) [m, rad] from the pose to the equilibrium; of
        ``balance=False`` the forces of the overlaps.
    stiffness : (m,) ndarray [N/m^(p-1)]
    load : (6 n,) ndarray [N, N m]
        What the contacts must deliver.
    shift : float [m]
        Longest way of a point of a body in that displacement.
    overlap : float [m]
        Deepest, at the pose.
    friction : (m,) ndarray or None
        mu where bodies rub.
    sprung : bool
        Whether their tangential springs were given.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> scene = rl.Scene(dim=2, gravity=(0, -10))
    >>> floor = scene.add(rl.HalfSpace(2), position=(0, 0))
    >>> disk = scene.add(rl.Disk(0.1), position=(0, 0.1 - 2e-5), mass=1)
    >>> found = rl.forces_at_pose(scene, stiffness=5e5)
    >>> round(found.overlap, 9), found.force_vectors.round(6) + 0.0
    (2e-05, array([[ 0., 10.,  0.]]))
    """

    bodies: Bodies
    state: State
    contacts: Contacts
    elastic: CompatibleForces | PressedForces
    stiffness: np.ndarray
    load: np.ndarray
    shift: float
    overlap: float
    friction: np.ndarray | None = None
    sprung: bool = False

    @property
    def force(self) -> np.ndarray:
        return self.elastic.force

    @property
    def tangential_force(self) -> np.ndarray:
        """Components (m, d - 1) [N] along ``contacts.tangents``; zero without friction."""
        if self.friction is None:
            return np.zeros((len(self.contacts), self.bodies.dim - 1))
        return self.elastic.tangential_force

    @property
    def history(self) -> ContactHistory | None:
        """What the contacts remember after this, for ``Simulation.start_from`` and
        ``compatible_forces``; None without friction."""
        if self.friction is None:
            return None
        known = getattr(self.elastic, "history", None)
        return ContactHistory(self.force, self.tangential_force) if known is None else known

    @property
    def force_vectors(self) -> np.ndarray:
        """Contact forces (m, 3) [N] on contacts.body[:, 1], in the world frame."""
        normal = self.force[:, None] * self.contacts.normal
        if self.friction is None:
            return normal
        return normal + in_world(self.contacts, self.tangential_force)

    @property
    def network(self) -> ForceNetwork:
        """What plots, measures and export show of this pose."""
        along, sliding = {}, {}
        if self.friction is not None:
            along = {"compatible": in_world(self.contacts, self.tangential_force)}
            sliding = {"compatible": self.elastic.sliding}
        return ForceNetwork(
            bodies=self.bodies,
            position=self.state.position,
            quaternion=self.state.quaternion,
            contacts=self.contacts,
            forces={"compatible": self.force},
            gravity=np.zeros(3),
            time=self.state.time,
            cell=self.state.cell,
            velocity=self.state.velocity,
            tangential=along,
            sliding=sliding,
            friction=self.friction,
        )

    @property
    def status(self) -> Status:
        return self.elastic.status

    @property
    def converged(self) -> bool:
        return self.elastic.converged

    @property
    def residual(self) -> float:
        return self.elastic.residual

    @property
    def imbalance(self) -> np.ndarray:
        """Unbalanced force and moment, (6 n,) [N, N m]."""
        return self.elastic.imbalance

    @property
    def message(self) -> str:
        bears = int((self.force > 0.0).sum())
        near = (
            f"{bears} of {counted(len(self.contacts), 'near contact')} are active, deepest overlap "
            f"{self.overlap:.3g} m"
        )
        balanced = not isinstance(self.elastic, PressedForces)
        parts = [f"forces at the given pose, {self.elastic.message}"]
        if balanced and not self.converged:
            parts.append(self._unrest)
        if balanced:
            near += f"; bodies shift by {self.shift:.3g} m to balance"
        parts.append(near)
        if balanced and self._elsewhere:
            parts.insert(0, self._elsewhere)
        if self.friction is not None and not self.sprung:
            parts.append(
                "tangential springs, unknown from a pose alone, are taken as zero (springs=)"
            )
        return "\n".join(parts)

    @property
    def _elsewhere(self) -> str:
        """That the pose is not one of rest of this stiffness; or ""."""
        if self.overlap <= RIGID * self.bodies.length or self.shift <= OTHER * self.overlap:
            return ""
        return (
            "the pose is not the rest of this stiffness and these loads, as bodies shift by no "
            "small part of the overlaps: check stiffness=, gravity, loads, and of rough bodies "
            "friction and springs=; balance=False gives the forces that the overlaps press with"
        )

    @property
    def _unrest(self) -> str:
        """Who is farthest from balance, and who moves."""
        worst = self.bodies.names[int(np.abs(self.imbalance).argmax()) // 6]
        speed = np.linalg.norm(self.state.velocity[:, :3], axis=1)
        text = f"{worst!r} is farthest from balance"
        if not speed.any():
            return text
        fastest = self.bodies.names[int(speed.argmax())]
        return f"{text}; a pose of rest is expected, but {fastest!r} moves at {speed.max():.3g} m/s"


def forces_at_pose(
    scene: Scene | Simulation | str | Path,
    *,
    stiffness: float | None = None,
    law: str | float | None = None,
    tolerance: float = 1e-10,
    springs: object | None = None,
    balance: bool = True,
    touch: float = 0.0,
) -> PoseForces:
    """Contact forces of elastic bodies at a given pose, with the gaps and overlaps that it has.

    Velocities are not looked at: the pose is one of rest, as of a DEM.

    Parameters
    ----------
    scene : Scene, Simulation, name or path
        A scene, the name of one in the gallery, a TOML file, or a simulation at its present state
        and loads.
    stiffness : float [N/m^(p-1)], optional
        k of every contact, the DEM's; by default that of the scene's materials and pairs.
    law : {"hooke", "hertz"} or float, optional
        Or the exponent p; by default the scene's.
    tolerance : float
        On the residual.
    springs : optional
        Tangential forces that bodies with friction begin with: ``Packing.springs``, or the result
        of a DEM, of LAMMPS, of a step, or of this function; matched by the names of bodies. None:
        those that a ``Scene`` was read with, else none.
    balance : bool
        False takes the forces of the overlaps, and springs, as they stand, as of a DEM in motion;
        their status is UNBALANCED where the loads are not balanced to the tolerance.
    touch : float [m]
        Gaps up to this are closed, as of packings made without overlaps (event-driven, or by
        geometry), whose contacts are open by rounding.

    Returns
    -------
    PoseForces
        Loads that no contact can carry, as of a ball without support, give the status
        LOAD_NOT_CARRIED and the imbalance.

    Raises
    ------
    InputError
        Where nothing touches.

    Examples
    --------
    >>> import rigidlimit
    >>> scene = rigidlimit.Scene(dim=2, gravity=(0, -10))
    >>> floor = scene.add(rigidlimit.HalfSpace(2), position=(0, 0))
    >>> disk = scene.add(rigidlimit.Disk(0.1), position=(0, 0.1 - 2e-5), mass=1)
    >>> rigidlimit.forces_at_pose(scene, stiffness=5e5).force.round(6)
    array([10.])
    """
    given = scene if isinstance(scene, Simulation) else None
    scene = given.scene if given is not None else as_scene(scene)
    bodies = scene.bodies
    state = scene.state if given is None else given.state
    external = scene.external_force() if given is None else given.external_force
    exponent = scene.exponent if given is None else given.settings.exponent
    exponent = exponent if law is None else law_exponent(law)
    if stiffness is not None:
        stiffness = arrays.positive("stiffness", stiffness)
    free = bodies.free.ravel()
    load = np.where(free, -external, 0.0)
    springs = spring_forces(scene, springs, begun=given is None)
    if not 0.0 <= arrays.number(touch) < np.inf:
        raise InputError(f"touch is {touch!r}; expected a distance [m], or 0")
    reach = max(NEAR * bodies.length, touch)
    for _ in range(SEARCHES):
        pose = PoseContacts.within(
            reach, scene, state, exponent, stiffness=stiffness, springs=springs, touch=touch
        )
        answer = (pose.balanced if balance else pose.pressed)(load, tolerance)
        moved = np.where(free, answer.displacement * bodies.turning_arm.ravel(), 0.0)
        shift = float(np.linalg.norm(moved.reshape(-1, 6)[:, :3], axis=1).max(initial=0.0))
        turn = float(np.linalg.norm(moved.reshape(-1, 6)[:, 3:], axis=1).max(initial=0.0))
        # two bodies that come near each other
        if 2.0 * (shift + turn) <= reach or not answer.converged:
            break
        reach = min(4.0 * (shift + turn), bodies.length)
    return PoseForces(
        bodies=bodies,
        state=state,
        contacts=pose.contacts,
        elastic=answer,
        stiffness=pose.stiffness,
        load=load,
        shift=shift + turn,
        overlap=float(max(0.0, -pose.contacts.gap.min())),
        friction=pose.friction,
        sprung=springs is not None,
    )


def spring_forces(
    scene: Scene, given: object | None, *, begun: bool, rough: bool | None = None
) -> Springs | None:
    """The springs given, at the numbers of the scene's bodies; begun: at the scene's own pose,
    where those that it was read with are the default. rough: of a part of a larger scene, whether
    any bodies of the whole rub."""
    springs = springs_from(scene.springs if given is None and begun else given)
    if springs is None:
        return None
    bodies = scene.bodies
    if not (has_friction(bodies, scene.pair_friction) if rough is None else rough):
        warn(
            f"scene {scene.name!r}: springs are given, and no two bodies have friction; they are "
            "not used (give the material's friction)",
            SceneWarning,
        )
        return None
    return springs.in_scene(bodies)
