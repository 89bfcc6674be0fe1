"""Compatible forces with friction on several processes: those of one, by every way that it has."""

from dataclasses import replace

import h5py
import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.distributed import ContactNetwork, images_of, write_copies
from rigidlimit.pose import forces_at_pose
from rigidlimit.pose.pose_contacts import PoseContacts

from ..rough.test_stability import lid
from .networks import (
    ball_on_ball,
    boxes,
    forces,
    needs_petsc,
    network_of,
    off,
    one_process,
    rough_crystal,
    rough_wall,
)

pytestmark = needs_petsc

SAME = 1e-9
"""Both solve to 1e-10 of the load."""


def loose_crystal(friction: float, seed: int, law: str | float = "hooke") -> ContactNetwork:
    """Balls with fewer contacts, far from their lattice: most of these slide."""
    scene = rough_crystal(friction, seed=seed, noise=0.05)
    return ContactNetwork.of_scene(scene, stiffness=1e5, law=law)


def solved(ranks: int, path, *options) -> dict:
    """Arrays and attributes of the forces of a network file, by so many processes."""
    out = path.with_name(f"forces-{path.stem}-{ranks}.h5")
    done = forces(ranks, path, "--out", out, *options)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    with h5py.File(out) as file:
        return {name: file[name][:] for name in file} | dict(file.attrs)


def agree(found: dict, wanted: rl.CompatibleForces) -> None:
    """Forces, state, ways and what contacts remember."""
    assert (found["status"], found["state"]) == (str(wanted.status), wanted.state)
    assert found["routes"].split() == " ".join(wanted.routes).split()
    assert found["residual"] <= 1e-10
    largest = wanted.force.max()
    assert off(found["force"], wanted.force) <= SAME
    assert np.abs(found["tangential_force"] - wanted.tangential_force).max() <= SAME * largest
    np.testing.assert_array_equal(found["sliding"] > 0, wanted.sliding)
    kept = found["history_normal"] - wanted.history.normal
    assert np.abs(kept).max() <= SAME * np.abs(wanted.history.normal).max()


@pytest.mark.parametrize("exponent, ranks, solver", [
    (2.0, 1, "mumps"), (2.0, 4, "mumps"), (2.5, 2, "auto"), (3.0, 3, "auto"), (2.0, 2, "gamg"),
])  # fmt: skip
def test_balls_as_in_one_process(tmp_path, exponent, ranks, solver):
    """Cross-solver: the solver of one process. Of 243 contacts a third slides."""
    network = ContactNetwork.of_scene(rough_crystal(), stiffness=1e5, law=exponent)
    assert network.components == 3 and network.width == 6
    network.write(tmp_path / "balls.h5")
    wanted = one_process(network)
    assert wanted.converged and 50 < wanted.sliding.sum() < 200
    agree(solved(ranks, tmp_path / "balls.h5", "--solver", solver), wanted)


@pytest.mark.parametrize("name, make, route, ranks", [
    ("wall", lambda: rough_wall(0.2), "finish", 2),
    ("loose", lambda: loose_crystal(0.2, 1), "relaxation", 2),
    ("least", lambda: loose_crystal(0.1, 2, "hertz"), "least energy", 3),
])  # fmt: skip
def test_every_way_as_in_one_process(tmp_path, name, make, route, ranks):
    """Cross-solver: interior path, relaxation, and least energy where there is no equilibrium."""
    network = make()
    network.write(tmp_path / f"{name}.h5")
    wanted = one_process(network)
    assert wanted.routes[-1] == route or route in wanted.routes
    agree(solved(ranks, tmp_path / f"{name}.h5"), wanted)


@pytest.mark.parametrize("law", ["mindlin", "mindlin/force"])
def test_from_given_springs(tmp_path, law):
    """Cross-solver: springs in the network file, and the load in three increments."""
    network = ContactNetwork.of_scene(rough_crystal(), stiffness=1e5, law="hertz")
    network = replace(network, tangential_law=law)
    first = one_process(network)
    load = network.load + [300.0, -200.0, 0.0, 0.0, 0.0, 0.0]
    network = replace(network, history=first.history, load=load)
    wanted = one_process(network, increments=3)
    assert wanted.state == "history" and off(wanted.force, first.force) > 0.01
    network.write(tmp_path / "sprung.h5")
    agree(solved(2, tmp_path / "sprung.h5", "--increments", 3), wanted)


def test_goes_on_from_earlier_forces(tmp_path):
    """Cross-solver: what contacts remember is in the file of forces, whoever wrote it."""
    network = ContactNetwork.of_scene(rough_crystal(), stiffness=1e5)
    network.write(tmp_path / "first.h5")
    solved(2, tmp_path / "first.h5")
    pushed = replace(network, load=network.load + [300.0, -200.0, 0.0, 0.0, 0.0, 0.0])
    pushed.write(tmp_path / "pushed.h5")
    history = one_process(network).history
    wanted = one_process(replace(pushed, history=history))
    assert off(wanted.force, one_process(pushed).force) > 1e-4  # the way matters
    agree(solved(3, tmp_path / "pushed.h5", "--history", tmp_path / "forces-first-2.h5"), wanted)


def test_one_contact_sticks_or_slides(tmp_path):
    """Closed form: a contact holds mu times its force along it, and no more."""
    for friction, status in ((0.6, "converged"), (0.4, "load_not_carried")):
        path = tmp_path / f"{friction}.h5"
        ball_on_ball(friction, (0.3, 0.4, 1.0)).write(path)
        found = solved(1, path)
        assert found["status"] == status
        if status == "converged":
            np.testing.assert_allclose(found["force"], [1.0], rtol=1e-10)
            np.testing.assert_allclose(found["tangential_force"], [[0.3, 0.4]], rtol=1e-10)


def test_a_load_that_is_not_carried(tmp_path):
    """Cross-solver: the status, and by how much forces of least energy miss the load."""
    network = rough_wall(0.5, push=8.0)
    network.write(tmp_path / "pushed.h5")
    found, wanted = solved(2, tmp_path / "pushed.h5"), one_process(network)
    assert found["status"] == str(wanted.status) == "load_not_carried"
    # forces of one process are those of the nearest load, found to 1e-5 of the load; here they are
    # where the path towards least energy ends
    assert found["residual"] == pytest.approx(wanted.residual, abs=1e-5)


def test_copies_repeat_the_cell(tmp_path):
    """Property: of periodic copies each is in the cell's equilibrium, which Newton finds from the
    same start."""
    scene = rough_crystal(seed=1)
    vectors, reach = np.diag([4.0, 4.0, 0.0]), 0.1
    network = ContactNetwork.of_scene(scene, stiffness=1e5, reach=reach)
    known = dict(stiffness=1e5, springs=None)
    branch = PoseContacts.within(reach, scene, scene.state, 2.0, **known).contacts.branch
    image = images_of(network.position, network.body, branch, vectors)
    write_copies(network, tmp_path / "big.h5", counts=(2, 2, 1), vectors=vectors, image=image)
    found = solved(2, tmp_path / "big.h5")["force"].reshape(4, -1)
    assert off(found, np.broadcast_to(one_process(network).force, found.shape)) <= 1e-8


def test_options_of_rough_contacts_alone(tmp_path):
    """Example: a history of smooth contacts is refused, and so is one of another network."""
    network_of(rough_crystal(0.0), 2.0).write(tmp_path / "smooth.h5")
    done = forces(1, tmp_path / "smooth.h5", "--increments", 2)
    assert done.returncode == 2 and "has smooth contacts; expected rough ones" in done.stderr
    ball_on_ball(0.6, (0.0, 0.0, 1.0)).write(tmp_path / "one.h5")
    solved(1, tmp_path / "one.h5")
    rough_wall(0.5).write(tmp_path / "wall.h5")
    done = forces(2, tmp_path / "wall.h5", "--history", tmp_path / "forces-one-1.h5")
    assert done.returncode == 2 and done.stderr.count("rigidlimit:") == 1
    assert "with history_normal (1,); expected (84,), of the same network" in done.stderr


def test_leaves_an_unstable_equilibrium(tmp_path):
    """Cross-solver: the stable equilibrium to which the same disturbance leads in one process."""
    network = ContactNetwork.of_scene(lid(0.6, 6 / 7).scene, stiffness=1e5)
    network.write(tmp_path / "lid.h5")
    wanted = one_process(network)
    assert wanted.converged and wanted.several
    agree(solved(2, tmp_path / "lid.h5"), wanted)


def test_stress_is_that_of_the_pose(tmp_path):
    """Cross-check: ``rigidlimit.stress`` of the same forces, over a volume of 2."""
    scene = boxes(material=rl.Material(friction=0.5))
    network = ContactNetwork.of_scene(scene, stiffness=1e5)
    network.write(tmp_path / "wall.h5")
    wanted = 2.0 * rl.stress(forces_at_pose(scene, stiffness=1e5), volume=2.0)
    found = solved(2, tmp_path / "wall.h5")["virial"]
    # forces are known to 1e-10 of the load
    np.testing.assert_allclose(found, wanted, rtol=0.0, atol=1e-8 * np.abs(wanted).max())
    smooth = ContactNetwork.of_scene(boxes(), stiffness=1e5)
    smooth.write(tmp_path / "smooth.h5")
    wanted = rl.stress(forces_at_pose(boxes(), stiffness=1e5), volume=1.0)
    found = solved(3, tmp_path / "smooth.h5")["virial"]
    np.testing.assert_allclose(found, wanted, rtol=0.0, atol=1e-8 * np.abs(wanted).max())
