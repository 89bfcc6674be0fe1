"""Friction by checks that take minutes: `python -m benchmarks.friction [NAME ...]`.

creep     1,000 steps of a rough pyramid at rest: the longest way of a ball
energy    a settling packing: largest rise of kinetic and potential energy in a step
random    step 1 of the 784 contacts of a pyramid, gaps and velocities at random
settle    processor time per step of settling rough packings
pyramids  processor time of a cold step of rough pyramids, and of the step after it
rest      LAMMPS at rest under loads that grew slowly: groove, pyramid, layers pushed sideways
tilts     LAMMPS as gravity turns forth and back over a pyramid, by steps of contact dynamics
several   equilibria of a body in the plane with three contacts at random, all states tried out
lammps    a rough packing that came to rest in LAMMPS, taken over with its tangential springs,
          as gravity turns by 0.01 rad
"""

import time
from itertools import pairwise, product

import numpy as np

import rigidlimit as rl
from rigidlimit.collision.search import find_contacts
from rigidlimit.dynamics import contact_dynamics
from rigidlimit.kinematics import framed, gap_gradient, tangential_gradient
from rigidlimit.penalty import PenaltySimulation

from . import named_checks

ROLLS = 1e-4
"""Way of a ball, in diameters, that is more than elastic."""


def creep(steps=1000):
    simulation = rl.Simulation(rl.scenes.rough_pyramid(5, friction=0.3))
    begun = simulation.step()
    for _ in range(steps):
        step = simulation.step()
    way = np.abs(step.state.position - begun.state.position).max() / 2.5e-3
    force = np.abs(step.force - begun.force).max() / begun.force.max()
    print(f"creep: {steps} steps, longest way {way:.1e} R, forces change by {force:.1e}")


def energy(count=20, steps=120):
    """The rise that undoing overlaps of earlier steps explains is told apart."""
    simulation = rl.Simulation(rl.scenes.rough_packing(count), compatible="never")
    bodies, g = simulation.bodies, 9.81
    inertia = np.einsum("nkk->nk", bodies.inertia)
    moving = bodies.free.any(axis=1)

    def energies(state):
        v = state.velocity[moving]
        kinetic = 0.5 * (bodies.mass[moving] * (v[:, :3] ** 2).sum(axis=1)).sum()
        kinetic += 0.5 * (inertia[moving] * v[:, 3:] ** 2).sum()
        return kinetic + g * (bodies.mass * state.position[:, 2])[moving].sum()

    before = energies(simulation.state)
    size, rises, left = abs(before), [], []
    for _ in range(steps):
        step = simulation.step()
        after, overlap = energies(step.state), np.maximum(-step.contacts.gap, 0.0)
        rises.append((after - before) / size)
        left.append((after - before - float(step.classic.force @ overlap)) / size)
        before = after
    print(
        f"energy: {count} balls, {steps} steps: largest rise {max(rises):.1e} of the whole, "
        f"less the work on overlaps {max(left):.1e}"
    )


def random_state(friction=0.5, seeds=3):
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        scene = rl.scenes.rough_pyramid(8, friction=friction)
        bodies, state = scene.bodies, scene.state
        contacts = framed(find_contacts(bodies, state, 1e-9), 3)
        rows = (make(bodies, state, contacts) for make in (gap_gradient, tangential_gradient))
        B, T = rows
        dt, m = 1e-3, len(contacts)
        mass = np.repeat(np.column_stack([bodies.mass, 0.4 * bodies.mass * 2.5e-3**2]), 3, axis=1)
        velocity = rng.normal(size=(len(bodies), 6)) * np.repeat([1.0, 400.0], 3) * 0.1
        velocity[~bodies.free] = 0.0
        began = time.process_time()
        found = contact_dynamics(
            mass.ravel(), B, dt * 0.1 * rng.uniform(0, 1, m), velocity.ravel(),
            scene.external_force(), dt, tangential=T, friction=friction,
            fixed=~bodies.free.ravel(), tolerance=1e-8,
        )  # fmt: skip
        print(
            f"random: {m} contacts, mu {friction}, seed {seed}: {found.status}, residual "
            f"{found.residual:.1e}, {found.iterations} linear systems, "
            f"{time.process_time() - began:.1f} s"
        )


def settle(counts=(50, 200), seconds=60.0):
    for count in counts:
        simulation = rl.Simulation(rl.scenes.rough_packing(count))
        simulation.step()
        began, times, first, second = time.process_time(), [], 0, 0
        while simulation.time < 0.4 and time.process_time() - began < seconds:
            start = time.process_time()
            step = simulation.step()
            times.append(time.process_time() - start)
            first += not step.classic.converged
            second += not step.compatible.converged
        print(
            f"settle: {count} balls, {len(times)} steps to t = {simulation.time:.3g} s: median "
            f"{np.median(times):.3f} s, worst {max(times):.2f} s, {len(step.contacts)} contacts; "
            f"not converged: step 1 {first}, step 2 {second}"
        )


def pyramids(bases=(10, 20, 30), friction=0.5):
    rl.Simulation(rl.scenes.rough_pyramid(12, friction=friction)).run(until=2e-3)  # compiled
    for base in bases:
        scene, found = rl.scenes.rough_pyramid(base, friction=friction), []
        for compatible in ("never", "every"):
            simulation = rl.Simulation(scene, compatible=compatible)
            for _ in range(2):
                start = time.process_time()
                step = simulation.step()
                found.append(time.process_time() - start)
        worst = max(step.classic.residual, step.compatible.residual)
        print(
            f"pyramids: base {base}, {len(step.contacts)} contacts: contact search and dynamics "
            f"{found[0]:.2f} s, with compatible forces {found[2]:.2f} s, the next step "
            f"{found[3]:.2f} s; residual {worst:.0e}",
            flush=True,
        )


def _layers(base, count):
    """Centres of ``count`` layers of a square pyramid of unit spheres."""
    out = []
    for layer in range(count):
        x, y = np.meshgrid(*2 * [np.arange(base - layer) + 0.5 * layer], indexing="ij")
        out.append(np.column_stack([x.ravel(), y.ravel(), 0 * x.ravel() + layer / np.sqrt(2)]))
    return np.concatenate(out)


def rest(young=2e6, over=60.0, dt=1e-4):
    """Overlaps of some 1e-6 of a diameter and less."""
    from benchmarks.lammps_peer import march_spheres

    groove = np.array([[0, 0, 0], [np.sqrt(2), 0, 0], [np.sqrt(0.5), 0, np.sqrt(0.5)]])
    for name, centres, held, mu, pull in (
        ("groove", groove, 2, 0.2, (0.0, 0.0, -1.0)),
        ("pyramid of base 4", _layers(4, 4), 16, 0.3, (0.0, 0.0, -1.0)),
        ("two layers pushed sideways", _layers(4, 2), 16, 0.5, (0.1, 0.05, -1.0)),
    ):
        scene = rl.Scene(gravity=pull)
        rough = rl.Material(young=young, friction=mu, tangential_stiffness=2 / 7)
        scene.add_many(rl.Sphere(0.5), centres[:held], material=rough, mass=1.0, fixed=True)
        scene.add_many(rl.Sphere(0.5), centres[held:], material=rough, mass=1.0)
        dem = PenaltySimulation(scene, restitution=0.3, dt=dt)
        theirs = march_spheres(dem, round(0.1 * over / dt), path=[(pull, round(over / dt))])
        mine = rl.Simulation(scene, dt=1e-3).step()
        at = mine.contacts.places_in(theirs.contacts)
        known = theirs.force[:, None] * theirs.contacts.normal + theirs.tangential
        error = np.abs(mine.force_vectors - _at(known, at)).max() / np.abs(known).max()
        print(
            f"rest: {name}, mu {mu}: largest difference {error:.1e}, deepest overlap "
            f"{-theirs.contacts.gap.min():.1e} of a diameter",
            flush=True,
        )


def tilts(young=2e6, over=40.0, dt=1e-4, mu=0.3, steps=(1, 4, 16, 64)):
    """Gravity turns forth and back in six stages; steps: of contact dynamics in a stage."""
    from .lammps_peer import march_spheres

    centres, held = _layers(4, 4), 16
    stages = [(0, 0), (0.1, 0.05), (0, 0), (-0.1, 0.05), (0.05, -0.1), (0, 0), (0.1, 0)]
    pulls = [np.array([x, y, -1.0]) for x, y in stages]
    scene = rl.Scene(gravity=pulls[0])
    rough = rl.Material(young=young, friction=mu, tangential_stiffness=2 / 7)
    scene.add_many(rl.Sphere(0.5), centres[:held], material=rough, mass=1.0, fixed=True)
    scene.add_many(rl.Sphere(0.5), centres[held:], material=rough, mass=1.0)
    for last in (2, 4, 6):
        dem = PenaltySimulation(scene, restitution=0.3, dt=dt)
        legs = [(pull, round(over / dt)) for pull in pulls[: last + 1]]
        theirs = march_spheres(dem, round(0.1 * over / dt), path=legs)
        known = theirs.force[:, None] * theirs.contacts.normal + theirs.tangential
        errors = []
        for count in steps:
            simulation = rl.Simulation(scene, dt=1e-3)
            step = simulation.step()
            for before, after in pairwise(pulls[: last + 1]):
                for k in range(1, count + 1):
                    simulation.set_gravity(before + (after - before) * k / count)
                    step = simulation.step()
            at = step.contacts.places_in(theirs.contacts)
            errors.append(np.abs(step.force_vectors - _at(known, at)).max() / np.abs(known).max())
        print(
            f"tilts: after {last} stages, deepest overlap {-theirs.contacts.gap.min():.1e} of a "
            "diameter, largest difference in " + ", ".join(
                f"{count} steps a stage {error:.1e}"
                for count, error in zip(steps, errors, strict=True)
            ),
            flush=True,
        )  # fmt: skip


def _at(vectors, at):
    """``vectors`` at these places, zero where there is none (negative)."""
    return np.where(at[:, None] >= 0, vectors[at], 0.0)


def _bowl(count, radius=0.5, friction=0.5):
    """Equal spheres above a bowl of held ones, overlaps of some 1e-4 at rest."""
    rng = np.random.default_rng(1)
    side = int(np.ceil((count / 1.5) ** (1 / 3)))
    grid = np.arange(-1, side + 1) + 0.0
    floor = np.array([(x, y, -1.0) for x in grid for y in grid])
    walls = np.array(
        [(x, y, z) for z in range(2 * side) for x in grid for y in grid
         if x in (grid[0], grid[-1]) or y in (grid[0], grid[-1])]
    )  # fmt: skip
    cells = np.array([(x, y, z) for z in range(4 * side) for y in range(side) for x in range(side)])
    balls = cells[:count] * [1.0, 1.0, 1.1] + [0, 0, 0.1]
    balls = balls + rng.uniform(-0.04, 0.04, balls.shape)
    scene = rl.Scene(name="bowl", gravity=(0, 0, -1))
    rough = rl.Material(young=2e5, friction=friction, tangential_stiffness=2 / 7)
    held = np.concatenate([floor, walls])
    scene.add_many(rl.Sphere(radius), held, material=rough, mass=1.0, fixed=True)
    small = rl.Sphere(radius)
    scene.add_many(small, balls, material=rough, mass=1.0)
    return scene


def lammps(count=300, dt=3e-4, rest=800_000, turn=100_000, toward=((-1, 0), (1, 0))):
    """toward: directions in which gravity turns. LAMMPS rests until no ball rolls any more."""
    from benchmarks.lammps_peer import march_spheres

    scene, down = _bowl(count), (0.0, 0.0, -1.0)

    def marched(path, steps):
        dem = PenaltySimulation(scene, restitution=0.3, dt=dt)
        return march_spheres(dem, steps, path=path)

    before = marched([(down, 1)], rest)
    print(
        f"lammps: {count} spheres, {len(before.force)} contacts, kinetic energy at rest "
        f"{before.kinetic_energy:.0e}"
    )
    simulation = rl.Simulation(scene)
    for x, y in toward:
        tilted = (x * np.sin(0.01), y * np.sin(0.01), -np.cos(0.01))
        after = marched([(down, 1), (down, rest), (tilted, turn)], 20_000)
        way = np.abs(after.state.position - before.state.position).max(axis=1)
        simulation.start_from(before.state, before.contacts, before.force)
        simulation.set_gravity(tilted)
        for increments in (1, 4, 16):
            scene.increments = increments
            answer = rl.forces_at_pose(simulation, springs=before)
            contacts = answer.contacts
            old, new = (
                _at(
                    x.force[:, None] * x.contacts.normal + x.tangential,
                    contacts.places_in(x.contacts),
                )
                for x in (before, after)
            )
            stays = (answer.force > 0) & new.any(axis=1) & old.any(axis=1)
            if not stays.any():
                print(f"lammps: toward ({x}, {y}): {answer.status}; no contact stays, not at rest")
                continue
            change = np.abs((new - old)[stays]).max()
            error = np.abs((answer.force_vectors - new)[stays]).max() / change
            print(
                f"lammps: toward ({x}, {y}), {(way >= ROLLS).sum()} balls roll in LAMMPS, "
                f"{increments} increments: {answer.status}, {stays.sum()} contacts stay, error "
                f"{100 * error:.2f} % of the largest change, {change:.2g} of a weight",
                flush=True,
            )


OPEN, STICKS, SLIDES, SLIDES_BACK = range(4)


def _equilibria(B, T, load, mu, ratio, least=1e-9):
    """(forces (m, 2), whether stable) of every equilibrium of springs k_n = 1, k_t = ratio."""
    for states in product(range(4), repeat=len(B)):
        states = np.array(states)
        closed, sticks = states != OPEN, states == STICKS
        way = np.select([states == SLIDES, states == SLIDES_BACK], [1.0, -1.0])
        K = B[closed].T @ B[closed] + ratio * T[sticks].T @ T[sticks]
        K += mu * (way[:, None] * T)[closed].T @ B[closed]
        if np.linalg.matrix_rank(K) < len(K):
            continue
        u = -np.linalg.solve(K, load)
        pressing, trial = -B @ u, -ratio * T @ u
        held = np.abs(trial) < mu * pressing
        fine = np.where(closed, pressing > least, pressing < least)
        fine &= np.where(sticks, held, (way == 0.0) | (way * trial > mu * pressing))
        if fine.all():
            normal = np.where(closed, pressing, 0.0)
            force = np.column_stack([normal, np.where(sticks, trial, way * mu * normal)])
            yield force, bool(np.linalg.eigvals(K).real.min() > 0.0)


def several(count=400, contacts=3, ratio=6 / 7):
    for mu in (0.2, 0.5, 1.5):
        two = reached = known = certified = 0
        for seed in range(count):
            rng = np.random.default_rng(seed)
            angle, at = 2 * np.pi * rng.random(contacts), rng.normal(size=(contacts, 2))
            n = np.column_stack([np.cos(angle), np.sin(angle)])
            t = np.column_stack([-n[:, 1], n[:, 0]])
            B, T = (np.column_stack([e, at[:, 0] * e[:, 1] - at[:, 1] * e[:, 0]]) for e in (n, t))
            pressing = rng.random(contacts)
            load = B.T @ pressing + T.T @ (mu * pressing * rng.uniform(-1, 1, contacts))
            stable = [force for force, good in _equilibria(B, T, load, mu, ratio) if good]
            if len(stable) < 2:
                continue
            rough = dict(tangential=T, friction=mu, tangential_stiffness=ratio)
            answer = rl.compatible_forces(B, load, **rough)
            force = np.column_stack([answer.force, answer.tangential_force])
            two, known = two + 1, known + answer.several
            reached += min(np.abs(force - each).max() for each in stable) < 1e-8
            certified += all(rl.certify(B, load, each, **rough).compatible for each in stable)
        print(
            f"several: friction {mu}: {two} of {count} bodies have two stable equilibria or more; "
            f"compatible_forces returns one of them in {reached}, and says so in {known}; certify "
            f"accepts each in {certified}",
            flush=True,
        )


CHECKS = {
    "creep": creep,
    "energy": energy,
    "random": random_state,
    "settle": settle,
    "pyramids": pyramids,
    "rest": rest,
    "tilts": tilts,
    "several": several,
    "lammps": lammps,
}

if __name__ == "__main__":
    named_checks.run(__doc__, CHECKS)
