"""Newton-type solver for eq. 22: method of multipliers around the no-tension network.

With x = v+ - v_free and impulses l = dt f, eq. 22 is the projection of v_free onto the velocities
that do not close a gap further than it is open,

    min over x of 1/2 x^T M x   subject to   p + B x >= 0,

whose multipliers are the impulses. Each outer iteration lets every contact yield a little: a
spring of stiffness r_i = sigma / (B M^-1 B^T)_ii preloaded with the present impulse,

    x, l+ = equilibrium of  M x = B^T l+,   l+ = max(0, l - r (p + B x)),

the network of ``network/equilibrium.py``. Its fixed points solve eq. 21 whatever sigma is. sigma
starts at 1, where networks are easy, and grows while that pays: a large one at once leaves Newton
in the wrong active set on random states. Rounding enters l times sigma, hence a cap and the way
back down. Each inner problem is solved to a fraction of the outer residual only. Nearly dependent
contacts can keep rounding above the tolerance; Gauss-Seidel with its subspace step then finishes
from the best forces.

Accelerated projected gradient steps open as long as they pay: a few hundred products find most of
the contacts that bear, and in packings often the answer. Where no more contacts bear than there are
degrees of freedom, the last digits come from one factorization (``active_set.py``). Newton takes
over where gradient steps slow down (long chains, unlike masses).
"""

from dataclasses import replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from ..errors import NoRoom
from ..network import Network, column_arms, equilibrium
from ..network.handover import Handover
from ..network.price import affordable
from ..network.stiffness import LinearStats
from ..products import transposed_product
from ..status import Status
from ..submatrix import submatrix
from . import active_set, apgd, interior, least_distance, pgs
from .problem import ContactDynamicsResult, ContactProblem

OPENING_DECADE = 1000
"""Projected gradient steps that must gain a digit in problems of up to OPENING_SIZE unknowns; in
larger ones more are allowed, as the square root of the size."""

OPENING_SIZE = 6000

BEARING_FOUND = 3e-5, 5e-4
"""Residual at which gradient steps have found nearly all contacts that bear, and most, which
is enough where about as many bear as there are degrees of freedom."""

SETTLED = 8
"""Contacts that begin or cease to bear from one measurement of gradient steps to the next, up to
which the rest are found for less by a factorization; more in systems of over SETTLED_SIZE unknowns,
in proportion."""

SETTLED_SIZE = 80_000

DETERMINED = 0.9
"""Contacts that bear over degrees of freedom, from which on about as many bear."""

NEAR = 3e-2
"""Residual of a start, as of the step before, from which a factorization leads to the answer in a
few rounds where about as many contacts bear as there are degrees of freedom."""

PATIENCE, EAGER = 30, 12
"""Multiplier steps without a smaller residual after which it counts as stalled; and where the
central path is open."""

PATH = 10
"""Factorizations, as dear as multiplier steps may get where the central path is open. That takes
some thirty, but a price that is guessed is mostly three times too high."""

GROWN = 10.0
"""Largest force after the path over that before, beyond which multiplier steps go on from before:
forces that hold one another have no bounds there, and would take these as long as they please."""

TOO_FAST, UNDONE = 100.0, 1e-6
"""Speed needed to undo all overlaps over that of contacts without forces, from which on a stall is
a jam; and the residual up to which they count as undone all the same, but for rounding."""

INNER = 0.3
"""Part of the residual to which the networks are solved at first; less where that gains nothing."""

SWEEPS, ROUNDS, GAINED = 25, 20, 0.9
"""Gauss-Seidel sweeps at the end, in so many rounds as long as each leaves less than this part."""

SIGMA_CAP = 1e5
"""Largest spring stiffness over effective mass; rounding of l is about 1e-16 sigma."""


def solve(
    problem: ContactProblem,
    *,
    tolerance: float = 1e-10,
    max_iterations: int = 5000,
    warm_start: np.ndarray | None = None,
    blocks: np.ndarray | None = None,
    opening: bool = True,
    handover: Handover | None = None,
) -> ContactDynamicsResult:
    """Solve eq. 21 to ``tolerance``. max_iterations bounds the Newton systems of the multipliers
    and of the central path.

    warm_start (m,) [N]: forces to begin with. blocks: see ``Network``. opening: whether gradient
    steps go first. handover: gets the last factorization, if that led to the answer.
    ``iterations`` of the answer counts gradient steps and Newton systems. Status JAMMED: it
    stalled, and overlaps are known that no speed of the problem's own order undoes.
    """
    m = problem.B.shape[0]
    force = np.zeros(m) if warm_start is None else problem.project(warm_start)
    solution = _Solution(problem, tolerance, max_iterations, blocks, handover)
    if opening:
        force, reached = solution.from_near(force)
        if not reached <= tolerance:
            force = solution.descend(force)
    stalled = solution.multiply(force, hasty=True)
    found = None
    if stalled and solution.path_open:
        found = solution.follow_path()
        stalled = solution.multiply(solution.force)
    solution.finish_small_rests(stalled)
    if found is not None:
        solution.keep(*found)
    status = Status.STALLED if stalled else Status.MAX_ITERATIONS
    if solution.jammed and solution.residual > UNDONE:
        status = Status.JAMMED
    return ContactDynamicsResult(
        force=solution.force,
        velocity=problem.velocity(solution.force),
        slack=problem.slack(solution.force),
        status=Status.CONVERGED if solution.arrived else status,
        residual=solution.residual,
        iterations=solution.gradient_steps + solution.newton_steps,
        solver="newton",
        tolerance=tolerance,
        history=np.array(solution.history),
        linear_iterations=solution.stats.products,
        factorizations=solution.stats.factorizations,
    )


class _Solution:
    """The best forces so far with their residual, and the work that they took."""

    def __init__(self, problem: ContactProblem, tolerance, max_iterations, blocks, handover):
        self.problem, self.tolerance, self.blocks = problem, tolerance, blocks
        self.handover = handover
        self.max_iterations = max_iterations
        self.force, self.residual, self.history = None, np.inf, []
        self.gradient_steps = self.newton_steps = 0
        self._sought = []  # forces from which ``seek_from`` has looked
        self.jammed = False  # whether overlaps cannot be undone but at speeds of another order
        self.stats = LinearStats()

    @property
    def arrived(self) -> bool:
        return self.residual <= self.tolerance

    @property
    def path_open(self) -> bool:
        """Whether the central path is to be thought of."""
        return self.network.price.affordable

    @cached_property
    def arm(self):
        return column_arms(self.problem.B)[0]

    @cached_property
    def network(self) -> Network:
        """Rotations measured by the way of their longest arm, so that momenta compare."""
        scale, M = 1 / self.arm, self.problem.mass
        data = np.repeat(scale, np.diff(M.indptr)) * M.data * scale[M.indices]
        return Network(
            submatrix(self.problem.B, scale=scale),
            mass=sp.csr_array((data, M.indices, M.indptr), shape=M.shape),
            blocks=self.blocks,
        )

    def keep(self, force, residual) -> bool:
        """Take note of forces; whether they are the best so far."""
        self.history.append(residual)
        if not residual < self.residual and self.force is not None:
            return False
        self.force, self.residual = force, residual
        return True

    def from_near(self, force):
        """(forces, residual) by a factorization at once, where ``force`` is near and that is
        affordable; else ``force`` with its own."""
        reached, count = self.problem.residual(force), np.count_nonzero(force)
        n = self.problem.B.shape[1]
        near = self.tolerance < reached <= NEAR and DETERMINED * n < count <= n
        if near and self.network.price.affordable:
            self.keep(force, reached)
            force, reached = self._last_digits(force, active_set.FROM_NEAR)
        return force, reached

    def descend(self, force):
        """Forces by gradient steps, and by a factorization where that is cheaper in the end."""
        bore, left = np.zeros(len(force), bool), False
        n = self.problem.B.shape[1]

        def leave(force, steps, reached):
            nonlocal bore, left
            before, bore = bore, force > 0
            settled = np.count_nonzero(bore ^ before) <= SETTLED * max(1.0, n / SETTLED_SIZE)
            count = np.count_nonzero(bore)
            found = BEARING_FOUND[int(count > DETERMINED * n)]
            if settled and self.tolerance < reached <= found and count <= n:
                self.network.price.steps = max(self.network.price.steps, steps)
                left = active_set.pays(self.network.price, force, steps, reached, self.tolerance)
            return left

        force, reached = self._gradient_steps(force, leave)
        if left:
            self.keep(force, reached)
            force, reached = self._last_digits(force)
            if reached > self.tolerance:
                force, _ = self._gradient_steps(force)
        return force

    def _gradient_steps(self, force, leave=None):
        n = self.problem.B.shape[1]
        answer = apgd.solve(
            self.problem,
            tolerance=self.tolerance,
            warm_start=force,
            scaled=True,
            decade=int(OPENING_DECADE * max(1.0, n / OPENING_SIZE) ** 0.5),
            blocks=self.blocks,
            leave=leave,
        )
        self.gradient_steps += answer.iterations
        return answer.force, answer.residual

    def _last_digits(self, force, plan=active_set.FROM_AFAR):
        try:
            force, residual, rounds, system = active_set.finish(
                self.problem,
                self.network,
                force,
                plan=plan,
                tolerance=self.tolerance,
                max_rounds=self.max_iterations - self.newton_steps,
                stats=self.stats,
            )
        except NoRoom:  # gradient steps go on
            return force, self.problem.residual(force)
        self.newton_steps += rounds
        if self.handover is not None and residual <= self.tolerance:
            self.handover.leave(system, self.arm)
        return force, residual

    def seek_from(self, force, plan=active_set.FROM_AFAR):
        """Look for the last digits from these forces, unless that was done before."""
        if self.arrived or any(force is known for known in self._sought):
            return
        self._sought.append(force)
        self.keep(*self._last_digits(force, plan))

    def follow_path(self):
        """(forces, residual): the last digits from here, or from the central path by one more
        factorization. What follows begins with these, but not with forces that have grown."""
        self.seek_from(self.force)
        if not self.arrived and least_distance.applies(self.problem, least_distance.SMALL):
            self._by_least_distance()
        before = self.force, self.residual
        if not self.arrived:
            self._along_path()
        found = self.force, self.residual
        grown = found[0].max() > GROWN * max(before[0].max(), self.problem.scale)
        if grown and not self.arrived:
            self.force, self.residual = before
        return found

    def _along_path(self):
        try:
            *found, steps = interior.follow(
                self.problem,
                self.network,
                tolerance=self.tolerance,
                max_iterations=self.max_iterations - self.newton_steps,
                stats=self.stats,
            )
        except NoRoom:
            return
        self.newton_steps += steps
        for force in found:
            needed = interior.speed_needed(self.problem, self.network, force)
            self.jammed |= needed > TOO_FAST * self.problem.speed
            self.seek_from(force, active_set.FROM_PATH)

    @cached_property
    def _least_distance(self):
        return least_distance.solve(self.problem)

    def _by_least_distance(self):
        if self._least_distance is not None:
            self.seek_from(self._least_distance)

    def _dear(self, stats_before) -> bool:
        """Whether linear solves since have cost more than the central path would."""
        price = self.network.price.of_factorization
        steps = self.stats.products - stats_before.products
        factors = self.stats.factorizations - stats_before.factorizations
        return steps + factors * price > PATH * price

    def multiply(self, force, *, hasty=False) -> bool:
        """The method of multipliers from ``force`` on; whether it stalled.

        hasty: leave where the central path is open and likely to be quicker.
        """
        problem, tolerance, dt = self.problem, self.tolerance, self.problem.dt
        residual = problem.residual(force)
        self.keep(force, residual)
        if self.arrived:
            return False
        effective_mass = dt / problem.diagonal
        impulse = dt * force
        x = self.arm * transposed_product(problem.response, force)
        # the warmer the start, the stiffer the first network may be
        sigma = float(np.clip(1.0 / max(residual, 1e-300), 1.0, 1e3))
        waited, before_all, hasty = 0, replace(self.stats), hasty and self.path_open
        while residual > tolerance and self.newton_steps < self.max_iterations:
            stiffness = sigma * effective_mass
            answer = equilibrium(
                self.network,
                stiffness,
                2.0,
                load=np.zeros(problem.B.shape[1]),
                offset=impulse / stiffness - problem.p,
                start=x,
                # of the best so far: forces that drift away must not ask for less
                tolerance=max(INNER * 0.1 ** min(waited, 3) * self.residual, 0.1 * tolerance),
                scale=problem.scale * dt,
                max_iterations=min(300, self.max_iterations - self.newton_steps),
                stats=self.stats,
            )
            self.newton_steps += max(1, answer.iterations)
            impulse, x = answer.force, answer.x
            before, residual = residual, problem.residual(impulse / dt)
            waited = 0 if self.keep(impulse / dt, residual) else waited + 1
            if waited > (EAGER if hasty else PATIENCE) or (hasty and self._dear(before_all)):
                return True
            if residual > 1.5 * before:
                sigma = max(0.1 * sigma, 1.0)
            elif residual > 0.1 * before:
                sigma = min(3.0 * sigma, SIGMA_CAP)
        return False

    def finish_small_rests(self, stalled):
        """What rounding left: by stiff springs, nonnegative least squares, Gauss-Seidel."""
        problem = self.problem
        if not self.arrived and affordable(problem.B.shape[1]):
            self.seek_from(self.force)
        if not self.arrived and least_distance.applies(problem):
            self._by_least_distance()
        for _ in range(ROUNDS if stalled else 0):
            before = self.residual
            if self.arrived:
                break
            last = pgs.solve(
                problem, tolerance=self.tolerance, max_iterations=SWEEPS, warm_start=self.force
            )
            self.stats.products += last.linear_iterations
            self.keep(last.force, last.residual)
            if self.residual > GAINED * before:
                break
