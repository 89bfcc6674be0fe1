"""Classic contact dynamics, compatible forces and the DEM on one scene, at rest.

Forces of rough bodies depend on how they were loaded. Compatible forces are those of the unloaded
state then (``forces.rough``), and the DEM sets out from the pose of rest without loads, which grow
slowly: the same history. A pose that stands by the squeeze of its past may not come to rest so.
"""

import time as clock
from dataclasses import dataclass, field, replace

import numpy as np

from .._support import arrays
from .._support.display import Brief
from .._support.words import counted
from ..bodies import State
from ..bodies.motion import move
from ..diagnostics import determinacy
from ..dynamics import ContactDynamicsResult
from ..errors import InputError
from ..forces.bearing import bearing
from ..forces.friction import has_friction
from ..scenes.load import as_scene
from ..scenes.scene import Scene
from ..simulation import Simulation
from ..step import StepResult
from .rest import Rest
from .rest import settle as bring_to_rest
from .result import PenaltyResult
from .simulation import PenaltySimulation

SOFTEST = 0.1
"""Overlap at rest over the size of the smaller body, above which the DEM is not started."""

SWEEPS = 100_000
"""Most plain Gauss-Seidel sweeps at rest by default."""

EVERY = 0.5
"""Seconds between two reports of a long solve."""

IDLE = {"balls": 100_000, "convex": 30_000}
"""Steps of the DEM from a pose of rest without a lower unbalanced force after which it is given up:
it has only overlaps to find, in some thousands. (From a scene's own pose packings rearrange on
their way, and it is waited for five times as long and more.)"""

RAMP = 40_000
"""Steps of the DEM in which loads on rough bodies grow: hundreds of periods of the slowest elastic
wave of some ten layers. The finite pace leaves some 1e-4 of the forces, in proportion to 1/RAMP."""

LIVELY = 0.3
"""Restitution of the DEM for rough bodies: more damping enters Coulomb's bound on the way, by up to
half of the forces, and less rings for long."""

LEFT = 1.0
"""Way of a body in the DEM, over the scene's length, from which on it has left the pose of rest."""

LONGEST_WAY = 1e-3
"""Longest way of a body, over the scene's length, from the pose of rest to the loaded one."""


@dataclass(frozen=True, repr=False)
class Comparison(Brief):
    """Forces of one scene at rest by several methods, on the contacts of ``contacts``.

    force: {method: (m,) [N]} with the methods "pgs" (sweeps in natural order), "pgs permuted",
    "apgd", "compatible" and "dem". state: at rest, after ``physical_time`` [s].
    floor_error: |F - F_dem| / |F_dem| of the resultant forces on held bodies, as in the paper's
    table 1; contact_error: the same over all contact forces, as vectors where bodies rub
    (``vectors``: {method: (m, 3) [N]}, None of smooth bodies). overshoot: largest force over the
    DEM's, less one. seconds: wall time of each method. dem: the run itself. result: the step at
    rest that the compatible forces are of, by the Newton solver. how: who found the rest.
    loaded: the DEM started from ``loaded_pose``. classic_results: {method: result} of the classic
    ones, of which Gauss-Seidel may have ended before it converged. unrest: why the DEM is not at
    rest, in words; its forces then are those of a motion, and the errors say nothing.
    """

    contacts: object
    force: dict[str, np.ndarray]
    floor_error: dict[str, float]
    contact_error: dict[str, float]
    overshoot: dict[str, float]
    seconds: dict[str, float]
    dem: PenaltyResult
    state: State
    physical_time: float
    result: StepResult
    how: str = "contact dynamics"
    loaded: bool = False
    classic_results: dict[str, ContactDynamicsResult] = field(default_factory=dict)
    unrest: str = ""
    vectors: dict[str, np.ndarray] | None = None

    @property
    def message(self) -> str:
        """The errors of all methods in a line, and why they are none if the DEM does not rest."""
        errors = ", ".join(f"{name} {error:.1e}" for name, error in self.contact_error.items())
        told = f"{counted(len(self.contacts), 'contact')}, off the DEM's forces by {errors}"
        return f"{told}; NOT at rest: {self.unrest}" if self.unrest else told

    def bears(self, method: str) -> np.ndarray:
        """Contacts (m,) that carry more than a billionth of the DEM's largest force."""
        return bearing(self.force[method], self.force["dem"].max(initial=0.0))

    @property
    def shared(self) -> np.ndarray:
        """Contacts (m,) that bear in the DEM and under compatible forces."""
        return self.bears("compatible") & self.bears("dem")

    @property
    def shared_error(self) -> float:
        """|f - f_dem| / |f_dem| of the compatible forces over the ``shared`` contacts."""
        whole = self.force if self.vectors is None else self.vectors
        f, dem = (whole[name][self.shared] for name in ("compatible", "dem"))
        return float(np.linalg.norm(f - dem) / (np.linalg.norm(dem) or 1.0))


def last_step(simulation: Simulation, *, cold: bool = True, sweeps: int = SWEEPS, tell=None):
    """Last result and its wall seconds, of a simulation at rest that is left as it was.

    cold: the step starts without the forces of the one before. Gauss-Seidel makes plain sweeps, as
    engines and the paper have them, at most ``sweeps``, and no compatible forces. tell(text).
    """
    before, settings = simulation.checkpoint(), simulation.settings
    # classic forces depend on where a solver starts, and at rest a warm one would still carry the
    # traces of the last impact
    simulation.warm_start = not cold
    start = clock.perf_counter()
    if settings.solver == "pgs":
        result = _plain_sweeps(simulation, sweeps, tell)
    else:
        result = simulation.step(compatible=True)
    seconds = clock.perf_counter() - start
    simulation.settings = settings
    simulation.restore(before)
    return result, seconds


def _plain_sweeps(simulation: Simulation, sweeps: int, tell) -> StepResult:
    """A step by projected Gauss-Seidel without acceleration; tells now and then how it goes."""
    start = last = clock.perf_counter()

    def report(made, residual):
        nonlocal last
        now = clock.perf_counter()
        if tell is not None and made and now > last + EVERY:
            last = now
            left = (now - start) * (sweeps - made) / made
            tell(
                f"sweep {made} of at most {sweeps}, residual {residual:.0e}, "
                f"at most {left:.0f} s to go"
            )

    plain = {"max_iterations": sweeps, "callback": report}
    if not simulation.rough:  # sweeps with friction are plain
        plain["subspace"] = False
    options = (simulation.settings.solver_options or {}) | plain
    simulation.settings = replace(simulation.settings, solver_options=options)
    return simulation.step(compatible=False)


def _classic(scene: Scene, rest: Rest, solver: str, tell, **options):
    """A simulation at rest under another solver: by its own run, or at the pose that was found."""
    simulation = Simulation(
        scene, solver=solver, solver_options=options or None, compatible="never"
    )
    if rest.alone:
        for _ in range(2 * rest.simulation.steps + 100):
            tell(f"contact dynamics, {solver}, {simulation.step().summary}")
            if simulation.at_rest:
                return simulation
    simulation.restore(rest.simulation.checkpoint())
    return simulation


def compare(
    scene: Scene,
    *,
    settle: str = "dynamics",
    stiffness_scale: float = 1.0,
    rest_tolerance: float = 1e-7,
    whole_run: bool = False,
    damping: float | None = None,
    sweeps: int = SWEEPS,
    callback=None,
) -> Comparison:
    """Run a scene to rest by each method and compare the contact forces.

    settle: who brings the scene to rest, contact dynamics ("dynamics") or a soft DEM ("dem"), as
    in ``rl.settle``. If it takes more than contact dynamics alone, all classic solvers are compared
    in the pose of rest found.
    The DEM starts from that pose, or with ``whole_run`` from the scene's own; the state of rest it
    finds is its own in either case. A pose that had to be found is loaded first, see
    ``loaded_pose``. A DEM that leaves the pose of rest, as masonry that balances does, is stopped
    there: see ``Comparison.unrest``. damping: the DEM's, see ``PenaltySimulation``. sweeps: most
    that Gauss-Seidel makes at rest, where it creeps in large packings; what it has by then is
    compared. callback(text) is told how things go.
    """

    def tell(text):
        if callback is not None:
            callback(text)

    scene = as_scene(scene)
    if settle not in ("dynamics", "dem"):
        raise InputError(f"settle is {settle!r}; expected 'dynamics' or 'dem'")
    arrays.positive("stiffness_scale", stiffness_scale)
    rough = has_friction(scene.bodies, scene.pair_friction)
    if sweeps < 1:
        raise InputError(f"sweeps is {sweeps}; expected one at least")
    results, seconds = {}, {}
    start = clock.perf_counter()
    rest = bring_to_rest(scene, by=settle, callback=tell)
    settling = clock.perf_counter() - start
    # compatible forces do not depend on the start; a cold one is slow in random packings
    results["newton"], last = last_step(rest.simulation, cold=rest.alone or rough)
    _check_stiff(scene, results["newton"], stiffness_scale)
    seconds["newton"] = settling + last
    for solver in ("pgs", "apgd"):
        start = clock.perf_counter()
        simulation = _classic(scene, rest, solver, tell)
        settling_here = clock.perf_counter() - start + (0.0 if rest.alone else settling)

        def tell_cold(text, solver=solver):
            tell(f"contact dynamics, {solver}, cold, {text}")

        tell_cold("contacts in natural order")
        results[solver], last = last_step(simulation, sweeps=sweeps, tell=tell_cold)
        seconds[solver] = settling_here + last
        if solver == "pgs":
            tell_cold("contacts in random order")
            options = (simulation.settings.solver_options or {}) | {"order": "random"}
            simulation.settings = replace(simulation.settings, solver_options=options)
            results["pgs permuted"], last = last_step(simulation, sweeps=sweeps, tell=tell_cold)
            seconds["pgs permuted"] = settling_here + last
    result = results["newton"]
    seconds["compatible"] = seconds.pop("newton")
    loaded = not (whole_run or rest.alone or rough)
    state = None if whole_run else _still(result.state)
    if loaded:
        state = loaded_pose(result, stiffness_scale, scene.exponent)
    options = {"stiffness_scale": stiffness_scale, "rest_tolerance": rest_tolerance}
    if damping is not None:
        options["damping"] = damping
    start = clock.perf_counter()
    dem = _started(scene, state, rough and not whole_run, options)
    begun = None if whole_run else dem.state
    reference = _watched(dem, begun, lambda text: tell(f"DEM, {text}"))
    unrest = "" if reference.at_rest else _unrest(result, reference, begun)
    seconds["dem"] = clock.perf_counter() - start
    contacts = result.contacts
    force = {
        name: contacts.nearest(results[name].contacts, results[name].classic.force)
        for name in ("pgs", "pgs permuted", "apgd")
    }
    force["compatible"] = result.force
    force["dem"] = contacts.nearest(reference.contacts, reference.force)
    vectors = None
    if rough:
        vectors = {
            name: _nearest_vectors(
                contacts, results[name].contacts, _classic_vectors(results[name])
            )
            for name in ("pgs", "pgs permuted", "apgd")
        }
        vectors["compatible"] = result.force_vectors
        vectors["dem"] = _nearest_vectors(contacts, reference.contacts, reference.force_vectors)
    whole = force if vectors is None else vectors
    floor = {name: _on_held(scene.bodies, contacts, f) for name, f in whole.items()}
    top = force["dem"].max(initial=0.0) or 1.0

    def errors(values):
        size = np.linalg.norm(values["dem"]) or 1.0
        names = [name for name in values if name != "dem"]
        return {n: float(np.linalg.norm(values[n] - values["dem"]) / size) for n in names}

    return Comparison(
        contacts,
        force,
        errors(floor),
        errors(whole),
        {name: float(f.max(initial=0.0) / top - 1) for name, f in force.items() if name != "dem"},
        seconds,
        reference,
        result.state,
        result.time,
        result,
        rest.how,
        loaded,
        {name: results[name].classic for name in ("pgs", "pgs permuted", "apgd")},
        unrest,
        vectors,
    )


def _started(scene: Scene, state: State | None, slowly: bool, options: dict) -> PenaltySimulation:
    """The DEM of the scene from ``state``; slowly: with loads that have grown from nothing."""
    if not slowly:
        return PenaltySimulation(scene, state=state, **options)
    if "damping" not in options:
        options = options | {"restitution": LIVELY}
    loads = scene.external_force()
    dem = PenaltySimulation(scene, state=state, external_force=0.0 * loads, **options)
    dem.load(loads, over=RAMP * dem.dt)
    return dem


def _classic_vectors(step: StepResult) -> np.ndarray:
    """Forces of step 1 (m, 3) [N] of rough bodies."""
    return replace(step, compatible=None).force_vectors


def _nearest_vectors(contacts, other, vectors) -> np.ndarray:
    """``Contacts.nearest`` of vectors (k, 3)."""
    return np.column_stack([contacts.nearest(other, v) for v in vectors.T])


def _watched(dem: PenaltySimulation, begun: State | None, tell) -> PenaltyResult:
    """The run to rest, which ends where a body has left the pose ``begun``, and where nothing gets
    nearer to rest there."""
    least, since = np.inf, dem.steps

    def ends(progress):
        nonlocal least, since
        tell(progress.text)
        if begun is None:
            return False
        if progress.unbalanced < 0.9 * least:
            least, since = progress.unbalanced, progress.steps
        idle = progress.steps - since > IDLE[dem.engine.kind]
        return idle or _has_left(dem.state, begun, dem.bodies)

    return dem.run(callback=ends)


def _farthest(state: State, begun: State) -> tuple[int, float]:
    """(body that went farthest, its way [m])."""
    way = np.linalg.norm(state.position - begun.position, axis=1)
    return int(way.argmax()), float(way.max())


def _has_left(state: State, begun: State, bodies) -> bool:
    """Whether a body has gone too far from the pose ``begun``."""
    return _farthest(state, begun)[1] > LEFT * bodies.length


def _unrest(result: StepResult, dem: PenaltyResult, begun: State | None) -> str:
    """Why the DEM has not come to rest, and what the contacts at the pose of rest leave free."""
    bodies = result.bodies
    said = f"the unbalanced force of the DEM no longer fell from {dem.unbalanced:.0e} of the load"
    if begun is not None and _has_left(dem.state, begun, bodies):
        body, way = _farthest(dem.state, begun)
        said = (
            f"the DEM left the pose of rest, {bodies.names[body]!r} by {way:.3g} m in "
            f"{dem.time:.3g} s"
        )
    B, load = result.balance
    force = result.force[result.closed]
    known = {"force": force, "fixed": ~bodies.free.ravel(), "blocks": bodies.blocks}
    try:
        motions = determinacy(B, load, intervals="none", **known).mobility
    except InputError:
        motions = 0
    if motions:
        said += (
            f"; {counted(motions, 'motion')} of loaded bodies keep all loaded contacts closed, so "
            "that the pose may balance without being stable: try a higher stiffness, or hold these "
            "motions (fixed)"
        )
    return said


def loaded_pose(result: StepResult, scale: float, exponent: float) -> State:
    """The pose of rest with the overlaps of its compatible forces at a stiffness scale, stopped.

    A packing with as many contacts as degrees of freedom rests in a shallow well among many: set
    free without overlaps, its first swing may carry it into another. From here the DEM has only
    the second order to find, in some three times fewer steps. Poses of which the displacement
    would take a body further than ``LONGEST_WAY`` are left as they are: there it means nothing.
    """
    still = _still(result.state)
    if result.compatible is None:
        return still
    way = result.compatible.displacement * scale ** (-1 / (exponent - 1))
    way = way.reshape(-1, 6)
    if (
        np.abs(way * result.bodies.turning_arm).max(initial=0.0)
        > LONGEST_WAY * result.bodies.length
    ):
        return still
    return _still(move(result.bodies, still, way, 1.0))


def _still(state: State) -> State:
    return state.moved(velocity=np.zeros_like(state.velocity), time=0.0)


def _on_held(bodies, contacts, force) -> np.ndarray:
    """Resultant on each held body, (n, 3) [N], of contact forces (m,) along normals or (m, 3);
    zero for free ones."""
    return np.where(bodies.free.any(axis=1)[:, None], 0.0, contacts.resultants(force))


def _check_stiff(scene: Scene, result: StepResult, scale: float) -> None:
    """A DEM of contacts that sink by the size of a body never comes to a comparable rest."""
    k = np.maximum(scale * result.stiffness, np.finfo(float).tiny)
    sink = (np.maximum(result.force, 0) / k) ** (1 / (scene.exponent - 1))
    radius = scene.bodies.bounding_radius[result.contacts.body].min(axis=1)
    deep = sink / radius
    if not len(deep) or deep.max() <= SOFTEST:
        return
    i = int(np.argmax(deep))
    a, b = (scene.bodies.names[j] for j in result.contacts.body[i])
    # what brings it to a thousandth of the body's size
    need = scale * (deep[i] / 1e-3) ** (scene.exponent - 1)
    raise InputError(
        f"DEM: at stiffness {k[i]:.3g} N/m^(p-1), {a!r} and {b!r} would overlap by {sink[i]:.3g} m "
        f"under {result.force[i]:.3g} N; expected overlaps far below the bodies' size "
        f"({radius[i]:.3g} m); try a stiffness scale of {10 ** np.ceil(np.log10(need)):.0e} or "
        "pair stiffnesses in N/m"
    )


def stiffness_sweep(
    scene: Scene,
    scales=(1e-4, 1e-3, 1e-2),
    *,
    rest_tolerance: float = 1e-8,
    result: StepResult | None = None,
    loaded: bool = False,
    callback=None,
):
    """The limit made visible: DEM against compatible forces at growing stiffness.

    Returns (scales, relative error of all contact forces, slope): error ~ scale^slope, fitted.
    Overlaps shrink as k^(-1/(p-1)), and with them what they change in the geometry. result: the
    step at rest, as ``Comparison.result``; found here where it is None. loaded: the DEM starts
    from ``loaded_pose``, as it does for a rest found here that took more than contact dynamics.
    callback(text).
    """
    scene = as_scene(scene)
    scales = [arrays.positive("scales", scale) for scale in scales]
    if len(scales) < 2:
        raise InputError(f"scales has {counted(len(scales), 'entry')}; expected two at least")
    if result is None:
        rest = bring_to_rest(scene, callback=callback)
        rough = rest.simulation.rough
        result, _ = last_step(rest.simulation, cold=rest.alone or rough)
        loaded = not (rest.alone or rough)
    _check_stiff(scene, result, min(scales))
    errors = []
    for scale in scales:
        state = loaded_pose(result, scale, scene.exponent) if loaded else _still(result.state)

        def tell(text, scale=scale):
            if callback is not None:
                callback(f"DEM, stiffness x {scale:g}, {text}")

        options = {"stiffness_scale": scale, "rest_tolerance": rest_tolerance}
        simulation = _started(scene, state, result.T is not None, options)
        begun = simulation.state
        dem = _watched(simulation, begun, tell)
        if _has_left(dem.state, begun, scene.bodies):
            raise InputError(
                f"DEM, stiffness x {scale:g}: {_unrest(result, dem, begun)}; expected scales at "
                "which it stays"
            )
        own, force = result.force, result.contacts.nearest(dem.contacts, dem.force)
        if result.T is not None:
            own = result.force_vectors
            force = _nearest_vectors(result.contacts, dem.contacts, dem.force_vectors)
        errors.append(np.linalg.norm(force - own) / np.linalg.norm(own))
    slope = float(np.polyfit(np.log(scales), np.log(errors), 1)[0])
    return np.asarray(scales), np.array(errors), slope
