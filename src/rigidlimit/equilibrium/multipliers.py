"""Rigid contacts with exact Coulomb friction by the method of multipliers (step 1).

    u = W f + q (or bodies with inertia),   f = P(f - rho u)

with P the map of ``law``: max(0, .) along the normal, the disc of radius mu f_n in the tangent
plane. The fixed points are those of Coulomb's law with u_n >= 0 complementary to f_n. Each outer
iteration takes the forces f_k so far as prestress of springs rho, and solves for the equilibrium of
that network (``solve``); where rigid friction leaves several motions open, this is the one
that elastic bodies take. rho_i = s 3/tr(W_ii): s grows after a success and falls after a failure.

The residual, by which every solver is judged: e_i = |f_i - P(f_i - rho_i u_i)| / rho_i with s = 1,
the worst of them over the largest |q|.
"""

from dataclasses import dataclass, field

import numpy as np

from .law import ContactLaw
from .mechanics import Mechanics
from .solve import Settings as InnerSettings
from .solve import solve


@dataclass(frozen=True)
class Settings:
    """outer: iterations at most. growth, fall: factors of s after a success and a failure;
    stiffest: its largest value. inner: part of the residual to which an inner problem is solved;
    loosest: at most. newton: iterations of Newton in an inner problem."""

    outer: int = 200
    growth: float = 2.0
    fall: float = 0.2
    stiffest: float = 1e5
    softest: float = 1e-6
    inner: float = 1e-2
    loosest: float = 1e-4
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
    back = prestressed(force, friction, rho).force(velocity - _lead(force, rho))
    return np.linalg.norm(force - back, axis=1) / rho


def prestressed(force, friction, rho) -> ContactLaw:
    """The law f -> P(force - rho u), of displacements u less ``_lead``."""
    return ContactLaw(rho, rho, friction, force[:, 1:])


def _lead(force, rho):
    """Displacement (m, d) at which springs rho answer with the normal forces."""
    lead = np.zeros_like(force)
    lead[:, 0] = force[:, 0] / rho
    return lead


class _Led:
    """Mechanics with displacements less a lead: the springs' zero is where they bear f_k."""

    def __init__(self, mechanics, lead):
        self.mechanics, self.lead, self.shape = mechanics, lead, mechanics.shape
        self.start, self.change = mechanics.start, mechanics.change
        self.residual, self.factorize = mechanics.residual, mechanics.factorize
        self.size = mechanics.size

    def displacement(self, x):
        return self.mechanics.displacement(x) - self.lead


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
    force = np.zeros((m, d)) if force is None else force
    x = mechanics.start(force)

    def judged(force, x):
        e = residuals(force, mechanics.displacement(x), friction, rho)
        worst = int(np.argmax(e)) if m else 0
        return (float(e[worst]) / scale if m else 0.0), worst

    residual, worst = judged(force, x)
    s, solves, history, routes = 1.0, 0, [], []
    for _outer in range(settings.outer):
        if residual <= tolerance or s < settings.softest:
            break
        springs = s * rho
        led = _Led(mechanics, _lead(force, springs))
        law = prestressed(force, friction, springs)
        goal = max(min(settings.inner * residual, settings.loosest), 0.1 * tolerance)

        found, how = solve(
            led,
            law,
            x,
            tolerance=goal,
            force_size=_usual(force, rho, scale),
            settings=settings.network,
        )
        solves += found.solves
        if found.converged:
            force, x = found.force, mechanics.start(found.force)
            residual, worst = judged(force, x)
            s = min(settings.growth * s, settings.stiffest)
        else:
            s *= settings.fall
        routes.append(how[-1] if found.converged else "failed")
        history.append(residual)
    velocity = mechanics.displacement(x)
    return RigidContacts(
        force,
        velocity,
        x,
        residual,
        worst,
        len(history),
        solves,
        residual <= tolerance,
        np.array(history),
        tuple(routes),
    )


def _usual(force, rho, scale):
    """A force [N] of the size that contacts bear."""
    return max(float(np.median(rho)) * scale, float(force[:, 0].mean()))
