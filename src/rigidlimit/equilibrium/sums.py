"""What the solvers need of whole arrays: norms, sums and bounds over all entries.

In one process these are numpy's. Where bodies and contacts are dealt out to many
(``rigidlimit.distributed``), they are taken over all of them, and everything else that Newton's
method, the path and the relaxation do is local.
"""

import numpy as np


class Sums:
    """Over arrays that are whole in this process."""

    def norm(self, r: np.ndarray) -> float:
        """Euclidean norm of r, over degrees of freedom."""
        return np.linalg.norm(r)

    def any(self, values: np.ndarray | bool) -> bool:
        """Whether any entry is not zero."""
        return bool(np.any(values))

    def largest(self, values: np.ndarray) -> float:
        """The largest |entry|; 0 of none, nan where there is one."""
        return float(np.abs(values).max(initial=0.0))

    def most(self, values: np.ndarray) -> float:
        """The largest entry; 0 where none is positive."""
        return float(values.max(initial=0.0))

    def least(self, length: float) -> float:
        """The shortest of the steps that each process finds possible."""
        return length

    def own(self, values: np.ndarray) -> np.ndarray:
        """Of values (m, ...) of the contacts those that this process answers for."""
        return values

    def total(self, value: float) -> float:
        """Sum of what each process has of its own contacts."""
        return value

    def mean(self, total: float, count: int) -> float:
        """The mean over all contacts, by the total over own ones and how many these are."""
        return self.total(total) / max(self.total(count), 1)

    def gathered(self, x: np.ndarray) -> np.ndarray:
        """x, over degrees of freedom, of all processes, in each of them: of small networks."""
        return x

    def dealt(self, x: np.ndarray) -> np.ndarray:
        """The part of this process of x as it was gathered."""
        return x


WHOLE = Sums()
