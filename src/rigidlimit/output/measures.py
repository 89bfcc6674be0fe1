"""What is read off a force network: tables of contacts and joints, forces on bodies, stress,
neighbours, fabric.

    resultant of body a     F_a = sum over its contacts of f_a, M_a = sum of (x - r_a) x f_a
    mean stress of bodies   V sigma = -sum over bodies a and their contacts of (x - r_a) f_a^T

f_a is the force vector on body a (f n_a without friction, n_a the normal into the body), x the
contact point, r_a the centre of mass, all where the step began, as in its balance. With the sign of
soil mechanics pressure is positive. sigma is that of bodies in balance: weight acts at the centre
of mass and has no moment about it; inertia of bodies that move is left out. It is symmetric where
contacts leave no moment on the bodies, as at rest, where the moments of normal and tangential
forces cancel.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .._support import arrays
from ..errors import InputError, nearest
from ..forces.bearing import bearing
from ..forces.rough import AT_BOUND
from .plots.frames import Frame, frame

if TYPE_CHECKING:
    from ..scenes.scene import Scene
    from .plots.frames import Source
Chosen = str | int | Sequence[str | int] | np.ndarray | None
"""Names or numbers of bodies; None: all that are free to move in some way, or all."""


def contact_table(source: "Source", *, scene: "Scene | None" = None, index: int = -1) -> np.ndarray:
    """One row a contact, with named columns: ``pandas.DataFrame(contact_table(run))``.

    first, second: names of the two bodies; x, y, z: where the force acts [m]; nx, ny, nz: unit
    normal from the first body to the second; gap [m] at the start of the step; and the forces of
    each method the step has [N], ``classic``, ``compatible``, ``dem``. With friction also the sizes
    of their tangential parts [N], ``classic_tangential`` and so on, and of the best method
    (compatible forces where there are any) ``mobilised``, |f_t|/(mu f_n), and ``sliding``.

    source: a run or its file (index: which stored step), a step of a run or a ``StepResult``, a
    ``Simulation``; with ``scene`` a ``Comparison`` or a ``PenaltyResult``.

    >>> import rigidlimit as rl
    >>> table = rl.contact_table(rl.Simulation("beam").step())
    >>> print(table["second"], table["x"], table["compatible"].round(4))
    ['beam' 'beam' 'beam'] [-1.  0.  1.] [3.3333 3.3333 3.3333]
    """
    shown = frame(source, scene=scene, index=index)
    contacts = shown.contacts
    names = np.array(shown.bodies.names)
    columns = {"first": names[contacts.body[:, 0]], "second": names[contacts.body[:, 1]]}
    for k, axis in enumerate("xyz"):
        columns[axis] = contacts.point[:, k]
    for k, axis in enumerate("xyz"):
        columns[f"n{axis}"] = contacts.normal[:, k]
    columns["gap"] = contacts.gap
    columns |= shown.forces
    for method, vectors in shown.tangential.items():
        columns[f"{method}_tangential"] = np.linalg.norm(vectors, axis=1)
    if shown.best in shown.tangential:
        columns["mobilised"] = shown.mobilised(shown.best)
        columns["sliding"] = shown.sliding[shown.best]
    return _table(columns)


def pair_forces(
    source: "Source", *, method: str | None = None, scene: "Scene | None" = None, index: int = -1
) -> np.ndarray:
    """One row a pair of bodies that press on one another: the joint's resultant, where it acts.

    first, second: names of the two bodies; contacts: how many bear; force: magnitude of the
    resultant [N], friction included, fx, fy, fz: on the second body; x, y, z: mean of the contact
    points, weighted by their normal forces [m]. Of a plane joint that is the centre of pressure,
    and the points of an arch's joints are its thrust line. method, source: as in ``body_forces``.

    >>> import rigidlimit as rl
    >>> scene = rl.Scene(dim=2, gravity=(0, -10))
    >>> scene.add(rl.HalfSpace(2), position=(0, 0), name="ground")
    0
    >>> scene.add(rl.rectangle(1, 1), position=(0, 0.5), mass=2, load=(0, 0, -5), name="block")
    1
    >>> joint = rl.pair_forces(rl.Simulation(scene).step())[0]
    >>> print(joint["second"], joint["contacts"], joint["fy"].round(6), joint["x"].round(6))
    block 2 20.0 0.25
    """
    shown = frame(source, scene=scene, index=index)
    method, force = shown.of(method)
    body = shown.contacts.body
    which = np.flatnonzero(bearing(force))
    pairs, row = np.unique(body[which], axis=0, return_inverse=True)
    total, at, push = np.zeros(len(pairs)), np.zeros((len(pairs), 3)), np.zeros((len(pairs), 3))
    row, f = row.ravel(), force[which, None]
    np.add.at(total, row, force[which])
    np.add.at(at, row, f * shown.contacts.point[which])
    np.add.at(push, row, shown.vectors(method)[which])
    at /= total[:, None]
    names = np.array(shown.bodies.names)
    columns = {"first": names[pairs[:, 0]], "second": names[pairs[:, 1]]}
    columns["contacts"] = np.bincount(row, minlength=len(pairs))
    columns["force"] = np.linalg.norm(push, axis=1)
    columns |= {f"f{axis}": push[:, k] for k, axis in enumerate("xyz")}
    columns |= {axis: at[:, k] for k, axis in enumerate("xyz")}
    return _table(columns)


def body_forces(
    source: "Source", *, method: str | None = None, scene: "Scene | None" = None, index: int = -1
) -> np.ndarray:
    """What the contacts do to each body, (n, 6): force [N] and moment about its centre [N m].

    ``body_forces(result)[scene.index("floor"), :3]`` is the force on the floor. A half-space's
    moment is about its ``position``. method: "classic", "compatible" or "dem"; the compatible
    forces by default, where the step has them. source: as in ``contact_table``.
    """
    shown = frame(source, scene=scene, index=index)
    push, arm = _pushes(shown, method)
    total = np.zeros((len(shown.bodies), 6))
    np.add.at(total[:, :3], shown.contacts.body, push)
    np.add.at(total[:, 3:], shown.contacts.body, np.cross(arm, push))
    return total


def stress(
    source: "Source",
    volume: float,
    *,
    bodies: Chosen = None,
    method: str | None = None,
    scene: "Scene | None" = None,
    index: int = -1,
) -> np.ndarray:
    """Mean stress tensor of a packing in balance, (dim, dim) [Pa; N/m in 2D]; pressure positive.

    volume [m^3; m^2 in 2D]: of the region that the bodies fill, voids included. bodies: whose
    stress is summed, names or numbers; by default all that are free to move in some way (leave
    out a lid that presses on the packing). method, source: as in ``body_forces``.
    """
    shown = frame(source, scene=scene, index=index)
    arrays.positive("volume", volume)
    push, arm = _pushes(shown, method)
    chosen = _chosen(shown, bodies)[shown.contacts.body]
    dim = shown.bodies.dim
    return 0.0 - np.einsum("mi,mj->ij", arm[chosen], push[chosen])[:dim, :dim] / volume


def neighbours(
    source: "Source", *, method: str | None = None, scene: "Scene | None" = None, index: int = -1
) -> np.ndarray:
    """How many bodies press on each body, (n,).

    The mean over those with any, ``z[z > 0].mean()``, is the coordination number without
    rattlers; walls among the bodies have their own count. A pair that touches in several points
    counts once. A contact bears if its force is above 1e-9 of the largest. method, source: as in
    ``body_forces``.
    """
    shown = frame(source, scene=scene, index=index)
    force = shown.of(method)[1]
    pairs = np.unique(shown.contacts.body[bearing(force)], axis=0)
    return np.bincount(pairs.ravel(), minlength=len(shown.bodies))


def fabric(
    source: "Source",
    *,
    bodies: Chosen = None,
    weighted: bool = False,
    method: str | None = None,
    scene: "Scene | None" = None,
    index: int = -1,
) -> np.ndarray:
    """Fabric tensor, the mean of n n^T over the contacts that bear, (dim, dim), of trace 1.

    1/dim on its diagonal: normals point in all directions alike. bodies: only contacts of these,
    names or numbers; by default all. weighted: each contact counts by its force. A contact bears
    if its force is above 1e-9 of the largest. method, source: as in ``body_forces``.
    """
    shown = frame(source, scene=scene, index=index)
    force = shown.of(method)[1]
    counts = bearing(force)
    if bodies is not None:
        counts &= _chosen(shown, bodies)[shown.contacts.body].any(axis=1)
    share = np.where(counts, force if weighted else 1.0, 0.0)
    total = float(share.sum())
    if total == 0.0:
        raise InputError("no contact bears; expected a step with forces, and bodies that touch")
    n, dim = shown.contacts.normal, shown.bodies.dim
    return np.einsum("m,mi,mj->ij", share, n, n)[:dim, :dim] / total


def mobilised(
    source: "Source", *, method: str | None = None, scene: "Scene | None" = None, index: int = -1
) -> np.ndarray:
    """Mobilised friction |f_t|/(mu f_n) of each contact, (m,); 0 where it does not bear.

    Its mean over the contacts that bear, ``x[x > 0].mean()``, says how far a packing is from
    sliding. method, source: as in ``body_forces``. Raises InputError where bodies are smooth.
    """
    shown = frame(source, scene=scene, index=index)
    return shown.mobilised(_rough_method(shown, method))


def sliding_fraction(
    source: "Source", *, method: str | None = None, scene: "Scene | None" = None, index: int = -1
) -> float:
    """Share of the contacts that bear which slide, or are at their bound mu f_n.

    method, source: as in ``body_forces``. Raises InputError where bodies are smooth.
    """
    shown = frame(source, scene=scene, index=index)
    method = _rough_method(shown, method)
    bears = bearing(shown.forces[method])
    slides = shown.sliding.get(method)
    if slides is None:
        slides = shown.mobilised(method) >= 1.0 - AT_BOUND
    return float((slides & bears).sum() / max(bears.sum(), 1))


def _rough_method(shown: Frame, method: str | None) -> str:
    method, _ = shown.of(method)
    if method not in shown.tangential:
        raise InputError(
            f"the {method} forces have no tangential parts; expected bodies with friction"
        )
    return method


def _table(columns: dict[str, np.ndarray]) -> np.ndarray:
    """The columns, of one length, as a structured array."""
    rows = len(columns["first"])
    table = np.empty(rows, [(name, values.dtype) for name, values in columns.items()])
    for name, values in columns.items():
        table[name] = values
    return table


def _pushes(shown: Frame, method: str | None) -> tuple[np.ndarray, np.ndarray]:
    """(push, arm), (m, 2, 3) each: the force on either body of each contact, and where it acts
    from the centre that the body had where the step began."""
    push = shown.vectors(method)[:, None, :] * np.array([[-1.0], [1.0]])
    return push, shown.contacts.point[:, None, :] - shown.start[shown.contacts.body]


def _chosen(shown: Frame, bodies) -> np.ndarray:
    """Which bodies are meant, (n,) bool."""
    if bodies is None:
        return shown.bodies.free.any(axis=1)
    names, found = shown.bodies.names, np.zeros(len(shown.bodies), bool)
    for body in [bodies] if isinstance(bodies, str) else np.atleast_1d(bodies):
        if isinstance(body, str):
            if body not in names:
                raise InputError(f"bodies: no body is named {str(body)!r}; {nearest(body, names)}")
            found[names.index(body)] = True
        elif isinstance(body, int | np.integer) and 0 <= body < len(names):
            found[body] = True
        else:
            raise InputError(f"bodies: found {body}; expected names, or numbers below {len(names)}")
    return found
