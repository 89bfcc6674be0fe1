"""One increment of step 2 with friction: the contacts, the problem, and its solution."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..status import Status
from .rough_result import ContactHistory


@dataclass(frozen=True)
class RoughContacts:
    """Rows (m d, n) contact by contact, normal first, and the law's numbers (m,). shape: (m, d)."""

    rows: np.ndarray | sp.csr_array
    shape: tuple[int, int]
    normal: np.ndarray
    tangential: np.ndarray
    friction: np.ndarray
    exponent: float


@dataclass(frozen=True)
class Increment:
    """The problem: forces that balance ``load`` (n,) [N] with initial gaps ``gap`` (m,) [m],
    or None, from the contacts' history. slide (m, d-1): direction of those known to slide, or
    None; others as of ``compatible_forces``."""

    load: np.ndarray
    gap: np.ndarray | None
    history: ContactHistory | None
    slide: np.ndarray | None
    tangential_law: str
    tolerance: float
    warm_start: np.ndarray | None


@dataclass(frozen=True)
class Solved:
    """force (m, d) [N]; displacement (n,); kept (m,) [N]: normal forces that the contacts remember,
    negative where they are open. unit [N]: of forces, in which it was solved. least_energy: whether
    the forces are of least energy; then duality_gap and force_error say how near. Others as of
    ``RoughForces``."""

    force: np.ndarray
    displacement: np.ndarray
    kept: np.ndarray
    unit: float
    status: Status
    least_energy: bool
    solves: int
    routes: tuple[str, ...]
    nearest_status: Status | None
    mechanism: np.ndarray | None
    several: bool
    duality_gap: float
    force_error: float
