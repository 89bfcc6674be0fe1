"""The penalty method (DEM): the same scene with contacts of finite stiffness, in small time steps.

The reference that compatible forces are the limit of: as stiffness grows at fixed ratios, the rest
forces of this simulation tend to those of ``compatible_forces``, contact by contact.

Rest is reached when forces balance and hardly any kinetic energy is left: ``rest_criterion.py``.

Without friction bodies that are not balls may slide or spin forever under forces far below the
tolerance, ever faster. Where forces have balanced for ``DRIFT`` steps and bodies still move, all
are stopped: if the forces of that pose balance without any motion, it is one of rest. (Balls are
not: packings of them creep in the same way before they rearrange.)

Background damping brings rest sooner and moves it nowhere, since it vanishes with the velocity:
"quench" stops all bodies whenever the total kinetic energy passes a maximum (dynamic relaxation
with kinetic damping), but only while no body moves fast enough to rise by ``QUENCH_HEIGHT`` of the
scene's length, so that it cannot change which bodies meet. A number adds to that the rate alpha
[1/s] of M dv/dt = ... - alpha M v, for bodies without friction that would spin or slide forever;
with ``quenches=False`` it acts alone: elastic waves make the total kinetic energy pass maxima
all the time, and a packing that slides as a whole is stopped each time. None is neither.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from .._support import arrays
from .._support.progress import progress as bar
from ..bodies import Bodies, State
from ..compatibility.friction import has_friction
from ..errors import InputError
from ..scenes.checks import law_exponent, warn_of_unused_springs
from ..scenes.load import as_scene
from ..scenes.scene import Scene
from . import ball_engine, rough_engine
from .engine import Engine, Law
from .friction import friction_law
from .law import check_exponent, damping_of
from .network_engine import NetworkEngine
from .result import PenaltyProgress, PenaltyResult
from .run import Run, step_size
from .squeezed import largest_loads

BAR = 1000
"""Length of the progress bar in its own units."""


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
        may shift), "convex" (any shape, through the contact search) or None, the first applicable
        one.
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
        if state is None:
            warn_of_unused_springs(scene, "a DEM")
        self.damping = _damping_fraction(scene, restitution, damping, tensile)
        if not (background in ("quench", None) or 0.0 <= arrays.number(background) < np.inf):
            raise InputError(
                f"background is {background!r}; expected 'quench', a rate [1/s] >= 0 or None"
            )
        self.scene, self.bodies = scene, scene.bodies
        self.exponent = check_exponent(scene.exponent if law is None else law_exponent(law))
        self.stiffness_scale = arrays.positive("stiffness_scale", stiffness_scale)
        rough = has_friction(self.bodies, scene.pair_friction)
        friction = friction_law(scene, tangential_law or scene.tangential_law, tangential_damping)
        self.law = Law(
            exponent=self.exponent,
            damping=self.damping,
            tensile=bool(tensile),
            scale=self.stiffness_scale,
            pair_stiffness=scene.pair_stiffness,
            friction=friction if rough else None,
        )
        self.rest_tolerance = arrays.positive("rest_tolerance", rest_tolerance)
        threads = arrays.whole("threads", threads)
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
        self.dt = step_size(self, self.engine.measures().speed)

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
            Gets a ``PenaltyProgress`` every ``check_every`` steps; the run ends where it returns
            True.
        progress
            Show a bar on the terminal or in the notebook.
        max_steps
            Most steps of this run.
        closed
            Largest gap over the scene's length of a contact listed in the result.

        Raises
        ------
        TooSoft
            In a run to rest, where bodies sink into each other by ``too_deep`` of their length.
        """
        if progress:
            with bar(self.scene.name, BAR) as update:

                def both(seen: PenaltyProgress):
                    update(int(BAR * seen.fraction), seen.state)
                    return callback is not None and callback(seen)

                return self.run(until, callback=both, max_steps=max_steps, closed=closed)
        if until is not None and not self.time <= arrays.number(until) < np.inf:
            raise InputError(f"until is {arrays.short(until)}; expected a time from {self.time} on")
        max_steps = arrays.whole("max_steps", max_steps)
        closed = arrays.at_least_zero("closed", closed)
        return Run(self, until, max_steps).to_its_end(callback, closed)

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


def _damping_fraction(
    scene: Scene, restitution: float | None, damping: float | None, tensile: bool
) -> float:
    """Fraction of critical damping, given or from the restitution e_n (the scene's if None)."""
    if damping is not None and restitution is not None:
        raise InputError("both damping and restitution are given; expected one of them")
    if damping is None:
        e = scene.restitution if restitution is None else restitution
        damping = damping_of(e, tensile=tensile)
    if not 0.0 <= arrays.number(damping) < np.inf:
        raise InputError(f"damping is {damping!r}; expected a fraction of critical, >= 0")
    return float(damping)


def _engine_class(
    engine: str | None, bodies: Bodies, state: State, external: np.ndarray, rough: bool
) -> type:
    """The class of the chosen engine; for None, the first that supports the scene."""
    served = (rough_engine if rough else ball_engine).serves(
        bodies, external, state.velocity[:, 3:]
    )
    if engine not in (None, "balls", "convex") or (engine == "balls" and not served):
        raise InputError(
            f"engine is {engine!r} for a scene that is {'' if served else 'not '}of balls, "
            "half-spaces and boxes that cannot turn only; expected None, 'convex', or 'balls' "
            "for such scenes"
        )
    if engine == "convex" or not served:
        return NetworkEngine
    return rough_engine.RoughBallEngine if rough else ball_engine.BallEngine
