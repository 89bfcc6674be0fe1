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


def polyhedra(dim):
    """Bodies of random corners, of few digits, far from their origin; turned and loaded."""
    rng = np.random.default_rng(dim)
    scene = rl.Scene(dim=dim, gravity=rng.normal(size=dim))
    shapes, tilted = [], np.linalg.qr(rng.normal(size=(dim, dim)))[0]
    around = np.arange(7) * 2 * np.pi / 7
    rim = np.column_stack([np.cos(around), np.sin(around)])
    kind = rl.Polygon if dim == 2 else rl.ConvexPolyhedron
    prism = rim if dim == 2 else np.vstack([np.column_stack([rim, 0 * around + z]) for z in (0, 1)])
    for k in range(12):
        shapes.append(kind(rng.normal(size=(4 + k, dim)) + 3.0))
        shapes.append(kind(0.01 * rng.normal(size=(12, dim)) + 100.0))
        shapes.append(kind((prism * rng.uniform(0.1, 2)) @ tilted))
        shapes.append(kind(np.round((prism * rng.uniform(0.1, 2)) @ tilted, 7)))
    for shape in [*shapes, rl.Compound(shapes[:3])]:
        scene.add(
            shape,
            position=10 * rng.normal(size=dim),
            orientation=rng.uniform(-6, 6) if dim == 2 else rng.normal(size=4),
            mass=rng.uniform(1, 2),
            load=rng.normal(size=dim),
        )
    return scene


@pytest.mark.filterwarnings("ignore::rigidlimit.errors.SceneWarning")
@pytest.mark.parametrize("dim", [2, 3])
def test_last_digits_come_back(monkeypatch, dim):
    """Property: scenes of polyhedra or polygons are the same to the last digit after they were
    written and read, as text and as columns (no polyhedron was: a run of the scene of its own file
    was "of another scene")."""
    scene = polyhedra(dim)
    text = StoredScene.of(scene)
    monkeypatch.setattr(columns, "MANY", 1)
    stored = StoredScene.of(scene)
    for one in (text, stored):
        again = one.scene("file")
        for key, values in scene.columns.items():
            np.testing.assert_array_equal(again.columns[key], values, err_msg=key)
        np.testing.assert_array_equal(again.bodies.inertia, scene.bodies.inertia)
        for shape, other in zip(scene.bodies.shapes, again.bodies.shapes, strict=True):
            if isinstance(shape, rl.Compound):
                np.testing.assert_array_equal(other.offsets, shape.offsets)
                continue
            np.testing.assert_array_equal(other.vertices, shape.vertices)
            np.testing.assert_array_equal(other.normals, shape.normals)
        assert stored.same(StoredScene.of(again)) and text.same(StoredScene.of(again))


def test_same(monkeypatch):
    """Property: a scene is the same as text and as columns, for another duration, and not if one
    number of one body differs."""

    def pyramid(**changes):
        scene = rl.scenes.pyramid(5)
        columns_of = scene.columns
        for key, change in changes.items():
            columns_of[key][3] += change
        for key, values in columns_of.items():
            scene._columns.pieces[key] = [values]
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
    """4,000 balls as columns take less than a tenth of the time of text, to write and to read: both
    times grow as the number of balls."""
    scene = rl.Scene()
    scene.add_many(rl.Sphere(0.1), np.random.default_rng(0).uniform(size=(4_000, 3)))

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
