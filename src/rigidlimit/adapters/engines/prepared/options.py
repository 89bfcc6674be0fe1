"""Which options compiled code takes."""

from ...._support import arrays
from ..coulomb import JOINT
from ..options import MendOptions

TOLERANCE = 1e-10
"""Of the balance, as ``compatible_forces`` has it by default."""

LEAST_EXPONENT = 2.0
"""Below it contacts are infinitely stiff as they close, and Newton's method alone does not do."""


def takes(options: MendOptions) -> bool:
    """Whether these options leave a problem that compiled code may solve."""
    given = {name for name, value in options.solver.items() if value is not None}
    return options.exponent >= LEAST_EXPONENT and given <= {"tolerance", "blocks"}


def compiled_law(options: MendOptions) -> tuple[float, float, bool, float, float]:
    """Fields of ``shares.Law``."""
    tolerance = options.solver.get("tolerance")
    return (
        float(options.exponent),
        float(options.tangential_stiffness),
        options.on_friction == JOINT,
        float(options.friction_tolerance),
        TOLERANCE if tolerance is None else arrays.positive("tolerance", tolerance),
    )
