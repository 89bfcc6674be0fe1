"""The penalty method (DEM): the same scene with contacts of finite stiffness, in small time steps.

The reference that compatible forces are the limit of: as stiffness grows at fixed ratios, the rest
forces of this simulation tend to those of ``compatible_forces``, contact by contact.

Rest is reached when forces balance and hardly any kinetic energy is left: ``rest_criterion.py``.

Smooth bodies that are not balls may slide or spin for ever under forces far below the tolerance,
ever faster. Where forces have balanced for ``DRIFT`` steps and bodies still move, all are stopped:
if the forces of that pose balance without any motion, it is one of rest. (Balls are not: packings
of them creep in the same way before they rearrange.)

Background damping brings rest sooner and moves it nowhere, since it vanishes with the velocity:
"quench" stops all bodies whenever the total kinetic energy passes a maximum (dynamic relaxation
with kinetic damping), but only while no body moves fast enough to rise by ``QUENCH_HEIGHT`` of the
scene's length, so that it cannot change which bodies meet. A number adds to that the rate alpha
[1/s] of M dv/dt = ... - alpha M v, which smooth bodies need that would spin or slide for ever;
with ``quenches=False`` it acts alone: elastic waves make the total kinetic energy pass maxima
all the time, and a packing that slides as a whole is stopped each time. None is neither.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .._support import arrays
from .._support.progress import progress as bar
from ..bodies import Bodies, State
from ..constraints import framed
from ..errors import InputError
from ..forces.friction import has_friction
from ..scenes.load import as_scene
from ..scenes.scene import Scene, law_exponent
from ..status import Status
from ..step.warnings import largest_pull
from . import ball_engine, rough_engine
from .engine import Engine, Law, Measures
from .friction import contact_history, friction_law
from .law import check_exponent, damping_of
from .network_engine import NetworkEngine
from .rest_criterion import RestCriterion, RestWatch
from .result import PenaltyProgress, PenaltyResult
from .squeezed import push_of_stress

SAFETY = 0.8
"""Time step chosen over the critical one."""

TOO_DEEP = 0.2
"""Overlap over the scene's length at which contacts are too soft to go on."""

EARLY_LOOKS, LATE_LOOKS = 10, 50
"""Overlaps are looked at in the first checks, and then in one of so many."""

CHECK_EVERY = 200
"""Steps between two looks at the energies, the critical step and the rest criterion."""

BAR = 1000
"""Length of the progress bar in its own units."""


class TooSoft(InputError):
    """Bodies sink so far into each other that they are no longer those of the scene."""


@dataclass(frozen=True)
class _Beginning:
    """Where a run began: wall clock [s], simulated time [s], steps made before."""

    clock: float
    time: float
    steps: int

    @property
    def seconds(self) -> float:
        """Wall clock since then [s]."""
        return time.perf_counter() - self.clock


class PenaltySimulation:
    """A scene under visco-elastic contact (Hooke, Hertz or any p >= 2), by velocity Verlet.

    Parameters
    ----------
    scene
        A ``Scene``, the name of one in the gallery, or a TOML file.
    dt
        Time step [s]; one above the critical step is refused. None takes 0.8 of the critical step
        and follows it.
    restitution
        e_n, the scene's by default; 0 is the critical damping 2 sqrt(k m_eff).
    damping
        Fraction of critical damping, instead of ``restitution``.
    tensile
        Whether damping may pull while surfaces part; if not, f >= 0.
    stiffness_scale
        Factor on all stiffnesses [-].
    law
        "hooke", "hertz" or the exponent p >= 2; the scene's by default.
    rest_tolerance
        t of ``rest_criterion.py``.
    background
        "quench", a rate [1/s] or None; acts in runs to rest only.
    quenches
        Whether all bodies are stopped at maxima of the kinetic energy beside a rate.
    threads
        For scenes of balls.
    engine
        "balls" (compiled: spheres, disks, half-spaces, and boxes that cannot turn, of which one
        may shift), "convex" (any shape, through the contact search) or None, the first that serves.
    state
        To begin with; the scene's by default.
    external_force
        (6 n,) [N, N m]: loads and weights; the scene's by default. On a periodic cell -V sigma/l at
        the volume V that it has in the scene.
    tangential_law
        "mindlin" or "mindlin/force", the scene's by default; of scenes with friction, see
        ``friction.py``.
    tangential_damping
        Tangential damping coefficient over the normal one.

    Raises
    ------
    InputError
        For options out of range, an engine that does not serve, a time step above the critical one.

    Examples
    --------
    >>> import rigidlimit
    >>> sim = rigidlimit.PenaltySimulation(rigidlimit.scenes.beam(), stiffness_scale=1e8)
    >>> sim.run().force.round(4)
    array([3.3333, 3.3333, 3.3333])
    """

    def __init__(
        self,
        scene: Scene | str | Path,
        *,
        dt: float | None = None,
        restitution: float | None = None,
        damping: float | None = None,
        tensile: bool = True,
        stiffness_scale: float = 1.0,
        law: str | float | None = None,
        rest_tolerance: float = 1e-8,
        background: str | float | None = "quench",
        quenches: bool = True,
        threads: int = 1,
        engine: str | None = None,
        state: State | None = None,
        external_force: np.ndarray | None = None,
        tangential_law: str | None = None,
        tangential_damping: float = 1.0,
    ):
        scene = as_scene(scene)
        self.damping = _damping_fraction(scene, restitution, damping, tensile)
        if not (background in ("quench", None) or np.isreal(background)):
            raise InputError(f"background is {background!r}; expected 'quench', a rate or None")
        self.scene, self.bodies = scene, scene.bodies
        self.exponent = check_exponent(scene.exponent if law is None else law_exponent(law))
        self.stiffness_scale = arrays.positive("stiffness_scale", stiffness_scale)
        rough = has_friction(self.bodies, scene.pair_friction)
        tangential_law = tangential_law or scene.tangential_law
        self.law = Law(
            exponent=self.exponent,
            damping=self.damping,
            tensile=bool(tensile),
            scale=self.stiffness_scale,
            pair_stiffness=scene.pair_stiffness,
            friction=friction_law(scene, tangential_law, tangential_damping) if rough else None,
        )
        self.rest_tolerance = arrays.positive("rest_tolerance", rest_tolerance)
        self.background, self.quenches = background, bool(quenches)
        external = self._loads(scene.external_force() if external_force is None else external_force)
        self.external_force = external
        start = scene.state if state is None else state
        make = _engine_class(engine, self.bodies, start, external, rough)
        self.engine: Engine = make(self.bodies, start, external, self.law, threads)
        self.steps = 0
        self.load_size, self.pull = largest_loads(self.bodies, external)
        self.fixed_dt = None if dt is None else arrays.positive("dt", dt)
        if self.fixed_dt is not None:
            self.engine.keep_step()
        self.dt = self._step_size(self.engine.measures().speed)

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self.engine.time

    @property
    def state(self) -> State:
        return self.engine.state

    @property
    def critical_dt(self) -> float:
        """Largest stable time step [s] at present, with every near contact closed."""
        return self.engine.limit()

    def run(
        self,
        until: float | None = None,
        *,
        callback: Callable[[PenaltyProgress], object] | None = None,
        progress: bool = False,
        max_steps: int = 50_000_000,
        closed: float = 1e-6,
    ) -> PenaltyResult:
        """Advance to a time, or to rest.

        Parameters
        ----------
        until
            Time [s] to advance to; None runs to rest.
        callback
            Gets a ``PenaltyProgress`` every ``CHECK_EVERY`` steps; the run ends where it returns
            True.
        progress
            Show a bar on the terminal or in the notebook.
        max_steps
            Most steps of this run.
        closed
            Gap over the scene's length up to which a contact is listed in the result.

        Raises
        ------
        TooSoft
            In a run to rest, where bodies sink into each other by ``TOO_DEEP`` of their length.
        """
        if progress:
            with bar(self.scene.name, BAR) as update:

                def both(seen: PenaltyProgress):
                    update(int(BAR * seen.fraction), seen.state)
                    return callback is not None and callback(seen)

                return self.run(until, callback=both, max_steps=max_steps, closed=closed)
        if until is not None and not until >= self.time:
            raise InputError(f"until is {until}; expected a time from {self.time} on")
        beginning = _Beginning(time.perf_counter(), self.time, self.steps)
        criterion = RestCriterion(
            self.rest_tolerance, self.load_size, self.pull, self.bodies.length
        )
        watch, looks, status = RestWatch(criterion, self.engine.kind, self.steps), 0, None
        while status is None:
            if until is None and (looks < EARLY_LOOKS or looks % LATE_LOOKS == 0):
                self._check_overlap()
            looks += 1
            measured = self._measured(watch, to_rest=until is None)
            left = max_steps - (self.steps - beginning.steps)
            status = self._status(until, watch, left)
            if status is None:
                dt = self._advance(until, left, measured.speed, criterion.slow(measured))
                if callback is not None:
                    seen = self._progress(until, beginning, dt, watch, measured)
                    status = Status.MAX_ITERATIONS if callback(seen) else None
        return self._result(status, measured, watch, beginning, closed)

    def _measured(self, watch: RestWatch, to_rest: bool) -> Measures:
        """Measures of now, taken in by ``watch``; bodies that drift for ever are stopped first."""
        measured = self.engine.measures()
        stop = to_rest and self.background is not None and watch.drifts(measured, self.steps)
        if stop:
            self.engine.stop()
            measured = self.engine.measures()
        watch.note(measured, self.steps, stopped=stop)
        return measured

    def _status(self, until: float | None, watch: RestWatch, left: int) -> Status | None:
        """How the run ended, None if it goes on; left: steps that it may still make."""
        if until is None:
            if watch.at_rest and self.engine.settled():
                return Status.CONVERGED
            if watch.stalled:
                return Status.STALLED
        elif self.time >= until - 1e-9 * self.dt:
            return Status.CONVERGED
        return None if left > 0 else Status.MAX_ITERATIONS

    def _advance(self, until: float | None, left: int, speed: float, slow: bool) -> float:
        """Makes at most ``left`` steps up to the next look; returns their size [s]."""
        self.dt = dt = self._step_size(speed)
        steps = min(CHECK_EVERY, left)
        if until is None:
            rate = 0.0 if self.background in ("quench", None) else self.background
            quench = self.quenches and self.background is not None and slow
            self.steps += self.engine.advance(steps, dt, float(rate), quench)
            return dt
        way = until - self.time
        # with a free step the last ones end at ``until``; with a given one, just past it
        whole = int(np.ceil(way / dt - 1e-9))
        dt = dt if self.fixed_dt else way / max(whole, 1)
        self.steps += self.engine.advance(max(1, min(steps, whole)), dt, 0.0, False)
        return dt

    def _progress(
        self,
        until: float | None,
        beginning: _Beginning,
        dt: float,
        watch: RestWatch,
        measured: Measures,
    ) -> PenaltyProgress:
        """What a callback sees; watch, measured: as they were before the last steps."""
        if until is None:
            fraction = watch.fraction
        else:
            fraction = (self.time - beginning.time) / (until - beginning.time)
        seconds = beginning.seconds
        left = seconds * (1 - fraction) / fraction if fraction > 0 else np.inf
        return PenaltyProgress(
            self.time, dt, self.steps, fraction, seconds, left, watch.unbalanced, measured
        )

    def _result(
        self,
        status: Status,
        measured: Measures,
        watch: RestWatch,
        beginning: _Beginning,
        closed: float,
    ) -> PenaltyResult:
        """The result of a run, with contacts of gaps up to ``closed`` over the scene's length."""
        contacts, force = self.engine.contact_forces(closed * self.bodies.length)
        contacts = framed(contacts, self.bodies.dim)
        tangential = self.engine.tangential_forces(contacts)
        return PenaltyResult(
            state=self.state,
            contacts=contacts,
            force=force,
            tangential=tangential,
            history=contact_history(self.bodies, self.law, contacts, tangential),
            kinetic_energy=measured.kinetic_energy,
            elastic_energy=measured.elastic_energy,
            unbalanced=watch.unbalanced,
            steps=self.steps,
            dt=self.dt,
            status=status,
            at_rest=watch.at_rest,
            seconds=beginning.seconds,
            rest_tolerance=self.rest_tolerance,
        )

    def load(self, external_force: np.ndarray, *, over: float, **options) -> PenaltyResult:
        """Run while the external forces go over evenly to other ones, which stay.

        Forces at rest between rough bodies depend on how they were loaded.

        Parameters
        ----------
        external_force
            (6 n,) [N, N m], weights among them.
        over
            Time [s] in which they change.
        options
            As of ``run``.
        """
        over = arrays.positive("over", over)
        now, later = self.external_force, self._loads(external_force)
        both = np.maximum(np.abs(now), np.abs(later))
        self.load_size, self.pull = largest_loads(self.bodies, both)
        self.engine.set_external(now, later, over)
        result = self.run(self.time + over, **options)
        self.engine.set_external(later)
        self.external_force = later
        self.load_size, self.pull = largest_loads(self.bodies, later)
        return result

    def _loads(self, external_force: np.ndarray) -> np.ndarray:
        """External forces (6 n,), without those on held degrees of freedom."""
        loads = arrays.vector(
            "external_force", external_force, 6 * len(self.bodies), what="degree of freedom"
        )
        return np.where(self.bodies.free.ravel(), loads, 0.0)

    def _step_size(self, speed: float) -> float:
        limit = self.engine.limit()
        if self.fixed_dt is not None:
            if self.fixed_dt > limit:
                raise InputError(
                    f"dt is {self.fixed_dt:.4g} s; expected at most {limit:.4g} s, the critical "
                    f"step of these masses, stiffnesses (scale {self.law.scale:g}) and damping; "
                    "take dt=None, a smaller dt or a smaller stiffness_scale"
                )
            return self.fixed_dt
        return SAFETY * min(limit, self._travel_step(speed))

    def _travel_step(self, speed: float) -> float:
        """Time [s] in which a free body moves by a hundredth of the scene's length."""
        small = 1e-2 * self.bodies.length
        fall = np.sqrt(2 * small / self.pull) if self.pull > 0 else np.inf
        return min(fall, small / speed if speed > 0 else np.inf, self.scene.dt)

    def _check_overlap(self) -> None:
        """Bodies that sink far into each other are no longer those of the scene."""
        contacts, _ = self.engine.contact_forces(0.0)
        deepest = -float(contacts.gap.min(initial=0.0))
        if deepest > TOO_DEEP * self.bodies.length:
            a, b = contacts.body[int(contacts.gap.argmin())]
            names = self.bodies.names
            raise TooSoft(
                f"{names[a]!r} and {names[b]!r} overlap by {deepest:.2g} m at t = "
                f"{self.time:.3g} s, bodies measure {self.bodies.length:.2g} m: the contacts are "
                "too soft for these loads; raise the stiffness (Material, pair stiffness in N/m) "
                "or stiffness_scale"
            )


def _damping_fraction(
    scene: Scene, restitution: float | None, damping: float | None, tensile: bool
) -> float:
    """Fraction of critical damping, given or from the restitution e_n (the scene's if None)."""
    if damping is not None and restitution is not None:
        raise InputError("both damping and restitution are given; expected one of them")
    if damping is None:
        e = scene.restitution if restitution is None else restitution
        damping = damping_of(e, tensile=tensile)
    if not (np.isfinite(damping) and damping >= 0):
        raise InputError(f"damping is {damping!r}; expected a fraction of critical, >= 0")
    return float(damping)


def _engine_class(
    engine: str | None, bodies: Bodies, state: State, external: np.ndarray, rough: bool
) -> type:
    """The class of the engine asked for; of None, the first that serves the scene."""
    served = (rough_engine if rough else ball_engine).serves(
        bodies, external, state.velocity[:, 3:]
    )
    if engine not in (None, "balls", "convex") or (engine == "balls" and not served):
        raise InputError(
            f"engine is {engine!r} for a scene that is {'' if served else 'not '}of balls, "
            "half-spaces and boxes that cannot turn only; expected None, 'convex', or 'balls' "
            "where it serves"
        )
    if engine == "convex" or not served:
        return NetworkEngine
    return rough_engine.RoughBallEngine if rough else ball_engine.BallEngine


def largest_loads(bodies: Bodies, external: np.ndarray) -> tuple[float, float]:
    """(largest force on a body [N], largest acceleration [m/s^2] by one), of forces and moments
    (6 n,). A periodic cell that is held under a stress loads each body as the stress does on the
    area of one."""
    if bodies.cell is None:
        force = np.linalg.norm(external.reshape(-1, 6)[:, :3], axis=1)
        return float(force.max(initial=0.0)), largest_pull(bodies, external)
    of_bodies = external.copy()
    of_bodies[-6:] = 0.0
    force = np.linalg.norm(of_bodies.reshape(-1, 6)[:, :3], axis=1).max(initial=0.0)
    push = push_of_stress(bodies)
    moving = bodies.mass[:-1][bodies.free[:-1].any(axis=1)]
    pull = push / float(np.median(moving)) if len(moving) else 0.0
    return max(float(force), push), max(largest_pull(bodies, of_bodies), pull)
