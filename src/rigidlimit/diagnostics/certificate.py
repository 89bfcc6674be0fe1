"""A verdict on any force vector: balanced, admissible, complementary, compatible?

For B (m, n), F~ (n,) and the law f = k c^(p-1), forces f (m,) are those of stiff elastic contacts
(eqs 36-37) if and only if B^T f = F~ and some displacement u gives f = k max(0, -B u - g)^(p-1), g
the gap errors, usually 0. The u taken is that of the compatible forces of the resultant B^T f of
the forces as given, so that an imbalance and an incompatibility are not mixed up; ``displacement=``
takes another.

For p < 2 forces cannot be read from u: the law is infinitely steep where a contact just closes, and
an overlap known to e = 1e-16 gives a force known to e^(p-1), 1e-5 at p = 1.3. There the energies
judge: the duality gap

    sum_i (p-1)/p k_i^(1/(1-p)) f_i^(p/(p-1)) + k_i/p c_i^p - f_i c_i >= 0,  c = max(0, -B u - g),

has no term below zero and vanishes for the forces of u alone, so it bounds the complementary energy
of f above the least (eq. 36), from any u. It is of second order in an error of the larger forces.
"""

from dataclasses import dataclass
from functools import partial
from typing import TypedDict, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike

from .._support import arrays
from .._support.arrays import MatrixLike
from .._support.display import Brief
from ..compatibility import ContactHistory, compatible_forces
from ..compatibility.checked import checked_law
from ..compatibility.energy import complementary_energy, strain_energy
from ..compatibility.result import pressing
from ..errors import InputError
from ..linear import column_arms
from .cones.certificate import RoughCertificate, rough_certificate
from .cones.problem import refuse_friction, rough_contacts

ENERGY_ROUNDING = 1e-12
"""Duality gap of exact forces, at most: rounding, and the residual of the u compared with."""


@dataclass(frozen=True, repr=False)
class Certificate(Brief):
    """Errors of a force vector, each relative; nan where not requested. m contacts, n columns of B.

    Attributes
    ----------
    balance : float
        max_j |B^T f - F~|_j / a_j over max_j |F~|_j / a_j, a_j the longest arm of column j, or
        with gap_error over max_j (|B|^T |f|)_j / a_j where that is more.
    worst_dof : int
        Column where.
    sign : float
        max(0, -f) over max |f|.
    worst_sign : int
        Contact where.
    complementarity : float
        max_i |min(f_i / max f, w_i / scale)| for the slack w.
    worst_slack : int
        Contact where.
    compatibility : float
        max_i |f_i - k_i max(0, -(B u)_i - g_i)^(p-1)| over max |f|.
    worst_contact : int
        Contact where.
    duality_gap : float
        (complementary energy of f + strain energy of u + resultant . u + g . f) over the first of
        the three, not negative for f >= 0.
    displacement : (n,) ndarray
        u.
    converged : bool
        Whether u was found to the tolerance.
    exponent : float
        p.
    data_error : float
        How far errors of the data move the forces, as given.
    tolerance : float
        On each of these.
    verdict : str
        One sentence.

    Examples
    --------
    >>> import numpy as np, rigidlimit as rl
    >>> beam = np.array([[1.0, -0.5], [1.0, 0.0], [1.0, 0.5]])  # columns: rise, turn
    >>> found = rl.certify(beam, [10.0, 0.0], [5.0, 0.0, 5.0])
    >>> found.admissible, found.compatible, round(found.compatibility, 4)
    (True, False, 0.6667)
    """

    balance: float
    worst_dof: int
    sign: float
    worst_sign: int
    complementarity: float
    worst_slack: int
    compatibility: float
    worst_contact: int
    duality_gap: float
    displacement: np.ndarray
    tolerance: float
    verdict: str
    exponent: float = 2.0
    converged: bool = True
    data_error: float = 0.0

    @property
    def admissible(self) -> bool:
        """Balanced, nowhere pulling, and zero where the contact is open (if slack was given)."""
        worst = max(self.balance, self.sign, np.nan_to_num(self.complementarity))
        return bool(worst <= self.tolerance)

    @property
    def compatible(self) -> bool:
        """Admissible, the forces of stiff elastic contacts, and no more open than the tolerance."""
        return (
            self.admissible
            and not self.data_error > self.tolerance
            and _is_compatible(self.compatibility, self.duality_gap, self.exponent, self.tolerance)
        )

    @property
    def message(self) -> str:
        parts = [f"balance {self.balance:.1e}", f"sign {self.sign:.1e}"]
        if not np.isnan(self.complementarity):
            parts.append(f"complementarity {self.complementarity:.1e}")
        parts += [f"compatibility {self.compatibility:.1e}", f"duality gap {self.duality_gap:.1e}"]
        if np.isnan(self.data_error):
            parts.append("errors of the data not known")
        elif self.data_error > 0.0:
            parts.append(f"errors of the data {self.data_error:.1e}")
        return f"{self.verdict} ({', '.join(parts)}; tolerance {self.tolerance:.0e})"


class _Optional(TypedDict, total=False):
    """Keywords of ``certify`` with or without friction, for type checkers."""

    stiffness: ArrayLike
    exponent: float
    fixed: ArrayLike | None
    gap_error: ArrayLike | None
    slack: ArrayLike | None
    slack_scale: float | None
    displacement: ArrayLike | None
    data_error: float
    tolerance: float
    friction: ArrayLike
    tangential_stiffness: ArrayLike
    history: ContactHistory | None


@overload
def certify(
    B: MatrixLike,
    load: ArrayLike,
    force: ArrayLike,
    *,
    tangential: None = None,
    **options: Unpack[_Optional],
) -> Certificate: ...


@overload
def certify(
    B: MatrixLike,
    load: ArrayLike,
    force: ArrayLike,
    *,
    tangential: MatrixLike,
    **options: Unpack[_Optional],
) -> RoughCertificate: ...


def certify(
    B: MatrixLike,
    load: ArrayLike,
    force: ArrayLike,
    *,
    stiffness: ArrayLike = 1.0,
    exponent: float = 2.0,
    fixed: ArrayLike | None = None,
    gap_error: ArrayLike | None = None,
    slack: ArrayLike | None = None,
    slack_scale: float | None = None,
    displacement: ArrayLike | None = None,
    data_error: float = 0.0,
    tolerance: float = 1e-8,
    tangential: MatrixLike | None = None,
    friction: ArrayLike = 0.0,
    tangential_stiffness: ArrayLike = 1.0,
    history: ContactHistory | None = None,
) -> Certificate | RoughCertificate:
    """Judge given forces under a load: whether they balance it, are admissible and compatible.

    Parameters
    ----------
    B, load, stiffness, exponent, fixed, gap_error
        As for ``compatible_forces``.
    force : (m,) [N]
        With friction (m, d), normal component first.
    slack : (m,), optional
        End-of-step gaps or w = Phi+/dt; contacts with a gap must carry nothing.
    slack_scale : float, optional
        A large gap in the same unit; the largest |slack| by default.
    displacement : (n,), optional
        The u to test the forces against.
    data_error : float
        How far errors of B or the load move the forces, over the largest, nan if not known; beyond
        the tolerance nothing is certified.
    tolerance : float
        On every relative measure.
    tangential, friction, tangential_stiffness, history
        As for ``compatible_forces``; without gap_error, slack, displacement and data_error.

    Returns
    -------
    Certificate
        With friction ``RoughCertificate``.

    Raises
    ------
    InputError
        For wrong shapes and values that are not finite.

    Examples
    --------
    >>> import numpy as np, rigidlimit
    >>> beam = np.array([[1.0, -0.5], [1.0, 0.0], [1.0, 0.5]])  # columns: rise, turn
    >>> rigidlimit.certify(beam, [10.0, 0.0], [5.0, 0.0, 5.0]).verdict
    'admissible, not compatible: contact 1 is off by 67 % of the largest force'
    """
    law = dict(stiffness=stiffness, exponent=exponent, fixed=fixed)
    if tangential is not None:
        smooth = {"gap_error": gap_error, "slack": slack, "displacement": displacement}
        for name in (name for name, value in smooth.items() if value is not None):
            raise InputError(f"{name} is given with tangential; expected one of the two")
        rough = dict(tangential=tangential, friction=friction)
        problem = rough_contacts(B, load, fixed=fixed, **rough)
        law |= dict(rough, tangential_stiffness=tangential_stiffness, history=history)
        begun, m = None, problem.shape[0]
        if history is None:
            k_t = arrays.vector("tangential_stiffness", tangential_stiffness, m, what="contact")
            normal, p = checked_law(stiffness, exponent, m)
            begun = (normal, k_t, p)
        elastic = partial(compatible_forces, B, **law)
        return rough_certificate(problem, force, elastic, begun, tolerance)
    refuse_friction(friction, history)
    B = arrays.sparse("B", B)
    m, n = B.shape
    load = arrays.vector("load", load, n, what="degree of freedom (column of B)")
    force = arrays.vector("force", force, m, what="contact (row of B)")
    stiffness, exponent = checked_law(stiffness, exponent, m)
    tolerance = arrays.positive("tolerance", tolerance)
    free = arrays.free_columns(fixed, n)
    gap = arrays.vector(
        "gap_error", 0.0 if gap_error is None else gap_error, m, what="contact (row of B)"
    )
    pushes = np.maximum(force, 0.0)
    resultant, converged = B.T @ pushes, True
    if displacement is None:
        answer = compatible_forces(B, resultant, gap_error=gap, tolerance=1e-11, **law)
        u, converged = answer.displacement, answer.converged
    else:
        u = arrays.vector("displacement", displacement, n, what="degree of freedom")
    overlap = -(B @ u) - gap
    elastic = stiffness * np.maximum(overlap, 0.0) ** (exponent - 1.0)
    off = np.abs(force - elastic)
    energy = complementary_energy(pushes, stiffness, exponent)
    dual = strain_energy(overlap, stiffness, exponent) + float(resultant[free] @ u[free])
    gap_of_energy = _over(energy + dual + float(gap @ pushes), energy)
    if energy == 0.0 and pushes.any():  # beyond the range of numbers: nothing can be said of it
        gap_of_energy, converged = np.inf, False
    largest = float(np.abs(force).max(initial=0.0))
    found = dict(
        **_balance(B, load, force, free, with_gaps=bool(gap.any())),
        sign=_over(max(0.0, -float(force.min(initial=0.0))), largest),
        worst_sign=int(force.argmin()) if m else -1,
        **_complementarity(force / (largest or 1.0), slack, slack_scale),
        compatibility=_over(float(off.max(initial=0.0)), largest),
        worst_contact=int(off.argmax()) if m else -1,
        duality_gap=gap_of_energy,
        exponent=exponent,
        converged=converged,
        data_error=_data_error(data_error),
    )
    verdict = _verdict(found, tolerance)
    return Certificate(**found, displacement=u, tolerance=tolerance, verdict=verdict)


def _data_error(given) -> float:
    """Not negative, or nan where it is not known."""
    unknown = isinstance(given, float) and np.isnan(given)
    return given if unknown else arrays.at_least_zero("data_error", given)


def _balance(B, load, force, free, *, with_gaps) -> dict:
    """How far forces (m,) are from balancing the load, and where. with_gaps: as for
    ``compatible_forces``, where overlaps may press far above the load."""
    arm, _ = column_arms(B)
    imbalance = np.where(free, np.abs(B.T @ force - load), 0.0) / arm
    size = float((np.where(free, np.abs(load), 0.0) / arm).max(initial=0.0))
    if with_gaps:
        size = max(size, pressing(B, force, free))
    balance = _over(
        float(imbalance.max(initial=0.0)), size or float(np.abs(force).max(initial=0.0))
    )
    return dict(balance=balance, worst_dof=int(imbalance.argmax()) if len(load) else -1)


def _complementarity(force, slack, scale) -> dict:
    """Of forces (m,) over the largest and slacks (m,), if given, over their scale."""
    if slack is None:
        return dict(complementarity=np.nan, worst_slack=-1)
    slack = arrays.vector("slack", slack, len(force), what="contact (row of B)")
    scale = np.abs(slack).max(initial=0.0) if scale is None else scale
    natural = np.abs(np.minimum(force, slack / (arrays.at_least_zero("slack_scale", scale) or 1.0)))
    worst = int(natural.argmax()) if len(force) else -1
    return dict(complementarity=float(natural.max(initial=0.0)), worst_slack=worst)


def _over(value, size):
    return value / size if size > 0 else (0.0 if value == 0.0 else np.inf)


def _verdict(found, tolerance):
    faults = []
    if found["balance"] > tolerance:
        faults.append(
            f"out of balance by {_percent(found['balance'])} of the largest load at degree of "
            f"freedom {found['worst_dof']}"
        )
    if found["sign"] > tolerance:
        faults.append(
            f"contact {found['worst_sign']} pulls with {_percent(found['sign'])} of the largest "
            "force"
        )
    if found["complementarity"] > tolerance:
        faults.append(f"contact {found['worst_slack']} carries force over a gap, or overlaps")
    if faults:
        return "not admissible: " + "; ".join(faults)
    by = found["compatibility"], found["duality_gap"], found["exponent"], tolerance
    if _is_compatible(*by):
        if found["data_error"] > tolerance:
            return (
                "not certified: compatible with the data as given, but their own errors move the "
                f"forces by {_percent(found['data_error'])} of the largest"
            )
        return "compatible: the forces of stiff elastic contacts"
    if not found["converged"]:
        return (
            "admissible; whether compatible is not known: no displacement was found to compare "
            "with; try displacement=, or stiffnesses less unlike"
        )
    energy = ""
    if found["exponent"] < 2.0:
        energy = f", with {found['duality_gap']:.1e} more energy than the least"
    return (
        f"admissible, not compatible: contact {found['worst_contact']} is off by "
        f"{_percent(found['compatibility'])} of the largest force{energy}"
    )


def _is_compatible(compatibility, duality_gap, exponent, tolerance) -> bool:
    """By the forces of u; for p < 2 by the energy, of second order in the forces."""
    if compatibility <= tolerance:
        return True
    return bool(exponent < 2.0 and abs(duality_gap) <= max(tolerance**2, ENERGY_ROUNDING))


def _percent(part):
    return f"{100 * part:.2g} %"
