"""MercuryDPM's ``.data`` files and ``.restart`` files, of spheres.

A snapshot of a ``.data`` file is a line of the number of particles, the time and the corners of the
domain, and a line each:

    N time xmin ymin zmin xmax ymax zmax
    x y z vx vy vz radius alpha beta gamma wx wy wz info          (14 words)
    N time xmin ymin xmax ymax
    x y vx vy radius alpha w info                                 (8 words, in the plane)

A ``.restart`` file has words and what follows them, a particle a line:

    Particles 2
    SphericalParticle id 0 indSpecies 0 position x y z ... velocity x y z ... radius r invMass w
"""

import numpy as np

from ..._support.words import counted
from ...errors import InputError
from .balls import Balls
from .box import Box, of_bounds
from .lines import Text, is_number, number

WIDTHS = {8: 14, 6: 8}
"""Words of a line of a particle, by those of the head of a snapshot."""

NAME = "MercuryDPM"
RESTART = ("restart_version", NAME)


def begins_restart(text: Text) -> bool:
    """Whether it is a restart file: its first line names the program or the version of restart."""
    return bool(text.lines) and text.lines[0].startswith(RESTART)


def begins_mercury(text: Text) -> bool:
    """Whether the first line is the head of a snapshot, and the lines after it fit it."""
    words = text.lines[0].split() if text.lines else []
    if len(words) not in WIDTHS or not words[0].isdigit() or not all(map(is_number, words)):
        return False
    count, rows = int(words[0]), text.lines[1:]
    if count == 0 or len(rows) < count:
        return False
    return len(rows[0].split()) == len(rows[count - 1].split()) == WIDTHS[len(words)]


def read_mercury(text: Text, frame: int) -> Balls:
    """The balls of snapshot ``frame`` (-1: the last) of a ``.data`` file."""
    heads, line = [], 0
    while line < len(text.lines) and text.lines[line].strip():
        heads.append(line)
        count = text.numbers(line, 1, "the number of particles", int)[0]
        line += 1 + max(count, 0)
    head = text.snapshot(heads, frame)
    width = WIDTHS.get(len(text.lines[head].split()))
    if width is None:
        raise text.wrong(head, "N time xmin ymin zmin xmax ymax zmax")
    count = text.numbers(head, 1, "the number of particles", int)[0]
    dim = 3 if width == 14 else 2
    bounds = np.array(text.numbers(head, 2 + 2 * dim, "N, time and the domain")[2:])
    values = text.table(head + 1, count, [f"word {k + 1}" for k in range(width)])
    zero = np.zeros((count, 3 - dim))
    velocity, spin = values[:, dim : 2 * dim], values[:, 10:13]
    if dim == 2:
        spin = np.column_stack([zero, zero, values[:, 6]])
    return Balls(
        id=np.arange(count),
        position=np.column_stack([values[:, :dim], zero]),
        radius=values[:, 2 * dim],
        velocity=np.column_stack([velocity, zero]),
        spin=spin,
        box=_box(bounds[:dim], bounds[dim:]),
        columns={"info": values[:, -1]},
        planar=dim == 2,
    )


def read_restart(text: Text) -> Balls:
    """The balls of a ``.restart`` file. Raises InputError for particles that are no spheres."""
    start = next((k for k, line in enumerate(text.lines) if line.startswith("Particles")), None)
    if start is None:
        raise InputError(f"{text.path}: no line 'Particles N'; expected a restart file")
    count = int(number(text.lines[start].split()[-1])) if text.lines[start].split()[1:] else 0
    rows = [_particle(text, start + 1 + k) for k in range(count)]
    if not rows:
        raise InputError(f"{text.path}: no particles; expected some")
    light = np.array([row["invMass"][0] for row in rows])
    return Balls(
        id=np.array([int(row["id"][0]) for row in rows]),
        position=np.array([row["position"] for row in rows]),
        radius=np.array([row["radius"][0] for row in rows]),
        type=np.array([int(row["indSpecies"][0]) for row in rows]),
        velocity=np.array([row["velocity"] for row in rows]),
        spin=np.array([row["angularVelocity"] for row in rows]),
        mass=np.divide(1.0, light, out=np.ones(len(rows)), where=light > 0.0),
        held=light == 0.0,
        box=_domain(text, start),
    ).sorted()


PARTS = {
    "id": 1, "indSpecies": 1, "position": 3, "velocity": 3, "angularVelocity": 3, "radius": 1,
    "invMass": 1,
}  # fmt: skip
"""Words of a particle, and how many numbers follow them."""


def _particle(text: Text, line: int) -> dict[str, list[float]]:
    words = text.lines[line].split() if line < len(text.lines) else []
    kind = words[0] if words else ""
    if not kind.endswith("Particle") or kind.startswith(("SuperQuadric", "Clump", "Multi")):
        raise text.wrong(line, "a particle that is a sphere (BaseParticle, SphericalParticle)")
    found = {}
    for name, count in PARTS.items():
        at = words.index(name) + 1 if name in words else len(words)
        values = [number(word) for word in words[at : at + count]]
        if len(values) < count or np.isnan(values).any():
            raise text.wrong(line, f"{name}, then {counted(count, 'number')}")
        found[name] = values
    return found


def _domain(text: Text, before: int) -> Box | None:
    """The box of xMin 0 xMax 1 yMin ..., which stand in the head."""
    words = [word for line in text.lines[:before] for word in line.split()]
    names = [f"{axis}{end}" for end in ("Min", "Max") for axis in "xyz"]
    if not all(name in words for name in names):
        return None
    values = np.array([number(words[words.index(name) + 1]) for name in names])
    return _box(values[:3], values[3:])


def _box(low: np.ndarray, high: np.ndarray) -> Box | None:
    """The domain, with a unit depth in the plane; None where it has no extent."""
    if not (np.isfinite(low).all() and (high > low).all()):
        return None
    extent = np.zeros(3 - len(low))
    return of_bounds(np.r_[low, extent], np.r_[high, extent + 1.0])
