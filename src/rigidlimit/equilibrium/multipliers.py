"""Rigid contacts with exact Coulomb friction (step 1).

    u = W f + q (or bodies with inertia),   f = P(f - rho u)

with P the map of ``law``: max(0, .) along the normal, the disc of radius mu f_n in the tangent
plane. The fixed points are those of Coulomb's law with u_n >= 0 complementary to f_n. Newton's
method on this map (``natural_newton``) goes first. Where it ends elsewhere, the method of
multipliers goes on from its least residual: each outer iteration takes the forces f_k so far as
prestress of springs rho (softer along the tangents, which changes no fixed point), and solves for
the equilibrium of that network (``solve``). rho_i = s 3/tr(W_ii) and s grows after a success and
falls after a failure. In both, where rigid friction leaves several motions open, the one found is
that of elastic bodies that start from the given forces.

The residual, by which every solver is judged: e_i = |f_i - P(f_i - rho_i u_i)| / rho_i with s = 1,
the worst of them over the largest |q|.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from .law import ContactLaw
from .mechanics import Mechanics
from .natural_map import into_cones, natural_map
from .natural_newton import Settings as NaturalSettings
from .natural_newton import natural_newton
from .solve import Settings as InnerSettings
from .solve import solve


@dataclass(frozen=True)
class Settings:
    """outer: iterations at most. growth, fall: factors of s after a success and a failure;
    stiffest: its largest value. inner: part of the residual to which an inner problem is solved;
    loosest: at most. tangential: tangential over normal stiffness of inner problems, that of balls
    as they are usually taken; at 1, equilibria of large networks are no longer found (docs,
    "Friction"). network: of inner problems. natural: of Newton's method on the
    natural map."""

    outer: int = 200
    growth: float = 2.0
    fall: float = 0.2
    stiffest: float = 1e5
    softest: float = 1e-6
    inner: float = 1e-2
    loosest: float = 1e-4
    tangential: float = 2 / 7
    network: InnerSettings = field(default_factory=InnerSettings)
    natural: NaturalSettings = field(default_factory=NaturalSettings)


@dataclass(frozen=True)
class RigidContacts:
    """force, velocity (m, d): f and u at the contacts; x: the unknowns of the mechanics; residual,
    worst: ``residuals`` and the contact of the largest; outer, solves: iterations and linear
    systems; history: residual after each step of Newton's method and each outer iteration; routes
    taken."""

    force: np.ndarray
    velocity: np.ndarray
    x: np.ndarray
    residual: float
    worst: int
    outer: int
    solves: int
    converged: bool
    history: np.ndarray
    routes: tuple[str, ...]


def residuals(force, velocity, friction, rho) -> np.ndarray:
    """e_i (m,) of contact forces f (m, d) and velocities u (m, d), as above; rho (m,)."""
    F = np.empty_like(velocity)
    natural_map(force, velocity, friction, rho, F)
    return np.linalg.norm(F, axis=1) / rho


def prestressed(force, friction, rho, tangential) -> ContactLaw:
    """The law f -> P(force - (rho u_n, tangential rho u_t)), of displacements u less ``_lead``."""
    return ContactLaw(rho, tangential * rho, friction, force[:, 1:])


def _lead(force, rho):
    """Displacement (m, d) at which springs rho answer with the normal forces."""
    lead = np.zeros_like(force)
    lead[:, 0] = force[:, 0] / rho
    return lead


def rigid_contacts(
    mechanics: Mechanics,
    friction: np.ndarray,
    rho: np.ndarray,
    *,
    scale: float,
    tolerance: float,
    force: np.ndarray | None = None,
    sweep: Callable[[np.ndarray], np.ndarray] | None = None,
    settings: Settings = Settings(),
) -> RigidContacts:
    """Forces (m, d) and velocities of rigid contacts with friction (m,).

    rho (m,): 3/tr(W_ii), or d/tr in the plane. scale: max |q|, the unit of the residual. force
    (m, d): to start from. sweep: forces (m, d) -> forces after some Gauss-Seidel sweeps, from which
    Newton's method starts in large systems and is tried again where it failed.
    """
    m, d = mechanics.shape
    force = np.zeros((m, d)) if force is None else np.array(force, float)
    # half the tolerance: forces then move into their cones by as much as the residual
    first = natural_newton(
        mechanics, friction, rho, scale=scale, tolerance=0.5 * tolerance, force=force, sweep=sweep,
        settings=settings.natural,
    )  # fmt: skip
    force, solves = first.force, first.solves
    into_cones(force, friction)
    history, routes, s, failed = list(first.history), ["natural map"], 1.0, len(first.history)
    x = mechanics.start(force)
    residual, worst = _worst(force, mechanics.displacement(x), friction, rho, scale)
    while residual > tolerance and s >= settings.softest:
        if len(history) - failed == settings.outer:
            break
        springs = s * rho
        found, how = solve(
            mechanics.shifted(_lead(force, springs)),
            prestressed(force, friction, springs, settings.tangential),
            x,
            tolerance=max(min(settings.inner * residual, settings.loosest), 0.1 * tolerance),
            force_size=max(_usual(rho, scale), float(force[:, 0].mean())),
            settings=settings.network,
        )
        solves += found.iterations
        if found.converged:
            force, x = found.force, mechanics.start(found.force)
            s = min(settings.growth * s, settings.stiffest)
            residual, worst = _worst(force, mechanics.displacement(x), friction, rho, scale)
        else:
            s *= settings.fall
        routes.append(how[-1] if found.converged else "failed")
        history.append(residual)
    return RigidContacts(
        force,
        mechanics.displacement(x),
        x,
        residual,
        worst,
        len(history),
        solves,
        residual <= tolerance,
        np.array(history),
        tuple(routes),
    )


def _worst(force, velocity, friction, rho, scale):
    """(residual, contact) of the worst contact."""
    F = np.empty_like(velocity)
    _, e, place = natural_map(force, velocity, friction, rho, F)
    return e / scale, place


def _usual(rho, scale):
    """A force [N] of the size that contacts bear at the least."""
    return float(np.median(rho)) * scale
