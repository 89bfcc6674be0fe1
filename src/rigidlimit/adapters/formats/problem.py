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
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from ..._support.display import Brief
from ..._support.words import counted
from ...dynamics.inertia import inverse_mass
from ...errors import OutputError

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

    kind: "local" (W, q) or "global" (M, H, f, w); the fields of the other kind are None.
    dim: d, rows a contact, 2 or 3, the normal one first. mu (m,): friction coefficients.

    W (d m, d m) [1/kg]: Delassus matrix. q (d m,) [m/s]: relative velocity without impulses.
    M (n, n) [kg, kg m^2]: mass. H (n, d m) [1, m]: impulse at the contacts -> on the bodies.
    f (n,) [N s, N m s]: momentum without contacts. w (d m,) [m/s]: relative velocity at v = 0.

    rounding: relative error that the file's digits leave in the entries of the matrices, 0 where
    all digits are there. title, description: free text.
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
        """Impulses with exact Coulomb friction, ``.reaction`` (m, d) [N s]: ``solve_coulomb``."""
        from ..coulomb import solve_coulomb

        return solve_coulomb(self, tolerance=tolerance)


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
