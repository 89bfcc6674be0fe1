"""Pinocchio's own problem, G x + g: how far impulses are from solving it, and its solution."""

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..._support import arrays
from ..._support.matrices import Matrix
from ...dynamics import contact_dynamics
from ...errors import InputError
from .tolerances import TOLERANCES

if TYPE_CHECKING:
    from pinocchio import Data, Model


def check_size(pinocchio: ModuleType, model: "Model", force: np.ndarray) -> None:
    """Raises InputError for forces beside which the weight of all bodies is rounding."""
    mass = pinocchio.computeTotalMass(model)
    weight = mass * (float(np.linalg.norm(model.gravity.linear)) or 9.81)
    largest = float(np.abs(force).max(initial=0.0))
    if largest > TOLERANCES.diverged * weight:
        raise InputError(
            f"from_pinocchio: impulses are forces of {largest:.3g} N, {largest / weight:.1g} times "
            "the weight of the model: the solver diverged, or dt is wrong; expected impulses of a "
            "solver that converged (ADMM, or PGS with over_relax below 1)"
        )


def engine_residual(
    data: "Data", J: np.ndarray, g: ArrayLike | None, impulses: np.ndarray, normal: np.ndarray
) -> float:
    """How far the normal impulses are from 0 <= x_n _|_ (G x + g)_n >= 0, over the largest; nan
    where g or data.M is not there."""
    M = _inertia(data)
    if g is None or not M.any() or not len(normal):
        return np.nan
    g = arrays.vector("g", g, J.shape[0], what="row of all constraints")
    back = np.linalg.solve(M, J.T)
    v = (J @ (back @ impulses) + g)[normal]
    inverse = np.einsum("ij,ji->i", J[normal], back[:, normal])
    mass = 1.0 / np.where(inverse > 0.0, inverse, 1.0)
    x = impulses[normal]
    missing = np.abs(x - np.maximum(0.0, x - mass * v))
    largest = max(float(np.abs(x).max()), float((mass * np.abs(g[normal])).max()))
    return float(missing.max()) / (largest or 1.0)


def solved_load(
    data: "Data",
    B: Matrix,
    g: ArrayLike | None,
    kept: np.ndarray,
    dt: float,
    *,
    normal: np.ndarray,
    rows: int,
) -> np.ndarray:
    """F~ = B^T f (nv,) [N, N m] of the solver's own problem, solved to the end for the ``normal``
    ones of all ``rows``; kept (nv,): load of the others."""
    if g is None:
        raise InputError("load is 'step' and g is not given; expected the solver's g, every row")
    g = arrays.vector("g", g, rows, what="row of all constraints")
    M = _inertia(data)
    if not M.any():
        raise InputError("data.M is zero; call pinocchio.crba(model, data, q) first")
    n = len(M)
    # g holds the free velocity already
    step = contact_dynamics(M, B, dt * g[normal], np.zeros(n), kept, dt, tolerance=1e-11)
    return M @ step.velocity / dt - kept


def _inertia(data):
    """M (nv, nv), of which Pinocchio keeps the upper half; zero where it was not computed."""
    return np.triu(data.M) + np.triu(data.M, 1).T
