"""Compatible forces on several processes: those of one, and of a cell that its copies repeat."""

import h5py
import numpy as np
import pytest

from rigidlimit.distributed import ContactNetwork, images_of, write_copies
from rigidlimit.pose import forces_at_pose

from .networks import boxes, crystal, forces, found_by, needs_petsc, network_of, off, reference

pytestmark = needs_petsc

SAME = 1e-9
"""Both solve to 1e-10 of the load, which forces of contacts in parallel share."""


@pytest.mark.parametrize("exponent, ranks, solver", [
    (2.0, 1, "mumps"), (2.0, 2, "mumps"), (2.0, 2, "gamg"), (2.5, 2, "auto"), (3.0, 1, "gamg"),
])  # fmt: skip
def test_balls_as_in_one_process(tmp_path, exponent, ranks, solver):
    """Cross-solver: the driver of one process."""
    network = network_of(crystal(), exponent)
    assert network.width == 3 and network.gap is not None
    network.write(tmp_path / "balls.h5")
    found = found_by(ranks, tmp_path / "balls.h5", "--solver", solver)
    assert off(found, reference(network)) <= SAME


def test_boxes_as_in_one_process(tmp_path):
    """Cross-solver: bodies that turn, with contacts on corners in parallel."""
    network = network_of(boxes(), 2.0)
    assert network.width == 6
    network.write(tmp_path / "boxes.h5")
    assert off(found_by(2, tmp_path / "boxes.h5"), reference(network)) <= SAME


def test_copies_repeat_the_cell(tmp_path):
    """Analytic: forces are unique, so that those of periodic copies are the cell's."""
    scene = crystal(seed=1)
    pose = forces_at_pose(scene, stiffness=1e5, law="hooke")
    network = ContactNetwork.of_pose(pose)
    vectors = np.diag([4.0, 4.0, 0.0])
    image = images_of(network.position, network.body, pose.contacts.branch, vectors)
    assert image.any() and not image[:, 2].any()
    write_copies(network, tmp_path / "big.h5", counts=(3, 2, 1), vectors=vectors, image=image)
    found = found_by(2, tmp_path / "big.h5").reshape(6, -1)
    assert off(found, np.broadcast_to(pose.force, found.shape)) <= 1e-8


def test_begins_with_earlier_displacements(tmp_path):
    """Property: from its own end a solve has nothing left to do."""
    network_of(crystal(), 2.0).write(tmp_path / "balls.h5")
    first = found_by(1, tmp_path / "balls.h5")
    again = forces(2, tmp_path / "balls.h5", "--start", tmp_path / "forces-1.h5",
                   "--out", tmp_path / "again.h5")  # fmt: skip
    assert "after 0 iterations" in again.stdout
    with h5py.File(tmp_path / "again.h5") as file:
        assert off(file["force"][:], first) <= SAME


def test_a_load_that_nothing_carries_is_named(tmp_path):
    """Analytic: what hangs falls."""
    network = network_of(crystal(), 2.0)
    network.load[-1] = 0.0, 0.0, -1e6
    network.write(tmp_path / "pulled.h5")
    done = forces(2, tmp_path / "pulled.h5")
    assert done.returncode == 1 and "load_not_carried" in done.stdout


def spoilt(path, name, index, value):
    with h5py.File(path, "r+") as file:
        file[name][index] = value
    return path


def test_mistakes_are_one_line_on_one_rank(tmp_path):
    """Example: what is wrong is on the slice of the second rank alone, and is told once."""
    network = network_of(crystal(), 2.0)
    network.write(tmp_path / "balls.h5")
    last = len(network.body) - 1
    spoilt(tmp_path / "balls.h5", "contacts/stiffness", last, -1.0)
    done = forces(2, tmp_path / "balls.h5", "--out", tmp_path / "out.h5")
    assert done.returncode == 2 and done.stderr.count("rigidlimit:") == 1
    assert f"contacts/stiffness[{last}] is -1.0; expected a positive number" in done.stderr
    assert not (tmp_path / "out.h5").exists()


def test_more_ranks_than_bodies(tmp_path):
    scene = crystal(layers=2, side=2)
    scene.cell = None
    network = network_of(scene, 2.0)
    network.free[:] = False
    network.free[-1] = True
    network.write(tmp_path / "one.h5")
    done = forces(2, tmp_path / "one.h5")
    assert done.returncode == 2 and done.stderr.count("rigidlimit:") == 1
    assert "2 ranks for 1 bod" in done.stderr
