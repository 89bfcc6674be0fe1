"""How far MuJoCo's normals of face on face are certain.

Where faces of two meshes or boxes lie on each other, MuJoCo takes the normal of one of them, by the
order of the geoms in the model, for all contacts of the pair. The faces lean on each other by what
uneven overlaps make: by that angle the normal would be another if the geoms were listed the other
way round, and all that hangs on it is no finding. The angle is seen in the overlaps themselves,
which grow along the faces by its tangent.
"""

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mujoco import MjData, MjModel

FLAT = ("mjGEOM_BOX", "mjGEOM_MESH")
"""Kinds of geoms that have flat faces with normals of their own, of which either may be taken."""


def lean(mujoco: ModuleType, model: "MjModel", data: "MjData", row: np.ndarray) -> np.ndarray:
    """Angle between the two faces of each contact ``row`` (m,) of MuJoCo's list, (m,) [rad]; zero
    where the pair has one contact, or one side has no flat faces.

    It is the difference of the pair's distances over the extent of its contact points: within a
    factor of two of the angle, as its contacts are at the corners of where the faces meet.
    """
    ncon, contact = int(data.ncon), data.contact
    kinds = [int(getattr(mujoco.mjtGeom, name)) for name in FLAT]
    flat = np.append(np.isin(np.array(model.geom_type, int), kinds), False)
    geom = np.array(contact.geom, int).reshape(ncon, 2)
    if not flat[geom].all(axis=1).any():
        return np.zeros(len(row))
    _, pair = np.unique(geom, axis=0, return_inverse=True)
    pair = pair.ravel()
    values = np.column_stack([contact.dist, np.array(contact.pos, float).reshape(ncon, 3)])
    low = np.full((pair.max() + 1, 4), np.inf)
    high = -low
    np.minimum.at(low, pair, values)
    np.maximum.at(high, pair, values)
    wide = np.linalg.norm(high[:, 1:] - low[:, 1:], axis=1)
    angle = np.divide(high[:, 0] - low[:, 0], wide, out=np.zeros_like(wide), where=wide > 0.0)
    return np.where(flat[geom].all(axis=1), angle[pair], 0.0)[row]
