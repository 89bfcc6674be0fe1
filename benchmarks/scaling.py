"""(d) Time, iterations and memory against the number of contacts; warm against cold; (e) products.

Pyramids of 1e3 to 2e6 contacts, to 1e-10 from a cold start, with the exponent of CPU time in
contacts fitted from FIT_FROM on. Then scenes in motion step by step: each step solved with and
without the warm start of the step before. Cost is also given in products B^T (D (B x)) with the
same matrix, timed by scipy in the same run.
"""

import time

import numpy as np

import rigidlimit as rl
from rigidlimit.penalty.rest_checks import SETTINGS

from . import peers, problems
from .compatibility import not_run, row
from .contact_dynamics import errors
from .measure import cpu_seconds, measure, product_seconds, told

FIT_FROM = 1e4
TARGET = 1e-10


def sizes(bases, *, limit, kinds, fork=True):
    """Yields rows of growing pyramids; a kind is a law of eq. 36 or a state of eq. 21."""
    for kind in kinds:
        first = kind in problems.STATES
        part = "scaling, contact dynamics" if first else "scaling, compatibility"
        figures = ("residual",) if first else ("balance",)
        stopped = ""
        for base in bases:
            problem = (problems.dynamics if first else problems.compatibility)(base, kind)
            if stopped:
                skipped = not_run(part, problem, peers.OURS, TARGET, stopped, figures)
                yield skipped | {"kind": kind}
                continue
            unit = product_seconds(problem.B)
            table = peers.dynamics_solvers() if first else peers.compatibility_solvers()
            solver = table[peers.OURS]
            # the same function serves every exponent
            with told(f"  {problem.name}: {problem.B.shape[0]} contacts"):
                found = measure(lambda p=problem, s=solver: s(p, TARGET), limit=limit, fork=fork)
            achieved = np.inf
            if found.answer is not None:
                f = found.answer.force
                achieved = (
                    errors(problem, problem.judge.free_velocity, f)[0]
                    if first
                    else problem.balance(f)
                )
            line = row(
                part, problem, peers.OURS, TARGET, unit, found, TARGET, **{figures[0]: achieved}
            )
            yield line | {"kind": kind}
            if found.note:
                stopped = f"{found.note} at {line['contacts']} contacts"


def exponents(rows) -> list[dict]:
    """Fitted exponent of CPU time, iterations and memory in contacts for each series."""
    out = []
    for part, kind in dict.fromkeys((r["part"], r["kind"]) for r in rows):
        mine = [
            r
            for r in rows
            if (r["part"], r["kind"]) == (part, kind)
            and r["contacts"] >= FIT_FROM
            and np.isfinite(r["cpu"])
            and r["cpu"] > 0
        ]
        if len(mine) < 2:
            continue
        m = np.log([r["contacts"] for r in mine])

        def slope(key, mine=mine, m=m):
            y = np.array([r[key] or np.nan for r in mine], float)
            good = np.isfinite(y) & (y > 0)
            return float(np.polyfit(m[good], np.log(y[good]), 1)[0]) if good.sum() > 1 else np.nan

        out.append(
            {
                "part": part.replace("scaling", "exponents"),
                "problem": kind,
                "from": mine[0]["contacts"],
                "to": mine[-1]["contacts"],
                "time ~ m^": slope("cpu"),
                "products ~ m^": slope("products"),
                "linear iterations ~ m^": slope("linear"),
                "most bytes per contact": max(r["bytes_per_contact"] for r in mine),
            }
        )
    return out


def _first(recorded, warm):
    start = recorded.warm_force if warm else None
    given = recorded.dynamics
    return rl.contact_dynamics(**given, tolerance=TARGET, warm_start=start)


def _second(recorded):
    given = dict(recorded.compatible)
    given.pop("admissible")
    return rl.compatible_forces(**given, tolerance=TARGET)


def _both(recorded):
    """Both steps, warm, as ``rigidlimit.step`` makes them: the answer of the second."""
    _first(recorded, True)
    return rl.compatible_forces(
        **recorded.compatible, tolerance=TARGET, warm_start=recorded.warm_displacement
    )


def moving(simulation, name, *, steps, settle=0, limit=60.0):
    """One row of medians over the steps of a simulation: both solves, warm and cold.

    settle: steps made before. "force change": largest change of a classic force in one step over
    the largest force, what a warm start has to make up for. The cold second step has neither u nor
    the classic forces to start from; the warm one is what both take together, less the first. Stops
    after ``limit`` CPU seconds.
    """
    began = time.process_time()
    for _ in range(settle):
        simulation.step(compatible=True)
    cpu = {key: [] for key in ("dynamics warm", "dynamics cold", "forces warm", "forces cold")}
    residual, contacts, products, changes, done = 0.0, [], [], [], 0
    with told(f"  {name}"):
        for _ in range(4 * steps):
            recorded = problems.replay(simulation)
            if recorded.warm_force is None or not recorded.result.classic.force.any():
                continue  # nothing touches yet
            calls = {
                "dynamics warm": lambda r=recorded: _first(r, True),
                "dynamics cold": lambda r=recorded: _first(r, False),
                "forces warm": lambda r=recorded: _both(r),
                "forces cold": lambda r=recorded: _second(r),
            }
            for key, call in calls.items():
                taken, answer = cpu_seconds(call, repeat=1)
                cpu[key].append(taken)
                residual = max(residual, answer.residual)
            cpu["forces warm"][-1] = max(0.0, cpu["forces warm"][-1] - cpu["dynamics warm"][-1])
            contacts.append(len(recorded.warm_force))
            force = recorded.result.classic.force
            changes.append(np.abs(force - recorded.warm_force).max() / force.max())
            products.append(product_seconds(recorded.dynamics["B"], repeat=1))
            done += 1
            if done == steps or (limit and time.process_time() - began > limit):
                break
    if not done:
        return None
    median = {key: float(np.median(values)) for key, values in cpu.items()}
    unit = float(np.median(products))
    warm = median["dynamics warm"] + median["forces warm"]
    cold = median["dynamics cold"] + median["forces cold"]
    return {
        "part": "scenes, warm against cold",
        "problem": name,
        "contacts": int(np.median(contacts)),
        "steps": done,
        "force change": float(np.median(changes)),
        "residual": residual,
        **median,
        "warm/cold": warm / cold if cold > 0 else float("nan"),
        "products warm": warm / unit,
        "products cold": cold / unit,
    }


def scenes(*, packings, pyramid, column, wall, steps, limit, folder=None):
    """Yields rows of scenes in motion: packings, pyramid, column, boxes."""
    for count in packings:
        given = problems.packing_at_rest(count, folder=folder)
        name = f"packing of {count}, settling"
        yield moving(_from(*given), name, steps=steps, settle=5, limit=limit)
        tilted = _Tilting(_from(*given), 1e-3)
        name += ", tilted 1e-3 rad a step"
        yield moving(tilted, name, steps=steps, settle=5, limit=limit)
        # at rest but for the load: a slowly changing packing
        given = problems.packing_exactly_at_rest(count, folder=folder)
        still = _from(*given, dt=1e-4, closed=SETTINGS.closed)
        name = f"packing of {count} at rest, tilted 1e-4 rad a step"
        yield moving(_Tilting(still, 1e-4), name, steps=steps, settle=2, limit=limit)
    simulation = rl.Simulation(rl.scenes.pyramid(pyramid))
    yield moving(simulation, f"pyramid {pyramid}, settling", steps=steps, limit=limit)
    # all layers have met, and each step puts right what rounding left of the one before
    simulation = rl.Simulation(rl.scenes.pyramid(pyramid))
    name = f"pyramid {pyramid}, settled"
    yield moving(simulation, name, steps=steps, settle=pyramid + 5, limit=limit)
    simulation = rl.Simulation(problems.column(*column))
    yield moving(simulation, "collapsing column", steps=steps, settle=3, limit=limit)
    simulation = rl.Simulation(problems.wall_of_boxes(*wall))
    yield moving(simulation, "wall of boxes", steps=steps, settle=1, limit=limit)


def _from(scene, state, *, dt=1e-3, closed=None):
    simulation = rl.Simulation(scene, dt=dt, closed=closed)
    simulation.state = state
    return simulation


class _Tilting:
    """A simulation whose gravity turns by ``angle`` [rad] about the y axis before every step."""

    def __init__(self, simulation, angle):
        self.__dict__.update(inner=simulation, angle=angle)

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def step(self, **options):
        force = self.inner.external_force.reshape(-1, 6).copy()
        c, s = np.cos(self.angle), np.sin(self.angle)
        x, z = force[:, 0].copy(), force[:, 2].copy()
        force[:, 0], force[:, 2] = c * x - s * z, s * x + c * z
        self.inner.external_force = force.ravel()
        return self.inner.step(**options)
