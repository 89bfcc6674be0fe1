"""Compatible forces on several processes: those of one, and of a cell that its copies repeat."""

import h5py
import numpy as np
import pytest

from rigidlimit.distributed import ContactNetwork, images_of, write_copies
from rigidlimit.pose import forces_at_pose

from .networks import (
    boxes,
    column,
    crystal,
    forces,
    found_by,
    needs_petsc,
    network_of,
    off,
    reference,
)

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


def test_a_column_bears_what_lies_on_it(tmp_path):
    """Closed form: each contact has the load of the top; a pull is carried by none."""
    column(2.5).write(tmp_path / "column.h5")
    np.testing.assert_allclose(found_by(2, tmp_path / "column.h5"), [2.5, 2.5], rtol=1e-10)
    column(-2.5).write(tmp_path / "pulled.h5")
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
    column(1.0, balls=2).write(tmp_path / "one.h5")
    done = forces(2, tmp_path / "one.h5")
    assert done.returncode == 2 and done.stderr.count("rigidlimit:") == 1
    assert "2 ranks for 1 body that moves; expected" in done.stderr
