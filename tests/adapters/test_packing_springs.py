"""Tangential springs of imported packings: matched by names, used or said not to be."""

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.errors import InputError, SceneWarning
from rigidlimit.pose import Springs
from rigidlimit.scenes.toml import write_scene

SPRING = 0.2
"""N, tangential force of each ball on the plate, below mu times its weight."""

BALLS = """ITEM: TIMESTEP
0
ITEM: NUMBER OF ATOMS
3
ITEM: BOX BOUNDS ff ff ff
0 1
0 1
0 1
ITEM: ATOMS id type x y z radius mass
1 2 0.5 0.5 0.1 0.1 1
2 1 0.5 0.5 0.2999 0.1 1
3 1 0.5 0.5 0.4998 0.1 1
"""
"""A column of two balls on a held one: statically every contact carries what lies above it."""

PAIRS = f"""ITEM: TIMESTEP
0
ITEM: NUMBER OF ENTRIES
2
ITEM: ENTRIES c_pairs[1] c_pairs[2] c_rub[1] c_rub[2] c_rub[3]
1 2 {-SPRING} 0 0
2 3 {-SPRING} 0 0
"""


@pytest.fixture
def column(tmp_path):
    dump, pairs = tmp_path / "column.dump", tmp_path / "column.pairs"
    dump.write_text(BALLS)
    pairs.write_text(PAIRS)
    rough = rl.Material(friction=0.5, tangential_stiffness=2 / 7)
    return rl.read_packing(dump, springs=pairs, material=rough, fixed=[2], stiffness=1e5)


def forces_of(found) -> dict:
    """Force vectors by the names of the two bodies."""
    names = found.bodies.names
    pairs = ((names[a], names[b]) for a, b in found.contacts.body)
    return dict(zip(pairs, found.force_vectors, strict=True))


def test_springs_stay_with_their_bodies(column):
    """Property: a body added by hand, far off, changes no force; so does the order of bodies. The
    forces as they stand have the springs of the file (the numbers of the dump, no rounding)."""
    before = forces_of(column.forces(balance=False))
    assert before["1", "2"][0] == SPRING == before["2", "3"][0]
    balanced = forces_of(column.forces())
    added = column.scene.add(rl.Sphere(0.1), position=(5, 5, 5), fixed=True)
    assert column.scene.bodies.names[added] == "body-3"  # the ids 1 to 3 are taken
    column.scene.add(rl.HalfSpace(), position=(0, 0, -9), name="far")
    after = forces_of(column.forces(balance=False))
    assert after["1", "2"][0] == SPRING == after["2", "3"][0]
    for pair, force in forces_of(column.forces()).items():
        # the residual of the solve, of forces of 20 N
        np.testing.assert_allclose(force, balanced[pair], atol=1e-8)

    other = rl.Scene(gravity=(0, 0, -9.81))  # the same balls from the top, numbered anew
    for name, z in (("3", 0.4998), ("2", 0.2999), ("1", 0.1)):
        other.add(
            rl.Sphere(0.1), position=(0.5, 0.5, z), mass=1, fixed=name == "1", name=name,
            material=rl.Material(friction=0.5, tangential_stiffness=2 / 7),
        )  # fmt: skip
    turned = forces_of(
        rl.forces_at_pose(other, stiffness=1e5, springs=column.springs, balance=False)
    )
    assert turned["2", "1"][0] == -SPRING == turned["3", "2"][0]


def test_an_answer_is_springs(column):
    """Property: the forces of a balanced pose are springs that balance it again, to the residual
    of the solve; what is no set of springs is refused, and so are springs of unknown bodies."""
    scene, answer = column.scene, column.forces()
    again = rl.forces_at_pose(scene, stiffness=1e5, springs=answer)
    np.testing.assert_allclose(again.tangential_force, answer.tangential_force, atol=1e-8)
    with pytest.raises(InputError, match=r"expected Packing\.springs, or a result"):
        rl.forces_at_pose(scene, springs=np.zeros(3))
    scene.add(rl.Sphere(0.1), position=(5, 5, 5), fixed=True)
    nameless = Springs(column.springs.contacts, column.springs.tangential)
    with pytest.raises(InputError, match="3 bodies without names, the scene has 4"):
        rl.forces_at_pose(scene, springs=nameless)


def test_springs_that_are_not_used_are_named(column, tmp_path):
    """Contract: whatever takes the scene and not its springs says so; forces at the pose take
    them from the scene."""
    scene = column.scene
    sprung = rl.forces_at_pose(scene, stiffness=1e5, balance=False)
    assert sprung.sprung and np.abs(sprung.tangential_force).max() == pytest.approx(SPRING)
    for uses in (
        lambda: rl.PenaltySimulation(scene),
        lambda: rl.statics(scene, closed=1e-3).forces(),
        lambda: write_scene(scene, tmp_path / "column.toml"),
    ):
        with pytest.warns(SceneWarning, match="tangential springs .* are not used"):
            uses()
    smooth = rl.Scene()
    smooth.add(rl.HalfSpace(), position=(0, 0, 0))
    smooth.add(rl.Sphere(0.1), position=(0, 0, 0.0999), mass=1)
    with pytest.warns(SceneWarning, match="no two bodies have friction"):
        rl.forces_at_pose(smooth, stiffness=1e5, springs=column.springs)


@pytest.mark.parametrize("increments", [1, 16])
def test_shift_is_of_the_whole_way(increments):
    """Closed form: a ball of weight W on a plane, begun from a pose that overlaps half as far as W
    presses it: it sinks by W/(2 k), in however many increments (the solve's residual, 1e-10)."""
    weight, k = 10.0, 1e4
    scene = rl.Scene(gravity=(0, 0, -weight), increments=increments)
    rough = rl.Material(friction=0.5)
    scene.add(rl.HalfSpace(), position=(0, 0, 0), material=rough)
    scene.add(rl.Sphere(0.1), position=(0, 0, 0.1 - weight / k / 2), mass=1, material=rough)
    none = rl.forces_at_pose(scene, stiffness=k, balance=False)
    found = rl.forces_at_pose(scene, stiffness=k, springs=none)
    assert found.shift == pytest.approx(weight / k / 2, rel=1e-8)
    assert "bodies shift by no small part of the overlaps" in found.message


def layer(tmp_path):
    """16 balls in one layer, pressed across the faces of a box that LAMMPS has periodic."""
    side, count = 0.7992, 4
    places = (np.arange(count) + 0.5) * side / count
    rows = [f"{x!r} {y!r} 0 0.1" for x in places.tolist() for y in places.tolist()]
    lines = [f"{k + 1} 1 {row}" for k, row in enumerate(rows)]
    head = f"ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n{len(rows)}\nITEM: BOX BOUNDS pp pp pp\n"
    bounds = f"0 {side}\n0 {side}\n-0.05 0.05\nITEM: ATOMS id type x y z radius\n"
    path = tmp_path / "layer.dump"
    path.write_text(head + bounds + "\n".join(lines) + "\n")
    return path, side


def test_one_layer_keeps_the_period_of_its_plane(tmp_path):
    """Closed form: a square lattice of overlaps c presses with k c at each of its two contacts a
    ball (rounding of positions over overlaps, 1e-12); the box as it stands is refused, with what
    to give."""
    path, side = layer(tmp_path)
    with pytest.raises(InputError, match="periodic='xy', or dim=2"):
        rl.read_packing(path)
    for options in (dict(periodic="xy"), dict(dim=2)):
        found = rl.read_packing(path, stiffness=1e4, **options).forces()
        assert len(found.contacts) == 32
        np.testing.assert_allclose(found.force, 1e4 * (0.2 - side / 4), rtol=1e-10)
    with pytest.raises(InputError, match="or axes, like 'xy'"):
        rl.read_packing(path, periodic="q")


def test_pairs_of_held_balls_are_left_out(tmp_path):
    """Property: between held balls no contact is looked for, so that what a DEM has there changes
    nothing; it was said that they do not touch."""
    dump, pairs = tmp_path / "column.dump", tmp_path / "column.pairs"
    dump.write_text(BALLS.replace("2 1 0.5", "2 2 0.5"))
    pairs.write_text(PAIRS)
    rough = rl.Material(friction=0.5)
    packing = rl.read_packing(dump, springs=pairs, material=rough, fixed=[2], stiffness=1e5)
    assert packing.springs.tangential.tolist() == [[SPRING, 0.0, 0.0]]
    pairs.write_text(PAIRS.replace("1 2 ", "1 3 "))
    with pytest.raises(InputError, match="balls 1 and 3 have a tangential force and do not touch"):
        rl.read_packing(dump, springs=pairs, material=rough, fixed=[2])
