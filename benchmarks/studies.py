"""Studies: time by one worker and by two, and whether both write the same file.

    python -m benchmarks.studies [--samples 200] [--count 200] [--killed]

Samples are piles of disks brought to rest, one thread each. ``--killed``: a third run by two
workers, of which one is killed every few seconds.
"""

import argparse
import multiprocessing
import os
import signal
import tempfile
import threading
import time
from pathlib import Path

import rigidlimit as rl

MEASURES = ("coordination", "participation", "force")


def timed(plan, parameters: dict, samples: int, out: Path, workers: int) -> float:
    start = time.perf_counter()
    found = rl.study(plan, seeds=samples, parameters=parameters, out=out, workers=workers)
    seconds = time.perf_counter() - start
    print(f"{workers} workers: {seconds:.1f} s; {found.message}")
    return seconds


def kill_now_and_then(stop: threading.Event, pause: float) -> None:
    """Kill one of the workers again and again."""
    number = 0
    while not stop.wait(pause):
        children = [p.pid for p in multiprocessing.active_children()] or workers_of(os.getpid())
        if children:
            os.kill(children[number % len(children)], signal.SIGKILL)
            number += 1
    print(f"workers killed: {number}")


def workers_of(parent: int) -> list[int]:
    """Grandchildren too: workers may come from a server that forks them."""
    found, known = [], {parent}
    for entry in sorted(Path("/proc").glob("[0-9]*"), key=lambda p: int(p.name)):
        try:
            fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) in known:
            known.add(int(entry.name))
            found.append(int(entry.name))
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--killed", action="store_true")
    given = parser.parse_args()
    plan = rl.Plan("pile-2d", measures=MEASURES)
    parameters = {"count": given.count}
    rl.study(plan, parameters=parameters, workers=1)  # kernels are compiled
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{workers}.h5" for workers in (1, 2)]
        one, two = (
            timed(plan, parameters, given.samples, file, n + 1) for n, file in enumerate(files)
        )
        print(f"ratio {one / two:.2f}; same file: {files[0].read_bytes() == files[1].read_bytes()}")
        if given.killed:
            stop = threading.Event()
            killer = threading.Thread(target=kill_now_and_then, args=(stop, 5.0))
            killer.start()
            last = Path(folder) / "killed.h5"
            timed(plan, parameters, given.samples, last, 2)
            stop.set()
            killer.join()
            print(f"same file: {last.read_bytes() == files[0].read_bytes()}")
