"""Compatible forces in place of those that another rigid-body engine found.

The engine has made its step: m contacts with normal forces f_e (m,) [N] and gap gradient B (m, n)
in its own velocities. Its resultant F~ = B^T f_e is kept, so acceleration, total force and moment
stay the engine's own; f >= 0 with B^T f = F~ is chosen anew by eq. 36 (Olsen & Kamrin), which
makes it independent of the engine's contact order, start and iteration count.

Friction forces are kept, and mending is refused where that would be wrong: see ``friction``; or
they are moved with the normal forces, as little as Coulomb's law asks for: see ``moved``.
Motions that rigid links of the engine restrain are left out of the balance: see ``links``.
Motions along which friction holds and normal forces hardly push are left to it: see ``sliding``.
Motions that the engine's geometry resolves only as noise are left out: see ``noise``.

Open contacts. Engines list pairs that do not touch, or that part in this step. Those carry
nothing in any admissible f (eq. 21), so they are left out: no force of the engine's, and a gap at
the end of the step. Without force but closed, a contact takes part: its share is what is mended.
"""

import inspect
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy.sparse as sp

from .. import arrays
from ..display import Brief
from ..errors import InputError, nearest
from ..forces import CompatibleForces, compatible_forces
from ..status import Status
from ..words import counted
from .friction import (
    CONES,
    ON_FRICTION,
    broken_law,
    check_movable,
    holding,
    needed,
    not_movable,
    refuse,
    tangential_forces,
)
from .links import joined
from .mechanisms import ROUNDING
from .motions import Balance
from .moved import Grip
from .noise import without_rounding
from .places import Places, mechanism_sizes

PULL = 1e-9
"""Pulling forces up to this part of the largest are an engine's rounding and count as zero."""

TOUCHING = 1e-5
"""Default gap over the size of a contact's bodies (``places``) below which it counts as closed."""

MANY = 300
"""Degrees of freedom above which the engine's forces, which balance the load, are a good start."""

BY_CONTACT = ("gap_error", "admissible")
"""Of these the ones with an entry a contact."""

SOLVING = (
    "tolerance",
    "max_iterations",
    "method",
    "warm_start",
    "gap_error",
    "admissible",
    "blocks",
)
"""Keywords that go on to ``compatible_forces``."""


@dataclass(frozen=True, repr=False)
class MendedForces(Brief):
    """Compatible forces in the order and frames of an engine's own list of ``contacts``.

    force, engine_force (contacts,) [N]: normal forces, mended and the engine's (nan if not given);
    zero where the engine lists a contact without solving it. tangential, engine_tangential
    (contacts, k): friction forces and moments in the engine's own contact frame, and the engine's;
    the same unless on_friction="move". outside_cone, slid (contacts,) bool: Coulomb's law
    broken by keeping them (always False with on_friction="refuse"). open (contacts,) bool: left
    out, see above. within (contacts,) bool: between parts that links hold to each other, or that
    push on nothing that can move: the engine's force is kept. kept (contacts,) bool: with
    on_friction="move", the engine's force is kept because no friction goes with another one.
    friction_missing: with "move", what friction forces lack of the engine's resultant, over the
    largest normal force of the bodies concerned.
    row (m,): contact of each row of B. B (m, n), load (n,) [N, N m], stiffness (m,), held (n,)
    bool: the problem solved, ready for ``rigidlimit.determinacy(B, load, fixed=held)``. motions
    (n, n): engine velocities of B's columns, the identity where nothing is left out. answer: its
    CompatibleForces. places: of the rows. load_from: "engine", "step", "rest" or "given". notes:
    what the adapter did.
    """

    engine: str
    force: np.ndarray
    engine_force: np.ndarray
    tangential: np.ndarray
    engine_tangential: np.ndarray
    outside_cone: np.ndarray
    slid: np.ndarray
    open: np.ndarray
    within: np.ndarray
    kept: np.ndarray
    row: np.ndarray
    B: sp.csr_array
    load: np.ndarray
    stiffness: np.ndarray
    held: np.ndarray
    motions: sp.csr_array
    answer: CompatibleForces
    places: Places | None
    load_from: str
    on_friction: str
    friction_missing: float
    notes: tuple[str, ...]

    @property
    def converged(self) -> bool:
        return self.answer.converged

    @property
    def contact_force(self) -> np.ndarray:
        """Normal and tangential force in the engine's contact frames, (contacts, 1 + k) [N]."""
        return np.column_stack([self.force, self.tangential])

    @property
    def change(self) -> np.ndarray:
        """force - engine_force, (contacts,) [N]."""
        return self.force - self.engine_force

    @property
    def friction_moved(self) -> np.ndarray:
        """Contacts whose friction force is another than the engine's, (contacts,) bool."""
        return (self.tangential != self.engine_tangential).any(axis=1)

    @property
    def total(self) -> np.ndarray:
        """Normal force and moment on each free system, (systems, 6) [N, N m]."""
        return self._places().totals(self.force[self.row])

    @property
    def engine_total(self) -> np.ndarray:
        """The same of the engine's forces."""
        return self._places().totals(self.engine_force[self.row])

    @property
    def total_error(self) -> float:
        """max |total - engine_total| over the sum of the engine's forces, both of the contacts that
        took part; moments over sizes."""
        if not len(self.row):
            return 0.0
        if np.isnan(self.engine_force).any():
            return np.nan
        off = np.abs(self.total - self.engine_total)
        off[:, 3:] /= self._places().sizes[:, None]
        force = np.abs(self.engine_force[self.row]).sum()
        worst = float(off.max(initial=0.0))
        return worst / float(force) if force > 0 else (np.inf if worst > 0 else 0.0)

    @property
    def displacement(self) -> np.ndarray:
        """The elastic displacement that goes with the forces, (n,), in the engine's velocities."""
        return self.motions @ self.answer.displacement

    @property
    def held_change(self) -> np.ndarray:
        """What the held degrees of freedom must deliver beyond the load given, (n,) [N, N m]."""
        return np.where(self.held, self.load - self.B.T @ self.force[self.row], 0.0)

    @property
    def message(self) -> str:
        largest = float(np.abs(self.engine_force[~self.within]).max(initial=0.0))
        part = float(np.abs(self.change).max(initial=0.0)) / largest if largest > 0 else 0.0
        change = f"forces changed by up to {100 * part:.2g} % of the engine's largest"
        if np.isnan(largest):
            change = "the engine's forces were not given"
        if not len(self.force):
            none = f"{self.engine}: no contacts (an engine lists none before its first step)"
            return "; ".join([none, *self.notes])
        opened = int(self.open.sum())
        parts = [
            f"{self.engine}: {counted(len(self.force), 'contact')}, {change}",
            f"load: {_LOADS.get(self.load_from, self.load_from)}",
            *self.notes,
            *([f"{counted(opened, 'open contact')}: zero force"] if opened else []),
            self._friction_message(),
            *self._held_message(),
            self.answer.message,
            *self._rest_message(),
        ]
        return "; ".join(parts)

    def _held_message(self):
        change = float(np.abs(self.held_change).max(initial=0.0))
        if not self.held.any():
            return []
        return [
            f"held joints deliver up to {change:.3g} (N, N m) beyond their load; what they squeeze "
            "harder than the balance of the others asks for is not kept"
        ]

    def _rest_message(self):
        if self.load_from != "rest" or self.answer.status is not Status.LOAD_NOT_CARRIED:
            return []
        return [
            "load='rest' asks for no acceleration at all, and the engine is "
            f"{self.answer.residual:.1e} of the load away from that; let it come to rest, take "
            "load='engine', or, where that is near enough, a tolerance above it"
        ]

    def _friction_message(self):
        if not self.engine_tangential.any():
            return "no friction forces"
        if self.on_friction == "move":
            return self._moved_message()
        text = "normal forces mended, friction forces kept as the engine has them (a given load)"
        return text + self._broken_message()

    def _broken_message(self):
        broken = np.flatnonzero(self.outside_cone | self.slid)
        if not len(broken):
            return ""
        return (
            f"; Coulomb's law is broken at {counted(len(broken), 'contact')}, first at contact "
            f"{broken[0]}: do not use these forces as a solution with friction"
        )

    def _moved_message(self):
        moved = self.friction_moved
        change = np.abs(self.tangential - self.engine_tangential)
        largest = float(np.abs(self.engine_tangential[~self.within]).max(initial=0.0))
        text = "friction forces kept as the engine has them"
        if moved.any():
            part = float(change.max()) / largest
            text = (
                f"friction forces of {counted(int(moved.sum()), 'contact')} moved by up to "
                f"{100 * part:.2g} % of the engine's largest, to the nearest that Coulomb's law "
                "admits with these normal forces"
            )
        if self.friction_missing > MISSING:
            text += (
                f"; beside contacts that slide friction misses the engine's resultant by "
                f"{self.friction_missing:.1e} of the largest normal force"
            )
        if self.kept.any():
            text += (
                f"; {counted(int(self.kept.sum()), 'contact')}, first contact "
                f"{np.flatnonzero(self.kept)[0]}, slide or bear at the bound of friction in a way "
                "that goes with the engine's normal forces only: both are kept there"
            )
        return text + self._broken_message()

    def _places(self) -> Places:
        if self.places is None:
            raise InputError("totals need places=: contact points, normals and systems")
        return self.places


_LOADS = {
    "engine": "the engine's own resultant B^T f, so total force and moment are its own",
    "given": "as given, not the engine's resultant",
    "step": "the engine's own step solved anew, not the resultant of its forces",
    "rest": "what holds everything without acceleration, not the engine's resultant",
}


MISSING = 1e-5
"""What friction lacks of the engine's resultant from which on it is told."""

SHARED = ("friction_tolerance", "friction_share", "gap_tolerance", "accuracy")
"""What the functions for engines hand on to ``mend_forces``; they set the rest themselves."""


def check_options(function, options) -> None:
    """Refuse ``options`` that ``function``, of an engine or ``mend_forces``, does not take, with
    those that it does. Raises InputError."""
    given = SOLVING if function is mend_forces else (*SOLVING, *SHARED)
    for name in options:
        if name not in given:
            known = (set(inspect.signature(function).parameters) | set(given)) - {"options"}
            raise InputError(
                f"{function.__name__} has no option {name!r}; {nearest(name, sorted(known))}"
            )


def mend_forces(
    B,
    engine_force=None,
    *,
    load=None,
    stiffness=1.0,
    exponent: float = 2.0,
    held=None,
    tangential=None,
    friction=None,
    cone: str = "elliptic",
    on_friction: str = "refuse",
    friction_tolerance: float = 1e-6,
    sliding=None,
    friction_share: float = 0.01,
    gap=None,
    gap_tolerance: float | None = None,
    mechanism=None,
    reach=1.0,
    accuracy=1e-6,
    links=None,
    link_accuracy=1e-6,
    places: Places | None = None,
    row=None,
    contacts: int | None = None,
    engine: str = "engine",
    load_from: str | None = None,
    notes: tuple[str, ...] = (),
    **options,
) -> MendedForces:
    """Compatible forces for any engine's arrays.

    B (m, n): gap gradient; B v > 0 opens. engine_force (m,) [N]: its normal forces, >= 0.
    load (n,): F~ to carry instead of the engine's resultant B^T f, e.g. minus the external force at
    rest; one of the two is needed. stiffness, exponent: as for ``compatible_forces``. held (n,)
    bool: degrees of freedom taken as rigidly held (locked joints): their load is whatever is
    needed.
    tangential (m, k): friction forces and moments; friction (m,) or (m, k): their coefficients;
    cone: what the engine bounds, the sum of squares of f_t/mu ("elliptic"), of magnitudes
    ("pyramid"), or each alone ("box"). on_friction: "refuse" raises InputError where keeping the
    friction forces breaks Coulomb's law, "keep" returns and flags, "move" moves friction forces as
    little as the law asks for, their resultant kept. friction_tolerance: part of
    the largest normal force within which a force is at its bound, or unchanged. sliding (s m, n):
    velocities along the first s >= 2 directions of ``tangential``, rows s i, s i + 1, ... of
    contact i; all that have friction for "move";
    given, with mechanism, what normal forces push along sliding motions is left to friction where
    that is at most friction_share of what friction that holds can take (0: nothing is).
    gap (m,) [m]: at the end of the step; contacts without engine force and a gap above
    gap_tolerance, by default 1e-5 of the size of the smaller body's or mechanism's set of contacts
    (of all contacts without mechanism), are open and carry nothing.
    mechanism (n,) int: body or mechanism of each degree of freedom; given, noise below accuracy (a
    number, or (n,)) is taken out of B as above. reach (n,): 1 for displacements, an arm [m] for
    turns.
    links (k, n): rows G of rigid links, G v = 0 (velocities [m/s], rates of turn times an arm):
    motions that they restrain are left out, and mechanisms that they join are one; rows that add
    less than link_accuracy (a number, or (k,)) of the largest entry over reach are redundant, and
    what gaps feel by less of the motions left is noise.
    Systems in ``places`` that links join are to have one number, those they hold OUTSIDE.
    row (m,), contacts: place of each row in the engine's list of ``contacts`` and its length.
    Further keywords go to ``compatible_forces``.

    >>> import numpy as np
    >>> from rigidlimit.adapters import mend_forces
    >>> beam = np.array([[1.0, -0.5], [1.0, 0.0], [1.0, 0.5]])
    >>> mend_forces(beam, [0.65, 8.7, 0.65], stiffness=[1, 3, 1]).force.round(9)
    array([2., 6., 2.])
    """
    if on_friction not in ON_FRICTION:
        raise InputError(
            f"on_friction is {on_friction!r}; expected one of {', '.join(ON_FRICTION)}"
        )
    if cone not in CONES:
        raise InputError(f"cone is {cone!r}; expected one of {', '.join(CONES)}")
    if engine_force is None and load is None:
        raise InputError("neither engine_force nor load is given; expected one of them")
    check_options(mend_forces, options)
    B = arrays.sparse("B", B)
    m, n = B.shape
    row, contacts = _rows(row, contacts, m)
    if engine_force is not None:
        engine_force = arrays.vector("engine_force", engine_force, m, what="row of B")
    stiffness = arrays.vector("stiffness", stiffness, m, what="contact (row of B)")
    held = arrays.vector("held", 0.0 if held is None else held, n, what="column of B") != 0
    if places is not None and not isinstance(places, Places):
        raise InputError(f"places is a {type(places).__name__}; expected Places of the rows of B")
    if mechanism is not None:
        mechanism = arrays.integers("mechanism", mechanism, n, what="column of B")
    reach = arrays.vector("reach", reach, n, what="degree of freedom (column of B)")
    if (reach <= 0).any():
        raise InputError(f"reach[{reach.argmin()}] is {reach.min()}; expected positive lengths")
    nowhere = _pushing_nothing(B, reach, places)
    if engine_force is not None:
        engine_force = _pushes(engine_force, row, ~nowhere)
    for name in BY_CONTACT:
        if options.get(name) is not None:
            options[name] = arrays.vector(name, options[name], m, what="contact (row of B)")
    friction_tolerance = arrays.positive("friction_tolerance", friction_tolerance)
    share = arrays.number(friction_share)
    if not 0 <= share < 1:
        raise InputError(f"friction_share is {friction_share!r}; expected 0 <= friction_share < 1")
    accuracy = _parts("accuracy", accuracy, n, what="column of B")
    if mechanism is not None:
        B = without_rounding(B, reach)
    source = load_from or ("engine" if load is None else "given")
    if load is None:
        load = B.T @ np.where(nowhere, 0.0, engine_force)
    load = arrays.vector("load", load, n, what="column")
    if links is not None:
        links = arrays.sparse("links", links, columns=n)
        rows = links.shape[0]
        link_accuracy = _parts("link_accuracy", link_accuracy, rows, what="row of links")
    tangential, friction = tangential_forces(tangential, friction, m)
    if sliding is not None:
        sliding = arrays.sparse("sliding", sliding, columns=n)
        if sliding.shape[0] % max(m, 1) or sliding.shape[0] < 2 * m:
            raise InputError(f"sliding has shape {sliding.shape}; expected ({2 * m}, {n})")
    if on_friction == "move":
        check_movable(tangential, friction, sliding, engine_force)

    if gap_tolerance is not None:
        gap_tolerance = arrays.vector("gap_tolerance", gap_tolerance, m, what="contact (row of B)")
    elif gap is not None:
        gap_tolerance = TOUCHING * _sizes(B, mechanism, links, held, places)
    opened = _open(engine_force, gap, gap_tolerance, ~nowhere)
    known = np.zeros(m) if engine_force is None else engine_force
    balance = Balance(B, load, held, mechanism, reach, accuracy, known, notes=tuple(notes))
    balance, within = balance.linked(links, link_accuracy, ~opened & ~nowhere)
    nowhere &= ~opened
    if nowhere.any():
        within |= nowhere
        balance = replace(balance, notes=(*balance.notes, _nothing_moves(nowhere, row, places)))
    listed, bears = row, np.flatnonzero(~opened & ~within)
    balance = balance.of(bears)
    row, stiffness, friction, known = row[bears], stiffness[bears], friction[bears], known[bears]
    before = None if engine_force is None else known
    tangential, listed_tangential = tangential[bears], tangential
    if sliding is not None:
        sliding = _of_contacts(sliding, m, bears)
    linked = balance
    if sliding is not None and mechanism is not None:
        holds = holding(known, tangential, friction, cone, friction_tolerance)
        balance = balance.without_sliding(_first_two(sliding, len(bears)), holds, share)
    grip = None
    if on_friction == "move" and tangential.any():
        given = sliding, tangential, friction, known, cone, friction_tolerance, share
        grip = Grip(linked, balance.handed, *given)
    balance = balance.without_noise()
    places = None if places is None else places[bears]

    solve = partial(_compatible, held=held, exponent=exponent)
    if source == "engine" and n > MANY:
        options.setdefault("admissible", np.where(nowhere, 0.0, engine_force))
    options = _of_rows(options, bears)
    kept, missing, moved = np.zeros(len(bears), bool), 0.0, tangential
    while True:
        rest = np.flatnonzero(~kept)
        part, answer = solve(balance.beside(kept), stiffness[rest], _of_rows(options, rest))
        force = known.copy()
        force[rest] = answer.force
        if grip is None or not answer.converged:  # no friction goes with forces that do not balance
            break
        found = grip.moved(force, kept)
        moved, missing = found.tangential, found.missing
        if (found.keep == kept).all():
            break
        if source != "engine":
            not_movable(found.keep & ~kept, row, engine, places)
        kept = found.keep

    if on_friction == "move":
        slack = friction_tolerance * max(force.max(initial=0.0), known.max(initial=0.0))
        outside = needed(moved, friction[:, : moved.shape[1]], cone) > force + slack
        outside &= needed(tangential, friction, cone) <= known + slack
        slid = np.zeros(len(bears), bool)
    else:
        outside, slid = broken_law(
            before, force, tangential, friction, cone, friction_tolerance, on_friction
        )
    if on_friction == "refuse" and (outside | slid).any():
        refuse(outside, slid, before, force, tangential, row, engine, places)

    def spread(values, rows=row):
        full = np.zeros((contacts, *values.shape[1:]), values.dtype)
        full[rows] = values
        return full

    forces = spread(force)
    every = spread(listed_tangential, listed)
    if engine_force is not None:
        forces[listed[within]] = engine_force[within]
    friction_forces = every.copy()
    friction_forces[row, : moved.shape[1]] = moved
    return MendedForces(
        engine=engine,
        force=forces,
        engine_force=spread(np.full(m, np.nan) if before is None else engine_force, listed),
        tangential=friction_forces,
        engine_tangential=every,
        outside_cone=spread(outside),
        slid=spread(slid),
        open=spread(opened, listed),
        within=spread(within, listed),
        kept=spread(kept),
        row=row[rest],
        B=part.B,
        load=part.load,
        stiffness=stiffness[rest],
        held=held,
        motions=sp.csr_array(sp.eye_array(n)) if part.motions is None else part.motions,
        answer=answer,
        places=None if places is None else places[rest],
        load_from=source,
        on_friction=on_friction,
        friction_missing=missing,
        notes=part.notes,
    )


def _compatible(balance, stiffness, options, *, held, exponent):
    """(balance without motions of several bodies that gaps hardly feel, its CompatibleForces)."""

    def solved(balance):
        law = dict(stiffness=stiffness, exponent=exponent)
        return compatible_forces(balance.B, balance.load, fixed=held, **law, **options)

    answer = solved(balance)
    overlap = (answer.force / stiffness) ** (1 / (exponent - 1))
    less = balance.without_together(answer.displacement, overlap)
    if less is not balance:
        other = answer if less.B is balance.B else solved(less)
        if other.converged or not answer.converged:
            balance, answer = less, other
        else:
            doubt = "forces hang on motions of several bodies that gaps feel by next to nothing"
            balance = replace(balance, notes=(*balance.notes, doubt))
    return balance, answer


def _of_rows(options, rows):
    """Keywords for ``compatible_forces``, those with an entry a contact for some of them."""
    return {
        name: value if value is None or name not in BY_CONTACT else value[rows]
        for name, value in options.items()
    }


def _of_contacts(sliding, m, contacts):
    """Rows of ``sliding`` (s m, n) of some contacts: indices."""
    s = sliding.shape[0] // max(m, 1)
    return sliding[(s * contacts[:, None] + np.arange(s)).ravel()]


def _first_two(sliding, m):
    """Of each contact the first two rows of ``sliding`` (s m, n)."""
    s = sliding.shape[0] // max(m, 1)
    return sliding if s == 2 else sliding[(s * np.arange(m)[:, None] + np.arange(2)).ravel()]


def _rows(row, contacts, m):
    """(row (m,), number of contacts in the engine's list)."""
    row = np.arange(m) if row is None else arrays.integers("row", row, m, what="row of B")
    if contacts is None:
        contacts = row.max(initial=-1) + 1
    contacts = int(arrays.integers("contacts", contacts, 1, what="list")[0])
    if len(np.unique(row)) < m or (row < 0).any() or (row >= contacts).any():
        raise InputError(f"row must give each of {m} rows of B its own contact of {contacts}")
    return row, contacts


def _sizes(B, mechanism, links, held, places):
    """Of the bodies or mechanisms of each contact (m,), or of all [m]; 1 where nothing tells."""
    if places is None:
        return 1.0
    if mechanism is None:
        return places.size
    whole = mechanism if links is None else joined(mechanism, links, held)
    return mechanism_sizes(B, whole, places)[1]


def _parts(name, value, size, *, what):
    """``arrays.vector`` of parts of something, (size,)."""
    value = arrays.vector(name, value, size, what=what)
    if (value < 0).any() or (value >= 1).any():
        raise InputError(f"{name} is {value.max():.6g}; expected 0 <= {name} < 1")
    return value


def _pushing_nothing(B, reach, places):
    """(m,) bool: rows that are rounding beside the others, or beside unit normals; such a contact
    is through the axle of a hinged drum, and an engine's force there may be anything."""
    entries = sp.coo_array(B)
    size = np.zeros(B.shape[0])
    np.maximum.at(size, entries.row, np.abs(entries.data) / reach[entries.col])
    return size <= ROUNDING * max(float(size.max(initial=0.0)), 0.0 if places is None else 1.0)


def _nothing_moves(nowhere, row, places):
    first = int(np.flatnonzero(nowhere)[0])
    between = "" if places is None else f" ({' and '.join(places.names[first])})"
    more = int(nowhere.sum()) - 1
    others = {0: "", 1: ", and so does 1 other"}.get(more, f", and so do {more} others")
    return (
        f"contact {row[first]}{between} pushes on nothing that can move{others}: no balance tells "
        "of its force, and the engine's is kept, whatever it is"
    )


def _pushes(force, row, tell):
    """Forces without rounding below zero; tell (m,) bool: those by which its size is told."""
    largest = float(np.abs(force[tell]).max(initial=0.0))
    pulls = np.flatnonzero(force < -PULL * largest)
    if len(pulls):
        worst = pulls[np.argmin(force[pulls])]
        raise InputError(
            f"engine_force of contact {row[worst]} is {force[worst]:.6g}, a pull ({len(pulls)} of "
            f"{len(force)} pull); expected f >= 0: check the sign convention, or leave adhesive "
            "contacts to the engine"
        )
    return np.maximum(force, 0.0)


def _open(engine_force, gap, tolerance, tell):
    """(m,) bool: neither force nor touch; tell (m,) bool as for ``_pushes``."""
    m = len(tell)
    if gap is None:
        return np.zeros(m, bool)
    gap = arrays.vector("gap", gap, m, what="contact (row of B)")
    idle = True
    if engine_force is not None:
        idle = engine_force <= PULL * engine_force[tell].max(initial=0.0)
    return idle & (gap > tolerance)
