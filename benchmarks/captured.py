"""Captured frictional problems beside Siconos' NSGS and PROX and Pinocchio's ADMM, at one residual.

    python -m benchmarks.captured FOLDER [--accuracy 1e-8] [--limit 60] [--python /usr/bin/python3]

FOLDER: problems of Siconos or FCLIB. Only local ones of three dimensions are compared, since all
solvers take these as they are. --python: the interpreter that has siconos.numerics (Debian's
python3-siconos); Pinocchio is that of the extra ``pinocchio``. Each of their solvers gets W dense,
and the loosest tolerance of its own, of 1e-4, 1e-6, ... 1e-14, at which the residual of
``equilibrium.multipliers`` is below the accuracy: the time is that of this run alone, processor
time of one core, repeated for 20 ms. Siconos' speed is also that of the BLAS that Debian's
alternatives name: OpenBLAS is several times faster than the reference one. ADMM takes W for
symmetric: it is given, and judged by, the symmetric part.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

PEERS = ("NSGS", "PROX", "ADMM")

SICONOS = """
import json, sys, time
import numpy as np
import siconos.numerics as sn
data = np.load(sys.argv[1])
W, q, mu = np.asfortranarray(data["W"]), data["q"], data["mu"]
problem = sn.FrictionContactProblem(3, len(mu), W, q, mu)
for k in range(4, 16, 2):
    options = sn.SolverOptions(getattr(sn, "SICONOS_FRICTION_3D_" + sys.argv[2]))
    options.dparam[0], options.iparam[0] = 10.0**-k, 10**7
    seconds, spent = np.inf, 0.0
    while spent < 0.02:
        reaction, velocity = np.zeros(len(q)), np.zeros(len(q))
        start = time.process_time()
        sn.fc3d_driver(problem, reaction, velocity, options)
        last = time.process_time() - start
        seconds, spent = min(seconds, last), spent + last
    print("RESULT" + json.dumps([seconds, reaction.tolist()]), flush=True)
"""

PINOCCHIO = """
import json, sys, time
import numpy as np
import pinocchio as pin
data = np.load(sys.argv[1])
W, q, mu = 0.5 * (data["W"] + data["W"].T), data["q"], data["mu"]
turned = np.arange(len(q)).reshape(-1, 3)[:, [1, 2, 0]].ravel()  # Pinocchio's normal comes last
delassus, g = pin.DelassusOperatorDense(W[np.ix_(turned, turned)]), q[turned]
model = pin.Model()
joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "body")
models, datas = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
for friction in mu:
    contact = pin.PointContactConstraintModel(
        model, 0, pin.SE3.Identity(), joint, pin.SE3.Identity())
    contact.setFriction(friction)
    models.append(pin.ConstraintModel(contact))
    datas.append(models[len(models) - 1].createData())
for k in range(4, 16, 2):
    settings = pin.ADMMSolverSettings()
    settings.max_iterations = 10**6
    settings.absolute_feasibility_tol = settings.absolute_complementarity_tol = 10.0**-k
    settings.relative_feasibility_tol = settings.relative_complementarity_tol = 0.0
    seconds, spent = np.inf, 0.0
    while spent < 0.02:
        solver, result = pin.ADMMConstraintSolver(len(q)), pin.ADMMSolverResult()
        start = time.process_time()
        solver.solve(delassus, g, models, datas, settings, result)
        last = time.process_time() - start
        seconds, spent = min(seconds, last), spent + last
    reaction = np.empty(len(q))
    reaction[turned] = result.retrieveConstraintImpulses()
    print("RESULT" + json.dumps([seconds, reaction.tolist()]), flush=True)
"""


def residual(W, q, mu, reaction) -> float:
    """That of ``rigid_contacts``, over max |q|."""
    from rigidlimit.equilibrium.multipliers import residuals

    rho = 3.0 / W.diagonal().reshape(-1, 3).sum(axis=1)
    velocity = (W @ reaction + q).reshape(-1, 3)
    return residuals(reaction.reshape(-1, 3), velocity, mu, rho).max() / np.abs(q).max()


def peer(name, python, path, problem, accuracy, limit):
    """(seconds, residual) of another program's solver; infinite seconds where it did not get
    there."""
    begin = [python, "-c", SICONOS] if name != "ADMM" else [sys.executable, "-c", PINOCCHIO]
    command = ["timeout", str(limit), *begin, str(path), name]
    seconds, best = np.inf, np.inf
    if name == "ADMM":
        W, q, mu = problem
        problem = 0.5 * (W + W.T), q, mu
    env = dict(os.environ, OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
    env.pop("PYTHONPATH", None)
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=env,
    ) as run:  # fmt: skip
        for line in run.stdout:
            if "RESULT" not in line:
                continue
            spent, reaction = json.loads(line[line.index("RESULT") + 6 :])
            found = residual(*problem, np.array(reaction))
            best = min(best, found)
            if found <= accuracy:
                seconds = spent
                break
        run.terminate()
    return seconds, best


def ours(W, q, mu, accuracy):
    """(seconds, residual) of the method of multipliers from the same arrays; least of some."""
    from rigidlimit.equilibrium.delassus import between_contacts
    from rigidlimit.equilibrium.multipliers import rigid_contacts

    trace = W.diagonal().reshape(-1, 3).sum(axis=1)
    rho = 3.0 / np.where(trace > 0.0, trace, trace.max())
    scale, seconds, spent = float(np.abs(q).max()), np.inf, 0.0
    rigid_contacts(between_contacts(W, q, 3), mu, rho, scale=scale, tolerance=accuracy)  # compiled
    while spent < 0.02:
        start = time.process_time()
        answer = rigid_contacts(between_contacts(W, q, 3), mu, rho, scale=scale, tolerance=accuracy)
        last = time.process_time() - start
        seconds, spent = min(seconds, last), spent + last
    return (seconds if answer.converged else np.inf), answer.residual


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--accuracy", type=float, default=1e-8)
    parser.add_argument(
        "--limit", type=int, default=60, help="seconds of a peer's runs, on the clock"
    )
    parser.add_argument("--python", default="/usr/bin/python3")
    given = parser.parse_args()
    if subprocess.run(
        [given.python, "-c", "import siconos.numerics"], capture_output=True
    ).returncode:
        sys.exit(
            f"{given.python} has no siconos.numerics; give --python, or install python3-siconos"
        )

    from threadpoolctl import threadpool_limits

    from rigidlimit.adapters import read_captured
    from rigidlimit.errors import InputError

    ratios = []
    print(
        f"{'problem':46s} contacts {'ours [ms]':>10s} "
        + " ".join(f"{p + ' [ms]':>10s}" for p in PEERS)
    )
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
        for file in sorted(given.folder.iterdir()):
            try:
                captured = read_captured(file)
            except (InputError, OSError):
                continue
            if captured.kind != "local" or captured.dim != 3:
                continue
            problem = captured.W, captured.q, captured.mu
            path = Path(folder) / "problem.npz"
            np.savez(path, W=captured.W.toarray(), q=problem[1], mu=problem[2])
            mine, _ = ours(*problem, given.accuracy)
            theirs = [
                peer(name, given.python, path, problem, given.accuracy, given.limit)[0]
                for name in PEERS
            ]
            if np.isfinite(min(mine, *theirs)):  # solved by anybody
                ratios.append([captured.contacts, min(theirs) / mine, *np.divide(theirs, mine)])
            print(f"{file.name[:46]:46s} {captured.contacts:8d} {1e3 * mine:10.3f} "
                  + " ".join(f"{1e3 * t:10.3f}" for t in theirs), flush=True)  # fmt: skip
    for least in (1, 20):
        some = np.array([ratio[1:] for ratio in ratios if ratio[0] >= least])
        if len(some):
            names = ("the fastest of them", *PEERS)
            medians = ", ".join(
                f"{n} {x:.2f}" for n, x in zip(names, np.median(some, axis=0), strict=True)
            )
            print(f"median time over ours, {least} contacts and more ({len(some)} problems): "
                  f"{medians}")  # fmt: skip


if __name__ == "__main__":
    main()
