"""Drake's point contacts as arrays, and what its geometries are made of."""

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ..._support.words import counted
from ...errors import InputError
from .geometry import frames_along
from .parts import NamedParts

if TYPE_CHECKING:
    from pydrake.geometry import GeometryVersion, SceneGraphInspector
    from pydrake.multibody.plant import MultibodyPlant
    from pydrake.systems.framework import Context


@dataclass(frozen=True)
class Geometries:
    """Of a scene graph, number by number: name, body of the plant (g,) int, dynamic friction and
    point contact stiffness (g,), nan where there is none. number: by Drake's identifier; version:
    of the scene graph that has them."""

    version: "GeometryVersion"
    number: dict[int, int]
    names: list[str]
    body: np.ndarray
    friction: np.ndarray
    stiffness: np.ndarray


@dataclass(frozen=True)
class PointPairs:
    """m point contacts: geom, body (m, 2) int, sides A and B; frame (m, 3, 3): normal from A to B
    and two tangents; point (m, 3), depth (m,) [m]; push (m, 3) [N], on B; friction (m,), Drake's
    combined coefficients; stiffness (m,) [N/m] of both in series, nan where a side has none."""

    geom: np.ndarray
    body: np.ndarray
    frame: np.ndarray
    point: np.ndarray
    depth: np.ndarray
    push: np.ndarray
    friction: np.ndarray
    stiffness: np.ndarray

    def parts(self, geometries: Geometries, bodies: list[str]) -> NamedParts:
        """With the names of all ``bodies``."""
        return NamedParts(geom=self.geom, body=self.body, geoms=geometries.names, bodies=bodies)


def point_pairs(plant: "MultibodyPlant", context: "Context") -> tuple[PointPairs, Geometries]:
    """Contacts in Drake's order. Raises InputError for contacts of other kinds."""
    results = plant.get_contact_results_output_port().Eval(context)
    deformable = getattr(results, "num_deformable_contacts", int)  # older Drake has none
    others = results.num_hydroelastic_contacts() + deformable()
    if others:
        raise InputError(
            f"found {counted(others, 'hydroelastic or deformable contact')}, each with a pressure "
            "field of its own; expected point contacts: set ContactModel.kPoint, or rigid and "
            "point geometry"
        )
    infos = [results.point_pair_contact_info(i) for i in range(results.num_point_pair_contacts())]
    pairs = [info.point_pair() for info in infos]
    geometries = _geometries(plant, context)
    number = geometries.number
    geom = np.array(
        [(number[pair.id_A.get_value()], number[pair.id_B.get_value()]) for pair in pairs], int
    ).reshape(-1, 2)
    mu, k = (side[geom] for side in (geometries.friction, geometries.stiffness))
    # Drake's means; without a coefficient on one side there is no friction
    friction = np.nan_to_num(_over(2.0 * mu.prod(axis=1), mu.sum(axis=1)))
    found = PointPairs(
        geom=geom,
        body=geometries.body[geom],
        frame=frames_along(-np.array([pair.nhat_BA_W for pair in pairs]).reshape(-1, 3)),
        point=np.array([info.contact_point() for info in infos]).reshape(-1, 3),
        depth=np.array([pair.depth for pair in pairs]),
        push=np.array([info.contact_force() for info in infos]).reshape(-1, 3),
        friction=friction,
        stiffness=_over(k.prod(axis=1), k.sum(axis=1)),
    )
    return found, geometries


def _over(a, b):
    return np.divide(a, b, out=np.full(len(a), np.nan), where=b != 0.0)


def _geometries(plant, context) -> Geometries:
    """Kept until they change: querying all takes longer than mending."""
    from pydrake.geometry import Role

    inspector = plant.get_geometry_query_input_port().Eval(context).inspector()
    version, kept = inspector.geometry_version(), _kept(plant)
    if not kept or not version.IsSameAs(kept[0].version, Role.kProximity):
        kept[:] = [_read(plant, inspector, version)]
    return kept[0]


@lru_cache(maxsize=4)
def _kept(plant) -> list[Geometries]:
    """The geometries last read of ``plant``, if any."""
    return []


def _read(plant, inspector: "SceneGraphInspector", version) -> Geometries:
    every = inspector.GetAllGeometryIds()
    owners = [plant.GetBodyFromFrameId(inspector.GetFrameId(geometry)) for geometry in every]
    sides = [inspector.GetProximityProperties(geometry) for geometry in every]
    friction = [_property(side, "coulomb_friction") for side in sides]
    stiffness = [_property(side, "point_contact_stiffness") for side in sides]
    return Geometries(
        version=version,
        number={geometry.get_value(): i for i, geometry in enumerate(every)},
        names=[inspector.GetName(geometry) for geometry in every],
        body=np.array([-1 if owner is None else int(owner.index()) for owner in owners], int),
        # the plant of discrete time has the dynamic coefficient only
        friction=np.array([np.nan if mu is None else mu.dynamic_friction() for mu in friction]),
        stiffness=np.array([np.nan if k is None else k for k in stiffness], float),
    )


def _property(properties, name):
    if properties is None or not properties.HasProperty("material", name):
        return None
    return properties.GetProperty("material", name)
