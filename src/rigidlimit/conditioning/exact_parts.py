"""Connected parts of a step, solved to rounding (``dense_lcp.py``)."""

from dataclasses import replace

import numpy as np

from ..dynamics.problem import ContactDynamicsResult
from .dense_lcp import Systems
from .step_data import StepData


def solved_exactly(
    step: StepData,
    classic: ContactDynamicsResult,
    rows: np.ndarray,
    part_of: np.ndarray,
    parts: np.ndarray,
) -> ContactDynamicsResult:
    """``classic`` with the ``parts`` of the closed contacts ``rows`` and of the bodies, by their
    numbers part_of (r + N,), solved to their last digits."""
    chosen = np.isin(part_of, parts)
    of_row, of_body = part_of[: len(rows)], part_of[len(rows) :]
    rows, of_row = rows[chosen[: len(rows)]], of_row[chosen[: len(rows)]]
    free = step.free & np.repeat(chosen[-len(of_body) :], 6)
    velocity = np.where(free, step.velocity, classic.velocity)
    reduced = replace(step, velocity=velocity).reduced(rows, free)
    problem, mine = reduced.problem, rows[reduced.rows]
    found = classic.force[mine]
    force, again = found.copy(), np.zeros(len(part_of), bool)
    for systems, places in _of_one_size(problem, of_row[reduced.rows], of_body[reduced.dofs // 6]):
        better, good = systems.solved()
        # the active sets may have ended far off
        least = classic.tolerance * found[places].max(axis=1)
        least = np.maximum(systems.wrong(found[places]).max(axis=1), least)
        good &= systems.wrong(better).max(axis=1) <= least
        force[places[good]] = better[good]
        again[of_row[reduced.rows][places[good, 0]]] = True
    if not again.any():
        return classic
    return _taken(classic, step.B, rows, reduced, force, of_row, of_body, again)


def _taken(classic, B, rows, reduced, force, of_row, of_body, again):
    """``classic`` with the forces of the parts ``again`` (by their numbers, bool), but for those
    whose motion would close contacts that are not among ``rows``."""
    problem, mine = reduced.problem, rows[reduced.rows]
    speed = np.zeros(len(again))
    np.maximum.at(speed, of_row[reduced.rows], problem.closing)
    others = np.ones(B.shape[0], bool)
    others[rows] = False
    entry = np.flatnonzero(np.repeat(others, np.diff(B.indptr)))
    contact = np.repeat(np.arange(B.shape[0]), np.diff(B.indptr))[entry]
    part = of_body[B.indices[entry] // 6]
    answer = problem.velocity(force) - classic.velocity[reduced.dofs]
    while True:
        change = np.zeros(B.shape[1])
        change[reduced.dofs] = np.where(again[of_body[reduced.dofs // 6]], answer, 0.0)
        slack = classic.slack + B @ change
        closes = (slack - np.minimum(classic.slack, 0.0))[contact]
        wrong = again[part] & (closes < -classic.tolerance * speed[part])
        if not wrong.any():
            break
        again = again.copy()
        again[part[wrong]] = False
    carried, now = classic.force.copy(), again[of_row[reduced.rows]]
    carried[mine[now]] = force[now]
    return replace(classic, force=carried, velocity=classic.velocity + change, slack=slack)


def _of_one_size(problem, of_row, of_dof):
    """(Systems, places of their contacts (g, r)) of the parts of a problem, by their numbers
    of_row, of_dof, all of one size together."""
    rows, dofs = _members(of_row), _members(of_dof)
    local = np.zeros(len(of_dof), int)
    for members in dofs.values():
        local[members] = np.arange(len(members))
    response = problem.B.astype(np.longdouble) @ problem.inverse_mass.astype(np.longdouble)
    sizes = {}
    for number, members in rows.items():
        sizes.setdefault((len(members), len(dofs[number])), []).append(number)
    for (_, width), numbers in sizes.items():
        places = np.array([rows[number] for number in numbers])
        columns = np.array([dofs[number] for number in numbers])
        B, mass, answer = (
            _stacked(A, at, local, width)
            for A, at in ((problem.B, places), (problem.mass, columns), (response, places))
        )
        yield (
            Systems.of(
                B,
                mass,
                answer,
                problem.bias[places],
                problem.free_velocity[columns],
                problem.diagonal[places],
                problem.dt,
            ),
            places,
        )


def _members(number):
    """Where each number stands: {number: places, ascending}."""
    order = np.argsort(number, kind="stable")
    values, starts = np.unique(number[order], return_index=True)
    return dict(zip(values.tolist(), np.split(order, starts[1:]), strict=True))


def _stacked(A, places, local, width):
    """Rows of A at ``places`` (g, k) as dense (g, k, width), columns by their place in a part."""
    row = places.ravel()
    count = A.indptr[row + 1] - A.indptr[row]
    ends = np.cumsum(count)
    entry = np.arange(count.sum()) + np.repeat(A.indptr[row] - (ends - count), count)
    out = np.zeros((len(row), width), A.dtype)
    out[np.repeat(np.arange(len(row)), count), local[A.indices[entry]]] = A.data[entry]
    return out.reshape(*places.shape, width)
