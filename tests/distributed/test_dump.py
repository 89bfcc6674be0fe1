"""A LAMMPS dump as a network file, by slices: that of the scene which ``read_packing`` makes."""

from pathlib import Path

import h5py
import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.adapters.packings.dump_slices import ENTRIES, find_snapshot, read_pairs, read_slice
from rigidlimit.adapters.packings.lammps_local import read_local
from rigidlimit.adapters.packings.lines import read_text
from rigidlimit.collision.search import find_contacts
from rigidlimit.distributed import ContactNetwork
from rigidlimit.errors import InputError

from .networks import Command, Dump, needs_petsc, one_process, solved

SIDE = 4
HEAD = "ITEM: TIMESTEP\n{step}\nITEM: NUMBER OF ATOMS\n{count}\nITEM: BOX BOUNDS {flags}\n"


def write_dump(
    path: Path, flags: str = "pp pp ff", count: int | None = None, layers: int = SIDE,
    above: int = 0, larger: float = 0.53,
) -> Path:  # fmt: skip
    """Two snapshots of balls near a cubic lattice, which overlap, in no order, with gaps between
    the ids; the upper layer is of type 2. above: of others above them, which touch nothing.
    larger: radius in the upper half."""
    rng = np.random.default_rng(0)
    axes = range(SIDE), range(SIDE), range(layers)
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, 3) + 0.5
    apart = [(2.0, 2.0, layers + 2.0 * k) for k in range(1, above + 1)]
    box = SIDE, SIDE, layers + 2 * above + 2 * (above > 0)
    with open(path, "w") as file:
        for step in range(2):
            at = (grid + 0.02 * rng.standard_normal(grid.shape)) % [SIDE, SIDE, layers]
            lines = [
                f"{3 * k + 2} {1 + (z > layers - 1)} {float(x)!r} {float(y)!r} {float(z)!r} "
                f"{larger if z > layers / 2 else 0.53}"
                for k, (x, y, z) in enumerate([*at, *apart])
            ]
            file.write(HEAD.format(step=step, count=count or len(lines), flags=flags))
            file.writelines(f"0 {length}\n" for length in box)
            file.write("ITEM: ATOMS id type x y z radius\n")
            file.writelines(f"{lines[k]}\n" for k in rng.permutation(len(lines)))
    return path


def write_pairs(path: Path, balls: Path, *, more: str = "") -> Path:
    """Tangential forces of all pairs of the last snapshot that overlap, in no order, in either
    direction, and of a pair that does not touch, which has none; ``more``: lines at the end."""
    scene = rl.read_packing(balls).scene
    contacts = find_contacts(scene.bodies, scene.state, 0.0)
    rng = np.random.default_rng(1)
    lines = ["2 92 0 0 0", *more.splitlines()]
    for a, b in rng.permutation(contacts.body[contacts.body[:, 1] < SIDE**3]):
        force = " ".join(repr(float(f)) for f in 10.0 * rng.standard_normal(3))
        lines.append("{} {} {}".format(*rng.permutation([3 * a + 2, 3 * b + 2]), force))
    columns = "c_pairs[1] c_pairs[2] c_rub[1] c_rub[2] c_rub[3]"
    with open(path, "w") as file:
        for step, rows in enumerate(([], lines)):
            file.write(f"ITEM: TIMESTEP\n{step}\nITEM: NUMBER OF ENTRIES\n{len(rows)}\n")
            file.write("ITEM: BOX BOUNDS pp pp ff\n" + f"0 {SIDE}\n" * 3)
            file.write(f"ITEM: ENTRIES {columns}\n" + "".join(f"{row}\n" for row in rows))
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


@pytest.mark.parametrize(("frame", "parts"), [(0, 1), (-1, 1), (-1, 3), (-1, 500)])
def test_slices_of_pairs_make_the_whole(tmp_path, frame, parts):
    """Reference twin: ``read_local`` of the same snapshot; more slices than pairs are empty ones,
    and so is a snapshot without pairs."""
    path = write_pairs(tmp_path / "pairs.dump", write_dump(tmp_path / "balls.dump"))
    place = find_snapshot(path, frame, ENTRIES)
    slices = [read_pairs(path, place, part, parts) for part in range(parts)]
    for found, expected in zip(
        map(np.concatenate, zip(*slices, strict=True)), read_local(read_text(path), frame),
        strict=True,
    ):  # fmt: skip
        np.testing.assert_array_equal(found, expected)
    assert place.count == sum(len(ids) for ids, _ in slices)
    with pytest.raises(InputError, match="without ITEM: ATOMS; expected a dump of atoms"):
        find_snapshot(path, frame)


def _sorted(file):
    """Contacts of a network file in one order: pairs, and what belongs to them."""
    body = file["contacts/body"][:]
    turned = body[:, 0] > body[:, 1]
    body[turned] = body[turned, ::-1]
    # two balls may touch on both sides of a narrow cell: by their gaps
    order = np.lexsort((file["contacts/gap"][:], body[:, 1], body[:, 0]))
    names = ("gap", "stiffness", "friction", "tangential_stiffness", "history_tangential")
    arrays = {name: values[:].copy() for name, values in file["contacts"].items()}
    if "history_tangential" in arrays:
        # in space, and on the second ball: frames and orders differ by parts
        rows = arrays["rows"][:, 1, 1:, :3]
        arrays["history_tangential"] = np.einsum("mk,mkx->mx", arrays["history_tangential"], rows)
        arrays["history_tangential"][turned] *= -1.0
    return [body[order]] + [arrays[name][order] for name in names if name in arrays]


KINDS = {"smooth": (0.0, (1, 2)), "rough": (0.4, (2,)), "sprung": (0.4, (1, 2))}
"""Friction, and numbers of ranks."""

UNLIKE = "balls 2 and {} have a tangential force"
MISTAKES = {
    "few": (2, "64 lines of atoms; expected 65"),
    "none": (1, "No such file"),
    "apart": (2, f"{UNLIKE.format(152)} and do not touch"),
    "unknown": (1, f"{UNLIKE.format(999)}, and not both"),
    "balls": (1, "without ITEM: ENTRIES; expected a dump of pairs (local)"),
    "gas": (2, "no bodies touch, so that there are no contact forces; expected"),
}
"""Ranks, and what is said."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """With dumps of balls and of pairs."""
    folder = tmp_path_factory.mktemp("dumps")
    balls = write_dump(folder / "balls.dump")
    write_pairs(folder / "pairs.dump", balls)
    write_pairs(folder / "apart.dump", balls, more="2 152 0 0 1")
    write_pairs(folder / "unknown.dump", balls, more="2 999 0 0 1")
    write_dump(folder / "few.dump", count=65)
    write_dump(folder / "dilute.dump", above=SIDE**3)
    write_dump(folder / "gas.dump", layers=0, above=4)
    write_dump(folder / "types.dump", layers=2 * SIDE)
    write_dump(folder / "sizes.dump", layers=2 * SIDE, larger=0.6)
    return folder


TYPES = {1: 0.0, 2: 0.4}
"""Friction of the balls of ``types.dump``."""


@pytest.fixture(scope="module")
def told(folder):
    """What ``rigidlimit network`` said, by one start for each number of ranks."""
    commands = {}

    def network(name: str, ranks: int, dump: str, friction: float, *more) -> None:
        words = ("network", folder / f"{dump}.dump", "--out", folder / f"{name}.h5")
        commands[name] = Command((*words, "--friction", friction, *more), ranks)

    for kind, (friction, numbers) in KINDS.items():
        options = ["--stiffness", 1e6, "--fixed", 2, "--walls", "zlo"]
        options += ["--springs", folder / "pairs.dump"] if kind == "sprung" else []
        for ranks in numbers:
            network(f"{kind}-{ranks}", ranks, "balls", friction, *options)
    for friction in (0.0, 0.4):
        network(f"dilute-{friction}", 2, "dilute", friction, "--stiffness", 1e6)
    commands["types"] = Dump(folder / "types.dump", 2, TYPES, {"stiffness": 1e6})
    commands["sizes"] = Dump(folder / "sizes.dump", 2, {1: 0.4, 2: 0.4})
    for name in ("few", "none", "gas"):
        network(name, MISTAKES[name][0], name, 0.4)
    for name in ("apart", "unknown", "balls"):
        springs = folder / f"{name}.dump"
        network(name, MISTAKES[name][0], "balls", 0.4, "--springs", springs)
    return solved(folder, commands)


@needs_petsc
@pytest.mark.parametrize("kind", KINDS)
def test_networks_of_any_number_of_ranks(folder, told, tmp_path, kind):
    """Reference twin: ``ContactNetwork.of_scene`` of the scene in one process, with a periodic
    cell, a floor and a held layer, also with springs; gaps to the rounding of coordinates, forces
    to what both solve to."""
    friction, numbers = KINDS[kind]
    springs = folder / "pairs.dump" if kind == "sprung" else None
    given = dict(material=rl.Material(friction=friction), fixed=[2], walls=["zlo"], springs=springs)
    packing = rl.read_packing(folder / "balls.dump", **given)
    whole = ContactNetwork.of_scene(packing.scene, stiffness=1e6)
    whole.write(tmp_path / "whole.h5")
    with h5py.File(tmp_path / "whole.h5") as file:
        wanted = _sorted(file)
        bodies = [file[f"bodies/{name}"][:] for name in ("load", "free")]
    for ranks in numbers:
        done = told[f"{kind}-{ranks}"]
        assert done.codes == [0] * ranks, done.stderr
        assert done.stdout.count("64 balls") == 1
        with h5py.File(folder / f"{kind}-{ranks}.h5") as file:
            assert set(file["contacts"]) == set(whole.of_contacts)
            for found, expected in zip(_sorted(file), wanted, strict=True):
                np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)
            for found, expected in zip(
                [file[f"bodies/{name}"][:] for name in ("load", "free")], bodies, strict=True
            ):
                np.testing.assert_array_equal(found, expected)
            network = whole.with_contacts(
                {name: file[f"contacts/{name}"][:] for name in whole.of_contacts},
                **{name: file[f"bodies/{name}"][:] for name in ("position", "load", "free")},
            )
        force, expected = (np.sort(one_process(each).force) for each in (network, whole))
        np.testing.assert_allclose(force, expected, rtol=0, atol=1e-9 * expected.max())


def same_contacts(path: Path, scene: rl.Scene, tmp_path: Path) -> None:
    """Those of the file are those of the scene in one process."""
    whole = ContactNetwork.of_scene(scene, stiffness=1e6)
    whole.write(tmp_path / "whole.h5")
    with h5py.File(path) as file, h5py.File(tmp_path / "whole.h5") as expected:
        assert set(file["contacts"]) == set(expected["contacts"])
        assert file["bodies/load"].shape == expected["bodies/load"].shape
        for found, wanted in zip(_sorted(file), _sorted(expected), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-14)


@needs_petsc
@pytest.mark.parametrize("friction", [0.0, 0.4])
def test_a_part_may_have_no_contacts(folder, told, tmp_path, friction):
    """Reference twin: one rank has a bed of balls, the other one balls above it that touch
    nothing."""
    done = told[f"dilute-{friction}"]
    assert done.codes == [0, 0], done.stderr
    balls, material = folder / "dilute.dump", rl.Material(friction=friction)
    scene = rl.read_packing(balls, material=material).scene
    same_contacts(folder / f"dilute-{friction}.h5", scene, tmp_path)


@needs_petsc
def test_a_part_may_have_smooth_balls_alone(folder, told, tmp_path):
    """Reference twin: only the upper layer is rough, which one of two ranks does not see."""
    assert "errors" not in told["types"], told["types"]
    material = {kind: rl.Material(friction=mu) for kind, mu in TYPES.items()}
    scene = rl.read_packing(folder / "types.dump", material=material).scene
    same_contacts(told["types"]["out"], scene, tmp_path)


@needs_petsc
def test_stiffnesses_are_those_of_the_whole(folder, told):
    """Reference twin: one of two ranks has the larger balls. The stiffness of Hooke's law has the
    median radius of the scene, which was that of each rank's balls."""
    assert "errors" not in told["sizes"], told["sizes"]
    scene = rl.read_packing(folder / "sizes.dump", material=rl.Material(friction=0.4)).scene
    whole = ContactNetwork.of_scene(scene)
    with h5py.File(told["sizes"]["out"]) as file:
        for name in ("stiffness", "tangential_stiffness"):
            found = np.sort(file[f"contacts/{name}"][:])
            np.testing.assert_allclose(found, np.sort(getattr(whole, name)), rtol=1e-14)


@needs_petsc
@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_of_dumps_are_one_line(folder, told, name):
    """Example: by the command, on one or two ranks; nothing is written."""
    ranks, said = MISTAKES[name]
    done = told[name]
    assert done.codes == [2] * ranks and done.stderr.count("rigidlimit:") == 1, done.stderr
    assert said in done.stderr and not (folder / f"{name}.h5").exists()
