"""Systems K = M + B^T D B + e I: structure, factorizations, conjugate gradients, and their choice.

``protocol.py`` is the interface that the kernels use; ``stiffness.py`` implements it.
"""

from .block_offsets import body_starts, kept_starts
from .column_scaling import column_arms
from .moved_columns import MovedColumns
from .network import Network
from .protocol import LinearStats

__all__ = ["LinearStats", "MovedColumns", "Network", "body_starts", "column_arms", "kept_starts"]
