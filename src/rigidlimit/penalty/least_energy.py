"""The pose of locally least potential energy of bodies that only shift: balls, and held ones.

    min over x of  -F_ext . x    subject to    Phi(x) >= 0

with the gaps Phi of all near contacts, whose multipliers are contact forces in balance:

    F_ext + B^T f = 0,   0 <= f  _|_  Phi >= 0.

By the central path f_i Phi_i = mu -> 0 (interior point), one factorization a round. Each round
lists the contacts anew and makes one step of Newton's method on

    F_ext + B^T f = 0,    w = Phi,    f_i w_i = mu,
    (P + B^T D B) d = F_ext + B^T (mu/w),    D = f/w,

where bodies overlap with slacks w > 0 of their own in place of their gaps.

Distances of convex bodies are convex functions of shifts, so that a step which the linearised
gaps allow leads to no overlap, and the barrier function -F_ext . x - mu sum log Phi is below what
the linearised gaps make of it: its least value along the step, found by bisection, is a descent
that cannot fail. Their curvature, which would make the matrix indefinite, is left out.

P holds back single bodies that would go beyond the contacts that are listed, as a loose ball that
falls; for the others it is next to nothing, and it vanishes from the answer, since it counts from
the present pose.

A periodic cell that is loaded by a stress shifts its bodies by strains, in which distances are
convex as well; its potential is sigma V, which is taken along its tangent in each round.

Lengths are over the scene's length, forces over the heaviest load.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from .._support.words import counted
from ..bodies import Bodies, HalfSpace, State
from ..bodies.cell import volume_of
from ..bodies.motion import shifted
from ..collision.contacts import Contacts
from ..collision.search import find_contacts
from ..constraints import gap_gradient
from ..equilibrium.smooth_path import room
from ..errors import InputError
from ..linear import LinearStats, Network
from ..status import Status

TRUST = 0.05
"""Longest way of a body in one round over the scene's length, in each direction."""

CLOSEST = 1e-3
"""Way that contacts are listed for at least, when steps become short."""

BEGIN, END = 1e-3, 1e-10
"""mu at the start and at the end: gaps of bearing contacts are mu over their force, and must stay
well above the rounding of places, 1e-14, also under a hundred times the heaviest load."""

LIGHT, OPEN = 1e-3, 2e-2
"""Forces over the heaviest load to begin with, where forces are given: of a contact that bears at
least, and of an open one at most."""

ROUNDED = 1e-12
"""Slack by which a gap may miss what a step was to make of it, as places are rounded."""

FALL = 0.5
"""mu over what it was, after a round that kept to the path."""

NEAR_PATH, OFF, LAST = 10.0, 0.3, 30.0
"""A round kept to the path if the imbalance is below NEAR_PATH sqrt(mu) and OFF, and no product
f w is off by more than LAST mu."""

SLIDES, WIDEN, WIDEST = 10, 2.0, 10.0
"""Rounds off the path after which mu grows again, its factor, and the most over where it began: a
packing that slides goes on down to its next rest, in steps as short as its gaps, mu over forces."""

SPREAD = 10.0
"""Factor within which forces are kept about mu/w."""

BALANCED = END / CLOSEST
"""Imbalance at the end of the path over the heaviest load: what contacts at the least distance
they are listed to still push, mostly bodies that lie loose. The last steps take it away."""

INTERIOR, PARTING = 0.99, 0.9
"""Part of the way to the nearest bound that a step may go; while overlaps are undone."""

LEAST_HOLD, MOST_HOLD, FAR = 1e-6, 30.0, 0.7
"""Least and largest weight of P over what a load moves through the trust, and the part of the
trust from which on a body is held back more."""

UNLOADED = 1e-3
"""Part of the heaviest load that a body without a load counts as having, in P."""

KEPT, NEW = 20, 0.02
"""Most rounds with one order of elimination, and the part of the contacts that may be new to it:
finding an order takes as long as a factorization, and one that is a little old adds little fill."""

HELD = 1e-12
"""Gap gradients up to which no motion changes a gap, as walls a quarter turn apart have by
rounding."""

BISECTIONS, CLOSINGS = 12, 4
"""Steps of the line search, and of the way from the end of the path to the corner."""


@dataclass(frozen=True)
class LeastEnergy:
    """Where the path ended, with zero velocities: the near contacts (m) and their forces [N] (m,).

    unbalanced: largest imbalance over the heaviest load. overlap: deepest, over the scene's length.
    status: CONVERGED, or MAX_ITERATIONS: then the pose is as good as it got.
    """

    state: State
    contacts: Contacts
    force: np.ndarray
    status: Status
    rounds: int
    unbalanced: float
    overlap: float

    @property
    def converged(self) -> bool:
        return self.status is Status.CONVERGED


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # where overlaps cannot be undone
def least_energy(
    bodies: Bodies,
    state: State,
    external_force: np.ndarray,
    *,
    start: tuple[Contacts, np.ndarray] | None = None,
    begin: float = BEGIN,
    max_rounds: int = 1000,
    callback: Callable[[str], object] | None = None,
) -> LeastEnergy:
    """Pose near ``state`` in which bodies that only shift are at rest, with zero velocities.

    external_force (6 n,) [N]. start: contacts and their forces (m,) [N] that about balance, to
    begin with; begin: mu to begin with, the smaller the nearer ``state`` is to rest.
    callback(text): told of each round; true ends the search. Bodies do not turn. The answer is to
    be judged by a step of contact dynamics, which must not move.
    """
    dofs = np.flatnonzero(bodies.shifts)
    load = force_scale(bodies, state, external_force)
    if load == 0.0:
        raise InputError("no body is loaded; expected gravity or loads that press bodies together")
    F = external_force[dofs] / load
    body = dofs // 6
    starts = np.r_[np.flatnonzero(np.r_[True, body[1:] != body[:-1]]), len(dofs)]
    near, order = _Near(bodies, dofs), _Order()
    size = np.linalg.norm(external_force.reshape(-1, 6)[:, :3], axis=1) / load
    weight = np.maximum(size, UNLOADED)[body] / TRUST
    hold, stats = np.full(len(bodies), CLOSEST), LinearStats()
    mu, before, t, stood = begin, None, 0.0, 0
    shares = np.ones(len(F))
    if bodies.cell is not None:  # the balance of a stress is a sum over all contacts
        shares[body == len(bodies) - 1] = np.abs(F).max()
    status = Status.MAX_ITERATIONS
    for k in range(max_rounds + 1):
        contacts, gap, B = near(state)
        if bodies.cell is not None:
            F = with_stress(bodies, state, external_force)[dofs] / load
        if before is None and start is not None:
            f, w = _balanced(gap, mu, contacts.carry_over(start[0], start[1]) / load)
        else:
            f, w = _carried(contacts, gap, mu, near.trust, before)
        apart = bool((w - gap <= ROUNDED).all())
        if apart:
            f = np.clip(f, mu / w / SPREAD, mu / w * SPREAD)
        unbalanced = float((np.abs(F + B.T @ f) / shares).max())
        spread = float(np.abs(f * w - mu).max(initial=0.0))
        if callback is not None and callback(
            f"round {k}: {counted(len(gap), 'near contact')}, unbalanced force {unbalanced:.0e}, "
            f"gap times force {mu:.0e}" + ("" if apart else f", overlap {-gap.min():.0e}")
        ):
            break
        if apart and mu <= END and unbalanced <= BALANCED and spread <= 2 * mu:
            status = Status.CONVERGED
            held = hold[body] * weight
            state, contacts, gap, f = _closed(near, state, F, f, w, held, starts, order, stats)
            break
        if k == max_rounds:
            break
        kept = unbalanced <= min(OFF, NEAR_PATH * np.sqrt(mu)) and spread <= LAST * mu
        if apart and k and t > OFF and kept:
            mu, stood = max(FALL * mu, END), 0
        else:
            stood += 1
            if apart and unbalanced > OFF and stood % SLIDES == 0:
                mu = min(WIDEN * mu, WIDEST * begin)
        order.meet(contacts)
        held = hold[body] * weight
        d, opens = _newton(B, F, f, w, gap, mu, held, starts, order, stats)
        dw = opens + gap - w
        df = mu / w - f - f / w * dw
        reached = np.zeros(len(bodies))
        np.maximum.at(reached, body, np.abs(d))
        longest = float(reached.max())
        if not np.isfinite(longest):
            break
        if apart:
            t = min(1.0, INTERIOR * room(w, dw), near.trust / longest)
            t = _lowest(w, dw, float(F @ d), mu, t)
            tf = min(1.0, INTERIOR * room(f, df))
        else:
            t = tf = min(1.0, PARTING * min(room(f, df), room(w, dw)), near.trust / longest)
        state = near.moved(state, t * d)
        before = contacts, f + tf * df, w + t * dw
        over = reached / (FAR * near.trust)
        more = np.minimum(hold * np.maximum(2.0, over), MOST_HOLD)
        hold = np.where(over > 1.0, more, np.maximum(hold / 4, LEAST_HOLD))
        if apart:
            near.trust = min(TRUST, max(4 * t * longest, CLOSEST, 0.5 * near.trust))
    return LeastEnergy(
        state=state.moved(velocity=np.zeros_like(state.velocity)),
        contacts=contacts,
        force=load * f,
        status=status,
        rounds=k,
        unbalanced=unbalanced,
        overlap=float(max(0.0, -gap.min(initial=0.0))),
    )


class _Near:
    """The contacts that bodies may meet in when none goes further than ``trust``."""

    def __init__(self, bodies, dofs):
        self.bodies, self.dofs, self.trust = bodies, dofs, TRUST
        self.solid = ~bodies.are(HalfSpace)

    def __call__(self, state):
        """(contacts, gaps (m,), B (m, n)) in units of the scene's length."""
        bodies = self.bodies
        # no two bodies can meet in a round that are not listed: each moves sqrt(3) r l at most
        reach = np.where(self.solid, 1.8 * self.trust * bodies.length, 0.0)
        if bodies.cell is not None:  # strains of sqrt(6)/2 of the trust at most
            radius = np.where(np.isfinite(bodies.bounding_radius), bodies.bounding_radius, 0.0)
            reach += 1.3 * self.trust * (radius + reach)
        contacts = find_contacts(bodies, state, reach)
        B = gap_gradient(bodies, state, contacts)[:, self.dofs].tocsr()
        # a platen in a wall that it slides along: no motion changes that gap, and no force bears
        moves = np.flatnonzero(_largest_entry(B) > HELD)
        if len(moves) < len(contacts):
            contacts, B = contacts.select(moves), B[moves]
        return contacts, contacts.gap / bodies.length, B

    def moved(self, state, d) -> State:
        way = np.zeros(6 * len(self.bodies))
        way[self.dofs] = self.bodies.length * d
        return shifted(self.bodies, state, way.reshape(-1, 6))


def force_scale(bodies: Bodies, state: State, external_force: np.ndarray) -> float:
    """The heaviest load of a body that shifts [N]; of a stress that of one contact, l^(dim - 1)."""
    load = np.where(bodies.shifts, np.abs(external_force).reshape(-1, 6), 0.0)
    if bodies.cell is not None:
        load[-1] *= bodies.cell_length**bodies.dim / volume_of(state.cell)
    return float(load.max(initial=0.0))


def with_stress(bodies: Bodies, state: State, external_force: np.ndarray) -> np.ndarray:
    """External forces (6 n,) [N] with those of the cell's stress at its present volume."""
    if bodies.cell is None:
        return external_force
    push = bodies.cell.force(state.cell, bodies.cell_length)
    return np.concatenate([external_force[:-6], push])


def _largest_entry(B):
    """Largest magnitude in each row of a sparse matrix, (m,)."""
    return abs(B).max(axis=1).toarray().ravel() if B.shape[0] else np.zeros(0)


class _Order:
    """The order of elimination of bodies, kept as long as the contacts are mostly the same."""

    def __init__(self):
        self.place, self.known, self.rounds = None, np.zeros(0, np.int64), 0

    def meet(self, contacts):
        """Forget the order if it is no longer that of these contacts."""
        self.rounds += 1
        pairs = contacts.body[:, 0] * contacts.bodies + contacts.body[:, 1]
        new = len(pairs) - int(np.isin(pairs, self.known).sum())
        if self.rounds > KEPT or new > NEW * len(pairs):
            self.place, self.known, self.rounds = None, pairs, 0

    def keep(self, network):
        self.place = vars(network).get("elimination_order")


def _carried(contacts, gap, mu, trust, before):
    """(f, w): forces and slacks of the round before; slacks are the gaps wherever these allow."""
    if before is None:
        w = np.maximum(gap, 0.03 * np.sqrt(mu))
        return mu / w, w
    f = contacts.carry_over(before[0], before[1])
    w = contacts.carry_over(before[0], before[2])
    new = f <= 0
    w = np.where(new, np.maximum(gap, CLOSEST * trust), np.where(gap > 0.5 * w, gap, w))
    return np.where(new, mu / w, f), w


def _balanced(gap, mu, force):
    """(f, w): to begin with, from forces (m,) that balance, so that nothing is set in motion but
    what parts overlaps; slacks are those of the path."""
    bears = force > 0
    f = np.maximum(force, LIGHT)
    w = np.maximum(gap, mu / np.where(bears, f, OPEN))
    return np.where(bears, f, mu / w), w


def _closed(near, state, F, f, w, hold, starts, order, stats):
    """(state, contacts, gap, f): from the end of the path, where bearing contacts have gaps of mu
    over their force, to the corner that they meet in, by the method of multipliers with the path's
    own stiffness f/w. near(state): the contacts, their gaps and B."""
    contacts, gap, B = near(state)
    for _ in range(CLOSINGS):
        order.meet(contacts)
        d, opens = _newton(B, F, f, w, gap, 0.0, hold, starts, order, stats, refined=True)
        f, before = np.maximum(f - f / w * (gap + opens), 0.0), contacts
        state = near.moved(state, d)
        contacts, gap, B = near(state)
        f, w = (contacts.carry_over(before, x) for x in (f, w))
        w = np.where(w > 0, w, np.maximum(gap, END))
    return state, contacts, gap, f


def _newton(B, F, f, w, gap, mu, hold, starts, order, stats, refined=False):
    """(d (n,), B d (m,)). hold (n,): diagonal of P."""
    mass = sp.diags_array(hold).tocsr()
    # contacts bear or not by factors of 1e12 at the end, which single precision does not resolve
    network = Network(B, mass=mass, blocks=starts, order=order.place, single_precision=False)
    system = network.system(f / w, 0.0)
    rhs = F + network.carried(mu / w - f / w * (gap - w))
    d = system.solve_directly(rhs, stats, refined=refined)
    order.keep(network)
    return d, B @ d


def _lowest(w, dw, work, mu, longest):
    """t in (0, longest] where -t work - mu sum log(w + t dw), which is convex, is least."""

    def falls(t):
        return -work - mu * float((dw / (w + t * dw)).sum()) <= 0.0

    if falls(longest):
        return longest
    lo, hi = 0.0, longest
    for _ in range(BISECTIONS):
        middle = 0.5 * (lo + hi)
        lo, hi = (middle, hi) if falls(middle) else (lo, middle)
    return lo or hi
