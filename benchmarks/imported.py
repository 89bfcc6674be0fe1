"""Packings of LAMMPS taken over by their dumps: forces at the pose, and in the rigid limit.

    OMP_NUM_THREADS=1 python -m benchmarks.imported [--stiffness 1e5 1e6 1e7]

Balls fall into a box in LAMMPS and rest by overlaps that fall with the stiffness. A row a
stiffness: deepest overlap over the mean radius; largest relative difference of the forces at the
imported pose; and that of the forces after ``settle``, which has no overlaps, over the largest
force. Needs the extra ``lammps``.
"""

import argparse
import tempfile
import warnings
from pathlib import Path

import numpy as np

import rigidlimit as rl
from benchmarks import lammps_peer as lammps

WALLS = ("xlo", "xhi", "ylo", "yhi", "zlo")


def balls_at_rest(stiffness: float, path: Path, place=None):
    """({(i, j): force} of LAMMPS, places (18, 3)) of balls at rest, and their dump at ``path``."""
    rng = np.random.default_rng(4)
    grid = np.stack(np.meshgrid(*[np.arange(3)] * 2, np.arange(2), indexing="ij"), -1)
    begun = 0.17 + 0.3 * grid.reshape(-1, 3) + rng.uniform(-0.01, 0.01, (18, 3))
    radii = rng.uniform(0.12, 0.15, 18)
    mass = 4 / 3 * np.pi * float(radii.mean()) ** 3 * 500
    damping, dt = 1.4 * np.sqrt(stiffness * mass / 2), 0.05 * np.sqrt(mass / stiffness)
    law = f"hooke {stiffness} {damping} damping velocity tangential linear_nohistory 0 0"
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
timestep {dt}
""")
        where = begun if place is None else place
        lmp.create_atoms(18, list(range(1, 19)), [1] * 18, where.ravel().tolist())
        for k, radius in enumerate(radii.tolist()):
            lmp.command(f"set atom {k + 1} diameter {2 * radius!r} density 500")
        lmp.commands_string(f"""
fix move all nve/sphere
fix fall all gravity 9.81 vector 0 0 -1
fix drag all viscous 10
fix x all wall/gran granular {law} xplane 0 0.9
fix y all wall/gran granular {law} yplane 0 0.9
fix z all wall/gran granular {law} zplane 0 NULL
run {round(30 / dt)} post no
compute pairs all property/local patom1 patom2
compute force all pair/local force
dump rest all custom 1 {path} id type x y z radius mass
dump_modify rest format float %.17g
run 0 post no
""")
        count = lmp.extract_compute("pairs", 2, 4)
        pairs, force = lmp.extract_compute("pairs", 2, 2), lmp.extract_compute("force", 2, 1)
        theirs = {
            tuple(sorted((int(pairs[i][0]), int(pairs[i][1])))): force[i]
            for i in range(count)
            if force[i] > 0
        }
        return theirs, np.array(lmp.gather_atoms("x", 1, 3)).reshape(18, 3)
    finally:
        lmp.close()


def between_balls(scene, contacts, force):
    """{(i, j): force} of the contacts that bear, walls left out."""
    names = scene.bodies.names
    return {
        tuple(sorted(int(names[k]) for k in pair)): f
        for pair, f in zip(contacts.body, force, strict=True)
        if f > 1e-9 * force.max() and not any(names[k].startswith("wall") for k in pair)
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stiffness", type=float, nargs="+", default=[1e5, 1e6, 1e7])
    place = None
    print("stiffness   overlap   forces at the pose   rigid limit   contacts")
    for stiffness in parser.parse_args().stiffness:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rest.dump"
            theirs, place = balls_at_rest(stiffness, path, place)
            packing = rl.read_packing(path, stiffness=stiffness, walls=WALLS)
        posed = packing.forces()
        at_pose = between_balls(packing.scene, posed.contacts, posed.force)
        assert at_pose.keys() == theirs.keys()
        pose = max(abs(at_pose[pair] / force - 1) for pair, force in theirs.items())
        simulation = rl.Simulation(packing.scene, compatible="never")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that overlaps are undone
            rl.settle(simulation, by="dem")
        step = simulation.step(compatible=True)
        rigid = between_balls(packing.scene, step.contacts, step.force)
        limit = max(abs(rigid.get(k, 0) - theirs.get(k, 0)) for k in {*rigid, *theirs})
        limit /= max(theirs.values())
        print(
            f"{stiffness:9.1e} {posed.overlap / 0.135:9.1e} {pose:20.1e} {limit:13.1e}   "
            f"{len(rigid)} of {len(theirs)}",
            flush=True,
        )


if __name__ == "__main__":
    main()
