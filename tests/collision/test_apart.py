"""Excluded pairs and collision groups: who has no contacts, in all forms of a scene."""

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.collision.search import find_contacts
from rigidlimit.errors import SceneError
from rigidlimit.scenes.columns import StoredScene
from rigidlimit.scenes.toml import parse_scene, scene_text


def crossing_platens(*, group="platens"):
    """Two beams in one place over a ground, each a compound; a ball lies on them, one floats."""
    scene = rl.Scene(gravity=(0, 0, -10))
    scene.add(rl.HalfSpace(), position=(0, 0, 0), name="ground", group=group)
    beam = rl.Compound([(rl.Box((2, 0.2, 0.2)), (0, 0, 0), None)])
    for name, turn in (("one", 0.0), ("other", np.pi / 2)):
        q = (np.cos(turn / 2), 0, 0, np.sin(turn / 2))
        scene.add(beam, position=(0, 0, 0.05), orientation=q, name=name, group=group)
    scene.add(rl.Sphere(0.1), position=(0.5, 0, 0.25), name="ball")
    scene.add(rl.Sphere(0.1), position=(0.5, 0, 0.4), name="upper")
    return scene


def pairs_of(scene):
    found = find_contacts(scene.bodies, scene.state, 1e-3)
    names = scene.bodies.names
    return {(names[a], names[b]) for a, b in found.body}


def test_bodies_of_a_group_do_not_touch_one_another():
    """Closed form: platens that cross, and sink into the ground, touch the ball alone."""
    assert pairs_of(crossing_platens()) == {("one", "ball"), ("ball", "upper")}
    everyone = pairs_of(crossing_platens(group=None))
    assert {("ground", "one"), ("ground", "other"), ("one", "other")} <= everyone


def test_excluded_pairs_do_not_touch():
    """Property: what is excluded is gone, in either order of the names, and nothing else is."""
    scene = crossing_platens(group=None)
    everyone = pairs_of(scene)
    for pair in (("other", "ground"), ("one", "other"), (4, 3)):
        scene.exclude(*pair)
    gone = {("ground", "other"), ("one", "other"), ("ball", "upper")}
    assert gone <= everyone and pairs_of(scene) == everyone - gone
    with pytest.raises(SceneError, match="no body is named 'lid'"):
        scene.exclude("lid", "ground")
    with pytest.raises(SceneError, match="group is 3; expected a name"):
        scene.add(rl.Sphere(1), position=(9, 9, 9), group=3)


@pytest.mark.parametrize("many", [1, 10**6])
def test_files_keep_groups_and_exclusions(monkeypatch, many):
    """Property: a scene read back has the same contacts, as text and as columns."""
    scene = crossing_platens()
    scene.exclude("ball", "upper")
    assert pairs_of(parse_scene(scene_text(scene))) == pairs_of(scene) == {("one", "ball")}
    monkeypatch.setattr("rigidlimit.scenes.columns.MANY", many)
    back = StoredScene.of(scene).scene("run")
    assert pairs_of(back) == pairs_of(scene)
    assert back.groups == scene.groups and back.excluded == scene.excluded


def test_a_pair_with_properties_collides():
    """Error: friction between two bodies that do not collide is a slip of the pen."""
    text = scene_text(crossing_platens()) + (
        '[[pairs]]\nbodies = ["one", "ball"]\ncollide = false\nfriction = 0.1\n'
    )
    with pytest.raises(SceneError, match="friction: not beside collide = false"):
        parse_scene(text)


@pytest.mark.parametrize("asked", [["ball"], ["ground"], ["upper", "other"]])
def test_contacts_of_some_bodies(asked):
    """Property: those of all bodies in which one of these takes part, to the last digit."""
    scene = crossing_platens(group=None)
    of = np.isin(scene.bodies.names, asked)
    everyone = find_contacts(scene.bodies, scene.state, 1e-3)
    found = find_contacts(scene.bodies, scene.state, 1e-3, of=of)
    those = everyone.select(of[everyone.body].any(axis=1))
    asked_for = found.select(of[found.body].any(axis=1))
    assert len(those) and np.array_equal(those.key, asked_for.key)
    assert np.array_equal(those.gap, asked_for.gap)
    assert len(asked_for) == len(found) or "ground" in asked
