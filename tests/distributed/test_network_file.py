"""The network file, its copies, and what is said where PETSc is missing: without PETSc."""

import re
import sys
from dataclasses import replace

import h5py
import numpy as np
import pytest

from rigidlimit.compatibility import ContactHistory
from rigidlimit.distributed import ContactNetwork, forces_of_file, write_copies
from rigidlimit.distributed import ranks as ranks_module
from rigidlimit.distributed.network_file import NetworkFile
from rigidlimit.distributed.partition import by_space
from rigidlimit.distributed.ranks import LAUNCHERS, OtherRankError, Ranks, launched
from rigidlimit.errors import InputError, MissingExtra

from .networks import boxes, column, crystal, network_of, rough_crystal


def test_slices_are_what_was_written(tmp_path):
    """Property: any slice of the file is that of the arrays."""
    network = network_of(crystal(), 2.5)
    network.write(tmp_path / "balls.h5")
    file = NetworkFile(tmp_path / "balls.h5")
    assert (file.bodies, file.contacts, file.exponent) == (64, len(network.body), 2.5)
    part = file.part((5, 9), (7, 30))
    for name in ("position", "load", "free"):
        np.testing.assert_array_equal(getattr(part, name), getattr(network, name)[5:9])
    for name in ("body", "rows", "stiffness", "gap"):
        np.testing.assert_array_equal(getattr(part, name), getattr(network, name)[7:30])


def test_slices_of_rough_contacts(tmp_path):
    """Property: the same with friction and springs."""
    network = ContactNetwork.of_scene(rough_crystal(0.4), stiffness=1e5, law="hertz")
    m = len(network.body)
    springs = np.arange(2.0 * m).reshape(m, 2)
    network = replace(network, history=ContactHistory(np.arange(1.0 * m), springs, network.gap))
    network.write(tmp_path / "rough.h5")
    file = NetworkFile(tmp_path / "rough.h5")
    assert file.rough and file.components == 3 and file.tangential_law == "mindlin"
    part = file.part((5, 9), (7, 30))
    assert set(part.of_contacts) == set(network.of_contacts)
    for name, values in part.of_contacts.items():
        np.testing.assert_array_equal(values, network.of_contacts[name][7:30])
    spoilt = replace(network, friction=np.where(np.arange(m) == 8, -0.1, 0.4))
    spoilt.write(tmp_path / "bad.h5")
    with pytest.raises(InputError, match=r"contacts/friction\[8\] is -0.1; expected mu >= 0"):
        NetworkFile(tmp_path / "bad.h5").part((0, 64), (0, m))
    with pytest.raises(InputError, match="friction and tangential_stiffness are not both given"):
        replace(network, friction=None)


def test_a_scene_is_the_network_of_its_pose():
    """Property: smooth bodies give the same network whether their forces are known or not."""
    of_scene, of_pose = (ContactNetwork.of_scene(boxes(), stiffness=1e5), network_of(boxes(), 2.0))
    assert of_scene.width == of_pose.width == 6 and of_scene.components == 1
    np.testing.assert_array_equal(of_scene.load, of_pose.load)
    for name, values in of_scene.of_contacts.items():
        np.testing.assert_array_equal(values, of_pose.of_contacts[name])


def test_bad_files_are_named(tmp_path):
    """Example: each mistake says where it is, what was found and what was expected."""
    with pytest.raises(InputError, match="no such file"):
        NetworkFile(tmp_path / "none.h5")
    network = network_of(crystal(), 2.0)
    network.body[3, 0] = 99
    network.write(tmp_path / "bad.h5")
    file = NetworkFile(tmp_path / "bad.h5")
    with pytest.raises(InputError, match=r"contacts/body\[3\] is .*; expected 0 to 63"):
        file.part((0, 64), (0, file.contacts))


def replaced(name: str, make):
    """Puts what ``make`` makes of an array there instead."""

    def spoil(file: h5py.File) -> None:
        values = file[name][:]
        del file[name]
        file[name] = make(values)

    return spoil


def first_nan(values: np.ndarray) -> np.ndarray:
    values = values.astype(float)
    values[0] = np.nan
    return values


SPOILED = {
    "exponent is None": lambda file: file.attrs.__delitem__("exponent"),
    "exponent is hertz": lambda file: file.attrs.__setitem__("exponent", "hertz"),
    "exponent is inf": lambda file: file.attrs.__setitem__("exponent", np.inf),
    "bodies/load has shape (3,); expected (n, w)": replaced("bodies/load", lambda a: a[:, 0]),
    "bodies/load is no array of numbers": replaced("bodies/load", lambda a: a.astype("S3")),
    "contacts/body is no array of whole numbers": replaced("contacts/body", lambda a: a + 0.6),
    "bodies/free[0] is [nan, nan, nan]": replaced("bodies/free", first_nan),
    "contacts/stiffness is no array": lambda file: (
        file.__delitem__("contacts/stiffness"), file.create_group("contacts/stiffness"),
    ),
    "no contacts/history_normal": lambda file: file.__setitem__(
        "contacts/history_tangential", np.zeros((2, 2))
    ),
}  # fmt: skip
"""What is said, and how the file of a column is spoiled."""


@pytest.mark.parametrize("said", SPOILED)
def test_what_is_wrong_in_a_file_is_said(tmp_path, said):
    """One error that names the file, what was found and what was expected."""
    path = tmp_path / "column.h5"
    column(1.0).write(path)
    with h5py.File(path, "r+") as file:
        SPOILED[said](file)
    with pytest.raises(InputError, match="column.h5.*" + re.escape(said)):
        network = NetworkFile(path)
        network.part((0, network.bodies), (0, network.contacts))


def test_rough_poses_are_refused():
    """Example: tangential stiffness and springs are not known from the forces of a pose."""
    scene = boxes(courses=1, length=1)
    scene.set_pair_friction("0", "1", 0.5)
    with pytest.raises(InputError, match="expected smooth bodies"):
        network_of(scene, 2.0)


@pytest.mark.parametrize(
    "options, said",
    [
        (dict(counts=(2, 2)), r"counts is \(2, 2\); expected three whole numbers from 1 on"),
        (dict(counts=(0, 1, 1)), r"counts is \(0, 1, 1\); expected three whole numbers"),
        (dict(counts=(2.0, 1, 1)), r"counts is \(2.0, 1, 1\); expected three whole numbers"),
        (dict(image=np.zeros((1, 3), int)), r"image has shape \(1, 3\); expected \(2, 3\)"),
        (dict(image=np.full((2, 3), 0.5)), r"image is not whole; expected numbers of edges"),
    ],
)
def test_copies_are_counted_by_whole_numbers(tmp_path, options, said):
    """One error of what was found and what was expected; nothing is written."""
    given = dict(counts=(2, 1, 1), vectors=np.eye(3)) | options
    with pytest.raises(InputError, match=said):
        write_copies(column(1.0), tmp_path / "copies.h5", **given)
    assert not (tmp_path / "copies.h5").exists()


def test_without_petsc(tmp_path, monkeypatch):
    """Example: one line that says what to install."""
    monkeypatch.setitem(sys.modules, "petsc4py", None)
    with pytest.raises(MissingExtra, match="PETSc cannot be loaded"):
        forces_of_file(tmp_path / "balls.h5")


class AlonePETSc:
    """PETSc that was built with another MPI than that of the launcher."""

    class COMM_WORLD:
        getRank = staticmethod(lambda: 0)
        getSize = staticmethod(lambda: 1)


@pytest.mark.parametrize("names", LAUNCHERS.items())
def test_processes_that_are_alone_are_refused(monkeypatch, names):
    """Example: by the variables of each launcher, on the first process; one process is alone."""
    for name in [*LAUNCHERS, *LAUNCHERS.values()]:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(ranks_module, "petsc", lambda: AlonePETSc)
    assert Ranks().size == 1
    size, rank = names
    monkeypatch.setenv(size, "2")
    monkeypatch.setenv(rank, "0")
    with pytest.raises(InputError, match="2 processes have been started, but each is alone"):
        Ranks()
    monkeypatch.setenv(rank, "1")
    with pytest.raises(OtherRankError):
        Ranks()


def test_processes_of_srun(monkeypatch):
    """Example: SLURM counts those of a step; tasks of a batch script without srun are none."""
    for name in [*LAUNCHERS, *LAUNCHERS.values(), "SLURM_STEP_NUM_TASKS"]:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SLURM_NTASKS", "4")
    monkeypatch.setenv("SLURM_PROCID", "0")
    assert launched() == (0, 1)
    monkeypatch.setenv("SLURM_STEP_NUM_TASKS", "4")
    monkeypatch.setenv("SLURM_PROCID", "3")
    assert launched() == (3, 4)


class OneRank:
    """``Ranks`` of one process that is to deal out to ``size`` of them."""

    rank = 0

    def __init__(self, size):
        self.size = size

    sum = max = min = staticmethod(float)

    def each(self, value):
        return np.array([value])


@pytest.mark.parametrize("ranks", [2, 3, 7])
def test_ranks_get_alike_many_bodies(ranks):
    """Property: of a random cloud and of layers that coordinates do not tell apart."""
    cloud = np.random.default_rng(0).random((1000, 3))
    layers = np.repeat(np.arange(10.0), 100)[:, None] * [0, 0, 1.0]
    for position in (cloud, layers):
        counts = np.bincount(by_space(position, OneRank(ranks)), minlength=ranks)
        assert counts.sum() == 1000 and np.ptp(counts) <= ranks


def test_ends_of_the_law(tmp_path):
    """A pose's network keeps stiffness and load, so that another law is another file."""
    network = network_of(crystal(), 2.0)
    assert isinstance(network, ContactNetwork) and network.exponent == 2.0
    assert network.stiffness == pytest.approx(1e5)
