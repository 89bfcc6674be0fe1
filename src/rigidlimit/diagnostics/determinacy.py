"""Which contact forces rigid-body mechanics determines, and bounds on the others.

The admissible forces of B (m, n) under F~ (n,) are the polytope

    P = {f >= 0 : B^T f = F~}.

Its dimension, the degree of indeterminacy, is |A| - rank B_A, where A holds the contacts that
carry force in some f of P: contacts that can carry none do not count, although they add to the
nullity of B^T. (The indeterminacy of perfectly rigid packings: F. Radjai, M. Jean, J. J. Moreau,
S. Roux, PRL 77 (1996) 274; S. McNamara, H. Herrmann, PRE 70 (2004) 061303.) Contact i is
determined if f_i is the same in all of P; its interval is [min f_i, max f_i].

A: ``admissible.interior``. Rank: ``rank.rank``. Intervals: ``bound_programs.extremes`` (exact) or
``admissible.outer_bounds``. Everything is scaled: columns of B by their longest arm, forces by
the largest load.
"""

from dataclasses import dataclass
from typing import TypedDict, Unpack, overload

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import ArrayLike

from .._support import arrays
from .._support.arrays import MatrixLike
from .._support.display import Displayed
from .._support.words import counted
from ..errors import InputError
from ..linear import Network, kept_starts
from ..status import Status
from . import admissible
from .cones.determinacy import RoughDeterminacy, rough_determinacy
from .cones.problem import refuse_friction, rough_contacts
from .cones.scaling import units_at
from .intervals import all_intervals, position_in
from .rank import Rank, rank
from .smooth_contacts import SmoothContacts
from .tolerances import TOLERANCES


@dataclass(frozen=True, repr=False)
class Determinacy(Displayed):
    """What rigid-body mechanics says of the forces. m contacts, n degrees of freedom.

    P are the admissible forces, f >= 0 that balance the load; A the contacts that carry in some of
    P.

    Attributes
    ----------
    degree : int
        Dimension of P.
    nullity : int
        Of B^T on all contacts, m - rank B.
    mobility : int
        Motions of the loaded bodies that keep every loaded contact closed.
    rank : Rank
        Of B_A, with near-null singular values, tolerance, method.
    can_carry : (m,) bool ndarray
        A.
    determined : (m,) bool ndarray
        f_i the same in all of P (zero, if it cannot carry).
    example : (m,) ndarray [N]
        An admissible f in which every contact of A carries.
    interval : (m, 2) ndarray [N]
        Least and greatest force; nan where not requested; inf where forces are unbounded (bodies
        wedged between fixed ones).
    interval_method : str
        How, and whether they are exact or contain the exact ones.
    reached : (m, 2) ndarray [N]
        The part of the intervals that is known to be reached, to 1e-7 of the largest force.
    determined_method : str
        How determined contacts were found.
    diameter : float [N]
        The widest interval known, the diameter of P in the largest-force norm over those contacts.
    floating : int ndarray
        Bodies without any contact.
    rattlers : int ndarray
        Bodies with contacts that can carry nothing.
    unmoved : (n,) bool ndarray
        Free degrees of freedom that no contact moves.
    rounds : int
        Of the search for A.
    threshold : float
        Part of the largest force above which a contact counts as carrying.
    smallest_force : float
        Least force of A in ``example``, over the largest.
    proven : bool
        No further contact can carry.
    position : (m,) ndarray
        Of a given force in its interval, 0 at the least and 1 at the greatest; nan without one.
    distance : float [N]
        |f - P| of given forces; nan without any.

    Examples
    --------
    >>> import numpy as np, rigidlimit as rl
    >>> beam = np.array([[1.0, -0.5], [1.0, 0.0], [1.0, 0.5]])  # columns: rise, turn
    >>> found = rl.determinacy(beam, [10.0, 0.0])
    >>> found.width.round(6), found.determined.any()
    (array([ 5., 10.,  5.]), np.False_)
    """

    degree: int
    nullity: int
    mobility: int
    rank: Rank
    can_carry: np.ndarray
    determined: np.ndarray
    example: np.ndarray
    interval: np.ndarray
    reached: np.ndarray
    interval_method: str
    determined_method: str
    diameter: float
    floating: np.ndarray
    rattlers: np.ndarray
    unmoved: np.ndarray
    rounds: int
    threshold: float
    smallest_force: float
    proven: bool
    position: np.ndarray
    distance: float

    @property
    def width(self) -> np.ndarray:
        """Greatest minus least force, (m,) [N]; nan where not computed."""
        with np.errstate(invalid="ignore"):
            return self.interval[:, 1] - self.interval[:, 0]

    @property
    def doubtful(self) -> bool:
        """Whether a singular value or a force lies so near to its tolerance that the degree hangs
        on it, or not all contacts that can carry may have been found."""
        faint = self.smallest_force < TOLERANCES.doubtful * self.threshold
        return bool(self.rank.margin < TOLERANCES.doubtful or faint or not self.proven)

    @property
    def message(self) -> str:
        """The findings in a few lines."""
        return self.described("N")

    def described(self, unit: str) -> str:
        """``message`` of forces in another unit.

        Parameters
        ----------
        unit : str
            As "N s" of impulses.
        """
        m = len(self.determined)
        lines = [
            f"degree of indeterminacy {self.degree}: {int(self.determined.sum())} of "
            f"{counted(m, 'contact force')} determined, "
            f"{int((~self.can_carry).sum())} of them zero",
            f"nullity of B^T {self.nullity}; rank {self.rank.rank} of the load-bearing contacts by "
            f"{self.rank.method}, tolerance {self.rank.tolerance:.0e}, "
            + (
                "no near-null singular values"
                if not len(self.rank.near_null)
                else "smallest singular values "
                + ", ".join(f"{s:.1e}" for s in self.rank.near_null[:5])
            ),
        ]
        if self.rank.margin < TOLERANCES.doubtful:
            lines.append(
                "the rank depends on the tolerance: a singular value lies within a factor "
                f"{self.rank.margin:.3g} of it"
            )
        if self.smallest_force < TOLERANCES.doubtful * self.threshold:
            lines.append(
                f"which contacts can carry depends on the threshold of {self.threshold:.0e} of the "
                f"largest force: one of them carries {self.smallest_force:.1e}"
            )
        if not self.proven:
            lines.append("more contacts may be able to carry force: the search was cut short")
        known = int((~self.determined & ~np.isnan(self.interval[:, 0])).sum())
        lines.append(
            f"intervals of {counted(known, 'open contact')} by {self.interval_method}; widest "
            f"{self.diameter:.6g} {unit}"
            if known
            else f"intervals: {self.interval_method}"
        )
        if len(self.floating) or len(self.rattlers):
            lines.append(
                f"{counted(len(self.floating), 'floating body')} (no contact), "
                f"{counted(len(self.rattlers), 'rattler')} "
                "(contacts that can carry nothing)"
            )
        if not np.isnan(self.distance):
            lines.append(
                f"the given forces lie {self.distance:.3g} {unit} from the admissible ones"
            )
        return "\n".join(lines)


INTERVALS = "exact", "bounds", "auto", "none"
"""How intervals are computed."""


class _Optional(TypedDict, total=False):
    """Keywords of ``determinacy`` with or without friction, for type checkers."""

    force: ArrayLike | None
    fixed: ArrayLike | None
    tolerance: float
    contacts: ArrayLike | None
    intervals: str
    blocks: ArrayLike | None
    workers: int | None
    friction: ArrayLike
    sliding_direction: ArrayLike | None


@overload
def determinacy(
    B: MatrixLike, load: ArrayLike, *, tangential: None = None, **options: Unpack[_Optional]
) -> Determinacy: ...


@overload
def determinacy(
    B: MatrixLike, load: ArrayLike, *, tangential: MatrixLike, **options: Unpack[_Optional]
) -> RoughDeterminacy: ...


def determinacy(
    B: MatrixLike,
    load: ArrayLike,
    *,
    force: ArrayLike | None = None,
    fixed: ArrayLike | None = None,
    tolerance: float = 1e-9,
    contacts: ArrayLike | None = None,
    intervals: str = "auto",
    blocks: ArrayLike | None = None,
    workers: int | None = None,
    tangential: MatrixLike | None = None,
    friction: ArrayLike = 0.0,
    sliding_direction: ArrayLike | None = None,
) -> Determinacy | RoughDeterminacy:
    """The admissible forces of a load: degree of indeterminacy, determined forces, intervals.

    Parameters
    ----------
    B, load, fixed, blocks
        As for ``compatible_forces``.
    force : (m,) [N], optional
        Forces to place among the admissible ones, with friction (m, d), normal component first;
        where they balance the load to 1e-8 they are used as admissible forces, without a search.
    tolerance : float
        Singular values below it, over the largest, count as zero.
    contacts : indices, optional
        Whose intervals are wanted; by default all, if no more than ``Tolerances.all_intervals`` are
        open.
    intervals : {"auto", "exact", "bounds", "none"}
        "exact": by linear programs; "bounds": safe outer bounds, for large systems; "auto": small
        systems exact, large ones bounds, and linear programs where they are not met by forces.
    workers : int, optional
        Threads.
    tangential, friction, sliding_direction
        As for ``compatible_forces``. Contacts that are known to slide have one unknown in place of
        d.

    Returns
    -------
    Determinacy
        With friction ``RoughDeterminacy``; its intervals are of all components, by linear programs
        in the plane and second-order cone programs in space (Clarabel).

    Raises
    ------
    InputError
        For wrong shapes, and for a load that no admissible forces balance.

    Examples
    --------
    >>> import numpy as np, rigidlimit
    >>> beam = np.array([[1.0, -0.5], [1.0, 0.0], [1.0, 0.5]])  # columns: rise, turn
    >>> known = rigidlimit.determinacy(beam, [10.0, 0.0])
    >>> known.degree, known.interval.round(6).tolist()
    (1, [[0.0, 5.0], [0.0, 10.0], [0.0, 5.0]])
    """
    arrays.one_of("intervals", intervals, INTERVALS)
    if tangential is not None:
        if intervals == "bounds":
            raise InputError("intervals is 'bounds' with tangential; expected exact, auto or none")
        options = dict(tangential=tangential, friction=friction, fixed=fixed, blocks=blocks)
        problem = rough_contacts(B, load, sliding_direction=sliding_direction, **options)
        asked = dict(tolerance=tolerance, contacts=contacts, intervals=intervals != "none")
        return rough_determinacy(problem, force=force, **asked)
    refuse_friction(friction, sliding_direction)
    problem = SmoothContacts.of(B, load, fixed, blocks)
    m = problem.B.shape[0]
    tolerance = arrays.positive("tolerance", tolerance)
    if force is not None:
        force = arrays.vector("force", force, m, what="contact (row of B)")
    chosen = arrays.indices("contacts", contacts, m)
    if workers is not None:
        workers = arrays.whole("workers", workers)
    return _found(problem, force, tolerance, chosen, intervals, workers)


def _found(problem: SmoothContacts, force, tolerance, chosen, how, workers) -> Determinacy:
    given_unit, m, near = problem.size * problem.unit, problem.B.shape[0], None
    if force is not None:
        problem, near = problem.carried_by(force / given_unit)
    given = problem
    problem, inside = _inside(problem, near)
    unit = problem.size * problem.unit
    carries = inside.carries
    A = np.flatnonzero(carries)
    carrying, columns = _carrying(problem.B, A)
    starts = kept_starts(problem.starts, columns)
    found = whole = rank(carrying, tolerance=tolerance, blocks=starts)
    if carrying.shape != problem.B.shape:
        whole = rank(problem.B, tolerance=tolerance, blocks=problem.starts)
    degree = len(A) - found.rank
    open_, determined_method = _open(carrying, degree, tolerance, found)
    determined = np.ones(m, bool)
    determined[A[open_]] = False
    interval, reached, method = all_intervals(
        Network(carrying, blocks=starts), inside, determined, chosen, how, workers
    )
    # between held bodies any push is balanced by what holds them
    held = (np.diff(problem.B.indptr) == 0) & ~carries
    carries, determined = carries | held, determined & ~held
    interval[held] = reached[held] = (0.0, np.inf)
    interval, reached = interval * unit[:, None], reached * unit[:, None]
    widths = interval[:, 1] - interval[:, 0]
    position, distance = np.full(m, np.nan), np.nan
    if force is not None:
        position = position_in(force, interval)
        if near is None:
            near, _ = admissible.nearest(given.network, given.load, force / given_unit)
        distance = float(np.linalg.norm(force - given_unit * near))
    floating, rattlers = _idle_bodies(problem, carries)
    # what it pushes counts: of rows in other units forces are of other sizes
    pushes = inside.force * unit * problem.strength
    return Determinacy(
        degree=degree + int(held.sum()),
        nullity=m - whole.rank,
        mobility=len(columns) - found.rank,
        rank=found,
        can_carry=carries,
        determined=determined,
        example=inside.force * unit,
        interval=interval,
        reached=reached,
        interval_method=method,
        determined_method=determined_method,
        diameter=float(widths[~np.isnan(widths)].max(initial=0.0)),
        floating=floating,
        rattlers=rattlers,
        unmoved=problem.free & ~problem.touched,
        rounds=inside.rounds,
        threshold=inside.threshold,
        smallest_force=float(pushes[A].min() / pushes.max()) if len(A) else np.inf,
        proven=inside.proven,
        position=position,
        distance=distance,
    )


def _inside(problem: SmoothContacts, known) -> tuple[SmoothContacts, admissible.Interior]:
    """Forces amid the admissible ones; anew in units of them where they are of other orders."""
    m, n = problem.B.shape
    if m == 0 or n == 0:
        return problem, admissible.Interior(
            np.zeros(m), np.zeros(m, bool), 0, Status.CONVERGED, 0.0
        )
    inside = _interior(problem, known)
    for _ in range(TOLERANCES.rescalings - 1):
        one = np.ones(m)
        units = units_at(problem.B, 0.0 * one, one, inside.force, problem.load)
        if units.max() <= TOLERANCES.alike * units.min():
            break
        problem = problem.in_units(units)
        inside = _interior(problem, inside.force / units)
    return problem, inside


def _interior(problem: SmoothContacts, known) -> admissible.Interior:
    if known is not None:
        problem, known = problem.carried_by(known)
    inside = admissible.interior(problem.network, problem.load, known=known)
    if inside.status is not Status.CONVERGED:
        raise InputError(
            f"no forces f >= 0 were found that balance the load (imbalance {inside.residual:.1e} "
            "of the largest load); expected B^T f of some f >= 0, as contact dynamics gives it, or "
            "force=, forces that balance it"
        )
    return inside


def _carrying(B, A):
    """Rows of the contacts that can carry, on the columns they touch, and those columns."""
    rows = B[A]
    columns = np.unique(rows.indices[np.abs(rows.data) > 1e-12])
    part = sp.csr_array(rows[:, columns])
    part.sort_indices()
    return part, columns


def _open(carrying, degree, tolerance, found):
    """Which load-bearing contacts are undetermined, (|A|,) bool, and how that was found."""
    m, least = carrying.shape[0], TOLERANCES.free_of
    if degree == 0:
        return np.zeros(m, bool), "degree 0"
    if m > TOLERANCES.dense:
        moved = admissible.free_part(carrying)
        return moved > least, f"random self-stresses, threshold {least:.0e}"
    U, s, _ = scipy.linalg.svd(carrying.toarray(), full_matrices=True)
    null = U[:, int((s > tolerance * found.largest).sum()) :]
    return np.linalg.norm(null, axis=1) > least, f"null space of B^T, threshold {least:.0e}"


def _idle_bodies(problem: SmoothContacts, carries):
    """(floating, rattlers): free bodies without a contact, and with none that can carry."""
    body = problem.body
    is_free, has_contact, bears = np.zeros((3, int(body.max(initial=-1)) + 1), bool)
    is_free[body[problem.free]] = True
    has_contact[body[problem.touched]] = True
    bears[body[problem.given[np.flatnonzero(carries)].indices]] = True
    return (np.flatnonzero(is_free & ~has_contact), np.flatnonzero(is_free & has_contact & ~bears))
