"""Numbers with their nouns, alone and where users read them."""

import re

import pytest

import rigidlimit as rl
from rigidlimit._support.words import counted, listed
from rigidlimit.errors import nearest
from rigidlimit.scenes import toml
from tests.cli.program import forked


@pytest.mark.parametrize(
    ("number", "noun", "text"),
    [
        (0, "contact", "0 contacts"),
        (1, "contact", "1 contact"),
        (2, "body", "2 bodies"),
        (1, "body", "1 body"),
        (3, "box", "3 boxes"),
        (2, "contact force", "2 contact forces"),
        (2, "disk of unequal size", "2 disks of unequal size"),
        (2, "way", "2 ways"),
        (2, "entry", "2 entries"),
    ],
)
def test_counted(number, noun, text):
    """Closed form: English."""
    assert counted(number, noun) == text


def test_one_ball_on_a_floor(tmp_path):
    """Property: where there is one of everything, nothing printed gives it a plural."""
    scene = rl.Scene()
    scene.add(rl.HalfSpace(), position=(0, 0, 0))
    scene.add(rl.Sphere(0.1), position=(0, 0, 0.1), mass=1.0)
    toml.write_scene(scene, tmp_path / "ball.toml")
    done = forked("run", "ball.toml", "--until", "0.001", "--out", "b.h5", cwd=tmp_path)
    said = done.stdout
    assert "1 of 1 contact carries load" in said
    said += forked("determinacy", "b.h5", cwd=tmp_path).stdout
    assert "1 of 1 contact force determined" in said
    assert "t = 0.001 s, 1 contact, " in rl.Simulation(scene).step().summary
    page = tmp_path / "b.html"
    forked("view", "b.h5", "--no-open", "--out", page, cwd=tmp_path)
    assert "b.h5: 2 bodies, 1 stored step;" in page.read_text()
    assert not re.search(r"\b1 (contacts|steps|bodies|iterations|forces|contact forces)\b", said)


def test_names():
    """Contract: three names at most, and how many more."""
    assert listed(["a"]) == "'a'" and listed(["a", "b", "c"]) == "'a', 'b', 'c'"
    assert listed(list("abcd")) == "'a', 'b', 'c' and 1 other body"
    assert listed(list("abcde")) == "'a', 'b', 'c' and 2 other bodies"


@pytest.mark.parametrize(
    ("name", "known", "proposed"),
    [("foot", "floor", False), ("flor", "floor", True), ("flooor", "floor", True)],
)
def test_only_near_names_are_proposed(name, known, proposed):
    """A letter left out, doubled or changed is a slip; "foot" is no "floor"."""
    assert ("did you mean" in nearest(name, [known, "wall"])) is proposed
