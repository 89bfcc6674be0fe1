"""Entries that are plain arrays: one of the two solves each."""

from pathlib import Path

import numpy as np
import scipy.sparse as sp

import tests
from tests.conditioning.test_last_digits import mixed_packing
from tests.hard_problems import softened, stack, unlike_stiffness
from tests.problems import (
    contact_problem,
    nearly_determinate,
    pyramid,
    random_problem,
    random_springs,
    soft_motions,
    static_pyramid,
    tower,
)

from .problems import Dynamics, dynamics, forces


def pyramid_forces(base, *, exponent=2.0, decades=0.0, sorts=None, seed=0):
    """A pyramid at rest; stiffnesses over so many decades, or of two sorts 1 : ``sorts``."""
    B, load = static_pyramid(base)
    rng = np.random.default_rng(seed)
    k = 10.0 ** rng.uniform(-decades, 0, B.shape[0])
    if sorts:
        k = np.where(rng.random(B.shape[0]) < 0.5, 1.0, 1.0 / sorts)
    blocks = np.arange(0, B.shape[1] + 1, 3)
    return [forces(B, load, stiffness=k, exponent=exponent, blocks=blocks)]


def tower_forces(plates, exponent):
    B, load = tower(plates)
    blocks = np.arange(0, 3 * plates + 1, 3)
    return [forces(B, load, exponent=exponent, blocks=blocks)]


def determinate(seed, exponent, given, **counts):
    """Hardly more contacts than the load determines, with or without forces that balance it."""
    B, load, corner, k = nearly_determinate(seed, **counts)
    known = dict(admissible=corner) if given else {}
    return [forces(B, load, stiffness=k, exponent=exponent, **known)]


def springs(bodies, contacts, seed=0):
    """A loose packing at random, whose admissible forces are given."""
    B = random_springs(bodies, contacts, seed)
    force = np.random.default_rng(0).uniform(0.1, 1, B.shape[0])
    blocks = np.arange(0, B.shape[1] + 1, 3)
    return [forces(B, B.T @ force, admissible=force, blocks=blocks)]


def soft_forces(slopes, exponent, seed=0):
    B, force = soft_motions(np.asarray(slopes), exponent=exponent, seed=seed)
    return [forces(B, B.T @ force, exponent=exponent)]


def softened_forces(seed, soft, exponent, *, given=True, decades=0.0, **counts):
    _, B, admissible = softened(seed, soft, **counts)
    k = 10.0 ** np.random.default_rng(seed).uniform(-decades, 0, len(B))
    known = dict(admissible=admissible) if given else {}
    return [forces(B, B.T @ admissible, stiffness=k, exponent=exponent, **known)]


def side_by_side(apart, exponent, seed=0):
    """Seven contacts of one freedom, two of them beside others but for ``apart``."""
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(8, 6))
    B = np.vstack([B[:5], B[:2] + apart * rng.normal(size=(2, 6))])
    return [forces(B, B.T @ rng.uniform(0.2, 1, 7), exponent=exponent)]


def rounded_support():
    """Three supports; a motion that one of them feels by 4e-13."""
    side, arm = np.sqrt(0.5), 0.995
    B = np.array([[0, 1.0, 4e-13], [side, 1.0, -arm], [-side, 1.0, arm]])
    return [forces(B, np.array([-1e-12, 10.0, 1e-12]), stiffness=[3, 1, 1])]


def turned_pile():
    """A pile of 40 bodies of all shapes, Hertz."""
    pile = np.load(Path(tests.__file__).parent / "equilibrium" / "turned_pile.npz")
    n, k = len(pile["load"]), pile["stiffness"]
    B = sp.csr_array((pile["data"], pile["indices"], pile["indptr"]), shape=(len(k), n))
    known = dict(admissible=pile["admissible"], blocks=np.arange(0, n + 1, 6))
    return [forces(B, pile["load"], stiffness=k, exponent=2.5, **known)]


def weakly_held(given):
    """Closed contacts of 200 mixed shapes, with motions of many bodies that contacts feel by 1e-9;
    with the forces of step 1, or cold."""
    result = mixed_packing("weakly_held_packing").step(compatible=True)
    closed, bodies = np.flatnonzero(result.closed), result.bodies
    known = dict(fixed=~bodies.free.ravel(), blocks=bodies.blocks)
    if given:
        known["admissible"] = result.classic.force[closed]
    return [forces(result.B[closed], result.load, stiffness=result.stiffness[closed], **known)]


def preloaded_ring(load, exponent):
    k, overlap = {2.0: 4e8, 2.5: 1e10}[exponent], {2.0: 1e-5, 2.5: 1e-4}[exponent]
    turn = 2 * np.pi * np.arange(12) / 12
    B = -np.column_stack([np.cos(turn), np.sin(turn)])
    gaps = np.full(12, -overlap)
    return [forces(B, np.array([-load, 0.0]), stiffness=k, exponent=exponent, gap_error=gaps)]


def not_carried(base):
    """The top of a pyramid is pulled off."""
    B, load = static_pyramid(base)
    load[-1] = -3.0
    return [forces(B, load)]


def hardly_not_carried(seed, short):
    """A step of this size beyond a face of the cone of loads."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 40))
    m = int(rng.integers(n, 3 * n))
    B, v = rng.normal(size=(m, n)), rng.normal(size=n)
    flat = rng.random(m) < 0.6
    B[flat] -= np.outer(B[flat] @ v, v) / (v @ v)
    B[~flat] *= np.sign(B[~flat] @ v)[:, None]
    face = B.T @ (rng.uniform(0, 1, m) * flat)
    load = face - short * np.abs(face).max() * v / np.abs(v).max()
    return [forces(B, load, stiffness=10 ** rng.uniform(0, 1, m))]


def unlike_forces(seed, decades, exponent):
    B, load, k = unlike_stiffness(seed, decades)
    return [forces(B, load, stiffness=k, exponent=exponent)]


def two_bodies(seed, felt):
    """A motion of two bodies together that contacts feel by as little as that."""
    B, _, load = stack(seed, felt)
    return [forces(B, load)]


def drifted(exponent):
    """A warm start that has floated far away."""
    rng = np.random.default_rng(0)
    first, second = np.triu_indices(10, k=1)
    B, normals = np.zeros((len(first), 10, 3)), rng.normal(size=(len(first), 3))
    B[np.arange(len(first)), first], B[np.arange(len(first)), second] = normals, -normals
    B = B.reshape(len(first), 30)
    start = 1e9 * np.tile([0.6, 0.64, 0.48], 10)
    load = B.T @ rng.random(len(first))
    return [forces(B, load, exponent=exponent, warm_start=start)]


def held_feet(held):
    """Forces that hold one another, this large, hide what three feet carry."""
    B = np.array([[1.0, -0.5], [1.0, 0.0], [1.0, 0.5], [-1.0, 0.0]])
    small = 0.9e-9 * held
    given = np.array([small, held + 10.0 - 2 * small, small, held])
    return [forces(B, np.array([10.0, 0.0]), admissible=given, blocks=[0, 2])]


def many_feet():
    """A plate on 10,000 feet, of which the given forces load four."""
    x, y = (a.ravel() for a in np.meshgrid(*2 * [np.linspace(-1, 1, 100)]))
    B = np.column_stack([np.ones(len(x)), x, y])
    given = np.full(len(x), 0.9e-9)
    given[[0, 99, 9900, 9999]] = 1.0
    return [forces(B, B.T @ given, admissible=given)]


def cantilevers(seed):
    """Mechanisms: contacts that move many degrees of freedom each."""
    rng = np.random.default_rng(seed)
    B = sp.random_array((900, 600), density=0.02, rng=rng, data_sampler=rng.normal)
    force = rng.uniform(0, 1, 900) * (rng.random(900) < 0.8)
    return [forces(sp.csr_array(B), B.T @ force, blocks=np.arange(0, 601, 6))]


def overlapping(base, seed=5):
    """Gaps of both signs at random: many contacts push apart at once."""
    problem, rng = pyramid(base, state="random"), np.random.default_rng(seed)
    m, n = problem.B.shape
    drawn = rng.normal(size=m), rng.normal(size=n)
    return [dynamics(contact_problem(problem.B, np.ones(n), *drawn, 1e-3))]


def random_masses(seed, decades):
    problem = random_problem(seed)
    mass = 10.0 ** np.random.default_rng(seed).uniform(-decades, decades, problem.B.shape[1])
    given = problem.bias, problem.free_velocity, problem.dt
    return [dynamics(contact_problem(problem.B, mass, *given))]


def chain(n):
    """A column of spheres."""
    B = sp.csr_array(sp.diags_array([np.ones(n), -np.ones(n - 1)], offsets=[0, -1]))
    return [dynamics(contact_problem(B, np.ones(n), np.zeros(n), np.full(n, -9.81e-3), 1e-3))]


def short_legs():
    """Forty tables with a leg short by 1e-9 to 1e-6: forces that hold one another let go."""
    legs = np.array([[1, 1, 1], [1, 1, -1], [1, -1, 1], [1.0, -1, -1]])
    gaps = np.ravel([[0, 0, 0, gap] for gap in 10.0 ** np.linspace(-9, -6, 40)])
    B = sp.csr_array(sp.block_diag([legs] * 40))
    velocity = np.tile([-1.0, 0, 0], 40)
    return [dynamics(contact_problem(B, np.ones(120), gaps, velocity, 1.0))]


def only_one_velocity(seed):
    """One velocity alone undoes the overlaps: forces have no bounds."""
    rng = np.random.default_rng(seed)
    B = rng.integers(-1, 2, size=(36, 6)).astype(float)
    velocity = rng.normal(size=6)
    slack = np.where(rng.random(36) < 0.5, 0.0, 10.0 ** rng.integers(-8, 2, 36))
    given = slack - B @ velocity, rng.normal(size=6), 1e-3
    return [dynamics(contact_problem(B, np.ones(6), *given))]


def press_fit(rounding, overlap):
    """A body too wide for its hole, whose walls are opposite but for ``rounding``."""
    B = np.array([[1.0, rounding], [-1.0, rounding]])
    given = dict(gap=np.full(2, -overlap), velocity=np.zeros(2), external_force=np.zeros(2))
    return [Dynamics(dict(M=np.ones(2), B=B, dt=1e-3, **given))]


def slow_change(change):
    """About as many contacts bear as there are degrees of freedom, and the load has changed."""
    rng = np.random.default_rng(0)
    B = sp.csr_array(sp.random_array((700, 600), density=0.01, rng=rng, data_sampler=rng.normal))
    gap = np.where(np.arange(700) < 580, 0.0, 1.0)
    mass, before = 10.0 ** rng.uniform(-1, 1, 600), rng.uniform(0.1, 1.0, 700) * (gap == 0)
    load = -B.T @ before + change * rng.normal(size=600)
    given = dict(M=mass, B=B, gap=gap, velocity=np.zeros(600), external_force=load, dt=1e-3)
    return [Dynamics(dict(**given, warm_start=before))]
