"""Load factor at collapse and its mechanism: limit analysis of rigid blocks with friction.

A load grows from F~_0 by factors of F~_1 (both as what contacts must deliver). Static theorem:

    max lambda   subject to   R^T f = F~_0 + lambda F~_1,   f in the cones,

a linear program in the plane, a second-order cone program in space. Its dual is the kinematic
theorem: a motion u, of unit work of the growing load, that no contact resists (w = R u in the dual
cones) and with the least work of the rest, which equals lambda. (J. Heyman, The Stone Skeleton,
Int. J. Solids Struct. 2 (1966) 249; R. K. Livesley, Int. J. Numer. Methods Eng. 12 (1978) 1853.)

The theorem is that of an associated law: contacts open by mu |w_t| while they slide. Coulomb's
friction slides without opening. So lambda bounds the true factor from above and not from below (D.
C. Drucker, J. Appl. Mech. 21 (1954) 71): beyond it no forces balance the load; below it bodies may
still slide, by how they were loaded. Where no contact slides in the mechanism, it is one of
Coulomb's law too, though others may come earlier.
"""

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from ..._support import arrays
from ..._support.arrays import MatrixLike
from ..._support.display import Brief
from ..._support.words import counted
from ...errors import InputError
from ...status import HasStatus, Status
from ..tolerances import TOLERANCES
from .conic import INFEASIBLE, UNBOUNDED, Answer, Program, solve
from .feasible import feasible
from .problem import RoughContacts, rough_contacts


@dataclass(frozen=True, repr=False)
class Collapse(HasStatus, Brief):
    """A load factor and the mechanism at collapse. m contacts of d components, normal first.

    Attributes
    ----------
    factor : float
        lambda; inf where the load can grow without end, nan where its fixed part is carried at no
        factor, negative where it is carried only if the other load is turned round.
    force : (m, d) ndarray [N]
        Admissible at that factor.
    mechanism : (n,) ndarray
        Motion of the bodies at collapse, largest displacement at a contact 1; where the fixed part
        is not carried, the motion that it drives; zero where there is no limit.
    displacement : (m, d) ndarray
        Of contacts in it.
    opens : (m,) bool ndarray
        Contacts that open by more than the associated law opens those that slide, mu |w_t|.
    slides : (m,) bool ndarray
        Rough ones that slide by it (hinges stand where one corner of a joint opens).
    gap : float
        Factor less the bound that the mechanism gives.
    residual : float
        Of balance and cones, over the largest load.
    status : Status
        "converged", "load_not_carried" (the fixed part) or "stalled".

    Examples
    --------
    >>> import rigidlimit as rl
    >>> found = rl.statics("arch").load_factor()
    >>> found.exact, int(found.opens.sum())  # four hinges, and no contact slides
    (True, 4)
    """

    factor: float
    force: np.ndarray
    mechanism: np.ndarray
    displacement: np.ndarray
    opens: np.ndarray
    slides: np.ndarray
    gap: float
    residual: float
    status: Status

    @property
    def exact(self) -> bool:
        """Whether the mechanism is one of Coulomb's law too: it slides nowhere."""
        return self.converged and not self.slides.any()

    @property
    def message(self) -> str:
        solved = f"({self.status}, residual {self.residual:.1e}, gap {self.gap:.1e})"
        if self.status is Status.LOAD_NOT_CARRIED and self.factor < 0.0:
            return (
                f"the fixed load alone is not carried {solved}: forces in the friction cones "
                f"balance it only together with {self.factor:.6g} times the growing load, or less"
            )
        if self.status is Status.LOAD_NOT_CARRIED:
            return (
                f"no forces in the friction cones balance the fixed load {solved}; the motion that "
                "it causes is in .mechanism"
            )
        if np.isinf(self.factor):
            return f"no limit: friction holds the growing load at any factor {solved}"
        moves = f"{counted(int(self.opens.sum()), 'contact')} open"
        if self.slides.any():
            return (
                f"load factor at collapse {self.factor:.6g} at most {solved}: the mechanism slides "
                f"at {counted(int(self.slides.sum()), 'contact')} ({moves})\n"
                "an upper bound: collapse may come earlier, as Coulomb's friction slides without "
                "opening, and the associated law of the static theorem opens (a lower estimate: "
                "sliding_load_factor)"
            )
        return (
            f"load factor at collapse {self.factor:.6g} {solved}: in its mechanism no "
            f"contact slides against friction ({moves}), as under Coulomb's law; beyond this "
            "factor no forces balance the load"
        )


def load_factor(
    B: MatrixLike,
    load: ArrayLike,
    growing: ArrayLike,
    *,
    tangential: MatrixLike,
    friction: ArrayLike,
    fixed: ArrayLike | None = None,
    blocks: ArrayLike | None = None,
) -> Collapse:
    """The largest factor of a growing load that admissible forces carry, and the mechanism.

    Parameters
    ----------
    B, tangential, friction, fixed, blocks
        As for ``compatible_forces``.
    load, growing : (n,) [N, N m]
        What the contacts must deliver: the fixed part, and the one that is multiplied by the factor
        (external forces with the sign turned).

    Raises
    ------
    InputError
        For wrong shapes, a growing load that is zero, a load on a motion that no contact resists,
        and where the programs prove neither a factor nor that there is none.

    Examples
    --------
    A block of unit weight, 2 wide and 1 high, on a floor with mu = 0.7, pushed at its middle: it
    slides at 0.7. With more friction it would tip at 2.

    >>> import rigidlimit
    >>> B = [[0.0, 1.0, -1.0], [0.0, 1.0, 1.0]]  # columns: along, up, turn; two corners
    >>> T = [[1.0, 0.0, 0.5], [1.0, 0.0, 0.5]]
    >>> rl = rigidlimit
    >>> found = rl.load_factor(B, [0, 1, 0], [-1, 0, 0], tangential=T, friction=0.7)
    >>> round(found.factor, 6), found.slides.any()
    (0.7, np.True_)
    """
    n = arrays.sparse("B", B).shape[1]
    growing = arrays.vector("growing", growing, n, what="degree of freedom (column of B)")
    problem = rough_contacts(
        B, load, tangential=tangential, friction=friction, fixed=fixed, blocks=blocks, also=growing
    )
    return collapse_of(problem, growing)


def collapse_of(problem: RoughContacts, growing: np.ndarray) -> Collapse:
    """``load_factor`` of a problem at hand; growing (n,) [N]."""
    more = problem.scaled(growing)
    if not more.any() and problem.unmoved <= TOLERANCES.balanced:
        raise InputError("growing is zero on all bodies that move; expected a load")
    if problem.unmoved > TOLERANCES.balanced:
        raise InputError(
            "a load acts on a motion that no contact resists: no force balances it at any factor; "
            "expected loads on bodies in contact, and held motions in fixed"
        )
    g, balance = problem.generators, problem.balance
    grows = balance.combine @ more
    unit = 1.0 / (float(np.abs(grows).max(initial=0.0)) or 1.0)  # of the factor
    A = sp.hstack([sp.csr_array(-unit * grows[:, None]), balance.columns], format="csr")
    cost = np.zeros(A.shape[1])
    cost[0] = -1.0
    program = Program(cost, A, balance.load, 1, g.positive, g.cones, problem.shape[1])
    answer = solve(program)
    if answer.outcome == UNBOUNDED:
        return _answer(problem, np.inf, None, np.zeros(len(problem.dofs)), 0.0)
    if answer.outcome == INFEASIBLE:
        return _answer(problem, np.nan, None, -problem.moves(answer.y), 0.0)
    if not answer.optimal:
        found = feasible(problem)
        if found.refuted:
            return _answer(problem, np.nan, None, found.u, 0.0)
        raise InputError(
            "neither the load factor nor that there is none was proved: the best forces and "
            f"mechanism found leave {answer.residual:.1e}, {answer.gap:.1e} apart; expected loads "
            "and arms within some ten orders of magnitude"
        )
    factor = float(answer.x[0]) * unit
    at = replace(problem, load=problem.load + factor * more, known=problem.unit)
    if abs(factor) <= TOLERANCES.no_factor * unit:
        factor = 0.0
    return _answer(at, factor, answer, -problem.moves(answer.y) / unit, unit * answer.gap)


def _answer(problem: RoughContacts, factor: float, answer: Answer | None, u, gap) -> Collapse:
    force = np.zeros(problem.shape) if answer is None else problem.force(answer.x[1:])
    w = problem.displacement(u)
    largest = float(np.abs(w).max(initial=0.0)) or 1.0
    w, u = w / largest, u / largest
    slip = np.linalg.norm(w[:, 1:], axis=1)
    opens = w[:, 0] - problem.friction * slip > TOLERANCES.moves
    status, residual = Status.CONVERGED, 0.0
    if answer is not None:
        residual = max(problem.imbalance(force), problem.outside(force), answer.residual)
        if residual > TOLERANCES.balanced * max(1.0, float(np.abs(force).max(initial=0.0))):
            status = Status.STALLED
        elif factor < 0.0:
            status = Status.LOAD_NOT_CARRIED
    elif np.isnan(factor):
        status = Status.LOAD_NOT_CARRIED
    return Collapse(
        factor=factor,
        force=force * problem.size,
        mechanism=problem.motion(u),
        displacement=w,
        opens=opens,
        # a smooth contact slides by its own, associated law
        slides=~opens & (slip > TOLERANCES.moves) & (problem.friction > 0.0),
        gap=float(gap),
        residual=residual,
        status=status,
    )
