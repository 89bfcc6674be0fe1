"""Mending an engine's forces, beside the engine's own step.

    python -m benchmarks.engines [--engines mujoco drake] [--only scenes stacks]
                                 [--boxes 2 5 12 75] [--repeat 200]

Rough contacts in the engines installed: scenes in which no balance tells every force, each in every
engine, and stacks of boxes, four contacts each. Prints for each: contacts; milliseconds of the
engine's own step, of mending, and of finding forces alone within it (CPU time, the least of the
repeats, which take turns, so that other work on the machine counts little); the part of the largest
force by which mending changed forces; and how the forces obey what is asked of them, each over the
largest normal force: the engine's total wrench, Coulomb's cones, the same in three orders of
creation, symmetry of what is symmetric, and the same as in the first engine (the last three with
``load="rest"``, which no engine's share can change).
"""

import os

if __name__ == "__main__":
    # before numpy is loaded: one core for everyone
    for name in ("OPENBLAS", "OMP", "MKL", "NUMBA"):
        os.environ[f"{name}_NUM_THREADS"] = "1"

import argparse
import time
from importlib.util import find_spec

from benchmarks.engine_scenes import SCENES, apart, judged
from benchmarks.engine_worlds import MODULES, OVERLAPS, WORLDS
from rigidlimit.adapters import from_mujoco, from_pybullet
from rigidlimit.adapters.engines.joint import rough_answer

HALF = 0.1
BOX = '<body pos="0 0 {z}"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>'
SCENE = '<mujoco><worldbody><geom type="plane" size="5 5 .1"/>{boxes}</worldbody></mujoco>'
SEEDS = (1, 2)


def mujoco_stack(boxes, settle=500):
    """(one step, forces of the present one) of a stack in MuJoCo."""
    import mujoco

    bodies = "".join(BOX.format(z=HALF * (2 * i + 1)) for i in range(boxes))
    model = mujoco.MjModel.from_xml_string(SCENE.format(boxes=bodies))
    data = mujoco.MjData(model)
    for _ in range(settle):
        mujoco.mj_step(model, data)
    return lambda: mujoco.mj_step(model, data), lambda: from_mujoco(model, data)


def pybullet_stack(boxes, settle=240):
    """The same in PyBullet, with sweeps enough for it to stand."""
    import pybullet

    client = pybullet.connect(pybullet.DIRECT)
    pybullet.setPhysicsEngineParameter(numSolverIterations=1000, physicsClientId=client)
    pybullet.setGravity(0, 0, -10, physicsClientId=client)
    floor = pybullet.createCollisionShape(pybullet.GEOM_PLANE, physicsClientId=client)
    box = pybullet.createCollisionShape(
        pybullet.GEOM_BOX, halfExtents=[HALF] * 3, physicsClientId=client
    )
    pybullet.createMultiBody(0, floor, physicsClientId=client)
    for i in range(boxes):
        place = [0, 0, HALF * (2 * i + 1)]
        pybullet.createMultiBody(1, box, basePosition=place, physicsClientId=client)
    for _ in range(settle):
        pybullet.stepSimulation(physicsClientId=client)
    return (lambda: pybullet.stepSimulation(physicsClientId=client), lambda: from_pybullet(client))


STACKS = {"mujoco": mujoco_stack, "pybullet": pybullet_stack}


def measured(step, mend, repeat):
    """(the mended forces, milliseconds of a step, of mending, of finding forces alone in it)."""
    mended = mend()
    balance, options = mended.balance, mended.options

    def solve():
        return rough_answer(mended.contacts, mended.solved, balance, options)

    calls = (step, mend, solve)
    least = [float("inf")] * len(calls)
    for _ in range(repeat):
        for i, call in enumerate(calls):
            start = time.thread_time()
            call()
            least[i] = min(least[i], time.thread_time() - start)
    return mended, *(1e3 * seconds for seconds in least)


def scene(engine, name, repeat):
    """(mended forces, milliseconds of three, ``Judged`` with the engine's load and at rest, mended
    forces at rest)."""
    made = SCENES[name](OVERLAPS[engine])
    step, mend = WORLDS[engine](made)
    own, rest = mend(), mend(load="rest")
    others = [WORLDS[engine](made.shuffled(seed))[1](load="rest") for seed in SEEDS]
    judgements = judged(own), judged(rest, others, made.symmetries)
    return *measured(step, mend, repeat), *judgements, rest


def line(name, mended, step, mending, solve, own=None, rest=None, peer=""):
    """One of the printed table."""
    text = f"{name:32} {len(mended.force):5} {step:8.3f} {mending:8.3f} {solve:8.3f}"
    text += f" {mended.largest_change:8.1e}"
    if own is not None:
        cone = max(own.cone, rest.cone)
        text += f" {own.wrench:7.0e} {cone:7.0e} {rest.order:7.0e} {rest.symmetry:8.0e} {peer:>7}"
    return f"{text}  {', '.join(sorted(filter(None, set(mended.state))))}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    kinds = ("scenes", "stacks")
    parser.add_argument("--engines", nargs="+", choices=WORLDS, default=list(WORLDS))
    parser.add_argument("--only", nargs="+", choices=kinds, default=kinds)
    parser.add_argument("--boxes", type=int, nargs="+", default=[2, 5, 12, 75])
    parser.add_argument("--repeat", type=int, default=200)
    options = parser.parse_args()
    engines = [name for name in options.engines if find_spec(MODULES[name]) is not None]
    for name in sorted(set(options.engines) - set(engines)):
        print(f"{name} is not installed")
    print(
        f"{'':32} {'':>5} {'step':>8} {'mending':>8} {'forces':>8} {'change':>8} {'wrench':>7} "
        f"{'cone':>7} {'order':>7} {'symmetry':>8} {'peer':>7}"
    )
    for name in SCENES if "scenes" in options.only else ():
        first = None
        for engine in engines:
            *found, rest = scene(engine, name, options.repeat)
            peer = f"{apart(first, rest) / rest.force.max():.0e}" if first else ""
            first = first or rest
            print(line(f"{name}, {engine}", *found, peer))
    for engine, stack in STACKS.items() if "stacks" in options.only else ():
        for boxes in options.boxes if engine in engines else ():
            repeat = max(3, min(options.repeat, 2400 // boxes))
            print(line(f"stack, {engine}", *measured(*stack(boxes), repeat)))


if __name__ == "__main__":
    main()
