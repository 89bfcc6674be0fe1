"""Where MuJoCo's contacts are, between which geoms and bodies, and on which free systems."""

from typing import TYPE_CHECKING

import numpy as np

from ..._support.matrices import Matrix
from .geometry import OUTSIDE, Places
from .links import joined_systems
from .mujoco_model import Structure
from .parts import NamedParts

if TYPE_CHECKING:
    from mujoco import MjData, MjModel


def contact_places(
    model: "MjModel",
    data: "MjData",
    made: Structure,
    row: np.ndarray,
    held: np.ndarray,
    links: Matrix,
    mechanism: np.ndarray,
) -> Places:
    """Of the contacts ``row`` (m,) of MuJoCo's list. held (nv,) bool; links (k, nv): rows of rigid
    ones; mechanism (nv,) int: of each degree of freedom, links included."""
    ncon, contact = int(data.ncon), data.contact
    geom = np.array(contact.geom, int).reshape(ncon, 2)[row]
    body, outer, number = made.geom_body[geom], geom < 0, geom
    if outer.any():
        flex = np.array(contact.flex, int).reshape(ncon, 2)[row]
        number = np.where(outer, len(made.geom_body) + flex, geom)
        body = np.where(outer, OUTSIDE, body)
    system, centre = _systems(data, made, held, links)[body], _middles(model, data, made, mechanism)
    centre = centre[body]
    if outer.any():
        system[outer], centre[outer] = OUTSIDE, np.nan
    frame = np.array(contact.frame, float).reshape(ncon, 3, 3)[row]
    parts = NamedParts(geom=number, body=body, geoms=made.geoms, bodies=made.bodies)
    return Places(
        point=np.array(contact.pos, float).reshape(ncon, 3)[row],
        normal=frame[:, 0],
        tangents=frame[:, 1:],
        names=parts.pairs,
        system=system,
        centre=centre,
        parts=parts,
    )


def _systems(data, made, held, links):
    """(nbody,): number of the free system whose base a body is on, or OUTSIDE."""
    if not links.shape[0] and not held.any():
        return made.system
    whole = ~held[made.base_columns].any(axis=1)
    bodies, columns = made.bases[whole], made.base_columns[whole]
    system = np.full(len(made.root), OUTSIDE)
    system[bodies] = joined_systems(
        links,
        columns,
        np.array(data.xpos, float)[bodies],
        np.broadcast_to(np.eye(3), (len(bodies), 3, 3)),
        np.array(data.xmat, float).reshape(-1, 3, 3)[bodies].transpose(0, 2, 1),
    )
    return system[made.root]


def _middles(model, data, made, mechanism):
    """(nbody, 3): centre of mass of the mechanism that each body is of [m]; nan for what cannot
    move."""
    moving = np.flatnonzero(made.body_tree >= 0)
    part, mass = mechanism[made.body_column[moving]], np.array(model.body_mass, float)[moving]
    push = mass[:, None] * np.array(data.xipos, float)[moving]
    total = np.bincount(part, weights=mass)
    mean = np.stack([np.bincount(part, weights=along) for along in push.T], axis=1)
    middle = np.full((len(made.root), 3), np.nan)
    light = total == 0.0
    middle[moving] = mean[part] / np.where(light, 1.0, total)[part, None]
    if light.any():
        alone = moving[light[part]]
        middle[alone] = np.array(data.subtree_com, float)[made.root[alone]]
    return middle
