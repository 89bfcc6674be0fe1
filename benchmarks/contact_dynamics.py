"""(b) Contact dynamics: rigidlimit against PGS, APGD and general solvers at equal accuracy.

Every answer is judged by its forces f alone:
  residual   max |min(f, w/N_ii)| / scale, w = N f + p (``ContactProblem.residual``), the
             complementarity of eq. 21 with forces measured by what one contact alone would need
  velocity   max |v+ - v*| / max |v* - v_free|, v* of the most accurate Newton answer
The target holds for the residual; the velocity is stated beside it. Quadratic programming solvers
take the problem in velocities, min 1/2 |v - v_free|_M^2 subject to Phi/dt + B v >= 0; f are their
multipliers over dt.
"""

import numpy as np

from . import compatibility, peers, problems


def exact_velocity(problem):
    """v* of the header."""
    answer = peers.dynamics_solvers()[peers.OURS](problem, 1e-12)
    return problem.judge.velocity(answer.force)


def errors(problem, exact, f):
    """(residual, velocity) of forces f; negative forces count as zero."""
    if f is None or not np.isfinite(f).all():
        return np.inf, np.inf
    judge = problem.judge
    f = np.maximum(f, 0.0)
    change = np.abs(exact - judge.free_velocity).max()
    away = np.abs(judge.velocity(f) - exact).max()
    return judge.residual(f), float(away / change) if change > 0 else 0.0


def compare(problem, solver, exact, target, **options):
    """``compatibility.ladder`` judged by the residual."""

    def judge(f):
        found = errors(problem, exact, f)
        return found[0], *found

    return compatibility.ladder(
        lambda tolerance: solver(problem, tolerance), judge, target, **options
    )


class _Run:
    reference = staticmethod(exact_velocity)
    compare = staticmethod(compare)


def run(*, bases, states=problems.STATES, targets=(1e-10,), limit=60.0, fork=True):
    """Rows of part (b)."""
    groups = [[lambda b=base, s=state: problems.dynamics(b, s) for base in bases]
              for state in states]  # fmt: skip
    return compatibility.tabulate(
        "contact dynamics",
        groups,
        lambda _: peers.dynamics_solvers(),
        _Run,
        targets,
        limit=limit,
        figures=("residual", "velocity"),
        fork=fork,
    )
