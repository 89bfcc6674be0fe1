"""Step 1 of the method, classic contact dynamics: one driver for all solvers of eqs 21-22."""

import inspect

import numpy as np
import scipy.sparse as sp
from numba import njit
from scipy.sparse.csgraph import connected_components

from .. import arrays
from ..errors import InputError, nearest
from ..status import Status
from ..submatrix import submatrix
from . import apgd, newton, pgs
from .problem import ROUNDING, ContactDynamicsResult, ContactProblem

SOLVERS = {"newton": newton.solve, "pgs": pgs.solve, "apgd": apgd.solve}


def contact_dynamics(
    M,
    B,
    gap,
    velocity,
    external_force,
    dt,
    *,
    restitution=0.0,
    exists=None,
    fixed=None,
    solver: str = "newton",
    tolerance: float = 1e-10,
    max_iterations: int | None = None,
    warm_start=None,
    **options,
) -> ContactDynamicsResult:
    """End-of-step velocity and (not unique) contact forces of rigid bodies, eqs 13-22.

    M (n, n): mass matrix, sparse, dense, or its diagonal (n,). B (m, n): gap gradient, sparse or
    dense; B v > 0 opens. gap (m,) [m]: Phi at the start. velocity (n,) [m/s, rad/s].
    external_force (n,) [N, N m]. dt [s].
    restitution: Newton's e_n, a number or (m,), in [0, 1]; where it is positive and the contact
    exists, e_n B v replaces Phi/dt. exists (m,) bool: which contacts have formed; gap <= 0 by
    default. fixed (n,) bool: the held degrees of freedom Gamma_D.
    solver: "newton", "pgs" (order="natural", "reverse", "symmetric", "random" or indices) or
    "apgd"; further keywords go to it. warm_start (m,) [N]: forces to start from, left out if
    they are further from the answer than no forces.

    Returns ContactDynamicsResult with velocity (n,), force (m,), status, residual; contacts between
    held bodies alone, which no force can part, get none. Raises
    InputError for wrong shapes, values that are not finite, or a mass matrix that is not
    positive on the free degrees of freedom.
    """
    check_solver(solver, options, others=KEYWORDS)
    B = arrays.sparse("B", B)
    m, n = B.shape
    M = sp.diags_array(np.asarray(M, float)).tocsr() if np.ndim(M) == 1 else M
    M = arrays.sparse("M", M, columns=n, square=True)
    apart = _asymmetry(M.indptr, M.indices, M.data)
    if apart > 1e-8 * np.abs(M.data).max(initial=0.0):
        raise InputError(f"M differs from its transpose by {apart:.3g}; expected symmetry")
    gap = arrays.vector("gap", gap, m, what="contact (row of B)")
    velocity = arrays.vector("velocity", velocity, n, what="degree of freedom (column of B)")
    external_force = arrays.vector("external_force", external_force, n, what="degree of freedom")
    dt = arrays.positive("dt", dt)
    tolerance = arrays.positive("tolerance", tolerance)
    if warm_start is not None:
        warm_start = arrays.vector("warm_start", warm_start, m, what="contact (row of B)")
    bias = _bias(B, gap, velocity, dt, restitution, exists)
    if max_iterations is not None:
        options["max_iterations"] = max_iterations

    free = arrays.free_columns(fixed, n)
    bias = bias + B @ np.where(free, 0.0, velocity)  # held bodies may be driven
    full = velocity.copy()
    dofs = np.flatnonzero(free)
    mass = submatrix(M, rows=dofs, columns=dofs)
    group = _coupled(mass)
    inverse = inverse_mass(mass, dofs, group)
    full[dofs] = velocity[dofs] + dt * (inverse @ external_force[dofs])
    kept = _within_reach(B, group, dofs)
    mass, inverse = (submatrix(matrix, rows=kept, columns=kept) for matrix in (mass, inverse))
    dofs = dofs[kept]
    B = submatrix(B, columns=dofs)
    # a push between held bodies alone changes no velocity: eq. 21 does not tell it
    entries = np.concatenate([[0], np.cumsum(B.data != 0)])
    told = np.flatnonzero(np.diff(entries[B.indptr]))
    if len(told) < m:
        slack = bias + B @ full[dofs]
        B, bias = submatrix(B, rows=told), bias[told]
        warm_start = None if warm_start is None else warm_start[told]
        if "order" in options and not isinstance(options["order"], str):
            order = np.asarray(options["order"], int)
            place = np.full(m, -1)
            place[told] = np.arange(len(told))
            options["order"] = place[order[np.isin(order, told)]]
    problem = ContactProblem(B, mass, inverse, bias, full[dofs], dt)
    if solver in ("newton", "apgd"):
        options.setdefault("blocks", _preconditioner_blocks(dofs))
    if len(told) == 0 or problem.scale == 0.0:
        answer = _no_force_needed(problem, solver, tolerance)
    else:
        if warm_start is not None:
            warm_start = _scaled_to_fit(problem, problem.project(warm_start))
        answer = SOLVERS[solver](problem, tolerance=tolerance, warm_start=warm_start, **options)
    full[dofs] = answer.velocity
    found = {**vars(answer), "velocity": full}
    if len(told) < m:
        found["force"] = np.zeros(m)
        found["force"][told] = answer.force
        slack[told] = answer.slack
        found["slack"] = slack
    return ContactDynamicsResult(**found)


def _scaled_to_fit(problem, force):
    """a f with a >= 0 of least 1/2 f^T N f + p^T f, or None if no a is better than no force."""
    gain = -float(problem.p @ force)
    curvature = float(force @ (problem.slack(force) - problem.p))
    # forces that hold one another, of bodies that are jammed, move nothing at any size
    jammed = curvature <= ROUNDING * float(force @ (problem.diagonal * force))
    return None if jammed or not gain > 0.0 else gain / curvature * force


KEYWORDS = tuple(
    name
    for name, parameter in inspect.signature(contact_dynamics).parameters.items()
    if parameter.kind is inspect.Parameter.KEYWORD_ONLY
)
"""Options of ``contact_dynamics`` itself."""


def check_solver(solver: str, options=(), *, others=()) -> None:
    """Raises InputError for an unknown solver, or for one of ``options`` that it does not have.

    others: keywords that may have been meant instead.
    """
    if solver not in SOLVERS:
        raise InputError(
            f"solver is {solver!r}; {nearest(solver, SOLVERS)} (solvers: {', '.join(SOLVERS)})"
        )
    taken = {"problem", "tolerance", "warm_start"}
    known = set(inspect.signature(SOLVERS[solver]).parameters) - taken
    for name in options:
        if name not in known:
            meant = nearest(name, sorted(known.union(others)))
            raise InputError(f"solver {solver!r} has no option {name!r}; {meant}")


def _bias(B, gap, velocity, dt, restitution, exists):
    """Phi/dt (eq. 16), or e_n B v at existing contacts that rebound (section 4.3)."""
    m = len(gap)
    e = arrays.vector("restitution", restitution, m, what="contact (row of B)")
    if ((e < 0) | (e > 1)).any():
        worst = int(np.flatnonzero((e < 0) | (e > 1))[0])
        raise InputError(f"restitution at contact {worst} is {e[worst]}; expected 0 <= e_n <= 1")
    bias = gap / dt
    if e.any():
        formed = gap <= 0 if exists is None else np.asarray(exists, bool)
        if formed.shape != (m,):
            raise InputError(f"exists has shape {formed.shape}; expected ({m},), one per contact")
        bias = np.where(formed & (e > 0), e * (B @ velocity), bias)
    return bias


@njit(cache=True)
def _asymmetry(indptr, indices, data):
    """max |M_ij - M_ji| over the entries of a matrix with sorted columns."""
    worst = 0.0
    for i in range(len(indptr) - 1):
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if j == i:
                continue
            low, high = indptr[j], indptr[j + 1]
            while low < high:
                middle = (low + high) // 2
                if indices[middle] < i:
                    low = middle + 1
                else:
                    high = middle
            there = low < indptr[j + 1] and indices[low] == i
            worst = max(worst, abs(data[e] - (data[low] if there else 0.0)))
    return worst


def _within_reach(B, group, dofs):
    """Which of the free degrees of freedom contact forces can move, ascending.

    What no contact touches and no inertia couples to what one touches (the spin of smooth balls)
    keeps its free velocity.
    """
    touched = np.zeros(B.shape[1], bool)
    touched[B.indices[B.data != 0]] = True
    reached = np.zeros(len(dofs), bool)
    reached[group[touched[dofs]]] = True
    return np.flatnonzero(reached[group])


def _coupled(M) -> np.ndarray:
    """A number for each degree of freedom, the same for those that M couples, (n,)."""
    n = M.shape[0]
    alone = np.arange(n)
    if M.nnz == n and (M.indices == alone).all():
        return alone
    return connected_components(M, directed=False)[1]


def inverse_mass(M: sp.csr_array, dofs: np.ndarray, group: np.ndarray | None = None):
    """M^-1, block by block of coupled degrees of freedom.

    Bodies give blocks of at most six; an articulated mechanism gives one block per tree.
    dofs (n,): names of the rows in errors. group (n,): ``_coupled(M)``, if known.
    """
    n = M.shape[0]
    group = _coupled(M) if group is None else group
    order = np.argsort(group, kind="stable")
    first = np.flatnonzero(np.diff(group[order], prepend=-1))
    sizes = np.diff(first, append=n)
    width = np.empty(n, np.int64)
    width[order] = np.repeat(sizes, sizes)
    starts = np.concatenate([[0], np.cumsum(width)])
    columns, data = np.empty(starts[-1], np.int64), np.empty(starts[-1])
    for size in np.unique(sizes):
        members = order[first[sizes == size][:, None] + np.arange(size)]
        entries = starts[members][:, :, None] + np.arange(size)
        columns[entries] = members[:, None, :]
        data[entries] = _inverse_blocks(_dense_blocks(M, members), dofs[members])
    index = M.indices.dtype if len(columns) < np.iinfo(M.indices.dtype).max else np.int64
    matrix = sp.csr_array((data, columns.astype(index), starts.astype(index)), shape=(n, n))
    if (data == 0.0).any():
        matrix.eliminate_zeros()
    return matrix


def _inverse_blocks(blocks, dofs):
    """Inverses of symmetric blocks (b, s, s); InputError if one is not positive definite."""
    if blocks.shape[1] == 1 and (blocks > 0).all():
        return 1 / blocks
    try:
        np.linalg.cholesky(blocks)
    except np.linalg.LinAlgError:
        value = np.linalg.eigvalsh(blocks)[:, 0]
        worst = int(np.argmin(value))
        raise InputError(
            f"M is not positive definite at degrees of freedom "
            f"{dofs[worst].tolist()} (smallest eigenvalue {value[worst]:.3g}); "
            "expected a positive mass, or mark them as fixed"
        ) from None
    return np.linalg.inv(blocks)


def _dense_blocks(M, members):
    """M restricted to each row of ``members`` (b, size), as (b, size, size)."""
    b, size = members.shape
    if size == 1:
        return M.diagonal()[members[:, 0]].reshape(-1, 1, 1)
    place = np.zeros(M.shape[0], int)
    place[members] = np.arange(size)
    block = np.full(M.shape[0], -1)
    block[members] = np.arange(b)[:, None]
    coo = M.tocoo()
    mine = block[coo.row] >= 0
    blocks = np.zeros((b, size, size))
    np.add.at(
        blocks, (block[coo.row[mine]], place[coo.row[mine]], place[coo.col[mine]]), coo.data[mine]
    )
    return blocks


def _preconditioner_blocks(dofs):
    """Starts of runs of free dofs that lie in one group of six (one body in space)."""
    if not len(dofs):
        return np.array([0])
    body = dofs // 6
    return np.flatnonzero(np.r_[True, body[1:] != body[:-1], True])


def _no_force_needed(problem, solver, tolerance):
    """Nothing closes: f = 0 is the answer."""
    force = np.zeros(problem.B.shape[0])
    return ContactDynamicsResult(
        force=force,
        velocity=problem.free_velocity.copy(),
        slack=problem.p.copy(),
        status=Status.CONVERGED,
        residual=0.0,
        iterations=0,
        solver=solver,
        tolerance=tolerance,
        history=np.zeros(1),
    )
