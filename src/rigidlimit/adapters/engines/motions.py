"""New motions in place of an engine's degrees of freedom, for a balance without some of them."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp


@dataclass(frozen=True)
class Reduction:
    """New motions, and which of them are left out. motions (n, n): one a column; changed (n,) bool:
    those that are no degrees of freedom of the engine; gone (n,) bool: of B; unloaded (n,) bool: of
    the load; count: how many of them are worth telling."""

    motions: sp.csr_array
    changed: np.ndarray
    gone: np.ndarray
    unloaded: np.ndarray
    count: int = 0
