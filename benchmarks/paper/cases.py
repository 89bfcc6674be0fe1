"""Section 8 of the paper, run anew: the beam and the cannonball packing, by every method.

Olsen & Kamrin, "Resolving force indeterminacy in contact dynamics using compatibility conditions".
Results are kept in a folder, one file a case, and taken from there when the study is run again.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rigidlimit import __version__
from rigidlimit._support.npz import read_arrays, write_arrays
from rigidlimit._support.stopwatch import Stopwatch
from rigidlimit.penalty import compare
from rigidlimit.scenes import beam, pyramid
from rigidlimit.simulation import Simulation

CASES = {
    "uniform Hooke": {},
    "uniform Hertz": {"law": "hertz"},
    "two materials, Hooke": {"young_ratio": 5.0},
}
"""Scenes of sections 8.2.1, 8.2.3 and 8.2.2, by the rows of table 1."""

FIGURES = {
    "uniform Hooke": (8, 11, 12),
    "two materials, Hooke": (13, 14, 15),
    "uniform Hertz": (16, 17, 18),
}
"""The paper's figures of each case, in its order: first and last of the force networks with their
histograms, and that of the histograms side by side."""

TABLE_1 = {
    "uniform Hooke": {"apgd": 0.17, "pgs": 0.19, "compatible": 1.9e-5},
    "uniform Hertz": {"apgd": 0.17, "pgs": 0.19, "compatible": 2.8e-5},
    "two materials, Hooke": {"apgd": 0.22, "pgs": 0.25, "compatible": 2.3e-5},
}
"""Relative errors of floor forces against the DEM in the paper's table 1."""

OVERSHOOT = {"apgd": 0.14, "pgs": 0.41}
"""Overshoot of the largest force, uniform Hooke (figures 9 and 10)."""

DAMPING = 2**0.5
"""The paper's 2 sqrt(k m), m the mass of one sphere, over the critical damping of two. With the
latter spheres of the base-20 packing, once dropped, may swing over an edge out of their place."""

EVERY_STEP = "compatible in every step"
"""Key of ``Case.seconds``; "compatible" takes those of the last step only."""

SNAPSHOTS = (0.0, 0.004, 0.008, 0.016)
"""Times of figure 7 [s]."""


@dataclass(frozen=True)
class Case:
    """One packing at rest by every method; see ``Comparison`` for the fields."""

    name: str
    base: int
    weight: float
    position: np.ndarray
    contact_body: np.ndarray
    point: np.ndarray
    normal: np.ndarray
    force: dict[str, np.ndarray]
    floor_error: dict[str, float]
    contact_error: dict[str, float]
    overshoot: dict[str, float]
    seconds: dict[str, float]
    dem_steps: int
    dem_dt: float
    dem_unbalanced: float
    physical_time: float
    dem_time: float
    whole_run: bool

    @property
    def dem_seconds(self) -> float:
        """Wall seconds of the DEM for the physical time of contact dynamics: measured where it made
        the whole run, else from its seconds a step."""
        steps = self.physical_time / self.dem_dt
        if self.whole_run:
            steps = self.dem_steps * self.physical_time / self.dem_time
        return steps * self.seconds["dem"] / max(self.dem_steps, 1)


def _kept(path: Path, make) -> dict[str, np.ndarray]:
    """Arrays of an earlier run of the same version and settings, or made now and kept."""
    if path.exists():
        stored = read_arrays(path)
        if str(stored["version"]) == __version__:
            return stored
    arrays = make() | {"version": np.array(__version__)}
    write_arrays(path, **arrays)
    return arrays


def run_case(
    name: str, base: int, folder: Path, tell: Callable[[str], object], *, whole_run: bool = True
) -> Case:
    """One row of table 1, from the cache if it is there. whole_run: the DEM drops the packing
    itself; else it starts from the pose in which contact dynamics came to rest."""
    scene = pyramid(base, **CASES[name])
    tables = ("force", "floor_error", "contact_error", "overshoot", "seconds")

    def make():
        answer = compare(
            scene,
            whole_run=whole_run,
            damping=DAMPING if whole_run else None,
            callback=lambda text: tell(f"{name}: {text}"),
        )
        arrays = {
            "weight": scene.bodies.mass[-1] * 9.81,
            "position": answer.state.position,
            "contact_body": answer.contacts.body,
            "point": answer.contacts.point,
            "normal": answer.contacts.normal,
            "dem_steps": answer.dem.steps,
            "dem_dt": answer.dem.dt,
            "dem_unbalanced": answer.dem.unbalanced,
            "physical_time": answer.physical_time,
            "dem_time": answer.dem.time,
        }
        for table in tables:
            for method, value in getattr(answer, table).items():
                arrays[f"{table}/{method}"] = value
        arrays[f"seconds/{EVERY_STEP}"] = _seconds_with_all_forces(scene, answer.physical_time)
        return {key: np.asarray(value) for key, value in arrays.items()}

    ending = "" if whole_run else "-from-rest"
    slug = name.replace(", ", "-").replace(" ", "-")
    kept = _kept(folder / f"case-{slug}-{base}{ending}.npz", make)
    fields = {table: {} for table in tables}
    for key, value in kept.items():
        table, _, method = key.partition("/")
        if method:
            fields[table][method] = value if value.ndim else float(value)
        elif key != "version":
            fields[key] = value if value.ndim else value.item()
    return Case(name=name, base=base, whole_run=whole_run, **fields)


def _seconds_with_all_forces(scene, duration: float) -> float:
    """Wall seconds of contact dynamics with compatible forces in every step."""
    simulation = Simulation(scene)
    with Stopwatch() as took:
        while simulation.time < duration * (1 - 1e-9):
            simulation.step()
    return took.seconds


def run_beam(folder: Path) -> dict[str, dict[str, list[float]]]:
    """Figures 1 to 5: forces on the left, middle and right support by method.

    With equal stiffnesses Gauss-Seidel in two orders, projected gradients and compatible forces;
    with a stiffer middle, of which classic contact dynamics knows nothing, the DEM and compatible
    forces.
    """

    def make():
        out = {}
        for method, solver, order in (
            ("PGS, left support first", "pgs", (0, 1, 2)),
            ("PGS, middle support first", "pgs", (1, 0, 2)),
            ("APGD", "apgd", (0, 1, 2)),
        ):
            result = Simulation(beam(order=order), solver=solver).step()
            place = np.argsort(order)
            out[f"1 : 1 : 1/{method}"] = result.classic.force[place]
            out["1 : 1 : 1/compatible"] = result.force[place]
        stiff = compare(beam(stiffness=(1, 3, 1)))
        out["1 : 3 : 1/DEM"] = stiff.force["dem"]
        out["1 : 3 : 1/compatible"] = stiff.force["compatible"]
        return out

    beams: dict[str, dict[str, list[float]]] = {}
    for key, forces in _kept(folder / "beam.npz", make).items():
        stiffness, _, method = key.partition("/")
        if method:
            beams.setdefault(stiffness, {})[method] = forces.tolist()
    # the methods in the paper's order, compatible forces last
    return {
        k: dict(sorted(v.items(), key=lambda row: row[0] == "compatible")) for k, v in beams.items()
    }


def run_snapshots(base: int, folder: Path) -> dict[str, np.ndarray]:
    """Figure 7: positions (4, n, 3) [m] and speeds (4, n) [m/s] while the packing settles."""

    def make():
        simulation = Simulation(pyramid(base), compatible="never")
        position, speed = [], []
        for time in SNAPSHOTS:
            while simulation.time < time - 1e-9:
                simulation.step()
            position.append(simulation.state.position)
            speed.append(np.linalg.norm(simulation.state.velocity[:, :3], axis=1))
        return {"position": np.array(position), "speed": np.array(speed)}

    return _kept(folder / f"snapshots-{base}.npz", make)
