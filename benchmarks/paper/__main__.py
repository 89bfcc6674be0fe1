"""Reproduce the paper's experiments: report.html with every figure and table 1.

    python -m benchmarks.paper [--quick | --base 20] [--whole-run] [--out paper-report]

A stopped run can be resumed: results of each case are kept in the folder.
"""

import argparse
import time
from pathlib import Path

from .cases import CASES, run_beam, run_case, run_snapshots
from .report import write_report


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("paper-report"), help="folder")
    parser.add_argument("--quick", action="store_true", help="base 10 instead of 20")
    parser.add_argument("--base", type=int, help="spheres along the base")
    parser.add_argument(
        "--whole-run",
        action="store_true",
        help="let the DEM drop the packing itself, not start at rest: five minutes at base 20",
    )
    options = parser.parse_args()
    base = options.base or (10 if options.quick else 20)
    start, kept = time.perf_counter(), options.out / "results"
    beams, snapshots = run_beam(kept), run_snapshots(base, kept)
    cases = [run_case(name, base, kept, print, whole_run=options.whole_run) for name in CASES]
    path = write_report(options.out, cases, beams, snapshots, time.perf_counter() - start)
    for case in cases:
        print(
            f"{case.name:22} floor forces against DEM: compatible "
            f"{case.floor_error['compatible']:.1e}, PGS {case.floor_error['pgs']:.2g}, "
            f"APGD {case.floor_error['apgd']:.2g}"
        )
    print(f"written: {path}")


if __name__ == "__main__":
    main()
