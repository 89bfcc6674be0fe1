"""Captured contact problems in FCLIB's HDF5 form, local and global, and their solution.

The frictional problem of one step, with impulses r and relative velocities u at the contacts,
three (or two) rows a contact, the normal one first:

    local:   u = W r + q                                        fclib_local   {W, q, mu}
    global:  M v = H r + f,   u = H^T v + w                     fclib_global  {M, H, f, w, mu}

Source: V. Acary, M. Bremond, T. Koziara, F. Perignon, FCLIB: a collection of discrete 3D
frictional contact problems (INRIA RT-444, 2014). The normal rows alone make the frictionless
problem 0 <= r_N _|_ u_N >= 0; its contacts are those of ``contact_dynamics`` with dt = 1, so that
forces here are impulses [N s].

Global: B = H_N^T. Local: only W_NN = B M^-1 B^T is known. It is made symmetric, the asymmetry is
reported, and its eigenvectors give a B with M = 1; eigenvalues below a stated tolerance are left
out. Forces of both steps of the method depend on B only through W and B^T f, so this B is as good
as the real one: F~ = B^T f in coordinates of its own.

Matrices: m, n, nz, nzmax, p, i, x as in CSparse; nz >= 0: triplets with p the columns; -1:
compressed columns; -2: compressed rows.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from .. import arrays
from ..atomic import whole_file
from ..bodies.mass import mass_matrix
from ..display import Brief
from ..dynamics import ContactDynamicsResult, contact_dynamics
from ..dynamics.inertia import inverse_mass
from ..errors import InputError, OutputError
from ..forces import CompatibleForces, compatible_forces
from ..new_hdf5 import new_hdf5
from ..words import counted

CUT = 1e-12
"""Eigenvalues of W_NN below this part of the largest count as zero."""


@dataclass(frozen=True, repr=False)
class CapturedProblem(Brief):
    """A frictional problem as stored. kind "local": W, q; "global": M, H, f, w. mu (contacts,).

    dim: rows a contact, 2 or 3. title, description: free text.
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
    title: str = ""
    description: str = ""

    @property
    def contacts(self) -> int:
        return len(self.mu)


@dataclass(frozen=True, repr=False)
class NormalProblem(Brief):
    """The frictionless problem 0 <= f _|_ B v + gap >= 0, M v = B^T f + impulse (dt = 1).

    B (m, n), M (n, n), gap (m,) [m/s], impulse (n,) [N s]. asymmetry: max |W - W^T| / max |W| of
    the stored W_NN; cut: largest |eigenvalue| of W_NN left out, kept: least one kept, over the
    largest; 0, 0 and 1 for global problems. local: B is a factor of W_NN, with columns in no
    physical direction.
    """

    B: sp.csr_array
    M: sp.csr_array
    gap: np.ndarray
    impulse: np.ndarray
    asymmetry: float = 0.0
    cut: float = 0.0
    kept: float = 1.0
    local: bool = False

    def solve(self, **options):
        """Step 1: ``contact_dynamics`` of this problem; options go to it."""
        n = self.B.shape[1]
        return contact_dynamics(self.M, self.B, self.gap, np.zeros(n), self.impulse, 1.0, **options)

    def in_order(self, order) -> "NormalProblem":
        """The same problem with contacts numbered in another order."""
        order = np.asarray(order, int)
        return replace(self, B=sp.csr_array(self.B[order]), gap=self.gap[order])

    def gradient_of(self, contacts) -> sp.csr_array:
        """B of some contacts. Of a local problem anew in its own directions: a motion that only
        the others feel would be left in B as rounding, and rounding would be balanced."""
        rows = sp.csr_array(self.B[contacts])
        if not self.local or not rows.shape[0]:
            return rows
        U, s, _ = np.linalg.svd(rows.toarray(), full_matrices=False)
        kept = s > np.sqrt(CUT) * s.max(initial=0.0)
        return sp.csr_array(U[:, kept] * s[kept])


@dataclass(frozen=True, repr=False)
class CapturedAnswer(Brief):
    """Both steps of the method on a captured problem. force (m,) [N s]: compatible impulses.

    closed: contacts that do not open, (c,); B (c, n'), load (n',): what was balanced on them.
    """

    problem: NormalProblem
    classic: ContactDynamicsResult
    closed: np.ndarray
    B: sp.csr_array
    load: np.ndarray
    compatible: CompatibleForces

    @property
    def force(self) -> np.ndarray:
        """Compatible impulses of all contacts, (m,) [N s]; zero where they open."""
        force = np.zeros(self.problem.B.shape[0])
        force[self.closed] = self.compatible.force
        return force

    @property
    def converged(self) -> bool:
        return self.classic.converged and self.compatible.converged


def solve_captured(
    problem: NormalProblem,
    *,
    stiffness=1.0,
    exponent: float = 2.0,
    solver: str = "newton",
    tolerance: float = 1e-12,
    closed: float = 1e-9,
    **options,
) -> CapturedAnswer:
    """Velocities and compatible forces of the frictionless problem.

    tolerance: of step 1, whose error enters the load of step 2; that is balanced to 1e-10. closed:
    a contact counts as open if closing it would take more than this part of the largest force.
    options go to ``contact_dynamics``.
    """
    m = problem.B.shape[0]
    classic = problem.solve(solver=solver, tolerance=tolerance, **options)
    yielding = (problem.B.multiply(problem.B @ _inverse(problem.M))).sum(axis=1)
    yielding = np.where(yielding > 0, yielding, 1.0)
    largest = float(classic.force.max(initial=0.0))
    stays = np.flatnonzero(classic.slack / yielding <= closed * largest)
    B = problem.gradient_of(stays)
    load = B.T @ classic.force[stays]
    stiffness = arrays.vector("stiffness", stiffness, m, what="contact")[stays]
    forces = compatible_forces(B, load, stiffness=stiffness, exponent=exponent)
    return CapturedAnswer(problem, classic, stays, B, load, forces)


def _inverse(M):
    return inverse_mass(sp.csr_array(M), np.arange(M.shape[0]))


def normal_problem(captured: CapturedProblem, *, cut: float = CUT) -> NormalProblem:
    """Keep the normal rows. cut: eigenvalues of a local W_NN below it, over the largest, are 0."""
    rows = np.arange(0, captured.dim * captured.contacts, captured.dim)
    if captured.kind == "global":
        B = sp.csr_array(sp.csc_array(captured.H)[:, rows].T)
        B.sort_indices()
        return NormalProblem(B, captured.M, captured.w[rows], captured.f)
    W = sp.csr_array(captured.W)[rows][:, rows].toarray()
    size = float(np.abs(W).max(initial=0.0))
    asymmetry = float(np.abs(W - W.T).max(initial=0.0)) / size if size > 0 else 0.0
    values, vectors = np.linalg.eigh(0.5 * (W + W.T))
    largest = float(values.max(initial=0.0))
    if len(values) and values[0] < -1e-6 * largest:
        raise InputError(
            f"W has the eigenvalue {values[0]:.3g} beside the largest {largest:.3g}; expected a "
            "matrix B M^-1 B^T without negative eigenvalues"
        )
    kept = values > cut * largest
    B = vectors[:, kept] * np.sqrt(values[kept])
    lost = float(np.abs(values[~kept]).max(initial=0.0))
    return NormalProblem(
        B=sp.csr_array(B),
        M=sp.csr_array(sp.eye_array(B.shape[1])),
        gap=captured.q[rows],
        impulse=np.zeros(B.shape[1]),
        asymmetry=asymmetry,
        cut=lost / largest if largest > 0 else 0.0,
        kept=float(values[kept].min(initial=largest)) / largest if largest > 0 else 1.0,
        local=True,
    )


def capture(B, M, gap, impulse, *, title="", description="") -> CapturedProblem:
    """A frictionless problem of this library as a global one, to be written: zero tangential
    rows and no friction. gap (m,) [m/s] is Phi/dt, impulse (n,) [N s] is M v + dt F_ext."""
    B = sp.coo_array(B)
    m, n = B.shape
    H = sp.csr_array(sp.coo_array((B.data, (B.col, 3 * B.row)), shape=(n, 3 * m)))
    w = np.zeros(3 * m)
    w[::3] = gap
    return CapturedProblem(
        kind="global",
        dim=3,
        mu=np.zeros(m),
        M=sp.csr_array(M),
        H=H,
        f=np.asarray(impulse, float),
        w=w,
        title=title,
        description=description,
    )


def capture_step(bodies, state, external_force, result, *, title="") -> CapturedProblem:
    """The contact problem of one step, on the degrees of freedom that are free, to be written.

    state: at its start; external_force (6 n,); result: the StepResult.
    """
    free = np.flatnonzero(bodies.free.ravel())
    M = mass_matrix(bodies, state)
    B = sp.csr_array(sp.csc_array(result.B)[:, free])
    M = sp.csr_array(M[free][:, free])
    impulse = M @ state.velocity.ravel()[free] + result.dt * external_force[free]
    # Phi/dt or e_n B v, and what driven bodies add
    bias = result.classic.slack - B @ result.classic.velocity[free]
    return capture(B, M, bias, impulse, title=title, description=result.message)


def check_file(path: Path) -> None:
    """Raises OutputError if there is no such file."""
    if not path.is_file():
        raise OutputError(
            f"no file {path}; expected a captured problem: an FCLIB file (.hdf5), or Siconos' text "
            "form (.dat)"
        )


def read_fclib(path) -> CapturedProblem:
    """Read an FCLIB file, or Siconos' text form if the name ends in .dat."""
    path = Path(path)
    check_file(path)
    if path.suffix == ".dat":
        from .siconos_text import read_text

        return read_text(path)
    import h5py

    try:
        with h5py.File(path, "r") as file:
            return _read(file, path)
    except OutputError:
        raise
    except OSError as error:
        raise OutputError(f"{path} is not readable as HDF5: {error}") from error


def _read(file, path):
    kind = next((k for k in ("local", "global") if f"fclib_{k}" in file), None)
    if kind is None:
        raise OutputError(
            f"{path} holds {sorted(file)}; expected a group fclib_local or fclib_global"
        )
    group = file[f"fclib_{kind}"]
    if kind == "local" and "V" in group:
        raise OutputError(f"{path} has equality constraints (V, R); expected contacts only")
    if kind == "global" and "G" in group:
        raise OutputError(f"{path} has equality constraints (G, b); expected contacts only")
    try:
        vectors = group["vectors"]
        common = dict(
            kind=kind,
            dim=int(np.ravel(group["spacedim"][()])[0]),
            mu=vectors["mu"][()].astype(float),
            title=_text(group, "title"),
            description=_text(group, "description"),
        )
        names = ("W",) if kind == "local" else ("M", "H")
        parts = {name: _matrix(group[name]) for name in names}
        parts |= {
            name: vectors[name][()].astype(float)
            for name in (("q",) if kind == "local" else ("f", "w"))
        }
    except KeyError as error:
        raise OutputError(f"{path} lacks a part of fclib_{kind}: {error.args[0]}") from error
    except (ValueError, IndexError, TypeError, AttributeError) as error:
        raise OutputError(f"{path} is damaged in fclib_{kind}: {error}") from error
    return checked(CapturedProblem(**common, **parts), path)


def _matrix(group):
    m, n, nz = (int(np.ravel(group[name][()])[0]) for name in ("m", "n", "nz"))
    p, i, x = (group[name][()] for name in ("p", "i", "x"))
    if nz < 0 and (len(p) != (n if nz == -1 else m) + 1 or p[0] != 0 or (np.diff(p) < 0).any()):
        raise ValueError(f"p of {group.name} is not a row of growing pointers from 0")
    if nz >= 0:
        matrix = sp.coo_array((x[:nz], (i[:nz], p[:nz])), shape=(m, n))
    elif nz == -1:
        matrix = sp.csc_array((x[: p[n]], i[: p[n]], p[: n + 1]), shape=(m, n))
    elif nz == -2:
        matrix = sp.csr_array((x[: p[m]], i[: p[m]], p[: m + 1]), shape=(m, n))
    else:
        raise OutputError(f"{group.name} has nz = {nz}; expected -2, -1 or a number of triplets")
    if nz < 0:
        matrix.check_format(full_check=True)
    matrix = sp.csr_array(matrix, dtype=float)
    matrix.sum_duplicates()
    return matrix


def _text(group, name):
    if "info" not in group or name not in group["info"]:
        return ""
    return np.bytes_(group["info"][name][()]).decode("utf-8", "replace").strip("\0\n ")


def checked(captured: CapturedProblem, path) -> CapturedProblem:
    """The problem itself; raises OutputError for shapes and values that do not fit."""
    if captured.dim not in (2, 3):
        raise OutputError(f"{path} has dimension {captured.dim}; expected 2 or 3 rows a contact")
    rows = captured.dim * captured.contacts
    if captured.kind == "local":
        shapes = {"W": (captured.W.shape, (rows, rows)), "q": (captured.q.shape, (rows,))}
    else:
        n = captured.M.shape[0]
        shapes = {
            "M": (captured.M.shape, (n, n)),
            "H": (captured.H.shape, (n, rows)),
            "f": (captured.f.shape, (n,)),
            "w": (captured.w.shape, (rows,)),
        }
    for name, (found, expected) in shapes.items():
        if found != expected:
            raise OutputError(
                f"{name} in {path} has shape {found}; expected {expected} for "
                f"{counted(captured.contacts, 'contact')} of {captured.dim} rows"
            )
    for name in ("mu", *shapes):
        value = getattr(captured, name)
        if not np.isfinite(value.data if sp.issparse(value) else value).all():
            raise OutputError(f"{name} in {path} holds values that are not finite")
    return captured


def write_fclib(captured: CapturedProblem, path) -> None:
    """Write an FCLIB HDF5 file."""

    with whole_file(path) as temporary, new_hdf5(temporary) as file:
        group = file.create_group(f"fclib_{captured.kind}")
        group["spacedim"] = np.array([captured.dim], np.int32)
        info = group.create_group("info")
        for name in ("title", "description"):
            info[name] = np.bytes_(getattr(captured, name).encode() or b"\0")
        info["math_info"] = np.bytes_(b"\0")
        vectors = group.create_group("vectors")
        vectors["mu"] = captured.mu
        local = captured.kind == "local"
        for name in ("q",) if local else ("f", "w"):
            vectors[name] = getattr(captured, name)
        for name in ("W",) if local else ("M", "H"):
            _write_matrix(group.create_group(name), getattr(captured, name))


def _write_matrix(group, matrix):
    matrix = sp.csc_array(matrix)
    matrix.sort_indices()
    m, n = matrix.shape
    for name, value in (("m", m), ("n", n), ("nz", -1), ("nzmax", matrix.nnz)):
        group[name] = np.array([value], np.int32)
    group["p"] = matrix.indptr.astype(np.int32)
    group["i"] = matrix.indices.astype(np.int32)
    group["x"] = matrix.data
