"""Entries that are runs of scenes, adapters and captured files: the problems that these ask."""

from pathlib import Path

import numpy as np
import scipy.sparse as sp

import rigidlimit as rl
from rigidlimit.adapters import normal_problem, read_captured, solve_captured
from tests.captured import FOLDER
from tests.hard_problems import rounding_on_the_sides, wall
from tests.problems import balanced_arch, wedge

from ..problems import column, wall_of_boxes
from .problems import Entry, Forces, captured

STEP = ("step.velocities", "step.forces", "step.friction", "step.increment")
"""The modules that solve the steps of a simulation."""


def steps(make, count, *, after=0, **options):
    """Problems and results of ``count`` steps of the scene that ``make()`` returns, after others
    that are left out."""

    def run():
        simulation = rl.Simulation(make(), **options)
        for _ in range(after):
            simulation.step()
        found = []
        with captured(*STEP, found=found):
            for _ in range(count):
                simulation.step()
        return found

    return run


def lidded(mass, *, short=0.0, n=4):
    """Spheres of a cubic lattice between four walls that are too near by ``short``, under a lid of
    this many sphere masses."""
    scene = rl.Scene(name="lid", dt=1e-3)
    wide = n - short
    planes = [(0, 0, 1), (1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0)]
    for normal in planes:
        at = wide * (np.minimum(normal, 0) * -1.0) * [1, 1, 0]
        scene.add(rl.HalfSpace(), position=at, normal=normal)
    cells = np.stack(np.meshgrid(*[np.arange(n)] * 3, indexing="ij"), -1).reshape(-1, 3) + 0.5
    cells[:, :2] *= wide / n
    scene.add_many(rl.Sphere(0.5), cells, mass=1.0)
    scene.add(rl.Box((n - 0.5, n - 0.5, 1.0)), position=(wide / 2, wide / 2, n + 0.5), mass=mass)
    return scene


def unlike_masses(decades, count=150, after=40):
    """Step 1 of a packing as it settles, masses strewn over so many decades."""

    def run():
        found = []
        simulation = rl.Simulation(rl.scenes.packing(count, seed=3))
        for _ in range(after):
            simulation.step()
        with captured(*STEP, found=found):
            simulation.step()
        first = found[0][0]
        given = {k: v for k, v in first.given.items() if k != "warm_start"}
        n = len(given["velocity"])
        part = np.repeat(10.0 ** np.random.default_rng(0).uniform(-decades, 0, n // 6), 6)
        given["M"] = sp.csr_array(sp.diags_array(part) @ given["M"])
        given["external_force"] = part * given["external_force"]
        return [type(first)(given)]

    return run


def rollers(tilt):
    """A shaft among sixteen rollers that lean by about ``tilt``."""
    from tests.test_two_force_bodies import DT, leaning

    def run():
        scene, _, state = leaning(tilt)
        simulation = rl.Simulation(scene, dt=DT)
        simulation.state, found = state, []
        with captured(*STEP, found=found):
            simulation.step()
        return found

    return run


def tilted_plate(size):
    from tests.test_slight_tilts import TILTS, plate

    return lambda: plate(size * TILTS)[0]


def rounded_row(n, z, digits, seed):
    from tests.test_slight_tilts import row

    return lambda: row(n, z, digits, seed)[0]


def rounded_bearing(law, digits):
    from tests.test_two_force_bodies import bearing

    return lambda: bearing(law, digits)[0]


def siconos(name):
    """Both steps of a captured problem of the Siconos project."""

    def run():
        path = FOLDER / name if FOLDER else Path(name)
        if not path.is_file():
            return []
        problem = normal_problem(read_captured(path))
        found = []
        with captured("adapters.frictionless", found=found):
            solve_captured(problem)
        return found

    return run


def mujoco_pile(side=3, layers=3, steps=800):
    """Compatible normal forces of a pile of boxes and balls in MuJoCo, friction as it has it."""

    def run():
        try:
            import mujoco
        except ImportError:
            return []
        from rigidlimit.adapters import from_mujoco

        bodies = "".join(
            f'<body pos="{0.21 * i} {0.21 * j} {0.11 + 0.22 * k}"><freejoint/><geom '
            + ('type="box" size=".1 .1 .1"' if (i + j + k) % 2 else 'type="sphere" size=".1"')
            + ' mass="1"/></body>'
            for k in range(layers)
            for j in range(side)
            for i in range(side)
        )
        model = mujoco.MjModel.from_xml_string(
            '<mujoco><option solver="Newton" iterations="100"/><worldbody>'
            f'<geom type="plane" size="5 5 .1"/>{bodies}</worldbody></mujoco>'
        )
        data = mujoco.MjData(model)
        for _ in range(steps):
            mujoco.mj_step(model, data)
        found = []
        with captured("adapters.engines.shares", found=found):
            from_mujoco(model, data, on_friction="keep")
        return found

    return run


def pile_with_rounding_on_its_sides():
    B, load, free, _ = rounding_on_the_sides()
    return [Forces(dict(B=B, load=load, fixed=~free))]


GALLERY = ("beam", "four_leg_table", "block_on_legs", "box_stack", "disk_in_corner", "l_block")

ENTRIES = [
    *[Entry(f"gallery {name}", steps(getattr(rl.scenes, name), 5)) for name in GALLERY],
    Entry("pyramid settling, base 8", steps(lambda: rl.scenes.pyramid(8), 12)),
    Entry("pyramid settling, base 20", steps(lambda: rl.scenes.pyramid(20), 12), slow=True),
    Entry("pile of disks", steps(lambda: rl.scenes.pile_2d(60), 60)),
    Entry("container settling", steps(lambda: rl.scenes.container(27), 60)),
    Entry("packing settling, 80", steps(lambda: rl.scenes.packing(80, seed=5), 60)),
    Entry(
        "packing settling, 80, Hertz", steps(lambda: rl.scenes.packing(80, seed=5), 60, law="hertz")
    ),
    Entry("packing settling, 600", steps(lambda: rl.scenes.packing(600, seed=3), 40)),
    Entry("packing settling, 2000", steps(lambda: rl.scenes.packing(2000, seed=3), 40), slow=True),
    Entry("packing, masses 1 : 1e3", unlike_masses(3)),
    Entry("packing, masses 1 : 1e6", unlike_masses(6)),
    Entry("packing, masses 1 : 1e6, 1000", unlike_masses(6, 1000), slow=True),
    Entry("column collapsing", steps(column, 30)),
    Entry("wall of bricks", steps(wall_of_boxes, 5)),
    Entry("wall, flush sides, 12", steps(lambda: wall(12, 12), 3)),
    Entry("wall, flush sides, 40", steps(lambda: wall(40, 40), 3)),
    Entry("wall, flush sides, 60 by 20", steps(lambda: wall(60, 20), 3)),
    Entry("wall, flush sides, 80 by 10, Hertz", steps(lambda: wall(80, 10), 3, law="hertz")),
    Entry("wall, sides carry 1e-9", pile_with_rounding_on_its_sides),
    Entry("arch", steps(lambda: balanced_arch(15)[0], 3)),
    *[Entry(f"wedge of slope {s:g}", steps(lambda s=s: wedge(s, 10.0), 2)) for s in (1e-4, 1e-8)],
    *[Entry(f"plate on tilts {s:g}", steps(tilted_plate(s), 1)) for s in (3e-7, 1e-6, 1e-4)],
    *[Entry(f"rollers leaning {s:g}", rollers(s)) for s in (4e-7, 2e-6, 1e-5)],
    *[
        Entry(f"bearing, {law}, {digits} digits", steps(rounded_bearing(law, digits), 1))
        for law in ("hooke", "hertz")
        for digits in (None, 10, 9)
    ],
    *[
        Entry(f"row of rollers {case}", steps(rounded_row(*case), 1))
        for case in ((7, 16, 10, 0), (7, 16, 9, 4), (5, 12, 9, 2), (5, 16, 8, 3))
    ],
    *[Entry(f"lid of {mass:g}", steps(lambda m=mass: lidded(m), 3)) for mass in (1.0, 1e6)],
    *[
        Entry(
            f"jam under a lid, short by {short:g}", steps(lambda s=short: lidded(10.0, short=s), 2)
        )
        for short in (1e-3, 1e-7)
    ],
    *[
        Entry(f"captured {name.split('.')[0]}", siconos(name))
        for name in (
            "Box_Stacks-i0122-82-5.hdf5",
            "BoxesStack1-i100000-32.hdf5.dat",
            "LMGC_100_PR_PerioBox-i00361-60-03000.hdf5",
            "Spheres-i099-356-679.hdf5",
            "spheres-in-a-box-98-i10000-256-10.hdf5",
        )
    ],
    Entry("MuJoCo pile", mujoco_pile()),
    Entry("MuJoCo pile, large", mujoco_pile(5, 4, 500), slow=True),
]
