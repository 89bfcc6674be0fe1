"""A scene in motion: repeats the step of ``step.py`` and carries the warm start."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from ._support import arrays
from ._support.progress import Pace
from ._support.progress import progress as bar
from ._support.warned import warn
from ._support.words import counted
from .batches import carried_warm_start
from .bodies import HalfSpace, Shape, State
from .bodies.materials import TANGENTIAL_LAWS
from .collision.contacts import Contacts
from .constraints import in_world
from .doubtful import (
    driven_into_a_jam,
    long_way,
    overlap_at_the_start,
    overlaps_make_forces,
)
from .dynamics.driver import check_solver
from .errors import InputError, SceneError, SceneWarning
from .forces import ContactHistory
from .forces.friction import has_friction
from .rough_step import Friction, Memory, remembered, restored, stored
from .scenes.load import as_scene
from .scenes.periodic import with_cell
from .scenes.present import present_scene
from .scenes.scene import Scene, law_exponent
from .status import Status
from .step import StepResult, StepSettings, WarmStart, step, with_compatible

SAVED = ("position", "quaternion", "velocity", "time", "steps")
"""Arrays that every checkpoint has."""

SHORTEST = 1e-150
"""Time step [s] from which on its square is still a number of full precision."""

STILL = 1e-6
"""Part of what a load does in a step that counts as nothing."""


def steps_between(time: float, until: float, dt: float) -> int:
    """Steps of ``dt`` from ``time`` to ``until`` [s]. Raises InputError for steps so short that
    time, a number of 16 digits, would stand still."""
    if dt < np.spacing(until):
        raise InputError(
            f"dt is {dt:g} s, less than the last digit of a time of {until:g} s, which would stand "
            "still; expected a longer step, like 1e-3"
        )
    return int(np.ceil((until - time) / dt - 1e-9))


def _tangential(scene, law: str | None, increments: int | None) -> tuple[str, int]:
    """Tangential law and increments of step 2: those given, else the scene's."""
    law = scene.tangential_law if law is None else law
    increments = scene.increments if increments is None else increments
    if law not in TANGENTIAL_LAWS:
        raise InputError(f"tangential_law is {law!r}; expected {' or '.join(TANGENTIAL_LAWS)}")
    if not (arrays.is_positive(increments) and increments == int(increments)):
        raise InputError(f"increments is {increments!r}; expected a positive integer")
    return law, int(increments)


def _free_names(scene: Scene, count: int) -> list[str]:
    """Numbers that no body has for a name."""
    names, taken = [], set(scene.bodies.names)
    number = len(scene)
    while len(names) < count:
        if str(number) not in taken:
            names.append(str(number))
        number += 1
    return names


class Simulation:
    """Rigid bodies moving under contact dynamics, with compatible forces.

    scene: a ``Scene``, the name of one in the gallery, or a TOML file. dt [s] (default: the
    scene's). solver: "newton", "pgs" or "apgd" for step 1, with ``solver_options``. compatible:
    "every" step or "never"; ``step(compatible=True)`` asks for one. law: "hooke", "hertz" or the
    exponent p (default: the scene's). restitution: e_n (default: the scene's). tolerance: of both
    steps. closed: gap at the end of a step, over the scene's reference length, up to which a
    contact may carry compatible forces; smaller than the gaps between bodies that do not touch,
    larger than what is known of the geometry; by default 1e-6, and less the more neighbours come
    near without touching. warm_start: whether a step starts from the forces of the one before.
    tangential_law: of Hertzian contacts that rub, "mindlin" or "mindlin/force" (as in LAMMPS);
    increments: of what rough contacts remember within a step, whose error falls in proportion
    (defaults: the scene's).

    >>> import rigidlimit
    >>> sim = rigidlimit.Simulation(rigidlimit.scenes.beam(), dt=1e-3)
    >>> sim.step().force.round(6)
    array([3.333333, 3.333333, 3.333333])
    """

    def __init__(
        self,
        scene,
        *,
        dt: float | None = None,
        solver: str = "newton",
        solver_options: dict | None = None,
        compatible: str = "every",
        law=None,
        restitution: float | None = None,
        tolerance: float = 1e-10,
        closed: float | None = None,
        warm_start: bool = True,
        tangential_law: str | None = None,
        increments: int | None = None,
    ):
        scene = as_scene(scene)
        rough = has_friction(scene.bodies, scene.pair_friction)
        check_solver(solver, solver_options or {}, rough=rough)
        restitution = scene.restitution if restitution is None else restitution
        if not 0 <= arrays.number(restitution) <= 1:
            raise InputError(f"restitution is {restitution!r}; expected 0 <= e_n <= 1")
        if compatible not in ("every", "never"):
            raise InputError(f"compatible is {compatible!r}; expected 'every' or 'never'")
        self.scene = scene
        self.bodies = scene.bodies
        dt = arrays.positive("dt", scene.dt if dt is None else dt)
        if dt < SHORTEST:
            raise InputError(
                f"dt is {dt:g} s, whose square is zero to a computer; expected a time step in "
                "seconds, like 1e-3"
            )
        if not self.bodies.free.any():
            raise SceneError(
                f"scene {scene.name!r}: every body is fixed; expected one at least that can move"
            )
        self.state = scene.state
        self.external_force = scene.external_force()
        self.gravity = scene.gravity
        self.compatible = compatible
        self.warm_start = warm_start
        self.settings = StepSettings(
            dt=dt,
            exponent=scene.exponent if law is None else law_exponent(law),
            pair_stiffness=scene.pair_stiffness,
            restitution=restitution,
            solver=solver,
            solver_options=solver_options,
            tolerance=arrays.positive("tolerance", tolerance),
            closed=None if closed is None else arrays.positive("closed", closed),
            friction=Friction(
                scene.pair_friction,
                scene.pair_tangential_stiffness,
                *_tangential(scene, tangential_law, increments),
            ),
        )
        self.steps = 0
        self.last: StepResult | None = None
        self._pushed = self.external_force
        self._hasty, self._jammed = False, False  # told of once
        self._warm: WarmStart | None = None

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self.state.time

    @property
    def dt(self) -> float:
        return self.settings.dt

    @property
    def rough(self) -> bool:
        """Whether any two bodies may rub on each other."""
        return self.settings.friction.acts_on(self.bodies)

    def step(self, *, compatible: bool | None = None) -> StepResult:
        """Advance by dt; returns contacts and forces of the step.

        A SceneWarning tells once of a body that goes by many diameters of others in a step, and
        of bodies that are driven into others that have no room to give way.
        """
        wanted = self.compatible == "every" if compatible is None else compatible

        def watch(contacts, way):
            if self._hasty:
                return
            told = overlap_at_the_start(self.bodies, contacts, self.dt) if self.steps == 0 else ""
            # what such an overlap throws about goes far for no other reason
            told = told or long_way(self.bodies, contacts, way, self.dt)
            if told:
                self._hasty = True
                warn(told, SceneWarning)

        self._load_cell()
        result = step(
            self.bodies,
            self.state,
            self.external_force,
            self.settings,
            self._warm if self.warm_start else None,
            wanted,
            watch,
        )
        if result.compatible is not None:
            displacement = result.compatible.displacement
        else:
            displacement = (
                np.zeros(6 * len(self.bodies)) if self._warm is None else (self._warm.displacement)
            )
        self._warm = WarmStart(
            result.contacts, result.classic.force, displacement, remembered(result)
        )
        # of the step before as well, where there was one
        velocities = [self.state.velocity, *([] if self.last is None else self._velocities)]
        speed = np.max(
            [np.abs(v * self.bodies.turning_arm).max(axis=1) for v in velocities], axis=0
        )
        overlapping = overlaps_make_forces(self.bodies, result, self.external_force, speed)
        if overlapping and self.steps == 0 and not self._hasty:
            self._hasty = True
            warn(overlapping, SceneWarning)
        self._velocities = (self.state.velocity, result.state.velocity)
        self._pushed = self.external_force.copy()
        if not self._jammed and (told := driven_into_a_jam(self.bodies, result)):
            self._jammed = True
            warn(told, SceneWarning)
        result = replace(result, begun=self.scene.state, overlapping=overlapping)
        self.state = result.state
        self.steps += 1
        self.last = result
        return result

    def run(
        self,
        until: float,
        *,
        callback: Callable[["Simulation", StepResult], object] | None = None,
        progress: bool = False,
    ) -> StepResult:
        """Step until time ``until`` [s]; callback(simulation, result) after each, True stops.

        progress: show a bar on the terminal or in the notebook.

        Returns the last step, with compatible forces in any case. A SceneWarning says after the
        first seconds if the end is more than a day away at this pace.
        """
        arrays.positive("until", until)
        steps = steps_between(self.time, until, self.dt)
        if steps <= 0:
            if self.last is None:
                raise InputError(f"until is {until}; expected a time after {self.time}")
            return self._completed(self.last)
        pace = Pace(steps, self.dt)
        with bar(self.scene.name, steps, shown=progress) as update:
            for k in range(steps):
                last = k == steps - 1
                result = self.step(compatible=True if last else None)
                if word := pace.word():
                    warn(word, SceneWarning)
                if progress:
                    update(k + 1, result.summary)
                if callback is not None and callback(self, result):
                    break
        return self._completed(result)

    def _completed(self, result: StepResult) -> StepResult:
        """A step with compatible forces, also if they were not asked for on the way."""
        if result.compatible is not None:
            return result
        done = with_compatible(result, self.settings, self._warm if self.warm_start else None)
        if self.last is result:
            self.last = done
            displacement = done.compatible.displacement
            self._warm = replace(self._warm, displacement=displacement, memory=remembered(done))
        return done

    @property
    def at_rest(self) -> bool:
        """Whether the last step balanced all forces without a motion: it ``stands_still``, and its
        forces are solved. In a jam, where bodies overlap and have no room to part, all stands still
        and nothing is at rest: no contact forces balance (status "jammed").

        Smooth bodies that slide or spin for ever are not at rest: ``settle`` stops them.
        """
        if not self.stands_still:
            return False
        solved = self.last.classic
        # what rounding leaves open of a solve counts as little as a speed
        return solved.converged or (solved.status is not Status.JAMMED and solved.residual <= STILL)

    @property
    def stands_still(self) -> bool:
        """Whether every speed before and after the last step is below a millionth of the speed
        gained in a free fall of one step, and every change of momentum below a millionth of the
        largest load of a body; forces of a converged step then differ from static ones as little.

        Turning counts by the speed of a body's farthest point; the spin of balls moves nothing.
        After another load, gravity or velocity was set it takes a step to tell: False until then.
        """
        if self.last is None or self._set_since():
            return False
        moving = self.bodies.free.any(axis=1)
        mass = np.where(self.bodies.mass > 0, self.bodies.mass, np.inf)[moving]
        force = np.abs(self.external_force.reshape(-1, 6)[moving, :3]).max(axis=1)
        arm = self.bodies.turning_arm[moving]
        speed = np.max([np.abs(v[moving] * arm).max(axis=1) for v in self._velocities], axis=0)
        # a light body under a large load falls fast: what it gains is no measure for the others
        fall, push = (force / mass).max() * self.dt, force.max() * self.dt
        return bool(speed.max() <= STILL * fall and (mass * speed).max() <= STILL * push)

    def _set_since(self) -> bool:
        """Whether loads, velocities or places are others than those of the last step."""
        now, then = self.state, self.last.state
        same = now is then or (
            np.array_equal(now.velocity, then.velocity)
            and np.array_equal(now.position, then.position)
            and np.array_equal(now.quaternion, then.quaternion)
        )
        return not (same and np.array_equal(self.external_force, self._pushed))

    def set_load(self, body: int | str, load: ArrayLike) -> None:
        """Put another load on a body, from the next step on; weight comes on top as before.

        body: its index or name. load: as in ``Scene.add``; it replaces what the body had.
        """
        i = self.scene.index(body)
        if isinstance(self.bodies.shape(i), HalfSpace):
            raise InputError(f"body {self.bodies.names[i]!r} is a half-space and takes no load")
        force = self.scene.load_of(load)
        force[:3] += self.bodies.mass[i] * self.gravity
        self.external_force[6 * i : 6 * i + 6] = force

    def set_cell(self, *, stress: ArrayLike | None = None, rate: ArrayLike | None = None) -> None:
        """Prescribe other stresses and rates of strain of the periodic cell, from the next step on.

        stress, rate: as of ``Cell``; what neither is given for is held as it is.
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
        """Turn gravity, (dim,) [m/s^2], from the next step on: a table that tilts, a wall shaken
        sideways. Loads stay as they are.
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
        """Give a body another velocity [m/s, rad/s], from the next step on: a driven wall its
        next stroke. body: its index or name. Both as in ``Scene.add``; the turn stays if None.
        """
        i = self.scene.index(body)
        new = self.state.velocity.copy()
        new[i] = self.scene.velocity_of(velocity, angular_velocity, new[i])
        self.state = self.state.moved(velocity=new)

    def start_from(
        self,
        state: State,
        contacts: Contacts,
        force: np.ndarray,
        *,
        history: ContactHistory | None = None,
    ) -> None:
        """Go on from ``state``, the solvers from the forces (m,) [N] of ``contacts``.

        history: what these contacts remember where they rub, as of the result of a DEM or of
        LAMMPS, along ``contacts.tangents``. Without it they remember nothing.
        """
        self.state, self.last = state, None
        force, memory = np.asarray(force, float), None
        if history is not None:
            rub = in_world(contacts, history.tangential)
            memory = Memory(contacts, np.maximum(force, 0.0), rub, history.normal, rub)
        self._warm = WarmStart(contacts, force, np.zeros(6 * len(self.bodies)), memory)

    def scene_now(self) -> Scene:
        """The scene as it stands: present places, velocities, loads, gravity and cell."""
        return present_scene(self.scene, self.bodies, self.state, self.external_force, self.gravity)

    def add(self, shape: Shape, *, position: ArrayLike, name: str | None = None, **given) -> int:
        """Add a body from the next step on, as by ``Scene.add``; returns its index.

        Contacts of the others keep their forces and what they remember. ``scene`` becomes another
        one, of the present. A name that is not given is a number that none has.
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
        """Add bodies from the next step on, as by ``Scene.add_many``; else as ``add``."""
        scene = self.scene_now()
        names = _free_names(scene, len(positions)) if names is None else names
        indices = scene.add_many(shape, positions, names=names, **given)
        self._go_on(scene, np.arange(len(self.scene)))
        return indices

    def remove(self, bodies: Iterable[int | str]) -> None:
        """Take bodies out, by name or index, from the next step on.

        Those behind them move up: indices change, names do not. Else as ``add``.
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
        # what is kept is so to the last digit
        force[kept] = self.external_force.reshape(-1, 6)[before[kept]]
        velocity = state.velocity.copy()
        velocity[kept] = self.state.velocity[before[kept]]
        self._warm = carried_warm_start(self._warm, before, len(scene.bodies))
        self.scene, self.bodies, self.last = scene, scene.bodies, None
        self.state = state.moved(velocity=velocity, time=self.state.time)
        self.external_force, self._pushed = force.ravel(), force.ravel()
        rubs = replace(
            self.settings.friction,
            pair_friction=scene.pair_friction,
            pair_ratio=scene.pair_tangential_stiffness,
        )
        self.settings = replace(self.settings, pair_stiffness=scene.pair_stiffness, friction=rubs)

    def checkpoint(self) -> dict[str, np.ndarray]:
        """Everything that the next steps depend on, as arrays; ``restore`` takes it back.

        That includes loads that were set since the beginning, as ``external_force``, and
        ``gravity`` where that was.
        """
        out = {
            "position": self.state.position,
            "quaternion": self.state.quaternion,
            "velocity": self.state.velocity,
            "time": np.array(self.state.time),
            "steps": np.array(self.steps),
        }
        if self.bodies.cell is not None:
            out["cell"] = self.state.cell
            out["cell_stress"] = self.bodies.cell.stress
        if not np.array_equal(self.external_force, self.scene.external_force()):
            out["external_force"] = self.external_force.copy()
        if not np.array_equal(self.gravity, self.scene.gravity):
            out["gravity"] = self.gravity
        if self._warm is not None:
            contacts = self._warm.contacts
            out |= {
                "warm_body": contacts.body,
                "warm_feature": contacts.feature,
                "warm_force": self._warm.force,
                "warm_displacement": self._warm.displacement,
            }
            if self._warm.memory is not None:
                out |= stored(self._warm.memory)
        return out

    def restore(self, saved: dict[str, np.ndarray]) -> None:
        """Continue exactly from ``checkpoint()``."""
        if not isinstance(saved, Mapping):
            raise InputError(
                f"the checkpoint is {arrays.short(saved)}; expected what Simulation.checkpoint() "
                "gave"
            )
        missing = [name for name in SAVED if name not in saved]
        if missing:
            raise InputError(
                f"the checkpoint has no {missing[0]!r}; expected what Simulation.checkpoint() gave"
            )
        bodies = len(saved["position"])
        if bodies != len(self.bodies):
            raise InputError(
                f"the checkpoint is of {counted(bodies, 'body')}; scene {self.scene.name!r} has "
                f"{len(self.bodies)}: expected the checkpoint of this scene"
            )
        self.state = self.state.moved(
            position=np.array(saved["position"]),
            quaternion=np.array(saved["quaternion"]),
            velocity=np.array(saved["velocity"]),
            time=float(saved["time"]),
        )
        if self.bodies.cell is not None and "cell" in saved:
            d = self.bodies.dim
            cell = self.bodies.cell.changed(stress=np.array(saved["cell_stress"])[:d, :d])
            self.bodies = with_cell(self.bodies, cell)
            self.state = self.state.moved(cell=np.array(saved["cell"]))
        self.external_force = np.array(
            saved.get("external_force", self.scene.external_force()), float
        )
        self.gravity = np.array(saved.get("gravity", self.scene.gravity), float)
        self.steps = int(saved["steps"])
        self.last = None
        self._warm = None
        if "warm_force" in saved:
            m = len(saved["warm_force"])
            contacts = Contacts(
                np.array(saved["warm_body"]),
                np.array(saved["warm_feature"]),
                np.zeros((m, 3)),
                np.zeros((m, 3)),
                np.zeros(m),
                np.zeros(m),
                len(self.bodies),
            )
            self._warm = WarmStart(
                contacts,
                np.array(saved["warm_force"]),
                np.array(saved["warm_displacement"]),
                restored(contacts, saved),
            )
