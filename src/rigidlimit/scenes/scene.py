"""A scene: its bodies, where they are, and the loads on them."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .._support.arrays import is_positive, number
from .._support.display import Displayed
from .._support.words import counted
from ..bodies import Bodies, Cell, State, rotations
from ..bodies.materials import MINDLIN, TANGENTIAL_LAWS
from ..collision.contacts import empty
from ..errors import SceneError
from . import checks
from .adding import Adding
from .checks import law_exponent
from .pairs import Pairs
from .periodic import cell_of, state_with_cell, with_cell

if TYPE_CHECKING:
    from ..step.force_network import ForceNetwork
    from ..step.friction import Memory


class Scene(Adding, Pairs, Displayed):
    """A set of bodies with gravity and a contact law; units are SI.

    Parameters
    ----------
    name
        For files and pictures.
    dim
        2 or 3.
    gravity
        (dim,) [m/s^2]; 9.81 along -y in 2D and -z in 3D by default.
    restitution
        e_n, 0 to 1.
    law
        "hooke", "hertz" or the exponent p > 1 of the contact law (eq. 33).
    tangential_law
        Of contacts with friction: "mindlin" or "mindlin/force" (as in LAMMPS; alike for Hooke).
    increments
        Parts of a step's way that contacts with friction go one after the other.
    dt, duration
        Suggested step and time [s].
    description
        A line for lists and files.
    reference
        Known answers by name, for tests and readers.
    cell
        A periodic ``Cell``, or its side lengths or vectors [m]. There is no gravity by default
        where it is periodic downwards. The cell is the last one of ``bodies``. ``path`` holds the
        loading paths of a scene file, tables of a kind and its keys; ``memory`` what rough contacts
        remember to begin with, as of ``Simulation.memory``, or None; ``springs`` tangential forces
        that were read with a packing, which ``forces_at_pose`` begins with.

    Raises
    ------
    SceneError
        For a value out of range.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> scene = rl.Scene(name="ball on a plane")
    >>> scene.add(rl.HalfSpace(), position=(0, 0, 0))
    0
    >>> scene.add(rl.Sphere(0.1), position=(0, 0, 0.1))
    1
    """

    name: str
    gravity: np.ndarray
    restitution: float
    law: str | float
    exponent: float
    tangential_law: str
    increments: int
    dt: float
    duration: float
    description: str
    reference: dict[str, Any]

    def __init__(
        self,
        *,
        name: str = "scene",
        dim: int = 3,
        gravity: ArrayLike | None = None,
        restitution: float = 0.0,
        law: str | float = "hooke",
        tangential_law: str = MINDLIN,
        increments: int = 1,
        dt: float = 1e-3,
        duration: float = 0.1,
        description: str = "",
        reference: dict[str, Any] | None = None,
        cell: Cell | ArrayLike | None = None,
    ):
        if dim not in (2, 3):
            raise SceneError(f"dim is {dim!r}; expected 2 or 3")
        if not 0 <= number(restitution) <= 1:
            raise SceneError(f"restitution is {restitution!r}; expected 0 <= e_n <= 1")
        if tangential_law not in TANGENTIAL_LAWS:
            raise SceneError(
                f"tangential_law is {tangential_law!r}; expected {' or '.join(TANGENTIAL_LAWS)}"
            )
        if not (is_positive(increments) and increments == int(increments)):
            raise SceneError(f"increments is {increments!r}; expected a positive integer")
        for what, value in (("dt", dt), ("duration", duration)):
            if not is_positive(value):
                raise SceneError(f"{what} is {value!r}; expected a positive time in seconds")
        Adding.__init__(self)
        Pairs.__init__(self)
        self.name, self.dim = name, dim
        self.cell = cell_of(cell, dim)
        default = (0.0, -9.81) if dim == 2 else (0.0, 0.0, -9.81)
        if self.cell is not None and self.cell.periodic[dim - 1]:
            default = (0.0,) * dim
        self.gravity = checks.vector("gravity", default if gravity is None else gravity, dim)
        self.restitution = float(restitution)
        self.law, self.exponent = law, law_exponent(law)
        self.tangential_law, self.increments = tangential_law, int(increments)
        self.dt, self.duration = float(dt), float(duration)
        self.description, self.reference = description, dict(reference or {})
        self.path: list[dict[str, Any]] = []
        self.memory: Memory | None = None
        self.springs: object | None = None

    def __repr__(self) -> str:
        return f"<Scene {self.name!r}: {counted(len(self), 'body')} in {self.dim}D, law {self.law}>"

    def load_of(self, load: ArrayLike) -> np.ndarray:
        """A load as ``add`` takes it, as force and moment (6,) [N, N m].

        Parameters
        ----------
        load : (dim,) [N], or with moments (3,) in the plane and (6,) in space [N, N m]
        """
        return checks.loads([load], self.dim, 1)[0]

    def gravity_of(self, gravity: ArrayLike) -> np.ndarray:
        """Gravity as a scene takes it, as (3,) [m/s^2].

        Parameters
        ----------
        gravity : (dim,) [m/s^2]
        """
        return checks.vector("gravity", gravity, self.dim)

    def velocity_of(
        self, velocity: ArrayLike, angular_velocity: ArrayLike | None, before: np.ndarray
    ) -> np.ndarray:
        """Velocities as ``add`` takes them, as (6,) [m/s, rad/s].

        Parameters
        ----------
        velocity : (dim,) [m/s]
        angular_velocity : float in the plane, (3,) in space [rad/s], or None
            None: that of ``before``.
        before : (6,) [m/s, rad/s]
            What the body had.
        """
        out = before.copy()
        out[:3] = checks.vector("velocity", velocity, self.dim)
        if angular_velocity is not None:
            out[3:] = checks.spins("angular_velocity", [angular_velocity], self.dim, 1)[0]
        return out

    @property
    def bodies(self) -> Bodies:
        """Constant data of the bodies."""
        if self._bodies is None:
            if not self._names:
                raise SceneError(f"scene {self.name!r} has no bodies; add some first")
            columns = self._columns
            self._bodies = Bodies(
                dim=self.dim,
                names=tuple(self._names),
                shapes=tuple(self._shapes.entries),
                shape_of=columns["shape_of"],
                materials=tuple(self._materials.entries),
                material_of=columns["material_of"],
                mass=columns["mass"],
                inertia=columns["inertia"],
                free=columns["free"],
                placed=columns["position"],
                group=self._group_of() if self.groups else None,
                excluded=np.array(list(self.excluded), np.int64) if self.excluded else None,
            )
            if self.cell is not None:
                self._bodies = with_cell(self._bodies, self.cell)
        return self._bodies

    def _group_of(self) -> np.ndarray:
        """Number of each body's collision group, 0 for none, (n,)."""
        number = np.zeros(len(self), np.int64)
        for k, bodies in enumerate(self.groups.values()):
            number[bodies] = k + 1
        return number

    @property
    def state(self) -> State:
        """Poses and velocities at t = 0."""
        state = State(
            *(self._columns[c].copy() for c in ("position", "quaternion", "velocity")), 0.0
        )
        if self.cell is None:
            return state
        return state_with_cell(state, self.cell, self.bodies.cell_length)

    @property
    def network(self) -> "ForceNetwork":
        """What plots and export show: the bodies as they begin, without contacts."""
        from ..step.force_network import ForceNetwork

        return ForceNetwork(
            bodies=self.bodies,
            position=self.state.position,
            quaternion=rotations.normalized(self.state.quaternion),
            contacts=empty(len(self.bodies)),
            forces={"none": np.zeros(0)},
            gravity=self.gravity,
            name=self.name,
            velocity=self.state.velocity,
            cell=self.state.cell,
        )

    def external_force(self) -> np.ndarray:
        """Gravity and loads on every degree of freedom, (6 n,) [N, N m]."""
        force = self._columns["load"].copy()
        force[:, :3] += self._columns["mass"][:, None] * self.gravity
        if self.cell is not None:
            pushed = self.cell.force(self.cell.vectors, self.bodies.cell_length)
            force = np.concatenate([force, pushed[None]])
        return force.ravel()
