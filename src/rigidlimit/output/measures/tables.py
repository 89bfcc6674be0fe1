"""Tables of contacts, joints and bodies: what contacts do to each body, how many press on it, what
rattles, and how far contacts are from sliding.

    resultant of body a     F_a = sum over its contacts of f_a, M_a = sum of (x - r_a) x f_a

f_a is the force vector on body a (f n_a without friction, n_a the normal into the body), x the
contact point, r_a the centre of mass, all where the step began, as in its balance.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..._support.display import Brief
from ..._support.words import counted
from ...compatibility.bearing import bearing
from ...compatibility.rough_result import AT_BOUND
from ...errors import InputError
from ...step.force_network import ForceNetwork
from ..sources import network_of
from .selection import Chosen, chosen, pushes
from .tensors import body_stress

if TYPE_CHECKING:
    from ..sources import Source


def neighbours(source: "Source", *, method: str | None = None) -> np.ndarray:
    """How many bodies press on each body.

    The mean over those with any, ``z[z > 0].mean()``, is the coordination number without rattlers;
    walls among the bodies have their own count. A pair that touches in several points counts once.
    A contact is active if its force is above 1e-9 of the largest.

    Parameters
    ----------
    source, method
        As of ``body_forces``.

    Returns
    -------
    (n,) int ndarray

    Raises
    ------
    InputError
        For a source without such forces, and names of no body.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> step = rl.Simulation("beam").step()
    >>> rl.neighbours(step)
    array([1, 1, 1, 3])
    """
    shown = network_of(source)
    force = shown.of(method)[1]
    pairs = np.unique(shown.contacts.body[bearing(force)], axis=0)
    return np.bincount(pairs.ravel(), minlength=len(shown.bodies))


@dataclass(frozen=True, repr=False)
class Coordination(Brief):
    """Coordination number of chosen bodies, with rattlers and without.

    Attributes
    ----------
    mean : float
        Contacts of a body, over the chosen bodies.
    without_rattlers : float
        After removal of rattlers and their contacts.
    rattler : (n,) bool ndarray
    count : (n,) int ndarray
        Remaining contacts of each body.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> found = rl.coordination(rl.Simulation("beam").step(), least=2)
    >>> found.mean, found.count
    (3.0, array([1, 1, 1, 3]))
    """

    mean: float
    without_rattlers: float
    rattler: np.ndarray
    count: np.ndarray

    @property
    def message(self) -> str:
        return (
            f"{self.mean:.4g} contacts a body, {self.without_rattlers:.4g} without "
            f"{counted(int(self.rattler.sum()), 'rattler')}"
        )


def coordination(
    source: "Source",
    *,
    bodies: Chosen = None,
    least: int | None = None,
    method: str | None = None,
    touch: float | None = None,
) -> Coordination:
    """Coordination number of bodies, with rattlers and without.

    Rattlers have fewer than ``least`` active contacts. They are removed with their contacts
    until none is left (C. S. O'Hern, L. E. Silbert, A. J. Liu and S. R. Nagel, Phys. Rev. E 68,
    2003, 011306). Pairs that touch in several points count once; walls count as neighbours.

    Parameters
    ----------
    bodies : names or numbers, optional
        Those that are counted; by default all that are free to move.
    least : int, optional
        By default dim + 1, of rough bodies 2: what a ball without load needs to be held. For
        packings that rest by their weight dim is what holds a smooth ball.
    touch : float [m], optional
        Count pairs with gaps up to this, whatever they carry, as of packings without forces; by
        default those that press.
    source, method
        As of ``body_forces``.

    Raises
    ------
    InputError
        For a source without such forces, and names of no body.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> step = rl.Simulation("rough-pyramid").step()
    >>> round(rl.coordination(step).mean, 3)
    6.133
    """
    shown = network_of(source)
    method, force = shown.of(method)
    if least is None:
        least = 2 if method in shown.tangential else shown.bodies.dim + 1
    meets = bearing(force) if touch is None else shown.contacts.gap <= touch
    pairs = np.unique(shown.contacts.body[meets], axis=0)
    counts = chosen(shown, bodies)
    mean = _mean(np.bincount(pairs.ravel(), minlength=len(counts)), counts)
    rattler = np.zeros(len(counts), bool)
    while True:
        left = pairs[~rattler[pairs].any(axis=1)]
        count = np.bincount(left.ravel(), minlength=len(counts))
        loose = counts & ~rattler & (count < least)
        if not loose.any():
            break
        rattler |= loose
    return Coordination(mean, _mean(count, counts & ~rattler), rattler, count)


def _mean(count: np.ndarray, which: np.ndarray) -> float:
    return float(count[which].mean()) if which.any() else 0.0


def mobilised(source: "Source", *, method: str | None = None) -> np.ndarray:
    """Mobilised friction |f_t|/(mu f_n) of each contact.

    Its mean over the active contacts, ``x[x > 0].mean()``, says how far a packing is from
    sliding.

    Parameters
    ----------
    source, method
        As of ``body_forces``.

    Returns
    -------
    (m,) ndarray
        0 where a contact is not active.

    Raises
    ------
    InputError
        Where bodies are smooth.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> step = rl.Simulation("rough-pyramid").step()
    >>> bool((rl.mobilised(step) <= 1.0 + 1e-12).all())
    True
    """
    shown = network_of(source)
    return shown.mobilised(_rough_method(shown, method))


def sliding_fraction(source: "Source", *, method: str | None = None) -> float:
    """Share of the active contacts that slide, or are at their bound mu f_n.

    Parameters
    ----------
    source, method
        As of ``body_forces``.

    Returns
    -------
    float

    Raises
    ------
    InputError
        Where bodies are smooth.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> step = rl.Simulation("rough-pyramid").step()
    >>> 0.0 <= rl.sliding_fraction(step) <= 1.0
    True
    """
    shown = network_of(source)
    method = _rough_method(shown, method)
    bears = bearing(shown.forces[method])
    slides = shown.sliding.get(method)
    if slides is None:
        slides = shown.mobilised(method) >= 1.0 - AT_BOUND
    return float((slides & bears).sum() / max(bears.sum(), 1))


def _rough_method(shown: ForceNetwork, method: str | None) -> str:
    method, _ = shown.of(method)
    if method not in shown.tangential:
        raise InputError(
            f"the {method} forces have no tangential parts; expected bodies with friction"
        )
    return method


COMPONENTS = {2: ((0, 0), (1, 1), (0, 1)), 3: ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))}
"""Entries of a symmetric tensor, by dimension."""


def contact_table(source: "Source") -> np.ndarray:
    """One row a contact, with named columns: ``pandas.DataFrame(contact_table(run))``.

    Parameters
    ----------
    source
        As of ``body_forces``.

    Returns
    -------
    structured ndarray
        first, second: names of the two bodies; x, y, z: where the force acts [m]; nx, ny, nz: unit
        normal from the first body to the second; gap [m] at the start of the step; and the forces
        of each method the step has [N], ``classic``, ``compatible``, ``dem``. With friction also
        the sizes of their tangential parts [N], ``classic_tangential`` and so on, and of the best
        method (compatible forces where there are any) ``mobilised``, |f_t|/(mu f_n), and
        ``sliding``.

    Raises
    ------
    InputError
        For a source of another kind.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> step = rl.Simulation("beam").step()
    >>> table = rl.contact_table(step)
    >>> print(table["second"], table["x"], table["compatible"].round(4))
    ['beam' 'beam' 'beam'] [-1.  0.  1.] [3.3333 3.3333 3.3333]
    """
    shown = network_of(source)
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


def pair_forces(source: "Source", *, method: str | None = None) -> np.ndarray:
    """One row a pair of bodies that press on one another: the resultant of their contacts.

    The mean of the contact points, weighted by normal forces, is the centre of pressure of a plane
    joint; those of an arch's joints are its thrust line.

    Parameters
    ----------
    source, method
        As of ``body_forces``.

    Returns
    -------
    structured ndarray
        first, second: names of the two bodies; contacts: how many are active; force: magnitude of
        the resultant [N], friction included, fx, fy, fz: on the second body; x, y, z: that mean
        [m].

    Raises
    ------
    InputError
        For a source without such forces, and names of no body.

    Examples
    --------
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
    shown = network_of(source)
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


def body_table(source: "Source", *, method: str | None = None) -> np.ndarray:
    """One row a body, with named columns: ``pandas.DataFrame(body_table(run))``.

    Parameters
    ----------
    source : Simulation, StepResult, Run, or the path of a run
        Whose contact forces these are; a ``Comparison`` or a ``PenaltyResult`` too; of a ``Scene``
        the table has no forces.
    method
        As of ``body_forces``.

    Returns
    -------
    structured ndarray
        name; x, y, z [m]; vx, vy, vz [m/s]; wx, wy, wz [rad/s]; radius [m], of a ball that holds
        the body; mass [kg]; fx, fy, fz [N]: what its contacts do to it; coordination: how many
        bodies press on it; stress_xx, ... [Pa; N/m in 2D] over its own volume, pressure positive.
        In 2D without z, vz, wx, wy, fz and their stresses.

    Raises
    ------
    InputError
        For a source without such forces, and names of no body.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> step = rl.Simulation("beam").step()
    >>> rl.body_table(step)["fy"].round(6)
    array([-3.333333, -3.333333, -3.333333, 10.      ])
    """
    shown = network_of(source)
    dim, velocity = shown.bodies.dim, shown.speeds
    columns = {"name": np.array(shown.bodies.names)}
    columns |= {axis: shown.position[:, k] for k, axis in enumerate("xyz"[:dim])}
    columns |= {"radius": shown.bodies.bounding_radius, "mass": shown.bodies.mass}
    columns |= {f"v{axis}": velocity[:, k] for k, axis in enumerate("xyz"[:dim])}
    columns |= {f"w{axis}": velocity[:, 3 + k] for k, axis in enumerate("xyz") if k >= 6 - 2 * dim}
    if shown.of(method)[0] != "none":
        force = body_forces(shown, method=method)
        columns |= {f"f{axis}": force[:, k] for k, axis in enumerate("xyz"[:dim])}
        columns["coordination"] = neighbours(shown, method=method)
        stress = body_stress(shown, method=method)
        for i, j in COMPONENTS[dim]:
            columns[f"stress_{'xyz'[i]}{'xyz'[j]}"] = 0.5 * (stress[:, i, j] + stress[:, j, i])
    return _table(columns)


def body_forces(source: "Source", *, method: str | None = None) -> np.ndarray:
    """What the contacts do to each body.

    Parameters
    ----------
    source : Simulation, StepResult, Run, or the path of a run
        Whose contact forces these are; also a ``Comparison``,
        a ``PenaltyResult`` or a ``PoseForces``. A run shows its last step; ``run[k]`` is another.
    method : {"classic", "compatible", "dem"}, optional
        Whose forces; by default the compatible ones, where the step has them.

    Returns
    -------
    (n, 6) ndarray [N, N m]
        Force, and moment about the body's centre; of a half-space about its ``position``.

    Raises
    ------
    InputError
        For a source without such forces, and names of no body.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> step = rl.Simulation("beam").step()
    >>> rl.body_forces(step)[3, :2].round(6)  # on the beam
    array([ 0., 10.])
    """
    shown = network_of(source)
    push, arm = pushes(shown, method)
    total = np.zeros((len(shown.bodies), 6))
    np.add.at(total[:, :3], shown.contacts.body, push)
    np.add.at(total[:, 3:], shown.contacts.body, np.cross(arm, push))
    return total


def _table(columns: dict[str, np.ndarray]) -> np.ndarray:
    """The columns, of one length, as a structured array."""
    rows = len(next(iter(columns.values())))
    table = np.empty(rows, [(name, values.dtype) for name, values in columns.items()])
    for name, values in columns.items():
        table[name] = values
    return table
