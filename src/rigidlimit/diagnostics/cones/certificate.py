"""A verdict on forces at rough contacts: balanced, within the cones, those of elastic bodies?

Forces f (m, d), normal first, are admissible if B^T f_n + T^T f_t = F~ and each lies in its cone.
They are compatible if springs with Coulomb's law would carry them. The kernel that computes such
forces (``compatibility/rough.py``) finds those of the resultant of f, from the unloaded
state or from a history, and the largest difference is the compatibility residual.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..._support import arrays
from ..._support.display import Brief
from ...compatibility import RoughForces
from .determinacy import checked_force
from .problem import RoughContacts


@dataclass(frozen=True, repr=False)
class RoughCertificate(Brief):
    """What is wrong with forces at rough contacts, each relative. m contacts.

    Attributes
    ----------
    balance : float
        Largest imbalance over the largest load, columns over their longest arm.
    worst_dof : int
        Column where.
    sign : float
        max(0, -f_n) over the largest force.
    cone : float
        max(0, |f_t| - mu f_n) over the largest force.
    worst_sign, worst_cone : int
        Contacts where.
    compatibility : float
        Largest difference to the forces of elastic bodies over the largest force; nan where none
        were found.
    worst_contact : int
        Contact where.
    state : str
        "unloaded" or "history", from which the elastic forces start.
    sliding : (m,) bool ndarray
        At the edge of the cone, to the tolerance.
    converged : bool
        Whether the elastic forces were found.
    tolerance : float
        On each of these.
    verdict : str
        One sentence.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> known = rl.scenes.groove(friction=0.2)
    >>> normal, tangential = known.reference["forces"], known.reference["tangential forces"]
    >>> rl.statics(known).certify(list(zip(normal, tangential))).verdict
    "compatible: the forces of stiff elastic bodies, state 'unloaded'"
    """

    balance: float
    worst_dof: int
    sign: float
    worst_sign: int
    cone: float
    worst_cone: int
    compatibility: float
    worst_contact: int
    state: str
    sliding: np.ndarray
    converged: bool
    tolerance: float
    verdict: str

    @property
    def admissible(self) -> bool:
        """Balanced and within the cones."""
        return max(self.balance, self.sign, self.cone) <= self.tolerance

    @property
    def compatible(self) -> bool:
        """Admissible, and the forces of stiff elastic contacts from ``state``."""
        return self.admissible and self.converged and self.compatibility <= self.tolerance

    @property
    def message(self) -> str:
        return (
            f"{self.verdict} (balance {self.balance:.1e}, sign {self.sign:.1e}, cones "
            f"{self.cone:.1e}, compatibility {self.compatibility:.1e}; tolerance "
            f"{self.tolerance:.0e})"
        )


def rough_certificate(
    problem: RoughContacts,
    force: ArrayLike,
    elastic_forces: Callable[..., RoughForces],
    with_history: bool,
    tolerance: float = 1e-8,
) -> RoughCertificate:
    """See ``certify``, of which this is the part with tangential rows. elastic_forces(load, *,
    tolerance): of these contacts. with_history: whether from one, or from the unloaded state."""
    m, d = problem.shape
    force = checked_force(force, m, d)
    tolerance = arrays.positive("tolerance", tolerance)
    largest = float(np.linalg.norm(force, axis=1).max(initial=0.0)) or 1.0
    missing = np.abs(problem.rows.T @ (force / problem.size).ravel() - problem.load)
    balance = max(float(missing.max(initial=0.0)), problem.unmoved)
    size = np.linalg.norm(force[:, 1:], axis=1)
    beyond = size - problem.friction * force[:, 0]
    resultant = np.zeros(problem.n)
    resultant[problem.dofs] = (problem.rows.T @ force.ravel()) * problem.arm
    elastic = elastic_forces(resultant, tolerance=min(1e-11, tolerance))
    converged = elastic.converged or elastic.residual <= tolerance
    off = np.linalg.norm(force - np.column_stack([elastic.force, elastic.tangential_force]), axis=1)
    compatibility = float(off.max(initial=0.0)) / largest if converged else np.nan
    numbers = dict(
        balance=balance,
        worst_dof=int(problem.dofs[missing.argmax()]) if len(missing) else -1,
        sign=max(0.0, -float(force[:, 0].min(initial=0.0))) / largest,
        worst_sign=int(force[:, 0].argmin()) if m else -1,
        cone=max(0.0, float(beyond.max(initial=0.0))) / largest,
        worst_cone=int(beyond.argmax()) if m else -1,
        compatibility=compatibility,
        worst_contact=int(off.argmax()) if m else -1,
        state="history" if with_history else "unloaded",
        converged=bool(converged),
    )
    bears = (force[:, 0] > tolerance * largest) & (problem.friction > 0.0)
    return RoughCertificate(
        **numbers,
        sliding=bears & (beyond >= -tolerance * largest),
        tolerance=tolerance,
        verdict=_verdict(numbers, tolerance),
    )


def _verdict(found, tolerance) -> str:
    faults = []
    if found["balance"] > tolerance:
        faults.append(
            f"out of balance by {found['balance']:.2g} of the largest load at degree of freedom "
            f"{found['worst_dof']}"
        )
    if found["sign"] > tolerance:
        faults.append(f"contact {found['worst_sign']} pulls")
    if found["cone"] > tolerance:
        faults.append(
            f"contact {found['worst_cone']} rubs more than its friction allows, by "
            f"{found['cone']:.2g} of the largest force"
        )
    if faults:
        return "not admissible: " + "; ".join(faults)
    state = found["state"]
    if not found["converged"]:
        return (
            f"admissible; whether compatible is not known: no forces of elastic bodies from the "
            f"state {state!r} were found; give the history that the contacts come from"
        )
    if found["compatibility"] <= tolerance:
        return f"compatible: the forces of stiff elastic bodies, state {state!r}"
    return (
        f"admissible, not those of stiff elastic bodies (state {state!r}): contact "
        f"{found['worst_contact']} is off by {found['compatibility']:.2g} of the largest force"
    )
