"""What ``determinacy`` finds of smooth contacts, in numbers and in words."""

from dataclasses import dataclass

import numpy as np

from .._support.display import Displayed
from .._support.words import counted
from .rank import Rank
from .tolerances import TOLERANCES


@dataclass(frozen=True, repr=False)
class Determinacy(Displayed):
    """What rigid-body mechanics says of the forces. m contacts, n degrees of freedom.

    P are the admissible forces, f >= 0 that balance the load; A the contacts that carry in some of
    P.

    Attributes
    ----------
    degree : int
        Dimension of P.
    nullity : int
        Of B^T on all contacts, m - rank B.
    mobility : int
        Motions of the loaded bodies that keep every loaded contact closed.
    rank : Rank
        Of B_A, with near-null singular values, tolerance, method.
    can_carry : (m,) bool ndarray
        A.
    determined : (m,) bool ndarray
        f_i the same in all of P (zero, if it cannot carry).
    example : (m,) ndarray [N]
        An admissible f in which every contact of A carries.
    interval : (m, 2) ndarray [N]
        Least and greatest force; nan where not requested; inf where forces are unbounded (bodies
        wedged between fixed ones).
    interval_method : str
        How, and whether they are exact or contain the exact ones.
    reached : (m, 2) ndarray [N]
        The part of the intervals that is known to be reached, to 1e-7 of the largest force.
    determined_method : str
        How determined contacts were found.
    diameter : float [N]
        The widest interval known, the diameter of P in the largest-force norm over those contacts.
    floating : int ndarray
        Bodies without any contact.
    rattlers : int ndarray
        Bodies with contacts that can carry nothing.
    unmoved : (n,) bool ndarray
        Free degrees of freedom that no contact moves.
    rounds : int
        Of the search for A.
    threshold : float
        Part of the largest force above which a contact counts as carrying.
    smallest_force : float
        Least force of A in ``example``, over the largest.
    proven : bool
        No further contact can carry.
    position : (m,) ndarray or None
        Of a given force in its interval, 0 at the least and 1 at the greatest.
    distance : float or None [N]
        |f - P| of a given force.

    Examples
    --------
    >>> import numpy as np, rigidlimit as rl
    >>> beam = np.array([[1.0, -0.5], [1.0, 0.0], [1.0, 0.5]])  # columns: rise, turn
    >>> found = rl.determinacy(beam, [10.0, 0.0])
    >>> found.width.round(6), found.determined.any()
    (array([ 5., 10.,  5.]), np.False_)
    """

    degree: int
    nullity: int
    mobility: int
    rank: Rank
    can_carry: np.ndarray
    determined: np.ndarray
    example: np.ndarray
    interval: np.ndarray
    reached: np.ndarray
    interval_method: str
    determined_method: str
    diameter: float
    floating: np.ndarray
    rattlers: np.ndarray
    unmoved: np.ndarray
    rounds: int
    threshold: float
    smallest_force: float
    proven: bool
    position: np.ndarray | None = None
    distance: float | None = None

    @property
    def width(self) -> np.ndarray:
        """Greatest minus least force, (m,) [N]; nan where not computed."""
        with np.errstate(invalid="ignore"):
            return self.interval[:, 1] - self.interval[:, 0]

    @property
    def doubtful(self) -> bool:
        """Whether a singular value or a force lies so near to its tolerance that the degree hangs
        on it, or not all contacts that can carry may have been found."""
        faint = self.smallest_force < TOLERANCES.doubtful * self.threshold
        return bool(self.rank.margin < TOLERANCES.doubtful or faint or not self.proven)

    @property
    def message(self) -> str:
        """The findings in a few lines."""
        return self.described("N")

    def described(self, unit: str) -> str:
        """``message`` of forces in another unit, as impulses in N s."""
        m = len(self.determined)
        lines = [
            f"degree of indeterminacy {self.degree}: {int(self.determined.sum())} of "
            f"{counted(m, 'contact force')} determined, "
            f"{int((~self.can_carry).sum())} of them zero",
            f"nullity of B^T {self.nullity}; rank {self.rank.rank} of the load-bearing contacts by "
            f"{self.rank.method}, tolerance {self.rank.tolerance:.0e}, "
            + (
                "no near-null singular values"
                if not len(self.rank.near_null)
                else "smallest singular values "
                + ", ".join(f"{s:.1e}" for s in self.rank.near_null[:5])
            ),
        ]
        if self.rank.margin < TOLERANCES.doubtful:
            lines.append(
                "the rank depends on the tolerance: a singular value lies within a factor "
                f"{self.rank.margin:.3g} of it"
            )
        if self.smallest_force < TOLERANCES.doubtful * self.threshold:
            lines.append(
                f"which contacts can carry depends on the threshold of {self.threshold:.0e} of the "
                f"largest force: one of them carries {self.smallest_force:.1e}"
            )
        if not self.proven:
            lines.append("more contacts may be able to carry force: the search was cut short")
        known = int((~self.determined & ~np.isnan(self.interval[:, 0])).sum())
        lines.append(
            f"intervals of {counted(known, 'open contact')} by {self.interval_method}; widest "
            f"{self.diameter:.6g} {unit}"
            if known
            else f"intervals: {self.interval_method}"
        )
        if len(self.floating) or len(self.rattlers):
            lines.append(
                f"{counted(len(self.floating), 'floating body')} (no contact), "
                f"{counted(len(self.rattlers), 'rattler')} "
                "(contacts that can carry nothing)"
            )
        if self.distance is not None:
            lines.append(
                f"the given forces lie {self.distance:.3g} {unit} from the admissible ones"
            )
        return "\n".join(lines)
