"""Forces undetermined with friction: degree of indeterminacy, intervals, determined components.

The admissible forces P of ``problem.py`` have the dimension

    dim P = sum_i dim(face of cone i) - rank of R^T on these faces,

with the faces of ``faces.py``: d where contact i can stick, 1 where it slides in all of P, or is
known to slide, or is smooth, 0 where it can carry nothing. (Unger, Kertesz, Wolf, PRL 94 (2005)
178001, count sliding contacts in this way.) A component of a force is determined if it is the same
in all of P: if every self-stress within the faces has it zero. Least and greatest values are 2
linear programs (in the plane) or second-order cone programs (in space) a component.
"""

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import ArrayLike

from ..._support import arrays
from ..._support.display import Displayed
from ..._support.words import counted
from ...errors import InputError
from ...status import HasStatus, Status
from .. import bound_programs
from ..rank import Rank, rank
from ..tolerances import TOLERANCES
from .conic import OPTIMAL, UNBOUNDED, Series
from .count import single_directions, span_of
from .faces import Face, smallest_face
from .problem import RoughContacts
from .scaling import largest


def intervals_of(
    problem: RoughContacts,
    example: np.ndarray,
    determined: np.ndarray,
    chosen: np.ndarray | None,
    wanted: bool,
) -> tuple[np.ndarray, float, str]:
    """((m, d, 2) least and greatest values, largest gap, method in words), loads of order one."""
    m, d = problem.shape
    interval = np.full((m, d, 2), np.nan)
    interval[determined] = example[determined][:, None]
    if not wanted:
        return interval, 0.0, "not requested"
    open_ = ~determined
    if chosen is not None:
        some = np.zeros(m, bool)
        some[chosen] = True
        interval[~some & open_.any(axis=1)] = np.nan
        open_ &= some[:, None]
    elif open_.any(axis=1).sum() > TOLERANCES.all_intervals_in_cones:
        count = int(open_.any(axis=1).sum())
        said = f"not computed for all {count} open contacts; choose some with contacts="
        return interval, 0.0, said
    components = np.flatnonzero(open_.ravel())
    if not len(components):
        return interval, 0.0, "every force is determined, nothing to solve"
    costs = problem.generators.G[components]
    unit = largest(costs)  # of each component
    costs = sp.csr_array(sp.diags_array(1.0 / unit) @ costs)
    balance = problem.balance
    if problem.program().linear:
        ends, method = bound_programs.extremes(sp.csr_array(balance.columns.T), balance.load, costs)
        gap = np.full(len(components), bound_programs.SETTINGS.feasibility)
    else:
        ends, gap = _conic_ends(problem, costs)
        method = "second-order cone programs (Clarabel)"
    interval.reshape(-1, 2)[components] = ends * unit[:, None]
    interval[:, 0] = np.maximum(interval[:, 0], 0.0)  # but for rounding they press
    missing = int(np.isnan(ends).sum())
    if missing:
        method += f"; {missing} of {ends.size} ends are open (nan), neither proved nor infinite"
    return interval, float((gap * unit).max()), method


def _conic_ends(problem: RoughContacts, costs: sp.csr_array):
    """(least and greatest values (k, 2) of the rows of ``costs`` (k, N), their gaps (k,)); nan
    where neither an end nor that there is none was proved."""
    series = Series(problem.program())
    ends, gap = np.full((costs.shape[0], 2), np.nan), np.zeros(costs.shape[0])
    for row in range(costs.shape[0]):
        cost = costs[[row]].toarray().ravel()
        for side, sign in ((0, 1.0), (1, -1.0)):
            answer = series.solve(sign * cost)
            if answer.outcome == OPTIMAL:
                ends[row, side] = sign * answer.value
                gap[row] = max(gap[row], abs(answer.gap), answer.residual)
            elif answer.outcome == UNBOUNDED:
                ends[row, side] = -sign * np.inf
    return ends, gap


@dataclass(frozen=True, repr=False)
class RoughDeterminacy(HasStatus, Displayed):
    """What statics says of the forces of rough contacts.

    m contacts of d components, normal first, then along the tangents; P are the admissible forces.

    Attributes
    ----------
    degree : int
        Dimension of P.
    sliding : (m,) bool ndarray
        Contacts that slide in all of P, those known to slide among them.
    can_carry, can_stick : (m,) bool ndarray
        In some forces of P.
    determined : (m, d) bool ndarray
        Components that are the same in all of P.
    example : (m, d) ndarray [N]
        Admissible forces inside every face.
    interval : (m, d, 2) ndarray [N]
        Least and greatest value; nan where not requested, infinite where forces are unbounded.
    interval_method : str
        How.
    interval_gap : float [N]
        Largest distance of a value from its bound by duality.
    mobility : int
        Motions that no loaded contact resists.
    rank : Rank
        Of the balance on the faces.
    diameter : float [N]
        Widest finite interval.
    squeezed : (m,) bool ndarray
        Contacts whose force is unbounded (the scene can be wedged).
    proven : bool
        No further contact can carry.
    margin : float
        Factor between the threshold of carrying and the force nearest to it.
    residual : float
        Imbalance of ``example`` over the largest load.
    status : Status
        Of the search for admissible forces.
    position : (m, d) ndarray
        Of given forces in their intervals, 0 least, 1 greatest; nan without any.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> found = rl.statics(rl.scenes.groove(friction=0.2)).determinacy()
    >>> found.degree, found.interval[0, 0].round(4)  # normal force on the left side
    (1, array([5.8926, 8.8388]))
    """

    degree: int
    sliding: np.ndarray
    can_carry: np.ndarray
    can_stick: np.ndarray
    determined: np.ndarray
    example: np.ndarray
    interval: np.ndarray
    interval_method: str
    interval_gap: float
    mobility: int
    rank: Rank
    diameter: float
    squeezed: np.ndarray
    proven: bool
    margin: float
    residual: float
    status: Status
    position: np.ndarray

    @property
    def doubtful(self) -> bool:
        """Whether a singular value or a force lies so near its threshold that the degree depends
        on it, or not all contacts that can carry may have been found."""
        return bool(min(self.rank.margin, self.margin) < TOLERANCES.doubtful or not self.proven)

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
        whole = int(self.determined.all(axis=1).sum())
        lines = [
            f"degree of indeterminacy {self.degree} with friction: {whole} of "
            f"{counted(m, 'contact force')} determined in all components; "
            f"{int((~self.can_carry).sum())} can carry nothing, {int(self.sliding.sum())} slide in "
            "all admissible forces",
            f"rank {self.rank.rank} of the balance on what can carry, by {self.rank.method}, "
            f"tolerance {self.rank.tolerance:.0e}; admissible forces: {self.status}, residual "
            f"{self.residual:.1e}",
        ]
        if self.doubtful:
            near = min(self.rank.margin, self.margin)
            lines.append(
                "the degree depends on thresholds: "
                + (
                    f"a value lies within a factor {near:.3g} of one"
                    if self.proven
                    else "not all that can carry may have been found"
                )
            )
        known = int((~np.isnan(self.interval[:, 0, 0]) & ~self.determined.all(axis=1)).sum())
        widest = f"widest finite one {self.diameter:.6g} {unit}" if self.diameter else "none finite"
        lines.append(
            f"intervals of {counted(known, 'open contact')} by {self.interval_method}, to "
            f"{self.interval_gap:.1g} {unit}; {widest}"
            if known
            else f"intervals: {self.interval_method}"
        )
        if self.squeezed.any():
            lines.append(
                f"{counted(int(self.squeezed.sum()), 'contact')} can be squeezed without bound: "
                "friction holds a self-stress that no load needs (wedging)"
            )
        return "\n".join(lines)


def rough_determinacy(
    problem: RoughContacts,
    *,
    force: ArrayLike | None = None,
    tolerance: float = 1e-9,
    contacts: ArrayLike | None = None,
    intervals: bool = True,
) -> RoughDeterminacy:
    """See ``determinacy``, of which this is the part with tangential rows."""
    m, d = problem.shape
    if force is not None:
        force = checked_force(force, m, d)
        near = force / problem.size
        if max(problem.imbalance(near), problem.outside(near)) <= TOLERANCES.balanced:
            # of the load that it carries, which is the same to its imbalance
            problem = replace(problem, load=problem.rows.T @ near.ravel())
    face = smallest_face(problem)
    if not (face.found or face.refuted or problem.unmoved > TOLERANCES.balanced):
        raise InputError(
            "whether any forces in the friction cones balance the load was not settled: the conic "
            "solver found neither such forces nor a motion that shows that there are none; "
            "expected loads and arms within some ten orders of magnitude"
        )
    if not face.found or problem.unmoved > TOLERANCES.balanced:
        raise InputError(
            "no forces in the friction cones were found that balance the load; expected a load "
            "that contacts can carry, as contact dynamics gives it (rigidlimit.least_friction "
            "computes how much friction that takes)"
        )
    return _told(face.problem, face, force, tolerance, contacts, intervals)


def _told(problem: RoughContacts, face: Face, force, tolerance, contacts, intervals):
    m, d = problem.shape
    carries = np.zeros(m, bool)
    carries[problem.generators.contact[face.carries]] = True
    sticks = _sticks(problem, face)
    example = problem.force(face.x)
    alone = single_directions(problem)
    along = np.where(alone.any(axis=1)[:, None], alone, _rays(problem, face)) * carries[:, None]
    pushes, basis = span_of(problem, sticks, along)
    balance = sp.csr_array(pushes.T)
    columns = np.unique(balance.indices[np.abs(balance.data) > 1e-12])
    if (carries & ~sticks & ~alone.any(axis=1)).any() and d == 3:
        tolerance = max(tolerance, TOLERANCES.ray)
    found = rank(sp.csr_array(balance[:, columns]), tolerance=tolerance)
    degree = balance.shape[0] - found.rank
    determined = _determined(balance, basis, degree, found).reshape(m, d)
    chosen = arrays.indices("contacts", contacts, m)
    interval, gap, method = intervals_of(problem, example, determined, chosen, intervals)
    width = interval[..., 1] - interval[..., 0]
    finite = width[np.isfinite(width)]
    position = np.full((m, d), np.nan)
    if force is not None:
        open_ = np.isfinite(width) & (width > 1e-9 * problem.unit[:, None])
        position[open_] = (force[open_] / problem.size - interval[..., 0][open_]) / width[open_]
    size = problem.size
    residual = problem.imbalance(example)
    return RoughDeterminacy(
        degree=degree,
        sliding=carries & ~sticks & (problem.friction > 0.0),
        can_carry=carries,
        can_stick=sticks & (problem.friction > 0.0),
        determined=determined,
        example=example * size,
        interval=interval * size,
        interval_method=method,
        interval_gap=gap * size,
        mobility=len(columns) - found.rank,
        rank=found,
        diameter=float(finite.max(initial=0.0)) * size,
        squeezed=np.isinf(interval[:, 0, 1]),
        proven=face.proven,
        margin=face.margin,
        residual=residual,
        status=Status.CONVERGED if residual <= TOLERANCES.accepted else Status.STALLED,
        position=position,
    )


def checked_force(force: ArrayLike, m: int, d: int) -> np.ndarray:
    """Forces (m, d), normal first, as an array of finite numbers; raises InputError."""
    try:
        force = arrays.floats(force)
    except (TypeError, ValueError):
        force = np.full(0, np.nan)
    if force.shape != (m, d) or not np.isfinite(force).all():
        raise InputError(
            f"force is {arrays.short(force.shape)} in shape; expected ({m}, {d}) finite numbers: a "
            "row for each contact, normal component first, then along its tangents"
        )
    return force


def _rays(problem: RoughContacts, face: Face) -> np.ndarray:
    """Forces (m, d) at the edge of the cones, along the one ray that carries of each; rows of
    others mean nothing."""
    g, d = problem.generators, problem.shape[1]
    x = np.where(face.carries, face.x, 0.0)
    if g.cones:
        cone = x[g.positive :].reshape(g.cones, d)
        length = np.linalg.norm(cone[:, 1:], axis=1)
        cone[:, 0] = np.where(length > 0.0, length, cone[:, 0])  # exactly on the edge
        x[g.positive :] = cone.ravel()
    return problem.force(x) / problem.unit[:, None]


def _sticks(problem: RoughContacts, face: Face) -> np.ndarray:
    """Contacts whose whole cone is spanned, (m,) bool."""
    g, (m, d) = problem.generators, problem.shape
    count = np.zeros(m, int)
    np.add.at(count, g.contact[face.inside], 1)
    return count == d


def _determined(balance, to_force, degree: int, found: Rank) -> np.ndarray:
    """Components (m d,) bool that no self-stress within the faces moves."""
    k = balance.shape[0]
    if degree == 0:
        return np.ones(to_force.shape[0], bool)
    if k <= TOLERANCES.dense:
        U, s, _ = scipy.linalg.svd(balance.toarray(), full_matrices=True)
        null = U[:, int((s > found.tolerance * found.largest).sum()) :]
    else:  # random ones show every component with probability one
        from ..admissible import self_stresses

        null = self_stresses(balance)
    moved = to_force @ null
    least = TOLERANCES.free_of * max(1.0, np.abs(null).max(initial=0.0))  # of unit columns
    return np.linalg.norm(moved, axis=1) <= least
