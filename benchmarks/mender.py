"""Prepared mending beside MuJoCo's own step: `python -m benchmarks.mender [NAME ...]`.

speed     scenes and stacks of 4 to 48 contacts: microseconds of processor time of a step, of
          ``from_mujoco``, of ``Mender.mend`` (median and 99th percentile) and of a state in a batch
quadrupeds  64 environments: their steps, and mending them
along     a motion whose contacts remember: microseconds of a state by ``Mender.along``, and by
          ``from_mujoco`` with the springs of the state before
arrays    the scenes as stacked arrays of 256 environments: microseconds of an environment by
          ``ArrayMender``, and by ``mend_forces`` one by one
models    every MJCF model of the folders MENDER_MODELS (a path list), and of dm_control,
          gymnasium, gymnasium_robotics and pybullet_data where they are installed, at some moments
          of its motion: by what part of the largest force mending changes MuJoCo's forces (median),
          and how far the forces of ``Mender`` are from those of ``from_mujoco``, and from its own
          with the contacts in other orders
"""

import os

if __name__ == "__main__":
    # before numpy is loaded: one core for everyone
    for name in ("OPENBLAS", "OMP", "MKL", "NUMBA"):
        os.environ[f"{name}_NUM_THREADS"] = "1"

import time
import warnings
from copy import copy
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks import named_checks
from benchmarks.engine_scenes import SCENES
from benchmarks.engine_stacks import recorded_scene
from benchmarks.engines import BOX, HALF, SCENE
from benchmarks.public_models import SOURCES, installed
from rigidlimit.adapters import Mender, from_mujoco
from rigidlimit.errors import InputError

BATCH = 256
MOMENTS = (1, 10, 50, 150, 300, 600)

MOST = 200
"""Contacts of states that ``models`` compares: far above what compiled code takes."""


def _times(work, repeat):
    """Processor time [us] of each call, sorted."""
    work()
    spent = []
    for _ in range(repeat):
        began = time.thread_time_ns()
        work()
        spent.append((time.thread_time_ns() - began) / 1e3)
    return np.sort(spent)


def _twins(model, data, count):
    """As many MjData of the same state, each after a step of its own."""
    import mujoco

    twins = [mujoco.MjData(model) for _ in range(count)]
    for twin in twins:
        twin.qpos[:], twin.qvel[:], twin.ctrl[:] = data.qpos, data.qvel, data.ctrl
        mujoco.mj_step(model, twin)
    return twins


def _stack(boxes, settle=500):
    import mujoco

    bodies = "".join(BOX.format(z=HALF * (2 * i + 1)) for i in range(boxes))
    model = mujoco.MjModel.from_xml_string(SCENE.format(boxes=bodies))
    data = mujoco.MjData(model)
    for _ in range(settle):
        mujoco.mj_step(model, data)
    return model, data


def speed(repeat=500):
    print("                          contacts   step  general  prepared   99 %   batch [us]")
    worlds = {name: SCENES[name]().made for name in SCENES}
    for name, made in (worlds | {f"stack of {n}": partial(_stack, n) for n in (1, 5, 12)}).items():
        print(f"{name:28} {_speed(*made(), repeat)}", flush=True)


def _speed(model, data, repeat):
    import mujoco

    mender, twins, stepped = Mender(model), _twins(model, data, BATCH), mujoco.MjData(model)
    stepped.qpos[:] = data.qpos
    step = np.median(_times(lambda: mujoco.mj_step(model, stepped), repeat))
    general = np.median(_times(lambda: from_mujoco(model, data), repeat // 10))
    own = _times(lambda: mender.mend(data), repeat)
    batch = _times(lambda: mender.mend_many(twins).force, 10)[5] / BATCH
    return (
        f"{data.ncon:5} {step:6.1f} {general:8.0f} {np.median(own):9.1f} "
        f"{own[int(0.99 * repeat)]:6.1f} {batch:7.1f}"
    )


def quadrupeds(count=64):
    import mujoco

    model, data = SCENES["quadruped"]().made()
    mender, twins = Mender(model), _twins(model, data, count)

    def step():
        for twin in twins:
            mujoco.mj_step(model, twin)

    steps, mending = _times(step, 50)[25], _times(lambda: mender.mend_many(twins).force, 50)[25]
    print(f"{count} quadrupeds: their steps {steps / 1e3:.2f} ms, mending {mending / 1e3:.2f} ms")


def along(repeat=200):
    import mujoco

    print("                          contacts   one by one   along [us]")
    for name in SCENES:
        model, data = SCENES[name]().made()
        mujoco.mj_step(model, data)
        mender = Mender(model)
        springs = mender.mend(data).springs
        one = np.median(_times(partial(from_mujoco, model, data, springs=springs), repeat // 10))
        whole = _times(lambda m=mender, d=data: list(m.along([d] * repeat)), 5)[2] / repeat
        print(f"{name:28} {data.ncon:5} {one:12.0f} {whole:12.1f}", flush=True)


def arrays():
    print("                          contacts   one by one   stacked [us]")
    for name in SCENES:
        recorded = recorded_scene(name)
        mender, (mask, values) = recorded.mender(), recorded.repeated(BATCH)
        one = np.median(_times(partial(recorded.one, 0), 30))
        stacked = _times(partial(mender.mend_many, mask=mask, **values), 10)[5] / BATCH
        print(f"{name:28} {mask[0].sum():5} {one:12.0f} {stacked:12.1f}", flush=True)


def model_files():
    """MJCF files, each once: some packages have copies of others."""
    folders = os.environ.get("MENDER_MODELS", "").split(os.pathsep)
    places = [Path(folder) for folder in folders if folder]
    places += filter(None, map(installed, SOURCES))
    files = (path for place in places for path in sorted(place.rglob("*.xml")))
    return {path.read_bytes(): path for path in files}.values()


def models():
    import mujoco

    off, unread = [], 0
    for path in model_files():
        try:
            model = mujoco.MjModel.from_xml_path(str(path))
        except ValueError:  # a part of another model, or a plugin that is not there
            unread += 1
            continue
        found = _along(model)
        if found is not None:
            off.append(found)
            how = f"{found.prepared} of {found.states} states prepared"
            how = f"not prepared: {found.general}" if found.general else how
            print(
                f"{path.parent.name + '/' + path.name:45} {found.contacts:4} contacts, "
                f"changed by {found.change:7.2%}; off {found.off:.0e}, "
                f"in other orders {found.order:.0e}; {how}", flush=True,
            )  # fmt: skip
    if not off:
        print(f"no model with contacts, {unread} files not read: set MENDER_MODELS to a folder")
        return
    worst, order = max(found.off for found in off), max(found.order for found in off)
    print(
        f"{len(off)} models with contacts, {sum(found.states for found in off)} states, {unread} "
        f"files not read; worst difference {worst:.0e}, in other orders {order:.0e}"
    )


@dataclass(frozen=True)
class Along:
    """Of a motion. off, order: largest difference over the largest force, from ``from_mujoco`` and
    of orders of contacts; change: median over states of the largest change; contacts: at most;
    general: why states are not prepared."""

    off: float
    order: float
    change: float
    contacts: int
    states: int
    prepared: int
    general: str


def _along(model):
    """``Along`` under random controls; None without contacts."""
    import mujoco

    data, mender, rng = mujoco.MjData(model), Mender(model), np.random.default_rng(0)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    off, orders, changes, counts, prepared = [], [], [], [], 0
    for step in range(1, max(MOMENTS) + 1):
        data.ctrl[:] = rng.normal(size=model.nu) * 0.1
        mujoco.mj_step(model, data)
        if step not in MOMENTS or not 0 < data.ncon <= MOST:
            continue
        try:
            known = from_mujoco(model, data)
        except InputError:
            continue
        mended = mender.mend(data)
        prepared += type(mended) is not type(known)
        changes.append(known.largest_change)
        counts.append(data.ncon)
        off.append(_apart(mended, known))
        order = rng.permutation(data.ncon)
        orders.append(_apart(mender.mend(_reordered(model, data, order)), mended, order))
    if not off:
        return None
    change = float(np.median(changes))
    return Along(
        max(off), max(orders), change, max(counts), len(off), prepared, mender.general
    )  # fmt: skip


def _apart(mended, known, order=slice(None)):
    """Largest difference of forces over the largest force. order: of the contacts of ``mended``."""
    forces = [np.column_stack([which.force, which.tangential]) for which in (mended, known)]
    largest = float(np.abs(forces[1]).max(initial=0.0)) or 1.0
    return float(np.abs(forces[0] - forces[1][order]).max(initial=0.0)) / largest


def _reordered(model, data, order):
    """A copy of a state whose contacts are listed in another order."""
    other = copy(data)
    for name in ("dist", "pos", "frame", "includemargin", "friction", "solref", "solreffriction",
                 "solimp", "mu", "H", "dim", "geom", "flex", "elem", "vert", "exclude",
                 "efc_address"):  # fmt: skip
        field = getattr(other.contact, name)
        field[:] = np.array(field)[order]
    return other


CHECKS = {
    "speed": speed,
    "quadrupeds": quadrupeds,
    "along": along,
    "arrays": arrays,
    "models": models,
}

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    named_checks.run(__doc__, CHECKS)
