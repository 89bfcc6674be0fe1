"""Which contact forces rigid-body mechanics determines, and how far it leaves the others open.

The admissible forces of B (m, n) under F~ (n,) are the polytope

    P = {f >= 0 : B^T f = F~}.

Its dimension, the degree of indeterminacy, is |A| - rank B_A, where A holds the contacts that
carry force in some f of P: contacts that can carry none do not count, although they add to the
nullity of B^T. (The indeterminacy of perfectly rigid packings: F. Radjai, M. Jean, J. J. Moreau,
S. Roux, PRL 77 (1996) 274; S. McNamara, H. Herrmann, PRE 70 (2004) 061303.) Contact i is
determined if f_i is the same in all of P; its interval is [min f_i, max f_i].

A: ``admissible.interior``. Rank: ``rank.rank``. Intervals: ``programs.extremes`` (exact) or
``admissible.outer_bounds``. Everything is scaled: columns of B by their longest arm, forces by
the largest load.
"""

from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import ArrayLike

from .._support import arrays
from .._support.arrays import MatrixLike
from .._support.display import Displayed
from .._support.words import counted
from ..errors import InputError
from ..linear import Network, body_starts, column_arms, kept_starts
from ..status import Status
from . import admissible, programs
from .cones.determinacy import RoughDeterminacy, rough_determinacy
from .cones.problem import refuse_friction
from .rank import Rank, rank

INTERVALS = "exact", "bounds", "auto", "none"
"""How intervals are told."""

EXACT_SIZE = 30_000
"""intervals="auto": contacts that can carry force up to which linear programs take over where the
bounds do not meet the forces reached."""

AGREED = 1e-6
"""Distance of bounds and forces reached, over the largest force, at which they have met."""

ALL_INTERVALS = 2000
"""Undetermined contacts up to which all get their interval if none are chosen."""

DENSE = 1500
"""Contacts up to which the determined ones come from a dense null space."""

STILL = 1e-6
"""Part of a random self-stress below which a contact counts as free of it."""


DOUBTFUL = 1e3
"""Factor between a singular value and the tolerance below which the rank is in doubt."""


@dataclass(frozen=True, repr=False)
class Determinacy(Displayed):
    """What rigid-body mechanics says of the forces. m contacts, n degrees of freedom.

    degree: dimension of P. nullity: that of B^T on all contacts, m - rank B. mobility: motions of
    the loaded bodies that keep every loaded contact closed. rank: of B_A, with near-null singular
    values, tolerance, method. can_carry (m,) bool: A. determined (m,) bool: f_i the same in all of
    P (zero, if it cannot carry). example (m,) [N]: an admissible f in which every contact of A
    carries. interval (m, 2) [N]: least and greatest force; nan where not asked for; inf where
    forces can grow without end (bodies wedged between fixed ones). interval_method: how, and
    whether they are exact or contain the exact ones; reached (m, 2): then, the part of them that is
    known to be reached, to 1e-7 of the largest force. diameter [N]: the widest interval known, the
    diameter of P in the largest-force norm over those contacts. floating: bodies without any
    contact; rattlers: bodies with contacts that can carry nothing. threshold: part of the largest
    force above which a contact counts as carrying; smallest_force: least force of A in ``example``,
    over the largest. proven: no further contact can carry. unmoved (n,) bool: free dofs that no
    contact moves. For a given force: position (m,) in its interval, 0 at the least and 1 at the
    greatest; distance [N] |f - P|.
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
    position: np.ndarray | None = None
    distance: float | None = None

    @property
    def width(self) -> np.ndarray:
        """Greatest minus least force, (m,) [N]; nan where not computed."""
        with np.errstate(invalid="ignore"):
            return self.interval[:, 1] - self.interval[:, 0]

    @property
    def doubtful(self) -> bool:
        """Whether a singular value or a force lies so near to its tolerance that the degree hangs
        on it, or not all contacts that can carry may have been found."""
        faint = self.smallest_force < DOUBTFUL * self.threshold
        return bool(self.rank.margin < DOUBTFUL or faint or not self.proven)

    @property
    def message(self) -> str:
        """The findings in a few lines."""
        return self.described("N")

    def described(self, unit: str) -> str:
        """``message`` of forces in another unit, as impulses in N s."""
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
        if self.rank.margin < DOUBTFUL:
            lines.append(
                "the rank hangs on the tolerance: a singular value lies within a factor "
                f"{self.rank.margin:.3g} of it"
            )
        if self.smallest_force < DOUBTFUL * self.threshold:
            lines.append(
                f"which contacts can carry hangs on the threshold of {self.threshold:.0e} of the "
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
        if self.distance is not None:
            lines.append(
                f"the given forces lie {self.distance:.3g} {unit} from the admissible ones"
            )
        return "\n".join(lines)


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

    B (m, n), load (n,), fixed (n,) bool, blocks: as for ``compatible_forces``. force (m,): forces
    to place among the admissible ones; where they balance the load to 1e-8 they are taken for
    such, and need not be found. tolerance: singular values below it, over the largest,
    count as zero. contacts: indices whose intervals are wanted; by default all, if no more than
    ALL_INTERVALS are open. intervals: "exact" (linear programs), "bounds" (safe outer bounds, for
    large systems), "auto" (small systems exact; large ones bounds, and linear programs where they
    are not met by forces) or "none". workers: threads.

    Rough contacts: tangential, friction and sliding_direction as for ``compatible_forces``, force
    (m, d), normal component first. The answer is a ``RoughDeterminacy``; its intervals are of all
    components, by linear programs in the plane and second-order cone programs in space (Clarabel).
    Contacts that are known to slide have one unknown in place of d.

    Raises InputError for wrong shapes, and for a load that no f >= 0 balances.

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
        return rough_determinacy(
            B,
            load,
            tangential=tangential,
            friction=friction,
            force=force,
            fixed=fixed,
            sliding_direction=sliding_direction,
            tolerance=tolerance,
            contacts=contacts,
            intervals=intervals != "none",
            blocks=blocks,
        )
    refuse_friction(friction, sliding_direction)
    B = arrays.sparse("B", B)
    m, n = B.shape
    load = arrays.vector("load", load, n, what="degree of freedom (column of B)")
    tolerance = arrays.positive("tolerance", tolerance)
    if force is not None:
        force = arrays.vector("force", force, m, what="contact (row of B)")
    free = arrays.free_columns(fixed, n)
    chosen = _chosen(contacts, m)
    if workers is not None and not workers >= 1:
        raise InputError(f"workers is {workers}; expected at least 1 thread")

    arm, touched = column_arms(B)
    dofs = np.flatnonzero(free & touched)
    size = float((np.abs(load) / arm)[free].max(initial=0.0)) or 1.0
    _refuse_unmoved_load(load, free & ~touched, size)
    scaled = sp.csr_array(B[:, dofs] @ sp.diags_array(1 / arm[dofs]))
    scaled.sort_indices()
    F = load[dofs] / arm[dofs] / size
    starts = body_starts(n, blocks)
    body = np.searchsorted(starts, np.arange(n), side="right") - 1
    local = kept_starts(starts, dofs)

    known = None if force is None else force / size
    feasible = known is not None and _balances(scaled, F, known)
    if feasible:  # of the load that it carries, which is the same to its imbalance
        known = np.maximum(known, 0.0)
        F = scaled.T @ known
    inside = _inside(scaled, F, local, known if feasible else None)
    carries = inside.carries
    A = np.flatnonzero(carries)
    carrying, columns = _carrying(scaled, A)
    column_starts = kept_starts(starts, dofs[columns])
    found = rank(carrying, tolerance=tolerance, blocks=column_starts)
    all_of_it = found if len(A) == m and len(columns) == len(dofs) else (
        rank(scaled, tolerance=tolerance, blocks=local)
    )  # fmt: skip
    degree = len(A) - found.rank
    open_, how = _open(carrying, degree, tolerance, found)
    determined = np.ones(m, bool)
    determined[A[open_]] = False

    interval, reached, method = _all_intervals(
        Network(carrying, blocks=column_starts), inside, determined, chosen, intervals, workers
    )
    # between held bodies any push is balanced by what holds them
    held = (np.diff(scaled.indptr) == 0) & ~carries
    degree += int(held.sum())
    carries, determined = carries | held, determined & ~held
    interval[held] = reached[held] = (0.0, np.inf)
    widths = interval[:, 1] - interval[:, 0]
    widths = widths[~np.isnan(widths)]

    interval, reached = interval * size, reached * size
    position = distance = None
    if force is not None:
        position = _position(force, interval)
        near = known
        if not feasible:
            near, _ = admissible.nearest(Network(scaled, blocks=local), F, known)
        distance = float(np.linalg.norm(force - size * near))
    floating, rattlers = _idle_bodies(B, body, free, touched, carries, len(starts) - 1)
    return Determinacy(
        degree=degree,
        nullity=m - all_of_it.rank,
        mobility=len(columns) - found.rank,
        rank=found,
        can_carry=carries,
        determined=determined,
        example=inside.force * size,
        interval=interval,
        reached=reached,
        interval_method=method,
        determined_method=how,
        diameter=float(widths.max() * size) if len(widths) else 0.0,
        floating=floating,
        rattlers=rattlers,
        unmoved=free & ~touched,
        rounds=inside.rounds,
        threshold=inside.threshold,
        smallest_force=_over(inside.force[A].min(initial=np.inf), inside.force.max(initial=0.0)),
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


def _all_intervals(network, inside, determined, chosen, how, workers):
    """(intervals of all contacts (m, 2), what is reached of them, method in words); nan where they
    were not asked for. network: of the contacts that can carry."""
    carries = inside.carries
    A = np.flatnonzero(carries)
    interval = np.full((len(carries), 2), np.nan)
    interval[~carries] = 0.0
    known = carries & determined
    interval[known] = inside.force[known, None]
    reached = interval.copy()
    wanted, method = _wanted(np.flatnonzero(~determined), chosen)
    if how != "none" and len(wanted):
        place = np.full(len(carries), -1)
        place[A] = np.arange(len(A))
        # the load as the inside point balances it: no residue of its solve is left over
        balanced = network.B.T @ inside.force[A]
        interval[wanted], reached[wanted], method = _intervals(
            network, balanced, inside.force[A], place[wanted], how, workers
        )
    if chosen is not None:
        rest = np.ones(len(carries), bool)
        rest[chosen] = False
        interval[rest & ~determined] = np.nan
    return interval, reached, method


def _wanted(undetermined, chosen):
    """(contacts whose intervals are to be computed, what is said if none are)."""
    if not len(undetermined):
        return undetermined, "every force is determined, nothing to solve"
    if chosen is not None:
        return undetermined[np.isin(undetermined, chosen)], "not asked for"
    if len(undetermined) > ALL_INTERVALS:
        said = f"not computed for all {len(undetermined)} open contacts; choose some with contacts="
        return undetermined[:0], said
    return undetermined, "not asked for"


def _refuse_unmoved_load(load, unmoved, size):
    bad = np.flatnonzero(unmoved & (np.abs(load) > 1e-8 * size))
    if len(bad):
        raise InputError(
            f"the load {load[bad[0]]:.3g} on degree of freedom {bad[0]} meets no contact: there "
            "are no admissible forces; expected B^T f of some f >= 0, as contact dynamics gives it"
        )


def _balances(B, F, force) -> bool:
    """Whether ``force`` (m,) is admissible, loads of order one."""
    pulls, missing = -force.min(initial=0.0), np.abs(B.T @ force - F).max(initial=0.0)
    size = max(1.0, float(force.max(initial=0.0)))
    return bool(max(pulls, missing) <= admissible.BALANCED * size)


def _inside(B, F, starts, known):
    m, n = B.shape
    if m == 0 or n == 0:
        return admissible.Interior(np.zeros(m), np.zeros(m, bool), 0, Status.CONVERGED, 0.0)
    inside = admissible.interior(Network(B, blocks=starts), F, known=known)
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
    m = carrying.shape[0]
    if degree == 0:
        return np.zeros(m, bool), "degree 0"
    if m > DENSE:
        return (
            admissible.free_part(carrying) > STILL,
            f"random self-stresses, threshold {STILL:.0e}",
        )
    U, s, _ = scipy.linalg.svd(carrying.toarray(), full_matrices=True)
    null = U[:, int((s > tolerance * found.largest).sum()) :]
    return np.linalg.norm(null, axis=1) > STILL, f"null space of B^T, threshold {STILL:.0e}"


def _over(value, size):
    return float(value / size) if size > 0 else np.inf


def _intervals(network, load, inside, contacts, how, workers):
    """(intervals, what is reached of them, method in words) of some load-bearing contacts."""
    m = network.B.shape[0]
    if how == "exact" or (how == "auto" and m <= programs.SIMPLEX_SIZE):
        exact, method = programs.extremes(network.B, load, contacts, workers=workers)
        return exact, exact.copy(), method
    outer, reached = admissible.outer_bounds(network, load, inside, contacts, workers=workers)
    method = "outer bounds (central paths)"
    size = np.maximum(inside.max(initial=0.0), reached[:, 1])
    apart = np.abs(outer - reached).max(axis=1) / size
    if how == "auto" and m <= EXACT_SIZE:
        loose = np.flatnonzero(apart > AGREED)
        if len(loose):
            exact, other = programs.extremes(network.B, load, contacts[loose], workers=workers)
            outer[loose] = reached[loose] = exact
            apart[loose] = 0.0
            method += f", {len(loose)} of them by {other}"
    return outer, reached, f"{method}, reached to {apart.max():.0e} of the largest"


def _position(force, interval):
    """0 at the least and 1 at the greatest force; nan where the interval is unknown or a point."""
    width = interval[:, 1] - interval[:, 0]
    known = np.isfinite(width) & (width > 1e-9 * np.abs(force).max(initial=0.0))
    out = np.full(len(force), np.nan)
    out[known] = (force[known] - interval[known, 0]) / width[known]
    return out


def _idle_bodies(B, body, free, touched, carries, count):
    """(floating, rattlers): free bodies without a contact, and with none that can carry."""
    is_free = np.zeros(count, bool)
    is_free[body[free]] = True
    has_contact = np.zeros(count, bool)
    has_contact[body[touched]] = True
    bears = np.zeros(count, bool)
    bears[body[B[np.flatnonzero(carries)].indices]] = True
    return (
        np.flatnonzero(is_free & ~has_contact),
        np.flatnonzero(is_free & has_contact & ~bears),
    )
