"""Compatible contact forces from PyBullet's state after ``stepSimulation``.

PyBullet gives points, normals and forces, no Jacobians fit for all its bodies, so B is built here
from the joints of each body: base velocities (linear of its centre of mass, angular; world axes),
then one velocity a joint degree of freedom (``pybullet_world``):

    B_i v = normal_i . (v_A - v_B)

with PyBullet's normal, which points from B to A. Fixed and point-to-point constraints are rigid
links, which restrain motions: see ``pybullet_links``. Motors, joint limits, other constraints,
damping stay as PyBullet has them: given load.

What PyBullet does not give: contact points are those of the start of the step, poses those of its
end, so moment arms are off by a step's motion; normals of points that it does not find anew are
older still (off by 5e-6 in a stack of plates): the noise left out of B is 1e-4 here; spinning and
rolling friction are not reported; double precision forces stop at the solver's own threshold
(solverResidualThreshold; see ``analytics``), which ``load="rest"`` does not inherit. Soft
bodies and planar joints are refused.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from ..._support import arrays
from ...errors import InputError
from .arguments import (
    Load,
    check_linear,
    constraints_given,
    imported,
    rigid_or_given,
    stopped_short,
    unreported_moments,
)
from .contacts import EngineContacts
from .geometry import Places
from .links import joined
from .materials import ByContact, by_name, given_stiffness
from .matrices import delivered
from .pybullet_links import constraint_rows, in_displacements
from .pybullet_points import contact_points
from .pybullet_world import World
from .reading import asked, extents
from .result import MendedForces
from .tolerances import TOLERANCES

ADVICE = "more numSolverIterations, a smaller solverResidualThreshold, or load='rest'"
"""What to do where PyBullet's solver stopped early."""

GAINED = "the speed that gravity gives in a step"
"""What its solver's residual is measured by."""

ALIKE = 3.0
"""Masses of links up to this ratio count as one."""

FRICTION, ROLLING, SPINNING, STIFFNESS = 1, 6, 7, 9
"""Their places in getDynamicsInfo."""


def library() -> ModuleType:
    """The pybullet module."""
    return imported("pybullet", engine="PyBullet", extra="pybullet")


def from_pybullet(
    client: int = 0,
    *,
    stiffness: ByContact | None = None,
    exponent: float = 2.0,
    load: Load = "engine",
    held: Iterable[tuple[int, int]] | None = None,
    equalities: str = "rigid",
    on_friction: str = "joint",
    analytics: Sequence[Mapping[str, Any]] | None = None,
    **options,
) -> MendedForces:
    """Compatible forces in the order of ``pybullet.getContactPoints()``, along its normals.

    PyBullet bounds each direction of friction on its own unless cone friction is enabled, which
    cannot be read; forces found with friction are within Coulomb's circle.

    Parameters
    ----------
    client : int
        physicsClientId.
    stiffness : float, (contacts,) or by name, optional
        Relative k; None: the series of both links' contactStiffness where every contact has one,
        else equal.
    exponent : float
        Of the contact law.
    load : {"engine", "rest"} or (n,) [N, N m]
        "engine" keeps its resultant; "rest": what holds everything without acceleration under
        gravity and joint motors.
    held : list of (body, joint), optional
        Taken as rigidly held.
    equalities : {"rigid", "given"}
        "rigid": constraints are rigid links, or "given": they keep their forces.
    on_friction, **options
        As for ``mend_forces``. friction: coefficients, as stiffness is given, in place of
        PyBullet's.
    analytics : list of dict, optional
        What the last ``stepSimulation`` returned, with
        ``setPhysicsEngineParameter(reportSolverAnalytics=1)``: whether its solver had converged is
        then reported.

    Returns
    -------
    MendedForces

    Raises
    ------
    InputError
        For a client that is not connected, bodies that it does not have, and options that do not
        fit.
    MissingExtra
        Without pybullet.

    Examples
    --------
    >>> import pybullet
    >>> from rigidlimit.adapters import from_pybullet
    >>> client = pybullet.connect(pybullet.DIRECT)
    >>> pybullet.setGravity(0, 0, -10, physicsClientId=client)
    >>> for half, mass, height in ((1.0, 0, -1.0), (0.1, 1.0, 0.1)):
    ...     size = [half] * 3
    ...     shape = pybullet.createCollisionShape(
    ...         pybullet.GEOM_BOX, halfExtents=size, physicsClientId=client
    ...     )
    ...     body = pybullet.createMultiBody(
    ...         mass, shape, basePosition=[0, 0, height], physicsClientId=client
    ...     )
    >>> for _ in range(100):
    ...     done = pybullet.stepSimulation(physicsClientId=client)
    >>> round(float(from_pybullet(client).force.sum()), 1)
    10.0
    >>> pybullet.disconnect(client)
    """
    pybullet = library()
    wanted = asked(
        from_pybullet, options, load=load, exponent=exponent, on_friction=on_friction,
        client=(client, int),
    )  # fmt: skip
    if not pybullet.isConnected(client):
        raise InputError(f"from_pybullet: client {client} is not connected; expected its number")
    load_from, load = wanted.load_from, wanted.load
    world = World(pybullet, client)
    points = contact_points(world)
    gradient, sliding = world.rows(points.links, points.point, points.directions)
    mu, rolls, spins, springs = world.values(points.links, FRICTION, ROLLING, SPINNING, STIFFNESS)
    if stiffness is None:
        stiffness, said = _springs(springs, exponent)
    else:
        said = "" if by_name(stiffness) else "stiffness: as given"
        stiffness = given_stiffness(stiffness, len(points.force), "contact point")
    held = world.mask(held)
    links, turning, error, others = constraint_rows(world, rigid_or_given(equalities))
    residual = _residual(world, analytics)
    doubt = stopped_short(
        "PyBullet", residual, load_from, ADVICE, GAINED, _share(world, residual, points.force)
    )
    notes = [
        *([said] if said else []),
        *doubt,
        *constraints_given("PyBullet", others, load_from, "a load (n,)"),
        *unreported_moments("PyBullet", np.hstack([rolls, spins])),
    ]
    if load_from == "rest":
        load = -(world.applied() + delivered(sliding, points.rubs.ravel()))
    sides = points.links[:, ::-1]  # normals point from the second to the first
    parts = world.parts(sides)
    places = Places(
        point=points.point[:, ::-1],
        normal=points.directions[:, 0],
        tangents=points.directions[:, 1:],
        names=parts.pairs,
        system=world.systems(links)[sides],
        centre=world.middles()[sides],
        parts=parts,
    )
    extent = extents(gradient, world.turns_of, joined(world.mechanism, links, held), places)
    links, accuracy = in_displacements(links, turning, error, extent.sizes)
    velocity = world.velocity()
    contacts = EngineContacts(
        gradient,
        points.force,
        load=load,
        load_from=load_from,
        stiffness=stiffness,
        held=held,
        tangential=points.rubs,
        friction=mu[:, 0] * mu[:, 1],  # Bullet's combined coefficient
        sliding=sliding,
        gap=points.distance + world.dt * (gradient @ velocity),
        mechanism=world.mechanism,
        reach=extent.reach,
        links=links,
        link_accuracy=accuracy,
        places=places,
        contacts=len(points.force),
        engine="PyBullet",
        engine_residual=residual,
        notes=tuple(notes),
        accuracy=TOLERANCES.stale,
        gap_tolerance=extent.gap_tolerance,
        velocity=velocity,
    )
    return wanted.mended(contacts)


def _residual(world, analytics) -> float:
    """By how much the solver's last sweep still changed velocities, over what gravity adds in
    a step; nan where that is not known. Bullet reports the square of the largest."""
    if analytics is None:
        return np.nan
    try:
        left = [float(island["remainingResidual"]) for island in analytics]
    except (TypeError, KeyError):
        raise InputError(
            f"analytics is {arrays.short(analytics)}; expected what stepSimulation returned, "
            "after setPhysicsEngineParameter(reportSolverAnalytics=1)"
        ) from None
    added = float(np.linalg.norm(world.gravity)) * world.dt
    return max(left, default=0.0) ** 0.5 / added if added else np.nan


def _share(world, residual, force) -> tuple[float, float] | None:
    """What that may be of the largest contact force, where it is of the lightest link and of the
    heaviest; None where these are alike, or no link has mass. Bullet's residual is of all rows, and
    motors of light links, whose last sweeps change forces little, have the largest."""
    mass = world.mass[world.mass > 0.0]
    largest = float(force.max(initial=0.0))
    if not len(mass) or mass.max() <= ALIKE * mass.min() or not largest > 0.0:
        return None
    weight = residual * float(np.linalg.norm(world.gravity)) / largest
    return weight * float(mass.min()), weight * float(mass.max())


def _springs(sides, exponent):
    """Series of both sides' contactStiffness (m, 2), unset: rigid, or ones, and what was done."""
    soft = sides > 0
    if not len(sides) or not soft.any(axis=1).all():
        return np.ones(len(sides)), "stiffness: equal"
    check_linear("PyBullet's contactStiffness is", exponent)
    give = np.where(soft, 1.0 / np.where(soft, sides, 1.0), 0.0).sum(axis=1)
    return 1.0 / give, "stiffness: PyBullet's contactStiffness of both sides in series"
