"""The degrees of freedom that are free and that contacts move, over their longest arms."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from .._support.submatrix import submatrix
from .block_offsets import body_starts, kept_starts
from .column_scaling import column_arms


@dataclass(frozen=True)
class MovedColumns:
    """n' of n columns of B. dofs (n',): which; arm (n,): their longest arms, 1 elsewhere; B (m d,
    n'): these columns over their arms; starts: where bodies begin among them; touched (n,) bool:
    what contacts move, free or not."""

    dofs: np.ndarray
    arm: np.ndarray
    B: np.ndarray | sp.csr_array
    starts: np.ndarray
    touched: np.ndarray

    @classmethod
    def of(
        cls,
        B: np.ndarray | sp.csr_array,
        free: np.ndarray,
        blocks: np.ndarray | None = None,
        d: int = 1,
    ) -> "MovedColumns":
        """B (m d, n), a plain array or compressed rows; free (n,) bool; blocks: first degree of
        freedom of each body; d: rows whose entries make an arm together."""
        arm, touched = column_arms(B, d)
        moved = free & touched
        dofs = np.flatnonzero(moved)
        scale, starts = 1.0 / arm[dofs], kept_starts(body_starts(len(free), blocks), dofs)
        if sp.issparse(B):
            B = submatrix(B, columns=dofs, scale=scale)
        else:
            B = (B if len(dofs) == len(free) else B[:, dofs]) * scale
        return cls(dofs, np.where(moved, arm, 1.0), B, starts, touched)

    def over_arms(self, load: np.ndarray) -> np.ndarray:
        """Those of a load (n,), as forces on the arms (n',)."""
        return load[self.dofs] / self.arm[self.dofs]

    def motion(self, x: np.ndarray) -> np.ndarray:
        """(n,) of displacements times arms (n',)."""
        u = np.zeros(len(self.arm))
        u[self.dofs] = x / self.arm[self.dofs]
        return u
