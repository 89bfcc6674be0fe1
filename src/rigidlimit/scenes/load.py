"""A scene by the name of the gallery or the path of a TOML file."""

from difflib import get_close_matches
from pathlib import Path

from ..errors import SceneError
from .gallery import GALLERY
from .scene import Scene


def load(name_or_path: str | Path) -> Scene:
    """The gallery scene of that name, or the scene in that TOML file.

    Raises SceneError in one line: unknown name with the nearest one, or what the file holds.
    """
    text = str(name_or_path)
    if text in GALLERY:
        return GALLERY[text]()
    path = Path(text)
    if path.suffix == ".toml" or path.exists():
        from .toml import read_scene

        return read_scene(path)
    near = get_close_matches(text, GALLERY, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"the gallery has {', '.join(GALLERY)}"
    raise SceneError(f"no scene {text!r} in the gallery and no such file; {hint}")
