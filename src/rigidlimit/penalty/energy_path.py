"""The central path to the pose of least energy, round by round: see ``least_energy``."""

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from ..bodies import State
from ..collision.contacts import Contacts
from ..equilibrium.smooth_path import room
from ..linear import LinearStats, Network
from .energy_problem import BALANCED, SETTINGS, TRUST, Near, Problem


class EliminationOrder:
    """The order of elimination of bodies, kept as long as the contacts are mostly the same."""

    def __init__(self):
        self.place, self.known, self.rounds = None, np.zeros(0, np.int64), 0

    def meet(self, contacts: Contacts) -> None:
        """Forget the order if it is no longer that of these contacts."""
        self.rounds += 1
        pairs = contacts.body[:, 0] * contacts.bodies + contacts.body[:, 1]
        new = len(pairs) - int(np.isin(pairs, self.known).sum())
        if self.rounds > SETTINGS.kept or new > SETTINGS.new * len(pairs):
            self.place, self.known, self.rounds = None, pairs, 0

    def keep(self, network: Network) -> None:
        """Take over the order that a factorization of ``network`` found."""
        self.place = vars(network).get("elimination_order")


@dataclass(frozen=True)
class Round:
    """What a round begins with: m near contacts, their gaps (m,) and gradient B (m, n), external
    forces F (n,), contact forces f and slacks w (m,).

    apart: whether no slack is larger than its gap. unbalanced: largest imbalance; spread: largest
    |f w - mu|.
    """

    contacts: Contacts
    gap: np.ndarray
    B: sp.csr_array
    F: np.ndarray
    f: np.ndarray
    w: np.ndarray
    apart: bool
    unbalanced: float
    spread: float


class Path:
    """Where the search stands: mu, the bodies' weights in P, the forces of the round before.

    start: contacts and their forces (m,) over the load to begin with, or None; begin: mu.
    """

    def __init__(self, problem: Problem, begin: float, start: tuple[Contacts, np.ndarray] | None):
        self.problem, self.begin, self.start = problem, begin, start
        self.near, self.order = Near(problem.bodies, problem.dofs), EliminationOrder()
        self.hold, self.stats = np.full(len(problem.bodies), SETTINGS.closest), LinearStats()
        self.mu, self.share, self.stood = begin, 0.0, 0
        self.before: tuple[Contacts, np.ndarray, np.ndarray] | None = None

    def look(self, state: State) -> Round:
        """The contacts of a pose, and the forces and slacks to continue from."""
        mu, problem = self.mu, self.problem
        contacts, gap, B = self.near(state)
        F = problem.force(state)
        if self.before is None and self.start is not None:
            f, w = _balanced(gap, mu, contacts.carry_over(*self.start) / problem.load)
        else:
            f, w = _carried(contacts, gap, mu, self.near.trust, self.before)
        apart = bool((w - gap <= SETTINGS.rounded).all())
        if apart:
            f = np.clip(f, mu / w / SETTINGS.spread, mu / w * SETTINGS.spread)
        unbalanced = float((np.abs(F + B.T @ f) / problem.shares).max())
        spread = float(np.abs(f * w - mu).max(initial=0.0))
        return Round(contacts, gap, B, F, f, w, apart, unbalanced, spread)

    def at_end(self, seen: Round) -> bool:
        """Whether the round stands at the end of the path."""
        balanced = seen.unbalanced <= BALANCED and seen.spread <= 2 * self.mu
        return seen.apart and self.mu <= SETTINGS.end and balanced

    def lower(self, seen: Round) -> None:
        """The next mu: smaller after a long step near the path, larger after many far from it."""
        mu = self.mu
        near = (
            seen.unbalanced <= min(SETTINGS.off, SETTINGS.near_path * np.sqrt(mu))
            and seen.spread <= SETTINGS.last * mu
        )
        if seen.apart and self.share > SETTINGS.off and near:
            self.mu, self.stood = max(SETTINGS.fall * mu, SETTINGS.end), 0
            return
        self.stood += 1
        if seen.apart and seen.unbalanced > SETTINGS.off and self.stood % SETTINGS.slides == 0:
            self.mu = min(
                SETTINGS.widen * mu,
                max(self.begin, min(SETTINGS.widest * self.begin, SETTINGS.farthest)),
            )

    def step(self, state: State, seen: Round) -> State | None:
        """The pose after a step of Newton's method; None where there is no finite one."""
        mu, f, w = self.mu, seen.f, seen.w
        d, opens = self._newton(seen, mu)
        dw = opens + seen.gap - w
        df = mu / w - f - f / w * dw
        reached = np.zeros(len(self.problem.bodies))
        np.maximum.at(reached, self.problem.body, np.abs(d))
        longest = float(reached.max())
        if not np.isfinite(longest):
            return None
        if seen.apart:
            t = min(1.0, SETTINGS.interior * room(w, dw), self.near.trust / longest)
            t = _lowest(w, dw, float(seen.F @ d), mu, t)
            tf = min(1.0, SETTINGS.interior * room(f, df))
        else:
            parting = SETTINGS.parting * min(room(f, df), room(w, dw))
            t = tf = min(1.0, parting, self.near.trust / longest)
        self.before, self.share = (seen.contacts, f + tf * df, w + t * dw), t
        state = self.near.moved(state, t * d)
        self._hold_back(reached, t * longest if seen.apart else None)
        return state

    def _hold_back(self, reached: np.ndarray, way: float | None) -> None:
        """Weights of P and the trust for the next round. reached (bodies,): how far each would go;
        way: the longest one made, None while overlaps are undone."""
        near = self.near
        over = reached / (SETTINGS.far * near.trust)
        more = np.minimum(self.hold * np.maximum(2.0, over), SETTINGS.most_hold)
        self.hold = np.where(over > 1.0, more, np.maximum(self.hold / 4, SETTINGS.least_hold))
        if way is not None:
            near.trust = min(TRUST, max(4 * way, SETTINGS.closest, 0.5 * near.trust))

    def _newton(
        self, seen: Round, mu: float, *, refined: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """(d (n,), B d (m,))."""
        self.order.meet(seen.contacts)
        D, problem = seen.f / seen.w, self.problem
        weight = self.hold[problem.body] * problem.weight
        mass = sp.diags_array(np.maximum(weight, SETTINGS.hold * D.max(initial=0.0))).tocsr()
        counts = _not_slight(seen.contacts, D)
        # at the end active and open contacts differ by factors of 1e12, too large for single
        # precision
        network = Network(
            seen.B[counts],
            mass=mass,
            blocks=problem.starts,
            order=self.order.place,
            single_precision=False,
        )
        rhs = seen.F + seen.B.T @ (mu / seen.w - D * (seen.gap - seen.w))
        d = network.system(D[counts], 0.0).solve_directly(rhs, self.stats, refined=refined)
        self.order.keep(network)
        return d, seen.B @ d

    def close(self, state: State, seen: Round) -> tuple[State, Round]:
        """From the end of the path, where active contacts have gaps of mu over their force, to the
        corner where they meet, by the method of multipliers with the path's own stiffness f/w."""
        for number in range(SETTINGS.closings + 1):
            contacts, gap, B = self.near(state)
            f, w = seen.f, seen.w
            if number:
                f, w = (contacts.carry_over(seen.contacts, x) for x in (f, w))
                w = np.where(w > 0, w, np.maximum(gap, SETTINGS.end))
            seen = replace(seen, contacts=contacts, gap=gap, B=B, f=f, w=w)
            if number < SETTINGS.closings:
                d, opens = self._newton(seen, 0.0, refined=True)
                seen = replace(seen, f=np.maximum(f - f / w * (gap + opens), 0.0))
                state = self.near.moved(state, d)
        return state, seen


def _carried(
    contacts: Contacts,
    gap: np.ndarray,
    mu: float,
    trust: float,
    before: tuple[Contacts, np.ndarray, np.ndarray] | None,
) -> tuple[np.ndarray, np.ndarray]:
    """(f, w): forces and slacks of the round before; slacks are the gaps wherever these allow."""
    if before is None:
        w = np.maximum(gap, 0.03 * np.sqrt(mu))
        return mu / w, w
    f = contacts.carry_over(before[0], before[1])
    w = contacts.carry_over(before[0], before[2])
    new = f <= 0
    w = np.where(new, np.maximum(gap, SETTINGS.closest * trust), np.where(gap > 0.5 * w, gap, w))
    return np.where(new, mu / w, f), w


def _balanced(gap: np.ndarray, mu: float, force: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(f, w): to begin with, from forces (m,) that balance, so that nothing is set in motion but
    what parts overlaps; slacks are those of the path."""
    bears = force > 0
    f = np.maximum(force, SETTINGS.light)
    w = np.maximum(gap, mu / np.where(bears, f, SETTINGS.open))
    return np.where(bears, f, mu / w), w


def _not_slight(contacts: Contacts, D: np.ndarray) -> np.ndarray:
    """Which contacts are not slight beside others of their bodies, (m,) bool. D (m,): stiffness."""
    stiffest = np.zeros(contacts.bodies)
    np.maximum.at(stiffest, contacts.body, D[:, None])
    return SETTINGS.slight * stiffest[contacts.body].min(axis=1) < D


def _lowest(w: np.ndarray, dw: np.ndarray, work: float, mu: float, longest: float) -> float:
    """t in (0, longest] where -t work - mu sum log(w + t dw), which is convex, is least."""

    def falls(t: float) -> bool:
        return -work - mu * float((dw / (w + t * dw)).sum()) <= 0.0

    if falls(longest):
        return longest
    lo, hi = 0.0, longest
    for _ in range(SETTINGS.bisections):
        middle = 0.5 * (lo + hi)
        lo, hi = (middle, hi) if falls(middle) else (lo, middle)
    return lo or hi
