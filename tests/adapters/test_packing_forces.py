"""Peer: a packing at rest in LAMMPS, taken over by its own files: contacts and forces."""

from pathlib import Path

import numpy as np
import pytest

import rigidlimit as rl
from benchmarks import lammps_peer as lammps
from rigidlimit.errors import InputError, MissingExtra

pytestmark = pytest.mark.filterwarnings("ignore:bodies .* overlap:rigidlimit.errors.SceneWarning")

try:
    lammps.library()
except MissingExtra as error:
    pytest.skip(str(error), allow_module_level=True)

STIFFNESS = 1e4
SMOOTH = "linear_nohistory 0 0"
WALLS = ("xlo", "xhi", "ylo", "yhi", "zlo")


@pytest.fixture(scope="module")
def at_rest(tmp_path_factory):
    """18 balls of unequal size that fell into a box and rest by their overlaps."""
    folder = tmp_path_factory.mktemp("lammps")
    rng = np.random.default_rng(4)
    grid = np.stack(np.meshgrid(*[np.arange(3)] * 2, np.arange(2), indexing="ij"), -1)
    place = 0.17 + 0.3 * grid.reshape(-1, 3) + rng.uniform(-0.01, 0.01, (18, 3))
    law = f"hooke {STIFFNESS} 20 damping velocity tangential linear_nohistory 0 0"
    lmp = lammps.library().lammps(cmdargs=["-log", "none", "-screen", "none"])
    try:
        lmp.commands_string(f"""
units si
atom_style sphere
atom_modify map array
boundary f f f
newton off
comm_modify vel yes
region box block 0 0.9 0 0.9 0 1.5
create_box 1 box
neighbor 0.03 bin
pair_style granular
pair_coeff * * {law}
timestep 1e-3
""")
        lmp.create_atoms(18, list(range(1, 19)), [1] * 18, place.ravel().tolist())
        for k, radius in enumerate(rng.uniform(0.12, 0.15, 18).tolist()):
            lmp.command(f"set atom {k + 1} diameter {2 * radius!r} density 500")
        lmp.commands_string(f"""
fix move all nve/sphere
fix fall all gravity 9.81 vector 0 0 -1
fix drag all viscous 10
fix x all wall/gran granular {law} xplane 0 0.9
fix y all wall/gran granular {law} yplane 0 0.9
fix z all wall/gran granular {law} zplane 0 NULL
run 40000 post no
compute pairs all property/local patom1 patom2
compute force all pair/local force
dump rest all custom 1 {folder}/rest.dump.gz id type x y z vx vy vz radius mass
dump_modify rest format float %.17g
run 0 post no
write_data {folder}/rest.data
""")
        count = lmp.extract_compute("pairs", 2, 4)
        pairs, force = lmp.extract_compute("pairs", 2, 2), lmp.extract_compute("force", 2, 1)
        theirs = {(int(pairs[i][0]), int(pairs[i][1])): force[i] for i in range(count)}
        where = np.array(lmp.gather_atoms("x", 1, 3)).reshape(18, 3)
    finally:
        lmp.close()
    return folder, {tuple(sorted(pair)): f for pair, f in theirs.items() if f > 0}, where


BOXES = {"rectangular": (0.0, 0.0), "triclinic": (0.25, 0.0), "rough": (0.25, 0.3)}


@pytest.fixture(scope="module", params=BOXES)
def periodic(request, tmp_path_factory):
    """24 balls of unequal size, pressed together in a periodic box: dump, dump of pairs, friction,
    LAMMPS' forces, tangential ones on the first of each pair, and pressure."""
    lean, friction = BOXES[request.param]
    rubs = f"linear_history {STIFFNESS * 2 / 7} 0.5 {friction}" if friction else SMOOTH
    path = tmp_path_factory.mktemp("lammps") / "pressed.dump"
    rng = np.random.default_rng(1)
    radii = rng.uniform(0.1, 0.14, 24)
    side = float((4 / 3 * np.pi * (radii**3).sum() / 0.7) ** (1 / 3))
    tilt = lean * side
    lmp = lammps.library().lammps(cmdargs=["-log", "none", "-screen", "none"])
    try:
        lmp.commands_string(f"""
units si
atom_style sphere
atom_modify map array
boundary p p p
newton off
comm_modify vel yes
region box prism 0 {side} 0 {side} 0 {side} {tilt} {-0.5 * tilt} {0.3 * tilt}
create_box 1 box
neighbor 0.04 bin
pair_style granular
pair_coeff * * hooke {STIFFNESS} 5 damping velocity tangential {rubs}
timestep 2e-3
""")
        place = rng.uniform(0, side, (24, 3))
        lmp.create_atoms(24, list(range(1, 25)), [1] * 24, place.ravel().tolist())
        for k, radius in enumerate(radii.tolist()):
            lmp.command(f"set atom {k + 1} diameter {2 * radius!r} density 1000")
        lmp.commands_string(f"""
fix move all nve/sphere
fix drag all viscous 10
run 40000 post no
compute pairs all property/local patom1 patom2
compute force all pair/local force
compute rub all pair/local p1 p2 p3
compute press all pressure NULL virial
thermo_style custom step c_press[1] c_press[2] c_press[3] c_press[4] c_press[5] c_press[6]
dump rest all custom 1 {path} id type xu yu zu radius mass
dump_modify rest format float %.17g
dump rub all local 1 {path}.pairs index c_pairs[1] c_pairs[2] c_rub[1] c_rub[2] c_rub[3]
dump_modify rub format float %.17g
run 0 post no
""")
        count = lmp.extract_compute("pairs", 2, 4)
        pairs, force = lmp.extract_compute("pairs", 2, 2), lmp.extract_compute("force", 2, 1)
        theirs = sorted(
            (*sorted((int(pairs[i][0]), int(pairs[i][1]))), force[i]) for i in range(count)
        )
        pressure = np.array([lmp.extract_compute("press", 0, 1)[k] for k in range(6)])
    finally:
        lmp.close()
    return path, friction, [entry for entry in theirs if entry[2] > 0], pressure


def test_forces_across_a_periodic_box(periodic):
    """The same contacts, forces and stress, to 1e-10 for the same reasons; centres are given beyond
    the box (xu) as balls went. Rough balls remember what a dump of pairs tells; with it they are in
    balance as they stand, and their stress is LAMMPS', which friction has a part in."""
    path, friction, theirs, pressure = periodic
    springs = f"{path}.pairs" if friction else None
    rough = rl.Material(friction=friction, tangential_stiffness=2 / 7)
    packing = rl.read_packing(path, stiffness=STIFFNESS, material=rough, springs=springs)
    found = packing.forces()
    assert found.converged
    if friction:
        assert np.abs(found.tangential_force).max() > 0.1 * found.force.mean()
        stands = packing.forces(balance=False)  # at rest: the same as balanced
        away = stands.force_vectors - found.force_vectors
        assert np.abs(away).max() < 1e-9 * found.force.max() and stands.residual < 1e-9
        wrong = path.with_name("other.pairs")
        wrong.write_text(Path(springs).read_text().replace("ENTRIES index c_pairs[1]", "ENTRIES"))
        with pytest.raises(InputError, match="two columns of ids"):
            rl.read_packing(path, springs=wrong)
    number = np.array([int(name) for name in found.bodies.names[:24]])
    ours = sorted(
        (*sorted(number[pair].tolist()), force)
        for pair, force in zip(found.contacts.body, found.force, strict=True)
        if force > 0
    )
    assert [entry[:2] for entry in ours] == [entry[:2] for entry in theirs] and len(ours) > 60
    np.testing.assert_allclose(*([e[2] for e in each] for each in (ours, theirs)), rtol=1e-10)
    stress = rl.stress(found)[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    np.testing.assert_allclose(stress, pressure, atol=1e-10 * pressure[:3].mean())


@pytest.mark.parametrize("periodic", ["rough"], indirect=True)
def test_simulations_begin_with_imported_springs(periodic):
    """Peer: steps of the packing at rest have the forces at its pose, which are LAMMPS', also where
    a body was added by hand; without springs they are others."""
    path, friction, _, _ = periodic
    rough = rl.Material(friction=friction, tangential_stiffness=2 / 7)
    options = dict(stiffness=STIFFNESS, material=rough)
    packing = rl.read_packing(path, springs=f"{path}.pairs", **options)
    known = packing.forces()
    bears = known.force > 0
    size = known.force.max()
    simulation = rl.Simulation(packing.scene)
    for _ in range(3):
        step = simulation.step()
        assert step.converged, step.message
        now = step.contacts.carry_over(known.contacts, known.force)
        # 1e-10 of the solves, and what LAMMPS' own rest leaves
        np.testing.assert_allclose(step.force, now, rtol=0.0, atol=1e-7 * size)
    bare = rl.Simulation(rl.read_packing(path, **options).scene).step()
    known_there = bare.contacts.carry_over(known.contacts, known.force)
    assert bears.sum() > 60 and np.abs(bare.force - known_there).max() > 0.1 * size


@pytest.mark.parametrize("name", ["rest.dump.gz", "rest.data"])
def test_forces_at_the_imported_pose(at_rest, name):
    """The same contacts, forces to 1e-10 of each: overlaps of 1e-3 of a radius have 13 digits
    of the 16 of a position, and LAMMPS came to rest as far as its own rounding lets it."""
    folder, theirs, where = at_rest
    packing = rl.read_packing(folder / name, stiffness=STIFFNESS, walls=WALLS)
    if name.endswith("gz"):  # written with all digits
        np.testing.assert_array_equal(packing.scene.state.position[:18], where)
    found = packing.forces()
    assert found.converged
    names = found.bodies.names
    ours = {
        tuple(sorted(int(names[k]) for k in pair)): force
        for pair, force in zip(found.contacts.body, found.force, strict=True)
        if force > 0 and not any(names[k].startswith("wall") for k in pair)
    }
    assert ours.keys() == theirs.keys() and len(theirs) > 20
    np.testing.assert_allclose([ours[pair] for pair in theirs], list(theirs.values()), rtol=1e-10)
