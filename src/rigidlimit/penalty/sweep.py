"""The stiff limit of the DEM's forces."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from .._support import arrays
from .._support.words import counted
from ..errors import InputError
from ..scenes.load import as_scene
from ..scenes.scene import Scene
from ..step import StepResult
from .classic_forces import last_step
from .compare import nearest_vectors
from .from_rest import (
    check_stiff,
    has_left,
    loaded_pose,
    run_to_rest,
    started_dem,
    stopped,
    why_not_at_rest,
)
from .rest import settle as bring_to_rest


def stiffness_sweep(
    scene: Scene | str | Path,
    scales: Sequence[float] = (1e-4, 1e-3, 1e-2),
    *,
    rest_tolerance: float = 1e-8,
    result: StepResult | None = None,
    loaded: bool = False,
    callback: Callable[[str], object] | None = None,
) -> tuple[np.ndarray, np.ndarray, float]:
    """The limit made visible: DEM against compatible forces at growing stiffness.

    Overlaps shrink as k^(-1/(p-1)), and with them what they change in the geometry.

    Parameters
    ----------
    scene : Scene, str or Path
        A ``Scene``, the name of one in the gallery, or a TOML file.
    scales : sequence of float
        Factors on all stiffnesses, two at least.
    rest_tolerance : float
        The DEM's, see ``PenaltySimulation``.
    result : StepResult, optional
        The step at rest, as ``Comparison.result``; found here where it is None.
    loaded : bool
        Whether the DEM starts from ``loaded_pose``, as it does for a rest found here that took
        more than contact dynamics.
    callback : callable, optional
        Gets a line of text now and then.

    Returns
    -------
    scales : (s,) ndarray
    errors : (s,) ndarray
        |f - f_dem| / |f| of all contact forces.
    slope : float
        Of the fit error ~ scale^slope.

    Raises
    ------
    InputError
        For scales at which bodies would sink far into each other, or leave the pose of rest.
    NoRest
        Where the scene does not come to rest.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> scene = rl.scenes.pyramid(3, drop=0.0)
    >>> scales, errors, slope = rl.penalty.stiffness_sweep(scene, (1e-4, 1e-3))
    >>> round(slope, 3)
    -1.0
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
    check_stiff(scene, result, min(scales))
    errors = []
    for scale in scales:
        state = loaded_pose(result, scale, scene.exponent) if loaded else stopped(result.state)

        def tell(text: str, scale: float = scale):
            if callback is not None:
                callback(f"DEM, stiffness x {scale:g}, {text}")

        options = {"stiffness_scale": scale, "rest_tolerance": rest_tolerance}
        simulation = started_dem(scene, state, result.T is not None, options)
        begun = simulation.state
        dem = run_to_rest(simulation, begun, tell)
        if has_left(dem.state, begun, scene.bodies):
            why = why_not_at_rest(result, dem, begun)
            raise InputError(
                f"DEM, stiffness x {scale:g}: {why}; expected scales at which it stays"
            )
        own, force = result.force, result.contacts.nearest(dem.contacts, dem.force)
        if result.T is not None:
            own = result.force_vectors
            force = nearest_vectors(result.contacts, dem.contacts, dem.force_vectors)
        errors.append(np.linalg.norm(force - own) / np.linalg.norm(own))
    slope = float(np.polyfit(np.log(scales), np.log(errors), 1)[0])
    return np.asarray(scales), np.array(errors), slope
