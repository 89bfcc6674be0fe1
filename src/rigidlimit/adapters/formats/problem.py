"""A captured frictional contact problem of one time step, whatever file it comes from.

With impulses r and relative velocities u at m contacts, d = 2 or 3 rows a contact, the normal one
first:

    local:   u = W r + q
    global:  M v = H r + f,   u = H^T v + w

and Coulomb's law between r and u with the friction coefficients mu. Eliminating v from a global
problem gives the local one with the Delassus matrix W = H^T M^-1 H and q = w + H^T M^-1 f.

Source: V. Acary, M. Bremond, T. Koziara, F. Perignon, FCLIB: a collection of discrete 3D
frictional contact problems (INRIA RT-444, 2014).
"""

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from ..._support.display import Brief
from ..._support.words import counted
from ...dynamics.inertia import inverse_mass
from ...errors import InputError, OutputError
from ..tolerances import TOLERANCES

if TYPE_CHECKING:
    from ..coulomb import CoulombAnswer

MATRICES = {"local": ("W",), "global": ("M", "H")}
"""Names of the matrices of each kind."""

VECTORS = {"local": ("q",), "global": ("f", "w")}
"""Names of the vectors of each kind, mu apart."""

ROLLING = 5
"""Rows a contact with rolling friction."""


@dataclass(frozen=True, repr=False)
class CapturedProblem(Brief):
    """A frictional problem as stored; m contacts, n degrees of freedom, d m rows.

    Parameters
    ----------
    kind : {"local", "global"}
        Local problems have W and q, global ones M, H, f and w; the fields of the other kind are
        None.
    dim : {2, 3}
        d, rows a contact, the normal one first.
    mu : (m,)
        Friction coefficients.
    W : (d m, d m) sparse [1/kg]
        Delassus matrix.
    q : (d m,) [m/s]
        Relative velocity without impulses.
    M : (n, n) sparse [kg, kg m^2]
        Mass.
    H : (n, d m) sparse [1, m]
        Impulse at the contacts to that on the bodies.
    f : (n,) [N s, N m s]
        Momentum without contacts.
    w : (d m,) [m/s]
        Relative velocity at v = 0.
    rounding : float
        Relative error that the file's digits leave in the entries of the matrices, 0 where all
        digits are there.
    title, description : str
        Free text.

    Raises
    ------
    InputError
        By ``asymmetry``, ``local`` and ``solve``, where W cannot be B M^-1 B^T, or M is not
        positive definite.

    Examples
    --------
    A ball of 1 kg falls on a floor with 2 m/s, in the plane:

    >>> import numpy as np, scipy.sparse as sp
    >>> from rigidlimit.adapters import CapturedProblem
    >>> W, q = sp.csr_array(np.eye(2)), np.array([-2.0, 0.0])
    >>> ball = CapturedProblem("local", 2, np.array([0.5]), W=W, q=q)
    >>> ball.solve().reaction  # N s
    array([[2., 0.]])
    """

    kind: str
    dim: int
    mu: np.ndarray
    W: sp.csr_array | None = None
    q: np.ndarray | None = None
    M: sp.csr_array | None = None
    H: sp.csr_array | None = None
    f: np.ndarray | None = None
    w: np.ndarray | None = None
    rounding: float = 0.0
    title: str = ""
    description: str = ""

    @property
    def contacts(self) -> int:
        return len(self.mu)

    @cached_property
    def asymmetry(self) -> float:
        """max |W - W^T| over the largest entry of W; 0 of global problems.

        Raises InputError where W cannot be B M^-1 B^T: tr W_ii <= 0 of a contact that something
        moves, a negative entry of the diagonal, or one beside it beyond sqrt(W_ii W_jj).
        """
        return 0.0 if self.kind == "global" else checked_mobility(self.W, self.dim)

    def local(self) -> "CapturedProblem":
        """The problem in W and q: itself, or with v eliminated.

        M is inverted block by block of coupled degrees of freedom. Raises InputError if it is not
        positive definite.
        """
        if self.kind == "local":
            return self
        inverse = inverse_mass(self.M, np.arange(self.M.shape[0]))
        mobility = sp.csr_array(inverse @ self.H)
        return replace(
            self,
            kind="local",
            W=sp.csr_array(self.H.T @ mobility),
            q=self.w + self.H.T @ (inverse @ self.f),
            M=None,
            H=None,
            f=None,
            w=None,
        )

    def blocks(self) -> sp.bsr_array:
        """W of ``local()`` in square blocks of d rows, one for every pair of contacts coupled."""
        return sp.bsr_array(self.local().W, blocksize=(self.dim, self.dim))

    def solve(self, *, tolerance: float = 1e-10) -> "CoulombAnswer":
        """Impulses with exact Coulomb friction, ``.reaction`` (m, d) [N s].

        Parameters
        ----------
        tolerance : float
            On the residual, as of ``solve_coulomb``.
        """
        from ..coulomb import solve_coulomb

        return solve_coulomb(self, tolerance=tolerance)


def checked_mobility(W: sp.csr_array, d: int) -> float:
    """Asymmetry of W (d m, d m), over its largest entry; see ``CapturedProblem.asymmetry``."""
    entries = sp.coo_array(W)
    i, j = entries.coords
    size = np.abs(entries.data)
    largest = float(size.max(initial=0.0))
    if largest == 0.0:
        return 0.0
    diagonal = W.diagonal()
    felt = np.zeros(W.shape[0] // d, bool)
    felt[i[size > 0.0] // d] = True
    trace = diagonal.reshape(-1, d).sum(axis=1)
    bad = np.flatnonzero(felt & ~(trace > 0.0))
    if len(bad):
        raise InputError(
            f"tr W_ii of contact {bad[0]} is {trace[bad[0]]:.3g}; expected more than 0, as of "
            "W = B M^-1 B^T with masses M"
        )
    noise = TOLERANCES.negative * largest
    if diagonal.min() < -noise:
        k = int(diagonal.argmin())
        raise InputError(
            f"entry {k}, {k} of W (contact {k // d}) is {diagonal[k]:.3g}; expected none below 0 "
            "on the diagonal, as of W = B M^-1 B^T with masses M"
        )
    most = np.sqrt(np.maximum(diagonal[i], 0.0) * np.maximum(diagonal[j], 0.0))
    worst = int((size - most).argmax())
    if size[worst] - most[worst] > noise:
        raise InputError(
            f"entry {i[worst]}, {j[worst]} of W is {entries.data[worst]:.3g}, beside "
            f"{diagonal[i[worst]]:.3g} and {diagonal[j[worst]]:.3g} on the diagonal; expected no "
            "more than the root of their product, as of W = B M^-1 B^T with masses M"
        )
    apart = abs(W - W.T)
    return float(apart.max()) / largest if apart.nnz else 0.0


def checked(captured: CapturedProblem, path: str | Path) -> CapturedProblem:
    """The problem itself; raises OutputError for shapes and values that do not fit."""
    if captured.dim == ROLLING:
        raise OutputError(rolling(path))
    if captured.dim not in (2, 3):
        raise OutputError(f"{path} has dimension {captured.dim}; expected 2 or 3 rows a contact")
    rows = captured.dim * captured.contacts
    if captured.kind == "local":
        expected = {"W": (rows, rows), "q": (rows,)}
    else:
        n = captured.M.shape[0]
        expected = {"M": (n, n), "H": (n, rows), "f": (n,), "w": (rows,)}
    for name, shape in expected.items():
        found = getattr(captured, name).shape
        if found != shape:
            raise OutputError(
                f"{name} in {path} has shape {found}; expected {shape} for "
                f"{counted(captured.contacts, 'contact')} of {captured.dim} rows"
            )
    for name in ("mu", *expected):
        value = getattr(captured, name)
        if not np.isfinite(value.data if sp.issparse(value) else value).all():
            raise OutputError(f"{name} in {path} holds values that are not finite")
    return captured


def rolling(path: str | Path) -> str:
    """What is said of a problem that has a rolling coefficient a contact."""
    return (
        f"{path} is a problem with rolling friction, {ROLLING} rows a contact; expected Coulomb "
        "friction alone, 2 or 3 rows a contact"
    )
