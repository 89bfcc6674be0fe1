"""Forces of a given pose with its own overlaps, and what is said of steps that undo overlaps."""

import json

import numpy as np
import pytest

import rigidlimit as rl
from benchmarks import lammps_peer as lammps
from rigidlimit.errors import InputError, MissingExtra, SceneWarning
from rigidlimit.penalty import PenaltySimulation
from rigidlimit.scenes.toml import write_scene

from .cli.program import forked


def imported(scene, position):
    """The same bodies at other places, as a user reads them from a DEM."""
    new, fixed = rl.Scene(name="imported", dt=1e-3), ~scene.bodies.free.any(axis=1)
    for i, at in enumerate(position):
        mass = None if fixed[i] else float(scene.bodies.mass[i])
        new.add(scene.bodies.shape(i), position=at, fixed=bool(fixed[i]), mass=mass)
    return new


def test_forces_of_a_packing_from_lammps():
    """Peer: forces at rest in LAMMPS, contact by contact, to the tolerance of the solver, from the
    places of the balls alone. A step of 1 ms makes them a fifteenth too large, and says so."""
    try:
        lammps.library()
    except MissingExtra as error:
        pytest.skip(str(error))
    scene = rl.scenes.pyramid(5, drop=0)
    scale = 1e-5  # overlaps of 2e-4 radii
    steps = 3 * PenaltySimulation(scene, stiffness_scale=scale).run().steps + 10_000
    theirs = lammps.march_spheres(PenaltySimulation(scene, stiffness_scale=scale), steps)
    k = theirs.force.max() / -theirs.contacts.gap.min()
    packing = imported(scene, theirs.state.position)
    found = rl.forces_at_pose(packing, stiffness=k)
    assert found.converged and found.shift < 1e-6 * found.overlap
    force = theirs.contacts.carry_over(found.contacts, found.force)
    # what LAMMPS's rest leaves, 1e-11 of the weight here
    np.testing.assert_allclose(force, theirs.force, atol=1e-9 * theirs.force.max())
    with pytest.warns(SceneWarning, match=r"overlap/dt\^2 = 0\.25\d m/s\^2, beside 9\.81"):
        step = rl.Simulation(packing).step()
    assert step.force.max() > 1.05 * theirs.force.max()
    assert "forces_at_pose" in step.doubt and step.doubt in step.message


def test_overlaps_of_the_program_are_not_told_of():
    """Property: disks that fall, meet and come to rest leave overlaps of second order, and nothing
    is said of these; nor of a pose that ``settle`` found."""
    simulation = rl.Simulation(rl.scenes.pile_2d(20), compatible="never")
    assert not any(simulation.step().overlapping for _ in range(300))
    rl.settle(simulation)
    assert simulation.step().overlapping == ""


@pytest.mark.parametrize("law, p", [("hooke", 2.0), ("hertz", 2.5)])
def test_own_gaps_share_the_load(law, p):
    """Closed form: a beam on three springs of which the middle one overlaps by h at the pose and
    the others by nothing; f = k (w + h)^(p-1) there and k w^(p-1) on the others, at the depth w at
    which they bear its weight."""
    k, h, weight = 1e6, 1e-5, 10.0
    scene = rl.Scene(dim=2, gravity=(0, -10.0), law=law)
    for x, up in ((-1, 0.0), (0, h), (1, 0.0)):
        scene.add(rl.Disk(0.1), position=(x, up), fixed=True)
    scene.add(rl.rectangle(2.2, 0.1), position=(0, 0.15), mass=weight / 10)
    found = rl.forces_at_pose(scene, stiffness=k)
    middle = found.force[np.abs(found.contacts.point[:, 0]).argmin()]
    sides = (weight - middle) / 2
    assert found.converged and found.force.sum() == pytest.approx(weight, rel=1e-9)
    depth = (sides / k) ** (1 / (p - 1))
    # tolerance of the solver, 1e-10 of the load
    assert middle == pytest.approx(k * (depth + h) ** (p - 1), rel=1e-7)


def test_gaps_within_the_touch_are_none():
    """Closed form: a beam over three disks of which the outer ones are missed by 2e-6 and 4e-6 m,
    as in packings made without overlaps: by its gaps it balances on the middle one, within the
    touch each of them takes a third (tolerance of the solver, 1e-10). Contacts are counted by the
    same."""
    scene = rl.Scene(dim=2, gravity=(0, -10.0))
    for x, down in ((-1, 2e-6), (0, 0.0), (1, 4e-6)):
        scene.add(rl.Disk(0.1), position=(x, -down), fixed=True)
    scene.add(rl.rectangle(2.2, 0.1), position=(0, 0.15), mass=1, name="beam")
    apart = rl.forces_at_pose(scene, stiffness=1e8)
    assert (apart.force > 1e-6).sum() == 1
    found = rl.forces_at_pose(scene, stiffness=1e8, touch=5e-6)
    np.testing.assert_allclose(found.force, 10 / 3, rtol=1e-7)
    for touch, count in ((1e-7, 1), (3e-6, 2), (5e-6, 3)):
        assert rl.coordination(apart, touch=touch).mean == count
    with pytest.raises(InputError, match="touch is -1; expected a distance"):
        rl.forces_at_pose(scene, touch=-1)


def test_the_touch_by_the_command(tmp_path):
    """Closed form: two balls above each other on a floor, apart by 1e-6 m: the lower contact has
    the weight of both, within the touch."""
    table = tmp_path / "balls.csv"
    table.write_text("x,y,z,radius,mass\n0,0,0.5,0.5,1\n0,0,1.500001,0.5,1\n")
    scene = rl.read_packing(table).scene
    scene.add(rl.HalfSpace(), position=(0, 0, -1e-6))
    write_scene(scene, tmp_path / "balls.toml")
    done = forked("forces", "balls.toml", "--touch", "1e-5", "--out", "forces.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    table = np.genfromtxt(tmp_path / "forces.csv", delimiter=",", names=True)
    assert table["force"].max() == pytest.approx(2 * 9.81, rel=1e-9)


def test_another_stiffness_is_told():
    """Closed form: a disk that overlaps twice as deep as it should bears its weight, and it is said
    that it shifts by half the overlap."""
    scene = rl.Scene(dim=2, gravity=(0, -10.0))
    scene.add(rl.HalfSpace(2), position=(0, 0))
    scene.add(rl.Disk(0.1), position=(0, 0.1 - 2e-5), mass=1)
    found = rl.forces_at_pose(rl.Simulation(scene), stiffness=1e6)
    assert found.force == pytest.approx([10.0]) and found.shift == pytest.approx(1e-5)
    assert "not the rest of this stiffness" in found.message
    assert "not the rest" not in rl.forces_at_pose(scene, stiffness=5e5).message
    assert rl.body_forces(found)[0, 1] == pytest.approx(-10.0)
    # it falls: nothing bears its weight
    scene.add(rl.Disk(0.1), position=(1.0, 0.5), mass=1, name="loose")
    lost = rl.forces_at_pose(scene, stiffness=5e5)
    assert lost.status is rl.Status.LOAD_NOT_CARRIED
    assert lost.imbalance.reshape(-1, 6)[2, 1] == pytest.approx(-10.0)


def test_nothing_touches():
    """Contract: one clear error for a pose without contacts, and for a stiffness that is none."""
    scene = rl.Scene(name="far", dim=2)
    scene.add(rl.Disk(0.1), position=(0, 0))
    scene.add(rl.Disk(0.1), position=(1, 0))
    with pytest.raises(InputError, match="no bodies touch"):
        rl.forces_at_pose(scene)
    with pytest.raises(InputError, match="stiffness"):
        rl.forces_at_pose(scene, stiffness=-1.0)


def test_the_command(tmp_path):
    """Contract: the same forces from the command line, in a table and a file."""
    scene = rl.Scene(name="disk", dim=2, gravity=(0, -10.0))
    scene.add(rl.HalfSpace(2), position=(0, 0), name="floor")
    scene.add(rl.Disk(0.1), position=(0, 0.1 - 2e-5), mass=1, name="disk")
    write_scene(scene, tmp_path / "disk.toml")
    out = tmp_path / "forces.json"
    answer = forked("forces", str(tmp_path / "disk.toml"), "--stiffness", "5e5", "--out", str(out))
    assert answer.returncode == 0 and "floor - disk" in answer.stdout
    written = json.loads(out.read_text())
    assert written["contacts"]["force"] == pytest.approx([10.0])
    assert written["summary"]["status"] == "converged"


def test_forces_of_a_rough_pose():
    """Peer: our DEM at rest, pose and tangential springs taken over; and what is said without."""
    scene = rl.scenes.rough_pyramid(3, friction=0.3)
    weights = scene.external_force()
    dem = PenaltySimulation(
        scene, external_force=0 * weights, restitution=0.3, stiffness_scale=1e-5
    )
    dem.load(weights, over=0.2)
    theirs = dem.run()
    assert theirs.at_rest
    pose = rl.Simulation(scene)
    pose.start_from(theirs.state, theirs.contacts, theirs.force)
    k = float(theirs.force.max() / -theirs.contacts.gap.min())
    found = rl.forces_at_pose(pose, stiffness=k, springs=theirs)
    assert found.converged and found.elastic.state == "history"
    at = theirs.contacts.places_in(found.contacts)
    mine = np.where(at[:, None] >= 0, found.force_vectors[at], 0.0)
    # the DEM's rest, 1e-8 of the weight, and its arms, shorter by half of overlaps of 3e-5
    np.testing.assert_allclose(mine, theirs.force_vectors, atol=1e-4 * theirs.force.max())
    assert np.abs(found.tangential_force).max() > 0.1 * found.force.max()
    going = rl.Simulation(scene, closed=1e-3)  # overlaps count as closed
    going.start_from(theirs.state, theirs.contacts, theirs.force, history=theirs.history)
    step = going.step()
    at = theirs.contacts.places_in(step.contacts)
    mine = np.where(at[:, None] >= 0, step.force_vectors[at], 0.0)
    np.testing.assert_allclose(mine, theirs.force_vectors, atol=1e-4 * theirs.force.max())
    assert going.at_rest and step.compatible.state == "history"
    bare = rl.forces_at_pose(pose, stiffness=k)
    assert "tangential springs, unknown from a pose alone" in bare.message
    assert np.abs(bare.force_vectors - found.force_vectors).max() > 1e-2 * theirs.force.max()


def test_forces_as_they_stand():
    """Closed form: a disk in flight, overlapping two disks by 1e-3 and 2e-3, is pressed with k
    times that, whatever its weight; what that leaves open is told. Of a pose at rest nothing is."""
    pair = rl.Scene(dim=2, gravity=(0, -10))
    for x in (-0.199, 0.198):
        pair.add(rl.Disk(0.1), position=(x, 0), fixed=True)
    pair.add(rl.Disk(0.1), position=(0, 0), mass=2, velocity=(1, 2), name="flies")
    found = rl.forces_at_pose(pair, stiffness=1e4, balance=False)
    np.testing.assert_allclose(np.sort(found.force), [10, 20], rtol=1e-12)
    np.testing.assert_allclose(found.imbalance.reshape(3, 6)[2], [-10, -20, 0, 0, 0, 0], atol=1e-12)
    assert str(found.status) == "unbalanced" and not found.converged and found.shift == 0
    assert (
        "unbalanced by up to 20 N (moments over the radius), on 'flies', 1.0e+00" in found.message
    )
    assert rl.force_chains(found) is not None and rl.body_forces(found)[2, 0].round(9) == -10
    rough = rl.Scene(dim=2, gravity=(0, -10))
    mu = rl.Material(friction=0.5)
    rough.add(rl.HalfSpace(2), position=(0, 0), material=mu)
    rough.add(rl.Disk(0.1), position=(0, 0.1 - 2e-3), mass=2, material=mu)
    rests = rl.forces_at_pose(rough, stiffness=1e4, balance=False)
    assert rests.converged and rests.residual < 1e-12 and "springs" in rests.message
    assert rl.contact_table(rests)["compatible"].round(9) == [20.0]
