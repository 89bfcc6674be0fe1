"""(a) Compatible forces: rigidlimit against general solvers at equal achieved accuracy.

Every solver starts at the target tolerance and is tightened, TRIES times in all, until both
measured errors are at most the target:
  balance    max |B^T f - F| / max |F|
  distance   max |f - f*| / max f*, f* the exact force
f* is the Newton answer at 1e-13: f = k max(0, -B u)^(p-1) by construction, so it is the exact
answer for a load that differs from F by its balance. Where a solver never gets there, its best is
given and marked. Time is CPU time on one core; "products" the same over the CPU time of one
B^T (D (B x)).
"""

import numpy as np

from . import peers, problems
from .measure import measure, product_seconds, told

TRIES = 3

MEMORY_FROM = 10_000
"""Contacts from which peak memory is that of the problem, not of the code that is loaded."""


def errors(problem, exact, f):
    """(balance, distance) of forces f; both infinite where f is not finite."""
    if f is None or not np.isfinite(f).all():
        return np.inf, np.inf
    return problem.balance(f), float(np.abs(f - exact).max() / exact.max())


def exact_force(problem) -> np.ndarray:
    """f* of the header, to rounding."""
    best = None
    for tolerance in (1e-13, 1e-12, 1e-11):
        answer = peers.compatibility_solvers(problem.exponent)[peers.OURS](problem, tolerance)
        if best is None or problem.balance(answer.force) < problem.balance(best):
            best = answer.force
        if problem.balance(best) <= 1e-12:
            break
    return best


def ladder(solver, judge, target, **options):
    """(Measured, tolerance, *errors) of a solver at the first tolerance that meets the target.

    judge(f): (what the target is for, *figures for the table) of forces f, or of None. After a miss
    the tolerance is tightened by what the answer lacked, 10 to 1000 times, as long as that halves
    the error at least.
    """
    best, tolerance = None, target
    for _ in range(TRIES):
        measured = measure(lambda tol=tolerance: solver(tol), **options)
        force = None if measured.answer is None else measured.answer.force
        worst, *figures = judge(force)
        helped = best is None or worst < 0.5 * best[0]
        if best is None or worst < best[0]:
            best = (worst, measured, tolerance, *figures)
        if worst <= target or measured.note or not helped:
            break
        tolerance *= float(np.clip(target / worst, 1e-3, 0.1))
    return best[1:]


def compare(problem, solver, exact, target, **options):
    """``ladder`` judged by the worse of balance and distance."""

    def judge(f):
        found = errors(problem, exact, f)
        return max(found), *found

    return ladder(lambda tolerance: solver(problem, tolerance), judge, target, **options)


def row(part, problem, method, target, unit, measured, tolerance, **figures):
    """One line of a table; ``figures`` hold the achieved errors."""
    answer = measured.answer
    # v+ is stated beside the residual that the target is for
    missed = max(v for k, v in figures.items() if k != "velocity") > target
    note = measured.note
    if answer is not None and missed and not note:
        note = "target missed"
    if answer is None:
        figures = dict.fromkeys(figures, float("nan"))
    m = problem.B.shape[0]
    return {
        "part": part,
        "problem": problem.name,
        "contacts": m,
        "method": method,
        "target": target,
        "tolerance": tolerance,
        **figures,
        "cpu": measured.cpu,
        "wall": measured.wall,
        "products": measured.cpu / unit,
        "iterations": None if answer is None else answer.iterations,
        "linear": None if answer is None else answer.extra.get("linear"),
        "bytes_per_contact": measured.memory / m if m >= MEMORY_FROM else float("nan"),
        "repeats": measured.repeats,
        "note": note,
    }


def not_run(part, problem, method, target, why, figures):
    nothing = dict.fromkeys(
        (*figures, "cpu", "wall", "products", "bytes_per_contact"), float("nan")
    )
    return {
        "part": part,
        "problem": problem.name,
        "contacts": problem.B.shape[0],
        "method": method,
        "target": target,
        "tolerance": None,
        "iterations": None,
        "linear": None,
        "repeats": 0,
        **nothing,
        "note": f"not run: {why}",
    }


def tabulate(part, groups, solvers_of, run, targets, *, limit, figures, fork=True):
    """Yields the row of every problem, target and solver.

    groups: lists of problems of growing size. A solver that passed the CPU limit (or missed the
    target by far) is not run on the larger problems of its group, nor at tighter targets.
    """
    for group in groups:
        slow = {}
        for make in group:
            problem = make()
            unit = product_seconds(problem.B)
            reference = run.reference(problem)
            for target in sorted(targets, reverse=True):
                for method, solver in solvers_of(problem).items():
                    if method in slow and target <= slow[method][0]:
                        why = slow[method][1]
                        yield not_run(part, problem, method, target, why, figures)
                        continue
                    if not peers.installed(method):
                        why = "not installed"
                        yield not_run(part, problem, method, target, why, figures)
                        continue
                    with told(f"  {problem.name}: {method}, {target:.0e}"):
                        measured, tolerance, *achieved = run.compare(
                            problem, solver, reference, target, limit=limit, fork=fork
                        )
                    named = dict(zip(figures, achieved, strict=True))
                    line = row(part, problem, method, target, unit, measured, tolerance, **named)
                    yield line
                    ours = method == peers.OURS
                    if line["note"].startswith(("over", "died", "failed")) and not ours:
                        slow[method] = (target, f"{line['note']} at {line['contacts']} contacts")


class _Run:
    reference = staticmethod(exact_force)
    compare = staticmethod(compare)


def run(*, bases, laws, targets=(1e-6, 1e-10), limit=60.0, packings=(), folder=None, fork=True):
    """Rows of part (a). packings: numbers of spheres of settled random packings to add."""
    groups = [
        [lambda b=base, k=law: problems.compatibility(b, k) for base in bases] for law in laws
    ]
    if packings:
        groups.append([lambda c=count: packing(c, folder) for count in packings])
    return tabulate(
        "compatibility",
        groups,
        lambda problem: peers.compatibility_solvers(problem.exponent),
        _Run,
        targets,
        limit=limit,
        figures=("balance", "distance"),
        fork=fork,
    )


def packing(count, folder):
    """Eq. 36 of the packing's state of rest under contact dynamics."""
    import rigidlimit as rl

    scene, state = problems.packing_at_rest(count, folder=folder)
    simulation = rl.Simulation(scene, compatible="never")
    simulation.state = state
    for _ in range(5):
        recorded = problems.replay(simulation)
    return problems.recorded_compatibility(recorded, f"packing of {count}, Hooke")
