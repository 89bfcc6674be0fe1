"""A random packing at rest: compatible forces against the DEM, contact by contact.

    OPENBLAS_NUM_THREADS=1 python benchmarks/packing.py [--count 2000] [--scales 0.1 1 10]

A soft DEM settles the packing, linear programs find its rigid rest, contact dynamics confirms it.
The DEM then starts from there at each stiffness scale and comes to its own rest. Prints process
seconds, how many contacts bear in both, and the error over these and over all.
"""

import argparse
import time

import numpy as np

import rigidlimit as rl
from rigidlimit.penalty import PenaltySimulation
from rigidlimit.penalty.compare import last_step
from rigidlimit.penalty.rest import settle


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scales", type=float, nargs="+", default=[0.1, 1.0, 10.0])
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
    state = rest.simulation.state
    state = state.moved(velocity=np.zeros_like(state.velocity))
    for scale in options.scales:
        start = time.process_time()
        dem = PenaltySimulation(
            scene, state=state, stiffness_scale=scale, rest_tolerance=options.tolerance
        ).run(callback=_teller())
        force = result.contacts.carry_over(dem.contacts, dem.force)
        bears = result.force > 1e-9 * force.max()
        same = bears & (force > 0)
        error = [np.linalg.norm((result.force - force)[k]) for k in (same, slice(None))]
        size = [np.linalg.norm(force[k]) for k in (same, slice(None))]
        print(
            f"stiffness x {scale:g}: DEM {'at rest' if dem.at_rest else 'NOT at rest'}, "
            f"{dem.steps} steps, {time.process_time() - start:.0f} s; bearing {bears.sum()} "
            f"compatible, {(dem.force > 0).sum()} DEM, {same.sum()} both; error "
            f"{error[0] / size[0]:.1e} there, {error[1] / size[1]:.1e} over all",
            flush=True,
        )


def _teller():
    last = [time.perf_counter()]

    def tell(seen):
        if time.perf_counter() - last[0] > 20:
            last[0] = time.perf_counter()
            print("   ", getattr(seen, "text", seen), flush=True)

    return tell


if __name__ == "__main__":
    main()
