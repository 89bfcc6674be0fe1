"""Statics of a pose: the closed contacts, their cones, and what can be said without a step.

Questions about a drawing of masonry: does it stand, with how much friction, how far may it be
pushed? ``Statics`` calls the functions of ``diagnostics/cones/`` and computes the forces of elastic
bodies, of closed contacts with B, T, friction and the load that they must deliver: those of a
``Scene`` as it begins, of a ``Simulation`` as it stands, or of a ``StepResult``.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from .._support import arrays
from .._support.display import Brief
from .._support.submatrix import submatrix
from .._support.words import counted
from ..bodies import Bodies, State, rotations
from ..collision.contacts import Contacts
from ..collision.search import find_contacts
from ..compatibility import RoughForces, compatible_forces
from ..compatibility.friction import contact_friction, contact_tangential_stiffness
from ..compatibility.joints import Joints, joints_of
from ..compatibility.law import contact_stiffness
from ..diagnostics import (
    Collapse,
    LeastFriction,
    RoughCertificate,
    RoughDeterminacy,
    RoughSensitivity,
    SelfStress,
    SlidingCollapse,
    certify,
    determinacy,
    least_friction,
    load_factor,
    self_stress,
    sensitivity,
    sliding_load_factor,
)
from ..equilibrium.rows import checked_friction
from ..errors import InputError, nearest
from ..kinematics import framed, gap_gradient, tangential_gradient
from ..scenes.checks import warn_of_unused_springs
from ..scenes.load import as_scene
from ..scenes.scene import Scene
from ..simulation import Simulation
from ..step import StepResult
from ..step.force_network import ForceNetwork
from ..step.friction import sliding_direction


@dataclass(frozen=True, repr=False)
class Statics(Brief):
    """Closed contacts of a pose: made by ``rigidlimit.statics``. m contacts of d components, n
    bodies.

    Attributes
    ----------
    name : str
        Of the scene or step.
    bodies : Bodies
    state : State
    contacts : Contacts
    B : (m, 6 n) sparse
        Gap gradient.
    T : ((d-1) m, 6 n) sparse
        Rows of the tangential motion.
    load : (6 n,) ndarray [N, N m]
        What the contacts must deliver, F~; at rest minus the external force.
    friction : (m,) ndarray
        mu.
    gravity : float [m/s^2] or None
        Its size. This and what follows is None of a step, which has its own forces.
    stiffness, tangential_stiffness : (m,) ndarray or None
    exponent : float or None
        Of the elastic law.
    slide : (m, d-1) ndarray or None
        Direction of the tangential force of contacts that slide in a step, zero elsewhere.
    scene : Scene or None
        Where they are of.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> tower = rl.statics(rl.scenes.tower(2))
    >>> tower.message
    'tower: 4 closed contacts of 2 bodies that may move'
    >>> tower.forces().force.round(1)  # N: two corners a joint
    array([2943. , 2943. , 1471.5, 1471.5])
    """

    name: str
    bodies: Bodies
    state: State
    contacts: Contacts
    B: object
    T: object
    load: np.ndarray
    friction: np.ndarray
    gravity: float | None = None
    stiffness: np.ndarray | None = None
    tangential_stiffness: np.ndarray | None = None
    exponent: float | None = None
    slide: np.ndarray | None = None
    scene: Scene | None = None

    @property
    def message(self) -> str:
        free = int(self.bodies.free.any(axis=1).sum())
        return (
            f"{self.name}: {counted(len(self.contacts), 'closed contact')} of "
            f"{counted(free, 'body')} that may move"
        )

    @property
    def network(self) -> ForceNetwork:
        """What plots show: the bodies, without forces."""
        return ForceNetwork(
            bodies=self.bodies,
            position=self.state.position,
            quaternion=rotations.normalized(self.state.quaternion),
            contacts=self.contacts,
            forces={"none": np.zeros(len(self.contacts))},
            gravity=np.zeros(3),
            name=self.name,
        )

    def with_friction(self, friction: ArrayLike) -> "Statics":
        """The same contacts with another friction.

        Parameters
        ----------
        friction : float or (m,)
            mu >= 0.
        """
        mu = checked_friction(friction, len(self.contacts))
        return replace(self, friction=mu)

    def determinacy(self, force: ArrayLike | None = None, **options) -> RoughDeterminacy:
        """Degree of indeterminacy and intervals; contacts that slide in a step are known to slide.

        Parameters
        ----------
        force : (m, d) [N], optional
            Forces, normal first, that are placed in the set of admissible ones.
        **options
            Of ``rigidlimit.determinacy``.

        Raises
        ------
        InputError
            Where no forces in the friction cones balance the load.
        """
        known = dict(load=self.load, force=force, sliding_direction=self.slide)
        return determinacy(blocks=self.bodies.blocks, **self._rows, **known | options)

    def certify(self, force: ArrayLike, **options) -> RoughCertificate:
        """A verdict on forces: balance, cones, and whether elastic bodies would press so.

        Parameters
        ----------
        force : (m, d) [N]
            Normal first.
        **options
            Of ``rigidlimit.certify``.
        """
        return certify(load=self.load, force=force, **self._rows, **self._law, **options)

    def sensitivity(self, **options) -> RoughSensitivity:
        """Derivatives of the forces of elastic bodies.

        Parameters
        ----------
        **options
            Of ``rigidlimit.sensitivity``.
        """
        return sensitivity(load=self.load, **self._rows, **self._law, **options)

    def least_friction(self, **options) -> LeastFriction:
        """The least friction with which forces balance the load, the same at all contacts but those
        without any.

        Parameters
        ----------
        **options
            Of ``rigidlimit.least_friction``, as seconds.
        """
        self._check_all_touch()
        rough = np.where(self.friction > 0.0, 1.0, 0.0)
        return least_friction(load=self.load, **self._rows | {"friction": rough}, **options)

    def self_stress(self) -> SelfStress:
        """Whether the contacts can hold a squeeze without load."""
        return self_stress(**self._rows)

    def load_factor(self, push: ArrayLike | None = None, *, loads: dict | None = None) -> Collapse:
        """How far a load may grow, and the mechanism at collapse.

        Parameters
        ----------
        push : (dim,), optional
            Direction in which all bodies are pushed by their weight times the factor, as by an
            earthquake or a tilted floor. The default is along +x.
        loads : {name: (dim,)} [N], optional
            Forces on bodies, at their centres, that grow instead. ``{name: (force, point)}`` with
            two (dim,) acts at a point [m].

        Raises
        ------
        InputError
            For unknown bodies, or a push that is zero.
        """
        self._check_all_touch()
        return load_factor(load=self.load, growing=-self.growing(push, loads), **self._rows)

    def sliding_load_factor(
        self,
        push: ArrayLike | None = None,
        *,
        loads: dict | None = None,
        seconds: float | None = None,
        upper: Collapse | None = None,
    ) -> SlidingCollapse:
        """A low factor at which structures of Coulomb's law, which slide without opening, may
        collapse; ``load_factor`` is the highest that any law of friction allows.

        Parameters
        ----------
        push, loads
            As for ``load_factor``.
        seconds : float [s], optional
            Elapsed time after which programs end.
        upper : Collapse, optional
            What ``load_factor`` gave for the same load, which is not sought again then.

        Raises
        ------
        InputError
            As ``load_factor``.
        """
        self._check_all_touch()
        grows = -self.growing(push, loads)
        return sliding_load_factor(
            load=self.load, growing=grows, seconds=seconds, upper=upper, **self._rows
        )

    def growing(self, push: ArrayLike | None = None, loads: dict | None = None) -> np.ndarray:
        """External force (6 n,) [N, N m] that ``load_factor`` lets grow.

        Parameters
        ----------
        push, loads
            As for ``load_factor``.
        """
        dim, bodies = self.bodies.dim, self.bodies
        force = np.zeros((len(bodies), 6))
        if loads is None:
            push = (1.0,) + (0.0,) * (dim - 1) if push is None else push
            way = arrays.vector("push", push, dim, what="axis of the scene")
            if not way.any():
                raise InputError("push is zero; expected the direction in which bodies are pushed")
            if not self.gravity:
                raise InputError(
                    f"{self.name} has no gravity to push with; expected loads={{name: force}}"
                )
            moves = bodies.free.any(axis=1)
            weight = np.where(moves, bodies.mass, 0.0) * self.gravity
            force[:, :dim] = weight[:, None] * way / np.linalg.norm(way)
        elif push is not None:
            raise InputError("push and loads are both given; expected one of the two")
        else:
            for name, value in loads.items():
                self._add(force, name, value)
        return np.where(bodies.free, force, 0.0).ravel()

    def _check_all_touch(self) -> None:
        """InputError for loaded bodies without contacts, which nothing carries."""
        loaded = (self.load.reshape(len(self.bodies), 6) * self.bodies.free).any(axis=1)
        loaded[self.contacts.body[self.contacts.body < len(self.bodies)]] = False
        alone = np.flatnonzero(loaded)
        if len(alone):
            first = ", ".join(repr(self.bodies.names[k]) for k in alone[:3])
            raise InputError(
                f"{self.name}: nothing carries {counted(len(alone), 'body')} without closed "
                f"contacts, first {first}; expected bodies that touch (a larger closed= takes in "
                "wider gaps), or fixed ones"
            )

    def forces(self, **options) -> RoughForces:
        """Forces of stiff elastic bodies, loaded slowly from nothing.

        Parameters
        ----------
        **options
            Of ``rigidlimit.compatible_forces``.
        """
        if self.scene is not None and "history" not in options:
            warn_of_unused_springs(self.scene, "statics")
        return compatible_forces(load=self.load, **self._rows, **self._law, **options)

    def joints(self, force: ArrayLike) -> Joints:
        """Resultants of contact forces, from body to body.

        Parameters
        ----------
        force : (m, d) [N]
            Normal first.
        """
        return joints_of(self.contacts, self.friction, force, self.bodies.dim)

    @property
    def _rows(self) -> dict:
        return dict(
            B=self.B, tangential=self.T, friction=self.friction, fixed=~self.bodies.free.ravel()
        )

    @property
    def _law(self) -> dict:
        if self.exponent is None:
            raise InputError(
                f"{self.name} does not know its elastic law; expected the statics of a scene (the "
                "step has its forces: force_vectors)"
            )
        return dict(
            stiffness=self.stiffness,
            exponent=self.exponent,
            tangential_stiffness=self.tangential_stiffness,
        )

    def _add(self, force, name, value) -> None:
        names, dim = list(self.bodies.names), self.bodies.dim
        if name not in names:
            raise InputError(f"there is no body {name!r}; {nearest(str(name), names)}")
        i = names.index(name)
        at = self.state.position[i, :dim]
        if len(value) == 2 and np.ndim(value[0]) == 1:
            value, at = value
        push, arm = np.zeros(3), np.zeros(3)
        push[:dim] = arrays.vector(f"force on {name}", value, dim, what="axis of the scene")
        arm[:dim] = (
            arrays.vector(f"point on {name}", at, dim, what="axis") - (self.state.position[i, :dim])
        )
        force[i, :3] += push
        force[i, 3:] += np.cross(arm, push)


CLOSED = 1e-6
"""Largest gap over the scene's length at which a contact of a pose counts as closed."""


def statics(
    source: Scene | Simulation | StepResult | str | Path, *, closed: float = CLOSED
) -> Statics:
    """The closed contacts of a pose, for questions of statics.

    Parameters
    ----------
    source
        A ``Scene``, the name of one in the gallery or a TOML file, as it begins; a ``Simulation``
        as it stands; or a ``StepResult``, with the contacts and the load of its step.
    closed : float
        Largest gap over the scene's length at which a contact of a pose may carry force.

    Raises
    ------
    InputError
        Where no bodies touch, and for a step without friction.
    SceneError
        For a name or file that is no scene.

    Examples
    --------
    >>> import rigidlimit
    >>> arch = rigidlimit.statics("arch")
    >>> round(arch.load_factor().factor, 4), round(arch.least_friction().factor, 4)
    (0.1483, 0.3505)
    """
    if isinstance(source, StepResult):
        return _of_step(source)
    simulation = source if isinstance(source, Simulation) else None
    scene = as_scene(source) if simulation is None else simulation.scene
    bodies = scene.bodies
    state = scene.state if simulation is None else simulation.state
    external = scene.external_force() if simulation is None else simulation.external_force
    reach = arrays.positive("closed", closed) * bodies.length
    around = np.where(np.isfinite(bodies.bounding_radius), reach, 0.0)
    contacts = find_contacts(bodies, state, around)
    moves = bodies.free.any(axis=1)[contacts.body].any(axis=1)
    contacts = contacts.select(np.flatnonzero(moves & (contacts.gap <= reach)))
    if not len(contacts):
        raise InputError(
            f"scene {scene.name!r}: no bodies touch; expected a pose of rest, with bodies whose "
            f"gaps are at most {reach:.1e} m (closed= takes in wider ones)"
        )
    return of_contacts(scene, contacts, state=state, external=external)


def of_contacts(
    scene: Scene,
    contacts: Contacts,
    *,
    state: State | None = None,
    external: np.ndarray | None = None,
) -> Statics:
    """The statics of contacts that are known, as from another program.

    scene: their ``Scene``; state, external (6 n,) [N, N m]: pose and external forces, the scene's
    by default.
    """
    bodies = scene.bodies
    state = scene.state if state is None else state
    external = scene.external_force() if external is None else external
    contacts = framed(contacts, bodies.dim)
    stiffness = contact_stiffness(bodies, contacts, scene.exponent, scene.pair_stiffness)
    return Statics(
        name=scene.name,
        bodies=bodies,
        state=state,
        contacts=contacts,
        B=gap_gradient(bodies, state, contacts),
        T=tangential_gradient(bodies, state, contacts),
        load=np.where(bodies.free.ravel(), -external, 0.0),
        friction=contact_friction(bodies, contacts, scene.pair_friction),
        gravity=float(np.linalg.norm(scene.gravity)),
        stiffness=stiffness,
        tangential_stiffness=contact_tangential_stiffness(
            bodies, contacts, stiffness, scene.exponent, scene.pair_tangential_stiffness
        ),
        exponent=scene.exponent,
        scene=scene,
    )


def _of_step(step: StepResult) -> Statics:
    if step.bodies is None or step.T is None:
        raise InputError(
            "the step has no rough contacts; expected one of a scene whose materials have friction "
            "(smooth ones: rigidlimit.determinacy(*result.balance))"
        )
    chosen = np.flatnonzero(step.closed)
    d = step.bodies.dim
    rows = ((d - 1) * chosen[:, None] + np.arange(d - 1)).ravel()
    slide = sliding_direction(step)[chosen]
    return Statics(
        name=f"step at t = {step.time:.6g} s",
        bodies=step.bodies,
        state=step.state,
        contacts=step.contacts.select(chosen),
        B=submatrix(step.B, rows=chosen),
        T=submatrix(step.T, rows=rows),
        load=step.load,
        friction=step.friction[chosen],
        slide=slide if slide.any() else None,
    )
