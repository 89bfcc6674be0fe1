"""What plots, measures and export take: whatever has a ``ForceNetwork``, or the path of a run."""

from pathlib import Path
from typing import Protocol, TypeAlias

from ..errors import InputError
from ..step.force_network import ForceNetwork


class HasNetwork(Protocol):
    """Results of steps, stored steps, runs, simulations, comparisons, DEM runs, poses, scenes."""

    @property
    def network(self) -> ForceNetwork: ...


Source: TypeAlias = ForceNetwork | HasNetwork | str | Path
"""What ``network_of`` takes."""


def network_of(source: Source) -> ForceNetwork:
    """The force network of a source; of a run or its path that of the last step."""
    if isinstance(source, str | Path):
        from .hdf5 import read_run

        source = read_run(source)
    if isinstance(source, ForceNetwork):
        return source
    if not hasattr(type(source), "network"):
        raise InputError(
            f"found {type(source).__name__}; expected a run, the path of a run file, a step, a "
            "Simulation, a Scene, a Comparison, a PenaltyResult or a PoseForces"
        )
    return source.network
