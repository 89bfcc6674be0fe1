"""Step 1 of a captured problem to its last digits (``conditioning/dense_lcp.py``).

W feels motions by the squares of their singular values s: a residual of 1e-12 leaves impulses along
a motion with s = 1e-6 wholly open. Where it leaves any open, and the contacts that are coupled to
one another are few, they are solved as a dense problem.
"""

from dataclasses import replace

import numpy as np

from ..conditioning.dense_lcp import Systems
from ..conditioning.least_distance import LARGEST
from ..dynamics.inertia import inverse_mass
from ..dynamics.problem import ContactDynamicsResult, ContactProblem
from ..status import Status
from .data_errors import coupled_contacts


def to_last_digits(problem, classic: ContactDynamicsResult, closed) -> ContactDynamicsResult:
    """``classic`` of a ``NormalProblem``, solved again among the contacts ``closed`` (c,): those
    that may be, and impulses are open. The very answer given where that is no better."""
    inverse = inverse_mass(problem.M, np.arange(problem.M.shape[0]))
    velocity = inverse @ problem.impulse
    whole = ContactProblem(problem.B, problem.M, inverse, problem.gap, velocity, 1.0)
    force = classic.force.copy()
    for at, columns, A, _ in coupled_contacts(problem.B[closed], problem.M):
        rows = closed[at]
        if A is None or A.size > LARGEST or not force[rows].any():
            continue
        B, M = (X[:, columns].toarray() for X in (problem.B[rows], problem.M[columns]))
        response = B @ inverse[columns][:, columns].toarray().astype(np.longdouble)
        diagonal = whole.diagonal[rows]
        data = (B, M, response, problem.gap[rows], velocity[columns], diagonal)
        systems = Systems.of(*(x[None] for x in data), 1.0)
        better, found = systems.solved()
        if found[0] and systems.wrong(better).max() <= systems.wrong(force[rows][None]).max():
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
