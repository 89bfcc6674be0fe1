"""Time of the determinacy report on cannonball pyramids.

    python -m benchmarks.determinacy [--base 20] [--large 38] [--contacts 100]

Prints the whole report with intervals of some contacts, chosen at random, on one pyramid, and the
degree of indeterminacy alone on a larger one.
"""

import argparse
import time

import numpy as np

import rigidlimit

from .problems import compatibility


def report(base: int, **options) -> None:
    pyramid = compatibility(base)
    B, load = pyramid.B, pyramid.load
    wall, processor = time.perf_counter(), time.process_time()
    found = rigidlimit.determinacy(B, load, blocks=pyramid.blocks, **options)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    print(f"base {base}: {B.shape[0]} contacts, {B.shape[1]} degrees of freedom")
    print(f"  {wall:.1f} s ({processor:.1f} s of processor time)")
    print("  " + found.message.replace("\n", "\n  "))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--base", type=int, default=20)
    parser.add_argument("--large", type=int, default=38)
    parser.add_argument("--contacts", type=int, default=100)
    arguments = parser.parse_args()
    small = compatibility(8)  # compiles
    rigidlimit.determinacy(
        small.B, small.load, blocks=small.blocks, contacts=[0], intervals="bounds"
    )
    count = compatibility(arguments.base).B.shape[0]
    some = np.random.default_rng(0).choice(count, min(arguments.contacts, count), replace=False)
    report(arguments.base, contacts=some)
    report(arguments.large, intervals="none")


if __name__ == "__main__":
    main()
