"""What may be changed between the steps of a simulation: loads, motions, bodies.

When bodies come or go it keeps the forces of the contacts that stay. These are known by their
bodies and their feature. Where bodies get other numbers, in the same order, keys of the contacts
that stay get others in the same order too.
"""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from ..bodies import Bodies, HalfSpace, Shape, State
from ..collision.contacts import Contacts
from ..errors import InputError, SceneError
from ..scenes.periodic import with_cell
from ..scenes.present import present_scene
from ..scenes.scene import Scene
from ..step import StepResult, StepSettings, WarmStart
from ..step.friction import KEPT, OF_THE_STEP, Memory


class Changes:
    """Loads, gravity, velocities and bodies of a ``Simulation``, to be set between its steps.

    external_force (6 n,) [N, N m], gravity (3,) [m/s^2]: of the next step. last: the last step.
    """

    scene: Scene
    bodies: Bodies
    state: State
    settings: StepSettings
    external_force: np.ndarray
    gravity: np.ndarray
    last: StepResult | None
    _pushed: np.ndarray
    _warm: WarmStart | None

    def set_load(self, body: int | str, load: ArrayLike) -> None:
        """Put another load on a body, from the next step on; weight comes on top as before.

        Parameters
        ----------
        body : int or str
            Index or name.
        load
            As in ``Scene.add``; it replaces what the body had.
        """
        i = self.scene.index(body)
        if isinstance(self.bodies.shape(i), HalfSpace) and not self.bodies.free[i].any():
            raise InputError(
                f"body {self.bodies.names[i]!r} is a half-space without a mass, which is fixed and "
                "takes no load; give it a mass in the scene"
            )
        force = self.scene.load_of(load)
        force[:3] += self.bodies.mass[i] * self.gravity
        self.external_force[6 * i : 6 * i + 6] = force

    def set_cell(self, *, stress: ArrayLike | None = None, rate: ArrayLike | None = None) -> None:
        """Prescribe other stresses and rates of strain of the periodic cell, from the next step on.

        Parameters
        ----------
        stress, rate
            As of ``Cell``; what neither is given for is held as it is.
        """
        if self.bodies.cell is None:
            raise InputError(f"scene {self.scene.name!r} has no periodic cell; expected one")
        cell = self.bodies.cell.changed(stress=stress, rate=rate)
        self.bodies = with_cell(self.bodies, cell)
        velocity = self.state.velocity.copy()
        prescribed = cell.row(self.bodies.cell_length)
        velocity[-1] = np.where(cell.free, velocity[-1], prescribed)
        self.state = self.state.moved(velocity=velocity)
        self._load_cell()

    def _load_cell(self) -> None:
        """What the prescribed stress pushes with, at the present volume of the cell."""
        cell = self.bodies.cell
        if cell is None:
            return
        push = cell.force(self.state.cell, self.bodies.cell_length)
        if not np.array_equal(push, self.external_force[-6:]):
            self.external_force = np.concatenate([self.external_force[:-6], push])

    def set_gravity(self, gravity: ArrayLike) -> None:
        """Turn gravity from the next step on: a table that tilts, a wall shaken sideways. Loads
        stay as they are.

        Parameters
        ----------
        gravity : (dim,) [m/s^2]
        """
        new = self.scene.gravity_of(gravity)
        weight = self.bodies.mass[:, None] * (new - self.gravity)
        if self.bodies.cell is not None:
            weight[-1] = 0.0
        self.external_force.reshape(-1, 6)[:, :3] += weight
        self.gravity = new

    def set_velocity(
        self, body: int | str, velocity: ArrayLike, angular_velocity: ArrayLike | None = None
    ) -> None:
        """Give a body another velocity from the next step on: a driven wall its next stroke.

        Parameters
        ----------
        body : int or str
            Index or name.
        velocity : (dim,) [m/s]
        angular_velocity : float in the plane, (3,) in space [rad/s], optional
            None: it turns as before.
        """
        i = self.scene.index(body)
        new = self.state.velocity.copy()
        new[i] = self.scene.velocity_of(velocity, angular_velocity, new[i])
        self.state = self.state.moved(velocity=new)

    @property
    def memory(self) -> Memory | None:
        """What rough contacts remember from the last step; None before it, and of smooth bodies."""
        return None if self._warm is None else self._warm.memory

    def scene_now(self) -> Scene:
        """The scene as it stands: present places, velocities, loads, gravity and cell, and what
        rough contacts remember."""
        scene = present_scene(
            self.scene, self.bodies, self.state, self.external_force, self.gravity
        )
        scene.memory = self.memory
        return scene

    def add(self, shape: Shape, *, position: ArrayLike, name: str | None = None, **given) -> int:
        """Add a body from the next step on, as by ``Scene.add``; returns its index.

        Contacts of the others keep their forces and what they remember. ``scene`` becomes another
        one, of the present.

        Parameters
        ----------
        shape : Shape
        position : (dim,) [m]
        name : str, optional
            By default a number that no body has.
        **given
            Further arguments of ``Scene.add``.
        """
        scene = self.scene_now()
        index = scene.add(shape, position=position, name=name or _free_names(scene, 1)[0], **given)
        self._go_on(scene, np.arange(index))
        return index

    def add_many(
        self,
        shape: Shape | Iterable[Shape],
        positions: ArrayLike,
        *,
        names: list[str] | None = None,
        **given,
    ) -> list[int]:
        """Add bodies from the next step on, as by ``Scene.add_many``; else as ``add``.

        Parameters
        ----------
        shape : Shape, or one for each body
        positions : (k, dim) [m]
        names : sequence of str, optional
        **given
            Further arguments of ``Scene.add_many``.
        """
        scene = self.scene_now()
        names = _free_names(scene, len(positions)) if names is None else names
        indices = scene.add_many(shape, positions, names=names, **given)
        self._go_on(scene, np.arange(len(self.scene)))
        return indices

    def remove(self, bodies: Iterable[int | str]) -> None:
        """Take bodies out from the next step on.

        Those behind them move up: indices change, names do not. Else as ``add``.

        Parameters
        ----------
        bodies : sequence of int or str
            Indices or names.
        """
        several = isinstance(bodies, Iterable) and not isinstance(bodies, str)
        gone = [self.scene.index(body) for body in (bodies if several else [bodies])]
        left = np.setdiff1d(np.arange(len(self.scene)), gone)
        if not self.bodies.free[left].any():
            raise SceneError("remove: no body that can move would be left; expected one at least")
        scene = present_scene(
            self.scene, self.bodies, self.state, self.external_force, self.gravity, left
        )
        self._go_on(scene, left)

    def _go_on(self, scene: Scene, left: np.ndarray) -> None:
        """Go on with a scene whose first bodies are those of the present one with indices ``left``
        (k,), ascending, in the same state, and others behind them."""
        before = np.full(len(scene.bodies), -1)
        before[: len(left)] = left
        if scene.cell is not None:
            before[-1] = len(self.scene)
        state, force = scene.state, scene.external_force().reshape(-1, 6)
        kept = before >= 0
        # kept values are exactly the same
        force[kept] = self.external_force.reshape(-1, 6)[before[kept]]
        velocity = state.velocity.copy()
        velocity[kept] = self.state.velocity[before[kept]]
        self._warm = renumbered_warm_start(self._warm, before, len(scene.bodies))
        self.scene, self.bodies, self.last = scene, scene.bodies, None
        self.state = state.moved(velocity=velocity, time=self.state.time)
        self.external_force, self._pushed = force.ravel(), force.ravel()
        rubs = replace(
            self.settings.friction,
            pair_friction=scene.pair_friction,
            pair_ratio=scene.pair_tangential_stiffness,
        )
        self.settings = replace(self.settings, pair_stiffness=scene.pair_stiffness, friction=rubs)


def _free_names(scene: Scene, count: int) -> list[str]:
    """Numbers that no body has for a name."""
    names, taken = [], set(scene.bodies.names)
    number = len(scene)
    while len(names) < count:
        if str(number) not in taken:
            names.append(str(number))
        number += 1
    return names


def renumbered_warm_start(
    warm: WarmStart | None, before: np.ndarray, count: int
) -> WarmStart | None:
    """The warm start of ``count`` bodies, of which row i was row before[i] (count,), -1 for new
    ones; those that are left stand in their old order."""
    if warm is None:
        return None
    number = np.full(warm.contacts.bodies, -1)
    kept = np.flatnonzero(before >= 0)
    number[before[kept]] = kept
    stay = np.flatnonzero((number[warm.contacts.body] >= 0).all(axis=1))
    displacement = np.zeros((count, 6))
    displacement[kept] = warm.displacement.reshape(-1, 6)[before[kept]]
    memory = warm.memory
    if memory is not None:
        own = np.flatnonzero((number[memory.contacts.body] >= 0).all(axis=1))
        memory = Memory(
            _renumbered(memory.contacts, own, number, count),
            **{name: getattr(memory, name)[own] for name in KEPT},
            **{name: getattr(memory, name) for name in OF_THE_STEP},
        )
    contacts = _renumbered(warm.contacts, stay, number, count)
    return WarmStart(contacts, warm.force[stay], displacement.ravel(), memory)


def _renumbered(contacts: Contacts, which: np.ndarray, number: np.ndarray, count: int) -> Contacts:
    chosen = contacts.select(which)
    return replace(chosen, body=number[chosen.body], bodies=count)
