"""Entries that are plain arrays, one of the two solves each, under the names that solvers cite."""

from functools import partial

import numpy as np

from tests.hard_problems import boxed_lattice, hexagonal_wall, squeezed_row
from tests.problems import pyramid

from . import arrays
from .problems import Entry, dynamics

FORCES = [
    *[(f"tower of 1000 plates, p = {p:g}", arrays.tower_forces, 1000, p) for p in (2.0, 2.5)],
    *[
        (f"pyramid 12, p = {p:g}", partial(arrays.pyramid_forces, 12, exponent=p))
        for p in (1.1, 1.2, 1.5, 2, 2.5, 4, 10)
    ],
    ("pyramid 20, Hooke", arrays.pyramid_forces, 20),
    ("pyramid 20, p = 1.5", partial(arrays.pyramid_forces, 20, exponent=1.5)),
    *[
        (f"pyramid 12, two sorts 1 : {r:g}", partial(arrays.pyramid_forces, 12, sorts=r))
        for r in (5, 1e3, 1e6)
    ],
    *[
        (
            f"pyramid 12, {d} decades, p = {p:g}",
            partial(arrays.pyramid_forces, 12, decades=d, exponent=p),
        )
        for d in (3, 6)
        for p in (1.4, 2.0, 2.5)
    ],
    ("pyramid 20, two sorts 1 : 1000", partial(arrays.pyramid_forces, 20, sorts=1e3)),
    ("pyramid 30, Hooke", arrays.pyramid_forces, 30),
    ("pyramid 30, two sorts 1 : 1000", partial(arrays.pyramid_forces, 30, sorts=1e3)),
    ("pyramid 4, six decades, p = 1.4", partial(arrays.pyramid_forces, 4, decades=6, exponent=1.4)),
    *[
        (f"nearly determinate, p = {p:g}, {'given' if g else 'cold'}", arrays.determinate, 1, p, g)
        for p in (1.5, 2.0, 2.5)
        for g in (True, False)
    ],
    (
        "nearly determinate, 320, cold",
        partial(arrays.determinate, 0, 2.0, False, n=320, redundant=-40, idle=60),
    ),
    ("weakly held packing, given", arrays.weakly_held, True),
    ("weakly held packing, cold", arrays.weakly_held, False),
    ("loose packing, 2000 springs", arrays.springs, 800, 2.5),
    ("loose packing, 3 contacts a body", arrays.springs, 800, 3.2),
    *[
        (f"soft motions {s:g}, p = {p:g}", arrays.soft_forces, [s] * 5, p)
        for s in (1e-4, 1e-8)
        for p in (2.0, 2.5)
    ],
    (
        "soft motions 1e-9 to 1e-6",
        arrays.soft_forces,
        10.0 ** np.random.default_rng(0).uniform(-9, -6, 5),
        2.0,
    ),
    *[
        (f"softened {s:g}, p = {p:g}", arrays.softened_forces, 1, s, p)
        for s in (1e-8, 1e-9)
        for p in (2.0, 2.5, 3.0)
    ],
    *[
        (
            f"softened 1e-9, cold, seed {s}",
            partial(
                arrays.softened_forces,
                s,
                1e-9,
                2.0,
                given=False,
                decades=2,
                motions=1,
                contacts=20,
                n=14,
            ),
        )
        for s in (4, 23, 48)
    ],
    *[
        (f"side by side {a:g}, p = {p:g}", arrays.side_by_side, a, p)
        for a in (1e-7, 1e-10)
        for p in (2.0, 2.5, 3.0)
    ],
    ("two bodies, one motion felt by 1e-10", arrays.two_bodies, 5, 1e-10),
    ("support felt by 4e-13", arrays.rounded_support),
    ("turned pile, Hertz", arrays.turned_pile),
    *[
        (f"preloaded ring, load {f:g}, p = {p:g}", arrays.preloaded_ring, f, p)
        for f in (1e-6, 1.0)
        for p in (2.0, 2.5)
    ],
    ("load not carried, 6", arrays.not_carried, 6),
    ("load not carried, 12", arrays.not_carried, 12),
    *[(f"load {s:g} beyond the cone", arrays.hardly_not_carried, 1, s) for s in (1e-1, 1e-4, 1e-6)],
    *[
        (f"random, {d} decades, p = {p:g}, seed {s}", arrays.unlike_forces, s, d, p)
        for s, d, p in (
            (1381, 6, 1.5),
            (2610, 6, 1.5),
            (2246, 3, 1.5),
            (364, 6, 1.5),
            (3133, 6, 1.5),
            (7, 6, 1.15),
            (11, 6, 2.0),
            (12, 6, 2.5),
        )
    ],
    *[(f"warm start that drifted, p = {p:g}", arrays.drifted, p) for p in (2.0, 2.5)],
    *[(f"feet held by {h:g}", arrays.held_feet, h) for h in (1e4, 1e9)],
    ("plate on 10,000 feet", arrays.many_feet),
    ("mechanisms", arrays.cantilevers, 0),
]

DYNAMICS = [
    *[
        (f"pyramid 10, {state}", lambda s=state: [dynamics(pyramid(10, state=s))])
        for state in ("rest", "impact", "random")
    ],
    ("pyramid 20, random", lambda: [dynamics(pyramid(20, state="random"))]),
    ("pyramid 10, overlapping", arrays.overlapping, 10),
    *[
        (f"random masses, {2 * d} decades, seed {s}", arrays.random_masses, s, d)
        for d, s in ((1, 0), (3, 1), (4, 2), (4, 5))
    ],
    ("chain of 1000", arrays.chain, 1000),
    *[
        (f"{k} between walls, noise {n:g}", lambda k=k, n=n: [dynamics(boxed_lattice(k, 5, n))])
        for k in ("bcc", "hcp")
        for n in (1e-3, 1e-5, 1e-7)
    ],
    ("hcp between walls, 8, noise 1e-5", lambda: [dynamics(boxed_lattice("hcp", 8, 1e-5))]),
    ("heavy on light, 1 : 2e5", lambda: [dynamics(hexagonal_wall(10, 12, 3.0))]),
    ("heavy on light, 1 : 1e8", lambda: [dynamics(hexagonal_wall(20, 18, 3.0))]),
    *[
        (f"squeezed row, {o:g}", lambda o=o: [dynamics(squeezed_row(6, o))])
        for o in (1e-3, 1e-6, 1e-9)
    ],
    ("tables with short legs", arrays.short_legs),
    *[(f"one velocity alone, seed {s}", arrays.only_one_velocity, s) for s in (0, 45, 107)],
    *[
        (f"press fit, slope {r:g}", arrays.press_fit, r, o)
        for r, o in ((6e-17, 1e-3), (1e-3, 1e-3))
    ],
    *[(f"slow change {c:g}", arrays.slow_change, c) for c in (1e-8, 1e-3)],
]


def _entry(kind, name, make, *arguments):
    return Entry(f"{kind}: {name}", partial(make, *arguments), slow=" 30," in name)


ENTRIES = [
    *[_entry("forces", *given) for given in FORCES],
    *[_entry("dynamics", *given) for given in DYNAMICS],
]
