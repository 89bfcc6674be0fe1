"""All benchmarks, one command: tables and figures in bench-output/.

    python -m benchmarks.run_all [--quick] [--only compatibility scaling] [--limit 60]

Parts: compatibility (a), dynamics (b), simulations (c), scaling (d), scenes (d, warm against
cold); costs in matrix products (e) stand beside each. One core. --quick takes under three minutes,
all of it the better part of an hour.
Peers come with the extra ``bench``; those missing are left out and marked.
"""

import os

if __name__ == "__main__":
    # before numpy, numba and the solvers are loaded: one core for everyone
    for name in ("OPENBLAS", "OMP", "MKL", "NUMBA", "RAYON"):
        os.environ[f"{name}_NUM_THREADS"] = "1"

import argparse
import time
from pathlib import Path

PARTS = ("compatibility", "dynamics", "simulations", "scaling", "scenes")
ALL_LAWS = ("Hooke", "two materials 1:5", "two materials 1:1000", "Hertz")

FULL = {
    "compatibility": dict(bases=(10, 20, 30), laws=ALL_LAWS, packings=(2000,)),
    "dynamics": dict(bases=(8, 12, 20)),
    "simulations": dict(bases=(10, 20)),
    "scaling": dict(
        bases=(9, 14, 20, 30, 40, 60, 80, 102),
        kinds=("Hooke", "two materials 1:1000", "Hertz", "rest", "impact"),
    ),
    "scenes": dict(packings=(500, 2000), pyramid=15, column=(6, 25), wall=(12, 10), steps=15),
}
QUICK = {
    "compatibility": dict(bases=(6, 10), laws=ALL_LAWS, packings=()),
    "dynamics": dict(bases=(6, 10)),
    "simulations": dict(bases=(6,)),
    "scaling": dict(bases=(9, 14, 20, 30), kinds=("Hooke", "two materials 1:1000", "rest")),
    "scenes": dict(packings=(200,), pyramid=8, column=(4, 10), wall=(5, 4), steps=3),
}
TINY = {
    "compatibility": dict(bases=(3,), laws=("two materials 1:5", "Hertz"), packings=()),
    "dynamics": dict(bases=(3,), states=("random",)),
    "simulations": dict(bases=(2,)),
    "scaling": dict(bases=(3, 4), kinds=("Hooke", "rest")),
    "scenes": dict(packings=(), pyramid=3, column=(2, 3), wall=(2, 2), steps=3),
}


def warm_up():
    """Load or compile every kernel that will be timed."""
    import numpy as np

    import rigidlimit as rl
    from rigidlimit.linear import LinearStats, Network

    from . import peers, problems

    # systems beyond those that are factorized at once, to the full tolerance: every road is taken
    for law in ALL_LAWS:
        problem = problems.compatibility(10, law)
        peers.compatibility_solvers()[peers.OURS](problem, 1e-10)
        peers.compatibility_solvers()[peers.PAPER](problem, 1e-3)
    problem = problems.compatibility(10, "Hooke")
    system = Network(problem.B, blocks=problem.blocks).system(problem.stiffness, 1e-12)
    for rhs in (problem.load, np.outer(problem.load, np.ones(60))):
        system.solve_directly(rhs, LinearStats())
    for state in problems.STATES:
        problem = problems.dynamics(10, state)
        for name in (peers.OURS, "PGS", "PGS with subspace steps", "APGD"):
            peers.dynamics_solvers()[name](problem, 1e-10)
    # far enough to meet, bounce and be warm started
    for scene in (rl.scenes.pyramid(8), problems.wall_of_boxes(4, 4), problems.column(4, 6)):
        simulation = rl.Simulation(scene)
        for _ in range(15):
            simulation.step()


def run(sizes, *, parts=PARTS, limit=60.0, folder=Path("bench-output"), fork=True):
    """Rows of the parts asked for; rows are kept as they come, the report written after a part."""
    from . import compatibility, contact_dynamics, report, scaling, simulations

    def part_rows(part):
        chosen = sizes[part]
        if part == "compatibility":
            return compatibility.run(**chosen, limit=limit, folder=folder / "kept", fork=fork)
        if part == "dynamics":
            return contact_dynamics.run(**chosen, limit=limit, fork=fork)
        if part == "simulations":
            return simulations.run(**chosen, limit=limit, fork=fork)
        if part == "scaling":
            return scaling.sizes(**chosen, limit=limit, fork=fork)
        return scaling.scenes(**chosen, limit=limit, folder=folder / "kept")

    rows, seconds = [], {}
    for part in parts:
        print(f"{part}:", flush=True)
        start = time.perf_counter()
        first = len(rows)
        for line in part_rows(part):
            if line is not None:
                rows.append(line)
                report.keep(rows, folder)
        if part == "scaling":
            rows[first:first] = scaling.exponents(rows[first:])
        seconds[part] = round(time.perf_counter() - start, 1)
        options = {"limit": limit, "sizes": sizes, "seconds": seconds}
        path = report.write(rows, folder, options=options, new=rows[first:])
    print(f"wrote {path}")
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, under three minutes")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, metavar="PART")
    parser.add_argument("--limit", type=float, help="CPU seconds a solve may take [60; quick 3]")
    parser.add_argument("--out", type=Path, default=Path("bench-output"))
    options = parser.parse_args()
    warm_up()
    sizes = QUICK if options.quick else FULL
    limit = options.limit or (3.0 if options.quick else 60.0)
    run(sizes, parts=options.only, limit=limit, folder=options.out)


if __name__ == "__main__":
    main()
