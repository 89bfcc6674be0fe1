"""The DEM from a pose of rest: how it starts there, and what it means where it does not stay."""

from dataclasses import dataclass

import numpy as np

from .._support.words import counted
from ..bodies import Bodies, State
from ..bodies.motion import move
from ..diagnostics import determinacy
from ..errors import InputError
from ..scenes.scene import Scene
from ..step import StepResult
from .classic_forces import Tell
from .result import PenaltyProgress, PenaltyResult
from .simulation import PenaltySimulation


@dataclass(frozen=True)
class Settings:
    """Of the DEM from a pose of rest.

    softest: overlap at rest over the size of the smaller body, above which it is not started.
    ramp: steps in which loads grow with friction: hundreds of periods of the slowest elastic wave
        of some ten layers. The error of the finite pace is 1e-4 of the forces, proportional to
        1/ramp.
    lively: restitution for rough bodies: more damping enters Coulomb's bound on the way, by up to
        half of the forces, and with less it oscillates for long.
    left: displacement of a body, over the scene's length, above which it has left the pose of rest.
    longest_way: longest way of a body, over the scene's length, from the pose of rest to the loaded
        one.
    """

    softest: float = 0.1
    ramp: int = 40_000
    lively: float = 0.3
    left: float = 1.0
    longest_way: float = 1e-3


SETTINGS = Settings()


IDLE = {"balls": 100_000, "convex": 30_000}
"""Steps of the DEM from a pose of rest without a lower unbalanced force after which it is given up:
it has only overlaps to find, in some thousands. (From a scene's own pose packings rearrange on
their way, and it is waited for five times as long and more.)"""


def started_dem(
    scene: Scene, state: State | None, slowly: bool, options: dict
) -> PenaltySimulation:
    """The DEM of the scene from ``state`` with these options of ``PenaltySimulation``; slowly: with
    loads that have grown from nothing."""
    if not slowly:
        return PenaltySimulation(scene, state=state, **options)
    if "damping" not in options:
        options = options | {"restitution": SETTINGS.lively}
    loads = scene.external_force()
    dem = PenaltySimulation(scene, state=state, external_force=0.0 * loads, **options)
    dem.load(loads, over=SETTINGS.ramp * dem.dt)
    return dem


def run_to_rest(dem: PenaltySimulation, begun: State | None, tell: Tell) -> PenaltyResult:
    """The run to rest, which ends where a body has left the pose ``begun``, and where nothing gets
    nearer to rest there."""
    least, since = np.inf, dem.steps

    def ends(progress: PenaltyProgress) -> bool:
        nonlocal least, since
        tell(progress.text)
        if begun is None:
            return False
        if progress.unbalanced < 0.9 * least:
            least, since = progress.unbalanced, progress.steps
        idle = progress.steps - since > IDLE[dem.engine.kind]
        return idle or has_left(dem.state, begun, dem.bodies)

    return dem.run(callback=ends)


def _farthest(state: State, begun: State) -> tuple[int, float]:
    """(body that went farthest, its way [m])."""
    way = np.linalg.norm(state.position - begun.position, axis=1)
    return int(way.argmax()), float(way.max())


def has_left(state: State, begun: State, bodies: Bodies) -> bool:
    """Whether a body has gone too far from the pose ``begun``."""
    return _farthest(state, begun)[1] > SETTINGS.left * bodies.length


def why_not_at_rest(result: StepResult, dem: PenaltyResult, begun: State | None) -> str:
    """Why the DEM has not come to rest, and what the contacts at the pose of rest leave free."""
    bodies = result.bodies
    said = f"the unbalanced force of the DEM no longer fell from {dem.unbalanced:.0e} of the load"
    if begun is not None and has_left(dem.state, begun, bodies):
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
    would take a body further than ``longest_way`` are left as they are: there it means nothing.
    """
    at_rest = stopped(result.state)
    if result.compatible is None:
        return at_rest
    way = result.compatible.displacement * scale ** (-1 / (exponent - 1))
    way = way.reshape(-1, 6)
    if (
        np.abs(way * result.bodies.turning_arm).max(initial=0.0)
        > SETTINGS.longest_way * result.bodies.length
    ):
        return at_rest
    return stopped(move(result.bodies, at_rest, way, 1.0))


def stopped(state: State) -> State:
    """The pose at t = 0, without velocities."""
    return state.moved(velocity=np.zeros_like(state.velocity), time=0.0)


def check_stiff(scene: Scene, result: StepResult, scale: float) -> None:
    """A DEM of contacts that sink by the size of a body never comes to a comparable rest."""
    k = np.maximum(scale * result.stiffness, np.finfo(float).tiny)
    sink = (np.maximum(result.force, 0) / k) ** (1 / (scene.exponent - 1))
    radius = scene.bodies.bounding_radius[result.contacts.body].min(axis=1)
    deep = sink / radius
    if not len(deep) or deep.max() <= SETTINGS.softest:
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
