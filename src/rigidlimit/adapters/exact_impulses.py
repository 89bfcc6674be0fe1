"""Step 1 of a captured problem refined to rounding (``conditioning/dense_lcp.py``).

Motions enter W by the squares of their singular values s: a residual of 1e-12 does not determine
impulses along a motion with s = 1e-6 at all. Where any are undetermined, and the contacts that are
coupled to one another are few, they are solved as a dense problem.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..conditioning.dense_lcp import Systems
from ..conditioning.tolerances import TOLERANCES as CONDITIONING
from ..dynamics.inertia import inverse_mass
from ..dynamics.problem import ContactDynamicsResult, ContactProblem
from ..status import Status
from .islands import Islands
from .tolerances import TOLERANCES

if TYPE_CHECKING:
    from .frictionless import NormalProblem


def to_last_digits(
    problem: "NormalProblem", classic: ContactDynamicsResult, closed: np.ndarray
) -> ContactDynamicsResult:
    """``classic`` solved again among the contacts ``closed`` (c,): those
    that may be, and impulses are open. The very answer given where that is no better."""
    inverse = inverse_mass(problem.M, np.arange(problem.M.shape[0]))
    velocity = inverse @ problem.impulse
    whole = ContactProblem(problem.B, problem.M, inverse, problem.gap, velocity, 1.0)
    force = classic.force.copy()
    for part in Islands.of(problem.B[closed], problem.M).parts:
        rows, columns = closed[part.members], part.columns
        if part.A is None or part.A.size > CONDITIONING.small_part or not force[rows].any():
            continue
        B, M = (X[:, columns].toarray() for X in (problem.B[rows], problem.M[columns]))
        response = B @ inverse[columns][:, columns].toarray().astype(np.longdouble)
        diagonal = whole.diagonal[rows]
        data = (B, M, response, problem.gap[rows], velocity[columns], diagonal)
        systems = Systems.of(*(x[None] for x in data), 1.0)
        better, found = systems.solved()
        # the active sets may have ended far off
        least = max(systems.wrong(force[rows][None]).max(), classic.tolerance * force[rows].max())
        if found[0] and systems.wrong(better).max() <= least:
            force[rows] = better[0]
    slack = whole.slack(force)
    residual = whole.residual(force, slack)
    if residual > max(classic.residual, classic.tolerance):
        return classic
    return replace(
        classic,
        force=force,
        velocity=whole.velocity(force),
        slack=slack,
        residual=residual,
        status=Status.CONVERGED if residual <= classic.tolerance else classic.status,
    )


def other_digits(
    problem: "NormalProblem", classic: ContactDynamicsResult
) -> Iterator["NormalProblem"]:
    """``problem`` with other draws of the errors of its slacks, certain to be beyond them.

    Where contacts that nearly depend on one another may be closed, errors decide which of them
    are active, and close others by their size over s: the singular values of the contacts that
    happen to be active do not show that.
    """
    size = TOLERANCES.certain * np.sqrt(problem.error.power(2) @ classic.force**2)
    for signs in np.random.default_rng(0).choice([-1.0, 1.0], (TOLERANCES.samples, len(size))):
        yield replace(problem, gap=problem.gap + signs * size)
