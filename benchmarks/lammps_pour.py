"""Balls of unequal size poured into an open box of planes, in LAMMPS (its GRANULAR package).

Hooke's contacts of one stiffness for all pairs and walls, as ``PenaltySimulation`` has them where
all materials are alike; damping by the restitution.
"""

from dataclasses import replace

import numpy as np

from rigidlimit.bodies import HalfSpace, State
from rigidlimit.collision.search import find_contacts
from rigidlimit.compatibility.law import contact_stiffness
from rigidlimit.kinematics import framed
from rigidlimit.penalty import PenaltyResult, PenaltySimulation

from .lammps_peer import RUBBING, library, on_second, rubbing_of

RESTITUTION = 1e-4
"""Next to none: LAMMPS has no critical damping by this law."""


def pour(dem: PenaltySimulation, until: float, like: PenaltyResult) -> PenaltyResult:
    """``like``, where the DEM ended, with the state and forces that LAMMPS ends with."""
    bodies, scene = dem.bodies, dem.scene
    walls = [i for i in range(len(bodies)) if isinstance(bodies.shape(i), HalfSpace)]
    balls = np.setdiff1d(np.arange(len(bodies)), walls)
    radius, mass = bodies.bounding_radius[balls], bodies.mass[balls]
    start = dem.state.position
    material = bodies.materials[0]
    probe = find_contacts(bodies, like.state, 0.0)
    k = float(np.unique(contact_stiffness(bodies, probe, 2.0)).item()) * dem.stiffness_scale
    law = (
        f"hooke {k!r} {RESTITUTION!r} damping coeff_restitution "
        f"tangential linear_history {material.tangential_ratio * k!r} 1.0 {material.friction!r}"
    )
    wide = start[walls].max()
    high = start[balls, 2].max() + 4 * radius.max()
    lmp = library().lammps(cmdargs=["-log", "none", "-screen", "none"])
    try:
        for line in (
            "units si", "atom_style sphere", "atom_modify map array", "boundary f f f",
            "newton off", "comm_modify vel yes",
            f"region box block 0 {float(wide)!r} 0 {float(wide)!r} 0 {float(high)!r}",
            "create_box 1 box", f"neighbor {0.1 * float(radius.max())!r} bin",
            "pair_style granular", f"pair_coeff * * {law}", f"timestep {like.dt!r}",
        ):  # fmt: skip
            lmp.command(line)
        n = len(balls)
        lmp.create_atoms(n, list(range(1, n + 1)), [1] * n, start[balls].ravel().tolist())
        for i, (r, m) in enumerate(zip(radius.tolist(), mass.tolist(), strict=True), 1):
            lmp.command(f"set atom {i} diameter {2 * r!r}")
            lmp.command(f"set atom {i} density {m / (4 / 3 * np.pi * r**3)!r}")
        down = -float(scene.gravity[2])
        lmp.command("fix move all nve/sphere")
        lmp.command(f"fix fall all gravity {down!r} vector 0 0 -1")
        for name, planes in (
            ("x", f"xplane 0 {float(wide)!r}"), ("y", f"yplane 0 {float(wide)!r}"),
            ("z", "zplane 0 NULL"),
        ):  # fmt: skip
            lmp.command(f"fix wall{name} all wall/gran granular {law} {planes} contacts")
        for line in RUBBING:
            lmp.command(line)
        lmp.command(f"run {round(until / like.dt)} post no")
        position, velocity, spin = (
            np.array(lmp.gather_atoms(name, 1, 3)).reshape(n, 3) for name in ("x", "v", "omega")
        )
        pairs, rubbing = rubbing_of(lmp)
        walled = _of_walls(lmp, n)
    finally:
        lmp.close()
    place, speed = like.state.position.copy(), np.zeros((len(bodies), 6))
    place[balls], speed[balls] = position, np.hstack([velocity, spin])
    state = State(place, like.state.quaternion, speed, until)
    contacts = framed(find_contacts(bodies, state, 0.0), 3)
    contacts = contacts.select(np.flatnonzero(contacts.gap < 0.0))
    normal, rub = contacts.normal, on_second(contacts, balls[pairs], rubbing)
    of_wall = np.isin(contacts.body[:, 0], walls)  # walls come before the balls
    axis, ball = np.abs(normal[of_wall]).argmax(axis=1), contacts.body[of_wall, 1]
    rub[of_wall] = walled[axis, np.searchsorted(balls, ball)]
    rub -= (rub * normal).sum(axis=1)[:, None] * normal
    return replace(like, state=state, contacts=contacts, force=-k * contacts.gap, tangential=rub)


def _of_walls(lmp, n):
    """Forces (3, n, 3) [N] of the walls across each axis on each ball, normal parts among them."""
    out = np.zeros((3, n, 3))
    place = np.array([lmp.extract_atom("id")[i] for i in range(n)]) - 1
    for k, axis in enumerate("xyz"):
        walls = lmp.extract_fix(f"wall{axis}", 1, 2)
        out[k, place] = [walls[i][1:4] for i in range(n)]
    return out
