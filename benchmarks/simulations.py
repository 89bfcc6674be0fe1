"""(c) Whole simulations: rigidlimit's time stepping against LAMMPS DEM for the same physical time.

The same dropped pyramid until contact dynamics has come to rest. LAMMPS (its GRANULAR package) and
the library's own DEM march the same time with the stiffness of the material and 0.8 of the critical
time step; where that would pass the limit, SAMPLE steps are timed and the time is scaled to the
number of steps (marked). "cpu per step" of contact dynamics holds contact search, both solves and
motion. "distance" is that of the DEM's final elastic forces from the compatible ones, relative,
over all contacts: what its motion and finite stiffness leave.
"""

import time

import numpy as np

import rigidlimit as rl
from rigidlimit.errors import MissingExtra
from rigidlimit.penalty import PenaltySimulation

from .measure import Answer, Clock, measure, told

SAMPLE = 2000


def _contact_dynamics(scene, compatible):
    """Run to rest; Answer with steps and the last forces."""
    clock = Clock()
    simulation = rl.Simulation(scene, compatible=compatible)
    residual = 0.0
    with clock:
        while not simulation.at_rest and simulation.steps < 2000:
            result = simulation.step()
            residual = max(residual, result.residual)
    extra = {"time": simulation.time, "residual": residual, "contacts": result.contacts}
    return Answer(result.force, clock, simulation.steps, extra)


def _lammps(scene, steps):
    from benchmarks import lammps_peer as lammps

    clock = Clock()
    dem = PenaltySimulation(scene)
    start = time.process_time()
    found = lammps.march_spheres(dem, steps)
    clock.wall = found.seconds
    # the marching alone: CPU time holds the set-up too, wall time what else runs on the core
    clock.cpu = min(found.seconds, time.process_time() - start)
    return Answer(found.force, clock, steps, {"contacts": found.contacts})


def _dem(scene, steps):
    clock = Clock()
    PenaltySimulation(scene).run(max_steps=10)  # loads or compiles the kernels
    dem = PenaltySimulation(scene)
    dt = dem.dt
    with clock:
        result = dem.run(until=steps * dt)
    return Answer(
        result.force,
        clock,
        result.steps,
        {"contacts": result.contacts, "unbalanced": result.unbalanced},
    )


def run(*, bases, limit=60.0, fork=True):
    """Yields the rows of part (c)."""
    measure(lambda: _dem(rl.scenes.pyramid(2), 10), repeat=1, fork=fork)  # compiles
    for base in bases:
        scene = rl.scenes.pyramid(base)
        lines, until, reference = [], 0.0, None
        for name, compatible in (
            ("rigidlimit, compatible forces every step", "every"),
            ("rigidlimit, classic contact dynamics only", "never"),
        ):
            with told(f"  pyramid {base}: {name}"):
                found = measure(
                    lambda s=scene, c=compatible: _contact_dynamics(s, c),
                    limit=limit, repeat=1, fork=fork,
                )  # fmt: skip
            extra = found.answer.extra if found.answer else {}
            until = max(until, extra.get("time", 0.0))
            figures = {"residual": extra.get("residual")}
            if name.startswith("rigidlimit, compatible") and found.answer:
                reference = found.answer
                figures["contacts"] = len(reference.force)
            lines.append(_row(base, name, found, until, figures))
        if reference is None:
            yield from lines
            return
        dt = PenaltySimulation(scene).dt
        whole = int(np.ceil(until / dt))
        for name, march in (("LAMMPS DEM", _lammps), ("rigidlimit's DEM", _dem)):
            with told(f"  pyramid {base}: {name}"):
                lines.append(
                    _marched(base, name, march, scene, until, whole, limit, fork, reference)
                )
        for line in lines:
            line["times ours"] = line["cpu"] / lines[0]["cpu"]
        yield from lines


def _marched(base, name, march, scene, until, whole, limit, fork, reference):
    try:
        sample = min(whole, SAMPLE)
        found = measure(lambda: march(scene, sample), limit=limit, repeat=1, fork=fork)
        if found.answer is None:
            return _row(base, name, found, until, {}, steps=whole)
        scale = whole / found.answer.iterations
        if scale > 1 and found.cpu * scale < limit:
            found = measure(lambda: march(scene, whole), limit=3 * limit, repeat=1, fork=fork)
            scale = 1.0
        if scale > 1:
            found.cpu, found.wall = found.cpu * scale, found.wall * scale
            found.note = f"scaled up from {found.answer.iterations} steps"
    except MissingExtra as error:
        from .measure import Measured

        found = Measured(None, note=f"not run: {error}"[:60])
    extra = {} if found.answer is None else found.answer.extra
    figures = {"unbalanced": extra.get("unbalanced")}
    if found.answer is not None and not found.note:
        there = reference.extra["contacts"].carry_over(extra["contacts"], found.answer.force)
        figures["distance"] = float(
            np.linalg.norm(there - reference.force) / np.linalg.norm(reference.force)
        )
    return _row(base, name, found, until, figures, steps=whole)


def _row(base, name, found, until, figures, steps=None):
    steps = steps or (found.answer.iterations if found.answer else None)
    return {
        "part": "whole simulations",
        "problem": f"pyramid {base}, dropped",
        "method": name,
        "physical time": until,
        "steps": steps,
        "cpu": found.cpu,
        "wall": found.wall,
        "cpu per step": found.cpu / steps if steps else float("nan"),
        "bytes": found.memory,
        **figures,
        "note": found.note,
    }
