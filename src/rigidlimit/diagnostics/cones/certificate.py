"""A verdict on forces at rough contacts: balanced, within the cones, those of elastic bodies?

Forces f (m, d), normal first, are admissible if B^T f_n + T^T f_t = F~ and each lies in its cone.
They are compatible if springs with Coulomb's law would carry them. The kernel that computes such
forces (``compatibility/rough.py``) finds those of the resultant of f, from the unloaded
state or from a history, and the largest difference is the compatibility residual.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from scipy.sparse.linalg import lsqr

from ..._support import arrays
from ..._support.display import Brief
from ...compatibility import RoughForces
from ...compatibility.rough_result import AT_BOUND
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
    several : bool
        Whether the law has these forces and others as well: which of them bodies come to, the data
        do not say.
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
    several: bool
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
    begun: tuple[np.ndarray, np.ndarray, float] | None,
    tolerance: float = 1e-8,
) -> RoughCertificate:
    """See ``certify``, of which this is the part with tangential rows. elastic_forces(load, *,
    tolerance, warm_start): of these contacts. begun: stiffness (m,), tangential stiffness (m,) and
    exponent of springs that begin unloaded, None from a history."""
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
    solve = partial(elastic_forces, resultant, tolerance=min(1e-11, tolerance))

    def difference(elastic: RoughForces) -> np.ndarray:
        known = elastic.converged or elastic.residual <= tolerance
        off = force - np.column_stack([elastic.force, elastic.tangential_force])
        return np.linalg.norm(off, axis=1) if known else np.full(m, np.nan)

    off, several = difference(solve()), False
    if begun is not None and not off.max(initial=0.0) <= tolerance * largest:
        # friction leaves several equilibria: is there one beside these forces?
        beside = difference(solve(warm_start=_displacement(problem, force, *begun)))
        if beside.max(initial=0.0) <= tolerance * largest:
            several = not np.isnan(off).any()
            off = beside
    converged = not np.isnan(off).any()
    compatibility = float(off.max(initial=0.0)) / largest
    numbers = dict(
        balance=balance,
        worst_dof=int(problem.dofs[missing.argmax()]) if len(missing) else -1,
        sign=max(0.0, -float(force[:, 0].min(initial=0.0))) / largest,
        worst_sign=int(force[:, 0].argmin()) if m else -1,
        cone=max(0.0, float(beyond.max(initial=0.0))) / largest,
        worst_cone=int(beyond.argmax()) if m else -1,
        compatibility=compatibility,
        worst_contact=int(off.argmax()) if m else -1,
        state="unloaded" if begun is not None else "history",
        converged=bool(converged),
        several=several,
    )
    bears = (force[:, 0] > tolerance * largest) & (problem.friction > 0.0)
    return RoughCertificate(
        **numbers,
        sliding=bears & (beyond >= -tolerance * largest),
        tolerance=tolerance,
        verdict=_verdict(numbers, tolerance),
    )


def _displacement(problem: RoughContacts, force, stiffness, tangential, exponent) -> np.ndarray:
    """Of the springs (n,), the nearest to what active contacts are pressed by under these forces
    (m, d), and those that stick are sheared."""
    active = force[:, 0] > 0.0
    overlap = (np.where(active, force[:, 0], 1.0) / stiffness) ** (1.0 / (exponent - 1.0))
    spring = tangential * overlap ** (exponent - 2.0)
    w = -np.column_stack([overlap, force[:, 1:] / spring[:, None]])
    size = np.linalg.norm(force[:, 1:], axis=1)
    sticks = active & (size < (1.0 - AT_BOUND) * problem.friction * force[:, 0])
    known = np.column_stack([active, *[sticks] * (w.shape[1] - 1)]).ravel()
    u = np.zeros(problem.n)
    x = lsqr(csr_array(problem.rows)[known], w.ravel()[known], atol=1e-14, btol=1e-14)[0]
    u[problem.dofs] = x / problem.arm
    return u


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
        which = ", one of several equilibria" if found["several"] else ""
        return f"compatible: the forces of stiff elastic bodies, state {state!r}{which}"
    return (
        f"admissible, not those of stiff elastic bodies (state {state!r}): contact "
        f"{found['worst_contact']} is off by {found['compatibility']:.2g} of the largest force"
    )
