"""Mended forces of any engine, from its arrays."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Unpack

from numpy.typing import ArrayLike

from ..._support.arrays import MatrixLike
from .contacts import EngineContacts
from .geometry import Places
from .materials import ByContact
from .memory import ContactSprings
from .mend import mend
from .options import SOLVER, MendOptions, OfSolver, check_names
from .result import MendedForces

CONTACTS = tuple(f.name for f in fields(EngineContacts) if f.name not in ("B", "engine_force"))
OPTIONS = tuple(f.name for f in fields(MendOptions) if f.name != "solver")


class Given(OfSolver, total=False):
    """Keywords of ``mend_forces``, for type checkers."""

    adhesion: ArrayLike
    sliding: MatrixLike | None
    tangential: ArrayLike | None
    friction: ArrayLike | None
    cone: str
    stiffness: ByContact
    own_friction: ByContact | None
    gap: ArrayLike | None
    gap_tolerance: ArrayLike | None
    load: ArrayLike | None
    load_from: str | None
    held: ArrayLike | None
    mechanism: ArrayLike | None
    reach: ArrayLike
    accuracy: ArrayLike
    own_accuracy: ArrayLike | None
    lean: ArrayLike
    links: MatrixLike | None
    link_accuracy: ArrayLike
    places: Places | None
    row: ArrayLike | None
    contacts: int | None
    velocity: ArrayLike | None
    engine: str
    engine_residual: float
    columns: Sequence[str] | None
    springs: ContactSprings | None
    notes: tuple[str, ...]
    powerless: ArrayLike | None
    exponent: float
    on_friction: str
    friction_tolerance: float
    tangential_stiffness: float
    budget: float | None


def mend_forces(
    B: MatrixLike, engine_force: ArrayLike | None = None, **given: Unpack[Given]
) -> MendedForces:
    """Compatible forces for any engine's arrays.

    With m contacts and n degrees of freedom, forces f >= 0 with B^T f = F~ by eqs 36-37.

    Parameters
    ----------
    B : (m, n), dense or sparse
        Gap gradient; B v > 0 opens.
    engine_force : (m,) [N], optional
        The engine's normal forces, >= 0, or >= -adhesion.
    **given
        What is known of the contacts, and how forces are mended: the names that follow, and
        keywords of ``compatible_forces``.
    adhesion : (m,) [N]
        Largest pull of each contact; forces are net of it.
    load : (n,) [N, N m]
        F~ to carry instead of the engine's resultant B^T f, e.g. minus the external force at rest;
        one of the two is needed.
    stiffness, exponent
        As for ``compatible_forces``; stiffness also by the names in ``places``,
        {"pad": 2.0, ("pad", "cube"): 3.0}, or a function of both names.
    held : (n,) bool
        Degrees of freedom taken as rigidly held (locked joints): their load is whatever is needed.
    tangential : (m, k) [N, N m]
        Friction forces and moments: two along the contact, then spin and rolling.
    friction : (m,) or (m, k)
        Their coefficients.
    sliding : (s m, n)
        Velocities along the first s >= 2 directions of ``tangential``, rows s i, s i + 1, ... of
        contact i.
    on_friction : {"joint", "keep"}
        "joint" finds normal and friction forces together from the total wrench, in the stiff limit
        with Coulomb's cones, wherever there is friction (needs ``sliding`` and ``friction``;
        ``load`` is then the total). "keep" mends normal forces alone, under the engine's friction,
        and flags where that breaks Coulomb's law.
    tangential_stiffness : float
        k_t / k_n of every contact.
    budget : float [s]
        In which an equilibrium with friction is looked for; once it is spent, the best forces so
        far are returned with the status ``APPROXIMATE``: the admissible ones of least energy where
        these were found, those nearest to the balance, or, where these are off it by more than
        1e-3 of the load, the engine's (``MendedForces.kept``). Contacts that are few settle in 0.3
        ms in any case. None: as long as it takes.
    own_friction : float, (contacts,) or by name
        Coefficients in place of ``friction``.
    springs : ContactSprings
        ``MendedForces.springs`` of the state before, from which contacts go on (needs ``places``
        with tangents): what friction holds, and where contacts stick, then depends on the way;
        None: as loaded slowly from no forces.
    cone : {"elliptic", "pyramid", "box"}
        What the engine bounds, the sum of squares of f_t/mu, of magnitudes, or each alone; for the
        flags of "keep".
    friction_tolerance : float
        Part of the largest force within which a force is at its bound, or unchanged.
    gap, gap_tolerance : (m,) [m]
        At the end of the step. Contacts without engine force and a gap above ``gap_tolerance``, by
        default 1e-5 of the size of the smaller body's or mechanism's set of contacts (of all
        contacts without mechanism), are open and carry nothing.
    mechanism : (n,) int
        Body or mechanism of each degree of freedom. Given, motions that geometry of ``accuracy``
        does not determine are left out of the balance.
    accuracy : float or (n,) [m]
        Of the engine's geometry.
    reach : (n,)
        1 for displacements, an arm [m] for turns.
    links, link_accuracy : (k, n), float or (k,)
        Rows G of rigid links, G v = 0 (velocities [m/s], rates of turn times an arm): motions that
        they restrain are left out, and mechanisms that they join are one. Rows that add less than
        ``link_accuracy`` of the largest entry over reach are redundant.
    places : Places
        Systems in it that links join are to have one number, those they hold OUTSIDE.
    row, contacts : (m,) int, int
        Place of each row in the engine's list of contacts, and its length.
    engine, load_from, notes : str, str, tuple of str
        For the message.
    velocity, engine_residual
        As of ``EngineContacts``.

    Raises
    ------
    InputError
        For wrong shapes, pulls, names that are not known, and friction without its rows.

    Examples
    --------
    >>> import numpy as np
    >>> from rigidlimit.adapters import mend_forces
    >>> beam = np.array([[1.0, -0.5], [1.0, 0.0], [1.0, 0.5]])
    >>> mend_forces(beam, [0.65, 8.7, 0.65], stiffness=[1, 3, 1]).force.round(9)
    array([2., 6., 2.])
    """
    check_names(mend_forces, given, (*CONTACTS, *OPTIONS, *SOLVER))
    known: dict[str, Any] = {**given}
    if known.get("accuracy") is not None:  # stated by the caller
        known.setdefault("own_accuracy", known.pop("accuracy"))
    solver = {name: known.pop(name) for name in SOLVER if name in known}
    chosen = {name: known.pop(name) for name in OPTIONS if name in known}
    options = MendOptions(solver=solver, **chosen)
    return mend(EngineContacts(B, engine_force, **known), options)
