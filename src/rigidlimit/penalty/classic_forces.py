"""Forces of contact dynamics alone, by several solvers, of a scene at rest."""

import time as clock
from collections.abc import Callable
from dataclasses import replace

from .._support.stopwatch import Stopwatch
from ..scenes.scene import Scene
from ..simulation import Simulation
from ..step import StepResult
from .rest import Rest

SWEEPS = 100_000
"""Most plain Gauss-Seidel sweeps at rest by default."""

EVERY = 0.5
"""Seconds between two reports of a long solve."""

Tell = Callable[[str], object]
"""Callback for progress messages."""


def classic_steps(
    scene: Scene, rest: Rest, solver: str, sweeps: int, tell: Tell
) -> dict[str, tuple[StepResult, float]]:
    """{method: (last step at rest, wall seconds)}, from a cold start.

    "pgs" (Gauss-Seidel) is made twice, as "pgs permuted" with the contacts in random order.
    """
    with Stopwatch() as settling:
        simulation = _simulation_at_rest(scene, rest, solver, tell)

    def tell_cold(text: str) -> None:
        tell(f"contact dynamics, {solver}, cold, {text}")

    tell_cold("contacts in natural order")
    step, last = last_step(simulation, sweeps=sweeps, tell=tell_cold)
    found = {solver: (step, settling.seconds + last)}
    if solver == "pgs":
        tell_cold("contacts in random order")
        options = (simulation.settings.solver_options or {}) | {"order": "random"}
        simulation.settings = replace(simulation.settings, solver_options=options)
        step, last = last_step(simulation, sweeps=sweeps, tell=tell_cold)
        found["pgs permuted"] = step, settling.seconds + last
    return found


def last_step(
    simulation: Simulation, *, cold: bool = True, sweeps: int = SWEEPS, tell: Tell | None = None
) -> tuple[StepResult, float]:
    """Last result and its wall seconds, of a simulation at rest that is left as it was.

    Parameters
    ----------
    simulation
        At rest. Gauss-Seidel makes plain sweeps, as engines and the paper have them, and no
        compatible forces.
    cold
        Whether the step starts without the forces of the one before.
    sweeps
        Most plain sweeps of Gauss-Seidel.
    tell
        Gets a line of text now and then.
    """
    before, settings = simulation.checkpoint(), simulation.settings
    # classic forces depend on where a solver starts, and at rest a warm one would still carry the
    # traces of the last impact
    simulation.warm_start = not cold
    with Stopwatch() as took:
        if settings.solver == "pgs":
            result = _plain_sweeps(simulation, sweeps, tell)
        else:
            result = simulation.step(compatible=True)
    simulation.settings = settings
    simulation.restore(before)
    return result, took.seconds


def _plain_sweeps(simulation: Simulation, sweeps: int, tell: Tell | None) -> StepResult:
    """A step by projected Gauss-Seidel without acceleration; reports progress now and then."""
    start = last = clock.perf_counter()

    def report(made: int, residual: float) -> None:
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


def _simulation_at_rest(scene: Scene, rest: Rest, solver: str, tell: Tell) -> Simulation:
    """A simulation at rest under another solver: by its own run, or at the pose that was found."""
    simulation = Simulation(scene, solver=solver, compatible="never")
    if rest.alone:
        for _ in range(2 * rest.simulation.steps + 100):
            tell(f"contact dynamics, {solver}, {simulation.step().summary}")
            if simulation.at_rest:
                return simulation
    simulation.restore(rest.simulation.checkpoint())
    return simulation
