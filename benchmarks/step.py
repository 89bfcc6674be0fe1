"""Cost of one 1 ms step: contact search, contact dynamics, compatible forces.

    python benchmarks/step.py [--base 20] [--repeat 7] [--peer]

Prints medians over repeated runs, compilation excluded, with the achieved residuals: the step at
rest, the worst step of the settling after a drop of 5 % of a radius, with --peer Clarabel on
eq. 36 of the same problem in the same run, and a step of small scenes. Run it on one core
(OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1), as ``make bench`` does.
"""

import argparse
import time

import numpy as np
import scipy.sparse as sp

import rigidlimit as rl
from rigidlimit.collision.search import find_contacts
from rigidlimit.step import step


def timed(call, repeat):
    """(median seconds, last answer)."""
    seconds = []
    for _ in range(repeat):
        start = time.perf_counter()
        answer = call()
        seconds.append(time.perf_counter() - start)
    return float(np.median(seconds)), answer


def at_rest(base, repeat):
    """Median cost of a warm-started step at rest, in parts."""
    simulation = rl.Simulation(rl.scenes.pyramid(base, drop=0))
    for _ in range(3):
        result = simulation.step()
    arguments = (
        simulation.bodies,
        simulation.state,
        simulation.external_force,
        simulation.settings,
        simulation._warm,
    )
    whole, result = timed(lambda: step(*arguments), repeat)
    classic, _ = timed(lambda: step(*arguments, compatible=False), repeat)
    search, _ = timed(lambda: find_contacts(arguments[0], arguments[1], 1e-5), repeat)
    print(
        f"one step at rest: {whole:.3f} s (contact search {search:.3f} s, with contact dynamics "
        f"{classic:.3f} s), {len(result.contacts)} contacts; residuals "
        f"{result.classic.residual:.0e} and {result.compatible.residual:.0e}"
    )
    return simulation, result


def settling(base, repeat):
    """Median over repeated runs of the worst step of a settling pile."""
    worst, residual, steps = [], 0.0, 0
    for _ in range(max(1, repeat // 3)):
        simulation = rl.Simulation(rl.scenes.pyramid(base))
        seconds = []
        while not simulation.at_rest and simulation.steps < 100:
            start = time.perf_counter()
            result = simulation.step()
            seconds.append(time.perf_counter() - start)
            residual = max(residual, result.residual)
        worst.append(max(seconds))
        steps = simulation.steps
    print(
        f"worst of {steps} settling steps: {np.median(worst):.3f} s; worst residual {residual:.0e}"
    )


def compatibility(result, repeat, peer):
    """Compatible forces from a cold start; Clarabel on the same problem if asked."""
    B = sp.csr_array(result.B[np.flatnonzero(result.closed)])
    used = np.flatnonzero(np.diff(sp.csc_array(B).indptr))
    B, load = sp.csr_array(B[:, used]), result.load[used]
    mine, answer = timed(
        lambda: rl.compatible_forces(B, load, blocks=np.arange(0, len(used) + 1, 3)), repeat
    )
    print(f"compatible forces, cold: {mine:.3f} s, residual {answer.residual:.0e}")
    if not peer:
        return
    import clarabel

    options = clarabel.DefaultSettings()
    options.verbose = False
    options.tol_feas = options.tol_gap_abs = options.tol_gap_rel = 1e-10
    m, n = B.shape
    A = sp.csc_matrix(sp.vstack([B.T, -sp.eye_array(m)]))
    size = np.abs(load).max()
    b = np.concatenate([load / size, np.zeros(m)])
    cones = [clarabel.ZeroConeT(n), clarabel.NonnegativeConeT(m)]
    P = sp.csc_matrix(sp.eye_array(m))
    theirs, solution = timed(
        lambda: clarabel.DefaultSolver(P, np.zeros(m), A, b, cones, options).solve(), 3
    )
    f = np.array(solution.x) * size
    away = np.abs(f - answer.force).max() / answer.force.max()
    balance = np.abs(B.T @ f - load).max() / size
    print(
        f"Clarabel, cold: {theirs:.3f} s, balance {balance:.0e}, {away:.0e} from ours: "
        f"ratio {theirs / mine:.1f}"
    )


def small_scenes(steps=100):
    """Median cost of a step of scenes in which calls cost more than arithmetic."""
    told, residual = [], 0.0
    for scene in (rl.scenes.beam(), rl.scenes.box_stack(20), rl.scenes.pyramid(5)):
        simulation = rl.Simulation(scene, dt=1e-3)
        for _ in range(20):
            simulation.step()
        seconds, result = timed(simulation.step, steps)
        residual = max(residual, result.residual)
        told.append(f"{scene.name} ({len(result.contacts)} contacts) {1e3 * seconds:.2f} ms")
    print(f"one step of small scenes: {', '.join(told)}; residuals up to {residual:.0e}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--base", type=int, default=20)
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--peer", action="store_true")
    options = parser.parse_args()
    rl.Simulation(rl.scenes.pyramid(3)).run(until=0.03)  # compile
    print(f"pyramid of base {options.base}, one core if so set")
    _, result = at_rest(options.base, options.repeat)
    settling(options.base, options.repeat)
    compatibility(result, options.repeat, options.peer)
    small_scenes()


if __name__ == "__main__":
    main()
