"""What every sample of a study does: build a scene, bring it to rest or load it along a path, read
off what is kept."""

import copy
import hashlib
import inspect
import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from .. import __version__
from .._support import arrays
from ..errors import InputError, SceneError, nearest
from ..paths.follow import follow
from ..paths.legs import legs_of
from ..penalty import settle
from ..scenes.names import GALLERY
from ..scenes.scene import Scene
from ..scenes.toml import scene_of_tables
from ..simulation import Simulation
from .quantities import PATH, Quantity, column, quantity

USUAL = ("coordination", "participation", "largest_force", "force")
"""Measures where none are named."""


@dataclass(frozen=True)
class Plan:
    """How one sample comes from a seed and parameters.

    Parameters
    ----------
    scene : str, Path or callable
        A name of the gallery, whose function takes the parameters; a TOML file, in which a
        parameter replaces the value at a dotted key (``"materials.glass.friction"``, in lists by
        name or number, ``"lattices.0.radii"``); or a function ``scene(seed, **parameters)``, at
        the top level of a module, so that workers can import it.
    measures : sequence of str or callable
        Names in ``quantities.QUANTITIES``, or functions of (simulation, result); of a path also
        the columns of its table, ``"path.stress_xy"``, a number a row.
    steps : int, optional
        Time steps to make; None: bring the scene to rest (``rigidlimit.settle``), or follow its
        path where it has one.
    max_seconds : float [s], optional
        Of one sample that comes to rest, after which it has failed.
    options : dict
        Of ``Simulation``, such as dt or solver.
    path : sequence of dict
        Loading path in place of the scene's: tables of a kind and its keys, as ``[[path]]`` of
        scene files. Parameters ``"path.0.pressure"`` replace their values.

    Raises
    ------
    InputError
        For measures that are unknown, none or named twice, steps beside a path, and options that
        ``Simulation`` does not have.
    SceneError
        For a file that cannot be read.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> plan = rl.Plan("pile-2d", measures=["coordination"], steps=3, options={"dt": 1e-3})
    >>> found = rl.study(plan, seeds=2, parameters={"count": 8}, workers=1)
    >>> list(found.values)
    ['coordination', 'converged', 'doubtful']
    """

    scene: str | Path | Callable[..., Scene]
    measures: Sequence[str | Quantity] = USUAL
    steps: int | None = None
    max_seconds: float | None = None
    options: Mapping[str, object] = field(default_factory=dict)
    path: Sequence[Mapping[str, object]] = ()
    text: str = field(init=False, default="", repr=False)  # of the TOML file
    folder: Path = field(init=False, default=Path(), repr=False)

    def __post_init__(self):
        self._check()
        if not callable(self.scene) and str(self.scene) not in GALLERY:
            object.__setattr__(self, "text", _text_of(self.scene))
            object.__setattr__(self, "folder", Path(self.scene).resolve().parent)

    def _check(self) -> None:
        names = [quantity(measure)[0] for measure in self.measures]
        double = {name for name in names if names.count(name) > 1}
        if not names or double:
            raise InputError(f"measures are {names}; expected one or more, each once")
        if self.steps is not None and not 1 <= arrays.number(self.steps) < np.inf:
            raise InputError(f"steps is {self.steps!r}; expected a number of steps, or None")
        if self.steps is not None and self.path:
            raise InputError("steps and path are both given; expected one of the two")
        if self.max_seconds is not None:
            arrays.positive("max_seconds", self.max_seconds)
        known = [name for name in inspect.signature(Simulation).parameters if name != "scene"]
        for name in self.options:
            if name not in known:
                raise InputError(f"options: Simulation has no {name!r}; {nearest(name, known)}")

    @property
    def names(self) -> tuple[str, ...]:
        """Of the measures."""
        return tuple(quantity(measure)[0] for measure in self.measures)

    @property
    def takes_seed(self) -> bool:
        """Whether a seed changes the scene."""
        if callable(self.scene):
            return True
        if self.text:
            tables = tomllib.loads(self.text)
            gallery = tables.get("gallery")
            return _has_seed(gallery) if gallery else bool(_drawn(tables))
        return _has_seed(str(self.scene))

    def scene_of(self, seed: int, parameters: Mapping[str, object]) -> Scene:
        """The scene of a sample, with its path.

        Parameters
        ----------
        seed, parameters
            As for ``digest``.

        Raises
        ------
        SceneError, InputError
            Where it cannot be built, or loaded so.
        """
        tables = copy.deepcopy([dict(table) for table in self.path])
        of_path = {key: v for key, v in parameters.items() if tables and key.startswith(PATH)}
        for key, value in of_path.items():
            _replace({"path": tables}, key, value)
        others = {key: v for key, v in parameters.items() if key not in of_path}
        scene = self._scene_of(seed, others)
        scene.path = tables or scene.path
        self._legs(scene)
        return scene

    def _legs(self, scene: Scene):
        """The legs of the scene's path."""
        if scene.path and scene.cell is None:
            raise InputError(
                f"scene {scene.name!r} has a path and no periodic cell; expected one: "
                "Scene(cell=...), or a table [cell]"
            )
        if not scene.path and any(column(measure) for measure in self.measures):
            wanted = next(m for m in self.measures if column(m))
            raise InputError(
                f"measure {wanted!r} is of a path, and scene {scene.name!r} has none; expected "
                "tables [[path]] in the study or in the scene"
            )
        return legs_of(scene.bodies, scene.path)

    def _scene_of(self, seed: int, parameters: Mapping[str, object]) -> Scene:
        if callable(self.scene):
            try:
                inspect.signature(self.scene).bind(seed=seed, **parameters)
            except TypeError as error:
                raise InputError(
                    f"parameters: {error}; expected those of {self.scene.__name__}"
                    f"{inspect.signature(self.scene)}"
                ) from None
            scene = self.scene(seed=seed, **parameters)
            if not isinstance(scene, Scene):
                raise InputError(
                    f"scene: the function returned {type(scene).__name__}; expected a Scene"
                )
            return scene
        if not self.text:
            name = str(self.scene)
            drawn = {"seed": seed} if _has_seed(name) else {}
            return GALLERY[name](**drawn, **parameters)
        tables = tomllib.loads(self.text)
        for key, value in parameters.items():
            _replace(tables, key, value)
        if "gallery" in tables and _has_seed(tables["gallery"]):
            tables.setdefault("parameters", {})["seed"] = seed
        drawn = _drawn(tables)
        for number, lattice in enumerate(drawn):
            lattice["seed"] = seed * len(drawn) + number
        return scene_of_tables(tables, name=str(self.scene), folder=self.folder)

    def run(self, seed: int, parameters: Mapping[str, object]) -> dict[str, np.ndarray]:
        """The measures of one sample, with ``converged`` and what is ``doubtful`` about its last
        step. Raises what goes wrong.

        Parameters
        ----------
        seed, parameters
            As for ``digest``.
        """
        scene = self.scene_of(seed, parameters)
        simulation = Simulation(scene, **self.options)
        table, converged = None, True
        if self.steps is None and scene.path:
            found = follow(simulation, self._legs(scene), max_seconds=self.max_seconds)
            table, converged, result = found.table, found.converged, found.last
        else:
            if self.steps is None:
                settle(simulation, max_seconds=self.max_seconds)
            for _ in range(int(self.steps or 1) - 1):
                simulation.step()
            result = simulation.step(compatible=True)
        values = {}
        for measure in self.measures:
            name, function = quantity(measure)
            given = column(measure)
            value = table[given] if given else function(simulation, result)
            values[name] = _numbers(name, value)
        return values | {
            "converged": np.array(converged and result.converged),
            "doubtful": np.array(result.doubt),
        }

    @cached_property
    def description(self) -> str:
        """Everything that the numbers depend on but seed and parameters, as JSON."""
        scene = str(self.scene)
        if callable(self.scene):
            scene = _source(self.scene)
        elif self.text:
            scene = self.text
        content = {
            "rigidlimit": __version__,
            "scene": scene,
            "measures": [m if isinstance(m, str) else _source(m) for m in self.measures],
            "steps": self.steps,
            "path": [dict(table) for table in self.path],
            "max_seconds": self.max_seconds,
            "options": dict(self.options),
        }
        return json.dumps(content, sort_keys=True, default=repr)

    def digest(self, seed: int, parameters: Mapping[str, object]) -> str:
        """SHA-256 of all that the numbers of a sample depend on.

        Parameters
        ----------
        seed : int
        parameters : dict
            Values by their dotted names.
        """
        content = [self.description, int(seed), sorted(parameters.items())]
        return hashlib.sha256(json.dumps(content, default=repr).encode()).hexdigest()


def _drawn(tables: dict) -> list[dict]:
    """The lattices of a scene file in which something is random."""
    return [each for each in tables.get("lattices", ()) if each.keys() & {"radii", "jitter"}]


def _text_of(scene: str | Path) -> str:
    """The TOML text of a scene file; SceneError where it is none."""
    try:
        text = Path(scene).read_text(encoding="utf-8-sig")
        tomllib.loads(text)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SceneError(
            f"scene {str(scene)!r}: {getattr(error, 'strerror', None) or error}; expected "
            f"a TOML file or a scene of the gallery; {nearest(str(scene), GALLERY)}"
        ) from None
    return text


def _has_seed(name: str) -> bool:
    return name in GALLERY and "seed" in inspect.signature(GALLERY[name]).parameters


def _source(function: Callable) -> str:
    """What a function is known by: its name and, where Python has it, its text."""
    name = f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', function)}"
    try:
        return f"{name}\n{inspect.getsource(function)}"
    except (OSError, TypeError):
        return name


def _replace(tables: dict, key: str, value: object) -> None:
    """Set the value at a dotted key, which is there or may be in its table."""
    place, (*way, last) = tables, key.split(".")
    for part in way:
        if isinstance(place, list):
            found = [entry for entry in place if entry.get("name") == part]
            number = int(part) if part.isdigit() and int(part) < len(place) else None
            place = found[0] if found else None if number is None else place[number]
        else:
            place = place.get(part) if isinstance(place, dict) else None
        if not isinstance(place, dict | list):
            raise SceneError(
                f"parameter {key!r}: the scene file has no {part!r} there; expected the keys from "
                "its head on, with dots between, like materials.glass.friction"
            )
    if isinstance(place, list):
        raise SceneError(
            f"parameter {key!r} ends at a list; expected a key of one of its tables, like "
            f"{key.rpartition('.')[0]}.0.{last}"
        )
    place[last] = value


def _numbers(name: str, value: object) -> np.ndarray:
    found = np.asarray(value)
    if found.dtype.kind not in "biuf":
        raise InputError(
            f"measure {name!r} returned {type(value).__name__}; expected a number or an array of "
            "numbers"
        )
    return found
