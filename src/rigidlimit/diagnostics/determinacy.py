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

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import ArrayLike

from .._support import arrays
from .._support.arrays import MatrixLike
from ..errors import InputError
from ..linear import Network, kept_starts
from ..status import Status
from . import admissible
from .cones.determinacy import RoughDeterminacy, rough_determinacy
from .cones.problem import refuse_friction, rough_contacts
from .cones.scaling import units_at
from .determinacy_result import Determinacy
from .intervals import all_intervals, position_in
from .rank import rank
from .smooth_contacts import SmoothContacts
from .tolerances import TOLERANCES

INTERVALS = "exact", "bounds", "auto", "none"
"""How intervals are computed."""


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
    if intervals not in INTERVALS:
        raise InputError(f"intervals is {intervals!r}; expected one of {', '.join(INTERVALS)}")
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
    chosen = _chosen(contacts, m)
    if workers is not None and not workers >= 1:
        raise InputError(f"workers is {workers}; expected at least 1 thread")
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
    position = distance = None
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


def _chosen(contacts, m):
    if contacts is None:
        return None
    chosen = np.unique(np.asarray(contacts))
    if len(chosen) and not np.issubdtype(chosen.dtype, np.integer):
        raise InputError(f"contacts has entries like {chosen[0]}; expected whole numbers, indices")
    chosen = chosen.astype(int)
    if len(chosen) and (chosen[0] < 0 or chosen[-1] >= m):
        raise InputError(
            f"contacts reaches from {chosen[0]} to {chosen[-1]}; expected indices from 0 to {m - 1}"
        )
    return chosen


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
    return (
        np.flatnonzero(is_free & ~has_contact),
        np.flatnonzero(is_free & has_contact & ~bears),
    )
