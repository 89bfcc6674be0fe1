"""Uniqueness of the impulses of a captured problem: its closed contacts.

All impulses within Coulomb's cones that make the same motion are as good for rigid bodies, B^T r =
B^T r_found with W = B B^T or B = H^T; those of sliding contacts lie against the slip. How many
there are, the interval of each, and which ones stiff elastic bodies would have is computed here.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from .._support.display import Brief
from .._support.words import counted
from ..compatibility import RoughForces, compatible_forces
from ..diagnostics import RoughDeterminacy, determinacy
from ..diagnostics.cones.count import rough_degree
from ..diagnostics.degree import Degree
from .delassus import factorized

if TYPE_CHECKING:
    from .coulomb import CoulombAnswer
    from .formats.problem import CapturedProblem


@dataclass(frozen=True, repr=False)
class ClosedContacts(Brief):
    """k closed contacts of d rows of a captured problem; forces are impulses.

    Attributes
    ----------
    rows : dict
        B (k, n), tangential, friction, sliding_direction and load (n,), as
        ``rigidlimit.determinacy`` takes them.
    reaction : (k, d) ndarray [N s]
        As found, normal first.
    number : (k,) int ndarray
        Which contacts these are, of ``total``; the others are open.
    total : int

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from rigidlimit.adapters import CapturedProblem, closed_contacts
    >>> B = np.array([[1.0, -0.5], [0.0, 0.0], [1.0, 0.0], [0.0, 0.0], [1.0, 0.5], [0.0, 0.0]])
    >>> W, q = sp.csr_array(B @ B.T), np.array([-1.0, 0.0, -1.0, 0.0, -1.0, 0.0])
    >>> beam = CapturedProblem("local", 2, np.zeros(3), W=W, q=q)
    >>> closed = closed_contacts(beam, beam.solve())
    >>> closed.degree().most, closed.compatible_forces().force.round(4)
    (1, array([0.3333, 0.3333, 0.3333]))
    """

    rows: dict
    reaction: np.ndarray
    number: np.ndarray
    total: int

    @property
    def message(self) -> str:
        return f"{counted(len(self.number), 'contact')} of {self.total} closed; {self.degree()}"

    def degree(self) -> Degree:
        """Bounds of the degree of indeterminacy: 0 where the impulses are unique."""
        if not len(self.number):
            return Degree(0, 0)
        rows = {name: value for name, value in self.rows.items() if name != "load"}
        return rough_degree(force=self.reaction, **rows)

    def determinacy(self, **options) -> RoughDeterminacy:
        """Degree and intervals.

        Parameters
        ----------
        **options
            Of ``rigidlimit.determinacy``.
        """
        return determinacy(force=self.reaction, **self.rows, **options)

    def compatible_forces(self, **options) -> RoughForces:
        """Impulses of stiff elastic bodies that make the same motion, from the unloaded state.

        Parameters
        ----------
        **options
            Of ``rigidlimit.compatible_forces``.
        """
        return compatible_forces(**self.rows, **options)


def closed_contacts(captured: "CapturedProblem", answer: "CoulombAnswer") -> ClosedContacts:
    """The contacts that stay closed in the motion of a solution.

    Parameters
    ----------
    captured : CapturedProblem
    answer : CoulombAnswer
        Of ``solve_coulomb``.

    Raises
    ------
    InputError
        Where W is no matrix B B^T within the errors that it shows.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from rigidlimit.adapters import CapturedProblem, closed_contacts, solve_coulomb
    >>> W, q = sp.csr_array(np.eye(2)), np.array([-2.0, 0.0])  # a ball that falls on a floor
    >>> ball = CapturedProblem("local", 2, np.array([0.5]), W=W, q=q)
    >>> closed_contacts(ball, solve_coulomb(ball)).degree()
    Degree(least=0, most=0)
    """
    r, u, d = answer.reaction, answer.velocity, captured.dim
    if captured.kind == "local":
        whole = factorized(sp.csr_array(captured.W), rounding=captured.rounding).B
    else:
        whole = sp.csr_array(captured.H.T)
    still = answer.still
    closed = np.flatnonzero((r[:, 0] > 0.0) | (u[:, 0] <= still))
    at = d * closed[:, None] + np.arange(d)
    slides = np.linalg.norm(u[closed, 1:], axis=1, keepdims=True) > still
    rows = dict(
        B=sp.csr_array(whole[at[:, 0]]),
        load=whole[at.ravel()].T @ r[closed].ravel(),
        tangential=sp.csr_array(whole[at[:, 1:].ravel()]),
        friction=captured.mu[closed],
        sliding_direction=np.where(slides, -u[closed, 1:], 0.0),
    )
    return ClosedContacts(rows, r[closed], closed, captured.contacts)
