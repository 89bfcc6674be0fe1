"""Classic contact dynamics, compatible forces and the DEM on one scene, at rest.

Forces of rough bodies depend on how they were loaded. Compatible forces are those of the unloaded
state then (``compatibility.rough``), and the DEM sets out from the pose of rest without loads,
which grow slowly: the same history. A pose that stands by the squeeze of its past may not come to
rest so.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from .._support import arrays
from .._support.display import Brief
from .._support.stopwatch import Stopwatch
from .._support.words import counted
from ..bodies import State
from ..collision.contacts import Contacts
from ..compatibility.bearing import bearing
from ..compatibility.friction import has_friction
from ..dynamics import ContactDynamicsResult
from ..errors import InputError
from ..scenes.load import as_scene
from ..scenes.scene import Scene
from ..step import StepResult
from ..step.force_network import ForceNetwork
from .classic_forces import SWEEPS, Tell, classic_steps, last_step
from .from_rest import check_stiff, loaded_pose, run_to_rest, started_dem, stopped, why_not_at_rest
from .rest import settle as bring_to_rest
from .result import PenaltyResult


@dataclass(frozen=True, repr=False)
class Comparison(Brief):
    """Forces of one scene at rest by several methods, on the m contacts of ``contacts``.

    Methods are "pgs" (sweeps in natural order), "pgs permuted", "apgd", "compatible" and "dem".

    Attributes
    ----------
    contacts : Contacts
    force : dict of str to (m,) ndarray [N]
        By method.
    floor_error : dict of str to float
        |F - F_dem| / |F_dem| of the resultant forces on held bodies, as in the paper's table 1.
    contact_error : dict of str to float
        The same over all contact forces, as vectors where bodies rub.
    overshoot : dict of str to float
        Largest force over the DEM's, less one.
    seconds : dict of str to float [s]
        Wall time of each method without compilation.
    dem : PenaltyResult
        The run itself.
    state : State
        At rest.
    physical_time : float [s]
        After which it is.
    result : StepResult
        The step at rest that the compatible forces are of, by the Newton solver.
    how : str
        Who found the rest.
    loaded : bool
        The DEM started from ``loaded_pose``.
    classic_results : dict of str to ContactDynamicsResult
        Of the classic methods, of which Gauss-Seidel may have ended before it converged.
    unrest : str
        Why the DEM is not at rest, in words; its forces then are those of a motion, and the errors
        say nothing.
    vectors : dict of str to (m, 3) ndarray [N], or None
        Forces by method where bodies rub.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> found = rl.penalty.compare("beam")
    >>> found.contact_error["compatible"] < 1e-5, sorted(found.force)
    (True, ['apgd', 'compatible', 'dem', 'pgs', 'pgs permuted'])
    """

    contacts: Contacts
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
    def network(self) -> ForceNetwork:
        """What plots, measures and export show: forces of all methods at rest."""
        scene = self.dem.scene
        return ForceNetwork(
            bodies=scene.bodies,
            position=self.state.position,
            quaternion=self.state.quaternion,
            contacts=self.contacts,
            forces=dict(self.force),
            gravity=scene.gravity,
            time=self.state.time,
            name=scene.name,
        )

    @property
    def message(self) -> str:
        """The errors of all methods in a line, and why they are none if the DEM does not rest."""
        errors = ", ".join(f"{name} {error:.1e}" for name, error in self.contact_error.items())
        text = f"{counted(len(self.contacts), 'contact')}, off the DEM's forces by {errors}"
        return f"{text}; NOT at rest: {self.unrest}" if self.unrest else text

    def bears(self, method: str) -> np.ndarray:
        """Contacts (m,) that carry more than a billionth of the DEM's largest force.

        Parameters
        ----------
        method : str
            Whose forces: a key of ``force``.
        """
        return bearing(self.force[method], self.force["dem"].max(initial=0.0))

    @property
    def shared(self) -> np.ndarray:
        """Contacts (m,) that are active both in the DEM and under compatible forces."""
        return self.bears("compatible") & self.bears("dem")

    @property
    def shared_error(self) -> float:
        """|f - f_dem| / |f_dem| of the compatible forces over the ``shared`` contacts."""
        whole = self.force if self.vectors is None else self.vectors
        f, dem = (whole[name][self.shared] for name in ("compatible", "dem"))
        return float(np.linalg.norm(f - dem) / (np.linalg.norm(dem) or 1.0))


def compare(
    scene: Scene | str | Path,
    *,
    settle: str = "dynamics",
    stiffness_scale: float = 1.0,
    rest_tolerance: float = 1e-7,
    whole_run: bool = False,
    damping: float | None = None,
    sweeps: int = SWEEPS,
    callback: Callable[[str], object] | None = None,
) -> Comparison:
    """Run a scene to rest by each method and compare the contact forces.

    The DEM starts from the pose of rest; the state of rest that it finds is its own. A pose that
    had to be found is loaded first, see ``loaded_pose``. A DEM that moves away from the pose of
    rest, as balancing masonry does, is stopped there: see ``Comparison.unrest``.

    Parameters
    ----------
    scene : Scene, str or Path
        A ``Scene``, the name of one in the gallery, or a TOML file.
    settle : {"dynamics", "dem"}
        Who brings the scene to rest, contact dynamics or a soft DEM, as in ``rl.settle``. If it
        takes more than contact dynamics alone, all classic solvers are compared in the pose of
        rest found.
    stiffness_scale : float
        Factor on all stiffnesses of the DEM.
    rest_tolerance : float
        The DEM's, see ``PenaltySimulation``.
    whole_run : bool
        Whether the DEM starts from the scene's own pose.
    damping : float, optional
        The DEM's, see ``PenaltySimulation``.
    sweeps : int
        Most that Gauss-Seidel makes at rest, where it creeps in large packings; what it has by
        then is compared.
    callback : callable, optional
        Gets a line of text on how things go.

    Raises
    ------
    InputError
        For values out of range, and a DEM whose bodies would sink far into each other.
    NoRest
        Where the scene does not come to rest.
    SceneError
        For a name or file that is no scene.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> found = rl.penalty.compare("beam")
    >>> found.force["compatible"].round(4), found.unrest
    (array([3.3333, 3.3333, 3.3333]), '')
    """
    scene = as_scene(scene)
    _check(settle, stiffness_scale, sweeps)
    rough = has_friction(scene.bodies, scene.pair_friction)

    def tell(text: str) -> None:
        if callback is not None:
            callback(text)

    with Stopwatch() as settling:
        rest = bring_to_rest(scene, by=settle, callback=tell)
    # compatible forces do not depend on the start; a cold one is slow in random packings
    result, last = last_step(rest.simulation, cold=rest.alone or rough)
    check_stiff(scene, result, stiffness_scale)
    timed = classic_steps(scene, rest, "pgs", sweeps, tell)
    timed |= classic_steps(scene, rest, "apgd", sweeps, tell)
    classic = {name: step for name, (step, _) in timed.items()}
    before = 0.0 if rest.alone else settling.seconds
    seconds = {name: before + own for name, (_, own) in timed.items()}
    seconds["compatible"] = settling.seconds + last
    loaded = not (whole_run or rest.alone or rough)
    options = {"stiffness_scale": stiffness_scale, "rest_tolerance": rest_tolerance}
    options |= {} if damping is None else {"damping": damping}
    with Stopwatch() as of_dem:
        state = None if whole_run else stopped(result.state)
        if loaded:
            state = loaded_pose(result, stiffness_scale, scene.exponent)
        reference, unrest = _dem_run(scene, result, state, options, tell)
    seconds["dem"] = of_dem.seconds
    force = _normal_forces(result, reference, classic)
    vectors = _force_vectors(result, reference, classic) if rough else None
    whole = vectors or force
    # resultants on held bodies, zero for free ones
    free = scene.bodies.free.any(axis=1)[:, None]
    floor = {name: np.where(free, 0.0, result.contacts.resultants(f)) for name, f in whole.items()}
    return Comparison(
        contacts=result.contacts,
        force=force,
        floor_error=_errors(floor),
        contact_error=_errors(whole),
        overshoot=_overshoot(force),
        seconds=seconds,
        dem=reference,
        state=result.state,
        physical_time=result.time,
        result=result,
        how=rest.how,
        loaded=loaded,
        classic_results={name: step.classic for name, step in classic.items()},
        unrest=unrest,
        vectors=vectors,
    )


def _check(settle: str, stiffness_scale: float, sweeps: int) -> None:
    """Raises InputError for options of ``compare`` that there are not."""
    if settle not in ("dynamics", "dem"):
        raise InputError(f"settle is {settle!r}; expected 'dynamics' or 'dem'")
    arrays.positive("stiffness_scale", stiffness_scale)
    if sweeps < 1:
        raise InputError(f"sweeps is {sweeps}; expected one at least")


def _dem_run(
    scene: Scene, result: StepResult, state: State | None, options: dict, tell: Tell
) -> tuple[PenaltyResult, str]:
    """(the DEM's run to rest from ``state``, the scene's own where it is None; why it is not at
    rest, "" if it is)."""
    slowly = result.T is not None and state is not None
    dem = started_dem(scene, state, slowly, options)
    begun = None if state is None else dem.state
    reference = run_to_rest(dem, begun, lambda text: tell(f"DEM, {text}"))
    return reference, "" if reference.at_rest else why_not_at_rest(result, reference, begun)


def _normal_forces(
    result: StepResult, dem: PenaltyResult, classic: dict[str, StepResult]
) -> dict[str, np.ndarray]:
    """{method: (m,) [N]} on the contacts of ``result``."""
    contacts = result.contacts
    return {
        name: contacts.nearest(step.contacts, step.classic.force) for name, step in classic.items()
    } | {"compatible": result.force, "dem": contacts.nearest(dem.contacts, dem.force)}


def _force_vectors(
    result: StepResult, dem: PenaltyResult, classic: dict[str, StepResult]
) -> dict[str, np.ndarray]:
    """{method: (m, 3) [N]} on the contacts of ``result``, which are rough."""
    contacts = result.contacts
    return {
        # without compatible forces, those of a step are of step 1
        name: nearest_vectors(contacts, step.contacts, replace(step, compatible=None).force_vectors)
        for name, step in classic.items()
    } | {
        "compatible": result.force_vectors,
        "dem": nearest_vectors(contacts, dem.contacts, dem.force_vectors),
    }


def nearest_vectors(contacts: Contacts, other: Contacts, vectors: np.ndarray) -> np.ndarray:
    """``Contacts.nearest`` of vectors (k, 3)."""
    return np.column_stack([contacts.nearest(other, v) for v in vectors.T])


def _errors(values: dict[str, np.ndarray]) -> dict[str, float]:
    """|f - f_dem| / |f_dem| of each method."""
    size = np.linalg.norm(values["dem"]) or 1.0
    return {
        name: float(np.linalg.norm(value - values["dem"]) / size)
        for name, value in values.items()
        if name != "dem"
    }


def _overshoot(force: dict[str, np.ndarray]) -> dict[str, float]:
    """Largest force of each method over the DEM's, less one."""
    top = force["dem"].max(initial=0.0) or 1.0
    return {name: float(f.max(initial=0.0) / top - 1) for name, f in force.items() if name != "dem"}
