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
    """Stages at rest under pressures [Pa; N/m in 2D] from all sides; options: of ``follow``."""
    return follow(scene, _legs.isotropic(_bodies(scene), pressures=pressures), **options)


def oedometer(
    scene: Loaded, *, stresses: Sequence[float], axis: str = "", **options
) -> LoadingPath:
    """Stages at rest under axial stresses [Pa; N/m in 2D], the sides held.

    axis: "x", "y" or "z", the last one by default. options: of ``follow``.
    """
    return follow(scene, _legs.oedometer(_bodies(scene), stresses=stresses, axis=axis), **options)


def uniaxial(
    scene: Loaded, *, strain: float, steps: int, dt: float, axis: str = "", **options
) -> LoadingPath:
    """Compression along an axis by ``strain`` in ``steps`` steps of dt [s], the sides held, until
    rigid bodies have no room left. options: of ``follow``."""
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
    """Compression along an axis by ``strain`` in ``steps`` steps, at a constant pressure [Pa; N/m
    in 2D] from the sides. inertial_number: see ``legs``. options: of ``follow``."""
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
    """Shear of x along y by ``strain`` in ``steps`` steps at a constant sigma_yy [Pa; N/m in 2D].

    inertial_number: see ``legs``. options: of ``follow``.
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
    """Extension along x by ``strain`` in ``steps`` steps while y gives way at a constant pressure.

    inertial_number: see ``legs``. options: of ``follow``.
    """
    given = dict(strain=strain, steps=steps, pressure=pressure, inertial_number=inertial_number)
    return follow(scene, _legs.pure_shear(_bodies(scene), **given), **options)
