"""A LAMMPS dump as a network file, by slices: that of the scene which ``read_packing`` makes."""

from pathlib import Path

import h5py
import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.adapters.packings.dump_slices import find_snapshot, read_slice
from rigidlimit.distributed import ContactNetwork
from rigidlimit.errors import InputError

from .networks import launched, needs_petsc, one_process

SIDE = 4
HEAD = "ITEM: TIMESTEP\n{step}\nITEM: NUMBER OF ATOMS\n{count}\nITEM: BOX BOUNDS {flags}\n"


def write_dump(path: Path, flags: str = "pp pp ff", count: int | None = None) -> Path:
    """Two snapshots of balls near a cubic lattice, which overlap, in no order, with gaps between
    the ids; the upper layer is of type 2."""
    rng = np.random.default_rng(0)
    grid = np.stack(np.meshgrid(*[range(SIDE)] * 3, indexing="ij"), -1).reshape(-1, 3) + 0.5
    with open(path, "w") as file:
        for step in range(2):
            at = (grid + 0.02 * rng.standard_normal(grid.shape)) % SIDE
            lines = [
                f"{3 * k + 2} {1 + (z > SIDE - 1)} {float(x)!r} {float(y)!r} {float(z)!r} 0.53"
                for k, (x, y, z) in enumerate(at)
            ]
            file.write(HEAD.format(step=step, count=count or len(lines), flags=flags))
            file.write(f"0 {SIDE}\n" * 3 + "ITEM: ATOMS id type x y z radius\n")
            file.writelines(f"{lines[k]}\n" for k in rng.permutation(len(lines)))
    return path


@pytest.mark.parametrize("frame", [0, -1])
@pytest.mark.parametrize("parts", [1, 2, 7])
def test_slices_make_the_whole(tmp_path, parts, frame):
    """Reference twin: ``read_packing`` of the same snapshot."""
    path = write_dump(tmp_path / "balls.dump")
    place = find_snapshot(path, frame)
    slices = [read_slice(path, place, part, parts) for part in range(parts)]
    ids, position = (
        np.concatenate([getattr(s, name) for s in slices]) for name in ("id", "position")
    )
    scene = rl.read_packing(path, frame=frame).scene
    assert place.count == len(ids) == SIDE**3
    np.testing.assert_array_equal(position[np.argsort(ids)], scene.state.position[:-1])


def test_mistakes_are_named_by_their_lines(tmp_path):
    """Example: the line is that of the file, whatever slice it is in."""
    path = write_dump(tmp_path / "balls.dump")
    lines = path.read_text().splitlines()
    at = len(lines) - 3
    lines[at] = lines[at].replace(" 0.53", " wide")
    path.write_text("\n".join(lines))
    place = find_snapshot(path, -1)
    with pytest.raises(InputError, match=f"line {at + 1}: .*expected a number for radius"):
        read_slice(path, place, 2, 3)
    with pytest.raises(InputError, match="has 2 snapshots; snapshot 5 is not there"):
        find_snapshot(path, 5)
    with pytest.raises(InputError, match="expected fewer ranks than atoms"):
        read_slice(path, find_snapshot(path, 0), 1, 10_000)
    (tmp_path / "empty.dump").write_text("")
    with pytest.raises(InputError, match="cannot be read as a dump"):
        find_snapshot(tmp_path / "empty.dump", -1)


def _sorted(file):
    """Contacts of a network file in one order: pairs, and what belongs to them."""
    body = file["contacts/body"][:]
    turned = body[:, 0] > body[:, 1]
    body[turned] = body[turned, ::-1]
    # two balls may touch on both sides of a narrow cell: by their gaps
    order = np.lexsort((file["contacts/gap"][:], body[:, 1], body[:, 0]))
    names = ("gap", "stiffness", "friction", "tangential_stiffness")
    return [body[order]] + [
        file[f"contacts/{name}"][:][order] for name in names if name in file["contacts"]
    ]


@needs_petsc
@pytest.mark.parametrize("friction", [0.0, 0.4])
def test_networks_of_any_number_of_ranks(tmp_path, friction):
    """Reference twin: ``ContactNetwork.of_scene`` of the scene in one process, with a periodic
    cell, a floor and a held layer; gaps to the rounding of coordinates, forces to what both solve
    to."""
    path = write_dump(tmp_path / "balls.dump")
    material = rl.Material(friction=friction)
    packing = rl.read_packing(path, material=material, fixed=[2], walls=["zlo"])
    whole = ContactNetwork.of_scene(packing.scene, stiffness=1e6)
    whole.write(tmp_path / "whole.h5")
    with h5py.File(tmp_path / "whole.h5") as file:
        wanted = _sorted(file)
        bodies = [file[f"bodies/{name}"][:] for name in ("load", "free")]
    options = ("--stiffness", 1e6, "--friction", friction, "--fixed", 2, "--walls", "zlo")
    for ranks in (1, 2):
        out = tmp_path / f"{ranks}.h5"
        done = launched(ranks, "-m", "rigidlimit", "network", path, "--out", out, *options)
        assert done.returncode == 0, done.stderr
        assert done.stdout.count("64 balls") == 1
        with h5py.File(out) as file:
            assert set(file["contacts"]) == set(whole.of_contacts)
            for found, expected in zip(_sorted(file), wanted, strict=True):
                np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)
            for found, expected in zip(
                [file[f"bodies/{name}"][:] for name in ("load", "free")], bodies, strict=True
            ):
                np.testing.assert_array_equal(found, expected)
            network = ContactNetwork(
                **{name: file[f"bodies/{name}"][:] for name in ("position", "load", "free")},
                **{name: file[f"contacts/{name}"][:] for name in whole.of_contacts},
            )
        force, expected = (np.sort(one_process(each).force) for each in (network, whole))
        np.testing.assert_allclose(force, expected, rtol=0, atol=1e-9 * expected.max())


@needs_petsc
def test_mistakes_of_dumps_are_one_line(tmp_path):
    """Example: by the command, on two ranks; nothing is written."""
    out = tmp_path / "out.h5"
    for path, said in (
        (write_dump(tmp_path / "few.dump", count=65), "64 lines of atoms; expected 65"),
        (tmp_path / "none.dump", "No such file"),
    ):
        done = launched(2, "-m", "rigidlimit", "network", path, "--out", out)
        assert done.returncode == 2 and done.stderr.count("rigidlimit:") == 1, done.stderr
        assert said in done.stderr and not out.exists()
