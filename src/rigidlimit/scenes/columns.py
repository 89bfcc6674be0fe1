"""Scenes as run files keep them: TOML text and, where bodies are many, columns of one row a body.

Text of a hundred thousand bodies takes seconds to write and to read. From ``MANY`` bodies on it
holds all but these, which are arrays as in ``Scene.columns`` beside it, with

    shapes   JSON: a list of the distinct shapes, each a table with the keys of a TOML body
    names    JSON: a list of names; left out where bodies are named by their numbers
    pairs    (k, 2), pair_stiffness (k,) [N/m^(p-1)]: stiffnesses of pairs of bodies, if any;
             likewise friction_pairs and pair_friction [-], tangential_stiffness_pairs and
             pair_tangential_stiffness [-]
    groups   JSON: {name: [bodies]} of collision groups; excluded (k, 2): pairs that do not
             collide; both left out where there are none
    memory_body (m, 2), memory_feature (m,): contacts that remember something, with the arrays of
             ``step.friction.stored``

Shapes are read by the tables that read TOML, so that there is one reader of shapes.
"""

import json
from dataclasses import dataclass, field

import numpy as np

from ..collision.contacts import keyed
from ..errors import SceneError
from ..step.friction import restored, stored
from .pairs import PAIR_KEYS
from .scene import Scene

MANY = 1000
"""Number of bodies above which they are written as columns."""

PAIRS = {key: "pairs" if key == "stiffness" else f"{key}_pairs" for key in PAIR_KEYS}
"""What is known of pairs of bodies, and the column of their indices."""


@dataclass(frozen=True)
class StoredScene:
    """text: TOML; columns: name -> array, of which none are there where the text has the bodies."""

    text: str
    columns: dict[str, np.ndarray] = field(default_factory=dict)

    @classmethod
    def of(cls, scene: Scene) -> "StoredScene":
        from . import toml

        if len(scene) < MANY:
            return cls(toml.scene_text(scene))
        names = scene.bodies.names[: len(scene)]  # the cell of a periodic scene is in its head
        columns = dict(scene.columns)
        columns["shapes"] = np.array(json.dumps(toml.shape_tables(scene.shapes)))
        if names != _numbers(len(names)):
            columns["names"] = np.array(json.dumps(names))
        for key, pairs in PAIRS.items():
            if values := getattr(scene, f"pair_{key}"):
                columns[pairs] = np.array(list(values))
                columns[f"pair_{key}"] = np.array(list(values.values()))
        if scene.groups:
            columns["groups"] = np.array(json.dumps(scene.groups))
        if scene.memory is not None:
            contacts = scene.memory.contacts
            columns["memory_body"] = contacts.body
            columns["memory_feature"] = contacts.feature
            columns |= stored(scene.memory)
        if scene.excluded:
            columns["excluded"] = np.array(list(scene.excluded))
        return cls(toml.head_text(scene), columns)

    def scene(self, name: str) -> Scene:
        """The scene; ``name`` stands for the file in messages. Raises a SceneError for the text,
        and a plain ValueError, KeyError or TypeError for columns that are none."""
        from . import toml

        if not self.columns:
            return toml.parse_scene(self.text, name=name)
        scene, materials = toml.parse_head(self.text, name=name)
        try:
            self._fill(scene, materials)
        except SceneError as error:
            raise ValueError(str(error)) from error
        return scene

    def _fill(self, scene: Scene, materials) -> None:
        from . import toml

        columns = dict(self.columns)
        shapes = toml.shapes_of_tables(str(columns.pop("shapes")), scene.dim)
        names = columns.pop("names", None)
        given = {
            key: (columns.pop(pairs, ()), columns.pop(f"pair_{key}", ()))
            for key, pairs in PAIRS.items()
        }
        groups = json.loads(str(columns.pop("groups", "{}")))
        excluded = columns.pop("excluded", ())
        memory = {key: columns.pop(key) for key in list(columns) if key.startswith("memory_")}
        count = len(columns["mass"])
        names = _numbers(count) if names is None else json.loads(str(names))
        scene.fill(names, shapes, materials, columns)
        for key, (pairs, values) in given.items():
            for (first, second), value in zip(pairs, values, strict=True):
                getattr(scene, f"set_pair_{key}")(int(first), int(second), float(value))
        scene.groups = {name: [scene.index(i) for i in bodies] for name, bodies in groups.items()}
        for first, second in excluded:
            scene.exclude(int(first), int(second))
        if memory:
            contacts = keyed(memory["memory_body"], memory["memory_feature"], count)
            scene.memory = restored(contacts, memory)

    def same(self, other: "StoredScene") -> bool:
        """Whether both are one scene, but for its suggested time, which may be longer now."""
        if bool(self.columns) != bool(other.columns):  # a file from before there were columns
            return self._as_text().same(other._as_text())
        return (
            _without_duration(self.text) == _without_duration(other.text)
            and self.columns.keys() == other.columns.keys()
            and all(np.array_equal(v, other.columns[k]) for k, v in self.columns.items())
        )

    def _as_text(self) -> "StoredScene":
        from .toml import scene_text

        return StoredScene(scene_text(self.scene("scene"))) if self.columns else self


def _numbers(count: int) -> tuple[str, ...]:
    return tuple(map(str, range(count)))


def _without_duration(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.startswith("duration = "))
