"""Quasi-static loading paths of periodic packings: isotropic, oedometer, uniaxial, triaxial,
simple and pure shear, each a function that takes a scene and returns a ``LoadingPath`` with a table
of stress, strain, void ratio, coordination, fabric and sliding contacts.

>>> import rigidlimit as rl
>>> scene = rl.Scene(cell=(0.6, 1, 1))
>>> scene.add_many(rl.Sphere(0.1), [(0, 0, 0), (0.2, 0, 0), (0.4, 0, 0)])
[0, 1, 2]
>>> found = rl.paths.oedometer(scene, stresses=[1.0, 2.0], axis="x")
>>> found.table["stress_xx"].round(9).tolist()
[1.0, 2.0]
"""

from collections.abc import Sequence

from . import legs as _legs
from .follow import Loaded, LoadingPath, follow
from .legs import Leg

__all__ = [
    "Leg",
    "LoadingPath",
    "follow",
    "isotropic",
    "oedometer",
    "pure_shear",
    "simple_shear",
    "triaxial",
    "uniaxial",
]


def _bodies(scene):
    from ..scenes.load import as_scene
    from ..simulation import Simulation

    return scene.bodies if isinstance(scene, Simulation) else as_scene(scene).bodies


def isotropic(scene: Loaded, *, pressures: Sequence[float], **options) -> LoadingPath:
    """Stages at rest under pressures from all sides.

    Parameters
    ----------
    scene : Scene, Simulation, str or Path
        With a periodic cell.
    pressures : sequence of float [Pa; N/m in 2D]
        One a stage.
    **options
        Of ``follow``.

    Raises
    ------
    InputError, NoRest, OutputError
        As ``follow``; InputError for pressures that are not positive.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> scene = rl.scenes.periodic_packing(16, dim=2, friction=0.0)
    >>> found = rl.paths.isotropic(scene, pressures=[100.0])
    >>> found.table["stress_yy"].round(6)
    array([100.])
    """
    return follow(scene, _legs.isotropic(_bodies(scene), pressures=pressures), **options)


def oedometer(
    scene: Loaded, *, stresses: Sequence[float], axis: str = "", **options
) -> LoadingPath:
    """Stages at rest under axial stresses, the sides held.

    Parameters
    ----------
    scene : Scene, Simulation, str or Path
        With a periodic cell.
    stresses : sequence of float [Pa; N/m in 2D]
        One a stage.
    axis : {"x", "y", "z"}, optional
        The last one by default.
    **options
        Of ``follow``.

    Raises
    ------
    InputError, NoRest, OutputError
        As ``follow``; InputError for stresses that are not positive, and another axis.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> scene = rl.Scene(cell=(0.6, 1, 1))
    >>> balls = scene.add_many(rl.Sphere(0.1), [(0, 0, 0), (0.2, 0, 0), (0.4, 0, 0)])
    >>> rl.paths.oedometer(scene, stresses=[1.0, 2.0], axis="x").table["stress_xx"].round(9)
    array([1., 2.])
    """
    return follow(scene, _legs.oedometer(_bodies(scene), stresses=stresses, axis=axis), **options)


def uniaxial(
    scene: Loaded, *, strain: float, steps: int, dt: float, axis: str = "", **options
) -> LoadingPath:
    """Compression along an axis at a constant rate, the sides held, until rigid bodies have no room
    left.

    Parameters
    ----------
    scene : Scene, Simulation, str or Path
        With a periodic cell.
    strain : float
        In all, positive in compression.
    steps : int
    dt : float [s]
        Of a step.
    axis : {"x", "y", "z"}, optional
        The last one by default.
    **options
        Of ``follow``.

    Raises
    ------
    InputError, OutputError
        As ``follow``; InputError for a strain of zero, steps and dt that are not positive, and
        another axis.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> scene = rl.scenes.periodic_packing(16, dim=2, friction=0.0)
    >>> found = rl.paths.uniaxial(scene, strain=0.03, steps=3, dt=1e-3)
    >>> found.table["strain_yy"].round(6)  # where steps begin; compression is negative
    array([ 0.  , -0.01, -0.02])
    """
    legs = _legs.uniaxial(_bodies(scene), strain=strain, steps=steps, dt=dt, axis=axis)
    return follow(scene, legs, **options)


def triaxial(
    scene: Loaded,
    *,
    strain: float,
    steps: int,
    pressure: float,
    inertial_number: float = 1e-3,
    axis: str = "",
    **options,
) -> LoadingPath:
    """Compression along an axis, at a constant pressure from the sides; biaxial in the plane.

    Parameters
    ----------
    scene : Scene, Simulation, str or Path
        With a periodic cell.
    strain : float
        In all, positive in compression.
    steps : int
    pressure : float [Pa; N/m in 2D]
        From the sides.
    inertial_number : float
        I = rate d sqrt(rho / p) in space, rate sqrt(m / p) in the plane, which sets the rate: d,
        rho, m the mean diameter, density and mass of the bodies. Up to 1e-3 is quasi-static,
        about.
    axis : {"x", "y", "z"}, optional
        The last one by default.
    **options
        Of ``follow``.

    Raises
    ------
    InputError, OutputError
        As ``follow``; InputError for values out of range, and another axis.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> scene = rl.scenes.periodic_packing(16, dim=2, friction=0.0)
    >>> rest = rl.paths.isotropic(scene, pressures=[100.0]).simulation
    >>> found = rl.paths.triaxial(rest, strain=0.01, steps=2, pressure=100.0)
    >>> found.table["strain_yy"].round(6)  # where steps begin
    array([ 0.   , -0.005])
    """
    given = dict(strain=strain, steps=steps, pressure=pressure, inertial_number=inertial_number)
    return follow(scene, _legs.triaxial(_bodies(scene), **given, axis=axis), **options)


def simple_shear(
    scene: Loaded,
    *,
    strain: float,
    steps: int,
    pressure: float,
    inertial_number: float = 1e-3,
    **options,
) -> LoadingPath:
    """Shear of x along y at a constant normal stress on the planes that slide.

    There is no strain along x and z.

    Parameters
    ----------
    scene : Scene, Simulation, str or Path
        With a periodic cell.
    strain : float
        Shear strain in all.
    steps : int
    pressure : float [Pa; N/m in 2D]
        sigma_yy.
    inertial_number : float
        Sets the rate, as of ``triaxial``.
    **options
        Of ``follow``.

    Raises
    ------
    InputError, OutputError
        As ``follow``; InputError for values out of range.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> scene = rl.scenes.periodic_packing(16, dim=2, friction=0.0)
    >>> rest = rl.paths.isotropic(scene, pressures=[100.0]).simulation
    >>> found = rl.paths.simple_shear(rest, strain=0.02, steps=2, pressure=100.0)
    >>> found.table["strain_xy"].round(6)  # where steps begin
    array([0.  , 0.01])
    """
    given = dict(strain=strain, steps=steps, pressure=pressure, inertial_number=inertial_number)
    return follow(scene, _legs.simple_shear(_bodies(scene), **given), **options)


def pure_shear(
    scene: Loaded,
    *,
    strain: float,
    steps: int,
    pressure: float,
    inertial_number: float = 1e-3,
    **options,
) -> LoadingPath:
    """Extension along x while y gives way at a constant pressure; no strain along z.

    Bodies that dilate make it no more than nearly pure.

    Parameters
    ----------
    scene : Scene, Simulation, str or Path
        With a periodic cell.
    strain : float
        Extension in all.
    steps : int
    pressure : float [Pa; N/m in 2D]
        sigma_yy.
    inertial_number : float
        Sets the rate, as of ``triaxial``.
    **options
        Of ``follow``.

    Raises
    ------
    InputError, OutputError
        As ``follow``; InputError for values out of range.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> scene = rl.scenes.periodic_packing(16, dim=2, friction=0.0)
    >>> rest = rl.paths.isotropic(scene, pressures=[100.0]).simulation
    >>> found = rl.paths.pure_shear(rest, strain=0.01, steps=2, pressure=100.0)
    >>> found.table["strain_xx"].round(6)  # where steps begin
    array([0.   , 0.005])
    """
    given = dict(strain=strain, steps=steps, pressure=pressure, inertial_number=inertial_number)
    return follow(scene, _legs.pure_shear(_bodies(scene), **given), **options)
