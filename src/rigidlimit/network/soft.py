"""Equilibrium of a no-tension network with motions that are all but free: firm and soft steps.

The problem of ``equilibrium.py`` without inertia, for p >= 2. Faces that meet aligned to 1e-8, as
in piles of blocks, and bodies that turn about their axis leave motions w that contacts feel so
little, |B w| = 1e-8 |w|, that K = B^T D B knows nothing of them (1e-16). Displacements grow to 1e8
overlaps before such a motion bears its load. Two things keep Newton from its end there:

- Overlaps c = s - B x carry the rounding of x, 1e-16 |x|, which as forces unbalances every body. So
  c is not computed from x, but changed along with it, by -t B d each step; what is rounded is then
  the same small part of c as of x, and the forces f(c) can balance to the last digit.
- A step -(K + e I)^-1 g has to be lengthened 1e4 times along a soft motion, and what it holds of
  stiff ones with it. So firm steps, with a large e and of Newton's length, take turns with soft
  steps, which leave stiff motions out and go as far as E falls:

      firm: d = -(K + e1 I)^-1 g,      soft: d = -(K + e2 I)^-1 e1 (K + e1 I)^-1 g,      e2 << e1.

  A soft step follows where the firm one gains little and could have gone LONG times as far. Among
  several soft motions such steps would go to and fro; each is made conjugate to the one before it,
  so that a few motions take as many steps, whatever their stiffness.
"""

import numpy as np

from .._support.products import absolute_product
from ..linear import LinearStats
from ..linear.column_scaling import ROUNDING
from ..status import Status
from .equilibrium import Equilibrium
from .law import forces_of, stretch_to_law, tangents
from .line_search import dot, minimum

EXACT = 1e-12
"""Part of the slope that line searches leave: nothing but soft steps sees what they leave."""

FIRM, SOFT = 1e-8, 1e-12
"""e1 and e2 over the largest D."""

LONG = 1.5
"""Length of a firm step, over Newton's, from which soft motions hold most of what can be gained."""

GAINED = 0.5
"""Part of the gradient that such a step leaves if it has gained little; firm steps go on else."""

CONJUGATE = 0.1
"""Part of a soft step's slope that has to be left once it is conjugate to the step before."""

KEPT = 0.8, 1.25
"""Change of each D within which a factor serves on."""

SLIGHT = 1e-3
"""Part of the largest D below which D may change as it likes."""

ROUNDED = 1e-16
"""Rounding of a number of order one."""

BLURRED = 1e-6
"""Rounding of t B d over the largest overlap beyond which a step is not made: a motion that only
opens contacts, under the last digits of the load, goes until it meets something, however far, and
would leave overlaps that are no displacement's."""

SURE, BEYOND = 1e-3, 100
"""Part of the tolerance from which on it stops at once. Else it goes on, by so many steps at most,
until forces stay: what is left along a motion that contacts hardly feel is within the tolerance
long before the forces that it stands for are right."""

PATIENCE = 100
"""Steps without a smaller gradient after which it has stalled."""


class _Stiffness:
    """K + e I for either e, factorized anew only where D has changed by much; ``before``: the last
    soft step since then."""

    def __init__(self, network, stats):
        self.network, self.stats = network, stats
        self.D, self.systems, self.before = None, {}, None

    def follow(self, D):
        """Take D (m,) over."""
        self.now = D
        if self.D is None or not self._serves(D):
            self.D, self.systems, self.before = D, {}, None

    def _serves(self, D):
        small = SLIGHT * float(D.max())
        now, known = np.maximum(D, small), np.maximum(self.D, small)
        same = ((D > 0) == (self.D > 0)).all()
        return bool(same and (now >= KEPT[0] * known).all() and (now <= KEPT[1] * known).all())

    def solve(self, rhs, part):
        """(K + e I)^-1 rhs, e = part max D."""
        if part not in self.systems:
            shift = part * float(self.D.max())
            self.systems[part] = self.network.system(self.D, shift)
        return self.systems[part].solve_directly(rhs, self.stats)

    def step(self, g, soft):
        """(d (n,), -B d (m,)), firm or soft."""
        d = -self.solve(g, FIRM)
        if not soft:
            return d, -(self.network.B @ d)
        d = self.solve(FIRM * float(self.D.max()) * d, SOFT)
        dc = -(self.network.B @ d)
        if self.before is not None:
            before, change = self.before
            felt = self.now * change
            stiffness = dot(felt, change)
            part = dot(felt, dc) / stiffness if stiffness > 0.0 else 0.0
            rest = d - part * before
            # of a single motion whose stiffness has changed nothing is left
            if dot(g, rest) < CONJUGATE * dot(g, d):
                d, dc = rest, dc - part * change
        self.before = d, dc
        return d, dc


def soft_equilibrium(
    network,
    stiffness,
    exponent,
    *,
    load,
    offset=None,
    start=None,
    tolerance,
    enough=None,
    max_iterations=100,
    stats: LinearStats | None = None,
) -> Equilibrium:
    """Minimize E(x) for p >= 2; loads of order one. Stops at |grad E|_inf <= tolerance, if
    ``enough(x, force)`` agrees and forces stay as they are to the tolerance.

    start (n,): taken if it is nearer to equilibrium than no displacement. overlap (m,) of the
    answer: c as it was changed along with x. Raises NoRoom.
    """
    B, k, p = network.B, stiffness, float(exponent)
    stats = LinearStats() if stats is None else stats

    def balance(c):
        f = forces_of(c, k, p)
        return f, load - network.carried(f)

    x, c = np.zeros(B.shape[1]), np.zeros(B.shape[0]) if offset is None else offset
    f, g = balance(c)
    if start is not None:
        closer = c - B @ start
        found = balance(closer)
        if np.abs(found[1]).max(initial=0.0) <= np.abs(g).max(initial=0.0):
            x, c, (f, g) = start, closer, found

    K = _Stiffness(network, stats)
    soft = ended = False  # kind of the next step; whether the other kind leads no further
    best, least, waited = (x, c, f), np.inf, 0
    history, status = [], Status.MAX_ITERATIONS
    answer, beyond, stay = None, 0, False  # (size, point) that will do; steps since the first
    while True:
        size = float(np.abs(g).max(initial=0.0))
        if not ended:
            history.append(size)
            if size < least:
                best = x, c, f
            waited = 0 if size < 0.9 * least else waited + 1
            least = min(least, size)
            better = size <= tolerance
            if better and answer is not None:
                # by a motion that is felt at all, not by its rounding
                better = answer[0] - size > ROUNDING * np.abs(f - answer[1][2]).max(initial=0.0)
            if better and (enough is None or enough(x, f)):
                answer = size, (x, c, f)
            if answer is not None:
                beyond += 1
                if stay or beyond > BEYOND or answer[0] <= SURE * tolerance:
                    break
            if waited > PATIENCE:
                status = Status.STALLED
                break
            if len(history) > max_iterations:
                break
            cold = not (c > 0).any()
            if cold:
                K.follow(k.astype(float))  # every contact a linear spring of its stiffness
            else:
                K.follow(tangents(c, k, p, 1e-8 * c.max()))
        d, dc = K.step(g, soft)
        slope = dot(g, d)
        # of loads that are rounding there is no end where motions are free
        way = np.abs(d)
        falls = -slope > ROUNDED * (dot(f, absolute_product(B, d)) + dot(np.abs(load), way))
        if falls:
            if cold and p != 2.0:
                # turn the linear springs' answer into overlaps of the power law's size
                ratio = stretch_to_law(dc, k, p)
                d, dc, slope, way = d * ratio, dc * ratio, slope * ratio, way * ratio
            t = minimum(c, dc, f, k, p, slope, EXACT)
            if t < 0.0:
                status = Status.LOAD_NOT_CARRIED
                break
            far = not soft and t > LONG
            if far:
                t = 1.0
            blur = t * ROUNDED * float(absolute_product(B, way).max(initial=0.0))
            falls = blur <= BLURRED * float((c + t * dc).max())
        if not falls:
            if ended or (soft and answer is not None):
                status = Status.STALLED
                break
            soft, ended = not soft, True
            continue
        ended = False
        x, c = x + t * d, c + t * dc
        before, (f, g) = f, balance(c)
        # both kinds of steps have to leave the forces as they are
        same = not far and np.abs(f - before).max() <= tolerance * f.max()
        stay = same and (soft or stay)
        soft = (same and not soft) or (far and float(np.abs(g).max()) > GAINED * size)
    if answer is not None:
        best, status = answer[1], Status.CONVERGED
    x, c, f = best
    residual = float(np.abs(load - network.carried(f)).max(initial=0.0))
    return Equilibrium(x, c, f, status, residual, len(history) - 1, np.array(history))
