"""Loading paths of periodic packings: stresses that are held, tables, stops, the program."""

import csv

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.errors import InputError, NoRest, OutputError, SceneError, SceneWarning
from rigidlimit.paths import legs
from rigidlimit.paths.table_files import unfinished_of
from tests.cli.program import forked as run

SCENE = """
name = "twelve"
dim = 2
dt = 0.05
[cell]
vectors = [4.2, 5.6]
[materials.default]
density = 1.0
[[lattices]]
shape = "disk"
radii = [0.4, 0.6]
counts = [3, 4]
spacing = 1.4
jitter = 0.05
seed = 4
[[path]]
kind = "isotropic"
pressures = [1.0, 2.0]
[[path]]
kind = "simple-shear"
strain = 0.01
steps = 6
pressure = 2.0
inertial_number = 0.01
"""


@pytest.fixture(scope="module")
def scene_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("paths") / "twelve.toml"
    path.write_text(SCENE)
    return path


@pytest.fixture(scope="module")
def whole(scene_file):
    """The path of the file, followed without a stop."""
    scene = rl.scenes.load(str(scene_file))
    return rl.paths.follow(scene, legs.legs_of(scene.bodies, scene.path))


def test_stages_hold_their_stress(whole):
    """Property: stress at rest is the prescribed one, to the rounding of sums over contacts; a
    second stage under twice the stress moves nothing, and has twice the forces.

    A packing of smooth disks that is held in all directions is isostatic: as many contacts bear as
    disks and cell have motions that can be felt, 2 (n - rattlers) + 3 - 2.
    """
    first, second = whole.table[:2]
    for row, pressure in ((first, 1.0), (second, 2.0)):
        for part, known in (("xx", pressure), ("yy", pressure), ("xy", 0.0)):
            assert abs(row[f"stress_{part}"] - known) < 1e-12
        disks = 12 - row["rattlers"]
        assert row["contacts"] == 2 * disks + 1
        np.testing.assert_allclose(
            row["coordination_without_rattlers"], 2 * row["contacts"] / disks, rtol=1e-14
        )
    assert first["void_ratio"] == second["void_ratio"] < 0.35
    assert whole.converged and "8 rows of 3 legs, all steps converged" in whole.message


def test_strain_of_a_stage_is_that_of_the_cell(whole):
    """Property: volumetric strains add up to the logarithm of the volume. 1e-9: the cell creeps by
    steps of contact dynamics as well, of which the table has the row's own."""
    row = whole.table[0]
    solid = np.pi * float((whole.simulation.bodies.bounding_radius[:12] ** 2).sum())
    volume = (1.0 + row["void_ratio"]) * solid
    assert abs(row["strain_xx"] + row["strain_yy"] - np.log(volume / (4.2 * 5.6))) < 1e-9


def test_shear_holds_the_normal_stress(whole):
    """Property: sigma_yy differs from the prescribed stress by the inertia of the cell alone, W
    times its acceleration; and the strain grows by the rate."""
    shear = whole.table[2:]
    np.testing.assert_allclose(np.diff(shear["strain_xy"]), 0.01 / 6, rtol=1e-12)
    assert np.ptp(shear["strain_xx"]) == 0.0
    bodies, dt = whole.simulation.bodies, whole.simulation.dt
    rate = np.diff(shear["strain_yy"]) / dt
    solid = np.pi * float((bodies.bounding_radius[:12] ** 2).sum())
    inertia = bodies.mass[-1] * bodies.cell_length**2
    missing = inertia * np.diff(rate) / dt / ((1.0 + shear["void_ratio"][1:-1]) * solid)
    # 1e-9: rates are differences of strains
    np.testing.assert_allclose(shear["stress_yy"][1:-1] - 2.0, missing, atol=1e-9)


def test_inertial_numbers():
    """Closed form: I = rate d sqrt(rho/p) for equal balls, rate sqrt(m/p) for disks."""
    balls = rl.Scene(cell=(9, 9, 9))
    balls.add(rl.Sphere(0.5), position=(0, 0, 0), material=rl.Material(density=4.0))
    assert abs(legs.rate_of(balls.bodies, 16.0, 1e-3) - 1e-3 / 1.0 * np.sqrt(16.0 / 4.0)) < 1e-15
    disks = rl.Scene(dim=2, cell=(9, 9))
    disks.add(rl.Disk(0.5), position=(0, 0), mass=4.0)
    (leg,) = legs.triaxial(disks.bodies, strain=0.1, steps=10, pressure=16.0, inertial_number=0.1)
    assert abs(leg.rate[1][1] + 0.2) < 1e-15 and abs(leg.dt - 0.01 / 0.2) < 1e-15
    assert np.isnan(leg.stress[1][1]) and leg.stress[0][0] == 16.0
    (leg,) = legs.pure_shear(disks.bodies, strain=0.1, steps=10, pressure=16.0)
    assert leg.rate[0][0] > 0.0 and leg.stress[1][1] == 16.0
    (leg,) = legs.uniaxial(disks.bodies, strain=0.1, steps=10, dt=0.5, axis="x")
    assert abs(leg.rate[0][0] + 0.02) < 1e-15 and not np.isfinite(leg.stress).any()


@pytest.mark.parametrize("rows", [1, 4])
def test_a_stopped_path_goes_on(scene_file, whole, tmp_path, rows):
    """Property: a path that is stopped, between stages or in the middle of the shear, has the same
    numbers in the end as one that was not, to the last bit."""
    out = tmp_path / "table.csv"
    scene = rl.scenes.load(str(scene_file))
    given = scene, legs.legs_of(scene.bodies, scene.path)

    def stop(simulation, row):
        return (row["leg"], row["step"]) == ((0, 0) if rows == 1 else (2, 1))

    part = rl.paths.follow(*given, out=out, callback=stop)
    assert len(part.table) == rows and unfinished_of(out).exists() and not out.exists()
    again = r"go on with --resume \(resume=True\), or begin anew with --overwrite"
    with pytest.raises(OutputError, match=again):
        rl.paths.follow(*given, out=out)
    other = rl.scenes.load(str(scene_file))
    other.add(rl.Disk(0.1), position=(0, 0))
    with pytest.raises(OutputError, match="of another scene"):
        rl.paths.follow(other, given[1], out=out, resume=True)

    def fail(simulation, row):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):  # after one more row, which is kept
        rl.paths.follow(*given, out=out, resume=True, callback=fail)
    found = rl.paths.follow(*given, out=out, resume=True)
    assert not unfinished_of(out).exists()
    with pytest.raises(OutputError, match=r"exists; begin anew with --overwrite \(overwrite=True"):
        rl.paths.follow(*given, out=out)
    finished = "nothing to resume: the path is finished; to follow it anew add --overwrite"
    with pytest.raises(OutputError, match=finished):
        rl.paths.follow(*given, out=out, resume=True)
    with pytest.raises(OutputError, match="there is no unfinished path"):
        rl.paths.follow(*given, out=tmp_path / "other.csv", resume=True)
    np.testing.assert_array_equal(found.table, whole.table)
    with open(out, encoding="utf-8") as sheet:
        lines = list(csv.DictReader(sheet))
    assert [float(line["stress_xy"]) for line in lines] == whole.table["stress_xy"].tolist()


def test_errors_of_paths(scene_file, tmp_path):
    """Each mistake is one clear error."""
    scene = rl.scenes.load(str(scene_file))
    bodies = scene.bodies
    for table, told in (
        (dict(kind="isotropic"), "needs pressures"),
        (dict(kind="isotropic", pressures=[1.0], steps=3), "steps is no key"),
        (dict(kind="oedometer", stresses=[1.0], axis="z"), "expected one of x, y"),
        (dict(kind="triaxial", strain=0.0, steps=3, pressure=1.0), "not zero"),
        (dict(kind="triaxal"), "did you mean 'triaxial'"),
        (dict(kind="free", stress=[[1.0, 0.0], [0.0, np.nan]], rate=[[0, 0], [0, 1]]), "number of"),
    ):
        with pytest.raises(InputError, match=told):
            legs.legs_of(bodies, [table])
    with pytest.raises(SceneError, match="stress has shape"):
        legs.legs_of(bodies, [dict(kind="free", stress=[[1.0]])])
    with pytest.raises(InputError, match="positive numbers"):
        rl.paths.isotropic(scene, pressures=[1.0, -1.0])
    with pytest.raises(InputError, match="has no periodic cell"):
        rl.paths.isotropic("beam", pressures=[1.0])
    with pytest.raises(InputError, match=r"ends in .csv"):
        rl.paths.isotropic(scene, pressures=[1.0], out=tmp_path / "table.txt")
    with pytest.raises(InputError, match="beside a Simulation"):
        rl.paths.isotropic(rl.Simulation(scene), pressures=[1.0], tolerance=1e-8)


def test_time_of_a_path_is_limited(scene_file):
    """Property: the wall clock ends stages and steps alike, and tells where."""
    scene = rl.scenes.load(str(scene_file))
    given = legs.legs_of(scene.bodies, scene.path)
    with pytest.raises(NoRest, match="expected more time"):
        rl.paths.follow(scene, given, max_seconds=1e-6)
    driven = [leg for leg in given if leg.steps]
    ended = pytest.raises(NoRest, match="not at its end in time: 0 rows are done")
    with pytest.warns(SceneWarning, match="isotropic"), ended:  # of bodies that do not touch
        rl.paths.follow(scene, driven, max_seconds=1e-6)


def test_free_legs(scene_file):
    """Property: a leg by its tensors is that of the kind with these."""
    bodies = rl.scenes.load(str(scene_file)).bodies
    (known,) = legs.triaxial(bodies, strain=0.1, steps=10, pressure=16.0)
    table = {"stress": known.stress, "rate": known.rate, "steps": 10, "dt": known.dt}
    (leg,) = legs.legs_of(bodies, [{"kind": "free", **table}])
    np.testing.assert_array_equal(leg.stress, known.stress)
    assert (leg.rate, leg.steps, leg.dt) == (known.rate, known.steps, known.dt)


GALLERY = """
gallery = "periodic-packing"
[parameters]
count = 16
dim = 2
friction = 0.0
[path]
kind = "isotropic"
pressures = [1.0]
"""


def test_a_path_of_the_gallery(tmp_path):
    """Property: the path of a file that names a scene of the gallery and its parameters."""
    path = tmp_path / "loose.toml"
    path.write_text(GALLERY)
    scene = rl.scenes.load(path)
    assert len(scene) == 16 and scene.path == [{"kind": "isotropic", "pressures": [1.0]}]
    found = rl.paths.follow(scene, legs.legs_of(scene.bodies, scene.path))
    np.testing.assert_allclose(found.table["pressure"], [1.0], rtol=1e-8)  # the steps' residual


def test_the_program(scene_file, whole, tmp_path):
    """Property: rigidlimit path writes the table of the functions; HDF5 holds scene and path."""
    h5py = pytest.importorskip("h5py")
    out = tmp_path / "table.h5"
    shown = run("path", scene_file, "--out", out, "--picture", tmp_path / "path.png")
    assert shown.returncode == 0, shown.stderr
    assert "simple-shear" in shown.stdout and "all steps converged" in shown.stdout
    assert (tmp_path / "path.png").stat().st_size > 1e4
    with h5py.File(out) as file:
        np.testing.assert_array_equal(file["stress_yy"][:], whole.table["stress_yy"])
        assert "[cell]" in file.attrs["scene"] and "simple-shear" in file.attrs["path"]
    again = run("path", scene_file, "--out", out)
    assert again.returncode == 2 and "overwrite" in again.stderr
    none = run("path", "beam")
    assert none.returncode == 2 and "add a table [path]" in none.stderr


def test_stress_by_contacts_is_stress_by_walls():
    """Closed form: a packing between two walls and two platens that are pushed, which cross: by its
    contacts it has the stress of the forces on its sides, and its pressures are loads over sides.
    1e-9: the tolerance of the balance over the smallest load."""
    rng = np.random.default_rng(2)
    scene = rl.Scene(dim=2, gravity=(0, 0), dt=0.02)
    for normal in ((1, 0), (0, 1)):
        scene.add(rl.HalfSpace(2), position=(0, 0), normal=normal, group="platens")
    right = scene.add(rl.rectangle(1, 9), position=(4.5, 2), mass=1, fixed=("y", "rz"),
                      load=(-3.0, 0), group="platens", name="right")  # fmt: skip
    top = scene.add(rl.rectangle(9, 1), position=(2, 4.5), mass=1, fixed=("x", "rz"),
                    load=(0, -5.0), group="platens", name="top")  # fmt: skip
    grid = np.stack(np.meshgrid(np.arange(3), np.arange(3)), -1).reshape(-1, 2)
    radii = rng.uniform(0.4, 0.6, 9)
    disks = scene.add_many([rl.Disk(r) for r in radii], 0.65 + 1.3 * grid, mass=0.1)
    rest = rl.settle(scene)
    step = rest.simulation.step(compatible=True)
    width, height = step.state.position[right, 0] - 0.5, step.state.position[top, 1] - 0.5
    found = rl.stress(step, width * height, bodies=disks)
    np.testing.assert_allclose(np.diag(found), [3.0 / height, 5.0 / width], atol=1e-9)
    # forces of walls on disks, where they act: V sigma = -sum of x F^T
    contacts = step.contacts
    own = np.isin(contacts.body, disks)
    outer = np.flatnonzero(own.sum(axis=1) == 1)
    sign = np.where(own[outer, 1], 1.0, -1.0)
    push = sign[:, None] * step.force_vectors[outer]
    walls = -np.einsum("mi,mj->ij", contacts.point[outer], push)[:2, :2] / (width * height)
    np.testing.assert_allclose(found, walls, atol=1e-9)


def test_rough_bodies_take_steps_of_a_tenth_of_the_inertial_number():
    """Property: a path whose steps are too long for friction says into how many to divide it, and
    so divided it converges."""
    scene = rl.scenes.periodic_packing(30, dim=2, friction=0.5)
    squeezed = rl.paths.isotropic(scene, pressures=[1e4]).simulation
    begun = squeezed.checkpoint()

    def sheared(steps):
        squeezed.restore(begun)
        return rl.paths.simple_shear(squeezed, strain=5e-3, steps=steps, pressure=1e4)

    path = sheared(4)
    assert not path.converged
    assert path.message.endswith("take 50 steps for 4, or a larger inertial_number")
    assert sheared(50).converged


def test_loose_bodies_are_to_be_squeezed_first():
    """A leg that is driven under a stress says that its bodies do not touch: the cell shrank until
    a body crossed it in a step, which was all that was said."""
    scene = rl.scenes.periodic_packing(30, dim=2, friction=0.5)
    with pytest.warns(SceneWarning, match="30 bodies have 0 contacts: .* isotropic"):
        rl.paths.simple_shear(scene, strain=1e-8, steps=1, pressure=1e4)
