"""Arguments of ``compatible_forces``, checked and made the record that step 2 is solved from."""

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from .._support import arrays
from .._support.arrays import MatrixLike
from .._support.matrices import Matrix, matrix
from .._support.words import counted
from ..bodies.materials import MINDLIN, TANGENTIAL_LAWS
from ..equilibrium.rows import checked_friction, contact_rows, sliding_directions
from ..errors import InputError
from ..linear import MovedColumns
from .problem import ForceProblem
from .rough_result import ContactHistory

LEAST_EXPONENT = 1.01


def force_problem(
    B: MatrixLike,
    load: ArrayLike,
    *,
    stiffness: ArrayLike = 1.0,
    exponent: float = 2.0,
    fixed: ArrayLike | None = None,
    gap_error: ArrayLike | None = None,
    tolerance: float = 1e-10,
    warm_start: ArrayLike | None = None,
    blocks: ArrayLike | None = None,
    tangential: MatrixLike | int | None = None,
    tangential_stiffness: ArrayLike = 1.0,
    friction: ArrayLike = 0.0,
    history: ContactHistory | None = None,
    sliding_direction: ArrayLike | None = None,
    tangential_law: str = MINDLIN,
) -> ForceProblem:
    """The record of these arguments. Raises InputError.

    B (m d, n) may have the tangential rows too, contact by contact, normal first; then tangential
    is d.
    """
    B = arrays.sparse("B", B) if tangential is None else matrix("B", B)
    load = arrays.vector("load", load, B.shape[1], what="degree of freedom (column of B)")
    rows, d = (B, 1) if tangential is None else _rough_rows(B, tangential)
    m, n = rows.shape[0] // d, rows.shape[1]
    stiffness, p = checked_law(stiffness, exponent, m)
    rough = {}
    if tangential is not None:
        rough = dict(
            tangential=_checked_stiffness(tangential_stiffness, m),
            friction=checked_friction(friction, m),
            slide=None,
            history=_checked_history(history, m, d) if m else None,
            tangential_law=tangential_law,
        )
        arrays.one_of("tangential_law", tangential_law, TANGENTIAL_LAWS)
        if sliding_direction is not None and m:
            rough["slide"] = sliding_directions(sliding_direction, m, d)
    free = arrays.free_columns(fixed, n)
    load = np.where(free, load, 0.0)
    if warm_start is not None:
        warm_start = arrays.vector("warm_start", warm_start, n, what="degree of freedom")
    gap = None
    if gap_error is not None:
        gap = arrays.vector("gap_error", gap_error, m, what="contact (row of B)")
        gap = gap if rough or gap.any() else None
    elif rough and rough["history"] is not None:
        gap = rough["history"].gap
    moved = MovedColumns.of(rows, free, blocks, d)
    size = float((np.abs(load) / moved.arm).max(initial=0.0))
    if gap is not None:
        pressing = float((stiffness * np.maximum(-gap, 0.0) ** (p - 1.0)).max(initial=0.0))
        # where overlaps press harder than the load, rounding is that of their forces
        size = max(size, pressing) if rough else size or pressing
    return ForceProblem(
        rows=rows,
        d=d,
        load=load,
        free=free,
        stiffness=stiffness,
        exponent=p,
        gap=gap,
        tolerance=arrays.positive("tolerance", tolerance),
        warm_start=warm_start,
        moved=moved,
        size=size,
        **rough,
    )


def checked_law(stiffness: ArrayLike, exponent: float, m: int) -> tuple[np.ndarray, float]:
    """(stiffness (m,), exponent) of the law f = k c^(p-1), k > 0, p > 1; raises InputError."""
    stiffness = arrays.vector("stiffness", stiffness, m, what="contact (row of B)")
    soft = np.flatnonzero(stiffness <= 0)
    if len(soft):
        raise InputError(
            f"stiffness of contact {soft[0]} is {stiffness[soft[0]]}; expected a positive number"
        )
    p = arrays.number(exponent)
    if not (np.isfinite(p) and p > 1):
        raise InputError(f"exponent is {exponent!r}; expected p > 1 (2 is Hooke, 2.5 is Hertz)")
    if p < LEAST_EXPONENT:
        raise InputError(
            f"exponent is {exponent!r}; expected at least {LEAST_EXPONENT}: nearer to 1 overlaps, "
            "which grow like f^(1/(p-1)), leave the range of numbers"
        )
    return stiffness, p


def _rough_rows(B: Matrix, tangential: MatrixLike | int) -> tuple[Matrix, int]:
    """(rows (m d, n) contact by contact, normal first; d)."""
    if isinstance(tangential, list | tuple) or sp.issparse(tangential) or np.ndim(tangential):
        return contact_rows(B, tangential)
    d = tangential
    if d not in (2, 3):
        raise InputError(
            f"tangential is {arrays.short(d)}; expected the tangential rows, or 2 (plane) or 3 "
            "(space) where B has them too"
        )
    if B.shape[0] % int(d):
        raise InputError(
            f"B has {counted(B.shape[0], 'row')}; expected {int(d)} a contact with tangential={d}, "
            "the normal first"
        )
    return B, int(d)


def _checked_stiffness(tangential_stiffness: ArrayLike, m: int) -> np.ndarray:
    """k_t (m,) > 0."""
    k_t = arrays.vector("tangential_stiffness", tangential_stiffness, m, what="contact (row of B)")
    if (k_t <= 0.0).any():
        i = int(np.argmin(k_t))
        raise InputError(
            f"tangential_stiffness of contact {i} is {k_t[i]}; expected a positive number "
            "(a smooth contact has friction 0)"
        )
    return k_t


def _checked_history(history, m: int, d: int) -> ContactHistory | None:
    if history is None:
        return None
    if not isinstance(history, ContactHistory):
        raise InputError(
            f"history is {arrays.short(history)}; expected the .history of an earlier answer"
        )
    normal, tangential = np.asarray(history.normal), np.asarray(history.tangential)
    if normal.shape != (m,) or tangential.shape != (m, d - 1):
        raise InputError(
            f"history is of {counted(len(normal), 'contact')} with tangential forces of shape "
            f"{tangential.shape}; expected ({m},) and ({m}, {d - 1}): carry it over contact by "
            "contact, zero for new ones"
        )
    gap = history.gap
    if gap is not None:
        gap = arrays.vector("history.gap", gap, m, what="contact (row of B)")
    return ContactHistory(normal.astype(float), tangential.astype(float), gap)
