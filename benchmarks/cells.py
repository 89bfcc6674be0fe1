"""Periodic cells by checks that take minutes: `python -m benchmarks.cells [NAME ...]`.

squeeze   isotropic stages of 1,000 balls: processor time and stress of each
shear     simple shear at constant normal stress over 200 steps, five seeds, beside LAMMPS
          (fix deform with fix nph/sphere on the sheared planes' normal, hooke, k = 1e4 p d)
rough     the same of 100 balls with friction 0.3, k_t = 2/7 k; and the steps that were not solved
"""

import tempfile
import time
from pathlib import Path

import numpy as np

import rigidlimit as rl
from benchmarks.lammps_peer import library
from rigidlimit.collision.images import wrapped
from rigidlimit.paths.legs import rate_of

from . import named_checks

PRESSURE, STRAIN, NUMBER, STEPS = 1.0, 0.2, 1e-2, 200


def loose(count: int, seed: int, friction: float = 0.0) -> rl.Scene:
    """Unequal balls on a grid at a packing fraction of 0.28, with random velocities."""
    rng = np.random.default_rng(seed)
    radius = rng.uniform(0.4, 0.6, count)
    side = (4 / 3 * np.pi * (radius**3).sum() / 0.28) ** (1 / 3)
    k = int(np.ceil(count ** (1 / 3)))
    grid = np.stack(np.meshgrid(*[np.arange(k)] * 3, indexing="ij"), -1).reshape(-1, 3)
    place = (grid[rng.permutation(k**3)[:count]] + 0.5) * side / k
    scene = rl.Scene(cell=rl.Cell((side,) * 3, stress=PRESSURE), dt=0.05)
    material, speed = rl.Material(density=1.0, friction=friction), rng.normal(0, 0.3, (count, 3))
    shapes = [rl.Sphere(r) for r in radius]
    scene.add_many(shapes, place, velocities=speed, material=material)
    return scene


def squeeze(count=1000):
    began = time.process_time()

    def told(simulation, row):
        nonlocal began
        now = time.process_time()
        off = max(abs(simulation.last.stress - row["pressure"] * np.eye(3)).ravel())
        print(
            f"pressure {row['pressure']:.6g}: {now - began:.2f} s, stress off by "
            f"{off / row['pressure']:.1e}, packing fraction {row['packing_fraction']:.4f}, "
            f"coordination {row['coordination_without_rattlers']:.4f}"
        )
        began = now

    rl.paths.isotropic(loose(count, 0), pressures=[1.0, 2.0, 5.0, 10.0], callback=told)


def shear(count=200, seeds=5, friction=0.0):
    both = []
    for seed in range(seeds):
        begun = rl.paths.isotropic(loose(count, seed, friction), pressures=[PRESSURE]).simulation
        other, began = _lammps(begun, friction), time.process_time()
        table = rl.paths.simple_shear(
            begun, strain=STRAIN, steps=STEPS, pressure=PRESSURE, inertial_number=NUMBER
        ).table
        half = table[len(table) // 2 :]
        own = float((-half["stress_xy"] / half["stress_yy"]).mean())
        both.append((own, other))
        print(
            f"seed {seed}: stress ratio {own:.4f}, LAMMPS {other:.4f}; "
            f"{(~table['converged'].astype(bool)).sum()} of {len(table)} steps not solved, "
            f"{time.process_time() - began:.0f} s",
            flush=True,
        )
    own, other = np.array(both).T
    print(
        f"mean {own.mean():.4f}, LAMMPS {other.mean():.4f}; spread of seeds "
        f"{own.std(ddof=1):.4f} and {other.std(ddof=1):.4f}"
    )


def rough():
    shear(count=100, friction=0.3)


def _lammps(simulation, friction: float) -> float:
    """Mean of -sigma_xy/sigma_yy over the second half of the same shear in LAMMPS."""
    bodies, state, n = simulation.bodies, simulation.state, len(simulation.bodies) - 1
    radius, mass = bodies.bounding_radius[:n], bodies.mass[:n]
    d, rho = 2 * float(radius.mean()), float(mass.sum() / (4 / 3 * np.pi * (radius**3).sum()))
    rate = float(rate_of(bodies, PRESSURE, NUMBER))
    k = 1e4 * PRESSURE * d
    damping = float(np.sqrt(2 * k / mass.mean()))  # half of critical
    law = f"gran/hooke {k!r} 0.0 {damping!r} 0.0 0.0 0"
    if friction:
        law = f"gran/hooke/history {k!r} {2 / 7 * k!r} {damping!r} NULL {friction!r} 1"
    dt = float(0.05 * np.sqrt(mass.min() / 2 / k))
    x, (V, steps) = wrapped(bodies, state)[0][:n], (state.cell, int(STRAIN / rate / dt))
    sides = " ".join(f"0 {float(V[i, i])!r}" for i in range(3))
    tilts = " ".join(repr(float(V[i, j])) for i, j in ((1, 0), (2, 0), (2, 1)))
    slow = float(d * np.sqrt(rho / PRESSURE))
    lmp = library().lammps(cmdargs=["-log", "none", "-screen", "none"])
    try:
        for line in (
            "units lj", "atom_style sphere", "boundary p p p", "comm_modify vel yes", "newton off",
            f"region box prism {sides} {tilts}", "create_box 1 box",
            f"pair_style {law}", "pair_coeff * *",
            f"neighbor {0.1 * d!r} bin", f"timestep {dt!r}",
        ):  # fmt: skip
            lmp.command(line)
        speed = np.zeros((n, 3))
        speed[:, 0] = rate * x[:, 1]
        lmp.create_atoms(
            n, list(range(1, n + 1)), [1] * n, x.ravel().tolist(), speed.ravel().tolist()
        )
        for i, r in enumerate(radius.tolist()):
            lmp.command(f"set atom {i + 1} diameter {2 * r!r}")
            lmp.command(f"set atom {i + 1} density {rho!r}")
        with tempfile.TemporaryDirectory() as folder:
            path, each = Path(folder) / "stress.txt", max(1, steps // 4000)
            for line in (
                f"fix move all nph/sphere y {PRESSURE} {PRESSURE} {slow!r} ptemp 1.0 drag 2.0 "
                "scalexy no scaleyz no flip no",
                f"fix shear all deform 1 xy vel {rate * float(V[1, 1])!r} remap v",
                "compute virial all pressure NULL virial",
                f"fix mean all ave/time {each} 20 {20 * each} c_virial[2] c_virial[4] file {path}",
                f"run {steps}",
                "unfix mean",
            ):
                lmp.command(line)
            found = np.loadtxt(path)
    finally:
        lmp.close()
    half = found[len(found) // 2 :]
    return float((-half[:, 2] / half[:, 1]).mean())


if __name__ == "__main__":
    named_checks.run(__doc__, {"squeeze": squeeze, "shear": shear, "rough": rough})
