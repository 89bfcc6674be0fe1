"""The sparse factorization against SuperLU in the same order, and MKL's PARDISO where it is there.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.factorization [--bases 20 30] [--packings 2000]

Stiffness matrices of all contacts of cannonball pyramids, and of the closed contacts of random
packings at rest (settled first, kept in bench-output/). Medians of five, CPU seconds of one core;
MB of numbers alone; the residual |K x - r| / |r| is that of one solve without refinement.
"""

import argparse
from pathlib import Path

import numpy as np

from .measure import cpu_seconds

SHIFT = 1e-12
"""Proximal term over the stiffness, as step 2 has it: bodies may float."""


def timed(work):
    """(median CPU seconds of five, last answer); one run before, which compiles."""
    work()
    return cpu_seconds(work, repeat=5, enough=30.0)


def measure(name, B, load, blocks):
    import scipy.sparse as sp

    from rigidlimit.linear import Network
    from rigidlimit.linear.dissection import elimination_order
    from rigidlimit.linear.library_factors import LUFactor
    from rigidlimit.linear.multifrontal import MultifrontalFactor

    network = Network(B, blocks=blocks)
    system = network.system(np.ones(B.shape[0]), SHIFT)
    K = sp.csr_array(B.T @ B + SHIFT * sp.eye_array(B.shape[1]))
    ordering, place = timed(lambda: elimination_order(B, network.mass, network.starts))
    order = np.argsort(place[network.block_of], kind="stable")

    def line(kind, seconds, entries, solve):
        solving, x = timed(lambda: solve(load))
        residual = np.abs(K @ x - load).max() / np.abs(load).max()
        size = f"{8e-6 * entries:7.1f} MB" if entries else 10 * " "
        print(
            f"  {kind:12} {seconds:8.4f} s  {size}  solve {1e3 * solving:6.2f} ms"
            f"  residual {residual:.0e}"
        )

    print(f"{name}: {B.shape[0]} contacts, {B.shape[1]} degrees of freedom, order {ordering:.4f} s")
    ours, factor = timed(lambda: MultifrontalFactor(system.matrix, network.starts, place))
    line("rigidlimit", ours, len(factor.values), factor.solve)
    theirs, factor = timed(lambda: LUFactor(K, order))
    line("SuperLU", theirs, factor.lu.L.nnz + factor.lu.U.nnz, factor.solve)
    print(f"  SuperLU takes {theirs / ours:.1f} times as long")
    try:
        import pypardiso
    except ImportError:
        return
    upper = sp.csr_matrix(sp.triu(K, format="csr"))
    solver = pypardiso.PyPardisoSolver(mtype=2)
    theirs, _ = timed(lambda: solver.factorize(upper))
    line("PARDISO", theirs, 0, lambda r: solver.solve(upper, r))
    print(f"  PARDISO takes {theirs / ours:.1f} times as long, with an order of its own")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bases", nargs="*", type=int, default=[20, 30])
    parser.add_argument("--packings", nargs="*", type=int, default=[2000])
    parser.add_argument("--out", type=Path, default=Path("bench-output"))
    options = parser.parse_args()
    from . import compatibility, problems

    for base in options.bases:
        problem = problems.compatibility(base, "Hooke")
        measure(f"pyramid of base {base}", problem.B, problem.load, problem.blocks)
    for count in options.packings:
        problem = compatibility.packing(count, options.out / "kept")
        measure(f"packing of {count}", problem.B, problem.load, problem.blocks)


if __name__ == "__main__":
    main()
