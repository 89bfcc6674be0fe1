"""Rigid contacts with exact Coulomb friction by the method of multipliers (step 1).

    u = W f + q (or bodies with inertia),   f = P(f - rho u)

with P the map of ``law``: max(0, .) along the normal, the disc of radius mu f_n in the tangent
plane. The fixed points are those of Coulomb's law with u_n >= 0 complementary to f_n. Each outer
iteration takes the forces f_k so far as prestress of springs rho (softer along the tangents, which
changes no fixed point), and solves for the equilibrium of that network (``solve``); where rigid
friction leaves several motions open, this is the one that elastic bodies take. rho_i = s 3/tr(W_ii)
and s grows after a success and falls after a failure.

The residual, by which every solver is judged: e_i = |f_i - P(f_i - rho_i u_i)| / rho_i with s = 1,
the worst of them over the largest |q|.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from .dense import Dense
from .law import ContactLaw
from .mechanics import Mechanics
from .small_multipliers import UNSOLVED, ahead, errors
from .small_newton import WAYS
from .solve import Settings as InnerSettings
from .solve import solve


@dataclass(frozen=True)
class Settings:
    """outer: iterations at most. growth, fall: factors of s after a success and a failure;
    stiffest: its largest value. inner: part of the residual to which an inner problem is solved;
    loosest: at most. tangential: tangential over normal stiffness of inner problems, that of balls
    as they are usually taken; at 1, equilibria of large networks are no longer found (docs,
    "Friction"). network: of inner problems.

    Systems of at most ``cheap`` unknowns are tried boldly: s begins with ``bold``, and after a
    success with k linear systems it grows by bold thrift^(k-1) if that is more. ``patience``
    Newton iterations must do then; if they do not, s is what it would have been, and bold its
    square root. In larger systems the failures cost more than what is won.
    """

    outer: int = 200
    growth: float = 2.0
    fall: float = 0.2
    stiffest: float = 1e5
    softest: float = 1e-6
    inner: float = 1e-2
    loosest: float = 1e-4
    tangential: float = 2 / 7
    cheap: int = 200
    bold: float = 1e3
    thrift: float = 1 / 3
    patience: int = 15
    network: InnerSettings = field(default_factory=InnerSettings)


@dataclass(frozen=True)
class RigidContacts:
    """force, velocity (m, d): f and u at the contacts; x: the unknowns of the mechanics; residual,
    worst: ``residuals`` and the contact of the largest; outer, solves: iterations and linear
    systems; history: residual after each outer iteration; routes taken."""

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
    (m, d), e = force.shape, np.empty(len(force))
    space = np.empty((m, d - 1)), np.empty((m, d)), np.empty((m, d)), np.empty((m, d, d))
    errors(force, velocity, friction, rho, *space, e)
    return e


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
    settings: Settings = Settings(),
) -> RigidContacts:
    """Forces (m, d) and velocities of rigid contacts with friction (m,).

    rho (m,): 3/tr(W_ii), or d/tr in the plane. scale: max |q|, the unit of the residual. force
    (m, d): to start from.
    """
    m, d = mechanics.shape
    force = np.zeros((m, d)) if force is None else np.array(force, float)
    x, s, solves, history, routes = mechanics.start(force), 1.0, 0, [], []
    small = isinstance(mechanics, Dense) and m > 0
    network = replace(settings.network, starts=not small)
    bold = settings.bold if small and len(x) <= settings.cheap else 1.0
    while True:
        if small:
            end, s, residual, worst, spent = _ahead(
                mechanics, friction, rho, scale, tolerance, settings, s, bold, force, x, history,
                routes,
            )  # fmt: skip
            bold = 1.0
            solves += spent
            done = end != UNSOLVED
        else:
            e = residuals(force, mechanics.displacement(x), friction, rho)
            worst = int(np.argmax(e)) if m else 0
            residual = float(e[worst]) / scale if m else 0.0
            done = residual <= tolerance or s < settings.softest or len(history) == settings.outer
        if history:
            history[-1] = residual
        if done:
            break
        springs = s * rho
        found, how = solve(
            mechanics.shifted(_lead(force, springs)),
            prestressed(force, friction, springs, settings.tangential),
            x,
            tolerance=max(min(settings.inner * residual, settings.loosest), 0.1 * tolerance),
            force_size=max(_usual(rho, scale), float(force[:, 0].mean())),
            settings=network,
        )
        solves += found.iterations
        if found.converged:
            force, x = found.force, mechanics.start(found.force)
            s = min(settings.growth * s, settings.stiffest)
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


def _ahead(
    mechanics, friction, rho, scale, tolerance, settings, s, bold, force, x, history, routes
):  # fmt: skip
    """``small_multipliers.ahead``: outer iterations as far as Newton and secants lead, in place."""
    after = np.empty(settings.outer - len(history))
    ways = np.empty(len(after), np.int64)
    limits = (
        float(scale), float(tolerance), settings.growth, settings.stiffest, settings.softest,
        settings.inner, settings.loosest, settings.network.newton, settings.tangential, bold,
        settings.thrift, settings.patience, _usual(rho, scale),
    )  # fmt: skip
    end, s, outer, solves, residual, worst = ahead(
        mechanics.network, mechanics.offset, mechanics.unit, friction, rho, limits, bold * s, s,
        force, x, after, ways,
    )  # fmt: skip
    history.extend(after[:outer])
    routes.extend(WAYS[way] for way in ways[:outer])
    return end, s, residual, worst, solves


def _usual(rho, scale):
    """A force [N] of the size that contacts bear at the least."""
    return float(np.median(rho)) * scale
