"""Step 2 of the method, compatible forces: checks, scaling, solver, verdict (eqs 36-37)."""

from typing import Any, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike

from .._support import arrays
from .._support.arrays import MatrixLike
from ..bodies.materials import MINDLIN
from ..errors import InputError
from .checked import force_problem
from .result import CompatibleForces
from .rough import rough_forces
from .rough_result import ContactHistory, RoughForces
from .smooth import METHODS, smooth_forces


class _Optional(TypedDict, total=False):
    """Keywords of ``compatible_forces`` with any law, for type checkers."""

    stiffness: ArrayLike
    exponent: float
    fixed: ArrayLike | None
    gap_error: ArrayLike | None
    method: str
    tolerance: float
    max_iterations: int | None
    warm_start: Any
    admissible: ArrayLike | None
    blocks: ArrayLike | None
    unresolved: float
    tangential_stiffness: ArrayLike
    friction: ArrayLike
    history: Any
    sliding_direction: ArrayLike | None
    increments: int
    tangential_law: str


@overload
def compatible_forces(
    B: MatrixLike, load: ArrayLike, *, tangential: None = None, **options: Unpack[_Optional]
) -> CompatibleForces: ...


@overload
def compatible_forces(
    B: MatrixLike, load: ArrayLike, *, tangential: MatrixLike, **options: Unpack[_Optional]
) -> RoughForces: ...


def compatible_forces(
    B: MatrixLike,
    load: ArrayLike,
    *,
    stiffness: ArrayLike = 1.0,
    exponent: float = 2.0,
    fixed: ArrayLike | None = None,
    gap_error: ArrayLike | None = None,
    method: str = "newton",
    tolerance: float = 1e-10,
    max_iterations: int | None = None,
    warm_start: ArrayLike | None = None,
    admissible: ArrayLike | None = None,
    blocks: ArrayLike | None = None,
    unresolved: float = 0.0,
    tangential: MatrixLike | None = None,
    tangential_stiffness: ArrayLike = 1.0,
    friction: ArrayLike = 0.0,
    history: ContactHistory | None = None,
    sliding_direction: ArrayLike | None = None,
    increments: int = 1,
    tangential_law: str = MINDLIN,
) -> CompatibleForces:
    """The unique contact forces of stiff elastic bodies under a given load, eqs 36-37.

    Parameters
    ----------
    B : (m, n), sparse or dense
        Gap gradient; B v > 0 opens a contact.
    load : (n,) [N, N m]
        F~ = M (v+ - v)/dt - F_ext, what the contacts must deliver; at rest minus the external
        force.
    stiffness : float or (m,)
        Relative k; only ratios matter, but with ``gap_error``.
    exponent : float
        p > 1 of the law f = k c^(p-1): 2 Hooke, 5/2 Hertz.
    fixed : (n,) bool, optional
        Held degrees of freedom (Gamma_D), whose load is ignored.
    gap_error : (m,) [m], optional
        Initial gaps g where the rigid geometry has none, overlaps if negative: c = -B u - g. Forces
        change once g compares with the elastic overlaps. With a history it is that of the pose
        without displacements, and the history keeps the gaps it was made with; None: these go on.
    method : {"newton", "augmented_lagrangian"}
        Semismooth Newton on the dual, or the paper's method, without gap_error and friction.
    tolerance : float
        On ``residual``.
    max_iterations : int, optional
    warm_start : (n,), optional
        Displacement of an earlier answer.
    admissible : (m,) [N], optional
        Some forces f >= 0 that balance the load, as from contact dynamics; used as an initial guess
        where hardly more contacts are active than the load determines. Not with friction.
    blocks : (bodies + 1,) int, optional
        First degree of freedom of each body, ending with n; speeds up the linear solves, and
        identifies light bodies where there is friction.
    unresolved : float
        Singular value of B (columns scaled to size one) below which a motion counts as
        unresolved: the data do not determine forces along it. Where the solver meets such motions
        without a load, they are excluded from the balance, which then is that of ``.load``.
    tangential : ((d-1) m, n), optional
        Rows T of the tangential motion of rough contacts, contact by contact, one in the plane (d =
        2) or two in space (d = 3).
    tangential_stiffness : float or (m,)
        k_t in the unit of stiffness, f_t = k_t c^(p-2) w_t: p - 1 times the ratio of the slopes
        that ``Material`` takes.
    friction : float or (m,)
        mu >= 0.
    history : ContactHistory, optional
        ``.history`` of the answer that this is the next increment of; None: from the state without
        forces.
    sliding_direction : (m, d-1), optional
        Direction of the tangential force of contacts known to slide, zero elsewhere.
    increments : int
        Into how many the way from the history's load and gaps is divided; the error falls in
        proportion. From one without an equilibrium on the rest is one increment.
    tangential_law : {"mindlin", "mindlin/force"}
        As in LAMMPS; alike for exponent 2.

    Returns
    -------
    CompatibleForces
        With friction ``RoughForces``, with tangential_force (m, d-1), sliding (m,) bool, state,
        history and several. A load that no forces can balance gives the status LOAD_NOT_CARRIED,
        the forces of the nearest load that can, whether these were solved to the tolerance
        (``nearest_status``), and the imbalance; with friction the nearest load is found to some
        1e-5. Forces of least energy know neither history nor gaps.

    Raises
    ------
    InputError
        For wrong shapes or signs, and values that are not finite.

    Examples
    --------
    >>> import numpy as np, rigidlimit
    >>> beam = np.array([[1.0, -0.5], [1.0, 0.0], [1.0, 0.5]])  # columns: rise, turn
    >>> rigidlimit.compatible_forces(beam, [10.0, 0.0], stiffness=[1, 3, 1]).force.round(9)
    array([2., 6., 2.])
    """
    given: dict[str, Any] = dict(
        stiffness=stiffness,
        exponent=exponent,
        fixed=fixed,
        gap_error=gap_error,
        tolerance=tolerance,
        warm_start=warm_start,
        blocks=blocks,
    )
    if tangential is not None:
        _check_rough(method, admissible)
        problem = force_problem(
            B,
            load,
            **given,
            tangential=tangential,
            tangential_stiffness=tangential_stiffness,
            friction=friction,
            history=history,
            sliding_direction=sliding_direction,
            tangential_law=tangential_law,
        )
        return rough_forces(problem, arrays.whole("increments", increments))
    rough = dict(
        friction=np.any(friction),
        history=history is not None,
        tangential_stiffness=np.any(np.not_equal(tangential_stiffness, 1.0)),
        sliding_direction=sliding_direction is not None,
        increments=increments != 1,
        tangential_law=tangential_law != MINDLIN,
    )
    if any(rough.values()):
        name = next(name for name, given in rough.items() if given)
        raise InputError(f"{name} is given without tangential; expected the rows T")
    problem = force_problem(B, load, **given)
    arrays.one_of("method", method, METHODS)
    if max_iterations is not None:
        max_iterations = arrays.whole("max_iterations", max_iterations)
    if problem.gap is not None and method != "newton":
        raise InputError(
            f"method {method!r} takes no gap_error; expected method='newton' for initial gaps"
        )
    if admissible is not None:
        m = len(problem.stiffness)
        admissible = arrays.vector("admissible", admissible, m, what="contact (row of B)")
    return smooth_forces(
        problem,
        method=method,
        max_iterations=max_iterations,
        admissible=admissible,
        unresolved=arrays.at_least_zero("unresolved", unresolved),
    )


def _check_rough(method, admissible):
    """Raises InputError for options that rough contacts do not take."""
    arrays.one_of("method", method, METHODS)
    if admissible is not None:
        raise InputError("admissible is given with tangential; expected one of the two")
    if method != "newton":
        raise InputError(f"method is {method!r} with tangential; expected 'newton'")
