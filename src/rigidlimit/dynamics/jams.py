"""Overlaps that cannot all be undone: jams, and the forces that only keep overlaps from growing.

Held bodies that overlap, or a jammed packing, leave no velocity with B v >= -Phi/dt, and the forces
of eq. 21 grow without end. Those of the problem with overlaps let be are there, and stay in bounds.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from .._support.products import transposed_product
from ..linear import column_arms
from ..status import Status
from .problem import ContactDynamicsResult, ContactProblem

Solve = Callable[[ContactProblem], ContactDynamicsResult]


@dataclass(frozen=True)
class Settings:
    """diverged: forces over those that leave overlaps as they are, beyond which these are taken:
    undoing overlaps in a step may well cost more, but then it converges. undone: largest residual,
    over that with overlaps as they are, at which they still count as undone: where only one
    velocity undoes them, forces have no bounds either. no_worse: largest residual with overlaps as
    they are, over that of the attempt to undo them, at which nothing is lost.

    cancelled: part of the pushes on bodies that is left of their sum, at which forces hold one
    another but for rounding of B. significant: fraction of f . |p| above which -f . p is more than
    rounding.
    """

    diverged: float = 10.0
    undone: float = 1e-6
    no_worse: float = 1.5
    cancelled: float = 1e-13
    significant: float = 1e-9


def settle_overlaps(
    problem: ContactProblem,
    answer: ContactDynamicsResult,
    solve: Solve,
    closed: np.ndarray,
    settings: Settings = Settings(),
) -> ContactDynamicsResult:
    """The answer, or where overlaps cannot be undone that with overlaps as they are.

    solve(problem): the answer to another problem. closed (m,) [m/s]: the bias with overlaps as they
    are, with what is driven and what rebounds.
    """
    if answer.converged and undone_by_rounding(problem, answer.force, settings):
        answer = replace(answer, status=Status.JAMMED)
    if answer.converged:
        return answer
    at_rest = np.maximum(problem.bias, 0.0)  # or nothing that pushes at all
    for bias in (closed, at_rest) if (closed != at_rest).any() else (closed,):
        kept = without_opening(problem, bias, answer, solve, settings)
        if kept is not None:
            return kept
    if answer.status is Status.JAMMED:
        answer = replace(answer, status=Status.STALLED)  # its forces are none to go by
    return answer


def undone_by_rounding(
    problem: ContactProblem, force: np.ndarray, settings: Settings = Settings()
) -> bool:
    """Whether overlaps are undone by no more than rounding of B, and so not at all.

    Between two walls that press on it from opposite sides a disk leaves along both, at 1e16 times
    the speed at which it overlaps: their normals are opposite to 1e-16. Such forces cancel on every
    body, and yet f . p < 0 says that no velocity opens what they close (Farkas' lemma).
    """
    B, arm, cancelled = problem.B, column_arms(problem.B)[0], settings.cancelled
    left = float((np.abs(transposed_product(B, force)) / arm).sum())
    if left > cancelled * float(force @ np.diff(B.indptr)):  # no entry is larger than its arm
        return False
    pushes = float((transposed_product(abs(B), force) / arm).sum())
    missing = -float(force @ problem.p)
    significant = missing > settings.significant * float(force @ np.abs(problem.p))
    return left <= cancelled * pushes and significant


def without_opening(
    problem: ContactProblem,
    bias: np.ndarray,
    answer: ContactDynamicsResult,
    solve: Solve,
    settings: Settings = Settings(),
) -> ContactDynamicsResult | None:
    """The answer with another bias (m,) that lets overlaps be, or None where they are undone.

    Overlaps by rounding alone may be solved for so; then there was no jam.
    """
    found = solve(replace(problem, bias=bias))
    diverged = answer.force.max() > settings.diverged * max(found.force.max(), problem.scale)
    left = problem.residual(found.force)
    diverged = diverged and answer.residual > settings.undone * left
    jammed = diverged or answer.status is Status.JAMMED
    if not (found.converged and (jammed or left <= settings.no_worse * answer.residual)):
        return None
    return replace(
        answer,
        force=found.force,
        velocity=found.velocity,
        slack=problem.slack(found.force),
        residual=left,
        status=Status.CONVERGED if left <= answer.tolerance else Status.JAMMED,
        iterations=answer.iterations + found.iterations,
        linear_iterations=answer.linear_iterations + found.linear_iterations,
        factorizations=answer.factorizations + found.factorizations,
        routes=(*answer.routes, "overlaps kept", *found.routes),
    )
