"""Step 2 of a time step: compatible forces of the contacts that are closed after step 1.

A contact that stays open may not carry load, although it could help to balance F~. The balance
excludes weakly constrained motions, as of a roller along two races that are opposite to 1e-10
(``conditioning/one_body.py``).
"""

from dataclasses import replace
from functools import partial

import numpy as np

from .._support.submatrix import submatrix
from ..compatibility import CompatibleForces, compatible_forces
from ..conditioning.input_rounding import Closing, InputRounding, input_rounding_change
from ..conditioning.last_digits import RefinedStep
from ..conditioning.light_bodies import light_bodies_balanced
from ..conditioning.reduction import balanced, reduced_forces
from ..conditioning.several_bodies import unresolved
from ..conditioning.step_data import Balance
from ..increments import IncrementResult
from . import friction, increment
from .result import StepResult
from .settings import StepSettings, WarmStart

SELF_STRESS = 10.0
"""Largest force of step 1 over that of step 2 above which the least multiplier is used."""


def with_compatible(
    found: StepResult,
    settings: StepSettings,
    warm: WarmStart | None = None,
    known: RefinedStep | None = None,
) -> StepResult:
    """``found``, a step of which step 1 is solved, with compatible forces.

    known: what is known of step 1 (``conditioning/last_digits.py``).
    """
    if isinstance(found.classic, IncrementResult):
        return replace(found, compatible=increment.forces(found))
    if found.T is not None:
        return replace(found, compatible=friction.compatible(found, settings, found.memory))
    done = _with_least_multiplier(_smooth(found, settings, warm, known), settings)
    if settings.closed is not None or found.bodies.written is None or not done.converged:
        return done
    return replace(done, input_rounding=_input_rounding(found, done, settings))


def _smooth(
    found: StepResult, settings: StepSettings, warm: WarmStart | None, known: RefinedStep | None
) -> StepResult:
    """``found`` with the compatible forces of its closed contacts, without friction."""
    bodies, chosen = found.bodies, np.flatnonzero(found.closed)
    B, force = submatrix(found.B, rows=chosen), found.classic.force[chosen]

    def solve(balance: Balance) -> CompatibleForces:
        start = None if warm is None else warm.displacement
        forces = _forces(found, settings, chosen, balance, warm_start=start)
        law = found.stiffness[chosen], settings.exponent, settings.tolerance
        return light_bodies_balanced(balanced(balance, forces), forces, bodies.free.ravel(), law)

    balance = None if known is None else known.balance(chosen)
    answer = reduced_forces(solve, bodies, B, found.load, force, balance)
    forces, resting = answer.forces, answer.resting
    kept, left_out = np.flatnonzero(~resting), np.zeros(len(found.closed), bool)
    left_out[chosen] = resting
    leaves_open = found.open
    if known is not None and answer.far.any():
        leaves_open = known.opened(chosen[kept], np.flatnonzero(answer.far))
    return replace(
        found,
        closed=found.closed & ~left_out,
        reduced=(submatrix(answer.balance[0], rows=kept), answer.balance[1]),
        compatible=replace(forces, force=forces.force[~resting]) if resting.any() else forces,
        several_bodies=answer.several_bodies,
        settled=answer.settled,
        left_out=left_out,
        tilt_dependent=answer.tilt_dependent,
        open=leaves_open,
    )


def _with_least_multiplier(done: StepResult, settings: StepSettings) -> StepResult:
    """Step 1 with the multiplier of least size, where its own is beyond what the balance needs.

    Bodies that just fit between others, as a row of balls from wall to wall, may press on one
    another with any force, and a solver keeps what it began with. v+ and B^T f stay as they are.
    """
    force, needed = done.classic.force, done.force.max(initial=0.0)
    if not done.converged or not 0.0 < SELF_STRESS * needed < force.max(initial=0.0):
        return done
    chosen = np.flatnonzero(done.closed)
    even = replace(done, stiffness=np.ones(len(force)))
    least = _forces(even, replace(settings, exponent=2.0), chosen, done.balance)
    if not least.converged:
        return done
    size = np.zeros(len(force))
    size[chosen] = least.force
    return replace(done, classic=replace(done.classic, force=size))


def _input_rounding(
    found: StepResult, done: StepResult, settings: StepSettings
) -> InputRounding | None:
    """How far the forces of ``done`` depend on the rounding of written coordinates."""
    force, solve = found.classic.force, partial(_forces, found, settings)
    closing = Closing(found.contacts, found.end_gap, found.B, found.closed, force)
    answer = done.force, done.compatible.displacement
    return input_rounding_change(found.bodies, found.state, closing, answer, done.balance, solve)


def _forces(
    found: StepResult,
    settings: StepSettings,
    rows: np.ndarray,
    balance: Balance,
    warm_start: np.ndarray | None = None,
) -> CompatibleForces:
    """Compatible forces of the contacts ``rows`` (k,), which satisfy the ``balance``: eq. 36."""
    return compatible_forces(
        *balance,
        stiffness=found.stiffness[rows],
        exponent=settings.exponent,
        fixed=~found.bodies.free.ravel(),
        tolerance=settings.tolerance,
        warm_start=warm_start,
        admissible=found.classic.force[rows],
        blocks=found.bodies.blocks,
        unresolved=unresolved(found.bodies, balance[0]),
    )
