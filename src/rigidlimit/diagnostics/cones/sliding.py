"""Collapse by Coulomb's law itself: states whose mechanism slides without opening.

``load_factor`` is of the associated law, by which contacts open by mu |w_t| while they slide, and
bounds the factor from above. A limit state of Coulomb's law is a factor lambda, forces f and a
motion u, w = R u, with

    R^T f = F~_0 + lambda F~_1,   |f_t| <= mu f_n,   w_n >= 0,   f_n w_n = 0,
    f_t = -mu f_n w_t / |w_t|  where w_t is not zero,   and the growing load drives u.

There are many, at factors apart, and which of them a structure comes to hangs on how it was loaded.
The least is a program with complementarity constraints (M. C. Ferris, F. Tin-Loi, Int. J. Mech.
Sci. 43 (2001) 209), that is not convex. As M. Gilbert, C. Casapulla, H. M. Ahmed (Comput. Struct.
84 (2006) 873) do, one is sought by programs that are:

1. Mechanism. The largest lambda where friction is bounded by the normal forces N of the last round
   and not by its own: |f_t| <= mu N. That law is associated with sliding that does not open. (Near
   f_n = 0, friction falls to zero within a cone of mu / ``STEEP``.)
2. State. The least lambda of all forces of Coulomb's law that go with this mechanism: none where it
   opens, -mu f_n w_t / |w_t| where it slides. Its f_n are the next N.

Where step 2 finds none, those of step 1 are. Each state of step 2 is one of the above, to the
residual given, wherever rounds end; they do where the factor falls no more. It estimates the least
from above, and is no lower bound: factors below it may have states too. In space, where cones know
directions to the root of what their solver is asked for, and many contacts slide each its own way,
rounds often come near a state and reach none.
"""

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from ..._support import arrays
from ..._support.arrays import MatrixLike
from ..._support.deadline import late, within
from ..._support.display import Brief
from ..._support.words import counted
from ...status import HasStatus, Status
from ..tolerances import TOLERANCES
from .conic import Program, solve
from .feasible import feasible
from .limit import Collapse, collapse_of
from .problem import RoughContacts, rough_contacts

STEEP = 0.5
"""Normal force over that of the last round below which friction is bounded by its own: small enough
that normal forces may change from round to round, as those of walls do by a half."""

ROUNDS = 15
"""Most rounds: walls of 160 to 280 contacts take 2 to 5; where 15 found no state, 40 did not."""

LIMIT = {2: 1e-8, 3: 1e-5}
"""Residual of a limit state: of linear programs, and of cone programs, whose forces are in the
direction of the slip to the root of what they are asked for."""

ALIGNED = 1e2
"""Price of a force that is not against the slip, for one of the factor, in space."""

SETTLED = 1e-9
"""Part of the factor by which it has to fall in a round for another one."""


@dataclass(frozen=True, repr=False)
class SlidingCollapse(HasStatus, Brief):
    """A limit state of Coulomb's law. m contacts of d components, normal first.

    Attributes
    ----------
    factor : float
        lambda; nan where none was found, nor one nearly.
    upper : float
        What no factor exceeds, of ``load_factor``.
    force : (m, d) ndarray [N]
    mechanism : (n,) ndarray
        Motion of the bodies, largest displacement at a contact 1.
    displacement : (m, d) ndarray
        Of contacts in it.
    opens, slides : (m,) bool ndarray
        As of ``Collapse``.
    residual : float
        Of balance, cones, and forces on the motion, over the largest force.
    rounds : int
        Of the search.
    status : Status
        "converged", "stalled" (the nearest to a state, or none), "approximate" (time given is
        over: there may be a lower one), or that of ``load_factor`` where the fixed load is not
        carried.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> found = rl.statics(rl.scenes.tower(2, friction=0.3)).sliding_load_factor()
    >>> round(found.factor, 6), found.converged  # slides at mu
    (0.3, True)
    """

    factor: float
    upper: float
    force: np.ndarray
    mechanism: np.ndarray
    displacement: np.ndarray
    opens: np.ndarray
    slides: np.ndarray
    residual: float
    rounds: int
    status: Status

    @property
    def message(self) -> str:
        searched = f"({self.status}, residual {self.residual:.1e}, {counted(self.rounds, 'round')})"
        if np.isnan(self.factor):
            given = " in the time given" if self.status is Status.APPROXIMATE else ""
            return (
                f"no lower estimate of the load factor {searched}: no state was found{given} whose "
                "mechanism slides without opening; there may be some"
            )
        if self.status is Status.STALLED:
            return (
                f"no lower estimate of the load factor {searched}: the nearest to a state whose "
                f"mechanism slides without opening, at {self.factor:.4g}, is off Coulomb's law by "
                f"{self.residual:.0e} of the largest force"
            )
        moves = (
            f"slides at {counted(int(self.slides.sum()), 'contact')} without opening there and "
            f"opens at {int(self.opens.sum())}"
        )
        return (
            f"lower estimate of the load factor {self.factor:.6g} {searched}: forces within "
            f"Coulomb's friction balance the load there while a mechanism {moves}, so that "
            "collapse may begin\nnot a strict bound: it is an equilibrium with non-associated flow "
            "found by iteration, other states may lie lower, and the history of loading decides"
        )


def sliding_load_factor(
    B: MatrixLike,
    load: ArrayLike,
    growing: ArrayLike,
    *,
    tangential: MatrixLike,
    friction: ArrayLike,
    fixed: ArrayLike | None = None,
    blocks: ArrayLike | None = None,
    seconds: float | None = None,
    upper: Collapse | None = None,
) -> SlidingCollapse:
    """A low factor at which structures of Coulomb's law, which slide without opening, may collapse.

    Parameters
    ----------
    B, load, growing, tangential, friction, fixed, blocks
        As for ``load_factor``.
    seconds : float [s], optional
        Elapsed time after which programs end.
    upper : Collapse, optional
        What ``load_factor`` gave, which is not sought again then.

    Raises
    ------
    InputError
        As ``load_factor``.

    Examples
    --------
    A block of weight 1, 2 wide and 1 high, between a floor and a ceiling that only touches it, with
    friction 0.5. Sliding by the associated law lifts it against the ceiling, which holds it at any
    push; Coulomb's law slides at 0.5.

    >>> import rigidlimit as rl
    >>> B = [[0, 1, -1], [0, 1, 1], [0, -1, 1], [0, -1, -1]]  # columns: along, up, turn
    >>> T = [[1, 0, 0.5], [1, 0, 0.5], [1, 0, -0.5], [1, 0, -0.5]]
    >>> pushed = dict(tangential=T, friction=0.5)
    >>> round(rl.sliding_load_factor(B, [0, 1, 0], [-1, 0, 0], **pushed).factor, 6)
    0.5
    """
    if seconds is not None:
        seconds = arrays.positive("seconds", seconds)
    n = arrays.sparse("B", B).shape[1]
    growing = arrays.vector("growing", growing, n, what="degree of freedom (column of B)")
    problem = rough_contacts(
        B, load, tangential=tangential, friction=friction, fixed=fixed, blocks=blocks, also=growing
    )
    with within(seconds):
        known = collapse_of(problem, growing) if upper is None else upper
        return _Search(problem, growing, known).answer()


@dataclass(frozen=True)
class _State:
    """In units of the problem: lambda, forces (m, d), motion (k,), displacement w (m, d)."""

    factor: float
    force: np.ndarray
    u: np.ndarray
    w: np.ndarray
    opens: np.ndarray
    slides: np.ndarray
    residual: float


class _Search:
    def __init__(self, problem: RoughContacts, growing, upper: Collapse):
        self.problem, self.upper = problem, upper
        self.growing = problem.scaled(growing)
        steep = problem.with_friction(problem.friction / STEEP)
        self.steep = replace(steep, known=problem.unit)
        force = upper.force / problem.size
        if np.isinf(upper.factor):  # that has none
            force = feasible(problem).force
        self.normal = force[:, 0]

    def answer(self) -> SlidingCollapse:
        """The least state of all rounds."""
        if not self.upper.converged:
            return self._told(None, 0, self.upper.status)
        best, nearest, rounds, over = None, None, 0, False
        while rounds < ROUNDS and not over:
            rounds += 1
            found = self._mechanism()
            over = late()
            if found is None:
                break
            u, normal = found
            state = self._state(u)
            over = late()
            if state is not None:
                normal = np.maximum(state.force[:, 0], 0.0)
            self.normal = normal
            if state is not None and (nearest is None or state.residual < nearest.residual):
                nearest = state
            if state is None or state.residual > LIMIT[self.problem.shape[1]]:
                continue
            if best is not None and state.factor >= best.factor - SETTLED * abs(best.factor):
                break
            best = state
        if best is None:
            over = over and nearest is None
            return self._told(nearest, rounds, Status.APPROXIMATE if over else Status.STALLED)
        return self._told(best, rounds, Status.APPROXIMATE if over else Status.CONVERGED)

    def _program(self, problem: RoughContacts, sign: float, columns: np.ndarray):
        """(c, A, b, unit) of sign lambda, over lambda / unit and some ``columns`` of G."""
        balance = problem.balance
        grows = balance.combine @ self.growing
        unit = 1.0 / (float(np.abs(grows).max(initial=0.0)) or 1.0)
        A = sp.hstack([sp.csr_array(-unit * grows[:, None]), balance.columns[:, columns]])
        cost = np.zeros(A.shape[1])
        cost[0] = sign
        return cost, sp.csr_array(A), balance.load, unit

    def _mechanism(self) -> tuple[np.ndarray, np.ndarray] | None:
        """(motion (k,), largest displacement 1; normal forces (m,)) at the largest lambda with
        friction bounded by the forces N; None if there is none."""
        steep, g = self.steep, self.steep.generators
        cost, A, b, _ = self._program(steep, -1.0, np.arange(g.G.shape[1]))
        caps, bound, halves, cones = self._caps()
        k, count = A.shape[0], caps.shape[0]
        slack = sp.eye_array(count) if halves else -sp.eye_array(count)
        left = sp.hstack([sp.csr_array((count, 1)), caps])
        whole = sp.block_array([[A, None], [left, slack]], format="csr")
        program = Program(
            np.append(cost, np.zeros(count)),
            sp.csr_array(whole),
            np.append(b, bound),
            1,
            g.positive + halves,
            g.cones + cones,
            steep.shape[1],
        )
        found = solve(program)
        if not found.optimal:
            return None
        u = -steep.moves(found.y[:k])
        size = float(np.abs(steep.displacement(u)).max(initial=0.0))
        if not (size > 0.0 and float(self.growing @ u) < 0.0):  # what contacts must deliver
            return None
        force = steep.force(found.x[1 : 1 + caps.shape[1]])
        return u / size, np.maximum(force[:, 0], 0.0)

    def _caps(self):
        """(rows over the columns of G, right side, half-lines, cones) of |f_t| <= mu N; each row in
        units of its own friction. In space rows are the cones' variables (1, f_t / mu N)."""
        steep, d, mu = self.steep, self.steep.shape[1], self.problem.friction
        rough = np.flatnonzero(mu > 0.0)
        G, unit = steep.generators.G, steep.unit
        size = sp.diags_array(1.0 / (mu[rough] * unit[rough]))
        most = self.normal[rough] / unit[rough]
        if d == 2:
            along = size @ G[d * rough + 1]
            rows = sp.vstack([along, -along], format="csr")
            return rows, np.tile(most, 2), 2 * len(rough), 0
        right = np.zeros((len(rough), d))
        right[:, 0] = -most  # the first variable is the bound itself
        parts = [sp.csr_array((len(rough), G.shape[1]))]
        parts += [size @ G[d * rough + a] for a in range(1, d)]
        order = np.arange(d * len(rough)).reshape(d, -1).T.ravel()
        rows = sp.csr_array(sp.vstack(parts, format="csr")[order])
        return rows, right.ravel(), 0, len(rough)

    def _state(self, u: np.ndarray) -> _State | None:
        """The least lambda of forces of Coulomb's law on the motion u (k,); None if none are."""
        problem, mu = self.problem, self.problem.friction
        w = problem.displacement(u)
        slip = np.linalg.norm(w[:, 1:], axis=1)
        opens = w[:, 0] > TOLERANCES.moves
        slides = ~opens & (slip > TOLERANCES.moves) & (mu > 0.0)
        along = -w[:, 1:] / np.where(slides, slip, 1.0)[:, None]
        slide = np.where(slides[:, None], along, 0.0)
        plane = problem.shape[1] == 2
        law = replace(problem, slide=slide if plane else 0.0 * slide, known=problem.unit)
        g, d = law.generators, law.shape[1]
        used = np.flatnonzero(~opens[g.contact])
        halves = int((used < g.positive).sum())
        cost, A, b, unit = self._program(law, 1.0, used)
        if not plane:
            cost[1:] = ALIGNED * (g.G.T @ self._off(slide).ravel())[used]
        cones = (len(used) - halves) // d if g.cones else 0
        found = solve(Program(cost, A, b, 1, halves, cones, d))
        if not found.optimal:
            return None
        x = np.zeros(g.G.shape[1])
        x[used] = found.x[1:]
        force, factor = law.force(x), float(found.x[0]) * unit
        residual = self._residual(force, factor, w, slide)
        return _State(factor, force, u, w, opens, slides, residual)

    def _off(self, slide: np.ndarray) -> np.ndarray:
        """(m, d), whose product with forces in their cones is zero where they are against the slip,
        and positive elsewhere: directions known to 1e-9 leave no forces along them exactly."""
        mu, some = self.problem.friction, slide.any(axis=1)
        return np.column_stack([np.where(some, mu, 0.0), -slide])

    def _residual(self, force, factor, w, slide) -> float:
        """Largest of what is missing in the conditions of a limit state, over the largest force."""
        problem, mu = self.problem, self.problem.friction
        at = replace(problem, load=problem.load + factor * self.growing)
        size = max(1.0, float(np.abs(force).max(initial=0.0)))
        rubs = mu[:, None] * force[:, :1] * slide
        sliding = slide.any(axis=1)
        missing = (
            at.imbalance(force),
            at.outside(force),
            float(np.abs(force[:, 0] * w[:, 0]).max(initial=0.0)),
            float(np.abs(force[:, 1:] - rubs)[sliding].max(initial=0.0)),
            float(max(0.0, -w[:, 0].min(initial=0.0))),
        )
        return max(missing) / size

    def _told(self, state: _State | None, rounds: int, status: Status) -> SlidingCollapse:
        problem, upper = self.problem, self.upper
        if state is None:
            none = np.zeros(problem.shape[0], bool)
            return SlidingCollapse(
                np.nan, upper.factor, np.zeros(problem.shape), np.zeros(problem.n),
                np.zeros(problem.shape), none, none, np.nan, rounds, status,
            )  # fmt: skip
        return SlidingCollapse(
            factor=state.factor,
            upper=upper.factor,
            force=state.force * problem.size,
            mechanism=problem.motion(state.u),
            displacement=state.w,
            opens=state.opens,
            slides=state.slides,
            residual=state.residual,
            rounds=rounds,
            status=status,
        )
