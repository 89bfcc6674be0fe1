"""Data of an engine's step: its contacts, and the degrees of freedom that move them.

Every reader of an engine fills one ``EngineContacts``; all later stages see nothing else. With m
contacts and n degrees of freedom (the engine's own velocities v),

    B v  (m,)    normal velocity, > 0 opens          f_n (m,)      engine's normal forces
    T v  (s m,)  velocities along s directions       f_t (m, k)    engine's friction forces

rows s i, s i + 1, ... of T belong to contact i, and its first two are along ``places.tangents``.
Forces on all bodies are B^T f_n + T^T f_t, so the total wrench that the engine's contacts deliver
is known without its mass matrix.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numba import njit

from ..._support import arrays
from ..._support.display import Brief
from ..._support.matrices import Matrix, compact, from_rows, taken
from ...compatibility.rough_result import ContactHistory
from ...errors import InputError
from .adhesion import checked_adhesion, said_of, slack, without_pulls
from .checks import check_finite, parts
from .geometry import Places
from .links import joined
from .materials import friction_of, stiffness_of
from .matrices import compressed, delivered, row_sizes, without_rounding
from .memory import ContactSprings, checked_springs, history_of
from .sizes import mechanism_sizes
from .tolerances import TOLERANCES


@dataclass(frozen=True, repr=False)
class EngineContacts(Brief):
    """Contacts and forces of one step of an engine, and the directions in which bodies may move.

    Parameters
    ----------
    B : (m, n)
        Normal rows: B v > 0 opens.
    engine_force : (m,) [N], optional
        Normal forces, net of adhesion; None where only a load is known.
    adhesion : (m,) [N]
        Largest pull of each contact.
    sliding : (s m, n), optional
        T: velocities along the first s >= 2 directions of ``tangential``.
    tangential : (m, k) [N, N m], optional
        Friction forces and moments.
    friction : (m, k), optional
        Their coefficients, nan where not given.
    cone : {"elliptic", "pyramid", "box"}
        What the engine bounds by f_n: a key of ``coulomb.CONES``.
    stiffness : float, (m,) or by name
        Relative: see ``materials``.
    own_friction : float, (contacts,) or by name, optional
        In place of the engine's coefficients of both sliding directions.
    gap, gap_tolerance : (m,) [m], optional
        At the end of the step.
    load : (n,) [N, N m], optional
        To carry in place of the engine's resultant B^T f. Once ``settled``: that of the pressing
        forces, B^T (f + adhesion).
    load_from : str, optional
        Which load that is, in words.
    held : (n,) bool, optional
        Degrees of freedom taken as rigidly held.
    mechanism : (n,) int, optional
        Body or mechanism of each.
    reach : float or (n,)
        1, or an arm [m] for turns.
    accuracy : float or (n,) [m]
        Of the engine's geometry.
    own_accuracy : float or (n,) [m], optional
        In place of it what the caller states, which counts for motions of several bodies too.
    lean : (m,) [rad]
        Angle of the two faces on each other where the engine takes the normal of either; zero
        where it is certain.
    links, link_accuracy : (k, n), float or (k,), optional
        Rows of rigid links, and how well they are known.
    places : Places, optional
        Geometry of the rows.
    row : (m,) int, optional
        Place of each in the engine's list of contacts.
    contacts : int, optional
        Length of that list.
    velocity : (n,) [m/s, rad/s], optional
        At the end of the step.
    engine : str
        Name, for messages.
    engine_residual : float
        How far the engine's forces are from solving its own equations, over the largest; nan where
        that is unknown.
    columns : sequence of str, optional
        Names of the degrees of freedom, as of joints.
    springs : ContactSprings, optional
        Of an earlier state, from which contacts with friction go on; None: from no forces.
    notes : tuple of str
        What the reader did.
    powerless : (m,) bool, optional
        Found by ``settled``: contacts whose row is rounding. One that acts through the axle of a
        hinged drum may have any force.

    Raises
    ------
    InputError
        By ``mend``, for wrong shapes: nothing is checked before.

    Examples
    --------
    >>> from rigidlimit.adapters import EngineContacts, MendOptions, mend
    >>> beam = [[1.0, -0.5], [1.0, 0.0], [1.0, 0.5]]
    >>> contacts = EngineContacts(beam, [0.65, 8.7, 0.65], stiffness=[1, 3, 1], engine="bench")
    >>> mend(contacts, MendOptions()).force.round(9)
    array([2., 6., 2.])
    """

    B: Any
    engine_force: Any = None
    adhesion: Any = 0.0
    sliding: Any = None
    tangential: Any = None
    friction: Any = None
    cone: str = "elliptic"
    stiffness: Any = 1.0
    own_friction: Any = None
    gap: Any = None
    gap_tolerance: Any = None
    load: Any = None
    load_from: str | None = None
    held: Any = None
    mechanism: Any = None
    reach: Any = 1.0
    accuracy: Any = 1e-6
    own_accuracy: Any = None
    lean: Any = 0.0
    links: Any = None
    link_accuracy: Any = 1e-6
    places: Places | None = None
    row: Any = None
    contacts: int | None = None
    velocity: Any = None
    engine: str = "engine"
    engine_residual: float = np.nan
    columns: Sequence[str] | None = None
    springs: ContactSprings | None = None
    notes: tuple[str, ...] = ()
    powerless: np.ndarray | None = None

    def column(self, number: int) -> str:
        """A degree of freedom in words.

        Parameters
        ----------
        number : int
            Of the column of B.
        """
        return f"degree of freedom {number}" if self.columns is None else self.columns[number]

    def settled(self) -> "EngineContacts":
        """What all later stages see: values by name looked up, the load that forces deliver, B
        without rounding; engine_force, row, held, reach and accuracy are arrays.

        Arrays are of the shapes above already, as readers fill them and ``checked`` makes them, but
        for what callers set in place of a reader. Raises InputError for wrong shapes of these,
        numbers that are not finite, pulls.
        """
        check_finite(self)
        whole = compact(self.B)
        m, n = whole.shape
        stiffness, said = stiffness_of(self.stiffness, self.places, m)
        load, tolerance = self.load, self.gap_tolerance
        if load is not None:
            load = arrays.vector("load", load, n, what="column")
        if tolerance is not None:
            tolerance = arrays.vector("gap_tolerance", tolerance, m, what="row of B")
            if (tolerance < 0.0).any():
                raise InputError(f"gap_tolerance is {tolerance.min():.6g}; expected lengths >= 0")
        friction = self.friction
        if friction.ndim == 1:
            friction = np.broadcast_to(friction[:, None], self.tangential.shape)
        friction, more = friction_of(self.own_friction, friction, self)
        accuracy = self.accuracy if self.own_accuracy is None else self.own_accuracy
        rows = compressed(whole)
        largest, norm = row_sizes(*rows, self.reach)
        powerless = largest <= self._least_row(largest)
        adhesion = checked_adhesion(self.adhesion, m)
        force = without_pulls(self.engine_force, adhesion, powerless, self.row)
        if load is None:
            load = delivered(whole, np.where(powerless, 0.0, force + adhesion))
        elif adhesion.any():
            load = load + delivered(whole, np.where(powerless, 0.0, adhesion))
        B = whole
        if self.mechanism is not None:
            # of a wheel pressed through its axle nothing but rounding is left
            real = without_rounding(*rows, self.reach, TOLERANCES.rounding * norm)
            B = B if len(real[0]) == len(rows[0]) else from_rows(*real, B.shape)
        return replace(
            self,
            B=B,
            sliding=None if self.sliding is None else compact(self.sliding),
            engine_force=force,
            adhesion=adhesion,
            powerless=powerless,
            stiffness=stiffness,
            gap_tolerance=tolerance,
            friction=friction,
            load=load,
            load_from=self.load_from or ("engine" if self.load is None else "given"),
            accuracy=parts("accuracy", accuracy, n, what="column of B"),
            lean=np.broadcast_to(np.asarray(self.lean, float), m),
            link_accuracy=self._link_accuracy(),
            row=np.arange(m) if self.row is None else self.row,
            springs=checked_springs(self.springs),
            notes=(*said, *self.notes, *more, *said_of(adhesion)),
        )

    def _link_accuracy(self):
        if self.links is None or not self.links.shape[0]:
            return None
        size = self.links.shape[0]
        return parts("link_accuracy", self.link_accuracy, size, what="row of links")

    def _least_row(self, largest):
        """Largest entry of a row that is rounding beside the others, ``largest`` (m,), or
        beside unit normals."""
        least = 0.0 if self.places is None else 1.0
        return TOLERANCES.rounding * max(float(largest.max(initial=0.0)), least)

    @cached_property
    def open(self) -> np.ndarray:
        """(m,) bool: neither force nor touch at the end of the step."""
        m = len(self.row)
        if self.gap is None:
            return np.zeros(m, bool)
        idle = True
        if self.engine_force is not None:
            pressing = self.pressing
            idle = pressing <= TOLERANCES.pull * pressing[~self.powerless].max(initial=0.0)
        tolerance = self.gap_tolerance
        return idle & (
            self.gap > (TOLERANCES.touching * self._sizes() if tolerance is None else tolerance)
        )

    def _sizes(self):
        """Of the bodies or mechanisms of each contact (m,), or of all [m]; 1 where not known."""
        if self.places is None:
            return 1.0
        if self.mechanism is None:
            return self.places.size
        whole = self.mechanism
        if self.links is not None:
            whole = joined(whole, self.links, self.held)
        return mechanism_sizes(self.B, whole, self.places)[1]

    @property
    def rough(self) -> bool:
        """Whether contacts rub: sliding coefficients above zero, or forces without any."""
        friction, rubs = self.friction[:, :2], self.tangential[:, :2]
        return bool((friction > 0).any() or rubs[np.isnan(friction)].any())

    @cached_property
    def coefficients(self) -> tuple[np.ndarray, np.ndarray]:
        """Of sliding: mu (m,), the larger of both directions, and the part of it that each has,
        (m, 2)."""
        return larger_and_parts(arrays.contiguous(self.friction))

    @property
    def stated_accuracy(self) -> float | None:
        """The largest accuracy that the caller states, or None."""
        return None if self.own_accuracy is None else float(np.max(self.own_accuracy, initial=0.0))

    @property
    def normal_force(self) -> np.ndarray:
        """The engine's normal forces (m,) [N], zeros where they are not known."""
        return np.zeros(len(self.row)) if self.engine_force is None else self.engine_force

    @property
    def pressing(self) -> np.ndarray:
        """Normal forces c = f_n + adhesion >= 0 (m,) [N] of the engine, which no-tension laws and
        cones of friction know; zeros where they are not known. Of ``settled`` contacts."""
        if self.engine_force is None:
            return np.zeros(len(self.row))
        return np.maximum(self.engine_force + self.adhesion, 0.0)

    @cached_property
    def history(self) -> ContactHistory | None:
        """What ``springs`` are at these contacts, (m,) and (m, 2) in the rows of ``joint``."""
        return history_of(self)

    def slack(self, rows: np.ndarray, exponent: float) -> np.ndarray | None:
        """Gaps (b,) of some rows without displacements that adhesion stands for; None without
        adhesion.

        Parameters
        ----------
        rows : (b,) int
        exponent : float
            Of the contact law.
        """
        return slack(self.adhesion[rows], self.stiffness[rows], exponent)

    @property
    def directions(self) -> int:
        """Number s of directions of friction whose velocities are known."""
        m = len(self.row)
        return 0 if self.sliding is None or not m else self.sliding.shape[0] // m

    def tangential_rows(self, contacts: np.ndarray, directions: int) -> Matrix:
        """Rows of ``sliding`` of some contacts.

        Parameters
        ----------
        contacts : (b,) int
        directions : int
            How many of each, the first ones.
        """
        place = self.directions * np.asarray(contacts)[:, None] + np.arange(directions)
        if directions == self.directions and len(contacts) == len(self.row):
            return self.sliding
        return taken((self.sliding,), place.ravel())

    @property
    def force_vectors(self) -> np.ndarray | None:
        """The engine's contact forces on the second bodies, (m, 3) [N]; None without tangents."""
        if self.places is None or self.places.tangents is None:
            return None
        return self.places.vectors(self.normal_force, self.tangential)

    def wrench(self) -> np.ndarray:
        """What all contact forces of the engine deliver, (n,): B^T f_n + T^T f_t."""
        s = min(self.directions, self.tangential.shape[1])
        total = delivered(self.B, self.normal_force)
        if not s:
            return total
        rows = self.tangential_rows(np.arange(len(self.row)), s)
        return total + delivered(rows, self.tangential[:, :s].ravel())

    def where(self, row: int) -> str:
        """ "contact 3 (floor and box)" of a row.

        Parameters
        ----------
        row : int
        """
        between = "" if self.places is None else self.places.between(row)
        return f"contact {self.row[row]}{between}"


@njit(cache=True, nogil=True)
def larger_and_parts(friction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The larger of the first two coefficients (m, k), and the part of it that each has."""
    both = min(2, friction.shape[1])
    mu, part = np.zeros(len(friction)), np.zeros((len(friction), both))
    for i in range(len(friction)):
        for k in range(both):
            mu[i] = max(mu[i], friction[i, k])
        for k in range(both):
            if mu[i] > 0.0:
                part[i, k] = friction[i, k] / mu[i]
    return mu, part
