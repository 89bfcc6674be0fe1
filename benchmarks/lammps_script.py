"""Commands that set a scene up in LAMMPS: box, atom types, pair law."""

from collections.abc import Iterator

import numpy as np

from rigidlimit.collision.contacts import Contacts
from rigidlimit.compatibility.friction import contact_friction, tangential_ratio
from rigidlimit.compatibility.law import contact_stiffness
from rigidlimit.errors import InputError
from rigidlimit.penalty import PenaltySimulation
from rigidlimit.penalty.law import restitution_of


def script(dem: PenaltySimulation) -> Iterator[str]:
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
            damping = f"{float(eta)!r} damping velocity"
            if 0 < dem.damping < 1:
                damping = f"{restitution_of(dem.damping)!r} damping coeff_restitution"
            yield f"pair_coeff {i + 1} {j + 1} {name} {k!r} {damping} {_tangential(dem, i, j, k)}"
    yield f"timestep {dem.dt!r}"


def _tangential(dem, i, j, k):
    """The tangential law between materials i and j, k as LAMMPS has it."""
    friction = dem.law.friction
    if friction is None:
        return "tangential linear_nohistory 0 0"
    probe = _probe(dem, i, j)
    mu = float(contact_friction(dem.bodies, probe)[0])
    # 3/2 k is dF/dc of LAMMPS's Hertz over the contact radius
    k_t = float((dem.exponent - 1) * tangential_ratio(dem.bodies, probe)[0] * k)
    name = "linear_history"
    if dem.exponent == 2.5:
        name = "mindlin/force" if friction.keeps_force else "mindlin"
    return f"tangential {name} {k_t!r} {friction.damping!r} {mu!r}"


def _pair_stiffness(dem, i, j):
    """k [N/m^(p-1)] between materials i and j for equal spheres of the scene's radius."""
    probe = _probe(dem, i, j)
    return float(dem.stiffness_scale * contact_stiffness(dem.bodies, probe, dem.exponent)[0])


def _probe(dem, i, j):
    """A contact between bodies of materials i and j, of the scene's one radius."""
    bodies = dem.bodies
    a, b = (int(np.flatnonzero(bodies.material_of == m)[0]) for m in (i, j))
    radius = float(bodies.bounding_radius[a])
    if not np.allclose(bodies.bounding_radius, radius):
        sizes = f"{bodies.bounding_radius.min():.3g} to {bodies.bounding_radius.max():.3g} m"
        raise InputError(f"radii are {sizes}; expected spheres of one size for LAMMPS")
    return Contacts(
        np.array([[a, b]]),
        np.zeros(1, int),
        np.zeros((1, 3)),
        np.zeros((1, 3)),
        np.zeros(1),
        np.array([2 / radius]),
        len(bodies),
    )
