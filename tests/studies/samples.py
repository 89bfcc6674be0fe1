"""Scenes of samples that workers import: light ones, with what may happen to a worker."""

import os
import signal
import time
from pathlib import Path

import rigidlimit as rl
from rigidlimit import scenes


def beam(seed, *, weight=10.0, log=""):
    """A beam whose middle support is as stiff as the seed says; log: file that notes each call."""
    if log:
        with open(log, "a") as file:
            file.write(f"{seed} {weight}\n")
    return scenes.beam(weight, stiffness=(1.0, 1.0 + seed, 1.0))


def deadly(seed, *, folder, always=False):
    """As ``beam``, but sample 2 kills its worker, once or always."""
    mark = Path(folder) / "killed"
    if seed == 2 and (always or not mark.exists()):
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return beam(seed)


def slow(seed, *, folder):
    """As ``beam``; notes the process, and waits where there is no file ``go``."""
    (Path(folder) / f"{seed}.{os.getpid()}").touch()
    while seed >= 2 and not (Path(folder) / "go").exists():
        time.sleep(0.05)
    return beam(seed)


def picky(seed):
    """A scene that sample 1 refuses."""
    if seed == 1:
        raise rl.errors.InputError("no sample 1 today")
    return beam(seed)


def third(simulation, result):
    """Force of the middle support [N]."""
    return result.force[1]


def row(seed, *, gap=0.0):
    """Three balls in a row along x of a periodic cell, 0.2 m apart and the gap, on 1 m^2."""
    scene = rl.Scene(cell=(0.6 + 3.0 * gap, 1.0, 1.0))
    scene.add_many(rl.Sphere(0.1), [(k * (0.2 + gap), 0.0, 0.0) for k in range(3)])
    return scene
