"""File formats of captured contact problems: FCLIB's HDF5, Siconos' text."""

from pathlib import Path

from ...errors import OutputError
from .problem import CapturedProblem

_HDF5 = b"\x89HDF\r\n\x1a\n"
"""First bytes of every HDF5 file."""


def read_captured(path: str | Path) -> CapturedProblem:
    """Read a captured contact problem in any form.

    FCLIB's HDF5 or Siconos' text, local or global, dense, in blocks or sparse, in two or three
    dimensions, as detected from the content.

    Parameters
    ----------
    path : str or Path

    Raises
    ------
    OutputError
        A sentence on what was found and what was expected, for a file that is missing, damaged, of
        another form, or of rolling friction.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from rigidlimit.adapters import CapturedProblem, read_captured, write_fclib
    >>> W, q = sp.csr_array(np.eye(2)), np.array([-2.0, 0.0])
    >>> write_fclib(CapturedProblem("local", 2, np.array([0.5]), W=W, q=q), "ball.hdf5")
    >>> read_captured("ball.hdf5").contacts
    1
    """
    path = Path(path)
    if not path.is_file():
        raise OutputError(
            f"no file {path}; expected a captured problem: an FCLIB file (.hdf5), or Siconos' text "
            "form (.dat)"
        )
    try:
        with open(path, "rb") as file:
            begins = file.read(len(_HDF5))
    except OSError as error:
        raise OutputError(f"{path} cannot be read: {error.strerror or error}") from error
    if begins == _HDF5:
        from .fclib import read_fclib

        return read_fclib(path)
    from .siconos_text import read_siconos

    return read_siconos(path)
