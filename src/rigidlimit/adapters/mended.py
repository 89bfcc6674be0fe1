"""Compatible forces in place of those that another rigid-body engine found.

The engine has made its step: m contacts with normal forces f_e (m,) [N] and gap gradient B (m, n)
in its own velocities. Its resultant F~ = B^T f_e is kept, so acceleration, total force and moment
stay the engine's own; f >= 0 with B^T f = F~ is chosen anew by eq. 36 (Olsen & Kamrin), which
makes it independent of the engine's contact order, start and iteration count.

Friction forces are kept, and mending is refused where that would be wrong: see ``friction``.
Motions that rigid links of the engine restrain are left out of the balance: see ``links``.
Motions along which friction holds and normal forces hardly push are left to it: see ``sliding``.
Motions that the engine's geometry resolves only as noise are left out: see ``noise``.

Open contacts. Engines list pairs that do not touch, or that part in this step. Those carry
nothing in any admissible f (eq. 21), so they are left out: no force of the engine's, and a gap at
the end of the step. Without force but closed, a contact takes part: its share is what is mended.
"""

import inspect
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from .. import arrays
from ..display import Brief
from ..errors import InputError, nearest
from ..forces import CompatibleForces, compatible_forces
from ..status import Status
from ..words import counted
from .friction import CONES, ON_FRICTION, broken_law, holding, refuse, tangential_forces
from .links import joined
from .motions import Balance
from .noise import without_rounding
from .places import Places, mechanism_sizes

PULL = 1e-9
"""Pulling forces up to this part of the largest are an engine's rounding and count as zero."""

TOUCHING = 1e-5
"""Default gap over the size of a contact's bodies (``places``) below which it counts as closed."""

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
    zero where the engine lists a contact without solving it. tangential (contacts, k): the
    engine's, kept, in its own contact frame. outside_cone, slid (contacts,) bool: Coulomb's law
    broken by keeping them (always False with on_friction="refuse"). open (contacts,) bool: left
    out, see above. within (contacts,) bool: between parts that links hold to each other, where the
    engine's force is kept.
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
    outside_cone: np.ndarray
    slid: np.ndarray
    open: np.ndarray
    within: np.ndarray
    row: np.ndarray
    B: sp.csr_array
    load: np.ndarray
    stiffness: np.ndarray
    held: np.ndarray
    motions: sp.csr_array
    answer: CompatibleForces
    places: Places | None
    load_from: str
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
    def total(self) -> np.ndarray:
        """Normal force and moment on each free system, (systems, 6) [N, N m]."""
        return self._places().totals(self.force[self.row])

    @property
    def engine_total(self) -> np.ndarray:
        """The same of the engine's forces."""
        return self._places().totals(self.engine_force[self.row])

    @property
    def total_error(self) -> float:
        """max |total - engine_total| over the sum of the engine's forces; moments over sizes."""
        if not len(self.row):
            return 0.0
        if np.isnan(self.engine_force).any():
            return np.nan
        off = np.abs(self.total - self.engine_total)
        off[:, 3:] /= self._places().sizes[:, None]
        force = np.abs(self.engine_force).sum()
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
        largest = float(np.abs(self.engine_force).max(initial=0.0))
        part = float(np.abs(self.change).max(initial=0.0)) / largest if largest > 0 else 0.0
        change = f"forces changed by up to {100 * part:.2g} % of the engine's largest"
        if np.isnan(largest):
            change = "the engine's forces were not given"
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
        if not self.tangential.any():
            return "no friction forces"
        text = "normal forces mended, friction forces kept as the engine has them (a given load)"
        broken = np.flatnonzero(self.outside_cone | self.slid)
        if len(broken):
            text += (
                f"; Coulomb's law is broken at {counted(len(broken), 'contact')}, first at contact "
                f"{broken[0]}: do not use these forces as a solution with friction"
            )
        return text

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
    friction forces breaks Coulomb's law, "keep" returns and flags. friction_tolerance: part of
    the largest normal force within which a force is at its bound, or unchanged. sliding (2 m, n):
    velocities along the first two directions of ``tangential``, rows 2 i and 2 i + 1 of contact i;
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
        engine_force = _pushes(arrays.vector("engine_force", engine_force, m, what="row of B"), row)
    stiffness = arrays.vector("stiffness", stiffness, m, what="contact (row of B)")
    held = arrays.vector("held", 0.0 if held is None else held, n, what="column of B") != 0
    if places is not None and not isinstance(places, Places):
        raise InputError(f"places is a {type(places).__name__}; expected Places of the rows of B")
    if mechanism is not None:
        mechanism = arrays.integers("mechanism", mechanism, n, what="column of B")
    reach = arrays.vector("reach", reach, n, what="degree of freedom (column of B)")
    if (reach <= 0).any():
        raise InputError(f"reach[{reach.argmin()}] is {reach.min()}; expected positive lengths")
    friction_tolerance = arrays.positive("friction_tolerance", friction_tolerance)
    share = arrays.number(friction_share)
    if not 0 <= share < 1:
        raise InputError(f"friction_share is {friction_share!r}; expected 0 <= friction_share < 1")
    accuracy = _parts("accuracy", accuracy, n, what="column of B")
    if mechanism is not None:
        B = without_rounding(B, reach)
    source = load_from or ("engine" if load is None else "given")
    load = B.T @ engine_force if load is None else arrays.vector("load", load, n, what="column")
    if links is not None:
        links = arrays.sparse("links", links, columns=n)
        rows = links.shape[0]
        link_accuracy = _parts("link_accuracy", link_accuracy, rows, what="row of links")
    if sliding is not None:
        sliding = arrays.sparse("sliding", sliding, columns=n)
        if sliding.shape[0] != 2 * m:
            raise InputError(f"sliding has shape {sliding.shape}; expected ({2 * m}, {n})")
    tangential, friction = tangential_forces(tangential, friction, m)

    if gap_tolerance is not None:
        gap_tolerance = arrays.vector("gap_tolerance", gap_tolerance, m, what="contact (row of B)")
    else:
        gap_tolerance = TOUCHING * _sizes(B, mechanism, links, held, places)
    opened = _open(engine_force, gap, gap_tolerance, m)
    known = np.zeros(m) if engine_force is None else engine_force
    balance = Balance(B, load, held, mechanism, reach, accuracy, known, notes=tuple(notes))
    balance, within = balance.linked(links, link_accuracy, ~opened)
    listed, bears = row, np.flatnonzero(~opened & ~within)
    balance = balance.of(bears)
    row, stiffness, friction, known = row[bears], stiffness[bears], friction[bears], known[bears]
    before = None if engine_force is None else known
    if sliding is not None and mechanism is not None:
        pairs = (2 * bears[:, None] + np.arange(2)).ravel()
        holds = holding(known, tangential[bears], friction, cone, friction_tolerance)
        balance = balance.without_sliding(sliding[pairs], holds, share)
    balance = balance.without_noise()
    places = None if places is None else places[bears]

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
    B, load, motions = balance.B, balance.load, balance.motions
    kept = tangential[bears]
    outside, slid = broken_law(
        before, answer.force, kept, friction, cone, friction_tolerance, on_friction
    )
    if on_friction == "refuse" and (outside | slid).any():
        refuse(outside, slid, before, answer.force, kept, row, engine, places)

    def spread(values, rows=row):
        full = np.zeros((contacts, *values.shape[1:]), values.dtype)
        full[rows] = values
        return full

    force = spread(answer.force)
    if engine_force is not None:
        force[listed[within]] = engine_force[within]
    return MendedForces(
        engine=engine,
        force=force,
        engine_force=spread(np.full(m, np.nan) if before is None else engine_force, listed),
        tangential=spread(tangential, listed),
        outside_cone=spread(outside),
        slid=spread(slid),
        open=spread(opened, listed),
        within=spread(within, listed),
        row=row,
        B=B,
        load=load,
        stiffness=stiffness,
        held=held,
        motions=sp.csr_array(sp.eye_array(n)) if motions is None else motions,
        answer=answer,
        places=places,
        load_from=source,
        notes=balance.notes,
    )


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


def _pushes(force, row):
    largest = float(np.abs(force).max(initial=0.0))
    pulls = np.flatnonzero(force < -PULL * largest)
    if len(pulls):
        worst = pulls[np.argmin(force[pulls])]
        raise InputError(
            f"engine_force of contact {row[worst]} is {force[worst]:.6g}, a pull ({len(pulls)} of "
            f"{len(force)} pull); expected f >= 0: check the sign convention, or leave adhesive "
            "contacts to the engine"
        )
    return np.maximum(force, 0.0)


def _open(engine_force, gap, tolerance, m):
    if gap is None:
        return np.zeros(m, bool)
    gap = arrays.vector("gap", gap, m, what="contact (row of B)")
    idle = True if engine_force is None else engine_force <= PULL * engine_force.max(initial=0.0)
    return idle & (gap > tolerance)
