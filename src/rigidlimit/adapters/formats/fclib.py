"""FCLIB's HDF5 files of frictional contact problems.

    fclib_local   {W, q, mu}          fclib_global  {M, H, f, w, mu}

Matrices: m, n, nz, nzmax, p, i, x as in CSparse; nz >= 0: triplets with p the columns; -1:
compressed columns; -2: compressed rows.

Source: V. Acary, M. Bremond, T. Koziara, F. Perignon, FCLIB: a collection of discrete 3D
frictional contact problems (INRIA RT-444, 2014).
"""

from pathlib import Path

import numpy as np
import scipy.sparse as sp

from ..._support.new_hdf5 import whole_hdf5
from ...errors import OutputError
from .problem import MATRICES, VECTORS, CapturedProblem, checked, rolling

EQUALITIES = {"local": ("V", "R"), "global": ("G", "b")}
"""Parts of a problem with equality constraints, which is not read."""


def read_fclib(path: str | Path) -> CapturedProblem:
    """Read an FCLIB file; raises OutputError that names what is amiss."""
    import h5py

    path = Path(path)
    try:
        with h5py.File(path, "r") as file:
            return _read(file, path)
    except OutputError:
        raise
    except OSError as error:
        raise OutputError(f"{path} is not readable as HDF5: {error}") from error


def _read(file, path):
    if any("rolling" in name for name in file):
        raise OutputError(rolling(path))
    kind = next((k for k in MATRICES if f"fclib_{k}" in file), None)
    if kind is None:
        raise OutputError(
            f"{path} holds {sorted(file)}; expected a group fclib_local or fclib_global"
        )
    group = file[f"fclib_{kind}"]
    first, second = EQUALITIES[kind]
    if first in group:
        raise OutputError(
            f"{path} has equality constraints ({first}, {second}); expected contacts only"
        )
    try:
        vectors = group["vectors"]
        common = dict(
            kind=kind,
            dim=int(np.ravel(group["spacedim"][()])[0]),
            mu=vectors["mu"][()].astype(float),
            title=_text(group, "title"),
            description=_text(group, "description"),
        )
        parts = {name: _matrix(group[name]) for name in MATRICES[kind]}
        parts |= {name: vectors[name][()].astype(float) for name in VECTORS[kind]}
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
    if nz >= 0 and not (len(p) == len(i) == nz <= len(x)):
        raise ValueError(
            f"{group.name} has nz = {nz} triplets, and {len(p)}, {len(i)} and {len(x)} entries of "
            "p, i and x; expected as many, or nz = -1 or -2 for compressed columns or rows"
        )
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


def write_fclib(captured: CapturedProblem, path: str | Path) -> None:
    """Write an FCLIB HDF5 file.

    Parameters
    ----------
    captured : CapturedProblem
    path : str or Path

    Raises
    ------
    OutputError
        Where the file cannot be written.

    Examples
    --------
    >>> from rigidlimit.adapters import capture, write_fclib
    >>> write_fclib(capture([[1.0]], [[1.0]], [0.0], [-2.0], title="ball"), "ball.hdf5")
    """
    with whole_hdf5(path) as file:
        group = file.create_group(f"fclib_{captured.kind}")
        group["spacedim"] = np.array([captured.dim], np.int32)
        info = group.create_group("info")
        for name in ("title", "description"):
            info[name] = np.bytes_(getattr(captured, name).encode() or b"\0")
        info["math_info"] = np.bytes_(b"\0")
        vectors = group.create_group("vectors")
        vectors["mu"] = captured.mu
        for name in VECTORS[captured.kind]:
            vectors[name] = getattr(captured, name)
        for name in MATRICES[captured.kind]:
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
