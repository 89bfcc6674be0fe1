"""Distributed compatible forces beside those of one process: time and memory on pyramids.

    python -m benchmarks.distributed [--base 20 30] [--ranks 1 2] [--law Hooke] [--limit 300]
                                     [--friction 0.3] [--copies 2x2x2]

With --copies a random packing of 500 balls in a periodic cell, brought to rest under pressure and
then grown by 0.2 %, is repeated so often along the cell's edges, in place of pyramids.

Each solve is a process of its own (or some, by mpiexec), from the network file to the forces. Time
of the whole solve, reading included: by the clock, and of the processor (the largest of a rank,
with its waiting for others), which other programs on the machine change less; memory: the largest
process at its peak, of which some 0.23 GB are Python with its libraries. MUMPS lives by BLAS:
Debian's reference BLAS is slow, and ``libopenblas0-pthread`` takes its place.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

import rigidlimit as rl
from rigidlimit.distributed import ContactNetwork, images_of, write_copies
from rigidlimit.pose.pose_contacts import PoseContacts

from .problems import LAWS, pyramid_pairs

OWN = """
import resource, sys, time, numpy as np, scipy.sparse as sp, rigidlimit as rl
from rigidlimit.distributed.network_file import NetworkFile
t, used = time.perf_counter(), time.process_time()
file = NetworkFile(sys.argv[1])
net = file.part((0, file.bodies), (0, file.contacts))
(m, w), n, d = (len(net.body), net.width), len(net.load), net.components
columns = (w * net.body[:, :, None] + np.arange(w)).reshape(m, 1, 2 * w)
rows = net.rows.reshape(m, 2, d, w).swapaxes(1, 2)
columns = np.broadcast_to(columns, (m, d, 2 * w)).ravel()
B = sp.csr_array((rows.ravel(), columns, np.arange(m * d + 1) * 2 * w), shape=(m * d, w * n))
rough = {}
if net.friction is not None:
    rough = dict(tangential=d, friction=net.friction, tangential_stiffness=net.tangential_stiffness)
answer = rl.compatible_forces(
    B, net.load.ravel(), stiffness=net.stiffness, exponent=net.exponent,
    fixed=~net.free.ravel(), gap_error=net.gap, **rough)
memory = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e9
t, used = time.perf_counter() - t, time.process_time() - used
told = f"; {t:.3g} s ({used:.3g} s of processor time), at most {memory:.2g} GB a rank"
print(answer.message, told)
"""


def pyramid(base: int, law: str, friction: float = 0.0) -> ContactNetwork:
    """The pyramid of ``problems.py`` as a network: its base layer is held, spheres weigh 1. With
    friction k_t/k_n is 0.8, and balls turn."""
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
    pairs, rows = np.column_stack([a, b]), np.stack([-normal, normal], axis=1)
    network = ContactNetwork(position, load, free, pairs, rows, stiffness, exponent)
    return _rubbing(network, normal, friction) if friction else network


def _rubbing(network: ContactNetwork, normal: np.ndarray, friction: float) -> ContactNetwork:
    """The same with friction, of balls of diameter 1."""
    m, n = len(normal), len(network.load)
    least = np.eye(3)[np.abs(normal).argmin(axis=1)]
    first = np.cross(normal, least)
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    axes = np.stack([normal, first, np.cross(normal, first)], axis=1)
    turns = np.cross(-0.5 * normal[:, None], axes)
    rows = np.empty((m, 2, 3, 6))
    rows[:, 0] = np.concatenate([-axes, turns], axis=2)
    rows[:, 1] = np.concatenate([axes, turns], axis=2)
    return replace(
        network,
        load=np.hstack([network.load, np.zeros((n, 3))]),
        free=np.hstack([network.free, network.free]),
        rows=rows,
        friction=np.full(m, friction),
        tangential_stiffness=0.8 * (network.exponent - 1.0) * network.stiffness,
    )


def write_packing(path: Path, counts: tuple[int, ...], law: str, friction: float) -> int:
    """A random packing in a periodic cell, repeated; answers the number of contacts."""
    from .cells import loose

    count, reach, k = 500, 0.02, 1e3
    at_rest = rl.paths.isotropic(loose(count, 0), pressures=[1.0]).simulation
    material = rl.Material(density=1.0, friction=friction)
    shapes = [rl.Sphere(1.002 * shape.radius) for shape in at_rest.scene.bodies.shapes[:count]]
    vectors = np.asarray(at_rest.state.cell)
    scene = rl.Scene(cell=rl.Cell(vectors))
    scene.add_many(shapes, at_rest.state.position[:count], material=material)
    exponent = LAWS[law][1]
    network = ContactNetwork.of_scene(scene, stiffness=k, law=exponent, reach=reach)
    known = dict(stiffness=k, springs=None)
    contacts = PoseContacts.within(reach, scene, scene.state, exponent, **known).contacts
    image = images_of(network.position, network.body, contacts.branch, vectors)
    write_copies(network, path, counts=counts, vectors=vectors, image=image)
    return len(network.body) * int(np.prod(counts))


def measured(command: list[str], limit: float, ranks: int = 1) -> str:
    """What one solve says: status, residual, iterations, seconds, memory."""
    settings = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    # other programs share the cores: ranks are bound to none, and leave theirs when they wait
    settings["OMPI_MCA_hwloc_base_binding_policy"] = "none"
    settings["OMPI_MCA_mpi_yield_when_idle"] = f"{ranks > 1:d}"
    settings |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=limit, env=os.environ | settings
        )
    except subprocess.TimeoutExpired:
        return f"over {limit:.0f} s"
    said = done.stdout.strip().splitlines()
    found = re.search(
        r"(\w+), residual (\S+) .*after (\d+) (?:iteration|linear system)s?(?: \((\d+) Krylov)?"
        r".*; (\S+) s \((\S+) s of processor time\), at most (\S+) GB",
        said[-1] if said else "",
    )
    if found is None:
        return f"failed: {done.stderr.strip().splitlines()[:1]}"
    status, residual, steps, products, seconds, used, memory = found.groups()
    return (
        f"{seconds:>8} s ({used:>6} s processor) {memory:>6} GB  {steps:>3} systems "
        f"{products or 0:>5} Krylov steps  residual {residual}  {status}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--base", type=int, nargs="+", default=[20, 30])
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--law", choices=list(LAWS), default="Hooke")
    parser.add_argument("--friction", type=float, default=0.0)
    parser.add_argument("--copies", nargs="+", default=[], help="Of a random cell, as 2x2x2.")
    parser.add_argument("--solver", nargs="+", default=["mumps", "gamg"])
    parser.add_argument("--limit", type=float, default=300.0, help="Seconds a solve.")
    options = parser.parse_args()
    mpiexec = shutil.which("mpiexec.openmpi") or "mpiexec"
    with tempfile.TemporaryDirectory() as folder:
        for size in options.copies or options.base:
            path = Path(folder, f"{size}.h5")
            if options.copies:
                counts = tuple(int(k) for k in size.split("x"))
                contacts = write_packing(path, counts, options.law, options.friction)
            else:
                network = pyramid(size, options.law, options.friction)
                network.write(path)
                contacts = len(network.body)
            kind = "copies" if options.copies else "base"
            told = f"{options.law}, friction {options.friction:g}, {kind} {size}"
            print(f"{told}: {contacts} contacts, load {os.getloadavg()[0]:.1f}", flush=True)
            own = measured([sys.executable, "-c", OWN, str(path)], options.limit)
            print(f"  own, one process   {own}", flush=True)
            for solver in options.solver:
                for ranks in options.ranks:
                    command = [mpiexec, "--oversubscribe", "-n", str(ranks), sys.executable, "-m"]
                    command += ["rigidlimit", "forces", str(path), "--solver", solver]
                    told = measured(command, options.limit, ranks)
                    print(f"  {solver:5}, {ranks} rank{'s' * (ranks > 1)}     {told}", flush=True)


if __name__ == "__main__":
    main()
