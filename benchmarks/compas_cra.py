"""Samples of compas_cra beside the statics here: what stands, and how far forces differ.

    python -m benchmarks.compas_cra [--friction 0.84 0.4] [--samples cubes H ...]

Needs compas_cra (and compas_assembly) beside the package. Interfaces are those that compas_cra
finds, all areas kept; supports are the lowest blocks. "off": imbalance over the largest weight, or
over the largest load; "apart": largest difference of normal forces at corners, over the largest.
"""

import argparse
import contextlib
import io
import tempfile
from pathlib import Path

import numpy as np

from rigidlimit.adapters import read_compas
from rigidlimit.status import Status

BLOCKS = ["cubes", "type-a", "type-b", "type-c", "type-d", "bridge", "H", "A"]
SHELVES = ["shelf-stable", "shelf", "shelf-s1", "shelf-s2", "shelf-s3"]

LINE = "{:14}{:>10}{:>6}{:>8}{:>8}{:>14}{:>9}{:>13}{:>8}"

PULLS = 1e-5
"""Pull over the largest press from which on an answer of RBE counts as one that pulls."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--friction", type=float, nargs="+", default=[0.84, 0.4])
    parser.add_argument("--samples", nargs="+", default=BLOCKS + SHELVES)
    options = parser.parse_args()

    import compas
    import compas_cra
    from compas_cra.algorithms import assembly_interfaces_numpy
    from compas_cra.datastructures import CRA_Assembly
    from compas_cra.equilibrium import cra_solve, rbe_solve

    folder = Path(compas_cra.__file__).parent / "data" / "samples"
    head = "sample", "least mu", "mu", "RBE", "CRA", "elastic", "CRA off", "elastic off", "apart"
    print(LINE.format(*head))
    for name in options.samples:
        assembly = compas.json_load(folder / f"{name}.json").copy(cls=CRA_Assembly)
        with contextlib.redirect_stdout(io.StringIO()):
            assembly_interfaces_numpy(assembly, nmax=10, amin=1e-6, tmax=1e-2)
        low = {n: min(z for _, _, z in _points(assembly, n)) for n in assembly.graph.nodes()}
        supports = [n for n in low if low[n] < min(low.values()) + 1e-6]
        assembly.set_boundary_conditions(supports)
        with tempfile.TemporaryDirectory() as place:
            file = Path(place, f"{name}.json")
            compas.json_dump(assembly, file)
            ours = read_compas(file)
            for mu in options.friction:
                rbe = _solved(rbe_solve, compas.json_load(file), mu)
                cra = _solved(cra_solve, compas.json_load(file), mu)
                _row(name, mu, ours, rbe, cra)


def _points(assembly, node):
    return assembly.node_block(node).vertices_attributes("xyz")


def _solved(solve, assembly, mu):
    """(pairs of nodes, points (m, 3), press less pull (m,), force vectors (m, 3)) at the corners of
    all interfaces; None if no forces were found."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            solve(assembly, mu=mu, density=1.0)
    except ValueError:
        return None
    pairs, points, press, vectors = [], [], [], []
    for u, v in assembly.graph.edges():
        for interface in assembly.graph.edge_attribute((u, v), "interfaces") or []:
            frame = interface.frame
            axes = np.array([frame.zaxis, frame.xaxis, frame.yaxis], float)
            for point, f in zip(interface.points, interface.forces or [], strict=False):
                local = np.array([f["c_np"] - f["c_nn"], f["c_u"], f["c_v"]])
                pairs.append((str(u), str(v)))
                points.append(list(point))
                press.append(local[0])
                vectors.append(local @ axes)
    return pairs, np.array(points), np.array(press), np.array(vectors)


def _imbalance(statics, found) -> float:
    """Largest force or moment left on a free block, over the largest weight; the side on which the
    vectors act is the one with the lesser imbalance."""
    pairs, points, _, vectors = found
    names, position = list(statics.bodies.names), statics.state.position
    weight = -statics.load.reshape(-1, 6)
    free = statics.bodies.free.any(axis=1)
    left = []
    for sign in (1.0, -1.0):
        total = weight.copy()
        for (u, v), point, force in zip(pairs, points, vectors, strict=True):
            for name, side in ((u, -sign), (v, sign)):
                i = names.index(name)
                arm = np.cross(point - position[i], side * force)
                total[i] += np.concatenate([side * force, arm])
        left.append(np.abs(total[free]).max())
    return min(left) / np.abs(weight).max()


def _apart(statics, normal, found) -> float:
    """Largest difference of normal forces at the same corners, over the largest."""
    names = statics.bodies.names
    own = {
        (*sorted((names[a], names[b])), *np.round(point, 6)): force
        for (a, b), point, force in zip(
            statics.contacts.body, statics.contacts.point, normal, strict=True
        )
    }
    pairs, points, press, _ = found
    keys = [(*sorted(pair), *np.round(point, 6)) for pair, point in zip(pairs, points, strict=True)]
    shared = [(own[key], p) for key, p in zip(keys, press, strict=True) if key in own]
    mine, theirs = np.array(shared).T
    return float(np.abs(mine - theirs).max() / theirs.max())


def _row(name, mu, ours, rbe, cra) -> None:
    # weights of compas_cra are density times volume
    statics = ours.statics(density=1.0 / 9.81, friction=mu)
    least, answer = statics.least_friction(), statics.forces()
    elastic = answer.state
    if answer.status not in (Status.CONVERGED, Status.NO_EQUILIBRIUM):
        elastic = "not carried" if least.factor > mu else str(answer.status)
    told = "none"
    if rbe is not None:
        told = "pulls" if -rbe[2].min() > PULLS * rbe[2].max() else "stands"
    balance = apart = ""
    if cra is not None:
        apart = f"{_apart(statics, answer.force, cra):.2g}"
        balance = f"{_imbalance(statics, cra):.0e}"
    row = name, f"{least.factor:.4g}", mu, told, "none" if cra is None else "found", elastic
    print(LINE.format(*row, balance, f"{answer.residual:.0e}", apart))


if __name__ == "__main__":
    main()
