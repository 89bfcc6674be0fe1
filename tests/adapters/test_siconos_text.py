"""Siconos' text files: every storage form, read and written; damage; known answers."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from rigidlimit.adapters import normal_problem, read_captured, solve_captured, write_siconos
from rigidlimit.errors import InputError, OutputError
from tests.adapters.test_captured import same, small_problem
from tests.captured import FOLDER, captured_file

STORAGES = "dense", "blocks", "sparse"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("FC3D_Example1.dat", [1.0, 1.0, 1.0]),
        ("FrictionContact3D_1c.dat", [1 / 15]),
        ("FrictionContact3D_RR_1c.dat", [0.1458 / 0.01344]),
    ],
)
def test_known_forces_of_dense_files(name, expected):
    """Analytic: of uncoupled contacts r = -q/W; Siconos stores these files by columns, after the
    sizes once more, and closes some with a flag."""
    answer = solve_captured(normal_problem(read_captured(captured_file(name))))
    np.testing.assert_allclose(answer.force, expected, rtol=1e-12)  # one division, and step 2


@pytest.mark.skipif(FOLDER is None, reason="shared/data/siconos is not beside the repository")
def test_every_file_reads():
    """Property: whatever lies in the folder reads, with W as symmetric as its mass is."""
    files = [f for f in FOLDER.iterdir() if f.suffix in (".dat", ".hdf5")]
    kinds = set()
    for file in files:
        problem = read_captured(file)
        local = problem.local()
        kinds.add((problem.kind, problem.dim))
        assert local.W.shape == (problem.dim * problem.contacts,) * 2
        assert local.blocks().blocksize == (problem.dim, problem.dim)
        # W of the capsules is noisy to 7e-4; a matrix misread by two places is off by its size
        W = local.W.toarray()
        assert np.abs(W - W.T).max(initial=0) <= 1e-2 * np.abs(W).max(initial=0)
    assert {("local", 2), ("global", 2), ("local", 3), ("global", 3)} <= kinds


def test_printed_digits_are_the_rounding():
    """CSparse's print has six digits; the other forms have all."""
    sparse = read_captured(captured_file("fc2d_granularflowonwall_00667_00000.dat"))
    assert sparse.contacts == 667 and sparse.rounding == 5e-6
    assert read_captured(captured_file("GFC3D_TwoRods1.dat")).rounding == 0.0


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("kind", ["local", "global"])
@pytest.mark.parametrize("dim", [2, 3])
def test_round_trip(tmp_path, kind, dim, storage):
    """17 digits give the same values back, rows and columns not mixed up."""
    problem = small_problem(kind, dim=dim)
    if kind == "local":
        problem = replace(problem, W=sp.csr_array(np.triu(problem.W.toarray())))
    path = tmp_path / "p.dat"
    write_siconos(problem, path, storage=storage)
    same(read_captured(path), replace(problem, title="p.dat", description=""))


@pytest.mark.parametrize("storage", STORAGES)
def test_matrices_without_entries(tmp_path, storage):
    """Contacts that nothing moves, and no contacts at all."""
    for contacts in (0, 2):
        problem = small_problem("local")
        problem = replace(problem, mu=np.zeros(contacts), q=np.zeros(3 * contacts),
                          W=sp.csr_array((3 * contacts, 3 * contacts)))  # fmt: skip
        write_siconos(problem, tmp_path / "p.dat", storage=storage)
        same(read_captured(tmp_path / "p.dat"), replace(problem, title="p.dat", description=""))


@pytest.mark.parametrize("flag", ["", "0", "1"])
def test_the_flag_of_old_versions(tmp_path, flag):
    """One number 0 or 1 may close a file; Siconos wrote it until version 3.2."""
    problem = small_problem("local")
    path = tmp_path / "p.dat"
    write_siconos(problem, path)
    path.write_text(f"{path.read_text()}{flag}\n")
    same(read_captured(path), replace(problem, title="p.dat", description=""))


def test_local_and_global_agree():
    """Reference twin: W = H^T M^-1 H and q by dense matrices."""
    problem = small_problem("global")
    local = problem.local()
    inverse, H = np.linalg.inv(problem.M.toarray()), problem.H.toarray()
    np.testing.assert_allclose(local.W.toarray(), H.T @ inverse @ H, rtol=1e-13)
    np.testing.assert_allclose(local.q, problem.w + H.T @ inverse @ problem.f, rtol=1e-13)
    assert local.kind == "local" and local.H is None and local.local() is local


SPARSE = "2 1 2 2 2 2 CSparse 2-by-2, nzmax: 2 nnz: 2, 1-norm: 3"
BLOCKS = "3 2 1 6 6 4 2 2 3 6 3 6 3 4 0 2 4 0 1 0 1"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "too early"),
        ("3 2 0 6 6 1.0 2", "where a whole number was expected"),
        ("3 2 0 6 6 6 6 1.0", "too early: the values of the first matrix takes 36, 1 are left"),
        ("2 1 0 2 2 1 0 0 1 0 0 0.5", "expected `2 2` once more"),
        ("2 1 0 2 2 2 2 1 0 0 1 0 0", "2 numbers follow a matrix of 2 rows; expected 2 of q and 1"),
        ("2 1 0 2 2 2 2 1 0 0 1 0 0 0.5 7", "1 number left over after mu, the first 7"),
        ("2 1 0 2 2 2 2 1 0 0 1 0 0 0.5 0 0 0", "6 numbers follow"),
        ("2 1 0 2 2 2 2 1 0 0 x 0 0 0.5", "could not convert"),
        ("2 1 0 2 2 2 2 1 0 0 nan 0 0 0.5", "not finite"),
        ("2 1 0 3 3 3 3 1 0 0 0 1 0 0 0 1 0 0 0 0.5", "shape"),
        ("3 2 7 6 6", "form 7"),
        ("three 2 0", "not in Siconos"),
        ("5 1 0 5 5 5 5", "rolling friction"),
        ("2 2 0 4 4 4 4 " + "1 " * 16 + "0 " * 4 + "0.5 0.5 0.1 0.1", "rolling friction"),
        ("1 1 0 1 1 1 1 1 0 0.5", "dimension 1"),
        (f"{BLOCKS} 9 1.0", "block 9 of the first matrix found where block 0"),
        (BLOCKS.replace("3 6 3 6", "3 7 3 6"), "do not divide"),
        (BLOCKS.replace("0 2 4", "0 2 5"), "growing numbers up to 4"),
        (BLOCKS.replace("0 1 0 1", "0 1 0 2"), "does not fit"),
        (SPARSE.replace("2-by-2", "2-by-3"), "then 2-by-3, follows"),
        (f"{SPARSE} col 0 : locations 0 to 0 5 : 1 col 1 : locations 1 to 1 0 : 1", "beyond"),
        (f"{SPARSE} col 0 : locations 0 to 8", "at most 1"),
        (f"{SPARSE} col 1 : locations 0 to 0", "found where column 0"),
        (f"{SPARSE} col 0 : locations 0 to 0 0 : 1 col 1 : locations 1 to 0", "has 1 entries"),
        (f"{SPARSE} col 0 : locations 0 to 0 0 : 1", "too early"),
    ],
)
def test_damaged_text(tmp_path, text, message):
    """Every damage is one OutputError that names the file and what is wrong."""
    path = tmp_path / "p.dat"
    path.write_text(text)
    with pytest.raises(OutputError, match=message) as error:
        read_captured(path)
    assert str(path) in str(error.value)


def test_neither_hdf5_nor_text(tmp_path):
    """Bytes of something else."""
    (tmp_path / "p.dat").write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(OutputError, match="neither HDF5 nor text"):
        read_captured(tmp_path / "p.dat")


def test_unknown_storage(tmp_path):
    """A misspelt form is refused."""
    with pytest.raises(InputError, match="did you mean 'dense'"):
        write_siconos(small_problem("local"), tmp_path / "p.dat", storage="dens")


@pytest.mark.parametrize("extra", ["one more", "one less"])
@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("kind", ["local", "global"])
def test_left_over_and_missing_numbers(tmp_path, kind, storage, extra):
    """Property: no form reads with a number too many or too few."""
    path = tmp_path / "p.dat"
    write_siconos(small_problem(kind), path, storage=storage)
    text = path.read_text()
    path.write_text(f"{text}3.5\n" if extra == "one more" else text.rstrip().rpartition("\n")[0])
    with pytest.raises(OutputError, match=r"p\.dat"):
        read_captured(path)
