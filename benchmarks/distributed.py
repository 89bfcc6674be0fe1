"""Distributed compatible forces beside those of one process: time and memory on pyramids.

    python -m benchmarks.distributed [--base 20 30] [--ranks 1 2] [--law Hooke] [--limit 300]

Each solve is a process of its own (or some, by mpiexec), from the network file to the forces. Wall
time of the whole solve, reading included; memory: the largest process at its peak, of which some
0.23 GB are Python with its libraries. MUMPS lives by BLAS: Debian's reference BLAS is slow, and
``libopenblas0-pthread`` takes its place.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from rigidlimit.distributed import ContactNetwork

from .problems import LAWS, pyramid_pairs

OWN = """
import resource, sys, time, numpy as np, scipy.sparse as sp, rigidlimit as rl
from rigidlimit.distributed.network_file import NetworkFile
t = time.perf_counter()
file = NetworkFile(sys.argv[1])
net = file.part((0, file.bodies), (0, file.contacts))
(m, _, w), n = net.rows.shape, len(net.load)
columns = (w * net.body[:, :, None] + np.arange(w)).reshape(-1)
B = sp.csr_array((net.rows.reshape(-1), columns, np.arange(m + 1) * 2 * w), shape=(m, w * n))
answer = rl.compatible_forces(
    B, net.load.ravel(), stiffness=net.stiffness, exponent=net.exponent, fixed=~net.free.ravel())
memory = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e9
print(answer.message, f"; {time.perf_counter() - t:.3g} s, at most {memory:.2g} GB a rank")
"""


def pyramid(base: int, law: str) -> ContactNetwork:
    """The pyramid of ``problems.py`` as a network: its base layer is held, spheres weigh 1."""
    a, b, normal = pyramid_pairs(base)
    ratio, exponent = LAWS[law]
    side = np.arange(base, 0, -1)
    places = []
    for layer, s in enumerate(side):
        i, j = np.divmod(np.arange(s * s), s)
        height = np.full(s * s, layer * np.sqrt(0.5))
        places.append(np.column_stack([i + layer / 2, j + layer / 2, height]))
    position = np.concatenate(places)
    load = np.zeros_like(position)
    load[:, 2] = 1.0
    free = np.ones(position.shape, bool)
    free[: base * base] = False
    modulus = np.where(np.arange(len(position)) % 2, ratio, 1.0)
    stiffness = 2 * modulus[a] * modulus[b] / (modulus[a] + modulus[b])
    rows = np.stack([-normal, normal], axis=1)
    return ContactNetwork(position, load, free, np.column_stack([a, b]), rows, stiffness, exponent)


def measured(command: list[str], limit: float) -> str:
    """What one solve says: status, residual, iterations, seconds, memory."""
    settings = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    settings |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=limit, env=os.environ | settings
        )
    except subprocess.TimeoutExpired:
        return f"over {limit:.0f} s"
    said = done.stdout.strip().splitlines()
    found = re.search(
        r"(\w+), residual (\S+) .*after (\d+) iterations?(?: \((\d+) Krylov)?"
        r".*; (\S+) s, at most (\S+) GB",
        said[-1] if said else "",
    )
    if found is None:
        return f"failed: {done.stderr.strip().splitlines()[:1]}"
    status, residual, steps, products, seconds, memory = found.groups()
    return (
        f"{seconds:>8} s {memory:>6} GB  {steps:>3} systems {products or 0:>5} Krylov steps  "
        f"residual {residual}  {status}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--base", type=int, nargs="+", default=[20, 30])
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--law", choices=list(LAWS), default="Hooke")
    parser.add_argument("--solver", nargs="+", default=["mumps", "gamg"])
    parser.add_argument("--limit", type=float, default=300.0, help="Seconds a solve.")
    options = parser.parse_args()
    mpiexec = shutil.which("mpiexec.openmpi") or "mpiexec"
    with tempfile.TemporaryDirectory() as folder:
        for base in options.base:
            network, path = pyramid(base, options.law), Path(folder, f"{base}.h5")
            network.write(path)
            print(f"{options.law}, base {base}: {len(network.body)} contacts", flush=True)
            own = measured([sys.executable, "-c", OWN, str(path)], options.limit)
            print(f"  own, one process   {own}", flush=True)
            for solver in options.solver:
                for ranks in options.ranks:
                    command = [mpiexec, "--oversubscribe", "-n", str(ranks), sys.executable, "-m"]
                    command += ["rigidlimit", "forces", str(path), "--solver", solver]
                    told = measured(command, options.limit)
                    print(f"  {solver:5}, {ranks} rank{'s' * (ranks > 1)}     {told}", flush=True)


if __name__ == "__main__":
    main()
