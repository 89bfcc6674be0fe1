"""How compatible forces change with stiffness ratios, gap errors and load: exact derivatives.

At the solution f_i = k_i c_i^(p-1), c = -B u - g, B^T f = F~, let D = df/dc = (p-1) f/c on the
active contacts. Differentiating (implicit differentiation of eqs 31 and 37),

    df = f dln k - D (B du + dg),      K du = B^T (f dln k - D dg) - dF~,      K = B^T D B,

one system of the network's stiffness a direction, or a force: K is symmetric, so with
K y = B^T D w and r = w - B y the derivative of w . f is f r by ln k, -D r by g, y by F~.

Contacts that touch without force (f = 0, c = 0) make f only directionally differentiable. For
p = 2 such a contact joins in or stays out according to the direction: ``forward`` finds which, by
semismooth Newton steps on the set that joins; ``reverse`` and ``matrix`` hold them open, which is
one of the derivatives that there are. For p > 2 they add nothing (D = 0). For p < 2 (D infinite)
they are held open in all cases. ``weak`` lists them; contacts of bodies that nothing loads, at
which f stays zero, may be among them.
"""

from dataclasses import dataclass, field
from typing import TypedDict, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike

from .._support import arrays
from .._support.arrays import MatrixLike
from .._support.display import Brief
from ..compatibility import compatible_forces
from ..compatibility.checked import checked_law
from ..errors import InputError
from ..linear import LinearStats, MovedColumns, Network
from .cones.problem import refuse_friction, rough_contacts
from .cones.sensitivity import RoughSensitivity, rough_sensitivity


@dataclass(frozen=True)
class Settings:
    """Of derivatives.

    weak: part of the largest overlap or force below which a contact touches without force.
    matrix_limit: largest number of contacts for which full matrices are returned.
    """

    weak: float = 1e-8
    matrix_limit: int = 3000


SETTINGS = Settings()


@dataclass(frozen=True, repr=False)
class Sensitivity(Brief):
    """Derivatives of the compatible forces at one solution. m contacts, n degrees of freedom.

    Attributes
    ----------
    force : (m,) ndarray [N]
        The solution; so are the next two.
    displacement : (n,) ndarray
    overlap : (m,) ndarray [m]
    active : (m,) bool ndarray
        Contacts with a force.
    weak : (m,) bool ndarray
        Touching without force.
    tangent : (m,) ndarray [N/m]
        D = df/dc.
    stiffness : (m,) ndarray
        As given.
    exponent : float
        p.

    Examples
    --------
    >>> import numpy as np, rigidlimit as rl
    >>> beam = np.array([[1.0, -0.5], [1.0, 0.0], [1.0, 0.5]])  # columns: rise, turn
    >>> change = rl.sensitivity(beam, [10.0, 0.0])
    >>> by_stiffness, by_gap, by_load = change.reverse([0.0, 1.0, 0.0])  # of the middle force
    >>> by_stiffness.round(4), by_load.round(4)
    (array([-1.1111,  2.2222, -1.1111]), array([0.3333, 0.    ]))
    """

    force: np.ndarray
    displacement: np.ndarray
    overlap: np.ndarray
    active: np.ndarray
    weak: np.ndarray
    tangent: np.ndarray
    stiffness: np.ndarray
    exponent: float
    _system: "_Linear" = field(repr=False)

    @property
    def smooth(self) -> bool:
        """Whether forces are differentiable here; else only along each direction (``weak``)."""
        return self.exponent > 2.0 or not self.weak.any()

    @property
    def mean_overlap(self) -> float:
        """Mean elastic overlap of active contacts [m]: the measure for gap errors."""
        return float(self.overlap[self.active].mean()) if self.active.any() else 0.0

    def forward(
        self,
        *,
        log_stiffness: ArrayLike | None = None,
        gap: ArrayLike | None = None,
        load: ArrayLike | None = None,
    ) -> np.ndarray:
        """Derivative of the forces along a direction, (m,) [N].

        Parameters
        ----------
        log_stiffness : float or (m,)
            Change of ln k; a number changes all contacts alike.
        gap : float or (m,) [m]
            Of the gaps.
        load : (n,) [N, N m], optional
            Of F~.
        """
        m, n = self._system.shape
        zero = np.zeros(m)
        k = zero if log_stiffness is None else _vector("log_stiffness", log_stiffness, m)
        g = zero if gap is None else _vector("gap", gap, m)
        F = None if load is None else arrays.vector("load", load, n, what="degree of freedom")
        joins = np.zeros(m, bool)
        for _ in range(50):
            D = np.where(joins, self.stiffness, self.tangent)
            push = self.force * k - D * g
            du = self._system.displacement(D, push, F)
            closing = -(self._system.B @ du) - g
            if self.exponent != 2.0:
                break
            before, joins = joins, self.weak & (closing > 1e-12 * np.abs(closing).max(initial=0.0))
            if (joins == before).all():
                break
        return self.force * k + D * closing

    def reverse(self, weight: ArrayLike):
        """Gradients of weight . f: by ln k (m,), by gaps (m,), by F~ (n,).

        Parameters
        ----------
        weight : (m,)
        """
        w = _vector("weight", weight, self._system.shape[0])
        y = self._system.displacement(self.tangent, self.tangent * w, None)
        r = w - self._system.B @ y
        return self.force * r, -self.tangent * r, y

    def matrix(self, by: str) -> np.ndarray:
        """All derivatives of all forces, (m, m) or (m, n).

        Parameters
        ----------
        by : {"log_stiffness", "gap", "load"}
            What changes.
        """
        names = ("log_stiffness", "gap", "load")
        if by not in names:
            raise InputError(f"by is {by!r}; expected one of {', '.join(names)}")
        m = self._system.shape[0]
        if m > SETTINGS.matrix_limit:
            raise InputError(
                f"a full matrix of {m} contacts is requested; expected at most "
                f"{SETTINGS.matrix_limit}: use forward and reverse for single directions and forces"
            )
        unit = np.eye(m)
        rows = [self.reverse(unit[i])[names.index(by)] for i in range(m)]
        return np.array(rows).reshape(m, -1)


class _Optional(TypedDict, total=False):
    """Keywords of ``sensitivity`` with or without friction, for type checkers."""

    stiffness: ArrayLike
    exponent: float
    fixed: ArrayLike | None
    gap_error: ArrayLike | None
    blocks: ArrayLike | None
    tolerance: float
    friction: ArrayLike
    tangential_stiffness: ArrayLike


@overload
def sensitivity(
    B: MatrixLike, load: ArrayLike, *, tangential: None = None, **options: Unpack[_Optional]
) -> Sensitivity: ...


@overload
def sensitivity(
    B: MatrixLike, load: ArrayLike, *, tangential: MatrixLike, **options: Unpack[_Optional]
) -> RoughSensitivity: ...


def sensitivity(
    B: MatrixLike,
    load: ArrayLike,
    *,
    stiffness: ArrayLike = 1.0,
    exponent: float = 2.0,
    fixed: ArrayLike | None = None,
    gap_error: ArrayLike | None = None,
    blocks: ArrayLike | None = None,
    tolerance: float = 1e-12,
    tangential: MatrixLike | None = None,
    friction: ArrayLike = 0.0,
    tangential_stiffness: ArrayLike = 1.0,
) -> Sensitivity | RoughSensitivity:
    """Derivatives of compatible forces to stiffness ratios, gap errors and load.

    Parameters
    ----------
    B, load, stiffness, exponent, fixed, gap_error, blocks, tangential, friction,
    tangential_stiffness
        As for ``compatible_forces``, at which the derivatives are taken; with tangential in the
        unloaded state.
    tolerance : float
        Of the forces.

    Returns
    -------
    Sensitivity
        With tangential ``RoughSensitivity``, to friction, both stiffnesses and load.

    Raises
    ------
    InputError
        If the load is not carried.

    Examples
    --------
    >>> import numpy as np, rigidlimit
    >>> beam = np.array([[1.0, -0.5], [1.0, 0.0], [1.0, 0.5]])  # columns: rise, turn
    >>> change = rigidlimit.sensitivity(beam, [10.0, 0.0])
    >>> change.forward(log_stiffness=[0, 1, 0]).round(6)  # middle support stiffer
    array([-1.111111,  2.222222, -1.111111])
    """
    if tangential is not None:
        if gap_error is not None:
            raise InputError("gap_error is given with tangential; expected one of the two")
        k_n, exponent = checked_law(stiffness, exponent, arrays.sparse("B", B).shape[0])
        rough = dict(tangential=tangential, friction=friction)
        problem = rough_contacts(B, load, fixed=fixed, **rough)
        rough |= dict(tangential_stiffness=tangential_stiffness, tolerance=tolerance)
        law = dict(stiffness=k_n, exponent=exponent, fixed=fixed)
        answer = compatible_forces(B, load, **law, **rough)
        return rough_sensitivity(problem, answer, k_n, tangential_stiffness, exponent)
    refuse_friction(friction)
    B = arrays.sparse("B", B)
    m, n = B.shape
    stiffness, exponent = checked_law(stiffness, exponent, m)
    answer = compatible_forces(
        B,
        load,
        stiffness=stiffness,
        exponent=exponent,
        fixed=fixed,
        gap_error=gap_error,
        tolerance=tolerance,
        blocks=blocks,
    )
    if not answer.converged and not answer.residual < 1e-8:
        raise InputError(f"there are no forces to differentiate: {answer.message}")
    gap = np.zeros(m) if gap_error is None else np.asarray(gap_error, float)
    overlap = -(B @ answer.displacement) - gap
    force = answer.force
    largest, deepest = force.max(initial=0.0), overlap.max(initial=0.0)
    active = (force > SETTINGS.weak * largest) & (overlap > 0)
    weak = ~active & (overlap >= -SETTINGS.weak * deepest)
    tangent = np.zeros(m)
    tangent[active] = (exponent - 1.0) * force[active] / overlap[active]
    return Sensitivity(
        force=np.where(active, force, 0.0),
        displacement=answer.displacement,
        overlap=overlap,
        active=active,
        weak=weak & (largest > 0),
        tangent=tangent,
        stiffness=stiffness,
        exponent=exponent,
        _system=_Linear(B, arrays.free_columns(fixed, n), blocks),
    )


def _vector(name, value, m):
    return arrays.vector(name, value, m, what="contact (row of B)")


class _Linear:
    """K du = B^T push - dF on the free degrees of freedom, columns scaled by their arms."""

    def __init__(self, B, free, blocks):
        self.B, self.shape = B, B.shape
        self.moved = MovedColumns.of(B, free, blocks)
        self.network = Network(self.moved.B, blocks=self.moved.starts)

    def displacement(self, tangent: np.ndarray, push: np.ndarray, load: np.ndarray):
        """du (n,) for tangents D (m,), forces ``push`` (m,) and load dF (n,) or None."""
        network = self.network
        right = network.load_of(push)
        if load is not None:
            right = right - self.moved.over_arms(load)
        size, top = float(np.abs(right).max(initial=0.0)), float(tangent.max(initial=0.0))
        if size == 0.0 or top == 0.0:
            return np.zeros(self.shape[1])
        D = tangent / top
        system = network.system(D, 1e-12)
        x, left = np.zeros(len(right)), right
        for _ in range(4):  # the shift, and rounding, are taken out by refinement
            x = x + system.solve(left, target=1e-10 * size, stats=LinearStats())
            left = right - network.load_of(D * (network.B @ x))
            if np.abs(left).max() <= 1e-13 * size:
                break
        return self.moved.motion(x) / top
