"""One row of a path's table: what is measured of a step of a periodic cell.

    stress      sum of d f^T over the volume, pressure positive, d the branch vectors
    strain      integral of the velocity gradient L over time, extension positive
    void_ratio  volume of voids over that of bodies
    deviator    largest less smallest principal stress

All of them where the step began, as its balance.
"""

import numpy as np

from ..bodies.cell import COMPONENTS, volume_of
from ..compatibility.bearing import bearing
from ..output.measures import coordination, fabric, sliding_fraction
from ..simulation import Simulation
from ..step import StepResult

MEASURED = (
    "pressure", "deviator", "void_ratio", "packing_fraction", "contacts", "coordination",
    "coordination_without_rattlers", "rattlers", "sliding_fraction", "residual",
)  # fmt: skip


def columns(dim: int) -> list[tuple[str, type]]:
    """Names and types of the table's columns."""
    parts = names(dim)
    return [
        ("leg", int),
        ("step", int),
        ("time", float),
        *((f"strain_{part}", float) for part in parts),
        *((f"stress_{part}", float) for part in parts),
        *((f"fabric_{part}", float) for part in parts),
        *((name, float) for name in MEASURED),
        ("converged", bool),
    ]


def names(dim: int) -> list[str]:
    """The components xx, yy, ... of a symmetric tensor in this dimension."""
    return [f"{'xyz'[i]}{'xyz'[j]}" for i, j in COMPONENTS if i < dim and j < dim]


def row(simulation: Simulation, result: StepResult, strain: np.ndarray) -> dict[str, float]:
    """Row of a step. strain (3, 3): at the start of the path."""
    bodies, dim = simulation.bodies, simulation.bodies.dim
    count = len(bodies) - 1
    grown = float(np.linalg.det(np.eye(3) + result.strain))
    volume = volume_of(result.state.cell) / grown  # where the step began
    measure = np.array([shape.measure for shape in bodies.shapes])[bodies.shape_of]
    solid = float(measure[:count].sum())
    stress = result.stress
    principal = np.linalg.eigvalsh(0.5 * (stress + stress.T))
    bears = bearing(result.force)
    shape = np.zeros((dim, dim)) if not bears.any() else fabric(result)
    neighbours = coordination(result) if bears.any() else None
    out = {"time": result.time}
    for part in names(dim):
        i, j = ("xyz".index(axis) for axis in part)
        out[f"strain_{part}"] = float(strain[i, j])
        out[f"stress_{part}"] = float(0.5 * (stress[i, j] + stress[j, i]))
        out[f"fabric_{part}"] = float(shape[i, j])
    return out | {
        "pressure": float(np.trace(stress)) / dim,
        "deviator": float(principal[-1] - principal[0]),
        "void_ratio": volume / solid - 1.0,
        "packing_fraction": solid / volume,
        "contacts": int(bears.sum()),
        "coordination": 0.0 if neighbours is None else neighbours.mean,
        "coordination_without_rattlers": (
            0.0 if neighbours is None else neighbours.without_rattlers
        ),
        "rattlers": count if neighbours is None else int(neighbours.rattler[:count].sum()),
        "sliding_fraction": sliding_fraction(result) if result.T is not None else 0.0,
        "residual": result.residual,
        "converged": result.converged,
    }
