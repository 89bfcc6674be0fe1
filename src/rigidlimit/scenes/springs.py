"""A warning where the tangential springs that were imported with a scene are not used."""

from typing import TYPE_CHECKING

from .._support.warned import warn
from ..errors import SceneWarning

if TYPE_CHECKING:
    from .scene import Scene


def warn_of_unused_springs(scene: "Scene", what: str) -> None:
    """Warn that ``what`` begins without the springs of the scene, if it has any.

    A scene that has a ``memory`` begins with that.
    """
    if scene.springs is not None and scene.memory is None:
        warn(
            f"scene {scene.name!r}: the tangential springs that were read with it (springs=) are "
            f"not used by {what}, whose contacts with friction begin unloaded; forces_at_pose and "
            "Packing.forces use them",
            SceneWarning,
        )
