"""Ten public models, found where they are installed: none of their files is part of rigidlimit.

The files are those of MuJoCo's own repository (its folder ``model``), and of the packages
dm_control, gymnasium, gymnasium_robotics and pybullet_data of PyPI.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

SOURCES = {
    "mujoco": "model",
    "dm_control": "suite",
    "gymnasium": "envs/mujoco/assets",
    "gymnasium_robotics": "envs/assets",
    "pybullet_data": "",
}
"""The folder of models in each package or repository."""


@dataclass(frozen=True)
class Part:
    """A file of a model. file: below its source; at (3,) [m]; turn: about z, in quarter turns."""

    file: str
    at: tuple[float, float, float] = (0.0, 0.0, 0.0)
    turn: int = 0


@dataclass(frozen=True)
class PublicModel:
    """name; source: of ``SOURCES``; parts: one MJCF file, a whole scene, or URDF files of bodies
    that float, on a floor; doing: what it does."""

    name: str
    source: str
    parts: tuple[Part, ...]
    doing: str

    @property
    def whole(self) -> bool:
        """Whether it is an MJCF scene."""
        return self.parts[0].file.endswith(".xml")

    def files(self, folders: Mapping[str, str]) -> list[Path]:
        """Its files. folders: of sources, as given by the user.

        Raises FileNotFoundError that says what is not there.
        """
        given = folders.get(self.source) or os.environ.get(f"{self.source.upper()}_MODELS")
        folder = Path(given) if given else installed(self.source)
        if folder is None:
            raise FileNotFoundError(f"{self.source} is not installed, and no folder is given")
        found = [folder / part.file for part in self.parts]
        missing = next((path for path in found if not path.exists()), None)
        if missing is not None:
            raise FileNotFoundError(f"{self.parts[0].file} is not in the folder of {self.source}")
        return found


def installed(source: str) -> Path | None:
    """The folder of models of a package, if it is installed."""
    # "mujoco" the package has no models, and its repository is no package
    spec = find_spec(source) if source != "mujoco" else None
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0]) / SOURCES[source]


def _tower(levels=4, size=(0.15, 0.05, 0.03)):
    """Blocks of the game of Jenga, three a level, each level across the one below."""
    for level in range(levels):
        for i in (-1, 0, 1):
            off = i * (size[1] + 1e-3)
            at = (off, 0.0) if level % 2 else (0.0, off)
            yield Part("jenga/jenga.urdf", (*at, size[2] * (level + 0.5)), level % 2)


MODELS = (
    PublicModel("humanoid", "mujoco", (Part("humanoid/humanoid.xml"),), "falls and lies"),
    PublicModel("quadruped", "dm_control", (Part("quadruped.xml"),), "lies, motors off"),
    PublicModel("dog", "dm_control", (Part("dog.xml"),), "falls and lies"),
    PublicModel("ant", "gymnasium", (Part("ant.xml"),), "stands on its legs, motors off"),
    PublicModel(
        "block in a hand", "gymnasium_robotics", (Part("hand/manipulate_block.xml"),),
        "lies in a Shadow hand",
    ),
    PublicModel("A1", "pybullet_data", (Part("a1/a1.urdf", (0, 0, 0.3)),), "lies, motors off"),
    PublicModel("R2D2", "pybullet_data", (Part("r2d2.urdf", (0, 0, 0.48)),), "stands on two feet"),
    PublicModel("Jenga", "pybullet_data", tuple(_tower()), "a tower of 12 blocks"),
    PublicModel("22 humanoids", "mujoco", (Part("humanoid/22_humanoids.xml"),), "fall in a heap"),
    PublicModel("cube 3x3x3", "mujoco", (Part("cube/cube_3x3x3.xml"),), "26 pressed parts"),
)  # fmt: skip
