"""rigidlimit: the unique contact forces of rigid bodies, as the limit of stiff elastic ones.

>>> import numpy as np, rigidlimit
>>> beam = np.array([[1.0, -0.5], [1.0, 0.0], [1.0, 0.5]])  # three supports: rise, turn
>>> rigidlimit.compatible_forces(beam, [10.0, 0.0]).force.round(6)
array([3.333333, 3.333333, 3.333333])
"""

from ._support.lazy import attach

__version__ = "0.1.0"

# names are imported when first used: `import rigidlimit` stays quick
__getattr__, __dir__, __all__ = attach(__name__)
__all__ += ["__version__"]
