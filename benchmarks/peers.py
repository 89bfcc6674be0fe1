"""One function a solver: ``solver(problem, tolerance) -> Answer``.

Every function gets the same problem object and returns the contact forces f (m,) [N], the time
from the finished matrices to the answer (a solver's own setup and scaling counted, the rewriting
of arrays to its input format not) and its iterations. Forces are judged outside, by one measure
for all. Quadratic programs are given in units of the largest load or closing speed, as the solvers'
absolute tolerances expect.
"""

import numpy as np
import scipy.sparse as sp

import rigidlimit as rl

from .measure import Answer, Clock

# ---------------------------------------------------------------- quadratic programs
# min 1/2 x^T P x + q^T x  subject to  A x = b,  C x >= l;  return (x, z, iterations), z >= 0 the
# multipliers of C x >= l


def _clarabel(P, q, A, b, C, l, tolerance, clock):
    import clarabel

    G = sp.csc_matrix(-C if A is None else sp.vstack([A, -C]))
    h = -l if A is None else np.concatenate([b, -l])
    cones = [clarabel.NonnegativeConeT(len(l))]
    if A is not None:
        cones.insert(0, clarabel.ZeroConeT(len(b)))
    P = sp.csc_matrix(sp.triu(P))
    with clock:
        solution = clarabel.DefaultSolver(P, q, G, h, cones, _settings(tolerance)).solve()
    z = np.array(solution.z)
    return np.array(solution.x), z[len(z) - len(l) :], solution.iterations


def _settings(tolerance):
    import clarabel

    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.tol_feas = settings.tol_gap_abs = settings.tol_gap_rel = tolerance
    settings.max_iter = 500
    return settings


def _piqp(P, q, A, b, C, l, tolerance, clock):
    import piqp

    solver = piqp.SparseSolver()
    s = solver.settings
    s.eps_abs = s.eps_duality_gap_abs = tolerance
    s.eps_rel = s.eps_duality_gap_rel = tolerance
    s.max_iter = 500
    P, C = sp.csc_matrix(P), sp.csc_matrix(C)
    A = None if A is None else sp.csc_matrix(A)
    with clock:
        if _bounds(C):
            solver.setup(P, q, A, b, None, None, None, l, None)
        else:
            solver.setup(P, q, A, b, C, l, None, None, None)
        solver.solve()
    result = solver.result
    return result.x, result.z_bl if _bounds(C) else result.z_l, result.info.iter


def _bounds(C):
    """Whether C is the identity, so that a solver may take its rows as bounds."""
    n = C.shape[1]
    return C.shape[0] == n == C.nnz and (C.diagonal() == 1.0).all()


def _osqp(P, q, A, b, C, l, tolerance, clock):
    import osqp

    K = sp.csc_matrix(C if A is None else sp.vstack([A, C]))
    low = l if A is None else np.concatenate([b, l])
    high = np.full(len(l), np.inf)
    high = high if A is None else np.concatenate([b, high])
    P = sp.csc_matrix(sp.triu(P))
    solver = osqp.OSQP()
    with clock:
        solver.setup(
            P, q, K, low, high,
            eps_abs=tolerance, eps_rel=0.0, max_iter=2_000_000, polishing=True, verbose=False,
        )  # fmt: skip
        result = solver.solve(raise_error=False)
    y = result.y[len(low) - len(l) :]
    return result.x, np.maximum(-y, 0.0), result.info.iter


def _proxqp(P, q, A, b, C, l, tolerance, clock):
    import proxsuite

    n, m = len(q), len(l)
    qp = proxsuite.proxqp.sparse.QP(n, 0 if A is None else len(b), m)
    qp.settings.eps_abs, qp.settings.eps_rel = tolerance, 0.0
    qp.settings.max_iter = 100_000
    P, C = sp.csc_matrix(P), sp.csc_matrix(C)
    A = sp.csc_matrix((0, n)) if A is None else sp.csc_matrix(A)
    b = np.zeros(0) if b is None else b
    with clock:
        qp.init(P, q, A, b, C, l, np.full(m, 1e20))
        qp.solve()
    return qp.results.x, np.maximum(-qp.results.z, 0.0), qp.results.info.iter


QP = {"Clarabel": _clarabel, "PIQP": _piqp, "OSQP": _osqp, "ProxQP": _proxqp}


# ---------------------------------------------------------------- eq. 36


def _compatibility_qp(name):
    def solver(problem, tolerance) -> Answer:
        """Hooke: min 1/2 sum f^2/k subject to B^T f = F, f >= 0, in units of the largest load."""
        m = len(problem.stiffness)
        clock = Clock()
        x, _, iterations = QP[name](
            sp.diags_array(1 / problem.stiffness),
            np.zeros(m),
            sp.csc_matrix(problem.B.T),
            problem.load / problem.size,
            sp.csc_matrix(sp.eye_array(m)),
            np.zeros(m),
            tolerance,
            clock,
        )
        return Answer(x * problem.size, clock, int(iterations))

    return solver


def clarabel_power(problem, tolerance) -> Answer:
    """Any p: min sum (p-1)/p k^(1/(1-p)) t with (t, 1, f) in the power cone of (p-1)/p."""
    import clarabel

    clock = Clock()
    m, n = problem.B.shape
    p = problem.exponent
    # rows of each contact: s = (t, 1, f)
    row = 3 * np.arange(m)
    entries = np.full(2 * m, -1.0)
    place = (np.concatenate([row, row + 2]), np.concatenate([m + np.arange(m), np.arange(m)]))
    cone = sp.csc_matrix((entries, place), shape=(3 * m, 2 * m))
    right = np.zeros(3 * m)
    right[1::3] = 1.0
    balance = sp.hstack([problem.B.T, sp.csc_matrix((n, m))])
    sign = sp.hstack([-sp.eye_array(m), sp.csc_matrix((m, m))])
    A = sp.csc_matrix(sp.vstack([balance, sign, cone]))
    b = np.concatenate([problem.load / problem.size, np.zeros(m), right])
    cost = (p - 1) / p * problem.stiffness ** (1 / (1 - p))
    cones = [clarabel.ZeroConeT(n), clarabel.NonnegativeConeT(m)]
    cones += [clarabel.PowerConeT((p - 1) / p)] * m
    q = np.concatenate([np.zeros(m), cost])
    P = sp.csc_matrix((2 * m, 2 * m))
    with clock:
        solution = clarabel.DefaultSolver(P, q, A, b, cones, _settings(tolerance)).solve()
    return Answer(np.array(solution.x)[:m] * problem.size, clock, solution.iterations)


def _library(method):
    def solver(problem, tolerance) -> Answer:
        """The library's public function."""
        clock = Clock()
        options = {} if method == "newton" else {"max_iterations": 10_000_000}
        with clock:
            answer = rl.compatible_forces(
                problem.B,
                problem.load,
                stiffness=problem.stiffness,
                exponent=problem.exponent,
                method=method,
                tolerance=tolerance,
                blocks=problem.blocks,
                **options,
            )
        extra = {
            "linear": answer.linear_iterations,
            "factorizations": answer.factorizations,
            "residual": answer.residual,
            "status": str(answer.status),
        }
        return Answer(answer.force, clock, answer.iterations, extra)

    return solver


OURS = "rigidlimit"
PAPER = "augmented Lagrangian"


def compatibility_solvers(exponent=2.0) -> dict:
    """{name: solver} that can solve eq. 36 with this exponent."""
    solvers = {OURS: _library("newton"), PAPER: _library("augmented_lagrangian")}
    if exponent == 2.0:
        return solvers | {name: _compatibility_qp(name) for name in QP}
    return solvers | {"Clarabel": clarabel_power}


# ---------------------------------------------------------------- eqs 20-22


def _dynamics_qp(name):
    def solver(problem, tolerance) -> Answer:
        """min 1/2 |v - v_free|_M^2 subject to bias + B v >= 0; x = (v - v_free)/speed."""
        clock = Clock()
        speed = float(np.maximum(-problem.judge.p, 0.0).max())
        _, z, iterations = QP[name](
            sp.diags_array(problem.mass),
            np.zeros(len(problem.mass)),
            None,
            None,
            sp.csc_matrix(problem.B),
            -problem.judge.p / speed,
            tolerance,
            clock,
        )
        return Answer(np.asarray(z) * speed / problem.dt, clock, int(iterations))

    return solver


def _dynamics_library(solver_name, **options):
    def solver(problem, tolerance) -> Answer:
        clock = Clock()
        with clock:
            answer = rl.contact_dynamics(
                problem.mass,
                problem.B,
                problem.bias * problem.dt,
                problem.velocity,
                problem.external_force,
                problem.dt,
                solver=solver_name,
                tolerance=tolerance,
                **options,
            )
        extra = {
            "linear": answer.linear_iterations,
            "factorizations": answer.factorizations,
            "status": str(answer.status),
        }
        return Answer(answer.force, clock, answer.iterations, extra)

    return solver


def dynamics_solvers() -> dict:
    """{name: solver} of the contact dynamics problem."""
    many = 10_000_000
    return {
        OURS: _dynamics_library("newton"),
        **{name: _dynamics_qp(name) for name in QP},
        "PGS": _dynamics_library("pgs", subspace=False, max_iterations=many),
        "PGS with subspace steps": _dynamics_library("pgs", max_iterations=many),
        "APGD": _dynamics_library("apgd", max_iterations=many),
    }


def installed(name: str) -> bool:
    """Whether the package behind a solver is there."""
    from importlib.util import find_spec

    package = {"Clarabel": "clarabel", "PIQP": "piqp", "OSQP": "osqp", "ProxQP": "proxsuite"}
    return name not in package or find_spec(package[name]) is not None
