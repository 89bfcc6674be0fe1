"""Entries that are plain arrays: one of the two solves each."""

from pathlib import Path

import numpy as np
import scipy.sparse as sp

import tests
from tests import hard_problems as hard
from tests.conditioning.test_last_digits import mixed_packing
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
    _, B, admissible = hard.softened(seed, soft, **counts)
    k = 10.0 ** np.random.default_rng(seed).uniform(-decades, 0, len(B))
    known = dict(admissible=admissible) if given else {}
    return [forces(B, B.T @ admissible, stiffness=k, exponent=exponent, **known)]


def side_by_side(apart, exponent, seed=0):
    B, force = hard.side_by_side(apart, seed)
    return [forces(B, B.T @ force, exponent=exponent)]


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
    B, k, overlap = hard.preloaded_ring(exponent)
    given = dict(stiffness=k, gap_error=np.full(len(B), -overlap))
    return [forces(B, np.array([-load, 0.0]), exponent=exponent, **given)]


def not_carried(base):
    """The top of a pyramid is pulled off."""
    B, load = static_pyramid(base)
    load[-1] = -3.0
    return [forces(B, load)]


def hardly_not_carried(seed, short):
    """A step of this size beyond a face of the cone of loads."""
    B, v, force, k = hard.beside_a_face(seed)
    face = B.T @ force
    load = face - short * np.abs(face).max() * v / np.abs(v).max()
    return [forces(B, load, stiffness=k)]


def unlike_forces(seed, decades, exponent):
    B, load, k = hard.unlike_stiffness(seed, decades)
    return [forces(B, load, stiffness=k, exponent=exponent)]


def two_bodies(seed, felt):
    """A motion of two bodies together that contacts feel by as little as that."""
    B, _, load = hard.stack(seed, felt)
    return [forces(B, load)]


def drifted(exponent):
    """A warm start that has floated far away."""
    B, load, way = hard.floating_cluster()
    return [forces(B, load, exponent=exponent, warm_start=1e9 * way)]


def held_feet(held):
    B, given = hard.held_feet(held)
    return [forces(B, np.array([10.0, 0.0]), admissible=given, blocks=[0, 2])]


def many_feet():
    B, given = hard.many_feet()
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
    return [dynamics(hard.only_one_velocity(seed)[0])]


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
