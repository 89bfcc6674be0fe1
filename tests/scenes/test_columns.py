"""Scenes of many bodies as columns beside a short text."""

import time

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.scenes import columns
from rigidlimit.scenes.columns import StoredScene
from rigidlimit.scenes.toml import parse_scene, scene_text

from .test_scenes import assert_same, everything

SCENES = {"everything": everything, "l_block": rl.scenes.l_block, "beam": rl.scenes.beam}


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("many", [1, 1000])
def test_round_trip(monkeypatch, name, many):
    """Property: all shapes, names, loads and stiffnesses survive, as columns and as text."""
    monkeypatch.setattr(columns, "MANY", many)
    scene = SCENES[name]()
    stored = StoredScene.of(scene)
    assert bool(stored.columns) == (many == 1)
    again = stored.scene("file")
    assert_same(scene, again)
    assert [type(s) for s in again.bodies.shapes] == [type(s) for s in scene.bodies.shapes]
    assert again.bodies.materials == scene.bodies.materials
    for key in ("name", "description", "dim", "restitution", "law", "dt", "duration"):
        assert getattr(again, key) == getattr(scene, key)
    np.testing.assert_array_equal(again.gravity, scene.gravity)


def test_same(monkeypatch):
    """Property: a scene is the same as text and as columns, for another duration, and not if one
    number of one body differs."""

    def pyramid(**changes):
        scene = rl.scenes.pyramid(5)
        columns_of = scene.columns
        for key, change in changes.items():
            columns_of[key][3] += change
        for key, values in columns_of.items():
            scene._columns[key] = [values]
        return scene

    text = StoredScene.of(pyramid())
    monkeypatch.setattr(columns, "MANY", 1)
    stored = StoredScene.of(pyramid())
    longer = pyramid()
    longer.duration = 7.0
    for other in (text, stored, StoredScene.of(longer)):
        assert stored.same(other) and other.same(stored)
    # the last digit of a number
    for changed in (pyramid(position=1e-16), pyramid(load=1e-9), pyramid(mass=1e-9)):
        other = StoredScene.of(changed)
        assert not stored.same(other) and not other.same(text)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("position", np.zeros((2, 3))),
        ("mass", np.full(55, np.nan)),
        ("shape_of", np.full(55, 2)),
        ("material_of", np.full(55, -1)),
        ("free", np.zeros((55, 6))),
        ("quaternion", np.zeros((55, 4))),
        ("quaternion", np.tile([1.0, 1.0, 0.0, 0.0], (55, 1))),
        ("names", np.array('["a"]')),
        ("names", np.array("[")),
        ("shapes", np.array("[]")),
        ("shapes", np.array('[{"shape": "sphere"}]')),
    ],
)
def test_columns_that_are_none(monkeypatch, key, value):
    """Columns of another length, type or range are a ValueError, which files tell as damage."""
    monkeypatch.setattr(columns, "MANY", 1)
    stored = StoredScene.of(rl.scenes.pyramid(5))
    assert len(stored.columns["mass"]) == 55
    stored.columns[key] = value
    with pytest.raises(ValueError):
        stored.scene("file")
    del stored.columns["velocity"]
    with pytest.raises((KeyError, ValueError)):
        stored.scene("file")


def test_columns_are_quick():
    """20,000 balls as columns take less than a tenth of the time of text, to write and to read."""
    scene = rl.Scene()
    scene.add_many(rl.Sphere(0.1), np.random.default_rng(0).uniform(size=(20_000, 3)))

    def taken(action):
        start = time.perf_counter()
        return action(), time.perf_counter() - start

    StoredScene.of(scene).scene("file")  # what is imported on the way
    stored, writing = taken(lambda: StoredScene.of(scene))
    _, reading = taken(lambda: stored.scene("file"))
    text, writing_text = taken(lambda: scene_text(scene))
    _, reading_text = taken(lambda: parse_scene(text))
    # thirty to sixty times as quick
    assert writing < 0.1 * writing_text and reading < 0.1 * reading_text
