"""Siconos' text files of frictional contact problems (fc2d, fc3d, gfc2d, gfc3d), in ``.dat``.

    local:   dimension, contacts, W, q, mu
    global:  dimension, contacts, M, H, f, w, mu

with matrices as in ``siconos_matrices``. Versions before 3.3 wrote one more number, a flag 0 or 1.
Rolling friction adds a second coefficient a contact; it is refused.

Source: Siconos numerics, ``frictionContact_printInFile``, ``globalFrictionContact_printInFile``.
"""

from pathlib import Path

import numpy as np

from ..._support import atomic
from ..._support.words import counted
from ...errors import InputError, OutputError, nearest
from .problem import ROLLING, VECTORS, CapturedProblem, checked, rolling
from .siconos_matrices import FORMS, Words, numbers, read_matrix, write_matrix


def read_siconos(path: str | Path) -> CapturedProblem:
    """Read a local or global problem; raises OutputError that names what is amiss."""
    path = Path(path)
    try:
        return checked(_read(Words(path.read_text()), path), path)
    except UnicodeDecodeError:
        raise OutputError(
            f"{path} is neither HDF5 nor text; expected an FCLIB file or Siconos' text form"
        ) from None
    except ValueError as error:
        raise OutputError(f"{path} is not in Siconos' text form: {error}") from error


def _read(words, path):
    dim, contacts = (int(k) for k in words.integers(2, "dimension and contacts"))
    if dim == ROLLING:
        raise OutputError(rolling(path))
    first, rounding = read_matrix(words, "the first matrix")
    n = first.shape[0]
    if words.left in (n + contacts, n + contacts + 1):
        parts = dict(kind="local", W=first, q=words.numbers(n, "q"))
    elif words.left == n + 2 * contacts:
        raise OutputError(rolling(path))
    elif words.ahead(3)[1:] == [f"{n}", f"{dim * contacts}"]:
        H, other = read_matrix(words, "H")
        rounding = max(rounding, other)
        f, w = words.numbers(n, "f"), words.numbers(H.shape[1], "w")
        parts = dict(kind="global", M=first, H=H, f=f, w=w)
    else:
        raise ValueError(
            f"{words.left} numbers follow a matrix of {n} rows; expected {n} of q and {contacts} "
            "of mu, or a second matrix H"
        )
    mu = words.numbers(contacts, "mu")
    flag = words.ahead(2)
    if len(flag) == 2 or flag not in ([], ["0"], ["1"]):
        raise ValueError(f"{counted(words.left, 'number')} left over after mu, the first {flag[0]}")
    return CapturedProblem(dim=dim, mu=mu, rounding=rounding, title=path.name, **parts)


def write_siconos(captured: CapturedProblem, path: str | Path, *, storage: str = "blocks") -> None:
    """Write Siconos' text form.

    Parameters
    ----------
    captured : CapturedProblem
    path : str or Path
    storage : {"blocks", "dense", "sparse"}
        Of the matrices; blocks are of one contact, and for M of what hangs together in it.

    Raises
    ------
    InputError
        For another storage.
    OutputError
        Where the file cannot be written.

    Examples
    --------
    >>> from rigidlimit.adapters import capture, read_captured, write_siconos
    >>> write_siconos(capture([[1.0]], [[1.0]], [0.0], [-2.0]), "ball.dat", storage="sparse")
    >>> read_captured("ball.dat").kind
    'global'
    """
    if storage not in FORMS:
        raise InputError(f"storage is {storage!r}; {nearest(storage, FORMS)}")
    contact_ends = captured.dim * np.arange(1, captured.contacts + 1)
    lines = [f"{captured.dim}", f"{captured.contacts}"]
    if captured.kind == "local":
        lines += write_matrix(captured.W, storage, contact_ends, contact_ends)
    else:
        ends = _diagonal_blocks(captured.M)
        lines += write_matrix(captured.M, storage, ends, ends)
        lines += write_matrix(captured.H, storage, ends, contact_ends)
    for name in (*VECTORS[captured.kind], "mu"):
        lines += numbers(getattr(captured, name))
    atomic.write_text(path, "\n".join(lines) + "\n")


def _diagonal_blocks(M):
    """Ends of the smallest diagonal blocks, each of neighbouring rows, that hold all of M."""
    entries = M.tocoo()
    n = M.shape[0]
    reach = np.arange(n)
    np.maximum.at(reach, np.minimum(entries.row, entries.col), np.maximum(entries.row, entries.col))
    reach = np.maximum.accumulate(reach)
    return np.flatnonzero(reach == np.arange(n)) + 1
