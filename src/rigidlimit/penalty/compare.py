"""Classic contact dynamics, compatible forces and the DEM on one scene, at rest."""

import time as clock
from dataclasses import dataclass, replace

import numpy as np

from ..bodies import State
from ..errors import InputError
from ..scenes.scene import Scene
from ..simulation import Simulation
from ..step import StepResult
from .simulation import PenaltyResult, PenaltySimulation


@dataclass(frozen=True)
class Comparison:
    """Forces of one scene at rest by several methods, on the contacts of ``contacts``.

    force: {method: (m,) [N]} with the methods "pgs" (sweeps in natural order), "pgs permuted",
    "apgd", "compatible" and "dem". state: at rest, after ``physical_time`` [s].
    floor_error: |F - F_dem| / |F_dem| of the resultant forces on held bodies, as in the paper's
    table 1; contact_error: the same over all contact forces. overshoot: largest force over the
    DEM's, less one. seconds: wall time of each method. dem: the run itself. result: the step at
    rest that the compatible forces are of, by the Newton solver.
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


def at_rest(scene: Scene, solver: str, *, max_steps: int = 5000, callback=None):
    """(simulation before its last step, last result, wall seconds) of a scene run until at rest.

    The last step starts without the forces of the one before.
    """
    simulation = Simulation(scene, solver=solver, compatible="never")
    start = clock.perf_counter()
    while not simulation.at_rest:
        if simulation.steps >= max_steps:
            raise InputError(
                f"scene {scene.name!r} is not at rest after {max_steps} steps of "
                f"{simulation.dt:g} s; compare needs a scene that comes to rest"
            )
        result = simulation.step()
        if callback is not None:
            callback(simulation, result)
    before = simulation.checkpoint()
    # from a cold start: classic forces depend on where a solver starts, and at rest a warm one
    # would still carry the traces of the last impact
    simulation.warm_start = False
    if solver == "pgs":  # plain sweeps, as engines and the paper have them
        simulation.settings = replace(
            simulation.settings, solver_options={"subspace": False, "max_iterations": 100_000}
        )
    result = simulation.step(compatible=True)
    seconds = clock.perf_counter() - start
    simulation.restore(before)
    return simulation, result, seconds


def compare(
    scene: Scene,
    *,
    stiffness_scale: float = 1.0,
    rest_tolerance: float = 1e-7,
    whole_run: bool = False,
    callback=None,
) -> Comparison:
    """Run a scene to rest by each method and compare the contact forces.

    The DEM starts from the pose in which contact dynamics came to rest, or with ``whole_run``
    from the scene's own; the state of rest it finds is its own in either case. callback(text) is
    told how things go.
    """

    def tell(text):
        if callback is not None:
            callback(text)

    results, seconds = {}, {}
    for solver in ("pgs", "apgd", "newton"):
        tell(f"contact dynamics, {solver}")
        simulation, results[solver], seconds[solver] = at_rest(scene, solver)
        if solver == "pgs":
            options = simulation.settings.solver_options | {"order": "random"}
            simulation.settings = replace(simulation.settings, solver_options=options)
            start = clock.perf_counter()
            results["pgs permuted"] = simulation.step()
            seconds["pgs permuted"] = seconds["pgs"] + clock.perf_counter() - start
    result = results["newton"]
    seconds["compatible"] = seconds.pop("newton")
    state = (
        None
        if whole_run
        else simulation.state.moved(velocity=np.zeros_like(simulation.state.velocity))
    )
    dem = PenaltySimulation(
        scene,
        state=state,
        stiffness_scale=stiffness_scale,
        rest_tolerance=rest_tolerance,
    )
    reference = dem.run(callback=lambda progress: tell(f"DEM, {progress.text}"))
    seconds["dem"] = reference.seconds
    contacts = result.contacts
    force = {
        name: contacts.carry_over(results[name].contacts, results[name].classic.force)
        for name in ("pgs", "pgs permuted", "apgd")
    }
    force["compatible"] = result.force
    force["dem"] = contacts.carry_over(reference.contacts, reference.force)
    floor = {name: _on_held(scene.bodies, contacts, f) for name, f in force.items()}
    top = force["dem"].max(initial=0.0) or 1.0

    def errors(values):
        size = np.linalg.norm(values["dem"]) or 1.0
        names = [name for name in values if name != "dem"]
        return {n: float(np.linalg.norm(values[n] - values["dem"]) / size) for n in names}

    return Comparison(
        contacts,
        force,
        errors(floor),
        errors(force),
        {name: float(f.max(initial=0.0) / top - 1) for name, f in force.items() if name != "dem"},
        seconds,
        reference,
        result.state,
        result.time,
        result,
    )


def _still(state: State) -> State:
    return state.moved(velocity=np.zeros_like(state.velocity), time=0.0)


def _on_held(bodies, contacts, force) -> np.ndarray:
    """Resultant contact force on each held body, (n, 3) [N]; zero for free ones."""
    total = np.zeros((len(bodies), 3))
    np.add.at(total, contacts.body[:, 1], force[:, None] * contacts.normal)
    np.add.at(total, contacts.body[:, 0], -force[:, None] * contacts.normal)
    return np.where(bodies.free.any(axis=1)[:, None], 0.0, total)


def stiffness_sweep(scene: Scene, scales=(1e-4, 1e-3, 1e-2), *, rest_tolerance: float = 1e-8):
    """The limit made visible: DEM against compatible forces at growing stiffness.

    Returns (scales, relative error of all contact forces, slope): error ~ scale^slope, fitted.
    Overlaps shrink as k^(-1/(p-1)), and with them what they change in the geometry.
    """
    _, result, _ = at_rest(scene, "newton")
    state = _still(result.state)
    errors = []
    for scale in scales:
        dem = PenaltySimulation(
            scene, state=state, stiffness_scale=scale, rest_tolerance=rest_tolerance
        ).run()
        force = result.contacts.carry_over(dem.contacts, dem.force)
        errors.append(np.linalg.norm(force - result.force) / np.linalg.norm(result.force))
    slope = float(np.polyfit(np.log(scales), np.log(errors), 1)[0])
    return np.asarray(scales), np.array(errors), slope
