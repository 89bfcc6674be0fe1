"""Mending an engine's forces, beside the engine's own step.

    python -m benchmarks.engines [--boxes 2 6 12 100] [--repeat 200]

Stacks of boxes, four contacts each, in MuJoCo and in PyBullet (those installed), at rest with
friction. Prints for each: contacts, and milliseconds of the engine's own step, of mending, and of
the compatible forces alone within it: of CPU time, the least of the repeats, which take turns, so
that other work on the machine counts little.
"""

import os

if __name__ == "__main__":
    # before numpy is loaded: one core for everyone
    for name in ("OPENBLAS", "OMP", "MKL", "NUMBA"):
        os.environ[f"{name}_NUM_THREADS"] = "1"

import argparse
import time
from importlib.util import find_spec

import rigidlimit as rl
from rigidlimit.adapters import from_mujoco, from_pybullet

HALF = 0.1
BOX = '<body pos="0 0 {z}"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>'
SCENE = '<mujoco><worldbody><geom type="plane" size="5 5 .1"/>{boxes}</worldbody></mujoco>'


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
    """The same in PyBullet."""
    import pybullet

    client = pybullet.connect(pybullet.DIRECT)
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
    return (
        lambda: pybullet.stepSimulation(physicsClientId=client),
        lambda: from_pybullet(client),
    )


ENGINES = {"mujoco": mujoco_stack, "pybullet": pybullet_stack}


def measured(stack, boxes, repeat):
    """(the mended forces, milliseconds of a step, of mending, of the compatible forces alone)."""
    step, mend = stack(boxes)
    mended = mend()
    balance, stiffness = mended.balance, mended.stiffness

    def solve():
        return rl.compatible_forces(
            balance.B, balance.load, stiffness=stiffness, fixed=balance.held
        )

    calls = (step, mend, solve)
    least = [float("inf")] * len(calls)
    for _ in range(repeat):
        for i, call in enumerate(calls):
            start = time.thread_time()
            call()
            least[i] = min(least[i], time.thread_time() - start)
    return mended, *(1e3 * seconds for seconds in least)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--boxes", type=int, nargs="+", default=[2, 6, 12, 100])
    parser.add_argument("--repeat", type=int, default=200)
    options = parser.parse_args()
    print(f"{'engine':10} {'contacts':>8} {'step':>9} {'mending':>9} {'its solve':>9}   ms")
    for name, stack in ENGINES.items():
        if find_spec(name) is None:
            print(f"{name:10} not installed")
            continue
        for boxes in options.boxes:
            mended, *times = measured(stack, boxes, max(3, min(options.repeat, 2400 // boxes)))
            figures = " ".join(f"{value:9.3f}" for value in times)
            print(f"{name:10} {len(mended.force):8} {figures}   {mended.answer.status}")


if __name__ == "__main__":
    main()
