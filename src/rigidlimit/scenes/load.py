"""A scene by the name of the gallery or the path of a TOML file."""

from os import PathLike
from pathlib import Path

from ..errors import InputError, SceneError, nearest
from .names import GALLERY
from .scene import Scene


def as_scene(scene: Scene | str | PathLike) -> Scene:
    """A Scene as it is; the name of one in the gallery, or the path of a TOML file, loaded."""
    if isinstance(scene, str | PathLike):
        scene = load(scene)
    if not isinstance(scene, Scene):
        raise InputError(
            f"scene is {scene!r}; expected a Scene, the name of one in the gallery, or a TOML file"
        )
    return scene


def load(name_or_path: str | Path) -> Scene:
    """The gallery scene of that name, or the scene in that TOML file.

    Parameters
    ----------
    name_or_path : str or Path
        A file where it ends with .toml or exists.

    Raises
    ------
    SceneError
        For an unknown name, with the nearest one, and for what a file holds that is no scene.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> rl.scenes.load("beam")
    <Scene 'beam': 4 bodies in 2D, law hooke>
    """
    text = str(name_or_path)
    if text in GALLERY:
        return GALLERY[text]()
    path = Path(text)
    if path.suffix == ".toml" or path.exists():
        from .toml import read_scene

        return read_scene(path)
    raise SceneError(f"no scene {text!r} in the gallery and no such file; {nearest(text, GALLERY)}")
