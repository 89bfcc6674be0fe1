"""Tangential springs with a memory, capped by Coulomb's bound: the friction of the penalty method.

At a contact with normal n from the first body to the second, normal force f and overlap c, v_t is
the tangential velocity of the second body relative to the first at the contact point, spins
included. The spring xi is what v_t adds up to while the contact lasts; the force on the second body

    f_t = -(k_t c^(p-2) xi + gamma_t v_t)    cut down to |f_t| <= mu max(0, f),

with xi := -(f_t + gamma_t v_t)/(k_t c^(p-2)) where it is cut. xi turns with the normal at constant
length, and about it with the mean spin of both bodies; it is zero once the contact opens. gamma_t
is the normal damping coefficient times a factor. These are the laws of LAMMPS's pair_style granular
(whose springs do not turn about the normal), by the names

    "mindlin"         as above: ``tangential linear_history`` with Hooke, ``mindlin`` with Hertz
    "mindlin/force"   the spring is kept as a force, which grows by k_t c^(p-2) v_t dt: a rise of c
                      does not stiffen what was there before. The same with Hooke.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from .._support import arrays
from ..bodies import Bodies
from ..bodies.materials import MINDLIN_FORCE, TANGENTIAL_LAWS
from ..collision.contacts import Contacts
from ..compatibility.law import contact_stiffness
from ..compatibility.rough_result import ContactHistory
from ..errors import InputError
from ..kinematics import in_frame
from ..scenes.scene import Scene

if TYPE_CHECKING:
    from .engine import Law


@dataclass(frozen=True)
class Friction:
    """What friction adds to ``engine.Law``.

    pair_friction: {(i, j): mu}, pair_ratio: {(i, j): k_t/k_n}: in place of the materials'.
    damping: gamma_t over the normal damping coefficient. keeps_force: "mindlin/force".
    """

    pair_friction: dict | None
    pair_ratio: dict | None
    damping: float
    keeps_force: bool


def friction_law(scene: Scene, law: str, damping: float) -> Friction:
    """``Friction`` of a scene; law: one of ``TANGENTIAL_LAWS``, damping: factor on gamma."""
    if law not in TANGENTIAL_LAWS:
        raise InputError(f"tangential_law is {law!r}; expected {' or '.join(TANGENTIAL_LAWS)}")
    if not 0 <= arrays.number(damping) < np.inf:
        raise InputError(f"tangential_damping is {damping!r}; expected a factor >= 0")
    return Friction(
        scene.pair_friction, scene.pair_tangential_stiffness, float(damping), law == MINDLIN_FORCE
    )


def spring_energy(
    springs: np.ndarray,
    stiffness: np.ndarray,
    overlap: np.ndarray,
    exponent: float,
    keeps_force: bool,
) -> float:
    """Elastic energy [J] of tangential springs (m, 3); stiffness (m,): k_t, overlap (m,) [m]."""
    k = stiffness * np.maximum(overlap, 0.0) ** (exponent - 2)
    squares = (springs**2).sum(axis=1)
    if keeps_force:
        k = np.divide(1.0, k, out=np.zeros_like(k), where=(k > 0) & (squares > 0))
    return float(0.5 * (k * squares).sum())


def contact_history(
    bodies: Bodies, law: "Law", contacts: Contacts, tangential: np.ndarray
) -> ContactHistory:
    """What these contacts remember: forces of their overlaps, negative by their gaps where they are
    open, and tangential forces (m, 3) [N], along ``contacts.tangents``. law: ``engine.Law``."""
    k = law.scale * contact_stiffness(bodies, contacts, law.exponent, law.pair_stiffness)
    normal = -np.sign(contacts.gap) * k * np.abs(contacts.gap) ** (law.exponent - 1)
    return ContactHistory(normal, in_frame(contacts, tangential))


@njit(cache=True, inline="always", error_model="numpy", fastmath={"contract"})
def rub(
    spring: np.ndarray,
    e: int,
    n: tuple[float, float, float],
    v: tuple[float, float, float],
    twist: float,
    bound: float,
    law: tuple[float, float, bool],
    h: float,
):
    """f_t (3 numbers) on the second body; spring[e], kept as xi or as a force, moves on by h.

    n, v: normal and v_t. twist [rad/s]: mean spin about the normal. law: stiffness k_t c^(p-2),
    damping gamma_t, and whether springs are kept as forces. h = 0 [s] keeps the spring unchanged; v
    must then be of the call that moved it last: a spring that was cut holds what the bound left of
    the damping.
    """
    (nx, ny, nz), (vx, vy, vz), (stiffness, damping, keeps_force) = n, v, law
    sx, sy, sz = spring[e, 0], spring[e, 1], spring[e, 2]
    unit = 1.0 if keeps_force else stiffness
    if h > 0.0:
        before = sx * sx + sy * sy + sz * sz
        if before > 0.0:
            a = h * twist
            sx, sy, sz = (
                sx + a * (ny * sz - nz * sy),
                sy + a * (nz * sx - nx * sz),
                sz + a * (nx * sy - ny * sx),
            )
            along = sx * nx + sy * ny + sz * nz
            sx, sy, sz = sx - along * nx, sy - along * ny, sz - along * nz
            after = sx * sx + sy * sy + sz * sz
            scale = np.sqrt(before / after) if after > 0.0 else 0.0
            sx, sy, sz = sx * scale, sy * scale, sz * scale
        grown = h * stiffness if keeps_force else h
        sx, sy, sz = sx + grown * vx, sy + grown * vy, sz + grown * vz
    tx = -(unit * sx + damping * vx)
    ty = -(unit * sy + damping * vy)
    tz = -(unit * sz + damping * vz)
    square = tx * tx + ty * ty + tz * tz
    if square > bound * bound:
        part = bound / np.sqrt(square)
        tx, ty, tz = tx * part, ty * part, tz * part
        if unit > 0.0:
            sx = -(tx + damping * vx) / unit
            sy = -(ty + damping * vy) / unit
            sz = -(tz + damping * vz) / unit
    if h > 0.0:
        spring[e, 0], spring[e, 1], spring[e, 2] = sx, sy, sz
    return tx, ty, tz
