"""Rest of rigid bodies, for scenes that contact dynamics alone does not bring there.

Without friction bodies may slide and spin forever, and a random packing creeps to rest over
thousands of steps, as every contact that opens or closes sets it moving again. ``settle`` ends
such motion: by kinetic damping (all bodies are stopped whenever the kinetic energy no longer
rises), and balls by their pose of locally least potential energy (``least_energy.py``). Neither
can end anywhere but at rest, and contact dynamics has the last word: ``Simulation.at_rest``, from
zero velocities.

Balls are round, so that contacts curve away from each other and the least energy lies in a corner
of the set of poses, with as many active contacts as degrees of freedom. A packing that is
still loose has far to go there, in short steps: contact dynamics brings it near, until contacts
carry the loads and only creeping remains. Bodies at rest are not touched, and a packing
at rest under a changed load continues from its pose and the contact forces of one step, whatever
its size. Shapes that can roll to the bottom of a valley rest elsewhere; damping is used for them.

With friction bodies come to rest by themselves, depending on their history. Contact dynamics takes
them there, or a DEM with friction, stiff enough for overlaps below ``near``, below which contacts
then count as closed. They keep the forces and tangential springs with which they came to rest.

Balls that are poured loosely have no contacts to lose. There a DEM goes first, whose steps are
cheaper: soft at first, then stiffer. It takes no notice of contacts that were there, so that the
state decides, not the number of balls: the DEM is used where contacts carry hardly any force in the
first step, and fewer are near than there are balls to hold. Balls that a stress presses together
are poured as loosely: the cell shrinks about them, and is stretched again by what undoes overlaps
before the least energy is sought.

Only contacts that are closed at rest may carry force. The least energy closes them to 1e-9 of the
scene's length and contact dynamics closes the rest of the way, but in a packing of thousands of
balls others come within a millionth of it, the gap below which contact dynamics counts a contact as
closed by default. One such contact makes a just determinate packing indeterminate, and the
distributed forces are no longer those of the limit: ``settle`` sets ``closed`` instead.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .._support import arrays
from .._support.words import counted
from ..bodies import State
from ..errors import InputError, NoRest
from ..scenes.scene import Scene
from ..simulation import Simulation
from ..status import Status
from ..step.motion import farthest, motion
from .ball_engine import serves
from .kinetic_damping import damp, in_the_way
from .rest_by_energy import LeastEnergyRest
from .rest_checks import (
    SETTINGS,
    carries,
    driven,
    flies_away,
    is_loaded,
    is_loose,
    left_open,
    no_room,
    stands,
    stopped,
    turns_nothing,
)
from .soft_dem import SoftDem
from .squeezed import is_squeezed

STATE, DYNAMICS, DEM = "state", "dynamics", "dem"
"""Who goes first."""


@dataclass(frozen=True)
class Rest:
    """A scene at rest.

    Attributes
    ----------
    simulation : Simulation
        Contact dynamics that has just made a step without moving, from zero velocities unless
        ``alone``.
    alone : bool
        It came to rest by itself.
    how : str
        In words.
    steps : int
        Of contact dynamics.
    rounds : int
        Of least energy.
    unbalanced : float
        Largest unbalanced force on a body in the last step, over the heaviest load.
    overlap : float
        Deepest, over the scene's length.
    farthest : str
        Which body moved farthest, and how far, in words; "" where none moved.
    seconds : float [s]
        Wall clock.
    stopped : str
        Which bodies still moved in a scene with friction when damping began, or kept moving in the
        DEM, in words, else "": balls that would roll forever lie where they were stopped.
    state : State
        The pose, without what is left of velocities; driven bodies keep theirs.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> rest = rl.settle("beam")
    >>> rest.alone, rest.how
    (True, 'contact dynamics')
    """

    simulation: Simulation
    alone: bool
    how: str
    steps: int = 0
    rounds: int = 0
    unbalanced: float = 0.0
    overlap: float = 0.0
    farthest: str = ""
    seconds: float = 0.0
    stopped: str = ""

    @property
    def state(self) -> State:
        """The pose, without what is left of velocities; driven bodies keep theirs."""
        return stopped(self.simulation.state, self.simulation.bodies)

    @property
    def message(self) -> str:
        rounds = f", {counted(self.rounds, 'round')} of least energy" if self.rounds else ""
        return (
            f"at rest by {self.how} after {self.seconds:.3g} s: {counted(self.steps, 'step')}"
            f"{rounds}; unbalanced force {self.unbalanced:.1e} of the heaviest load, deepest "
            f"overlap {self.overlap:.1e} of the scene's length"
            + (f"; {self.farthest}" if self.farthest else "")
            + (f"; stopped while moving: {self.stopped}" if self.stopped else "")
        )


def settle(
    scene: Scene | Simulation | str | Path,
    *,
    by: str = STATE,
    max_steps: int = 5000,
    max_seconds: float | None = None,
    callback: Callable[[str], object] | None = None,
) -> Rest:
    """Bring a scene to rest, also where bodies without friction would slide, spin or creep forever.

    Driven bodies stay driven; what they keep in motion does not come to rest. Of scenes with
    friction, whose rest depends on the way there, contacts remember what they bore; what still
    rolls or slides in the end is stopped. The least energy has no part in them.

    Parameters
    ----------
    scene : Scene, Simulation, name or path
        A scene, the name of one in the gallery, a TOML file, or a simulation, which continues from
        its state, with the loads and gravity that were set, and is at rest afterwards; one that is
        at rest stays as it is.
    by : {"state", "dynamics", "dem"}
        "dynamics": contact dynamics for the scene's duration, or until all that balls do is creep;
        "dem": a soft DEM that pours the scene anew; "state": the DEM for balls that are poured
        loosely, with hardly any active contacts in the first step and of which fewer pairs are
        within a hundredth of a radius than there are balls, else contact dynamics. What still moves
        then is stopped, see the head of this file.
    max_steps : int
        Of contact dynamics.
    max_seconds : float [s], optional
        Of the wall clock; it is looked at between steps and rounds.
    callback : callable, optional
        callback(text) is called with how it goes.

    Returns
    -------
    Rest
        With the simulation, its state, overlap and a message.

    Raises
    ------
    NoRest
        Where the scene is not at rest when steps or time are over, where bodies fall forever, and
        where they overlap without room to part. A simulation then keeps its last state.

    Examples
    --------
    >>> import rigidlimit
    >>> rest = rigidlimit.settle("pile-2d")
    >>> rest.simulation.at_rest
    True
    >>> forces = rest.simulation.step(compatible=True).force
    """
    if by not in (STATE, DYNAMICS, DEM):
        raise InputError(f"by is {by!r}; expected {STATE!r}, {DYNAMICS!r} or {DEM!r}")
    if not (1 <= arrays.number(max_steps) < np.inf):
        raise InputError(f"max_steps is {max_steps!r}; expected a number of steps, 1 or more")
    if max_seconds is not None:
        arrays.positive("max_seconds", max_seconds)
    if callback is not None and not callable(callback):
        raise InputError(f"callback is {callback!r}; expected a function of a text")
    given = isinstance(scene, Simulation)
    simulation = scene if given else Simulation(scene, compatible="never")
    if simulation.rough and not given:
        simulation = Simulation(scene)  # what contacts remember is made step by step
    return _Settling(simulation, by, int(max_steps), max_seconds, callback).run()


class _Settling:
    """One call of ``settle``: its options and progress."""

    def __init__(self, simulation, by, max_steps, max_seconds, callback):
        self.simulation, self.max_steps, self.callback = simulation, max_steps, callback
        self.max_seconds = np.inf if max_seconds is None else max_seconds
        self.began, self.first = time.monotonic(), simulation.steps
        self.begun, self.stopped = simulation.state, ""
        bodies = simulation.bodies
        external = np.where(bodies.free.ravel(), simulation.external_force, 0.0)
        self.rough = simulation.rough
        round_ = serves(bodies, external, simulation.state.velocity[:, 3:])
        self.dem = SoftDem(simulation, round_, self.tell)
        self.energy = LeastEnergyRest(simulation, self.dem, self.tell)
        self.by, self.how = by, "DEM" if by == DEM else "contact dynamics"

    def run(self) -> Rest:
        simulation = self.simulation
        if simulation.at_rest:
            return self._rest(alone=True)
        if self.by == DEM:
            found = self._poured()
        else:
            found = self._by_dynamics()
            if simulation.stands_still:
                return self._rest(alone=True)
        if not found:
            self.how += ", then contact dynamics with kinetic damping"
        if self.rough:
            moves = motion(simulation.bodies, None, simulation.state, simulation.dt)
            self.stopped = moves or self.stopped
        damp(simulation, self.begun, self._step, max_steps=self.max_steps)
        return self._rest(alone=False)

    def tell(self, text: str):
        """Of how it goes, between steps; ends it when time is over."""
        if self.callback is not None:
            self.callback(text)
        if self.dem.running:
            self._check_flight(text)
        if time.monotonic() - self.began > self.max_seconds:
            simulation = self.simulation
            state = self.dem.dem.state if self.dem.running else simulation.state
            who = motion(simulation.bodies, self.begun, state, simulation.dt) or "bodies creep"
            raise NoRest(
                f"scene {self.simulation.scene.name!r} is not at rest after {self.max_seconds:g} s "
                f"of the wall clock: {text}; {who}; expected more time (max_seconds), or a scene "
                "that comes to rest sooner" + driven(self.simulation)
            )

    def _check_flight(self, text: str):
        """Raises NoRest where the DEM has a body that falls forever."""
        simulation, state = self.simulation, self.dem.dem.state
        away = flies_away(simulation, self.begun, state)
        if away:
            raise NoRest(
                f"scene {simulation.scene.name!r} is not at rest: {text}; "
                f"{motion(simulation.bodies, self.begun, state, simulation.dt)}; expected "
                f"{in_the_way(away)}"
            )

    def _step(self):
        self.tell(f"{self.how}, {self.simulation.step(compatible=self.rough).summary}")

    def _poured(self) -> bool:
        """Whether the DEM, and least energy from its rest, led to rest."""
        self._check_loaded()
        if self.rough:
            self.dem.rough_to_rest()
            self.stopped = self.dem.stopped
            return True  # nothing better is to be found
        return self._lowest(self.energy.from_poured())

    def _lowest(self, found: bool) -> bool:
        self.how += ", then least potential energy" if found else ""
        return found

    def _is_loose(self) -> bool:
        """Whether the DEM had better go first, as the first step has it; later it does not."""
        simulation = self.simulation
        if self.by != STATE or simulation.steps != self.first + 1:
            return False
        loaded = self.dem.round and is_loaded(simulation) and not driven(simulation)
        return loaded and is_loose(simulation, self.begun)

    def _check_loaded(self):
        if not is_loaded(self.simulation):
            raise NoRest(
                f"scene {self.simulation.scene.name!r} cannot come to rest: nothing presses its "
                "bodies together, and they move forever; expected gravity, or loads"
            )

    def _by_dynamics(self) -> bool:
        """For the scene's duration; where least energy follows, until bodies only creep and that
        leads to a pose of rest. Whether it did."""
        simulation = self.simulation
        goes_on = turns_nothing(simulation.bodies) and not self.rough
        to_rest = goes_on and is_loaded(simulation)
        carried, (wait, creeps) = 0, self._steps_that_tell()
        last = simulation.steps + self._steps_of_dynamics(to_rest)
        while simulation.steps < last and not simulation.stands_still:
            self._step()
            if self._is_loose():
                self.how = "DEM"
                return self._poured()
            carried = max(0, carried + (1 if carries(simulation) else -1))
            if to_rest and carried > wait:
                if self._lowest(self.energy.from_present_contacts()):
                    return True
                carried = 0
            elif flies_away(simulation, self.begun):
                return False
            wait = creeps if not carried else wait
        if goes_on and not simulation.stands_still:
            self._check_loaded()
        return False

    def _steps_that_tell(self) -> tuple[int, int]:
        """Steps in which bodies are carried before least energy is tried, at first and later."""
        simulation = self.simulation
        # a cell, which is loosened first, need not be near its rest
        creeps = SETTINGS.last if is_squeezed(simulation.bodies) else SETTINGS.creeps
        # under another load most packings stand still again within a few steps
        return SETTINGS.last if stands(simulation) else creeps, creeps

    def _steps_of_dynamics(self, to_rest: bool) -> int:
        """Steps at most: those of the scene's duration where least energy will not end it."""
        simulation = self.simulation
        if to_rest and not driven(simulation):
            return self.max_steps
        return min(self.max_steps, int(np.ceil(simulation.scene.duration / simulation.dt)) + 50)

    def _rest(self, alone: bool) -> Rest:
        simulation = self.simulation
        solved = simulation.last.classic
        if not solved.converged:
            jammed = solved.status is Status.JAMMED
            why = no_room(simulation) if jammed else f"its forces are open: {solved.message}"
            raise NoRest(f"scene {simulation.scene.name!r} is not at rest: {why}")
        unbalanced, overlap = left_open(simulation)
        return Rest(
            simulation=simulation,
            alone=alone,
            how=self.how,
            steps=simulation.steps - self.first,
            rounds=self.energy.rounds,
            unbalanced=unbalanced,
            overlap=overlap,
            farthest=farthest(simulation.bodies, self.begun, simulation.state),
            seconds=time.monotonic() - self.began,
            stopped=self.stopped,
        )
