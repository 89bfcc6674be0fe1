"""Forces that the overlaps of a pose press with, as they stand: nothing is solved.

f_i = k_i max(0, -g_i)^(p-1) with the gaps g of the pose, and tangential springs where they are
given: the forces of the DEM that made the pose, at rest or not. Their imbalance is reported.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..bodies import Bodies
from ..compatibility.rough_result import AT_BOUND
from ..status import HasStatus, Status


@dataclass(frozen=True, eq=False)
class PressedForces(HasStatus):
    """Answer in the form of ``CompatibleForces``. m contacts of d components, n bodies.

    force (m,), tangential_force (m, d - 1) [N]; sliding (m,): at the bound of Coulomb. displacement
    (6 n,): zero, as bodies stay. imbalance (6 n,) [N, N m]: contact forces less the load. residual:
    the largest of it, moments over the radius, over the largest force. worst: the body it is of.
    source: where the forces are from, in words.
    """

    force: np.ndarray
    tangential_force: np.ndarray
    sliding: np.ndarray
    displacement: np.ndarray
    imbalance: np.ndarray
    residual: float
    worst: str
    status: Status
    source: str = "of the overlaps as they stand, not balanced"

    @property
    def message(self) -> str:
        largest = float(self.force.max(initial=0.0))
        size = self.residual * largest if largest else np.abs(self.imbalance).max(initial=0.0)
        return (
            f"{self.source}: unbalanced by up to {size:.3g} N (moments over the radius), on "
            f"{self.worst!r}, {self.residual:.1e} of the largest force"
        )


def pressed(
    bodies: Bodies,
    B: sp.csr_array,
    T: sp.csr_array,
    load: np.ndarray,
    normal: np.ndarray,
    along: np.ndarray | None,
    friction: np.ndarray | None,
    tolerance: float,
    **source: str,
) -> PressedForces:
    """The answer for normal forces (m,), tangential ones (m, d - 1) or None
    without friction, of gap gradient B and tangential gradient T; load (6 n,), friction (m,),
    tolerance on the residual; source: as of ``PressedForces``.
    """
    force = normal
    carried, sliding = B.T @ force, np.zeros(len(force), bool)
    if along is None:
        along = np.zeros((len(force), bodies.dim - 1))
    else:
        carried = carried + T.T @ along.ravel()
        size = np.linalg.norm(along, axis=1)
        sliding = (friction > 0.0) & (size > 0.0) & (size >= (1.0 - AT_BOUND) * friction * force)
    imbalance = np.where(bodies.free.ravel(), carried - load, 0.0)
    arm = np.ones((len(bodies), 6))
    arm[:, 3:] = bodies.bounding_radius[:, None]
    if bodies.cell is not None:
        arm[-1] = bodies.length
    open_ = np.abs(imbalance) / arm.ravel()
    largest = float(force.max(initial=0.0))
    residual = float(open_.max(initial=0.0)) / largest if largest else float(open_.any())
    return PressedForces(
        force=force,
        tangential_force=along,
        sliding=sliding,
        displacement=np.zeros(len(load)),
        imbalance=imbalance,
        residual=residual,
        worst=bodies.names[int(open_.argmax()) // 6],
        status=Status.CONVERGED if residual <= tolerance else Status.UNBALANCED,
        **source,
    )
