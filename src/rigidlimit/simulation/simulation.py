"""A scene in motion: repeats the step of ``step/`` and hands on the warm start."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .._support import arrays
from .._support.progress import Pace
from .._support.progress import progress as bar
from .._support.warned import warn
from .._support.words import counted
from ..bodies import State
from ..collision.contacts import Contacts
from ..compatibility import ContactHistory
from ..compatibility.friction import has_friction
from ..dynamics.driver import check_solver
from ..errors import InputError, SceneError, SceneWarning
from ..increments import IncrementSettings
from ..kinematics import in_world
from ..scenes.checks import law_exponent
from ..scenes.load import as_scene
from ..scenes.scene import Scene
from ..status import Status
from ..step import StepResult, StepSettings, WarmStart, increment, step, with_compatible
from ..step.apart import moved_apart, near_contacts
from ..step.force_network import ForceNetwork
from ..step.friction import Memory, remembered
from ..step.warnings import driven_into_a_jam, long_way, overlap_at_the_start, overlaps_make_forces
from . import checkpoint
from .at_rest import STILL, largest_speed, same_state, stand_still
from .changes import Changes
from .options import rebound, relative, scene_friction, steps_between, time_step


class Simulation(Changes):
    """Rigid bodies moving under contact dynamics, with compatible forces.

    Parameters
    ----------
    scene : Scene, str or Path
        A ``Scene``, the name of one in the gallery, or a TOML file.
    dt : float [s], optional
        The scene's by default.
    solver : {"newton", "pgs", "apgd"}
        Of step 1.
    solver_options : dict, optional
        Of the solver; of rough bodies "newton" has those of ``IncrementSettings``: overlap,
        accuracy and the budget of a step.
    compatible : {"every", "never"}
        Whether steps compute compatible forces; ``step(compatible=True)`` computes one.
    law : {"hooke", "hertz"} or float, optional
        Or the exponent p; the scene's by default.
    restitution : float, optional
        e_n; the scene's by default.
    tolerance : float
        Of both steps.
    closed : float, optional
        Largest gap at the end of a step, over the scene's reference length, at which a contact may
        carry compatible forces; smaller than the gaps between bodies that do not touch, larger
        than what is known of the geometry; by default 1e-6, and less the more neighbours come near
        without touching.
    warm_start : bool
        Whether a step starts from the forces of the one before.
    tangential_law : {"mindlin", "mindlin/force"}, optional
        Of Hertzian contacts that rub, as in LAMMPS; the scene's by default.
    increments : int, optional
        Of what rough contacts remember within a step, whose error falls in proportion; the scene's
        by default.

    Attributes
    ----------
    state : State
        Poses and velocities at present.
    time : float [s]
    dt : float [s]
    steps : int
        Made so far.
    last : StepResult or None
        The last step.
    bodies : Bodies
    external_force : (6 n,) ndarray [N, N m]
        Gravity and loads.

    Raises
    ------
    SceneError
        For a name or file that is no scene, and a scene in which nothing can move.
    InputError
        For a value out of range, and options that the solver does not have.

    Examples
    --------
    >>> import rigidlimit
    >>> sim = rigidlimit.Simulation(rigidlimit.scenes.beam(), dt=1e-3)
    >>> sim.step().force.round(6)
    array([3.333333, 3.333333, 3.333333])
    """

    def __init__(
        self,
        scene: Scene | str | Path,
        *,
        dt: float | None = None,
        solver: str = "newton",
        solver_options: dict[str, Any] | None = None,
        compatible: str = "every",
        law: str | float | None = None,
        restitution: float | None = None,
        tolerance: float = 1e-10,
        closed: float | None = None,
        warm_start: bool = True,
        tangential_law: str | None = None,
        increments: int | None = None,
    ):
        scene = as_scene(scene)
        if compatible not in ("every", "never"):
            raise InputError(f"compatible is {compatible!r}; expected 'every' or 'never'")
        rough = has_friction(scene.bodies, scene.pair_friction)
        elastic = rough and solver == "newton"
        increment = IncrementSettings.of(solver_options if elastic else None)
        if elastic:
            solver_options = None
        check_solver(solver, solver_options or {}, rough=rough)
        self.settings = StepSettings(
            dt=time_step(scene.dt if dt is None else dt),
            exponent=scene.exponent if law is None else law_exponent(law),
            pair_stiffness=scene.pair_stiffness,
            restitution=rebound(scene.restitution if restitution is None else restitution),
            solver=solver,
            solver_options=solver_options,
            tolerance=relative(tolerance),
            closed=None if closed is None else arrays.positive("closed", closed),
            friction=scene_friction(scene, tangential_law, increments),
            increment=increment,
        )
        self.scene = scene
        self.bodies = scene.bodies
        if not self.bodies.free.any():
            raise SceneError(
                f"scene {scene.name!r}: every body is fixed; expected one at least that can move "
                "(of an imported model, what hangs on joints of the world is held: "
                "read_packing(...).left_out names it)"
            )
        self.state = scene.state
        self.external_force = scene.external_force()
        self.gravity = scene.gravity
        self.compatible: str = compatible
        self.warm_start: bool = warm_start
        self.steps: int = 0
        self.last: StepResult | None = None
        self._pushed = self.external_force
        self._warned, self._jammed = False, False  # each warning is given once
        self._warm: WarmStart | None = None
        if self.rough:
            self._begin(scene)

    def _begin(self, scene: Scene) -> None:
        """With what the contacts of the scene remember, or the springs that were read with it."""
        if scene.memory is not None:
            self._warm = checkpoint.remembering(scene.memory, len(self.bodies))
        elif scene.springs is not None:
            begun = scene.springs.begin(scene)
            if not begun.converged:
                warn(
                    f"scene {scene.name!r}: the simulation begins with forces of its springs that "
                    f"are not balanced: {begun.message}",
                    SceneWarning,
                )
            self.start_from(self.state, begun.contacts, begun.force, history=begun.history)

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
        """Advance by dt.

        Parameters
        ----------
        compatible : bool, optional
            Whether this step finds compatible forces; None: as the simulation's ``compatible``
            says.

        Returns
        -------
        StepResult
            Contacts and forces of the step. A SceneWarning is given once for a body that goes by
            many diameters of others in a step, and once for bodies that are driven into others that
            have no room to give way.
        """
        wanted = self.compatible == "every" if compatible is None else compatible
        self._load_cell()
        if self._unknown and increment.applies(self.settings, self.bodies):
            self._move_apart()
        result = step(
            self.bodies,
            self.state,
            self.external_force,
            self.settings,
            self._warm if self.warm_start else None,
            wanted,
            self._watch,
        )
        self._warm = WarmStart(
            result.contacts, result.classic.force, self._displacement(result), remembered(result)
        )
        # of the step before as well, where there was one
        before = () if self.last is None else self._velocities
        speed = largest_speed(self.bodies, (self.state.velocity, *before))
        overlapping = overlaps_make_forces(self.bodies, result, self.external_force, speed)
        if self.steps == 0:
            self._warn(overlapping)
        self._velocities = (self.state.velocity, result.state.velocity)
        self._pushed = self.external_force.copy()
        if not self._jammed and (text := driven_into_a_jam(self.bodies, result)):
            self._jammed = True
            warn(text, SceneWarning)
        scene = self.scene
        result = replace(
            result,
            begun=scene.state,
            gravity=scene.gravity,
            name=scene.name,
            overlapping=overlapping,
        )
        self.state = result.state
        self.steps += 1
        self.last = result
        return result

    @property
    def _unknown(self) -> bool:
        """Whether nothing is known of overlaps: the scene begins, without remembered forces."""
        return self.steps == 0 and self.memory is None

    def _move_apart(self) -> None:
        """Rough bodies that overlap where the scene begins, with a warning."""
        contacts = near_contacts(self.bodies, self.state)
        self.state, left = moved_apart(self.bodies, self.state, self.settings, contacts)
        self._warn(overlap_at_the_start(self.bodies, contacts, self.dt, left))

    def _watch(self, contacts: Contacts, way: np.ndarray) -> None:
        """Warns of contacts before they are solved. way (n,) [m]: of each body in the step."""
        if self._warned:
            return
        text = ""
        if self._unknown:  # overlaps of remembered forces stay
            text = overlap_at_the_start(self.bodies, contacts, self.dt)
        # what such an overlap throws about goes far for no other reason
        self._warn(text or long_way(self.bodies, contacts, way, self.dt))

    def _warn(self, text: str) -> None:
        """Warns of a pose or of a time step, once."""
        if text and not self._warned:
            self._warned = True
            warn(text, SceneWarning)

    def _displacement(self, result: StepResult) -> np.ndarray:
        """Displacement (6 n,) from which step 2 starts in the next step."""
        if result.compatible is not None:
            return result.compatible.displacement
        return np.zeros(6 * len(self.bodies)) if self._warm is None else self._warm.displacement

    def run(
        self,
        until: float,
        *,
        callback: Callable[["Simulation", StepResult], object] | None = None,
        progress: bool = False,
    ) -> StepResult:
        """Step until a time.

        Parameters
        ----------
        until : float [s]
            Time of the end.
        callback : callable, optional
            Called as callback(simulation, result) after each step; a true value that it returns
            stops.
        progress : bool
            Show a bar on the terminal or in the notebook.

        Returns
        -------
        StepResult
            The last step, with compatible forces in any case. A SceneWarning says after the first
            seconds if the end is more than a day away at this pace.
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
        """A step with compatible forces, also if they were not computed on the way."""
        if result.compatible is not None:
            return result
        done = with_compatible(result, self.settings, self._warm if self.warm_start else None)
        if self.last is result:
            self.last = done
            displacement = done.compatible.displacement
            self._warm = replace(self._warm, displacement=displacement, memory=remembered(done))
        return done

    @property
    def network(self) -> ForceNetwork:
        """What plots, measures and export show: forces of the last step."""
        if self.last is None:
            raise InputError("this simulation has made no step yet; call step() or run() first")
        return self.last.network

    @property
    def at_rest(self) -> bool:
        """Whether the last step balanced all forces without a motion: it ``stands_still``, and its
        forces are solved. In a jam, where bodies overlap and have no room to part, all stands still
        and nothing is at rest: no contact forces balance (status "jammed").

        Bodies without friction that slide or spin forever are not at rest: ``settle`` stops them.
        """
        if not self.stands_still:
            return False
        solved = self.last.classic
        # a residual due to rounding counts as little as a speed
        return solved.converged or (solved.status is not Status.JAMMED and solved.residual <= STILL)

    @property
    def stands_still(self) -> bool:
        """Whether every speed before and after the last step is below a millionth of the speed
        gained in a free fall of one step, and every change of momentum below a millionth of the
        largest load of a body; forces of a converged step then differ from static ones as little.

        Turning counts by the speed of a body's farthest point; the spin of balls moves nothing.
        After a change of load, gravity or velocity a step is needed: False until then.
        """
        if self.last is None or self._set_since():
            return False
        return stand_still(self.bodies, self._velocities, self.external_force, self.dt)

    def _set_since(self) -> bool:
        """Whether loads, velocities or poses are others than those of the last step."""
        same = same_state(self.state, self.last.state)
        return not (same and np.array_equal(self.external_force, self._pushed))

    def start_from(
        self,
        state: State,
        contacts: Contacts,
        force: np.ndarray,
        *,
        history: ContactHistory | None = None,
    ) -> None:
        """Continue from a state, the solvers from known forces.

        Parameters
        ----------
        state : State
            Positions and velocities.
        contacts : Contacts
            Where the forces act.
        force : (m,) [N]
            Normal forces of these contacts.
        history : ContactHistory, optional
            What these contacts remember where they rub, as of the result of a DEM, of LAMMPS or of
            ``forces_at_pose``, along ``contacts.tangents``. Without it they remember nothing.
        """
        if not isinstance(state, State) or not isinstance(contacts, Contacts):
            raise InputError(
                f"start_from got {arrays.short(state)} and {arrays.short(contacts)}; expected a "
                "State and the Contacts of a step or of the DEM"
            )
        if state.velocity.shape != self.state.velocity.shape:
            raise InputError(
                f"the state is of {counted(len(state.velocity), 'body')}; expected "
                f"{len(self.bodies)}, those of the simulation"
            )
        force, memory = arrays.vector("force", force, len(contacts), what="contact"), None
        self.state, self.last = state, None
        if history is not None:
            rub = in_world(contacts, history.tangential)
            # from forces in the stiff limit, as of a step that ended there
            stiffest = self.settings.increment.stiffest
            pressing = np.maximum(force, 0.0)
            memory = Memory(contacts, pressing, rub, history.normal, rub, stiffest)
        self._warm = WarmStart(contacts, force, np.zeros(6 * len(self.bodies)), memory)

    def checkpoint(self) -> dict[str, np.ndarray]:
        """Everything that the next steps depend on, as arrays; ``restore`` takes it back.

        That includes loads that were set since the beginning, as ``external_force``, and
        ``gravity`` where that was.
        """
        return checkpoint.saved_arrays(self, self._warm)

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """Continue exactly from ``checkpoint()``.

        Parameters
        ----------
        saved : dict of arrays
            What ``checkpoint`` returned, in this process or from a file.
        """
        checkpoint.check(self, saved)
        checkpoint.put_back(self, saved)
        self.last, self._warm = None, checkpoint.warm_start(saved)
