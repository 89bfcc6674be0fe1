"""What ``compare`` finds: forces of one scene at rest by several methods."""

from dataclasses import dataclass, field

import numpy as np

from .._support.display import Brief
from .._support.words import counted
from ..bodies import State
from ..collision.contacts import Contacts
from ..compatibility.bearing import bearing
from ..dynamics import ContactDynamicsResult
from ..step import StepResult
from ..step.force_network import ForceNetwork
from .result import PenaltyResult


@dataclass(frozen=True, repr=False)
class Comparison(Brief):
    """Forces of one scene at rest by several methods, on the m contacts of ``contacts``.

    Methods are "pgs" (sweeps in natural order), "pgs permuted", "apgd", "compatible" and "dem".

    Attributes
    ----------
    contacts : Contacts
    force : dict of str to (m,) ndarray [N]
        By method.
    floor_error : dict of str to float
        |F - F_dem| / |F_dem| of the resultant forces on held bodies, as in the paper's table 1.
    contact_error : dict of str to float
        The same over all contact forces, as vectors where bodies rub.
    overshoot : dict of str to float
        Largest force over the DEM's, less one.
    seconds : dict of str to float [s]
        Wall time of each method without compilation.
    dem : PenaltyResult
        The run itself.
    state : State
        At rest.
    physical_time : float [s]
        After which it is.
    result : StepResult
        The step at rest that the compatible forces are of, by the Newton solver.
    how : str
        Who found the rest.
    loaded : bool
        The DEM started from ``loaded_pose``.
    classic_results : dict of str to ContactDynamicsResult
        Of the classic methods, of which Gauss-Seidel may have ended before it converged.
    unrest : str
        Why the DEM is not at rest, in words; its forces then are those of a motion, and the errors
        say nothing.
    vectors : dict of str to (m, 3) ndarray [N], or None
        Forces by method where bodies rub.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> found = rl.penalty.compare("beam")
    >>> found.contact_error["compatible"] < 1e-5, sorted(found.force)
    (True, ['apgd', 'compatible', 'dem', 'pgs', 'pgs permuted'])
    """

    contacts: Contacts
    force: dict[str, np.ndarray]
    floor_error: dict[str, float]
    contact_error: dict[str, float]
    overshoot: dict[str, float]
    seconds: dict[str, float]
    dem: PenaltyResult
    state: State
    physical_time: float
    result: StepResult
    how: str = "contact dynamics"
    loaded: bool = False
    classic_results: dict[str, ContactDynamicsResult] = field(default_factory=dict)
    unrest: str = ""
    vectors: dict[str, np.ndarray] | None = None

    @property
    def network(self) -> ForceNetwork:
        """What plots, measures and export show: forces of all methods at rest."""
        scene = self.dem.scene
        return ForceNetwork(
            bodies=scene.bodies,
            position=self.state.position,
            quaternion=self.state.quaternion,
            contacts=self.contacts,
            forces=dict(self.force),
            gravity=scene.gravity,
            time=self.state.time,
            name=scene.name,
        )

    @property
    def message(self) -> str:
        """The errors of all methods in a line, and why they are none if the DEM does not rest."""
        errors = ", ".join(f"{name} {error:.1e}" for name, error in self.contact_error.items())
        text = f"{counted(len(self.contacts), 'contact')}, off the DEM's forces by {errors}"
        return f"{text}; NOT at rest: {self.unrest}" if self.unrest else text

    def bears(self, method: str) -> np.ndarray:
        """Contacts (m,) that carry more than a billionth of the DEM's largest force."""
        return bearing(self.force[method], self.force["dem"].max(initial=0.0))

    @property
    def shared(self) -> np.ndarray:
        """Contacts (m,) that are active both in the DEM and under compatible forces."""
        return self.bears("compatible") & self.bears("dem")

    @property
    def shared_error(self) -> float:
        """|f - f_dem| / |f_dem| of the compatible forces over the ``shared`` contacts."""
        whole = self.force if self.vectors is None else self.vectors
        f, dem = (whole[name][self.shared] for name in ("compatible", "dem"))
        return float(np.linalg.norm(f - dem) / (np.linalg.norm(dem) or 1.0))
