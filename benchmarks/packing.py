"""A random packing at rest: compatible forces against the DEM, contact by contact.

    OPENBLAS_NUM_THREADS=1 python benchmarks/packing.py [--count 2000] [--scales 1 10 100]

A soft DEM settles the packing, linear programs find its rigid rest, contact dynamics confirms it.
The DEM then starts from there, loaded by the compatible forces, at each multiple of the material's
50 GPa and comes to its own rest. Prints process seconds, how many contacts bear in both, the error
over these and over all, and the power of the stiffness with which the former falls.
"""

import argparse
import time

import numpy as np

import rigidlimit as rl
from rigidlimit.penalty import PenaltySimulation
from rigidlimit.penalty.classic_forces import last_step
from rigidlimit.penalty.from_rest import loaded_pose
from rigidlimit.penalty.rest import settle


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scales", type=float, nargs="+", default=[1.0, 10.0, 100.0])
    parser.add_argument("--tolerance", type=float, default=1e-7, help="rest of the DEM")
    options = parser.parse_args()
    settle(rl.scenes.packing(20), by="dem")  # compile
    scene = rl.scenes.packing(options.count, seed=options.seed)
    start = time.process_time()
    rest = settle(scene, by="dem", callback=_teller())
    print(f"rest: {rest.how}, {time.process_time() - start:.0f} s")
    start = time.process_time()
    result, _ = last_step(rest.simulation, cold=False)
    print(
        f"step with compatible forces: {time.process_time() - start:.1f} s, "
        f"residual {result.residual:.0e}"
    )
    shared = []
    for scale in options.scales:
        start = time.process_time()
        state = loaded_pose(result, scale, scene.exponent)
        dem = PenaltySimulation(
            scene, state=state, stiffness_scale=scale, rest_tolerance=options.tolerance
        ).run(callback=_teller())
        force = result.contacts.carry_over(dem.contacts, dem.force)
        least = 1e-9 * force.max()
        bears, pushes = result.force > least, force > least
        same = bears & pushes
        error = [np.linalg.norm((result.force - force)[k]) for k in (same, slice(None))]
        size = [np.linalg.norm(force[k]) for k in (same, slice(None))]
        shared.append(error[0] / size[0])
        print(
            f"stiffness x {scale:g}: DEM {'at rest' if dem.at_rest else 'NOT at rest'}, "
            f"{dem.steps} steps, {time.process_time() - start:.0f} s; bearing {bears.sum()} "
            f"compatible, {pushes.sum()} DEM, {same.sum()} both; error "
            f"{shared[-1]:.1e} there, {error[1] / size[1]:.1e} over all",
            flush=True,
        )
    if len(shared) > 1:
        slope = np.polyfit(np.log(options.scales), np.log(shared), 1)[0]
        print(f"fitted: error ~ stiffness^{slope:.2f}")


def _teller():
    last = [time.perf_counter()]

    def tell(seen):
        if time.perf_counter() - last[0] > 20:
            last[0] = time.perf_counter()
            print("   ", getattr(seen, "text", seen), flush=True)

    return tell


if __name__ == "__main__":
    main()
