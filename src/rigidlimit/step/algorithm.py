"""Algorithm 1 of the paper, one line an arrow: contacts, velocities, forces, pose.

Departures. Contacts are those that may close within the step; if a body turns out to move further
than was searched, the search is widened, and the step solved again if that finds contacts that
would close. Bodies that rebound do so in the step in which they would meet. Spinning bodies with
unequal inertias precess (``bodies/motion.py``). Those of step 1 stand in ``velocities.py``, those
of step 2 in ``forces.py``.

Where a solver does not converge the step still ends: its ``status`` says so, and
``routes`` of each solve lists what was tried.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from ..bodies import Bodies, State
from ..bodies.mass import mass_matrix
from ..bodies.motion import move
from ..collision.contacts import Contacts
from ..collision.search import find_contacts
from ..compatibility.law import contact_stiffness
from ..kinematics import gap_gradient
from ..status import Status
from . import increment, velocities
from .forces import with_compatible
from .result import StepResult
from .search import closes_more, first_reach, travel
from .settings import Problem, StepSettings, WarmStart

TIGHT = 1e-3
"""Part of the tolerance to which step 1 is solved where weakly resisted motions leave forces open
at the tolerance: near rounding."""

Watch = Callable[[Contacts, np.ndarray], object]


def step(
    bodies: Bodies,
    state: State,
    external_force: np.ndarray,
    settings: StepSettings,
    warm: WarmStart | None = None,
    compatible: bool = True,
    watch: Watch | None = None,
) -> StepResult:
    """Algorithm 1: from the state at t to the state and the contact forces at t + dt.

    Weakly constrained motions amplify the residual of step 1. Where forces are uncertain because
    of it, the step is repeated with a tighter tolerance of step 1.

    Parameters
    ----------
    bodies, state
        n bodies, and their poses and velocities at t.
    external_force
        (6 n,) [N, N m].
    settings
        Time step, contact law, solver and tolerance.
    warm
        What the step before hands on; None for the first one.
    compatible
        Whether step 2 is solved.
    watch
        watch(contacts, way (n,) [m]) sees the contacts before they are solved, and at the end of
        the step, with how far each body goes in it, as far as that is known.
    """
    tolerance = settings.tolerance
    problem = Problem(
        bodies, state, external_force, settings, mass_matrix(bodies, state), tolerance
    )
    found = _advanced(problem, warm, compatible, watch)
    if not (found.converged and found.open_forces and found.classic.residual > TIGHT * tolerance):
        return found
    tight = _again(_tightened(problem), found, compatible)
    stands = tight.classic.residual <= tolerance
    stands &= tight.compatible is None or tight.compatible.converged
    if not stands or tight.open.max() >= found.open.max():
        return found
    classic = replace(
        tight.classic,
        solver=settings.solver,
        tolerance=tolerance,
        status=Status.CONVERGED,
        iterations=found.classic.iterations + tight.classic.iterations,
    )
    return replace(tight, classic=classic)


def _tightened(problem: Problem) -> Problem:
    """The same with step 1 solved further, by Newton's method."""
    newton = replace(problem.settings, solver="newton", solver_options=None)
    return replace(problem, settings=newton, first_tolerance=TIGHT * problem.settings.tolerance)


def _again(problem: Problem, found: StepResult, compatible: bool) -> StepResult:
    """The step with the contacts of ``found`` and from its forces, without friction."""
    first = velocities.solve(problem, found.contacts, found.B, found.classic.force)
    displacement = np.zeros(6 * len(found.bodies))
    if found.compatible is not None:
        displacement = found.compatible.displacement
    warm = WarmStart(found.contacts, found.classic.force, displacement)
    return _finished(problem, found.B, first, warm, compatible)


def _advanced(
    problem: Problem, warm: WarmStart | None, compatible: bool, watch: Watch | None = None
) -> StepResult:
    """The step, once."""
    bodies, state, settings, dt = problem.bodies, problem.state, problem.settings, problem.dt

    # Step 1: classic contact dynamics
    reach = first_reach(bodies, state, problem.external_force, dt)
    contacts = find_contacts(bodies, state, reach)  # Phi(q)
    start = None if warm is None else contacts.carry_over(warm.contacts, warm.force)
    way = travel(bodies, state.velocity, dt)
    rough, together = settings.friction.acts_on(bodies), increment.applies(settings, bodies)
    memory, first = None if warm is None else warm.memory, None
    while True:
        if watch is not None:
            watch(contacts, way)
        B = gap_gradient(bodies, state, contacts)  # B = dPhi/dq
        if together:
            first = increment.advance(problem, contacts, B, memory)
        elif rough:
            first = velocities.solve_rough(problem, contacts, B, memory, first)
        else:
            first = velocities.solve(problem, contacts, B, start)  # eqs 20-22
        way = travel(bodies, first.classic.velocity.reshape(-1, 6), dt)
        further = way > reach * (1 + 1e-9)
        if not further.any():
            break
        near = find_contacts(bodies, state, np.maximum(reach, way), of=further)
        if not closes_more(bodies, state, near, contacts, first.classic.velocity, dt):
            break
        reach = np.maximum(reach, 1.2 * way)
        wider = find_contacts(bodies, state, reach)
        contacts, start = wider, wider.carry_over(contacts, first.classic.force)
    if watch is not None:
        watch(first.contacts, way)
    return _finished(problem, B, first, warm, compatible)


def _finished(
    problem: Problem,
    B: sp.csr_array,
    first: velocities.Velocities,
    warm: WarmStart | None,
    compatible: bool,
) -> StepResult:
    """The step of which step 1 is solved. B (m, 6 n): of its contacts."""
    bodies, state, settings, dt = problem.bodies, problem.state, problem.settings, problem.dt
    velocity, apart = first.classic.velocity.reshape(-1, 6), first.separation
    found = StepResult(
        state=move(bodies, state, velocity, dt, apart),  # eq. 13
        contacts=first.contacts,
        B=B,
        load=velocities.load(problem, B, first),  # F~, eq. 37
        stiffness=contact_stiffness(
            bodies, first.contacts, settings.exponent, settings.pair_stiffness
        ),
        closed=first.closed,
        classic=first.classic,
        compatible=None,
        dt=dt,
        bodies=bodies,
        open=None if first.refined is None else first.refined.open,
        T=first.T,
        friction=first.friction,
        memory=first.memory,
        separation=apart,
    )

    # Step 2: compatible forces, eq. 36
    return with_compatible(found, settings, warm, first.refined) if compatible else found
