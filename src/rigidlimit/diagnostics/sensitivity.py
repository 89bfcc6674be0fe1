"""How compatible forces change with stiffness ratios, gap errors and load: exact derivatives.

At the solution f_i = k_i c_i^(p-1), c = -B u - g, B^T f = F~, let D = df/dc = (p-1) f/c on the
contacts that bear. Differentiating (implicit differentiation of eqs 31 and 37),

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

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from .._support import arrays
from .._support.arrays import MatrixLike
from .._support.display import Brief
from ..errors import InputError
from ..forces import compatible_forces
from ..forces.problem import checked_law
from ..linear import LinearStats, Network, body_starts, column_arms, kept_starts
from .cones.problem import refuse_friction
from .cones.sensitivity import RoughSensitivity, rough_sensitivity

WEAK = 1e-8
"""Part of the largest overlap or force below which a contact touches without force."""

MATRIX_LIMIT = 3000
"""Contacts up to which full matrices are given."""

PROBES = 200
"""Random directions for the spread of forces where there are more contacts than MATRIX_LIMIT."""


@dataclass(frozen=True, repr=False)
class Sensitivity(Brief):
    """Derivatives of the compatible forces at one solution. m contacts, n degrees of freedom.

    force (m,) [N], displacement (n,), overlap (m,) [m]: the solution. active (m,) bool: bearing;
    weak (m,) bool: touching without force. tangent (m,): D [N/m].
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
        """Mean elastic overlap of bearing contacts [m]: the measure for gap errors."""
        return float(self.overlap[self.active].mean()) if self.active.any() else 0.0

    def forward(
        self,
        *,
        log_stiffness: ArrayLike | None = None,
        gap: ArrayLike | None = None,
        load: ArrayLike | None = None,
    ) -> np.ndarray:
        """Derivative of the forces along a direction, (m,) [N]: what changes is ln k by
        log_stiffness (m,), g by gap (m,) [m] and F~ by load (n,)."""
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
        """(by ln k (m,), by g (m,), by F~ (n,)): gradients of weight . f, weight (m,)."""
        w = _vector("weight", weight, self._system.shape[0])
        y = self._system.displacement(self.tangent, self.tangent * w, None)
        r = w - self._system.B @ y
        return self.force * r, -self.tangent * r, y

    def matrix(self, by: str) -> np.ndarray:
        """All derivatives of all forces, (m, m) or (m, n). by: "log_stiffness", "gap" or "load"."""
        names = ("log_stiffness", "gap", "load")
        if by not in names:
            raise InputError(f"by is {by!r}; expected one of {', '.join(names)}")
        m = self._system.shape[0]
        if m > MATRIX_LIMIT:
            raise InputError(
                f"a full matrix of {m} contacts is asked for; expected at most {MATRIX_LIMIT}: "
                "use forward and reverse for single directions and forces"
            )
        unit = np.eye(m)
        rows = [self.reverse(unit[i])[names.index(by)] for i in range(m)]
        return np.array(rows).reshape(m, -1)


@dataclass(frozen=True, repr=False)
class GapNoise(Brief):
    """Spread of the forces under independent gap errors.

    deviation (m,) [N]: standard deviation of each force; mean (m,) [N]. method: in words.
    samples: of random gaps, 0 if none were needed. failed: samples without an answer, left out.
    """

    deviation: np.ndarray
    mean: np.ndarray
    method: str
    samples: int = 0
    failed: int = 0


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

    Arguments as for ``compatible_forces``, at which the derivatives are taken; with tangential, in
    the unloaded state, a ``RoughSensitivity`` to friction, both stiffnesses and load. Raises
    InputError if the load is not carried.

    >>> import numpy as np, rigidlimit
    >>> beam = np.array([[1.0, -0.5], [1.0, 0.0], [1.0, 0.5]])  # columns: rise, turn
    >>> change = rigidlimit.sensitivity(beam, [10.0, 0.0])
    >>> change.forward(log_stiffness=[0, 1, 0]).round(6)  # middle support stiffer
    array([-1.111111,  2.222222, -1.111111])
    """
    if tangential is not None:
        if gap_error is not None:
            raise InputError("gap_error is given with tangential; expected one of the two")
        return rough_sensitivity(
            B,
            load,
            tangential=tangential,
            friction=friction,
            stiffness=stiffness,
            tangential_stiffness=tangential_stiffness,
            exponent=exponent,
            fixed=fixed,
            tolerance=tolerance,
        )
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
    active = (force > WEAK * largest) & (overlap > 0)
    weak = ~active & (overlap >= -WEAK * deepest)
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


def gap_noise_spread(
    B: MatrixLike,
    load: ArrayLike,
    size: ArrayLike,
    *,
    method: str = "linear",
    samples: int = PROBES,
    seed: int = 0,
    **options,
) -> GapNoise:
    """Standard deviation of each force for independent normal gap errors of deviation ``size``.

    size: [m], a number or (m,), in the unit of the displacement of ``compatible_forces`` (compare
    ``Sensitivity.mean_overlap``). method: "linear", right for errors well below the overlaps
    (exact from all derivatives up to MATRIX_LIMIT contacts, else from ``samples`` random
    directions), or "sampled": the forces themselves for ``samples`` random sets of gaps, contacts
    closing and opening as they do. options: as for ``sensitivity``.
    """
    if method not in ("linear", "sampled"):
        raise InputError(f"method is {method!r}; expected 'linear' or 'sampled'")
    if not (isinstance(samples, int | np.integer) and samples >= 2):
        raise InputError(f"samples is {samples!r}; expected a whole number of at least 2")
    B = arrays.sparse("B", B)
    m = B.shape[0]
    size = _vector("size", size, m)
    if (size < 0).any():
        raise InputError(f"size of contact {int(size.argmin())} is {size.min()}; expected >= 0")
    rng = np.random.default_rng(seed)
    if method == "sampled":
        return _sampled(B, load, size, samples, rng, options)
    at = sensitivity(B, load, **options)
    if m <= MATRIX_LIMIT:
        deviation = np.sqrt((at.matrix("gap") ** 2) @ size**2)
        return GapNoise(deviation, at.force, "linear, from all derivatives")
    total = np.zeros(m)
    for _ in range(samples):
        total += at.forward(gap=size * rng.choice([-1.0, 1.0], m)) ** 2
    how = f"linear, from {samples} random directions"
    return GapNoise(np.sqrt(total / samples), at.force, how, samples)


def _sampled(B, load, size, samples, rng, options):
    options = dict(options)
    m = B.shape[0]
    base = options.pop("gap_error", None)
    base = np.zeros(m) if base is None else _vector("gap_error", base, m)
    options.setdefault("tolerance", 1e-10)
    start, forces, failed = None, [], 0
    for _ in range(samples):
        gap = base + size * rng.normal(size=m)
        answer = compatible_forces(B, load, gap_error=gap, warm_start=start, **options)
        if answer.converged:
            forces.append(answer.force)
            start = answer.displacement
        else:
            failed += 1
    if len(forces) < 2:
        raise InputError(f"{failed} of {samples} samples have no forces: {answer.message}")
    forces = np.array(forces)
    how = f"sampled, {len(forces)} sets of gaps"
    return GapNoise(forces.std(axis=0, ddof=1), forces.mean(axis=0), how, samples, failed)


def _vector(name, value, m):
    return arrays.vector(name, value, m, what="contact (row of B)")


class _Linear:
    """K du = B^T push - dF on the free degrees of freedom, columns scaled by their arms."""

    def __init__(self, B, free, blocks):
        arm, felt = column_arms(B)
        self.B, self.shape = B, B.shape
        self.dofs = np.flatnonzero(free & felt)
        self.arm = arm[self.dofs]
        scaled = sp.csr_array(B[:, self.dofs] @ sp.diags_array(1 / self.arm))
        scaled.sort_indices()
        starts = kept_starts(body_starts(B.shape[1], blocks), self.dofs)
        self.network = Network(scaled, blocks=starts)

    def displacement(self, tangent: np.ndarray, push: np.ndarray, load: np.ndarray):
        """du (n,) for tangents D (m,), forces ``push`` (m,) and load dF (n,) or None."""
        network = self.network
        right = network.load_of(push)
        if load is not None:
            right = right - load[self.dofs] / self.arm
        out = np.zeros(self.shape[1])
        size, top = float(np.abs(right).max(initial=0.0)), float(tangent.max(initial=0.0))
        if size == 0.0 or top == 0.0:
            return out
        D = tangent / top
        system = network.system(D, 1e-12)
        x, left = np.zeros(len(right)), right
        for _ in range(4):  # the shift, and rounding, are taken out by refinement
            x = x + system.solve(left, target=1e-10 * size, stats=LinearStats())
            left = right - network.load_of(D * (network.B @ x))
            if np.abs(left).max() <= 1e-13 * size:
                break
        out[self.dofs] = x / self.arm / top
        return out
