"""The file of a comparison of methods: a run of one step."""

from pathlib import Path
from typing import TYPE_CHECKING

from .._support.atomic import whole_file
from .._support.new_hdf5 import new_hdf5
from ..scenes.columns import StoredScene
from ..scenes.scene import Scene
from .stored import write_head
from .stored_step import write_step

if TYPE_CHECKING:
    from ..penalty.comparison import Comparison


def write_comparison(path: str | Path, scene: Scene, comparison: "Comparison") -> None:
    """A run of one step: the state of rest of ``penalty.compare`` with the forces of the DEM."""
    with whole_file(path) as temporary, new_hdf5(temporary) as file:
        write_head(file, StoredScene.of(scene), {"forces": "end"})
        group = file.create_group("steps/00000000")
        write_step(group, comparison.result, comparison.force["dem"])
