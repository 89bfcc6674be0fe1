"""Time of the determinacy report on cannonball pyramids.

    python benchmarks/determinacy.py [--base 20] [--large 38] [--contacts 100]

Prints the whole report with intervals of some contacts, chosen at random, on one pyramid, and the
degree of indeterminacy alone on a larger one.
"""

import argparse
import time

import numpy as np
import scipy.sparse as sp
from scipy.spatial import cKDTree

import rigidlimit


def pyramid(base: int):
    """(B, load): spheres of unit weight, layers in the hollows of those below, base held."""
    centres = np.array(
        [
            (i + 0.5 * layer, j + 0.5 * layer, np.sqrt(0.5) * layer)
            for layer in range(base)
            for i in range(base - layer)
            for j in range(base - layer)
        ]
    )
    held = base * base
    pairs = cKDTree(centres).query_pairs(1 + 1e-9, output_type="ndarray")
    pairs = np.sort(pairs[pairs.max(axis=1) >= held], axis=1)
    normal = centres[pairs[:, 1]] - centres[pairs[:, 0]]
    m = len(pairs)
    rows, columns, values = [], [], []
    for end, sign in ((0, -1.0), (1, 1.0)):
        free = np.flatnonzero(pairs[:, end] >= held)
        rows.append(np.repeat(free, 3))
        columns.append((3 * (pairs[free, end] - held)[:, None] + np.arange(3)).ravel())
        values.append(sign * normal[free].ravel())
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    B = sp.csr_array(sp.coo_array(entries, shape=(m, 3 * (len(centres) - held))))
    return B, np.tile([0.0, 0.0, 1.0], len(centres) - held)


def report(base: int, **options) -> None:
    B, load = pyramid(base)
    wall, processor = time.perf_counter(), time.process_time()
    found = rigidlimit.determinacy(B, load, blocks=np.arange(0, B.shape[1] + 1, 3), **options)
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
    small, load = pyramid(8)  # compiles
    blocks = np.arange(0, small.shape[1] + 1, 3)
    rigidlimit.determinacy(small, load, blocks=blocks, contacts=[0], intervals="bounds")
    B, _ = pyramid(arguments.base)
    rng = np.random.default_rng(0)
    some = rng.choice(B.shape[0], min(arguments.contacts, B.shape[0]), replace=False)
    report(arguments.base, contacts=some)
    report(arguments.large, intervals="none")


if __name__ == "__main__":
    main()
